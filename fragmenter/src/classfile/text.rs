//! Modified UTF-8 (JVMS 4.4.7), the text encoding of class files.
//!
//! The encoding differs from UTF-8 in two ways. U+0000 is encoded as `C0 80`, and a character above
//! U+FFFF as two surrogates of three bytes each. Most names are ASCII, which is identical in both
//! encodings, and are borrowed.

use std::borrow::Cow;

/// Decodes modified UTF-8. Malformed parts (a lone surrogate, a stray byte) become U+FFFD, so two
/// different malformed names may decode to equal text. Compare bytes if identity matters.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    // Valid UTF-8 contains neither `C0 80` nor encoded surrogates, so it has the same meaning in
    // both encodings.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(decode_slowly(bytes)),
    }
}

/// True if decoding and encoding these bytes returns the same bytes.
pub fn is_proper(bytes: &[u8]) -> bool {
    is_plain(bytes) || *encode(&decode(bytes)) == *bytes
}

/// True if the bytes are ASCII without U+0000, which is the same in both encodings.
#[inline]
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    /// The lowest and the highest bit of each byte.
    const LOW: u64 = u64::MAX / 255;
    const HIGH: u64 = LOW << 7;
    // A byte that is not ASCII has its highest bit set. Of ASCII bytes, only 0 borrows from the
    // highest bit if 1 is subtracted.
    let is_odd = |eight: &[u8; 8]| {
        let eight = u64::from_le_bytes(*eight);
        eight | eight.wrapping_sub(LOW)
    };
    let (chunks, rest) = bytes.as_chunks::<8>();
    let odd = match bytes.last_chunk::<8>() {
        Some(last) => is_odd(last),
        None => u64::from(!rest.iter().all(|b| (1..=0x7f).contains(b))) << 7,
    };
    chunks.iter().fold(odd, |odd, eight| odd | is_odd(eight)) & HIGH == 0
}

fn decode_slowly(bytes: &[u8]) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let (unit, length) = match *rest {
            [] => break,
            [a @ 0..=0x7f, ..] => (u16::from(a), 1),
            [a @ 0xc0..=0xdf, b @ 0x80..=0xbf, ..] => {
                ((u16::from(a & 0x1f) << 6) | u16::from(b & 0x3f), 2)
            }
            [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..] => (
                (u16::from(a & 0x0f) << 12) | (u16::from(b & 0x3f) << 6) | u16::from(c & 0x3f),
                3,
            ),
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf16_lossy(&units)
}

/// Encodes text as modified UTF-8. Borrows unless the text contains U+0000 or a character above
/// U+FFFF.
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    // A four-byte sequence of UTF-8 begins with F0 or a larger byte.
    if text
        .bytes()
        .fold(true, |same, byte| same & (1..0xf0).contains(&byte))
    {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len() + text.len() / 2);
    let mut buffer = [0; 4];
    for character in text.chars() {
        match u32::from(character) {
            0 => out.extend_from_slice(&[0xc0, 0x80]),
            1..=0xffff => out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes()),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let [high, low] = unit.to_be_bytes();
                    out.extend_from_slice(&[
                        0xe0 | (high >> 4),
                        0x80 | ((high & 0x0f) << 2) | (low >> 6),
                        0x80 | (low & 0x3f),
                    ]);
                }
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_borrowed() {
        assert!(matches!(
            decode(b"java/lang/Object"),
            Cow::Borrowed("java/lang/Object")
        ));
        assert!(matches!(encode("java/lang/Object"), Cow::Borrowed(_)));
    }

    #[test]
    fn zero_and_surrogate_pairs() {
        // The bytes that javac writes for "a\0\u{1f600}é".
        let bytes = [
            b'a', 0xc0, 0x80, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80, 0xc3, 0xa9,
        ];
        assert_eq!(decode(&bytes), "a\0\u{1f600}é");
        assert_eq!(&*encode("a\0\u{1f600}é"), &bytes);
    }

    #[test]
    fn broken_text_is_marked() {
        assert_eq!(decode(&[b'a', 0xed, 0xa0, 0xbd, b'b']), "a\u{fffd}b");
        assert!(!is_proper(&[b'a', 0xed, 0xa0, 0xbd, b'b']));
        assert!(is_proper(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]));
        for length in 0..40 {
            let mut text = vec![b'a'; length];
            assert!(is_plain(&text));
            for at in 0..length {
                for (byte, plain) in [(0, false), (1, true), (0x7f, true), (0x80, false)] {
                    text[at] = byte;
                    assert_eq!(is_plain(&text), plain, "{byte} at {at} of {length}");
                }
                text[at] = b'a';
            }
        }
        assert_eq!(
            decode(&[0x80, b'x', 0xe1, 0x80]),
            "\u{fffd}x\u{fffd}\u{fffd}"
        );
    }

    proptest::proptest! {
        #[test]
        fn encode_then_decode_is_the_same(text in ".*") {
            let bytes = encode(&text);
            let decoded = decode(&bytes);
            proptest::prop_assert_eq!(decoded.as_ref(), text.as_str());
        }
    }
}
