//! Writes listings as text, as graphs for Graphviz, or as a JSON array.

use std::io::Write;

use anyhow::Result;
use veneer_fragmenter::listing::{self, ClassListing, MethodListing, TypeNames};

/// Writes to standard output as text, DOT or JSON.
pub(super) struct Output<W> {
    pub(super) out: W,
    pub(super) json: bool,
    /// How a graph for Graphviz names types; `None` for text.
    pub(super) dot: Option<TypeNames>,
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
        if self.json {
            return self.element(&serde_json::to_string(method)?);
        }
        if let Some(names) = self.dot {
            write!(self.out, "{}", method.to_dot(names))?;
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
