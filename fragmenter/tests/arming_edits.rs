//! Tests edits of the fragment graph. An accepted edit has its documented effect and verifies; any
//! other edit is refused with a named refusal.

mod arming_support;
mod classfile_support;
mod javac_support;

use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, ArmedCode};
use veneer_fragmenter::check::{self, Expected};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::endless::endless_fragment;
use veneer_fragmenter::flowgraph::{FragmentId, FragmentNode};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit, Patched};
use veneer_fragmenter::points::{Point, PointKind};
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::CounterSlot;

const SOURCE: &str = r#"
class Edits {
    static int branch(int a, int b) {
        int m;
        if (a > b) {        // f0
            m = a;          // f1 -> f3
        } else {
            m = b;          // f2 -> f3
        }
        return m;           // f3
    }

    static int loop(int n) {
        int sum = 0;                      // f0 -> f1
        for (int i = 0; i < n; i++) {     // f1 -> f2 f6
            if (i == 7) {                 // f2 -> f3 f4
                sum += 1000;              // f3 -> f5
            } else {
                sum += i;                 // f4 -> f5
            }
        }                                 // f5 -> f1
        return sum;                       // f6
    }

    static int types(boolean p, int n) {
        if (p) {                          // f0 -> f1 f4
            int x = n;                    // f1 -> f2 f3
            if (n > 3) {
                x++;                      // f2 -> f3
            }
            return x;                     // f3
        }
        String y = "a";                   // f4 -> f5 f6
        if (n > 3) {
            y = y + "b";                  // f5 -> f6
        }
        return y.length();                // f6
    }

    static int stack(int a, boolean p) {
        if (p) {                          // f0 -> f1 f2
            a++;                          // f1 -> f2
        }
        return a * (p ? 1 : 2);           // f2 -> f3 f4, f3 -> f5, f4 -> f5, f5
    }

    static int monitor(Object o, int n) {
        int k = 0;                        // f0 -> f1
        while (k < n) {                   // f1 -> f2 f3
            k++;                          // f2 -> f1
        }
        synchronized (o) {                // f3 -> f4
            while (k > 0) {               // f4 -> f5 f6
                k--;                      // f5 -> f4
            }
        }                                 // f6 -> f8, f7 the handler
        return k;                         // f8
    }

    int field;

    Edits(boolean p) {
        super();                          // f0 -> f1 f2, the capture point of the entry inside
        if (p) {
            field = 1;                    // f1 -> f2
        }
    }                                     // f2

    static int caught(String s, int n) {
        while (n > 10) {                  // f0 -> f1 f2
            n--;                          // f1 -> f0
        }
        try {
            if (n > 5) {                  // f2 -> f3 f4
                n = 5;                    // f3 -> f4
            }
            n += Integer.parseInt(s);     // f4 -> f6
        } catch (RuntimeException e) {
            n = 0;                        // f5 -> f6
        }
        return n;                         // f6
    }
}
"#;

/// Analyses each method with code under a policy, and calls `run` with the method and its armed
/// code.
fn each_method(file: &ClassFile, run: impl FnMut(&Method, &ArmedCode)) {
    each_method_under(&Policy::Block, file, run);
}

fn each_method_under(policy: &Policy, file: &ClassFile, mut run: impl FnMut(&Method, &ArmedCode)) {
    for index in 0..file.methods.len() {
        let Ok(method) = Method::analyse(file, index, &|_, _| false) else {
            continue;
        };
        let armed = arming::layout(&method, policy, true);
        run(&method, &armed.unwrap());
    }
}

/// Returns the class file of [`SOURCE`].
fn compiled() -> ClassFile<'static> {
    static COMPILED: OnceLock<Vec<u8>> = OnceLock::new();
    let compile = || {
        let source = ("Edits".to_owned(), SOURCE.to_owned());
        javac_support::compile(&[source])["Edits"][0].clone()
    };
    ClassFile::parse(COMPILED.get_or_init(compile)).unwrap()
}

/// Returns the fragment of an edited method of [`SOURCE`] from which it cannot return any more.
fn endless(name: &str, patched: &Patched) -> Option<FragmentId> {
    let mut result = None;
    each_method(&compiled(), |method, _| {
        if method.name == name {
            result = endless_fragment(method, patched);
        }
    });
    result
}

/// Applies edits to a method of [`SOURCE`]. Accepted edits must verify in an `enter` body and in a
/// `resume` body.
fn apply(name: &str, edits: &[Edit]) -> Result<Patched, Refusal> {
    let file = compiled();
    let mut result = None;
    each_method(&file, |method, armed| {
        if method.name == name {
            let patched = patch::apply(method, edits, &armed.points);
            if patched.is_ok() {
                verify(&file, method, armed, edits).unwrap();
            }
            result = Some(patched);
        }
    });
    result.unwrap()
}

/// Emits a version with these edits and a counter on every remaining fragment.
fn verify(
    file: &ClassFile,
    method: &Method,
    armed: &ArmedCode,
    edits: &[Edit],
) -> Result<(), Box<dyn std::error::Error>> {
    let probes: Vec<Probe> = method
        .flow
        .fragments()
        .map(|f| Probe {
            site: Site::Before(f.id),
            action: ProbeAction::Count {
                slot: CounterSlot(f.id.0),
            },
        })
        .collect();
    let plan = || VersionPlan {
        method,
        id: veneer_names::MethodId(7),
        armed,
        edits,
        kept: &[],
        probes: &probes,
        clean: false,
    };
    let patched = patch::apply(method, edits, &armed.points).map_err(|e| e.to_string())?;
    let back = VersionPlan {
        edits: &[],
        kept: &patched
            .edit_points
            .iter()
            .map(|p| p.fragment)
            .collect::<Vec<_>>(),
        clean: true,
        probes: &[],
        ..plan()
    };
    for (plan, bodies) in [
        (plan(), Bodies::Enter),
        (plan(), Bodies::Resume),
        (back, Bodies::Resume),
    ] {
        if bodies == Bodies::Resume && armed.points.len() + patched.edit_points.len() == 1 {
            continue;
        }
        let class = version::emit(
            file,
            "Edits$Veneer",
            std::slice::from_ref(&plan),
            bodies,
            &HashSet::new(),
        )
        .map_err(|e| e.to_string())?;
        if let Some((_, refusal)) = class.refused.first() {
            return Err(format!("{bodies:?}: {refusal}").into());
        }
        arming_support::verify(&class.bytes).map_err(|e| format!("{bodies:?}: {e}"))?;
        let emitted = ClassFile::parse(&class.bytes).map_err(|e| e.to_string())?;
        let expected = [Expected::version_contents(&plan)];
        let checked = check::version_class(file, &emitted, "Edits$Veneer", &expected);
        if let Some((at, failure)) = checked.failures.first() {
            return Err(format!("{bodies:?}: {at}: {failure}").into());
        }
    }
    Ok(())
}

fn redirect(from: u32, to: u32, target: u32) -> Edit {
    Edit::Redirect {
        from: FragmentId(from),
        to: FragmentId(to),
        target: FragmentId(target),
    }
}

fn skip(fragment: u32) -> Edit {
    Edit::Skip {
        fragment: FragmentId(fragment),
    }
}

fn replace(fragment: u32, by: u32) -> Edit {
    Edit::Replace {
        fragment: FragmentId(fragment),
        by: FragmentId(by),
    }
}

fn refused(name: &str, edit: Edit) -> Refusal {
    match apply(name, std::slice::from_ref(&edit)) {
        Ok(_) => panic!("{name}: {edit} is accepted"),
        Err(refusal) => refusal,
    }
}

fn out(patched: &Patched, fragment: usize) -> Vec<u32> {
    patched.nodes[fragment].out.iter().map(|o| o.1.0).collect()
}

#[test]
fn a_redirected_edge_leads_elsewhere() {
    let patched = apply("branch", &[redirect(0, 1, 2)]).unwrap();
    assert_eq!(out(&patched, 0), [2, 2]);
    assert_eq!(patched.entry, FragmentId(0));
    // The edge leaves the loop after the first iteration, so the loop no longer exists.
    let patched = apply("loop", &[redirect(5, 1, 6)]).unwrap();
    assert_eq!(out(&patched, 5), [6]);
    assert_eq!(patched.loops.loops.len(), 0);
    assert_eq!(
        patched.nodes[5].out[0].0,
        FragmentId(1),
        "the code still says f1"
    );
}

#[test]
fn a_method_that_cannot_return_any_more_is_recognised() {
    let patched = apply("loop", &[redirect(1, 6, 1)]).unwrap();
    assert_eq!(endless("loop", &patched), Some(FragmentId(0)));
    for edits in [&[][..], &[redirect(5, 1, 6)]] {
        let patched = apply("loop", edits).unwrap();
        assert_eq!(endless("loop", &patched), None, "{edits:?}");
    }
}

#[test]
fn a_skipped_fragment_names_its_successor() {
    let patched = apply("loop", &[skip(3)]).unwrap();
    assert_eq!(out(&patched, 2), [5, 4]);
    assert_eq!(patched.successor[3], FragmentId(5));
    assert_eq!(patched.successor[4], FragmentId(4));
}

#[test]
fn a_replaced_fragment_keeps_its_place_and_edges() {
    let patched = apply("loop", &[replace(3, 4)]).unwrap();
    assert_eq!(patched.nodes[3].code, FragmentId(4));
    assert_eq!(out(&patched, 3), [5]);
    // A return replaces a return. Activations before the old return still leave at it.
    let patched = apply("types", &[replace(2, 2), replace(3, 3)]).unwrap();
    assert_eq!(patched.nodes[3].code, FragmentId(3));
}

#[test]
fn edits_are_applied_in_order_and_checked_as_a_whole() {
    let patched = apply("loop", &[skip(4), redirect(2, 3, 5)]).unwrap();
    assert_eq!(out(&patched, 2), [5, 5]);
    let second = apply("loop", &[skip(4), redirect(2, 4, 6)]);
    assert_eq!(
        second.err(),
        Some(Refusal::UnknownEdge(2, 4)),
        "the first edit took the edge away"
    );
}

#[test]
fn edits_of_missing_fragments_and_edges_are_refused() {
    assert_eq!(
        refused("branch", redirect(0, 1, 9)),
        Refusal::UnknownFragment(9, 4)
    );
    assert_eq!(refused("branch", skip(4)), Refusal::UnknownFragment(4, 4));
    assert_eq!(
        refused("branch", redirect(0, 3, 2)),
        Refusal::UnknownEdge(0, 3)
    );
}

#[test]
fn shapes_must_agree() {
    assert_eq!(refused("loop", skip(2)), Refusal::NoSingleSuccessor(2));
    assert_eq!(refused("branch", skip(3)), Refusal::NoSingleSuccessor(3));
    assert_eq!(
        refused("loop", replace(3, 2)),
        Refusal::ShapeMismatch(3, 2, 1, 2)
    );
}

#[test]
fn live_variables_need_values_of_their_types() {
    let m = Refusal::LiveInUnavailable("m".into(), 3);
    assert_eq!(refused("branch", redirect(0, 1, 3)), m);
    assert_eq!(refused("branch", skip(1)), m);
    assert_eq!(
        refused("types", redirect(1, 3, 6)),
        Refusal::TypeMismatch {
            target: 6,
            what: "the variable y".into(),
            found: "int".into(),
            wanted: "java.lang.String".into()
        }
    );
    assert_eq!(
        refused("stack", redirect(0, 1, 3)),
        Refusal::TypeMismatch {
            target: 3,
            what: "the operand stack's depth".into(),
            found: "0".into(),
            wanted: "1".into()
        }
    );
    // No edge leads to f3 any more. But an activation may still be at f3, and has no second
    // operand.
    let cut_off = apply("stack", &[redirect(2, 3, 4), skip(3)]);
    assert_eq!(
        cut_off.err(),
        Some(Refusal::TypeMismatch {
            target: 5,
            what: "the operand stack's depth".into(),
            found: "1".into(),
            wanted: "2".into()
        })
    );
}

#[test]
fn monitors_and_handlers_must_agree() {
    assert_eq!(
        refused("monitor", replace(2, 3)),
        Refusal::MonitorMismatch(2, 1)
    );
    assert_eq!(
        refused("caught", redirect(0, 1, 3)),
        Refusal::HandlerMismatch(1, 3)
    );
    assert_eq!(
        refused("caught", replace(1, 3)),
        Refusal::HandlerMismatch(1, 3)
    );
    assert_eq!(
        refused("monitor", redirect(4, 6, 8)),
        Refusal::HandlerMismatch(6, 8)
    );
    assert_eq!(refused("caught", skip(5)), Refusal::HandlerEdited(5));
    assert_eq!(refused("caught", replace(1, 5)), Refusal::HandlerEdited(5));
    assert_eq!(
        refused("caught", redirect(0, 1, 5)),
        Refusal::HandlerEdited(5)
    );
}

#[test]
fn code_before_the_entry_point_cannot_be_edited() {
    // i and sum have no values at the method's start.
    let sum = Refusal::LiveInUnavailable("sum".into(), 1);
    assert_eq!(refused("loop", skip(0)), sum);
    for edit in [skip(0), replace(0, 1), replace(1, 0)] {
        assert_eq!(
            refused("<init>", edit.clone()),
            Refusal::BeforeSuper,
            "{edit}"
        );
    }
    assert_eq!(
        out(&apply("<init>", &[redirect(0, 1, 2)]).unwrap(), 0),
        [2, 2]
    );
    assert_eq!(apply("stack", &[skip(1)]).unwrap().entry, FragmentId(0));
}

/// Returns a cycle of the edited graph that passes no capture point, if the method's own graph has
/// no such cycle. The search follows edges, unlike the search in the crate.
fn cycle_without_point(method: &Method, armed: &ArmedCode, patched: &Patched) -> Option<String> {
    let stops = |points: &[Point], f: usize| {
        let mut all = points.iter();
        all.any(|p| p.kind == PointKind::Fragment && p.fragment.index() == f)
    };
    let own = |f: usize| {
        let next = method.flow.graph.neighbors(FragmentId(f as u32).node());
        next.map(|n| n.index()).collect::<Vec<_>>()
    };
    let edited = |f: usize| {
        let node = &patched.nodes[f];
        let handlers = own(node.code.index())
            .into_iter()
            .filter(|n| !node.out.iter().any(|o| o.0.index() == *n));
        let out = node.out.iter().map(|o| o.1.index());
        out.chain(handlers).collect::<Vec<_>>()
    };
    // For each fragment: can a path without a capture point return to it?
    let comes_back =
        |start: usize, next: &dyn Fn(usize) -> Vec<usize>, stop: &dyn Fn(usize) -> bool| {
            let mut seen = vec![false; method.flow.len()];
            let mut work = if stop(start) { vec![] } else { next(start) };
            while let Some(f) = work.pop() {
                if f == start {
                    return true;
                }
                if !stop(f) && !std::mem::replace(&mut seen[f], true) {
                    work.extend(next(f));
                }
            }
            false
        };
    let mut entries = vec![false; method.flow.len()];
    let mut work = vec![patched.entry.index()];
    while let Some(f) = work.pop() {
        if !std::mem::replace(&mut entries[f], true) {
            work.extend(edited(f));
        }
    }
    let stop = |f: usize| stops(&armed.points, f);
    let stop_here = |f: usize| stop(f) || stops(&patched.edit_points, f);
    let loops = |f: &usize| entries[*f] && comes_back(*f, &edited, &stop_here);
    let had = |f: usize| comes_back(f, &own, &stop);
    if (0..method.flow.len()).any(had) {
        // The method's own loops without a point may become longer.
        return None;
    }
    let found = (0..method.flow.len()).find(loops);
    found.map(|f| format!("f{f} is in a loop without a capture point"))
}

/// Tests every possible edit, one at a time, on every method of the file tests.
#[test]
fn every_edit_is_refused_by_name_or_verifies() {
    let mut sources = javac_support::file_tests();
    sources.push(("Edits".to_owned(), SOURCE.to_owned()));
    let mut accepted = 0;
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut loops = 0;
    for bytes in javac_support::compile(&sources).values().flatten() {
        let file = ClassFile::parse(bytes).unwrap();
        for policy in [Policy::Block, Policy::Loop, Policy::Method] {
            each_method_under(&policy, &file, |method, armed| {
                let count = method.flow.len() as u32;
                let redirects = method
                    .flow
                    .edges()
                    .into_iter()
                    .flat_map(|(from, to)| (0..count).map(move |t| redirect(from.0, to.0, t)));
                let replaces = (0..count).flat_map(|f| (0..count).map(move |by| replace(f, by)));
                for edit in redirects.chain((0..count).map(skip)).chain(replaces) {
                    let patched =
                        match patch::apply(method, std::slice::from_ref(&edit), &armed.points) {
                            Err(refusal) => {
                                *refusals.entry(refusal.name().to_string()).or_default() += 1;
                                continue;
                            }
                            Ok(patched) => patched,
                        };
                    accepted += 1;
                    loops += usize::from(!patched.edit_points.is_empty());
                    if let Some(fault) = verify(&file, method, armed, std::slice::from_ref(&edit))
                        .err()
                        .or_else(|| cycle_without_point(method, armed, &patched).map(Into::into))
                    {
                        let at = format!("{}.{} {policy:?}", method.class, method.name);
                        faults.push(format!("{at}: {edit}: {fault}"));
                    }
                }
            });
        }
    }
    assert!(loops > 100, "only {loops} edits make loops without a point");
    println!("{accepted} edits are accepted; refused: {refusals:?}");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(accepted > 300, "only {accepted} edits are accepted");
    assert!(
        !refusals.contains_key("Internal") && refusals.len() >= 6,
        "{refusals:?}"
    );
}
