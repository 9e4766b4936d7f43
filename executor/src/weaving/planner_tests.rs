//! Unit tests of the planner, over the methods of `classes/fixtures/Points.java`.
//!
//! ```text
//!   loop(I)I       f0 0..2 ─▶ f1 2..7 (header) ─▶ f2 7..13 ─▶ f1        f1 ─▶ f3 13..15 (return)
//!   larger(II)I    f0 0..11 ─▶ f1 11..14 (return), f2 14..16 (return)
//!   <init>(Z)V     f0, f1, f2 lie before `this(…)`; f3 contains the call and the return
//! ```

use super::*;
use crate::weaving::test_methods::{empty_probe, with_method};
use std::cell::RefCell;
use veneer_instruments::{MethodPattern, RecorderSpec};
use veneer_probes::{ProbeCode, ProbeError};

const LOOP: &str = "loop(I)I";
const LARGER: &str = "larger(II)I";
const SITES: &str = "sites(Lshop/Points;Ljava/lang/Object;)Z";

fn spec(place: PointSelector, when: AdviceKind, kind: InstrumentKind) -> InstrumentSpec {
    InstrumentSpec {
        name: None,
        plan: "test.rhai".into(),
        patterns: Vec::from_iter(MethodPattern::parse("shop.Points::*").ok()),
        only: None,
        place,
        when,
        kind,
        limit: 100,
        each: false,
        times: None,
        late: false,
        budget: None,
    }
}

fn log(name: &str) -> InstrumentKind {
    InstrumentKind::Log(vec![name.into()])
}

fn code() -> InstrumentKind {
    InstrumentKind::Code(Box::default())
}

fn accept(_: &ProbeCode, _: VisibleValues) -> Result<CompiledProbe, ProbeError> {
    Ok(empty_probe())
}

/// Plans a spec in a method of the fixture. All code compiles.
fn planned(label: &str, spec: &InstrumentSpec) -> Points {
    planned_with(label, spec, &accept)
}

fn planned_with(label: &str, spec: &InstrumentSpec, compile: Compile) -> Points {
    with_method(label, |method, armed| {
        plan(spec, method, armed, compile, AccessForm::default())
    })
}

fn counter(label: &str, place: PointSelector) -> Points {
    planned(
        label,
        &spec(place, AdviceKind::Before, InstrumentKind::Counter),
    )
}

/// The points as `fragment line sites`.
fn shown(points: &Points) -> Vec<String> {
    let show = |point: &PlannedProbe| {
        let fragment = point.fragment.map_or("-".into(), |f| f.to_string());
        let line = point.line.map_or("-".into(), |line| line.to_string());
        let site = |(site, step): &(Site, PlannedAction)| format!("{site}:{step:?}");
        let sites: Vec<String> = point.sites.iter().map(site).collect();
        format!("{fragment} {line} {}", sites.join(", "))
    };
    points
        .as_ref()
        .expect("the spec has points")
        .iter()
        .map(show)
        .collect()
}

fn error(points: Points) -> AttachError {
    points.expect_err("the spec is refused")
}

fn probe_error(reason: Reason) -> ProbeError {
    ProbeError {
        place: Default::default(),
        reason,
    }
}

fn unknown(name: &str) -> ProbeError {
    probe_error(Reason::Unknown { name: name.into() })
}

fn not_loaded(class: &str) -> ProbeError {
    probe_error(Reason::NotLoaded {
        class: class.into(),
    })
}

fn reason(error: &AttachError) -> &Reason {
    match error {
        AttachError::NotCompiled { reason, .. } => &reason.reason,
        other => panic!("not an error of code: {other}"),
    }
}

#[test]
fn blocks_are_counted_at_their_start() {
    let points = counter(LOOP, PointSelector::Blocks);
    assert_eq!(
        shown(&points),
        [
            "f0 19 before f0:Count",
            "f1 20 before f1:Count",
            "f2 21 before f2:Count",
            "f3 23 before f3:Count",
        ]
    );
    let after = planned(
        LOOP,
        &spec(
            PointSelector::Block(vec![2]),
            AdviceKind::After,
            InstrumentKind::Counter,
        ),
    );
    assert_eq!(shown(&after), ["f2 21 after f2:Count"]);
}

#[test]
fn a_method_is_counted_at_its_entry_or_at_all_exits() {
    let at = |when| {
        planned(
            LOOP,
            &spec(PointSelector::Method, when, InstrumentKind::Counter),
        )
    };
    assert_eq!(shown(&at(AdviceKind::Before)), ["- 19 entry:Count"]);
    assert_eq!(
        shown(&at(AdviceKind::After)),
        ["- 19 return:Count, throw:Count"]
    );
    let entry = planned(
        LOOP,
        &spec(
            PointSelector::Entry,
            AdviceKind::After,
            InstrumentKind::Counter,
        ),
    );
    assert_eq!(shown(&entry), ["- 19 entry:Count"]);
}

#[test]
fn a_method_timer_starts_at_the_entry_and_stops_at_all_exits() {
    let points = planned(
        LOOP,
        &spec(
            PointSelector::Method,
            AdviceKind::Around,
            InstrumentKind::Timer,
        ),
    );
    assert_eq!(
        shown(&points),
        ["- 19 entry:Start, return:Stop, throw:Stop"]
    );
}

#[test]
fn a_late_timer_has_a_second_point_for_older_activations() {
    let mut late = spec(
        PointSelector::Method,
        AdviceKind::Around,
        InstrumentKind::Timer,
    );
    late.late = true;
    let points = planned(LOOP, &late);
    assert_eq!(
        shown(&points),
        [
            "- 19 entry:Start, return:Stop, throw:Stop",
            "- 19 crossing:LateStart, entry:LateSkip, return:LateStop, throw:LateStop",
        ]
    );
    let points = points.unwrap_or_default();
    assert_eq!(points[1].what.as_deref(), Some("began before: at least"));
    assert_eq!(points[0].what, None);
}

#[test]
fn edges_have_the_line_of_the_fragment_to_which_they_lead() {
    let points = counter(LOOP, PointSelector::Edges);
    assert_eq!(
        shown(&points),
        [
            "f0 20 edge f0 -> f1:Count",
            "f1 21 edge f1 -> f2:Count",
            "f1 23 edge f1 -> f3:Count",
            "f2 20 edge f2 -> f1:Count",
        ]
    );
    let to: Vec<Option<FragmentId>> = points.unwrap_or_default().iter().map(|p| p.to).collect();
    assert_eq!(to, [1, 2, 3, 1].map(|n| Some(FragmentId(n))));
    let back_edge = counter(LOOP, PointSelector::Edge(vec![(2, 1)]));
    assert_eq!(shown(&back_edge), ["f2 20 edge f2 -> f1:Count"]);
}

#[test]
fn an_edge_that_the_method_does_not_have_is_refused() {
    let missing = error(counter(LOOP, PointSelector::Edge(vec![(2, 1), (0, 3)])));
    let AttachError::UnknownEdge {
        class,
        method,
        from,
        to,
    } = missing
    else {
        panic!("{missing}");
    };
    assert_eq!(
        (class.as_str(), method.as_str(), from, to),
        ("shop.Points", LOOP, 0, 3)
    );
    let outside = error(counter(LOOP, PointSelector::Edge(vec![(0, 9)])));
    assert!(
        matches!(outside, AttachError::UnknownFragment { fragment: 9, .. }),
        "{outside}"
    );
}

#[test]
fn a_fragment_that_the_method_does_not_have_is_refused_with_the_last_one() {
    let missing = error(counter(LOOP, PointSelector::Block(vec![1, 4])));
    assert!(
        matches!(
            missing,
            AttachError::UnknownFragment {
                fragment: 4,
                last: 3,
                ..
            }
        ),
        "{missing}"
    );
}

#[test]
fn fragments_before_the_constructor_call_are_refused() {
    let all = counter("<init>(Z)V", PointSelector::Blocks);
    assert_eq!(shown(&all), ["f3 11 before f3:Count"]);
    let early = error(counter("<init>(Z)V", PointSelector::Block(vec![1])));
    let AttachError::MethodRefused { reason, .. } = &early else {
        panic!("{early}");
    };
    assert_eq!(reason, "BeforeSuper");
}

#[test]
fn a_call_graph_has_the_entry_and_each_call_and_allocation() {
    let whats = |points: Points| -> Vec<String> {
        let points = points.expect("the spec has points").into_iter();
        let mut whats: Vec<String> = points.filter_map(|point| point.what).collect();
        whats.sort();
        whats
    };
    let which = |kind| PointSelector::Instructions(kind);
    for label in [SITES, "<init>(Z)V", "<init>(I)V", LOOP] {
        let calls = whats(counter(label, which(InstructionKind::CallSites(None))));
        let allocations = whats(counter(label, which(InstructionKind::Allocations)));
        let mut expected = [calls, allocations].concat();
        expected.sort();
        // The call of `this(…)` has a second point, which no version reaches.
        expected.dedup();
        let graph = counter(label, PointSelector::CallGraph);
        let entries = graph.as_ref().map_or(0, |points| {
            let entries = points.iter().filter(|point| point.what.is_none());
            entries.count()
        });
        assert_eq!((whats(graph), entries), (expected, 1), "{label}");
    }
}

#[test]
fn a_recorder_of_contexts_counts_the_allocations_of_a_method() {
    let recorder = |form| {
        let filter = Vec::new();
        let kind = InstrumentKind::Recorder(RecorderSpec { form, filter });
        let points = planned(
            SITES,
            &spec(PointSelector::Method, AdviceKind::Around, kind),
        );
        points.expect("a recorder")
    };
    let count = |points: &[PlannedProbe]| {
        let sites = points.iter().flat_map(|point| &point.sites);
        let allocations = sites.filter(|(_, step)| *step == PlannedAction::TraceAllocation);
        allocations.count()
    };
    let which = PointSelector::Instructions(InstructionKind::Allocations);
    let expected = counter(SITES, which).map_or(0, |points| points.len());
    for form in [RecordingForm::Contexts, RecordingForm::ExactContexts] {
        let points = recorder(form);
        assert_eq!((points.len(), count(&points)), (1, expected));
    }
    assert!(expected > 0);
    assert_eq!(count(&recorder(RecordingForm::Events)), 0);
}

#[test]
fn code_in_a_call_graph_runs_before_virtual_calls_and_counts_nothing() {
    let points = planned(
        SITES,
        &spec(PointSelector::CallGraph, AdviceKind::Before, code()),
    );
    let points = points.expect("code at virtual calls");
    let mnemonics = points.iter().filter_map(|point| {
        let what = point.what.as_deref()?;
        what.split(' ').next()
    });
    let mnemonics: Vec<&str> = mnemonics.collect();
    assert_eq!(
        mnemonics,
        ["invokevirtual", "invokeinterface", "invokevirtual"]
    );
    let actions = points.iter().flat_map(|point| &point.sites);
    let is_code_only = |(_, action): &(Site, PlannedAction)| *action == PlannedAction::CodeOnly;
    assert!(actions.into_iter().all(is_code_only));
    let after = planned(
        SITES,
        &spec(PointSelector::CallGraph, AdviceKind::After, code()),
    );
    assert!(matches!(error(after), AttachError::Unsupported { .. }));
}

#[test]
fn loops_are_counted_and_timed_at_their_headers() {
    assert_eq!(
        shown(&counter(LOOP, PointSelector::Loops)),
        ["f1 20 before f1:Count"]
    );
    let timed = planned(
        LOOP,
        &spec(
            PointSelector::Loops,
            AdviceKind::Around,
            InstrumentKind::Timer,
        ),
    );
    assert_eq!(shown(&timed), ["f1 20 before f1:Lap"]);
    assert_eq!(shown(&counter(LARGER, PointSelector::Loops)), [""; 0]);
}

#[test]
fn a_block_timer_runs_from_start_to_end() {
    let timed = planned(
        LOOP,
        &spec(
            PointSelector::Block(vec![2]),
            AdviceKind::Around,
            InstrumentKind::Timer,
        ),
    );
    assert_eq!(shown(&timed), ["f2 21 before f2:Start, after f2:Stop"]);
}

#[test]
fn exits_are_all_returns_and_for_a_counter_also_exceptions() {
    let points = counter(LARGER, PointSelector::Exits);
    assert_eq!(
        shown(&points),
        [
            "f1 30 after f1:Count",
            "f2 32 after f2:Count",
            "- 27 throw:Count"
        ]
    );
    let with_code = planned(
        LARGER,
        &spec(PointSelector::Exits, AdviceKind::Before, code()),
    );
    assert_eq!(shown(&with_code), ["f1 30 @13:Count", "f2 32 @15:Count"]);
    let logged = error(planned(
        LARGER,
        &spec(PointSelector::Exits, AdviceKind::Before, log("x")),
    ));
    assert!(
        matches!(logged, AttachError::VariableNotLive { .. }),
        "`x` is dead in f1: {logged}"
    );
}

#[test]
fn a_timer_around_exits_is_not_supported() {
    let refused = error(planned(
        LARGER,
        &spec(
            PointSelector::Exits,
            AdviceKind::Around,
            InstrumentKind::Timer,
        ),
    ));
    assert!(
        matches!(refused, AttachError::Unsupported { .. }),
        "{refused}"
    );
}

#[test]
fn a_log_after_a_method_is_not_supported_but_one_before_is() {
    let at = |when| planned(LOOP, &spec(PointSelector::Method, when, log("n")));
    let refused = error(at(AdviceKind::After));
    assert!(
        matches!(refused, AttachError::Unsupported { .. }),
        "{refused}"
    );
    assert_eq!(shown(&at(AdviceKind::Before)), ["- 19 entry:Log"]);
}

#[test]
fn a_line_that_begins_a_fragment_is_counted_there() {
    assert_eq!(
        shown(&counter(LARGER, PointSelector::Line(vec![30]))),
        ["f1 30 before f1:Count"]
    );
}

#[test]
fn a_line_inside_a_fragment_is_counted_at_its_first_instruction() {
    assert_eq!(
        shown(&counter(LARGER, PointSelector::Line(vec![29]))),
        ["f0 29 @5:Count"]
    );
    let after = planned(
        LARGER,
        &spec(
            PointSelector::Line(vec![29]),
            AdviceKind::After,
            InstrumentKind::Counter,
        ),
    );
    assert_eq!(shown(&after), ["f0 29 after f0:Count"]);
}

#[test]
fn two_lines_of_one_fragment_have_positions_of_their_own() {
    let points = counter(LARGER, PointSelector::Line(vec![28, 27, 29]));
    assert_eq!(
        shown(&points),
        ["f0 28 @2:Count", "f0 27 before f0:Count", "f0 29 @5:Count"]
    );
}

#[test]
fn a_line_without_code_is_refused_with_the_lines_of_the_method() {
    let missing = error(counter(LARGER, PointSelector::Line(vec![31])));
    let AttachError::UnknownLine {
        line, first, last, ..
    } = missing
    else {
        panic!("{missing}");
    };
    assert_eq!((line, first, last), (31, Some(27), Some(32)));
}

#[test]
fn logged_variables_have_the_slot_and_type_of_the_site() {
    let at = |place| planned(LARGER, &spec(place, AdviceKind::Before, log("y")));
    let points = at(PointSelector::Line(vec![30])).unwrap_or_default();
    let y = LoggedValue {
        name: "y".into(),
        slot: LocalSlot(4),
        ty: Type::Int,
    };
    assert_eq!(points[0].values, [y]);
    let early = error(at(PointSelector::Line(vec![28])));
    let AttachError::VariableNotLive {
        variable,
        place,
        live,
        ..
    } = early
    else {
        panic!("{early}");
    };
    assert_eq!((variable.as_str(), place.as_str()), ("y", "@2"));
    assert!(live.contains(&"x".to_string()), "{live:?}");
}

#[test]
fn a_variable_can_be_named_by_its_slot() {
    let points = planned(
        LOOP,
        &spec(PointSelector::Entry, AdviceKind::Before, log("local1")),
    );
    let points = points.unwrap_or_default();
    assert_eq!(
        (points[0].values[0].slot, &points[0].values[0].ty),
        (LocalSlot(1), &Type::Int)
    );
}

#[test]
fn a_logged_variable_that_one_block_lacks_refuses_all_blocks() {
    let refused = error(planned(
        LOOP,
        &spec(PointSelector::Blocks, AdviceKind::Before, log("sum")),
    ));
    assert!(
        matches!(refused, AttachError::VariableNotLive { .. }),
        "{refused}"
    );
}

#[test]
fn instructions_at_which_a_variable_cannot_be_read_are_skipped() {
    let calls = |name: &str| {
        planned(
            SITES,
            &spec(
                PointSelector::Instructions(InstructionKind::Calls(None)),
                AdviceKind::Before,
                log(name),
            ),
        )
    };
    // `made` is live from its initialisation to the call of `consume`.
    let texts: Vec<String> = calls("made")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|point| point.what)
        .collect();
    assert_eq!(texts, ["call shop.Points::consume @67"]);
    let nowhere = error(calls("missing"));
    assert!(
        matches!(nowhere, AttachError::VariableNotLive { .. }),
        "{nowhere}"
    );
}

#[test]
fn an_instruction_is_measured_before_after_or_around() {
    let place = || PointSelector::Instructions(InstructionKind::Opcode("ladd".into()));
    let at = |when, kind| planned(SITES, &spec(place(), when, kind));
    assert_eq!(
        shown(&at(AdviceKind::Before, InstrumentKind::Counter)),
        ["f0 52 @16:Count"]
    );
    assert_eq!(
        shown(&at(AdviceKind::After, InstrumentKind::Counter)),
        ["f0 52 behind @16:Count"]
    );
    let timed = at(AdviceKind::Around, InstrumentKind::Timer);
    assert_eq!(shown(&timed), ["f0 52 @16:Start, behind @16:Stop"]);
    assert_eq!(
        timed.unwrap_or_default()[0].what.as_deref(),
        Some("ladd @16")
    );
}

#[test]
fn nothing_can_be_measured_after_an_instruction_that_does_not_fall_through() {
    let place = || PointSelector::Instructions(InstructionKind::Throws);
    for (when, kind) in [
        (AdviceKind::After, InstrumentKind::Counter),
        (AdviceKind::Around, InstrumentKind::Timer),
    ] {
        let refused = error(planned(SITES, &spec(place(), when, kind)));
        assert!(
            matches!(refused, AttachError::Unsupported { .. }),
            "{refused}"
        );
    }
    assert!(
        planned(
            SITES,
            &spec(place(), AdviceKind::Before, InstrumentKind::Counter)
        )
        .is_ok()
    );
}

#[test]
fn code_before_an_instruction_sees_its_operands_and_code_after_it_sees_the_result() {
    let place = || PointSelector::Instructions(InstructionKind::ArrayReads);
    for (when, names) in [
        (AdviceKind::Before, "array index"),
        (AdviceKind::After, "result"),
    ] {
        let seen = RefCell::new(Vec::new());
        let compile = |_: &ProbeCode, values: VisibleValues| {
            let names: Vec<String> = values.operands.into_iter().map(|o| o.name).collect();
            seen.borrow_mut().push((values.pc, names.join(" ")));
            Ok(empty_probe())
        };
        let points = planned_with(SITES, &spec(place(), when, code()), &compile);
        assert_eq!(points.map(|p| p.len()).ok(), Some(2));
        assert_eq!(
            seen.into_inner(),
            [(28, names.to_string()), (100, names.to_string())]
        );
    }
}

#[test]
fn code_at_the_exits_of_a_method_sees_no_variables() {
    let seen = RefCell::new(Vec::new());
    let compile = |_: &ProbeCode, values: VisibleValues| {
        seen.borrow_mut().push(values.state.locals.len());
        Ok(empty_probe())
    };
    let after = spec(PointSelector::Method, AdviceKind::After, code());
    assert!(planned_with(LOOP, &after, &compile).is_ok());
    let before = spec(PointSelector::Method, AdviceKind::Before, code());
    assert!(planned_with(LOOP, &before, &compile).is_ok());
    assert_eq!(seen.into_inner(), [0, 3]);
}

#[test]
fn code_is_attached_where_it_compiles() {
    let compile = |_: &ProbeCode, values: VisibleValues| match values.pc {
        2 => Ok(empty_probe()),
        _ => Err(unknown("q")),
    };
    let points = planned_with(
        LOOP,
        &spec(PointSelector::Blocks, AdviceKind::Before, code()),
        &compile,
    );
    assert_eq!(shown(&points), ["f1 20 before f1:Count"]);
    assert!(points.unwrap_or_default()[0].code.is_some());
}

#[test]
fn code_that_compiles_nowhere_is_refused_with_the_first_error() {
    let compile = |_: &ProbeCode, values: VisibleValues| Err(unknown(&format!("pc{}", values.pc)));
    let refused = error(planned_with(
        LOOP,
        &spec(PointSelector::Blocks, AdviceKind::Before, code()),
        &compile,
    ));
    assert_eq!(*reason(&refused), Reason::Unknown { name: "pc0".into() });
    assert_eq!(awaited_class(&refused), None);
}

#[test]
fn an_error_that_waits_for_a_class_wins_over_earlier_errors_and_over_placed_points() {
    let compile = |_: &ProbeCode, values: VisibleValues| match values.pc {
        0 => Err(unknown("q")),
        2 => Err(not_loaded("shop.First")),
        7 => Err(not_loaded("shop.Second")),
        _ => Ok(empty_probe()),
    };
    let refused = error(planned_with(
        LOOP,
        &spec(PointSelector::Blocks, AdviceKind::Before, code()),
        &compile,
    ));
    assert_eq!(awaited_class(&refused), Some("shop.First"));
}

#[test]
fn chosen_blocks_have_no_points_before_they_are_replaced_by_numbers() {
    let chosen = counter(LOOP, PointSelector::Chosen);
    assert!(chosen.is_ok_and(|points| points.is_empty()));
}

#[test]
fn loop_exits_count_iterations_and_call_the_code_only_on_the_way_out() {
    let points = planned(
        LOOP,
        &spec(PointSelector::LoopExits, AdviceKind::Before, code()),
    );
    assert_eq!(
        shown(&points),
        [
            "f1 20 edge f1 -> f3:Count, edge f1 -> f3:LoopExit, throw:CodeOnly, \
          edge f0 -> f1:LoopEnter, edge f2 -> f1:LoopBackEdge"
        ]
    );
}

#[test]
fn an_endless_loop_is_left_through_its_handler() {
    let points = planned(
        "guarded([I)I",
        &spec(PointSelector::LoopExits, AdviceKind::Before, code()),
    );
    assert_eq!(
        shown(&points),
        [
            "f1 43 throw:CodeOnly, edge f0 -> f1:LoopEnter, edge f1 -> f1:LoopBackEdge, \
          before f2:CodeOnly, before f2:LoopExit"
        ]
    );
}

#[test]
fn code_at_loop_exits_is_guarded_and_compiled_at_the_header() {
    let compile = |code: &ProbeCode, values: VisibleValues| {
        assert!(values.has_iterations);
        assert_eq!(
            (values.pc, code.body.len()),
            (2, 1),
            "the header, and the guard alone"
        );
        Err(unknown("q"))
    };
    let refused = error(planned_with(
        LOOP,
        &spec(PointSelector::LoopExits, AdviceKind::Before, code()),
        &compile,
    ));
    let AttachError::NotCompiled { place, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(place, "the exits of a loop");
}

#[test]
fn only_code_can_be_attached_to_loop_exits() {
    let refused = error(counter(LOOP, PointSelector::LoopExits));
    assert!(
        matches!(refused, AttachError::Unsupported { .. }),
        "{refused}"
    );
    assert!(
        refused
            .to_string()
            .starts_with("a counter at the exits of loops")
    );
}
