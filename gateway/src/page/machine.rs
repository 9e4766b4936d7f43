//! The JVMs of this machine, their classes and the methods of a class.

use std::path::Path;
use std::process::Stdio;

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use tokio::process::Command;
use veneer_client::classes::{LoadedClasses, loaded_classes};
use veneer_client::plan_text::literal;
use veneer_client::{Client, Target};
use veneer_protocol::{DetachReport, DetachTarget, RefusalRow, Reply, Request, Status};

use super::api_error::ApiError;

/// The most classes in an answer.
const MAX_CLASSES: usize = 50_000;

/// The loaded classes of a JVM, as the page gets them.
#[derive(Debug, Serialize)]
pub struct ClassNames {
    /// Classes outside the JDK, sorted.
    pub application: Vec<String>,
    /// Classes of the JDK, sorted.
    pub jdk: Vec<String>,
    /// The number of classes that are left out.
    pub left_out: usize,
}

/// The methods of a class.
#[derive(Debug, Serialize)]
pub struct ClassMethods {
    /// `class`, `method` and `pattern` of each method that instruments can be attached to.
    pub methods: Vec<Value>,
    /// The methods of the class that the agent did not arm, with the reasons.
    pub refused: Vec<RefusalRow>,
}

/// The JVMs, as `veneer ps --json` lists them. If `only` is not empty, the others are left out.
///
/// # Errors
/// The command fails.
pub async fn jvms(veneer: &Path, only: &[u32]) -> Result<Vec<Value>, ApiError> {
    let failed = |text: String| ApiError::of_text("no-list", &text);
    let mut command = Command::new(veneer);
    command
        .args(["ps", "--json"])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await;
    let output = output.map_err(|error| failed(format!("`veneer ps` cannot run: {error}")))?;
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(String::from_utf8_lossy(&output.stderr).into_owned()))?;
    let is_wanted = |row: &Value| {
        let pid = row["pid"].as_u64();
        only.is_empty() || only.iter().any(|wanted| Some(u64::from(*wanted)) == pid)
    };
    Ok(rows.into_iter().filter(is_wanted).collect())
}

/// Runs work that waits for a JVM on a thread of its own.
///
/// # Errors
/// Those of the work.
pub async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ApiError::of_text("failed", "the server failed; please report it"))?
}

/// Loads the agent if it is not there, and returns what is attached.
///
/// # Errors
/// The agent cannot be loaded or does not answer.
pub fn attach(pid: u32) -> Result<Status, ApiError> {
    connect(pid)?.status().map_err(|error| unreachable(&error))
}

/// The status of the agent in a JVM; `None` if there is no agent.
///
/// # Errors
/// The process is no JVM that this user may reach, or its agent does not answer.
pub fn status(pid: u32) -> Result<Option<Status>, ApiError> {
    let target = Target::inspect(pid).map_err(|error| unreachable(&error))?;
    let client = Client::connect(&target).map_err(|error| unreachable(&error))?;
    match client {
        Some(mut client) => client
            .status()
            .map(Some)
            .map_err(|error| unreachable(&error)),
        None => Ok(None),
    }
}

/// Detaches what others have attached too, or unloads the agent.
///
/// # Errors
/// The agent does not answer.
pub fn detach(pid: u32, which: DetachTarget) -> Result<DetachReport, ApiError> {
    let detached = connect(pid)?.detach(which);
    detached.map_err(|error| unreachable(&error))
}

/// The loaded classes, sorted by name.
///
/// # Errors
/// The JVM does not answer.
pub fn classes(pid: u32) -> Result<ClassNames, ApiError> {
    let target = Target::inspect(pid).map_err(|error| unreachable(&error))?;
    let loaded = loaded_classes(&target).map_err(|error| unreachable(&error))?;
    Ok(bounded(loaded, MAX_CLASSES))
}

/// Sorts the names, removes duplicates and the classes that Veneer made, and keeps the first ones.
fn bounded(loaded: LoadedClasses, most: usize) -> ClassNames {
    let sorted = |mut names: Vec<String>| {
        names.retain(|name| !is_anchor(name));
        names.sort_unstable();
        names.dedup();
        names
    };
    let (mut application, mut jdk) = (sorted(loaded.application), sorted(loaded.jdk));
    let all = application.len() + jdk.len();
    application.truncate(most);
    jdk.truncate(most - application.len());
    ClassNames {
        left_out: all - application.len() - jdk.len(),
        application,
        jdk,
    }
}

/// Whether this is the class beside an armed class that holds its cells: `C$Veneer`, `C$Veneer2`.
fn is_anchor(name: &str) -> bool {
    let number = name.rsplit_once("$Veneer").map(|(_, number)| number);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The methods of a class. If the class is not armed yet, the agent arms it.
///
/// # Errors
/// The agent cannot be reached, or the name is no class name.
pub fn methods(pid: u32, class: &str) -> Result<ClassMethods, ApiError> {
    let mut client = connect(pid)?;
    let pattern = literal(&format!("{class}::*(..)"));
    let exec = Request::Exec {
        name: "page".into(),
        // The agent arms methods only when something is attached to them.
        source: format!(
            "let m = methods({pattern}); m.entry().before(counter()).detach(); print(#{{methods: m.list()}}.to_json());"
        ),
        settings: Default::default(),
        modules: Default::default(),
        hold: None,
    };
    client.send(&exec).map_err(|error| unreachable(&error))?;
    let mut methods = Vec::new();
    loop {
        match client.receive().map_err(|error| unreachable(&error))? {
            Reply::Print(line) => methods.extend(methods_of_line(&line)),
            Reply::Done { .. } => break,
            Reply::Failed { message } => return Err(ApiError::of_text("refused", &message)),
            _ => {}
        }
    }
    client
        .send(&Request::Refusals {})
        .map_err(|error| unreachable(&error))?;
    let refused = loop {
        match client.receive().map_err(|error| unreachable(&error))? {
            Reply::Refusals(rows) => break rows,
            Reply::Failed { .. } => break Vec::new(),
            _ => {}
        }
    };
    let refused = refused.into_iter().filter(|row| row.class == class);
    Ok(ClassMethods {
        methods,
        refused: refused.collect(),
    })
}

/// The patterns of methods that begin with a text such as `shop.Desk::se`. No class is armed, and no agent
/// is loaded: without one, `None` is returned.
///
/// # Errors
/// The process is no JVM that this user may reach, or its agent does not answer.
pub fn method_names(pid: u32, beginning: &str) -> Result<Option<Vec<String>>, ApiError> {
    let target = Target::inspect(pid).map_err(|error| unreachable(&error))?;
    let client = Client::connect(&target).map_err(|error| unreachable(&error))?;
    let Some(mut client) = client else {
        return Ok(None);
    };
    let exec = Request::Exec {
        name: "page".into(),
        source: format!(
            "for name in names({}) {{ print(name) }}",
            literal(beginning)
        ),
        settings: Default::default(),
        modules: Default::default(),
        hold: None,
    };
    client.send(&exec).map_err(|error| unreachable(&error))?;
    let mut names = Vec::new();
    loop {
        match client.receive().map_err(|error| unreachable(&error))? {
            Reply::Print(name) => names.push(name),
            Reply::Done { .. } => return Ok(Some(names)),
            Reply::Failed { message } => return Err(ApiError::of_text("refused", &message)),
            _ => {}
        }
    }
}

fn methods_of_line(line: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(line).unwrap_or_default();
    value["methods"].as_array().cloned().unwrap_or_default()
}

fn connect(pid: u32) -> Result<Client, ApiError> {
    veneer_client::connect(pid).map_err(|error| unreachable(&error))
}

fn unreachable(error: &dyn std::fmt::Display) -> ApiError {
    let error = ApiError::of_text("unreachable", &error.to_string());
    ApiError {
        status: StatusCode::BAD_GATEWAY,
        ..error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_the_application_have_precedence() {
        let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let loaded = LoadedClasses {
            jdk: names(&["java.b", "java.a"]),
            application: names(&["b.B", "a.A", "b.B", "a.A$Veneer", "a.A$Veneer2"]),
        };
        let bounded = bounded(loaded, 3);
        assert_eq!(bounded.application, ["a.A", "b.B"]);
        assert_eq!(bounded.jdk, ["java.a"]);
        assert_eq!(bounded.left_out, 1);
    }

    #[test]
    fn a_warning_is_no_list_of_methods() {
        assert_eq!(methods_of_line("warning: x"), Vec::<Value>::new());
        assert_eq!(methods_of_line(r#"{"methods":[{"class":"a.B"}]}"#).len(), 1);
    }
}
