//! Transformations that plans declare: what their functions receive, which edits are accepted, and the methods that
//! get them. The recorder has one graph with three blocks; the block at line 9 has a virtual call at pc 12.

mod recorder;

use recorder::{calls, run, value};

#[track_caller]
fn error(source: &str) -> String {
    match run(source).0 {
        Ok(value) => panic!("{value}"),
        Err(error) => error.to_string(),
    }
}

/// A plan that declares the transformation `own` with this function.
fn own(function: &str, then: &str) -> String {
    format!("transformation(\"own\", {function});\nlet m = methods(\"route.Edge::*\");\n{then}")
}

const ALL_CALLS: &str = r#"|graph, options| {
    let edits = [];
    for block in graph.blocks {
        for site in block.calls { edits.push(test_receivers(site.pc, options.classes)); }
    }
    edits
}"#;

const OPTIMISE: &str = r#"m.optimise("own", #{ classes: ["a.B", "a.C"] })"#;

#[test]
fn a_transformation_edits_the_methods_for_which_it_returns_edits() {
    let found = calls(&own(ALL_CALLS, &format!("let p = {OPTIMISE}; p.detach();")));
    let edit = "edit route.Edge::isMe(int, int): test calls @12 for a.B, a.C";
    assert_eq!(found, [edit, "undo p1"]);
    let shown = value(&own(ALL_CALLS, &format!("{OPTIMISE}.id()")));
    assert_eq!(shown, "p1");
}

#[test]
fn all_edits_can_be_written_without_a_transformation() {
    let found = calls(
        r#"methods("a.B::m").edit([test_receivers(7, ["a.C"]), constant(1, 'a'), split(300), skip(2)]);"#,
    );
    let edits = "test calls @7 for a.C; specialise parameter 1 for 97; split into parts of 300 bytes; skip f2";
    assert_eq!(found, [format!("edit a.B::m: {edits}")]);
}

#[test]
fn the_function_receives_the_graph_with_passes_and_the_options() {
    let parts = r#"|graph, options| {
        let passes = graph.blocks.map(|b| b.passes);
        let constants = graph.parameters.filter(|p| p.constant).map(|p| p.number);
        print(`${graph.class} ${passes} ${constants} ${options.limit}`);
        [constant(0, true)]
    }"#;
    for (counts, passes) in [
        ("", "[(), (), ()]"),
        (", counts: m.blocks().before(counter())", "[0, 1000, 2000]"),
    ] {
        let plan = own(
            parts,
            &format!("m.optimise(\"own\", #{{ limit: 3{counts} }});"),
        );
        let (result, recorder) = run(&plan);
        result.expect("the plan runs");
        let wanted = format!("route.Edge {passes} [0] 3");
        assert_eq!(recorder.printed(), [wanted]);
    }
}

#[test]
fn edits_that_may_change_results_need_edit() {
    let refused = error(&own("|graph, options| [skip(1)]", "m.optimise(\"own\")"));
    for part in ["`skip f1`", "may change the results", ".edit(\"own\", …)"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let found = calls(&own("|graph, options| [skip(1)]", "m.edit(\"own\");"));
    assert_eq!(found, ["edit route.Edge::isMe(int, int): skip f1"]);
    let refused = error(&own("|graph, options| [skip(99)]", "m.edit(\"own\", #{});"));
    assert!(refused.contains("UnknownFragment"), "{refused}");
}

#[test]
fn a_dump_makes_no_edit() {
    let found = calls(&own(
        ALL_CALLS,
        r#"
        m.dump();
        m.dump([skip(3)]);
        m.dump("own", #{ classes: ["a.B"] });
        "#,
    ));
    let all = [
        "dump []: ",
        "dump []: skip f3",
        "dump [10]: test calls @12 for a.B",
    ];
    assert_eq!(found, all);
    let graph = value(&own(
        ALL_CALLS,
        "let d = m.dump()[0]; `${d.pattern} ${d.before.text} ${d.after.dot} ${d.after.json}`",
    ));
    let wanted = r#"route.Edge::isMe(int, int) before digraph after {"after":1}"#;
    assert_eq!(graph, wanted);
    let none = value(&own("|graph, options| []", "m.dump(\"own\").len()"));
    assert_eq!(none, "0");
}

#[test]
fn mistakes_are_named() {
    for (plan, part) in [
        (own("|g, o| []", "m.optimise(\"own\")"), "returns no edit"),
        (
            own("|g, o| 7", "m.optimise(\"own\")"),
            "must return an array of edits",
        ),
        (
            own("|g, o| [7]", "m.optimise(\"own\")"),
            "edits such as skip(3), not `7`",
        ),
        (own("|g| []", "m.optimise(\"own\")"), "|graph, options| […]"),
        (
            own("|g, o| []", "m.optimise(\"other\")"),
            "there are \"huge\", \"devirtualise\", \"specialise\", \"superblock\", \"unswitch\", \"own\"",
        ),
        (
            own("|g, o| []", "transformation(\"own\", |g, o| [])"),
            "has a transformation `own` already",
        ),
        (
            "transformation(\"huge\", |g, o| [])".to_owned(),
            "cannot be the name",
        ),
        (
            "transformation(\"\", |g, o| [])".to_owned(),
            "cannot be the name",
        ),
        ("test_receivers(-1, [\"a.B\"])".to_owned(), "pc of a call"),
        ("test_receivers(1, [])".to_owned(), "0 classes"),
        ("constant(0, \"x\")".to_owned(), "an int, a bool or a char"),
        ("split(0)".to_owned(), "65,535"),
    ] {
        let found = error(&plan);
        assert!(found.contains(part), "{plan}: {found}");
    }
}
