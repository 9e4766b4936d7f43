//! Plans with modules: visible names, order of evaluation, and positions of errors.

mod no_jvm;
mod recorder;

use recorder::Recorder;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veneer_scripts::{Plan, PlanError, PlanSession, PlanStage, limits};

fn texts(modules: &[(&str, &str)]) -> BTreeMap<String, String> {
    let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    modules.iter().map(own).collect()
}

fn read(plan: &str, modules: &[(&str, &str)]) -> Result<Plan, PlanError> {
    Plan::compile_with("plans/p.rhai", plan, &texts(modules))
}

/// Loads a plan. Returns its value and the recorder.
fn run(
    plan: &str,
    modules: &[(&str, &str)],
) -> (Result<String, PlanError>, Arc<Recorder>, PlanSession) {
    let (recorder, session) = Recorder::session();
    let result = read(plan, modules).and_then(|plan| session.load_at(plan, Instant::now()));
    (result, recorder, session)
}

fn value(plan: &str, modules: &[(&str, &str)]) -> String {
    let (result, ..) = run(plan, modules);
    result.unwrap_or_else(|error| panic!("{plan}\n{error}"))
}

#[test]
fn functions_constants_and_variables_of_modules() {
    let desks = (
        "lib/desks",
        "export const LIMIT = 40; export let names = [\"a\", LIMIT]; const SECRET = 2;
         private fn add(x) { x + global::SECRET }
         fn plus(x) { add(x) }",
    );
    for (plan, expected) in [
        ("desks::plus(desks::LIMIT)", "42"),
        ("desks::names[1] + desks::names.len()", "42"),
        (
            "[1, 2].map(|x| desks::plus(x)).reduce(|a, b| a + b, 0)",
            "7",
        ),
        ("let f = |x| desks::plus(x); f.call(1)", "3"),
        ("fn twice(x) { 2 * desks::plus(x) } twice(1)", "6"),
        (
            "const LIMIT = 1; let desks = 5; fn own() { global::LIMIT } own() + desks + desks::LIMIT",
            "46",
        ),
        ("`${desks::plus(1)} and ${desks::LIMIT}`", "3 and 40"),
        ("let m = #{ desks: 1, plus: 2 }; m.desks + m.plus", "3"),
    ] {
        let plan = format!("import \"lib/desks\" as desks; {plan}");
        assert_eq!(value(&plan, &[desks]), expected, "{plan}");
    }
}

#[test]
fn functions_of_equal_name_in_several_files_are_distinct() {
    let one = (
        "one",
        "fn helper(x) { `one ${x}` } fn all(list) { list.map(|x| helper(x)) } fn show() { helper(0) }",
    );
    let two = (
        "two",
        "fn helper(x) { `two ${x}` } fn all(list) { list.map(|x| helper(x)) } fn own(f) { f.call(helper(9)) }",
    );
    let plan = "import \"one\" as one; import \"two\" as two;
        fn helper(x) { `plan ${x}` }
        let out = [];
        // The engine caches resolved functions by name, so each function is called more than once.
        for i in 0..4 { out += [helper(i), one::helper(i), two::helper(i)]; out += one::all([i]); out += two::all([i]); }
        out.push(two::own(|text| helper(text)));
        let named = one::show;
        out";
    let error = run(plan, &[one, two]).0.unwrap_err();
    assert!(error.message.contains("one::show"), "{error}");
    let plan = plan.replace("let named = one::show;\n", "");
    let expected: Vec<String> = (0..4)
        .map(|i| format!("\"plan {i}\", \"one {i}\", \"two {i}\", \"one {i}\", \"two {i}\", "))
        .collect();
    assert_eq!(
        value(&plan, &[one, two]),
        format!("[{}\"plan two 9\"]", expected.concat())
    );
}

#[test]
fn closures_of_modules_are_found_in_other_files() {
    let lib = (
        "lib",
        "fn adder(n) { |x| x + n + one() } fn one() { 1 } fn later(f) { after(1, f); }
         fn tick() { print(\"tick\"); } fn ticks(text) { every(1, || print(`${text} ${one()}`)); every(1, tick); }",
    );
    let plan = "import \"lib\" as lib;
        let f = lib::adder(10);
        print(f.call(1) + [1].map(lib::adder(20))[0]);
        lib::later(|| print(lib::one()));
        lib::ticks(\"module\");
        at_exit(|| print(lib::adder(30).call(0)));
        when(|| lib::one() == 1, || print(\"holds\"));";
    let zero = Instant::now();
    let (recorder, session) = Recorder::session();
    session.load_at(read(plan, &[lib]).unwrap(), zero).unwrap();
    assert_eq!(recorder.printed(), ["34"]);
    session.run_due(zero + Duration::from_secs(1));
    assert_eq!(recorder.printed(), ["holds", "1", "module 1", "tick"]);
    session.finish();
    assert_eq!(recorder.printed(), ["31"]);
}

#[test]
fn probes_are_looked_up_in_their_own_module() {
    // Two modules have an equal closure at the same position, and the plan has it once more.
    let text = "fn watch(t, name) { methods(\"a.B\").line(1).before(|p| if p.n > global::TOP { t.count(name, p.x) }); }";
    let (one, two) = (
        format!("const TOP = 1; {text}"),
        format!("const TOP = 2; {text}"),
    );
    let plan =
        "import \"one\" as one; import \"two\" as two; let t = tally(); const TOP = 3; let top = 3;
        one::watch(t, \"one\"); two::watch(t, \"two\");
        methods(\"a.B\").line(1).before(|p| if p.n > top { t.count(\"plan\", p.x) });
        methods(\"a.B\").line(1).before(|p| t.count(two::NAME, two::SHARE));";
    let two = format!("{two} export const NAME = \"second\"; export const SHARE = 0.5;");
    let (result, recorder, _) = run(plan, &[("one", &one), ("two", &two)]);
    result.unwrap_or_else(|error| panic!("{error}"));
    let code = |top: u32, name: &str| {
        format!(
            "attach |p| {{ if (p.n > {top}) {{ t0.count(\"{name}\", p.x); }} }} before line 1 of a.B"
        )
    };
    let last = "attach |p| { t0.count(\"second\", 0.5); } before line 1 of a.B";
    assert_eq!(
        recorder.calls()[1..],
        [
            code(1, "one"),
            code(2, "two"),
            code(3, "plan"),
            last.to_owned()
        ]
    );
}

#[test]
fn a_module_runs_once_before_the_plan_and_may_ask_for_parameters() {
    let base = (
        "base",
        "print(\"base\"); export let top = param(\"top\", 5);",
    );
    let lib = (
        "lib/x",
        "import \"../base\" as b; print(\"lib\"); fn top() { b::top }",
    );
    let plan = "print(\"plan\"); import \"lib/x\" as x; import \"base\" as base; print(x::top() + base::top);";
    let (recorder, session) = Recorder::session();
    let settings = BTreeMap::from([("top".to_owned(), "21".to_owned())]);
    let plan = read(plan, &[base, lib]).unwrap().with_params(settings);
    assert_eq!(no_jvm::dry_run(&plan), Ok(()));
    session.load(plan).unwrap();
    assert_eq!(recorder.printed(), ["base", "lib", "plan", "42"]);
}

#[test]
fn errors_name_their_file() {
    let good = "import \"lib/x\" as x; x::f(5);";
    for (plan, module, expected) in [
        (
            good,
            "fn f(n) {\n  [1][n]\n}",
            "plans/lib/x.rhai:2:7: array index 5 out of bounds: only 1 element in array\n  [1][n]\n      ^",
        ),
        (
            good,
            "fn f(n) {\n  countr()\n}",
            "plans/lib/x.rhai:2:3: no function `countr()`; did you mean counter()?",
        ),
        (good, "fn f(n) {\n  n +\n}", "plans/lib/x.rhai:3:1: "),
        (
            good,
            "let y = 1;\nfn f(n) { y }",
            "plans/lib/x.rhai:2:11: no variable `y`",
        ),
        (
            good,
            "fn f(n) { after(1, || methods(\"refused.C\").before(counter())); helper(1, n) }\nfn helper(n) {}",
            "plans/lib/x.rhai:1:64: no function `helper(int, int)`",
        ),
        (
            good,
            "\nmethods(\"refused.C\").before(counter()); fn f(n) {}",
            "plans/lib/x.rhai:2:22: `x` cannot be read in refused.C::m()V",
        ),
        (
            good,
            "\n  fn f(n) { methods(\"a.B\").before(|p| f(p)) }",
            "plans/lib/x.rhai:2:41: `p` is the point: write p.name",
        ),
        (
            good,
            "\n  fn f(n) { methods(\"a.B\").before(|p| f()) }",
            "plans/lib/x.rhai:2:39: nothing happens with this value",
        ),
        (
            "import \"lib/x\" as x;\n x::g(1);",
            "fn f(n) {}",
            "plans/p.rhai:2:5: no function `x::g(int)`",
        ),
        (
            "import \"lib/x\" as x;\n x::f();",
            "fn f(n) {}",
            "plans/p.rhai:2:5: no function `x::f()`",
        ),
        (
            "import \"lib/x\" as x;\n x::p();",
            "private fn p() {}",
            "plans/p.rhai:2:5: no function `x::p()`",
        ),
        (
            "import \"lib/x\" as x; y::f();",
            "",
            "plans/p.rhai:1:22: no module `y`: write `import \"FILE\" as y;` at the top",
        ),
        (
            "import \"none\" as x;",
            "",
            "plans/p.rhai:1:8: no module `none` came with this plan",
        ),
        (
            "import \"../x\" as x;",
            "",
            "plans/p.rhai:1:8: import of `../x`: this leads out",
        ),
        (
            "import \"/x\" as x;",
            "",
            "plans/p.rhai:1:8: import of `/x`: an absolute path",
        ),
        (
            "let n = \"lib/x\"; import n as x;",
            "",
            "plans/p.rhai:1:25: import takes a plain string",
        ),
        (
            "fn f() {\n import \"lib/x\" as x; }",
            "",
            "plans/p.rhai:2:2: import stands at the top level",
        ),
        (
            "loop { import \"lib/x\" as x; break; }",
            "",
            "plans/p.rhai:1:8: import stands at the top level",
        ),
        (
            "import \"lib/x\" as global;",
            "",
            "plans/p.rhai:1:19: `global` is the plan's own constants",
        ),
        (
            good,
            "import \"../p\" as p;",
            "plans/lib/x.rhai:1:8: no module `p` came",
        ),
        (
            good,
            "import \"x\" as p;",
            "plans/lib/x.rhai:1:8: modules import each other in a circle: lib/x imports lib/x",
        ),
    ] {
        let error = run(plan, &[("lib/x", module)])
            .0
            .expect_err(plan)
            .to_string();
        assert!(error.starts_with(expected), "{plan}\n{module}\n{error}");
        assert!(!error.contains("veneer_m"), "{error}");
    }
    let circle = [("a", "import \"b\" as b;"), ("b", "\nimport \"a\" as a;")];
    let error = read("import \"a\" as a;", &circle).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plans/b.rhai:2:8: modules import each other in a circle: a imports b imports a\nimport \"a\" as a;\n       ^"
    );
    assert_eq!(error.stage, PlanStage::Compile);
}

#[test]
fn errors_in_callbacks_of_modules_name_the_module() {
    let lib = ("lib", "\nfn begin() { every(1, || {\n  [][0] }); }");
    let zero = Instant::now();
    let (recorder, session) = Recorder::session();
    let plan = read("import \"lib\" as lib; lib::begin();", &[lib]).unwrap();
    session.load_at(plan, zero).unwrap();
    for second in 1..=3 {
        session.run_due(zero + Duration::from_secs(second));
    }
    let printed = recorder.printed();
    assert_eq!(printed.len(), 2, "{printed:?}");
    assert!(
        printed[0].starts_with("plans/lib.rhai:3:6: array index 0 out of bounds"),
        "{printed:?}"
    );
    assert_eq!(
        printed[1],
        "plans/lib.rhai:2:14: every: cancelled after 3 errors in a row"
    );
}

#[test]
fn a_plan_whose_module_fails_leaves_nothing_behind() {
    let lib = (
        "lib",
        "methods(\"a.B\").before(counter()); every(1, || print(\"late\"));",
    );
    let bad = ("bad", "throw \"mine\";");
    let (result, recorder, session) = run(
        "import \"lib\" as l; import \"bad\" as b; methods(\"a.C\").skip(1);",
        &[lib, bad],
    );
    let error = result.unwrap_err();
    assert_eq!(
        (error.file.as_str(), error.message.as_str()),
        ("plans/bad.rhai", "mine")
    );
    assert_eq!(
        recorder.calls(),
        ["attach counter before method of a.B", "detach i1"]
    );
    assert_eq!(session.next_deadline(), None);
}

#[test]
fn modules_are_limited() {
    let many: Vec<String> = (0..=limits::MAX_MODULES).map(|n| format!("m{n}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "")).collect();
    let large = " ".repeat(limits::MAX_MODULE_BYTES + 1);
    let long = "\n".repeat(limits::MAX_LINES);
    let functions: String = (0..600).map(|n| format!("fn f{n}() {{}} ")).collect();
    let words = "x".repeat(70_000);
    let wide = format!("fn f() {{ }} let s = \"{words}\"; export let t = s;");
    for (modules, expected) in [
        (many, "33 modules of 0 bytes in all"),
        (vec![("a", large.as_str())], "1 modules of 1,048,577 bytes"),
        (vec![("a", long.as_str())], "60,000 lines together"),
        (vec![("a", wide.as_str())], "this line is too long"),
        (
            vec![("a", functions.as_str()), ("b", functions.as_str())],
            "more than 1,000 functions",
        ),
    ] {
        let error = read("import \"a\" as a; import \"b\" as b;", &modules).unwrap_err();
        assert_eq!(error.stage, PlanStage::Limit, "{error}");
        assert!(error.message.contains(expected), "{expected}: {error}");
    }
    // An endless loop in a module is stopped as in a plan.
    for module in ["loop { }", "fn f() { f() } f();"] {
        let error = run("import \"a\" as a;", &[("a", module)]).0.unwrap_err();
        assert_eq!(error.stage, PlanStage::Limit, "{error}");
        assert_eq!(error.file, "plans/a.rhai");
    }
}

#[test]
fn texts_may_contain_the_prefix_of_generated_names() {
    let lib = (
        "lib",
        "fn veneer_m1_f() { 1 } fn f() { 2 } fn both() { f() + 10 * veneer_m1_f() }",
    );
    let plan = "import \"lib\" as lib; fn veneer_m1_both() { 5 } lib::both() + veneer_m1_both()";
    assert_eq!(value(plan, &[lib]), "17");
}
