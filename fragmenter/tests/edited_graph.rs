//! Listings of edited graphs: the edges after the edits, and the edits at their fragments.

mod classfile_support;
mod javac_support;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::devirtualisation::virtual_calls;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::listing::{MethodListing, TypeNames, edited};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::Edit;
use veneer_fragmenter::policy::Policy;

const SOURCE: &str = r#"
class Edited {
    static int run(Object one, int limit) {
        int sum = 0;
        for (int n = 0; n < limit; n++) {
            if (n % 3 == 0) {
                sum += 2;
            } else {
                sum += one.hashCode();
            }
        }
        return sum;
    }

    static int twice(boolean up, int limit) {
        int sum = 0;
        for (int n = 0; n < limit; n++) {
            if (up) {
                sum += n;
            } else {
                sum -= n;
            }
        }
        return sum;
    }
}
"#;

/// The listing of the method with the edits that `choose` returns for it.
fn listing(choose: impl Fn(&Method) -> Vec<Edit>) -> Result<MethodListing, Refusal> {
    listing_of("run", choose)
}

/// The same of a method with this name.
fn listing_of(name: &str, choose: impl Fn(&Method) -> Vec<Edit>) -> Result<MethodListing, Refusal> {
    let classes = javac_support::compile(&[("Edited".into(), SOURCE.into())]);
    let bytes = classes["Edited"].last().cloned().unwrap_or_default();
    let file = ClassFile::parse(&bytes)?;
    let is_named = |m: &veneer_fragmenter::classfile::Member| {
        file.pool.text(m.name).is_ok_and(|found| found == name)
    };
    let index = file.methods.iter().position(is_named).unwrap_or(0);
    let policy = Policy::Loop;
    let method = Method::analyse(&file, index, &|i, p| policy.cuts(i, p))?;
    let armed = arming::layout(&method, &policy, true)?;
    edited(&method, &choose(&method), &armed.points, &[])
}

/// The targets of the edges of each fragment.
fn targets(listing: &MethodListing) -> Vec<Vec<&str>> {
    let fragments = listing.fragments.iter();
    let of_fragment = fragments.map(|f| f.edges.iter().map(|edge| edge.to.as_str()).collect());
    of_fragment.collect()
}

/// The edits of each fragment.
fn edits(listing: &MethodListing) -> Vec<Vec<&str>> {
    let fragments = listing.fragments.iter();
    let of_fragment = fragments.map(|f| f.edits.iter().map(String::as_str).collect());
    of_fragment.collect()
}

#[test]
fn a_graph_without_edits_is_the_methods_own() -> Result<(), Refusal> {
    let own = listing(|_| Vec::new())?;
    assert_eq!(own.body, None);
    // f0 start, f1 loop header, f2 the test, f3 sum += 2, f4 the call, f5 n++, f6 return
    let edges = [
        vec!["f1"],
        vec!["f2", "f6"],
        vec!["f3", "f4"],
        vec!["f5"],
        vec!["f5"],
        vec!["f1"],
        vec![],
    ];
    assert_eq!(targets(&own), edges);
    assert!(edits(&own).concat().is_empty());
    Ok(())
}

#[test]
fn edits_are_shown_at_their_fragments_with_the_edges_after_them() -> Result<(), Refusal> {
    let (f2, f3, f4) = (FragmentId(2), FragmentId(3), FragmentId(4));
    let changed = listing(|method| {
        vec![
            Edit::Redirect {
                from: f2,
                to: f3,
                target: f4,
            },
            Edit::Skip {
                fragment: FragmentId(5),
            },
            Edit::Receiver {
                pc: virtual_calls(method)[0].pc,
                class: "java/lang/String".into(),
            },
            Edit::Constant { slot: 1, value: 9 },
        ]
    })?;
    assert_eq!(changed.body.as_deref(), Some("edited"));
    let edges = [
        vec!["f1"],
        vec!["f2", "f6"],
        vec!["f4", "f4"],
        vec!["f1"],
        vec!["f1"],
        vec!["f1"],
        vec![],
    ];
    assert_eq!(targets(&changed), edges);
    let shown = edits(&changed);
    assert_eq!(shown[0], ["local 1 is 9"]);
    assert_eq!(shown[2], ["redirect f2 -> f3 to f4"]);
    assert!(shown[4][0].ends_with("for java/lang/String"), "{shown:?}");
    assert_eq!(shown[5], ["skip f5"]);
    for other in [1, 3, 6] {
        assert!(shown[other].is_empty(), "{shown:?}");
    }
    let (text, dot) = (changed.to_string(), changed.to_dot(TypeNames::Full));
    assert!(text.contains("edit: skip f5"), "{text}");
    assert_eq!(dot.matches("color=red").count(), 4, "{dot}");
    let json = serde_json::to_value(&changed).expect("JSON");
    assert_eq!(json["fragments"][5]["edits"][0], "skip f5");
    assert!(json["fragments"][3].get("edits").is_none());
    Ok(())
}

#[test]
fn a_replaced_fragment_has_the_uses_of_the_other_one() -> Result<(), Refusal> {
    let own = listing(|_| Vec::new())?;
    let (fragment, by) = (FragmentId(3), FragmentId(4));
    let replaced = listing(|_| vec![Edit::Replace { fragment, by }])?;
    assert_eq!(replaced.fragments[3].uses, own.fragments[4].uses);
    assert_ne!(replaced.fragments[3].uses, own.fragments[3].uses);
    assert_eq!(targets(&replaced), targets(&own));
    Ok(())
}

#[test]
fn copies_are_listed_behind_the_methods_own_fragments() -> Result<(), Refusal> {
    let path = [2, 4, 5].map(FragmentId);
    let copied = listing(|_| vec![Edit::Duplicate { path: path.into() }])?;
    // f7 is the copy of the merge f5.
    let edges = [
        vec!["f1"],
        vec!["f2", "f6"],
        vec!["f3", "f4"],
        vec!["f5"],
        vec!["f7"],
        vec!["f1"],
        vec![],
        vec!["f1"],
    ];
    assert_eq!(targets(&copied), edges);
    assert_eq!(edits(&copied)[7], ["copy of f5"]);
    assert_eq!(copied.fragments[7].def, copied.fragments[5].def);
    Ok(())
}

#[test]
fn an_unswitched_loop_is_listed_twice_with_a_choice() -> Result<(), Refusal> {
    // f0 start, f1 loop header, f2 the branch, f3 sum += n, f4 sum -= n, f5 n++, f6 return
    let fragment = FragmentId(2);
    let twice = listing_of("twice", |_| vec![Edit::Unswitch { fragment }])?;
    let edges = [
        vec!["f12"],
        vec!["f2", "f6"],
        vec!["f3", "f4"],
        vec!["f5"],
        vec!["f5"],
        vec!["f1"],
        vec![],
        vec!["f8", "f6"],
        vec!["f9", "f10"],
        vec!["f11"],
        vec!["f11"],
        vec!["f7"],
        vec!["f7", "f1"],
    ];
    assert_eq!(targets(&twice), edges);
    let shown = edits(&twice);
    assert_eq!(shown[12], ["chooses between f1 and its copy"]);
    for (copy, origin) in (7..=11).zip(1..) {
        assert_eq!(shown[copy], [format!("copy of f{origin}")]);
    }
    Ok(())
}

#[test]
fn parts_and_refusals_are_shown() -> Result<(), Refusal> {
    let split = listing(|_| vec![Edit::Split { budget: 20 }])?;
    let shown = edits(&split);
    assert!(shown.iter().all(|one| one.len() == 1), "{shown:?}");
    assert!(shown[0][0].starts_with("in part 1 of "), "{shown:?}");
    let refused = listing(|_| {
        vec![Edit::Skip {
            fragment: FragmentId(2),
        }]
    });
    assert_eq!(
        refused.err().as_ref().map(Refusal::name),
        Some("NoSingleSuccessor")
    );
    Ok(())
}
