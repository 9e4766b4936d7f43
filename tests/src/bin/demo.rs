//! The demonstration (`make demo`).
//!
//! `javac` compiles a generated source tree, once plain and once under `tests/demo.rhai`. That plan
//! counts every fragment of the compiler's parser, times selected methods, and detaches and
//! attaches its counters while the compiler runs. Both runs must produce identical class files.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use veneer_tests::command;
use veneer_tests::folder::{Folder, differences, workspace};
use veneer_tests::generator::generate;
use veneer_tests::jdk;
use veneer_tests::report::Report;

/// Number of source files. The class files are about four times as many, because of nested classes.
const CLASSES: usize = 600;

fn main() -> ExitCode {
    match demonstrate() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("demo failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate() -> Result<String, Box<dyn Error>> {
    let jdk = jdk::installed().pop().ok_or(
        "there is no JDK from 17 on: apt-get install openjdk-17-jdk-headless, or set VENEER_JDKS=/path/of/jdk",
    )?;
    let (tree, plain, counted) = (
        Folder::new("tree")?,
        Folder::new("plain")?,
        Folder::new("counted")?,
    );
    let files = generate(CLASSES, tree.path())?;
    let sources = tree.join("sources");
    let list: String = files
        .iter()
        .map(|file| format!("{}\n", file.display()))
        .collect();
    std::fs::write(&sources, list)?;

    let javac = |into: &Folder| -> Vec<String> {
        let java = jdk.tool("java").to_string_lossy().into_owned();
        let into = into.path().to_string_lossy().into_owned();
        let mut words = vec![
            java,
            "-m".into(),
            "jdk.compiler/com.sun.tools.javac.Main".into(),
        ];
        words.extend([
            "-g".into(),
            "-d".into(),
            into,
            format!("@{}", sources.display()),
        ]);
        words
    };
    let alone = javac(&plain);
    println!("{jdk}: javac compiles {} files, plain", files.len());
    println!("  {:.1} s", run("javac", &alone)?.as_secs_f64());

    let report = tree.join("report.json");
    let plan = workspace().join("tests/demo.rhai");
    let mut words: Vec<String> = vec![command::path().to_string_lossy().into_owned(), "run".into()];
    for (option, file) in [("--plan", &plan), ("--report", &report)] {
        words.extend([option.into(), file.to_string_lossy().into_owned()]);
    }
    words.push("--".into());
    words.extend(javac(&counted));
    println!(
        "the same under {}",
        plan.strip_prefix(workspace()).unwrap_or(&plan).display()
    );
    println!("  {:.1} s", run("veneer run", &words)?.as_secs_f64());

    let report = Report::read(&report)?;
    let points = report.points("counter");
    let fragments: BTreeSet<_> = points.map(|p| (&p.class, &p.method, p.fragment)).collect();
    let (count, lines) = differences(plain.path(), counted.path(), "class")?;
    if !lines.is_empty() {
        return Err(format!(
            "{} of {count} class files differ:\n{}",
            lines.len(),
            lines.join("\n")
        )
        .into());
    }
    let hits = report.hits();
    if hits == 0 || count < 200 {
        return Err(format!("{hits} hits, {count} class files: that shows nothing").into());
    }
    println!("{count} class files compared");
    Ok(format!(
        "demo ok: {} fragments, {hits} hits, output identical",
        fragments.len()
    ))
}

/// Runs a command that inherits the streams of this process, and returns its duration.
fn run(what: &str, words: &[String]) -> Result<Duration, Box<dyn Error>> {
    let begin = Instant::now();
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let status = Command::new(program).args(arguments).status();
    let status = status.map_err(|error| format!("{program}: {error}"))?;
    if !status.success() {
        return Err(format!("{what} ended with {status}").into());
    }
    Ok(begin.elapsed())
}
