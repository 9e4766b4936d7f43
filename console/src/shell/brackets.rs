//! Finds out whether an input is complete: whether a bracket, a string or a comment is open at its
//! end.
//!
//! ```text
//!   let f = || { "a(" }     nothing is open
//!   methods("shop.De        a string is open: the text `shop.De` after the code `methods(`
//!   if x { // }             a bracket is open
//! ```
//!
//! The agent parses the input. This module only finds the boundaries of strings, comments and
//! brackets.

/// The kind of text that an input ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexicalState {
    Code,
    /// A quoted string that is not closed. Its text starts at this byte, after the quote.
    OpenString(usize),
    /// A string in backticks that is not closed.
    RawString,
    /// A comment that ends with the line.
    LineComment,
    /// A comment that is not closed.
    BlockComment,
}

/// The state at the end of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputState {
    /// Number of open brackets. Negative if the input has more closing brackets than opening ones.
    pub depth: i32,
    pub end: LexicalState,
}

impl InputState {
    /// Scans the input.
    pub fn scan(text: &str) -> InputState {
        let mut depth = 0;
        // For each `${` inside a string in backticks: the bracket depth at which the string
        // continues.
        let mut nested: Vec<i32> = Vec::new();
        let mut end = LexicalState::Code;
        let mut comments = 0;
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let next = characters.peek().map(|(_, c)| *c);
            let pair = |other| next == Some(other);
            match (end, c) {
                (LexicalState::Code, '/') if pair('/') => {
                    end = LexicalState::LineComment;
                    for (_, c) in characters.by_ref() {
                        if c == '\n' {
                            end = LexicalState::Code;
                            break;
                        }
                    }
                }
                (LexicalState::Code, '/') if pair('*') => {
                    characters.next();
                    (end, comments) = (LexicalState::BlockComment, 1);
                }
                (LexicalState::BlockComment, '*') if pair('/') => {
                    characters.next();
                    comments -= 1;
                    if comments == 0 {
                        end = LexicalState::Code;
                    }
                }
                (LexicalState::BlockComment, '/') if pair('*') => {
                    characters.next();
                    comments += 1;
                }
                (LexicalState::Code, '"') => end = LexicalState::OpenString(at + 1),
                (LexicalState::OpenString(_), '"' | '\n') => end = LexicalState::Code,
                (LexicalState::OpenString(_), '\\') => {
                    characters.next();
                }
                (LexicalState::Code, '\'') => skip_character(&mut characters),
                (LexicalState::Code, '`') => end = LexicalState::RawString,
                (LexicalState::RawString, '`') => end = LexicalState::Code,
                (LexicalState::RawString, '$') if pair('{') => {
                    characters.next();
                    nested.push(depth);
                    depth += 1;
                    end = LexicalState::Code;
                }
                (LexicalState::Code, '(' | '[' | '{') => depth += 1,
                (LexicalState::Code, ')' | ']' | '}') => {
                    depth -= 1;
                    if c == '}' && nested.last() == Some(&depth) {
                        nested.pop();
                        end = LexicalState::RawString;
                    }
                }
                _ => {}
            }
        }
        InputState { depth, end }
    }

    /// Whether the input needs more lines before it can run. A quoted string ends with its line,
    /// whether or not it is closed, unless the line ends with a backslash.
    pub fn is_open(&self, text: &str) -> bool {
        match self.end {
            LexicalState::OpenString(_) => text.ends_with('\\'),
            LexicalState::RawString | LexicalState::BlockComment => true,
            LexicalState::LineComment | LexicalState::Code => self.depth > 0,
        }
    }
}

/// Skips the rest of a character literal such as `'a'` or `'\''`.
fn skip_character(characters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    // The longest literal is `'\U12345678'`.
    for _ in 0..12 {
        match characters.next() {
            Some((_, '\\')) => {
                characters.next();
            }
            Some((_, '\'' | '\n')) | None => return,
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_complete_if_nothing_is_open() {
        for whole in [
            "",
            "1 + 1",
            "let f = || { \"a(\" };",
            "m.blocks() // and so on (",
            "/* ( */ 1",
            "`a ${ [1].len() } (`",
            "'\"'",
            "'\\''",
            "'\\u0028'",
            "\"\\\"\"",
            "1 )",
            "\"a",
        ] {
            assert!(!InputState::scan(whole).is_open(whole), "{whole}");
        }
        for open in [
            "fn f(x) {",
            "methods(\"a\"",
            "\"a\\",
            "`a ${ 1",
            "`a ${ 1 }",
            "/* 1",
            "/* /* */ 1",
            "[1, // one",
        ] {
            assert!(InputState::scan(open).is_open(open), "{open}");
        }
    }

    #[test]
    fn an_open_string_is_found() {
        let state = InputState::scan("let m = methods(\"shop.De");
        assert_eq!(state.end, LexicalState::OpenString(17));
        assert_eq!(InputState::scan("m(\"a\").x").end, LexicalState::Code);
    }
}
