//! The counters of a method that is counted by flow: one row, that of all its edges and ways in and out.
//!
//! ```text
//!   attach ─▶ row, zero ─▶ versions count in it ─▶ detach ─▶ limbo ─── all its versions are collected ───▶ other methods
//! ```
//!
//! What counts are sums over a row, so the coming and going of an activation must be in one row both. An activation may stay in a
//! superseded version for as long as it likes, and count there. So a row serves others only when no version that writes to
//! it is left; the JVM says so by clearing weak references. Until then it is in limbo; where too much is, methods are counted
//! fragment by fragment.

use crate::jvm::jni::{Env, Global};
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::counting::Counting;
use veneer_fragmenter::version::Span;
use veneer_frequency::Flow;

/// See the module documentation.
pub struct Row {
    /// The method.
    method: u32,
    /// The graph, with the counters of this row.
    pub flow: Flow,
    /// The first counter.
    pub first: u32,
    /// How many there are.
    pub width: u32,
    /// What counts here.
    versions: Mutex<Vec<Version>>,
}

/// A body that counts in a row.
struct Version {
    /// Its class. Weak.
    class: Arc<Global>,
    /// What stack traces call it; a later class may have the same name.
    name: Arc<str>,
    /// See [`veneer_fragmenter::version::VersionClass::spans`].
    spans: Vec<Span>,
}

/// An activation of a version that is running.
pub struct Activation {
    pub method: u32,
    pub class: Global,
    pub pc: i64,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "counters {}..{}", self.first, self.first + self.width)
    }
}

impl Row {
    /// A block whose first counter is `first`, without versions.
    pub fn at(method: u32, first: u32, counting: &Counting) -> Row {
        Row {
            method,
            flow: counting.flow.shifted(first),
            first,
            width: counting.flow.width(),
            versions: Mutex::default(),
        }
    }

    /// Returns true if the JVM has collected every version that counts here.
    pub fn is_unused(&self, env: Env) -> bool {
        self.versions().iter().all(|v| env.is_cleared(&v.class))
    }

    fn versions(&self) -> MutexGuard<'_, Vec<Version>> {
        self.versions.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A version counts here from now on.
    pub fn serves(&self, env: Env, class: &Arc<Global>, name: &Arc<str>, spans: &[Span]) {
        let mut versions = self.versions();
        if versions.len() >= 8 {
            versions.retain(|v| !env.is_cleared(&v.class));
        }
        versions.push(Version {
            class: class.clone(),
            name: name.clone(),
            spans: spans.to_vec(),
        });
    }

    /// Whether a class of this name may count here.
    pub fn knows(&self, class: &str) -> bool {
        let may = |v: &Version| v.name.is_empty() || &*v.name == class;
        self.versions().iter().any(may)
    }

    /// The fragments in which these activations stand, as far as they count here.
    pub fn inside(&self, env: Env, activations: &[Activation]) -> Vec<u32> {
        let spans = self.spans_of(env, activations);
        let all = spans.iter().filter_map(|s| s.fragment);
        all.map(|f| f.0).collect()
    }

    /// Where they stand.
    pub fn spans_of(&self, env: Env, activations: &[Activation]) -> Vec<Span> {
        let versions = self.versions();
        let span = |a: &Activation| {
            let same = |v: &&Version| env.same(v.class.raw(), a.class.raw());
            let spans = &versions.iter().find(same)?.spans;
            let before = spans.partition_point(|s| i64::from(s.pc) <= a.pc);
            spans.get(before.checked_sub(1)?).copied()
        };
        let ours = activations.iter().filter(|a| a.method == self.method);
        ours.filter_map(span).collect()
    }
}

#[cfg(test)]
impl Row {
    /// A block for a flow graph whose counters begin at 0, for unit tests.
    pub fn of_flow(method: u32, first: u32, flow: &Flow) -> Row {
        Row {
            method,
            flow: flow.shifted(first),
            first,
            width: flow.width(),
            versions: Mutex::default(),
        }
    }
}
