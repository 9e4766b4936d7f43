//! The release of OSR entries that no activation needs any more.
//!
//! When the last instrument of a method is detached, running activations continue in a clean
//! version, and the method's cell keeps the OSR entry of that version. Without a release, each
//! method whose activations were once moved would keep one class.
//!
//! ```text
//!   switch to IDLE ─▶ schedule, 1 s ─▶ veneer-events: due ─▶ plan thread: does any thread run the method?
//!                        ▲                                        │ yes                  │ no
//!                        └──────── twice the delay, 64 s at most ◀┘                      └─▶ release the entry
//! ```
//!
//! The question needs a dump of all stacks, which is made once for all such methods. Stacks show
//! the armed body below each version. If an armed body has called another class, its activation is
//! in the method's own code, and has no use for the OSR entry. If it has called a version or the
//! runtime, or nothing, it may need the entry. Stacks of virtual threads are not seen. If an activation in one of them leaves its code afterwards, its
//! check requests the OSR entry again (`VeneerCell.entry`).

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::jvm::version_frames::{FrameSearch, is_version};
use crate::weaving::woven_methods::WovenMethods;
use std::collections::HashMap;
use std::time::Instant;
use veneer_names::MethodId;

/// The methods that may be released, by the Java names of their class and of themselves. Methods
/// with an activation that may need the entry are removed.
#[derive(Default)]
struct Candidates {
    /// Class name, method name, ids.
    classes: HashMap<Box<str>, HashMap<Box<str>, Vec<MethodId>>>,
    /// The number of ids that were removed.
    running: usize,
}

impl Candidates {
    fn add(&mut self, class: &str, method: &str, id: MethodId) {
        let methods = self.classes.entry(class.into()).or_default();
        methods.entry(method.into()).or_default().push(id);
    }

    fn ids(&self) -> impl Iterator<Item = MethodId> {
        let methods = self.classes.values().flat_map(HashMap::values);
        methods.flatten().copied()
    }
}

/// Whether the class, in Java form, is in the package of the runtime classes.
fn is_runtime(class: &str) -> bool {
    class.starts_with("java.lang.invoke.")
}

impl FrameSearch for Candidates {
    fn wants(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    fn found(&mut self, class: &str, method: &str, callee: Option<&str>) -> bool {
        let may_be_outside = callee.is_none_or(|callee| is_version(callee) || is_runtime(callee));
        if may_be_outside && let Some(methods) = self.classes.get_mut(class) {
            self.running += methods.remove(method).map_or(0, |ids| ids.len());
            if methods.is_empty() {
                self.classes.remove(class);
            }
        }
        self.classes.is_empty()
    }
}

impl WovenMethods {
    /// Whether [`WovenMethods::release_osr_entries`] should be called now.
    pub fn osr_entry_release_is_due(&self) -> bool {
        self.release_schedule.lock().begin_if_due(Instant::now())
    }

    /// Releases the OSR entries of idle methods that no thread runs. Only the plan thread calls
    /// this, so that no method gets a new version meanwhile, except methods of classes that are
    /// just prepared, which have no OSR entry.
    pub fn release_osr_entries(&self, agent: &Agent, env: Env) {
        let mut candidates = self.releasable(agent);
        if candidates.classes.is_empty() {
            return;
        }
        let search = agent.stacks.as_ref();
        let Some(Ok(())) = search.map(|stacks| stacks.methods(env, &mut candidates)) else {
            self.release_schedule.lock().retry(Instant::now());
            return;
        };
        for id in candidates.ids() {
            if agent.library.release_resume(env, id).is_ok()
                && let Some(entry) = self.entries().get_mut(&id)
            {
                entry.resume_class = None;
            }
        }
        if candidates.running > 0 {
            self.release_schedule.lock().retry(Instant::now());
        }
    }

    /// The idle methods that have an OSR entry.
    fn releasable(&self, agent: &Agent) -> Candidates {
        let has_entry = |id: &MethodId| {
            let entries = self.entries();
            let entry = entries.get(id);
            entry.is_some_and(|e| !e.holds_token && e.resume_class.is_some())
        };
        let ids: Vec<MethodId> = self.entries().keys().copied().collect();
        let mut candidates = Candidates::default();
        for id in ids.into_iter().filter(has_entry) {
            let Some(class) = agent.registry.class_of_method(id) else {
                continue;
            };
            let state = class.state();
            if let Some(method) = state.methods.with_id(id) {
                candidates.add(class.dotted.as_str(), method.name, id);
            }
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_run_are_not_released() {
        let mut candidates = Candidates::default();
        candidates.add("shop.Desk", "open", MethodId(1));
        candidates.add("shop.Desk", "open", MethodId(2));
        candidates.add("shop.Desk", "close", MethodId(3));
        assert!(!candidates.wants("shop.Till"));
        assert!(candidates.wants("shop.Desk"));
        assert!(!candidates.found("shop.Desk", "open", Some("shop.Desk$V/0x01")));
        assert!(!candidates.found("shop.Desk", "count", None));
        // The activation is in the method's own code.
        assert!(!candidates.found("shop.Desk", "close", Some("java.lang.Object")));
        assert_eq!(candidates.ids().collect::<Vec<_>>(), [MethodId(3)]);
        assert_eq!(candidates.running, 2);
        assert!(candidates.found("shop.Desk", "close", None));
        assert_eq!(candidates.ids().count(), 0);
    }
}
