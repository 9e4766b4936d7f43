//! The parts of a plan that record threads which park, sleep and wake others. JVMTI does not report
//! these events, so the plan has code at the calls of the JDK's methods.
//!
//! ```text
//!   --events park  ─▶  methods("…LockSupport::*(..)").calls("…Unsafe::park(..)")
//!                        .after(|p| trace_end("park"))  .before(|p| trace_begin("park", park_blocker()))
//! ```
//!
//! The agent writes these labels as the events of the format that have the same names.

use std::collections::BTreeSet;

use super::recorded_methods::{EVERY_METHOD, MAX_METHODS};
use veneer_instruments::CallEventKind;

/// The class through which all other classes park and unpark threads.
const LOCK_SUPPORT: &str = "java.util.concurrent.locks.LockSupport::*(..)";

/// The plan code that records these kinds. An event that no method can have is a warning.
///
/// The end of a span is attached before its beginning: an end without a beginning has no effect.
pub fn call_event_code(kinds: &BTreeSet<CallEventKind>) -> String {
    kinds.iter().map(|kind| code_of(*kind)).collect()
}

fn code_of(kind: CallEventKind) -> String {
    let (methods, called, code) = match kind {
        CallEventKind::Park => (
            LOCK_SUPPORT,
            "jdk.internal.misc.Unsafe::park(..)",
            r#"c.after(|p| trace_end("park")); c.before(|p| trace_begin("park", park_blocker()));"#,
        ),
        CallEventKind::Unpark => (
            LOCK_SUPPORT,
            "jdk.internal.misc.Unsafe::unpark(..)",
            r#"c.before(|p| trace_event("unpark", as_a(p.arg0, "java.lang.Thread").tid));"#,
        ),
        CallEventKind::Sleep => (
            EVERY_METHOD,
            "java.lang.Thread::sleep(..)",
            r#"c.after(|p| trace_end("sleep")); c.before(|p| trace_begin("sleep", p.arg0));"#,
        ),
        CallEventKind::Notify => (
            EVERY_METHOD,
            "java.lang.Object::notify*(..)",
            r#"c.before(|p| trace_event("notify", p.receiver));"#,
        ),
    };
    format!(
        "try {{ let c = methods(\"{methods}\").limit({MAX_METHODS}).calls(\"{called}\"); {code} }} \
         catch (error) {{ print(`warning: the trace has no events of the kind {kind}: ${{error}}`); }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::PlanSource;

    #[test]
    fn the_code_of_every_kind_is_a_program() {
        let source = call_event_code(&CallEventKind::ALL.into());
        assert_eq!(source.lines().count(), CallEventKind::ALL.len());
        let plan = PlanSource {
            name: "trace".into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
        };
        crate::plans::check_plan(&plan).unwrap();
        assert_eq!(call_event_code(&BTreeSet::new()), "");
    }
}
