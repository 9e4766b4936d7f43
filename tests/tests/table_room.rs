//! The room of tables: it comes back when the plan has dropped the table and the instrument is
//! detached, whether the JVM has collected the code that filled the table or not.

use std::os::unix::fs::MetadataExt;
use veneer_tests::command::{run, veneer};
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::Live;

/// Makes 20 tables, each filled by code of its own, and drops them. All tables of a JVM together
/// have room for about 80 of these.
const TABLES_IN_TURN: &str = r#"
    for n in 0..20 {
        let t = tally(10000);
        let h = methods("Steps::step(..)").before(|p| t.count(p.name));
        h.detach();
    }
    "dropped"
"#;

/// Fills ten tables with the same values, and prints them at the end.
const TABLES_THAT_STAY: &str = r#"
    for n in 0..10 {
        let t = tally(10000);
        methods("Steps::step(..)").before(|p| t.count(p.name, p.i));
        at_exit(|| {
            let sum = 0;
            for row in t.rows() { sum += row.count; }
            print(`table with ${t.rows().len()} rows, ${sum} calls`);
        });
    }
    "filled"
"#;

/// Sends a command to the program and waits until it is done.
fn tell(live: &mut Live, line: &str) -> Outcome {
    live.say(line)?;
    live.line("done ")?;
    Ok(())
}

#[test]
fn a_jvm_has_room_for_any_number_of_tables_in_turn() -> Outcome {
    on_a_jdk_with("tables", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Steps")))?;
        for _ in 0..15 {
            assert_eq!(live.value(TABLES_IN_TURN)?, "dropped");
            tell(&mut live, "step 1")?;
            tell(&mut live, "collect")?;
        }
        live.stop()?.succeeded("Steps")?;
        Ok(())
    })
}

/// As many tables as a service sees questions in years. Each has the size of those of `veneer count
/// --by`.
#[test]
#[ignore = "the long form: 100,000 tables, minutes; cargo test --test table_room -- --ignored"]
fn a_jvm_has_room_for_a_hundred_thousand_tables_in_turn() -> Outcome {
    on_a_jdk_with("tables", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Steps")))?;
        let in_turn = TABLES_IN_TURN.replace("0..20", "0..400");
        for round in 0..100_000 / 400 {
            assert_eq!(live.value(&in_turn)?, "dropped");
            tell(&mut live, "step 1")?;
            // The addresses are enough for 5,000 tables. This program allocates too little for a
            // collection of its own.
            if round % 10 == 9 {
                tell(&mut live, "collect")?;
            }
        }
        live.stop()?.succeeded("Steps")?;
        Ok(())
    })
}

/// Bytes of the disk blocks of a JVM's file of tables.
fn blocks_of_tables(pid: u32) -> Result<u64, Box<dyn std::error::Error>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut files = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let file = files.find(|file| file.ends_with("/tallies.bin"));
    let file = file.ok_or("the file of tables is not mapped")?;
    Ok(512 * std::fs::metadata(file)?.blocks())
}

/// The room of the file is enough for 80 of these tables.
#[test]
fn without_a_collection_former_tables_take_no_room() -> Outcome {
    on_a_jdk_with("tables", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Steps")))?;
        for _ in 0..20 {
            assert_eq!(live.value(TABLES_IN_TURN)?, "dropped");
            tell(&mut live, "step 1")?;
            let blocks = blocks_of_tables(live.pid())?;
            assert!(blocks < 100 << 20, "{blocks} bytes of tables");
        }
        live.stop()?.succeeded("Steps")?;
        Ok(())
    })
}

#[test]
fn an_activation_that_still_writes_to_a_former_table_changes_no_other_one() -> Outcome {
    on_a_jdk_with("tables", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Steps")))?;
        let counted = r#"let t = tally(10000);
            methods("Steps::held(..)").exits().before(|p| t.count(p.i)); 1"#;
        assert_eq!(live.value(counted)?, "1");
        tell(&mut live, "hold")?;
        veneer()
            .args(["detach", &live.pid().to_string(), "--all"])
            .run()?
            .succeeded("detaching")?;
        // The first table gives up its room, and the others theirs.
        for _ in 0..3 {
            assert_eq!(live.value(TABLES_IN_TURN)?, "dropped");
            tell(&mut live, "collect")?;
        }
        // The activation of `held` is still in the version that counts in the first table.
        assert_eq!(live.value(TABLES_THAT_STAY)?, "filled");
        tell(&mut live, "step 3")?;
        tell(&mut live, "release")?;
        tell(&mut live, "step 4")?;
        let output = live.stop()?.succeeded("Steps")?;
        let line = "table with 10 rows, 70 calls";
        let lines = output.err.lines().filter(|found| *found == line).count();
        assert_eq!(lines, 10, "{}", output.err);
        Ok(())
    })
}

/// Attaches code to ten tables that no variable of the plan holds afterwards.
const TABLES_WITH_CODE: &str = r#"
    for n in 0..10 {
        let t = tally(10000);
        methods("Steps::step(..)").before(|p| t.count(p.name, p.i));
    }
    "attached"
"#;

/// Keeps a parameter of each call until its end.
const KEPT_PARAMETER: &str = r#"
    let kept = per_call();
    let values = tally(100);
    let step = methods("Steps::step(..)");
    step.before(|p| kept.push(p.i));
    step.after(|p| values.count(kept.pop(p.i)));
    at_exit(|| {
        let sum = 0;
        for row in values.rows() { sum += row.count; }
        print(`${values.rows().len()} values of ${sum} calls`);
    });
    "attached"
"#;

/// If former plans have left much room behind, each new table first gives unused room back. The stacks
/// of a `per_call()` are in use then, although no code names them yet.
#[test]
fn the_stacks_of_a_per_call_keep_their_room_until_code_fills_them() -> Outcome {
    on_a_jdk_with("tables", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Steps")))?;
        assert_eq!(live.value(TABLES_WITH_CODE)?, "attached");
        // The first calls make the versions with the addresses of the tables.
        tell(&mut live, "step 1")?;
        veneer()
            .args(["detach", &live.pid().to_string(), "--all"])
            .run()?
            .succeeded("detaching")?;
        assert_eq!(live.value(KEPT_PARAMETER)?, "attached");
        tell(&mut live, "step 3")?;
        let output = live.stop()?.succeeded("Steps")?;
        assert!(
            output.err.contains("10 values of 30 calls"),
            "{}",
            output.err
        );
        Ok(())
    })
}
