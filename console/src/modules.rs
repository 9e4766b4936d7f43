//! Reads the modules that a plan imports, and the modules that these import. The agent opens no
//! files, so the modules are sent together with the plan.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use veneer_scripts::limits::{MAX_MODULE_BYTES, MAX_MODULES};
use veneer_scripts::modules::{Import, ImportError, imports, resolve};

/// Why a module cannot be read. `place` is the position of its import.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// The path of the module is not allowed.
    #[error("{place}: {source}")]
    Import {
        /// File, line and column.
        place: String,
        source: ImportError,
    },
    #[error("{place}: the module {path} cannot be read: {source}; check its name and permissions", path = .path.display())]
    Unreadable {
        /// File, line and column.
        place: String,
        /// The module's file.
        path: PathBuf,
        source: io::Error,
    },
    /// The file is not Rhai source text.
    #[error("{place}: the module {path} is {what}, not Rhai source text; check its name", path = .path.display())]
    NotText {
        /// File, line and column.
        place: String,
        /// The module's file.
        path: PathBuf,
        /// A description of the file, such as `a directory`.
        what: &'static str,
    },
    /// The file is a link to a file outside the plan's directory.
    #[error("{place}: the module {path} is a link that leads out of the plan's directory, where modules lie", path = .path.display())]
    Elsewhere {
        /// File, line and column.
        place: String,
        /// The module's file.
        path: PathBuf,
    },
    /// Modules import each other.
    #[error("{place}: modules import each other in a circle: {circle}")]
    Circle {
        /// File, line and column.
        place: String,
        /// The names of the modules in the cycle.
        circle: String,
    },
    #[error("{place}: a plan has at most {MAX_MODULES} modules; put some of them together")]
    TooMany {
        /// File, line and column.
        place: String,
    },
    #[error("{place}: the modules of a plan have at most {MAX_MODULE_BYTES} bytes in all")]
    TooLarge {
        /// File, line and column.
        place: String,
    },
}

/// Reads all modules that a source text imports, directly or indirectly. The result is indexed by
/// the modules' paths. `name` is the file of the source text, for error messages. The modules are
/// below `directory`; an empty path means the current directory.
pub fn read(
    directory: &Path,
    name: &str,
    source: &str,
) -> Result<BTreeMap<String, String>, ModuleError> {
    let mut reader = Reader {
        directory,
        open: Vec::new(),
        bytes: 0,
        read: BTreeMap::new(),
    };
    reader.follow("", name, source)?;
    Ok(reader.read)
}

struct Reader<'a> {
    directory: &'a Path,
    /// Modules on the path from the plan to the current import.
    open: Vec<String>,
    bytes: u64,
    read: BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Reads the modules that the module `from` imports. `source` is its text.
    fn follow(&mut self, from: &str, name: &str, source: &str) -> Result<(), ModuleError> {
        for Import { path, line, column } in imports(source) {
            let place = format!("{name}:{line}:{column}");
            let key = match resolve(from, &path) {
                Ok(key) => key,
                Err(source) => return Err(ModuleError::Import { place, source }),
            };
            if let Some(at) = self.open.iter().position(|open| *open == key) {
                let mut circle = self.open.split_off(at);
                circle.push(key);
                let circle = circle.join(" imports ");
                return Err(ModuleError::Circle { place, circle });
            }
            if self.read.contains_key(&key) {
                continue;
            }
            if self.read.len() >= MAX_MODULES {
                return Err(ModuleError::TooMany { place });
            }
            let file = self.directory.join(format!("{key}.rhai"));
            let text = self.text(place, &file)?;
            self.read.insert(key.clone(), text.clone());
            self.open.push(key.clone());
            self.follow(&key, &file.display().to_string(), &text)?;
            self.open.pop();
        }
        Ok(())
    }

    fn text(&mut self, place: String, file: &Path) -> Result<String, ModuleError> {
        let path = file.to_owned();
        let here = match self.directory.as_os_str().is_empty() {
            true => Path::new("."),
            false => self.directory,
        };
        let real = fs::canonicalize(here).and_then(|here| {
            let real = fs::canonicalize(file)?;
            let meta = fs::metadata(&real)?;
            Ok((real.starts_with(here), real, meta))
        });
        let (inside, real, meta) = match real {
            Ok(found) => found,
            Err(source) => {
                return Err(ModuleError::Unreadable {
                    place,
                    path,
                    source,
                });
            }
        };
        if !inside {
            return Err(ModuleError::Elsewhere { place, path });
        }
        if !meta.is_file() {
            let what = "no file";
            return Err(ModuleError::NotText { place, path, what });
        }
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MAX_MODULE_BYTES as u64 {
            return Err(ModuleError::TooLarge { place });
        }
        match fs::read(real).map(String::from_utf8) {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(_)) => {
                let what = "no UTF-8 text";
                Err(ModuleError::NotText { place, path, what })
            }
            Err(source) => Err(ModuleError::Unreadable {
                place,
                path,
                source,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a directory with these files.
    fn files(all: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in all {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        directory
    }

    #[test]
    fn modules_of_modules_are_read_once() {
        let lib = files(&[
            ("lib/desks.rhai", "import \"text\" as t;"),
            ("lib/text.rhai", "fn f() { 1 }"),
            ("unused.rhai", ""),
        ]);
        let plan = "import \"lib/desks\" as d;\nimport \"lib/text.rhai\" as t;";
        let read = read(lib.path(), "p.rhai", plan).unwrap();
        let keys: Vec<&str> = read.keys().map(String::as_str).collect();
        assert_eq!(keys, ["lib/desks", "lib/text"]);
        assert_eq!(read["lib/text"], "fn f() { 1 }");
    }

    #[test]
    fn errors_contain_the_position_of_the_import() {
        let lib = files(&[
            ("a.rhai", "import \"b\" as b;"),
            ("b.rhai", "let x = 1;\nimport \"a\" as a;"),
            ("large.rhai", &" ".repeat(MAX_MODULE_BYTES + 1)),
            ("dir.rhai/x.rhai", ""),
        ]);
        let other = files(&[("x.rhai", "")]);
        std::os::unix::fs::symlink(other.path().join("x.rhai"), lib.path().join("link.rhai"))
            .unwrap();
        fs::write(lib.path().join("bytes.rhai"), [0xff, 0xfe]).unwrap();
        for n in 0..=MAX_MODULES {
            fs::write(lib.path().join(format!("m{n}.rhai")), "").unwrap();
        }
        let many: String = (0..=MAX_MODULES)
            .map(|n| format!("import \"m{n}\" as m{n};\n"))
            .collect();
        for (plan, expected) in [
            ("import \"none\" as n;", "p.rhai:1:8: the module "),
            (
                "import \"none\" as n;",
                "none.rhai cannot be read: No such file",
            ),
            (
                "\n import \"../x\" as x;",
                "p.rhai:2:9: import of `../x`: this leads out",
            ),
            ("import \"/etc/passwd\" as x;", "an absolute path"),
            (
                "import \"link\" as x;",
                "link.rhai is a link that leads out",
            ),
            ("import \"bytes\" as x;", "no UTF-8 text"),
            ("import \"dir\" as x;", "is no file"),
            ("import \"large\" as x;", "at most 1048576 bytes in all"),
            (
                "import \"a\" as a;",
                "b.rhai:2:8: modules import each other in a circle: a imports b imports a",
            ),
            (&many, "p.rhai:33:8: a plan has at most 32 modules"),
        ] {
            let error = read(lib.path(), "p.rhai", plan).unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
