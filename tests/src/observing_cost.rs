//! Recordings of the program `observing.Calls`, which calls a method that does almost nothing. Most of the time in
//! such a trace is the cost of the trace.

use std::error::Error;
use std::path::Path;

use serde_json::Value;

use crate::command::run;
use crate::java_programs::Programs;
use crate::trace_rows::query;

/// The folder of the program in `tests/java`.
pub const PACKAGE: &str = "observing";
/// The rounds of `observing.Calls`. The fastest round must run compiled code, and on a busy machine
/// the JIT compiler needs up to 80 rounds.
pub const ROUNDS: usize = 120;
/// The calls of a round.
pub const CALLS: u64 = 20_000;

/// A call of `round`, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub wall: u64,
    pub corrected: u64,
    pub unexplained: u64,
}

impl Round {
    /// The cost by which the time was corrected. A cost that exceeds the time is unexplained.
    pub fn cost(self) -> u64 {
        match self.corrected {
            0 => self.wall + self.unexplained,
            corrected => self.wall - corrected,
        }
    }
}

/// Returns the number in a column of a row.
///
/// # Errors
/// The row has no such number.
pub fn number(row: &Value, column: &str) -> Result<u64, Box<dyn Error>> {
    let number = row[column].as_u64();
    Ok(number.ok_or_else(|| format!("no {column} in {row}"))?)
}

/// Records the program under a filter, and returns what the command printed.
///
/// # Errors
/// The program fails.
pub fn record(programs: &Programs, trace: &Path, filter: &str) -> Result<String, Box<dyn Error>> {
    let rules = programs.classes().join("filter");
    std::fs::write(&rules, filter)?;
    let (place, rules) = (trace.to_string_lossy(), rules.to_string_lossy());
    let options = [
        "--arm",
        "observing..*",
        "--trace",
        &place,
        "--filter",
        &rules,
    ];
    let output = run(&options, &programs.java("observing.Calls")).run()?;
    let output = output.succeeded("observing.Calls")?;
    if !output.out.starts_with("sum ") {
        return Err(format!("observing.Calls printed {}", output.out).into());
    }
    Ok(output.err)
}

/// The rounds, in the order of their beginning.
///
/// # Errors
/// The trace cannot be read.
pub fn rounds(trace: &Path) -> Result<Vec<Round>, Box<dyn Error>> {
    let columns = r#"calls("observing.Calls::round(..)").show("start", "wall", "corrected", "unexplained").sort("start")"#;
    let round = |row: &Value| {
        Ok(Round {
            wall: number(row, "wall")?,
            corrected: number(row, "corrected")?,
            unexplained: number(row, "unexplained")?,
        })
    };
    query(trace, columns)?.iter().map(round).collect()
}
