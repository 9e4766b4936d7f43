//! JVMs for the tests: a Java program that prints `ready` and waits for the end of its input.

// Each test binary uses only a part of this module.
#![allow(dead_code)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub const NOBODY: u32 = 65534;

/// Returns the `veneer` command, without environment variables that would change its behaviour.
pub fn veneer() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_veneer"));
    for name in [
        "VENEER_AGENT",
        "VENEER_DATA_DIR",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
    ] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    // A shell starts background jobs with some signals ignored, and children inherit that. The
    // tests must not depend on it.
    //
    // SAFETY: `signal` is async-signal-safe and may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command
}

/// Returns exit code, standard output and standard error.
pub fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Runs the command, expects exit code 2 and one line on standard error, and returns that line.
pub fn refusal(command: &mut Command) -> String {
    let (code, stdout, stderr) = outcome(&command.output().unwrap());
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(stdout, "");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("veneer: "), "{stderr}");
    stderr
}

/// Returns every installed JDK that Veneer supports; at least one.
pub fn jdks() -> Vec<PathBuf> {
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let mut homes: Vec<PathBuf> = installed
        .map(|entry| entry.path())
        .chain(std::env::var_os("JAVA_HOME").map(PathBuf::from))
        .filter_map(|home| fs::canonicalize(home).ok())
        .filter(|home| home.join("bin/java").exists() && feature(home).is_some_and(|f| f >= 17))
        .collect();
    homes.sort();
    homes.dedup();
    assert!(
        !homes.is_empty(),
        "no JDK 17 or newer in /usr/lib/jvm or JAVA_HOME"
    );
    homes
}

fn feature(home: &Path) -> Option<u32> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '"', '-']).next()?.parse().ok()
}

/// Returns the path of a system library that is not an agent.
pub fn no_agent() -> String {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps
        .lines()
        .find(|line| line.ends_with("/libc.so.6"))
        .unwrap();
    line[line.find('/').unwrap()..].to_owned()
}

/// A JVM that waits.
pub struct Jvm {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    directory: tempfile::TempDir,
}

impl Jvm {
    pub fn start(home: &Path, options: &[&str]) -> Jvm {
        Self::start_as(home, options, None)
    }

    /// Starts the JVM as another user. Only root can do that.
    pub fn start_as(home: &Path, options: &[&str], user: Option<u32>) -> Jvm {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("Wait.java");
        let program = r#"public class Wait {
            public static void main(String[] arguments) throws Exception {
                System.out.println("ready");
                while (System.in.read() >= 0) { }
                System.out.println("bye");
            }
        }"#;
        fs::write(&source, program).unwrap();
        let javac = Command::new(home.join("bin/javac"))
            .arg(&source)
            .status()
            .unwrap();
        assert!(javac.success());
        let mut java = Command::new(home.join("bin/java"));
        java.args(options)
            .arg("-cp")
            .arg(directory.path())
            .arg("Wait");
        java.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        java.current_dir(directory.path());
        if let Some(user) = user {
            std::os::unix::fs::chown(directory.path(), Some(user), Some(user)).unwrap();
            java.uid(user).gid(user);
        }
        let mut child = java.spawn().unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Jvm {
            child,
            stdin,
            stdout,
            directory,
        }
    }

    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the child belongs to this process and was not waited for, so its process id is
        // still valid.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Ends the JVM, and checks that it was not disturbed: exit code 0 and no additional output.
    pub fn end_undisturbed(mut self) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "bye\n");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the condition is true; panics after 20 seconds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        thread::sleep(Duration::from_millis(10));
    }
}
