//! Hypotheses: "this place takes more than the threshold of the active time, for this cause, in
//! these threads".

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::place::{GroupId, MethodId, Place};

/// A point in the space of the axes *where*, *why* and *who*. The axis *when* is the period in
/// which the hypothesis holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hypothesis {
    pub place: Place,
    pub cause: Cause,
    /// The thread group, or all threads.
    pub group: Option<GroupId>,
}

impl Hypothesis {
    /// Returns the hypothesis about all time of all threads in a place.
    pub fn time(place: Place) -> Hypothesis {
        Hypothesis {
            place,
            cause: Cause::Time,
            group: None,
        }
    }

    /// Returns the hypothesis about a method with everything that it calls.
    pub fn method(method: MethodId) -> Hypothesis {
        Hypothesis::time(Place::Method(method))
    }

    /// Returns whether the hypothesis is about all time of a method in all threads: a node of the
    /// call graph.
    pub fn is_node(self) -> bool {
        matches!(self.place, Place::Method(_)) && self.cause == Cause::Time && self.group.is_none()
    }

    /// Returns the number of refinements: blocks refine loops, loops refine methods, and causes
    /// refine their parents.
    pub fn specificity(self) -> usize {
        let place = match self.place {
            Place::Method(_) => 0,
            Place::Loop { .. } => 1,
            Place::Block { .. } => 2,
        };
        let causes = std::iter::successors(self.cause.parent(), |cause| cause.parent());
        place + causes.count() + usize::from(self.group.is_some())
    }
}
