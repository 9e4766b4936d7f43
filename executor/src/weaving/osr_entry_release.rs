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
use crate::weaving::version_hosts::IdleHosts;
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

impl Candidates {
    /// An activation of this method may need the entry.
    fn running(&mut self, class: &str, method: &str) {
        if let Some(methods) = self.classes.get_mut(class) {
            self.running += methods.remove(method).map_or(0, |ids| ids.len());
            if methods.is_empty() {
                self.classes.remove(class);
            }
        }
    }
}

/// The entries and classes that may be released.
struct Releasable {
    entries: Candidates,
    hosts: IdleHosts,
}

impl Releasable {
    fn is_empty(&self) -> bool {
        self.entries.classes.is_empty() && self.hosts.is_empty()
    }
}

impl FrameSearch for Releasable {
    fn wants(&self, class: &str) -> bool {
        self.entries.classes.contains_key(class) || self.hosts.wants(class)
    }

    fn found(&mut self, class: &str, method: &str, callee: Option<&str>) -> bool {
        let may_be_outside = callee.is_none_or(|callee| is_version(callee) || is_runtime(callee));
        if may_be_outside {
            self.entries.running(class, method);
            self.hosts.running(class, method);
        }
        self.is_empty()
    }
}

impl WovenMethods {
    /// Whether [`WovenMethods::release_osr_entries`] should be called now.
    pub fn osr_entry_release_is_due(&self) -> bool {
        self.release_schedule.lock().begin_if_due(Instant::now())
    }

    /// Releases the OSR entries of idle methods that no thread runs, and the classes of which no
    /// activation is in a version ([`crate::weaving::version_hosts`]). Only the plan thread calls
    /// this, so that no method gets a new version meanwhile, except methods of classes that are just
    /// prepared, which have no OSR entry.
    pub fn release_osr_entries(&self, agent: &Agent, env: Env) {
        let entries = self.releasable(agent);
        let (hosts, additions) = self.idle_hosts(agent, env);
        let mut releasable = Releasable { entries, hosts };
        if !releasable.is_empty() {
            let search = agent.stacks.as_ref();
            let Some(Ok(())) = search.map(|stacks| stacks.methods(env, &mut releasable)) else {
                self.release_schedule.lock().retry(Instant::now());
                return;
            };
        }
        let Releasable { entries, mut hosts } = releasable;
        for id in entries.ids() {
            if agent.library.release_resume(env, id).is_ok()
                && let Some(entry) = self.entries().get_mut(&id)
            {
                entry.resume_class = None;
            }
        }
        self.release_hosts(agent, env, &mut hosts, additions);
        if entries.running > 0 || hosts.must_retry {
            self.release_schedule.lock().retry(Instant::now());
        }
    }

    /// The classes whose methods are all idle, and the number of versions that Java code knows.
    fn idle_hosts(&self, agent: &Agent, env: Env) -> (IdleHosts, i64) {
        if self.version_hosts.is_empty() {
            return (IdleHosts::default(), 0);
        }
        let Ok((shown, additions)) = agent.library.host_counts(env) else {
            let mut none = IdleHosts::default();
            none.must_retry = true;
            return (none, 0);
        };
        let busy: Vec<MethodId> = {
            let entries = self.entries();
            let busy = entries.iter().filter(|(_, entry)| entry.holds_token);
            busy.map(|(id, _)| *id).collect()
        };
        (self.version_hosts.idle(busy, shown), additions)
    }

    /// Releases the classes that are left after the dump of stacks, unless there are more versions
    /// than before it.
    fn release_hosts(&self, agent: &Agent, env: Env, hosts: &mut IdleHosts, additions: i64) {
        for class in hosts.take() {
            let Some(host) = class.local(env) else {
                continue;
            };
            let released = agent.library.release_host(env, host, additions);
            // SAFETY: `Class::local` has made the local reference, which is not used again.
            unsafe { env.delete(host) };
            match released {
                Ok(true) => self.version_hosts.remove(&class),
                _ => hosts.must_retry = true,
            }
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
        let mut entries = Candidates::default();
        entries.add("shop.Desk", "open", MethodId(1));
        entries.add("shop.Desk", "open", MethodId(2));
        entries.add("shop.Desk", "close", MethodId(3));
        let hosts = IdleHosts::default();
        let mut search = Releasable { entries, hosts };
        assert!(!search.wants("shop.Till"));
        assert!(search.wants("shop.Desk"));
        assert!(!search.found("shop.Desk", "open", Some("shop.Desk$V/0x01")));
        assert!(!search.found("shop.Desk", "count", None));
        // The activation is in the method's own code.
        assert!(!search.found("shop.Desk", "close", Some("java.lang.Object")));
        assert_eq!(search.entries.ids().collect::<Vec<_>>(), [MethodId(3)]);
        assert_eq!(search.entries.running, 2);
        assert!(search.found("shop.Desk", "close", None));
        assert_eq!(search.entries.ids().count(), 0);
    }
}
