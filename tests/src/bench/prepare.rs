//! Prepares programs: downloads jars and compiles sources.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::folder::{Folder, files, workspace};
use crate::jars::jars;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

/// A compiled program with its jars.
#[derive(Debug)]
pub struct Compiled {
    folder: Folder,
    jars: Vec<PathBuf>,
}

impl Compiled {
    /// Downloads the jars, and compiles sources (files or folders in the workspace) with all debug
    /// tables.
    pub fn new(jdk: &Jdk, sources: &[&str], names: &[&str]) -> Result<Self, TrustError> {
        Self::with_options(jdk, sources, names, &[])
    }

    /// Like [`Compiled::new`], with more options for `javac`.
    pub fn with_options(
        jdk: &Jdk,
        sources: &[&str],
        names: &[&str],
        options: &[&str],
    ) -> Result<Self, TrustError> {
        let compiled = Self {
            folder: Folder::new("bench")?,
            jars: jars(names)?,
        };
        let mut all = Vec::new();
        for source in sources {
            let path = workspace().join(source);
            if path.is_dir() {
                all.extend(files(&path, "java")?);
            } else {
                all.push(path);
            }
        }
        std::fs::create_dir_all(compiled.classes())?;
        Process::new(jdk.tool("javac"))
            .args(["-g", "-nowarn", "-Xlint:-options", "-proc:none"])
            .args(options)
            .arg("-d")
            .arg(compiled.classes())
            .arg("-cp")
            .arg(compiled.class_path(&[]))
            .args(&all)
            .run()?
            .succeeded("javac")?;
        Ok(compiled)
    }

    /// The folder of the class files.
    pub fn classes(&self) -> PathBuf {
        self.folder.join("classes")
    }

    /// The folder of the generated sources.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// A path in the temporary folder, which is removed with this value.
    pub fn join(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The class path: `before`, the classes of the program, its jars.
    pub fn class_path(&self, before: &[&Path]) -> OsString {
        let mut path: Vec<PathBuf> = before.iter().map(|p| p.to_path_buf()).collect();
        path.push(self.classes());
        path.extend(self.jars.iter().cloned());
        // A path that contains a colon cannot be joined. The JVM then reports the missing classes.
        std::env::join_paths(&path).unwrap_or_default()
    }
}

/// Writes a plan to a file, and returns the options that name it.
pub fn plan(file: &Path, text: &str) -> Result<Vec<String>, TrustError> {
    std::fs::write(file, text)?;
    Ok(vec!["--plan".into(), file.to_string_lossy().into_owned()])
}
