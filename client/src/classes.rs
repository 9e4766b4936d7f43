//! Lists the loaded classes of a JVM. The list comes from HotSpot's diagnostic command
//! `VM.classloaders`, so no agent is needed.
//!
//! ```text
//!   +-- <bootstrap>                                                   JDK
//!         |
//!         |         Classes: java.lang.Object
//!         |                  java.lang.String
//!         |                  (452 classes)
//!         |
//!         +-- "platform", jdk.internal.loader.ClassLoaders$PlatformClassLoader     JDK
//!         |     +-- "app", jdk.internal.loader.ClassLoaders$AppClassLoader         application,
//!         |           |         Classes: com.shop.Desk                             JDK tools
//!         +-- com.server.PluginLoader                                              application
//! ```

use std::fmt;
use std::io::{self, Read, Write};
use std::time::Duration;

use thiserror::Error;

use crate::attach::{self, JvmAttachError};
use crate::error_text;
use crate::target::Target;

/// The request that `jcmd` sends: version, command and three arguments, each terminated by NUL.
///
/// `fold=false` is required, because otherwise the JVM reports all loaders with one name as one
/// loader, with the classes of the first one only.
const REQUEST: &[u8] = b"1\0jcmd\0VM.classloaders show-classes=true fold=false\0\0\0";
/// The largest answer that is read, in bytes. The rest of a longer answer is ignored.
const MAX_ANSWER_BYTES: u64 = 256 << 20;
/// The longest wait for the JVM's attach listener.
const LISTENER_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for the next bytes of the answer.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Why the loaded classes could not be listed. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), self.remedy()))]
pub enum ClassesError {
    /// Connecting to the JVM's attach listener failed.
    #[error(transparent)]
    Attach(#[from] JvmAttachError),
    /// The connection failed before the answer was complete.
    Io {
        /// The process of the JVM.
        pid: u32,
        /// The error of the connection.
        source: io::Error,
    },
    /// The JVM rejected the diagnostic command.
    Refused {
        /// The process of the JVM.
        pid: u32,
        /// The beginning of the JVM's answer.
        message: String,
    },
}

impl ClassesError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        let silent = |pid: u32, reason: &dyn fmt::Display| {
            format!("process {pid} did not say which classes it has loaded: {reason}")
        };
        match self {
            ClassesError::Attach(error) => error.problem(),
            ClassesError::Io { pid, source } => silent(*pid, source),
            ClassesError::Refused { pid, message } => silent(*pid, message),
        }
    }

    /// An action of the user that solves or explains the problem, if one is known.
    pub fn remedy(&self) -> Option<String> {
        let fixed = match self {
            ClassesError::Attach(error) => return error.remedy(),
            ClassesError::Io { .. } => "try again",
            ClassesError::Refused { .. } => "another tool may have closed its diagnostic commands",
        };
        Some(fixed.to_string())
    }
}

/// Package prefixes of those JDK modules that the application class loader defines (`jdk.compiler`,
/// `jdk.jshell` …).
const JDK_TOOL_PACKAGES: [&str; 6] = [
    "com.sun.tools.",
    "com.sun.source.",
    "com.sun.jarsigner.",
    "jdk.",
    "sun.",
    "javax.annotation.processing.",
];

/// The loaded classes of a JVM.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LoadedClasses {
    /// Class names of the JDK, with dots.
    pub jdk: Vec<String>,
    /// All other class names, with dots. Hidden classes are omitted.
    pub application: Vec<String>,
}

/// Asks a JVM for its loaded classes. The JVM stops the application while it writes the list: tens
/// of milliseconds for a few thousand classes.
///
/// # Errors
/// Attaching to the JVM fails, or the JVM does not answer.
pub fn loaded_classes(target: &Target) -> Result<LoadedClasses, ClassesError> {
    let pid = target.pid;
    let text = ask(target)?.map_err(|source| ClassesError::Io { pid, source })?;
    match text.split_once('\n') {
        Some(("0", text)) => Ok(parse(text)),
        _ => {
            let words = text.split_whitespace().take(40).collect::<Vec<_>>();
            let message = words.join(" ");
            Err(ClassesError::Refused { pid, message })
        }
    }
}

fn ask(target: &Target) -> Result<io::Result<String>, JvmAttachError> {
    let mut stream = attach::open(target, LISTENER_TIMEOUT)?;
    let mut exchange = || {
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        stream.write_all(REQUEST)?;
        let mut answer = Vec::new();
        (&stream).take(MAX_ANSWER_BYTES).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    Ok(exchange())
}

fn parse(text: &str) -> LoadedClasses {
    let mut found = LoadedClasses::default();
    let mut loader = "";
    for line in text.lines() {
        let line = line.trim_start_matches(['|', ' ']);
        if let Some(name) = line.strip_prefix("+--") {
            loader = name.trim();
            continue;
        }
        // The first class of a list follows `Classes:` or `Hidden Classes:`.
        let name = line.rsplit_once("Classes:").map_or(line, |(_, name)| name);
        let name = name.trim();
        // The name of a hidden class contains a slash, the name of an array a bracket. A list ends
        // with a line such as `(12 classes)`.
        let is_name = !name.is_empty() && !name.contains(['/', '[', '(', ' ']);
        if !is_name || loader.is_empty() {
            continue;
        }
        let is_jdk = loader == "<bootstrap>"
            || loader.ends_with("ClassLoaders$PlatformClassLoader")
            || (loader.ends_with("ClassLoaders$AppClassLoader")
                && JDK_TOOL_PACKAGES
                    .iter()
                    .any(|package| name.starts_with(package)));
        if is_jdk {
            found.jdk.push(name.to_owned());
        } else {
            found.application.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_classified_by_their_loaders() {
        let text = "\
+-- <bootstrap>
      |
      |           Classes: java.lang.Object
      |                    [I
      |                    (2 classes)
      |
      |    Hidden Classes: java.lang.invoke.LambdaForm$MH/0x00007f
      |                    (1 hidden class)
      |
      +-- \"platform\", jdk.internal.loader.ClassLoaders$PlatformClassLoader
      |     |
      |     |           Classes: java.sql.Driver
      |     |                    (1 class)
      |     |
      |     +-- \"app\", jdk.internal.loader.ClassLoaders$AppClassLoader
      |                 Classes: com.shop.Desk
      |                          com.shop.Desk$Order
      |                          Main
      |                          com.sun.tools.javac.Main
      |                          (4 classes)
      |
      +-- com.server.PluginLoader
                  Classes: plug.In
                           (1 class)
";
        let found = parse(text);
        assert_eq!(
            found.application,
            ["com.shop.Desk", "com.shop.Desk$Order", "Main", "plug.In"]
        );
        assert_eq!(
            found.jdk,
            [
                "java.lang.Object",
                "java.sql.Driver",
                "com.sun.tools.javac.Main"
            ]
        );
        assert_eq!(parse("Unknown command\n"), LoadedClasses::default());
    }

    #[test]
    fn an_error_is_its_problem_and_its_remedy() {
        let io = || io::Error::from(io::ErrorKind::BrokenPipe);
        for (error, text) in [
            (
                ClassesError::Io {
                    pid: 7,
                    source: io(),
                },
                "process 7 did not say which classes it has loaded: broken pipe; try again",
            ),
            (
                ClassesError::Refused {
                    pid: 7,
                    message: "1 Unknown".into(),
                },
                "process 7 did not say which classes it has loaded: 1 Unknown; another tool may have closed its diagnostic commands",
            ),
            (
                ClassesError::Attach(JvmAttachError::Stopped(7)),
                "process 7 is stopped and cannot answer; continue it (kill -CONT 7) and try again",
            ),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(error_text(error.problem(), error.remedy()), text);
        }
    }
}
