//! The callbacks of `on` in a session: their calls, and the kinds of events that the runtime reports.

use super::PlanSession;
use std::time::Instant;
use veneer_instruments::VmEvent;

impl PlanSession {
    /// Runs the callbacks of `on` for these events, in order of the events and then of
    /// registration. Errors are printed.
    pub fn handle_vm_events(&self, events: &[VmEvent]) {
        for event in events {
            let mut listeners = {
                let mut state = self.state.lock();
                if state.finished {
                    return;
                }
                std::mem::take(&mut state.listeners)
            };
            listeners.run(self.runtime.as_ref(), event, |running_plan| {
                self.keep(running_plan, Instant::now());
            });
            let mut state = self.state.lock();
            if !state.finished {
                state.listeners.put_back(listeners);
                state.listeners.forget_cancelled();
            }
        }
        self.watch_events();
    }

    /// Asks the runtime for the kinds of events that callbacks handle, if the kinds have changed.
    pub(super) fn watch_events(&self) {
        let kinds = {
            let mut state = self.state.lock();
            let kinds = state.listeners.kinds();
            if std::mem::replace(&mut state.watched, kinds) == kinds {
                return;
            }
            kinds
        };
        if let Err(error) = self.runtime.watch_vm_events(kinds) {
            self.runtime.print(&error.to_string());
        }
    }
}
