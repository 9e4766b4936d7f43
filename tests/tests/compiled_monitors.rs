//! The JIT compilers compile instrumented methods that hold monitors. HotSpot refuses a method that an
//! exception could leave with a monitor held ("unbalanced monitors"), and interprets it for ever.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};

/// Counters on all blocks and edges, timers of methods and loops, a table, and a log.
const PLAN: &str = r#"
let m = methods("Monitors::*(..)");
m.blocks().before(counter());
m.edges().before(counter());
m.around(timer());
m.loops().around(timer());
let t = tally();
m.blocks().after(|p| t.count(1));
"#;

/// HotSpot's reason why it does not compile a method.
const UNBALANCED: &str = "unbalanced monitors";

#[test]
fn versions_of_methods_with_monitors_are_compiled() -> Outcome {
    on_a_jdk_with("compiled", |programs| {
        let folder = Folder::new("compiled-monitors")?;
        let plan = folder.join("plan.rhai");
        std::fs::write(&plan, PLAN)?;
        let plan = plan.display().to_string();
        let java = |options: &[&str]| {
            let java = programs.launcher().args(options).arg("-cp");
            java.arg(programs.classes().path()).arg("Monitors")
        };
        let plain = java(&[]).run()?.succeeded("the plain run")?;
        for policy in ["loop", "block"] {
            let java = java(&["-XX:+PrintCompilation"]);
            let output = run(&["--policy", policy, "--plan", &plan], &java).run()?;
            let output = output.succeeded("the instrumented run")?;
            let lines: Vec<&str> = output.out.lines().collect();
            let refused: Vec<&&str> = lines
                .iter()
                .filter(|line| line.contains(UNBALANCED))
                .collect();
            assert!(refused.is_empty(), "{policy}: {refused:#?}");
            for method in ["block", "nested", "caught"] {
                let version = format!("::{method}$e");
                // `… 4  Monitors$V/0x…::block$e1 (492 bytes)`: by C2. C1 refuses handlers that protect each
                // other in some orders.
                let is_compiled = |line: &&str| {
                    let mut words = line.split_whitespace();
                    let is_of_version = line.contains("Monitors$V") && line.contains(&version);
                    is_of_version && words.any(|word| word == "4") && !line.contains("SKIPPED")
                };
                assert!(
                    lines.iter().any(is_compiled),
                    "{policy}: {method} is not compiled: {lines:#?}"
                );
            }
            // On standard error, because the JVM's own lines break those on standard output.
            let sum = |err: &str| {
                err.lines()
                    .find(|l| l.starts_with("sum "))
                    .map(String::from)
            };
            assert!(sum(&plain.err).is_some(), "{plain:?}");
            assert_eq!(sum(&output.err), sum(&plain.err), "{policy}");
        }
        Ok(())
    })
}
