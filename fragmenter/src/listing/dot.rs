//! The listing as a Graphviz graph: one box per fragment, dashed arrows for exceptions.

use super::method_listing::{FragmentListing, MethodListing, VariableListing};
use super::text::{edges, simple_name};
use std::fmt::Write;

/// How a graph names types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeNames {
    /// With their packages.
    #[default]
    Full,
    /// Without their packages.
    Simple,
}

impl TypeNames {
    fn shorten(self, name: &str) -> &str {
        match self {
            TypeNames::Full => name,
            TypeNames::Simple => simple_name(name),
        }
    }
}

impl MethodListing {
    /// Returns a `digraph` in the DOT language.
    pub fn to_dot(&self, names: TypeNames) -> String {
        let mut out = String::new();
        // Writing to a `String` never fails.
        let _ = self.write_dot(&mut out, names);
        out
    }

    fn write_dot(&self, out: &mut String, names: TypeNames) -> std::fmt::Result {
        let title = self.title();
        writeln!(out, "digraph {} {{", quoted(&title))?;
        writeln!(
            out,
            "  label={}; labelloc=t; fontname=\"monospace\";",
            quoted(&format!("{title}\npolicy {}", self.policy))
        )?;
        writeln!(
            out,
            "  node [shape=box, fontname=\"monospace\", fontsize=10]; edge [fontname=\"monospace\", fontsize=9];"
        )?;
        for fragment in &self.fragments {
            let mut border = String::new();
            if fragment.loop_header {
                border += ", peripheries=2";
            }
            if !fragment.edits.is_empty() {
                border += ", color=red";
            }
            writeln!(
                out,
                "  {} [label={}{border}];",
                fragment.id,
                left(&label(fragment, names))
            )?;
        }
        for fragment in &self.fragments {
            for edge in edges(&fragment.edges) {
                let (to, kind) = edge.split_once(' ').unwrap_or((&edge, ""));
                writeln!(out, "  {} -> {to} [label={}];", fragment.id, quoted(kind))?;
            }
            for handler in &fragment.handlers {
                let catch = names.shorten(handler.catch.as_deref().unwrap_or("any"));
                writeln!(
                    out,
                    "  {} -> {} [style=dashed, label={}];",
                    fragment.id,
                    handler.to,
                    quoted(catch)
                )?;
            }
        }
        writeln!(out, "}}")
    }
}

fn label(fragment: &FragmentListing, names: TypeNames) -> Vec<String> {
    let mut first = format!("{}  pc {}..{}", fragment.id, fragment.start, fragment.end);
    if let (Some(a), Some(b)) = (fragment.lines.first(), fragment.lines.last()) {
        first += &if a == b {
            format!("  line {a}")
        } else {
            format!("  lines {a}-{b}")
        };
    }
    if let Some(point) = &fragment.point {
        first += &format!("  {point}");
    }
    let set = |name: &str, set: &[VariableListing]| {
        let members: Vec<String> = set
            .iter()
            .map(|v| format!("{}:{}", v.name, names.shorten(&v.kind)))
            .collect();
        (!set.is_empty()).then(|| format!("{name} {}", members.join(", ")))
    };
    let sets = [
        set("use", &fragment.uses),
        set("def", &fragment.def),
        set("in ", &fragment.live_in),
        set("out", &fragment.live_out),
    ];
    let edits = fragment.edits.iter().map(|edit| format!("edit: {edit}"));
    std::iter::once(first)
        .chain(sets.into_iter().flatten())
        .chain(edits)
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Formats a label whose lines are left-aligned.
fn left(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|l| escaped(l) + "\\l").collect();
    format!("\"{}\"", lines.concat())
}
