//! The counter block of a method whose counts are derived: the consecutive counters of a
//! spanning-tree placement.
//!
//! ```text
//!   attach ─▶ block, zero ─▶ versions count in it ─▶ detach ─▶ quarantine ─── all its versions are collected ───▶ reuse
//! ```
//!
//! The counts of fragments and edges are sums over a block. Therefore all external entries and
//! exits of one activation must be counted in the same block. An activation may stay in a
//! superseded version for any time, and it continues to count there. So a block is reused only when
//! no version that writes to it is left. The JVM shows this by clearing weak references to the
//! version classes. Until then the block is in quarantine. If too many counters are in quarantine,
//! methods get one counter for each fragment instead; see
//! [`counter_allocation`](crate::weaving::counter_allocation).
//!
//! The list of versions is the only part that changes. Its mutex is held for short reads and
//! writes, from any thread.

use crate::jvm::jni::{Env, Global, WeakGlobal};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use veneer_fragmenter::counted_steps::CountedSteps;
use veneer_fragmenter::counting::CounterPlan;
use veneer_fragmenter::version::Span;
use veneer_frequency::CountedGraph;
use veneer_names::{CounterSlot, MethodId};

/// The counters of one method. See the module documentation.
pub struct CounterBlock {
    /// The id of the method.
    method: MethodId,
    /// The flow graph with the numbers of the counters of this block.
    pub flow: CountedGraph,
    /// The nodes of the graph that begin inside a fragment.
    steps: Arc<CountedSteps>,
    /// The first counter.
    pub first: CounterSlot,
    /// The number of counters.
    pub width: u32,
    /// The versions that count in the block.
    versions: Mutex<Vec<CountingVersion>>,
}

/// A version class that counts in a block.
struct CountingVersion {
    class: Arc<WeakGlobal>,
    /// The class name in stack traces. A later class may have the same name.
    name: Arc<str>,
    /// See [`veneer_fragmenter::version::VersionClass::spans`].
    spans: Vec<Span>,
}

/// A running activation of a version.
pub struct VersionActivation {
    /// The id of the method.
    pub method: MethodId,
    /// The version class. The reference is strong, so that the class stays comparable after the
    /// activation has ended.
    pub class: Global,
    pub pc: i64,
}

impl std::fmt::Debug for CounterBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = self.first.plus(self.width);
        write!(f, "counters {}..{end}", self.first)
    }
}

impl CounterBlock {
    /// A block whose first counter is `first`, without versions.
    pub fn new(method: MethodId, first: CounterSlot, counting: &CounterPlan) -> CounterBlock {
        CounterBlock {
            method,
            flow: counting.flow.with_counter_offset(first.0),
            steps: counting.steps.clone(),
            first,
            width: counting.flow.counter_count(),
            versions: Mutex::default(),
        }
    }

    /// Whether the JVM has collected every version that counts in the block.
    pub fn is_unused(&self, env: Env) -> bool {
        self.versions().iter().all(|v| env.is_cleared(&v.class))
    }

    fn versions(&self) -> MutexGuard<'_, Vec<CountingVersion>> {
        self.versions.lock()
    }

    /// Adds a version that is about to count in the block. Must be called before the version runs.
    pub fn add_version(&self, env: Env, class: &Arc<WeakGlobal>, name: &Arc<str>, spans: &[Span]) {
        let mut versions = self.versions();
        if versions.len() >= 8 {
            versions.retain(|v| !env.is_cleared(&v.class));
        }
        versions.push(CountingVersion {
            class: class.clone(),
            name: name.clone(),
            spans: spans.to_vec(),
        });
    }

    /// Whether a version class of this name may count in the block. A version whose name is unknown
    /// may have any name.
    pub fn may_have_version(&self, class_name: &str) -> bool {
        let may_be = |v: &CountingVersion| v.name.is_empty() || &*v.name == class_name;
        self.versions().iter().any(may_be)
    }

    /// The nodes that contain those of the activations that count in the block. The same node appears
    /// once for each activation.
    pub fn occupied_nodes(&self, env: Env, activations: &[VersionActivation]) -> Vec<u32> {
        let spans = self.occupied_spans(env, activations);
        let node = |span: &Span| Some(self.steps.node_at(span.fragment?, span.original_pc));
        spans.iter().filter_map(node).collect()
    }

    /// The spans that contain those of the activations that count in the block.
    pub fn occupied_spans(&self, env: Env, activations: &[VersionActivation]) -> Vec<Span> {
        let versions = self.versions();
        let span = |a: &VersionActivation| {
            let is_same = |v: &&CountingVersion| env.refers_to(&v.class, a.class.raw());
            span_at(&versions.iter().find(is_same)?.spans, a.pc)
        };
        let of_method = activations.iter().filter(|a| a.method == self.method);
        of_method.filter_map(span).collect()
    }
}

/// The span that contains a pc. `spans` are sorted by their first pc.
fn span_at(spans: &[Span], pc: i64) -> Option<Span> {
    let after = spans.partition_point(|s| i64::from(s.pc) <= pc);
    spans.get(after.checked_sub(1)?).copied()
}

#[cfg(test)]
impl CounterBlock {
    /// A block for a flow graph whose counters begin at 0, for unit tests.
    pub fn for_graph(method: MethodId, first: CounterSlot, flow: &CountedGraph) -> CounterBlock {
        CounterBlock {
            method,
            flow: flow.with_counter_offset(first.0),
            steps: Arc::default(),
            first,
            width: flow.counter_count(),
            versions: Mutex::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::with_method;
    use veneer_fragmenter::flowgraph::FragmentId;

    #[test]
    fn a_span_lasts_until_the_next_one_begins() {
        let span = |pc, fragment: Option<u32>| Span {
            pc,
            fragment: fragment.map(FragmentId),
            original_pc: 0,
            gathers: false,
        };
        let spans = [span(4, Some(0)), span(10, None), span(12, Some(2))];
        let fragment_at = |pc| span_at(&spans, pc).map(|s| s.fragment.map(|f| f.0));
        assert_eq!(fragment_at(3), None);
        assert_eq!(fragment_at(-1), None);
        assert_eq!(fragment_at(4), Some(Some(0)));
        assert_eq!(fragment_at(9), Some(Some(0)));
        assert_eq!(fragment_at(11), Some(None));
        assert_eq!(fragment_at(60_000), Some(Some(2)));
    }

    #[test]
    fn a_block_has_the_counters_of_the_placement_from_its_first_one_on() {
        with_method("loop(I)I", |method, armed| {
            let counting = CounterPlan::place_counters(method, &armed.points);
            let block = CounterBlock::new(MethodId(7), CounterSlot(100), &counting);
            assert_eq!(block.width, counting.flow.counter_count());
            let mut counters: Vec<u32> = block.flow.counters().collect();
            counters.sort_unstable();
            let expected: Vec<u32> = (100..100 + block.width).collect();
            assert_eq!(counters, expected);
            assert!(!block.may_have_version("shop.Points$V"));
        });
    }
}
