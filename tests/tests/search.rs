//! `veneer search` on programs with one fault each, and on three real applications with a fault in the
//! code that they call: the place and the cause are right, and the command leaves nothing behind.

use std::cell::RefCell;
use std::fs;
use std::time::Duration;

use serde_json::Value;
use veneer_tests::background::Background;
use veneer_tests::command::veneer;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::jars::{jar, jars};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;

/// A program with one fault, and the finding that names it.
struct Fault {
    name: &'static str,
    /// The methods that have the fault, each with its cause.
    places: &'static [(&'static str, &'static str)],
    /// A text that the evidence of the finding contains.
    evidence: Option<&'static str>,
}

const fn fault(
    name: &'static str,
    places: &'static [(&'static str, &'static str)],
    evidence: Option<&'static str>,
) -> Fault {
    Fault {
        name,
        places,
        evidence,
    }
}

const FAULTS: [Fault; 20] = [
    fault("processor", &[("price", "processor")], None),
    fault(
        "monitor",
        &[("audit", "monitor")],
        Some("the monitor is held in Faults.audit"),
    ),
    fault("lock", &[("reserve", "lock")], Some("ReentrantLock.lock")),
    fault("sleep", &[("retry", "sleep")], None),
    fault("pool", &[("borrow", "park")], Some("BlockingQueue.take")),
    fault("allocation", &[("buffers", "allocation")], None),
    fault(
        "collections",
        &[("history", "collections")],
        Some("collections stopped the program for"),
    ),
    fault("file", &[("journal", "file")], Some("FileDescriptor.sync")),
    fault("socket", &[("fetch", "socket")], Some("Socket")),
    fault("statement", &[("find", "statement")], Some("executeQuery")),
    fault(
        "exceptions",
        &[("parse", "exceptions")],
        Some("IllegalArgumentException"),
    ),
    fault(
        "interpreted",
        &[("huge", "interpreted")],
        Some("8,000 bytes"),
    ),
    fault(
        "regex",
        &[("isOrder", "processor")],
        Some("java.util.regex"),
    ),
    fault(
        "logging",
        &[("trace", "processor")],
        Some("java.util.logging"),
    ),
    fault("strings", &[("report", "allocation")], Some("String")),
    fault(
        "collisions",
        &[("lookup", "processor")],
        Some("colliding hash codes"),
    ),
    // Dumps show the place of false sharing, and processor time instead of the cause.
    fault("sharing", &[("count", "processor")], None),
    fault("hidden", &[("hidden", "processor")], None),
    fault("loop", &[("loop", "processor")], None),
    fault(
        "phases",
        &[("busyPhase", "processor"), ("waitingPhase", "sleep")],
        None,
    ),
];

/// A real application that calls code with a fault: a program of `tests/java/applications`.
struct Application {
    class: &'static str,
    jars: &'static [&'static str],
    fault: Fault,
}

const APPLICATIONS: [Application; 3] = [
    Application {
        class: "Shop",
        jars: &["tomcat-embed-core", "tomcat-annotations-api", "h2"],
        fault: fault(
            "shop",
            &[("price", "monitor")],
            Some("the monitor is held in Shop$Orders"),
        ),
    },
    Application {
        class: "Build",
        jars: &[],
        fault: fault(
            "build",
            &[("isOrdered", "processor")],
            Some("java.util.regex"),
        ),
    },
    Application {
        class: "Index",
        jars: &["lucene-core"],
        fault: fault("index", &[("isStopped", "processor")], None),
    },
];

/// The source of the programs with one fault each.
const FAULTS_SOURCE: &str = "search/Faults.java";

/// The share above which a finding must be at a line of the fault or of other work.
const LARGE_SHARE: f64 = 0.1;

/// Starts `veneer search` with its default cost.
fn search(pid: u32, options: &[&str]) -> Process {
    let pid = pid.to_string();
    let limit = Duration::from_secs(120);
    veneer().args(["search", &pid]).args(options).limit(limit)
}

fn start(programs: &Programs, fault: &str) -> Result<Live, Box<dyn std::error::Error>> {
    let mut java = programs.launcher();
    let mut path = programs.classes().path().as_os_str().to_owned();
    match fault {
        "collections" => java = java.args(["-XX:+UseSerialGC", "-Xmx64m"]),
        "statement" => {
            path.push(":");
            path.push(jar("h2")?);
        }
        _ => {}
    }
    let folder = programs.classes().path().display();
    let folder = format!("-Djava.io.tmpdir={folder}");
    let java = java
        .arg(folder)
        .arg("-cp")
        .arg(path)
        .args(["Faults", fault]);
    Ok(Live::start(&java)?)
}

/// Returns the lines of a source of `tests/java` that end with a mark, from 1.
fn lines_of(source: &str, mark: &str) -> Result<Vec<u64>, std::io::Error> {
    let source = fs::read_to_string(workspace().join("tests/java").join(source))?;
    let mark = format!("// {mark}");
    let lines = (1u64..).zip(source.lines());
    Ok(lines
        .filter(|(_, text)| text.ends_with(&mark))
        .map(|(line, _)| line)
        .collect())
}

/// Returns the name of the last step of a kind.
fn step<'v>(finding: &'v Value, kind: &str) -> Option<&'v Value> {
    let path = finding["path"].as_array()?;
    path.iter().rev().find(|step| step["kind"] == kind)
}

/// Returns the line of a finding, if it names one.
fn line_of(finding: &Value) -> Option<u64> {
    step(finding, "block").and_then(|block| block["line"].as_u64())
}

/// Returns what is wrong with the findings of a search in a program with a fault.
fn mistakes(
    fault: &Fault,
    source: &str,
    outcome: &Value,
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let lines = lines_of(source, &format!("FAULT {}", fault.name))?;
    let known = [format!("ALSO {}", fault.name), "OTHER".to_owned()];
    let mut real = lines.clone();
    for mark in known {
        real.extend(lines_of(source, &mark)?);
    }
    let source_text = fs::read_to_string(workspace().join("tests/java").join(source))?;
    let findings = outcome["findings"].as_array().ok_or("no findings")?;
    let specific = || {
        findings
            .iter()
            .filter(|finding| finding["specific"] == true)
    };
    let mut mistakes = Vec::new();
    for (method, why) in fault.places {
        let is_right = |finding: &&Value| {
            let evidence = finding["evidence"].to_string();
            finding["why"] == *why
                && step(finding, "method").is_some_and(|step| step["name"] == *method)
                && line_of(finding).is_some_and(|line| lines.contains(&line))
                && finding["share"].as_f64() > Some(LARGE_SHARE)
                && fault.evidence.is_none_or(|text| evidence.contains(text))
        };
        if !specific().any(|finding| is_right(&finding)) {
            mistakes.push(format!("{method} with {why} is not found"));
        }
    }
    for finding in specific() {
        let method = step(finding, "method").map(|step| &step["name"]);
        let is_in_fault = || {
            fault
                .places
                .iter()
                .any(|(name, _)| method == Some(&(*name).into()))
        };
        // While its blocks are undecided, a place has no line, but it has a method.
        let is_declared_as_real = || {
            method.and_then(Value::as_str).is_some_and(|method| {
                let declared = format!(" {method}(");
                let mut texts = (1u64..).zip(source_text.lines());
                texts.any(|(line, text)| real.contains(&line) && text.contains(&declared))
            })
        };
        let is_real = line_of(finding).map_or_else(
            || is_in_fault() || is_declared_as_real(),
            |line| real.contains(&line),
        );
        if !is_real && finding["share"].as_f64() > Some(LARGE_SHARE) {
            mistakes.push(format!("a wrong finding: {finding}"));
        }
    }
    Ok(mistakes)
}

#[test]
fn waiting_is_found_with_place_and_cause_in_ten_seconds() -> Outcome {
    find_faults(1, &|name| ["monitor", "lock", "sleep"].contains(&name))
}

/// `VENEER_ONLY` selects one program, and `VENEER_REPEAT` repeats each search.
#[test]
#[ignore = "takes nine minutes: 20 programs for ten seconds on each JDK"]
fn seeded_faults_are_found_with_place_and_cause_in_ten_seconds() -> Outcome {
    let repeat = std::env::var("VENEER_REPEAT").map_or(Ok(1), |text| text.parse::<u32>())?;
    let only = std::env::var("VENEER_ONLY").ok();
    find_faults(repeat, &|name| {
        only.as_ref().is_none_or(|only| only == name)
    })
}

/// Searches the programs with the faults of the wanted names, each `repeat` times on each JDK.
fn find_faults(repeat: u32, wanted: &dyn Fn(&str) -> bool) -> Outcome {
    let missed = RefCell::new(Vec::new());
    on_a_jdk_with("search", |programs| {
        let is_wanted = |fault: &&Fault| wanted(fault.name);
        for fault in FAULTS.iter().filter(is_wanted) {
            for _ in 0..repeat {
                let live = start(programs, fault.name)?;
                let out = search(live.pid(), &["--json", "--for", "10"])
                    .run()?
                    .succeeded(fault.name)?;
                live.stop()?;
                let outcome: Value = serde_json::from_str(&out.out)?;
                let mistakes = mistakes(fault, FAULTS_SOURCE, &outcome)?;
                let cost = outcome["cost"]["share"].as_f64().unwrap_or(f64::NAN);
                println!(
                    "{} | {} | {} | cost {:.4}",
                    programs.jdk(),
                    fault.name,
                    if mistakes.is_empty() {
                        "found"
                    } else {
                        "MISSED"
                    },
                    cost
                );
                if !mistakes.is_empty() {
                    let text = format!("{}: {}: {mistakes:?}", programs.jdk(), fault.name);
                    println!("{text}\n{}", out.out);
                    missed.borrow_mut().push(text);
                }
            }
        }
        Ok(())
    })?;
    let missed = missed.into_inner();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    Ok(())
}

/// Tomcat with H2, javac with an annotation processor, and Lucene with a filter. A finding in the code of
/// a library may be true, but not one in the frames around all work of a thread: its first method, or a
/// pool in which the thread waits for work.
#[test]
fn faults_in_real_applications_are_found() -> Outcome {
    for jdk in jdk::for_this_test() {
        for application in &APPLICATIONS {
            let classes = Folder::new("application")?;
            let live = start_application(&jdk, application, &classes)?;
            // The JIT compiler takes most of the processors at first.
            std::thread::sleep(Duration::from_secs(3));
            let fault = &application.fault;
            let out = search(live.pid(), &["--json", "--for", "7"])
                .run()?
                .succeeded(fault.name)?;
            live.stop()?;
            let mut outcome: Value = serde_json::from_str(&out.out)?;
            if let Some(findings) = outcome["findings"].as_array_mut() {
                let is_around_work = |finding: &&Value| {
                    let class = step(finding, "class").map(|class| class["name"].to_string());
                    finding["specific"] == true
                        && class.is_some_and(|name| {
                            name.contains("java.lang.Thread") || name.contains(".util.threads.")
                        })
                };
                let around = findings.iter().find(is_around_work);
                assert!(around.is_none(), "{jdk}: {around:?}");
                let is_own = |finding: &Value| {
                    step(finding, "class").is_some_and(|class| {
                        let name = class["name"].as_str().unwrap_or_default();
                        name.split('$').next() == Some(application.class)
                    })
                };
                findings.retain(is_own);
            }
            let source = format!("applications/{}.java", application.class);
            let mistakes = mistakes(fault, &source, &outcome)?;
            assert!(
                mistakes.is_empty(),
                "{jdk}: {}: {mistakes:?}\n{}",
                fault.name,
                out.out
            );
            let sentence = outcome["sentences"][0].as_str().unwrap_or_default();
            println!("{jdk} | {} | {sentence}", fault.name);
        }
    }
    Ok(())
}

/// Compiles an application into a folder, and starts it.
fn start_application(
    jdk: &Jdk,
    application: &Application,
    classes: &Folder,
) -> Result<Live, Box<dyn std::error::Error>> {
    let mut path = jars(application.jars)?;
    path.push(classes.path().to_path_buf());
    let path = std::env::join_paths(path)?;
    let folder = workspace().join("tests/java/applications");
    let sources = ["End", application.class].map(|name| folder.join(format!("{name}.java")));
    Process::new(jdk.tool("javac"))
        .args(["-g", "-proc:none", "-cp"])
        .arg(&path)
        .arg("-d")
        .arg(classes.path())
        .args(sources)
        .limit(Duration::from_secs(120))
        .run()?
        .succeeded("javac")?;
    let java = jdk.verifying_java();
    let java = java.arg(format!("-Djava.io.tmpdir={}", classes.path().display()));
    Ok(Live::start(
        &java.arg("-cp").arg(path).arg(application.class),
    )?)
}

/// The result has the keys of schema 1, and the cost is below the ceiling of 2 %.
#[test]
fn json_follows_schema_1_and_the_cost_is_below_the_ceiling() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "monitor")?;
        let out = search(live.pid(), &["--json", "--for", "5"])
            .run()?
            .succeeded("search")?;
        live.stop()?;
        let outcome: Value = serde_json::from_str(&out.out)?;
        let has = |value: &Value, keys: &[&str]| {
            let missing: Vec<_> = keys.iter().filter(|key| value.get(key).is_none()).collect();
            assert!(missing.is_empty(), "no {missing:?} in {value}");
        };
        assert_eq!(outcome["schema"], 1);
        has(
            &outcome,
            &["findings", "ruled_out", "not_looked_at", "cost", "seconds"],
        );
        let finding = &outcome["findings"][0];
        has(
            finding,
            &[
                "path", "why", "share", "low", "high", "evidence", "threads", "window", "found",
            ],
        );
        has(&finding["path"][0], &["axis", "name", "line"]);
        assert_eq!(finding["threads"][0]["name"], "http-*", "{finding}");
        let cost = &outcome["cost"];
        assert_eq!(cost["ceiling"], 0.02);
        let share = cost["share"].as_f64().ok_or("no cost")?;
        assert!(share > 0.0 && share <= 0.02, "{cost}");
        Ok(())
    })
}

/// The plan of `docs/search.md` sees the finding and times its method. Afterwards nothing is attached.
#[test]
fn a_plan_after_the_search_sees_the_findings() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "monitor")?;
        let text = fs::read_to_string(workspace().join("docs/search.md"))?;
        let begin = text.find("let timers = [];").ok_or("no plan")?;
        let length = text[begin..].find("```").ok_or("no end of the plan")?;
        let folder = Folder::new("then")?;
        let plan = folder.join("then.rhai");
        fs::write(&plan, &text[begin..begin + length])?;
        let then = ["--for", "5", "--then-for", "6", "--then"];
        let out = search(live.pid(), &then)
            .arg(plan.display().to_string())
            .run()?
            .succeeded("search")?;
        let line = out
            .out
            .lines()
            .find_map(|line| line.strip_prefix("audit, monitor: "));
        let calls = line.and_then(|rest| rest.strip_suffix(" calls"));
        let calls: u64 = calls.ok_or_else(|| out.out.clone())?.parse()?;
        // The monitor is held for 20 ms by each call, so there are at most 250 in five seconds.
        assert!((100..=260).contains(&calls), "{}", out.out);
        assert_eq!(
            live.value("instruments().filter(|i| i.attached).len()")?,
            "0"
        );

        // A plan that cannot be read ends the command before the search.
        let missing = search(live.pid(), &["--then", "no-such.rhai"]).run()?;
        assert_eq!(missing.code, 2, "{missing:?}");
        assert!(missing.err.contains("no-such.rhai"), "{}", missing.err);
        live.stop()?;
        Ok(())
    })
}

#[test]
fn an_idle_program_has_no_findings() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "idle")?;
        let out = search(live.pid(), &["--for", "2"])
            .run()?
            .succeeded("search")?;
        assert!(out.out.contains("The program was idle"), "{}", out.out);
        live.stop()?;
        Ok(())
    })
}

/// Ctrl-C prints what is known, and neither an agent nor an instrument stays in the JVM.
#[test]
fn an_interrupted_search_prints_its_findings_and_leaves_nothing() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "sleep")?;
        let graph = Folder::new("graph")?;
        let file = graph.join("g.svg");
        let name = file.to_string_lossy();
        let process = search(live.pid(), &["--for", "100", "--graph", &name]);
        let mut command = Background::start(&process)?;
        std::thread::sleep(Duration::from_secs(8));
        assert_eq!(command.signal(2)?, Some(0));
        let text = || command.output().join("\n");
        until(
            "the result",
            || Ok(text()),
            |text| text.contains("The search took"),
        )?;
        assert!(
            text().contains("is spent sleeping in Faults.retry"),
            "{}",
            text()
        );
        assert!(fs::read_to_string(&file)?.starts_with("<svg "));
        let maps = fs::read_to_string(format!("/proc/{}/maps", live.pid()))?;
        assert!(
            !maps.contains("veneer"),
            "no library of the agent is loaded"
        );
        live.stop()?;
        Ok(())
    })
}

#[test]
fn a_jvm_that_ends_during_the_search_leaves_a_result() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "loop")?;
        let process = search(live.pid(), &["--for", "60"]);
        let mut command = Background::start(&process)?;
        std::thread::sleep(Duration::from_secs(3));
        live.stop()?;
        assert_eq!(command.wait()?, Some(0));
        let text = || command.output().join("\n");
        until(
            "the result",
            || Ok(text()),
            |text| text.contains("The search took"),
        )?;
        assert!(
            text().contains("The search ended early: the JVM ended"),
            "{}",
            text()
        );
        Ok(())
    })
}

#[test]
fn what_cannot_be_searched_is_refused() -> Outcome {
    let own = std::process::id();
    let out = search(own, &[]).run()?;
    assert_eq!(out.code, 2, "{}", out.err);
    assert!(out.err.contains("is no JVM"), "{}", out.err);
    for (options, message) in [
        (["--why", "weather"], "write one or more of time, processor"),
        (["--threshold", "0%"], "more than 0%"),
        (["--cost", "100%"], "less than 100%"),
    ] {
        let out = search(own, &options).run()?;
        assert_eq!(out.code, 2, "{}", out.err);
        assert!(out.err.contains(message), "{}", out.err);
    }
    Ok(())
}
