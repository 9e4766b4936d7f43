//! Method patterns from any text: parsed, written and parsed again.
//!
//! Promises: the code does not panic. The text form of a pattern parses to the same pattern. The
//! column of an error lies within the text. Matching terminates for any name.

use veneer_instruments::MethodPattern;

/// Parses the input's first line as a pattern, and matches the second line against it.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (line, name) = text.split_once('\n').unwrap_or((&text, "a.b.C$D"));
    match MethodPattern::parse(line) {
        Ok(pattern) => {
            let written = pattern.to_string();
            assert_eq!(
                MethodPattern::parse(&written).as_ref(),
                Ok(&pattern),
                "{line:?} is written as {written:?}"
            );
            assert_eq!(written, pattern.clone().to_string());
            let (class, method) = name.split_once(' ').unwrap_or((name, "m"));
            for descriptor in ["()V", "(I[Ljava/lang/String;J)V", class] {
                let whole = pattern.matches(class, method, descriptor);
                let parts =
                    pattern.matches_class(class) && pattern.matches_method(method, descriptor);
                assert_eq!(whole, parts, "{line:?} on {name:?}");
            }
        }
        Err(error) => {
            let end = line.chars().count() + 1;
            assert!(
                (1..=end).contains(&error.column) && error.text == line,
                "{error}"
            );
        }
    }
}
