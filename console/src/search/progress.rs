//! The progress of a search: a line on the terminal, and a graph that other programs read.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use veneer_search::Search;
use veneer_search::sentence;

use super::graph_file::LiveGraph;

/// The interval between two lines.
const INTERVAL: Duration = Duration::from_millis(500);
/// The most columns of a line. A longer line would wrap and could not be replaced.
const MAX_COLUMNS: usize = 79;

/// The progress of a search. If standard error is no terminal, no line is shown.
pub struct Progress {
    is_terminal: bool,
    next: Duration,
    graph: LiveGraph,
}

impl Progress {
    /// Shows lines on standard error, and the graph.
    pub fn on_terminal(graph: LiveGraph) -> Progress {
        Progress {
            is_terminal: io::stderr().is_terminal(),
            next: INTERVAL,
            graph,
        }
    }

    /// Shows the graph only, because another program writes to the terminal.
    pub fn hidden(graph: LiveGraph) -> Progress {
        Progress {
            is_terminal: false,
            next: INTERVAL,
            graph,
        }
    }

    /// Replaces the line, at most twice a second, and the graph.
    pub fn show(&mut self, elapsed: Duration, search: &Search) {
        self.graph.show(elapsed, search);
        if !self.is_terminal || elapsed < self.next {
            return;
        }
        self.next = elapsed + INTERVAL;
        let line: String = line(elapsed, search).chars().take(MAX_COLUMNS).collect();
        // Progress that cannot be written is no reason to end the search.
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }

    /// Removes the line.
    pub fn clear(&self) {
        if self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(elapsed: Duration, search: &Search) -> String {
    let outcome = search.outcome();
    let found = outcome.findings.iter().find(|finding| finding.specific);
    let found = found.map_or("nothing found yet".to_owned(), |finding| {
        format!(
            "{:.0} % in {}",
            finding.share * 100.0,
            sentence::place(finding)
        )
    });
    format!(
        "{:.0} s: {} open, {} ruled out; {found}",
        elapsed.as_secs_f64(),
        outcome.not_looked_at.len(),
        outcome.ruled_out.len()
    )
}
