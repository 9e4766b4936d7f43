//! What the agent is told when it is loaded.
//!
//! The options of the agent (the text after `=` in `-agentpath:LIB=OPTIONS`, the third argument of
//! HotSpot's `load` command) are the path of a file that holds one [`AgentConfig`] as JSON. A path
//! rather than the settings themselves: options pass through shells, environment variables and
//! files of arguments, each with quoting rules of its own, and plans are many lines long.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Everything that the agent needs to know at start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfig {
    /// The plans to run, in this order.
    #[serde(default)]
    pub plans: Vec<PlanSource>,
    /// Class or method patterns to arm at load. Empty: everything outside the JDK.
    #[serde(default)]
    pub arm: Vec<String>,
    /// Patterns that are never armed; they win over `arm`.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Where methods are cut into fragments.
    #[serde(default)]
    pub policy: Policy,
    /// Patterns of the invocations at which the policy `call` cuts. Not used by the others.
    #[serde(default)]
    pub calls: Vec<String>,
    /// Absolute path of the report that is written when the JVM ends.
    #[serde(default)]
    pub report: Option<PathBuf>,
    /// The configuration is that of several processes, each of which writes a report of its own; see [`AgentConfig::report_of`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub children: bool,
    /// Directory for the memory-mapped data files; exists, belongs to the JVM's user, mode 0700.
    pub data_dir: PathBuf,
    /// An error in a plan ends the JVM before the application starts.
    #[serde(default)]
    pub strict: bool,
    /// Prove of everything that is emitted that it does what the original does, before the JVM gets it.
    #[serde(default)]
    pub check: bool,
    /// Leave the data files in place when the JVM ends.
    #[serde(default)]
    pub keep_data: bool,
    /// Where `print` in a plan writes to.
    #[serde(default)]
    pub prints: Prints,
    /// A TCP address of this machine to be controlled at, besides the socket: `127.0.0.1:4712`, port 0 for any.
    #[serde(default)]
    pub listen: Option<String>,
    /// Absolute path of the file that holds the token for it; belongs to the JVM's user, mode 0600.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
}

impl AgentConfig {
    /// A configuration without plans that arms everything outside the JDK by policy `loop`.
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
            check: false,
            keep_data: false,
            prints: Prints::default(),
            listen: None,
            token_file: None,
        }
    }

    /// Reads the file whose path is the agent's option text.
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

    /// Where a process writes its report: where it was asked for, or with `children` beside that, under a name with the process
    /// id: `r.json` becomes `r.4711.json`.
    pub fn report_of(&self, pid: u32) -> Option<PathBuf> {
        let path = self.report.as_ref()?;
        if !self.children {
            return Some(path.clone());
        }
        let mut name = path.file_stem().unwrap_or_default().to_os_string();
        name.push(format!(".{pid}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        Some(path.with_file_name(name))
    }

    /// The JSON text of the file.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// Why the agent's configuration could not be had.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file is missing or may not be read by the JVM's user.
    #[error("the agent's configuration {path} cannot be read: {source}; start it through `veneer run` or `veneer exec`", path = .path.display())]
    Unreadable {
        /// The file as it was named in the options.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("the agent's configuration {path} is not understood: {source}; agent and `veneer` command must be of one version", path = .path.display())]
    Malformed {
        /// The file as it was named in the options.
        path: PathBuf,
        /// Line, column and reason.
        source: serde_json::Error,
    },
}

/// A plan: its text, and the name by which messages speak of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSource {
    /// As given on the command line, for instance `plans/hot.rhai`.
    pub name: String,
    /// The Rhai source text.
    pub source: String,
    /// What `param(…)` in the plan gives, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The texts of what the plan imports, by their paths from its directory, without `.rhai`: `lib/desks`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, String>,
}

/// The fragmentation policy: where a method is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// One fragment a method: it can be left at its entry and exits.
    Method,
    /// At loop headers too.
    #[default]
    Loop,
    /// At invocations that match a pattern too.
    Call,
    /// At every basic block.
    Block,
}

impl Policy {
    /// All policies, from the coarsest to the finest.
    pub const ALL: [Policy; 4] = [Policy::Method, Policy::Loop, Policy::Call, Policy::Block];

    /// The word that stands for it in options and files.
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

/// A word that names no policy.
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

/// Where plans print to. (What `veneer exec` runs prints to its own connection.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prints {
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
        assert_eq!(config.report_of(7), None);
        config.report = Some("/r/a.b.json".into());
        assert_eq!(config.report_of(7), Some("/r/a.b.json".into()));
        config.children = true;
        assert_eq!(config.report_of(7), Some("/r/a.b.7.json".into()));
        config.report = Some("/r/report".into());
        assert_eq!(config.report_of(7), Some("/r/report.7".into()));
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
