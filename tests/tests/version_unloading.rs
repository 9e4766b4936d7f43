//! The JVM unloads the versions of a method after its instruments are detached, the version for
//! running activations included. An activation that the agent cannot see still returns to its
//! method.

use std::time::Duration;

use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk};
use veneer_tests::live::{Live, LiveError, until};
use veneer_tests::process::Process;

/// Runs a command of `jcmd`, and returns its output.
fn jcmd(programs: &Programs, live: &Live, command: &str) -> Result<String, LiveError> {
    let output = Process::new(programs.jdk().tool("jcmd"))
        .args([live.pid().to_string().as_str(), command])
        .limit(Duration::from_secs(60))
        .run();
    Ok(output.map_or_else(|e| e.to_string(), |output| output.out))
}

/// The number of versions of the program's methods that the JVM has after a collection.
fn versions(programs: &Programs, live: &Live) -> Result<usize, LiveError> {
    jcmd(programs, live, "GC.run")?;
    let all = jcmd(programs, live, "VM.class_hierarchy")?;
    assert!(all.contains("java.lang.Object"), "{all}");
    Ok(all.matches("Waiting$V/").count())
}

/// Gives the program a number, and waits until its thread has taken it.
fn order(live: &mut Live, number: &str) -> Result<(), LiveError> {
    live.say(number)?;
    live.line("taken").map(drop)
}

#[test]
fn versions_are_unloaded_after_detaching_and_a_parked_activation_returns() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = programs.armed("Waiting")?;
        let attach = r#"methods("Waiting::rounds(..)").blocks().before(counter())"#;
        order(&mut live, "1")?;
        let id = live.value(attach)?;
        // The activation moves into a version during the first number, and waits in it.
        order(&mut live, "10")?;
        order(&mut live, "100")?;
        until("hits", || live.sum(&id), |hits| *hits > 1000)?;
        assert!(versions(programs, &live)? >= 1);
        live.value(&format!("detach(\"{id}\")"))?;
        let is_virtual = programs.jdk().major() >= 21;
        if is_virtual {
            // The two classes of the activation's own version are left, one for new activations and
            // one for running ones. The agent does not see the activation, and releases the version
            // in which it would continue.
            until("two classes", || versions(programs, &live), |n| *n == 2)?;
        }
        let hits = live.sum(&id)?;
        for number in ["1000", "1000", "1000"] {
            order(&mut live, number)?;
            // An activation without a version to continue in requests one at a loop header.
            std::thread::sleep(Duration::from_millis(200));
        }
        order(&mut live, "1000")?;
        live.say("0")?;
        assert_eq!(live.line("sum ")?, "4111000");
        let last = live.sum(&id)?;
        assert!(last <= hits + 2100, "{hits} hits, then {last}");
        until("no version", || versions(programs, &live), |n| *n == 0)?;
        // The method gets a version again.
        let id = live.value(attach)?;
        order(&mut live, "2")?;
        order(&mut live, "3")?;
        live.say("0")?;
        assert_eq!(live.line("sum ")?, "5000");
        assert!(live.sum(&id)? > 0);
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}
