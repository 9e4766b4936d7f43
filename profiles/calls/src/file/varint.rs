//! Numbers in records: LEB128 without sign, as in DWARF 5 §7.6.

/// The most bytes of a number of 64 bits.
const MAX_BYTES: usize = 10;

/// Appends a number.
pub fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Appends the length of a text and its UTF-8.
pub fn put_text(to: &mut Vec<u8>, text: &str) {
    put(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// The records of a chunk, read from their beginning.
pub struct Records<'b> {
    rest: &'b [u8],
}

impl<'b> Records<'b> {
    pub fn new(bytes: &'b [u8]) -> Records<'b> {
        Records { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next number; `None` if it is incomplete or exceeds 64 bits.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for (position, byte) in self.rest.iter().take(MAX_BYTES).enumerate() {
            let bits = u64::from(byte & 0x7f);
            let shift = 7 * position as u32;
            // The tenth byte has room for one bit.
            if position == MAX_BYTES - 1 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                self.rest = &self.rest[position + 1..];
                return Some(number);
            }
        }
        None
    }

    /// The next number minus one; the inner `None` if the number is 0.
    pub fn optional(&mut self) -> Option<Option<u64>> {
        Some(self.number()?.checked_sub(1))
    }

    /// The next number minus one, as 16 bits.
    pub fn optional_u16(&mut self) -> Option<Option<u16>> {
        match self.optional()? {
            None => Some(None),
            Some(number) => u16::try_from(number).ok().map(Some),
        }
    }

    /// The next text; `None` if it is incomplete or not UTF-8.
    pub fn text(&mut self) -> Option<&'b str> {
        let length = usize::try_from(self.number()?).ok()?;
        let bytes = self.rest.get(..length)?;
        self.rest = &self.rest[length..];
        std::str::from_utf8(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bytes_of_leb128() {
        for (number, expected) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0x80, 1]),
            (624_485, &[0xe5, 0x8e, 0x26]),
        ] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn numbers_that_are_too_long_or_cut_are_rejected() {
        let mut bytes = Vec::new();
        put(&mut bytes, u64::MAX);
        assert_eq!(Records::new(&bytes).number(), Some(u64::MAX));
        assert_eq!(Records::new(&bytes[..9]).number(), None);
        bytes[9] = 2;
        assert_eq!(Records::new(&bytes).number(), None);
        assert_eq!(Records::new(&[0x80; 11]).number(), None);
    }

    #[test]
    fn texts_that_are_cut_or_not_utf8_are_rejected() {
        let mut bytes = Vec::new();
        put_text(&mut bytes, "Grüße");
        assert_eq!(Records::new(&bytes).text(), Some("Grüße"));
        assert_eq!(Records::new(&bytes[..4]).text(), None);
        assert_eq!(Records::new(&[1, 0xff]).text(), None);
    }
}
