//! `veneer run --search`, records and replays, and programs that are hard to search.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use veneer_tests::background::Background;
use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::process::{Output, Process};

/// The longest time of one command.
const LIMIT: Duration = Duration::from_secs(120);
/// A ceiling on cost that allows many dumps, also of a thousand threads, and on a machine that is busy
/// with other tests.
const HIGH_COST: &str = "--cost=60%";
/// The options of most searches.
const OPTIONS: [&str; 4] = ["--json", "--for", "10", HIGH_COST];
/// The least time of a decision, in seconds, with some tolerance.
const DECISION_SECONDS: f64 = 0.75;

/// Returns `java Hostile ARGUMENTS`.
fn hostile(programs: &Programs, arguments: &[&str]) -> Process {
    programs.java("Hostile").args(arguments).limit(LIMIT)
}

/// Starts `java Hostile NAME`, which runs until it is stopped.
fn start(programs: &Programs, name: &str) -> Result<Live, Box<dyn std::error::Error>> {
    Ok(Live::start(&hostile(programs, &[name]))?)
}

/// Returns `veneer search PID OPTIONS`.
fn search(pid: u32, options: &[&str]) -> Process {
    let pid = pid.to_string();
    veneer().args(["search", &pid]).args(options).limit(LIMIT)
}

/// Returns `veneer search --replay FILE OPTIONS`.
fn replay(file: &Path, options: &[&str]) -> Result<Output, Box<dyn std::error::Error>> {
    let file = file.to_string_lossy();
    let replay = veneer().args(["search", "--replay", &file]).args(options);
    Ok(replay.limit(LIMIT).run()?)
}

/// Reads the file that `--search` wrote.
fn result(file: &Path) -> Result<Value, Box<dyn std::error::Error>> {
    let result: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    assert_eq!(result["schema"], 1, "{result}");
    for key in ["findings", "ruled_out", "not_looked_at", "cost", "seconds"] {
        assert!(result.get(key).is_some(), "no {key} in {result}");
    }
    Ok(result)
}

/// Returns the lines of the source that end with `// HOT name`, from 1.
fn hot_lines(name: &str) -> Result<Vec<u64>, std::io::Error> {
    let source = fs::read_to_string(workspace().join("tests/java/search/Hostile.java"))?;
    let mark = format!("// HOT {name}");
    let lines = (1u64..).zip(source.lines());
    let marked = lines.filter(|(_, text)| text.ends_with(&mark));
    Ok(marked.map(|(line, _)| line).collect())
}

/// Checks that a specific finding names a method with this cause, at a line with this mark if the
/// finding names a line.
fn assert_found(result: &Value, method: &str, why: &str, mark: &str) -> Outcome {
    let lines = hot_lines(mark)?;
    let step = |finding: &Value, kind: &str, key: &str| {
        let path = finding["path"].as_array()?;
        let step = path.iter().rev().find(|step| step["kind"] == kind)?;
        Some(step[key].clone())
    };
    let findings = result["findings"].as_array().ok_or("no findings")?;
    let is_right = |finding: &&Value| {
        let line = step(finding, "block", "line").and_then(|line| line.as_u64());
        finding["specific"] == true
            && finding["why"] == why
            && step(finding, "method", "name") == Some(method.into())
            && line.is_none_or(|line| lines.contains(&line))
    };
    assert!(
        findings.iter().any(|finding| is_right(&finding)),
        "no {method} with {why} in {result}"
    );
    Ok(())
}

/// The program writes the same and ends with the same code as without the search. The finding is the
/// loop that takes its time.
#[test]
fn a_program_is_searched_from_its_start_to_its_end() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let folder = Folder::new("run-search")?;
        let (json, svg) = (folder.join("r.json"), folder.join("g.svg"));
        let java = hostile(programs, &["work", "6000", "7"]);
        let plain = java.run()?;
        let options = [
            "--search",
            &json.to_string_lossy(),
            "--graph",
            &svg.to_string_lossy(),
            HIGH_COST,
        ];
        let searched = run(&options, &java).limit(LIMIT).run()?;
        assert_eq!((plain.code, searched.code), (7, 7), "{}", searched.err);
        assert_eq!(plain.out, searched.out);
        let (own, sentences) = searched.err.split_at(plain.err.len());
        assert_eq!(own, plain.err);
        assert!(
            sentences.contains("is processor time in Hostile.price"),
            "{sentences}"
        );
        assert!(sentences.contains("The search took "), "{sentences}");
        let result = result(&json)?;
        assert_eq!(result["ended"], Value::Null, "{result}");
        let seconds = result["seconds"].as_f64().ok_or("no seconds")?;
        assert!((2.0..60.0).contains(&seconds), "{seconds}");
        assert_found(&result, "price", "processor", "work")?;
        assert!(fs::read_to_string(&svg)?.starts_with("<svg "));
        Ok(())
    })
}

/// A search does not need the agent, a call graph does. Both options together have both results.
#[test]
fn a_call_graph_is_recorded_beside_a_search() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let folder = Folder::new("search-and-calls")?;
        let (json, calls) = (folder.join("r.json"), folder.join("c.calls"));
        let java = hostile(programs, &["work", "1500", "7"]);
        let options = [
            "--search",
            &json.to_string_lossy(),
            "--call-graph",
            &calls.to_string_lossy(),
        ];
        let out = run(&options, &java).limit(LIMIT).run()?;
        assert_eq!(
            (out.code, out.out.as_str()),
            (7, "begun\ndone\n"),
            "{}",
            out.err
        );
        result(&json)?;
        let shown = veneer()
            .args(["calls", "show", &calls.to_string_lossy(), "--json"])
            .run()?
            .succeeded("calls show")?;
        let shown: Value = serde_json::from_str(&shown.out)?;
        let methods = shown["methods"].as_array().ok_or("no methods")?;
        let price = methods.iter().find(|method| method["method"] == "price");
        assert!(
            price.is_some_and(|method| method["entries"].as_u64() > Some(0)),
            "{shown}"
        );
        Ok(())
    })
}

/// A shell starts the JVM. A record of the search has the same result as the search.
#[test]
fn the_jvm_of_a_launcher_is_searched_and_recorded() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let folder = Folder::new("launcher")?;
        let (json, record) = (folder.join("r.json"), folder.join("s.search"));
        let java = hostile(programs, &["work", "8000", "3"]);
        let shell = Process::new("/bin/sh").args(["-c", &format!("{java}; echo code $?")]);
        let options = [
            "--search",
            &json.to_string_lossy(),
            "--record",
            &record.to_string_lossy(),
        ];
        let java_home = programs.jdk().home().to_string_lossy().into_owned();
        let out = run(&options, &shell.env("JAVA_HOME", &java_home))
            .limit(LIMIT)
            .run()?;
        assert_eq!(
            (out.code, out.out.as_str()),
            (0, "begun\ndone\ncode 3\n"),
            "{}",
            out.err
        );
        let live = fs::read_to_string(&json)?;
        assert!(result(&json)?["seconds"].as_f64() > Some(0.5), "{live}");
        let replayed = replay(&record, &["--json"])?.succeeded("replay")?;
        assert_eq!(replayed.out, live);
        Ok(())
    })
}

/// Decisions need 0.8 s at least. The result of a shorter program says that nothing was decided.
#[test]
fn a_program_shorter_than_the_search_has_no_findings_and_says_why() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let folder = Folder::new("short")?;
        let json = folder.join("r.json");
        let options = ["--search", &json.to_string_lossy()];
        for millis in ["0", "500"] {
            let java = hostile(programs, &["work", millis, "5"]);
            let out = run(&options, &java).limit(LIMIT).run()?;
            assert_eq!(
                (out.code, out.out.as_str()),
                (5, "begun\ndone\n"),
                "{}",
                out.err
            );
            let result = result(&json)?;
            // On a busy machine, the program can take longer than it wants to.
            if result["seconds"].as_f64() < Some(DECISION_SECONDS) {
                assert_eq!(result["findings"], Value::Array(Vec::new()), "{result}");
                let says = [
                    "Undecided places: ",
                    "No place was found",
                    "Nothing was measured.",
                ];
                assert!(
                    says.iter().any(|text| out.err.contains(text)),
                    "{}",
                    out.err
                );
            }
        }
        // A command without a JVM.
        let out = run(&options, &Process::new("/bin/true"))
            .env("JAVA_HOME", &programs.jdk().home().to_string_lossy())
            .limit(LIMIT)
            .run()?;
        assert_eq!(out.code, 0, "{}", out.err);
        assert!(
            out.err.contains("none of its processes was a JVM"),
            "{}",
            out.err
        );
        let ended = result(&json)?["ended"].to_string();
        assert!(ended.contains("none of its processes was a JVM"), "{ended}");
        Ok(())
    })
}

#[test]
fn an_interrupted_program_leaves_its_result() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let folder = Folder::new("interrupted")?;
        let json = folder.join("r.json");
        let options = ["--search", &json.to_string_lossy(), HIGH_COST];
        let mut command = Background::start(&run(&options, &hostile(programs, &["interrupted"])))?;
        command.wait_for("begun")?;
        std::thread::sleep(Duration::from_secs(8));
        // The signal reaches the command alone, which passes it on.
        assert_eq!(command.signal(libc::SIGINT)?, Some(130));
        let text = || command.output().join("\n");
        until(
            "the result",
            || Ok(text()),
            |text| text.contains("The search took"),
        )?;
        assert!(text().contains("hook"), "{}", text());
        assert_found(&result(&json)?, "spin", "processor", "spin")?;
        Ok(())
    })
}

#[test]
fn options_of_a_search_need_a_search_and_files_are_checked_before_the_start() -> Outcome {
    let missing = Path::new("/nonexistent/r.json").to_string_lossy();
    for (options, message) in [
        (vec!["--threshold", "2%"], "need --search OUT.json"),
        (
            vec!["--search", &missing],
            "choose another file for --search",
        ),
        (vec!["--search", "/dev/null"], "is not a regular file"),
    ] {
        let out = run(&options, &Process::new("java")).run()?;
        assert_eq!((out.code, out.out.as_str()), (2, ""), "{}", out.err);
        assert!(out.err.contains(message), "{}", out.err);
    }
    let out = veneer().args(["search", "--replay", "f", "4711"]).run()?;
    assert_eq!(out.code, 2, "{}", out.err);
    assert!(out.err.contains("cannot be used with"), "{}", out.err);
    Ok(())
}

/// The replay prints what the search printed. A record that was cut, changed or made by a later
/// version says so.
#[test]
fn a_replay_prints_the_result_of_the_search() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let folder = Folder::new("record")?;
        let record = folder.join("s.search");
        let live = start(programs, "spin")?;
        let options = [
            "--json",
            "--for",
            "10",
            HIGH_COST,
            "--record",
            &record.to_string_lossy(),
        ];
        let searched = search(live.pid(), &options).run()?.succeeded("search")?;
        live.stop()?;
        let replayed = replay(&record, &["--json"])?.succeeded("replay")?;
        assert_eq!(replayed.out, searched.out);
        assert_found(
            &serde_json::from_str(&searched.out)?,
            "spin",
            "processor",
            "spin",
        )?;

        let waiting = replay(&record, &["--json", "--why", "waiting"])?.succeeded("replay")?;
        let waiting: Value = serde_json::from_str(&waiting.out)?;
        let whys = waiting["findings"].as_array().ok_or("no findings")?;
        assert!(
            whys.iter().all(|finding| finding["why"] == "time"),
            "{waiting}"
        );
        let brief = replay(&record, &["--for", "2", "--json"])?.succeeded("replay")?;
        let brief: Value = serde_json::from_str(&brief.out)?;
        assert!(
            (1.9..3.0).contains(&brief["seconds"].as_f64().unwrap_or(0.0)),
            "{brief}"
        );

        let text = fs::read_to_string(&record)?;
        let changed = folder.join("changed");
        let cut = &text[..text.len() / 2];
        fs::write(&changed, cut)?;
        let out = replay(&changed, &[])?.succeeded("replay")?;
        assert!(
            out.out.contains("the record was cut off after"),
            "{}",
            out.out
        );
        for (text, message) in [
            (
                text.replacen("\"version\":1", "\"version\":9", 1),
                "it has version 9",
            ),
            (
                text.replacen("\"window_end\"", "\"window_end", 1),
                "is damaged",
            ),
            ("hello\n".to_owned(), "it is no record of a search"),
            (String::new(), "it is no record of a search"),
        ] {
            fs::write(&changed, text)?;
            let out = replay(&changed, &[])?;
            assert_eq!((out.code, out.out.as_str()), (2, ""), "{}", out.err);
            assert!(out.err.contains(message), "{}", out.err);
        }
        Ok(())
    })
}

/// Searches for 10 s, and if nothing but methods of the JDK is found by then, for a minute. A dump of a
/// thousand threads takes seconds if other tests run.
fn search_patiently(live: &Live) -> Result<Value, Box<dyn std::error::Error>> {
    let mut result = Value::Null;
    for seconds in ["10", "60"] {
        let options = ["--json", "--for", seconds, HIGH_COST];
        let out = search(live.pid(), &options).run()?.succeeded("search")?;
        result = serde_json::from_str(&out.out)?;
        let findings = result["findings"].as_array().ok_or("no findings")?;
        let names_cause = |finding: &Value| finding["why"] != "time";
        if findings.iter().any(names_cause) {
            break;
        }
    }
    Ok(result)
}

/// 999 threads wait for work, and one is in a loop without calls.
#[test]
fn one_thread_in_a_loop_without_calls_is_found_among_a_thousand() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "threads")?;
        let result = search_patiently(&live)?;
        live.stop()?;
        assert_found(&result, "spin", "processor", "spin")?;
        let active = result["active"].as_f64().ok_or("no active")?;
        assert!((0.5..2.0).contains(&active), "{result}");
        Ok(())
    })
}

/// All of a thousand threads want one monitor. The cost of a dump is known after the second one, so
/// the ceiling on cost can be exceeded by three dumps and not by more. The result says what is
/// undecided.
#[test]
fn three_dumps_of_a_thousand_threads_at_most_exceed_the_ceiling() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "crowd")?;
        let folder = Folder::new("crowd")?;
        let record = folder.join("s.search");
        let options = [
            "--json",
            "--for",
            "8",
            "--record",
            &record.to_string_lossy(),
        ];
        let out = search(live.pid(), &options).run()?.succeeded("search")?;
        let cheap: Value = serde_json::from_str(&out.out)?;
        let cost = cheap["cost"]["share"].as_f64().ok_or("no cost")?;
        let record = fs::read_to_string(&record)?;
        let dumps = record
            .lines()
            .filter(|line| line.starts_with("{\"samples\""));
        let dumps = dumps.count();
        // The cost is known after the second dump, and one more may be due by then.
        assert!(
            cost > 0.0 && (cost <= 0.02 || dumps <= 3),
            "{cost}, {dumps} dumps"
        );
        let is_empty = |key: &str| cheap[key].as_array().is_none_or(Vec::is_empty);
        assert!(
            !is_empty("findings") || !is_empty("not_looked_at"),
            "{cheap}"
        );

        let result = search_patiently(&live)?;
        live.stop()?;
        assert_found(&result, "audit", "monitor", "crowd")?;
        let threads = &result["findings"][0]["threads"][0];
        assert_eq!(threads["name"], "http-*", "{result}");
        Ok(())
    })
}

/// The time is spent below 10,000 activations of one method. HotSpot's dumps show the innermost 1,024.
#[test]
fn the_place_below_a_deep_recursion_is_found() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "recursion")?;
        let out = search(live.pid(), &OPTIONS).run()?.succeeded("search")?;
        live.stop()?;
        let result: Value = serde_json::from_str(&out.out)?;
        assert_found(&result, "bottom", "processor", "recursion")?;
        let findings = result["findings"].as_array().ok_or("no findings")?;
        let is_whole = |finding: &Value| finding["share"].as_f64() <= Some(1.0);
        assert!(findings.iter().all(is_whole), "{result}");
        Ok(())
    })
}

/// Both searches have the result of a search alone, and the program runs on.
#[test]
fn two_searches_of_one_program_do_not_disturb_each_other() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "spin")?;
        let mut first = Background::start(&search(live.pid(), &OPTIONS))?;
        let second = search(live.pid(), &OPTIONS).run()?.succeeded("search")?;
        assert_eq!(first.wait()?, Some(0));
        let text = || first.output().join("");
        let text = until("the result", || Ok(text()), |text| text.ends_with('}'))?;
        for out in [second.out, text] {
            let result: Value = serde_json::from_str(&out)?;
            assert_found(&result, "spin", "processor", "spin")?;
        }
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}

/// The program ends by itself in the middle of the search.
#[test]
fn a_program_that_ends_in_the_middle_leaves_its_findings_at_once() -> Outcome {
    on_a_jdk_with("search", |programs| {
        let live = start(programs, "spin")?;
        let mut command =
            Background::start(&search(live.pid(), &["--for", "60", "--json", HIGH_COST]))?;
        std::thread::sleep(Duration::from_secs(10));
        live.stop()?;
        let ended = Instant::now();
        assert_eq!(command.wait()?, Some(0));
        assert!(ended.elapsed() < Duration::from_secs(30));
        let text = || command.output().join("");
        let text = until("the result", || Ok(text()), |text| text.ends_with('}'))?;
        let result: Value = serde_json::from_str(&text)?;
        assert_eq!(result["ended"], "the JVM ended", "{result}");
        assert_found(&result, "spin", "processor", "spin")
    })
}
