//! JVMs for the tests: a program that says `ready` and waits for its input to end.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub const NOBODY: u32 = 65534;

/// The `veneer` command, with nothing of the tester's settings.
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
    // A shell starts its background jobs with signals ignored, and that is inherited: a test must not depend on it.
    // SAFETY: `signal` may be called between fork and exec.
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

/// Exit code, standard output, standard error.
pub fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Runs it, expects exit code 2 and one line on standard error, and gives that line.
pub fn refusal(command: &mut Command) -> String {
    let (code, stdout, stderr) = outcome(&command.output().unwrap());
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(stdout, "");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("veneer: "), "{stderr}");
    stderr
}

/// Every JDK of this machine that Veneer works on, at least one.
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

/// A system library that is certainly no agent.
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

    /// Starts it as another user, which only root can.
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
        // SAFETY: our own child, which has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Lets it end, and checks that nobody disturbed it: exit code 0 and not a word more.
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

/// Waits for something that must become true soon.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        thread::sleep(Duration::from_millis(10));
    }
}
