//! Class files of before Java 7 that HotSpot's old verifier accepts, run armed with full verification: wrong stack maps at version 50,
//! protected members after a merge, and what Jython generates. The output is that of the plain run.

use std::path::Path;
use std::time::Duration;

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::jars;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::Process;
use veneer_tests::report::Report;
use veneer_tests::running::Outcome;

/// The programs and the tools that age them, compiled without `invokedynamic`.
struct Aged {
    jdk: Jdk,
    classes: Folder,
    asm: std::ffi::OsString,
}

impl Aged {
    fn compile(jdk: Jdk) -> Result<Aged, Box<dyn std::error::Error>> {
        let classes = Folder::new("old-classes")?;
        let asm = std::env::join_paths(jars::jars(&["asm", "asm-tree"])?)?;
        Process::new(jdk.tool("javac"))
            .args([
                "-g",
                "-nowarn",
                "-Xlint:-options",
                "--release",
                "17",
                "-XDstringConcat=inline",
                "-d",
            ])
            .arg(classes.path())
            .arg("-cp")
            .arg(&asm)
            .args(files(&workspace().join("tests/java/old-classes"), "java")?)
            .run()?
            .succeeded("javac")?;
        Ok(Aged { jdk, classes, asm })
    }

    /// Runs one of the tools.
    fn tool(&self, name: &str, arguments: &[&Path]) -> Outcome {
        let path = std::env::join_paths(
            std::env::split_paths(&self.asm).chain([self.classes.path().to_path_buf()]),
        )?;
        Process::new(self.jdk.tool("java"))
            .arg("-cp")
            .arg(path)
            .arg(name)
            .args(arguments)
            .run()?
            .succeeded(name)?;
        Ok(())
    }

    fn java(&self, classes: &Path) -> Process {
        verifying(&self.jdk).arg("-cp").arg(classes)
    }
}

fn verifying(jdk: &Jdk) -> Process {
    Process::new(jdk.tool("java")).args([
        "-Xmx512m",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+BytecodeVerificationLocal",
        "-XX:+BytecodeVerificationRemote",
    ])
}

fn on_each(test: impl Fn(Jdk) -> Outcome) -> Outcome {
    for jdk in [Some(jdk::oldest()), jdk::newest()].into_iter().flatten() {
        let name = jdk.to_string();
        test(jdk).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// Runs a program plain and armed. Gives the output, which is the same, and the report.
fn same(java: &Process, folder: &Folder) -> Result<(String, Report), Box<dyn std::error::Error>> {
    let report = folder.join("report.json");
    let plain = java.run()?.succeeded("the plain run")?;
    let armed = run(&["--report", &report.display().to_string()], java)
        .run()?
        .succeeded("the armed run")?;
    assert_eq!(armed.out, plain.out);
    Ok((plain.out, Report::read(&report)?))
}

#[test]
fn wrong_stack_maps_of_version_50_are_replaced() -> Outcome {
    on_each(|jdk| {
        let aged = Aged::compile(jdk)?;
        let old = Folder::new("wrong-maps")?;
        let class = old.join("Fr.class");
        aged.tool("WrongMaps", &[&aged.classes.join("Fr.class"), &class])?;
        let (out, report) = same(&aged.java(old.path()).arg("Fr"), &old)?;
        assert_eq!(out, "6\n");
        assert!(report.refusals.is_empty(), "{:?}", report.refusals);
        // The command says the same without a JVM: the class is armed, and nothing fails.
        let checked = veneer().arg("check").arg(&class).run()?;
        checked.succeeded("veneer check")?;
        Ok(())
    })
}

#[test]
fn protected_members_after_a_merge_need_the_current_class() -> Outcome {
    on_each(|jdk| {
        let aged = Aged::compile(jdk)?;
        for version in ["45", "46", "47", "48", "49"] {
            let old = Folder::new("protected")?;
            let source = aged.classes.path();
            aged.tool("Downgrade", &[old.path(), Path::new(version), source])?;
            let (out, report) = same(&aged.java(old.path()).arg("Prot"), &old)?;
            assert_eq!(out, "class Prot$A class Prot$B\n");
            assert!(report.refusals.is_empty(), "{:?}", report.refusals);
        }
        Ok(())
    })
}

/// Jython writes class files of version 50, whose stack maps name wrong classes.
#[test]
fn jython_runs_armed() -> Outcome {
    let jar = jars::jar("jython-standalone")?;
    on_each(|jdk| {
        let folder = Folder::new("jython")?;
        let command = "import re; print re.sub('a','b','banana')";
        let java = verifying(&jdk)
            .arg("-jar")
            .arg(&jar)
            .args(["-c", command])
            .limit(Duration::from_secs(300));
        let (out, _) = same(&java, &folder)?;
        assert_eq!(out, "bbnbnb\n");
        Ok(())
    })
}

/// scalac 2.10 puts an exception handler at the join of the normal and the exceptional path. The
/// frame there names `Object`, so the version must not take the value for a `Throwable`.
#[test]
fn a_handler_may_be_a_join_whose_frame_names_object() -> Outcome {
    on_each(|jdk| {
        let aged = Aged::compile(jdk)?;
        let folder = Folder::new("handler-at-join")?;
        aged.tool("HandlerAtJoin", &[&folder.join("Join.class")])?;
        let report = folder.join("report.json");
        let java = aged.java(folder.path()).arg("Join");
        let plain = java.run()?.succeeded("the plain run")?;
        let plan = "methods(\"Join::*(..)\").blocks().before(counter());";
        let counted = run(&["-e", plan, "--report", &report.display().to_string()], &java)
            .run()?
            .succeeded("the counted run")?;
        assert_eq!(counted.out, plain.out);
        assert!(plain.out.contains("ArrayIndexOutOfBoundsException"));
        let report = Report::read(&report)?;
        assert!(report.refusals.is_empty(), "{:?}", report.refusals);
        Ok(())
    })
}
