//! The points of guards: each outcome of the guards that the edits of a method have inserted, with a counter.
//!
//! The points are those of the edits at the time of attaching. A counter names the outcome and no place in the code, so
//! it counts nothing while no edit inserts the guard, and goes on when an edit inserts it again.
//! [`weaver`](crate::weaving::weaver) calls [`plan`].

use crate::weaving::instruction_sites::instruction_site;
use crate::weaving::planned_probe::{PlannedAction, PlannedProbe};
use veneer_fragmenter::guard_outcome::{GuardOutcome, outcomes};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::Edit;
use veneer_instruments::{
    AdviceKind, AttachError, InstructionKind, InstrumentKind, InstrumentSpec,
};

/// The points of the guards of a method with these edits.
///
/// # Errors
/// The instrument is no counter before the points.
pub fn plan(
    spec: &InstrumentSpec,
    method: &Method,
    edits: &[Edit],
) -> Result<Vec<PlannedProbe>, AttachError> {
    if spec.kind != InstrumentKind::Counter || spec.when != AdviceKind::Before {
        return Err(AttachError::Unsupported {
            what: format!("a {} {} guards", spec.kind.name(), spec.when),
            instead: "write .guards().before(counter())".into(),
        });
    }
    let all = outcomes(edits);
    Ok(all.iter().map(|one| point(method, one)).collect())
}

fn point(method: &Method, outcome: &GuardOutcome) -> PlannedProbe {
    let pc = outcome.pc();
    let line = pc.or_else(|| method.instructions.first().map(|i| i.0));
    PlannedProbe {
        fragment: pc.map(|pc| method.flow.fragment_containing(pc)),
        to: None,
        line: line.and_then(|pc| method.line(pc)),
        sites: vec![(outcome.site(), PlannedAction::Count)],
        values: Vec::new(),
        what: Some(outcome.text(method, &call_text(method, pc))),
        code: None,
    }
}

/// The text of the call at a pc, such as `call shop.Desk::serve @12`.
fn call_text(method: &Method, pc: Option<u16>) -> String {
    let Some(pc) = pc else {
        return String::new();
    };
    let index = method.instructions.binary_search_by_key(&pc, |i| i.0).ok();
    let calls = InstructionKind::Calls(None);
    let found = index.and_then(|index| instruction_site(&calls, method, index));
    match found {
        Some(found) => format!("{} @{pc}", found.text),
        None => format!("call @{pc}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::with_method;
    use veneer_fragmenter::devirtualisation::virtual_calls;
    use veneer_instruments::{MethodPattern, PointSelector};

    const SITES: &str = "sites(Lshop/Points;Ljava/lang/Object;)Z";
    const STRAIGHT: &str = "straight(JI)I";

    fn spec(when: AdviceKind, kind: InstrumentKind) -> InstrumentSpec {
        InstrumentSpec {
            name: None,
            plan: "test.rhai".into(),
            patterns: Vec::from_iter(MethodPattern::parse("shop.Points::*").ok()),
            only: None,
            place: PointSelector::Guards,
            when,
            kind,
            limit: 100,
            each: false,
            times: None,
            late: false,
            budget: None,
        }
    }

    /// The texts of the points of a method with these edits.
    fn texts(label: &str, edits: impl Fn(&Method) -> Vec<Edit>) -> Vec<String> {
        with_method(label, |method, _| {
            let counter = spec(AdviceKind::Before, InstrumentKind::Counter);
            let points = plan(&counter, method, &edits(method)).expect("a counter");
            assert!(points.iter().all(|p| p.line.is_some() && p.slots() == 1));
            points.into_iter().filter_map(|p| p.what).collect()
        })
    }

    #[test]
    fn each_outcome_is_a_point_with_a_text() {
        let constant = |_: &Method| vec![Edit::Constant { slot: 2, value: -7 }];
        assert_eq!(
            texts(STRAIGHT, constant),
            ["parameter 1 is -7", "parameter 1 is not -7"]
        );
        let test = |method: &Method| {
            let calls = virtual_calls(method);
            let run = calls.iter().find(|one| one.name == "run").expect("a call");
            let class = "shop/Points$Task".into();
            vec![Edit::Receiver { pc: run.pc, class }]
        };
        let found = texts(SITES, test);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("call java.lang.Runnable::run @"));
        assert!(found[0].ends_with(" on shop.Points$Task"));
        assert!(found[1].ends_with(" on others"));
        assert!(texts(SITES, |_| Vec::new()).is_empty());
    }

    #[test]
    fn only_counters_before_guards_are_supported() {
        for refused in [
            spec(AdviceKind::After, InstrumentKind::Counter),
            spec(AdviceKind::Around, InstrumentKind::Timer),
            spec(AdviceKind::Before, InstrumentKind::Code(Box::default())),
        ] {
            let error = with_method(SITES, |method, _| plan(&refused, method, &[]).err());
            let text = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(".guards().before(counter())"), "{text}");
        }
    }
}
