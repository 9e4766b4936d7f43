//! Adds the agent to a command line. These functions have no side effects.
//!
//! ```text
//!   java -jar app.jar      →  java -agentpath:LIB=CONFIG -jar app.jar
//!   ./gradlew test         →  ./gradlew test   with JAVA_TOOL_OPTIONS='-agentpath:LIB=CONFIG …'
//! ```
//!
//! If the command is `java`, the agent is added as an argument. The variable has two side effects:
//! the JVM prints a line about it to standard error, and passes it on to every JVM that the
//! application starts. With `--children` the second effect is required. Then `java` also gets the
//! variable, and not the argument, because the agent would otherwise be loaded twice.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use thiserror::Error;

/// The variable from which every HotSpot JVM reads additional options.
pub const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// A command with the agent added.
#[derive(Debug, PartialEq, Eq)]
pub struct PlannedCommand {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Variables to add to the inherited environment.
    pub env: Vec<(OsString, OsString)>,
}

/// Why the agent cannot be added to a command line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CommandLineError {
    /// HotSpot ends the library's path at the first `=`.
    #[error(
        "the path of the agent library, {0}, contains `=`, which the JVM cannot take; move the library or set VENEER_AGENT"
    )]
    EqualsSign(String),
    /// A word of `JAVA_TOOL_OPTIONS` cannot contain both kinds of quotes.
    #[error(
        "the path {0} contains both kinds of quotes, which {TOOL_OPTIONS} cannot hold; use other directories (VENEER_AGENT, TMPDIR)"
    )]
    Quotes(String),
}

/// Whether the command is the `java` launcher, which accepts the option as its first argument.
pub fn is_java(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("java"))
}

/// Whether a command requests an archive of its classes at the JVM's end
/// (`-XX:ArchiveClassesAtExit`). With an agent, HotSpot writes no archive and ends with exit code
/// 1.
pub fn archives_classes_at_exit(argv: &[OsString], tool_options: Option<&OsStr>) -> bool {
    const OPTION: &[u8] = b"-XX:ArchiveClassesAtExit=";
    let variable = tool_options.unwrap_or_default().as_bytes();
    let in_variable = variable
        .split(|byte| byte.is_ascii_whitespace())
        .any(|word| word.starts_with(OPTION));
    in_variable || argv.iter().any(|word| word.as_bytes().starts_with(OPTION))
}

/// Adds the agent to a command, and with `children` also to the JVMs that the command starts.
/// `tool_options` is the current value of `JAVA_TOOL_OPTIONS`.
pub fn plan_command(
    argv: &[OsString],
    agent: &Path,
    config: &Path,
    tool_options: Option<&OsStr>,
    children: bool,
) -> Result<PlannedCommand, CommandLineError> {
    if agent.as_os_str().as_bytes().contains(&b'=') {
        return Err(CommandLineError::EqualsSign(agent.display().to_string()));
    }
    let mut option = OsString::from("-agentpath:");
    option.push(agent);
    option.push("=");
    option.push(config);

    let mut planned = PlannedCommand {
        argv: argv.to_vec(),
        env: Vec::new(),
    };
    if !children && argv.first().is_some_and(|program| is_java(program)) {
        planned.argv.insert(1, option);
        return Ok(planned);
    }
    let mut value = quote(&option)?;
    if let Some(before) = tool_options.filter(|value| !value.is_empty()) {
        value.push(" ");
        value.push(before);
    }
    planned.env.push((TOOL_OPTIONS.into(), value));
    Ok(planned)
}

/// Quotes a word for `JAVA_TOOL_OPTIONS`. The JVM splits the variable at white space and supports
/// `'` and `"`, but no escapes.
fn quote(word: &OsStr) -> Result<OsString, CommandLineError> {
    let bytes = word.as_bytes();
    let single = bytes.contains(&b'\'');
    let double = bytes.contains(&b'"');
    let space = bytes.iter().any(u8::is_ascii_whitespace);
    let mark = match (single, double, space) {
        (false, false, false) => return Ok(word.to_owned()),
        (true, true, _) => {
            return Err(CommandLineError::Quotes(word.to_string_lossy().into()));
        }
        (true, false, _) => b'"',
        (false, _, _) => b'\'',
    };
    let mut quoted = vec![mark];
    quoted.extend_from_slice(bytes);
    quoted.push(mark);
    Ok(OsString::from_vec(quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(argv: &[&str], agent: &str, config: &str, options: Option<&str>) -> PlannedCommand {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        plan_command(
            &argv,
            Path::new(agent),
            Path::new(config),
            options.map(OsStr::new),
            false,
        )
        .unwrap()
    }

    #[test]
    fn java_takes_the_option_as_its_first_argument() {
        for java in ["java", "/usr/lib/jvm/17/bin/java", "./java"] {
            let planned = plan(
                &[java, "-cp", "a b", "Main", "-x"],
                "/l/a.so",
                "/t/c.json",
                Some("-Xint"),
            );
            assert_eq!(
                planned.argv,
                [
                    java,
                    "-agentpath:/l/a.so=/t/c.json",
                    "-cp",
                    "a b",
                    "Main",
                    "-x"
                ]
            );
            assert!(planned.env.is_empty());
        }
        assert_eq!(
            plan(&["java"], "/a.so", "/c", None).argv,
            ["java", "-agentpath:/a.so=/c"]
        );
    }

    #[test]
    fn with_children_java_gets_the_environment_variable_and_no_option() {
        let argv = ["java", "Main"].map(OsString::from);
        let planned = plan_command(&argv, Path::new("/a.so"), Path::new("/c"), None, true).unwrap();
        assert_eq!(planned.argv, argv);
        let expected = ("JAVA_TOOL_OPTIONS".into(), "-agentpath:/a.so=/c".into());
        assert_eq!(planned.env, [expected]);
    }

    #[test]
    fn other_launchers_get_the_environment_variable() {
        for launcher in ["javac", "/usr/bin/mvn", "java17", "./javaw"] {
            let planned = plan(&[launcher, "java"], "/l/a.so", "/t/c.json", None);
            assert_eq!(planned.argv, [launcher, "java"]);
            let expected = (
                OsString::from("JAVA_TOOL_OPTIONS"),
                OsString::from("-agentpath:/l/a.so=/t/c.json"),
            );
            assert_eq!(planned.env, [expected]);
        }
    }

    #[test]
    fn the_previous_value_of_the_variable_is_kept_after_the_option() {
        let value = |options| plan(&["mvn"], "/a.so", "/c", options).env[0].1.clone();
        assert_eq!(
            value(Some("-Xmx1g -Dx='a b'")),
            "-agentpath:/a.so=/c -Xmx1g -Dx='a b'"
        );
        assert_eq!(value(Some("")), "-agentpath:/a.so=/c");
    }

    #[test]
    fn blanks_and_quotes_in_paths_are_quoted() {
        let value = |agent| plan(&["mvn"], agent, "/c", None).env[0].1.clone();
        assert_eq!(value("/my libs/a.so"), "'-agentpath:/my libs/a.so=/c'");
        assert_eq!(value("/o'hara/a.so"), "\"-agentpath:/o'hara/a.so=/c\"");
        assert_eq!(
            value("/say \"hi\"/a.so"),
            "'-agentpath:/say \"hi\"/a.so=/c'"
        );
    }

    #[test]
    fn paths_that_no_jvm_accepts_are_refused() {
        let argv = [OsString::from("mvn")];
        let error = |agent| {
            plan_command(&argv, Path::new(agent), Path::new("/c"), None, false).unwrap_err()
        };
        assert_eq!(
            error("/a=b/a.so"),
            CommandLineError::EqualsSign("/a=b/a.so".into())
        );
        assert!(matches!(error("/a'\"b/a.so"), CommandLineError::Quotes(_)));
    }
}
