//! Patterns of methods as people write them: `com.shop`, `Pricing.factor`, `com.shop.Pricing#factor`.
//!
//! A text that means one thing by the conventions of Java is read as the pattern for it. Packages
//! begin with a lower-case letter, classes with an upper-case letter, methods with a lower-case one:
//!
//! | written | read as |
//! | --- | --- |
//! | `com.shop` | `com.shop..*` |
//! | `com.shop.Pricing.factor`, `com.shop.Pricing#factor` | `com.shop.Pricing::factor` |
//! | `Pricing.factor`, `Pricing#factor` | `*..Pricing::factor` |
//! | `com.shop.Order.Item` | `com.shop.Order$Item` |
//!
//! Every other text is a pattern already.

use thiserror::Error;
use veneer_fragmenter::cell_path::selects_only_cell_path;

/// Why no method of a pattern can be measured. The text ends with the reason's name, which is stable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternRefusal {
    /// All classes of the pattern are on the path of a cell.
    #[error(
        "`{pattern}` cannot be measured: {class} is never armed, because Veneer executes its methods in each call of an instrumented method (OnCellPath); \
         measure its calls where your code makes them: veneer {command} {pid} 'com.acme..*' --at 'calls:{callee}'"
    )]
    NeverArmed {
        /// The pattern as typed.
        pattern: String,
        /// The class part of the pattern.
        class: String,
        /// The command that was typed.
        command: &'static str,
        /// The process id that was typed.
        pid: u32,
        /// The pattern for `--at calls:`.
        callee: String,
    },
}

/// Returns the pattern that a text means.
pub fn read(text: &str) -> String {
    let text = text.trim();
    if text.contains("::") || text.contains(|c: char| c.is_whitespace() || "@+!".contains(c)) {
        return text.to_owned();
    }
    let (name, arguments) = match text.find('(') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if let Some((class, method)) = name.split_once('#') {
        return format!("{}::{method}{arguments}", in_any_package(class));
    }
    let segments: Vec<&str> = name.split('.').collect();
    let is_dotted = segments.len() > 1;
    match segments.as_slice() {
        [.., class, method]
            if begins_upper(class) && (begins_lower(method) || !arguments.is_empty()) =>
        {
            let class = name.strip_suffix(&format!(".{method}")).unwrap_or(class);
            format!("{}::{method}{arguments}", in_any_package(class))
        }
        _ if !arguments.is_empty() => text.to_owned(),
        all if is_dotted
            && all
                .iter()
                .all(|one| begins_lower(one) && !one.contains('*')) =>
        {
            format!("{name}..*")
        }
        _ => nested(&segments),
    }
}

/// Returns a class name in which a class inside a class follows `$`.
fn nested(segments: &[&str]) -> String {
    let mut out = String::new();
    let mut before = "";
    for (n, segment) in segments.iter().enumerate() {
        let is_inner = begins_upper(before) && begins_upper(segment);
        if n > 0 {
            out.push(if is_inner { '$' } else { '.' });
        }
        out.push_str(segment);
        before = segment;
    }
    out
}

/// Returns the class of a method. A class without a package is in any package.
fn in_any_package(class: &str) -> String {
    let class = nested(&class.split('.').collect::<Vec<_>>());
    match class.contains('.') || class.starts_with('*') {
        true => class,
        false => format!("*..{class}"),
    }
}

fn begins_upper(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_uppercase)
}

fn begins_lower(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
}

/// Refuses a pattern whose classes are never armed. `command` and `pid` are those that were typed.
///
/// # Errors
/// All classes that the pattern can select are on the path of a cell.
pub fn check_armable(pattern: &str, command: &'static str, pid: u32) -> Result<(), PatternRefusal> {
    let class = pattern.split("::").next().unwrap_or(pattern).trim();
    if class.contains(|c: char| c.is_whitespace() || "@+".contains(c))
        || !selects_only_cell_path(class)
    {
        return Ok(());
    }
    let callee = match pattern.contains("::") {
        true => pattern.to_owned(),
        false => format!("{pattern}::*(..)"),
    };
    Err(PatternRefusal::NeverArmed {
        pattern: pattern.to_owned(),
        class: class.to_owned(),
        command,
        pid,
        callee,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_mean_one_thing_are_read_as_its_pattern() {
        for (text, pattern) in [
            ("com.shop", "com.shop..*"),
            ("com.shop.Pricing.factor", "com.shop.Pricing::factor"),
            ("com.shop.Pricing#factor", "com.shop.Pricing::factor"),
            (
                "com.shop.Pricing#factor(int)",
                "com.shop.Pricing::factor(int)",
            ),
            (
                "com.shop.Pricing.factor(..)",
                "com.shop.Pricing::factor(..)",
            ),
            ("Pricing#factor", "*..Pricing::factor"),
            ("Pricing.factor", "*..Pricing::factor"),
            ("*..Pricing.factor", "*..Pricing::factor"),
            ("com.shop.Order.Item", "com.shop.Order$Item"),
            ("com.shop.Order.Item.price", "com.shop.Order$Item::price"),
        ] {
            assert_eq!(read(text), pattern, "{text}");
        }
    }

    #[test]
    fn patterns_stay_as_they_are() {
        for text in [
            "com.shop..*",
            "com.shop.*",
            "com.shop.Pricing",
            "Pricing",
            "orders",
            "Pricing::factor()",
            "com.shop.pricing::factor(..)",
            "a.B+::m(..)",
            "@a.B *..*::*(..)",
            "static com.shop",
            "*..*::*(..)",
            "",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn a_class_that_is_never_armed_is_refused_with_the_command_that_works() {
        let refused = |pattern: &str| {
            check_armable(pattern, "count", 7).map_err(|refusal| refusal.to_string())
        };
        let said = refused("java.lang.Math::abs(..)").unwrap_err();
        for part in [
            "(OnCellPath)",
            "veneer count 7 'com.acme..*' --at 'calls:java.lang.Math::abs(..)'",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert!(
            refused("java.lang.String")
                .unwrap_err()
                .contains("calls:java.lang.String::*(..)")
        );
        for pattern in [
            "java.util.zip.Inflater",
            "a.B",
            "java.util.List+::add(..)",
            "java.util..*",
            "*..*",
        ] {
            assert_eq!(refused(pattern), Ok(()), "{pattern}");
        }
    }
}
