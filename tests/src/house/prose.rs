//! Rules for comments and documents that a script can check.
//!
//! | rule | applies to |
//! | --- | --- |
//! | a sentence does not begin with `What`, `Where`, `So many` or `Whoever` | comments |
//! | a doc comment has more than two words, or names code | `///` |
//! | a line has at most 160 characters | Markdown outside tables and code blocks |
//! | `README.md` has at most 150 lines | `README.md` |

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::sources;

/// Openings that put a relative clause in place of a noun.
const OPENINGS: [&str; 4] = ["What ", "Where ", "So many ", "Whoever "];
/// The most characters of a line of Markdown.
const MAX_MARKDOWN_CHARS: usize = 160;
/// The most lines of `README.md`.
pub const MAX_README_LINES: usize = 150;
/// Documents that a command writes.
const GENERATED: [&str; 3] = ["trust.md", "benchmarks.md", "reference.md"];

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The rule and the text.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)
    }
}

/// The violations of one rule, by rule.
#[derive(Debug, Default)]
pub struct Violations {
    /// Comments that begin with a relative clause.
    pub openings: Vec<Violation>,
    /// Doc comments of one or two words.
    pub short_docs: Vec<Violation>,
    /// Markdown lines that are too long.
    pub long_lines: Vec<Violation>,
    /// Lines of `README.md`.
    pub readme_lines: usize,
}

/// Checks all sources and documents below `root`.
pub fn check(root: &Path) -> io::Result<Violations> {
    let mut all = Violations::default();
    for file in sources::with_extension(root, &["rs", "java"])? {
        check_comments(&file, &fs::read_to_string(&file)?, &mut all);
    }
    for file in sources::with_extension(root, &["md"])? {
        let generated = file
            .file_name()
            .is_some_and(|name| GENERATED.iter().any(|g| name == *g));
        if !generated {
            check_markdown(&file, &fs::read_to_string(&file)?, &mut all);
        }
    }
    all.readme_lines = fs::read_to_string(root.join("README.md"))?.lines().count();
    Ok(all)
}

/// The text of a comment line and whether the line is a doc comment.
fn comment(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    ["///", "//!", "//", "/**", "*"]
        .into_iter()
        .find_map(|marker| {
            let text = line.strip_prefix(marker)?;
            let is_comment = marker != "*" || text.is_empty() || text.starts_with([' ', '/']);
            is_comment.then(|| (text.trim(), marker == "///"))
        })
}

fn check_comments(file: &Path, text: &str, all: &mut Violations) {
    let violation = |line: usize, message: String| Violation {
        file: file.to_path_buf(),
        line,
        message,
    };
    // The doc comment that is being read: its first line and its words.
    let mut doc: Option<(usize, String)> = None;
    let mut in_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((words, is_doc)) = comment(line) else {
            in_code = false;
            if let Some((first, text)) = doc.take()
                && (1..=2).contains(&text.split_whitespace().count())
                && !text.contains('`')
            {
                all.short_docs
                    .push(violation(first, format!("the doc is only: {text}")));
            }
            continue;
        };
        if words.starts_with("```") {
            in_code = !in_code;
        }
        if is_doc {
            let (_, text) = doc.get_or_insert((number, String::new()));
            text.push_str(words);
            text.push(' ');
        }
        if !in_code
            && OPENINGS.iter().any(|opening| words.starts_with(opening))
            && !words.contains('?')
        {
            all.openings.push(violation(number, words.to_string()));
        }
    }
}

fn check_markdown(file: &Path, text: &str, all: &mut Violations) {
    let mut in_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let length = line.chars().count();
        if !in_code && !line.trim_start().starts_with('|') && length > MAX_MARKDOWN_CHARS {
            all.long_lines.push(Violation {
                file: file.to_path_buf(),
                line: number,
                message: format!("{length} characters"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Violations {
        let mut all = Violations::default();
        check_comments(Path::new("a.rs"), text, &mut all);
        all
    }

    #[test]
    fn a_comment_that_begins_with_a_relative_clause_is_found() {
        let all =
            comments("// What it does.\n/// Where it is.\nfn f() {}\n/// A name for What is.\n");
        assert_eq!(all.openings.len(), 2);
        assert_eq!(comments("/** What it is. */\n").openings.len(), 1);
        assert_eq!(comments("//! What is slow?\n").openings.len(), 0);
    }

    #[test]
    fn a_doc_of_two_words_is_found_and_one_of_two_lines_is_not() {
        assert_eq!(comments("/// The name.\nfn f() {}\n").short_docs.len(), 1);
        let two_lines = "/// The name of\n/// the file.\nfn f() {}\n";
        assert_eq!(comments(two_lines).short_docs.len(), 0);
    }

    #[test]
    fn only_prose_is_measured_in_markdown() {
        let long = "x".repeat(MAX_MARKDOWN_CHARS + 1);
        let text = format!("{long}\n| {long} |\n```\n{long}\n```\n");
        let mut all = Violations::default();
        check_markdown(Path::new("a.md"), &text, &mut all);
        assert_eq!(all.long_lines.len(), 1);
    }
}
