//! `veneer trace diff`: the first difference of each thread, and the methods that differ most, or the
//! trees of both traces.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use veneer_traces::Trace;
use veneer_traces::analysis::{
    CallContexts, Difference, DifferenceSide, MethodComparison, align_contexts, compare_methods,
    differential_stacks, first_difference,
};

use super::text::{clean, duration};
use super::tree_difference;
use crate::cli::TraceDiffArguments;
use crate::export::Output;
use crate::output::Style;
use crate::table;

/// The exit code if the traces differ.
const EXIT_DIFFERENT: u8 = 1;
/// The probability of error below which a method is marked.
const SIGNIFICANT: f64 = 0.05;

/// Prints the differences and returns the exit code.
pub fn run(arguments: &TraceDiffArguments) -> Result<u8> {
    let (a, b) = (Trace::open(&arguments.a)?, Trace::open(&arguments.b)?);
    let mut to = BufWriter::new(Output::open(arguments.output.as_deref(), false)?);
    let style = Style::of_output(arguments.output.as_deref());
    let differences = first_difference(&a, &b)?;
    let contexts =
        || -> Result<_> { Ok((CallContexts::of_trace(&a)?, CallContexts::of_trace(&b)?)) };
    if arguments.collapsed || arguments.flamegraph {
        let (a, b) = contexts()?;
        let stacks = differential_stacks(&a, &b);
        let text = match arguments.flamegraph {
            true => veneer_flames::render_difference(&stacks, &title(arguments), "ns")?,
            false => stacks,
        };
        to.write_all(text.as_bytes())?;
    } else if arguments.tree {
        let (a, b) = contexts()?;
        let all = align_contexts(&a, &b);
        tree_difference::write(&mut to, &all, arguments.rows, style)?;
    } else {
        for difference in differences.iter().take(arguments.rows) {
            write_difference(&mut to, difference)?;
        }
        match differences.len() {
            0 => writeln!(to, "Both traces have the same calls in the same order.")?,
            n if n > arguments.rows => {
                writeln!(to, "… and {} more threads differ", n - arguments.rows)?;
            }
            _ => {}
        }
        writeln!(to)?;
        write_methods(&mut to, &compare_methods(&a, &b)?, arguments.rows, style)?;
    }
    to.flush()?;
    Ok(match differences.is_empty() {
        true => 0,
        false => EXIT_DIFFERENT,
    })
}

/// The name of the comparison for readers.
fn title(arguments: &TraceDiffArguments) -> String {
    format!("A: {}, B: {}", arguments.a.display(), arguments.b.display())
}

fn write_difference(to: &mut impl Write, difference: &Difference) -> io::Result<()> {
    let name = clean(&difference.name);
    let side = |side: &Option<DifferenceSide>| match side {
        Some(side) => format!("{} at {}", clean(&side.event), duration(side.at_ns)),
        None => "has no such thread".into(),
    };
    writeln!(to, "{name}: differs after {} entries", difference.entries)?;
    for (level, method) in difference.path.iter().enumerate() {
        writeln!(to, "{}{}", "  ".repeat(level + 1), clean(method))?;
    }
    let indent = "  ".repeat(difference.path.len() + 1);
    writeln!(to, "{indent}A {}", side(&difference.a))?;
    writeln!(to, "{indent}B {}", side(&difference.b))
}

fn write_methods(
    to: &mut impl Write,
    all: &[MethodComparison],
    rows: usize,
    style: Style,
) -> io::Result<()> {
    let row = |m: &MethodComparison| {
        let (ratio, interval) = match m.ratio {
            Some((ratio, low, high)) => (format!("{ratio:.3}"), format!("{low:.3} to {high:.3}")),
            None => ("-".into(), "-".into()),
        };
        let mark = match m.probability {
            Some(p) if p < SIGNIFICANT => format!("{p:.1e} *"),
            Some(p) => format!("{p:.2}"),
            None => "-".into(),
        };
        [
            m.method.clone(),
            m.a.calls.to_string(),
            m.b.calls.to_string(),
            duration(m.a.wall_ns),
            duration(m.b.wall_ns),
            ratio,
            interval,
            mark,
        ]
    };
    let shown: Vec<[String; 8]> = all.iter().take(rows).map(row).collect();
    let titles = [
        "method",
        "calls A",
        "calls B",
        "total A",
        "total B",
        "a call, B/A",
        "95 % interval",
        "error",
    ];
    table::write(to, titles, &shown, style)
}
