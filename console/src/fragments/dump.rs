//! Writes the class files of armed classes and of versions into a directory.
//!
//! ```text
//!   DIR/original/com/shop/Pricing.class                    from which the armed class was made
//!   DIR/armed/com/shop/Pricing.class                       as the JVM runs it
//!   DIR/version/com/shop/Pricing.factor.3.enter.class      of the selected method 3, for new calls
//!   DIR/version/com/shop/Pricing.factor.3.resume.class     for running calls
//! ```

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use veneer_protocol::ClassCode;

/// The directory, and the files that were written.
pub(super) struct Dump<'d> {
    directory: &'d Path,
    written: HashSet<PathBuf>,
}

impl<'d> Dump<'d> {
    pub(super) fn new(directory: &'d Path) -> Self {
        Dump {
            directory,
            written: HashSet::new(),
        }
    }

    /// The number of files so far.
    pub(super) fn count(&self) -> usize {
        self.written.len()
    }

    /// Writes the files of a class.
    pub(super) fn write(&mut self, code: &ClassCode) -> Result<()> {
        let class = class_path(&code.class);
        self.file("original", &class, &code.original)?;
        self.file("armed", &class, &code.armed)?;
        for (number, method) in code.methods.iter().enumerate() {
            let name = method.method.split('(').next().unwrap_or_default();
            for (kind, version) in [("enter", &method.enter), ("resume", &method.resume)] {
                if let Some(version) = version {
                    let file = format!("{class}.{}.{number}.{kind}", file_name(name));
                    self.file("version", &file, &version.bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a file. Classes of one name from several class loaders get numbers.
    fn file(&mut self, kind: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let numbered = |number: usize| match number {
            1 => format!("{name}.class"),
            _ => format!("{name}.{number}.class"),
        };
        let paths = (1..).map(|number| self.directory.join(kind).join(numbered(number)));
        let mut free = paths.filter(|path| !self.written.contains(path));
        let path = free.next().unwrap_or_default();
        let folder = path.parent().unwrap_or(self.directory);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, bytes));
        written.with_context(|| format!("{} cannot be written", path.display()))?;
        self.written.insert(path);
        Ok(())
    }
}

/// The path of a class below the directory, without the suffix. The names come from another process,
/// so each part becomes a plain file name.
fn class_path(dotted: &str) -> String {
    let parts: Vec<String> = dotted.split('.').map(file_name).collect();
    parts.join("/")
}

fn file_name(part: &str) -> String {
    let plain = part.replace(|c: char| c == '/' || c == '\\' || c.is_control(), "_");
    match plain.as_str() {
        "" | "." | ".." => "_".to_owned(),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::{MethodCode, VersionFile};

    fn code(class: &str) -> ClassCode {
        let version = VersionFile {
            body: "m".into(),
            bytes: vec![3],
        };
        ClassCode {
            class: class.into(),
            original: vec![1],
            armed: vec![2],
            methods: vec![MethodCode {
                method: "<init>(Ljava/lang/String;)V".into(),
                enter: Some(version),
                resume: None,
            }],
        }
    }

    #[test]
    fn each_kind_of_class_file_has_a_folder() {
        let directory = tempfile::tempdir().unwrap();
        let mut dump = Dump::new(directory.path());
        dump.write(&code("a.B$C")).unwrap();
        dump.write(&code("a.B$C")).unwrap();
        assert_eq!(dump.count(), 6);
        let read = |name: &str| fs::read(directory.path().join(name)).unwrap();
        assert_eq!(read("original/a/B$C.class"), [1]);
        assert_eq!(read("armed/a/B$C.2.class"), [2]);
        assert_eq!(read("version/a/B$C.<init>.0.enter.class"), [3]);
    }

    #[test]
    fn names_do_not_leave_the_directory() {
        assert_eq!(class_path("a.B"), "a/B");
        // Dots separate the parts, so none is left in a part.
        assert_eq!(class_path("../../etc.x"), "_/_/_/_/_etc/x");
        assert_eq!(class_path("a/../b"), "a_/_/_b");
    }
}
