//! Edits that create loops: every activation returns to the method's own code when the edit is
//! undone.

use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, on_a_jdk};
use veneer_tests::live::{Live, until};

/// Waits until no activation runs code that is older than the current version.
fn wait_for_current_code(live: &Live, after: &str) -> Outcome {
    until(
        &format!("the last activation after {after}"),
        || live.value("stale()"),
        |stale| stale == "0",
    )?;
    Ok(())
}

/// Makes an edit, gives an activation time to run in its loop, and undoes the edit.
fn make_and_undo_edit(live: &Live, edit: &str) -> Outcome {
    live.value(&format!(
        "let patch = methods(\"EditLoops::{edit}; after(0.3, || patch.detach());"
    ))?;
    std::thread::sleep(Duration::from_millis(400));
    wait_for_current_code(live, edit)
}

const EDITS: [&str; 4] = [
    "alone(..)\").redirect(0, 1, 0)",
    "back(..)\").redirect(3, 4, 1)",
    "back(..)\").redirect(3, 4, 2)",
    "back(..)\").redirect(1, 2, 1)",
];

fn check_under_policy(policy: &str, java: &veneer_tests::process::Process) -> Outcome {
    let live = Live::start(&run(&["--policy", policy], java))?;
    for edit in EDITS {
        make_and_undo_edit(&live, edit)?;
    }
    // With instruments, whose state moves with the activation.
    let blocks = live.value(
        "methods([\"EditLoops::alone(..)\", \"EditLoops::back(..)\"]).blocks().before(counter())",
    )?;
    let timed =
        live.value("methods([\"EditLoops::alone(..)\", \"EditLoops::back(..)\"]).around(timer())")?;
    for edit in &EDITS[..2] {
        make_and_undo_edit(&live, edit)?;
    }
    live.value(&format!("detach(\"{blocks}\"); detach(\"{timed}\")"))?;
    wait_for_current_code(&live, "the instruments")?;
    // The activation moves from the loop of one edit into the loop of two, and from there to the
    // method's own code.
    live.value(
        "let back = methods(\"EditLoops::back(..)\");\n\
         let first = back.redirect(3, 4, 1);\n\
         let second = ();\n\
         after(0.2, || second = back.redirect(1, 2, 1));\n\
         after(0.5, || first.detach());\n\
         after(0.8, || second.detach());",
    )?;
    std::thread::sleep(Duration::from_millis(1000));
    wait_for_current_code(&live, "two edits")?;
    let refused = live.exec("methods(\"EditLoops::locked(..)\").redirect(2, 3, 2)")?;
    assert_eq!(refused.code, 1, "{policy}: {refused:?}");
    for word in ["LoopWithoutPoint", "MonitorHeld", "f2"] {
        assert!(refused.err.contains(word), "{policy}: {}", refused.err);
    }
    let endless = live.exec(
        "methods(\"EditLoops::alone(..)\").edit([redirect(0, 1, 0), redirect(0, 2, 0)]).detach()",
    )?;
    let warning = "EditLoops::alone(J)J does not return from f0 any more";
    assert!(
        endless.out.contains(warning) || endless.err.contains(warning),
        "{policy}: {endless:?}"
    );
    wait_for_current_code(&live, "an edit without an end")?;
    let output = live.stop()?;
    // Both edits together leave no way out of the loop.
    let warning = "-e: warning: EditLoops::back(JLjava/lang/String;)J does not return from f1 any more, unless an exception ends it\n";
    assert_eq!((output.code, output.err.as_str()), (0, warning), "{policy}");
    assert_eq!(
        output.out.lines().last(),
        Some("ended 3 wrong 0"),
        "{policy}"
    );
    Ok(())
}

#[test]
fn activations_in_the_loop_of_an_edit_return_to_the_original_code() -> Outcome {
    on_a_jdk(|programs| {
        let java = programs.java("EditLoops");
        ["loop", "method"]
            .iter()
            .try_for_each(|policy| check_under_policy(policy, &java))
    })
}
