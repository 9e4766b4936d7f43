//! Static initialisers, which are armed only if a pattern names them. They set the same values as
//! without Veneer, even if a field is final and the activation has moved to a version. A running
//! initialiser is reached in its loop, while it holds the lock of its class.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::Process;

/// The classes in the order of their use.
const CLASSES_IN_ORDER: [&str; 6] = ["colour", "finals", "sized", "failing", "chain", "slow"];

/// Uses all classes, and returns what the program prints, and its standard error.
fn use_all_classes(java: &Process) -> Result<(Vec<String>, String), Box<dyn std::error::Error>> {
    let mut live = Live::start(java)?;
    let mut said = Vec::new();
    for name in CLASSES_IN_ORDER {
        live.say(name)?;
        if name == "slow" {
            for turns in 0..3 {
                live.line(&format!("initialising {turns}"))?;
                live.say("turn")?;
            }
            live.line("initialising 3")?;
            live.say("enough")?;
        }
        said.push(live.line("value ")?);
    }
    Ok((said, live.stop()?.succeeded("Initial")?.err))
}

#[test]
fn initialisers_set_the_same_values_and_are_counted_once() -> Outcome {
    on_a_jdk_with("initialisers", |programs| {
        let java = programs.java("Initial");
        let (plain, _) = use_all_classes(&java)?;
        assert_eq!(plain[1].split(' ').next(), Some("45"), "{plain:?}");
        let folder = Folder::new("initialisers")?;
        let plan = folder.join("plan.rhai");
        // The eight initialisers are those of Initial, Colour, Finals, Sized, Failing, First,
        // Second and Slow.
        let text = r#"
            let each = methods("Initial*::<clinit>()");
            let begun = each.before(counter());
            let ended = each.exits().after(counter());
            let turns = methods("Initial$Finals::<clinit>()").loops().before(counter());
            let blocks = each.blocks().before(counter());
            let sums = sums();
            methods("Initial$Finals::<clinit>()").loops().before(|p| sums.add(p.sum));
            at_exit(|| {
                let failed = 0;
                for row in ended.rows() { if row.fragment == () { failed += row.hits; } }
                print(`begun ${begun.hits()}, ended ${ended.hits()}, failed ${failed}, turns ${turns.hits()}, sum ${sums.rows()[0].sum}`);
            });
        "#;
        std::fs::write(&plan, text)?;
        let plan = plan.to_string_lossy();
        for options in [
            &["--plan", &*plan][..],
            &["--check", "--plan", &plan],
            &["--policy", "block", "--plan", &plan],
        ] {
            let (said, err) = use_all_classes(&run(options, &java))?;
            assert_eq!(said, plain, "{err}");
            // One initialiser fails. The header of the loop is executed once more than its
            // iterations.
            let expected = "begun 8, ended 8, failed 1, turns 11, sum 165";
            assert!(err.lines().any(|line| line == expected), "{err}");
        }
        Ok(())
    })
}

#[test]
fn a_running_initialiser_is_reached_in_its_loop() -> Outcome {
    on_a_jdk_with("initialisers", |programs| {
        let java = programs.java("Initial");
        let mut live = Live::start(&run(&["--arm", "Initial*::<clinit>"], &java))?;
        live.say("slow")?;
        for turns in 0..3 {
            live.line(&format!("initialising {turns}"))?;
            live.say("turn")?;
        }
        live.line("initialising 3")?;
        // The initialiser holds the lock of its class, for which another thread waits.
        let plan = r#"
            let seen = last(10);
            let m = methods("Initial$Slow::<clinit>()");
            m.loops().before(|p| seen.put(p.turns));
            let ended = m.after(counter());
            at_exit(|| print(`seen ${seen.rows().map(|r| r.values[0])}, ended ${ended.hits()}`));
        "#;
        live.exec(plan)?.succeeded("attaching")?;
        for turns in 4..7 {
            live.say("turn")?;
            live.line(&format!("initialising {turns}"))?;
        }
        live.say("enough")?;
        assert_eq!(live.line("value ")?, "6 enough 6");
        let output = live.stop()?.succeeded("Initial")?;
        let expected = "seen [4, 5, 6], ended 1";
        assert!(
            output.err.lines().any(|line| line == expected),
            "{}",
            output.err
        );
        Ok(())
    })
}

#[test]
fn initialisers_are_only_armed_if_named() -> Outcome {
    on_a_jdk_with("initialisers", |programs| {
        let java = programs.java("Initial");
        let mut live = Live::start(&run(&["--skip", "Initial$Finals"], &java))?;
        for line in ["finals", "chain"] {
            live.say(line)?;
            live.line("value ")?;
        }
        let found = live.value(r#"let h = methods("Initial*").before(counter()); h.rows().filter(|r| r.method.contains("clinit")).len()"#)?;
        assert_eq!(found, "0");
        // An initialiser of a class that `--skip` excludes is not selected by its name either.
        let skipped = live.exec(r#"methods("Initial$Finals::<clinit>()").before(counter())"#)?;
        assert!(
            skipped.out.contains("matches no method that is loaded now"),
            "{skipped:?}"
        );
        live.stop()?.succeeded("Initial")?;
        Ok(())
    })
}
