//! Prints the totals as tables, or as JSON.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use anyhow::Result;
use serde_json::{Value, json};

use super::explain::explain;
use super::totals::{CheckFailure, CheckStage, CheckTotals, PolicyTotals, percent};
use crate::output::Style;
use crate::table;

/// Maximum number of failures in the table. The JSON output contains all of them.
const MAX_SHOWN_FAILURES: usize = 40;

/// Version of the JSON format.
const JSON_VERSION: u32 = 1;

/// Writes the totals of all paths to standard output.
pub fn write(policies: &[&str], mut sums: Vec<(String, CheckTotals)>, json: bool) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut total = CheckTotals::default();
    for (_, sum) in &sums {
        total.add(sum.clone());
    }
    if json {
        let paths: Vec<Value> = sums
            .iter()
            .map(|(p, s)| path_json(p, s, policies))
            .collect();
        let all = json!({
            "schema": JSON_VERSION,
            "paths": paths,
            "total": path_json("", &total, policies),
        });
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        if sums.len() > 1 {
            sums.push(("total".into(), total.clone()));
        }
        write_tables(&mut out, policies, &sums, &total, Style::of_stdout())?;
    }
    out.flush()?;
    Ok(())
}

fn path_json(path: &str, sum: &CheckTotals, policies: &[&str]) -> Value {
    let policies: Vec<Value> = policies
        .iter()
        .zip(padded(sum, policies.len()))
        .map(|(name, p)| {
            json!({
                "policy": name,
                "armed": p.armed,
                "named": p.named,
                "emitted": p.emitted,
                "points": p.points,
                "edited": p.edited,
                "proved": p.proved,
                "refusals": refusals(sum, &p),
            })
        })
        .collect();
    json!({
        "path": path,
        "classes": sum.classes,
        "identical": sum.identical,
        "methods": sum.methods,
        "initialisers": sum.initialisers,
        "on_cell_path": { "classes": sum.on_cell_path, "methods": sum.methods_on_cell_path },
        "oldest": sum.versions.map(|v| v.0),
        "newest": sum.versions.map(|v| v.1),
        "micros_per_class": sum.micros(),
        "policies": policies,
        "failures": sum.failures,
        "unsafe_null_messages": sum.unsafe_null_messages,
    })
}

fn refusals(sum: &CheckTotals, policy: &PolicyTotals) -> Vec<Value> {
    let rows = policy.refused.iter();
    rows.map(|((stage, name), n)| {
        json!({
            "name": name,
            "while": stage,
            "count": n,
            "percent": percent(*n, sum.methods),
            "explanation": explain(name),
        })
    })
    .collect()
}

/// Returns the totals of all policies, even if no class had a method and `sum` contains none.
fn padded(sum: &CheckTotals, policies: usize) -> Vec<PolicyTotals> {
    let mut all = sum.policies.clone();
    all.resize(policies, PolicyTotals::default());
    all
}

fn write_tables(
    out: &mut impl Write,
    policies: &[&str],
    sums: &[(String, CheckTotals)],
    total: &CheckTotals,
    style: Style,
) -> io::Result<()> {
    let mut rows = Vec::new();
    for (path, sum) in sums {
        let mut path = path.clone();
        for (name, p) in policies.iter().zip(padded(sum, policies.len())) {
            let share = |n: u64| format!("{:.2}", percent(n, sum.methods));
            let failed = sum.failures.iter().filter(|f| f.concerns(name)).count();
            rows.push([
                std::mem::take(&mut path),
                (*name).to_string(),
                sum.classes.to_string(),
                sum.methods.to_string(),
                share(p.armed),
                share(p.named),
                share(p.emitted),
                p.points.to_string(),
                p.proved.to_string(),
                failed.to_string(),
                format!("{:.0}", sum.micros()),
            ]);
        }
    }
    let titles = [
        "path",
        "policy",
        "classes",
        "methods",
        "armed %",
        "named %",
        "emitted %",
        "points",
        "proved",
        "failed",
        "µs/class",
    ];
    table::write(out, titles, &rows, style)?;
    writeln!(out)?;
    write_refusals(out, policies, total, style)?;
    write_failures(out, &total.failures, style)?;
    write_remarks(out, total)
}

impl CheckFailure {
    /// Whether the failure occurred under this policy, or independently of policies.
    fn concerns(&self, policy: &str) -> bool {
        match self.doing.rsplit_once(' ') {
            Some((_, name)) => name == policy,
            None => true,
        }
    }
}

fn write_refusals(
    out: &mut impl Write,
    policies: &[&str],
    total: &CheckTotals,
    style: Style,
) -> io::Result<()> {
    let mut counts: BTreeMap<(CheckStage, &str), Vec<u64>> = BTreeMap::new();
    for (i, policy) in total.policies.iter().enumerate() {
        for ((stage, name), n) in &policy.refused {
            let row = counts.entry((*stage, name));
            let row = row.or_insert_with(|| vec![0; policies.len()]);
            if let Some(cell) = row.get_mut(i) {
                *cell = *n;
            }
        }
    }
    if counts.is_empty() {
        return writeln!(out, "nothing was refused");
    }
    let mut rows = Vec::new();
    for ((stage, name), by_policy) in counts {
        let most = by_policy.iter().copied().max().unwrap_or(0);
        let list: Vec<String> = by_policy.iter().map(u64::to_string).collect();
        rows.push([
            name.to_string(),
            stage.name().to_string(),
            list.join(" "),
            format!("{:.2}", percent(most, total.methods)),
            explain(name).to_string(),
        ]);
    }
    let by = policies.join(" ");
    table::write(
        out,
        ["refused", "while", &by, "most %", "what it means"],
        &rows,
        style,
    )
}

fn write_failures(out: &mut impl Write, failures: &[CheckFailure], style: Style) -> io::Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let rows: Vec<[String; 4]> = failures
        .iter()
        .take(MAX_SHOWN_FAILURES)
        .map(|f| {
            [&f.class, &f.method, &f.doing, &f.reason].map(|text| text.replace(['\n', '\t'], " "))
        })
        .collect();
    table::write(out, ["failed", "method", "at", "reason"], &rows, style)?;
    if let Some(more) = failures.len().checked_sub(MAX_SHOWN_FAILURES + 1) {
        writeln!(out, "… and {} more; --json lists all", more + 1)?;
    }
    Ok(())
}

fn write_remarks(out: &mut impl Write, total: &CheckTotals) -> io::Result<()> {
    writeln!(out)?;
    if let Some((oldest, newest)) = total.versions {
        writeln!(
            out,
            "{} of {} classes (class-file versions {oldest} to {newest}) are written byte for byte as they were.",
            total.identical, total.classes
        )?;
    }
    if total.initialisers > 0 {
        writeln!(
            out,
            "Methods are those with code; {} of them are static initialisers, which are armed where a pattern names them.",
            total.initialisers
        )?;
    }
    if total.on_cell_path > 0 {
        writeln!(
            out,
            "{} classes with {} methods are counted, but the agent never arms them, since its cells need them (OnCellPath).",
            total.on_cell_path, total.methods_on_cell_path
        )?;
    }
    let unsafe_messages = total.unsafe_null_messages.len();
    if unsafe_messages > 0 {
        writeln!(
            out,
            "NullPointerException.getMessage can crash HotSpot in {unsafe_messages} of the methods, with or without Veneer; --json lists them.",
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::totals::UnsafeNullMessage;
    use veneer_fragmenter::Refusal;

    #[test]
    fn the_tables_contain_refusals_and_failures() {
        let mut policy = PolicyTotals {
            armed: 98,
            named: 99,
            emitted: 97,
            points: 300,
            ..PolicyTotals::default()
        };
        policy.refuse(CheckStage::Arm, &Refusal::InlineLimit(300, 330), 1);
        let sum = CheckTotals {
            classes: 7,
            identical: 6,
            methods: 100,
            versions: Some((52, 61)),
            policies: vec![policy],
            failures: vec![CheckFailure {
                class: "a.B".into(),
                method: String::new(),
                doing: "write".into(),
                reason: "the written class differs from the class that was read".into(),
            }],
            unsafe_null_messages: vec![UnsafeNullMessage {
                class: "a.B".into(),
                method: "f()V".into(),
                reason: "pc 3: …".into(),
            }],
            ..CheckTotals::default()
        };
        let style = Style {
            colour: false,
            width: None,
        };
        let mut text = Vec::new();
        let sums = [("a.jar".to_string(), sum.clone())];
        write_tables(&mut text, &["loop"], &sums, &sum, style).unwrap();
        let text = String::from_utf8(text).unwrap();
        for part in [
            "98.00",
            "99.00",
            "97.00",
            "InlineLimit",
            "written class differs",
            "6 of 7 classes",
            "NullPointerException.getMessage can crash HotSpot in 1 of the methods",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let value = path_json("a.jar", &sum, &["loop"]);
        assert_eq!(value["policies"][0]["refusals"][0]["name"], "InlineLimit");
        assert_eq!(value["failures"][0]["class"], "a.B");
        assert_eq!(value["unsafe_null_messages"][0]["method"], "f()V");
    }
}
