//! The callbacks of `on("gc", |e| …)`, which run at events of the JVM.

use crate::api::vm_events::event_map;
use crate::callback_failures::CallbackFailures;
use crate::running_plan::{CallbackCall, RunningPlan};
use std::sync::Arc;
use veneer_instruments::{Runtime, VmEvent, VmEventKind, VmEventKinds};

/// A callback for the events of one kind.
pub(crate) struct Listener {
    call: CallbackCall,
    kind: VmEventKind,
    failures: CallbackFailures,
    has_failed: bool,
}

/// The callbacks for events, in order of registration.
#[derive(Default)]
pub(crate) struct EventListeners(Vec<Listener>);

impl EventListeners {
    /// Adds a callback.
    pub(crate) fn add(&mut self, kind: VmEventKind, call: CallbackCall) {
        self.0.push(Listener {
            call,
            kind,
            failures: CallbackFailures::default(),
            has_failed: false,
        });
    }

    /// Adds callbacks that were registered before those of this list.
    pub(crate) fn put_back(&mut self, mut earlier: EventListeners) {
        earlier.0.append(&mut self.0);
        self.0 = earlier.0;
    }

    /// Removes and returns the callbacks that a condition selects.
    pub(crate) fn extract(
        &mut self,
        mut selects: impl FnMut(&CallbackCall) -> bool,
    ) -> EventListeners {
        let all = std::mem::take(&mut self.0).into_iter();
        let (extracted, left) = all.partition(|one| selects(&one.call));
        self.0 = left;
        EventListeners(extracted)
    }

    /// Removes the callbacks that were cancelled.
    pub(crate) fn forget_cancelled(&mut self) {
        self.0.retain(Listener::is_active);
    }

    /// The kinds for which there is a callback.
    pub(crate) fn kinds(&self) -> VmEventKinds {
        let active = self.0.iter().filter(|one| one.is_active());
        active.map(|one| one.kind).collect()
    }

    /// The calls of the callbacks that were not cancelled.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &CallbackCall> {
        self.0.iter().map(|one| &one.call)
    }

    /// Runs the callbacks for an event, and calls `done` with the plan of each. A callback that
    /// fails several times in a row does not run again.
    pub(crate) fn run(
        &mut self,
        runtime: &dyn Runtime,
        event: &VmEvent,
        mut done: impl FnMut(&Arc<RunningPlan>),
    ) {
        let kind = event.kind;
        for one in self.0.iter_mut().filter(|one| one.kind == kind) {
            if !one.is_active() {
                continue;
            }
            match one.call.run_with((event_map(event),)) {
                Ok(()) => one.failures.succeeded(),
                Err(error) => {
                    let continues = one.failures.failed(runtime, &one.call, Some("on"), error);
                    one.has_failed = !continues;
                }
            }
            done(&one.call.running_plan);
        }
    }
}

impl Listener {
    fn is_active(&self) -> bool {
        !self.has_failed && !self.call.is_cancelled()
    }
}
