//! Modules: other files of a plan, which it names with `import`.
//!
//! ```text
//!   plans/hot.rhai           import "lib/desks" as desks;      module lib/desks      plans/lib/desks.rhai
//!   plans/lib/desks.rhai     import "text" as text;            module lib/text       plans/lib/text.rhai
//! ```
//!
//! Who sends a plan reads its modules and sends them along; where the plan runs no file is opened.

use crate::engine;
use rhai::{Expr, Stmt};

/// Why no module can be named so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It begins with `/`.
    #[error("import of `{0}`: an absolute path; a module lies in the plan's directory")]
    Absolute(String),
    /// `..` leads above the plan's directory.
    #[error("import of `{0}`: this leads out of the plan's directory, where modules lie")]
    Outside(String),
    /// A directory, nothing, or characters that no name should have.
    #[error("import of `{0}`: this names no file")]
    NoFile(String),
}

/// The module that `import "path"` in the module `from` means; the plan itself is `""`. A module is called by its path from the plan's
/// directory, without `.rhai`.
///
/// # Errors
/// Where the path leads nowhere that a module may lie.
pub fn resolve(from: &str, path: &str) -> Result<String, ImportError> {
    if path.starts_with('/') {
        return Err(ImportError::Absolute(path.to_owned()));
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => {
                return Err(ImportError::Outside(path.to_owned()));
            }
            ".." => {}
            name => parts.push(name),
        }
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    if matches!(last, "" | "." | ".." | ".rhai") || path.chars().any(char::is_control) {
        return Err(ImportError::NoFile(path.to_owned()));
    }
    let key = parts.join("/");
    Ok(key.strip_suffix(".rhai").unwrap_or(&key).to_owned())
}

/// An `import` in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// As it is written.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// In characters from 1.
    pub column: usize,
}

/// What a text imports, in order; nothing where it cannot be read, since reading it says so better.
pub fn imports(source: &str) -> Vec<Import> {
    let mut engine = engine::for_reading();
    // A prompt has variables that are not declared in this text.
    engine.set_strict_variables(false);
    let Ok(tree) = engine.compile(source) else {
        return Vec::new();
    };
    let import = |one: &Stmt| match one {
        Stmt::Import(import, _) => match &import.0 {
            Expr::StringConstant(path, position) => Some(Import {
                path: path.to_string(),
                line: position.line().unwrap_or(0),
                column: position.position().unwrap_or(0),
            }),
            _ => None,
        },
        _ => None,
    };
    tree.statements().iter().filter_map(import).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_from_the_plan_s_directory() {
        for (from, path, key) in [
            ("", "lib/desks", "lib/desks"),
            ("", "./lib//desks.rhai", "lib/desks"),
            ("lib/desks", "text", "lib/text"),
            ("lib/desks", "../text", "text"),
            ("a/b/c", "../../d", "d"),
        ] {
            assert_eq!(resolve(from, path).as_deref(), Ok(key), "{from} {path}");
        }
        for (from, path) in [("", "../x"), ("lib/desks", "../../x"), ("", "a/../../x")] {
            let error = resolve(from, path);
            assert_eq!(error, Err(ImportError::Outside(path.to_owned())));
        }
        assert_eq!(
            resolve("", "/etc/passwd"),
            Err(ImportError::Absolute("/etc/passwd".to_owned()))
        );
        for path in ["", "a/", "..", "a/..", ".rhai", "a\nb"] {
            assert!(resolve("lib/x", path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn imports_are_found_with_their_places() {
        let found = imports("import \"a\" as a;\n  import \"b/c\" as c;\nlet x = y;");
        let found: Vec<_> = found
            .iter()
            .map(|i| (i.path.as_str(), i.line, i.column))
            .collect();
        assert_eq!(found, [("a", 1, 8), ("b/c", 2, 10)]);
        assert_eq!(imports("import \"a\" as"), []);
    }
}
