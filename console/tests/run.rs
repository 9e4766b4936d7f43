//! Tests when `veneer run` refuses to start the application, and how it passes streams and signals
//! through. The end-to-end tests of the workspace cover the agent.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{no_agent, refusal, veneer};
use veneer_tests::skip::{Need, SkippedInCi, skip};

/// Creates a fake JDK of the given version. Its `java` writes a file when it is started.
fn marked_jdk(root: &Path, version: &str) -> String {
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::write(
        root.join("release"),
        format!("JAVA_VERSION=\"{version}\"\n"),
    )
    .unwrap();
    let java = root.join("bin/java");
    fs::write(
        &java,
        format!("#!/bin/sh\ntouch {}/started\n", root.display()),
    )
    .unwrap();
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755)).unwrap();
    java.display().to_string()
}

fn run(options: &[&str], command: &str) -> Command {
    let mut veneer = veneer();
    veneer
        .arg("run")
        .args(options)
        .args(["--", command])
        .env("VENEER_AGENT", no_agent());
    veneer
}

#[test]
fn nothing_starts_if_a_check_fails() {
    let root = tempfile::tempdir().unwrap();
    let java = marked_jdk(root.path(), "21.0.1");
    for (options, word) in [
        (
            ["--report", "/nonexistent/r.json"],
            "/nonexistent/r.json cannot be written",
        ),
        (["--report", "/dev/full"], "/dev/full is not a regular file"),
        (
            ["--plan", "/nonexistent.rhai"],
            "/nonexistent.rhai cannot be read",
        ),
    ] {
        let line = refusal(&mut run(&options, &java));
        assert!(line.contains(word), "{line}");
    }
    let line = refusal(run(&[], &java).env("VENEER_AGENT", "/nonexistent.so"));
    assert!(line.contains("VENEER_AGENT is /nonexistent.so"), "{line}");
    let line = refusal(run(&[], &java).env("TMPDIR", "/nonexistent"));
    assert!(line.contains("set TMPDIR"), "{line}");
    assert!(!root.path().join("started").exists());
}

#[test]
fn the_jdk_must_exist_and_be_new_enough() {
    let root = tempfile::tempdir().unwrap();
    let line = refusal(&mut run(&[], &marked_jdk(root.path(), "11.0.2")));
    assert!(
        line.contains("version 11") && line.contains("17 or newer"),
        "{line}"
    );
    let line = refusal(run(&[], "/bin/true").env("JAVA_HOME", root.path()));
    assert!(line.contains("version 11"), "{line}");
    let line = refusal(run(&[], "/bin/true").env("JAVA_HOME", "/nonexistent"));
    assert!(line.contains("JAVA_HOME is /nonexistent"), "{line}");
    let line = refusal(
        run(&[], "/bin/true")
            .env_remove("JAVA_HOME")
            .env("PATH", "/nonexistent"),
    );
    assert!(line.contains("no JDK found"), "{line}");
    let line = refusal(&mut run(&[], "no-such-command-here"));
    assert!(line.contains("no such command"), "{line}");
    assert!(!root.path().join("started").exists());
}

#[test]
fn a_full_disk_stops_the_run_before_it_begins() -> Result<(), SkippedInCi> {
    let root = tempfile::tempdir().unwrap();
    let java = marked_jdk(root.path(), "21");
    let small = tempfile::tempdir().unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4k", "none"])
        .arg(small.path())
        .output();
    if !mount.is_ok_and(|output| output.status.success()) {
        return skip(Need::Mount);
    }
    let report = small.path().join("r.json");
    let line = refusal(&mut run(
        &["--report", &report.display().to_string()],
        &java,
    ));
    let left = report.exists();
    let unmounted = Command::new("umount").arg(small.path()).status().unwrap();
    assert!(unmounted.success());
    assert!(line.contains("no room for the report"), "{line}");
    assert!(!left && !root.path().join("started").exists());
    Ok(())
}

/// The message of `veneer run` after a command that has started no JVM.
const NO_JVM: &str = "veneer: no JVM has run under Veneer";

/// Returns `veneer run -- sh -c SCRIPT`. The launcher starts no JVM, so the test shows only what
/// `veneer run` itself does.
fn shell(script: &str) -> Command {
    let mut veneer = veneer();
    veneer
        .args(["run", "--", "sh", "-c", script])
        .env("VENEER_AGENT", no_agent());
    veneer
}

#[test]
fn streams_and_exit_codes_are_passed_through() {
    for code in [0, 1, 2, 7, 255] {
        let script = format!("cat; printf err >&2; exit {code}");
        let mut command = shell(&script);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"a\0b\xff").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(output.stdout, b"a\0b\xff");
        let message = String::from_utf8(output.stderr).unwrap();
        let own = message.strip_prefix("err").expect("the script's message");
        assert!(own.starts_with(NO_JVM) && own.lines().count() == 1, "{own}");
    }
}

#[test]
fn a_signal_that_ends_the_application_ends_the_command() {
    for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGSEGV, libc::SIGINT] {
        let output = shell(&format!("kill -{signal} $$")).output().unwrap();
        assert_eq!(output.status.signal(), Some(signal));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with(NO_JVM), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn signals_reach_the_application() {
    for signal in [
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGUSR1,
    ] {
        let script =
            format!("trap 'echo got; exit 9' {signal}; echo ready; while :; do sleep 0.02; done");
        let mut child = shell(&script).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        // SAFETY: the child belongs to this process and was not waited for, so its process id is
        // still valid.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        line.clear();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "got\n", "signal {signal}");
        assert_eq!(child.wait().unwrap().code(), Some(9));
    }
}

#[test]
fn the_agent_is_in_the_environment_and_its_files_are_private() {
    let temporary = tempfile::tempdir().unwrap();
    let script = r#"echo "$JAVA_TOOL_OPTIONS"; f=${JAVA_TOOL_OPTIONS#*=}; f=${f%% *}; stat -c %a "${f%/*}"; cat "$f""#;
    let output = shell(script)
        .env("TMPDIR", temporary.path())
        .env("JAVA_TOOL_OPTIONS", "-Xmx99m")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (option, rest) = text.split_once('\n').unwrap();
    let (mode, config) = rest.split_once('\n').unwrap();
    let start = format!("-agentpath:{}={}/", no_agent(), temporary.path().display());
    assert!(
        option.starts_with(&start) && option.ends_with(" -Xmx99m"),
        "{option}"
    );
    assert_eq!(mode, "700");
    let config: veneer_protocol::AgentConfig = serde_json::from_str(config).unwrap();
    assert!(config.data_dir.starts_with(temporary.path()) && !config.keep_data);
    // All temporary directories were removed.
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn options_and_plans_reach_the_configuration() {
    let root = tempfile::tempdir().unwrap();
    let plan = root.path().join("p.rhai");
    fs::write(&plan, "print(1);\n").unwrap();
    let data = root.path().join("data");
    let script = "f=${JAVA_TOOL_OPTIONS#*=}; cat \"$f\"";
    let output = veneer()
        .args([
            "run",
            "--arm",
            "a..*",
            "--skip",
            "a.b.*",
            "--policy",
            "call",
            "--calls",
            "x.Y::*(..)",
            "--set",
            "top=3",
        ])
        .arg("--plan")
        .arg(&plan)
        .args(["--", "sh", "-c", script])
        .env("VENEER_AGENT", no_agent())
        .env("VENEER_DATA_DIR", &data)
        .env("XDG_CACHE_HOME", "/cache")
        .output()
        .unwrap();
    let config: veneer_protocol::AgentConfig = serde_json::from_slice(&output.stdout).unwrap();
    let expected = veneer_protocol::AgentConfig {
        plans: vec![veneer_protocol::PlanSource {
            name: plan.display().to_string(),
            source: "print(1);\n".into(),
            settings: [("top".to_string(), "3".to_string())].into(),
            modules: Default::default(),
        }],
        arm: vec!["a..*".into()],
        skip: vec!["a.b.*".into()],
        policy: veneer_protocol::Policy::Call,
        calls: vec!["x.Y::*(..)".into()],
        keep_data: true,
        cache: Some("/cache/veneer".into()),
        ..veneer_protocol::AgentConfig::new(fs::canonicalize(&data).unwrap())
    };
    assert_eq!(config, expected);
}

#[test]
fn a_missing_report_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let report = root.path().join("r.json");
    fs::write(&report, "an old one").unwrap();
    let output = veneer()
        .args(["run", "--report"])
        .arg(&report)
        .args(["--", "sh", "-c", "exit 3"])
        .env("VENEER_AGENT", no_agent())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no report was written to"), "{text}");
}

#[test]
fn a_broken_plan_stops_a_strict_run_only() {
    let root = tempfile::tempdir().unwrap();
    let plan = root.path().join("broken.rhai");
    fs::write(&plan, "let a = 1;\nlet b = (a + ;\n").unwrap();
    let run = |strict: &[&str]| {
        let mut veneer = veneer();
        veneer.arg("run").args(strict).arg("--plan").arg(&plan);
        veneer
            .args(["--", "sh", "-c", "echo started"])
            .env("VENEER_AGENT", no_agent());
        veneer.output().unwrap()
    };
    let output = run(&["--strict"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(text.contains("broken.rhai:2:"), "{text}");
    assert!(text.contains("let b = (a + ;"), "{text}");
    assert!(text.trim_end().ends_with('^'), "{text}");
    let output = run(&[]);
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b"started\n"[..])
    );
}
