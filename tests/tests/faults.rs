//! Faults: killed processes, leases, exhausted memory and stack, plans that fail, full disks,
//! interrupted conversations. `docs/faults.md` states the behaviour in each case.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, check_loop_result, on_a_jdk_with};
use veneer_tests::jdk;
use veneer_tests::live::{Live, number, until, user};
use veneer_tests::process::{Process, end_group};
use veneer_tests::report::Report;
use veneer_tests::skip::{Need, skip};

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Writes a plan to a folder, and returns its path.
fn plan(folder: &Folder, source: &str) -> Result<String, std::io::Error> {
    let path = folder.join("plan.rhai");
    std::fs::write(&path, source)?;
    Ok(text(&path))
}

fn signal(pid: u32, signal: i32) {
    // SAFETY: a plain system call; the process was started by this test and has not been waited
    // for.
    unsafe { libc::kill(pid as i32, signal) };
}

/// Returns the output of `veneer report --json` for the only JVM in a data directory.
fn read_data_directory(data: &str) -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let output = veneer()
        .args(["report", data, "--json"])
        .run()?
        .succeeded("veneer report")?;
    let all: Vec<serde_json::Value> = serde_json::from_str(&output.out)?;
    match all.as_slice() {
        [one] => Ok(one.clone()),
        other => Err(format!("{} JVMs", other.len()).into()),
    }
}

/// Returns the sum of an instrument's hits at all points of a fragment of a method.
fn hits(remains: &serde_json::Value, instrument: usize, method: &str, fragment: u64) -> u64 {
    let points = &remains["report"]["instruments"][instrument]["points"];
    let all = points.as_array().into_iter().flatten();
    let here = all.filter(|p| {
        p["method"].as_str().is_some_and(|m| m.starts_with(method))
            && p["fragment"].as_u64() == Some(fragment)
    });
    here.filter_map(|p| p["hits"].as_u64()).sum()
}

const PROGRESS: &str = "let m = methods(\"Progress::*(..)\");\n\
    m.blocks().before(counter());\n\
    methods(\"Progress::note(..)\").entry().before(log(\"round\"));\n\
    methods(\"Progress::round(..)\").around(timer());\n";

#[test]
fn counts_of_a_killed_jvm_can_be_read() -> Outcome {
    on_a_jdk_with("faults", |programs| {
        // The seed is arbitrary. It makes the moments the same in each run of the test.
        let mut seed = 0x5EED_2026 + u64::from(programs.jdk().major());
        for turn in 0..10 {
            let folder = Folder::new("killed")?;
            let data = text(&folder.join("data"));
            let plan = plan(&folder, PROGRESS)?;
            let java = programs
                .launcher()
                .args(["-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp"])
                .arg(programs.classes().path())
                .arg("Progress");
            let mut live = Live::start(&run(&["--data", &data, "--plan", &plan], &java))?;
            live.line("round 1")?;
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            std::thread::sleep(Duration::from_micros((seed >> 33) % 150_000));
            signal(live.pid(), libc::SIGKILL);
            let output = live.stop()?;
            let done = output.out.lines().rev().find_map(|line| {
                let round = line.strip_prefix("round ")?;
                round.parse::<u64>().ok()
            });
            let done = done.ok_or("no round was said")?;
            let left = read_data_directory(&data)?;
            let what = format!("turn {turn}, {done} rounds: {left}");
            assert_eq!(left["state"], "killed", "{what}");
            // The current round may have been counted in part.
            let works = hits(&left, 0, "work(", 0);
            assert!((done * 1000..=(done + 1) * 1000).contains(&works), "{what}");
            let (even, odd) = (hits(&left, 0, "work(", 1), hits(&left, 0, "work(", 2));
            assert!(even + odd == works || even + odd + 1 == works, "{what}");
            let notes = hits(&left, 0, "note(", 0);
            assert!((done..=done + 1).contains(&notes), "{what}");
            let rounds = left["report"]["instruments"][2]["points"][0]["count"].as_u64();
            let rounds = rounds.ok_or("no timer")?;
            assert!((done - 1..=done + 1).contains(&rounds), "{what}");
            // The log has each round once, in order, except for events that were dropped.
            let point = &left["report"]["instruments"][1]["points"][0];
            let (seen, dropped) = (point["events"].as_u64(), point["dropped"].as_u64());
            let (seen, dropped) = seen.zip(dropped).ok_or("no log")?;
            assert!((done..=done + 1).contains(&seen), "{what}");
            let events = left["events"][0]["events"].as_array().ok_or("no events")?;
            let values: Vec<u64> = events
                .iter()
                .filter_map(|e| e["values"][0][1].as_u64())
                .collect();
            assert_eq!(values.len() as u64, seen - dropped, "{what}");
            assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{what}");
            assert!(output.err.is_empty(), "{}", output.err);
        }
        Ok(())
    })
}

#[test]
fn a_killed_jvm_without_a_data_directory_leaves_one_that_is_reported() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "faults")?;
    let folder = Folder::new("default")?;
    let plan = plan(&folder, PROGRESS)?;
    let command = run(&["--plan", &plan], &programs.java("Progress"));
    let mut live = Live::start(&command.env("TMPDIR", &text(folder.path())))?;
    live.line("round 1")?;
    signal(live.pid(), libc::SIGKILL);
    let output = live.stop()?;
    let told = output.err.split('`').nth(1).unwrap_or_default();
    let place = told
        .strip_prefix("veneer report ")
        .ok_or_else(|| output.err.clone())?;
    assert!(hits(&read_data_directory(place)?, 0, "work(", 0) >= 1000);
    // A JVM that ends normally leaves no directory.
    let quiet = Folder::new("quiet")?;
    let steady = run(&["--plan", &plan], &programs.java("Steady"));
    steady
        .env("TMPDIR", &text(quiet.path()))
        .run()?
        .succeeded("Steady")?;
    let litter: Vec<_> = std::fs::read_dir(quiet.path())?.flatten().collect();
    assert!(litter.is_empty(), "{litter:?}");
    Ok(())
}

#[test]
fn running_ended_and_killed_jvms_are_distinguished() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let folder = Folder::new("states")?;
    let data = text(&folder.join("data"));
    let plan = plan(
        &folder,
        "methods(\"RunningLoop::step(..)\").blocks().before(counter());\n",
    )?;
    let command = run(
        &["--data", &data, "--plan", &plan],
        &programs.java("RunningLoop"),
    );
    let live = Live::start(&command)?;
    until(
        "figures of a running JVM",
        || {
            Ok(read_data_directory(&data)
                .map(|left| (left["state"].clone(), hits(&left, 0, "step(", 0)))
                .ok())
        },
        |found| matches!(found, Some((state, hits)) if state == "running" && *hits > 1000),
    )?;
    let turns = number(&live.stop()?.out, "turns").ok_or("no turns")?;
    let left = read_data_directory(&data)?;
    assert_eq!(left["state"], "ended");
    assert_eq!(hits(&left, 0, "step(", 0), turns as u64);
    let table = veneer()
        .args(["report", &data])
        .run()?
        .succeeded("report")?;
    assert!(
        table.out.contains("has ended") && table.out.contains("step(long)"),
        "{}",
        table.out
    );
    Ok(())
}

#[test]
fn a_damaged_directory_is_reported_without_a_panic() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "faults")?;
    let folder = Folder::new("damage")?;
    let data = folder.join("data");
    let plan = plan(&folder, PROGRESS)?;
    let options = ["--data", &text(&data), "--plan", &plan];
    let mut live = Live::start(&run(&options, &programs.java("Progress")))?;
    live.line("round 1")?;
    signal(live.pid(), libc::SIGKILL);
    live.stop()?;
    let inner = std::fs::read_dir(&data)?
        .next()
        .ok_or("no directory")??
        .path();
    let ask = || veneer().args(["report", &text(&data)]).run();
    assert_eq!(ask()?.code, 0);
    let catalogue = inner.join("catalogue");
    let whole = std::fs::read(&catalogue)?;
    let shorten = |path: &Path, length: u64| -> std::io::Result<()> {
        std::fs::OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(length)
    };
    // A truncated end is not damage, because a killed process may leave the file in this state.
    shorten(&catalogue, whole.len() as u64 - 3)?;
    let torn = ask()?.succeeded("report of a torn catalogue")?;
    assert!(torn.out.contains("is incomplete"), "{}", torn.out);
    let mut broken = whole.clone();
    broken[whole.len() / 2] ^= 1;
    for (bytes, word) in [
        (broken.as_slice(), "damaged at record"),
        (b"".as_slice(), "cut short"),
        (b"\xff\xfe\0\n".as_slice(), "damaged at record 1"),
    ] {
        std::fs::write(&catalogue, bytes)?;
        let output = ask()?;
        assert_eq!(
            (output.code, output.err.lines().count()),
            (2, 1),
            "{output:?}"
        );
        assert!(output.err.contains(word), "{output:?}");
    }
    std::fs::write(&catalogue, &whole)?;
    for name in ["events.bin", "counters.bin"] {
        let path = inner.join(name);
        let length = std::fs::metadata(&path)?.len();
        shorten(&path, 5000)?;
        let output = ask()?;
        assert_eq!(output.code, 2, "{output:?}");
        assert!(
            output.err.contains(name) && output.err.contains("cut short"),
            "{output:?}"
        );
        shorten(&path, length)?;
        // With zeros instead of counts, the file is readable and reports zeros.
        assert_eq!(ask()?.code, 0, "{name}");
    }
    // Random bytes in the rings and in drained events are skipped.
    for name in ["events.bin", "drained.1"] {
        let path = inner.join(name);
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        file.write_all(&[0xA5; 4000])?;
        let output = ask()?;
        assert_eq!(
            (output.code, output.err.as_str()),
            (0, ""),
            "{name}: {output:?}"
        );
    }
    std::fs::remove_file(inner.join("counters.bin"))?;
    assert!(ask()?.err.contains("counters.bin cannot be read"));
    let output = veneer().args(["report", "/nonexistent"]).run()?;
    assert_eq!(output.code, 2);
    assert!(output.err.contains("holds no data"), "{output:?}");
    Ok(())
}

const HELD_PLAN: &str = "let h = methods(\"RunningLoop::loop(..)\").loops().before(counter()); every(0.05, || print(\"tick\")); h";

/// Returns whether any instrument is attached.
fn attached(live: &Live) -> Result<bool, veneer_tests::live::LiveError> {
    Ok(live.value("instruments().filter(|i| i.attached).len()")? != "0")
}

#[test]
fn instruments_of_a_killed_command_are_detached() -> Outcome {
    on_a_jdk_with("live", |programs| {
        let live = programs.armed("RunningLoop")?;
        let pid = live.pid().to_string();
        // When the command is killed, its connection ends. When it is stopped, it is silent for
        // longer than the lease.
        for (how, lease) in [(libc::SIGKILL, "--hold=60"), (libc::SIGSTOP, "--hold=1")] {
            let mut command = veneer()
                .args(["exec", &pid, lease, "-e", HELD_PLAN])
                .start()?;
            let mut lines = BufReader::new(command.stdout.take().ok_or("no output")?).lines();
            // Its callbacks print to the command once it is connected.
            while lines.next().ok_or("no tick came")?? != "tick" {}
            assert!(attached(&live)?, "nothing is attached");
            signal(command.id(), how);
            until("detachment", || attached(&live), |still| !still)?;
            end_group(&mut command);
        }
        // The instruments of a plan that ended normally stay attached.
        live.value(r#"methods("RunningLoop::step(..)").before(counter())"#)?;
        assert!(attached(&live)?);
        live.value("detach_all()")?;
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        check_loop_result(&output.out)
    })
}

#[test]
fn an_interrupted_conversation_is_harmless() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let live = programs.armed("RunningLoop")?;
    let exec =
        r#"{"exec":{"name":"x","source":"methods(\"RunningLoop::step(..)\").before(counter());"}}"#;
    // The connection breaks in the middle of a request.
    for length in [1, 10, exec.len()] {
        live.connect()?.write_all(&exec.as_bytes()[..length])?;
    }
    assert!(!attached(&live)?, "half a request was run");
    // The connection breaks before the answer, so that no client owns the attached instruments.
    for _ in 0..5 {
        writeln!(live.connect()?, "{exec}")?;
    }
    let all = || live.value("instruments().len()");
    until("five programs", all, |n| n == "5")?;
    until("their detachment", || attached(&live), |still| !still)?;
    // The connection breaks in the middle of an answer.
    let mut one = live.connect()?;
    writeln!(
        one,
        "{{\"exec\":{{\"name\":\"x\",\"source\":\"for i in 0..2000 {{ print(i) }}\"}}}}"
    )?;
    BufReader::new(one).read_line(&mut String::new())?;
    assert_eq!(live.value("40 + 2")?, "42");
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    check_loop_result(&output.out)
}

/// A plan with counters and timers at every point.
const INSTRUMENTS_EVERYWHERE: &str = "let m = methods(\"Exhausted::*(..)\");\n\
    m.blocks().before(counter());\n\
    m.edges().before(counter());\n\
    m.around(timer());\n";

#[test]
fn memory_and_stack_errors_occur_as_without_veneer() -> Outcome {
    on_a_jdk_with("faults", |programs| {
        let folder = Folder::new("exhausted")?;
        let plan = plan(&folder, INSTRUMENTS_EVERYWHERE)?;
        for end in ["", "heap", "stack"] {
            let java = programs
                .launcher()
                .args(["-Xmx24m", "-Xss512k", "-XX:+UseSerialGC", "-cp"])
                .arg(programs.classes().path())
                .arg("Exhausted")
                .args((!end.is_empty()).then_some(end));
            let plain = java.run()?;
            assert_eq!(plain.code, i32::from(!end.is_empty()), "{plain:?}");
            let first = |err: &str| {
                let line = err.lines().find(|line| line.starts_with("Exception in"));
                line.map(str::to_owned)
            };
            for options in [
                vec![],
                vec!["--policy", "block"],
                vec!["--policy", "block", "--plan", &plan],
            ] {
                let output = run(&options, &java).run()?;
                assert_eq!(
                    (output.code, &output.out),
                    (plain.code, &plain.out),
                    "{end} {options:?}: {}",
                    output.err
                );
                assert_eq!(first(&output.err), first(&plain.err), "{end} {options:?}");
            }
        }
        Ok(())
    })
}

/// On JDK 22 and later, the clock of timers is linked through classes of the JDK whose initialisation
/// must not meet a full heap. While the program runs, only much room on the heap is enough.
#[test]
fn a_small_heap_keeps_the_clock_of_timers_that_are_attached_late() -> Outcome {
    const LINKING: &str = "jdk.internal.foreign.abi.DowncallLinker";
    let trusted =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let is_counter = trusted.is_ok_and(|name| name.trim() == "tsc");
    on_a_jdk_with("live", |programs| {
        if programs.jdk().major() < 22 {
            return Ok(());
        }
        for (heap, is_linked) in [("-Xmx64m", false), ("-Xmx512m", is_counter)] {
            let log = programs.classes().join(&format!("loaded{heap}"));
            let java = programs
                .launcher()
                .arg(heap)
                .arg(format!("-Xlog:class+load:file={}", log.display()))
                .arg("-cp")
                .arg(programs.classes().path())
                .arg("RunningLoop");
            let live = Live::start(&run(&[], &java))?;
            live.value("methods(\"RunningLoop::*(..)\").around(timer())")?;
            let loaded =
                || Ok(std::fs::read_to_string(&log).is_ok_and(|log| log.contains(LINKING)));
            match is_linked {
                true => {
                    until("the clock is linked", loaded, |linked| *linked)?;
                }
                false => {
                    // Linking takes some tenths of a second.
                    std::thread::sleep(Duration::from_secs(2));
                    assert!(!loaded()?, "{heap}");
                }
            }
            drop(live);
        }
        Ok(())
    })
}

/// Every block is counted from the start, or instruments are attached and detached while the heap
/// is full.
#[test]
fn a_full_heap_causes_memory_errors_only_where_the_program_catches_them() -> Outcome {
    const SOURCES: [&str; 2] = [
        "methods(\"Full::*(..)\").blocks().before(counter());\n",
        "let h = ();\nevery(0.01, || {\n    if h == () { h = methods(\"Full::*(..)\").blocks().before(counter()); }\n    \
         else { h.detach(); h = (); }\n});\n",
    ];
    on_a_jdk_with("faults", |programs| {
        let folder = Folder::new("full")?;
        let java = programs
            .launcher()
            .args(["-Xmx64m", "-cp"])
            .arg(programs.classes().path())
            .arg("Full");
        let plain = java.run()?.succeeded("Full")?;
        for source in SOURCES {
            let plan = plan(&folder, source)?;
            for _ in 0..3 {
                let output = run(&["--plan", &plan], &java).run()?;
                assert_eq!(
                    (output.code, &output.out),
                    (0, &plain.out),
                    "{source}: {}",
                    output.err
                );
            }
        }
        Ok(())
    })
}

/// A port that another process holds is a problem of the agent itself.
#[test]
fn problems_of_the_agent_are_shown_by_patches_and_doctor() -> Outcome {
    let programs = Programs::compile(jdk::oldest())?;
    let folder = Folder::new("problems")?;
    let holder = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = holder.local_addr()?.to_string();
    let token = folder.join("token").display().to_string();
    let options = ["--listen", &address, "--token-file", &token];
    let mut live = Live::start(&run(&options, &programs.java("RunningLoop")))?;
    live.error_line(&format!(
        "veneer: no control port: {address}: Address already in use (os error 98)"
    ))?;
    let pid = live.pid().to_string();
    let patches = veneer()
        .args(["patches", &pid])
        .run()?
        .succeeded("patches")?;
    assert!(
        patches.out.contains("problem: no control port: "),
        "{patches:?}"
    );
    let json = veneer().args(["patches", "--json", &pid]).run()?;
    let rows: serde_json::Value = serde_json::from_str(&json.out)?;
    let problems = rows[0]["problems"].as_array().map_or(0, Vec::len);
    assert_eq!(problems, 1, "{rows}");
    let doctor = veneer().args(["doctor", &pid]).run()?;
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(
        doctor.out.contains("agent: no control port: "),
        "{}",
        doctor.out
    );
    live.stop()?.succeeded("RunningLoop")?;
    Ok(())
}

/// HotSpot writes no class-data archive under an agent that changes classes. The command reports
/// this.
#[test]
fn a_class_data_archive_at_exit_is_reported() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "faults")?;
    let folder = Folder::new("archive")?;
    let archive = folder.join("classes.jsa").display().to_string();
    let java = programs
        .launcher()
        .arg(format!("-XX:ArchiveClassesAtExit={archive}"))
        .arg("-cp")
        .arg(programs.classes().path())
        .args(["Steady", "2"]);
    let output = run(&[], &java).run()?;
    assert!(
        output.err.contains("leave the option out"),
        "{}",
        output.err
    );
    Ok(())
}

#[test]
fn failing_callbacks_are_reported_and_cancelled() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "faults")?;
    let folder = Folder::new("callbacks")?;
    let java = programs.java("Steady").arg("40");
    let plain = java.run()?.succeeded("Steady")?;
    let report = text(&folder.join("r.json"));
    for (source, words) in [
        (
            "every(0.02, || { throw \"no\" });\n",
            vec!["plan.rhai:1:", "no", "cancelled after 3 errors"],
        ),
        (
            "at_exit(|| { let a = [1]; print(a[7]); });\n",
            vec!["plan.rhai:1:"],
        ),
        (
            "after(0.05, || { loop {} });\n",
            vec!["plan.rhai:1:", "limit"],
        ),
        ("at_exit(|| { loop {} });\n", vec!["plan.rhai:1:", "limit"]),
        (
            "after(0.05, || { let s = \"x\"; loop { s += s; } });\n",
            vec!["plan.rhai:1:"],
        ),
    ] {
        let source = format!("{source}methods(\"Steady::step(..)\").before(counter());\n");
        let plan = plan(&folder, &source)?;
        let output = run(&["--plan", &plan, "--report", &report], &java).run()?;
        assert_eq!(
            (output.code, &output.out),
            (0, &plain.out),
            "{source}{}",
            output.err
        );
        for word in words {
            assert!(
                output.err.contains(word),
                "{source}`{word}`: {}",
                output.err
            );
        }
        // The instruments that the plan attached are not affected.
        assert_eq!(Report::read(Path::new(&report))?.hits(), 30_000, "{source}");
    }
    Ok(())
}

#[test]
fn two_plans_on_one_method_count_independently() -> Outcome {
    on_a_jdk_with("live", |programs| {
        let live = programs.armed("RunningLoop")?;
        let code = r#"methods("RunningLoop::step(..)").before(counter())"#;
        let (one, other) = (live.value(code)?, live.value(code)?);
        until(
            "hits of both",
            || Ok((live.sum(&one)?, live.sum(&other)?)),
            |(a, b)| *a > 0 && *b > 0,
        )?;
        live.value(&format!("detach(\"{one}\")"))?;
        let first = live.sum(&one)?;
        until(
            "more hits of the other",
            || live.sum(&other),
            |now| *now > first + 1000,
        )?;
        assert_eq!(live.sum(&one)?, first, "a detached instrument fires");
        let output = live.stop()?;
        check_loop_result(&output.out)?;
        // If both plans are active from the start, both counts are exact.
        let folder = Folder::new("two")?;
        let text_of = |name: &str| text(&folder.join(name));
        for name in ["a.rhai", "b.rhai"] {
            std::fs::write(
                folder.join(name),
                "methods(\"RunningLoop::step(..)\").before(counter());\n",
            )?;
        }
        let (a, b, r) = (text_of("a.rhai"), text_of("b.rhai"), text_of("r.json"));
        let options = ["--plan", &a, "--plan", &b, "--report", &r];
        let live = Live::start(&run(&options, &programs.java("RunningLoop")))?;
        std::thread::sleep(Duration::from_millis(200));
        let turns = number(&live.stop()?.out, "turns").ok_or("no turns")? as u64;
        let report = Report::read(Path::new(&r))?;
        let sums: Vec<u64> = report
            .instruments
            .iter()
            .map(|i| i.points.iter().map(|p| p.hits).sum())
            .collect();
        assert_eq!(sums, [turns, turns]);
        Ok(())
    })
}

/// Runs a shell script in its own mount namespace, with a small file system at `$D`. Returns `None`
/// if the system does not allow it.
fn on_a_small_disk(
    size: &str,
    script: &str,
) -> Result<Option<veneer_tests::process::Output>, Box<dyn std::error::Error>> {
    let folder = Folder::new("disk")?;
    let root = user() == 0;
    let unshare = |script: &str| {
        let user = (!root).then_some("--map-root-user");
        Process::new("unshare")
            .args(user)
            .args(["--mount", "sh", "-c", script])
    };
    let mount = format!(
        "D={}; mount -t tmpfs -o size={size} veneer $D || exit 77; ",
        folder.path().display()
    );
    if unshare(&format!("{mount} true")).run()?.code != 0 {
        skip(Need::Mount)?;
        return Ok(None);
    }
    Ok(Some(unshare(&format!("{mount}{script}")).run()?))
}

#[test]
fn a_full_disk_is_reported_and_the_application_continues() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "faults")?;
    let folder = Folder::new("plans")?;
    let java = programs.java("Steady").arg("20");
    let plain = java.run()?.succeeded("Steady")?;
    let many = (0..40).map(|_| "methods(\"Steady::*(..)\").edges().around(timer());\n");
    let counters: String =
        "for n in 0..400 { methods(\"Steady::*(..)\").edges().around(timer()); }\n".into();
    let events = "methods(\"Steady::step(..)\").entry().before(log(\"i\"));\n".to_string();
    let few: String = many.take(1).collect();
    for (what, size, source, word) in [
        ("no room at all", "4k", few.clone(), "runs without it"),
        ("no room for counters", "200k", counters, ""),
        ("no room for events", "700k", events, ""),
        (
            "no room for a report",
            "1200k",
            few,
            "report could not be written",
        ),
    ] {
        let plan = plan(&folder, &source)?;
        let report = match word.contains("report") {
            // There is enough space when the command checks it. The space is used up when the JVM
            // ends.
            true => "--report $D/r.json",
            false => "",
        };
        let fill = match word.contains("report") {
            true => {
                "(until ls $D/d/*/catalogue; do sleep 0.02; done; head -c 9999999 /dev/zero > $D/fill) > /dev/null 2>&1 & "
            }
            false => "",
        };
        let script = format!(
            "{fill}{} run --data $D/d {report} --plan {plan} -- {java}; code=$?; echo code $code; \
             {} report $D/d > {}/out 2>&1; echo report $?; wait",
            veneer(),
            veneer(),
            folder.path().display(),
        );
        let Some(output) = on_a_small_disk(size, &script)? else {
            return Ok(());
        };
        let told = std::fs::read_to_string(folder.join("out"))?;
        let all = format!("{what}: {output:?}\n{told}");
        assert!(output.out.starts_with(&plain.out), "{all}");
        assert!(output.out.contains("code 0"), "{all}");
        assert!(output.err.contains(word), "{all}");
        let readable = !what.contains("at all");
        assert!(
            output
                .out
                .contains(if readable { "report 0" } else { "report 2" }),
            "{all}"
        );
        assert!(
            !output.err.contains("fatal error") && !told.contains("panic"),
            "{all}"
        );
    }
    Ok(())
}

#[test]
fn a_file_size_limit_is_handled_like_a_full_disk() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "faults")?;
    let folder = Folder::new("limit")?;
    let plan = plan(
        &folder,
        "methods(\"Steady::*(..)\").blocks().before(counter());\n",
    )?;
    let java = programs.java("Steady");
    let plain = java.run()?.succeeded("Steady")?;
    let data: PathBuf = folder.join("data");
    // The limit is smaller than the sparse file of the counters, which therefore cannot be created.
    let script = format!(
        "ulimit -f 1000; exec {} run --data {} --plan {plan} -- {java}",
        veneer(),
        data.display()
    );
    let output = Process::new("bash").args(["-c", &script]).run()?;
    assert_eq!(
        (output.code, &output.out),
        (0, &plain.out),
        "{}",
        output.err
    );
    assert!(output.err.contains("runs without it"), "{}", output.err);
    Ok(())
}
