//! The listing as text: one paragraph per fragment, aligned columns, and no line longer than
//! [`WIDTH`].

use super::method_listing::{
    EdgeListing, FragmentListing, MethodListing, PointListing, VariableListing,
};
use std::fmt::{self, Write};
use veneer_text::{display_width, pad_right, replace_control_characters};

/// Maximum line length in columns. Only a single name that is longer exceeds it.
pub const WIDTH: usize = 100;

impl MethodListing {
    /// The class, the method, and the kind of its code.
    pub(super) fn title(&self) -> String {
        let body = self.body.iter().map(|body| format!(", {body}"));
        let body: String = body.collect();
        format!("{}::{}{body}", self.class, self.method)
    }
}

impl fmt::Display for MethodListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", replace_control_characters(&self.title()))?;
        let mut facts = format!(
            "policy {}, {}, {}, {} bytes",
            self.policy,
            count(self.fragments.len(), "fragment"),
            count(self.loops, "loop"),
            self.code_bytes
        );
        if let Some(armed) = self.armed_bytes {
            write!(facts, ", {armed} armed")?;
        }
        writeln!(f, "  {facts}")?;
        if let Some(refusal) = &self.refusal {
            wrapped(
                f,
                2,
                &format!("not armed: {}: {}", refusal.reason, refusal.detail),
            )?;
        }
        let heads: Vec<[String; 3]> = self.fragments.iter().map(head).collect();
        let width = |column: usize| {
            heads
                .iter()
                .map(|h| display_width(&h[column]))
                .max()
                .unwrap_or(0)
        };
        let (id, pc) = (width(0), width(1));
        for (fragment, [a, b, c]) in self.fragments.iter().zip(&heads) {
            writeln!(f)?;
            wrapped_after(
                f,
                &format!("{}  {}  ", pad_right(a, id), pad_right(b, pc)),
                c,
            )?;
            let left = [("use", &fragment.uses), ("live-in", &fragment.live_in)];
            let right = [("def", &fragment.def), ("live-out", &fragment.live_out)];
            for (left, right) in left.into_iter().zip(right) {
                let (left, right) = (set(left.0, left.1), set(right.0, right.1));
                if id + 4 + display_width(&left) + display_width(&right) <= WIDTH {
                    wrapped(f, id + 2, &format!("{left}  {right}"))?;
                } else {
                    wrapped(f, id + 2, &left)?;
                    wrapped(f, id + 2, &right)?;
                }
            }
            for edit in &fragment.edits {
                wrapped(f, id + 2, &format!("edit: {edit}"))?;
            }
            let ways = ways(fragment);
            if !ways.is_empty() {
                wrapped(f, id + 2, &ways)?;
            }
        }
        Ok(())
    }
}

/// Formats a number with a noun: `1 loop`, `2 loops`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}

/// Returns the id, the pcs, and the rest of a fragment's first line.
fn head(fragment: &FragmentListing) -> [String; 3] {
    let mut rest = Vec::new();
    match fragment.lines[..] {
        [] => {}
        [line] => rest.push(format!("line {line}")),
        _ => rest.push(format!("lines {}", ranges(&fragment.lines))),
    }
    if fragment.loop_header {
        rest.push("loop".into());
    }
    if fragment.blocks.len() > 1 {
        rest.push(count(fragment.blocks.len(), "block"));
    }
    rest.extend(points(fragment));
    if let Some(reason) = &fragment.no_point {
        rest.push(format!("no point: {}", reason.reason));
    }
    [
        fragment.id.clone(),
        format!("pc {}..{}", fragment.start, fragment.end),
        rest.join("  "),
    ]
}

/// Formats the points in order: `c0 c1`, `c0 at 7`, `exit c2`. A point at the start has no pc.
fn points(fragment: &FragmentListing) -> Vec<String> {
    let one = |p: &PointListing| match &*p.kind {
        "exit" => format!("exit {}", p.id),
        _ if p.pc != fragment.start => format!("{} at {}", p.id, p.pc),
        _ => p.id.clone(),
    };
    fragment.points.iter().map(one).collect()
}

/// Formats line numbers as ranges: `3-5,9`.
fn ranges(lines: &[u16]) -> String {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some(run) if run.1.checked_add(1) == Some(*line) => run.1 = *line,
            _ => runs.push((*line, *line)),
        }
    }
    let one = |(a, b): &(u16, u16)| {
        if a == b {
            a.to_string()
        } else {
            format!("{a}-{b}")
        }
    };
    runs.iter().map(one).collect::<Vec<_>>().join(",")
}

fn set(name: &str, set: &[VariableListing]) -> String {
    let members: Vec<String> = set
        .iter()
        .map(|v| format!("{}:{}", v.name, simple_name(&v.kind)))
        .collect();
    format!("{name} {{{}}}", members.join(", "))
}

/// Returns the class name without its package. The JSON form has the package.
pub(super) fn simple_name(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or(kind)
}

fn ways(fragment: &FragmentListing) -> String {
    let mut parts = Vec::new();
    let edges = edges(&fragment.edges);
    if !edges.is_empty() {
        parts.push(format!("-> {}", edges.join(", ")));
    }
    let catch = |h: &super::method_listing::HandlerListing| {
        format!("!{} {}", h.to, h.catch.as_deref().unwrap_or("any"))
    };
    parts.extend(fragment.handlers.iter().map(catch));
    parts.join("  ")
}

/// Formats the edges, one text per target. The cases of a switch that lead to the same target are
/// joined: `f3 case 1, 2, 5`.
pub(super) fn edges(edges: &[EdgeListing]) -> Vec<String> {
    let mut out: Vec<(&str, Vec<String>)> = Vec::new();
    for edge in edges {
        let cases = |kinds: &[String]| kinds.last().is_some_and(|k| k.starts_with("case "));
        match out.iter_mut().find(|o| o.0 == edge.to) {
            Some((_, kinds)) => match edge.kind.strip_prefix("case ") {
                Some(key) if cases(kinds) => kinds
                    .last_mut()
                    .into_iter()
                    .for_each(|k| *k += &format!("|{key}")),
                _ => kinds.push(edge.kind.clone()),
            },
            None => out.push((&edge.to, vec![edge.kind.clone()])),
        }
    }
    out.into_iter()
        .map(|(to, kinds)| format!("{to} {}", kinds.join(" ")))
        .collect()
}

fn wrapped(f: &mut fmt::Formatter<'_>, indent: usize, text: &str) -> fmt::Result {
    wrapped_after(f, &" ".repeat(indent), text)
}

/// Writes `text` after `start` and breaks it at spaces. Further lines are indented below the text.
fn wrapped_after(f: &mut fmt::Formatter<'_>, start: &str, text: &str) -> fmt::Result {
    let indent = display_width(start);
    let text = replace_control_characters(text);
    let mut line = start.to_owned();
    let mut column = indent;
    // Two spaces between parts are kept unless the line is broken there.
    for word in text.split_inclusive(' ') {
        let length = display_width(word.trim_end());
        if column > indent && column + length > WIDTH {
            writeln!(f, "{}", line.trim_end())?;
            line = " ".repeat(indent + 2);
            column = indent + 2;
            if length == 0 {
                continue;
            }
        }
        line.push_str(word);
        column += display_width(word);
    }
    writeln!(f, "{}", line.trim_end())
}
