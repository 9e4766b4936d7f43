//! Solves the constraints: selects the one class that a stack map names where objects of several
//! classes meet. The documentation of [`super`] explains why the selected class verifies.
//!
//! | required classes, without interfaces and `Object`  | selected class                           |
//! |----------------------------------------------------|------------------------------------------|
//! | none, and all incoming classes are arrays          | their common supertype (JVMS §4.10.2.2)  |
//! | none                                               | `Object`                                 |
//! | one of the incoming classes is required            | that class                               |
//! | one class                                          | that class                               |
//! | several, one certainly a subclass of the others    | that class                               |
//! | several, all but one certainly interfaces          | that class                               |
//! | otherwise                                          | none                                     |

use super::class_hierarchy::ClassHierarchy;
use super::constraints::TypeVariable;
use super::union_types;

const OBJECT: &str = "java/lang/Object";
const OBJECTS: &str = "[Ljava/lang/Object;";

/// Returns the selected class of a type variable. The error lists the required classes that could
/// not be reconciled.
pub(super) fn select_class(
    node: &TypeVariable,
    hierarchy: &ClassHierarchy,
) -> Result<String, Vec<String>> {
    let union: Vec<&str> = node.union.iter().map(String::as_str).collect();
    let demands: Vec<&str> = node.demands.iter().map(String::as_str).collect();
    pick(&union, &demands, hierarchy).ok_or_else(|| node.demands.iter().cloned().collect())
}

fn pick(union: &[&str], demands: &[&str], hierarchy: &ClassHierarchy) -> Option<String> {
    if let [only] = union {
        return Some((*only).to_owned());
    }
    let arrays = union.iter().all(|n| n.starts_with('['));
    let above = arrays.then(|| array_above(union));
    // Drop the requirements that every object meets, and those that every incoming array meets.
    let mut demands: Vec<&str> = demands
        .iter()
        .copied()
        .filter(|d| *d != OBJECT && !hierarchy.is_interface(d))
        .collect();
    if let Some(above) = &above {
        demands.retain(|d| !passes(above, d));
    }
    // Arrays of arrays that are also required as arrays of objects.
    if demands
        .iter()
        .any(|d| *d != OBJECTS && union_types::component(d).is_some())
    {
        demands.retain(|d| *d != OBJECTS);
    }
    let asked: Vec<&str> = demands
        .iter()
        .copied()
        .filter(|d| union.contains(d))
        .collect();
    match (&demands[..], &asked[..]) {
        ([], _) => Some(above.unwrap_or_else(|| OBJECT.to_owned())),
        (_, [one]) => Some((*one).to_owned()),
        // Two incoming classes cannot both be the closest common superclass, so all required
        // classes are interfaces.
        (_, [_, _, ..]) => Some(above.unwrap_or_else(|| OBJECT.to_owned())),
        ([one], _) => Some((*one).to_owned()),
        _ => match (components(union), components(&demands)) {
            (Some(union), Some(demands)) => {
                pick(&union, &demands, hierarchy).map(|c| union_types::array_of(&c))
            }
            _ => most_specific(&demands, hierarchy),
        },
    }
}

/// Returns the required class that is a subclass of all others.
fn most_specific(demands: &[&str], hierarchy: &ClassHierarchy) -> Option<String> {
    demands
        .iter()
        .find(|low| demands.iter().all(|d| hierarchy.is_subclass(low, d)))
        .map(|low| (*low).to_owned())
}

/// Returns the component classes, if all classes are arrays of references.
fn components<'n>(arrays: &[&'n str]) -> Option<Vec<&'n str>> {
    arrays.iter().map(|a| union_types::component(a)).collect()
}

/// True if an array type is a subtype of `asked` by the form of the two names alone.
fn passes(array: &str, asked: &str) -> bool {
    array == asked
        || asked == OBJECT
        || match (union_types::component(array), union_types::component(asked)) {
            (Some(a), Some(b)) => b == OBJECT || passes(a, b),
            _ => false,
        }
}

/// Returns the closest common supertype of arrays (JVMS §4.10.2.2). Arrays of equal depth with
/// different class elements become the array of objects of that depth. If the arrays differ in
/// depth or have primitive elements, the common type has fewer dimensions.
fn array_above(arrays: &[&str]) -> String {
    match components(arrays) {
        None if arrays.iter().all(|a| *a == arrays[0]) => arrays[0].to_owned(),
        None => OBJECT.to_owned(),
        Some(c) if c.iter().all(|n| n.starts_with('[')) => union_types::array_of(&array_above(&c)),
        Some(c) if c.iter().all(|n| *n == c[0]) => arrays[0].to_owned(),
        Some(_) => OBJECTS.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(union: &[&str], demands: &[&str]) -> Option<String> {
        let mut hierarchy = ClassHierarchy::default();
        hierarchy.add_class("a/Sub", &["a/Base"]);
        hierarchy.add_interface("a/I");
        pick(union, demands, &hierarchy)
    }

    #[test]
    fn without_requirements_the_class_is_object() {
        assert_eq!(picked(&["a/A", "a/B"], &[]).unwrap(), OBJECT);
        assert_eq!(picked(&["a/A", "a/B"], &["a/I", OBJECT]).unwrap(), OBJECT);
    }

    #[test]
    fn a_single_requirement_is_selected() {
        assert_eq!(picked(&["a/A", "a/B"], &["a/C"]).unwrap(), "a/C");
        assert_eq!(picked(&["a/A", "a/B"], &["a/C", "a/I"]).unwrap(), "a/C");
    }

    #[test]
    fn a_required_incoming_class_is_selected() {
        assert_eq!(picked(&["a/A", "a/B"], &["a/A", "a/C"]).unwrap(), "a/A");
        assert_eq!(picked(&["a/A", "a/B"], &["a/A", "a/B"]).unwrap(), OBJECT);
    }

    #[test]
    fn several_requirements_need_a_known_hierarchy() {
        assert_eq!(picked(&["a/A", "a/B"], &["a/C", "a/D"]), None);
        assert_eq!(
            picked(&["a/A", "a/B"], &["a/Base", "a/Sub"]).unwrap(),
            "a/Sub"
        );
    }

    #[test]
    fn arrays_meet_in_arrays() {
        assert_eq!(picked(&["[La/A;", "[La/B;"], &[OBJECTS]).unwrap(), OBJECTS);
        assert_eq!(picked(&["[[I", "[La/B;"], &[]).unwrap(), OBJECTS);
        assert_eq!(
            picked(&["[[La/A;", "[[La/B;"], &[OBJECTS]).unwrap(),
            "[[Ljava/lang/Object;"
        );
        assert_eq!(picked(&["[I", "[J"], &[]).unwrap(), OBJECT);
        assert_eq!(picked(&["[[I", "[[J"], &[]).unwrap(), OBJECTS);
        assert_eq!(picked(&["[I", "a/A"], &[]).unwrap(), OBJECT);
        assert_eq!(
            picked(&["[La/A;", "[La/B;"], &["[La/C;", OBJECTS]).unwrap(),
            "[La/C;"
        );
    }
}
