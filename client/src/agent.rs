//! Where the agent library lies: `$VENEER_AGENT`, beside the `veneer` executable, in `../lib/veneer` as an installation
//! has it, or inside the program ([`carry`]).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::carried;
use crate::target::Target;

pub use crate::carried::carry;

/// The file name of the library.
pub const LIBRARY: &str = "libveneer_agent.so";

/// Why the library was not found.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AgentError {
    /// VENEER_AGENT names no file.
    #[error("VENEER_AGENT is {0}, which is no readable file; correct or unset it")]
    BadVariable(PathBuf),
    /// It is in none of the usual places.
    #[error(
        "the agent library is missing: there is no {LIBRARY} in {0}; build it with `make build` or set VENEER_AGENT"
    )]
    Missing(String),
    /// The program has it inside and finds no place for it.
    #[error(
        "the agent that is part of this command cannot be put where a JVM finds it: {0}; set XDG_CACHE_HOME to a directory of yours, or VENEER_AGENT to the library"
    )]
    NoPlace(String),
}

/// The absolute path of the agent library, for JVMs of our own user.
pub fn find() -> Result<PathBuf, AgentError> {
    match (find_file(), carried::library()) {
        (Err(AgentError::Missing(_)), Some(library)) => {
            carried::for_ourselves(library).map_err(AgentError::NoPlace)
        }
        (found, _) => found,
    }
}

/// The absolute path of the agent library, as this JVM sees it where the library is part of this program.
pub fn find_for(target: &Target) -> Result<PathBuf, AgentError> {
    match (find_file(), carried::library()) {
        (Err(AgentError::Missing(_)), Some(library)) => {
            // SAFETY: always succeeds.
            let us = unsafe { libc::geteuid() };
            let own = (us == target.uid).then(|| carried::for_ourselves(library));
            match own {
                Some(Ok(path)) if target.reach(&path).exists() => Ok(path),
                _ => carried::for_target(library, target).map_err(AgentError::NoPlace),
            }
        }
        (found, _) => found,
    }
}

fn find_file() -> Result<PathBuf, AgentError> {
    let executable = env::current_exe().and_then(fs::canonicalize).ok();
    let beside = executable.as_deref().and_then(Path::parent);
    find_in(env::var_os("VENEER_AGENT").map(PathBuf::from), beside)
}

fn find_in(variable: Option<PathBuf>, beside: Option<&Path>) -> Result<PathBuf, AgentError> {
    if let Some(path) = variable.filter(|path| !path.as_os_str().is_empty()) {
        return match fs::canonicalize(&path) {
            Ok(found) if found.is_file() => Ok(found),
            _ => Err(AgentError::BadVariable(path)),
        };
    }
    let places: Vec<PathBuf> = beside
        .map(|bin| vec![bin.to_owned(), bin.join("../lib/veneer")])
        .unwrap_or_default();
    places
        .iter()
        .filter_map(|place| fs::canonicalize(place.join(LIBRARY)).ok())
        .find(|path| path.is_file())
        .ok_or_else(|| {
            let names: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
            AgentError::Missing(names.join(" or "))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_then_the_neighbours() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let bin = root.join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(root.join("lib/veneer")).unwrap();
        let error = find_in(None, Some(&bin)).unwrap_err();
        assert!(error.to_string().contains("make build"), "{error}");

        let installed = root.join("lib/veneer").join(LIBRARY);
        fs::write(&installed, "").unwrap();
        assert_eq!(find_in(None, Some(&bin)), Ok(installed));
        let built = bin.join(LIBRARY);
        fs::write(&built, "").unwrap();
        assert_eq!(find_in(None, Some(&bin)), Ok(built));

        let other = root.join("other.so");
        let missing = find_in(Some(other.clone()), Some(&bin)).unwrap_err();
        assert_eq!(missing, AgentError::BadVariable(other.clone()));
        fs::write(&other, "").unwrap();
        assert_eq!(find_in(Some(other.clone()), Some(&bin)), Ok(other));
    }
}
