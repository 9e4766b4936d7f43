//! The JDKs that the tests run on: the oldest installed one from 17 on, and the newest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::class_cache;
use crate::process::{LIMIT, Process, ProcessError};

/// The programs of a test cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("the programs or their class files cannot be read or copied: {0}")]
    File(#[from] std::io::Error),
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// The options for full verification of the classes of the JDK and of the program.
pub const VERIFICATION: [&str; 3] = [
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+BytecodeVerificationLocal",
    "-XX:+BytecodeVerificationRemote",
];

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
    /// Reads the version from the file `release` in the home of a JDK. Returns `None` if there is
    /// no compiler or no version.
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

    /// The feature version, for example 17 or 25.
    pub fn major(&self) -> u32 {
        self.major
    }

    /// The folder that contains `bin`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The path of a launcher, for example `java`, `javac` or `javap`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// The launcher `java` with full bytecode verification.
    pub fn verifying_java(&self) -> Process {
        Process::new(self.tool("java")).args(VERIFICATION)
    }

    /// Compiles sources with `-g` into a folder, or takes the class files from the cache.
    pub fn compile(&self, sources: &[PathBuf], into: &Path) -> Result<(), CompileError> {
        let release = std::fs::read_to_string(self.home.join("release"))?;
        let options = ["-g", "-Xlint:-options", "-nowarn"];
        let compiler = [&[release.as_str()], options.as_slice()].concat();
        let place = class_cache::place(&compiler, sources)?;
        class_cache::fetch(&place, into, |folder| {
            Process::new(self.tool("javac"))
                .args(options)
                .arg("-d")
                .arg(folder)
                .args(sources)
                .limit(LIMIT + Duration::from_millis(100) * sources.len() as u32)
                .run()?
                .succeeded("javac")?;
            Ok(())
        })
    }
}

/// Returns all JDKs from 17 on, oldest first, each home once. If `VENEER_JDKS` (paths separated by
/// colons) is set, only these are considered; otherwise `JAVA_HOME` and the folders in
/// `/usr/lib/jvm`.
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

/// Returns the oldest JDK from 17 on.
///
/// # Panics
/// Panics if no such JDK is installed, because no end-to-end test can run without one. The
/// message says how to install one.
pub fn oldest() -> Jdk {
    installed().into_iter().next().unwrap_or_else(|| {
        panic!("no JDK from 17 on: apt-get install openjdk-17-jdk-headless, or set VENEER_JDKS=/path/of/jdk")
    })
}

/// Returns the newest JDK, or `None` if it is the oldest one as well.
pub fn newest() -> Option<Jdk> {
    let jdks = installed();
    let newest = jdks.last()?.clone();
    (newest.major > jdks.first()?.major).then_some(newest)
}

/// The JDKs for the test of this thread: the oldest or the newest one, chosen by the name of the test and the
/// variable `VENEER_JDK_CHOICE`. If `VENEER_EVERY_JDK` is set, both. In continuous integration, the variable is
/// the commit, so both JDKs have each test after a few commits. `make trust` runs its parts on both.
pub fn for_this_test() -> Vec<Jdk> {
    let newest = newest();
    if std::env::var_os("VENEER_EVERY_JDK").is_some() {
        return [Some(oldest()), newest].into_iter().flatten().collect();
    }
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    let choice = std::env::var("VENEER_JDK_CHOICE").unwrap_or_default();
    let is_newest = crc32fast::hash(format!("{name}{choice}").as_bytes()).is_multiple_of(2);
    vec![newest.filter(|_| is_newest).unwrap_or_else(oldest)]
}
