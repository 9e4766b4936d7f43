//! The examples in the texts of `--help`, for tests.

use super::Cli;
use clap::{Command, CommandFactory};

/// The words of each example of each command.
pub(crate) fn all() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(&Cli::command(), &mut found);
    found
}

fn collect(command: &Command, into: &mut Vec<Vec<String>>) {
    let help = command.get_after_help().map(ToString::to_string);
    for line in help.unwrap_or_default().lines() {
        for mut part in commands(line) {
            // The shell takes redirections out of the command.
            let redirection = part.iter().position(|word| word == "<" || word == ">");
            part.truncate(redirection.unwrap_or(part.len()));
            if part.first().is_some_and(|word| word == "veneer") {
                into.push(part);
            }
        }
    }
    command.get_subcommands().for_each(|one| collect(one, into));
}

/// Splits a line of a shell at `|` and `&&` into commands, and these into words. A line of help without
/// indentation is no example. Three spaces separate a command from its explanation.
fn commands(line: &str) -> Vec<Vec<String>> {
    let Some(line) = line.strip_prefix("  ") else {
        return Vec::new();
    };
    let mut parts = vec![Vec::new()];
    let (mut word, mut quote, mut spaces) = (String::new(), None, 0);
    for c in line.chars() {
        spaces = if c == ' ' && quote.is_none() {
            spaces + 1
        } else {
            0
        };
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.push(c),
            ('\'' | '"', None) => quote = Some(c),
            (' ' | '|' | '&', None) => {
                if let Some(part) = parts.last_mut().filter(|_| !word.is_empty()) {
                    // Tests cannot resolve the name of a machine.
                    part.push(std::mem::take(&mut word).replace("shop7", "127.0.0.1"));
                }
                if c != ' ' {
                    parts.push(Vec::new());
                }
                if spaces == 3 {
                    return parts;
                }
            }
            (c, None) => word.push(c),
        }
    }
    if let Some(part) = parts.last_mut().filter(|_| !word.is_empty()) {
        part.push(word);
    }
    parts
}
