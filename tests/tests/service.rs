//! A busy service loses no request while Veneer is attached, counts, and is unloaded.

use std::time::Duration;

use veneer_tests::bench::service::{PLAN, Service};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;

#[test]
fn no_request_fails_while_veneer_is_attached_and_unloaded() -> Outcome {
    for jdk in jdk::for_this_test() {
        let mut service = Service::start(&jdk)?;
        let pid = service.pid();
        let some = Duration::from_millis(500);
        let mut phases = vec![service.phase_after("before", some)?];
        for round in 0..3 {
            service.veneer(&["attach", &pid])?;
            let attached = service.veneer(&["exec", &pid, "-e", PLAN])?;
            // The lines before it are a warning about `main`, which began before the agent was
            // attached.
            let count = attached.lines().last().unwrap_or_default();
            assert_eq!(count, ((round + 1) * 3).to_string());
            phases.push(service.phase_after("counting", some)?);
            let rows = service.veneer(&[
                "exec",
                &pid,
                "-e",
                "instruments().filter(|i| i.attached).len()",
            ])?;
            assert_eq!(rows.trim(), "3");
            let left = service.veneer(&["detach", &pid, "--unload"])?;
            assert!(left.contains(" 0 are left armed"), "{left}");
            phases.push(service.phase_after("after", some)?);
        }
        let bad = service.stop()?;
        assert!(
            phases.iter().all(|p| p.requests > 0 && p.failed == 0),
            "{jdk}: {phases:?}\n{bad}"
        );
        assert_eq!(bad, "", "{jdk}");
    }
    Ok(())
}
