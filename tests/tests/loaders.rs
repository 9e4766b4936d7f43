//! Class loaders of all kinds, named modules, missing classes, unloading, and other agents in the
//! same JVM. The output is always that of a plain run, and counts are exact.

use std::collections::BTreeMap;
use std::path::Path;

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::process::{Output, Process};
use veneer_tests::report::Report;
use veneer_tests::skip;

/// A plan with counters on all blocks of the selected methods, timers around the methods, and lap
/// timers of loops.
fn plan(pattern: &str) -> String {
    format!(
        "let m = methods(\"{pattern}\");\n\
         m.blocks().before(counter());\n\
         m.around(timer());\n\
         m.loops().around(timer());\n"
    )
}

/// Runs a process plain and with counters; the outputs must be equal. Returns the output and the
/// report.
fn compare_with_plain_run(
    process: &Process,
    pattern: &str,
) -> Result<(Output, Report), Box<dyn std::error::Error>> {
    let expected = process.run()?.succeeded("the plain run")?;
    let folder = Folder::new("loaders")?;
    let (file, report) = (folder.join("plan.rhai"), folder.join("report.json"));
    std::fs::write(&file, plan(pattern))?;
    let text = |path: &Path| path.display().to_string();
    let output = run(
        &["--plan", &text(&file), "--report", &text(&report)],
        process,
    )
    .run()?;
    assert_eq!(
        (output.code, &output.out),
        (0, &expected.out),
        "{}",
        output.err
    );
    Ok((output, Report::read(&report)?))
}

/// Returns the number of points and the sum of their hits, by class, method name and fragment.
fn hits(report: &Report) -> BTreeMap<(String, String, u32), (usize, u64)> {
    let mut all: BTreeMap<_, (usize, u64)> = BTreeMap::new();
    for point in report.points("counter") {
        let method = point.method.split('(').next().unwrap_or_default();
        let key = (
            point.class.clone(),
            method.to_string(),
            point.fragment.unwrap_or(u32::MAX),
        );
        let sum = all.entry(key).or_default();
        sum.0 += 1;
        sum.1 += point.hits;
    }
    all
}

/// Asserts that a method's fragments have these hits, each at `points` points.
fn expect(report: &Report, class: &str, method: &str, points: usize, expected: &[u64]) {
    let all = hits(report);
    let found: Vec<(usize, u64)> = (0..)
        .map_while(|f| {
            all.get(&(class.to_string(), method.to_string(), f))
                .copied()
        })
        .collect();
    let wanted: Vec<(usize, u64)> = expected.iter().map(|hits| (points, *hits)).collect();
    assert_eq!(found, wanted, "{class}::{method}");
}

/// Asserts the hits of a method's fragments over 200 classes of the same name. Unloaded classes
/// share a row.
fn expect_of_all(report: &Report, class: &str, method: &str, expected: &[u64]) {
    let all = hits(report);
    for (fragment, wanted) in (0..).zip(expected) {
        let key = (class.to_string(), method.to_string(), fragment);
        let (points, hits) = all.get(&key).copied().unwrap_or_default();
        assert_eq!(hits, *wanted, "{class}::{method}, fragment {fragment}");
        assert!((1..=200).contains(&points), "{points} rows of {key:?}");
    }
}

fn reasons(report: &Report) -> Vec<(&str, &str, &str)> {
    let all = report.refusals.iter();
    all.map(|r| (r.class.as_str(), r.method.as_str(), r.reason.as_str()))
        .filter(|(class, ..)| !class.starts_with("Loaders"))
        .collect()
}

/// The process `Loaders FOLDER MODE`.
fn loaders(programs: &Programs, mode: &str) -> Process {
    programs
        .java("Loaders")
        .arg(programs.classes().path())
        .arg(mode)
}

#[test]
fn classes_of_a_loader_that_delegates_only_java_are_counted() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        let (output, report) =
            compare_with_plain_run(&loaders(programs, "strict"), "Guest*::*(..)")?;
        assert_eq!(output.err, "");
        assert_eq!(reasons(&report), []);
        expect(&report, "Guest", "work", 1, &[10, 55, 45, 10]);
        expect(&report, "Guest", "applyAsInt", 1, &[10]);
        expect(&report, "Guest", "lambda$applyAsInt$0", 1, &[10]);
        expect(&report, "Guest$Helper", "<init>", 1, &[10]);
        Ok(())
    })
}

#[test]
fn a_loader_that_denies_the_runtime_keeps_its_classes_as_they_are() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        let (_, report) = compare_with_plain_run(&loaders(programs, "denied"), "Guest*::*(..)")?;
        assert_eq!(report.hits(), 0);
        assert_eq!(
            reasons(&report),
            [
                ("Guest", "", "AnchorFailed"),
                ("Guest$Helper", "", "AnchorFailed")
            ]
        );
        Ok(())
    })
}

#[test]
fn classes_of_the_same_name_in_two_loaders_are_counted_separately() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        let (_, report) = compare_with_plain_run(&loaders(programs, "twins"), "Guest*::*(..)")?;
        expect(&report, "Guest", "work", 2, &[15, 65, 50, 15]);
        let bodies: Vec<u64> = report
            .points("counter")
            .filter(|p| p.method.starts_with("work(") && p.fragment == Some(2))
            .map(|p| p.hits)
            .collect();
        assert_eq!(bodies, [30, 20]);
        Ok(())
    })
}

#[test]
fn classes_of_two_hundred_loaders_are_counted_and_unloaded() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        // Guest is loaded 200 times. Only those classes may exist that were loaded since the last
        // collections.
        let log = programs.classes().join("unloaded.log");
        let jvm = programs
            .launcher()
            .arg(format!("-Xlog:class+unload:file={}", log.display()))
            .arg("-cp")
            .arg(programs.classes().path())
            .args(["Loaders"])
            .arg(programs.classes().path())
            .arg("unload");
        let (output, report) = compare_with_plain_run(&jvm, "Guest*::*(..)")?;
        assert_eq!((output.err.as_str(), reasons(&report)), ("", vec![]));
        expect_of_all(&report, "Guest", "work", &[1000, 4000, 3000, 1000]);
        expect_of_all(&report, "Guest$Helper", "twice", &[1000]);
        let text = std::fs::read_to_string(&log)?;
        let guests = text
            .lines()
            .filter(|line| line.contains("class Guest 0x"))
            .count();
        assert!(guests >= 150, "only {guests} of 200 classes were unloaded");
        Ok(())
    })
}

#[test]
fn a_class_in_a_named_module_is_counted() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        let into = programs.classes().join("modules");
        programs.jdk().compile(
            &files(&workspace().join("tests/java/module"), "java")?,
            &into,
        )?;
        let java = programs
            .launcher()
            .arg("-p")
            .arg(&into)
            .args(["-m", "guests/guests.visit.Visit"]);
        let (output, report) = compare_with_plain_run(&java, "guests..*::*(..)")?;
        assert_eq!((output.err.as_str(), reasons(&report)), ("", vec![]));
        expect(
            &report,
            "guests.visit.Visit",
            "work",
            1,
            &[100, 395, 295, 100],
        );
        expect(&report, "guests.visit.Visit", "lambda$main$0", 1, &[100]);
        expect(&report, "guests.visit.Visit$Stay", "hashCode", 1, &[100]);
        expect(&report, "guests.visit.Visit$Stay", "nights", 1, &[100]);
        Ok(())
    })
}

#[test]
fn a_missing_class_fails_at_the_same_places_as_without_veneer() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        for name in ["Gone.class", "GoneBase.class", "GoneError.class"] {
            std::fs::remove_file(programs.classes().join(name))?;
        }
        let (_, report) = compare_with_plain_run(&programs.java("Optionals"), "Optional*::*(..)")?;
        // No version needs the missing types, because variables of such a type can only hold null.
        assert_eq!(reasons(&report), []);
        // `takes` is called three times, with null and 4: the branch for null, four iterations, one
        // return.
        expect(&report, "Optional", "takes", 1, &[3, 3, 0, 3, 15, 12, 3]);
        // `gives` throws in three of six calls, when it creates a Gone. These calls do not reach
        // its return.
        expect(&report, "Optional", "gives", 1, &[6, 3, 3, 3]);
        expect(
            &report,
            "Optional",
            "live",
            1,
            &[3, 0, 3, 3, 15, 12, 12, 0, 12, 3],
        );
        expect(&report, "Optional", "plain", 1, &[3, 15, 12, 3]);
        // `maybe` is called twice by main and four times in each of three iterations by caught. A
        // third of these calls request a Gone.
        expect(&report, "Optional", "maybe", 1, &[18, 6, 12]);
        expect(
            &report,
            "Optional",
            "caught",
            1,
            &[3, 15, 12, 3, 9, 12, 3, 12, 3],
        );
        Ok(())
    })
}

/// Builds the jar of the agent `Other`.
fn other_agent(programs: &Programs) -> Result<String, Box<dyn std::error::Error>> {
    let (manifest, jar) = (
        programs.classes().join("manifest"),
        programs.classes().join("other.jar"),
    );
    std::fs::write(
        &manifest,
        "Premain-Class: Other\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n",
    )?;
    Process::new(programs.jdk().tool("jar"))
        .arg("cfm")
        .arg(&jar)
        .arg(&manifest)
        .args(["Other.class", "Other$1.class"])
        .folder(programs.classes().path())
        .run()?
        .succeeded("jar")?;
    Ok(jar.display().to_string())
}

#[test]
fn an_agent_that_retransforms_everything_changes_nothing() -> Outcome {
    if std::env::var_os("VENEER_CHECK_JNI").is_some() {
        skip::announce(
            "-Xcheck:jni has its own complaints about the JDK's library for Java agents",
        );
        return Ok(());
    }
    on_a_jdk_with("loaders", |programs| {
        let jvm = programs
            .launcher()
            .arg(format!("-javaagent:{}=retransform", other_agent(programs)?))
            .arg("-cp")
            .arg(programs.classes().path())
            .arg("Loaders")
            .arg(programs.classes().path())
            .arg("unload");
        let (output, report) = compare_with_plain_run(&jvm, "Guest*::*(..)")?;
        assert_eq!((output.err.as_str(), reasons(&report)), ("", vec![]));
        expect_of_all(&report, "Guest", "work", &[1000, 4000, 3000, 1000]);
        Ok(())
    })
}

#[test]
fn an_agent_that_redefines_a_counted_class_gets_its_new_definition() -> Outcome {
    on_a_jdk_with("loaders", |programs| {
        let jvm = programs
            .launcher()
            .arg(format!("-javaagent:{}", other_agent(programs)?))
            .arg("-cp")
            .arg(programs.classes().path())
            .arg("Redefining");
        let (output, report) = compare_with_plain_run(&jvm, "Redefined::*(..)")?;
        assert_eq!(
            output.out,
            "before 3333 3333000\nafter 6666 6666000\nafter 6666 6666000\nafter 6666 6666000\nturned true\n"
        );
        assert_eq!(output.err, "");
        // 4 × 1001 calls, in either class file.
        let all = hits(&report);
        let value = |f| {
            all.get(&("Redefined".into(), "value".into(), f))
                .map_or(0, |found| found.1)
        };
        assert_eq!(
            [value(0), value(1), value(2), value(3)],
            [4004, 16016, 12012, 4004]
        );
        Ok(())
    })
}
