//! Which classes a JVM has loaded outside the JDK, asked of the JVM itself (`VM.classloaders`): no agent is needed for it.
//!
//! ```text
//!   +-- <bootstrap>                                                   the JDK's
//!         |
//!         |         Classes: java.lang.Object
//!         |                  java.lang.String
//!         |                  (452 classes)
//!         |
//!         +-- "platform", jdk.internal.loader.ClassLoaders$PlatformClassLoader     the JDK's
//!         |     +-- "app", jdk.internal.loader.ClassLoaders$AppClassLoader         the application's, and the JDK's tools
//!         |           |         Classes: com.shop.Desk
//!         +-- com.server.PluginLoader                                              the application's
//! ```

use std::io::{self, Read, Write};
use std::time::Duration;

use thiserror::Error;

use crate::attach::{self, AttachError};
use crate::target::Target;

/// The question, as `jcmd` asks it: version, command and three arguments, each with a NUL behind it. Without `fold=false` loaders
/// of one name are told as one, with the classes of the first only.
const REQUEST: &[u8] = b"1\0jcmd\0VM.classloaders show-classes=true fold=false\0\0\0";
/// What is read of the answer, in bytes.
const ANSWER: u64 = 256 << 20;
/// How long the JVM may take to listen.
const LISTEN: Duration = Duration::from_secs(5);
/// How long the answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why the classes are not known.
#[derive(Debug, Error)]
pub enum ClassesError {
    /// The JVM cannot be asked.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The connection broke.
    #[error("process {pid} did not say which classes it has loaded: {source}; try again")]
    Io {
        /// The JVM.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// It does not understand the question.
    #[error(
        "process {pid} did not say which classes it has loaded: {message}; another tool may have closed its diagnostic commands"
    )]
    Refused {
        /// The JVM.
        pid: u32,
        /// Its own words.
        message: String,
    },
}

/// Packages of JDK modules that the application's loader defines (`jdk.compiler`, `jdk.jshell` …).
const TOOLS: [&str; 6] = [
    "com.sun.tools.",
    "com.sun.source.",
    "com.sun.jarsigner.",
    "jdk.",
    "sun.",
    "javax.annotation.processing.",
];

/// The loaded classes of a JVM.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Those of the JDK, with dots.
    pub jdk: Vec<String>,
    /// All others, with dots; hidden ones are left out.
    pub application: Vec<String>,
}

/// Asks a JVM for its classes. It stops the application while it writes them down: tens of milliseconds for some thousands.
///
/// # Errors
/// The JVM cannot be attached to, or does not answer.
pub fn loaded(target: &Target) -> Result<Loaded, ClassesError> {
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

fn ask(target: &Target) -> Result<io::Result<String>, AttachError> {
    let mut stream = attach::open(target, LISTEN)?;
    let mut exchange = || {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(REQUEST)?;
        let mut answer = Vec::new();
        (&stream).take(ANSWER).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    Ok(exchange())
}

fn parse(text: &str) -> Loaded {
    let mut found = Loaded::default();
    let mut loader = "";
    for line in text.lines() {
        let line = line.trim_start_matches(['|', ' ']);
        if let Some(name) = line.strip_prefix("+--") {
            loader = name.trim();
            continue;
        }
        // `Classes:`, `Hidden Classes:`
        let name = line.rsplit_once("Classes:").map_or(line, |(_, name)| name);
        let name = name.trim();
        // The name of a hidden class has a slash, that of an array a bracket; behind the last one stands `(12 classes)`.
        let is_name = !name.is_empty() && !name.contains(['/', '[', '(', ' ']);
        if !is_name || loader.is_empty() {
            continue;
        }
        let of_jdk = loader == "<bootstrap>"
            || loader.ends_with("ClassLoaders$PlatformClassLoader")
            || (loader.ends_with("ClassLoaders$AppClassLoader")
                && TOOLS.iter().any(|package| name.starts_with(package)));
        if of_jdk {
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
    fn classes_are_told_by_their_loaders() {
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
        assert_eq!(parse("Unknown command\n"), Loaded::default());
    }
}
