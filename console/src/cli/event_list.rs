//! Lists of events of the JVM on the command line: `contended,gc`, or `all`.

use thiserror::Error;
use veneer_instruments::{UNAVAILABLE_VM_EVENTS, VmEventKind, VmEventKinds};

/// Why a list of events is malformed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EventListError {
    /// No kind of event has this name.
    #[error("there is no event `{name}`; events are {} and all", names())]
    Unknown {
        /// The name in the list.
        name: String,
    },
    /// JVMTI does not have the event.
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
    let names = VmEventKind::ALL.iter().map(|kind| kind.name());
    names.collect::<Vec<_>>().join(", ")
}

/// Parses a list of events: names separated by commas, or `all`.
///
/// # Errors
/// A name that is not that of an event, or of an event that JVMTI does not have.
pub fn parse_events(text: &str) -> Result<VmEventKinds, EventListError> {
    let mut kinds = VmEventKinds::NONE;
    for name in text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        if name == "all" {
            VmEventKind::ALL.iter().for_each(|kind| kinds.insert(*kind));
            continue;
        }
        let Some(kind) = VmEventKind::named(name) else {
            let unavailable = UNAVAILABLE_VM_EVENTS.iter().find(|one| one.0 == name);
            return Err(match unavailable {
                Some((name, reason)) => EventListError::Unavailable { name, reason },
                None => EventListError::Unknown { name: name.into() },
            });
        };
        kinds.insert(kind);
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
            kinds.iter().map(VmEventKind::name).collect::<Vec<_>>()
        };
        assert_eq!(names("gc, wait"), ["wait", "gc"]);
        assert_eq!(names("all").len(), VmEventKind::ALL.len());
        assert!(names("").is_empty());
        let error = |text| parse_events(text).expect_err("an error").to_string();
        assert!(error("gc,gcs").starts_with("there is no event `gcs`; events are contended, "));
        assert!(error("park").starts_with("park cannot be recorded: JVMTI has no event for it"));
    }
}
