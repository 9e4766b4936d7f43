//! Detaching plan instances, components, instruments and patches by name.

use crate::agent::Agent;
use crate::plans::plan_instances::number;
use std::collections::BTreeSet;
use veneer_protocol as p;
use veneer_scripts::{Session, Thing};

/// Takes off what is named. Called by the plan thread.
pub fn detach(agent: &Agent, session: &Session, which: &p::Which) -> (Vec<String>, Vec<String>) {
    let before = standing(session);
    let mut unknown = Vec::new();
    match which {
        p::Which::All | p::Which::Unload => {
            let mut loads: BTreeSet<u64> = session.left().into_keys().collect();
            loads.extend(session.components().iter().map(|component| component.load));
            for load in loads.into_iter().rev() {
                match which {
                    // Where the agent leaves nobody can ask any more.
                    p::Which::Unload => session.unload(load),
                    _ => session.detach(load),
                }
            }
        }
        p::Which::Components(names) => {
            for name in names {
                if !session.detach_component(name) {
                    unknown.push(name.clone());
                }
            }
        }
        p::Which::These(names) => {
            for name in names {
                let known = match number(name) {
                    Some(load) if session.left().contains_key(&load) => {
                        session.detach(load);
                        true
                    }
                    Some(_) => false,
                    None => session.take_off_one(name).unwrap_or_else(|e| {
                        agent.problem("", &format!("while taking {name} off: {e}"));
                        true
                    }),
                };
                if !known {
                    unknown.push(name.clone());
                }
            }
        }
    }
    let after = standing(session);
    let taken = before.into_iter().filter(|thing| !after.contains(thing));
    (taken.map(|thing| thing.to_string()).collect(), unknown)
}

fn standing(session: &Session) -> Vec<Thing> {
    session
        .left()
        .into_values()
        .flat_map(|l| l.things)
        .collect()
}
