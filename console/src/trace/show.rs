//! `veneer trace show`: the folded tree of each thread, as text or JSON.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, bail};
use veneer_traces::Trace;
use veneer_traces::analysis::{
    CorrectedTimes, FoldedItem, FoldedNode, FoldingOptions, fold_thread,
};

use super::text::{clean, duration, findings};
use super::tree_json::thread_json;
use crate::cli::TraceShowArguments;
use crate::output::Style;

/// Corrected times are shown if the cost of observing or the unexplained time is at least this part of
/// the raw time.
const SHOWN_PART: u64 = 100;

/// Prints the trees and returns the exit code.
pub fn run(arguments: &TraceShowArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.directory)?;
    let min_ns = arguments.longer.map_or(0, |seconds| (seconds * 1e9) as u64);
    let options = FoldingOptions {
        max_depth: arguments.depth,
        min_ns,
        ..FoldingOptions::default()
    };
    let style = Style::of_stdout();
    let mut to = BufWriter::new(io::stdout().lock());
    let mut shown = 0;
    for thread in &trace.threads {
        let name = trace.names.thread_name(thread.number);
        let is_wanted = |wanted: &String| *wanted == name || wanted.parse() == Ok(thread.number);
        if !arguments.thread.is_empty() && !arguments.thread.iter().any(is_wanted) {
            continue;
        }
        let thread = trace.thread(thread.number)?;
        let tree = fold_thread(&thread, &trace.names, options)
            .with_context(|| format!("{} cannot be read", arguments.directory.display()))?;
        shown += 1;
        if arguments.json {
            let found = &thread.index.findings;
            writeln!(to, "{}", thread_json(thread.thread, &name, found, &tree))?;
            continue;
        }
        if shown > 1 {
            writeln!(to)?;
        }
        let title = format!(
            "{} ({}), {}",
            clean(&name),
            thread.thread,
            duration(tree.wall_ns)
        );
        writeln!(to, "{}", style.bold(&title))?;
        let unseen = findings(&thread.index.findings);
        if !unseen.is_empty() {
            writeln!(to, "  {unseen}")?;
        }
        write_items(&mut to, &tree, 1)?;
    }
    if shown == 0 && !arguments.thread.is_empty() {
        bail!("the trace has no thread {}", arguments.thread.join(", "));
    }
    to.flush()?;
    Ok(0)
}

fn write_items(to: &mut impl Write, node: &FoldedNode, level: usize) -> io::Result<()> {
    for item in &node.items {
        write_item(to, item, level)?;
    }
    if node.left_out > 0 {
        let indent = "  ".repeat(level);
        writeln!(to, "{indent}… {} left out by the limits", node.left_out)?;
    }
    Ok(())
}

fn write_item(to: &mut impl Write, item: &FoldedItem, level: usize) -> io::Result<()> {
    let indent = "  ".repeat(level);
    match &item.node {
        Some(node) => {
            write!(to, "{indent}{}", clean(&node.text))?;
            if item.count > 1 {
                write!(to, "  × {}", item.count)?;
            }
            write!(to, "  {}", duration(node.wall_ns))?;
            if !node.items.is_empty() {
                write!(to, ", self {}", duration(node.self_ns))?;
            }
            if let Some(cpu) = node.cpu_ns {
                write!(to, ", cpu {}", duration(cpu))?;
            }
            if let Some(corrected) = shown_correction(node) {
                write_correction(to, node, corrected)?;
            }
            writeln!(to)?;
            write_items(to, node, level + 1)
        }
        None => {
            writeln!(to, "{indent}⟳ × {}", item.count)?;
            let mut inner = item.block.iter();
            inner.try_for_each(|inner| write_item(to, inner, level + 1))
        }
    }
}

/// The corrected times of a node, if they differ enough from the raw ones.
fn shown_correction(node: &FoldedNode) -> Option<CorrectedTimes> {
    let cost = |times: &CorrectedTimes| {
        let wall = node.wall_ns.saturating_sub(times.wall_ns);
        wall.max(times.unexplained_ns)
    };
    let is_shown = |times: &CorrectedTimes| cost(times) >= node.wall_ns / SHOWN_PART;
    node.corrected.filter(is_shown)
}

fn write_correction(
    to: &mut impl Write,
    node: &FoldedNode,
    times: CorrectedTimes,
) -> io::Result<()> {
    write!(to, "; corrected {}", duration(times.wall_ns))?;
    if !node.items.is_empty() {
        write!(to, ", self {}", duration(times.self_ns))?;
    }
    write!(to, "; unexplained {}", duration(times.unexplained_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(wall_ns: u64, corrected: Option<(u64, u64)>) -> FoldedNode {
        let times = |(wall_ns, unexplained_ns)| CorrectedTimes {
            wall_ns,
            self_ns: 7,
            unexplained_ns,
        };
        FoldedNode {
            text: "a.B::m".into(),
            wall_ns,
            corrected: corrected.map(times),
            ..FoldedNode::default()
        }
    }

    fn line(node: FoldedNode) -> String {
        let item = FoldedItem {
            count: 2,
            block: Vec::new(),
            node: Some(node),
        };
        let mut to = Vec::new();
        write_item(&mut to, &item, 0).unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn corrected_times_are_shown_if_they_differ() {
        assert_eq!(line(node(1_000, None)), "a.B::m  × 2  1.00 µs\n");
        assert_eq!(line(node(1_000, Some((991, 9)))), "a.B::m  × 2  1.00 µs\n");
        assert_eq!(
            line(node(1_000, Some((940, 3)))),
            "a.B::m  × 2  1.00 µs; corrected 940 ns; unexplained 3 ns\n"
        );
        // The cost exceeds the raw time.
        assert_eq!(
            line(node(20, Some((0, 14)))),
            "a.B::m  × 2  20 ns; corrected 0 ns; unexplained 14 ns\n"
        );
        let mut outer = node(1_000, Some((940, 3)));
        outer.items.push(FoldedItem {
            count: 1,
            block: Vec::new(),
            node: Some(node(500, None)),
        });
        let text = line(outer);
        let expected = "1.00 µs, self 0 ns; corrected 940 ns, self 7 ns; unexplained 3 ns\n";
        assert!(text.contains(expected), "{text}");
    }
}
