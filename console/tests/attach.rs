//! Tests `veneer exec` and `veneer refusals` with real processes: the attach protocol up to the
//! loading of the library, and every kind of process that must not be changed.

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Jvm, NOBODY, jdks, no_agent, outcome, refusal, veneer};

fn exec(pid: &str) -> Command {
    let mut command = veneer();
    command
        .args(["exec", pid, "-e", "1"])
        .env("VENEER_AGENT", no_agent());
    command
}

fn is_root() -> bool {
    // SAFETY: `geteuid` has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn the_jvm_is_reached_and_its_answer_is_shown() {
    for home in jdks() {
        let jvm = Jvm::start(&home, &[]);
        // In the second iteration the attach listener of the JVM is already running.
        for _ in 0..2 {
            let line = refusal(&mut exec(&jvm.pid()));
            assert!(line.contains("did not load the agent"), "{line}");
            assert!(line.contains("Agent_OnAttach is not available"), "{line}");
        }
        let left: Vec<_> = fs::read_dir(jvm.directory())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name.as_encoded_bytes().starts_with(b".attach"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        jvm.end_undisturbed();
    }
}

#[test]
fn jvms_with_unusual_signals_are_not_disturbed() {
    for home in jdks() {
        let jvm = Jvm::start(&home, &["-XX:+DisableAttachMechanism"]);
        let line = refusal(&mut exec(&jvm.pid()));
        assert!(
            line.contains("DisableAttachMechanism") && line.contains("veneer run"),
            "{line}"
        );
        jvm.end_undisturbed();
        // With -Xrs the JVM has no handler for SIGQUIT, so the signal would end the JVM. The attach
        // listener starts with the JVM.
        let jvm = Jvm::start(&home, &["-Xrs"]);
        let line = refusal(&mut exec(&jvm.pid()));
        assert!(line.contains("Agent_OnAttach is not available"), "{line}");
        jvm.end_undisturbed();
    }
}

#[test]
fn an_option_that_only_the_counters_show_is_found() {
    let home = jdks().remove(0);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "-XX:+DisableAttachMechanism\n").unwrap();
    let jvm = Jvm::start(&home, &[&format!("@{}", file.path().display())]);
    let line = refusal(&mut exec(&jvm.pid()));
    assert!(line.contains("DisableAttachMechanism"), "{line}");
    jvm.end_undisturbed();
}

#[test]
fn a_jvm_without_counters_is_reached() {
    let jvm = Jvm::start(&jdks().remove(0), &["-XX:-UsePerfData"]);
    let line = refusal(&mut exec(&jvm.pid()));
    assert!(line.contains("Agent_OnAttach is not available"), "{line}");
    jvm.end_undisturbed();
}

#[test]
fn a_stopped_jvm_is_reported_as_stopped() {
    let jvm = Jvm::start(&jdks().remove(0), &[]);
    jvm.signal(libc::SIGSTOP);
    let state = || fs::read_to_string(format!("/proc/{}/status", jvm.pid())).unwrap();
    common::eventually("the stop", || state().contains("State:\tT"));
    let line = refusal(&mut exec(&jvm.pid()));
    assert!(line.contains("is stopped"), "{line}");
    jvm.signal(libc::SIGCONT);
    jvm.end_undisturbed();
}

#[test]
fn processes_that_are_not_jvms_are_not_disturbed() {
    let mut sleep = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleep.id().to_string();
    let comm = format!("/proc/{pid}/comm");
    common::eventually("exec", || fs::read_to_string(&comm).unwrap() == "sleep\n");
    for command in [&mut exec(&pid), veneer().args(["refusals", &pid])] {
        let line = refusal(command);
        assert!(line.contains("(sleep) is no JVM"), "{line}");
    }
    assert!(sleep.try_wait().unwrap().is_none());
    sleep.kill().unwrap();
    // The process is first a zombie and then does not exist any more.
    common::eventually("the end", || {
        refusal(&mut exec(&pid)).contains("has ended already")
    });
    sleep.wait().unwrap();
    let line = refusal(&mut exec(&pid));
    assert!(
        line.contains(&format!("there is no process {pid}")),
        "{line}"
    );
}

#[test]
fn the_id_of_a_thread_leads_to_its_process() {
    let jvm = Jvm::start(&jdks().remove(0), &[]);
    let pid = jvm.pid();
    let thread = fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|id| *id != pid)
        .unwrap();
    let line = refusal(&mut exec(&thread));
    assert!(
        line.contains(&format!("is a thread of process {pid}")),
        "{line}"
    );
    jvm.end_undisturbed();
}

#[test]
fn the_owner_of_the_process_decides() {
    if !is_root() {
        // Without root, the test cannot start a JVM as another user. Process 1 belongs to root.
        let line = refusal(&mut exec("1"));
        assert!(line.contains("belongs to user 0"), "{line}");
        return;
    }
    let jvm = Jvm::start_as(&jdks().remove(0), &[], Some(NOBODY));
    // Root may attach, and leaves files that belong to the JVM's user.
    let line = refusal(&mut exec(&jvm.pid()));
    assert!(line.contains("Agent_OnAttach is not available"), "{line}");
    let directory = format!("/tmp/veneer-{NOBODY}");
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&directory).unwrap());
    assert_eq!(owner, NOBODY);
    // No agent was loaded, so no directory of the agent remains.
    assert!(
        !Path::new(&directory)
            .join(format!("{}.data", jvm.pid()))
            .exists()
    );
    // A third user may not attach. The command is copied, because that user may be unable to reach
    // its directory.
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("veneer");
    fs::copy(env!("CARGO_BIN_EXE_veneer"), &copy).unwrap();
    let third = NOBODY - 1;
    std::os::unix::fs::chown(directory.path(), Some(third), None).unwrap();
    let mut command = Command::new(&copy);
    std::os::unix::process::CommandExt::uid(&mut command, third);
    let line = refusal(command.args(["exec", &jvm.pid(), "-e", "1"]));
    assert!(
        line.contains(&format!("belongs to user {NOBODY}")),
        "{line}"
    );
    jvm.end_undisturbed();
}

#[test]
fn refusals_need_an_agent_and_load_none() {
    let jvm = Jvm::start(&jdks().remove(0), &[]);
    let line = refusal(veneer().args(["refusals", &jvm.pid()]));
    assert!(
        line.contains("there is no agent") && line.contains("veneer exec"),
        "{line}"
    );
    jvm.end_undisturbed();
}

#[test]
fn a_socket_of_another_process_is_not_trusted() {
    let jvm = Jvm::start(&jdks().remove(0), &[]);
    // SAFETY: `geteuid` has no preconditions.
    let uid = unsafe { libc::geteuid() };
    let socket = veneer_protocol::socket_path(uid, jvm.pid().parse().unwrap());
    let directory = socket.parent().unwrap();
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory).unwrap();
    // An earlier process with the same id may have been killed and have left its socket.
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    // First this process listens instead of the JVM; later no process listens.
    let line = refusal(veneer().args(["refusals", &jvm.pid()]));
    assert!(line.contains("there is no agent"), "{line}");
    drop(listener);
    let line = refusal(veneer().args(["refusals", &jvm.pid()]));
    assert!(line.contains("there is no agent"), "{line}");
    fs::remove_file(&socket).unwrap();
    jvm.end_undisturbed();
}

#[test]
fn a_missing_agent_or_program_is_reported() {
    let jvm = Jvm::start(&jdks().remove(0), &[]);
    let pid = jvm.pid();
    let line = refusal(exec(&pid).env("VENEER_AGENT", "/nonexistent.so"));
    assert!(line.contains("VENEER_AGENT is /nonexistent.so"), "{line}");
    let line = refusal(veneer().args(["exec", &pid, "/nonexistent.rhai"]));
    assert!(line.contains("/nonexistent.rhai cannot be read"), "{line}");
    jvm.end_undisturbed();
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = veneer()
        .args(["fragments", "jrt:/java.base"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let (code, _, stderr) = outcome(&child.wait_with_output().unwrap());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}
