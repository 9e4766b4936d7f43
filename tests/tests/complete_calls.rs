//! `veneer run --complete --call-graph OUT`: the calls of all classes, those of `java.lang` and
//! `java.util` too, are those that the JVM reports by events in the same run.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use veneer_tests::call_oracle::{compile_library, recorded};
use veneer_tests::call_window::{Window, read_window};
use veneer_tests::command::run;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// The folders with the programs, beside that of the test itself.
const FOLDERS: [&str; 2] = ["counts", "kinds"];
/// Limit for one run, in which the JVM interprets everything and reports each call.
const LIMIT: Duration = Duration::from_secs(900);
/// The first JDK with virtual threads.
const FIRST_WITH_VIRTUAL_THREADS: u32 = 21;
/// A program that needs the library of native methods as its argument.
const NATIVES: &str = "kinds.Natives";

/// The names of the programs' classes. Programs of `kinds` are in a package of this name.
fn programs() -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for folder in FOLDERS {
        for source in files(&workspace().join("tests/java").join(folder), "java")? {
            let stem = source.file_stem().ok_or("no name")?.to_string_lossy();
            names.push(match folder {
                "kinds" => format!("kinds.{stem}"),
                _ => stem.into_owned(),
            });
        }
    }
    Ok(names)
}

fn compile_all(programs: &Programs) -> Outcome {
    for folder in FOLDERS {
        let sources = files(&workspace().join("tests/java").join(folder), "java")?;
        programs
            .jdk()
            .compile(&sources, programs.classes().path())?;
    }
    Ok(())
}

/// Runs programs between the two moments, and reads what both sides counted.
fn window(programs: &Programs, mains: &[String]) -> Result<Window, Box<dyn Error>> {
    let oracle = compile_library(programs, "call_window")?;
    let counted = programs.classes().join("window.txt");
    let data = Folder::new("window")?;
    let file = programs.classes().join("window.calls");
    let launcher = programs.launcher().limit(LIMIT).arg(format!(
        "-agentpath:{}={},{}",
        oracle.display(),
        counted.display(),
        data.path().display()
    ));
    let java = launcher
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Window")
        .args(mains);
    let (data, out) = (data.path().to_string_lossy(), file.to_string_lossy());
    let options = ["--complete", "--data", &data, "--call-graph", &out];
    run(&options, &java)
        .limit(LIMIT)
        .run()?
        .succeeded("the programs")?;
    read_window(&counted, &file)
}

/// Fails if the recording differs from what the JVM reported.
fn expect_equal(window: &Window, least: usize) -> Outcome {
    let differences = window.differences();
    assert!(
        differences.is_empty(),
        "{} of {}:\n{}",
        differences.len(),
        window.calls.len(),
        differences[..differences.len().min(20)].join("\n")
    );
    assert!(window.calls.len() >= least, "{} calls", window.calls.len());
    println!(
        "{} methods and {} pairs of a caller and a callee are equal",
        window.entries.len(),
        window.calls.len()
    );
    Ok(())
}

/// The arguments of `Compile` for this number of sources.
fn compiler(programs: &Programs, sources: usize) -> Result<String, Box<dyn Error>> {
    let out = programs.classes().join("out");
    std::fs::create_dir_all(&out)?;
    let all = files(&workspace().join("tests/java/counts"), "java")?;
    let sources: Vec<PathBuf> = all.into_iter().take(sources).collect();
    let sources: Vec<String> = sources.iter().map(|s| s.display().to_string()).collect();
    Ok(format!(
        "Compile,-d,{},-nowarn,-proc:none,{}",
        out.display(),
        sources.join(",")
    ))
}

fn has_compiler() -> bool {
    Process::new("cc").arg("--version").run().is_ok()
}

#[test]
fn the_calls_of_37_programs_are_those_that_the_jvm_reports() -> Outcome {
    if !has_compiler() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("complete", |java| {
        compile_all(java)?;
        let natives = compile_library(java, "call_back")?;
        let mut mains = programs()?;
        assert!(mains.len() >= 37, "{mains:?}");
        for main in mains.iter_mut().filter(|main| *main == NATIVES) {
            *main = format!("{NATIVES},{}", natives.display());
        }
        let mut window = window(java, &mains)?;
        if java.jdk().major() >= FIRST_WITH_VIRTUAL_THREADS {
            // One of the programs has virtual threads.
            window = window.without_thread_switches();
        }
        // A call on null of a method that no class overrides is counted before it fails.
        let null = ("Exceptions", "java.lang.String", "length()I");
        window.calls.retain(|(caller, callee), _| {
            (caller.0.as_str(), callee.0.as_str(), callee.1.as_str()) != null
        });
        expect_equal(&window, 5_000)
    })
}

#[test]
fn calls_in_virtual_threads_are_counted() -> Outcome {
    if !has_compiler() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("complete", |java| {
        let window = window(java, &["VirtualThreads".into()])?.without_thread_switches();
        expect_equal(&window, 100)
    })
}

#[test]
fn the_calls_of_the_compiler_are_those_that_the_jvm_reports() -> Outcome {
    if !has_compiler() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("complete", |java| {
        let compiler = compiler(java, 1)?;
        expect_equal(&window(java, &[compiler])?, 10_000)
    })
}

#[test]
#[ignore = "takes minutes, because the JVM interprets everything and reports each call"]
fn the_calls_of_the_compiler_over_20_sources_are_those_that_the_jvm_reports() -> Outcome {
    on_a_jdk_with("complete", |java| {
        let compiler = compiler(java, 20)?;
        expect_equal(&window(java, &[compiler])?, 20_000)
    })
}

/// The output, the exit code and the exceptions of a program are those without Veneer, and the callers
/// of methods of `java.util` are known.
#[test]
fn programs_behave_as_without_a_recording() -> Outcome {
    on_a_jdk_with("counts", |java| {
        for program in ["Lambdas", "StackTraces", "StringSwitch"] {
            let file = java.classes().join("behaviour.calls");
            let plain = java.java(program);
            let expected = plain.run()?;
            let options = ["--complete", "--call-graph", &file.to_string_lossy()].map(String::from);
            let found = run(&options.each_ref().map(String::as_str), &plain).run()?;
            assert_eq!(found.out, expected.out, "{program}");
            assert_eq!(found.code, expected.code, "{program}");
            let (graph, _) = recorded(&file)?;
            let is_of_jdk = |class: &str| class.starts_with("java.util.");
            let inside = graph.edges.keys();
            let inside = inside.filter(|(from, _, to)| is_of_jdk(&from.0) && is_of_jdk(&to.0));
            assert!(inside.count() > 10, "{program}");
        }
        Ok(())
    })
}
