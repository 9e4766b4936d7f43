//! `javac` under the agent: the class files of a tree of more than 200 classes are identical to
//! those of a plain run, byte for byte. The compiler is armed and has counters on every block of
//! its parser. The compiled program then runs with counters on all of its own blocks.

use std::path::{Path, PathBuf};

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, differences};
use veneer_tests::generator::generate;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::Process;
use veneer_tests::report::Report;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const CLASSES: usize = 240;

#[test]
fn class_files_are_the_same() -> Outcome {
    jdk::for_this_test().iter().try_for_each(on)
}

/// The process that runs the compiler through the `java` launcher.
fn javac(jdk: &Jdk, sources: &Path, into: &Path) -> Process {
    let main = "jdk.compiler/com.sun.tools.javac.Main";
    let java = Process::new(jdk.tool("java")).args(["-m", main, "-g", "-d"]);
    java.arg(into).arg(format!("@{}", sources.display()))
}

/// Compiles plain and under `veneer run OPTIONS`. Output and class files must be equal.
fn compare(jdk: &Jdk, sources: &Path, plain: &Path, options: &[&str]) -> Outcome {
    let into = Folder::new("javac")?;
    let output = run(options, &javac(jdk, sources, into.path())).run()?;
    if (output.code, output.out.as_str(), output.err.as_str()) != (0, "", "") {
        return Err(format!("{options:?}: {output:?}").into());
    }
    let (count, lines) = differences(plain, into.path(), "class")?;
    if count < 200 || !lines.is_empty() {
        return Err(format!("{options:?}: {count} class files, {}", lines.join("\n")).into());
    }
    Ok(())
}

fn on(jdk: &Jdk) -> Outcome {
    let (tree, plain) = (Folder::new("tree")?, Folder::new("javac")?);
    let files: Vec<PathBuf> = generate(CLASSES, tree.path())?;
    let list: String = files
        .iter()
        .map(|file| format!("{}\n", file.display()))
        .collect();
    let sources = tree.join("sources");
    std::fs::write(&sources, list)?;
    javac(jdk, &sources, plain.path())
        .run()?
        .succeeded("javac")?;

    compare(
        jdk,
        &sources,
        plain.path(),
        &["--arm", "com.sun.tools.javac..*"],
    )?;

    let (plan, file) = (tree.join("plan.rhai"), tree.join("report.json"));
    let lines = [
        "methods(\"com.sun.tools.javac.parser..*::*(..)\").blocks().before(counter());",
        "methods(\"*..JavaCompiler::parse(..)\").around(timer());",
    ];
    std::fs::write(&plan, lines.join("\n"))?;
    let (plan, report) = (plan.to_string_lossy(), file.to_string_lossy());
    compare(
        jdk,
        &sources,
        plain.path(),
        &["--plan", &plan, "--report", &report],
    )?;
    let report = Report::read(&file)?;
    let reached = report
        .points("counter")
        .filter(|point| point.hits > 0)
        .count();
    assert!(
        reached > 1000,
        "only {reached} fragments of the parser were reached"
    );
    // The method is called once from outside for each source file (an overload may call another
    // one).
    let parsed: Vec<u64> = report.points("timer").map(|point| point.count).collect();
    assert!(
        parsed.contains(&(files.len() as u64)),
        "{} files, parsed {parsed:?}",
        files.len()
    );

    let java = Process::new(jdk.tool("java"))
        .arg("-cp")
        .arg(plain.path())
        .arg("gen.Main");
    let alone = java.run()?.succeeded("gen.Main")?;
    assert_eq!(run(&[], &java).run()?, alone, "gen.Main armed");
    std::fs::write(
        &*plan,
        "methods(\"gen..*::*(..)\").blocks().before(counter());\n",
    )?;
    assert_eq!(
        run(&["--plan", &plan], &java).run()?,
        alone,
        "gen.Main counted"
    );
    Ok(())
}
