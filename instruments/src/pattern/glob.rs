//! Wildcard matching: `*` within a word, and `..` within a sequence.
//!
//! Both wildcards use the same greedy two-pointer algorithm. On a mismatch, the algorithm returns
//! to the last wildcard and lets it match one item more. Only the last wildcard has to be tried
//! again: if an earlier wildcard matched more items, the later one would have fewer to choose from.
//! The cost is therefore at most length × length.

/// A word in which `*` matches any characters.
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
        // Comparing bytes is correct, because `*` is ASCII and equal UTF-8 strings have equal
        // bytes.
        matches_sequence(
            self.0.as_bytes(),
            word.as_bytes(),
            |byte| *byte == b'*',
            |pattern, byte| pattern == byte,
        )
    }
}

/// Whether `items` matches `pattern`. An element for which `is_gap` holds matches any number of
/// items. Any other element matches exactly one item, for which `fits` must hold.
pub(crate) fn matches_sequence<P, T>(
    pattern: &[P],
    items: &[T],
    is_gap: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    // The index of the element after the last gap, and the index of the first item that the gap has
    // not matched yet.
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
