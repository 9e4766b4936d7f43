//! `veneer report`: shows the measurements in a data directory, whether its JVM runs, has ended or
//! was killed. The report of `--html` is in `html_report.rs`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::json;
use veneer_client::ControlError;
use veneer_instruments::{Measurement, table};
use veneer_protocol::{Instrument, InstrumentKind, JvmInfo, Report};

use crate::cli::ReportArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::html_report;
use crate::output::print_error;
use crate::post_mortem::{DataDirectory, MeasuredInstrument, ProcessState, directories};
use crate::targets;

/// Prints the tables and returns the exit code.
pub fn run(arguments: ReportArguments) -> Result<u8> {
    if let Some(output) = &arguments.html {
        let recordings = [&arguments.place].into_iter().chain(&arguments.more);
        html_report::write(output, recordings.cloned().collect())?;
        return Ok(0);
    }
    if let Some(component) = &arguments.component {
        return analysis(&arguments.place, component, arguments.json);
    }
    let all = directories(&arguments.place)?
        .iter()
        .map(|directory| DataDirectory::read(directory))
        .collect::<Result<Vec<_>, _>>()?;
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        let all: Vec<_> = all.iter().map(to_json).collect();
        serde_json::to_writer_pretty(&mut stdout, &all).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else {
        for (n, data) in all.iter().enumerate() {
            if n > 0 {
                writeln!(stdout)?;
            }
            write(&mut stdout, data, arguments.rows)?;
        }
    }
    stdout.flush()?;
    Ok(0)
}

/// Calls the analyser of a component in a running JVM and prints the result.
fn analysis(pid: &Path, component: &str, json: bool) -> Result<u8> {
    let Some(pid) = pid.to_str().and_then(|text| text.parse::<u32>().ok()) else {
        bail!(
            "`{}` is no process id: --component asks a running JVM; `veneer ps` shows those that run",
            pid.display()
        );
    };
    let analysis = match targets::connect_agent(pid)?.analyse(component) {
        Ok(analysis) => analysis,
        Err(ControlError::Refused(message)) => {
            print_error(&message);
            return Ok(EXIT_PROGRAM_FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if json {
        serde_json::to_writer_pretty(&mut stdout, &analysis.value).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else if !analysis.text.is_empty() {
        writeln!(stdout, "{}", analysis.text)?;
    }
    stdout.flush()?;
    Ok(0)
}

fn word(state: ProcessState) -> &'static str {
    match state {
        ProcessState::Running => "running",
        ProcessState::Ended => "ended",
        ProcessState::Killed => "killed",
    }
}

fn write(to: &mut impl Write, data: &DataDirectory, rows: usize) -> io::Result<()> {
    let catalogue = &data.catalogue;
    let state = match data.state {
        ProcessState::Running => "runs; these are its current measurements",
        ProcessState::Ended => "has ended; these are its final measurements",
        ProcessState::Killed => {
            "was killed or crashed; these are the measurements that it had stored"
        }
    };
    writeln!(
        to,
        "JVM {} ({} {}) {state}. The agent lived {:.1} s.",
        catalogue.pid,
        catalogue.name,
        catalogue.version,
        data.millis as f64 / 1000.0
    )?;
    for one in &data.instruments {
        let recorded = &one.recorded;
        let attached = match recorded.attached {
            true => "",
            false => ", detached",
        };
        writeln!(
            to,
            "\n{} {} of {}{attached}",
            recorded.id, recorded.name, recorded.plan
        )?;
        let text = match recorded.kind {
            InstrumentKind::Log => table::render_events(&one.rows, &one.events, rows),
            _ => table::render_rows(&one.rows, rows),
        };
        writeln!(to, "{text}")?;
    }
    if data.instruments.is_empty() {
        writeln!(to, "\nno instruments")?;
    }
    for patch in catalogue.patches.iter().filter(|patch| patch.active) {
        let methods = patch.patterns.join(", ");
        writeln!(
            to,
            "\n{} of {} is in place: {methods}",
            patch.id, patch.plan
        )?;
    }
    for problem in &catalogue.problems {
        writeln!(to, "\nproblem: {}", problem.message)?;
    }
    if data.state == ProcessState::Killed {
        writeln!(to, "\nMay be missing:")?;
        for part in &data.missing {
            writeln!(to, "  {part}")?;
        }
    }
    Ok(())
}

fn to_json(data: &DataDirectory) -> serde_json::Value {
    let events: Vec<_> = data
        .instruments
        .iter()
        .filter(|one| one.recorded.kind == InstrumentKind::Log)
        .map(|one| json!({ "instrument": one.recorded.id.to_string(), "events": one.events }))
        .collect();
    json!({
        "directory": data.directory.display().to_string(),
        "state": word(data.state),
        "missing": data.missing,
        "report": report(data),
        "events": events,
    })
}

/// Converts the data to the form that `veneer run --report` writes.
fn report(data: &DataDirectory) -> Report {
    let catalogue = &data.catalogue;
    let mut report = Report::new(JvmInfo {
        pid: catalogue.pid,
        name: catalogue.name.clone(),
        version: catalogue.version.clone(),
        millis: data.millis,
    });
    report.patches = catalogue.patches.clone();
    report.problems = catalogue.problems.clone();
    report.instruments = data.instruments.iter().map(instrument).collect();
    for point in report.instruments.iter().flat_map(|one| &one.points) {
        report.totals.points += 1;
        match point.data {
            Measurement::Count { hits } => report.totals.hits += hits,
            Measurement::Log { events, dropped } => {
                report.totals.events += events;
                report.totals.dropped += dropped;
            }
            Measurement::Time { .. } => {}
        }
    }
    report
}

fn instrument(one: &MeasuredInstrument) -> Instrument {
    Instrument {
        id: one.recorded.id.to_string(),
        name: one.recorded.name.clone(),
        kind: one.recorded.kind,
        plan: one.recorded.plan.clone(),
        attached: one.recorded.attached,
        points: one.rows.clone(),
    }
}
