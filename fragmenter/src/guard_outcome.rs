//! The outcomes of the guards that edits insert, at which counters can be placed ([`Site::Guard`]).
//!
//! ```text
//!   the call at pc 17:   instanceof C ─passed─▶ outcome "C"      devirtualise
//!                        instanceof D ─passed─▶ outcome "D"
//!                                     ─failed─▶ outcome "no test"
//!   parameter == 8:                   ─passed─▶ outcome "is"     specialise
//!                                     ─failed─▶ outcome "is not"
//! ```
//!
//! A counter names the outcome itself and no position among the tests. So it counts the same outcome when other
//! edits of the method come and go, and nothing while no edit inserts the guard.
//!
//! **Argument.** A counter changes no value of the method. The checker treats it like any other counter: own code
//! that may add to the counters of the plan only.

use crate::advice::{OutcomeKey, Site};
use crate::method::Method;
use crate::patch::{Edit, constants};
use crate::specialisation::parameter_of_slot;
use std::collections::BTreeSet;
use std::sync::Arc;
use veneer_names::java_form;

/// An outcome of a guard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GuardOutcome {
    /// The receiver of the call at `pc` has passed the test for a class.
    Receiver {
        /// The pc of the call.
        pc: u16,
        /// The internal name of the class.
        class: Arc<str>,
    },
    /// The receiver of the call at this pc has passed no test.
    OtherReceiver(u16),
    /// An activation begins with the constant in the parameter.
    Constant {
        /// The local variable of the parameter.
        slot: u16,
        /// The value with which the guard compares the parameter.
        value: i32,
    },
    /// An activation begins with another value, and leaves for the method as it is.
    OtherValue {
        /// The local variable of the parameter.
        slot: u16,
        /// The value with which the guard compares the parameter.
        value: i32,
    },
}

impl GuardOutcome {
    /// The join point of the outcome.
    pub fn site(&self) -> Site {
        Site::Guard(OutcomeKey::from_outcome(self))
    }

    /// The pc of the guarded call. A guard of a parameter has none.
    pub fn pc(&self) -> Option<u16> {
        match self {
            GuardOutcome::Receiver { pc, .. } | GuardOutcome::OtherReceiver(pc) => Some(*pc),
            GuardOutcome::Constant { .. } | GuardOutcome::OtherValue { .. } => None,
        }
    }

    /// The text of the outcome in reports. `call` is the text of the guarded call.
    pub fn text(&self, method: &Method, call: &str) -> String {
        match self {
            GuardOutcome::Receiver { class, .. } => format!("{call} on {}", java_form(class)),
            GuardOutcome::OtherReceiver(_) => format!("{call} on others"),
            GuardOutcome::Constant { slot, value } => {
                format!("{} is {value}", parameter_name(method, *slot))
            }
            GuardOutcome::OtherValue { slot, value } => {
                format!("{} is not {value}", parameter_name(method, *slot))
            }
        }
    }
}

fn parameter_name(method: &Method, slot: u16) -> String {
    match parameter_of_slot(method, slot) {
        Some(parameter) => format!("parameter {parameter}"),
        None => format!("local {slot}"),
    }
}

/// The outcomes of all guards that the edits of a method insert: those of parameters, then those of calls, each
/// call with its tests in their order and the failure of all tests at the end.
pub fn outcomes(edits: &[Edit]) -> Vec<GuardOutcome> {
    let mut all = Vec::new();
    for (slot, value) in constants(edits) {
        all.push(GuardOutcome::Constant { slot, value });
        all.push(GuardOutcome::OtherValue { slot, value });
    }
    let tested = edits.iter().filter_map(|edit| match edit {
        Edit::Receiver { pc, .. } => Some(*pc),
        _ => None,
    });
    for at in tested.collect::<BTreeSet<u16>>() {
        for edit in edits {
            let Edit::Receiver { pc, class } = edit else {
                continue;
            };
            let outcome = GuardOutcome::Receiver {
                pc: at,
                class: class.clone(),
            };
            if *pc == at && !all.contains(&outcome) {
                all.push(outcome);
            }
        }
        all.push(GuardOutcome::OtherReceiver(at));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_guard_has_its_outcomes_once() {
        let test = |pc, class: &str| Edit::Receiver {
            pc,
            class: class.into(),
        };
        let constant = |slot, value| Edit::Constant { slot, value };
        let edits = [
            test(17, "a/C"),
            constant(1, 8),
            test(5, "a/C"),
            test(17, "a/D"),
            test(17, "a/C"),
            constant(1, 9),
        ];
        let receiver = |pc, class: &str| GuardOutcome::Receiver {
            pc,
            class: class.into(),
        };
        let found = outcomes(&edits);
        assert_eq!(
            found,
            [
                GuardOutcome::Constant { slot: 1, value: 9 },
                GuardOutcome::OtherValue { slot: 1, value: 9 },
                receiver(5, "a/C"),
                GuardOutcome::OtherReceiver(5),
                receiver(17, "a/C"),
                receiver(17, "a/D"),
                GuardOutcome::OtherReceiver(17),
            ]
        );
        let sites: BTreeSet<Site> = found.iter().map(GuardOutcome::site).collect();
        assert_eq!(sites.len(), found.len());
        assert!(outcomes(&[Edit::Split { budget: 100 }]).is_empty());
    }
}
