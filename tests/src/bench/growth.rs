//! Measures how costs grow: start-up with the number of classes, and attachment with the number of
//! methods, points and threads.
//!
//! Each series is fitted by a least-squares line. Memory has its own series in the part *Memory*.

use std::time::Instant;

use super::first::first_result;
use super::jvm_options::OPTIONS;
use super::loading::Loading;
use super::mass_attach::{self, Attachment, METHODS, attach, compiled, start};
use super::printed_number::printed_number;
use super::record::Record;
use super::slope::fit;
use crate::bench::statistics::median;
use crate::command;
use crate::jdk::Jdk;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// One series of measurements: the quantity, the variable on which it depends, and the pairs (x,
/// y).
struct Growth {
    what: &'static str,
    against: &'static str,
    /// The unit of the slope, and the factor that converts a slope in milliseconds into this unit.
    unit: (&'static str, f64),
    points: Vec<(f64, f64)>,
}

/// Runs the part `growth`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("growth", "What grows how", scope)?;
    record.part.words = vec![format!(
        "A slope is that of the least-squares line through all values; *fit* is the share of the \
         variation that the line explains (r²). Start-up is the time until a number of H2 classes \
         is loaded and linked, armed minus plain: the whole cost of arming in a JVM. The other \
         series use the program of *Attaching to 5,000 methods at once*, with classes of \
         {METHODS} methods."
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let mut all = vec![start_up(jdk, scope.quick)?];
    all.extend(methods(jdk, scope.quick)?);
    all.extend(threads(jdk, scope.quick)?);
    let mut values = Table::new(
        "Values, ms (median where there are several)",
        &["what", "against", "values"],
    );
    let mut slopes = Table::new("Slopes", &["what", "against", "slope", "at 0, ms", "fit"]);
    for growth in &all {
        let mut by: Vec<(f64, Vec<f64>)> = Vec::new();
        for (x, y) in &growth.points {
            match by.iter_mut().find(|(at, _)| at == x) {
                Some((_, ys)) => ys.push(*y),
                None => by.push((*x, vec![*y])),
            }
        }
        for (x, ys) in &by {
            record.figure(
                growth.what,
                &format!("{x} {}", growth.against),
                "Veneer",
                "ms",
                ys,
            );
        }
        let shown: Vec<String> = by
            .iter()
            .filter_map(|(x, ys)| Some(format!("{x:.0}: {:.1}", median(ys)?)))
            .collect();
        values.rows.push(vec![
            growth.what.to_string(),
            growth.against.to_string(),
            shown.join("; "),
        ]);
        if let Some(line) = fit(&growth.points) {
            let (unit, factor) = growth.unit;
            slopes.rows.push(vec![
                growth.what.to_string(),
                growth.against.to_string(),
                format!("{:.2} {unit}", line.slope * factor),
                format!("{:.1}", line.base),
                format!("{:.3}", line.fit),
            ]);
        }
    }
    record.part.tables.extend([slopes, values]);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Measures the start-up for numbers of H2 classes: armed minus plain for the same number.
fn start_up(jdk: &Jdk, quick: bool) -> Result<Growth, TrustError> {
    let (sizes, times): (&[usize], usize) = if quick {
        (&[100, 900], 2)
    } else {
        (&[100, 300, 500, 700, 950], 5)
    };
    let mut growth = Growth {
        what: "start-up, armed less plain",
        against: "classes",
        unit: ("µs a class", 1000.0),
        points: Vec::new(),
    };
    let program = Loading::new(jdk)?;
    for classes in sizes {
        let java = program.java(jdk, &OPTIONS, *classes);
        let armed = command::run(&[], &java);
        for _ in 0..times {
            let plain = first_result(&java, "pid ")?;
            let ours = first_result(&armed, "pid ")?;
            growth
                .points
                .push((*classes as f64, ours.time - plain.time));
        }
        eprintln!(
            "bench: growth, {classes} classes: {:?}",
            growth.points.last()
        );
    }
    Ok(growth)
}

/// A selection of the methods of the first `classes` classes, as the code of a plan.
fn selection_of(classes: usize) -> String {
    let patterns: Vec<String> = (0..classes)
        .map(|c| format!("\"Many{c}::m*(..)\""))
        .collect();
    format!("methods([{}])", patterns.join(", "))
}

/// Measures the attachment for numbers of methods and for numbers of points.
fn methods(jdk: &Jdk, quick: bool) -> Result<Vec<Growth>, TrustError> {
    let (sizes, times): (&[usize], usize) = if quick {
        (&[1, 20], 1)
    } else {
        (&[1, 5, 10, 20, 35, 50], 3)
    };
    let most = sizes.last().copied().unwrap_or(1);
    let compiled = compiled(jdk, most)?;
    let mut live = start(&command::run(
        &[],
        &mass_attach::java(jdk, &compiled, most, 1, &[], &[]),
    ))?;
    let ms = |what, against, unit| Growth {
        what,
        against,
        unit: (unit, 1000.0),
        points: Vec::new(),
    };
    let mut entries = ms("attach counters to entries", "methods", "µs a method");
    let mut blocks = ms("attach counters to all blocks", "points", "µs a point");
    let mut pauses = ms(
        "longest pause while attaching to entries",
        "methods",
        "µs a method",
    );
    for _ in 0..times {
        for classes in sizes {
            let (one, _) = attach(&mut live, &selection_of(*classes))?;
            let methods = (classes * METHODS) as f64;
            entries.points.push((methods, one.took));
            pauses.points.push((methods, one.pause));
            let selection = format!("{}.blocks()", selection_of(*classes));
            let (Attachment { took, .. }, _) = attach(&mut live, &selection)?;
            let points = live.value(&format!(
                "{}.graphs().reduce(|n, g| n + g.fragments, 0)",
                selection_of(1)
            ))?;
            let each: f64 = printed_number(&points)?;
            // The classes differ only in constants, so each has the same number of blocks.
            blocks.points.push((each * *classes as f64, took));
            eprintln!(
                "bench: growth, {} methods: {took:.0} ms for all blocks",
                classes * METHODS
            );
        }
    }
    live.stop()?;
    Ok(vec![entries, blocks, pauses])
}

/// Measures the attachment to 1,000 methods for numbers of threads that run them.
fn threads(jdk: &Jdk, quick: bool) -> Result<Vec<Growth>, TrustError> {
    let (sizes, times): (&[usize], usize) = if quick {
        (&[1, 8], 1)
    } else {
        (&[1, 2, 4, 8, 16], 3)
    };
    let classes = 10;
    let compiled = compiled(jdk, classes)?;
    let of = |what| Growth {
        what,
        against: "threads",
        unit: ("ms a thread", 1.0),
        points: Vec::new(),
    };
    let mut times_of = of("attach to 1,000 methods");
    let mut pauses = of("longest pause while attaching to 1,000 methods");
    for threads in sizes {
        let java = mass_attach::java(jdk, &compiled, classes, *threads, &[], &[]);
        let mut live = start(&command::run(&[], &java))?;
        for _ in 0..times {
            let (one, _) = attach(&mut live, &selection_of(classes))?;
            times_of.points.push((*threads as f64, one.took));
            pauses.points.push((*threads as f64, one.pause));
        }
        eprintln!(
            "bench: growth, {threads} threads: {:?}",
            times_of.points.last()
        );
        live.stop()?;
    }
    Ok(vec![times_of, pauses])
}
