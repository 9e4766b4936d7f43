//! The file with the shell's history, in the user's state directory (`$XDG_STATE_HOME`, else
//! `~/.local/state`).

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Returns the path of the history file, or `None` if the user has no home directory.
pub fn path() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        // The XDG specification says that relative paths are invalid and must be ignored.
        path.is_absolute().then_some(path)
    };
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("veneer/history"))
}

/// Creates the directory of the history file, readable by its owner only.
pub fn prepare(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => DirBuilder::new().recursive(true).mode(0o700).create(parent),
        None => Ok(()),
    }
}
