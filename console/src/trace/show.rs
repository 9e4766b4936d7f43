//! `veneer trace show`: the folded tree of each thread.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, bail};
use veneer_traces::Trace;
use veneer_traces::analysis::{FoldedItem, FoldedNode, FoldingOptions, fold_thread};

use super::text::{clean, duration, findings};
use crate::cli::TraceShowArguments;
use crate::output::Style;

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
        if shown > 0 {
            writeln!(to)?;
        }
        shown += 1;
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
