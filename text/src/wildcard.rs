//! Wildcard matching: `*` within a word, and gaps within a sequence.
//!
//! The algorithm is greedy, with two pointers. On a mismatch, the algorithm returns to the last gap
//! and lets it match one item more. Only the last gap has to be tried again: if an earlier gap
//! matched more items, the later one would have fewer to choose from. The cost is therefore at most
//! length × length.

/// Whether a word matches a pattern in which `*` matches any characters.
///
/// ```
/// assert!(veneer_text::matches_wildcard("shop.*", "shop.Desk"));
/// assert!(!veneer_text::matches_wildcard("shop", "shop.Desk"));
/// ```
pub fn matches_wildcard(pattern: &str, word: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == word;
    }
    // Comparing bytes is correct, because `*` is ASCII and equal UTF-8 strings have equal bytes.
    matches_sequence(
        pattern.as_bytes(),
        word.as_bytes(),
        |byte| *byte == b'*',
        |pattern, byte| pattern == byte,
    )
}

/// Whether `items` matches `pattern`. An element for which `is_gap` holds matches any number of
/// items. Any other element matches exactly one item, for which `fits` must hold.
pub fn matches_sequence<P, T>(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, word, is_match) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "app.jar", true),
            ("Desk", "Desk", true),
            ("Des", "Desk", false),
            ("esk", "Desk", false),
            ("*esk", "Desk", true),
            ("D*k", "Desk", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*x*", "Desk", false),
            ("*ab*ab", "abxab", true),
            ("*ab*ab", "ab", false),
            ("**", "ab", true),
            ("pool-*-thread-*", "pool-1-thread-12", true),
            ("ü*", "übung", true),
        ] {
            assert_eq!(
                matches_wildcard(pattern, word),
                is_match,
                "{pattern} {word}"
            );
        }
    }

    #[test]
    fn a_gap_matches_any_number_of_items() {
        let fits = |pattern: &[i32], items: &[i32]| {
            matches_sequence(pattern, items, |p| *p < 0, |p, item| p == item)
        };
        assert!(fits(&[-1], &[]));
        assert!(fits(&[1, -1, 3], &[1, 2, 2, 3]));
        assert!(fits(&[-1, 2, -1, 3], &[2, 2, 3]));
        assert!(!fits(&[1, -1, 3], &[1, 2]));
        assert!(!fits(&[1], &[1, 1]));
    }
}
