//! Everything that is known, as JSON or as text, and the file that it is written to.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use thiserror::Error;

use super::inside::Inside;
use super::model::Model;
use super::place::Kind;
use super::probe::Probe;
use super::view;

/// Files of one process that are looked at for a free name.
const NAMES: u32 = 10_000;

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The file.
    #[error("{path} cannot be written: {source}; start the command in a directory of your own", path = .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// All names are taken.
    #[error("there are {NAMES} files veneer-top-{0}-*; remove some")]
    Full(u32),
}

/// Writes everything to a new file in the working directory, and tells its name.
///
/// # Errors
/// The file cannot be made or written.
pub fn save(model: &Model, text: bool) -> Result<PathBuf, SaveError> {
    let (extension, content) = match text {
        true => ("txt", view::as_text(model, usize::MAX)),
        false => ("json", format!("{:#}\n", json(model, usize::MAX))),
    };
    for number in 1..=NAMES {
        let path = PathBuf::from(format!("veneer-top-{}-{number}.{extension}", model.pid));
        // Never over another file.
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

/// All figures as an object; of methods the first so many, as they are sorted and filtered.
pub fn json(model: &Model, rows: usize) -> Value {
    let method = |m: &super::methods::Method| {
        json!({
            "class": m.place.class, "method": m.place.method, "line": m.line,
            "calls": m.calls, "calls_per_second": m.rate,
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
    if let Some(inside) = &model.inside {
        object["inside"] = inside_json(inside);
    }
    if !model.probes.is_empty() {
        object["instruments"] = model.probes.iter().map(probe_json).collect();
    }
    object
}

fn inside_json(inside: &Inside) -> Value {
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
        "class": inside.place.class, "method": inside.place.method,
        "fragments": blocks.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>(),
    })
}

fn probe_json(probe: &Probe) -> Value {
    let mut object = json!({"kind": probe.kind, "at": probe.place, "figures": probe.figures});
    if let Kind::Watch(values) = &probe.kind {
        object["watched"] = json!(values);
    }
    object
}
