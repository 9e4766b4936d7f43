//! The kinds of events that the recorder and the plans ask for, and their switches in the JVM.

use crate::jvm::event_sources::ClassUnloaded;
use crate::jvm::jvmti::{JvmtiError, Tool};
use crate::observation::heap_sampler::HeapSampler;
use crate::observation::queue::EventQueue;
use crate::observation::sampled_objects::SampledObjects;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use veneer_instruments::{VmEventKind, VmEventKinds};

/// A part of the agent that asks for kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscriber {
    /// The recorder of event traces.
    Recorder,
    /// The callbacks of plans.
    Plans,
    /// The recording of lifetimes.
    Lifetimes,
}

/// The subscriptions to events of the JVM. Only the plan thread changes them; callbacks read them.
#[derive(Default)]
pub struct Subscriptions {
    recorded: AtomicU32,
    watched: AtomicU32,
    followed: AtomicU32,
    /// The kinds that the JVM reports.
    enabled: Mutex<VmEventKinds>,
    /// The events for plans.
    pub queue: EventQueue,
    /// The objects whose deaths are to be reported.
    pub sampled: SampledObjects,
    /// The sampled objects of a recording of heap allocations.
    pub heap: HeapSampler,
}

impl Subscriptions {
    /// Replaces the kinds of a subscriber, and switches events on and off in the JVM. Callbacks
    /// ignore an event of a kind that is not subscribed.
    ///
    /// # Errors
    /// The first kind that the JVM refuses. The other kinds are switched all the same.
    pub fn subscribe(
        &self,
        tool: Tool,
        unloaded: ClassUnloaded,
        subscriber: Subscriber,
        kinds: VmEventKinds,
    ) -> Result<(), JvmtiError> {
        let mut enabled = self.enabled.lock();
        let place = match subscriber {
            Subscriber::Recorder => &self.recorded,
            Subscriber::Plans => &self.watched,
            Subscriber::Lifetimes => &self.followed,
        };
        place.store(kinds.bits(), Ordering::SeqCst);
        let wanted = self.wanted();
        if !wanted.contains(VmEventKind::Free) {
            self.sampled.clear();
        }
        let mut now = VmEventKinds::NONE;
        let mut result = Ok(());
        for kind in VmEventKind::ALL.iter().copied() {
            let switched = match (wanted.contains(kind), enabled.contains(kind)) {
                (true, false) => tool.enable_kind(kind, unloaded),
                (false, true) => tool.disable_kind(kind),
                _ => Ok(()),
            };
            let is_on = match switched {
                Ok(()) => wanted.contains(kind),
                Err(_) => enabled.contains(kind),
            };
            if is_on {
                now.insert(kind);
            }
            if result.is_ok() {
                result = switched;
            }
        }
        *enabled = now;
        result
    }

    /// The kinds that the JVM must report. Only sampled objects can be reported as collected.
    pub fn wanted(&self) -> VmEventKinds {
        let followed = VmEventKinds::from_bits(self.followed.load(Ordering::Relaxed));
        let mut wanted = self.recorded().union(self.watched()).union(followed);
        if wanted.contains(VmEventKind::Free) {
            wanted.insert(VmEventKind::Allocate);
        }
        wanted
    }

    /// The kinds that the recorder records.
    pub fn recorded(&self) -> VmEventKinds {
        VmEventKinds::from_bits(self.recorded.load(Ordering::Relaxed))
    }

    /// The kinds that plans handle.
    pub fn watched(&self) -> VmEventKinds {
        VmEventKinds::from_bits(self.watched.load(Ordering::Relaxed))
    }
}
