//! Modules: other files of a plan, which the plan imports.
//!
//! ```text
//!   file                   import                        module      file of the module
//!   plans/hot.rhai         import "lib/desks" as desks;  lib/desks   plans/lib/desks.rhai
//!   plans/lib/desks.rhai   import "text" as text;        lib/text    plans/lib/text.rhai
//! ```
//!
//! The command that sends a plan reads the plan's modules and sends them too. The agent, which runs
//! the plan, opens no file.

use crate::parser_engine;
use rhai::{Expr, Stmt};

/// The reason why an import path is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The path begins with `/`.
    #[error("import of `{0}`: an absolute path; a module lies in the plan's directory")]
    Absolute(String),
    /// `..` leads out of the plan's directory.
    #[error("import of `{0}`: this leads out of the plan's directory, where modules lie")]
    Outside(String),
    /// The path is a directory, is empty, or contains control characters.
    #[error("import of `{0}`: this names no file")]
    NoFile(String),
}

/// Resolves `import "path"` in the module `from`; the plan itself is `""`. The result is the
/// module's path from the plan's directory, without `.rhai`.
///
/// # Errors
/// The path is absolute, leads out of the plan's directory, or names no file.
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
    /// The path as it is written.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// Returns the imports of a text, in order. If the text has a syntax error, the result is empty,
/// because the later compilation reports the error.
pub fn imports(source: &str) -> Vec<Import> {
    let mut engine = parser_engine::new();
    // An input at a prompt may use variables that other inputs have declared.
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
    fn paths_are_relative_to_the_plan_s_directory() {
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
    fn imports_are_found_with_their_positions() {
        let found = imports("import \"a\" as a;\n  import \"b/c\" as c;\nlet x = y;");
        let found: Vec<_> = found
            .iter()
            .map(|i| (i.path.as_str(), i.line, i.column))
            .collect();
        assert_eq!(found, [("a", 1, 8), ("b/c", 2, 10)]);
        assert_eq!(imports("import \"a\" as"), []);
    }
}
