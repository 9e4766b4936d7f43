//! Random programs. A naive model counts each call of a random execution by itself; the profile, its
//! file, its merges and its queries must agree with it.

mod program;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;
use veneer_calls::probabilistic::{ContextSearch, SearchLimits, ValueWidth, site_numbers};
use veneer_calls::{
    CallProfile, ContextCost, Measure, MethodId, Parent, Query, Selection, diff, file,
};
use veneer_instruments::MethodPattern;

use program::{Execution, executions, pattern_of};

fn bytes(profile: &CallProfile) -> Vec<u8> {
    file::write(profile, Vec::new()).expect("a vector can be written")
}

fn read(bytes: &[u8]) -> file::ReadResult {
    file::read(bytes).expect("the header is whole")
}

/// The counts of each path of methods, from the root.
fn paths(profile: &CallProfile) -> BTreeMap<Vec<String>, ContextCost> {
    let mut all: BTreeMap<Vec<String>, ContextCost> = BTreeMap::new();
    let mut of: Vec<Vec<String>> = Vec::new();
    for context in profile.contexts() {
        let mut path = match context.parent {
            Parent::Context(parent) => of[parent.index()].clone(),
            Parent::Root(_) => Vec::new(),
        };
        path.push(profile.method(context.method).name.to_string());
        all.entry(path.clone()).or_default().add(&context.cost);
        of.push(path);
    }
    all
}

proptest! {
    #[test]
    fn counts_and_times_are_those_of_the_execution(run in executions()) {
        let profile = run.profile();
        let naive = run.naive();
        let incoming = profile.incoming();
        for (id, cost) in profile.method_ids().zip(profile.method_costs()) {
            let name = &profile.method(id).name.method;
            let expected = naive.methods.get(name).copied().unwrap_or_default();
            prop_assert_eq!(cost, expected, "{}", name);
            let roots = naive.roots.get(name).copied().unwrap_or_default();
            prop_assert_eq!(profile.residue(id, incoming[id.index()]), i128::from(roots));
        }
        let edges: BTreeMap<_, _> = profile.edges().iter().map(|edge| {
            let name = |id: MethodId| profile.method(id).name.method.clone();
            ((name(edge.caller), edge.site.bci.unwrap_or(0), name(edge.callee)), edge.count)
        }).collect();
        prop_assert_eq!(edges, naive.edges);
        let all_paths: BTreeMap<_, _> = paths(&profile).into_iter().map(|(path, cost)| (path, cost.calls)).collect();
        prop_assert_eq!(all_paths, naive.paths);
    }

    #[test]
    fn a_file_is_read_as_it_was_written(run in executions()) {
        let written = bytes(&run.profile());
        let result = read(&written);
        prop_assert_eq!(&result.ending, &file::Ending::Complete);
        prop_assert_eq!(bytes(&result.profile), written);
    }

    #[test]
    fn each_beginning_of_a_file_is_a_part_of_the_profile(run in executions(), cut in 0.0f64..1.0) {
        let profile = run.profile();
        let written = bytes(&profile);
        let length = (written.len() as f64 * cut) as usize;
        match file::read(&written[..length]) {
            Err(error) => prop_assert!(length < 16, "{error}"),
            Ok(result) => {
                let is_cut = matches!(result.ending, file::Ending::Cut { at } if at <= length as u64);
                prop_assert!(is_cut, "{:?}", result.ending);
                let part = result.profile;
                prop_assert!(profile.methods().starts_with(part.methods()));
                prop_assert!(profile.edges().starts_with(part.edges()));
                prop_assert!(profile.contexts().starts_with(part.contexts()));
            }
        }
    }

    #[test]
    fn every_damaged_byte_is_noticed(run in executions(), at in 0.0f64..1.0, bit in 0u8..8) {
        let mut written = bytes(&run.profile());
        let at = (written.len() as f64 * at) as usize;
        written[at] ^= 1 << bit;
        match file::read(&written[..]) {
            Err(_) => prop_assert!(at < 16),
            Ok(result) => prop_assert_ne!(result.ending, file::Ending::Complete),
        }
    }

    #[test]
    fn the_order_of_merging_makes_no_difference(one in executions(), other in executions(), third in executions()) {
        let [one, other, third] = [one, other, third].map(|run| run.profile());
        let merge = |parts: &[&CallProfile]| {
            let mut sum = CallProfile::new();
            parts.iter().for_each(|part| sum.merge(part));
            sum
        };
        let (left, right) = (merge(&[&one, &other, &third]), merge(&[&third, &one, &other]));
        if let Some(overlap) = diff::context_overlap(&left, &right) {
            prop_assert!((overlap - 1.0).abs() < 1e-9, "{overlap}");
        }
        let changes = diff::diff(&left, &right, Measure::Count);
        prop_assert!(changes.methods.is_empty() && changes.edges.is_empty());
        prop_assert_eq!(paths(&left), paths(&right));
        // Two executions after each other are one execution.
        let sum = |profile: &CallProfile| profile.edges().iter().map(|edge| edge.count).sum::<u64>();
        prop_assert_eq!(sum(&left), sum(&one) + sum(&other) + sum(&third));
        prop_assert_eq!(bytes(&merge(&[&one])), bytes(&one));
    }

    #[test]
    fn a_difference_is_that_of_the_counts(one in executions(), other in executions()) {
        let (before, after) = (one.profile(), other.profile());
        let changes = diff::diff(&before, &after, Measure::Count);
        let (one, other) = (one.naive(), other.naive());
        let keys: BTreeSet<_> = one.edges.keys().chain(other.edges.keys()).collect();
        let get = |edges: &BTreeMap<_, u64>, key| edges.get(key).copied().unwrap_or(0);
        let expected: BTreeSet<_> = keys.into_iter()
            .map(|key| (key.clone(), get(&one.edges, key), get(&other.edges, key)))
            .filter(|(_, before, after)| before != after)
            .collect();
        let found: BTreeSet<_> = changes.edges.iter().map(|one| {
            let edge = &one.edge;
            let key = (edge.caller.name.method.clone(), edge.bci.unwrap_or(0), edge.callee.name.method.clone());
            (key, one.before, one.after)
        }).collect();
        prop_assert_eq!(found, expected);
        if let Some(overlap) = changes.overlap {
            prop_assert!((-1e-9..=1.0 + 1e-9).contains(&overlap));
        }
    }

    #[test]
    fn folding_keeps_sums_and_removes_repetitions(run in executions()) {
        let profile = run.profile();
        let folded = profile.fold_recursion();
        prop_assert_eq!(folded.method_costs(), profile.method_costs());
        for path in paths(&folded).keys() {
            let different: BTreeSet<_> = path.iter().collect();
            prop_assert_eq!(different.len(), path.len());
        }
    }

    #[test]
    fn threads_together_are_the_sum_of_the_threads(run in executions()) {
        let profile = run.profile();
        let together = profile.without_threads();
        prop_assert!(together.threads().is_empty());
        prop_assert_eq!(paths(&together), paths(&profile));
    }

    #[test]
    fn a_selection_has_exactly_the_paths_of_the_graph(run in executions(), from in 0u8..6, to in 0u8..6, depth in prop::option::of(0u32..4)) {
        let profile = run.profile();
        let query = Query {
            from: Some(pattern_of(from)),
            to: None,
            depth,
            ..Query::default()
        };
        let edges = run.naive().edges;
        let reachable = |start: String, back: bool| {
            let mut distance = HashMap::from([(start, 0u32)]);
            loop {
                let before = distance.clone();
                for (caller, _, callee) in edges.keys() {
                    let (near, far) = if back { (callee, caller) } else { (caller, callee) };
                    if let Some(near) = distance.get(near).copied() {
                        let old = distance.entry(far.clone()).or_insert(near + 1);
                        *old = (*old).min(near + 1);
                    }
                }
                if before == distance {
                    return distance;
                }
            }
        };
        let limit = depth.unwrap_or(u32::MAX);
        let is_near = |distance: Option<&u32>| distance.is_some_and(|distance| *distance < limit);
        let name = |id: MethodId| profile.method(id).name.method.clone();
        let shown = |selection: &Selection| -> BTreeSet<_> {
            selection.edges().map(|e| (name(e.caller), e.site.bci.unwrap_or(0), name(e.callee))).collect()
        };
        let below = reachable(format!("m{from}"), false);
        let expected: BTreeSet<_> = edges.keys().filter(|(caller, ..)| is_near(below.get(caller))).cloned().collect();
        prop_assert_eq!(shown(&Selection::new(&profile, &query).expect("the method exists")), expected);
        let above = reachable(format!("m{to}"), true);
        let both = Query { to: Some(pattern_of(to)), ..query };
        let expected: BTreeSet<_> = edges.keys()
            .filter(|(caller, _, callee)| is_near(below.get(caller)) && is_near(above.get(callee)))
            .cloned()
            .collect();
        prop_assert_eq!(shown(&Selection::new(&profile, &both).expect("the methods exist")), expected);
    }

    #[test]
    fn contexts_are_decoded_from_their_numbers(run in executions()) {
        let profile = run.profile().without_threads();
        let numbers = site_numbers(&profile);
        let width = ValueWidth::Bits64;
        let roots: BTreeSet<MethodId> = profile.contexts().iter()
            .filter(|context| matches!(context.parent, Parent::Root(_)))
            .map(|context| context.method)
            .collect();
        let search = ContextSearch::new(&profile, width, roots, |edge| {
            numbers[&(edge.caller, edge.site.bci.unwrap_or(0))]
        });
        let mut stacks: Vec<(u64, Vec<MethodId>)> = Vec::new();
        for context in profile.contexts() {
            let (value, mut methods) = match context.parent {
                Parent::Root(_) => (0, Vec::new()),
                Parent::Context(parent) => {
                    let (value, methods) = stacks[parent.index()].clone();
                    let caller = profile.contexts()[parent.index()].method;
                    let site = numbers[&(caller, context.bci.unwrap_or(0))];
                    (width.enter(value, site), methods)
                }
            };
            methods.push(context.method);
            // A method has at most 18 incoming edges, so the search is never cut by its steps.
            if methods.len() <= 4 {
                let limits = SearchLimits { depth: methods.len(), steps: 1 << 14, candidates: 1 << 14 };
                let found = search.find(context.method, value, limits);
                prop_assert!(found.candidates.iter().any(|one| one.methods == methods), "{:?}", methods);
            }
            stacks.push((value, methods));
        }
    }
}

#[test]
fn a_pattern_that_matches_nothing_names_classes_that_are_near() {
    let profile = Execution::example().profile();
    let query = |text: &str| Query {
        from: Some(MethodPattern::parse(text).expect("a pattern")),
        ..Query::default()
    };
    let error = Selection::new(&profile, &query("a.Programm::m0(..)")).expect_err("no such class");
    assert!(
        error.to_string().ends_with("; near it: a.Program"),
        "{error}"
    );
    let error = Selection::new(&profile, &query("a.Program+")).expect_err("no class files");
    assert!(error.to_string().contains("needs class files"), "{error}");
}
