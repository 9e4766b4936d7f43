//! Writes listings as text, as graphs for Graphviz, or as a JSON array.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use veneer_fragmenter::listing::{self, ClassListing, MethodListing, TypeNames};

use super::counts::{CountRows, FlowCounts, MethodCounts};

/// A listing with the passes of its blocks and edges.
#[derive(Serialize)]
struct CountedMethod<'a> {
    #[serde(flatten)]
    method: &'a MethodListing,
    /// `null` if the method was not counted.
    counts: Option<CountRows>,
}

/// Writes to standard output as text, DOT or JSON.
pub(super) struct Output<W> {
    pub(super) out: W,
    pub(super) json: bool,
    /// How a graph for Graphviz names types; `None` for text.
    pub(super) dot: Option<TypeNames>,
    /// The passes of blocks and edges, if they were counted.
    pub(super) counts: Option<FlowCounts>,
    pub(super) printed: usize,
}

impl<W: Write> Output<W> {
    pub(super) fn class(&mut self, class: &ClassListing) -> Result<()> {
        if self.json {
            return self.element(&serde_json::to_string(class)?);
        }
        if self.printed == 0 {
            writeln!(self.out, "{}", listing::heading())?;
        }
        write!(self.out, "{class}")?;
        self.printed += 1;
        Ok(())
    }

    pub(super) fn method(&mut self, method: &MethodListing) -> Result<()> {
        let counts = self.counts.as_ref().map(|all| all.for_method(method));
        if self.json {
            let element = match counts {
                None => serde_json::to_string(method)?,
                Some(counts) => serde_json::to_string(&CountedMethod {
                    method,
                    counts: counts.map(MethodCounts::rows),
                })?,
            };
            return self.element(&element);
        }
        if let Some(names) = self.dot {
            let graph = method.to_dot(names);
            let graph = match counts.flatten() {
                None => graph,
                Some(counts) => counts.annotate(&graph),
            };
            write!(self.out, "{graph}")?;
        } else {
            if self.printed > 0 {
                writeln!(self.out)?;
            }
            write!(self.out, "{method}")?;
        }
        self.printed += 1;
        Ok(())
    }

    /// Writes one element of the JSON array immediately, so that a whole module of the JDK is not
    /// kept in memory.
    fn element(&mut self, text: &str) -> Result<()> {
        let before = if self.printed == 0 { "[" } else { ",\n " };
        write!(self.out, "{before}{text}")?;
        self.printed += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        if self.json {
            writeln!(self.out, "{}", if self.printed == 0 { "[]" } else { "]" })?;
        }
        self.out.flush()?;
        Ok(())
    }
}
