//! The agent unloads: each class returns to its original form, and nothing of the agent is left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use veneer_tests::command::{json, path, run, veneer};
use veneer_tests::folder::{Folder, files};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, event_timeout, until};
use veneer_tests::process::Process;
use veneer_tests::sample_service::{handle_orders, stop_and_check};

/// The names of the threads of a process.
fn threads(pid: u32) -> std::io::Result<Vec<String>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))?;
    tasks
        .map(|task| fs::read_to_string(task?.path().join("comm")))
        .collect()
}

fn agent_threads(pid: u32) -> std::io::Result<Vec<String>> {
    Ok(threads(pid)?
        .into_iter()
        .filter(|name| name.starts_with("veneer-"))
        .collect())
}

/// Builds the jar of an agent that dumps classes.
fn dump_agent_jar(programs: &Programs) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let (manifest, jar) = (
        programs.classes().join("manifest"),
        programs.classes().join("dump.jar"),
    );
    fs::write(
        &manifest,
        "Agent-Class: Dump\nCan-Retransform-Classes: true\n",
    )?;
    let classes = files(programs.classes().path(), "class")?;
    let own = classes.iter().filter_map(|path| {
        path.file_name()?
            .to_str()
            .filter(|name| name.starts_with("Dump"))
    });
    Process::new(programs.jdk().tool("jar"))
        .arg("cfm")
        .arg(&jar)
        .arg(&manifest)
        .arg("-C")
        .arg(programs.classes().path())
        .arg("Dump.class")
        .args(own.filter(|name| *name != "Dump.class").flat_map(|name| {
            [
                "-C".to_owned(),
                programs.classes().path().display().to_string(),
                name.to_owned(),
            ]
        }))
        .run()?
        .succeeded("jar")?;
    Ok(jar)
}

/// Returns the class files of the program's classes as the JVM has them, keyed by name. The agent
/// that writes them is loaded after Veneer's, so it receives the output of Veneer's agent.
fn dump_classes(
    programs: &Programs,
    live: &Live,
    jar: &Path,
) -> Result<BTreeMap<String, Vec<u8>>, Box<dyn std::error::Error>> {
    let folder = Folder::new("dump")?;
    Process::new(programs.jdk().tool("jcmd"))
        .args([
            live.pid().to_string(),
            "JVMTI.agent_load".into(),
            jar.display().to_string(),
        ])
        .arg(folder.path())
        .run()?
        .succeeded("jcmd")?;
    let mut all = BTreeMap::new();
    for path in files(folder.path(), "class")? {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        all.insert(name.unwrap_or_default(), fs::read(&path)?);
    }
    assert!(all.len() >= 2, "{:?}", all.keys());
    Ok(all)
}

/// Compares the class files byte for byte.
fn compare_class_files(
    found: &BTreeMap<String, Vec<u8>>,
    expected: &BTreeMap<String, Vec<u8>>,
) -> Outcome {
    for (name, bytes) in expected {
        let now = found
            .get(name)
            .ok_or_else(|| format!("{name} is missing"))?;
        if now != bytes {
            let at = now.iter().zip(bytes).position(|(a, b)| a != b);
            return Err(format!(
                "{name} differs at {at:?}: {} bytes, {} before",
                now.len(),
                bytes.len()
            )
            .into());
        }
    }
    Ok(())
}

/// A plan with every kind of instrument on the two busy methods, and an edit.
const EVERY_INSTRUMENT: &str = "
    methods(\"Desk::serve(..)\").blocks().before(counter());
    methods(\"Desk::serve(..)\").around(timer());
    let t = tally(100);
    methods(\"Desk::serve(..)\").before(|p| t.count(p[\"order\"][\"customer\"]));
    methods(\"Desk::round()\").loops().before(counter());
    every(0.05, || t.rows());
    instruments().len()";

#[test]
fn unloading_restores_each_class_and_removes_the_agent() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let jar = dump_agent_jar(programs)?;
        // The classes that are armed when they are loaded. `Desk` has a loop, `Desk$Order` has none.
        let (none, looping, all): (&[&str], _, _) = (
            &[],
            &["Desk.class"][..],
            &["Desk.class", "Desk$Order.class"][..],
        );
        for armed_at_load in [none, looping, all] {
            let java = programs.java("Desk");
            let java = match armed_at_load.len() {
                0 => java,
                1 => run(&[], &java),
                _ => run(&["--arm-all"], &java),
            };
            let mut live = Live::start(&java)?;
            let pid = live.pid().to_string();
            handle_orders(&mut live, 1000)?;
            // The original of a class that was armed later is the JVM's own reconstruction, which differs
            // slightly from the file on the disk.
            let mut originals = dump_classes(programs, &live, &jar)?;
            for name in armed_at_load {
                // The JVM received an armed form, and has kept the file on the disk.
                let file = fs::read(programs.classes().join(name))?;
                let in_jvm = originals.insert((*name).to_owned(), file);
                assert_ne!(
                    in_jvm.as_ref(),
                    originals.get(*name),
                    "{name} was not armed"
                );
            }
            for _ in 0..3 {
                live.value(EVERY_INSTRUMENT)?;
                handle_orders(&mut live, 2000)?;
                let armed = dump_classes(programs, &live, &jar)?;
                assert_ne!(
                    armed["Desk.class"], originals["Desk.class"],
                    "it was not armed"
                );
                let output = veneer()
                    .args(["detach", &pid, "--unload"])
                    .limit(event_timeout())
                    .run()?
                    .succeeded("unload")?;
                let all = " own code again, 0 are left armed";
                assert!(
                    output.out.contains("taken off: ") && output.out.contains(all),
                    "{}",
                    output.out
                );
                compare_class_files(&dump_classes(programs, &live, &jar)?, &originals)?;
                assert!(!live.socket().exists());
                assert!(!live.socket().with_extension("data").exists());
                until(
                    "the end of the agent's threads",
                    || Ok(agent_threads(live.pid())?),
                    Vec::is_empty,
                )?;
                handle_orders(&mut live, 2000)?;
                if !armed_at_load.is_empty() {
                    // The JVM now has only the classes that a plan names.
                    break;
                }
            }
            // The agent is attached again, and counts exactly. Its age begins anew.
            let id = live.value("methods(\"Desk::serve(..)\").before(counter()).id()")?;
            let status = json(&["patches", &pid, "--json"])?;
            let number = |key: &str| status[0][key].as_u64().unwrap_or(0);
            let (again, age) = (number("loaded_again_at"), number("millis"));
            assert!(0 < again && again <= age, "{status}");
            handle_orders(&mut live, 500)?;
            assert_eq!(live.sum(&id)?, 500);
            let output = veneer()
                .args(["detach", &pid, "--unload", "--json"])
                .run()?
                .succeeded("unload")?;
            let detached: Value = serde_json::from_str(&output.out)?;
            assert_eq!(detached[0]["left"], Value::Array(vec![]), "{detached}");
            compare_class_files(&dump_classes(programs, &live, &jar)?, &originals)?;
            let again = veneer()
                .args(["detach", &pid, "--unload"])
                .run()?
                .succeeded("unload")?;
            assert!(again.out.contains("nothing was attached"), "{}", again.out);
            stop_and_check(live)?;
        }
        Ok(())
    })
}

#[test]
fn a_jvm_takes_one_build_of_the_agent() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid().to_string();
        let leave = || veneer().args(["detach", &pid, "--unload"]).run();
        live.value("1")?;
        leave()?.succeeded("unload")?;
        let folder = programs.classes().join("agents");
        fs::create_dir_all(&folder)?;
        let library = path().with_file_name("libveneer_agent.so");
        let (copy, other) = (
            folder.join("libveneer_agent.so"),
            folder.join("libveneer_agent-2.so"),
        );
        fs::copy(&library, &copy)?;
        let mut bytes = fs::read(&library)?;
        bytes.push(0);
        fs::write(&other, bytes)?;
        let exec = |library: &Path| {
            let command = veneer().args(["exec", &pid, "-e", "40 + 2"]);
            command
                .env("VENEER_AGENT", &library.display().to_string())
                .run()
        };
        let output = exec(&copy)?.succeeded("the same build")?;
        assert_eq!(output.out, "42\n");
        leave()?.succeeded("unload")?;
        let refused = exec(&other)?;
        assert_eq!(refused.code, 2, "{}", refused.err);
        let reason = "another build of the agent was loaded";
        assert!(refused.err.contains(reason), "{}", refused.err);
        assert_eq!(live.value("40 + 2")?, "42");
        stop_and_check(live)
    })
}
