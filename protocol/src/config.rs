//! The configuration that the agent reads when the JVM loads it.
//!
//! The agent's options are the path of a file that contains one [`AgentConfig`] as JSON. JVM users
//! pass options after `=` in `-agentpath:LIB=OPTIONS`; an attaching process passes them as the
//! third argument of HotSpot's `load` command.
//!
//! The options contain only a path, because options pass through shells, environment variables and
//! argument files. Each of these has its own quoting rules, and plans have many lines.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The configuration of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    /// The plans that the agent runs at start, in this order.
    #[serde(default)]
    pub plans: Vec<PlanSource>,
    /// Patterns of the classes or methods that the agent arms when their class is loaded. If the
    /// list is empty, the agent arms everything outside the JDK (see `arm_all`).
    #[serde(default)]
    pub arm: Vec<String>,
    /// Whether the agent also arms classes without loops when they are loaded. Otherwise it arms them when a
    /// plan names them, unless `arm` or the policy selects what is armed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub arm_all: bool,
    /// Patterns of classes or methods that the agent never arms. `skip` has precedence over `arm`.
    #[serde(default)]
    pub skip: Vec<String>,
    /// The granularity of fragments (basic blocks or regions).
    #[serde(default)]
    pub policy: Policy,
    /// Patterns of the call sites at which the policy `call` splits fragments. Other policies
    /// ignore these patterns.
    #[serde(default)]
    pub calls: Vec<String>,
    /// Absolute path of the report that the agent writes when the JVM ends.
    #[serde(default)]
    pub report: Option<PathBuf>,
    /// Whether several processes use this configuration. Then each process writes its own report;
    /// see [`AgentConfig::report_path`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub children: bool,
    /// Directory of the memory-mapped data files. The directory must exist, belong to the JVM's
    /// user and have mode 0700.
    pub data_dir: PathBuf,
    /// Whether an error in a plan ends the JVM before the application starts.
    #[serde(default)]
    pub strict: bool,
    /// Whether the agent proves that all emitted code is equivalent to the original code before the
    /// JVM loads the emitted code.
    #[serde(default)]
    pub check: bool,
    /// Whether the agent keeps the data files when the JVM ends.
    #[serde(default)]
    pub keep_data: bool,
    /// Absolute path of the folder in which the agent keeps armed classes from one start of a program
    /// to the next. `None`: the agent keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
    /// Whether the agent writes the facts about armed classes; see [`crate::data::ClassFacts`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub class_facts: bool,
    /// The classes whose calls the agent counts in the code of the methods; `None`: of no class. Such
    /// classes are not armed. See [`crate::data::CompleteCalls`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_calls: Option<CountedClasses>,
    /// The output of `print` in a plan. There is one output, so the agent does not read the field;
    /// it stays in the file because the form of the file is fixed.
    #[serde(default)]
    pub prints: PrintTarget,
    /// A loopback TCP address at which the agent accepts clients in addition to the Unix socket:
    /// `127.0.0.1:4712`. Port 0 selects any free port.
    #[serde(default)]
    pub listen: Option<String>,
    /// Absolute path of the file with the token for `listen`. The file must belong to the JVM's
    /// user and have mode 0600.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
}

/// Classes whose calls are counted in the code of their methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedClasses {
    /// Those of the JDK too.
    All,
    /// Those that [`AgentConfig::arm`] selects.
    Selected,
}

impl AgentConfig {
    /// Whether classes without loops are armed when they are loaded, under the policy `loop` too.
    pub fn arms_without_loops(&self) -> bool {
        self.arm_all || !self.arm.is_empty()
    }

    /// A configuration without plans that arms everything outside the JDK with policy `loop`.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        AgentConfig {
            plans: Vec::new(),
            arm: Vec::new(),
            skip: Vec::new(),
            policy: Policy::default(),
            calls: Vec::new(),
            report: None,
            children: false,
            data_dir: data_dir.into(),
            strict: false,
            arm_all: false,
            check: false,
            keep_data: false,
            cache: None,
            class_facts: false,
            counted_calls: None,
            prints: PrintTarget::default(),
            listen: None,
            token_file: None,
        }
    }

    /// Reads a configuration file. `path` is the agent's option text.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read(path).map_err(|source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_slice(&text).map_err(|source| ConfigError::Malformed {
            path: path.to_owned(),
            source,
        })
    }

    /// The path to which the process `pid` writes its report. Without `children`, this is
    /// `report`. With `children`, the file name has the process id: `r.json` becomes `r.4711.json`.
    pub fn report_path(&self, pid: u32) -> Option<PathBuf> {
        let path = self.report.as_ref()?;
        Some(match self.children {
            true => path_of_process(path, pid),
            false => path.clone(),
        })
    }

    /// The content of the configuration file.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// A path with a process id before the extension of the file: `r.json` becomes `r.4711.json`.
pub fn path_of_process(path: &Path, pid: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!(".{pid}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Why the agent's configuration could not be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file is missing, or the JVM's user may not read it.
    #[error("the agent's configuration {path} cannot be read: {source}; start it through `veneer run` or `veneer exec`", path = .path.display())]
    Unreadable {
        /// The path in the agent's options.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The file is not an [`AgentConfig`].
    #[error("the agent's configuration {path} is not understood: {source}; agent and `veneer` command must be of one version", path = .path.display())]
    Malformed {
        /// The path in the agent's options.
        path: PathBuf,
        /// The parser's error, with line and column.
        source: serde_json::Error,
    },
}

/// A plan: a Rhai script that attaches instruments or patches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSource {
    /// The name that messages use: the path on the command line, for instance `plans/hot.rhai`.
    pub name: String,
    /// The Rhai source text.
    pub source: String,
    /// Values that `param(…)` returns in the plan, by parameter name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Source texts of the imported modules. A key is the module's path relative to the plan's
    /// directory, without `.rhai`: `lib/desks`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, String>,
}

/// The fragmentation policy: the positions at which a method is split into fragments. Each fragment
/// boundary is a point at which a running activation can leave the code (OSR exit).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// One fragment per method: boundaries are the method's entry and exits only.
    Method,
    /// Boundaries of `Method`, and loop headers.
    #[default]
    Loop,
    /// Boundaries of `Loop`, and call sites that match a pattern in [`AgentConfig::calls`].
    Call,
    /// Boundaries at every basic block.
    Block,
}

impl Policy {
    /// All policies, from the coarsest to the finest.
    pub const ALL: [Policy; 4] = [Policy::Method, Policy::Loop, Policy::Call, Policy::Block];

    /// The policy's name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Method => "method",
            Policy::Loop => "loop",
            Policy::Call => "call",
            Policy::Block => "block",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is not the name of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no policy is called `{0}`: choose method, loop, call or block")]
pub struct UnknownPolicy(pub String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| UnknownPolicy(text.to_owned()))
    }
}

/// The output of `print` in plans of the configuration. Programs of `veneer exec` print to their
/// own connection instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrintTarget {
    /// The standard error of the JVM.
    #[default]
    Stderr,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_data_directory_is_required() {
        let config: AgentConfig = serde_json::from_str(r#"{"data_dir":"/tmp/d"}"#).unwrap();
        assert_eq!(config, AgentConfig::new("/tmp/d"));
        assert!(serde_json::from_str::<AgentConfig>("{}").is_err());
    }

    #[test]
    fn the_text_form_is_stable() {
        let mut config = AgentConfig::new("/tmp/d");
        config.policy = Policy::Call;
        config.plans.push(PlanSource {
            name: "a.rhai".into(),
            source: "print(\"ü\");\n".into(),
            settings: BTreeMap::from([("top".into(), "3".into())]),
            modules: BTreeMap::from([("lib/desks".into(), "fn f() {}".into())]),
        });
        let text = config.to_json().unwrap();
        assert!(text.contains(r#""policy": "call""#), "{text}");
        assert!(text.contains(r#""prints": "stderr""#), "{text}");
        assert_eq!(serde_json::from_str::<AgentConfig>(&text).unwrap(), config);
    }

    #[test]
    fn each_of_several_processes_has_a_report_of_its_own() {
        let mut config = AgentConfig::new("/tmp/d");
        assert_eq!(config.report_path(7), None);
        config.report = Some("/r/a.b.json".into());
        assert_eq!(config.report_path(7), Some("/r/a.b.json".into()));
        config.children = true;
        assert_eq!(config.report_path(7), Some("/r/a.b.7.json".into()));
        config.report = Some("/r/report".into());
        assert_eq!(config.report_path(7), Some("/r/report.7".into()));
    }

    #[test]
    fn policies_are_read_by_name() {
        for policy in Policy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        let error = "blocks".parse::<Policy>().unwrap_err().to_string();
        assert!(error.contains("`blocks`") && error.contains("method, loop, call or block"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = AgentConfig::read(Path::new("/nonexistent/agent.json")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/agent.json"));
    }
}
