//! Measures the page of `veneer serve` on methods of thousands of basic blocks: the time between two frames while
//! each frame zooms or pans, and the times until pictures are there.

use std::time::Instant;

use serde_json::Value;

use super::record::{Goal, Record, shown};
use crate::browser::Browser;
use crate::java_programs::Programs;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};
use crate::wide_page::show;

/// The time between two frames at 60 frames a second, in milliseconds, and a tolerance for its measurement.
const FRAME: f64 = 1000.0 / 60.0 + 0.4;
/// The goal for one frame in a hundred, in milliseconds: one frame may be missed.
const SLOW_FRAME: f64 = 2.0 * 1000.0 / 60.0 + 0.8;
/// The same for the largest method: once a second, the page draws 10,000 rates.
const SLOW_FRAME_OF_THE_LARGEST: f64 = 8.0 * 1000.0 / 60.0;

/// A method of the part.
struct Method {
    name: &'static str,
    /// Half the number of its basic blocks.
    pairs: usize,
    /// Whether the page first shows a class of 5,000 methods.
    with_class: bool,
    slow_frame: f64,
}

const METHODS: [Method; 2] = [
    Method {
        name: "a method of 2,001 blocks",
        pairs: 1_000,
        with_class: true,
        slow_frame: SLOW_FRAME,
    },
    Method {
        name: "a method of 9,999 blocks",
        pairs: 4_999,
        with_class: false,
        slow_frame: SLOW_FRAME_OF_THE_LARGEST,
    },
];

/// Runs the part `page`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("page", "The page of `veneer serve`", scope)?;
    record.part.words = vec![
        "Chromium without a screen draws the flow graph of a running method in 120 frames, each of which zooms or \
         pans. The times are those between two frames. Other programs on the machine can only add time to frames. \
         The first picture includes the attachment of the agent, unless the list of a class came before."
            .to_owned(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let failed = TrustError::failed("the page");
    let browser = Browser::find().map_err(|error| failed(error.into()))?;
    let browser = browser.map_err(|missing| failed(missing.to_string().into()))?;
    let programs = Programs::compile_folder(jdk.clone(), "page")?;
    let series = if scope.quick { 1 } else { 5 };
    for method in &METHODS {
        let mut shown = Vec::new();
        for _ in 0..series {
            let result = show(&programs, &browser, method.pairs, method.with_class);
            shown.push(result.map_err(&failed)?);
        }
        report(&mut record, method, &shown);
    }
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// The values of a member of a member of each result.
fn values(results: &[Value], path: &[&str]) -> Vec<f64> {
    let at = |result: &Value| {
        path.iter()
            .fold(result.clone(), |value, name| value[*name].clone())
    };
    results.iter().filter_map(|one| at(one).as_f64()).collect()
}

fn report(record: &mut Record, method: &Method, results: &[Value]) {
    let mut table = Table::new(method.name, &["what", "ms"]);
    for (what, path) in [
        ("list of the class", vec!["classTime"]),
        ("picture of the method", vec!["pictureTime"]),
        ("rates of its blocks", vec!["rateTime"]),
        ("frame while zooming, median", vec!["zoom", "median"]),
        ("frame while zooming, 99th percentile", vec!["zoom", "p99"]),
        ("frame while panning, median", vec!["pan", "median"]),
        ("frame while panning, 99th percentile", vec!["pan", "p99"]),
    ] {
        let all = values(results, &path);
        let Some(middle) = record.figure(what, method.name, "page", "ms", &all) else {
            continue;
        };
        table.rows.push(vec![what.to_owned(), shown(&all, 1)]);
        let most = match path.last() {
            Some(&"median") => FRAME,
            Some(&"p99") => method.slow_frame,
            _ => continue,
        };
        let what = format!("{}, {what}", method.name);
        record.goals.push(Goal::at_most(&what, most, "ms", middle));
    }
    record.part.tables.push(table);
}
