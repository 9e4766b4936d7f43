//! Instruments at single instructions, with counts that are known in advance.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};

/// Points in `Sites::work`, the instrument, and the expected hits; for probe code, the content of
/// the table `t`.
const SITES: &[(&str, &str, &str)] = &[
    ("writes(\"field\")", "before(counter())", "100"),
    ("writes(\"Sites.total\")", "after(counter())", "100"),
    ("writes()", "before(counter())", "200"),
    ("reads(\"field\")", "before(counter())", "100"),
    ("reads()", "after(counter())", "200"),
    ("array_writes()", "before(counter())", "100"),
    ("array_reads()", "before(counter())", "100"),
    ("allocations()", "before(counter())", "201"),
    ("monitor_enters()", "before(counter())", "100"),
    ("monitor_enters()", "after(counter())", "100"),
    ("monitor_exits()", "before(counter())", "100"),
    ("throws()", "before(counter())", "1"),
    ("branches()", "before(counter())", "300"),
    ("switches()", "before(counter())", "100"),
    ("calls()", "before(counter())", "301"),
    ("call_sites()", "before(counter())", "301"),
    (
        "call_sites(\"invokevirtual\")",
        "before(|p| t.count(class_of(p.receiver)))",
        "100: [\"java.lang.String\"] 100",
    ),
    ("calls(\"Sites::helper(..)\")", "around(timer())", "100"),
    ("instructions(\"arraylength\")", "before(counter())", "200"),
    (
        "switches()",
        "before(|p| t.count(p.key))",
        "100: [0] 34, [1] 33, [2] 33",
    ),
    (
        "calls(\"Sites::helper(..)\")",
        "before(|p| t.count(p.arg1))",
        "100: [false] 50, [true] 50",
    ),
    (
        "calls(\"*..String::length()\")",
        "after(|p| t.count(p.result))",
        "100: [3] 100",
    ),
    (
        "calls(\"*..String::length()\")",
        "before(|p| t.count(p.receiver, p.n < 50))",
        "100: [\"abc\", false] 50, [\"abc\", true] 50",
    ),
    (
        "writes(\"field\")",
        "before(|p| t.count(p.value % 3, class_of(p.object)))",
        "100: [0, \"Sites\"] 34, [1, \"Sites\"] 33, [2, \"Sites\"] 33",
    ),
    (
        "array_writes()",
        "before(|p| t.count(p.index, p.value % 2, p.array.len))",
        "100: [0, 0, 4] 25, [1, 1, 4] 25, [2, 0, 4] 25, [3, 1, 4] 25",
    ),
    (
        "array_reads()",
        "after(|p| t.count(p.result == p.numbers[0]))",
        "100: [true] 100",
    ),
    (
        "throws()",
        "before(|p| t.count(class_of(p.exception)))",
        "1: [\"java.lang.IllegalStateException\"] 1",
    ),
    (
        "handlers()",
        "before(|p| t.count(class_of(p.exception), p.n))",
        "1: [\"java.lang.IllegalStateException\", 7] 1",
    ),
    (
        "instructions(\"newarray\")",
        "after(|p| t.count())",
        "100: [] 100",
    ),
];

#[test]
fn single_instructions_are_measured_exactly() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let java = programs.java("Sites");
        let plain = java.run()?.succeeded("Sites")?;
        let folder = Folder::new("sites")?;
        let file = folder.join("plan.rhai");
        let mut plan = String::from(
            "fn shown(t) { let lines = []; for row in t.rows() { lines.push(`${row.keys.to_debug()} ${row.count}`); } lines.sort(); \
             let out = \"\"; for line in lines { if out != \"\" { out += \", \"; } out += line; } out }\n",
        );
        for (n, (points, attached, _)) in SITES.iter().enumerate() {
            plan.push_str(&format!(
                "{{ let t = tally(); let h = methods(\"Sites::work(..)\").{points}.{attached}; at_exit(|| print(`#{n} ${{h.hits()}}: ${{shown(t)}}`)); }}\n"
            ));
        }
        plan.push_str(
            "let all = methods(\"Sites::work(..)\").instructions(\"arraylength\").before(log(\"n\")); // not live at the second\n\
             at_exit(|| print(`logged ${all.events(9999).len()}: ${all.events(1)[0].values}`));\n",
        );
        std::fs::write(&file, plan)?;
        let file = file.display().to_string();
        for options in [&["--plan", &file][..], &["--plan", &file, "--check"]] {
            let output = run(options, &java).run()?.succeeded("Sites")?;
            assert_eq!(output.out, plain.out);
            let mut wrong = Vec::new();
            for (n, (points, attached, expected)) in SITES.iter().enumerate() {
                let start = format!("#{n} ");
                let found = output
                    .err
                    .lines()
                    .find_map(|line| line.strip_prefix(&start));
                let found = found.unwrap_or("nothing").trim().trim_end_matches(':');
                if found != *expected {
                    wrong.push(format!(
                        "{points}.{attached}: {found} instead of {expected}"
                    ));
                }
            }
            assert_eq!(wrong, Vec::<String>::new(), "{options:?} {}", output.err);
            assert!(output.err.contains("logged 100: "), "{}", output.err);
        }
        Ok(())
    })
}
