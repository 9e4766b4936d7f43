//! Values that belong to objects (`per_object`): each object has its own value, which is freed with
//! the object.

use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, LiveError};

/// A plan that sets a value for each visitor who arrives, and reads it when the visitor leaves.
const PLAN: &str = r#"
    let born = per_object(0);
    let at = tally();
    methods("Visitors::arrive(..)").before(|p| born.set(p.visitor, p.visitor.number * 3 + p.day));
    methods("Visitors::leave(..)").before(|p| {
        let value = born.get(p.visitor);
        at.count(p.known, value - p.visitor.number * 3);
    });
"#;

const SHOW: &str = r#"let rows = at.rows().map(|r| `${r.keys[0]} ${r.keys[1]}: ${r.count}`); rows.sort(); let text = ""; for r in rows { text += r + ", "; } text"#;

/// Sends a command to the program, and returns the number that it prints.
fn send_and_read(live: &mut Live, line: &str) -> Result<i64, Box<dyn std::error::Error>> {
    live.say(line)?;
    Ok(live.line("seen ")?.parse()?)
}

/// The number that `Visitors` prints for `count` visitors.
fn expected(count: i64) -> i64 {
    let numbers = count * (count - 1) / 2;
    // On each of two days, arrivals and departures add all numbers. Each arrival adds its day (1 or
    // 2). The visitor with number -1 and the null visitor of each thread add up to 0.
    4 * numbers + 3 * count
}

#[test]
fn every_object_has_its_own_value() -> Outcome {
    on_a_jdk_with("objects", |programs| {
        // The program is armed from its start, or attached to later.
        for armed in [true, false] {
            let java = programs.java("Visitors");
            let mut live = match armed {
                true => Live::start(&run(&["--check"], &java))?,
                false => Live::start(&java)?,
            };
            assert_eq!(send_and_read(&mut live, "100")?, expected(100));
            let show = format!("{PLAN} at_exit(|| {{ {SHOW}; print(`at: ${{text}}`) }});");
            live.exec(&show)?.succeeded("attaching")?;
            for _ in 0..5 {
                assert_eq!(send_and_read(&mut live, "5000")?, expected(5000));
            }
            let output = live.stop()?.succeeded("Visitors")?;
            // 3 is the result for an object without a value whose number is -1; 0 is the result for
            // null.
            let text = "at: false 0: 40, false 3: 40, true 1: 25000, true 2: 25000, ";
            assert!(
                output.err.lines().any(|line| line == text),
                "{armed}: {}",
                output.err
            );
        }
        Ok(())
    })
}

#[test]
fn the_value_of_an_object_is_freed_with_the_object() -> Outcome {
    on_a_jdk_with("objects", |programs| {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseZGC"] {
            let java = programs
                .launcher()
                .args([collector, "-Xmx256m", "-cp"])
                .arg(programs.classes().path())
                .arg("Visitors");
            let mut live = Live::start(&java)?;
            live.exec(&format!("{PLAN} every(0.02, || print(`kept ${{born.rows()[0].count}} ${{born.rest().count}}`));"))?
                .succeeded("attaching")?;
            send_and_read(&mut live, "stay 20000")?;
            wait_for_kept(&mut live, "20000 0")?;
            send_and_read(&mut live, "gone")?;
            wait_for_kept(&mut live, "0 0")?;
            // The freed places are used again.
            for _ in 0..8 {
                send_and_read(&mut live, "stay 50000")?;
                send_and_read(&mut live, "gone")?;
                wait_for_kept(&mut live, "0 0")?;
            }
            send_and_read(&mut live, "stay 1000")?;
            wait_for_kept(&mut live, "1000 0")?;
            live.stop()?.succeeded("Visitors")?;
        }
        Ok(())
    })
}

/// Waits until the plan prints this line.
fn wait_for_kept(live: &mut Live, what: &str) -> Result<(), LiveError> {
    live.error_line(&format!("kept {what}"))
}

#[test]
fn an_object_used_by_several_threads_has_one_value() -> Outcome {
    on_a_jdk_with("objects", |programs| {
        let mut live = Live::start(&programs.java("Visitors"))?;

        let plan = r#"
            let met = per_object(0);
            let numbers = tally();
            methods("Visitors::meet(Visitors$Visitor)").before(|p| {
                met.set(p.visitor, p.visitor.number);
                numbers.count(met.get(p.visitor) == p.visitor.number);
            });
            every(0.02, || print(`kept ${met.rows()[0].count} ${met.rest().count} ${numbers.rows().map(|r| `${r.keys[0]}`)}`));
        "#;
        live.exec(plan)?.succeeded("attaching")?;
        for _ in 0..5 {
            send_and_read(&mut live, "meet 30000")?;
            wait_for_kept(&mut live, r#"30000 0 ["true"]"#)?;
            send_and_read(&mut live, "gone")?;
            wait_for_kept(&mut live, r#"0 0 ["true"]"#)?;
        }
        live.stop()?.succeeded("Visitors")?;
        Ok(())
    })
}

#[test]
fn objects_beyond_the_capacity_are_counted_in_the_rest() -> Outcome {
    on_a_jdk_with("objects", |programs| {
        let mut live = Live::start(&programs.java("Visitors"))?;
        let plan = PLAN.replace("per_object(0)", "per_object(0, 100)");
        let show = "at_exit(|| print(`kept ${born.rows()[0].count + born.rest().count} ${born.rest().count > 700}`));";
        live.exec(&format!("{plan} {show}"))?
            .succeeded("attaching")?;
        send_and_read(&mut live, "stay 1000")?;
        let output = live.stop()?.succeeded("Visitors")?;
        assert!(output.err.contains("kept 1000 true"), "{}", output.err);
        Ok(())
    })
}

#[test]
fn unsuitable_object_values_are_refused() -> Outcome {
    on_a_jdk_with("objects", |programs| {
        let live = Live::start(&programs.java("Visitors"))?;
        for (code, said) in [
            (
                "born.set(p.day, 1)",
                "this is integer, and an object is needed here",
            ),
            (
                "born.set(p.visitor, p.visitor)",
                "and integer is needed here",
            ),
            (
                "born.count(p.visitor)",
                "a per_object(0) takes .set(object, value)",
            ),
            ("at.count(born.get())", "gives values with .get(object)"),
            (
                "at.count(born.get(p.visitor).more)",
                "gives values with .get(object)",
            ),
        ] {
            let plan = format!(
                "let born = per_object(0); let at = tally(); methods(\"Visitors::arrive(..)\").before(|p| {code})"
            );
            let output = live.exec(&plan)?;
            assert!(
                output.code == 1 && output.err.contains(said),
                "{code}: {output:?}"
            );
        }
        for (plan, said) in [
            ("per_object(1)", "per_object(0) is for whole numbers"),
            (
                "per_object(0, 0)",
                "there is no room for a table of 0 entries",
            ),
            (
                "per_object(0, 1000000)",
                "there is no room for a table of 1000000",
            ),
        ] {
            let output = live.exec(plan)?;
            assert!(output.err.contains(said), "{plan}: {output:?}");
        }
        live.stop()?.succeeded("Visitors")?;
        Ok(())
    })
}
