//! Errors of plans: positions and messages, and limits that stop endless plans.

mod no_jvm;
mod recorder;

use no_jvm::dry_run;
use recorder::run;
use std::time::{Duration, Instant};
use veneer_scripts::{Plan, PlanStage, limits};

/// Compares the text of the error with the expected text.
#[track_caller]
fn check(source: &str, expected: &str) {
    let (result, recorder) = run(source);
    let error = result.expect_err(source);
    assert_eq!(
        error.to_string(),
        expected.trim_matches('\n'),
        "found:\n{error}"
    );
    assert_eq!(recorder.printed(), Vec::<String>::new());
}

#[test]
fn syntax() {
    check(
        "let m = methods(\"a.B\");\nlet h = m.before(counter();\n",
        "
plan.rhai:2:27: expecting ',' to separate the arguments to function call 'before'
let h = m.before(counter();
                          ^",
    );
}

#[test]
fn variables_are_checked_when_the_plan_is_parsed() {
    let error = Plan::compile("p.rhai", "every(1.0, || print(hist.table(10)));").unwrap_err();
    assert_eq!(error.stage, PlanStage::Compile);
    assert_eq!((error.line, error.column), (1, 21));
    assert!(error.message.starts_with("no variable `hist`"), "{error}");
    let error = Plan::compile("p.rhai", "methods(\"a.B\").before(counter)").unwrap_err();
    assert!(
        error.message.contains("the function is written counter()"),
        "{error}"
    );
}

#[test]
fn a_misspelt_function() {
    check(
        "\tlet m = methods(\"a.B\");\n\tm.before(countr());",
        "
plan.rhai:2:11: no function `countr()`; did you mean counter()?
\tm.before(countr());
\t         ^",
    );
}

#[test]
fn arguments_that_do_not_fit() {
    check(
        "methods(\"a.B\").before(3);",
        "
plan.rhai:1:16: `before(Methods, int)` does not fit: write methods(…).before(instrument), where an instrument is counter(), log(\"name\", …) or code: |p| …
methods(\"a.B\").before(3);
               ^",
    );
    check(
        "every(\"1\", || 1);",
        "
plan.rhai:1:1: `every(string, Fn)` does not fit: write every(seconds, || …)
every(\"1\", || 1);
^",
    );
}

#[test]
fn a_malformed_pattern() {
    check(
        "let m = methods(\"java/lang/String\");",
        "
plan.rhai:1:9: pattern `java/lang/String`, column 5: `/` separates packages in class files only: write `.`
let m = methods(\"java/lang/String\");
        ^",
    );
}

#[test]
fn invalid_arguments_are_refused() {
    for (source, message) in [
        ("methods([])", "no pattern"),
        ("methods([3])", "the array must hold patterns, not `3`"),
        ("methods(\"a.B\").before(timer())", "write .around(timer())"),
        (
            "methods(\"a.B\").around(counter())",
            "write .before(counter())",
        ),
        ("methods(\"a.B\").block(-1)", "-1 is no fragment"),
        ("methods(\"a.B\").block([])", "the array is empty"),
        ("methods(\"a.B\").edge([[1]])", "`[1]` is no edge"),
        ("methods(\"a.B\").line(0)", "0 is no line"),
        ("methods(\"a.B\").line(70000)", "70000 is no line"),
        (
            "methods(\"a.B\").skip(99999999999)",
            "99999999999 is no fragment",
        ),
        ("methods(\"a.B\").edit([])", "the array is empty"),
        ("methods(\"a.B\").edit([1])", "the array must hold edits"),
        ("log([])", "at least one variable"),
        ("log(\"a.b\")", "`a.b` is no variable"),
        ("every(0, || 1)", "0 is no number of seconds"),
        ("after(-1.0, || 1)", "-1 is no number of seconds"),
        ("after(0.0/0.0, || 1)", "NaN is no number of seconds"),
        ("detach(\"x\")", "as in `i7`"),
        ("detach(\"i99\")", "there is no instrument i99"),
        (
            "methods(\"a.B\").before(counter()).table(-1)",
            "-1 is no number of rows",
        ),
        ("sleep(10)", "write after(seconds, || …)"),
        (
            "import \"other\" as o;",
            "no module `other` came with this plan",
        ),
        ("eval(\"1\")", "eval"),
        ("throw \"mine\"", "mine"),
        (
            "methods(\"refused.C\").before(log(\"x\"))",
            "`x` cannot be read in refused.C::m()V at f3: live there are i, n",
        ),
    ] {
        let error = run(source).0.expect_err(source);
        assert!(error.message.contains(message), "{source}: {error}");
        assert_eq!(error.line, 1, "{source}: {error}");
    }
}

#[test]
fn the_cause_is_shown_not_the_call() {
    check(
        "fn f(x) {\n  [1][x]\n}\nf(5);",
        "
plan.rhai:2:7: array index 5 out of bounds: only 1 element in array
  [1][x]
      ^",
    );
}

#[test]
fn a_plan_that_fails_leaves_nothing_behind() {
    let source = "let m = methods(\"a.B\");\nm.before(counter());\nm.skip(1);\nafter(0, || print(\"late\"));\noops();";
    let (result, recorder) = run(source);
    assert_eq!(result.unwrap_err().line, 5);
    let calls = recorder.calls();
    assert_eq!(calls[calls.len() - 2..], ["undo p1", "detach i1"]);
}

#[test]
fn endless_loops_are_stopped() {
    for (source, limit) in [
        ("loop { }", "stopped: more than"),
        ("let x = 0;\nwhile true { x += 1; }", "stopped: more than"),
        ("try { loop { } } catch { }", "stopped: more than"),
        ("fn f() { f() }\nf();", "32 calls inside each other"),
        (
            "let s = \"abc\"; loop { s += s; }",
            "strings of 1,048,576 bytes",
        ),
        ("let a = [1]; loop { a += a; }", "arrays of 500,000"),
        ("let a = []; loop { a.push(a); }", "stopped: "),
        (
            "let a = []; a.pad(400_000, 1); loop { let b = a; b.push(1); }",
            "more than 2 s in one call",
        ),
        ("loop { after(1, || 1); }", "1,000 callbacks wait already"),
        (
            "let f = |x| x; loop { [1, 2, 3].map(f); }",
            "stopped: more than",
        ),
    ] {
        let begin = Instant::now();
        let error = run(source).0.expect_err(source);
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(3), "{source}: {took:?}");
        assert!(error.message.contains(limit), "{source}: {error}");
        assert!(error.line > 0, "{source}: {error}");
        if limit.starts_with("stopped") {
            assert_eq!(error.stage, PlanStage::Limit, "{source}: {error}");
        }
    }
}

#[test]
fn a_dry_run_finds_errors_that_parsing_does_not() {
    let plan = |source| Plan::compile("p.rhai", source).unwrap();
    let good = "let h = methods(\"a.B\").blocks().before(counter()); every(1, || print(h.table(3))); h.detach();";
    assert_eq!(dry_run(&plan(good)), Ok(()));
    let error = dry_run(&plan("methods(\"a.B\").bloks()")).unwrap_err();
    assert!(
        error.message.contains("did you mean methods(…).blocks()"),
        "{error}"
    );
}

#[test]
fn time_in_the_agent_does_not_count() {
    let source =
        "let h = methods(\"slow.C\").before(counter()); let x = 0; for i in 0..1000 { x += i; } x";
    let begin = Instant::now();
    assert_eq!(
        run(source).0.map_err(|error| error.to_string()),
        Ok("499500".to_owned())
    );
    assert!(begin.elapsed() > limits::MAX_CALL_DURATION);
}
