//! A busy service loses no request while Veneer comes, counts, and goes.

use std::time::Duration;

use veneer_tests::bench::service::{PLAN, Service};
use veneer_tests::jdk;
use veneer_tests::running::Outcome;

#[test]
fn no_request_fails_while_veneer_comes_and_goes() -> Outcome {
    for jdk in [Some(jdk::oldest()), jdk::newest()].into_iter().flatten() {
        let mut service = Service::start(&jdk)?;
        let pid = service.pid();
        let some = Duration::from_millis(500);
        let mut phases = vec![service.phase_of("before", some)?];
        for round in 0..3 {
            service.veneer(&["attach", &pid])?;
            let attached = service.veneer(&["exec", &pid, "-e", PLAN])?;
            // Before it comes a warning of `main`, which began before.
            let count = attached.lines().last().unwrap_or_default();
            assert_eq!(count, ((round + 1) * 3).to_string());
            phases.push(service.phase_of("counting", some)?);
            let rows = service.veneer(&[
                "exec",
                &pid,
                "-e",
                "instruments().filter(|i| i.attached).len()",
            ])?;
            assert_eq!(rows.trim(), "3");
            let left = service.veneer(&["detach", &pid, "--unload"])?;
            assert!(left.contains(" 0 are left armed"), "{left}");
            phases.push(service.phase_of("after", some)?);
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
