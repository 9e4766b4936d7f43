//! Facts about classes that the old verifier (JVMS §4.10.2) established when it accepted the class.
//!
//! ```text
//!   A ──┐
//!       ├─▶ used as D        the old verifier found a superclass L of A and B with L <: D:  A <: D and B <: D are facts,
//!   B ──┘                    unless D is an interface, to which every object is assignable
//! ```
//!
//! A stack map is used only if every assumption of the type checker ([`crate::verify`]) follows
//! from these facts. This applies to inferred stack maps and to those of a class file of version
//! 50. So an error of the inference, or a wrong class in a map, is found before the class reaches
//!     the JVM.
//!
//! An access to a member of a class R that may be a superclass needs more. If the member is
//! protected and of another package, the object must be of the current class. Each of the following
//! proves that the access is allowed for objects of the class X:
//! * X is a subclass of the current class, or the current class does not extend R.
//! * The method accesses the member on objects of the class X only, or another method of the class
//!   does. The old verifier accepted that access.
//! * The class accesses the member on an object of the class R, without being R. Then the member is
//!   not protected in this sense.

use super::class_hierarchy::ClassHierarchy;
use super::flow::InferenceBody;
use super::union_types;
use super::uses::{self, MemberAccess, OBJECT};
use crate::bytecode::opcode::INVOKESPECIAL;
use crate::refusal::Refusal;
use crate::types::{State, Type};
use crate::verify::Assumption;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The facts that a class file proves. See the module documentation.
#[derive(Default)]
pub(super) struct Facts {
    /// For each class, the classes that it is assignable to.
    assignable: BTreeMap<String, BTreeSet<String>>,
    /// Accepted accesses, with the class of the object.
    accessible: HashSet<(MemberAccess, String)>,
}

impl Facts {
    /// Adds the facts of one method. `states` are the states at the starts of its fragments, with
    /// unions.
    pub fn collect(
        &mut self,
        code: &InferenceBody,
        states: &[Option<State>],
    ) -> Result<(), Refusal> {
        for (fragment, state) in code.flow.fragments().zip(states) {
            let Some(state) = state else { continue };
            let mut state = state.clone();
            for i in fragment.instructions.clone() {
                let Some((pc, instruction)) = code.instructions.get(i) else {
                    continue;
                };
                uses::for_each_use(
                    code,
                    *pc,
                    instruction,
                    &state,
                    &mut |value, asked, access| {
                        self.add(code.class, value, asked, access);
                    },
                )?;
                if let (INVOKESPECIAL, Some(index)) = (instruction.op(), instruction.pool_index()) {
                    let member = code.pool.member(index)?;
                    let above = code.pool.class_name(member.class)?;
                    if code.pool.utf8(member.name)? != b"<init>" {
                        self.add_assignable(code.class, &above);
                    }
                }
                code.step(&mut state, i)?;
            }
        }
        Ok(())
    }

    /// Adds the facts of another method.
    pub fn join(&mut self, other: &Facts) {
        for (class, above) in &other.assignable {
            let mine = self.assignable.entry(class.clone()).or_default();
            mine.extend(above.iter().cloned());
        }
        self.accessible.extend(other.accessible.iter().cloned());
    }

    fn add(&mut self, this: &str, value: &Type, asked: &str, access: Option<MemberAccess>) {
        let members = union_types::members(value);
        let of_object = access
            .as_ref()
            .is_some_and(|access| access.is_protected_of_object(this));
        for member in &members {
            self.add_assignable(member, asked);
            if of_object && !member.starts_with('[') {
                self.add_assignable(member, this);
            }
        }
        // If several classes meet, the old verifier checked only their common superclass.
        if let (Some(access), [only]) = (access, &members[..]) {
            self.accessible.insert((access, (*only).to_owned()));
        }
    }

    /// Records that `from` is assignable to `to`. For two arrays, the fact is about their elements.
    fn add_assignable(&mut self, from: &str, to: &str) {
        let (mut from, mut to) = (from, to);
        while let (Some(a), Some(b)) = (
            veneer_names::component_name(from),
            veneer_names::component_name(to),
        ) {
            (from, to) = (a, b);
        }
        if from == to || to == OBJECT || from.starts_with('[') || to.starts_with('[') {
            return;
        }
        let above = self.assignable.entry(from.to_owned()).or_default();
        if !above.contains(to) {
            above.insert(to.to_owned());
        }
    }

    /// True if an assumption follows from the facts. `this` is the class that makes the assumption.
    pub fn prove(&self, this: &str, assumption: &Assumption, hierarchy: &ClassHierarchy) -> bool {
        match assumption {
            Assumption::Assignable { from, to } => self.assignable(from, to, hierarchy),
            Assumption::Accessible {
                class,
                name,
                descriptor,
                receiver,
            } => {
                let access = |receiver: &str| {
                    let access = MemberAccess {
                        class: class.clone(),
                        name: name.clone(),
                        descriptor: descriptor.clone(),
                    };
                    self.accessible.contains(&(access, receiver.to_owned()))
                };
                // The class that a constructor initialises is determined by the code and not by a
                // stack map.
                name == "<init>"
                    || hierarchy.cannot_be_superclass(class, this)
                    || access(receiver)
                    || access(class)
                    || self.assignable(receiver, this, hierarchy)
            }
        }
    }

    fn assignable(&self, from: &str, to: &str, hierarchy: &ClassHierarchy) -> bool {
        if hierarchy.is_interface(to) || hierarchy.is_subclass(from, to) {
            return true;
        }
        // Two classes that are assignable to each other are interfaces.
        let holds =
            |from: &str, to: &str| self.assignable.get(from).is_some_and(|s| s.contains(to));
        if let Some(above) = self.assignable.get(to)
            && above.iter().any(|other| holds(other, to))
        {
            return true;
        }
        let (mut seen, mut work) = (HashSet::from([from]), vec![from]);
        while let Some(class) = work.pop() {
            for above in self.assignable.get(class).into_iter().flatten() {
                if above == to || hierarchy.is_subclass(above, to) {
                    return true;
                }
                if seen.insert(above) {
                    work.push(above);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> Facts {
        let mut facts = Facts::default();
        for (from, to) in pairs {
            facts.add_assignable(from, to);
        }
        facts
    }

    fn shows(facts: &Facts, from: &str, to: &str) -> bool {
        let assumption = Assumption::Assignable {
            from: from.into(),
            to: to.into(),
        };
        facts.prove("a/This", &assumption, &ClassHierarchy::default())
    }

    #[test]
    fn facts_are_transitive_and_no_more() {
        let facts = facts(&[("a/A", "a/B"), ("[La/B;", "[La/C;"), ("a/D", "a/C")]);
        assert!(shows(&facts, "a/A", "a/B"));
        assert!(shows(&facts, "a/A", "a/C"));
        assert!(!shows(&facts, "a/C", "a/A"));
        assert!(!shows(&facts, "a/A", "a/D"));
    }

    #[test]
    fn classes_above_each_other_are_interfaces() {
        let facts = facts(&[("a/I", "a/J"), ("a/J", "a/I")]);
        assert!(shows(&facts, "x/X", "a/I"));
        assert!(!shows(&facts, "a/I", "x/X"));
    }

    #[test]
    fn an_access_is_shown_by_an_equal_one_or_by_one_on_its_own_class() {
        let access = |receiver: &str| Assumption::Accessible {
            class: "a/Base".into(),
            name: "m".into(),
            descriptor: "()V".into(),
            receiver: receiver.into(),
        };
        let used = |receiver: &str| {
            let mut facts = Facts::default();
            let access = MemberAccess {
                class: "a/Base".into(),
                name: "m".into(),
                descriptor: "()V".into(),
            };
            facts.add("a/This", &Type::object(receiver), "a/Base", Some(access));
            facts
        };
        let hierarchy = {
            let mut hierarchy = ClassHierarchy::default();
            hierarchy.add_class("a/This", &["a/Middle"]);
            hierarchy
        };
        assert!(!Facts::default().prove("a/This", &access("a/A"), &hierarchy));
        assert!(used("a/A").prove("a/This", &access("a/A"), &hierarchy));
        assert!(!used("a/B").prove("a/This", &access("a/A"), &hierarchy));
        assert!(used("a/Base").prove("a/This", &access("a/A"), &hierarchy));
        assert!(!used("a/A.a/B").prove("a/This", &access("a/A"), &hierarchy));
    }
}
