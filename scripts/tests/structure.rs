//! Classes, methods and blocks as values, and predicates on them.
//!
//! The recorder has one class with the methods 10 to 12. Each method has three blocks of the sizes
//! 2, the method's number, and 20. The last two blocks are in a loop. The last block is
//! unreachable, except in method 10.

mod recorder;

use recorder::{calls, run, value};

#[track_caller]
fn error(source: &str) -> String {
    match run(source).0 {
        Ok(value) => panic!("{value}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn blocks_are_filtered_by_their_content() {
    let found = calls(
        r#"methods("route..*").blocks().filter(|b| b.depth > 0 && b.size > 10).before(counter());"#,
    );
    let attached =
        "attach counter before chosen blocks of route..* only {10: [2], 11: [1], 12: [1]}";
    assert_eq!(found, ["graph 10", "graph 11", "graph 12", attached]);
}

#[test]
fn blocks_are_filtered_by_method_and_variables() {
    let found = calls(
        r#"
        let limit = 3;
        methods("route..*").blocks()
            .filter(|b| b.variables.some(|v| v.name == "i") && b.size > limit)
            .filter(|b| b.class == "route.Edge" && b.method != "<init>()V")
            .after(counter().named("found"));
        "#,
    );
    let attached = "attach counter after chosen blocks of route..* only {10: [1, 2], 12: [1]}";
    assert_eq!(found.last().map(String::as_str), Some(attached));
}

#[test]
fn methods_are_filtered_by_their_properties() {
    let found = calls(
        r#"
        let all = methods("route..*");
        all.filter(|m| m.size > 100 && "synchronized" in m.flags).before(counter());
        all.filter(|m| "a.Fast" in m.annotations).blocks().before(counter());
        all.filter(|m| m.name == "isMe").blocks().filter(|b| b.number == 1).before(counter());
        "#,
    );
    assert_eq!(
        found,
        [
            "attach counter before method of route..* only {12: []}",
            "attach counter before blocks of route..* only {12: []}",
            "graph 10",
            "attach counter before chosen blocks of route..* only {10: [1]}",
        ]
    );
}

#[test]
fn filtered_methods_can_be_listed_sampled_and_edited() {
    let two = "methods(\"*..*\").filter(|m| m.size > 100)";
    assert_eq!(value(&format!("{two}.list().len()")), "2");
    assert_eq!(value(&format!("{two}.sample(1, 3).len()")), "1");
    assert_eq!(
        value(&format!("{two}.graphs().map(|g| g.method)")),
        "[\"<init>()V\", \"weight([J)D\"]"
    );
    assert_eq!(value(&format!("{two}.to_string()")), "2 methods of *..*");
    let found = calls(&format!("{two}.filter(|m| m.name == \"weight\").skip(2)"));
    let [edit] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(
        edit.starts_with("edit route.Edge::weight(long[]): "),
        "{edit}"
    );
    let nothing = error("methods(\"*..*\").filter(|m| false).skip(2)");
    assert!(nothing.contains("holds for no method"), "{nothing}");
}

#[test]
fn the_structure_is_traversed_from_classes_to_instructions() {
    let sum = value(
        r#"
        let n = 0;
        for c in classes("route..*") {
            for m in c.methods {
                for b in m.blocks {
                    for i in b.instructions { if i == "iadd" { n += 1; } }
                }
            }
        }
        n
        "#,
    );
    assert_eq!(sum, "99");
    let class = value(
        r#"
        let c = classes(["route..*", "a.B"])[0];
        [c.name, c.flags, c.annotations, c.supertypes, c.initialised, c.methods.len(), `${c}`]
        "#,
    );
    assert_eq!(
        class,
        r#"["route.Edge", ["public"], ["a.Node"], ["java.lang.Object"], true, 3, "route.Edge"]"#
    );
    let method = value(
        r#"
        let m = classes("route..*")[0].methods[2];
        [m.class, m.method, m.name, m.pattern, m.size, m.annotations, m.flags, m.edges, `${m}`]
        "#,
    );
    assert_eq!(
        method,
        r#"["route.Edge", "weight([J)D", "weight", "route.Edge::weight(long[])", 120, ["a.Fast"], ["public", "synchronized"], [[0, 1], [1, 2]], "route.Edge::weight([J)D"]"#
    );
}

#[test]
fn graphs_are_computed_on_demand() {
    let found = calls("for c in classes(\"*..*\") { for m in c.methods { m.size; } }");
    assert!(found.is_empty(), "{found:?}");
    let found = calls("let m = classes(\"*..*\")[0].methods[1]; m.blocks; m.edges; m.blocks.len()");
    assert_eq!(found, ["graph 11"]);
}

#[test]
fn a_fragment_is_found_by_its_line() {
    assert_eq!(value("methods(\"route.Edge\").fragment_at(9)"), "1");
    let several = error("methods(\"route.Edge\").fragment_at(7)");
    assert!(several.contains("one of the numbers 0, 2"), "{several}");
    let none = error("methods(\"route.Edge\").fragment_at(8)");
    assert!(none.contains("they begin at 7, 9"), "{none}");
}

#[test]
fn edits_name_fragments_by_line() {
    let edited = calls(
        "methods(\"route.Edge\").redirect(0, line(9), 2); methods(\"route.Edge\").skip(line(9));",
    );
    let edited: Vec<&String> = edited.iter().filter(|c| c.starts_with("edit ")).collect();
    assert_eq!(
        edited,
        [
            "edit route.Edge: redirect f0->f1 to f2",
            "edit route.Edge: skip f1"
        ]
    );
    let edited = calls("methods(\"route.Edge\").edit([replace(line(9), 2)])");
    assert_eq!(edited, ["edit route.Edge: replace f1 by f2"]);
    let several = error("methods(\"route.Edge\").skip(line(7))");
    assert!(several.contains("one of the numbers 0, 2"), "{several}");
    let nonsense = error("methods(\"route.Edge\").replace(1, \"iconst_0 ireturn\")");
    assert!(
        nonsense.contains("`iconst_0 ireturn` names no fragment"),
        "{nonsense}"
    );
    assert_eq!(
        value("`${redirect(0, line(9), 2)}`"),
        "redirect f0->line(9) to f2"
    );
}

#[test]
fn an_edit_can_expect_the_code_of_its_methods() {
    let hash = "0123456789abcdef";
    assert_eq!(value("methods(\"route.Edge\").hash()"), hash);
    let edited = calls(&format!(
        "methods(\"route.Edge\").expect(\"{hash}\").skip(1)"
    ));
    assert_eq!(edited, ["edit route.Edge: skip f1"]);
    let other = error("methods(\"route.Edge\").expect(\"abc\").skip(1)");
    let said =
        format!("route.Edge::isMe(II)Z has other code than expected: its hash is {hash}, not abc");
    assert!(other.contains(&said), "{other}");
    let differ = error("methods(\"*..*\").filter(|m| true).hash()");
    assert!(
        differ.contains("have different code: select one method"),
        "{differ}"
    );
    let none = error("methods(\"*..*\").filter(|m| false).expect(\"abc\")");
    assert!(none.contains("no loaded method is selected"), "{none}");
}

#[test]
fn edits_of_all_plans_are_read_back() {
    assert_eq!(
        value(
            "edits().filter(|e| e.active).map(|e| `${e.id} ${e.plan} ${e.patterns} ${e.edits}`)[0]"
        ),
        "p2 other.rhai [\"a.B::m\"] [redirect f0->f1 to f2, skip f3]"
    );
    let again = calls("methods(\"a.B\").edit(edits()[1].edits)");
    assert_eq!(again, ["edit a.B: redirect f0->f1 to f2; skip f3"]);
}

#[test]
fn invalid_predicates_are_refused() {
    let found = error("methods(\"*..*\").filter(|m| m.size)");
    assert!(found.contains("true or false, not `100`"), "{found}");
    let found = error("methods(\"*..*\").loops().filter(|b| true)");
    assert!(found.contains(".blocks().filter(|b| …)"), "{found}");
    let found = error("methods(\"*..*\").filter(|m| m.siez > 3)");
    assert!(found.contains("siez"), "{found}");
    let found = error("methods(\"*..*\").calls(\"a.B+::m(..)\")");
    assert!(found.contains("only names and types"), "{found}");
    let found = error("classes(\"a..\")");
    assert!(found.contains("column 2"), "{found}");
}
