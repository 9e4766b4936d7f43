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

/// Detaches several instruments and edits, the instruments first and at once.
///
/// # Errors
/// The first error. Everything counts as detached nevertheless.
pub(crate) fn detach_all(things: &[Attachment], runtime: &dyn Runtime) -> Result<(), AttachError> {
    let mut instruments = Vec::new();
    let mut patches = Vec::new();
    for thing in things {
        match thing {
            Attachment::Instrument(id) => instruments.push(*id),
            Attachment::Patch(id) => patches.push(*id),
        }
    }
    let detached = match instruments.as_slice() {
        [] => Ok(()),
        [one] => runtime.detach(*one),
        several => runtime.detach_all(several),
    };
    let undone: Vec<_> = patches.into_iter().map(|id| runtime.undo(id)).collect();
    undone.into_iter().fold(detached, Result::and)
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
        let all = self.instance_attachments(instance);
        let are_together = |a: &(String, Attachment), b: &(String, Attachment)| {
            matches!(
                (a.1, b.1),
                (Attachment::Instrument(_), Attachment::Instrument(_))
            )
        };
        for group in all.chunk_by(are_together) {
            let things: Vec<Attachment> = group.iter().map(|(_, thing)| *thing).collect();
            if let Err(error) = detach_all(&things, runtime) {
                let plan = &group[0].0;
                runtime.print(&format!("{plan}: while taking the plan back: {error}"));
            }
            things
                .into_iter()
                .for_each(|thing| self.record_detached(thing));
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
