//! `veneer patches`: lists what is attached in running JVMs, and by which plan.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;
use veneer_protocol::{Component, PatchStatus, Status};

use crate::cli::PatchesArguments;
use crate::output::{Style, describe, print_error};
use crate::quantity::quantity;
use crate::{status, table, targets};

#[derive(Serialize)]
struct Row {
    /// The process id on this machine. In a container, the JVM's own process id differs.
    seen_as: u32,
    #[serde(flatten)]
    status: Status,
}

/// Prints the tables and returns the exit code.
pub fn run(arguments: PatchesArguments) -> Result<u8> {
    let targets = &arguments.targets;
    let pids = targets::pids(&targets.pids, targets.matching.as_deref())?;
    let mut rows = Vec::new();
    let mut code = 0;
    for pid in &pids {
        let asked = targets::connect_agent(*pid).and_then(|mut client| Ok(client.status()?));
        match asked {
            Ok(status) => rows.push(Row {
                seen_as: *pid,
                status,
            }),
            Err(error) if pids.len() > 1 => {
                print_error(&describe(&error));
                code = 2;
            }
            Err(error) => return Err(error),
        }
    }
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer_pretty(&mut stdout, &rows).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else {
        for row in &rows {
            write(&mut stdout, row.seen_as, &row.status, Style::of_stdout())?;
        }
    }
    stdout.flush()?;
    Ok(code)
}

fn write(to: &mut impl Write, pid: u32, agent: &Status, style: Style) -> io::Result<()> {
    writeln!(
        to,
        "process {pid}: Veneer {} for {}, {} and {} armed; attached: {}",
        agent.version,
        status::format_age(agent.stay_millis()),
        quantity(agent.classes_armed, "class"),
        quantity(agent.methods_armed, "method"),
        status::format_attachments(agent)
    )?;
    for problem in &agent.problems {
        writeln!(to, "problem: {problem}")?;
    }
    if let Some(tables) = status::format_tables(&agent.tables) {
        writeln!(to, "{tables}")?;
    }
    let mut cells: Vec<[String; 6]> = Vec::new();
    for load in &agent.loads {
        let of = |id: String, what: String, points: String| {
            let held = if load.held { " (held)" } else { "" };
            [
                id,
                what,
                points,
                load.plan.clone(),
                format!("{}{held}", load.owner),
                status::format_age(agent.millis.saturating_sub(load.since)),
            ]
        };
        let callbacks = match load.callbacks {
            0 => String::new(),
            1 => "1 callback waits".into(),
            n => format!("{n} callbacks wait"),
        };
        cells.push(of(load.id.clone(), callbacks, String::new()));
        for i in &load.instruments {
            let points = format!("{} in {}", i.points, i.methods);
            cells.push(of(format!("  {}", i.id), i.name.clone(), points));
        }
        for p in &load.patches {
            cells.push(of(
                format!("  {}", p.id),
                edit(p),
                format!("in {}", p.methods),
            ));
        }
    }
    if !cells.is_empty() {
        let titles = ["id", "what", "points in methods", "plan", "whose", "for"];
        table::write(to, titles, &cells, style)?;
    }
    let components: Vec<[String; 6]> = agent
        .components
        .iter()
        .filter(|one| one.version.is_some() || one.analyser || !one.parameters.is_empty())
        .map(|one| component(one, agent.millis))
        .collect();
    if components.is_empty() {
        return Ok(());
    }
    let titles = [
        "component",
        "version",
        "attached",
        "parameters",
        "plan",
        "for",
    ];
    table::write(to, titles, &components, style)
}

/// The edits of a patch with their methods: `redirect f0->f1 to f12 in a.B::m(..)`.
fn edit(patch: &PatchStatus) -> String {
    let edits: Vec<String> = patch.edits.iter().map(ToString::to_string).collect();
    let what = match edits.is_empty() {
        // An older agent does not send the edits.
        true => "edit".to_owned(),
        false => edits.join("; "),
    };
    format!("{what} in {}", patch.patterns.join(", "))
}

fn component(one: &Component, now: u64) -> [String; 6] {
    let ids = one.instruments.iter().chain(&one.patches);
    let ids: Vec<&str> = ids.map(String::as_str).collect();
    let attached = match (one.attached, ids.is_empty()) {
        (false, _) => "taken off; its analyser can be asked".to_owned(),
        (true, true) => "nothing".to_owned(),
        (true, false) => ids.join(" "),
    };
    let parameters: Vec<String> = one
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    [
        one.name.clone(),
        one.version.clone().unwrap_or_default(),
        attached,
        parameters.join(" "),
        one.plan.clone(),
        status::format_age(now.saturating_sub(one.since)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_shown_with_its_edits() {
        let text = r#"{"id":"p1","patterns":["a.B::m(..)"],"methods":1,
            "edits":[{"edit":"redirect","from":0,"to":1,"target":12},{"edit":"skip","fragment":3}]}"#;
        let mut patch: PatchStatus = serde_json::from_str(text).unwrap();
        let shown = edit(&patch);
        assert_eq!(shown, "redirect f0->f1 to f12; skip f3 in a.B::m(..)");
        patch.edits.clear();
        assert_eq!(edit(&patch), "edit in a.B::m(..)");
    }
}
