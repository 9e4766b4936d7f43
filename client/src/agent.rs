//! The path of the agent library. The library is searched in this order:
//!
//! 1. the file that `$VENEER_AGENT` names;
//! 2. the directory of the `veneer` executable, as in a build;
//! 3. `../lib/veneer` relative to that directory, as in an installation;
//! 4. the copy that is embedded in this program ([`register_library`]).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use thiserror::Error;

use crate::embedded_agent;
use crate::error_text;
use crate::target::Target;

pub use crate::embedded_agent::{RejectedDirectories, RejectedDirectory, register_library};

/// The file name of the library.
pub const AGENT_FILE_NAME: &str = "libveneer_agent.so";

/// Why the library was not found. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), Some(self.remedy())))]
pub enum AgentError {
    /// The environment variable VENEER_AGENT does not name a file.
    BadVariable(PathBuf),
    /// The library is neither in one of these directories nor embedded in this program.
    Missing(Vec<PathBuf>),
    /// The library is embedded in this program, but cannot be written to any directory from which
    /// a JVM could load it.
    NoPlace(RejectedDirectories),
}

impl AgentError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            AgentError::BadVariable(path) => format!(
                "VENEER_AGENT is {}, which is no readable file",
                path.display()
            ),
            AgentError::Missing(directories) => {
                let names: Vec<String> = directories
                    .iter()
                    .map(|directory| directory.display().to_string())
                    .collect();
                format!(
                    "the agent library is missing: there is no {AGENT_FILE_NAME} in {}",
                    names.join(" or ")
                )
            }
            AgentError::NoPlace(rejected) => format!(
                "the agent that is part of this command cannot be put where a JVM finds it: {rejected}"
            ),
        }
    }

    /// An action of the user that solves the problem.
    pub fn remedy(&self) -> &'static str {
        match self {
            AgentError::BadVariable(_) => "correct or unset it",
            AgentError::Missing(_) => "build it with `make build` or set VENEER_AGENT",
            AgentError::NoPlace(_) => {
                "set XDG_CACHE_HOME to a directory of yours, or VENEER_AGENT to the library"
            }
        }
    }
}

/// The absolute path of the agent library for JVMs of this user. Writes the embedded library to a
/// file if there is no other one.
pub fn find() -> Result<PathBuf, AgentError> {
    match (find_file(), embedded_agent::library()) {
        (Err(AgentError::Missing(_)), Some(library)) => {
            embedded_agent::file_for_own_user(library).map_err(AgentError::NoPlace)
        }
        (found, _) => found,
    }
}

/// The absolute path of the agent library for this JVM.
///
/// If only the embedded library exists, or if the JVM has a file system of its own without the
/// library, the function writes the library to a file that this JVM can read. The path is valid in
/// the JVM's own file system.
pub fn find_for(target: &Target) -> Result<PathBuf, AgentError> {
    match (find_file(), embedded_agent::library()) {
        (Err(AgentError::Missing(_)), Some(library)) => {
            let us = geteuid().as_raw();
            let own = (us == target.uid).then(|| embedded_agent::file_for_own_user(library));
            match own {
                Some(Ok(path)) if target.path_from_here(&path).exists() => Ok(path),
                _ => embedded_agent::file_for_target(library, target).map_err(AgentError::NoPlace),
            }
        }
        (Ok(path), _) => Ok(in_file_system_of(target, &path).unwrap_or(path)),
        (found, _) => found,
    }
}

/// The path of a copy of the library in the JVM's own file system, if this lacks the library. `None`
/// if no copy is needed or possible.
fn in_file_system_of(target: &Target, library: &Path) -> Option<PathBuf> {
    if target.path_from_here(library).exists() {
        return None;
    }
    let bytes = fs::read(library).ok()?;
    embedded_agent::file_for_target(&bytes, target).ok()
}

fn find_file() -> Result<PathBuf, AgentError> {
    let executable = env::current_exe().and_then(fs::canonicalize).ok();
    let executable_directory = executable.as_deref().and_then(Path::parent);
    find_in(
        env::var_os("VENEER_AGENT").map(PathBuf::from),
        executable_directory,
    )
}

fn find_in(
    variable: Option<PathBuf>,
    executable_directory: Option<&Path>,
) -> Result<PathBuf, AgentError> {
    if let Some(path) = variable.filter(|path| !path.as_os_str().is_empty()) {
        return match fs::canonicalize(&path) {
            Ok(found) if found.is_file() => Ok(found),
            _ => Err(AgentError::BadVariable(path)),
        };
    }
    let directories: Vec<PathBuf> = executable_directory
        .map(|bin| vec![bin.to_owned(), bin.join("../lib/veneer")])
        .unwrap_or_default();
    directories
        .iter()
        .filter_map(|directory| fs::canonicalize(directory.join(AGENT_FILE_NAME)).ok())
        .find(|path| path.is_file())
        .ok_or(AgentError::Missing(directories))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_has_precedence_over_the_searched_directories() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let bin = root.join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(root.join("lib/veneer")).unwrap();
        let error = find_in(None, Some(&bin)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{}; {}", error.problem(), error.remedy())
        );
        assert!(error.remedy().contains("make build"), "{error}");

        let installed = root.join("lib/veneer").join(AGENT_FILE_NAME);
        fs::write(&installed, "").unwrap();
        assert_eq!(find_in(None, Some(&bin)).unwrap(), installed);
        let built = bin.join(AGENT_FILE_NAME);
        fs::write(&built, "").unwrap();
        assert_eq!(find_in(None, Some(&bin)).unwrap(), built);

        let other = root.join("other.so");
        let missing = find_in(Some(other.clone()), Some(&bin)).unwrap_err();
        assert!(matches!(&missing, AgentError::BadVariable(path) if *path == other));
        fs::write(&other, "").unwrap();
        assert_eq!(find_in(Some(other.clone()), Some(&bin)).unwrap(), other);
    }
}
