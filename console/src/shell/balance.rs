//! How far a text of Rhai has been typed: is something open at its end, a bracket, a string, a comment?
//!
//! ```text
//!   let f = || { "a(" }     nothing is open
//!   methods("shop.De        a string is open; its text so far is shop.De, and what stands before it is methods(
//!   if x { // }             a bracket is open
//! ```
//!
//! The agent reads the text for good; this here knows no more of the language than where its words begin and end.

/// What stands at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Code.
    Code,
    /// A string in quotes that is not closed; it begins behind the quote at this byte.
    Text(usize),
    /// A string in backticks that is not closed.
    Raw,
    /// A comment that ends with the line.
    Comment,
    /// A comment that needs a closing mark.
    Block,
}

/// The state at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Brackets that are open; below zero where too many were closed.
    pub depth: i32,
    /// What the last character belongs to.
    pub end: End,
}

impl State {
    /// Reads a text.
    pub fn of(text: &str) -> State {
        let mut depth = 0;
        // Where `${` in a raw string leads back into code: the depth at which it ends.
        let mut nested: Vec<i32> = Vec::new();
        let mut end = End::Code;
        let mut comments = 0;
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let next = characters.peek().map(|(_, c)| *c);
            let pair = |other| next == Some(other);
            match (end, c) {
                (End::Code, '/') if pair('/') => {
                    end = End::Comment;
                    for (_, c) in characters.by_ref() {
                        if c == '\n' {
                            end = End::Code;
                            break;
                        }
                    }
                }
                (End::Code, '/') if pair('*') => {
                    characters.next();
                    (end, comments) = (End::Block, 1);
                }
                (End::Block, '*') if pair('/') => {
                    characters.next();
                    comments -= 1;
                    if comments == 0 {
                        end = End::Code;
                    }
                }
                (End::Block, '/') if pair('*') => {
                    characters.next();
                    comments += 1;
                }
                (End::Code, '"') => end = End::Text(at + 1),
                (End::Text(_), '"' | '\n') => end = End::Code,
                (End::Text(_), '\\') => {
                    characters.next();
                }
                (End::Code, '\'') => skip_character(&mut characters),
                (End::Code, '`') => end = End::Raw,
                (End::Raw, '`') => end = End::Code,
                (End::Raw, '$') if pair('{') => {
                    characters.next();
                    nested.push(depth);
                    depth += 1;
                    end = End::Code;
                }
                (End::Code, '(' | '[' | '{') => depth += 1,
                (End::Code, ')' | ']' | '}') => {
                    depth -= 1;
                    if c == '}' && nested.last() == Some(&depth) {
                        nested.pop();
                        end = End::Raw;
                    }
                }
                _ => {}
            }
        }
        State { depth, end }
    }

    /// Whether more must come before the text can be run. A string in quotes ends with its line, closed or not.
    pub fn is_open(&self, text: &str) -> bool {
        match self.end {
            End::Text(_) => text.ends_with('\\'),
            End::Raw | End::Block => true,
            End::Comment | End::Code => self.depth > 0,
        }
    }
}

/// Passes over the rest of a character such as 'a' or '\''.
fn skip_character(characters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) {
    // The longest is '\U12345678'.
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
    fn a_text_is_whole_when_nothing_is_open() {
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
            assert!(!State::of(whole).is_open(whole), "{whole}");
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
            assert!(State::of(open).is_open(open), "{open}");
        }
    }

    #[test]
    fn an_open_string_is_found() {
        let state = State::of("let m = methods(\"shop.De");
        assert_eq!(state.end, End::Text(17));
        assert_eq!(State::of("m(\"a\").x").end, End::Code);
    }
}
