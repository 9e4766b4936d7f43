//! Lists of events of the JVM on the command line: `contended,gc`, or `all`.

use std::collections::BTreeSet;
use thiserror::Error;

use veneer_instruments::{CallEventKind, UNAVAILABLE_VM_EVENTS, VmEventKind, VmEventKinds};

/// The events that a trace has beside calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedEvents {
    /// The events that the JVM reports.
    pub jvm: VmEventKinds,
    /// The events at calls of the JDK's methods.
    pub calls: BTreeSet<CallEventKind>,
}

impl RecordedEvents {
    /// Every event that a trace can have.
    fn all() -> RecordedEvents {
        RecordedEvents {
            jvm: VmEventKind::ALL.iter().copied().collect(),
            calls: CallEventKind::ALL.into(),
        }
    }

    /// The events of both.
    #[must_use]
    pub fn union(mut self, other: RecordedEvents) -> RecordedEvents {
        self.jvm = self.jvm.union(other.jvm);
        self.calls.extend(other.calls);
        self
    }

    /// The names of the events.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let calls = self.calls.iter().map(|kind| kind.name());
        self.jvm.iter().map(VmEventKind::name).chain(calls)
    }
}

/// Why a list of events is malformed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EventListError {
    /// No kind of event has this name.
    #[error("there is no event `{name}`; events are {} and all", names())]
    Unknown {
        /// The name in the list.
        name: String,
    },
    /// The event cannot be observed.
    #[error("{name} cannot be recorded: {reason}")]
    Unavailable {
        /// The name of the event.
        name: &'static str,
        /// The reason and the alternative.
        reason: &'static str,
    },
}

/// The names of all kinds, separated by commas.
fn names() -> String {
    RecordedEvents::all().names().collect::<Vec<_>>().join(", ")
}

/// Parses a list of events: names separated by commas, or `all`.
///
/// # Errors
/// A name that is not that of an event, or of an event that cannot be observed.
pub fn parse_events(text: &str) -> Result<RecordedEvents, EventListError> {
    let mut kinds = RecordedEvents::default();
    for name in text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        if name == "all" {
            kinds = RecordedEvents::all();
        } else if let Some(kind) = VmEventKind::named(name) {
            kinds.jvm.insert(kind);
        } else if let Some(kind) = CallEventKind::named(name) {
            kinds.calls.insert(kind);
        } else {
            let unavailable = UNAVAILABLE_VM_EVENTS.iter().find(|one| one.0 == name);
            return Err(match unavailable {
                Some((name, reason)) => EventListError::Unavailable { name, reason },
                None => EventListError::Unknown { name: name.into() },
            });
        }
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_events_has_names_or_all() {
        let names = |text| {
            let kinds = parse_events(text).expect("a list");
            kinds.names().collect::<Vec<_>>()
        };
        assert_eq!(names("park,gc, wait"), ["wait", "gc", "park"]);
        let all = VmEventKind::ALL.len() + CallEventKind::ALL.len();
        assert_eq!(names("all").len(), all);
        assert!(names("").is_empty());
        let error = |text| parse_events(text).expect_err("an error").to_string();
        assert!(error("gc,gcs").starts_with("there is no event `gcs`; events are contended, "));
        assert!(
            error("deoptimise")
                .starts_with("deoptimise cannot be recorded: JVMTI has no event for it")
        );
    }
}
