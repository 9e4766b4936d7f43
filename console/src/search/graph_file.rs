//! The file of `veneer search --graph`: the coloured call graph as a picture (`.svg`), as data
//! (`.json`), or in the language DOT of Graphviz.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use veneer_search::Search;

/// The interval in which data is written while the search runs.
const INTERVAL: Duration = Duration::from_secs(1);

/// The format of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphFormat {
    Svg,
    Json,
    Dot,
}

impl GraphFormat {
    fn from_path(path: &Path) -> GraphFormat {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => GraphFormat::Svg,
            Some("json") => GraphFormat::Json,
            _ => GraphFormat::Dot,
        }
    }
}

/// Writes the call graph of a search.
///
/// # Errors
/// The file cannot be written.
pub fn write_graph(path: &Path, search: &Search) -> Result<()> {
    let written = match GraphFormat::from_path(path) {
        GraphFormat::Svg => fs::write(path, search.svg()),
        GraphFormat::Dot => fs::write(path, search.dot()),
        GraphFormat::Json => {
            let text = serde_json::to_string(&search.coloured_graph())?;
            // A reader never sees half of a graph, because a rename replaces the whole file.
            let part = path.with_extension("json.part");
            fs::write(&part, text + "\n").and_then(|()| fs::rename(&part, path))
        }
    };
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// A graph that other programs read while the search runs.
pub struct LiveGraph {
    /// The file; `None` if nothing is written before the end of the search.
    path: Option<PathBuf>,
    next: Duration,
}

impl LiveGraph {
    /// A file is written during the search only if it has data. Pictures are written at the end.
    pub fn new(path: Option<&Path>) -> LiveGraph {
        let path = path.filter(|path| GraphFormat::from_path(path) == GraphFormat::Json);
        LiveGraph {
            path: path.map(Path::to_owned),
            next: Duration::ZERO,
        }
    }

    /// Replaces the file, at most once a second.
    pub fn show(&mut self, elapsed: Duration, search: &Search) {
        if let Some(path) = &self.path
            && elapsed >= self.next
        {
            self.next = elapsed + INTERVAL;
            // The last graph is written by the command, which reports why it could not be.
            let _ = write_graph(path, search);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_chooses_the_format() {
        for (name, format) in [
            ("g.svg", GraphFormat::Svg),
            ("g.json", GraphFormat::Json),
            ("g.dot", GraphFormat::Dot),
            ("g", GraphFormat::Dot),
        ] {
            assert_eq!(GraphFormat::from_path(Path::new(name)), format, "{name}");
        }
    }
}
