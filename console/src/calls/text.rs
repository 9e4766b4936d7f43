//! Call graphs as text for people.

use std::io::Write;

use anyhow::Result;
use veneer_calls::diff::ProfileDiff;
use veneer_calls::tree::{self, TreeLimits};
use veneer_calls::{CallProfile, Labels, Measure, MethodCost, MethodId, Query, Selection, gprof};
use veneer_instruments::table::{format_count, format_duration};
use veneer_text::replace_control_characters;

use crate::cli::{CallsShowArguments, CallsView};
use crate::output::Style;
use crate::quantity::{quantity, verb};
use crate::table;

/// The number of rows unless the user names another one.
const ROWS: usize = 20;
/// The number of rows of trees unless the user names another one.
const TREE_ROWS: usize = 200;
/// The depth of a tree of callers unless the user names another one. The number of paths can grow
/// by a factor with each level.
const CALLERS_DEPTH: u32 = 6;

/// Writes the view that the user asked for.
pub fn write(
    selection: &Selection,
    arguments: &CallsShowArguments,
    style: Style,
    out: &mut impl Write,
) -> Result<()> {
    let labels = Labels::new(selection.profile);
    let rows = arguments.top.unwrap_or(ROWS);
    if let Some(pattern) = &arguments.callers {
        let targets = selection.methods().filter(|id| {
            let name = &selection.profile.method(*id).name;
            pattern.matches(&name.class, &name.method, &name.descriptor)
        });
        let targets: Vec<MethodId> = targets.collect();
        let limits = TreeLimits {
            depth: arguments.depth.unwrap_or(CALLERS_DEPTH),
            nodes: arguments.top.unwrap_or(TREE_ROWS),
        };
        let tree = tree::callers(selection, &targets, limits);
        write!(out, "{}", tree.to_text(&labels, false))?;
        return Ok(());
    }
    match arguments.view {
        CallsView::Methods => {
            write_summary(selection.profile, out)?;
            write_methods(selection, &labels, rows, style, out)
        }
        CallsView::Gprof => {
            let mut entries = gprof::entries(selection);
            let all = entries.len();
            entries.truncate(rows);
            let costs = selection.profile.method_costs();
            write!(out, "{}", gprof::to_text(&entries, &costs, &labels))?;
            write_omitted(all, rows, out)
        }
        CallsView::Tree => {
            let limits = TreeLimits {
                depth: arguments.depth.unwrap_or(u32::MAX),
                nodes: arguments.top.unwrap_or(TREE_ROWS),
            };
            let text = tree::calls(selection, limits).to_text(&labels, true);
            write!(out, "{text}")?;
            Ok(())
        }
        CallsView::Packages => write_packages(selection, rows, style, out),
        CallsView::NeverCalled => write_never_called(selection, &labels, rows, out),
        CallsView::Allocations => write_allocations(selection, &labels, rows, style, out),
        CallsView::Unseen => {
            let unseen = selection.profile.unseen();
            let lines = unseen.iter().take(arguments.top.unwrap_or(usize::MAX));
            let lines = lines.map(|one| [one.class.clone(), one.reason.clone()]);
            let lines: Vec<[String; 2]> = lines.collect();
            table::write(out, ["class", "reason"], &lines, style)?;
            Ok(())
        }
    }
}

/// Writes the size of a profile and its most called methods.
pub fn write_overview(profile: &CallProfile, style: Style, out: &mut impl Write) -> Result<()> {
    let by = match profile.contexts().is_empty() {
        true => Measure::Count,
        false => Measure::Time,
    };
    let query = Query {
        by,
        ..Query::default()
    };
    let selection = Selection::new(profile, &query)?;
    write_summary(profile, out)?;
    write_methods(&selection, &Labels::new(profile), ROWS, style, out)
}

/// Says how many rows were left out.
fn write_omitted(all: usize, rows: usize, out: &mut impl Write) -> Result<()> {
    if all > rows {
        let omitted = format_count((all - rows) as u64);
        writeln!(out, "{omitted} more; --top N shows more")?;
    }
    Ok(())
}

/// Writes the size of the profile, and its gaps.
fn write_summary(profile: &CallProfile, out: &mut impl Write) -> Result<()> {
    for (key, values) in profile.info() {
        let values: Vec<String> = values
            .iter()
            .map(|value| replace_control_characters(value).into_owned())
            .collect();
        writeln!(
            out,
            "{}: {}",
            replace_control_characters(key),
            values.join(", ")
        )?;
    }
    let number = |count: usize, noun| quantity(count as u64, noun);
    let calls = profile.edges().iter().map(|edge| edge.count);
    writeln!(
        out,
        "{}, {} with {}, {}, {} of {}",
        number(profile.methods().len(), "method"),
        number(profile.edges().len(), "edge"),
        quantity(calls.fold(0, u64::saturating_add), "call"),
        number(profile.allocations().len(), "allocation site"),
        number(profile.contexts().len(), "context"),
        number(profile.threads().len(), "thread"),
    )?;
    let never = profile.never_called();
    if !never.methods.is_empty() {
        writeln!(out, "{}", never_called_line(profile))?;
    }
    let unseen = profile.unseen().len();
    if unseen > 0 {
        writeln!(
            out,
            "{} {} not recorded; --view unseen lists {}",
            number(unseen, "class"),
            verb(unseen as u64, "was", "were"),
            verb(unseen as u64, "it", "them")
        )?;
    }
    writeln!(out)?;
    Ok(())
}

fn write_methods(
    selection: &Selection,
    labels: &Labels,
    rows: usize,
    style: Style,
    out: &mut impl Write,
) -> Result<()> {
    let profile = selection.profile;
    let costs = profile.method_costs();
    let incoming = profile.incoming();
    let mut methods: Vec<MethodId> = selection.methods().collect();
    methods.retain(|id| costs[id.index()] != MethodCost::default());
    let order = |id: &MethodId| std::cmp::Reverse(costs[id.index()].by(selection.by));
    methods.sort_by_key(|id| (order(id), *id));
    let shown = methods.iter().take(rows);
    let has_times = !profile.contexts().is_empty();
    if has_times {
        let lines: Vec<[String; 7]> = shown
            .map(|id| {
                let cost = &costs[id.index()];
                [
                    format_count(cost.calls),
                    profile.residue(*id, incoming[id.index()]).to_string(),
                    format_duration(cost.self_ns),
                    format_duration(cost.wall_ns),
                    format_duration(cost.cpu_ns),
                    format_count(cost.allocations),
                    labels.label(*id),
                ]
            })
            .collect();
        let titles = [
            "calls", "residue", "self", "wall", "cpu", "objects", "method",
        ];
        table::write(out, titles, &lines, style)?;
    } else {
        let lines: Vec<[String; 4]> = shown
            .map(|id| {
                let cost = &costs[id.index()];
                [
                    format_count(cost.calls),
                    profile.residue(*id, incoming[id.index()]).to_string(),
                    format_count(cost.allocations),
                    labels.label(*id),
                ]
            })
            .collect();
        table::write(
            out,
            ["calls", "residue", "objects", "method"],
            &lines,
            style,
        )?;
    }
    write_omitted(methods.len(), rows, out)
}

fn write_packages(
    selection: &Selection,
    rows: usize,
    style: Style,
    out: &mut impl Write,
) -> Result<()> {
    let packages = selection.profile.package_costs();
    let all = packages.len();
    let mut packages: Vec<_> = packages.into_iter().collect();
    packages.sort_by_key(|(_, package)| std::cmp::Reverse(package.cost.by(selection.by)));
    let lines = packages.into_iter().take(rows).map(|(name, package)| {
        [
            format_count(package.cost.calls),
            format_count(package.calls_from_outside),
            format_duration(package.cost.self_ns),
            format_duration(package.cost.self_cpu_ns),
            format_count(package.cost.allocations),
            format_count(package.methods),
            format_count(package.never_called),
            match name.is_empty() {
                true => "(unnamed)".into(),
                false => name,
            },
        ]
    });
    let lines: Vec<[String; 8]> = lines.collect();
    let titles = [
        "calls",
        "from outside",
        "self",
        "cpu",
        "objects",
        "methods",
        "never called",
        "package",
    ];
    table::write(out, titles, &lines, style)?;
    write_omitted(all, rows, out)
}

/// The number of methods that were never called, and their share.
fn never_called_line(profile: &CallProfile) -> String {
    let never = profile.never_called();
    let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let methods = never.methods.len() as u64;
    let mut line = format!(
        "{} of {} observed methods were never called ({:.1} %",
        format_count(methods),
        format_count(never.observed_methods),
        share(methods, never.observed_methods)
    );
    if never.observed_bytes > 0 {
        let bytes = share(never.bytes, never.observed_bytes);
        line.push_str(&format!(", {bytes:.1} % of their bytecode"));
    }
    line.push(')');
    line
}

fn write_never_called(
    selection: &Selection,
    labels: &Labels,
    rows: usize,
    out: &mut impl Write,
) -> Result<()> {
    let profile = selection.profile;
    writeln!(out, "{}", never_called_line(profile))?;
    let never = selection
        .methods()
        .filter(|id| profile.is_never_called(*id));
    let mut names: Vec<String> = never
        .map(|id| replace_control_characters(&labels.label(id)).into_owned())
        .collect();
    names.sort();
    for name in names.iter().take(rows) {
        writeln!(out, "  {name}")?;
    }
    write_omitted(names.len(), rows, out)
}

fn write_allocations(
    selection: &Selection,
    labels: &Labels,
    rows: usize,
    style: Style,
    out: &mut impl Write,
) -> Result<()> {
    let mut sites: Vec<_> = selection.allocations().collect();
    sites.sort_by_key(|one| std::cmp::Reverse(one.count));
    let lines = sites.iter().take(rows).map(|one| {
        let place = match (one.site.line, one.site.bci) {
            (Some(line), _) => format!("{}, line {line}", labels.label(one.method)),
            (None, Some(bci)) => format!("{}, at {bci}", labels.label(one.method)),
            (None, None) => labels.label(one.method),
        };
        [format_count(one.count), one.type_name.clone(), place]
    });
    let lines: Vec<[String; 3]> = lines.collect();
    table::write(out, ["objects", "type", "site"], &lines, style)?;
    write_omitted(sites.len(), rows, out)
}

/// Writes the difference of two profiles.
pub fn write_diff(
    diff: &ProfileDiff,
    by: Measure,
    rows: usize,
    out: &mut impl Write,
) -> Result<()> {
    if let Some(overlap) = diff.overlap {
        writeln!(out, "overlap of the calls: {:.2} %", 100.0 * overlap)?;
    }
    let text = |number: u64| match by {
        Measure::Time | Measure::Cpu => format_duration(number),
        Measure::Count | Measure::Allocations => format_count(number),
    };
    writeln!(out, "\n{:>15} {:>15}  method", "before", "after")?;
    for one in diff.methods.iter().take(rows) {
        let name = one.method.name.to_string();
        let name = replace_control_characters(&name);
        let (before, after) = (text(one.before.by(by)), text(one.after.by(by)));
        writeln!(out, "{before:>15} {after:>15}  {name}")?;
    }
    write_omitted(diff.methods.len(), rows, out)?;
    writeln!(out, "\n{:>15} {:>15}  call", "before", "after")?;
    for one in diff.edges.iter().take(rows) {
        let caller = one.edge.caller.name.to_string();
        let caller = replace_control_characters(&caller);
        let callee = one.edge.callee.name.to_string();
        let callee = replace_control_characters(&callee);
        let line = one.line.map(|line| format!(", line {line}"));
        let line = line.unwrap_or_default();
        let (before, after) = (format_count(one.before), format_count(one.after));
        writeln!(out, "{before:>15} {after:>15}  {caller}{line} → {callee}")?;
    }
    write_omitted(diff.edges.len(), rows, out)
}
