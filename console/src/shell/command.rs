//! The commands of the shell, which begin with a colon.

/// One of them, for help and completion.
pub struct Described {
    /// Without the colon.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub text: &'static str,
}

/// All of them.
pub const COMMANDS: [Described; 7] = [
    Described {
        name: "help",
        usage: ":help [FUNCTION]",
        text: "what can be typed, or how a function is called",
    },
    Described {
        name: "instruments",
        usage: ":instruments",
        text: "what is attached in this JVM, by whom",
    },
    Described {
        name: "detach",
        usage: ":detach ID…|all",
        text: "take instruments (i7), edits (p7) or all of a plan (l3) off, or everything",
    },
    Described {
        name: "watch",
        usage: ":watch EXPRESSION",
        text: "show its table or value again each second, until a key is pressed",
    },
    Described {
        name: "load",
        usage: ":load FILE",
        text: "run a file as if it had been typed here",
    },
    Described {
        name: "keep",
        usage: ":keep",
        text: "let what is attached here stay when the shell ends",
    },
    Described {
        name: "quit",
        usage: ":quit",
        text: "leave (Ctrl-D); what was attached here is taken off",
    },
];

/// A command with what it needs.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Of everything, or of a function.
    Help(Option<String>),
    /// What is attached.
    Instruments,
    /// Take off these; everything where there are none.
    Detach(Vec<String>),
    /// Show an expression again and again.
    Watch(String),
    /// Run a file.
    Load(String),
    /// Let everything stay.
    Keep,
    /// Leave.
    Quit,
}

/// Reads a line that begins with a colon.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn parse(line: &str) -> Result<Command, String> {
    let text = line.trim().trim_start_matches(':');
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let usage = |name: &str| {
        let found = COMMANDS.iter().find(|c| c.name == name);
        found.map_or("", |c| c.usage)
    };
    let alone = |command| {
        if rest.is_empty() {
            Ok(command)
        } else {
            Err(format!("write {}", usage(name)))
        }
    };
    match name {
        "help" | "h" | "?" => {
            let function = rest.trim_end_matches(['(', ')']).trim_start_matches('.');
            Ok(Command::Help(
                (!function.is_empty()).then(|| function.into()),
            ))
        }
        "instruments" => alone(Command::Instruments),
        "keep" => alone(Command::Keep),
        "quit" | "q" | "exit" => Ok(Command::Quit),
        "detach" if rest == "all" => Ok(Command::Detach(Vec::new())),
        "detach" | "watch" | "load" if rest.is_empty() => Err(format!("write {}", usage(name))),
        "detach" => {
            let ids = rest.split([' ', ',']).filter(|id| !id.is_empty());
            Ok(Command::Detach(ids.map(str::to_owned).collect()))
        }
        "watch" => Ok(Command::Watch(rest.into())),
        "load" => Ok(Command::Load(rest.into())),
        _ => {
            let names: Vec<String> = COMMANDS.iter().map(|c| format!(":{}", c.name)).collect();
            Err(format!("there is no :{name}, but {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        for (line, command) in [
            (":help", Command::Help(None)),
            (":help before()", Command::Help(Some("before".into()))),
            (":instruments", Command::Instruments),
            (":detach all", Command::Detach(vec![])),
            (
                ":detach i1, p2",
                Command::Detach(vec!["i1".into(), "p2".into()]),
            ),
            (":watch c.table(5)", Command::Watch("c.table(5)".into())),
            (":load a b.rhai", Command::Load("a b.rhai".into())),
            (":keep", Command::Keep),
            (" :q ", Command::Quit),
        ] {
            assert_eq!(parse(line), Ok(command), "{line}");
        }
    }

    #[test]
    fn what_is_no_command_is_said() {
        assert!(parse(":hlep").is_err_and(|e| e.contains(":help, :instruments")));
        assert_eq!(parse(":watch"), Err("write :watch EXPRESSION".into()));
        assert_eq!(parse(":keep i1"), Err("write :keep".into()));
    }
}
