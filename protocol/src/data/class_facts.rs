//! The facts about armed classes that a reader needs to find the method of a virtual call: their
//! supertypes and methods.
//!
//! ```text
//!   DIR/<pid>          data directory of the JVM
//!   DIR/<pid>-classes  one class per line, as JSON; written when the class is prepared
//! ```
//!
//! The file is beside the data directory, because the agent removes the directory when the JVM ends.
//! A JVM that is killed leaves at most an incomplete last line.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::beside::{directories_with, path_beside, read_lines};

/// The end of the name of a file with class facts.
const SUFFIX: &str = "-classes";

/// An armed class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassFacts {
    /// The class with dots.
    pub name: String,
    /// All superclasses and superinterfaces, direct and indirect, with dots.
    pub supertypes: BTreeSet<String>,
    /// The flags of the class, as words of patterns.
    pub flags: BTreeSet<String>,
    /// The methods that a call can run: those with code, and native ones.
    pub methods: Vec<MethodFacts>,
}

/// A method of an armed class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodFacts {
    /// Name and descriptor: `m(I)I`.
    pub method: String,
    /// The size of the bytecode in bytes; 0 for a native method.
    pub size: u32,
    /// The flags of the method, as words of patterns.
    pub flags: BTreeSet<String>,
    /// Whether the method is native.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub native: bool,
}

/// The classes in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedClasses {
    /// The classes in the order in which they were prepared. A class that was redefined occurs
    /// several times; the last one is valid.
    pub classes: Vec<ClassFacts>,
    /// The number of lines that are no class.
    pub damaged_lines: usize,
}

/// The file with the class facts of the JVM whose data directory is `own`.
pub fn class_facts_path(own: &Path) -> PathBuf {
    path_beside(own, SUFFIX)
}

/// The data directories below `root` whose JVMs have written class facts, sorted by name. The
/// directories themselves may be removed already.
pub fn directories_with_class_facts(root: &Path) -> Vec<PathBuf> {
    directories_with(root, SUFFIX)
}

/// Reads the class facts of the JVM whose data directory is `own`.
///
/// # Errors
/// The file cannot be read.
pub fn read_class_facts(own: &Path) -> io::Result<RecordedClasses> {
    let (classes, damaged_lines) = read_lines(&class_facts_path(own))?;
    Ok(RecordedClasses {
        classes,
        damaged_lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_line_that_was_cut_is_counted_and_the_others_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("4711.1");
        let class = ClassFacts {
            name: "ä.B$C".into(),
            supertypes: BTreeSet::from(["java.lang.Object".into()]),
            flags: BTreeSet::from(["final".into()]),
            methods: vec![MethodFacts {
                method: "m(I)I".into(),
                size: 5,
                flags: BTreeSet::new(),
                native: true,
            }],
        };
        let line = serde_json::to_string(&class).unwrap();
        let cut = &line[..line.len() - 3];
        fs::write(class_facts_path(&own), format!("{line}\n{line}\n{cut}")).unwrap();
        fs::write(directory.path().join("agent.json"), "{}").unwrap();
        assert_eq!(
            directories_with_class_facts(directory.path()),
            std::slice::from_ref(&own)
        );
        let recorded = read_class_facts(&own).unwrap();
        assert_eq!(recorded.classes, [class.clone(), class]);
        assert_eq!(recorded.damaged_lines, 1);
        assert!(read_class_facts(directory.path()).is_err());
    }
}
