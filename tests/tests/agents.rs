//! Two agents in one JVM: JaCoCo's agent or one made with Byte Buddy, loaded before or after
//! Veneer's agent. The output must be that of a run without Veneer, Veneer's counts must be exact,
//! and the other agent must still have its results. (For agents that redefine or retransform
//! classes that Veneer armed and patched, see `loaders.rs`.)

use std::collections::BTreeMap;
use std::path::Path;

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::jars;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::{Output, Process};
use veneer_tests::report::Report;

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Runs a test on the JDKs for this test, with a folder that contains the compiled program
/// and the agent.
fn on_each(test: impl Fn(&Jdk, &Folder) -> Outcome) -> Outcome {
    for jdk in jdk::for_this_test() {
        let folder = Folder::new("agents")?;
        let source = workspace().join("tests/java/agents");
        jdk.compile(&[source.join("Advised.java")], folder.path())?;
        test(&jdk, &folder).map_err(|error| format!("{jdk}: {error}"))?;
    }
    Ok(())
}

/// Runs the program under the other agent and Veneer's. `first` says whether the other agent is
/// loaded first. Veneer's counts must be exact.
fn run_with_other_agent(
    jdk: &Jdk,
    folder: &Folder,
    agent: &str,
    first: bool,
) -> Result<Output, Box<dyn std::error::Error>> {
    let (plan, report) = (folder.join("plan.rhai"), folder.join("report.json"));
    std::fs::write(
        &plan,
        "methods(\"Advised::step(..)\").before(counter());\nmethods(\"Advised::main(..)\").after(counter());\n",
    )?;
    let option = format!("-javaagent:{agent}");
    let mut java = Process::new(jdk.tool("java")).args(["-Xmx128m", "-Xshare:auto"]);
    if !first {
        // The command puts Veneer's agent before the other options.
        java = java.arg(&option);
    }
    let java = java.arg("-cp").arg(folder.path()).arg("Advised");
    let mut command = run(&["--plan", &text(&plan), "--report", &text(&report)], &java);
    if first {
        // The JVM reads the options in this variable before all others.
        command = command.env("JAVA_TOOL_OPTIONS", &option);
    }
    let output = command.run()?.succeeded("Advised beside another agent")?;
    let report = Report::read(&report)?;
    let hits: Vec<u64> = report
        .instruments
        .iter()
        .map(|one| one.points.iter().map(|point| point.hits).sum())
        .collect();
    assert_eq!(
        hits,
        [10_000, 1],
        "{agent}, first: {first}: {:?}",
        report.refusals
    );
    Ok(output)
}

#[test]
fn counts_are_exact_beside_an_agent_made_with_byte_buddy() -> Outcome {
    on_each(|jdk, folder| {
        let library = jars::jar("byte-buddy")?;
        let classes = Folder::new("advising")?;
        Process::new(jdk.tool("javac"))
            .args(["-nowarn", "-cp", &text(&library), "-d"])
            .arg(classes.path())
            .arg(workspace().join("tests/java/agents/Advising.java"))
            .run()?
            .succeeded("javac")?;
        let manifest = folder.join("manifest");
        std::fs::write(
            &manifest,
            format!(
                "Premain-Class: Advising\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\nClass-Path: {}\n",
                library.file_name().unwrap_or_default().to_string_lossy()
            ),
        )?;
        // A manifest names other jars relative to the folder of its own jar.
        let jar = folder.join("advising.jar");
        std::fs::copy(
            &library,
            folder.join(&library.file_name().unwrap_or_default().to_string_lossy()),
        )?;
        Process::new(jdk.tool("jar"))
            .args([
                "cfm",
                &text(&jar),
                &text(&manifest),
                "-C",
                &text(classes.path()),
                ".",
            ])
            .run()?
            .succeeded("jar")?;
        for first in [true, false] {
            let output = run_with_other_agent(jdk, folder, &text(&jar), first)?;
            assert_eq!(output.out, "sum 15000\nadvice 10000\n", "first: {first}");
        }
        Ok(())
    })
}

/// Reads the executed probes of each class from JaCoCo's execution data (format of version 0.8, see
/// `ExecutionDataReader`).
fn probes(bytes: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut at = 0;
    let short = |at: usize| {
        Some(usize::from(u16::from_be_bytes(
            bytes.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    while at < bytes.len() {
        let kind = bytes[at];
        at += 1;
        match kind {
            // Magic number and version.
            0x01 => at += 4,
            // A session: its name twice.
            0x10 => at += 2 + short(at)? + 16,
            // A class: its id, its name, a number of bits, the bits.
            0x11 => {
                at += 8;
                let length = short(at)?;
                let name = String::from_utf8(bytes.get(at + 2..at + 2 + length)?.to_vec()).ok()?;
                at += 2 + length;
                let (mut bits, mut shift) = (0usize, 0);
                loop {
                    let byte = *bytes.get(at)?;
                    at += 1;
                    bits |= usize::from(byte & 0x7F) << shift;
                    shift += 7;
                    if byte & 0x80 == 0 {
                        break;
                    }
                }
                let length = bits.div_ceil(8);
                all.insert(name, bytes.get(at..at + length)?.to_vec());
                at += length;
            }
            _ => return None,
        }
    }
    Some(all)
}

#[test]
fn counts_are_exact_beside_jacoco() -> Outcome {
    on_each(|jdk, folder| {
        let jar = text(&jars::jar("jacoco-agent")?);
        let data = folder.join("jacoco.exec");
        let agent = format!("{jar}=destfile={},includes=Advised", data.display());
        let covered = || -> Result<Vec<u8>, Box<dyn std::error::Error>> {
            let all = probes(&std::fs::read(&data)?).ok_or("no execution data of JaCoCo")?;
            std::fs::remove_file(&data)?;
            Ok(all
                .get("Advised")
                .ok_or("JaCoCo does not know the class")?
                .clone())
        };
        let plain = Process::new(jdk.tool("java"))
            .arg(format!("-javaagent:{agent}"))
            .arg("-cp")
            .arg(folder.path())
            .arg("Advised")
            .run()?
            .succeeded("Advised with JaCoCo alone")?;
        let expected = covered()?;
        assert!(expected.iter().any(|byte| *byte != 0));
        for first in [true, false] {
            let output = run_with_other_agent(jdk, folder, &agent, first)?;
            assert_eq!(output.out, plain.out, "first: {first}");
            assert_eq!(covered()?, expected, "JaCoCo's probes, first: {first}");
        }
        Ok(())
    })
}
