//! The completions that Tab offers: functions and methods of plans, variables of this shell,
//! commands, and in a pattern the classes and methods of the running JVM.
//!
//! ```text
//!   meth⇥                     methods(             from the reference
//!   c.hi⇥                     hits(
//!   methods("shop.De⇥         shop.Desk            requested from the JVM at this moment
//!   methods("shop.Desk::se⇥   shop.Desk::serve(..)
//!   :he⇥                      :help
//! ```

use veneer_scripts::callables;

use super::brackets::{InputState, LexicalState};
use super::command::COMMANDS;

/// The completions of an incomplete input.
#[derive(Debug, PartialEq, Eq)]
pub struct Completions {
    /// The byte at which the completion begins. A candidate replaces the text from this byte to the
    /// cursor.
    pub from: usize,
    pub candidates: Vec<Completion>,
}

/// A completion that Tab offers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Completion {
    /// The text in the list of candidates.
    pub shown: String,
    /// The text that is inserted.
    pub typed: String,
}

impl From<String> for Completion {
    fn from(text: String) -> Completion {
        Completion {
            shown: text.clone(),
            typed: text,
        }
    }
}

/// Functions whose string argument is a pattern of methods, or begins like one.
const PATTERN_FUNCTIONS: [&str; 6] = ["methods", "classes", "calls", "reads", "writes", "names"];

/// The kind of text that the cursor is in.
#[derive(Debug, PartialEq, Eq)]
pub enum CompletionContext<'a> {
    /// An incomplete pattern. The JVM knows the names that can follow.
    Pattern(&'a str),
    /// The path of a file, which begins at this byte.
    Path(usize),
    /// Text whose completions the shell itself knows.
    Known(Completions),
}

/// Analyses the text before the cursor.
pub fn completion_context<'a>(before: &'a str, variables: &[String]) -> CompletionContext<'a> {
    let nothing = |from| {
        CompletionContext::Known(Completions {
            from,
            candidates: Vec::new(),
        })
    };
    if let Some(offer) = command(before) {
        return offer;
    }
    match InputState::scan(before).end {
        LexicalState::OpenString(from) => match (before.get(from..), before.get(..from - 1)) {
            (Some(text), Some(code)) if is_pattern_argument(code) => {
                CompletionContext::Pattern(text)
            }
            _ => nothing(before.len()),
        },
        LexicalState::RawString | LexicalState::LineComment | LexicalState::BlockComment => {
            nothing(before.len())
        }
        LexicalState::Code => CompletionContext::Known(word(before, variables)),
    }
}

/// Completes commands and their arguments.
fn command(before: &str) -> Option<CompletionContext<'_>> {
    let rest = before.strip_prefix(':')?;
    let Some((name, argument)) = rest.split_once(' ') else {
        let fits = COMMANDS.iter().filter(|c| c.name.starts_with(rest));
        let candidates = fits.map(|c| format!(":{}", c.name).into()).collect();
        return Some(CompletionContext::Known(Completions {
            from: 0,
            candidates,
        }));
    };
    let from = before.len() - argument.trim_start().len();
    match name {
        "load" => Some(CompletionContext::Path(from)),
        "help" => {
            let start = before.get(from..).unwrap_or_default();
            let mut names: Vec<&str> = callables().iter().map(|c| c.name).collect();
            names.dedup();
            let fits = names.into_iter().filter(|name| name.starts_with(start));
            let candidates = fits.map(|name| name.to_owned().into()).collect();
            Some(CompletionContext::Known(Completions { from, candidates }))
        }
        // The argument of `:watch` is an expression, which is completed like an input.
        "watch" => None,
        _ => Some(CompletionContext::Known(Completions {
            from: before.len(),
            candidates: Vec::new(),
        })),
    }
}

/// Whether a string that follows this code is a pattern: an argument of one of
/// [`PATTERN_FUNCTIONS`], or an element of an array that is such an argument.
fn is_pattern_argument(code: &str) -> bool {
    let mut depth = 0;
    for (at, c) in code.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' if depth == 0 => {
                let before = code.get(..at).unwrap_or_default();
                return PATTERN_FUNCTIONS.contains(&last_word(before));
            }
            '(' | '{' | '[' if depth > 0 => depth -= 1,
            '{' | ';' => return false,
            _ => {}
        }
    }
    false
}

/// The identifier at the end of a text.
fn last_word(text: &str) -> &str {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.trim_start_matches(':')
        .rsplit(|c| !part(c))
        .next()
        .unwrap_or_default()
}

fn word(before: &str, variables: &[String]) -> Completions {
    let start = last_word(before);
    let from = before.len() - start.len();
    let of_something = before
        .get(..from)
        .is_some_and(|code| code.trim_end().ends_with('.'));
    let calls = callables().into_iter();
    let mut candidates: Vec<Completion> = calls
        .filter(|c| c.of_something == of_something && c.name.starts_with(start))
        .map(|c| Completion {
            shown: format!("{}()", c.name),
            typed: format!("{}(", c.name),
        })
        .collect();
    if !of_something {
        let fits = variables.iter().filter(|name| name.starts_with(start));
        candidates.extend(fits.cloned().map(Completion::from));
    }
    candidates.sort();
    candidates.dedup();
    // An empty word has completions only after a dot. Elsewhere the list would contain every
    // function.
    if start.is_empty() && !of_something {
        candidates.clear();
    }
    Completions { from, candidates }
}

/// Returns the names of the variables, constants and functions that an input declares.
pub fn declared_variables(source: &str) -> Vec<String> {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut names = Vec::new();
    for pair in words.windows(2) {
        if let ["let" | "const" | "fn", name] = pair {
            names.push((*name).to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(before: &str) -> (usize, Vec<String>) {
        match completion_context(before, &["counted".into(), "cut".into()]) {
            CompletionContext::Known(offer) => {
                let typed = offer.candidates.into_iter().map(|c| c.typed);
                (offer.from, typed.collect())
            }
            other => panic!("{before}: {other:?}"),
        }
    }

    #[test]
    fn functions_methods_and_variables_are_completed() {
        assert_eq!(offered("let m = meth"), (8, vec!["methods(".to_string()]));
        assert_eq!(
            offered("cou"),
            (0, vec!["counted".to_string(), "counter(".to_string()])
        );
        assert_eq!(offered("c.hit"), (2, vec!["hits(".to_string()]));
        assert_eq!(offered("methods(\"a\").blo").1, ["block(", "blocks("]);
        assert_eq!(offered(""), (0, vec![]));
        assert!(offered("c.").1.contains(&"table(".to_string()));
        assert_eq!(offered("log(\"cou"), (8, vec![]));
        assert_eq!(offered("// cou"), (6, vec![]));
    }

    #[test]
    fn commands_and_their_arguments_are_completed() {
        assert_eq!(offered(":he"), (0, vec![":help".to_string()]));
        assert_eq!(offered(":help blo").1, ["block", "blocks"]);
        assert_eq!(offered(":watch cut").1, ["cut"]);
        assert_eq!(
            completion_context(":load ho", &[]),
            CompletionContext::Path(6)
        );
    }

    #[test]
    fn only_patterns_are_completed_by_the_jvm() {
        for (before, pattern) in [
            ("methods(\"shop.De", "shop.De"),
            ("let m = methods([\"a.B::m(..)\", \"", ""),
            ("m.calls(\"java.", "java."),
            (":watch methods(\"a", "a"),
        ] {
            assert_eq!(
                completion_context(before, &[]),
                CompletionContext::Pattern(pattern),
                "{before}"
            );
        }
        for before in ["print(\"shop", "if x { \"shop", "methods(\"a\").named(\"b"] {
            assert!(
                matches!(completion_context(before, &[]), CompletionContext::Known(_)),
                "{before}"
            );
        }
    }

    #[test]
    fn declared_names_are_found() {
        let source = "let a = 1; const B = 2;\nfn half(x) { x / 2 }";
        assert_eq!(declared_variables(source), ["a", "B", "half"]);
    }
}
