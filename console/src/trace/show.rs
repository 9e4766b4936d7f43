//! `veneer trace show`: the folded tree of each thread, in a browser for terminals, as text, or as JSON.

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::{Context, Result, bail};
use veneer_traces::Trace;
use veneer_traces::analysis::{
    CorrectedTimes, FoldedItem, FoldedNode, FoldingOptions, fold_thread,
};

use super::text::{clean, duration, findings};
use super::tree_browser::{self, BrowserNode};
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
    let browses = !arguments.text && !arguments.json && is_terminal();
    let style = Style::of_stdout();
    let mut to = BufWriter::new(io::stdout().lock());
    let mut browsed = Vec::new();
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
        let title = format!(
            "{} ({}), {}",
            clean(&name),
            thread.thread,
            duration(tree.wall_ns)
        );
        let unseen = findings(&thread.index.findings);
        if browses {
            browsed.push(thread_node(title, &unseen, &tree));
            continue;
        }
        if shown > 1 {
            writeln!(to)?;
        }
        writeln!(to, "{}", style.bold(&title))?;
        if !unseen.is_empty() {
            writeln!(to, "  {unseen}")?;
        }
        write_items(&mut to, &tree, 1)?;
    }
    if shown == 0 && !arguments.thread.is_empty() {
        bail!("the trace has no thread {}", arguments.thread.join(", "));
    }
    to.flush()?;
    if browses && shown > 0 {
        drop(to);
        tree_browser::run(browsed)?;
    }
    Ok(0)
}

/// Whether a person reads the output and can press keys.
fn is_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// The line of a thread in the browser, with its calls below.
fn thread_node(title: String, unseen: &str, tree: &FoldedNode) -> BrowserNode {
    let separator = if unseen.is_empty() { "" } else { "; " };
    BrowserNode {
        text: format!("{title}{separator}{unseen}"),
        wall_ns: tree.wall_ns,
        children: browser_nodes(tree),
    }
}

fn browser_nodes(node: &FoldedNode) -> Vec<BrowserNode> {
    let mut nodes: Vec<BrowserNode> = node.items.iter().map(browser_node).collect();
    if node.left_out > 0 {
        nodes.push(BrowserNode {
            text: left_out(node),
            ..BrowserNode::default()
        });
    }
    nodes
}

fn browser_node(item: &FoldedItem) -> BrowserNode {
    let children = match &item.node {
        Some(node) => browser_nodes(node),
        None => item.block.iter().map(browser_node).collect(),
    };
    let of_children = || {
        children
            .iter()
            .map(|child: &BrowserNode| child.wall_ns)
            .sum()
    };
    BrowserNode {
        text: item_text(item),
        wall_ns: item
            .node
            .as_ref()
            .map_or_else(of_children, |node| node.wall_ns),
        children,
    }
}

fn left_out(node: &FoldedNode) -> String {
    format!("… {} left out by the limits", node.left_out)
}

fn write_items(to: &mut impl Write, node: &FoldedNode, level: usize) -> io::Result<()> {
    for item in &node.items {
        write_item(to, item, level)?;
    }
    if node.left_out > 0 {
        let indent = "  ".repeat(level);
        writeln!(to, "{indent}{}", left_out(node))?;
    }
    Ok(())
}

fn write_item(to: &mut impl Write, item: &FoldedItem, level: usize) -> io::Result<()> {
    writeln!(to, "{}{}", "  ".repeat(level), item_text(item))?;
    match &item.node {
        Some(node) => write_items(to, node, level + 1),
        None => {
            let mut inner = item.block.iter();
            inner.try_for_each(|inner| write_item(to, inner, level + 1))
        }
    }
}

/// The line of a call, of equal calls, or of a sequence that repeats.
fn item_text(item: &FoldedItem) -> String {
    let Some(node) = &item.node else {
        return format!("⟳ × {}", item.count);
    };
    let mut text = clean(&node.text);
    if item.count > 1 {
        text += &format!("  × {}", item.count);
    }
    text += &format!("  {}", duration(node.wall_ns));
    if !node.items.is_empty() {
        text += &format!(", self {}", duration(node.self_ns));
    }
    if let Some(cpu) = node.cpu_ns {
        text += &format!(", cpu {}", duration(cpu));
    }
    if let Some(corrected) = shown_correction(node) {
        text += &correction(node, corrected);
    }
    text
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

fn correction(node: &FoldedNode, times: CorrectedTimes) -> String {
    let own = match node.items.is_empty() {
        true => String::new(),
        false => format!(", self {}", duration(times.self_ns)),
    };
    let (wall, unexplained) = (duration(times.wall_ns), duration(times.unexplained_ns));
    format!("; corrected {wall}{own}; unexplained {unexplained}")
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
