//! Event traces of programs and directories that are hard to record. The program's own count of its calls
//! is the number of recorded calls and of calls that the summary names as not recorded.

use std::path::{Path, PathBuf};
use std::process::Child;

use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::jdk;
use veneer_tests::live::{Live, private_directory, until, user};
use veneer_tests::process::Process;
use veneer_tests::trace_recording::start_recording;
use veneer_tests::trace_rows::query;

type AnyError = Box<dyn std::error::Error>;
/// The threads of a test.
const THREADS: u64 = 10_000;
const CALL: &str = "tracing.Hardships::call()V";

/// A program that is being recorded.
struct Recorded {
    live: Live,
    child: Child,
    trace: PathBuf,
}

impl Recorded {
    /// Starts the program and a recording that goes on until it is interrupted.
    fn start(programs: &Programs, name: &str) -> Result<Recorded, AnyError> {
        Recorded::start_as(programs, name, |java| java)
    }

    /// Starts the command that `wrap` makes of the program's.
    fn start_as(
        programs: &Programs,
        name: &str,
        wrap: impl FnOnce(Process) -> Process,
    ) -> Result<Recorded, AnyError> {
        let java = programs
            .launcher()
            .arg("-Djdk.lang.Process.launchMechanism=FORK")
            .arg("-cp")
            .arg(programs.classes().path())
            .arg("tracing.Hardships");
        let live = Live::start(&wrap(java))?;
        let trace = programs.classes().join(name).join("trace");
        let child = start_recording(&live, "tracing..*", &["--for", "600"], &trace)?;
        Ok(Recorded { live, child, trace })
    }

    /// Lets the program do something. Returns the number of calls of `call` so far.
    fn work(&mut self, line: &str) -> Result<u64, AnyError> {
        self.live.say(line)?;
        Ok(self.live.line("done ")?.parse()?)
    }

    /// Ends the recording as Ctrl-C does. Returns its exit code and what it printed to standard output.
    fn interrupt(&mut self) -> Result<(Option<i32>, String), AnyError> {
        let pid = i32::try_from(self.child.id())?;
        // SAFETY: a system call with plain values; the process is a child of this test.
        unsafe { libc::kill(pid, libc::SIGINT) };
        self.finish()
    }

    fn finish(&mut self) -> Result<(Option<i32>, String), AnyError> {
        let mut out = self.child.stdout.take().ok_or("no standard output")?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut out, &mut text)?;
        Ok((self.child.wait()?.code(), text))
    }

    /// The directory of the JVM's data.
    fn data(&self) -> PathBuf {
        private_directory(user()).join(format!("{}.data", self.live.pid()))
    }
}

/// The number of recorded calls of a method, by the way in which they ended.
fn ended(trace: &Path, method: &str) -> Result<Vec<(String, u64)>, AnyError> {
    let rows = query(
        trace,
        &format!(r#"calls("tracing.Hardships::{method}(..)").by("ended").show("ended", "count")"#),
    )?;
    let rows = rows.iter().map(|row| {
        let way = row["ended"].as_str().unwrap_or_default().to_owned();
        (way, row["count"].as_u64().unwrap_or_default())
    });
    Ok(rows.collect())
}

/// The calls of a method that the summary names as not recorded.
fn not_recorded(summary: &str, method: &str) -> u64 {
    let number = |line: &str| {
        line.trim()
            .strip_suffix(method)?
            .split(' ')
            .next()?
            .parse()
            .ok()
    };
    summary.lines().find_map(number).unwrap_or_default()
}

#[test]
fn each_call_of_10_000_threads_is_recorded_or_counted() -> Outcome {
    on_a_jdk_with("tracing", |programs| {
        for (command, at_least) in [("alive", 200), ("ended", THREADS * 9 / 10)] {
            let mut recorded = Recorded::start(programs, command)?;
            assert_eq!(recorded.work(&format!("{command} {THREADS}"))?, THREADS);
            let (code, summary) = recorded.interrupt()?;
            assert_eq!(code, Some(0), "{summary}");
            let calls = ended(&recorded.trace, "call")?;
            let [(way, count)] = &calls[..] else {
                return Err(format!("{calls:?}").into());
            };
            assert_eq!(way, "exit");
            assert!(*count >= at_least, "{summary}");
            assert_eq!(count + not_recorded(&summary, CALL), THREADS, "{summary}");
            // The program goes on, and can be recorded again.
            let again = recorded.trace.with_file_name("again");
            recorded.child =
                start_recording(&recorded.live, "tracing..*", &["--for", "600"], &again)?;
            assert_eq!(recorded.work("ended 3")?, THREADS + 3);
            assert_eq!(recorded.interrupt()?.0, Some(0));
            assert_eq!(ended(&again, "call")?, [("exit".to_owned(), 3)]);
            recorded.live.stop()?.succeeded("Hardships")?;
        }
        Ok(())
    })
}

#[test]
fn a_thread_that_is_stopped_in_a_call_ends_its_calls() -> Outcome {
    let jdk = jdk::oldest();
    if jdk.major() >= 20 {
        // Later JDKs stop no thread.
        return Ok(());
    }
    let programs = Programs::compile_folder(jdk, "tracing")?;
    let mut recorded = Recorded::start(&programs, "stopped")?;
    assert_eq!(recorded.work("stopped")?, 1);
    assert_eq!(recorded.interrupt()?.0, Some(0));
    assert_eq!(
        ended(&recorded.trace, "endless")?,
        [("throw".to_owned(), 1)]
    );
    let thrown = query(
        &recorded.trace,
        r#"calls("tracing.Hardships::call(..)").show("thread_name", "parent", "depth")"#,
    )?;
    assert_eq!(thrown.len(), 1);
    assert_eq!(thrown[0]["thread_name"], "stopped");
    recorded.live.stop()?.succeeded("Hardships")?;
    Ok(())
}

#[test]
fn a_jvm_that_ends_in_a_call_leaves_the_call_open() -> Outcome {
    on_a_jdk_with("tracing", |programs| {
        // `veneer run` removes the data of its JVM, but not before the trace is taken.
        let below_run = |java| run(&[], &java);
        for mut recorded in [
            Recorded::start(programs, "halted")?,
            Recorded::start_as(programs, "halted-below-run", below_run)?,
        ] {
            recorded.live.say("halt")?;
            recorded.live.line("halting")?;
            let (code, summary) = recorded.finish()?;
            assert_eq!(code, Some(0), "{summary}");
            assert_eq!(ended(&recorded.trace, "halted")?, [("cut".to_owned(), 1)]);
            assert_eq!(ended(&recorded.trace, "call")?, [("exit".to_owned(), 1)]);
        }
        Ok(())
    })
}

#[test]
fn a_program_that_forks_is_recorded_alone() -> Outcome {
    on_a_jdk_with("tracing", |programs| {
        let mut recorded = Recorded::start(programs, "processes")?;
        assert_eq!(recorded.work("processes 20")?, 20);
        let (code, summary) = recorded.interrupt()?;
        assert_eq!(code, Some(0), "{summary}");
        assert_eq!(ended(&recorded.trace, "call")?, [("exit".to_owned(), 20)]);
        assert!(!summary.contains("damaged"), "{summary}");
        recorded.live.stop()?.succeeded("Hardships")?;
        Ok(())
    })
}

#[test]
fn a_directory_that_vanishes_is_an_error_and_the_program_goes_on() -> Outcome {
    on_a_jdk_with("tracing", |programs| {
        // The directory into which the trace is moved comes back.
        let mut recorded = Recorded::start(programs, "vanishes")?;
        let parent = recorded.trace.parent().ok_or("no parent")?;
        std::fs::remove_dir_all(parent)?;
        recorded.work("ended 10")?;
        assert_eq!(recorded.interrupt()?.0, Some(0));
        assert_eq!(ended(&recorded.trace, "call")?, [("exit".to_owned(), 10)]);

        // The directory in which the JVM writes does not.
        let lost = recorded.trace.with_file_name("lost");
        recorded.child = start_recording(&recorded.live, "tracing..*", &["--for", "600"], &lost)?;
        recorded.work("ended 10")?;
        let is_trace =
            |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().contains("-trace-");
        let entries = std::fs::read_dir(recorded.data())?.collect::<Result<Vec<_>, _>>()?;
        let traces: Vec<_> = entries.iter().filter(|entry| is_trace(entry)).collect();
        assert_eq!(traces.len(), 1);
        std::fs::remove_dir_all(traces[0].path())?;
        recorded.work("ended 10")?;
        assert_eq!(recorded.interrupt()?.0, Some(2));
        assert!(!lost.exists());

        // Nothing stays attached, and the next recording is whole.
        let attached = || {
            recorded
                .live
                .value("instruments().filter(|i| i.attached).len()")
        };
        until("instruments", attached, |n| n == "0")?;
        let next = recorded.trace.with_file_name("next");
        recorded.child = start_recording(&recorded.live, "tracing..*", &["--for", "600"], &next)?;
        recorded.work("ended 10")?;
        assert_eq!(recorded.interrupt()?.0, Some(0));
        assert_eq!(ended(&next, "call")?, [("exit".to_owned(), 10)]);
        recorded.live.stop()?.succeeded("Hardships")?;
        Ok(())
    })
}
