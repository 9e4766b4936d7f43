//! Numbers with their nouns: "1 class", "2 classes", "5,120 classes".

use veneer_instruments::table::format_count;

/// Returns `count`, with separators of thousands, and `noun` in the plural unless `count` is 1.
pub fn quantity(count: u64, noun: &str) -> String {
    format!("{} {}", format_count(count), plural(count, noun))
}

/// Returns `noun`, or its plural unless `count` is 1. Nouns that end in `s` or `x` get `es`, nouns
/// that end in a consonant and `y` get `ies`, all others `s`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        return noun.to_owned();
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if noun.ends_with(['s', 'x']) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Returns the form of a verb that fits `count` things.
pub fn verb(count: u64, singular: &'static str, plural: &'static str) -> &'static str {
    if count == 1 { singular } else { plural }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_the_number_of_their_count() {
        assert_eq!(quantity(1, "class"), "1 class");
        assert_eq!(quantity(0, "class"), "0 classes");
        assert_eq!(quantity(5120, "class"), "5,120 classes");
        assert_eq!(quantity(2, "query"), "2 queries");
        assert_eq!(quantity(2, "array"), "2 arrays");
        assert_eq!(quantity(2, "thread"), "2 threads");
    }

    #[test]
    fn verbs_have_the_number_of_their_count() {
        assert_eq!(verb(1, "has", "have"), "has");
        assert_eq!(verb(0, "has", "have"), "have");
    }
}
