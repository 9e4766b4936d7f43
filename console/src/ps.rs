//! `veneer ps`: lists the JVMs on this machine, and those that have the agent.

use std::io::{self, Write};

use anyhow::Result;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;
use veneer_client::machine::{RunningJvm, running_jvms};
use veneer_client::{Client, ControlError, Target};
use veneer_protocol::Status;

use crate::cli::PsArguments;
use crate::output::Style;
use crate::status;
use crate::{table, targets};

/// A row of the table, and an element of the JSON array.
#[derive(Debug, Serialize)]
struct Row {
    pid: u32,
    /// Main class or jar.
    main: String,
    /// Feature release of the JDK.
    #[serde(skip_serializing_if = "Option::is_none")]
    jdk: Option<u32>,
    /// Seconds since the JVM started.
    #[serde(skip_serializing_if = "Option::is_none")]
    running_s: Option<u64>,
    /// The process id inside the JVM's container, if it differs from `pid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_pid: Option<u32>,
    /// The status of the agent, if the JVM has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    veneer: Option<Status>,
    /// Why this user cannot attach to the JVM, or why the agent does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Prints the table and returns the exit code.
pub fn run(arguments: PsArguments) -> Result<u8> {
    let mut all = running_jvms();
    all.retain(|jvm| arguments.all || jvm.target.is_ok());
    if let Some(pattern) = &arguments.matching {
        all.retain(|jvm| targets::matches(pattern, &jvm.main));
    }
    // The agents are queried in parallel, so that a JVM that does not answer does not delay the
    // others.
    let rows: Vec<Row> = all.into_par_iter().map(row).collect();
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    if arguments.json {
        serde_json::to_writer_pretty(&mut stdout, &rows).map_err(io::Error::from)?;
        writeln!(stdout)?;
    } else {
        write(&mut stdout, &rows, Style::of_stdout())?;
    }
    stdout.flush()?;
    Ok(0)
}

fn row(jvm: RunningJvm) -> Row {
    let mut row = Row {
        pid: jvm.pid,
        main: jvm.main,
        jdk: None,
        running_s: jvm.seconds,
        own_pid: None,
        veneer: None,
        problem: None,
    };
    match &jvm.target {
        Ok(target) => {
            row.jdk = target.feature;
            row.own_pid = Some(target.own_pid).filter(|own| *own != target.pid);
            match agent(target) {
                Ok(status) => row.veneer = status,
                Err(error) => row.problem = Some(error.to_string()),
            }
        }
        Err(error) => row.problem = Some(error.to_string()),
    }
    row
}

fn agent(target: &Target) -> Result<Option<Status>, ControlError> {
    match Client::connect(target)? {
        Some(mut client) => client.status().map(Some),
        None => Ok(None),
    }
}

fn write(to: &mut impl Write, rows: &[Row], style: Style) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(to, "there is no JVM that you may attach to");
    }
    let cells: Vec<[String; 6]> = rows
        .iter()
        .map(|row| {
            let (veneer, attached) = match (&row.veneer, &row.problem) {
                (Some(agent), _) => (
                    status::format_age(agent.stay_millis()),
                    status::format_attachments(agent),
                ),
                (None, Some(problem)) => (String::from("-"), problem.clone()),
                (None, None) => (String::from("-"), String::new()),
            };
            [
                row.pid.to_string(),
                row.main.clone(),
                row.jdk.map_or_else(|| "?".into(), |jdk| jdk.to_string()),
                row.running_s
                    .map_or_else(|| "?".into(), |s| status::format_age(s * 1000)),
                veneer,
                attached,
            ]
        })
        .collect();
    let titles = ["pid", "main", "jdk", "running", "veneer", "attached"];
    table::write(to, titles, &cells, style)
}
