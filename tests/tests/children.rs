//! `veneer run --children`: a program that starts JVMs. Each gets the agent and writes its own
//! report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::number;
use veneer_tests::process::{Output, Process};
use veneer_tests::report::Report;
use veneer_tests::skip::{Need, skip};

/// The beginning of the line that a JVM prints if the environment variable adds an agent.
const NOTICE: &str = "Picked up JAVA_TOOL_OPTIONS: ";

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Compiles the program, also for old JVMs.
fn compiled(jdk: &Jdk) -> Result<Folder, Box<dyn std::error::Error>> {
    let folder = Folder::new("children")?;
    Process::new(jdk.tool("javac"))
        .args(["--release", "9", "-Xlint:-options", "-g", "-d"])
        .arg(folder.path())
        .arg(workspace().join("tests/java/children/Launcher.java"))
        .run()?
        .succeeded("javac")?;
    std::fs::write(
        folder.join("plan.rhai"),
        "methods(\"Launcher::step(..)\").before(counter());\n",
    )?;
    Ok(folder)
}

fn launcher(jdk: &Jdk, folder: &Folder, depth: &str) -> Process {
    Process::new(jdk.tool("java"))
        .args(["-Xmx64m", "-cp"])
        .arg(folder.path())
        .args(["Launcher", depth])
}

/// Returns the process ids that the program printed.
fn processes(output: &Output) -> BTreeSet<i64> {
    let lines = output.out.lines();
    lines.filter_map(|line| number(line, "pid")).collect()
}

/// Returns the hits of each report with the id of the process that wrote it. The name of each file
/// must contain this id.
fn reports(folder: &Folder) -> Result<Vec<(i64, u64)>, Box<dyn std::error::Error>> {
    let mut found = Vec::new();
    for path in files(folder.path(), "json")? {
        let report = Report::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let pid = name
            .strip_prefix("r.")
            .and_then(|name| name.strip_suffix(".json"))
            .ok_or_else(|| format!("a report called {name}"))?;
        let hits = report.instruments.iter().flat_map(|one| &one.points);
        found.push((pid.parse()?, hits.map(|point| point.hits).sum()));
    }
    Ok(found)
}

#[test]
fn plans_run_in_each_jvm_and_each_writes_a_report() -> Outcome {
    for jdk in jdk::for_this_test() {
        let folder = compiled(&jdk)?;
        let (plan, report) = (
            text(&folder.join("plan.rhai")),
            text(&folder.join("r.json")),
        );
        let options = ["--children", "--plan", &plan, "--report", &report];
        let java = launcher(&jdk, &folder, "2");
        // The JVM is started by `java` itself, and by a script that starts `java`.
        let script = Process::new("sh").args(["-c", "\"$@\"", "sh", &text(&jdk.tool("java"))]);
        let script = script
            .args(["-Xmx64m", "-cp"])
            .arg(folder.path())
            .args(["Launcher", "2"]);
        for command in [java, script] {
            let output = run(&options, &command).run()?;
            assert_eq!(output.code, 7, "{output:?}");
            let expected = processes(&output);
            assert_eq!(expected.len(), 3, "{output:?}");
            assert_eq!(output.out.matches("sum 1000\n").count(), 3, "{output:?}");
            // Standard error contains only the JVMs' own notice, once for each.
            let told: Vec<&str> = output.err.lines().collect();
            assert!(
                told.len() == 3 && told.iter().all(|line| line.starts_with(NOTICE)),
                "{}",
                output.err
            );
            let found = reports(&folder)?;
            let pids: BTreeSet<i64> = found.iter().map(|(pid, _)| *pid).collect();
            assert_eq!(pids, expected);
            assert!(found.iter().all(|(_, hits)| *hits == 1000), "{found:?}");
            for path in files(folder.path(), "json")? {
                std::fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}

#[test]
fn without_children_only_the_first_jvm_has_the_agent() -> Outcome {
    let jdk = jdk::oldest();
    let folder = compiled(&jdk)?;
    let (plan, report) = (text(&folder.join("plan.rhai")), folder.join("r.json"));
    let options = ["--plan", &plan, "--report", &text(&report)];
    let output = run(&options, &launcher(&jdk, &folder, "1")).run()?;
    assert_eq!((output.code, output.err.as_str()), (7, ""));
    assert_eq!(files(folder.path(), "json")?, [report]);
    Ok(())
}

#[test]
fn a_missing_report_is_reported_and_one_port_for_several_jvms_is_refused() -> Outcome {
    let folder = Folder::new("none")?;
    let (report, token) = (text(&folder.join("r.json")), text(&folder.join("t")));
    let nothing = Process::new("sh").args(["-c", "exit 3"]);
    let output = run(&["--children", "--report", &report], &nothing).run()?;
    assert_eq!(output.code, 3);
    assert!(
        output.err.contains("no report was written"),
        "{}",
        output.err
    );
    assert!(!folder.join("r.json").exists());
    let port = ["--children", "--listen", "127.0.0.1:4712", "--token-file"];
    let options: Vec<&str> = port.into_iter().chain([token.as_str()]).collect();
    let output = run(&options, &nothing).run()?;
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("--listen 127.0.0.1:0"),
        "{}",
        output.err
    );
    Ok(())
}

/// Returns the homes of JDKs older than 17, from `VENEER_OLD_JDKS` and from `/usr/lib/jvm`.
fn old_jdk_homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("VENEER_OLD_JDKS")
        .map(|listed| std::env::split_paths(&listed).collect())
        .unwrap_or_default();
    if let Ok(entries) = std::fs::read_dir("/usr/lib/jvm") {
        homes.extend(entries.flatten().map(|entry| entry.path()));
    }
    let is_old = |home: &PathBuf| {
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION=\""));
        let feature = version.and_then(|version| version.split(['.', '"']).next()?.parse().ok());
        feature.is_some_and(|feature: u32| feature < 17) && home.join("bin/java").is_file()
    };
    homes.retain(is_old);
    homes
}

#[test]
fn an_old_child_jvm_runs_without_the_agent() -> Outcome {
    let jdk = jdk::oldest();
    let folder = compiled(&jdk)?;
    let (plan, report) = (
        text(&folder.join("plan.rhai")),
        text(&folder.join("r.json")),
    );
    let homes = old_jdk_homes();
    if homes.is_empty() {
        return Ok(skip(Need::OldJdk)?);
    }
    for home in homes {
        let options = ["--children", "--plan", &plan, "--report", &report];
        let java = launcher(&jdk, &folder, "1").arg(home.join("bin/java"));
        let output = run(&options, &java).run()?;
        assert_eq!(output.code, 7, "{output:?}");
        assert_eq!(output.out.matches("sum 1000\n").count(), 2, "{output:?}");
        let said: Vec<&str> = output
            .err
            .lines()
            .filter(|l| !l.starts_with(NOTICE))
            .collect();
        assert!(
            said.len() == 1
                && said[0].starts_with("veneer: this ")
                && said[0].ends_with("the application runs without it"),
            "{}",
            output.err
        );
        assert_eq!(reports(&folder)?.len(), 1);
        for path in files(folder.path(), "json")? {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
