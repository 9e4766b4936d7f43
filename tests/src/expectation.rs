//! Expectations: the counts that a line of a Java source states about itself in a comment.
//!
//! ```java
//! static int sum(int n) { // entries 2; exits 2; timer 2
//!     int s = 0; // blocks 2
//!     for (int i = 0; i < n; i++) { // blocks 12
//! ```
//!
//! * `blocks 13 12`: the hits of the basic blocks whose first instruction is on this line, ordered
//!   by class, method and number of the fragment. A block begins at the start of a method, at the
//!   target of a branch or switch, after a branch, switch, return or throw, and at an exception
//!   handler. A call does not end a block.
//! * `entries N`, `exits N`, `timer N`: the counts of the method whose code begins on this line, or
//!   else of the next method. `exits` counts normal and exceptional exits together. A timer
//!   measures each activation once.
//! * `blocks@25 …`: replaces the expectation without a version from JDK 25 on.

/// The quantity that an expectation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Hits of the fragments on a line.
    Blocks,
    /// Entries of a method.
    Entries,
    /// Normal and exceptional exits of a method.
    Exits,
    /// Measurements of a timer around a method.
    Timer,
}

impl std::fmt::Display for Measure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Blocks => "blocks",
            Self::Entries => "entries",
            Self::Exits => "exits",
            Self::Timer => "timer",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The line of the comment, counted from 1.
    pub line: u32,
    pub measure: Measure,
    /// The first JDK for which the expectation holds.
    pub since: u32,
    pub numbers: Vec<u64>,
}

/// Why a comment is not a well-formed expectation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpectationError {
    #[error("unknown expectation `{0}`")]
    Unknown(String),
    /// The text after `@` is not a number.
    #[error("`{0}` is no JDK version")]
    NoVersion(String),
    #[error("`{0}` has a word that is no number")]
    NoNumber(String),
    /// A method has one count of each measure, and a line at least one of blocks.
    #[error("`{part}` has {count} numbers")]
    WrongCount { part: String, count: usize },
}

/// Parses the expectations of one line of source.
pub fn parse_line(number: u32, text: &str) -> Result<Vec<Expectation>, ExpectationError> {
    let Some((_, comment)) = text.split_once("// ") else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for part in comment.split(';') {
        let mut words = part.split_whitespace();
        let Some(word) = words.next() else { continue };
        let (name, since) = word.split_once('@').unwrap_or((word, "0"));
        let measure = match name {
            "blocks" => Measure::Blocks,
            "entries" => Measure::Entries,
            "exits" => Measure::Exits,
            "timer" => Measure::Timer,
            // The line has an ordinary comment.
            _ if found.is_empty() => return Ok(found),
            _ => return Err(ExpectationError::Unknown(name.into())),
        };
        let since = since
            .parse()
            .map_err(|_| ExpectationError::NoVersion(since.into()))?;
        let numbers: Result<Vec<u64>, _> = words.map(str::parse).collect();
        let numbers = numbers.map_err(|_| ExpectationError::NoNumber(part.trim().into()))?;
        if numbers.is_empty() || (measure != Measure::Blocks && numbers.len() != 1) {
            return Err(ExpectationError::WrongCount {
                part: part.trim().into(),
                count: numbers.len(),
            });
        }
        found.push(Expectation {
            line: number,
            measure,
            since,
            numbers,
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_parts_and_versions() -> Result<(), ExpectationError> {
        let found = parse_line(4, "int f() { // entries 2; blocks 3 4; blocks@25 5")?;
        assert_eq!(found.len(), 3);
        assert_eq!(found[1].numbers, [3, 4]);
        assert_eq!(
            (found[2].since, found[2].measure, found[2].line),
            (25, Measure::Blocks, 4)
        );
        Ok(())
    }

    #[test]
    fn leaves_other_comments_alone_and_refuses_faults() {
        assert_eq!(parse_line(1, "int a; // the first"), Ok(Vec::new()));
        assert_eq!(parse_line(1, "int a;"), Ok(Vec::new()));
        for (comment, message) in [
            ("// blocks", "`blocks` has 0 numbers"),
            ("// blocks 1 x", "`blocks 1 x` has a word that is no number"),
            ("// entries 1 2", "`entries 1 2` has 2 numbers"),
            ("// entries 1; exit 2", "unknown expectation `exit`"),
            ("// blocks@x 1", "`x` is no JDK version"),
        ] {
            let error = parse_line(1, comment).map_err(|e| e.to_string());
            assert_eq!(error, Err(message.to_string()));
        }
    }
}
