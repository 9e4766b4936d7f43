//! The calls that plans make to the runtime, function by function.

mod recorder;

use recorder::{Recorder, calls, run, value};
use veneer_scripts::Plan;

#[test]
fn every_point_selector_and_side() {
    let found = calls(
        r#"
        let m = methods("route.Edge::isMe(..)");
        m.before(counter()); m.after(counter()); m.around(timer());
        m.entry().before(counter()); m.exits().after(log("a"));
        m.blocks().around(timer()); m.loops().before(counter()); m.edges().before(counter());
        m.block(3).before(counter()); m.block([1, 2]).before(counter());
        m.edge(3, 4).before(counter()); m.edge([[1, 2], [2, 1]]).before(counter());
        m.line(40).before(counter()); m.line([40, 41]).before(log("a", "b"));
        methods(["a.B", "c..*::<init>()"]).blocks().before(log(["x", "this", "local3"]));
        "#,
    );
    let of = "of route.Edge::isMe(..)";
    assert_eq!(
        found,
        [
            format!("attach counter before method {of}"),
            format!("attach counter after method {of}"),
            format!("attach timer around method {of}"),
            format!("attach counter before entry {of}"),
            format!("attach log(a) after exits {of}"),
            format!("attach timer around blocks {of}"),
            format!("attach counter before loops {of}"),
            format!("attach counter before edges {of}"),
            format!("attach counter before f3 {of}"),
            format!("attach counter before f1, f2 {of}"),
            format!("attach counter before f3->f4 {of}"),
            format!("attach counter before f1->f2, f2->f1 {of}"),
            format!("attach counter before line 40 {of}"),
            format!("attach log(a, b) before line 40, 41 {of}"),
            "attach log(x, this, local3) before blocks of a.B, c..*::<init>()".to_owned(),
        ]
    );
}

#[test]
fn edits_are_made_and_undone() {
    let found = calls(
        r#"
        let m = methods("route.Edge::isMe(..)");
        let a = m.redirect(3, 4, 7);
        let b = m.skip(2);
        let c = m.replace(2, 5);
        let d = m.edit([redirect(1, 2, 3), skip(4), replace(5, 6)]);
        b.detach();
        print(`${a.id()} ${c} ${d.id()}`);
        "#,
    );
    let of = "edit route.Edge::isMe(..)";
    assert_eq!(
        found,
        [
            format!("{of}: redirect f3->f4 to f7"),
            format!("{of}: skip f2"),
            format!("{of}: replace f2 by f5"),
            format!("{of}: redirect f1->f2 to f3; skip f4; replace f5 by f6"),
            "undo p2".to_owned(),
        ]
    );
}

#[test]
fn a_virtual_speedup_begins_and_ends() {
    let (result, recorder) = run(
        r#"let s = methods(["a.B::m(..)", "a.C::n(..)"]).virtual_speedup(0.5, 1.5);
           let w = s.end();
           `${w.seconds} ${w.delayed} ${w.observations}`"#,
    );
    assert_eq!(result.expect("the plan runs"), "1.0 0.25 0");
    assert_eq!(
        recorder.calls(),
        [
            "speed up a.B::m(..), a.C::n(..) by 0.5 for 1.5 s",
            "end the speed-up 7"
        ]
    );
}

#[test]
fn warnings_about_an_edit_are_printed() {
    let (result, recorder) = run("methods(\"a.Endless\").skip(2)");
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(
        recorder.printed(),
        ["plan.rhai: warning: it does not return"]
    );
    let (_, recorder) = run("methods(\"a.B\").skip(2)");
    assert_eq!(recorder.printed(), [""; 0]);
}

#[test]
fn a_handle_returns_its_data() {
    let counted = |rest: &str| {
        value(&format!(
            "let h = methods(\"a.B\").before(counter()); {rest}"
        ))
    };
    assert_eq!(counted("h"), "i1");
    assert_eq!(counted("h.id()"), "i1");
    assert_eq!(counted("h.hits()"), "3000");
    assert_eq!(counted("h.attached()"), "true");
    assert_eq!(counted("h.detach(); h.attached()"), "false");
    assert_eq!(counted("detach(h.id()); h.attached()"), "false");
    assert_eq!(counted("h.rows().len()"), "2");
    assert_eq!(
        counted(
            "let r = h.rows()[1]; `${r.class} ${r.method} ${r.fragment} ${r.line} ${r.hits} [${r.to}]`"
        ),
        "route.Edge isMe(II)Z 2 40 2000 []"
    );
    assert_eq!(
        counted("h.table(1)"),
        " hits  share  class       method          at  line
2,000  66.7%  route.Edge  isMe(int, int)  f2    40
3,000 in 2 rows, of which 1 are shown"
    );
    let timed = |rest: &str| value(&format!("let h = methods(\"a.B\").around(timer()); {rest}"));
    assert_eq!(timed("h.rows()[1].total_ns"), "6000");
    assert_eq!(timed("h.hits()"), "3");
    assert!(timed("h.table()").starts_with("  total  count     mean"));
    let logged = |rest: &str| {
        value(&format!(
            "let h = methods(\"a.B\").before(log(\"a\")); {rest}"
        ))
    };
    assert_eq!(logged("h.events(2).len()"), "2");
    assert_eq!(
        logged(
            "let e = h.events(1)[0]; `${e.time_ns} ${e.thread_id} ${e.values.a} ${e.values.b == ()}`"
        ),
        "3000 1 5 true"
    );
    assert!(logged("h.table(2)").ends_with("2 shown of 14 events, 2 dropped"));
}

#[test]
fn many_rows_are_within_the_limits() {
    let source = r#"
        let h = methods("huge..*").before(counter());
        let hot = h.rows().filter(|r| r.hits > 29_990_000);
        `${h.rows().len()} ${hot.len()}`
    "#;
    assert_eq!(value(source), "30000 10");
}

#[test]
fn armed_methods_are_listed_and_sampled() {
    assert_eq!(value("methods(\"*..*\").list().len()"), "3");
    assert_eq!(
        value("methods(\"*..*\").list()[2].pattern"),
        "route.Edge::weight(long[])"
    );
    let sample = |seed| {
        value(&format!(
            "methods(\"*..*\").sample(2, {seed}).map(|m| m.method)"
        ))
    };
    assert_eq!(sample(-7), sample(-7));
    assert!((0..20).any(|seed| sample(seed) != sample(-7)));
    assert_eq!(
        value("let g = methods(\"*..*\").graphs()[0]; `${g.pattern} ${g.fragments} ${g.edges}`"),
        "route.Edge::isMe(int, int) 3 [[0, 1], [0, 2], [1, 2]]"
    );
}

#[test]
fn global_functions() {
    assert_eq!(value("refusals()[0].reason"), "MethodTooLarge");
    assert_eq!(value("stale()"), "3");
    assert_eq!(value("pid()"), std::process::id().to_string());
    assert_eq!(value("now() >= 0.0 && now() < 60.0"), "true");
    assert_eq!(
        value(
            "methods(\"a.B\").before(counter().named(\"x\")); let i = instruments()[0]; `${i.id} ${i.name} ${i.kind} ${i.plan} ${i.points} ${i.attached}`"
        ),
        "i1 x counter plan.rhai 2 true"
    );
    assert_eq!(value("()"), "");
    assert_eq!(value("let x = 1;"), "");
    assert_eq!(value("[1, \"a\"]"), "[1, \"a\"]");
    assert_eq!(
        value("methods([\"a.B\", \"c.D::m\"]).loops()"),
        "loops of a.B, c.D::m"
    );
}

#[test]
fn detach_all_detaches_the_instruments_of_all_plans() {
    let (recorder, session) = Recorder::session();
    let load = |name: &str, source: &str| {
        let plan = Plan::compile(name, source).unwrap();
        session.load(plan).unwrap_or_else(|error| panic!("{error}"))
    };
    load(
        "one.rhai",
        "methods(\"a.B\").before(counter()); methods(\"a.B\").skip(1);",
    );
    load("two.rhai", "methods(\"a.C\").before(counter());");
    assert_eq!(session.instruments_of("one.rhai").len(), 1);
    recorder.calls();
    assert_eq!(load("exec", "detach_all()"), "3");
    assert_eq!(recorder.calls(), ["detach i2", "undo p1", "detach i1"]);
    assert_eq!(load("exec", "detach_all()"), "0");
    assert!(session.instruments_of("one.rhai").is_empty());
}

#[test]
fn a_constant_handle_works_too() {
    assert_eq!(
        value("const H = methods(\"a.B\").before(counter()); H.hits()"),
        "3000"
    );
}

#[test]
fn warnings_have_a_position() {
    let (result, recorder) =
        run("let m = methods(\"absent.X\");\nlet h = m.blocks().before(counter());");
    result.unwrap();
    assert_eq!(
        recorder.printed(),
        ["plan.rhai:2:20: warning: no loaded class matches `absent.X`"]
    );
}

#[test]
fn print_and_debug() {
    let (result, recorder) = run("print(\"a\");\nprint(methods(\"a.B\"));\ndebug(\"b\");");
    result.unwrap();
    assert_eq!(recorder.printed(), ["a", "a.B", "plan.rhai:3:1: \"b\""]);
}

#[test]
fn a_table_has_a_name() {
    assert_eq!(
        calls("let t = tally(7).named(\"orders\"); histogram().named(\"cost\"); t.clear();"),
        [
            "tally Count 7",
            "table 0 of plan.rhai is orders",
            "tally Histogram 1000",
            "table 1 of plan.rhai is cost",
            "clear 0",
        ]
    );
}

#[test]
fn a_table_is_marked_as_a_call_tree_and_has_titles() {
    assert_eq!(
        calls("let t = sums(7).titled([\"calls\", \"way\"]).call_tree(); tally().titled([]);"),
        [
            "tally Sums 7",
            "table 0 of plan.rhai is a call tree",
            "tally Count 1000",
        ]
    );
    for (wrong, said) in [
        (
            "histogram().call_tree()",
            "a call tree is a tally() or a sums()",
        ),
        ("tally().titled([1])", "titles of columns"),
    ] {
        let error = run(wrong).0.unwrap_err().to_string();
        assert!(error.contains(said), "{wrong}: {error}");
    }
}

#[test]
fn classes_are_left_out_of_a_selection() {
    assert_eq!(
        calls(
            "methods([\"a..*\", \"b.B::m\"]).except(\"a.b..*\").except([\"c.C\"]).before(counter());"
        ),
        ["attach counter before method of a..* except a.b..*, c.C, b.B::m except a.b..*, c.C"]
    );
    let error = run("methods(\"a.B\").except(\"a.b::m\")").0.unwrap_err();
    assert!(
        error.to_string().contains("only classes stand after"),
        "{error}"
    );
}

#[test]
fn every_kind_of_table_has_its_capacity() {
    assert_eq!(
        calls(
            "tally(); sums(); histogram(2); linear(-5, 10, 3); linear(0, 1, 2, 30); rate(); rate(7); distinct(); distinct(8); top(9); last(); sample(11);"
        ),
        [
            "tally Count 1000",
            "tally Sums 1000",
            "tally Histogram 2",
            "tally Linear(LinearBuckets { from: -5, step: 10, buckets: 3 }) 1000",
            "tally Linear(LinearBuckets { from: 0, step: 1, buckets: 2 }) 30",
            "tally Rate 1000",
            "tally Rate 7",
            "tally Distinct 10000",
            "tally Distinct 8",
            "tally Top 9",
            "tally Last 1000",
            "tally Sample 11",
        ]
    );
    assert_eq!(
        value("let t = rate(); [t.diff(), merge([t, t]), t.rows(), t.total()]"),
        "[[], [], [], 0]"
    );
    for (code, said) in [
        (
            "linear(0, 0, 5)",
            "0 is no width of a bucket: write 1 or more",
        ),
        (
            "linear(0, 1, 0)",
            "0 is no number of buckets: write 1 to 1000",
        ),
        (
            "merge([])",
            "there is no table to merge: write merge([t1, t2])",
        ),
        (
            "merge([tally(), rate()])",
            "a tally() and a rate() that differ",
        ),
        (
            "merge([top(2), top(2)])",
            "tables made by top(…) cannot be merged",
        ),
        (
            "rate().bars()",
            "bars are for a histogram() and a linear(from, step, buckets)",
        ),
    ] {
        let (result, _) = run(code);
        let error = result.expect_err(code).to_string();
        assert!(error.contains(said), "{code}: {error}");
    }
}
