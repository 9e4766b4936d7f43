//! The folder of the class cache: its path, by the rules of the XDG base directories, and whether it can
//! be used.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use veneer_class_cache::{CacheFolder, CacheUse, DEFAULT_MAX_BYTES, FolderFault};

/// The folder of the class cache: `$XDG_CACHE_HOME/veneer`, else `~/.cache/veneer`. `None` if neither
/// variable is an absolute path.
pub fn cache_folder() -> Option<PathBuf> {
    folder_for(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
}

fn folder_for(cache_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    // The specification says that a relative path is ignored.
    let cache_home = cache_home.and_then(absolute);
    let parent = cache_home.or_else(|| Some(home.and_then(absolute)?.join(".cache")))?;
    Some(parent.join("veneer"))
}

/// The state of the cache folder.
pub(crate) struct CacheDiagnosis {
    /// The observed fact or the problem.
    pub(crate) found: String,
    /// The action of the user that solves the problem. `None` if there is no problem.
    pub(crate) remedy: Option<String>,
}

/// Checks that armed classes can be kept in the cache folder from one start of a program to the
/// next.
pub(crate) fn diagnose_cache(folder: Option<&Path>) -> CacheDiagnosis {
    let state = |found: String, remedy: Option<&str>| CacheDiagnosis {
        found,
        remedy: remedy.map(str::to_owned),
    };
    let Some(path) = folder else {
        return state(
            "none: neither XDG_CACHE_HOME nor HOME is an absolute path".into(),
            Some("set XDG_CACHE_HOME to a folder of this user, so that programs start faster"),
        );
    };
    let folder = match CacheFolder::open_existing(path) {
        Ok(folder) => folder,
        Err(FolderFault::Unusable { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return state(
                format!("{}, which is made when needed", path.display()),
                None,
            );
        }
        Err(fault) => {
            let remedy = match &fault {
                FolderFault::Unusable { .. } => "make the folder accessible to this user",
                FolderFault::NoFolder { .. } => "remove it; the folder is made anew",
                FolderFault::OtherOwner { .. } => {
                    "set XDG_CACHE_HOME to a folder of this user; users do not share a cache"
                }
                FolderFault::WritableByOthers { .. } => "chmod 700 the folder",
            };
            let remedy = format!("{remedy}; until then no class is cached");
            return state(fault.to_string(), Some(&remedy));
        }
    };
    let CacheUse {
        segments,
        partial,
        bytes,
    } = folder.measure();
    let files = segments + partial;
    let found = format!(
        "{files} files with {} MB in {}",
        bytes >> 20,
        path.display()
    );
    if access(path, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        return state(
            format!("{found}, which cannot be written to"),
            Some("make the folder writable; until then no class is added"),
        );
    }
    let free = statvfs(path).map(|system| system.f_bavail.saturating_mul(system.f_frsize));
    match free {
        Ok(free) if free < DEFAULT_MAX_BYTES.saturating_sub(bytes) => state(
            format!("{found}, with {} MB free", free >> 20),
            Some("make room; classes that find none are armed anew at each start"),
        ),
        _ => state(found, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_follows_the_xdg_rules() {
        let folder = |cache: Option<&str>, home: Option<&str>| {
            folder_for(cache.map(Into::into), home.map(Into::into))
                .map(|path| path.display().to_string())
        };
        let home = Some("/home/a");
        assert_eq!(folder(Some("/c"), home), Some("/c/veneer".into()));
        assert_eq!(folder(None, home), Some("/home/a/.cache/veneer".into()));
        assert_eq!(
            folder(Some("c"), home),
            Some("/home/a/.cache/veneer".into())
        );
        assert_eq!(folder(Some(""), Some("")), None);
        assert_eq!(folder(None, None), None);
    }
}
