//! Union types: the type of a variable at which values of several classes meet, until one class is
//! selected.
//!
//! A union is a [`Type::Object`] whose name holds the members, sorted and separated by `.`. No
//! internal name and no descriptor contains this character (JVMS §4.2.1). So [`crate::types::step`]
//! handles unions like classes.

use crate::types::{State, Type};
use std::collections::BTreeSet;
use veneer_names::component_name;

/// Maximum number of members. A larger union indicates an error of the analysis or an attack on it.
const MAX_MEMBERS: usize = 512;

/// Returns the members of a class type; none for `null`.
pub(super) fn members(t: &Type) -> Vec<&str> {
    match t {
        Type::Object(name) => name.split('.').collect(),
        _ => Vec::new(),
    }
}

/// True if the type has several members.
pub(super) fn is_union(t: &Type) -> bool {
    matches!(t, Type::Object(name) if name.contains('.'))
}

/// Returns the type with these members.
pub(super) fn from_members<'n>(names: impl IntoIterator<Item = &'n str>) -> Type {
    let names: BTreeSet<&str> = names.into_iter().collect();
    if names.is_empty() {
        Type::Null
    } else {
        Type::object(&names.into_iter().collect::<Vec<_>>().join("."))
    }
}

/// Joins the types of a variable on two paths. Returns `None` if the union becomes too large, or if
/// `this` before the call of `super(…)` meets any other type, because no stack map could describe
/// the result.
fn join(a: &Type, b: &Type) -> Option<Type> {
    if a == b {
        return Some(a.clone());
    }
    if *a == Type::UninitializedThis || *b == Type::UninitializedThis {
        return None;
    }
    if !a.is_reference() || !b.is_reference() {
        return Some(Type::Top);
    }
    let names: BTreeSet<&str> = members(a).into_iter().chain(members(b)).collect();
    (names.len() <= MAX_MEMBERS).then(|| from_members(names))
}

/// The result of joining two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    Same,
    Changed,
    /// The stack depths differ or a union is too large. No verifier accepts such code.
    Impossible,
}

/// Joins `from` into `into`.
pub(super) fn join_into(into: &mut State, from: &State) -> Joined {
    if into.stack.len() != from.stack.len() || into.locals.len() != from.locals.len() {
        return Joined::Impossible;
    }
    let mut changed = Joined::Same;
    let stack = into.stack.iter_mut().zip(&from.stack);
    for (a, b) in into.locals.iter_mut().zip(&from.locals).chain(stack) {
        let Some(t) = join(a, b) else {
            return Joined::Impossible;
        };
        if t != *a {
            *a = t;
            changed = Joined::Changed;
        }
    }
    changed
}

/// Returns the element type of an array type, as the union of its members' elements.
pub(super) fn element(t: &Type) -> Option<Type> {
    let mut names = Vec::new();
    for name in members(t) {
        names.push(component_name(name)?);
    }
    Some(from_members(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_joins_with_anything() {
        let a = Type::object("a/A");
        assert_eq!(join(&a, &Type::Null), Some(a.clone()));
        assert_eq!(join(&Type::Null, &a), Some(a));
    }

    #[test]
    fn classes_form_unions_and_other_types_become_top() {
        let (a, b) = (Type::object("a/A"), Type::object("b/B"));
        let ab = join(&b, &a).unwrap();
        assert_eq!(members(&ab), ["a/A", "b/B"]);
        assert!(is_union(&ab) && !is_union(&a));
        assert_eq!(join(&ab, &a), Some(ab.clone()));
        assert_eq!(join(&ab, &Type::Int), Some(Type::Top));
        assert_eq!(join(&Type::Uninitialized(3), &a), Some(Type::Top));
    }

    #[test]
    fn elements() {
        let arrays = from_members(["[La/A;", "[[I"]);
        assert_eq!(element(&arrays), Some(from_members(["a/A", "[I"])));
        assert_eq!(element(&Type::object("[I")), None);
    }
}
