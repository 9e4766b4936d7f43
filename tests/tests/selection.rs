//! Methods selected by supertypes of their class, by annotations, flags and types, and blocks
//! selected by their content. Counts are exact whether the classes are loaded before or after the
//! plan and whatever their loader, and no class is loaded for the selection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use veneer_tests::command::{run, veneer};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with, run_with_report};
use veneer_tests::live::Live;
use veneer_tests::process::Process;
use veneer_tests::report::{Instrument, Report};

/// Patterns, and the expected counts while the program runs `early 3`, `late 4` and `twins 2`:
/// class, method, count. A class that is in two loaders is listed twice.
const SELECTED: &[(&str, &str)] = &[
    (
        "jobs.Task+::run(..)",
        "Base.run 3, Guest.run 2, Guest.run 2, LateBase.run 4, LateLeaf.run 4, Print.run 3, Scan.run 3",
    ),
    (
        "jobs.Timed+::run(..)",
        "Base.run 3, Guest.run 2, Guest.run 2, LateBase.run 4, LateLeaf.run 4, Print.run 3",
    ),
    (
        "*..LateB*+::run(int) -> int",
        "LateBase.run 4, LateLeaf.run 4",
    ),
    ("jobs.Print+::run(..)", "Print.run 3"),
    (
        "jobs.LateThing+::run(..)",
        "LateOther.run 4, LateThing.run 4",
    ),
    // An interface of the JDK.
    (
        "java.util.function.IntUnaryOperator+::applyAsInt(..)",
        "Other.applyAsInt 3",
    ),
    ("@jobs.Marked jobs..*::*(..)", "Other.run 3, Scan.run 3"),
    ("@jobs.Marked jobs.Task+", "Scan.run 3"),
    ("@*..Hid* jobs..*", "LateLeaf.own 4, Scan.plain 3"),
    (
        "@@jobs.Rest !@jobs.Marked !static jobs..*::*(int)",
        "Scan.guarded 3, Scan.plain 3",
    ),
    // The compiler does not write this annotation to the class file.
    ("@jobs.Sourced jobs..*", ""),
    ("static jobs..*::*(..) -> *..Task", "Scan.make 1"),
    ("synchronized jobs..*", "Scan.guarded 3"),
    ("private !static jobs.Late*", "LateLeaf.own 4"),
    (
        "jobs.Scan::*(..) -> int",
        "Scan.guarded 3, Scan.plain 3, Scan.run 3",
    ),
];

/// The counts of an instrument, in the format of [`SELECTED`].
fn counted(instrument: &Instrument) -> String {
    let points = instrument.points.iter().map(|point| {
        let class = point.class.strip_prefix("jobs.").unwrap_or(&point.class);
        let method = point.method.split('(').next().unwrap_or_default();
        format!("{class}.{method} {}", point.hits)
    });
    let mut points: Vec<String> = points.filter(|point| !point.ends_with(" 0")).collect();
    points.sort();
    points.join(", ")
}

/// A plan with a counter at the entries of the methods that each pattern selects.
fn plan(patterns: &[(&str, &str)]) -> String {
    let line = |(pattern, _): &(&str, &str)| format!("methods(\"{pattern}\").before(counter());\n");
    patterns.iter().map(line).collect()
}

fn compare(report: &Report, expected: &[(&str, &str)]) {
    assert_eq!(report.instruments.len(), expected.len());
    for (instrument, (pattern, counts)) in report.instruments.iter().zip(expected) {
        assert_eq!(counted(instrument), *counts, "{pattern}");
    }
}

/// The sums that the program printed.
fn sums(out: &str) -> Vec<&str> {
    out.lines()
        .filter(|line| line.starts_with("sum "))
        .collect()
}

fn all(programs: &Programs) -> Process {
    let words = ["early", "3", "late", "4", "twins", "2"];
    programs.java("jobs.Jobs").args(words)
}

#[test]
fn classes_loaded_after_the_plan_are_counted_exactly() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let plain = all(programs).run()?.succeeded("the plain run")?;
        let (output, report) = run_with_report(&all(programs), &plan(SELECTED))?;
        assert_eq!(
            (output.code, sums(&output.out)),
            (0, sums(&plain.out)),
            "{}",
            output.err
        );
        compare(&report, SELECTED);
        // At the end, a message names the patterns that never matched, and only those.
        let said: Vec<&str> = output.err.lines().collect();
        let [one] = &said[..] else {
            return Err(output.err.into());
        };
        assert!(
            one.contains("`@jobs.Sourced jobs..*` matched no method in the whole run"),
            "{one}"
        );
        Ok(())
    })
}

#[test]
fn loaded_and_later_classes_are_counted_in_a_running_program() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let mut live = Live::start(&programs.java("jobs.Jobs"))?;
        live.say("early 7")?;
        live.line("sum ")?;
        let plan_file = programs.classes().join("plan.rhai");
        std::fs::write(&plan_file, plan(SELECTED))?;
        let pid = live.pid().to_string();
        let attached = veneer().args(["exec", &pid]).arg(&plan_file).run()?;
        attached.succeeded("veneer exec")?;
        for line in ["early 3", "late 4", "twins 2"] {
            live.say(line)?;
            live.line("sum ")?;
        }
        // For classes that were loaded before the agent, the JVM has not kept the annotations that
        // reflection does not see.
        let mut expected = SELECTED.to_vec();
        let hidden = expected.iter_mut().find(|one| one.0 == "@*..Hid* jobs..*");
        hidden.ok_or("no such pattern")?.1 = "LateLeaf.own 4";
        compare(&live.report()?, &expected);
        // Only the requested points have counters.
        let report = live.report()?;
        let classes = report.points("counter").map(|point| point.class.as_str());
        let strange: Vec<&str> = classes
            .filter(|class| !class.starts_with("jobs."))
            .collect();
        assert!(strange.is_empty(), "{strange:?}");
        live.stop()?.succeeded("Jobs")?;
        Ok(())
    })
}

#[test]
fn one_line_commands_accept_type_and_annotation_patterns() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let mut live = Live::start(&programs.java("jobs.Jobs"))?;
        live.say("early 1")?;
        live.line("sum ")?;
        let pid = live.pid().to_string();
        let list = |pattern: &str| veneer().args(["list", &pid, pattern]).run();
        let found = list("@*..Marked jobs.Task+")?.succeeded("veneer list")?;
        let methods: Vec<&str> = found
            .out
            .lines()
            .filter(|line| line.contains("::"))
            .collect();
        assert_eq!(methods, ["jobs.Scan::run(I)I"]);
        let refused = list("jobs.Task+ ::run(..) -> ")?;
        assert_ne!(refused.code, 0);
        assert!(
            refused.err.contains("column 25: a type is missing"),
            "{}",
            refused.err
        );
        live.stop()?.succeeded("Jobs")?;
        Ok(())
    })
}

/// Returns the program's classes that a JVM has loaded, each with the number of times, from the
/// JVM's log.
fn loaded(log: &Path) -> Result<BTreeMap<String, usize>, std::io::Error> {
    let mut found = BTreeMap::new();
    let text = std::fs::read_to_string(log)?;
    // If a loaded class is armed, the JVM parses it again and logs this. It is not a second load.
    let loads = |line: &&str| !line.contains("__VM_RedefineClasses__");
    for line in text.lines().filter(loads) {
        let mut words = line.split_whitespace();
        if let Some(name) = words.find(|word| word.starts_with("jobs.")) {
            // Anchors and versions are the agent's own classes.
            if !name.contains("$V") && !name.contains("Veneer") {
                *found.entry(name.to_string()).or_default() += 1;
            }
        }
    }
    Ok(found)
}

#[test]
fn selecting_methods_loads_no_class() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let logged = |name: &str| {
            let log = programs.classes().join(name);
            let java = programs
                .launcher()
                .arg(format!("-Xlog:class+load:file={}", log.display()))
                .arg("-cp")
                .arg(programs.classes().path())
                .arg("jobs.Jobs");
            (log, java)
        };
        let words = ["early", "3", "late", "4", "twins", "2"];
        let (plain, java) = logged("plain.log");
        java.args(words).run()?.succeeded("the plain run")?;
        let plain = loaded(&plain)?;
        let known: BTreeSet<&str> = plain.keys().map(String::as_str).collect();
        assert!(
            known.contains("jobs.LateOther") && plain.get("jobs.Guest") == Some(&2),
            "{plain:?}"
        );
        // Classes that the patterns name and that the program does not use.
        for name in ["jobs.Unused", "jobs.Hidden", "jobs.Marked", "jobs.Rest"] {
            assert!(!known.contains(name), "{name}");
        }
        let (with, java) = logged("with.log");
        let (output, _) = run_with_report(&java.args(words), &plan(SELECTED))?;
        assert_eq!(output.code, 0, "{}", output.err);
        assert_eq!(loaded(&with)?, plain);

        let (attached, java) = logged("attached.log");
        let mut live = Live::start(&java)?;
        live.say("early 3")?;
        live.line("sum ")?;
        let before = loaded(&attached)?;
        let code = "methods([\"jobs.Task+\", \"@jobs.Marked jobs..*\", \"@@jobs.Rest jobs..*\"]).before(counter());\n\
                    for c in classes(\"jobs.Task+\") { for m in c.methods { m.blocks; } }";
        live.value(code)?;
        assert_eq!(loaded(&attached)?, before);
        live.stop()?.succeeded("Jobs")?;
        Ok(())
    })
}

/// Changes the length fields of annotation attributes in a class file (one annotation without
/// values each) to a larger value. Returns the number of attributes.
fn damage(file: &Path) -> Result<usize, std::io::Error> {
    let mut bytes = std::fs::read(file)?;
    let is_annotation = |at: &usize| {
        let Some(window) = bytes.get(*at..at + 10) else {
            return false;
        };
        window.starts_with(&[0, 0, 0, 6, 0, 1]) && window.ends_with(&[0, 0])
    };
    let places: Vec<usize> = (0..bytes.len()).filter(is_annotation).collect();
    for at in &places {
        if let Some(count) = bytes.get_mut(at + 4..at + 6) {
            count.fill(0xff);
        }
    }
    std::fs::write(file, bytes)?;
    Ok(places.len())
}

#[test]
fn damaged_annotations_are_ignored_and_harmless() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let plain = all(programs).run()?.succeeded("the plain run")?;
        assert_eq!(damage(&programs.classes().join("jobs/Other.class"))?, 1);
        let patterns = [
            ("@jobs.Marked jobs..*::*(..)", "Scan.run 3"),
            ("!@jobs.Marked jobs.Other::run(..)", "Other.run 3"),
            (
                "java.util.function.IntUnaryOperator+::applyAsInt(..)",
                "Other.applyAsInt 3",
            ),
        ];
        let (output, report) = run_with_report(&all(programs), &plan(&patterns))?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        assert_eq!(sums(&output.out), sums(&plain.out));
        compare(&report, &patterns);
        Ok(())
    })
}

#[test]
fn blocks_and_methods_are_chosen_by_predicates() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let mut live = Live::start(&programs.java("jobs.Jobs"))?;
        live.say("early 3")?;
        live.line("sum ")?;
        let deep = live
            .value("methods(\"jobs.*\").blocks().filter(|b| b.depth > 1).before(counter()).id()")?;
        let small = "methods(\"jobs.Task+\").filter(|m| m.size < 8 && m.name != \"<init>\").before(counter()).id()";
        let small = live.value(small)?;
        let locked = live.value("methods(\"jobs..*\").filter(|m| \"synchronized\" in m.flags && \"int\" in m.blocks[0].variables.map(|v| v.type)).before(counter()).id()")?;
        let none =
            live.exec("methods(\"jobs..*\").filter(|m| m.size > 60000).before(counter()).hits()")?;
        live.say("early 4")?;
        live.line("sum ")?;
        // Each of five iterations of the outer loop has two iterations of the inner loop and three
        // tests of its condition.
        assert_eq!(live.sum(&deep)?, 4 * (5 * 2 + 5 * 3));
        let passed = live.hits(&deep)?.iter().filter(|one| one.1 > 0).count();
        assert_eq!(passed, 2);
        let report = live.report()?;
        let of = |id: &str| {
            let found = report
                .instruments
                .iter()
                .find(|one| one.id.as_str() == Some(id));
            found.map(counted).unwrap_or_default()
        };
        // Print.run is longer than seven bytes (aload, invokespecial, …), and Scan.make needs
        // eight.
        assert_eq!(of(&small), "Base.run 4, Scan.guarded 4, Scan.plain 4");
        assert_eq!(of(&locked), "Scan.guarded 4");
        assert!(
            none.err.contains("holds for nothing that is loaded now")
                || none.out.contains("holds for nothing that is loaded now"),
            "{none:?}"
        );
        // The predicates apply to the methods that existed.
        live.say("twins 2")?;
        live.line("sum ")?;
        assert_eq!(live.sum(&small)?, 12);
        live.stop()?.succeeded("Jobs")?;
        Ok(())
    })
}

#[test]
fn plans_can_iterate_over_classes_methods_blocks_and_instructions() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let mut live = Live::start(&programs.java("jobs.Jobs"))?;
        live.say("early 3")?;
        live.line("sum ")?;
        let names = live.value("let n = classes(\"jobs.Task+\").map(|c| c.name); n.sort(); n")?;
        assert_eq!(names, r#"["jobs.Base", "jobs.Print", "jobs.Scan"]"#);
        let above = live.value("classes(\"jobs.Print\")[0].supertypes")?;
        assert_eq!(
            above,
            r#"["java.lang.Object", "jobs.Base", "jobs.Task", "jobs.Timed"]"#
        );
        let rest = live.value("let c = classes(\"@@jobs.Rest jobs..*\")[0]; [c.name, c.annotations, c.flags, c.initialised]")?;
        assert_eq!(rest, r#"["jobs.Scan", ["jobs.Rest"], [], true]"#);
        let marked = live.value("let c = classes(\"@jobs.Marked jobs.Scan\")[0]; c.methods.map(|m| [m.pattern, m.annotations, m.flags])")?;
        assert_eq!(
            marked,
            r#"[["jobs.Scan::run(int)", ["jobs.Marked"], ["public"]]]"#
        );
        let multiplied = live.value(
            "let n = 0; for c in classes(\"jobs.Scan\") { for m in c.methods { for b in m.blocks { for i in b.instructions { if i == \"imul\" { n += 1; } } } } } n",
        )?;
        assert_eq!(multiplied, "2");
        live.stop()?.succeeded("Jobs")?;
        Ok(())
    })
}

#[test]
fn a_class_is_armed_at_load_where_arm_and_skip_say_so() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let folder = programs.classes();
        let (file, to) = (folder.join("plan.rhai"), folder.join("report.json"));
        std::fs::write(
            &file,
            "after(0.01, || ()); at_exit(|| { let n = methods(\"jobs..*::run(..)\").list().map(|m| m.class); n.sort(); print(n); });",
        )?;
        let (file, to) = (file.display().to_string(), to.display().to_string());
        let options = [
            "--arm",
            "jobs.Timed+",
            "--skip",
            "@@jobs.Rest *..*",
            "--plan",
            &file,
            "--report",
            &to,
        ];
        let output = run(&options, &all(programs))
            .run()?
            .succeeded("veneer run")?;
        // Classes that may be below Timed are armed too: the supertypes of LateOther and Other are
        // not known when they are loaded.
        let armed = r#"["jobs.Base", "jobs.Guest", "jobs.Guest", "jobs.LateBase", "jobs.LateLeaf", "jobs.LateOther", "jobs.Other", "jobs.Print"]"#;
        assert_eq!(output.err.trim(), armed);
        let refused = run(&["--skip", "jobs.Timed+"], &all(programs)).run()?;
        assert!(
            refused.err.contains("`+` is not known yet"),
            "{}",
            refused.err
        );
        Ok(())
    })
}

/// The number of armed classes in a running program.
fn classes_armed(live: &Live) -> Result<u64, Box<dyn std::error::Error>> {
    let status = veneer().args(["ps", "--json"]).run()?.succeeded("ps")?;
    let status: serde_json::Value = serde_json::from_str(&status.out)?;
    let mut all = status.as_array().ok_or("no array")?.iter();
    let mine = all.find(|one| one["pid"] == live.pid());
    let armed = mine.and_then(|one| one["veneer"]["classes_armed"].as_u64());
    Ok(armed.ok_or_else(|| format!("not shown: {status}"))?)
}

/// `Desk` has a loop and `Desk$Order` has none.
#[test]
fn a_class_without_loops_is_armed_when_a_plan_names_it() -> Outcome {
    on_a_jdk_with("control", |programs| {
        let options: [(&[&str], u64); 4] = [
            (&[], 1),
            (&["--arm-all"], 2),
            (&["--arm", "Desk", "--arm", "Desk$Order"], 2),
            (&["--policy", "block"], 2),
        ];
        for (options, at_load) in options {
            let mut live = Live::start(&run(options, &programs.java("Desk")))?;
            live.say("run 3")?;
            live.line("sum ")?;
            assert_eq!(classes_armed(&live)?, at_load, "{options:?}");
            let id = live.value("methods(\"Desk$Order::*(..)\").before(counter()).id()")?;
            assert_eq!(classes_armed(&live)?, 2, "{options:?}");
            live.say("run 7")?;
            live.line("sum ")?;
            assert_eq!(live.sum(&id)?, 7, "{options:?}");
            live.stop()?;
        }
        Ok(())
    })
}

/// `*..*` selects all classes for their calls of a method, but only those that name such a method
/// are armed.
#[test]
fn only_classes_that_name_the_called_method_are_armed() -> Outcome {
    on_a_jdk_with("selection", |programs| {
        let mut live = Live::start(&programs.java("jobs.Jobs"))?;
        live.say("early 7")?;
        live.line("sum ")?;
        let called = "let c = methods(\"*..*\").calls(\"jobs.*::make() -> jobs.Task\").before(counter()); every(60.0, || ()); c";
        live.exec(called)?.succeeded("exec")?;
        assert_eq!(classes_armed(&live)?, 1);
        for round in 0..2 {
            live.say("early 3")?;
            live.line("sum ")?;
            assert_eq!(live.report()?.hits(), round + 1);
        }
        let absent =
            live.exec("methods(\"jobs.S*\").calls(\"jobs.*::absent()\").before(counter())")?;
        assert!(
            absent
                .out
                .contains("names a method like `jobs.*::absent()`"),
            "{absent:?}"
        );
        let mistyped =
            live.exec("methods(\"jbos..*\").calls(\"*..*::make()\").before(counter())")?;
        assert!(
            mistyped.out.contains("`jbos..*` matches no method"),
            "{mistyped:?}"
        );
        live.stop()?.succeeded("Jobs")?;
        Ok(())
    })
}
