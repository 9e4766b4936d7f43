//! The calling-context trees of two traces beside each other, as text.

use std::collections::BTreeSet;
use std::io::{self, Write};

use veneer_text::{ColumnFormat, TextTable};
use veneer_traces::analysis::AlignedContext;

use super::text::{clean, duration};
use crate::output::Style;

/// Prints the contexts that differ most, each below its callers. At most about `rows` are printed.
pub fn write(
    to: &mut impl Write,
    all: &[AlignedContext],
    rows: usize,
    style: Style,
) -> io::Result<()> {
    let shown = most_different(all, rows);
    let mut depths = Vec::with_capacity(all.len());
    let mut table = TextTable::new(&[
        ("total A", ColumnFormat::Right),
        ("total B", ColumnFormat::Right),
        ("B - A", ColumnFormat::Right),
        ("calls A", ColumnFormat::Right),
        ("calls B", ColumnFormat::Right),
        ("method", ColumnFormat::ShrinkMiddle),
    ]);
    for (at, context) in all.iter().enumerate() {
        let depth = context.parent.map_or(0, |parent: usize| depths[parent] + 1);
        depths.push(depth);
        if shown.contains(&at) {
            table.push_row(row(context, depth));
        }
    }
    let rendered = table.render(style.width);
    writeln!(to, "{}", style.bold(&rendered.heading))?;
    for row in rendered.rows {
        writeln!(to, "{row}")?;
    }
    match all.len() - shown.len() {
        0 => Ok(()),
        left => writeln!(to, "… {left} contexts differ less; --rows shows more"),
    }
}

/// The positions of the contexts that differ most, and of all their callers.
fn most_different(all: &[AlignedContext], rows: usize) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(all[*at].difference_ns()));
    let mut shown = BTreeSet::new();
    for at in order {
        if shown.len() >= rows {
            break;
        }
        let mut next = Some(at);
        while let Some(context) = next.filter(|at| shown.insert(*at)) {
            next = all[context].parent;
        }
    }
    shown
}

fn row(context: &AlignedContext, depth: usize) -> [String; 6] {
    let time = |calls: u64, ns: u64| match calls {
        0 => "-".into(),
        _ => duration(ns),
    };
    let (a, b) = (&context.a, &context.b);
    let sign = match a.wall_ns.cmp(&b.wall_ns) {
        std::cmp::Ordering::Less => "+",
        std::cmp::Ordering::Equal => "",
        std::cmp::Ordering::Greater => "-",
    };
    [
        time(a.calls, a.wall_ns),
        time(b.calls, b.wall_ns),
        format!("{sign}{}", duration(context.difference_ns())),
        a.calls.to_string(),
        b.calls.to_string(),
        format!("{}{}", "  ".repeat(depth), clean(&context.method)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_traces::analysis::ContextSums;

    fn context(
        parent: Option<usize>,
        method: &str,
        a: (u64, u64),
        b: (u64, u64),
    ) -> AlignedContext {
        let sums = |(calls, wall_ns)| ContextSums {
            calls,
            wall_ns,
            self_ns: 0,
        };
        AlignedContext {
            parent,
            method: method.into(),
            a: sums(a),
            b: sums(b),
        }
    }

    #[test]
    fn callers_are_shown_and_small_differences_are_counted() {
        let all = [
            context(None, "main", (1, 1_000), (1, 1_000)),
            context(Some(0), "serve", (2, 500), (0, 0)),
            context(Some(1), "find", (2, 100), (0, 0)),
            context(Some(0), "idle", (1, 5), (1, 6)),
        ];
        let style = Style {
            colour: false,
            width: None,
        };
        let mut text = Vec::new();
        write(&mut text, &all, 2, style).unwrap();
        let expected = "\
total A  total B    B - A  calls A  calls B  method
1.00 µs  1.00 µs     0 ns        1        1  main
 500 ns        -  -500 ns        2        0    serve
… 2 contexts differ less; --rows shows more
";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
