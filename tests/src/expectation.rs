//! What a line of a Java source says about its own counts.
//!
//! ```java
//! static int sum(int n) { // entries 2; exits 2; timer 2
//!     int s = 0; // blocks 2
//!     for (int i = 0; i < n; i++) { // blocks 12
//! ```
//!
//! * `blocks 13 12`: the hits of the basic blocks whose first instruction is on this line, by class, method
//!   and number of the fragment. A block starts at the beginning of a method, at the target of a branch or
//!   switch, after a branch, switch, return or throw, and at an exception handler; not after a call.
//! * `entries N`, `exits N`, `timer N`: of the method whose code begins on this line or next after it. Exits
//!   are normal and exceptional ones together; a timer measures each activation once.
//! * `blocks@25 …`: instead of the other, from JDK 25 on.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Hits of the fragments on a line.
    Blocks,
    /// Entries of a method.
    Entries,
    /// Exits of a method, of both kinds.
    Exits,
    /// Measures of a timer around a method.
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

/// An expectation of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The line it stands on, from 1.
    pub line: u32,
    /// What is counted.
    pub measure: Measure,
    /// The JDK from which it holds.
    pub since: u32,
    /// The numbers.
    pub numbers: Vec<u64>,
}

/// The expectations of one line of source; an error says what is wrong with the comment.
pub fn parse_line(number: u32, text: &str) -> Result<Vec<Expectation>, String> {
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
            // An ordinary comment.
            _ if found.is_empty() => return Ok(found),
            _ => return Err(format!("unknown expectation `{name}`")),
        };
        let since = since
            .parse()
            .map_err(|_| format!("`{since}` is no JDK version"))?;
        let numbers: Result<Vec<u64>, _> = words.map(str::parse).collect();
        let numbers =
            numbers.map_err(|_| format!("`{}` has a word that is no number", part.trim()))?;
        if numbers.is_empty() || (measure != Measure::Blocks && numbers.len() != 1) {
            return Err(format!("`{}` has {} numbers", part.trim(), numbers.len()));
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
    fn reads_parts_and_versions() -> Result<(), String> {
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
        assert!(parse_line(1, "// blocks").is_err());
        assert!(parse_line(1, "// blocks 1 x").is_err());
        assert!(parse_line(1, "// entries 1 2").is_err());
        assert!(parse_line(1, "// entries 1; exit 2").is_err());
    }
}
