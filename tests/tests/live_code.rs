//! The code of a running JVM: `veneer fragments PID` shows it and writes its class files, and edits
//! name fragments by line, check the code by a hash, and are read back.

use std::path::PathBuf;

use serde_json::{Value, json};
use veneer_tests::background::Background;
use veneer_tests::command::{self, veneer};
use veneer_tests::folder::{Folder, files};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::{Output, Process, ProcessError};

/// The method whose loop runs until the test ends.
const LOOP: &str = "EdgeRedirect::loop(..)";

fn class_file(programs: &Programs) -> PathBuf {
    programs.classes().join("EdgeRedirect.class")
}

fn fragments(place: &str, words: &[&str]) -> Result<Output, ProcessError> {
    veneer().args(["fragments", place, LOOP]).args(words).run()
}

#[test]
fn the_original_code_of_a_jvm_is_that_of_its_class_file() -> Outcome {
    on_a_jdk(|programs| {
        let live = programs.armed("EdgeRedirect")?;
        let pid = live.pid().to_string();
        let path = class_file(programs).display().to_string();
        for words in [&[][..], &["--json"], &["--dot", "--simple"]] {
            let running = fragments(&pid, words)?.succeeded("of the JVM")?;
            let file = fragments(&path, words)?.succeeded("of the file")?;
            assert_eq!(running.out, file.out, "{words:?}");
            assert!(!running.out.is_empty());
        }
        for (words, code, said) in [
            (&["--body", "version"][..], 1, "has a version"),
            (&["--body", "armed", "--dump", "x"], 2, "cannot be used"),
        ] {
            let refused = fragments(&pid, words)?;
            assert_eq!(refused.code, code, "{words:?}: {}", refused.err);
            assert!(refused.err.contains(said), "{words:?}: {}", refused.err);
        }
        let refused = fragments(&path, &["--body", "armed"])?;
        assert!(
            refused.err.contains("is for a running JVM"),
            "{}",
            refused.err
        );
        let nothing = veneer()
            .args(["fragments", &pid, "no.such.Type::m"])
            .run()?;
        assert_eq!(nothing.code, 1, "{}", nothing.err);
        assert!(
            nothing.err.contains("matches no armed method"),
            "{}",
            nothing.err
        );
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}

#[test]
fn armed_bodies_and_versions_are_shown_and_written() -> Outcome {
    on_a_jdk(|programs| {
        let live = programs.armed("EdgeRedirect")?;
        let pid = live.pid().to_string();
        live.value(&format!(
            "methods(\"{LOOP}\").blocks().before(counter().each()); ()"
        ))?;
        let armed = fragments(&pid, &["--body", "armed"])?
            .succeeded("armed")?
            .out;
        let title = "EdgeRedirect::loop()Ljava/lang/String;";
        assert!(
            armed.starts_with(&format!("{title}, armed body\n")),
            "{armed}"
        );
        let version = fragments(&pid, &["--body", "version"])?
            .succeeded("version")?
            .out;
        for kind in ["version for new calls", "version for running calls"] {
            assert!(version.contains(&format!("{title}, {kind}\n")), "{version}");
        }
        assert!(version.contains("lines 27-28"), "{version}");

        let folder = Folder::new("dump")?;
        let into = folder.path().display().to_string();
        let dumped = fragments(&pid, &["--dump", &into])?.succeeded("--dump")?;
        assert!(dumped.err.contains("4 class files in "), "{}", dumped.err);
        let original = std::fs::read(folder.join("original/EdgeRedirect.class"))?;
        assert_eq!(original, std::fs::read(class_file(programs))?);
        assert_ne!(
            original,
            std::fs::read(folder.join("armed/EdgeRedirect.class"))?
        );
        let written = files(folder.path(), "class")?;
        assert_eq!(written.len(), 4, "{written:?}");
        for file in written {
            let javap = Process::new(programs.jdk().tool("javap"));
            let out = javap
                .args(["-p", "-c"])
                .arg(&file)
                .run()?
                .succeeded("javap")?
                .out;
            assert!(out.contains("lload"), "{}: {out}", file.display());
        }
        live.value("detach_all()")?;
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}

/// A round calls `Rounds.counted` ten times, and each call has seven iterations.
#[test]
fn blocks_and_edges_are_counted_for_some_seconds() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let mut live = Live::start(&programs.java("Rounds"))?;
        let pid = live.pid().to_string();
        let mut counted = |format: &str| -> Result<String, Box<dyn std::error::Error>> {
            let words = ["fragments", &pid, "Rounds::counted(..)", "--counts", "8"];
            let mut fragments = Background::start(&veneer().args(words).arg(format))?;
            fragments.wait_for("counting in 1 method for 8 s")?;
            live.say("run")?;
            live.line("sum ")?;
            assert!(fragments.is_running(), "the round took more than 8 seconds");
            assert_eq!(fragments.wait()?, Some(0), "{:?}", fragments.output());
            let lines = fragments.output().into_iter();
            let lines: Vec<String> = lines.filter(|line| !line.starts_with("counting")).collect();
            Ok(lines.join("\n"))
        };
        let dot = counted("--dot")?;
        let json: Value = serde_json::from_str(&counted("--json")?)?;
        let counts = &json[0]["counts"];
        assert_eq!(json[0]["method"], "counted()V");
        let row = |from, to: &str, passes| json!({"from": from, "to": to, "passes": passes});
        let edges = json!([
            row("f0", "f1", 10),
            row("f1", "f2", 70),
            row("f1", "f3", 10),
            row("f2", "f1", 70),
        ]);
        assert_eq!(counts["edges"], edges);
        let passes = counts["blocks"].as_array().into_iter().flatten();
        let passes: Vec<&Value> = passes.map(|block| &block["passes"]).collect();
        assert_eq!(passes, [10, 80, 70, 10]);
        assert!(counts["seconds"].as_f64() >= Some(8.0), "{counts}");
        for line in ["\\l80 passes\\l\", penwidth=6.0", "\\n70\", penwidth="] {
            assert!(dot.contains(line), "{dot}");
        }
        assert_eq!(
            live.value("instruments().filter(|i| i.attached).len()")?,
            "0"
        );
        let words = [
            "fragments",
            &pid,
            "no.such.Type::m",
            "--counts",
            "1",
            "--dot",
        ];
        assert_eq!(veneer().args(words).run()?.code, 1);
        let words = ["fragments", &pid, "Rounds::counted(..)", "--counts", "1"];
        let refused = veneer().args(words).run()?;
        assert!(
            refused.err.contains("needs --dot or --json"),
            "{}",
            refused.err
        );
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}

#[test]
fn edits_by_line_with_an_expected_hash_are_shown_and_read_back() -> Outcome {
    on_a_jdk(|programs| {
        let path = class_file(programs).display().to_string();
        let listed = command::json(&["fragments", &path, LOOP, "--json"])?;
        let hash = listed[0]["hash"].as_str().ok_or("no hash")?.to_owned();
        // Of a class that was loaded before the agent, the JVM makes a new class file.
        let attached = Live::start(&programs.java("EdgeRedirect"))?;
        assert_eq!(
            attached.value(&format!("methods(\"{LOOP}\").hash()"))?,
            hash
        );
        assert_eq!(attached.stop()?.code, 0);

        let live = programs.armed("EdgeRedirect")?;
        let pid = live.pid().to_string();
        let other = live.exec(&format!("methods(\"{LOOP}\").expect(\"0000\").skip(4)"))?;
        assert_eq!(other.code, 1);
        let said = format!("has other code than expected: its hash is {hash}, not 0000");
        assert!(other.err.contains(&said), "{}", other.err);
        let edit =
            format!("methods(\"{LOOP}\").expect(\"{hash}\").redirect(2, line(29), line(31))");
        live.value(&edit)?;
        let patches = veneer()
            .args(["patches", &pid])
            .run()?
            .succeeded("patches")?
            .out;
        let shown = "redirect f2->f3 to f4 in EdgeRedirect::loop(..)";
        assert!(patches.contains(shown), "{patches}");
        let patches = command::json(&["patches", &pid, "--json"])?;
        let patch = &patches[0]["loads"][0]["patches"][0];
        let expected = json!([{"edit": "redirect", "from": 2, "to": 3, "target": 4}]);
        assert_eq!(patch["edits"], expected, "{patches}");
        let again = live.value(
            "let e = edits()[0]; detach_all(); methods(e.patterns).edit(e.edits); \
             edits().map(|e| `${e.edits} ${e.active}`)",
        )?;
        let expected = r#"["[redirect f2->f3 to f4] false", "[redirect f2->f3 to f4] true"]"#;
        assert_eq!(again, expected);
        assert_eq!(live.stop()?.code, 0);
        Ok(())
    })
}
