//! Plans of several files, and the named components that they deploy, in running JVMs and in JVMs
//! that are started under a plan.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde_json::{Value, json};
use veneer_tests::command::{path, run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, event_timeout, until};
use veneer_tests::process::{Output, Process};
use veneer_tests::sample_service::handle_orders;

type CommandResult = Result<Output, Box<dyn std::error::Error>>;

/// Creates a folder with these files.
fn files(all: &[(&str, &str)]) -> std::io::Result<Folder> {
    let folder = Folder::new("components")?;
    for (name, text) in all {
        let file = folder.join(name);
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(file, text)?;
    }
    Ok(folder)
}

fn command(words: &[&str]) -> CommandResult {
    Ok(veneer().args(words).limit(event_timeout()).run()?)
}

/// Runs `veneer exec PID FILE`, which must succeed, and returns its output.
fn exec(live: &Live, file: &Path, more: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let (pid, file) = (live.pid().to_string(), file.display().to_string());
    let words: Vec<&str> = ["exec", &pid, &file].iter().chain(more).copied().collect();
    Ok(command(&words)?.succeeded("exec")?.out)
}

/// The status of the JVM from `veneer patches --json`.
fn status(live: &Live) -> Result<Value, Box<dyn std::error::Error>> {
    let output = command(&["patches", &live.pid().to_string(), "--json"])?;
    let all: Value = serde_json::from_str(&output.succeeded("patches")?.out)?;
    Ok(all[0].clone())
}

/// The current hits of a component, as its analyser reports them.
fn hits(live: &Live, name: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let pid = live.pid().to_string();
    let output = command(&["report", &pid, "--component", name, "--json"])?;
    Ok(serde_json::from_str(&output.succeeded("report")?.out)?)
}

/// The source of two module files. These have the same closure at the same position, and functions
/// of the same names.
const TALLIES: &str = "const NAME = \"NAME OF FILE\";
fn watch(t) { for p in [Which()] { methods(p).before(|p| if p.order.number >= 0 { t.count(global::NAME) }); } }
fn count(p) { methods(p).before(counter().named(global::NAME)) }";

#[test]
fn instruments_of_modules_count_exactly() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let of = |name: &str| {
            let which = "fn Which() { \"Desk::serve(..)\" }\n";
            format!("{which}{}", TALLIES.replace("NAME OF FILE", name))
        };
        let folder = files(&[
            ("lib/one.rhai", &of("one")),
            ("lib/two.rhai", &format!("import \"deep/three\" as three;\n{}\nexport const OFTEN = three::often();", of("two"))),
            ("lib/deep/three.rhai", "fn often() { 0.05 }"),
            (
                "plan.rhai",
                "import \"lib/one\" as one; import \"lib/two.rhai\" as two;
                 let t = tally(); one::watch(t); two::watch(t);
                 let c = one::count(\"Desk::serve(..)\");
                 let ticks = 0; every(two::OFTEN, || ticks += 1);
                 when(|| ticks > 2, || print(\"ticks\"));
                 component(\"tallies\", \"1\");
                 analyse(|| #{ ticks: ticks > 2, hits: c.hits(), rows: t.rows().map(|r| [r.keys[0], r.count]) });",
            ),
        ])?;
        let mut live = Live::start(&programs.java("Desk"))?;
        exec(&live, &folder.join("plan.rhai"), &[])?;
        handle_orders(&mut live, 137)?;
        let ticks = || hits(&live, "tallies").map(|report| report["ticks"].clone());
        until(
            "callbacks of the plan",
            || Ok(ticks().unwrap_or_default()),
            |ticks| *ticks == true,
        )?;
        let expected = json!({ "hits": 137, "rows": [["one", 137], ["two", 137]], "ticks": true });
        assert_eq!(hits(&live, "tallies")?, expected);
        let output = live.stop()?.succeeded("Desk")?;
        // The agent calls the analyser once more at the end.
        assert!(output.err.contains("\"hits\": 137"), "{}", output.err);
        assert!(output.err.contains("ticks"), "{}", output.err);

        // Now the plan is active from the start, as the program's only plan.
        let plan = folder.join("plan.rhai").display().to_string();
        let mut live = Live::start(&run(&["--strict", "--plan", &plan], &programs.java("Desk")))?;
        handle_orders(&mut live, 73)?;
        let output = live.stop()?.succeeded("Desk")?;
        assert!(output.err.contains("\"hits\": 73"), "{}", output.err);
        assert!(
            output.err.contains("[[\"one\", 73], [\"two\", 73]]"),
            "{}",
            output.err
        );
        Ok(())
    })
}

/// The source of a component with this version.
fn orders(version: &str, end: &str) -> String {
    format!(
        "component(\"slow orders\", \"{version}\");
         let top = param(\"top\", 20);
         let c = methods(\"Desk::serve(..)\").before(counter().named(\"orders {version}\"));
         let turns = methods(\"Desk::round()\").loops().before(counter());
         every(0.05, || c.hits());
         analyse(|| #{{ version: \"{version}\", hits: c.hits() }});
         {end}"
    )
}

#[test]
fn a_component_is_replaced_by_another_version_and_kept_if_that_fails() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let folder = files(&[
            ("old.rhai", &orders("1.0", "")),
            ("bad.rhai", &orders("1.1", "\nnothing();")),
            ("new.rhai", &orders("1.1", "")),
        ])?;
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        exec(&live, &folder.join("old.rhai"), &[])?;
        handle_orders(&mut live, 10)?;
        let before = status(&live)?;

        let bad = folder.join("bad.rhai").display().to_string();
        let output = command(&["exec", &pid, &bad])?;
        assert_eq!(output.code, 1, "{output:?}");
        assert!(
            output.err.contains("no function `nothing()`"),
            "{}",
            output.err
        );
        let now = status(&live)?;
        for of in ["loads", "components"] {
            assert_eq!(now[of], before[of], "{now}");
        }
        handle_orders(&mut live, 5)?;
        assert_eq!(
            hits(&live, "slow orders")?,
            json!({ "version": "1.0", "hits": 15 })
        );

        let said = exec(&live, &folder.join("new.rhai"), &["--set", "top=7"])?;
        assert_eq!(said, "slow orders 1.0 is replaced by 1.1\n");
        handle_orders(&mut live, 3)?;
        assert_eq!(
            hits(&live, "slow orders")?,
            json!({ "version": "1.1", "hits": 3 })
        );
        let now = status(&live)?;
        let loads = now["loads"].as_array().ok_or("no loads")?;
        assert_eq!(loads.len(), 1, "{now}");
        let ids: Vec<&Value> = loads[0]["instruments"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|instrument| &instrument["id"])
            .collect();
        let components = now["components"].as_array().ok_or("no components")?;
        assert_eq!(components.len(), 1, "{now}");
        let one = &components[0];
        assert_eq!(
            json!([
                one["name"],
                one["version"],
                one["parameters"],
                one["attached"],
                one["callbacks"],
                one["analyser"]
            ]),
            json!(["slow orders", "1.1", { "top": "7" }, true, 1, true]),
        );
        assert_eq!(json!(ids), one["instruments"]);
        // The old instruments do not count any more.
        for old in before["components"][0]["instruments"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let id = old.as_str().unwrap_or_default();
            let attached = format!("instruments().filter(|i| i.id == \"{id}\")[0].attached");
            assert_eq!(live.value(&attached)?, "false");
        }
        let shown = command(&["patches", &pid])?.succeeded("patches")?.out;
        let line = shown.lines().find(|line| line.starts_with("slow orders"));
        assert!(
            line.is_some_and(|line| line.contains("1.1") && line.contains("top=7")),
            "{shown}"
        );
        let output = live.stop()?.succeeded("Desk")?;
        assert!(
            output.err.contains("\"1.1\"") && !output.err.contains("\"1.0\""),
            "{}",
            output.err
        );
        Ok(())
    })
}

#[test]
fn a_component_is_detached_as_a_whole_and_can_still_be_queried() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let folder = files(&[
            ("c.rhai", &orders("1.0", "")),
            (
                "d.rhai",
                "component(\"other\", \"1\"); methods(\"Desk::serve(..)\").before(counter());",
            ),
        ])?;
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        for by_plan in [false, true] {
            exec(&live, &folder.join("c.rhai"), &[])?;
            exec(&live, &folder.join("d.rhai"), &[])?;
            handle_orders(&mut live, 20)?;
            if by_plan {
                assert_eq!(live.value("component_detach(\"slow orders\")")?, "2");
            } else {
                let output = command(&["detach", &pid, "--component", "slow orders", "--json"])?;
                let detached: Value = serde_json::from_str(&output.succeeded("detach")?.out)?;
                assert_eq!(
                    detached[0]["taken"].as_array().map(Vec::len),
                    Some(2),
                    "{detached}"
                );
            }
            let now = status(&live)?;
            assert_eq!(now["loads"].as_array().map(Vec::len), Some(1), "{now}");
            assert_eq!(
                now["loads"][0]["plan"]
                    .as_str()
                    .map(|p| p.ends_with("d.rhai")),
                Some(true),
                "{now}"
            );
            let one = now["components"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|c| c["name"] == "slow orders");
            let one = one.ok_or("the component is not listed")?;
            assert_eq!(
                json!([
                    one["attached"],
                    one["instruments"],
                    one["patches"],
                    one["callbacks"]
                ]),
                json!([false, [], [], 0])
            );
            handle_orders(&mut live, 9)?;
            for _ in 0..2 {
                assert_eq!(
                    hits(&live, "slow orders")?,
                    json!({ "version": "1.0", "hits": 20 })
                );
            }
            let shown = command(&["patches", &pid])?.succeeded("patches")?.out;
            assert!(
                shown.contains("taken off; its analyser can be asked"),
                "{shown}"
            );
        }
        // A detached component cannot be detached again. A request for an unknown component lists
        // the existing ones.
        let again = command(&[
            "detach",
            &pid,
            "--component",
            "slow orders",
            "--component",
            "none",
        ])?;
        assert_eq!(again.code, 1, "{again:?}");
        assert!(
            again.err.contains("has no component `slow orders`, `none`"),
            "{}",
            again.err
        );
        let none = command(&["report", &pid, "--component", "none"])?;
        assert_eq!(none.code, 1, "{none:?}");
        assert!(
            none.err
                .contains("there is no component `none`: there are "),
            "{}",
            none.err
        );
        let none = command(&["report", &pid, "--component", "other"])?;
        assert_eq!(
            (none.code, none.err.contains("has no analyser")),
            (1, true),
            "{none:?}"
        );
        let wrong = command(&["report", "/tmp", "--component", "other"])?;
        assert_eq!(
            (wrong.code, wrong.err.contains("is no process id")),
            (2, true),
            "{wrong:?}"
        );

        // Nothing that is left may keep a class from returning to its original form.
        let output = command(&["detach", &pid, "--unload", "--json"])?.succeeded("unload")?;
        let detached: Value = serde_json::from_str(&output.out)?;
        assert_eq!(detached[0]["left"], json!([]), "{detached}");
        handle_orders(&mut live, 4)?;
        let output = live.stop()?.succeeded("Desk")?;
        assert!(!output.err.contains("hits"), "{}", output.err);
        Ok(())
    })
}

#[test]
fn a_held_component_is_detached_with_its_client() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Desk")))?;
        handle_orders(&mut live, 1)?;
        let mut client = live.connect()?;
        let request =
            json!({ "exec": { "name": "h.rhai", "source": orders("1.0", ""), "hold": 60_000 } });
        writeln!(client, "{request}")?;
        let mut answers = BufReader::new(client.try_clone()?).lines();
        let done = answers.next().ok_or("no answer")??;
        assert!(done.contains("done"), "{done}");
        handle_orders(&mut live, 6)?;
        // The client that holds the component and other clients may query it.
        assert_eq!(
            hits(&live, "slow orders")?,
            json!({ "version": "1.0", "hits": 6 })
        );
        writeln!(client, "{{\"analyse\":{{\"component\":\"slow orders\"}}}}")?;
        let answer: Value = serde_json::from_str(&answers.next().ok_or("no answer")??)?;
        assert_eq!(answer["analysis"]["value"]["hits"], 6, "{answer}");
        assert_eq!(status(&live)?["components"][0]["held"], true);
        drop((client, answers));
        let components = || {
            Ok(status(&live)
                .map(|now| now["components"].clone())
                .unwrap_or_default())
        };
        until("the end of what was held", components, |left| {
            *left == json!([])
        })?;
        assert_eq!(status(&live)?["loads"], json!([]));
        live.stop()?.succeeded("Desk")?;
        Ok(())
    })
}

#[test]
fn failing_imports_are_reported_with_their_positions() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let many: Vec<String> = (0..33)
            .map(|n| format!("import \"many/m{n}\" as m{n};"))
            .collect();
        let folder = files(&[
            ("missing.rhai", "let a = 1;\nimport \"lib/none\" as none;"),
            ("outside.rhai", "import \"lib/../../x\" as x;"),
            ("absolute.rhai", "import \"/etc/hostname\" as x;"),
            ("circle.rhai", "import \"lib/a\" as a;"),
            ("lib/a.rhai", "import \"b\" as b;"),
            ("lib/b.rhai", "\nimport \"a\" as a;"),
            ("many.rhai", &many.join("\n")),
            ("large.rhai", "import \"lib/large\" as l;"),
            ("lib/large.rhai", &format!("// {}", "x".repeat(1 << 20))),
            ("syntax.rhai", "import \"lib/syntax\" as s;"),
            ("lib/syntax.rhai", "fn f() {\n    let = 3;\n}"),
        ])?;
        for n in 0..33 {
            fs::create_dir_all(folder.join("many"))?;
            fs::write(folder.join(&format!("many/m{n}.rhai")), "")?;
        }
        let live = Live::start(&run(&[], &programs.java("Desk")))?;
        let pid = live.pid().to_string();
        for (plan, place, code, expected) in [
            ("missing", "missing.rhai:2:8", 2, "none.rhai cannot be read"),
            (
                "outside",
                "outside.rhai:1:8",
                2,
                "leads out of the plan's directory",
            ),
            ("absolute", "absolute.rhai:1:8", 2, "an absolute path"),
            (
                "circle",
                "lib/b.rhai:2:8",
                2,
                "lib/a imports lib/b imports lib/a",
            ),
            ("many", "many.rhai:33:8", 2, "at most 32 modules"),
            ("large", "large.rhai:1:8", 2, "at most 1048576 bytes"),
            ("syntax", "lib/syntax.rhai:2:9", 1, "let = 3;"),
        ] {
            let file = folder.join(&format!("{plan}.rhai")).display().to_string();
            let output = command(&["exec", &pid, &file])?;
            assert_eq!(output.code, code, "{plan}: {}", output.err);
            for word in [place, expected] {
                assert!(output.err.contains(word), "{plan}: {word}: {}", output.err);
            }
            // `veneer run` does not start the application.
            let output = run(&["--strict", "--plan", &file], &programs.java("Desk"))
                .limit(event_timeout())
                .run()?;
            assert_eq!(
                (output.code, output.out.as_str()),
                (2, ""),
                "{plan}: {}",
                output.err
            );
            assert!(output.err.contains(place), "{plan}: {}", output.err);
        }
        assert_eq!(status(&live)?["loads"], json!([]));
        live.stop()?.succeeded("Desk")?;
        Ok(())
    })
}

#[test]
fn a_typed_plan_imports_from_the_working_directory_of_the_command() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let folder = files(&[
            (
                "here.rhai",
                "export const N = 40;\nfn plus(x) { x + 2 }\nfn fails() {\n  [1][5]\n}",
            ),
            (
                "input",
                "import \"here\" as here;\nlet a = here::N;\nhere::plus(a)\nfn twice(x) { here::plus(x) + here::plus(x) }\ntwice(1)\nlet f = || here::plus(0); f.call()\nhere::fails()\nimport \"none\" as none;\n",
            ),
        ])?;
        let mut live = Live::start(&run(&[], &programs.java("Desk")))?;
        let pid = live.pid().to_string();
        let code = "import \"here\" as here; here::plus(here::N)";
        let output = veneer()
            .args(["exec", &pid, "-e", code])
            .folder(folder.path())
            .limit(event_timeout())
            .run()?;
        assert_eq!(output.succeeded("exec")?.out, "42\n");
        // The plan can be read from standard input as well.
        let through = |words: &str| {
            Process::new("sh")
                .args(["-c", words, "sh"])
                .arg(path())
                .arg(&pid)
                .folder(folder.path())
                .limit(event_timeout())
                .run()
        };
        let output = through("printf %s 'import \"here\" as h; h::plus(1)' | \"$1\" exec \"$2\"")?;
        assert_eq!(output.succeeded("exec")?.out, "3\n");
        let output = through("\"$1\" shell \"$2\" < input")?;
        assert_eq!(output.out, "42\n6\n2\n", "{}", output.err);
        assert!(
            output
                .err
                .contains("here.rhai:4:7: array index 5 out of bounds"),
            "{}",
            output.err
        );
        assert!(
            output.err.contains("none.rhai cannot be read"),
            "{}",
            output.err
        );
        handle_orders(&mut live, 2)?;
        live.stop()?.succeeded("Desk")?;
        Ok(())
    })
}

#[test]
fn hostile_modules_are_refused() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Desk")))?;
        let exec = |source: &str, modules: Value| -> Result<String, Box<dyn std::error::Error>> {
            let mut client = live.connect()?;
            let request = json!({ "exec": { "name": "p", "source": source, "modules": modules } });
            // The agent may close the connection before the whole request is written.
            let _ = writeln!(client, "{request}");
            let mut line = String::new();
            BufReader::new(client).read_line(&mut line)?;
            Ok(line)
        };
        let plan = "import \"a\" as a; 1";
        let many: serde_json::Map<String, Value> =
            (0..33).map(|n| (format!("m{n}"), json!(""))).collect();
        for (modules, expected) in [
            (json!({ "a": 5 }), "a message is not understood"),
            (json!(["a"]), "a message is not understood"),
            (json!({ "a": { "b": "c" } }), "a message is not understood"),
            (json!({ "a": "x".repeat(2 << 20) }), "1048576 bytes"),
            (
                Value::Object(many),
                "33 modules of 0 bytes in all came with this plan",
            ),
            (json!({ "b": "" }), "no module `a` came with this plan"),
            (
                json!({ "../a": "", "/a": "" }),
                "no module `a` came with this plan",
            ),
            (json!({ "a": "import \"a\" as a;" }), "in a circle"),
            (json!({ "a": "loop { }" }), "stopped: more than"),
            (json!({ "a": "\u{0}\u{1b}[31m" }), "failed"),
            (
                json!({ "a": format!("let x = {}1{};", "(".repeat(5000), ")".repeat(5000)) }),
                "failed",
            ),
            (json!({ "a": "\n".repeat(70_000) }), "60,000 lines together"),
        ] {
            let answer = exec(plan, modules)?;
            assert!(answer.contains(expected), "{expected}: {answer}");
        }
        assert!(exec(plan, json!({ "a": "", "unused": "let = " }))?.contains("\"done\""));
        for request in [
            "{\"analyse\":{}}",
            "{\"analyse\":{\"component\":7}}",
            "{\"analyse\":{\"component\":\"none\"}}",
            "{\"detach\":{\"components\":\"none\"}}",
        ] {
            let mut client = live.connect()?;
            writeln!(client, "{request}")?;
            let mut line = String::new();
            BufReader::new(client).read_line(&mut line)?;
            assert!(line.contains("failed"), "{request}: {line}");
        }
        assert_eq!(status(&live)?["loads"], json!([]));
        handle_orders(&mut live, 8)?;
        live.stop()?.succeeded("Desk")?;
        Ok(())
    })
}
