//! The JDKs that the tests run on: 17 and the newest one that is installed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::{LIMIT, Process, ProcessError};

/// An installed JDK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    home: PathBuf,
    major: u32,
}

impl std::fmt::Display for Jdk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JDK {}", self.major)
    }
}

impl Jdk {
    /// Reads the version from the file `release` in the home of a JDK. `None` where there is no compiler or
    /// no version.
    pub fn at(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        if !home.join("bin/javac").is_file() || !home.join("bin/java").is_file() {
            return None;
        }
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
        let major = version
            .trim_matches('"')
            .split(['.', '-', '+'])
            .next()?
            .parse()
            .ok()?;
        Some(Self { home, major })
    }

    /// The feature version: 17, 25.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// The folder that holds `bin`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The path of a launcher: `java`, `javac`, `javap`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Compiles sources with `-g` into a folder.
    pub fn compile(&self, sources: &[PathBuf], into: &Path) -> Result<(), ProcessError> {
        Process::new(self.tool("javac"))
            .args(["-g", "-Xlint:-options", "-nowarn", "-d"])
            .arg(into)
            .args(sources)
            .limit(LIMIT + Duration::from_millis(100) * sources.len() as u32)
            .run()?
            .succeeded("javac")?;
        Ok(())
    }
}

/// All JDKs from 17 on, oldest first, each home once: those in `VENEER_JDKS` (separated by colons) where it
/// is set, else `JAVA_HOME` and what is in `/usr/lib/jvm`.
pub fn installed() -> Vec<Jdk> {
    let mut homes: Vec<PathBuf> = Vec::new();
    if let Some(listed) = std::env::var_os("VENEER_JDKS") {
        homes.extend(std::env::split_paths(&listed));
    } else {
        homes.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
        if let Ok(entries) = std::fs::read_dir("/usr/lib/jvm") {
            homes.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    let mut jdks: Vec<Jdk> = homes.iter().filter_map(|home| Jdk::at(home)).collect();
    jdks.retain(|jdk| jdk.major >= 17);
    jdks.sort_by(|a, b| (a.major, &a.home).cmp(&(b.major, &b.home)));
    jdks.dedup();
    jdks
}

/// The oldest JDK from 17 on.
///
/// # Panics
/// Where there is none, with what to do: without a JDK no end-to-end test means anything.
pub fn oldest() -> Jdk {
    installed().into_iter().next().unwrap_or_else(|| {
        panic!("no JDK from 17 on: apt-get install openjdk-17-jdk-headless, or set VENEER_JDKS=/path/of/jdk")
    })
}

/// The newest JDK, where it is not the oldest one as well.
pub fn newest() -> Option<Jdk> {
    let jdks = installed();
    let newest = jdks.last()?.clone();
    (newest.major > jdks.first()?.major).then_some(newest)
}
