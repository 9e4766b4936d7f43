//! Programs made ready: jars fetched, sources compiled, a tree generated for those that compile.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::workload::Workload;
use super::{TrustError, other};
use crate::folder::{Folder, files, workspace};
use crate::generator::generate;
use crate::jars::jars;
use crate::jdk::Jdk;
use crate::process::Process;

/// Source files of the tree that compilers compile.
const TREE: usize = 40;

/// A program that is compiled.
#[derive(Debug)]
pub struct Compiled {
    folder: Folder,
    jars: Vec<PathBuf>,
}

impl Compiled {
    /// Fetches the jars and compiles sources (files or folders in the workspace) with all debug tables.
    pub fn of(jdk: &Jdk, sources: &[&str], names: &[&str]) -> Result<Self, TrustError> {
        Self::with(jdk, sources, names, &[])
    }

    /// The same with more options of `javac`.
    pub fn with(
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

    /// A workload, compiled.
    pub fn workload(jdk: &Jdk, workload: &Workload) -> Result<Self, TrustError> {
        let compiled = Self::of(jdk, workload.sources, workload.jars)?;
        if workload.sources.iter().any(|s| s.contains("javacloop")) {
            generate(TREE, &compiled.tree())?;
        }
        Ok(compiled)
    }

    /// Where the class files are.
    pub fn classes(&self) -> PathBuf {
        self.folder.join("classes")
    }

    /// The generated sources.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// A file or folder that goes away with the program.
    pub fn join(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Some entries, its classes, its jars.
    pub fn class_path(&self, before: &[&Path]) -> OsString {
        let mut path: Vec<PathBuf> = before.iter().map(|p| p.to_path_buf()).collect();
        path.push(self.classes());
        path.extend(self.jars.iter().cloned());
        // Only a path with a colon in it cannot be joined; then the JVM says what it misses.
        std::env::join_paths(&path).unwrap_or_default()
    }
}

/// Writes a plan, and gives the options that name it.
pub fn plan(file: &Path, text: &str) -> Result<Vec<String>, TrustError> {
    std::fs::write(file, text).map_err(other)?;
    Ok(vec!["--plan".into(), file.to_string_lossy().into_owned()])
}
