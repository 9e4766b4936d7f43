//! Patterns that also select static initialisers, which a pattern of classes does not select.

use veneer_instruments::MethodPattern;

/// Selects the static initialiser of the classes that the text before it selects.
const INITIALISER: &str = "::<clinit>()";

/// Adds, to each pattern that names no method, the static initialisers of its classes.
pub fn with_initialisers(patterns: Vec<String>) -> Vec<String> {
    let of_classes = patterns.iter().filter(|text| !text.contains("::"));
    let initialisers = of_classes.map(|text| format!("{text}{INITIALISER}"));
    let initialisers: Vec<String> = initialisers
        .filter(|text| MethodPattern::parse(text).is_ok())
        .collect();
    [patterns, initialisers].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_methods_stay_alone() {
        let given = ["a..*", "b.C::m(..)"].map(str::to_owned);
        let all = with_initialisers(given.to_vec());
        assert_eq!(all, ["a..*", "b.C::m(..)", "a..*::<clinit>()"]);
    }
}
