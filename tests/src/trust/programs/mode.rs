//! The modes in which a program is run.

use std::path::Path;

use super::list::Program;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// The program runs without Veneer.
    Plain,
    /// Armed under a policy, without instruments.
    Armed(&'static str),
    /// With counters on all blocks, under a policy.
    Counted(&'static str),
    /// Under the patch storm, under a policy.
    Storm(&'static str),
    /// With counters of calls in the code of all classes, those of the JDK too.
    Complete,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mode::Plain => f.write_str("plain"),
            Mode::Armed(policy) => write!(f, "armed, {policy}"),
            Mode::Counted("loop") => f.write_str("counters"),
            Mode::Counted(policy) => write!(f, "counters, {policy}"),
            Mode::Storm("loop") => f.write_str("storm"),
            Mode::Storm(policy) => write!(f, "storm, {policy}"),
            Mode::Complete => f.write_str("complete call graph"),
        }
    }
}

/// All modes, which run on the oldest JDK.
pub const ALL: &[Mode] = &[
    Mode::Plain,
    Mode::Armed("method"),
    Mode::Armed("loop"),
    Mode::Armed("call"),
    Mode::Armed("block"),
    Mode::Counted("loop"),
    Mode::Counted("block"),
    Mode::Complete,
    Mode::Storm("loop"),
];

/// The modes for the other JDKs.
pub const ON_OTHER_JDKS: &[Mode] = &[
    Mode::Plain,
    Mode::Counted("block"),
    Mode::Complete,
    Mode::Storm("loop"),
];

/// The modes of the quick scope.
pub const QUICK: &[Mode] = &[
    Mode::Plain,
    Mode::Armed("loop"),
    Mode::Counted("loop"),
    Mode::Storm("loop"),
];

impl Mode {
    /// The plan of the mode, or `None` if the mode has none.
    pub fn plan(&self, program: &Program, seed: u32) -> Option<String> {
        match self {
            Mode::Plain | Mode::Armed(_) | Mode::Complete => None,
            Mode::Counted(_) => {
                let patterns: Vec<String> =
                    program.counted.iter().map(|p| format!("{p:?}")).collect();
                let patterns = patterns.join(", ");
                Some(format!(
                    "methods([{patterns}]).limit(10000000).blocks().before(counter());\n"
                ))
            }
            Mode::Storm(_) => Some(storm(seed)),
        }
    }

    /// Whether the JVM compiles with C1 only. That takes less time, and the other modes have all compilers.
    pub fn has_c1_only(&self) -> bool {
        matches!(self, Mode::Armed("method" | "call"))
    }

    /// The options between `veneer run` and `--`.
    pub fn options(&self, program: &Program, plan: &Path, report: &Path) -> Vec<String> {
        let policy = match self {
            Mode::Plain => return Vec::new(),
            Mode::Complete => {
                let graph = report.with_extension("calls").display().to_string();
                return vec!["--complete".into(), "--call-graph".into(), graph];
            }
            Mode::Armed(policy) | Mode::Counted(policy) | Mode::Storm(policy) => policy,
        };
        let mut options = vec!["--policy".to_string(), (*policy).to_string()];
        if *policy == "call" {
            options.extend(["--calls".into(), "*..*::*(..)".into()]);
        }
        for pattern in program.arm {
            options.extend(["--arm".into(), (*pattern).into()]);
        }
        options.extend(["--report".into(), report.display().to_string()]);
        match self {
            Mode::Armed(_) if program.arm.is_empty() => options.push("--arm-all".into()),
            Mode::Armed(_) => {}
            _ => options.extend(["--plan".into(), plan.display().to_string()]),
        }
        options
    }
}

/// Returns the plan of the patch storm.
pub fn storm(seed: u32) -> String {
    include_str!("../../../programs/storm.rhai").replace("= SEED;", &format!("= {seed};"))
}
