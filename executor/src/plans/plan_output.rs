//! The destinations of the lines that plans print.
//!
//! A plan instance that belongs to a connected client prints to the client's [`Outbox`]. All other
//! instances print to the standard error stream of the JVM. The plan thread connects and
//! disconnects clients, and sets the current instance before it runs code of that instance.

use crate::plans::outbox::Outbox;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use veneer_instruments::PlanInstanceId;

/// The clients of plan instances. See the module documentation.
#[derive(Default)]
pub struct OutputRouter {
    /// By the id of the plan instance.
    outboxes: Mutex<HashMap<PlanInstanceId, Arc<Outbox>>>,
    /// The number of the plan instance whose code runs now.
    current: AtomicU64,
}

impl OutputRouter {
    fn outboxes(&self) -> MutexGuard<'_, HashMap<PlanInstanceId, Arc<Outbox>>> {
        self.outboxes.lock()
    }

    /// Sends the output of a plan instance to a client from now on.
    pub fn connect(&self, instance: PlanInstanceId, outbox: Arc<Outbox>) {
        self.outboxes().insert(instance, outbox);
    }

    /// Sends the output of a plan instance to the standard error stream from now on.
    pub fn disconnect(&self, instance: PlanInstanceId) {
        self.outboxes().remove(&instance);
    }

    /// Sets the plan instance whose code runs from now on.
    pub fn set_current(&self, instance: PlanInstanceId) {
        self.current.store(instance.0, Ordering::Relaxed);
    }

    /// Returns the outbox of the current plan instance's client, if the instance has one.
    fn current(&self) -> Option<Arc<Outbox>> {
        let current = PlanInstanceId(self.current.load(Ordering::Relaxed));
        self.outboxes().get(&current).cloned()
    }

    /// Prints a line of the current plan instance.
    pub fn print(&self, text: &str) {
        match self.current() {
            Some(outbox) => outbox.print(text),
            None => eprintln!("{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::outbox::ClientId;
    use veneer_protocol::Reply;

    #[test]
    fn lines_are_sent_to_the_client_of_the_current_plan_instance_only() {
        let output = OutputRouter::default();
        let (first, second) = (
            Arc::new(Outbox::new(ClientId(1))),
            Arc::new(Outbox::new(ClientId(2))),
        );
        let [one, two] = [1, 2].map(PlanInstanceId);
        output.connect(one, first.clone());
        output.connect(two, second.clone());
        output.set_current(two);
        output.print("x");
        output.set_current(one);
        output.print("y");
        assert_eq!(second.wait_for_reply(), Some(Reply::Print("x".into())));
        assert_eq!(first.wait_for_reply(), Some(Reply::Print("y".into())));
    }

    #[test]
    fn a_disconnected_plan_instance_has_no_client() {
        let output = OutputRouter::default();
        let one = PlanInstanceId(1);
        output.connect(one, Arc::new(Outbox::new(ClientId(1))));
        output.set_current(one);
        assert!(output.current().is_some());
        output.disconnect(one);
        assert!(output.current().is_none());
        output.print("printed to the standard error stream");
    }
}
