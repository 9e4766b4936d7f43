//! Compares a report with the expectations of a program.
//!
//! Every count of the report must be expected. A line whose counts differ is a failure, and so is a
//! fragment with hits on a line without an expectation. Only two things are left out: static
//! initialisers, which are armed only if a plan names them, and methods that the program lists as
//! `loose`.

use std::collections::{BTreeMap, BTreeSet};

use crate::expectation::{Expectation, Measure};
use crate::program::{MEASURES, Program};
use crate::report::{Point, Report};

/// Returns one line for each difference between the expectations and the counts measured on a JDK.
pub fn compare(program: &Program, report: &Report, jdk: u32) -> Vec<String> {
    let mut failures = refusals(report);
    if report.instruments.len() != MEASURES.len() {
        failures.push(format!(
            "{}: {} instruments in the report, {} in the plan",
            program.place(1),
            report.instruments.len(),
            MEASURES.len()
        ));
        return failures;
    }
    let mut blocks: &[Point] = &[];
    for (measure, instrument) in MEASURES.iter().zip(&report.instruments) {
        match measure {
            Measure::Blocks => {
                blocks = &instrument.points;
                compare_blocks(program, blocks, jdk, &mut failures);
            }
            other => {
                for one in program.expected(*other, jdk) {
                    compare_method(program, one, blocks, &instrument.points, &mut failures);
                }
            }
        }
    }
    failures
}

/// Returns the unexpected refusals. Three reasons are expected in these programs:
///
/// * `NoCode`: the method has no body.
/// * `MonitorHeld`: an activation cannot leave its code within a monitor region. The fragments of
///   the region are counted nevertheless.
/// * `BeforeSuper`: a fragment before the call of `super(…)`.
fn refusals(report: &Report) -> Vec<String> {
    let expected = ["NoCode", "MonitorHeld", "BeforeSuper"];
    let counted = report
        .refusals
        .iter()
        .filter(|one| !expected.contains(&one.reason.as_str()));
    counted
        .map(|one| {
            format!(
                "refused: {} {}: {} {}",
                one.class, one.method, one.reason, one.detail
            )
        })
        .collect()
}

fn name(method: &str) -> &str {
    method.split('(').next().unwrap_or(method)
}

fn compare_blocks(program: &Program, points: &[Point], jdk: u32, failures: &mut Vec<String>) {
    let mut lines: BTreeMap<u32, Vec<&Point>> = BTreeMap::new();
    for point in points {
        if name(&point.method) == "<clinit>"
            || program.loose.iter().any(|m| m == name(&point.method))
        {
            continue;
        }
        match point.line {
            Some(line) => lines.entry(line).or_default().push(point),
            None if point.hits > 0 => failures.push(format!(
                "{}: {} {} has {} hits without a line",
                program.place(1),
                point.class,
                point.method,
                point.hits
            )),
            None => {}
        }
    }
    let mut said = BTreeSet::new();
    for one in program.expected(Measure::Blocks, jdk) {
        said.insert(one.line);
        let found = lines
            .get(&one.line)
            .map(|points| ordered(points))
            .unwrap_or_default();
        let hits: Vec<u64> = found.iter().map(|point| point.hits).collect();
        if hits != one.numbers {
            failures.push(format!(
                "{}: expected blocks {}, actual {} [{}]",
                program.place(one.line),
                join(&one.numbers),
                join(&hits),
                describe(&found)
            ));
        }
    }
    for (line, points) in lines.iter().filter(|(line, _)| !said.contains(line)) {
        let found = ordered(points);
        if found.iter().any(|point| point.hits > 0) {
            let hits: Vec<u64> = found.iter().map(|point| point.hits).collect();
            failures.push(format!(
                "{}: nothing expected, actual {} [{}]",
                program.place(*line),
                join(&hits),
                describe(&found)
            ));
        }
    }
}

fn ordered<'a>(points: &[&'a Point]) -> Vec<&'a Point> {
    let mut points = points.to_vec();
    points
        .sort_by(|a, b| (&a.class, &a.method, a.fragment).cmp(&(&b.class, &b.method, b.fragment)));
    points
}

fn describe(points: &[&Point]) -> String {
    let texts: Vec<String> = points
        .iter()
        .map(|p| {
            format!(
                "{}::{} f{}",
                p.class,
                name(&p.method),
                p.fragment.unwrap_or(0)
            )
        })
        .collect();
    texts.join(", ")
}

fn join(numbers: &[u64]) -> String {
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    if texts.is_empty() {
        "nothing".to_string()
    } else {
        texts.join(" ")
    }
}

/// Compares the expectation of one method. The method is the one whose first fragment is on the
/// line of the expectation, or else the next method after that line.
fn compare_method(
    program: &Program,
    one: &Expectation,
    blocks: &[Point],
    points: &[Point],
    failures: &mut Vec<String>,
) {
    let place = program.place(one.line);
    let begins = blocks.iter().filter(|point| {
        point.fragment == Some(0)
            && name(&point.method) != "<clinit>"
            && point.line >= Some(one.line)
    });
    let nearest: Vec<&Point> = begins.clone().collect();
    let Some(line) = nearest.iter().filter_map(|point| point.line).min() else {
        failures.push(format!("{place}: no method begins here"));
        return;
    };
    let methods: Vec<&&Point> = nearest
        .iter()
        .filter(|point| point.line == Some(line))
        .collect();
    let [method] = methods.as_slice() else {
        failures.push(format!(
            "{place}: {} methods begin on line {line}",
            methods.len()
        ));
        return;
    };
    let own: Vec<&Point> = points
        .iter()
        .filter(|point| point.class == method.class && point.method == method.method)
        .collect();
    let timer = one.measure == Measure::Timer;
    let actual: u64 = own
        .iter()
        .map(|point| if timer { point.count } else { point.hits })
        .sum();
    if one.numbers != [actual] {
        failures.push(format!(
            "{place}: expected {} {}, actual {actual} [{}::{}]",
            one.measure,
            join(&one.numbers),
            method.class,
            method.method
        ));
    }
    for point in own.iter().filter(|point| timer && point.count > 0) {
        let (min, max, total) = (point.min_ns, point.max_ns, point.total_ns);
        let fits = min <= max && max <= total && total <= max.saturating_mul(point.count);
        if !fits {
            failures.push(format!(
                "{place}: timer with min {min}, max {max}, total {total} ns"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let line = |line, measure, numbers: &[u64]| Expectation {
            line,
            measure,
            since: 0,
            numbers: numbers.to_vec(),
        };
        Program {
            name: "P".into(),
            path: "P.java".into(),
            methods: "P*::*(..)".into(),
            loose: vec!["any".into()],
            expectations: vec![
                line(3, Measure::Entries, &[2]),
                line(4, Measure::Blocks, &[2]),
                line(5, Measure::Blocks, &[12, 10]),
            ],
        }
    }

    fn report(hits: [u64; 4], entries: u64) -> Report {
        let points: Vec<String> = [(0, 4), (2, 5), (1, 5), (3, 6)]
            .iter()
            .zip(hits)
            .map(|((fragment, line), hits)| {
                format!(
                    r#"{{"class":"P","method":"m()V","fragment":{fragment},"line":{line},"hits":{hits}}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"schema":1,"refusals":[],"instruments":[
            {{"id":"i0","kind":"counter","points":[{},
                {{"class":"P","method":"any()V","fragment":0,"line":9,"hits":5}}]}},
            {{"id":"i1","kind":"counter","points":[{{"class":"P","method":"m()V","hits":{entries}}}]}},
            {{"id":"i2","kind":"counter","points":[]}},{{"id":"i3","kind":"timer","points":[]}}]}}"#,
            points.join(",")
        );
        Report::parse(&text).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn accepts_a_report_that_meets_the_expectations() {
        assert_eq!(
            compare(&program(), &report([2, 10, 12, 0], 2), 17),
            Vec::<String>::new()
        );
    }

    #[test]
    fn finds_each_kind_of_difference() {
        let wrong_count = compare(&program(), &report([2, 9, 12, 0], 2), 17);
        assert_eq!(wrong_count.len(), 1, "{wrong_count:?}");
        assert!(wrong_count[0].contains("P.java:5: expected blocks 12 10, actual 12 9"));
        let unsaid = compare(&program(), &report([2, 10, 12, 1], 2), 17);
        assert!(
            unsaid[0].contains("P.java:6: nothing expected, actual 1"),
            "{unsaid:?}"
        );
        let entries = compare(&program(), &report([2, 10, 12, 0], 3), 17);
        assert!(
            entries[0].contains("P.java:3: expected entries 2, actual 3"),
            "{entries:?}"
        );
    }
}
