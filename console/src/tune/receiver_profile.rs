//! The virtual calls that `devirtualise` may make faster: a held plan counts the calls of the running methods,
//! then the classes of the receivers of those that run most.
//!
//! ```text
//!   {"pattern":"a.B::m(..)","size":40,"hash":"…","calls":"a.S::area(..)","receivers":[["a.C",600],["a.D",300]]}
//!   {"profiled":true}                                 the end
//! ```
//!
//! Calls on one or two classes are left out, because HotSpot inlines both, and calls one class of which has nine
//! of ten, because HotSpot inlines that one.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use serde::Deserialize;
use veneer_client::plan_text::literal;
use veneer_fragmenter::hotspot::MAX_COMPILED_BYTES;

use super::candidates::{Candidate, Transformation};
use super::counting_plan::count;

/// The length of each of the two counts, in seconds.
const COUNT_SECONDS: f64 = 1.0;
/// A call that is executed less often in that time is not looked at.
const MIN_CALLS: u64 = 10_000;
/// The most called methods of one method whose receivers are counted.
const MAX_CALLED: usize = 4;
/// The most candidates. The calls that run most are first.
const MAX_CANDIDATES: usize = 4;
/// The most classes for which a call is tested.
const MAX_TESTS: usize = 4;
/// A class with a smaller part of the calls is not tested.
const MIN_SHARE: f64 = 0.03;
/// HotSpot inlines a class with a larger part (`TypeProfileMajorReceiverPercent`).
const MAX_SHARE: f64 = 0.9;
/// The classes that HotSpot remembers for a call (`TypeProfileWidth`).
const PROFILED_CLASSES: usize = 2;

/// A called method with its receivers.
#[derive(Debug, Deserialize)]
struct ProfiledCall {
    pattern: String,
    size: u64,
    hash: String,
    calls: String,
    receivers: Vec<(String, u64)>,
}

/// Finds the calls to test in these methods, the most frequent first. None if `interrupted` is set.
///
/// # Errors
/// The connection failed.
pub fn candidates(
    pid: u32,
    methods: &[String],
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<Candidate>> {
    let found = count(pid, (program(methods), "the receivers"), interrupted)?;
    Ok(chosen(found))
}

fn total(call: &ProfiledCall) -> u64 {
    call.receivers.iter().map(|(_, count)| count).sum()
}

/// The calls that HotSpot does not inline.
fn chosen(mut found: Vec<ProfiledCall>) -> Vec<Candidate> {
    found.sort_by_key(|call| std::cmp::Reverse(total(call)));
    let candidates = found.into_iter().filter_map(candidate);
    candidates.take(MAX_CANDIDATES).collect()
}

fn candidate(mut call: ProfiledCall) -> Option<Candidate> {
    call.receivers
        .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let total = total(&call);
    let share = |count: u64| count as f64 / total.max(1) as f64;
    let (_, largest) = call.receivers.first()?;
    let is_megamorphic = call.receivers.len() > PROFILED_CLASSES && share(*largest) < MAX_SHARE;
    if total < MIN_CALLS || !is_megamorphic {
        return None;
    }
    let frequent = call.receivers.iter();
    // A hidden class, such as that of a lambda, has no name that a test could have.
    let named = |class: &str| !class.contains('/');
    let frequent = frequent.filter(|(class, count)| share(*count) >= MIN_SHARE && named(class));
    let receivers: Vec<String> = frequent
        .take(MAX_TESTS)
        .map(|(class, _)| class.clone())
        .collect();
    (!receivers.is_empty()).then_some(Candidate {
        pattern: call.pattern,
        size: call.size,
        hash: call.hash,
        transformation: Transformation::Devirtualise {
            calls: call.calls,
            receivers,
        },
    })
}

/// The plan that counts. Calls without a receiver are left out, because their code cannot read it.
fn program(methods: &[String]) -> String {
    let methods: Vec<String> = methods.iter().map(|pattern| literal(pattern)).collect();
    format!(
        r#"let state = #{{ found: [], sites: [] }};
let wanted = [];
for c in classes([{methods}]) {{ wanted += c.methods.filter(|m| m.size > 0 && m.size <= {MAX_COMPILED_BYTES}); }}
for m in wanted {{
    try {{ state.found.push(#{{ method: m, calls: methods(m.pattern).calls().before(counter()) }}); }} catch (error) {{}}
}}
let profile = |one| {{
    let rows = one.calls.rows().filter(|r| r.hits >= {MIN_CALLS});
    one.calls.detach();
    rows.sort(|a, b| b.hits - a.hits);
    let seen = [];
    for row in rows {{
        // `call a.b.C::m @17`
        let words = row.what.split(" ");
        if seen.len() >= {MAX_CALLED} || words.len() < 2 || !words[1].contains("::") {{ continue; }}
        let called = words[1] + "(..)";
        if seen.contains(called) {{ continue; }}
        seen.push(called);
        try {{
            let classes = tally(200);
            let counted = methods(one.method.pattern).calls(called).before(|p| classes.count(class_of(p.receiver)));
            state.sites.push(#{{ method: one.method, calls: called, classes: classes, counted: counted }});
        }} catch (error) {{}}
    }}
}};
after({COUNT_SECONDS:?}, || {{
    for one in state.found {{ profile.call(one); }}
    after({COUNT_SECONDS:?}, || {{
        for site in state.sites {{
            site.counted.detach();
            let rows = site.classes.rows().filter(|r| r.keys[0] != ());
            let m = site.method;
            print(#{{
                pattern: m.pattern, size: m.size, hash: methods(m.pattern).hash(), calls: site.calls,
                receivers: rows.map(|r| [r.keys[0], r.count])
            }}.to_json());
        }}
        print(#{{ profiled: true }}.to_json());
    }});
}});
"#,
        methods = methods.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::counting_plan::CountedLine;

    fn call(receivers: &[(&str, u64)]) -> ProfiledCall {
        ProfiledCall {
            pattern: "a.B::m(..)".into(),
            size: 40,
            hash: "5be2f2a1c09d7e43".into(),
            calls: "a.S::area(..)".into(),
            receivers: receivers.iter().map(|(c, n)| ((*c).into(), *n)).collect(),
        }
    }

    fn receivers(calls: Vec<ProfiledCall>) -> Vec<Vec<String>> {
        let receivers = |one: Candidate| match one.transformation {
            Transformation::Devirtualise { receivers, .. } => receivers,
            _ => Vec::new(),
        };
        chosen(calls).into_iter().map(receivers).collect()
    }

    #[test]
    fn calls_that_hotspot_inlines_are_no_candidates() {
        for other in [
            call(&[("a.C", 80_000), ("a.D", 20_000)]),
            call(&[("a.C", 95_000), ("a.D", 3_000), ("a.E", 2_000)]),
            call(&[("a.C", 400), ("a.D", 300), ("a.E", 300)]),
            call(&[]),
            call(&[("L/0x1", 9_000), ("L/0x2", 9_000), ("L/0x3", 9_000)]),
        ] {
            assert!(receivers(vec![other]).is_empty());
        }
    }

    #[test]
    fn frequent_classes_are_tested_in_their_order() {
        let rare = call(&[
            ("a.C", 200_000),
            ("a.D", 600_000),
            ("a.E", 190_000),
            ("a.F", 10_000),
        ]);
        let even = call(&[("b.C", 9_000), ("b.D", 9_000), ("b.E", 9_000)]);
        assert_eq!(
            receivers(vec![even, rare]),
            [vec!["a.D", "a.C", "a.E"], vec!["b.C", "b.D", "b.E"]]
        );
    }

    #[test]
    fn lines_of_the_plan_are_told_apart() {
        let read =
            |text: &str| serde_json::from_str::<CountedLine<ProfiledCall>>(text).expect(text);
        let text = r#"{"pattern":"p","size":4,"hash":"h","calls":"c","receivers":[["a.B",7]]}"#;
        assert!(matches!(read(text), CountedLine::Found(call) if call.receivers[0].1 == 7));
        let end = read(r#"{"profiled":true}"#);
        assert!(matches!(end, CountedLine::Profiled { .. }));
    }
}
