//! The cache folder of this user, by the rules of the XDG base directories.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

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
