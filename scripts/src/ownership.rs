//! Ownership: which plan instance has attached which instruments and edits.
//!
//! A plan that fails while it is loaded leaves nothing attached, and a plan instance can be
//! detached as a whole.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use veneer_instruments::{AttachError, InstrumentId, PatchId, PlanInstanceId, Runtime};

/// An instrument or an edit that is attached and can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// An instrument with its id.
    Instrument(InstrumentId),
    /// An edit of flow graphs.
    Patch(PatchId),
}

impl fmt::Display for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attachment::Instrument(id) => write!(f, "{id}"),
            Attachment::Patch(id) => write!(f, "{id}"),
        }
    }
}

impl Attachment {
    pub(crate) fn detach(self, runtime: &dyn Runtime) -> Result<(), AttachError> {
        match self {
            Attachment::Instrument(id) => runtime.detach(id),
            Attachment::Patch(id) => runtime.undo(id),
        }
    }
}

struct OwnedAttachment {
    instance: PlanInstanceId,
    plan: String,
    thing: Attachment,
}

/// The attached instruments and edits of all plans, in order of attachment.
#[derive(Default)]
pub(crate) struct Ownership(Mutex<Vec<OwnedAttachment>>);

impl Ownership {
    pub(crate) fn record_attached(&self, instance: PlanInstanceId, plan: &str, thing: Attachment) {
        self.0.lock().push(OwnedAttachment {
            instance,
            plan: plan.to_owned(),
            thing,
        });
    }

    pub(crate) fn record_detached(&self, thing: Attachment) {
        self.0.lock().retain(|entry| entry.thing != thing);
    }

    /// Returns the instruments and edits of one plan instance with the plan's name, newest first.
    /// Callers detach them in this order.
    pub(crate) fn instance_attachments(
        &self,
        instance: PlanInstanceId,
    ) -> Vec<(String, Attachment)> {
        let entries = self.0.lock();
        let of_instance = entries
            .iter()
            .rev()
            .filter(|entry| entry.instance == instance);
        of_instance
            .map(|entry| (entry.plan.clone(), entry.thing))
            .collect()
    }

    /// Detaches everything that one plan instance has attached, newest first. Errors are printed.
    pub(crate) fn detach_instance(&self, instance: PlanInstanceId, runtime: &dyn Runtime) {
        for (plan, thing) in self.instance_attachments(instance) {
            if let Err(error) = thing.detach(runtime) {
                runtime.print(&format!("{plan}: while taking the plan back: {error}"));
            }
            self.record_detached(thing);
        }
    }

    /// Returns the attached instruments and edits by plan instance.
    pub(crate) fn by_instance(&self) -> BTreeMap<PlanInstanceId, Vec<Attachment>> {
        let mut instances = BTreeMap::<PlanInstanceId, Vec<Attachment>>::new();
        for entry in self.0.lock().iter() {
            instances
                .entry(entry.instance)
                .or_default()
                .push(entry.thing);
        }
        instances
    }

    /// Returns all attached instruments and edits, newest first.
    pub(crate) fn all(&self) -> Vec<Attachment> {
        self.0
            .lock()
            .iter()
            .rev()
            .map(|entry| entry.thing)
            .collect()
    }

    /// Returns the instruments of all plans of this name, oldest first.
    pub(crate) fn instruments_of(&self, plan: &str) -> Vec<InstrumentId> {
        let entries = self.0.lock();
        let instruments = entries.iter().filter_map(|entry| match entry.thing {
            Attachment::Instrument(id) if entry.plan == plan => Some(id),
            _ => None,
        });
        instruments.collect()
    }
}
