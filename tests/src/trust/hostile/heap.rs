//! Programs that fill the heap and catch their `OutOfMemoryError`s, while a plan attaches and
//! detaches.

use std::time::Duration;

use super::compiled::{Compiled, Plan, difference, run_under_plan, run_with_thread_dump};
use super::settings::Setting;
use crate::trust::TrustError;

/// The plan that attaches counters to every block and detaches them, again and again.
pub const ATTACH_AND_DETACH: &str = r#"
let standing = [];
let made = 0;
every(0.02, || {
    standing.push(methods("FullHeap").blocks().before(counter()));
    standing.push(methods("FullHeap").around(timer()));
    made += 2;
    while standing.len() > 2 { standing.remove(0).detach(); }
});
at_exit(|| print(`attached ${made}`));
"#;

/// The plan that attaches counters to every block once.
pub const ATTACH_ONCE: &str = r#"
methods("FullHeap").blocks().before(counter());
at_exit(|| print("attached 1"));
"#;

/// Runs the program plain and under a plan. Returns an error if the outputs differ.
pub fn full(
    compiled: &Compiled,
    setting: Setting,
    plan: Plan,
    rounds: u32,
) -> Result<(), TrustError> {
    let mut options = vec!["-Xmx64m"];
    options.extend(setting.options);
    let java = compiled.java(&options, "FullHeap").arg(rounds.to_string());
    let limit = Duration::from_secs(120);
    let plain = run_with_thread_dump(&compiled.jdk, &java, limit)?.succeeded("FullHeap")?;
    let output = run_under_plan(&compiled.jdk, plan, &java, limit)?;
    match difference(&plain, &output) {
        Some(text) => Err(TrustError::Differs(text)),
        None => Ok(()),
    }
}
