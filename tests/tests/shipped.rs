//! The shipped plans in `scripts/plans`. Their figures are exact on programs that print the
//! expected values. The counts of the plans after BIT (Lee and Zorn 1997) equal those of an
//! independent method. Each plan also runs on a program that was not made for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::jars::{jar, jars};
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::Live;
use veneer_tests::output::timed;
use veneer_tests::process::{Output, Process};

type CommandResult = Result<Output, Box<dyn std::error::Error>>;

fn plans() -> PathBuf {
    workspace().join("scripts/plans")
}

/// Runs a program under a shipped plan.
fn run_under_plan(java: &Process, plan: &str, settings: &[&str]) -> CommandResult {
    let file = plans().join(plan).display().to_string();
    let mut options = vec!["--strict", "--plan", &file];
    for setting in settings {
        options.extend(["--set", setting]);
    }
    Ok(run(&options, java).run()?.succeeded(plan)?)
}

/// Plan, settings, and expected lines of its output, with spaces normalised.
const DESK: &[(&str, &[&str], &[&str])] = &[
    (
        "nulls.rhai",
        &["methods=Desk", "calls=java.util.Map::get(..)"],
        &["200 Desk.find:22 null", "100 Desk.find:22 not null"],
    ),
    (
        "receivers.rhai",
        &["methods=Desk::wait(..)", "calls=java.util.List::add(..)"],
        &[
            "200 Desk.wait:27 java.util.LinkedList",
            "100 Desk.wait:27 java.util.ArrayList",
        ],
    ),
    (
        "values.rhai",
        &["methods=Desk::serve(..)", "line=33", "variable=fee"],
        &["75 0", "75 1", "75 2", "75 3"],
    ),
    (
        "stacks.rhai",
        &["methods=Desk::find(..)"],
        &[
            "300 100.0%",
            "Desk.find:22",
            "Desk.serve:31",
            "Desk.main:49",
            "300 in 1 stacks",
        ],
    ),
    (
        "stacks.rhai",
        &["methods=Desk::find(..)", "collapsed=true"],
        &["Desk.main;Desk.serve;Desk.find 300"],
    ),
    (
        "exceptions.rhai",
        &["methods=Desk"],
        &[
            "4 java.lang.IllegalArgumentException Desk.serve:37",
            "caught exception by the handler at",
            "4 java.lang.IllegalArgumentException Desk.main:50",
        ],
    ),
];

/// Words that are in one line in this order.
type Words = &'static [&'static str];

/// Plan, settings, and the words of expected lines of its output.
const ROWS: &[(&str, &[&str], &[Words])] = &[
    (
        "locks.rhai",
        &["methods=Desk"],
        &[&["300", "Desk", "serve(int)", "33"]],
    ),
    (
        "allocations.rhai",
        &["methods=Desk"],
        &[
            &["296", "Desk", "serve(int)", "39"],
            &["4", "Desk", "serve(int)", "37"],
            &["1", "Desk", "main(String[])", "44"],
        ],
    ),
    (
        "timing.rhai",
        &["methods=Desk"],
        &[&["300", "Desk", "serve(int)"]],
    ),
    (
        "hot.rhai",
        &["methods=Desk"],
        &[&["301", "Desk", "main(String[])"]],
    ),
    (
        "slow.rhai",
        &[
            "methods=Desk::serve(..)",
            "argument=customer",
            "number=true",
            "ms=0",
            "top=1000",
        ],
        &[&["1", "299"], &["300", "in", "300", "entries"]],
    ),
    (
        "strategy.rhai",
        &["methods=Desk::serve(..)", "strategy=before"],
        &[&["300", "Desk", "serve(int)"]],
    ),
    (
        "strategy.rhai",
        &["methods=Desk::serve(..)", "strategy=around"],
        &[&["300", "Desk", "serve(int)"]],
    ),
    (
        "coverage.rhai",
        &["methods=Desk"],
        &[&["never", "ran:", "Desk.idle"]],
    ),
];

#[test]
fn shipped_plans_print_the_expected_values() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let java = programs.java("Desk");
        let plain = java.run()?.succeeded("Desk")?;
        for (plan, settings, lines) in DESK {
            let output = run_under_plan(&java, plan, settings)?;
            assert_eq!(output.out, plain.out, "{plan}");
            let found: Vec<String> = output.err.lines().map(words).collect();
            for line in *lines {
                assert!(
                    found.iter().any(|f| f == line),
                    "{plan}: `{line}` is not in\n{}",
                    output.err
                );
            }
        }
        for (plan, settings, rows) in ROWS {
            let output = run_under_plan(&java, plan, settings)?;
            assert_eq!(output.out, plain.out, "{plan}");
            for row in *rows {
                assert!(
                    output.err.lines().any(|line| has(line, row)),
                    "{plan}: {row:?} are not in a line of\n{}",
                    output.err
                );
            }
        }
        Ok(())
    })
}

/// Plan, and the words of expected lines of its output on `Locks`.
const LOCKS: &[(&str, &[Words])] = &[
    (
        "locks.rhai",
        &[
            // A `synchronized` method has no instruction that enters the monitor.
            &["Locks,", "holder"],
            &["30", "Locks", "count()", "19"],
            &["30", "Locks", "count()", "25"],
        ],
    ),
    (
        "exceptions.rhai",
        &[&["10", "java.lang.NumberFormatException", "Locks.parse:33"]],
    ),
];

#[test]
fn locks_and_exceptions_of_the_jdk_are_counted() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let java = programs.java("Locks");
        let plain = java.run()?.succeeded("Locks")?;
        for (plan, rows) in LOCKS {
            let output = run_under_plan(&java, plan, &["methods=Locks"])?;
            assert_eq!(output.out, plain.out, "{plan}");
            for row in *rows {
                assert!(
                    output.err.lines().any(|line| has(line, row)),
                    "{plan}: {row:?} are not in a line of\n{}",
                    output.err
                );
            }
        }
        Ok(())
    })
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a line contains these words in this order.
fn has(line: &str, wanted: &[&str]) -> bool {
    let mut found = line.split_whitespace();
    wanted
        .iter()
        .all(|w| found.any(|f| f == *w || f.starts_with(*w) && w.contains('.')))
}

#[test]
fn every_shipped_plan_has_a_description_and_runs_on_another_program() -> Outcome {
    on_a_jdk_with("route", |programs| {
        let java = programs.java("route.Main").args(["10", "1"]);
        let plain = java.run()?.succeeded("route.Main")?;
        for file in files(&plans(), "rhai")? {
            let text = std::fs::read_to_string(&file)?;
            assert!(text.starts_with("// "), "{}", file.display());
            if file.parent() != Some(&plans()) {
                // A module runs with the plans that import it.
                continue;
            }
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let mut settings = vec!["methods=route..*"];
            if *name == *"slow.rhai" {
                settings = vec!["methods=route.Finder::find(..)", "ms=0"];
            }
            if *name == *"http.rhai" {
                settings = vec!["server=jdk"];
            }
            if *name == *"stacks.rhai" {
                // To walk the stack at every call takes a minute.
                settings = vec!["methods=route.Finder::find(..)"];
            }
            if text.contains("param(\"variable\")") {
                settings = vec!["methods=route.Edge::isMe(..)", "line=41", "variable=a"];
            }
            let output = run_under_plan(&java, &name, &settings)?;
            assert_eq!(output.out, plain.out, "{name}");
            // The program has no server, which the plan reports.
            let idle = output.err.contains("matched no method in the whole run");
            assert_eq!(idle, *name == *"http.rhai", "{name}: {}", output.err);
            assert!(
                idle || !output.err.contains("veneer: "),
                "{name}: {}",
                output.err
            );
        }
        Ok(())
    })
}

#[test]
fn an_unknown_plan_setting_is_an_error() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let file = plans().join("hot.rhai").display().to_string();
        for (setting, message) in [
            (
                "tops=3",
                "--set tops=…: this plan has no such parameter, but methods, seconds, top",
            ),
            ("top=many", "--set top=many: a whole number is needed"),
        ] {
            let options = ["--strict", "--plan", &file, "--set", setting];
            let output = run(&options, &programs.java("Desk")).run()?;
            assert_eq!(output.code, 2, "{}", output.err);
            assert!(output.err.contains(message), "{}", output.err);
        }
        Ok(())
    })
}

/// Parses the output of the rewritten classes.
fn independent(said: &str) -> BTreeMap<String, u64> {
    let opcodes = said.lines().filter_map(|l| l.strip_prefix("opcode "));
    opcodes
        .filter_map(|l| {
            let (name, times) = l.split_once(' ')?;
            Some((name.to_string(), times.parse().ok()?))
        })
        .collect()
}

/// Parses the output of the plan. Short forms of an instruction are counted as the instruction.
fn mix(said: &str) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for line in said.lines() {
        let [times, share, name] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            continue;
        };
        let Ok(times) = times.parse::<u64>() else {
            continue;
        };
        if share.ends_with('%') {
            *out.entry(long_form(name)).or_insert(0) += times;
        }
    }
    out
}

fn long_form(name: &str) -> String {
    let name = match name {
        "ldc_w" | "ldc2_w" => "ldc",
        "goto_w" => "goto",
        other => other,
    };
    match name.split_once('_') {
        Some((start, "0" | "1" | "2" | "3"))
            if start.ends_with("load") || start.ends_with("store") =>
        {
            start.into()
        }
        _ => name.into(),
    }
}

fn javac(jdk: &Jdk, path: Option<&Path>, sources: &[PathBuf], into: &Path) -> Outcome {
    let mut javac = Process::new(jdk.tool("javac")).args(["-g", "-nowarn", "--release", "17"]);
    if let Some(path) = path {
        javac = javac.arg("-cp").arg(path);
    }
    javac
        .arg("-d")
        .arg(into)
        .args(sources)
        .run()?
        .succeeded("javac")?;
    Ok(())
}

#[test]
fn the_counts_of_bit_equal_an_independent_count() -> Outcome {
    for jdk in jdk::for_this_test() {
        let asm = jar("asm")?;
        let folder = Folder::new("bit")?;
        let [classes, tool, rewritten] = ["classes", "tool", "rewritten"].map(|n| folder.join(n));
        for one in [&classes, &tool, &rewritten] {
            std::fs::create_dir_all(one)?;
        }
        let sources = |name: &str| files(&workspace().join("tests/java").join(name), "java");
        javac(&jdk, None, &sources("route")?, &classes)?;
        javac(&jdk, Some(&asm), &sources("independent")?, &tool)?;
        let path = |all: &[&Path]| std::env::join_paths(all);
        Process::new(jdk.tool("java"))
            .arg("-cp")
            .arg(path(&[&tool, &asm])?)
            .arg("Independent")
            .arg(&classes)
            .arg(&rewritten)
            .run()?
            .succeeded("Independent")?;
        let java = |path: std::ffi::OsString| {
            Process::new(jdk.tool("java"))
                .arg("-cp")
                .arg(path)
                .args(["route.Main", "20", "2"])
        };
        let other = java(path(&[&rewritten, &tool])?)
            .run()?
            .succeeded("rewritten")?;
        let plain = java(path(&[&classes])?);
        let settings = ["methods=route..*", "top=300"];
        let opcodes = run_under_plan(&plain, "opcodes.rhai", &settings)?;
        assert_eq!(opcodes.out, other.out);
        assert_eq!(mix(&opcodes.err), independent(&other.err), "{jdk}");
        let branches = run_under_plan(&plain, "branches.rhai", &settings)?;
        let line = |said: &str, start: &str| {
            let found = said.lines().find(|l| l.starts_with(start));
            found.unwrap_or_default().to_string()
        };
        let theirs = line(&other.err, "branches passed ");
        assert!(!theirs.is_empty(), "{}", other.err);
        let ours = line(&branches.err, "branches passed ");
        assert!(
            ours.starts_with(&format!("{theirs}, in ")),
            "{jdk}: {ours} instead of {theirs}"
        );
        let theirs = line(&other.err, "instructions ");
        let ours = line(&opcodes.err, "instructions ");
        assert!(
            ours.starts_with(&format!("{theirs}, of ")),
            "{jdk}: {ours} instead of {theirs}"
        );
    }
    Ok(())
}

fn to_owned_rows(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
    rows.iter()
        .map(|(n, text)| (*n, text.to_string()))
        .collect()
}

/// The requests of one run of `Requests`; see the program's comments.
const REQUESTS: &[(u64, &str)] = &[
    (3, "/nothing 404"),
    (3, "/orders/1 200"),
    (4, "/orders/0 200"),
    (20, "/orders 200"),
];

#[test]
fn requests_to_the_jdk_server_are_timed_by_path() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        // The output without the process id.
        let rest = |out: &str| out.lines().skip(1).map(String::from).collect::<Vec<_>>();
        let java = programs.java("Requests");
        let once = java.clone().arg("once");
        let plain = once.run()?.succeeded("Requests")?;
        let started = run_under_plan(&once, "http.rhai", &["server=jdk", "top=100"])?;
        assert_eq!(rest(&started.out), rest(&plain.out));
        let (failed, rows): (Vec<_>, Vec<_>) = timed(&started.err)
            .into_iter()
            .partition(|(_, text)| text == "/fails exception");
        assert_eq!(rows, to_owned_rows(REQUESTS), "{}", started.err);
        assert_eq!(failed.len(), 1, "{}", started.err);

        // The agent is attached to a JVM that was started without it and that has already handled
        // requests.
        let mut live = Live::start(&java)?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let file = plans().join("http.rhai").display().to_string();
        let pid = live.pid().to_string();
        let exec = ["exec", &pid, &file, "--set", "server=jdk"];
        veneer().args(exec).run()?.succeeded("exec")?;
        live.say("run")?;
        assert_eq!(live.line("sum ")?, sum);
        let came = live.stop()?;
        assert_eq!(timed(&came.err), to_owned_rows(REQUESTS), "{}", came.err);
        Ok(())
    })
}

/// The requests that the servlets of `Web` handle, except its many pages; see the program.
const SERVED: &[(u64, &str)] = &[
    (1, "/bad 418"),
    (1, "/table 400"),
    (1, "/table 405"),
    (2, "/bad exception"),
    (250, "/echo/form 200"),
    (251, "/count 200"),
    (251, "/table 200"),
];

#[test]
fn servlet_requests_are_timed_by_path_and_result() -> Outcome {
    for jdk in jdk::for_this_test() {
        // The package of the servlet API has had two names.
        let newer = jars(&["tomcat-embed-core", "tomcat-annotations-api"])?;
        let older = jars(&["tomcat-9-embed-core", "tomcat-9-annotations-api"])?;
        for (server, jars) in [("jakarta", newer), ("javax", older)] {
            let folder = Folder::new("web")?;
            let work = folder.join("work");
            std::fs::create_dir_all(&work)?;
            let programs = workspace().join("tests/programs");
            let web = std::fs::read_to_string(programs.join("Web.java"))?;
            let source = folder.join("Web.java");
            std::fs::write(
                &source,
                web.replace("jakarta.servlet", &format!("{server}.servlet")),
            )?;
            let path = std::env::join_paths(&jars)?;
            let sources = [source, programs.join("Digest.java")];
            javac(&jdk, Some(Path::new(&path)), &sources, folder.path())?;
            let path = std::env::join_paths(
                std::iter::once(folder.path()).chain(jars.iter().map(PathBuf::as_path)),
            )?;
            let java = Process::new(jdk.tool("java"))
                .arg("-cp")
                .arg(&path)
                .arg("Web")
                .arg(&work);
            let plain = java.run()?.succeeded("Web")?;
            let server = format!("server={server}");
            let output = run_under_plan(&java, "http.rhai", &["top=1000", &server])?;
            assert_eq!(output.out, plain.out, "{jdk} {server}");
            let (pages, rows): (Vec<_>, Vec<_>) = timed(&output.err)
                .into_iter()
                .partition(|(_, text)| text.starts_with("/echo/path%20"));
            assert_eq!(rows, to_owned_rows(SERVED), "{jdk} {server} {}", output.err);
            let once = pages
                .iter()
                .all(|(n, text)| *n == 1 && text.ends_with(" 200"));
            assert!(pages.len() == 250 && once, "{jdk} {server} {}", output.err);
        }
    }
    Ok(())
}
