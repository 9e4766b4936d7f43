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

const OBJECT: &str = "java/lang/Object";
const OBJECTS: &str = "[Ljava/lang/Object;";

/// Returns the selected class of a type variable. The error lists the required classes that could
/// not be reconciled.
pub(super) fn select_class(
    node: &TypeVariable,
    hierarchy: &ClassHierarchy,
) -> Result<String, Vec<String>> {
    let union: Vec<&str> = node.union.iter().map(String::as_str).collect();
    let required: Vec<&str> = node.required.iter().map(String::as_str).collect();
    select(&union, &required, hierarchy).ok_or_else(|| node.required.iter().cloned().collect())
}

fn select(union: &[&str], required: &[&str], hierarchy: &ClassHierarchy) -> Option<String> {
    if let [only] = union {
        return Some((*only).to_owned());
    }
    let arrays = union.iter().all(|n| n.starts_with('['));
    let above = arrays.then(|| common_array_supertype(union));
    // Drop the requirements that every object meets, and those that every incoming array meets.
    let mut required: Vec<&str> = required
        .iter()
        .copied()
        .filter(|d| *d != OBJECT && !hierarchy.is_interface(d))
        .collect();
    if let Some(above) = &above {
        required.retain(|d| !array_is_subtype(above, d));
    }
    // Arrays of arrays that are also required as arrays of objects.
    if required
        .iter()
        .any(|d| *d != OBJECTS && veneer_names::component_name(d).is_some())
    {
        required.retain(|d| *d != OBJECTS);
    }
    let asked: Vec<&str> = required
        .iter()
        .copied()
        .filter(|d| union.contains(d))
        .collect();
    match (&required[..], &asked[..]) {
        ([], _) => Some(above.unwrap_or_else(|| OBJECT.to_owned())),
        (_, [one]) => Some((*one).to_owned()),
        // Two incoming classes cannot both be the closest common superclass, so all required
        // classes are interfaces.
        (_, [_, _, ..]) => Some(above.unwrap_or_else(|| OBJECT.to_owned())),
        ([one], _) => Some((*one).to_owned()),
        _ => match (components(union), components(&required)) {
            (Some(union), Some(required)) => {
                select(&union, &required, hierarchy).map(|c| veneer_names::array_of(&c))
            }
            _ => most_specific(&required, hierarchy),
        },
    }
}

/// Returns the required class that is a subclass of all others.
fn most_specific(required: &[&str], hierarchy: &ClassHierarchy) -> Option<String> {
    required
        .iter()
        .find(|class| required.iter().all(|d| hierarchy.is_subclass(class, d)))
        .map(|class| (*class).to_owned())
}

/// Returns the component classes, if all classes are arrays of references.
fn components<'n>(arrays: &[&'n str]) -> Option<Vec<&'n str>> {
    arrays
        .iter()
        .map(|a| veneer_names::component_name(a))
        .collect()
}

/// True if an array type is a subtype of `asked` by the form of the two names alone.
fn array_is_subtype(array: &str, asked: &str) -> bool {
    array == asked
        || asked == OBJECT
        || match (
            veneer_names::component_name(array),
            veneer_names::component_name(asked),
        ) {
            (Some(a), Some(b)) => b == OBJECT || array_is_subtype(a, b),
            _ => false,
        }
}

/// Returns the closest common supertype of arrays (JVMS §4.10.2.2). Arrays of equal depth with
/// different class elements become the array of objects of that depth. If the arrays differ in
/// depth or have primitive elements, the common type has fewer dimensions.
fn common_array_supertype(arrays: &[&str]) -> String {
    match components(arrays) {
        None if arrays.iter().all(|a| *a == arrays[0]) => arrays[0].to_owned(),
        None => OBJECT.to_owned(),
        Some(c) if c.iter().all(|n| n.starts_with('[')) => {
            veneer_names::array_of(&common_array_supertype(&c))
        }
        Some(c) if c.iter().all(|n| *n == c[0]) => arrays[0].to_owned(),
        Some(_) => OBJECTS.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(union: &[&str], required: &[&str]) -> Option<String> {
        let mut hierarchy = ClassHierarchy::default();
        hierarchy.add_class("a/Sub", &["a/Base"]);
        hierarchy.add_interface("a/I");
        select(union, required, &hierarchy)
    }

    #[test]
    fn without_requirements_the_class_is_object() {
        assert_eq!(selected(&["a/A", "a/B"], &[]).unwrap(), OBJECT);
        assert_eq!(selected(&["a/A", "a/B"], &["a/I", OBJECT]).unwrap(), OBJECT);
    }

    #[test]
    fn a_single_requirement_is_selected() {
        assert_eq!(selected(&["a/A", "a/B"], &["a/C"]).unwrap(), "a/C");
        assert_eq!(selected(&["a/A", "a/B"], &["a/C", "a/I"]).unwrap(), "a/C");
    }

    #[test]
    fn a_required_incoming_class_is_selected() {
        assert_eq!(selected(&["a/A", "a/B"], &["a/A", "a/C"]).unwrap(), "a/A");
        assert_eq!(selected(&["a/A", "a/B"], &["a/A", "a/B"]).unwrap(), OBJECT);
    }

    #[test]
    fn several_requirements_need_a_known_hierarchy() {
        assert_eq!(selected(&["a/A", "a/B"], &["a/C", "a/D"]), None);
        assert_eq!(
            selected(&["a/A", "a/B"], &["a/Base", "a/Sub"]).unwrap(),
            "a/Sub"
        );
    }

    #[test]
    fn arrays_meet_in_arrays() {
        assert_eq!(
            selected(&["[La/A;", "[La/B;"], &[OBJECTS]).unwrap(),
            OBJECTS
        );
        assert_eq!(selected(&["[[I", "[La/B;"], &[]).unwrap(), OBJECTS);
        assert_eq!(
            selected(&["[[La/A;", "[[La/B;"], &[OBJECTS]).unwrap(),
            "[[Ljava/lang/Object;"
        );
        assert_eq!(selected(&["[I", "[J"], &[]).unwrap(), OBJECT);
        assert_eq!(selected(&["[[I", "[[J"], &[]).unwrap(), OBJECTS);
        assert_eq!(selected(&["[I", "a/A"], &[]).unwrap(), OBJECT);
        assert_eq!(
            selected(&["[La/A;", "[La/B;"], &["[La/C;", OBJECTS]).unwrap(),
            "[La/C;"
        );
    }
}
