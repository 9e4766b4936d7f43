//! Detaching plan instances, components, instruments and patches by name. Only the plan thread uses
//! this file.

use crate::agent::Agent;
use std::collections::BTreeSet;
use veneer_instruments::PlanInstanceId;
use veneer_protocol::DetachTarget;
use veneer_scripts::{Attachment, PlanSession};

/// The result of a request to detach.
pub struct DetachResult {
    /// The ids of the instruments and patches that were detached.
    pub detached: Vec<String>,
    /// The requested names that name nothing attached.
    pub unknown: Vec<String>,
}

/// Detaches what a request names, regardless of the owner.
pub fn detach(agent: &Agent, session: &PlanSession, which: &DetachTarget) -> DetachResult {
    let before = attached(session);
    let mut unknown = Vec::new();
    match which {
        DetachTarget::All => each_instance(session, |instance| session.detach(instance)),
        // The agent leaves the JVM, so analysers cannot be called any more.
        DetachTarget::Unload => each_instance(session, |instance| session.unload(instance)),
        DetachTarget::Components(names) => {
            let is_unknown = |name: &&String| !session.detach_component(name);
            unknown.extend(names.iter().filter(is_unknown).cloned());
        }
        DetachTarget::Ids(names) => unknown.extend(detach_named(agent, session, names)),
    }
    DetachResult {
        detached: detached_names(&before, &attached(session)),
        unknown,
    }
}

/// Calls `detach` for each plan instance that has attached something or is a component, newest
/// first.
fn each_instance(session: &PlanSession, detach: impl Fn(PlanInstanceId)) {
    let mut instances: BTreeSet<PlanInstanceId> = session.remaining_work().into_keys().collect();
    instances.extend(
        session
            .components()
            .iter()
            .map(|component| component.instance),
    );
    instances.into_iter().rev().for_each(detach);
}

/// Detaches plan instances (`l3`), and then instruments (`i7`) and patches (`p2`). Returns the names of
/// nothing that is attached.
fn detach_named(agent: &Agent, session: &PlanSession, names: &[String]) -> Vec<String> {
    let mut unknown = Vec::new();
    let mut others = Vec::new();
    for name in names {
        match name.parse() {
            Ok(instance) if session.remaining_work().contains_key(&instance) => {
                session.detach(instance);
            }
            Ok(_) => unknown.push(name.clone()),
            Err(_) => others.push(name.as_str()),
        }
    }
    match session.detach_by_ids(&others) {
        Ok(left) => unknown.extend(left.into_iter().map(str::to_owned)),
        Err(error) => {
            let names = others.join(", ");
            agent.report_problem("", &format!("while taking {names} off: {error}"));
        }
    }
    unknown
}

/// The instruments and patches that are attached now, by plan instance, oldest first.
fn attached(session: &PlanSession) -> Vec<Attachment> {
    let left = session.remaining_work().into_values();
    left.flat_map(|left| left.attachments).collect()
}

/// The ids of what was attached before and is not attached now.
fn detached_names(before: &[Attachment], after: &[Attachment]) -> Vec<String> {
    let detached = before.iter().filter(|thing| !after.contains(thing));
    detached.map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::{InstrumentId, PatchId};

    #[test]
    fn what_is_no_longer_attached_is_named_in_the_order_of_attachment() {
        let instrument = |n| Attachment::Instrument(InstrumentId(n));
        let patch = |n| Attachment::Patch(PatchId(n));
        let before = [instrument(3), patch(1), instrument(1), patch(3)];
        // A callback has attached i4 during the call.
        let after = [patch(3), instrument(4)];
        assert_eq!(detached_names(&before, &after), ["i3", "p1", "i1"]);
        assert_eq!(detached_names(&before, &before), [""; 0]);
    }
}
