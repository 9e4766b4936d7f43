//! Probe code that casts objects, and that calls methods of the application if the plan allows it.
//! The values are known in advance. The plan is attached before the program runs or while it runs.
//! Other tests are about exceptions, recursion and refusals.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::Live;

/// The instrument on `serve`, and the expected content of the table `t` after one run: keys and
/// count.
const CALLS: &[(&str, &str)] = &[
    (
        "serve.before(|p| t.count(p.item.name()))",
        r#"["item0"] 2, ["item1"] 2, ["item2"] 2"#,
    ),
    (
        "serve.before(|p| t.count(p.item.small(), p.item.middle(), p.item.letter()))",
        "[-1, 1001, 98] 1, [-2, 1002, 99] 1, [-3, 1003, 100] 1, [-4, 1004, 101] 1, [-5, 1005, 102] 1, [0, 1000, 97] 1",
    ),
    (
        "serve.before(|p| if p.n < 3 { t.count(p.item.number(), p.item.big(), p.item.rate(), p.item.weight()) })",
        "[0, 1073741824, 0.5, 0.0] 1, [10, 2147483648, 1.5, 0.25] 1, [20, 4294967296, 2.5, 0.5] 1",
    ),
    // The overload whose parameter types fit best is called.
    (
        "serve.before(|p| t.count(p.item.plus(p.n), p.item.plus(p.n * 1.0)))",
        "[0, 0.25] 1, [10, 10.25] 1, [2, 2.25] 1, [4, 4.25] 1, [6, 6.25] 1, [8, 8.25] 1",
    ),
    (
        "serve.before(|p| if p.n == 1 { t.count(p.item.all(300, 70000, 98, p.n, 0.5, 2, true)) })",
        r#"["44 4464 b 1 0.5 2.0 true"] 1"#,
    ),
    (
        r#"serve.before(|p| t.count(p.item.ending("x"), p.item.ending(()), p.item.same(p.item), p.item.same(())))"#,
        r#"["item0x", "none", true, false] 2, ["item1x", "none", true, false] 2, ["item2x", "none", true, false] 2"#,
    ),
    // A method call on null is not executed and returns null or zero.
    (
        "serve.before(|p| t.count(p.item.next().name(), p.item.next().number(), p.item.next().even()))",
        r#"["item0", 30, false] 1, ["item0", 60, true] 1, ["item2", 20, true] 1, ["item2", 50, false] 1, [(), 0, false] 2"#,
    ),
    // A call through an interface; a string function of the plan, and a method of the same name.
    (
        r#"serve.before(|p| t.count(p.list.size(), p.list.contains("a"), class_of(p.list.get(0)), p.list.get(0).equals("a")))"#,
        r#"[1, true, "java.lang.String", true] 3, [2, true, "java.lang.String", true] 3"#,
    ),
    (
        r#"serve.before(|p| t.count(p.item.name().starts_with("item"), p.item.name().contains("1"), p.item.name().length() + p.item.name().len))"#,
        "[true, false, 10] 4, [true, true, 10] 2",
    ),
    (
        "serve.before(|p| for one in p.list.toArray() { t.count(one) })",
        r#"["a"] 6, ["b"] 3"#,
    ),
    (
        "serve.before(|p| if p.n > 2 && p.item.even() { t.count(p.n) })",
        "[4] 1",
    ),
    (
        "serve.before(|p| { let sum = 0; for one in p.list.toArray() { sum += as_a(one, \"java.lang.String\").length() + p.item.plus(1); } t.count(sum) })",
        "[10] 1, [14] 1, [2] 1, [4] 1, [6] 2",
    ),
    // An exception ends this execution of the probe, and has no other effect.
    (
        r#"serve.before(|p| { t.count("before"); t.count(p.item.fails()); t.count("behind") })"#,
        r#"["before"] 6"#,
    ),
    // The object's class is not accessible to the emitted code, so the method is called through a
    // superclass that has it.
    (
        r#"serve.before(|p| t.count(as_a(p.fixed, "java.util.ImmutableCollections$ListN").size()))"#,
        "[3] 6",
    ),
    (
        r#"serve.before(|p| t.count(as_a(p.any, "Callees$Item").n, as_a(p.any, "Callees$Named").name(), as_a(p.any, "java.lang.CharSequence").length()))"#,
        r#"[0, "item0", 0] 1, [0, (), 4] 3, [2, "item2", 0] 1, [4, "item1", 0] 1"#,
    ),
    // Probe code calls the method in which it is installed. The called method runs without the
    // probe.
    (
        r#"methods("Callees$Item::number(..)").before(|p| t.count(p.self.number()))"#,
        "[0] 1, [10] 1, [20] 1, [30] 1, [40] 1, [50] 1",
    ),
    (
        r#"methods("Callees$Item::deep(..)").before(|p| t.count(p.depth, p.self.deep(3)))"#,
        "[0, 3] 6, [1, 3] 6, [2, 3] 6",
    ),
];

/// Casts without calls.
const CASTS: &[(&str, &str)] = &[
    (
        r#"serve.before(|p| t.count(as_a(p.any, "Callees$Item").n, as_a(p.any, "java.lang.String").len))"#,
        "[0, 0] 1, [0, 4] 3, [2, 0] 1, [4, 0] 1",
    ),
    (
        r#"serve.before(|p| t.count(as_a(p.any, "Callees$Named") == (), as_a(p.any, "java.lang.Comparable") == (), p.any.as_a("java.lang.Object") == ()))"#,
        "[false, true, false] 3, [true, false, false] 3",
    ),
    // If the plan is attached first, the first probe waits for the class of its cast. It
    // nevertheless runs before the second one.
    (
        r#"let n = per_thread(0); serve.before(|p| n.push(as_a(p.any, "Callees$Item").n + 1)); serve.before(|p| t.count(n.pop()))"#,
        "[1] 4, [3] 1, [5] 1",
    ),
    (
        r#"let kind = "Callees$Item"; serve.before(|p| { let item = as_a(p.any, kind); if item != () { t.count(item.n) } })"#,
        "[0] 1, [2] 1, [4] 1",
    ),
];

/// Code that is refused, and a part of the message.
const REFUSED: &[(&str, &str)] = &[
    (
        "t.count(p.item.nothing_like_this())",
        "Callees$Item has no public method nothing_like_this(): it has all, big, deep,",
    ),
    (
        "t.count(p.item.hidden())",
        "Callees$Item has no public method hidden(): it has all, big,",
    ),
    (
        r#"t.count(p.item.plus("x"))"#,
        "Callees$Item has no public method plus(java.lang.String): it has Callees$Item.plus(double), Callees$Item.plus(int)",
    ),
    (
        "t.count(p.item.plus(1, 2))",
        "Callees$Item has no public method plus(integer, integer)",
    ),
    (
        "t.count(p.item.pick(p.n))",
        "Callees$Item has several methods for pick(integer): these Callees$Item.pick(char), Callees$Item.pick(short)",
    ),
    (
        "t.count(p.item.nothing())",
        "Callees$Item.nothing() returns nothing",
    ),
    ("p.item.name()", "nothing happens with this value"),
    ("t.count(p.n.name())", "integer has no public method name()"),
    (
        r#"t.count(as_a(p.any, "jdk.internal.misc.Unsafe").addressSize())"#,
        "jdk.internal.misc.Unsafe.addressSize() cannot be called here: module java.base does not export jdk.internal.misc to unnamed module",
    ),
    (
        "t.count(as_a(p.any, p.item).n)",
        "the second value of as_a is the name of a class as a constant",
    ),
    (
        r#"t.count(as_a(p.n, "Callees$Item").n)"#,
        "this is integer, and an object is needed here",
    ),
];

const SHOW: &str = r#"
fn shown(t) {
    let lines = [];
    for row in t.rows() { lines.push(`${row.keys.to_debug()} ${row.count}`); }
    lines.sort();
    let out = "";
    for line in lines { if out != "" { out += ", "; } out += line; }
    out
}
"#;

/// A plan with all entries of a table.
fn plan(head: &str, all: &[(&str, &str)]) -> String {
    let mut plan = format!("{SHOW}{head}");
    for (n, (code, _)) in all.iter().enumerate() {
        plan.push_str(&format!(
            "{{ let t = tally(); let serve = methods(\"Callees::serve(..)\"); {code}; at_exit(|| print(`#{n} ${{shown(t)}}`)); }}\n"
        ));
    }
    plan
}

fn differences(all: &[(&str, &str)], said: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (n, (code, expected)) in all.iter().enumerate() {
        let start = format!("#{n} ");
        let found = said.lines().find_map(|line| line.strip_prefix(&start));
        if found.unwrap_or("nothing").trim() != *expected {
            wrong.push(format!("{code}: {found:?} instead of {expected}"));
        }
    }
    wrong
}

#[test]
fn probes_call_methods_before_the_run_and_while_it_runs() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let java = programs.java("Callees");
        let plain = java.run()?.succeeded("Callees")?;
        for (head, all) in [("", CASTS), ("unsafe_calls(true);\n", CALLS)] {
            let text = plan(head, all);
            let folder = Folder::new("calls")?;
            let file = folder.join("plan.rhai");
            std::fs::write(&file, &text)?;
            let file = file.display().to_string();
            for options in [
                &["--strict", "--plan", &file][..],
                &["--strict", "--check", "--plan", &file],
            ] {
                let output = run(options, &java).run()?.succeeded("Callees")?;
                assert_eq!(output.out, plain.out);
                let wrong = differences(all, &output.err);
                assert_eq!(wrong, Vec::<String>::new(), "{options:?} {}", output.err);
            }
            let mut live = Live::start(&run(&[], &programs.java("Callees").arg("live")))?;
            // Repeat the run until the methods are compiled.
            for _ in 0..30 {
                live.say("run")?;
                assert_eq!(format!("sum {}\n", live.line("sum ")?), plain.out);
            }
            live.value(&(text + "0"))?;
            live.say("run")?;
            assert_eq!(format!("sum {}\n", live.line("sum ")?), plain.out);
            let output = live.stop()?;
            assert_eq!(output.code, 0);
            let wrong = differences(all, &output.err);
            assert_eq!(wrong, Vec::<String>::new(), "{}", output.err);
        }
        Ok(())
    })
}

#[test]
fn impossible_calls_are_refused_with_position_and_alternatives() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Callees").arg("live")))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let of = |code: &str, allowed: &str| {
            format!(
                "{allowed} let t = tally();\nlet serve = methods(\"Callees::serve(..)\");\nserve.before(|p| {{\n{code} }});"
            )
        };
        for (code, expected) in REFUSED {
            let output = live.exec(&of(code, "unsafe_calls(true);"))?;
            assert_eq!(output.code, 1, "{code}: {output:?}");
            let place = output.err.contains("-e:") && output.err.contains("4:");
            assert!(place, "{code}: {}", output.err);
            assert!(output.err.contains(expected), "{code}: {}", output.err);
        }
        // Calls were not allowed, are no longer allowed, or are allowed only in another plan.
        for allowed in ["", "unsafe_calls(true); unsafe_calls(false);"] {
            let output = live.exec(&of("t.count(p.item.name())", allowed))?;
            assert_eq!(output.code, 1, "{allowed}: {output:?}");
            assert!(
                output.err.contains("-e:4:")
                    && output
                        .err
                        .contains("the plan has to say before: unsafe_calls(true);"),
                "{allowed}: {}",
                output.err
            );
        }
        // The code waits for a class that is not loaded. The agent does not load the class.
        let waits = of(r#"t.count(as_a(p.any, "Orders$Ghost").seen)"#, "");
        let waiting = waits
            + "refusals().filter(|r| r.class == \"Callees\").map(|r| r.reason).contains(\"NotLoaded\")";
        assert_eq!(live.value(&waiting)?, "true");
        assert_eq!(live.value("names(\"Orders$Ghost\")")?, "[]");
        live.say("run")?;
        assert_eq!(live.line("sum ")?, sum);
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        Ok(())
    })
}

#[test]
fn other_instruments_count_methods_called_by_probes() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let java = programs.java("Callees");
        let plan = r#"
            unsafe_calls(true);
            let t = tally();
            let weighed = methods("Callees$Item::weight(..)").before(counter());
            let asked = methods("Callees::serve(..)").before(|p| if p.item.weight() > 0.5 { t.count() });
            at_exit(|| print(`${weighed.hits()} ${asked.hits()} ${t.rows()[0].count}`));
        "#;
        let folder = Folder::new("calls")?;
        let file = folder.join("plan.rhai");
        std::fs::write(&file, plan)?;
        let options = ["--strict", "--plan", &file.display().to_string()];
        let output = run(&options, &java).run()?.succeeded("Callees")?;
        // The weights are 0, 0.25, 0.5, 0.75, 1, 1.25.
        assert_eq!(output.err.trim(), "6 6 3");
        Ok(())
    })
}
