//! Recordings on disk in a real browser: `veneer serve --data` and `--trace` without a JVM, `veneer report
//! --html`, and the comparison of two traces. All recordings are made by the commands, on a running JVM whose
//! thread has markup in its name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use veneer_tests::browser::{Browser, check_accessibility, in_browser, until_nothing_is_attached};
use veneer_tests::command::veneer;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::live::Live;
use veneer_tests::page_server::Server;
use veneer_tests::process::event_timeout;

type Failure = Box<dyn std::error::Error>;

/// The method that all recordings have, in the forms of calls and of traces.
const CALLED: &str = "Trouble::show(java.lang.String, int)";
const TRACED: &str = "Trouble::show";

/// Recordings of each kind in a folder.
struct Recordings {
    folder: Folder,
}

impl Recordings {
    /// Records a JVM, which has ended afterwards.
    fn make(programs: &Programs) -> Result<Recordings, Failure> {
        let recordings = Recordings {
            folder: Folder::new("page-files")?,
        };
        let java = programs.launcher().arg("-XX:+EnableDynamicAgentLoading");
        let java = java.arg("-cp").arg(programs.classes().path());
        let live = Live::start(&java.arg("Trouble"))?;
        let pid = live.pid().to_string();
        let at = |name: &str| recordings.at(name).display().to_string();
        fs::create_dir(recordings.at("traces"))?;
        for words in [
            vec![
                "calls",
                &pid,
                "Trouble",
                "--contexts",
                "--for",
                "1",
                "-o",
                &at("shop.calls"),
            ],
            vec![
                "trace",
                &pid,
                "Trouble",
                "--for",
                "0.3",
                "-o",
                &at("traces/monday"),
            ],
            vec![
                "trace",
                &pid,
                "Trouble",
                "--for",
                "0.6",
                "-o",
                &at("traces/tuesday"),
            ],
        ] {
            run(&words)?;
        }
        fs::write(recordings.at("trace.lackey"), address_trace())?;
        let (trace, profile) = (at("trace.lackey"), at("walk.vmem"));
        let caches = "L1:1K/2/64,L2:8K/4/64";
        run(&[
            "memory",
            "simulate",
            &trace,
            "--cache",
            caches,
            "--by",
            "instruction",
            "-o",
            &profile,
        ])?;
        let tuned = run(&["tune", &pid, "--dry-run", "--json"])?;
        fs::write(recordings.at("tuned.json"), tuned)?;
        let record = at("kept.search");
        let found = run(&["search", &pid, "--for", "3", "--json", "--record", &record])?;
        fs::write(recordings.at("found.json"), found)?;
        live.stop()?;
        Ok(recordings)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The parameters of scenarios: names of files, and texts that the views must show.
    fn parameters(&self) -> Result<Value, Failure> {
        let found: Value = serde_json::from_slice(&fs::read(self.at("found.json"))?)?;
        let sentence = found["sentences"].as_array().and_then(|all| all.last());
        let sentence = sentence.and_then(Value::as_str).ok_or("no sentence")?;
        let profile = self.at("walk.vmem").display().to_string();
        let shown = run(&["memory", "show", &profile, "--by", "site", "--json"])?;
        let shown: Value = serde_json::from_str(&shown)?;
        Ok(json!({
            "recordings": {"calls": "shop.calls", "search": "found.json", "record": "kept.search",
                "trace": "tuesday", "memory": "walk.vmem", "tuning": "tuned.json"},
            "figures": {"calls": CALLED, "search": sentence.trim(), "trace": TRACED,
                "memory": shown["rows"]},
        }))
    }
}

/// An address trace of three instructions, as Valgrind's tool Lackey writes it: one reads an array line by
/// line, one reads a single line, and one writes each 16th line of the array.
fn address_trace() -> String {
    let mut text = String::new();
    for n in 0u32..4_000 {
        let line = 0x1000_0000 + (n % 1_000) * 64;
        text += &format!("I  00400000,4\n L {line:08x},8\nI  00400010,4\n L 20000000,8\n");
        if n % 16 == 0 {
            text += &format!("I  00400020,4\n S {line:08x},8\n");
        }
    }
    text
}

/// Runs the command, which must succeed, and returns what it prints.
fn run(words: &[&str]) -> Result<String, Failure> {
    let output = veneer().args(words).limit(event_timeout()).run()?;
    Ok(output.succeeded(&words.join(" "))?.out)
}

/// Adds files that are cut, damaged, of a later version, or links to files elsewhere. Returns the texts that
/// the page must show for each: the problem, and the remedy or the part that is shown.
fn add_damaged(recordings: &Recordings, outside: &Path) -> Result<Value, Failure> {
    let whole = fs::read(recordings.at("shop.calls"))?;
    let put = |name: &str, bytes: &[u8]| fs::write(recordings.at(name), bytes);
    put("cut.calls", &whole[..whole.len() - 40])?;
    put("empty.calls", b"")?;
    put("other.calls", b"this is no recording")?;
    let mut later = whole[..12].to_vec();
    later[8] = 9;
    later.extend(crc32fast::hash(&later).to_le_bytes());
    put("later.calls", &later)?;
    let found = fs::read(recordings.at("found.json"))?;
    put("cut.json", &found[..found.len() / 2])?;
    let later = String::from_utf8(found)?.replacen("\"schema\":1", "\"schema\":9", 1);
    put("later.json", later.as_bytes())?;
    let record = fs::read(recordings.at("kept.search"))?;
    put(
        "broken.search",
        &[&record[..200], b"\n\nnonsense\n"].concat(),
    )?;
    let profile = fs::read(recordings.at("walk.vmem"))?;
    put("cut.vmem", &profile[..profile.len() - 8])?;
    put("empty.vmem", b"")?;
    let mut damaged = profile.clone();
    damaged[30] ^= 1;
    put("damaged.vmem", &damaged)?;
    let mut later = profile;
    later[8] = 9;
    put("later.vmem", &later)?;
    put("damaged-tuned.json", b"{\"schema\": 1, \"decisions\": [7]}")?;
    put("later-tuned.json", b"{\"schema\": 9, \"decisions\": []}")?;
    fs::create_dir(recordings.at("broken"))?;
    put("broken/names", b"nonsense\n")?;
    fs::create_dir(recordings.at("cut"))?;
    copy_of_trace(&recordings.at("traces/monday"), &recordings.at("cut"))?;
    fs::create_dir(recordings.at("linked"))?;
    put(
        "linked/names",
        &fs::read(recordings.at("traces/monday/names"))?,
    )?;
    symlink("/etc/passwd", recordings.at("linked/thread-1.events"))?;
    fs::write(outside.join("secret.calls"), &whole)?;
    symlink(outside.join("secret.calls"), recordings.at("link.calls"))?;
    symlink(outside, recordings.at("folder-link"))?;
    Ok(json!({
        "link": "link.calls",
        "texts": {
            "cut.calls": ["without its end record", "What is there is shown"],
            "empty.calls": ["the file is empty", "record again"],
            "other.calls": ["no call profile", "veneer calls -o"],
            "later.calls": ["version 9", "use a newer veneer"],
            "cut.json": ["in the middle", "search again"],
            "later.json": ["schema 9", "use a newer veneer"],
            "broken.search": ["cannot be replayed", "broken.search"],
            "cut.vmem": ["ends early", "The rows before the end are shown"],
            "empty.vmem": ["the file is empty", "record again"],
            "damaged.vmem": ["is damaged", "measure again"],
            "later.vmem": ["format version 9", "A newer `veneer` reads it"],
            "damaged-tuned.json": ["no result of `veneer tune --json`", "run the command again"],
            "later-tuned.json": ["schema 9", "use a newer veneer"],
            "broken": ["is not a trace", "veneer trace -o"],
            "cut": ["damaged segments|missing segments|without an end", "Everything else is shown"],
            "linked": ["symbolic link", "plain file"],
        },
    }))
}

/// Copies a trace without its index, and cuts the longest of its events files in the
/// middle of a word.
fn copy_of_trace(from: &Path, to: &Path) -> Result<(), Failure> {
    let mut longest = (0, PathBuf::new());
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let copy = to.join(entry.file_name());
            let bytes = fs::copy(entry.path(), &copy)?;
            if copy.extension().is_some_and(|one| one == "events") && bytes > longest.0 {
                longest = (bytes, copy);
            }
        }
    }
    let (bytes, path) = longest;
    fs::File::options()
        .write(true)
        .open(path)?
        .set_len((bytes * 2 / 3).next_multiple_of(8) + 5)?;
    Ok(())
}

fn with_recordings(test: impl Fn(&Recordings, &Browser) -> Outcome) -> Outcome {
    in_browser("page", |programs, browser| {
        test(&Recordings::make(programs)?, browser)
    })
}

#[test]
fn files_open_without_a_jvm_and_nothing_outside_does() -> Outcome {
    with_recordings(|recordings, browser| {
        let outside = Folder::new("page-outside")?;
        let mut parameters = recordings.parameters()?;
        parameters["damaged"] = add_damaged(recordings, outside.path())?;
        // The folder of the traces is named by its own option.
        let traces = Folder::new("page-traces")?;
        for name in ["monday", "tuesday"] {
            fs::rename(recordings.at("traces").join(name), traces.join(name))?;
        }
        let (data, trace) = (
            recordings.folder.path().display().to_string(),
            traces.path().display().to_string(),
        );
        let server = Server::start(&["--data", &data, "--trace", &trace])?;
        for path in [
            "f../../../../etc/passwd",
            "f..%2f..%2fetc%2fpasswd",
            "%2fetc%2fpasswd",
            "flink.calls",
            "f0123456789abcdef",
            "r1",
        ] {
            for part in ["", "/result", "/threads", "/contexts"] {
                let answer =
                    server.request("GET", &format!("/api/1/recordings/{path}{part}"), "")?;
                assert!(answer.starts_with("HTTP/1.1 404"), "{path}{part}: {answer}");
            }
        }
        let list = server.request("GET", "/api/1/recordings", "")?;
        assert!(
            list.contains("shop.calls") && !list.contains("secret"),
            "{list}"
        );
        let removed = server.request(
            "DELETE",
            &format!("/api/1/recordings/{}", first_id(&list)),
            "",
        )?;
        assert!(removed.contains("only reads this file"), "{removed}");
        let result = browser.run("files", &server, parameters)?;
        for (name, text) in result["said"].as_object().ok_or("nothing is said")? {
            println!("{name}: {}", text.as_str().unwrap_or_default());
        }
        check_accessibility(&result)
    })
}

/// The first id of a file in an answer.
fn first_id(list: &str) -> &str {
    let (_, rest) = list.split_once("\"id\":\"").unwrap_or_default();
    rest.split_once('"').unwrap_or_default().0
}

#[test]
fn a_folder_that_is_not_there_is_refused() -> Outcome {
    let output = veneer().args(["serve", "--data", "/nowhere"]).run()?;
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("/nowhere cannot be read"),
        "{}",
        output.err
    );
    assert!(output.err.contains("; name a folder"), "{}", output.err);
    Ok(())
}

#[test]
fn a_report_shows_the_same_as_the_page() -> Outcome {
    with_recordings(|recordings, browser| {
        let html = recordings.at("out.html");
        let data = recordings.folder.path().display().to_string();
        let words = ["report", "--html", &html.display().to_string(), &data];
        let written = veneer().args(words).limit(event_timeout()).run()?;
        let written = written.succeeded("report")?;
        println!("{}", written.err.trim());
        assert!(written.err.contains("7 recordings"), "{}", written.err);
        let text = fs::read_to_string(&html)?;
        assert!(
            !text.contains(&data),
            "the report has a path of this machine"
        );
        let server = Server::start(&["--data", &data])?;
        let mut parameters = recordings.parameters()?;
        parameters["file"] = json!(format!("file://{}", html.display()));
        parameters["recordings"]["trace"] = json!("traces/tuesday");
        let result = browser.run("report", &server, parameters)?;
        check_accessibility(&result)
    })
}

#[test]
fn two_traces_are_compared_as_the_command_does() -> Outcome {
    with_recordings(|recordings, browser| {
        let traces = recordings.at("traces").display().to_string();
        let [monday, tuesday] = ["monday", "tuesday"].map(|name| format!("{traces}/{name}"));
        let diff = veneer().args(["trace", "diff", &monday, &tuesday]);
        let diff = diff.limit(event_timeout()).run()?;
        let server = Server::start(&["--trace", &traces])?;
        let result = browser.run(
            "trace_comparison",
            &server,
            json!({"before": "monday", "after": "tuesday", "method": TRACED}),
        )?;
        // Each first difference, and each figure of the methods, is in the output of the command.
        let differences = result["differences"].as_array().ok_or("no differences")?;
        for entries in differences {
            let line = format!(
                "differs after {} entries",
                entries.as_str().unwrap_or_default()
            );
            assert!(diff.out.contains(&line), "{line}: {}", diff.out);
        }
        assert_eq!(differences.len(), diff.out.matches("differs after").count());
        let row = result["row"].as_array().ok_or("no row")?;
        let line = diff.out.lines().find(|line| line.starts_with(TRACED));
        let line = line.ok_or("the command has no such method")?;
        for figure in row.iter().filter_map(Value::as_str) {
            assert!(line.contains(&figure.replace(',', "")), "{figure}: {line}");
        }
        check_accessibility(&result)
    })
}

#[test]
fn the_source_is_beside_the_flow_graph_and_the_machine_says_what_works() -> Outcome {
    in_browser("live", |programs, browser| {
        let live = programs.armed("RunningLoop")?;
        let pid = live.pid().to_string();
        let sources = workspace().join("tests/java/live").display().to_string();
        let server = Server::start(&["--source", &sources])?;
        let without = Server::start(&[])?;
        let doctor = veneer()
            .args(["doctor", &pid, "--json"])
            .limit(event_timeout());
        let findings: Vec<Value> = serde_json::from_str(&doctor.run()?.out)?;
        // Figures that change while the test runs are left out.
        let stable = |one: &&Value| {
            !one["found"]
                .as_str()
                .is_some_and(|text| text.contains("MB"))
        };
        let findings: Vec<&Value> = findings.iter().filter(stable).collect();
        assert!(findings.len() > 5, "{findings:?}");
        let parameters = json!({"pid": live.pid(), "pattern": "RunningLoop::loop(long)",
            "without": without.address, "call": "turns = step(turns);", "command": findings});
        let result = browser.run("source", &server, parameters)?;
        check_accessibility(&result)?;
        until_nothing_is_attached(&live)
    })
}

#[test]
fn recordings_of_all_tabs_are_listed() -> Outcome {
    in_browser("live", |programs, browser| {
        let live = programs.armed("RunningLoop")?;
        let server = Server::start(&[])?;
        let parameters = json!({"pid": live.pid(), "pattern": "RunningLoop::*(..)",
            "method": "RunningLoop::step"});
        let result = browser.run("recording_list", &server, parameters)?;
        check_accessibility(&result)?;
        until_nothing_is_attached(&live)
    })
}
