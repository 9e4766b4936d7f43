//! Assumptions: facts about other classes that a class file needs in order to verify, and that its
//! own bytes do not show.

use std::fmt;
use std::hash::Hash;

use indexmap::IndexSet;

use super::names::{NameId, NameTable};

/// An access to a member of a class that may be a superclass. If the class is one, and the member
/// is protected and declared in another package, then the receiver must be of the current class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AccessAssumption {
    pub class: NameId,
    pub name: NameId,
    pub descriptor: NameId,
    pub receiver: NameId,
}

/// One assumption. Class names are internal names; arrays are given by their descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Assumption {
    /// A value of the class `from` is assignable to `to`: `from` is a subclass of `to`, or `to` is
    /// an interface.
    Assignable {
        /// The class of the value.
        from: String,
        /// The required class.
        to: String,
    },
    /// The member may be accessed on objects of the class `receiver`. One of the following must
    /// hold: the member is not protected; it is not declared by a superclass in another package; or
    /// `receiver` is the current class or a subclass.
    Accessible {
        /// The class named by the reference.
        class: String,
        /// The name of the member.
        name: String,
        /// The descriptor of the member.
        descriptor: String,
        /// The class of the object.
        receiver: String,
    },
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::Assignable { from, to } => write!(f, "{from} is assignable to {to}"),
            Assumption::Accessible {
                class,
                name,
                receiver,
                ..
            } => write!(f, "{class}.{name} is accessible on a {receiver}"),
        }
    }
}

/// All assumptions of a class file.
pub struct Assumptions<'n> {
    pub(super) names: NameTable<'n>,
    pub(super) assignable: IndexSet<(NameId, NameId), ahash::RandomState>,
    pub(super) accesses: IndexSet<AccessAssumption, ahash::RandomState>,
}

impl<'n> Assumptions<'n> {
    pub(super) fn new() -> Assumptions<'n> {
        Assumptions {
            names: NameTable::new(),
            assignable: IndexSet::default(),
            accesses: IndexSet::default(),
        }
    }

    /// Returns the number of assumptions.
    pub fn len(&self) -> usize {
        self.assignable.len() + self.accesses.len()
    }

    /// True if there is no assumption.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over all assumptions; those of assignability are first.
    pub fn iter(&self) -> impl Iterator<Item = Assumption> + '_ {
        let pairs = self.assignable.iter().map(|pair| self.assignable(pair));
        pairs.chain(self.accesses.iter().map(|access| self.accessible(access)))
    }

    /// Returns the first assumption that `granted` does not contain. `excused` returns true for
    /// classes whose members are known to be accessible.
    pub fn not_implied_by(
        &self,
        granted: &Assumptions<'_>,
        excused: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Assumption> {
        let there = |id: NameId| granted.names.find(self.names.bytes(id));
        let pair = self.assignable.iter().find(|(from, to)| {
            let both = there(*from).zip(there(*to));
            !both.is_some_and(|pair| granted.assignable.contains(&pair))
        });
        if let Some(pair) = pair {
            return Some(self.assignable(pair));
        }
        let known = |access: &AccessAssumption| {
            Some(AccessAssumption {
                class: there(access.class)?,
                name: there(access.name)?,
                descriptor: there(access.descriptor)?,
                receiver: there(access.receiver)?,
            })
        };
        let access = self.accesses.iter().find(|access| {
            !excused(self.names.bytes(access.class))
                && !known(access).is_some_and(|access| granted.accesses.contains(&access))
        })?;
        Some(self.accessible(access))
    }

    fn assignable(&self, (from, to): &(NameId, NameId)) -> Assumption {
        Assumption::Assignable {
            from: self.names.text(*from).into_owned(),
            to: self.names.text(*to).into_owned(),
        }
    }

    fn accessible(&self, access: &AccessAssumption) -> Assumption {
        let text = |id| self.names.text(id).into_owned();
        Assumption::Accessible {
            class: text(access.class),
            name: text(access.name),
            descriptor: text(access.descriptor),
            receiver: text(access.receiver),
        }
    }
}
