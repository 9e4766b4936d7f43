//! `*` within a word, and `..` within a sequence: the same question twice.
//!
//! Both are answered by the greedy two-pointer match: on a mismatch go back to the last wildcard and let it
//! take one item more. Only the last one has to be tried again, since an earlier wildcard that took less
//! leaves the later one more to choose from; so the cost is at most length × length, never exponential.

/// A word in which `*` stands for any run of characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Glob(String);

impl Glob {
    pub(crate) fn new(text: &str) -> Self {
        Glob(text.to_owned())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn matches(&self, word: &str) -> bool {
        if !self.0.contains('*') {
            return self.0 == word;
        }
        // Bytes will do: `*` is ASCII, and UTF-8 sequences are equal when their bytes are.
        matches_sequence(
            self.0.as_bytes(),
            word.as_bytes(),
            |byte| *byte == b'*',
            |pattern, byte| pattern == byte,
        )
    }
}

/// Whether `items` follows `pattern`, where an element of which `is_gap` holds takes any number of items and
/// any other takes exactly one, for which `fits` must hold.
pub(crate) fn matches_sequence<P, T>(
    pattern: &[P],
    items: &[T],
    is_gap: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    // The element after the last gap, and the first item that this gap has not taken yet.
    let mut retry: Option<(usize, usize)> = None;
    while let Some(item) = items.get(i) {
        match pattern.get(p) {
            Some(element) if is_gap(element) => {
                p += 1;
                retry = Some((p, i));
            }
            Some(element) if fits(element, item) => {
                p += 1;
                i += 1;
            }
            _ => match retry {
                Some((after_gap, taken)) => {
                    p = after_gap;
                    i = taken + 1;
                    retry = Some((after_gap, i));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(is_gap)
}
