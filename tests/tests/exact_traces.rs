//! The traces of exceptions have the lines of the plain program, and cost nothing more once the
//! instruments of the class are detached.

use std::cell::RefCell;

use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk};
use veneer_tests::live::{Live, LiveError, until};

fn start(programs: &Programs) -> Result<Live, LiveError> {
    let open = "java.base/java.lang.invoke=ALL-UNNAMED";
    let java = programs.launcher().args(["--add-opens", open]);
    let java = java.arg("-cp").arg(programs.classes().path());
    Live::start(&run(&[], &java.arg("Throwing")))
}

/// Throws ten exceptions. Returns their lines, and the number of traces that were made exact so far.
fn thrown(live: &mut Live) -> Result<(String, u64), LiveError> {
    live.say("throw")?;
    let exact = live.line("exact ")?;
    let lines = live.line("thrown ")?;
    Ok((lines, exact.parse().unwrap_or(u64::MAX)))
}

/// Gives the waiting thread a number.
fn order(live: &mut Live, number: &str) -> Result<(), LiveError> {
    live.say(number)?;
    live.line("given").map(drop)
}

/// The lines of the exception that the waiting thread throws after three numbers.
fn held(live: &mut Live, numbers: &[&str]) -> Result<String, LiveError> {
    for number in numbers {
        order(live, number)?;
    }
    live.line("held ")
}

fn attach(live: &Live, method: &str) -> Result<String, LiveError> {
    live.value(&format!(
        r#"methods("Throwing::{method}(..)").blocks().before(counter())"#
    ))
}

/// Waits until exceptions have the lines of the plain program without a second walk.
fn until_released(live: &mut Live, lines: &str) -> Outcome {
    let live = RefCell::new(live);
    until(
        "exceptions without a second walk",
        || {
            let (found, before) = thrown(&mut live.borrow_mut())?;
            assert_eq!(found, lines);
            let (_, after) = thrown(&mut live.borrow_mut())?;
            Ok(after - before)
        },
        |exact| *exact == 0,
    )?;
    Ok(())
}

#[test]
fn traces_are_exact_while_attached_and_cost_nothing_more_after_detaching() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = start(programs)?;
        let (lines, none) = thrown(&mut live)?;
        assert_eq!(none, 0, "nothing was attached yet");
        let id = attach(&live, "deep")?;
        assert_eq!(thrown(&mut live)?, (lines.clone(), 10));
        live.value(&format!("detach(\"{id}\")"))?;
        until_released(&mut live, &lines)?;
        // The class gets versions again.
        let id = attach(&live, "deep")?;
        let (_, before) = thrown(&mut live)?;
        assert_eq!(thrown(&mut live)?, (lines.clone(), before + 10));
        live.value(&format!("detach(\"{id}\")"))?;
        until_released(&mut live, &lines)?;
        live.stop()?;
        Ok(())
    })
}

#[test]
fn an_activation_that_waits_in_a_version_has_its_lines_after_detaching() -> Outcome {
    on_a_jdk(|programs| {
        let mut live = start(programs)?;
        let (lines, _) = thrown(&mut live)?;
        let plain = held(&mut live, &["1", "2", "3"])?;
        assert!(plain.starts_with("sum 6 hold:"), "{plain}");
        let id = attach(&live, "hold")?;
        // The waiting activation moves into a version when the loop goes on.
        order(&mut live, "1")?;
        order(&mut live, "2")?;
        until("a hit", || live.sum(&id), |hits| *hits > 0)?;
        live.value(&format!("detach(\"{id}\")"))?;
        if programs.jdk().major() >= 21 {
            // The agent does not see the activation, because its thread is virtual.
            until_released(&mut live, &lines)?;
        } else {
            std::thread::sleep(std::time::Duration::from_secs(3));
            let (_, before) = thrown(&mut live)?;
            assert_eq!(
                thrown(&mut live)?.1,
                before + 10,
                "an activation is in a version"
            );
        }
        assert_eq!(held(&mut live, &["3"])?, plain);
        assert_eq!(held(&mut live, &["1", "2", "3"])?, plain);
        until_released(&mut live, &lines)?;
        live.stop()?;
        Ok(())
    })
}
