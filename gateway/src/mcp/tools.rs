//! The tools of the server: their definitions, and the commands that they run.
//!
//! The arguments of a call come from outside. Each one becomes one word of a command and never a part
//! of a shell's line. A word that the command could take for an option is refused.

mod definitions;
mod expression;

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tempfile::TempDir;
use thiserror::Error;

pub use definitions::definitions;
use expression::is_one_expression;

/// The time of a measurement, in seconds, unless the call names another one.
const DEFAULT_SECONDS: f64 = 5.0;
/// The longest time of a measurement, in seconds. Clients wait about a minute for an answer.
const MAX_SECONDS: f64 = 60.0;
/// The rows of a table. More than one page, so that a cursor leads to the others.
const ROWS: &str = "200";
/// The number of values of `watch`.
const WATCHED_VALUES: &str = "30";
/// The query of a trace without another one.
const DEFAULT_QUERY: &str = r#"calls().by("method").sort("-sum(self)").top(100)"#;

/// Why a call has no answer. The text is for the assistant, and says what to do.
#[derive(Debug, Error)]
pub enum CallError {
    /// The server has no tool of this name.
    #[error("there is no tool {0}")]
    UnknownTool(String),
    /// An argument is missing, or is not valid.
    #[error("{name}: {reason}")]
    Argument {
        /// The name of the argument.
        name: &'static str,
        /// Why it is refused.
        reason: String,
    },
    /// The server was started without the right to change programs.
    #[error(
        "{0} needs `veneer mcp --allow-edits`: this server only measures. The plans that ship with Veneer \
         run without it: plan(pid, name)"
    )]
    ReadOnly(&'static str),
    /// No rest of an answer has this cursor.
    #[error("no answer has the cursor {0} any more: repeat the call")]
    NoSuchCursor(String),
    /// The command could not be started.
    #[error("the command cannot be started: {0}")]
    NotStarted(io::Error),
    /// No place for the files of the call.
    #[error("the files of the recording cannot be made: {0}")]
    NoFolder(io::Error),
    /// The command failed. The text is what it printed.
    #[error("{0}")]
    Failed(String),
    /// The client does not want the answer any more.
    #[error("the call was cancelled")]
    Cancelled,
    /// The command took too long.
    #[error("the command was ended after {0} s; measure for a shorter time, or fewer methods")]
    TooLong(u64),
}

/// A call that was read.
#[derive(Debug)]
pub enum Call {
    /// The next page of an answer.
    Page(String),
    /// The answer of commands.
    Run(Commands),
}

/// The commands of a call, in their order. The last one answers.
#[derive(Debug)]
pub struct Commands {
    /// The words of each command, without its name.
    pub words: Vec<Vec<String>>,
    /// The time for which the commands measure, in seconds.
    pub seconds: f64,
    /// The folder of the files that the commands exchange. It is removed with this value.
    pub folder: Option<TempDir>,
}

impl Commands {
    fn one(words: Vec<String>, seconds: f64) -> Commands {
        Commands {
            words: vec![words],
            seconds,
            folder: None,
        }
    }

    /// The commands as a user would type them in a shell.
    pub fn shown(&self) -> String {
        let folder = self.folder.as_ref().map(|folder| folder.path().to_owned());
        let word = |word: &String| quoted(&without_folder(word, folder.as_deref()));
        let line = |words: &Vec<String>| {
            let words: Vec<String> = words.iter().map(word).collect();
            format!("veneer {}", words.join(" "))
        };
        let lines: Vec<String> = self.words.iter().map(line).collect();
        lines.join(" && ")
    }
}

/// A path in the folder of the call as the name of its file.
fn without_folder(word: &str, folder: Option<&Path>) -> String {
    let inside = folder.and_then(|folder| Path::new(word).strip_prefix(folder).ok());
    inside.map_or_else(|| word.to_owned(), |name| name.display().to_string())
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Reads a call.
///
/// # Errors
/// There is no such tool, an argument is not valid, or the call could change the program and
/// `allow_edits` is false.
pub fn parse(tool: &str, arguments: &Value, allow_edits: bool) -> Result<Call, CallError> {
    let empty = Map::new();
    let arguments = Arguments {
        members: arguments.as_object().unwrap_or(&empty),
    };
    let commands = match tool {
        "machines" => Commands::one(words(&["ps"]), 0.0),
        "code" => code(&arguments)?,
        "ask" => ask(&arguments)?,
        "search" => search(&arguments)?,
        "calls" => calls(&arguments)?,
        "trace" => trace(&arguments)?,
        "memory" => memory(&arguments)?,
        "plan" => plan(&arguments, allow_edits)?,
        "detach" if !allow_edits => return Err(CallError::ReadOnly("detach")),
        "detach" => detach(&arguments)?,
        "more" => return Ok(Call::Page(arguments.required("cursor")?)),
        other => return Err(CallError::UnknownTool(other.to_owned())),
    };
    Ok(Call::Run(commands))
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

/// The arguments of a call.
struct Arguments<'a> {
    members: &'a Map<String, Value>,
}

impl Arguments<'_> {
    /// A text; `None` if the argument is missing.
    fn text(&self, name: &'static str) -> Result<Option<String>, CallError> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => checked_word(name, text).map(Some),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => argument_error(name, "write a text"),
        }
    }

    fn required(&self, name: &'static str) -> Result<String, CallError> {
        match self.text(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => argument_error(name, "this argument is required"),
        }
    }

    /// A list of texts, or one text; empty if the argument is missing.
    fn texts(&self, name: &'static str) -> Result<Vec<String>, CallError> {
        match self.members.get(name) {
            Some(Value::Array(all)) => {
                let text = |one: &Value| match one.as_str() {
                    Some(text) => checked_word(name, text),
                    None => argument_error(name, "write a list of texts"),
                };
                all.iter().map(text).collect()
            }
            _ => Ok(self.text(name)?.into_iter().collect()),
        }
    }

    fn pid(&self) -> Result<String, CallError> {
        let text = self.required("pid")?;
        match text.parse::<u32>() {
            Ok(1..) => Ok(text),
            _ => argument_error(
                "pid",
                "write the process id of a JVM; `machines` lists them",
            ),
        }
    }

    fn seconds(&self) -> Result<f64, CallError> {
        let Some(text) = self.text("seconds")? else {
            return Ok(DEFAULT_SECONDS);
        };
        match text.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => Ok(seconds),
            _ => argument_error("seconds", "write a number from 0.1 to 60"),
        }
    }

    /// Whether an argument is true; false if it is missing.
    fn flag(&self, name: &'static str) -> Result<bool, CallError> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => argument_error(name, "write true or false"),
        }
    }

    /// One of some texts; the first one if the argument is missing.
    fn choice(&self, name: &'static str, all: &[&'static str]) -> Result<&'static str, CallError> {
        let Some(text) = self.text(name)? else {
            return Ok(all[0]);
        };
        match all.iter().find(|one| **one == text) {
            Some(one) => Ok(one),
            None => argument_error(name, &format!("write one of {}", all.join(", "))),
        }
    }
}

fn argument_error<T>(name: &'static str, reason: &str) -> Result<T, CallError> {
    Err(CallError::Argument {
        name,
        reason: reason.to_owned(),
    })
}

/// Checks an expression of a question.
fn check_expression(name: &'static str, text: &str) -> Result<(), CallError> {
    match is_one_expression(text) {
        true => Ok(()),
        false => argument_error(
            name,
            "write one expression over arguments and fields, such as order.customer",
        ),
    }
}

/// The text, unless the command would take it for an option.
fn checked_word(name: &'static str, text: &str) -> Result<String, CallError> {
    if text.starts_with('-') || text.contains('\0') {
        return argument_error(name, "a text must not begin with `-`");
    }
    Ok(text.to_owned())
}

fn code(arguments: &Arguments) -> Result<Commands, CallError> {
    let command = match arguments.choice("view", &["points", "blocks", "refusals"])? {
        "points" => "list",
        "blocks" => "fragments",
        other => other,
    };
    let mut all = words(&[command, &arguments.pid()?]);
    if command != "refusals" {
        all.push(arguments.required("pattern")?);
    }
    Ok(Commands::one(all, 0.0))
}

fn ask(arguments: &Arguments) -> Result<Commands, CallError> {
    let question = arguments.choice("question", &["count", "time", "watch", "hist"])?;
    let seconds = arguments.seconds()?;
    let mut all = words(&[question, &arguments.pid()?, &arguments.required("pattern")?]);
    for value in arguments.texts("values")? {
        check_expression("values", &value)?;
        all.push(value);
    }
    for key in arguments.texts("by")? {
        check_expression("by", &key)?;
        all.extend(["--by".to_owned(), key]);
    }
    if let Some(condition) = arguments.text("if")? {
        check_expression("if", &condition)?;
        all.extend(["--if".to_owned(), condition]);
    }
    if let Some(points) = arguments.text("at")? {
        all.extend(["--at".to_owned(), points]);
    }
    all.extend(words(&["--for", &seconds.to_string()]));
    all.extend(match question {
        "watch" => words(&["-n", WATCHED_VALUES]),
        "hist" => Vec::new(),
        _ => words(&["--rows", ROWS]),
    });
    Ok(Commands::one(all, seconds))
}

fn search(arguments: &Arguments) -> Result<Commands, CallError> {
    let seconds = arguments.seconds()?.max(DEFAULT_SECONDS);
    let mut all = words(&["search", &arguments.pid()?, "--for", &seconds.to_string()]);
    if let Some(threads) = arguments.text("threads")? {
        all.extend(["--threads".to_owned(), threads]);
    }
    Ok(Commands::one(all, seconds))
}

/// A folder for the files of a recording, and the path of a file in it as a word.
fn file_in_folder(name: &str) -> Result<(TempDir, String), CallError> {
    let folder = tempfile::tempdir().map_err(CallError::NoFolder)?;
    let path: PathBuf = folder.path().join(name);
    Ok((folder, path.display().to_string()))
}

fn calls(arguments: &Arguments) -> Result<Commands, CallError> {
    let (pid, seconds) = (arguments.pid()?, arguments.seconds()?);
    let views = [
        "methods",
        "tree",
        "gprof",
        "packages",
        "allocations",
        "never-called",
    ];
    let view = arguments.choice("view", &views)?;
    let (folder, file) = file_in_folder("recorded.calls")?;
    let mut record = words(&["calls", &pid, &arguments.required("pattern")?]);
    record.extend(words(&[
        "--contexts",
        "--for",
        &seconds.to_string(),
        "-o",
        &file,
    ]));
    let mut show = words(&["calls", "show", &file, "--view", view, "--top", ROWS]);
    if matches!(view, "tree" | "gprof" | "packages") {
        show.extend(words(&["--by", "time"]));
    }
    if let Some(callee) = arguments.text("callers_of")? {
        show.extend(["--callers".to_owned(), callee]);
    }
    Ok(Commands {
        words: vec![record, show],
        seconds,
        folder: Some(folder),
    })
}

fn trace(arguments: &Arguments) -> Result<Commands, CallError> {
    let (pid, seconds) = (arguments.pid()?, arguments.seconds()?);
    let (folder, directory) = file_in_folder("trace")?;
    let pattern = arguments.required("pattern")?;
    let seconds_word = seconds.to_string();
    let record = words(&[
        "trace",
        &pid,
        &pattern,
        "--for",
        &seconds_word,
        "-o",
        &directory,
    ]);
    let query = arguments.text("query")?;
    let query = query.as_deref().unwrap_or(DEFAULT_QUERY);
    Ok(Commands {
        words: vec![record, words(&["trace", "query", &directory, query])],
        seconds,
        folder: Some(folder),
    })
}

/// A memory profile, or caches that are simulated on an address trace. Both are files.
fn memory(arguments: &Arguments) -> Result<Commands, CallError> {
    let file = arguments.required("file")?;
    let caches = arguments.texts("caches")?;
    let mut all = match caches.is_empty() {
        true => {
            let properties = ["method", "line", "type", "field", "site", "object"];
            let by = arguments.choice("by", &properties)?;
            words(&["memory", "show", &file, "--by", by])
        }
        false => {
            let properties = ["instruction", "kind", "cache-line", "page"];
            let by = arguments.choice("by", &properties)?;
            words(&["memory", "simulate", &file, "--by", by])
        }
    };
    all.extend(
        caches
            .into_iter()
            .flat_map(|one| ["--cache".to_owned(), one]),
    );
    all.extend(words(&["--rows", ROWS]));
    Ok(Commands::one(all, 0.0))
}

fn plan(arguments: &Arguments, allow_edits: bool) -> Result<Commands, CallError> {
    let (name, source) = (arguments.text("name")?, arguments.text("source")?);
    let Some(pid) = arguments.text("pid")? else {
        let mut all = words(&["plans"]);
        all.extend(name);
        return Ok(Commands::one(all, 0.0));
    };
    arguments.pid()?;
    let seconds = arguments.seconds()?;
    let is_dry = arguments.flag("dry_run")?;
    let mut all = words(&["exec", &pid]);
    match (name, source) {
        (Some(name), None) => all.push(shipped_plan(&name)?),
        // The agent does not see the plan of a dry run.
        (None, Some(source)) if allow_edits || is_dry => all.extend(["-e".to_owned(), source]),
        (None, Some(_)) => return Err(CallError::ReadOnly("a plan of your own")),
        _ => return argument_error("name", "write either the name of a plan or a source"),
    }
    for setting in arguments.texts("settings")? {
        all.extend(["--set".to_owned(), setting]);
    }
    if is_dry {
        all.push("--dry-run".to_owned());
        return Ok(Commands::one(all, 0.0));
    }
    all.extend(words(&["--for", &seconds.to_string()]));
    Ok(Commands::one(all, seconds))
}

/// The name of a plan that ships with Veneer. A path could name a file with any plan.
fn shipped_plan(name: &str) -> Result<String, CallError> {
    let stem = name.strip_suffix(".rhai").unwrap_or(name);
    match !stem.is_empty() && stem.chars().all(|c| c.is_ascii_lowercase()) {
        true => Ok(format!("{stem}.rhai")),
        false => argument_error(
            "name",
            "write the name of a shipped plan; plan() lists them",
        ),
    }
}

fn detach(arguments: &Arguments) -> Result<Commands, CallError> {
    let mut all = words(&["detach", &arguments.pid()?]);
    match arguments.texts("ids")? {
        ids if ids.is_empty() => all.push("--all".to_owned()),
        ids => all.extend(ids),
    }
    Ok(Commands::one(all, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(tool: &str, arguments: Value) -> String {
        match parse(tool, &arguments, false) {
            Ok(Call::Run(commands)) => commands.shown(),
            Ok(Call::Page(cursor)) => format!("page {cursor}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn calls_become_commands_that_a_user_can_repeat() {
        let cases = [
            ("machines", json!({}), "veneer ps"),
            (
                "code",
                json!({"pid": 7, "pattern": "shop.Desk"}),
                "veneer list 7 shop.Desk",
            ),
            (
                "code",
                json!({"pid": "7", "view": "refusals"}),
                "veneer refusals 7",
            ),
            (
                "ask",
                json!({"pid": 7, "question": "time", "pattern": "shop..*", "by": "order.customer", "if": "n > 1", "seconds": 2}),
                "veneer time 7 'shop..*' --by order.customer --if 'n > 1' --for 2 --rows 200",
            ),
            (
                "ask",
                json!({"pid": 7, "question": "watch", "pattern": "A::m(..)", "values": ["a", "b.c"], "at": "line:3"}),
                "veneer watch 7 'A::m(..)' a b.c --at line:3 --for 5 -n 30",
            ),
            (
                "search",
                json!({"pid": 7, "seconds": 1}),
                "veneer search 7 --for 5",
            ),
            (
                "trace",
                json!({"pid": 7, "pattern": "A", "query": "calls()"}),
                "veneer trace 7 A --for 5 -o trace && veneer trace query trace 'calls()'",
            ),
            ("plan", json!({}), "veneer plans"),
            (
                "plan",
                json!({"pid": 7, "name": "sql", "settings": ["methods=shop..*"]}),
                "veneer exec 7 sql.rhai --set 'methods=shop..*' --for 5",
            ),
            (
                "plan",
                json!({"pid": 7, "source": "1", "dry_run": true, "seconds": 9}),
                "veneer exec 7 -e 1 --dry-run",
            ),
            (
                "memory",
                json!({"file": "/tmp/app.vmem", "by": "line"}),
                "veneer memory show /tmp/app.vmem --by line --rows 200",
            ),
            (
                "memory",
                json!({"file": "trace", "caches": ["L1:32K/8/64", "dj"]}),
                "veneer memory simulate trace --by instruction --cache L1:32K/8/64 --cache dj --rows 200",
            ),
            ("more", json!({"cursor": "3"}), "page 3"),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(shown(tool, arguments), expected);
        }
        let calls = shown("calls", json!({"pid": 7, "pattern": "A", "view": "tree"}));
        assert_eq!(
            calls,
            "veneer calls 7 A --contexts --for 5 -o recorded.calls && \
             veneer calls show recorded.calls --view tree --top 200 --by time"
        );
    }

    #[test]
    fn what_is_not_valid_is_refused_with_the_remedy() {
        let cases = [
            (
                "ask",
                json!({"pid": 0, "pattern": "A"}),
                "`machines` lists them",
            ),
            (
                "ask",
                json!({"pid": 7}),
                "pattern: this argument is required",
            ),
            (
                "ask",
                json!({"pid": 7, "pattern": "--all"}),
                "must not begin",
            ),
            (
                "ask",
                json!({"pid": 7, "pattern": "A", "by": [3]}),
                "a list of texts",
            ),
            (
                "ask",
                json!({"pid": 7, "pattern": "A", "question": "edit"}),
                "count, time",
            ),
            (
                "ask",
                json!({"pid": 7, "pattern": "A", "seconds": 1e9}),
                "from 0.1 to 60",
            ),
            (
                "ask",
                json!({"pid": 7, "pattern": "A", "by": "a); methods(\"B\").skip(1); (b"}),
                "one expression",
            ),
            (
                "plan",
                json!({"pid": 7, "name": "../x.rhai"}),
                "plan() lists them",
            ),
            ("plan", json!({"pid": 7}), "either the name"),
            ("plan", json!({"pid": 7, "source": "1"}), "--allow-edits"),
            (
                "plan",
                json!({"pid": 7, "source": "1", "dry_run": "yes"}),
                "true or false",
            ),
            (
                "plan",
                json!({"pid": 7, "source": "1", "dry_run": false}),
                "--allow-edits",
            ),
            ("memory", json!({"by": "line"}), "file: this argument"),
            (
                "memory",
                json!({"file": "trace", "caches": ["dj"], "by": "type"}),
                "write one of instruction",
            ),
            ("detach", json!({"pid": 7}), "--allow-edits"),
            ("edit", json!({}), "there is no tool edit"),
        ];
        for (tool, arguments, expected) in cases {
            let text = shown(tool, arguments);
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn with_edits_allowed_plans_and_detaching_are_commands() {
        let run = |tool: &str, arguments: Value| match parse(tool, &arguments, true) {
            Ok(Call::Run(commands)) => commands.shown(),
            other => format!("{other:?}"),
        };
        assert_eq!(
            run(
                "plan",
                json!({"pid": 7, "source": "it's()", "seconds": 0.5})
            ),
            r"veneer exec 7 -e 'it'\''s()' --for 0.5"
        );
        assert_eq!(run("detach", json!({"pid": 7})), "veneer detach 7 --all");
        assert_eq!(
            run("detach", json!({"pid": 7, "ids": ["i1"]})),
            "veneer detach 7 i1"
        );
    }
}
