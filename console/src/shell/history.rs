//! Where the shell's history is kept: in the user's state directory (`$XDG_STATE_HOME`, else `~/.local/state`).

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where it is to be; none for a user without a home.
pub fn path() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        // The standard says of others that they are to be ignored.
        path.is_absolute().then_some(path)
    };
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("veneer/history"))
}

/// Makes the directory in which it is.
pub fn prepare(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => DirBuilder::new().recursive(true).mode(0o700).create(parent),
        None => Ok(()),
    }
}
