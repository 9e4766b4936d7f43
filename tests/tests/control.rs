//! JVMs that were started independently: they are found, attached to, inspected, and left without a
//! trace.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use veneer_tests::command::{json, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, event_timeout, private_directory, until, user};
use veneer_tests::process::Process;
use veneer_tests::sample_service::{handle_orders, stop_and_check};
use veneer_tests::skip::{Need, skip};

#[test]
fn a_jvm_is_found_and_shown_with_what_is_attached() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        let mine = || -> Result<Value, Box<dyn std::error::Error>> {
            let all = json(&["ps", "--match", "Desk", "--json"])?;
            let all = all.as_array().ok_or("no array")?;
            let one = all.iter().find(|one| one["pid"] == live.pid());
            Ok(one.ok_or("it is not shown")?.clone())
        };
        let before = mine()?;
        assert_eq!(before["main"], "Desk");
        assert_eq!(before["jdk"], programs.jdk().major());
        assert!(before.get("veneer").is_none(), "{before}");

        let output = veneer().args(["attach", &pid]).run()?.succeeded("attach")?;
        assert!(
            output.out.contains("came in; attached: nothing"),
            "{}",
            output.out
        );
        let output = veneer().args(["attach", &pid]).run()?.succeeded("attach")?;
        assert!(output.out.contains("has been in for"), "{}", output.out);
        assert_eq!(mine()?["veneer"]["loads"], Value::Array(vec![]));
        assert_eq!(mine()?["veneer"]["classes_armed"], 0);

        let counter =
            "let c = methods(\"Desk::serve(..)\").before(counter()); every(60.0, || ()); c";
        live.exec(counter)?.succeeded("exec")?;
        let status = json(&["patches", &pid, "--json"])?;
        let load = &status[0]["loads"][0];
        assert_eq!(load["plan"], "-e", "{status}");
        assert_eq!(
            (&load["held"], &load["callbacks"]),
            (&Value::Bool(false), &1.into()),
            "{status}"
        );
        assert!(
            load["owner"]
                .as_str()
                .is_some_and(|owner| owner.starts_with(&format!("uid {} pid ", user()))),
            "{status}"
        );
        assert_eq!(load["instruments"][0]["kind"], "counter", "{status}");
        assert_eq!(load["instruments"][0]["methods"], 1, "{status}");
        assert_eq!(mine()?["veneer"]["classes_armed"], 1);
        let shown = veneer()
            .args(["patches", &pid])
            .run()?
            .succeeded("patches")?
            .out;
        let id = load["instruments"][0]["id"].as_str().ok_or("no id")?;
        for word in [
            id,
            load["id"].as_str().ok_or("no id")?,
            "1 in 1",
            "1 callback waits",
        ] {
            assert!(shown.contains(word), "{word} in {shown}");
        }
        let shown = veneer().arg("ps").run()?.succeeded("ps")?.out;
        let line = shown
            .lines()
            .find(|line| line.trim_start().starts_with(&pid));
        assert!(
            line.is_some_and(|line| line.contains("Desk") && line.contains("1 instrument")),
            "{shown}"
        );
        handle_orders(&mut live, 10)?;
        stop_and_check(live)
    })
}

#[test]
fn a_named_instrument_is_detached_whichever_client_attached_it() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        handle_orders(&mut live, 1)?;
        let attach = "methods(\"Desk::serve(..)\").before(counter())";
        let first = live.value(&format!("{attach}.id()"))?;
        let two = format!(
            "let a = {attach}; let b = {attach}; every(0.1, || ()); a.id() + \" \" + b.id()"
        );
        let both = live.value(&two)?;
        let loads = json(&["patches", &pid, "--json"])?;
        let load = loads[0]["loads"][1]["id"]
            .as_str()
            .ok_or("no load")?
            .to_string();

        let detached = json(&["detach", &pid, &first, "--json"])?;
        assert_eq!(
            detached[0]["taken"],
            Value::Array(vec![first.clone().into()])
        );
        let again = veneer().args(["detach", &pid, &first]).run()?;
        assert_eq!(again.code, 1, "{again:?}");
        assert!(
            again.err.contains(&format!("has no {first}")),
            "{}",
            again.err
        );
        handle_orders(&mut live, 100)?;
        assert_eq!(live.sum(&first)?, 0);
        for id in both.split(' ') {
            assert_eq!(live.sum(id)?, 100);
        }
        let detached = json(&["detach", &pid, &load, "--json"])?;
        assert_eq!(
            detached[0]["taken"].as_array().map(Vec::len),
            Some(2),
            "{detached}"
        );
        assert_eq!(
            json(&["patches", &pid, "--json"])?[0]["loads"],
            Value::Array(vec![])
        );

        live.value(attach)?;
        live.value(attach)?;
        let detached = json(&["detach", &pid, "--all", "--json"])?;
        assert_eq!(
            detached[0]["taken"].as_array().map(Vec::len),
            Some(2),
            "{detached}"
        );
        for (words, expected) in [
            (
                &["detach", &pid, "x7"][..],
                "neither a process id nor something that is attached",
            ),
            (&["detach", &pid], "say what to take off"),
            (&["detach", "i7"], "name a process id"),
            (&["detach", &pid, "--all", "i7"], "remove the ids"),
            (
                &["detach", "--match", "NoSuchMain", "--all"],
                "no JVM that you may attach to runs a main class that matches `NoSuchMain`",
            ),
        ] {
            let output = veneer().args(words).run()?;
            assert_eq!(output.code, 2, "{words:?}: {}", output.err);
            assert!(output.err.contains(expected), "{words:?}: {}", output.err);
        }
        stop_and_check(live)
    })
}

#[test]
fn each_client_owns_its_instruments_and_its_lease_ends_with_it() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        handle_orders(&mut live, 1)?;
        let attach = "methods(\"Desk::serve(..)\").before(counter())";
        let mine = live.value(&format!("{attach}.id()"))?;
        let held = veneer()
            .args(["exec", &pid, "--hold=1", "-e", attach])
            .start()?;
        let holder = held.id();
        let loads = || -> Result<Value, veneer_tests::live::LiveError> {
            let status = json(&["patches", &pid, "--json"]);
            let status =
                status.map_err(|e| veneer_tests::live::LiveError::Answer(e.to_string()))?;
            Ok(status[0]["loads"].clone())
        };
        let count = |loads: &Value| loads.as_array().map_or(0, Vec::len);
        let both = until("the second client", loads, |loads| count(loads) == 2)?;
        assert_eq!(both[1]["held"], true, "{both}");
        assert_eq!(
            both[1]["owner"],
            format!("uid {} pid {holder}", user()),
            "{both}"
        );
        let mut held = held;
        held.kill()?;
        held.wait()?;
        let left = until("the end of the lease", loads, |loads| count(loads) == 1)?;
        assert_eq!(left[0]["instruments"][0]["id"], mine.as_str(), "{left}");
        handle_orders(&mut live, 10)?;
        assert_eq!(live.sum(&mine)?, 10);
        stop_and_check(live)
    })
}

/// A pipe without a reader fails each write to standard error. The recording and its exit code do not
/// depend on that.
#[test]
fn a_recording_goes_on_when_nobody_reads_its_messages() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        let folder = Folder::new("unread-messages")?;
        let calls = folder.join("c.calls");
        let pid = live.pid().to_string();
        let command = veneer()
            .args(["calls", &pid, "Desk..*", "--for", "1", "-o"])
            .arg(&calls);
        let script =
            format!("set -f; exec 3>&1; {{ {command} 2>&1 >/dev/null; echo $? >&3; }} | true");
        let shell = Process::new("/bin/sh").args(["-c", &script]);
        let out = shell.limit(event_timeout()).run()?;
        assert_eq!(out.out.trim(), "0", "{}", out.err);
        assert!(calls.exists());
        handle_orders(&mut live, 10)?;
        stop_and_check(live)
    })
}

#[test]
fn a_jvm_in_its_own_pid_namespace_is_found_by_its_outer_id() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let java = programs
            .java("Desk")
            .wrapped_in("unshare", &["--pid", "--fork", "--mount-proc"]);
        if user() != 0 {
            return Ok(skip(Need::Root("may make a process namespace"))?);
        }
        let mut live = Live::start(&java)?;
        handle_orders(&mut live, 1)?;
        // The JVM sees itself as the first process of its namespace.
        assert_eq!(live.pid(), 1);
        let all = json(&["ps", "--match", "Desk", "--json"])?;
        let all = all.as_array().ok_or("no array")?;
        let one = all
            .iter()
            .find(|one| one["own_pid"] == 1)
            .ok_or("it is not shown")?;
        let pid = one["pid"].to_string();
        let counter = "methods(\"Desk::serve(..)\").before(counter()).id()";
        let id = veneer()
            .args(["exec", &pid, "-e", counter])
            .run()?
            .succeeded("exec")?
            .out;
        handle_orders(&mut live, 30)?;
        // The command and the JVM share one file system.
        assert_eq!(live.sum(id.trim())?, 30);
        let output = veneer()
            .args(["detach", &pid, "--unload"])
            .run()?
            .succeeded("unload")?;
        assert!(
            output
                .out
                .contains("1 class has its own code again, 0 are left armed"),
            "{}",
            output.out
        );
        stop_and_check(live)
    })
}

#[test]
fn attaching_to_a_hanging_jvm_fails_with_the_cause_of_the_hang() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let java = programs
            .launcher()
            .args([
                "-XX:-UseCountedLoopSafepoints",
                "-XX:LoopStripMiningIter=0",
                "-XX:+UseSerialGC",
            ])
            .arg("-cp")
            .arg(programs.classes().path())
            .args(["Hanging", "14"]);
        let mut live = Live::start(&java)?;
        thread::sleep(Duration::from_millis(700));
        let pid = live.pid().to_string();
        let output = veneer()
            .args(["attach", &pid, "--timeout", "1"])
            .limit(event_timeout())
            .run()?;
        assert_eq!(output.code, 2, "{output:?}");
        assert!(
            output.err.contains("`spinner`") && output.err.contains("runs without a stop"),
            "{}",
            output.err
        );
        // The JVM continues normally, and accepts the agent later.
        live.line("collected true")?;
        let output = veneer()
            .args(["attach", &pid])
            .limit(event_timeout())
            .run()?
            .succeeded("attach")?;
        assert!(output.out.contains("attached: nothing"), "{}", output.out);
        live.stop()?.succeeded("Hanging")?;
        Ok(())
    })
}

#[test]
fn an_agent_of_another_version_is_reported_and_not_used() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let directory = private_directory(user()).display().to_string();
        let hello = "{\"hello\":{\"version\":\"0.0.9\",\"pid\":1,\"protocol\":1}}";
        let live = Live::start(&programs.java("Impostor").args([&directory, hello]))?;
        let pid = live.pid().to_string();
        for words in [
            &["attach", &pid][..],
            &["detach", &pid, "--unload"],
            &["exec", &pid, "-e", "1"],
            &["patches", &pid],
        ] {
            let output = veneer().args(words).limit(event_timeout()).run()?;
            assert_eq!(output.code, 2, "{words:?}: {output:?}");
            assert!(
                output
                    .err
                    .contains("speaks version 1 of the protocol (Veneer 0.0.9)"),
                "{words:?}: {}",
                output.err
            );
        }
        let doctor = veneer().args(["doctor", &pid]).run()?;
        assert_eq!(doctor.code, 1, "{doctor:?}");
        assert!(
            doctor.out.contains("use the command of that version"),
            "{}",
            doctor.out
        );
        live.stop()?;
        Ok(())
    })
}

#[test]
fn the_doctor_reports_each_problem_with_its_remedy() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let with = |option: &str| {
            let java = programs
                .launcher()
                .arg(option)
                .arg("-cp")
                .arg(programs.classes().path());
            Live::start(&java.arg("Desk"))
        };
        for (option, works, expected) in [
            ("-Xmx64m", true, "the JVM takes agents while it runs"),
            (
                "-XX:+DisableAttachMechanism",
                false,
                "start it under `veneer run`, or without that option",
            ),
            (
                "-XX:-EnableDynamicAgentLoading",
                false,
                "start it with -XX:+EnableDynamicAgentLoading",
            ),
            ("-Xint", true, "without the optimising compiler"),
        ] {
            let live = with(option)?;
            let pid = live.pid().to_string();
            let doctor = veneer().args(["doctor", &pid]).run()?;
            assert_eq!(doctor.code, i32::from(!works), "{option}: {doctor:?}");
            assert!(doctor.out.contains(expected), "{option}: {}", doctor.out);
            let findings = veneer().args(["doctor", &pid, "--json"]).run()?;
            let findings: Value = serde_json::from_str(&findings.out)?;
            assert!(
                findings
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one["what"] == "attaching")),
                "{findings}"
            );
            let attached = veneer()
                .args(["attach", &pid])
                .limit(event_timeout())
                .run()?;
            assert_eq!(attached.code == 0, works, "{option}: {attached:?}");
            stop_and_check(live)?;
        }
        let nobody = veneer().args(["doctor", "4194304"]).run()?;
        assert!(
            nobody.code == 1 && nobody.out.contains("there is no process 4194304"),
            "{nobody:?}"
        );
        Ok(())
    })
}

#[test]
fn commands_on_several_jvms_are_answered_separately_or_merged() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut both = [
            Live::start(&programs.java("Desk"))?,
            Live::start(&programs.java("Desk"))?,
        ];
        for live in &mut both {
            handle_orders(live, 1)?;
        }
        let pids: Vec<String> = both.iter().map(|live| live.pid().to_string()).collect();
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        let thirds = |n: i64| {
            let keys = ["()", "c1", "c2"].map(|key| (key.to_owned(), n));
            BTreeMap::from(keys)
        };
        for merge in [false, true] {
            let mut words = vec!["count".to_owned()];
            words.extend(pids.clone());
            let more = [
                "Desk::serve(..)",
                "--by",
                "order.customer",
                "--every",
                "0.2",
                "--json",
            ];
            words.extend(more.map(String::from));
            words.extend(merge.then(|| "--merge".to_owned()));
            let mut asking = veneer().args(&words).start()?;
            let mut lines = BufReader::new(asking.stdout.take().ok_or("no output")?).lines();
            for (live, count) in both.iter_mut().zip([300, 600]) {
                until("a question", || attached(live), |n| n == "1")?;
                handle_orders(live, count)?;
            }
            // Wait until the figures have their expected values. They cannot exceed them; the
            // test's time limit ends the wait.
            let mut wanted = match merge {
                true => vec![("jvms", 2, thirds(300))],
                false => vec![
                    ("pid", both[0].pid(), thirds(100)),
                    ("pid", both[1].pid(), thirds(200)),
                ],
            };
            let end = std::time::Instant::now() + event_timeout();
            while !wanted.is_empty() {
                let line = lines.next().ok_or("the command has ended")??;
                let line: Value = serde_json::from_str(&line)?;
                let rows = line["rows"].as_array().cloned().unwrap_or_default();
                let row = |row: &Value| {
                    let key = row["keys"][0].as_str().unwrap_or("()").to_owned();
                    (key, row["count"].as_i64().unwrap_or(-1))
                };
                let rows: BTreeMap<String, i64> = rows.iter().map(row).collect();
                wanted.retain(|(of, is, all)| line[*of] != *is || rows != *all);
                assert!(
                    std::time::Instant::now() < end,
                    "{wanted:?} did not come; last: {line}"
                );
            }
            asking.kill()?;
            asking.wait()?;
            for live in &both {
                until("the end of a question", || attached(live), |n| n == "0")?;
            }
        }
        both.into_iter().try_for_each(stop_and_check)
    })
}

#[test]
fn activations_that_began_before_the_agent_are_reported_as_unreachable() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        handle_orders(&mut live, 1)?;
        let counter = "methods(\"Desk::round()\").loops().before(counter()).hits()";
        // Who names a class hears of it once, and who names more than that does not.
        for (pattern, warns) in [("*..D*::*(..)", false), ("Desk", true), ("*..Desk", false)] {
            let plan = format!("methods(\"{pattern}\").before(counter()); ()");
            let output = live.exec(&plan)?.succeeded("exec")?;
            assert_eq!(
                output.out.contains("warning"),
                warns,
                "{pattern}: {}",
                output.out
            );
            live.value("detach_all()")?;
        }
        for _ in 0..2 {
            let output = live.exec(counter)?.succeeded("exec")?;
            let words = "warning: 1 activation of Desk::round began before the class was armed: it is not seen until the return";
            assert!(output.out.contains(words), "{}", output.out);
        }
        let output = live
            .exec("methods(\"Desk::serve(..)\").before(counter())")?
            .succeeded("exec")?;
        assert!(!output.out.contains("warning"), "{}", output.out);
        stop_and_check(live)?;

        let mut armed = programs.armed("Desk")?;
        handle_orders(&mut armed, 1)?;
        let output = armed.exec(counter)?.succeeded("exec")?;
        assert!(!output.out.contains("warning"), "{}", output.out);
        let id = armed.value("methods(\"Desk::round()\").loops().before(counter()).id()")?;
        until("a turn of the loop", || armed.sum(&id), |turns| *turns > 0)?;
        stop_and_check(armed)
    })
}

#[test]
fn a_socket_of_another_process_is_not_taken_for_an_agent() -> Outcome {
    on_a_jdk_with("control", |programs| {
        for alive in [false, true] {
            let mut live = Live::start(&programs.java("Desk"))?;
            handle_orders(&mut live, 1)?;
            let pid = live.pid().to_string();
            let path = live.socket();
            if let Some(directory) = path.parent().filter(|directory| !directory.exists()) {
                fs::create_dir(directory)?;
                fs::set_permissions(
                    directory,
                    std::os::unix::fs::PermissionsExt::from_mode(0o700),
                )?;
            }
            // An earlier process with the same id may have been killed and left a socket.
            let _ = fs::remove_file(&path);
            // The socket was left by an earlier process with the same id, or it belongs to a
            // running process (this one).
            let listener = std::os::unix::net::UnixListener::bind(&path)?;
            let kept = alive.then_some(listener);
            let output = veneer()
                .args(["patches", &pid])
                .limit(event_timeout())
                .run()?;
            assert_eq!(output.code, 2, "{output:?}");
            assert!(
                output.err.contains("there is no agent in process"),
                "{}",
                output.err
            );
            let output = veneer()
                .args(["attach", &pid])
                .limit(event_timeout())
                .run()?
                .succeeded("attach")?;
            assert!(output.out.contains("came in"), "{}", output.out);
            let id = live.value("methods(\"Desk::serve(..)\").before(counter()).id()")?;
            handle_orders(&mut live, 20)?;
            assert_eq!(live.sum(&id)?, 20);
            stop_and_check(live)?;
            drop(kept);
        }
        Ok(())
    })
}

#[test]
fn a_jvm_of_another_user_is_reported_and_not_changed() -> Outcome {
    if user() != 0 {
        return Ok(skip(Need::Root("can be somebody else"))?);
    }
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        let as_other = |words: &[&str]| {
            let other = ["--reuid", "47119", "--regid", "47119", "--clear-groups"];
            veneer()
                .args(words)
                .wrapped_in("setpriv", &other)
                .limit(event_timeout())
                .run()
        };
        for words in [
            &["attach", &pid][..],
            &["detach", &pid, "--unload"],
            &["patches", &pid],
            &["exec", &pid, "-e", "1"],
            &["count", &pid, "Desk::serve(..)"],
        ] {
            let output = as_other(words)?;
            assert_eq!(output.code, 2, "{words:?}: {output:?}");
            assert!(
                output.err.contains("belongs to user 0, not to you"),
                "{words:?}: {}",
                output.err
            );
        }
        let shown = as_other(&["ps", "--json"])?.succeeded("ps")?;
        let own = |text: &str| -> Result<Vec<Value>, serde_json::Error> {
            let all: Vec<Value> = serde_json::from_str(text)?;
            Ok(all
                .into_iter()
                .filter(|one| one["pid"] == live.pid())
                .collect())
        };
        assert!(own(&shown.out)?.is_empty(), "{}", shown.out);
        let all = own(&as_other(&["ps", "--all", "--json"])?.succeeded("ps")?.out)?;
        assert!(
            all.len() == 1
                && all[0]["problem"]
                    .as_str()
                    .is_some_and(|p| p.contains("belongs to user 0")),
            "{all:?}"
        );
        let doctor = as_other(&["doctor", &pid])?;
        assert!(
            doctor.code == 1 && doctor.out.contains("run the command as that user"),
            "{doctor:?}"
        );
        assert!(!live.socket().exists());
        handle_orders(&mut live, 5)?;
        stop_and_check(live)
    })
}
