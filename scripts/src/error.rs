//! Errors of plans, displayed as compilers do: position, message, source line, caret.
//!
//! ```text
//! count.rhai:3:12: no function `countr()`; did you mean `counter()`?
//!    let h = m.before(countr());
//!                     ^
//! ```

use crate::limits;
use crate::reference::{nearest_usage, usage};
use crate::source_map::SourceMap;
use rhai::{EvalAltResult, ParseError, ParseErrorType, Position};
use std::fmt;
use veneer_instruments::table::format_count;

/// The stage at which a plan failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStage {
    /// The plan could not be parsed.
    Compile,
    /// The plan failed while it ran.
    Run,
    /// The plan exceeded one of the [`limits`].
    Limit,
}

/// An error in a plan. `Display` prints `file:line:column: message`, the source line and a caret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PlanError {
    /// The stage at which the plan failed.
    pub stage: PlanStage,
    /// The plan's name: its file name.
    pub file: String,
    /// The line, from 1; 0 if the error has no position.
    pub line: usize,
    /// The column in characters, from 1; 0 if the error has no position.
    pub column: usize,
    /// The error and its remedy, in one line.
    pub message: String,
    /// The source line, if it is known.
    pub source_line: Option<String>,
}

impl PlanError {
    pub(crate) fn new(
        stage: PlanStage,
        within: &SourceMap,
        position: Position,
        message: String,
    ) -> Self {
        let (file, line, source_line) = within.locate(position);
        PlanError {
            stage,
            file: file.to_owned(),
            line,
            column: position.position().unwrap_or(0),
            message: within.restore_names(&message),
            source_line: source_line.map(str::to_owned),
        }
    }

    pub(crate) fn compile(within: &SourceMap, error: &ParseError) -> Self {
        let message = parse_message(error.err_type());
        Self::new(PlanStage::Compile, within, error.position(), message)
    }

    /// Converts an error of the engine. `around` is the position to show if the error has none of
    /// its own.
    pub(crate) fn run(within: &SourceMap, around: Position, mut error: EvalAltResult) -> Self {
        // The innermost error is the cause, so its position is shown. If it has no position, the
        // position of the enclosing call is shown.
        let mut position = error.position().or_else(around);
        while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _)
        | EvalAltResult::ErrorInModule(_, inner, _) = error
        {
            error = *inner;
            if !error.position().is_none() {
                position = error.position();
            }
        }
        error.set_position(Position::NONE);
        let (stage, message) = run_message(&error, within);
        Self::new(stage, within, position, message)
    }
}

fn parse_message(error: &ParseErrorType) -> String {
    match error {
        ParseErrorType::VariableUndefined(name) => format!(
            "no variable `{name}`{}",
            match usage(name) {
                Some(usage) => format!("; the function is written {usage}"),
                None => ": declare it with `let` first (a `fn` does not see them, a closure does)"
                    .to_owned(),
            }
        ),
        ParseErrorType::ModuleUndefined(name) => {
            format!("no module `{name}`: write `import \"FILE\" as {name};` at the top")
        }
        other => lower(&other.to_string()),
    }
}

fn run_message(error: &EvalAltResult, within: &SourceMap) -> (PlanStage, String) {
    use EvalAltResult as E;
    let limit = |what: String| (PlanStage::Limit, format!("stopped: {what}"));
    match error {
        E::ErrorTooManyOperations(_) => limit(format!(
            "more than {} operations in one call, the limit of a plan; for what goes on, use every(seconds, …) in place of a loop",
            format_count(limits::MAX_OPERATIONS)
        )),
        E::ErrorTerminated(token, _) => limit(token.to_string()),
        E::ErrorStackOverflow(_) => limit(format!(
            "more than {} calls inside each other, the limit of a plan",
            limits::MAX_CALL_DEPTH
        )),
        E::ErrorTooManyVariables(_) => limit(format!(
            "more than {} variables, the limit of a plan",
            limits::MAX_VARIABLES
        )),
        E::ErrorDataTooLarge(what, _) => limit(format!(
            "{}: a plan may hold strings of {} bytes, arrays of {} and maps of {} elements",
            lower(what),
            format_count(limits::MAX_STRING_BYTES as u64),
            format_count(limits::MAX_ARRAY_ELEMENTS as u64),
            format_count(limits::MAX_MAP_PROPERTIES as u64)
        )),
        E::ErrorFunctionNotFound(signature, _) => {
            (PlanStage::Run, not_found(&within.restore_names(signature)))
        }
        E::ErrorModuleNotFound(name, _) => (
            PlanStage::Run,
            format!("no module `{name}` has been imported"),
        ),
        E::ErrorRuntime(value, _) => (PlanStage::Run, value.to_string()),
        other => (PlanStage::Run, lower(&other.to_string())),
    }
}

/// Returns the message for a call without a matching function. `signature` is the engine's text
/// `name (type, type)`.
fn not_found(signature: &str) -> String {
    let name = signature.split([' ', '(']).next().unwrap_or(signature);
    let call = signature
        .replacen(" (", "(", 1)
        .replace("&str | ImmutableString | String", "string")
        .replace("i64", "int")
        .replace("f64", "float");
    if let Some(usage) = usage(name) {
        return format!("`{call}` does not fit: write {usage}");
    }
    match nearest_usage(name) {
        Some(usage) => format!("no function `{call}`; did you mean {usage}?"),
        None => format!("no function `{call}`"),
    }
}

/// Changes the first letter to lower case. The engine's messages begin with a capital, but here
/// they follow a colon.
fn lower(text: &str) -> String {
    let mut characters = text.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}", self.file, self.message);
        }
        let PlanError {
            file,
            line,
            column,
            message,
            ..
        } = self;
        if *column == 0 {
            write!(f, "{file}:{line}: {message}")?;
        } else {
            write!(f, "{file}:{line}:{column}: {message}")?;
        }
        let Some(source) = &self.source_line else {
            return Ok(());
        };
        write!(f, "\n{source}")?;
        if *column > 0 {
            // Tabs remain tabs, so that the caret is in the right column for every tab width.
            let before = source
                .chars()
                .chain(std::iter::repeat(' '))
                .take(column - 1);
            let indent: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
            write!(f, "\n{indent}^")?;
        }
        Ok(())
    }
}
