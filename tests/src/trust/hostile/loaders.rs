//! A class loader of the application that records every call. It ends the JVM if a thread calls it
//! that the application did not start (`tests/java/hostile/programs/RecordingLoader.java`).

use std::time::Duration;

use super::compiled::{Compiled, Plan, difference, run_under_plan, run_with_thread_dump};
use super::settings::Setting;
use crate::live::number;
use crate::trust::TrustError;
use crate::trust::programs::storm_summary::StormSummary;

/// A variant of the loader's behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The additional behaviour of the loader; see `RecordingLoader`.
    pub name: &'static str,
    /// Whether the loader is registered as parallel capable.
    pub parallel: bool,
    /// Whether it is the system class loader (`-Djava.system.class.loader`).
    pub system: bool,
}

/// The names of the additional behaviours.
const NAMES: [&str; 6] = [
    "none",
    "throws",
    "blocks",
    "blocks-all",
    "twins",
    "recursive",
];

/// Minimum number of operations of a plan. Below it, a run shows less than it claims.
const MIN_OPERATIONS: u64 = 20;

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parallel = if self.parallel { ", parallel" } else { "" };
        let system = if self.system { ", system" } else { "" };
        write!(f, "{}{parallel}{system}", self.name)
    }
}

pub fn variants() -> Vec<Variant> {
    let mut all = Vec::new();
    for name in NAMES {
        for (parallel, system) in [(false, false), (true, false), (false, true), (true, true)] {
            all.push(Variant {
                name,
                parallel,
                system,
            });
        }
    }
    all
}

/// How much longer the program runs each time that the plan did too little, because the machine had
/// other work.
const LONGER: [u32; 3] = [1, 4, 16];

/// Runs the program plain and under a plan, and returns how many operations the plan did. Returns
/// an error if the outputs differ. The output lists every call of the loader with its thread, and
/// therefore also the loaded classes.
pub fn recorded(
    compiled: &Compiled,
    variant: Variant,
    setting: Setting,
    plan: Plan,
    milliseconds: u32,
) -> Result<u64, TrustError> {
    let mut last = Ok(0);
    for times in LONGER {
        last = recorded_once(compiled, variant, setting, plan, milliseconds * times);
        if !matches!(last, Err(TrustError::TooFew { .. })) {
            break;
        }
    }
    last
}

fn recorded_once(
    compiled: &Compiled,
    variant: Variant,
    setting: Setting,
    plan: Plan,
    milliseconds: u32,
) -> Result<u64, TrustError> {
    let properties = [
        format!("-Dguests={}", compiled.guests().display()),
        format!("-Dvariant={}", variant.name),
        format!("-Dparallel={}", variant.parallel),
        if variant.system {
            "-Djava.system.class.loader=RecordingLoader".to_string()
        } else {
            "-Dcustom=true".to_string()
        },
    ];
    let mut options: Vec<&str> = setting.options.to_vec();
    // JDK 25 prints a warning about its archive to standard output, with the time.
    options.push("-Xlog:disable");
    options.extend(properties.iter().map(String::as_str));
    let mode = if variant.system { "system" } else { "custom" };
    let java = compiled
        .java(&options, "HostileLoaders")
        .arg(milliseconds.to_string())
        .arg(mode);
    let limit = Duration::from_secs(40) + Duration::from_millis(u64::from(milliseconds));
    let plain = run_with_thread_dump(&compiled.jdk, &java, limit)?.succeeded("HostileLoaders")?;
    if !plain.out.contains("different rounds: 0\n") {
        return Err(TrustError::WrongPlainRun {
            code: plain.code,
            output: plain.out,
        });
    }
    let output = run_under_plan(&compiled.jdk, plan, &java, limit)?;
    if let Some(text) = difference(&plain, &output) {
        return Err(TrustError::Differs(text));
    }
    let operations = match plan {
        Plan::Storm(_) => StormSummary::read(&output.err).map_or(0, |summary| summary.operations),
        Plan::Source(_) => number(&output.err, "attached").unwrap_or(0) as u64,
    };
    if operations < MIN_OPERATIONS {
        return Err(TrustError::TooFew {
            done: operations,
            unit: "operations of the plan",
            output: output.err,
        });
    }
    Ok(operations)
}
