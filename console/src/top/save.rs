//! Writes the state of the view, as JSON or as text, to a file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use thiserror::Error;

use super::location::ProbeKind;
use super::model::Model;
use super::open_method::OpenMethod;
use super::probe::ProbePanel;
use super::view;

/// Maximum number of file names that are tried for one process.
const MAX_FILES: u32 = 10_000;

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The file could not be written.
    #[error("{path} cannot be written: {source}; start the command in a directory of your own", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    /// All names are in use.
    #[error("there are {MAX_FILES} files veneer-top-{0}-*; remove some")]
    Full(u32),
}

/// Writes the state to a new file in the working directory and returns its name.
///
/// # Errors Fails if the file cannot be created or written.
pub fn save(model: &Model, text: bool) -> Result<PathBuf, SaveError> {
    let (extension, content) = match text {
        true => ("txt", view::as_text(model, usize::MAX)),
        false => ("json", format!("{:#}\n", json(model, usize::MAX))),
    };
    for number in 1..=MAX_FILES {
        let path = PathBuf::from(format!("veneer-top-{}-{number}.{extension}", model.pid));
        // `create_new` never overwrites an existing file.
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|mut file| file.write_all(content.as_bytes()));
        match written {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(SaveError::File { path, source }),
        }
    }
    Err(SaveError::Full(model.pid))
}

/// Returns the state as a JSON object. Of the methods, it contains the first `rows` in the order of
/// the table, after filtering.
pub fn json(model: &Model, rows: usize) -> Value {
    let shares = |share: f64| model.methods.has_shares().then_some(share);
    let method = |m: &super::methods::MethodRow| {
        json!({
            "class": m.location.class, "method": m.location.method, "line": m.line,
            "calls": m.calls, "calls_per_second": m.rate,
            "own_share": shares(m.shares.own), "total_share": shares(m.shares.total),
        })
    };
    let methods: Vec<Value> = model.methods.rows().take(rows).map(method).collect();
    let (all, called) = model.methods.count();
    let mut object = json!({
        "pid": model.pid,
        "seconds": model.now.as_secs_f64(),
        "cost": model.cost.share(),
        "methods_counted": all,
        "methods_called": called,
        "methods": methods,
    });
    if let Some(inside) = &model.open_method {
        object["inside"] = inside_json(inside);
    }
    if !model.probes.is_empty() {
        object["instruments"] = model.probes.iter().map(probe_json).collect();
    }
    object
}

fn inside_json(inside: &OpenMethod) -> Value {
    let graph = inside.graph();
    let blocks = graph.blocks.iter().map(|block| {
        let passes = inside.passes(block.number);
        let mut object = json!(block);
        object["passes"] = json!(passes.map(|p| p.hits));
        object["passes_per_second"] = json!(passes.map(|p| p.rate));
        object
    });
    let edges = graph.edges.iter().map(|&(from, to)| {
        let passes = inside.passes_of_edge(from, to).map(|p| p.hits);
        json!({"from": from, "to": to, "passes": passes})
    });
    json!({
        "class": inside.location.class, "method": inside.location.method,
        "fragments": blocks.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>(),
    })
}

fn probe_json(probe: &ProbePanel) -> Value {
    let mut object = json!({"kind": probe.kind, "at": probe.location, "figures": probe.shown});
    if let ProbeKind::Watch(values) = &probe.kind {
        object["watched"] = json!(values);
    }
    object
}
