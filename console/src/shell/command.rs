//! The commands of the shell. They begin with a colon.

use thiserror::Error;

/// A command's description, for help and completion.
pub struct CommandDescription {
    /// The name without the colon.
    pub name: &'static str,
    pub usage: &'static str,
    pub text: &'static str,
}

pub const COMMANDS: [CommandDescription; 7] = [
    CommandDescription {
        name: "help",
        usage: ":help [FUNCTION]",
        text: "what can be typed, or how a function is called",
    },
    CommandDescription {
        name: "instruments",
        usage: ":instruments",
        text: "list what is attached in this JVM, and by which client",
    },
    CommandDescription {
        name: "detach",
        usage: ":detach ID…|all",
        text: "detach instruments (i7), edits (p7), all of a plan (l3), or everything",
    },
    CommandDescription {
        name: "watch",
        usage: ":watch EXPRESSION",
        text: "print a value or its table every second, until a key is pressed",
    },
    CommandDescription {
        name: "load",
        usage: ":load FILE",
        text: "run a file as if it were typed here",
    },
    CommandDescription {
        name: "keep",
        usage: ":keep",
        text: "keep what is attached here when the shell ends",
    },
    CommandDescription {
        name: "quit",
        usage: ":quit",
        text: "end the shell (Ctrl-D) and detach what was attached here",
    },
];

/// A parsed command with its arguments.
#[derive(Debug, PartialEq, Eq)]
pub enum ShellCommand {
    /// Help about everything, or about one function.
    Help(Option<String>),
    Instruments,
    /// Detaches these ids. If the list is empty, everything is detached.
    Detach(Vec<String>),
    /// Evaluates an expression repeatedly.
    Watch(String),
    /// Runs a file.
    Load(String),
    /// Keeps everything attached when the shell ends.
    Keep,
    Quit,
}

/// Why a line is no command.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The command is written in another way.
    #[error("write {usage}")]
    Usage { usage: &'static str },
    #[error("there is no :{name}, but {}", command_names())]
    Unknown { name: String },
}

/// Returns the names of all commands.
fn command_names() -> String {
    let names: Vec<String> = COMMANDS.iter().map(|c| format!(":{}", c.name)).collect();
    names.join(", ")
}

/// Parses a line that begins with a colon.
pub fn parse(line: &str) -> Result<ShellCommand, CommandError> {
    let text = line.trim().trim_start_matches(':');
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let usage = |name: &str| {
        let found = COMMANDS.iter().find(|c| c.name == name);
        let usage = found.map_or("", |c| c.usage);
        CommandError::Usage { usage }
    };
    let alone = |command| {
        if rest.is_empty() {
            Ok(command)
        } else {
            Err(usage(name))
        }
    };
    match name {
        "help" | "h" | "?" => {
            let function = rest.trim_end_matches(['(', ')']).trim_start_matches('.');
            Ok(ShellCommand::Help(
                (!function.is_empty()).then(|| function.into()),
            ))
        }
        "instruments" => alone(ShellCommand::Instruments),
        "keep" => alone(ShellCommand::Keep),
        "quit" | "q" | "exit" => Ok(ShellCommand::Quit),
        "detach" if rest == "all" => Ok(ShellCommand::Detach(Vec::new())),
        "detach" | "watch" | "load" if rest.is_empty() => Err(usage(name)),
        "detach" => {
            let ids = rest.split([' ', ',']).filter(|id| !id.is_empty());
            Ok(ShellCommand::Detach(ids.map(str::to_owned).collect()))
        }
        "watch" => Ok(ShellCommand::Watch(rest.into())),
        "load" => Ok(ShellCommand::Load(rest.into())),
        _ => Err(CommandError::Unknown { name: name.into() }),
    }
}

/// The command that a failed line of Rhai was probably meant to be: a line of at most two words that
/// lacks only the colon.
pub fn intended_command(line: &str) -> Option<String> {
    let line = line.trim().trim_end_matches("()");
    let command = format!(":{line}");
    let is_short = line.split_whitespace().count() <= 2;
    (is_short && parse(&command).is_ok()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_lacks_the_colon_of_a_command_is_recognised() {
        let intended = |line| intended_command(line).unwrap_or_default();
        assert_eq!(intended("help\n"), ":help");
        assert_eq!(intended("help()"), ":help");
        assert_eq!(intended("detach i1"), ":detach i1");
        assert_eq!(intended("quit"), ":quit");
        for rhai in ["hlep", "detach(i1)", "watch", "q = 3", "let help = 1"] {
            assert_eq!(intended(rhai), "", "{rhai}");
        }
    }

    #[test]
    fn commands_are_parsed() {
        for (line, command) in [
            (":help", ShellCommand::Help(None)),
            (":help before()", ShellCommand::Help(Some("before".into()))),
            (":instruments", ShellCommand::Instruments),
            (":detach all", ShellCommand::Detach(vec![])),
            (
                ":detach i1, p2",
                ShellCommand::Detach(vec!["i1".into(), "p2".into()]),
            ),
            (
                ":watch c.table(5)",
                ShellCommand::Watch("c.table(5)".into()),
            ),
            (":load a b.rhai", ShellCommand::Load("a b.rhai".into())),
            (":keep", ShellCommand::Keep),
            (" :q ", ShellCommand::Quit),
        ] {
            assert_eq!(parse(line), Ok(command), "{line}");
        }
    }

    #[test]
    fn unknown_commands_are_reported() {
        let error = |line| parse(line).unwrap_err().to_string();
        assert!(error(":hlep").starts_with("there is no :hlep, but :help, :instruments"));
        assert_eq!(error(":watch"), "write :watch EXPRESSION");
        assert_eq!(error(":keep i1"), "write :keep");
    }
}
