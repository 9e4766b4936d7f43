//! Finds the JDK that a command will use, and its version, before anything is started.
//!
//! The version is read from the file `release` in the JDK's home directory. `java -version` is run
//! only if that file is missing.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;
use veneer_client::version::{MIN_JAVA_VERSION, feature_version, installed_feature_version};

use crate::command_line::is_java;

/// A JDK on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// Its home directory.
    pub home: PathBuf,
    /// Its feature release, such as 17 or 25.
    pub feature: u32,
}

/// Why no suitable JDK was found. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}; {}", self.problem(), self.remedy())]
pub enum JavaError {
    /// The command is not on the PATH, or is not an executable file.
    NoCommand(String),
    /// The command is no tool of a JDK, and neither JAVA_HOME nor the PATH leads to a JDK.
    NoJdk,
    /// JAVA_HOME is not the home directory of a JDK.
    BadJavaHome(PathBuf),
    /// A directory that the user named is not the home directory of a JDK.
    NoHome(PathBuf),
    /// The JDK is older than [`MIN_JAVA_VERSION`].
    TooOld {
        /// The home directory.
        home: PathBuf,
        /// Its feature release.
        feature: u32,
    },
    /// Neither `release` nor `java -version` contains a version.
    UnknownVersion {
        /// The home directory.
        home: PathBuf,
        reason: VersionError,
    },
}

impl JavaError {
    /// The problem, without the remedy.
    fn problem(&self) -> String {
        match self {
            JavaError::NoCommand(command) => format!("{command}: no such command"),
            JavaError::NoJdk => {
                "no JDK found: `java` is not on the PATH and JAVA_HOME is not set".into()
            }
            JavaError::BadJavaHome(home) => {
                format!("JAVA_HOME is {}, which has no bin/java", home.display())
            }
            JavaError::NoHome(home) => {
                format!("{} is no JDK: it has no bin/java", home.display())
            }
            JavaError::TooOld { home, feature } => format!(
                "the JDK in {} is version {feature}, and Veneer needs {MIN_JAVA_VERSION} or newer",
                home.display()
            ),
            JavaError::UnknownVersion { home, reason } => format!(
                "the version of the JDK in {} cannot be found out ({reason})",
                home.display()
            ),
        }
    }

    /// An action of the user that solves the problem.
    fn remedy(&self) -> String {
        match self {
            JavaError::NoCommand(_) => "check the name after `--`".into(),
            JavaError::NoJdk => {
                format!("install a JDK {MIN_JAVA_VERSION} or newer, or set JAVA_HOME")
            }
            JavaError::BadJavaHome(_) => {
                format!("point it to a JDK {MIN_JAVA_VERSION} or newer")
            }
            JavaError::NoHome(_) => {
                format!("name the home directory of a JDK {MIN_JAVA_VERSION} or newer")
            }
            JavaError::TooOld { .. } => "install one, or point PATH or JAVA_HOME to it".into(),
            JavaError::UnknownVersion { home, .. } => {
                format!("check that `{}/bin/java -version` works", home.display())
            }
        }
    }
}

/// Why `java -version` yielded no version.
#[derive(Debug, Error)]
pub enum VersionError {
    #[error("it does not start: {0}")]
    NotStarted(io::Error),
    /// The first line of its output contains no version.
    #[error("no version in its output `{first_line}`")]
    NoVersion { first_line: String },
}

impl Jdk {
    /// Returns the JDK of this command. If the command is `java` or another tool of a JDK, that is
    /// its JDK. Otherwise it is the JDK that launchers find, by JAVA_HOME and then the PATH.
    pub fn of_command(program: &OsStr) -> Result<Jdk, JavaError> {
        let path = resolve(program)
            .ok_or_else(|| JavaError::NoCommand(program.to_string_lossy().into()))?;
        let beside = path.parent().map(|bin| bin.join("java"));
        match beside.filter(|java| is_java(program) || (is_executable(java) && is_jdk_bin(java))) {
            Some(_) if is_java(program) => Jdk::of_java(&path),
            Some(java) => Jdk::of_java(&java),
            None => Jdk::of_environment(),
        }
        .and_then(Jdk::check)
    }

    /// Returns the JDK that JAVA_HOME or the PATH denotes.
    pub fn of_environment() -> Result<Jdk, JavaError> {
        if let Some(home) = env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
            let java = Path::new(&home).join("bin/java");
            if !is_executable(&java) {
                return Err(JavaError::BadJavaHome(home.into()));
            }
            return Jdk::of_java(&java);
        }
        Jdk::of_java(&resolve(OsStr::new("java")).ok_or(JavaError::NoJdk)?)
    }

    /// Returns the JDK in this home directory.
    pub fn of_home(home: &Path) -> Result<Jdk, JavaError> {
        let java = home.join("bin/java");
        if !is_executable(&java) {
            return Err(JavaError::NoHome(home.into()));
        }
        Jdk::of_java(&java)
    }

    /// Returns the JDK that this `java` executable belongs to.
    fn of_java(java: &Path) -> Result<Jdk, JavaError> {
        let real = fs::canonicalize(java).unwrap_or_else(|_| java.to_owned());
        let home = real.ancestors().nth(2).unwrap_or(&real).to_owned();
        let feature = match installed_feature_version(&home) {
            Some(feature) => feature,
            // A wrapper script, or a distribution without the file `release`.
            None => run_java_version(java).map_err(|reason| JavaError::UnknownVersion {
                home: home.clone(),
                reason,
            })?,
        };
        Ok(Jdk { home, feature })
    }

    /// Fails if the JDK is older than [`MIN_JAVA_VERSION`].
    pub fn check(self) -> Result<Jdk, JavaError> {
        if self.feature < MIN_JAVA_VERSION {
            return Err(JavaError::TooOld {
                home: self.home,
                feature: self.feature,
            });
        }
        Ok(self)
    }

    /// The path of one of its tools, such as `jimage`.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }
}

/// Runs `java -version` and parses its output, such as `openjdk version "17.0.15" …`.
fn run_java_version(java: &Path) -> Result<u32, VersionError> {
    let output = Command::new(java)
        .arg("-version")
        .env_remove(crate::command_line::TOOL_OPTIONS)
        .stdin(Stdio::null())
        .output()
        .map_err(VersionError::NotStarted)?;
    let text = String::from_utf8_lossy(&output.stderr);
    let version = text.split('"').nth(1).and_then(feature_version);
    version.ok_or_else(|| VersionError::NoVersion {
        first_line: text.lines().next().unwrap_or("").into(),
    })
}

/// Whether the file is the `java` of a JDK, with a file `release` beside its `bin` directory. A
/// link in `/usr/bin` is not.
fn is_jdk_bin(java: &Path) -> bool {
    fs::canonicalize(java).is_ok_and(|real| {
        real.parent() == java.parent()
            && real
                .ancestors()
                .nth(2)
                .is_some_and(|home| home.join("release").is_file())
    })
}

/// Finds the file of a command by the rules of a shell, and follows symbolic links.
fn resolve(program: &OsStr) -> Option<PathBuf> {
    let found = find(program, env::var_os("PATH"))?;
    // A link such as `/usr/bin/javac` leads to the JDK. For `java`, only the link's target is in
    // the home directory.
    Some(fs::canonicalize(&found).unwrap_or(found))
}

fn find(program: &OsStr, search: Option<OsString>) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_absolute() || path.starts_with(".") {
        return is_executable(path).then(|| path.to_owned());
    }
    env::split_paths(&search?)
        .map(|directory| directory.join(path))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    let permitted = |meta: fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    fs::metadata(path).map(permitted).unwrap_or(false)
}

/// Returns the message for a tool of the JDK that cannot be run.
pub fn missing_tool(tool: &Path, error: &io::Error) -> String {
    format!(
        "{} cannot be run: {error}; install the JDK's development tools (openjdk-17-jdk-headless)",
        tool.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_strings_are_parsed() {
        for (text, expected) in [
            ("17.0.15", Some(17)),
            ("1.8.0_392", Some(8)),
            ("25", Some(25)),
            ("21-ea", Some(21)),
            ("11.0.2+9", Some(11)),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(feature_version(text), expected, "{text}");
        }
    }

    fn fake_jdk(version_line: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        for tool in ["java", "javac"] {
            let path = home.path().join("bin").join(tool);
            fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        if !version_line.is_empty() {
            fs::write(home.path().join("release"), version_line).unwrap();
        }
        home
    }

    #[test]
    fn the_release_file_decides_without_a_jvm() {
        let home = fake_jdk("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.2\"\n");
        for tool in ["java", "javac"] {
            let jdk = Jdk::of_command(home.path().join("bin").join(tool).as_os_str()).unwrap();
            assert_eq!(jdk.feature, 21);
            assert_eq!(jdk.home, fs::canonicalize(home.path()).unwrap());
        }
    }

    #[test]
    fn an_old_jdk_is_refused_with_its_version() {
        let home = fake_jdk("JAVA_VERSION=\"1.8.0_392\"\n");
        let error = Jdk::of_command(home.path().join("bin/java").as_os_str()).unwrap_err();
        assert!(matches!(error, JavaError::TooOld { feature: 8, .. }));
        assert!(error.to_string().contains("needs 17 or newer"), "{error}");
    }

    #[test]
    fn a_jdk_without_a_version_is_reported() {
        let home = fake_jdk("");
        let error = Jdk::of_command(home.path().join("bin/java").as_os_str()).unwrap_err();
        assert!(matches!(error, JavaError::UnknownVersion { .. }), "{error}");
    }

    #[test]
    fn a_missing_command_is_reported() {
        let error = Jdk::of_command(OsStr::new("no-such-command-here")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("no-such-command-here: no such command")
        );
    }
}
