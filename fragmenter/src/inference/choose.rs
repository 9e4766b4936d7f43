//! The one class that a stack map names where objects of several classes meet. The module [`super`] says why it verifies.
//!
//! | demands (interfaces and `Object` left out)         | choice                                   |
//! |----------------------------------------------------|------------------------------------------|
//! | none, and all that come are arrays                 | the array above them (JVMS §4.10.2.2)    |
//! | none                                               | `Object`                                 |
//! | one of the classes that come is asked for          | that one                                 |
//! | one class                                          | that class                               |
//! | several, one of them certainly below the others    | that one                                 |
//! | several, all but one certainly interfaces          | that one                                 |
//! | else                                               | none                                     |

use super::demand::Node;
use super::kinds::Kinds;
use super::union;

const OBJECT: &str = "java/lang/Object";
const OBJECTS: &str = "[Ljava/lang/Object;";

/// The choice for a node. `Err` says which demands could not be brought together.
pub(super) fn choose(node: &Node, kinds: &Kinds) -> Result<String, Vec<String>> {
    let union: Vec<&str> = node.union.iter().map(String::as_str).collect();
    let demands: Vec<&str> = node.demands.iter().map(String::as_str).collect();
    pick(&union, &demands, kinds).ok_or_else(|| node.demands.iter().cloned().collect())
}

fn pick(union: &[&str], demands: &[&str], kinds: &Kinds) -> Option<String> {
    if let [only] = union {
        return Some((*only).to_owned());
    }
    let arrays = union.iter().all(|n| n.starts_with('['));
    let above = arrays.then(|| array_above(union));
    // What every object passes for, and what every array of those that come passes for.
    let mut demands: Vec<&str> = demands
        .iter()
        .copied()
        .filter(|d| *d != OBJECT && !kinds.is_interface(d))
        .collect();
    if let Some(above) = &above {
        demands.retain(|d| !passes(above, d));
    }
    // Arrays of arrays, asked for as arrays of objects as well.
    if demands
        .iter()
        .any(|d| *d != OBJECTS && union::component(d).is_some())
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
        // Two classes cannot both be closest above them, so all that is asked for are interfaces.
        (_, [_, _, ..]) => Some(above.unwrap_or_else(|| OBJECT.to_owned())),
        ([one], _) => Some((*one).to_owned()),
        _ => match (components(union), components(&demands)) {
            (Some(union), Some(demands)) => {
                pick(&union, &demands, kinds).map(|c| union::array_of(&c))
            }
            _ => lowest(&demands, kinds),
        },
    }
}

/// The one among several demands that meets them all.
fn lowest(demands: &[&str], kinds: &Kinds) -> Option<String> {
    demands
        .iter()
        .find(|low| demands.iter().all(|d| kinds.is_below(low, d)))
        .map(|low| (*low).to_owned())
}

/// What arrays hold, where all are arrays of references.
fn components<'n>(arrays: &[&'n str]) -> Option<Vec<&'n str>> {
    arrays.iter().map(|a| union::component(a)).collect()
}

/// Whether an array passes for what is asked, by its form alone.
fn passes(array: &str, asked: &str) -> bool {
    array == asked
        || asked == OBJECT
        || match (union::component(array), union::component(asked)) {
            (Some(a), Some(b)) => b == OBJECT || passes(a, b),
            _ => false,
        }
}

/// The closest class above arrays (JVMS §4.10.2.2): of equal depth and with elements of classes, the array of objects of that
/// depth; with fewer dimensions in common, of that many less.
fn array_above(arrays: &[&str]) -> String {
    match components(arrays) {
        None if arrays.iter().all(|a| *a == arrays[0]) => arrays[0].to_owned(),
        None => OBJECT.to_owned(),
        Some(c) if c.iter().all(|n| n.starts_with('[')) => union::array_of(&array_above(&c)),
        Some(c) if c.iter().all(|n| *n == c[0]) => arrays[0].to_owned(),
        Some(_) => OBJECTS.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(union: &[&str], demands: &[&str]) -> Option<String> {
        let mut kinds = Kinds::default();
        kinds.know("a/Sub", &["a/Base"]);
        kinds.know_interface("a/I");
        pick(union, demands, &kinds)
    }

    #[test]
    fn what_nobody_asks_of_is_an_object() {
        assert_eq!(picked(&["a/A", "a/B"], &[]).unwrap(), OBJECT);
        assert_eq!(picked(&["a/A", "a/B"], &["a/I", OBJECT]).unwrap(), OBJECT);
    }

    #[test]
    fn one_demand_is_the_choice() {
        assert_eq!(picked(&["a/A", "a/B"], &["a/C"]).unwrap(), "a/C");
        assert_eq!(picked(&["a/A", "a/B"], &["a/C", "a/I"]).unwrap(), "a/C");
    }

    #[test]
    fn one_that_comes_and_is_asked_for_is_the_lowest() {
        assert_eq!(picked(&["a/A", "a/B"], &["a/A", "a/C"]).unwrap(), "a/A");
        assert_eq!(picked(&["a/A", "a/B"], &["a/A", "a/B"]).unwrap(), OBJECT);
    }

    #[test]
    fn several_demands_need_somebody_who_knows() {
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
