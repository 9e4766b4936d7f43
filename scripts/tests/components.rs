//! Components: declared, replaced and detached as a whole, and their reports.

mod no_jvm;
mod recorder;

use recorder::Recorder;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veneer_instruments::PlanInstanceId;
use veneer_scripts::{AnalysisError, Plan, PlanError, PlanSession};

struct Jvm {
    recorder: Arc<Recorder>,
    session: PlanSession,
    zero: Instant,
}

impl Jvm {
    fn new() -> Self {
        let (recorder, session) = Recorder::session();
        let zero = Instant::now();
        Jvm {
            recorder,
            session,
            zero,
        }
    }

    fn try_load(&self, name: &str, source: &str) -> Result<String, PlanError> {
        let plan = Plan::compile(name, source)?;
        self.session.load_at(plan, self.zero)
    }

    fn load(&self, name: &str, source: &str) -> String {
        self.try_load(name, source)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the lines that are printed up to the end of this second.
    fn at(&self, second: u64) -> Vec<String> {
        self.session
            .run_due(self.zero + Duration::from_secs(second));
        self.recorder.printed()
    }

    /// Returns the name, the version and the state (attached or not) of each component.
    fn listed(&self) -> Vec<String> {
        let all = self.session.components();
        let line = |c: &veneer_scripts::Component| {
            let version = c.version.as_deref().unwrap_or("-");
            format!("{} {version} {} {}", c.name, c.things.len(), c.attached)
        };
        all.iter().map(line).collect()
    }

    fn report(&self, name: &str) -> Result<(String, String), AnalysisError> {
        let analysis = self.session.analyse(name)?;
        Ok((analysis.text, analysis.json))
    }
}

const NOTHING: [&str; 0] = [];

/// A plan that declares a component of this version and prints the version each second.
fn slow(version: &str) -> String {
    format!(
        "component(\"slow orders\", \"{version}\");
         let h = methods(\"a.B\").before(counter());
         methods(\"a.B\").skip(1);
         every(1, || print(\"tick {version}\"));
         at_exit(|| print(\"exit {version}\"));
         analyse(|| #{{ version: \"{version}\", hits: h.hits() }});"
    )
}

#[test]
fn a_newer_version_replaces_the_old_one() {
    let jvm = Jvm::new();
    jvm.load("slow.rhai", &slow("1.1"));
    assert_eq!(jvm.at(1), ["tick 1.1"]);
    jvm.recorder.calls();
    jvm.load("other.rhai", &slow("1.2"));
    assert_eq!(
        jvm.recorder.printed(),
        ["slow orders 1.1 is replaced by 1.2"]
    );
    // The new component is attached first. Then the old one is detached, newest instrument first.
    assert_eq!(
        jvm.recorder.calls(),
        [
            "attach counter before method of a.B",
            "edit a.B: skip f1",
            "undo p1",
            "detach i1"
        ]
    );
    assert_eq!(jvm.listed(), ["slow orders 1.2 2 true"]);
    assert_eq!(jvm.at(2), ["tick 1.2"]);
    assert!(
        jvm.report("slow orders")
            .unwrap()
            .1
            .contains("\"version\":\"1.2\"")
    );
    jvm.session.finish();
    let printed = jvm.recorder.printed();
    assert_eq!(printed[0], "exit 1.2");
    assert_eq!(printed.len(), 2, "{printed:?}");
    assert!(printed[1].contains("\"version\": \"1.2\""), "{printed:?}");
}

#[test]
fn a_failing_version_keeps_the_old_one() {
    let jvm = Jvm::new();
    jvm.load("slow.rhai", &slow("1.1"));
    jvm.recorder.calls();
    let error = jvm
        .try_load("slow.rhai", &format!("{} oops();", slow("1.2")))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no function `oops()`"), "{error}");
    assert_eq!(
        jvm.recorder.calls()[2..],
        ["undo p2", "detach i2"].map(String::from)
    );
    assert_eq!(jvm.listed(), ["slow orders 1.1 2 true"]);
    assert_eq!(jvm.at(1), ["tick 1.1"]);
    assert!(
        jvm.report("slow orders")
            .unwrap()
            .1
            .contains("\"version\":\"1.1\"")
    );
}

#[test]
fn a_plan_without_a_name_replaces_nothing() {
    let jvm = Jvm::new();
    let plan = "methods(\"a.B\").before(counter());";
    jvm.load("p.rhai", plan);
    jvm.load("p.rhai", plan);
    jvm.load(
        "q.rhai",
        "component(\"p.rhai\", \"1\"); methods(\"a.B\").before(counter());",
    );
    jvm.load("p.rhai", "1 + 1");
    assert_eq!(jvm.recorder.printed(), NOTHING);
    assert_eq!(
        jvm.listed(),
        ["p.rhai - 1 true", "p.rhai - 1 true", "p.rhai 1 1 true"]
    );
    jvm.recorder.calls();
    assert!(jvm.session.detach_component("p.rhai"));
    assert_eq!(
        jvm.recorder.calls(),
        ["detach i1", "detach i2", "detach i3"]
    );
    assert_eq!(jvm.listed(), NOTHING);
    assert!(!jvm.session.detach_component("p.rhai"));
}

#[test]
fn a_detached_component_runs_nothing_and_returns_reports() {
    for by in ["session", "plan", "map", "load"] {
        let jvm = Jvm::new();
        jvm.load("slow.rhai", &slow("1.1"));
        jvm.recorder.calls();
        match by {
            "session" => assert!(jvm.session.detach_component("slow orders")),
            "plan" => assert_eq!(jvm.load("d.rhai", "component_detach(\"slow orders\")"), "2"),
            "map" => assert_eq!(jvm.load("d.rhai", "components()[0].detach()"), "2"),
            _ => jvm.session.detach(PlanInstanceId(1)),
        }
        assert_eq!(jvm.recorder.calls(), ["undo p1", "detach i1"], "{by}");
        assert_eq!(jvm.at(1), NOTHING);
        assert_eq!(jvm.session.next_deadline(), None);
        assert!(jvm.session.remaining_work().is_empty());
        assert_eq!(jvm.listed(), ["slow orders 1.1 0 false"]);
        let (text, json) = jvm.report("slow orders").unwrap();
        assert_eq!(json, "{\"hits\":3000,\"version\":\"1.1\"}");
        assert!(text.starts_with("#{"), "{text}");
        jvm.session.finish();
        assert_eq!(jvm.recorder.printed(), NOTHING, "{by}");
    }
}

#[test]
fn a_component_may_detach_itself_in_a_callback() {
    let jvm = Jvm::new();
    jvm.load(
        "p.rhai",
        "component(\"me\", \"1\"); methods(\"a.B\").before(counter());
         every(1, || { print(\"tick\"); component_detach(\"me\"); every(1, || print(\"never\")); });",
    );
    assert_eq!(jvm.at(1), ["tick"]);
    assert_eq!(jvm.at(2), NOTHING);
    assert_eq!(jvm.listed(), NOTHING);
}

#[test]
fn an_unloaded_plan_instance_is_forgotten() {
    let jvm = Jvm::new();
    jvm.load("slow.rhai", &slow("1.1"));
    jvm.session.unload(PlanInstanceId(1));
    assert_eq!(jvm.listed(), NOTHING);
    let error = jvm.report("slow orders").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no component `slow orders`, nor any other"
    );
}

#[test]
fn analysers_are_called_by_other_plans_and_at_exit() {
    let jvm = Jvm::new();
    jvm.load(
        "count.rhai",
        "component(\"count\", \"2\"); let n = 0; analyse(|| { n += 1; print(\"asked\"); [n, \"x\"] });",
    );
    jvm.load("none.rhai", "component(\"none\", \"1\"); analyse(|| ());");
    jvm.load(
        "text.rhai",
        "component(\"text\", \"1\"); analyse(|| \"two\\nlines\");",
    );
    jvm.load("bad.rhai", "component(\"bad\", \"1\");\nanalyse(|| [][0]);");
    jvm.load(
        "silent.rhai",
        "component(\"silent\", \"1\"); every(1, || ());",
    );
    assert_eq!(
        jvm.report("count"),
        Ok(("[1, \"x\"]".into(), "[1,\"x\"]".into()))
    );
    assert_eq!(
        jvm.load(
            "ask.rhai",
            "component_report(\"count\")[0] + components()[0].report()[0]"
        ),
        "5"
    );
    assert_eq!(jvm.recorder.printed(), ["asked", "asked", "asked"]);
    assert_eq!(jvm.report("none"), Ok((String::new(), "null".into())));
    assert_eq!(jvm.report("text").unwrap().1, "\"two\\nlines\"");
    for (name, expected) in [
        (
            "bad",
            "bad.rhai:2:15: array index 0 out of bounds: array is empty",
        ),
        (
            "silent",
            "the component `silent` has no analyser: its plan needs analyse(|| …)",
        ),
        (
            "nobody",
            "there is no component `nobody`: there are count, none, text, bad, silent",
        ),
    ] {
        let error = jvm.report(name).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        let error = jvm
            .try_load("ask.rhai", &format!("component_report(\"{name}\")"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("ask.rhai:1:1: ") && error.contains(expected),
            "{error}"
        );
    }
    jvm.session.finish();
    let printed = jvm.recorder.printed();
    assert_eq!(
        printed[..3],
        ["asked", "[4, \"x\"]", "two\nlines"].map(String::from)
    );
    assert!(printed[3].starts_with("bad.rhai:2:15: "), "{printed:?}");
    assert_eq!(printed.len(), 4);
}

#[test]
fn analysers_have_limits() {
    let jvm = Jvm::new();
    for (source, expected) in [
        ("analyse(|| { loop { } });", "stopped: more than"),
        (
            "let s = \"x\"; s.pad(1_000_000, 'y'); analyse(|| [s, s, s, s, s]);",
            "",
        ),
        ("analyse(|| every(1, || ()));", "an analyser only reports"),
        ("analyse(|| component_report(\"c\"));", "is at work already"),
        (
            "analyse(|| component(\"d\", \"1\"));",
            "for a plan's top level",
        ),
        (
            "fn f(n) { f(n + 1) } analyse(|| f(0));",
            "32 calls inside each other",
        ),
    ] {
        jvm.load("c.rhai", &format!("component(\"c\", \"1\"); {source}"));
        let error = jvm.report("c").expect_err(source).to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
    // The call depth of the plan that requests a report counts for the analyser.
    jvm.load("deep.rhai", "component(\"deep\", \"1\"); fn f(n) { if n == 0 { 0 } else { f(n - 1) } } analyse(|| f(20));");
    assert_eq!(jvm.report("deep").unwrap().0, "0");
    let ask = "fn g(n) { if n == 0 { component_report(\"deep\") } else { g(n - 1) } }";
    assert_eq!(jvm.load("a.rhai", &format!("{ask} g(1)")), "0");
    let error = jvm
        .try_load("a.rhai", &format!("{ask} g(20)"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("32 calls inside each other"), "{error}");
    // A callback that calls its own analyser gets no additional time.
    jvm.load(
        "own.rhai",
        "component(\"own\", \"1\"); analyse(|| 1); every(1, || { loop { component_report(\"own\"); } });",
    );
    jvm.recorder.printed();
    let begin = Instant::now();
    let printed = jvm.at(1);
    assert!(begin.elapsed() < Duration::from_secs(4));
    assert!(printed[0].contains("stopped: more than"), "{printed:?}");
}

#[test]
fn components_are_listed_with_parameters_and_instruments() {
    let jvm = Jvm::new();
    let source = "component(\"c\", \"0.1\"); let top = param(\"top\", 20); let share = param(\"share\", 0.5); let all = param(\"all\", true); param(\"line\");
        methods(\"a.B\").before(counter()); methods(\"a.B\").skip(1); analyse(|| 1);";
    let settings = [("top", "3"), ("line", "41")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let plan = Plan::compile("dir/c.rhai", source)
        .unwrap()
        .with_params(BTreeMap::from(settings));
    assert_eq!(no_jvm::dry_run(&plan), Ok(()));
    jvm.session.load(plan).unwrap();
    let shown = jvm.load(
        "l.rhai",
        "let c = components()[0]; c.since = c.since >= 0.0 && c.since < 60.0; c.to_json()",
    );
    assert_eq!(
        shown,
        "{\"analyser\":true,\"attached\":true,\"id\":\"l1\",\"instruments\":[\"i1\"],\"name\":\"c\",\
         \"parameters\":{\"all\":\"true\",\"line\":\"41\",\"share\":\"0.5\",\"top\":\"3\"},\"plan\":\"dir/c.rhai\",\
         \"since\":true,\"things\":2,\"version\":\"0.1\"}"
    );
    let error = jvm
        .try_load("l.rhai", "#{}.report()")
        .unwrap_err()
        .to_string();
    assert!(error.contains("this map is no component"), "{error}");
}

#[test]
fn invalid_components_are_refused() {
    let jvm = Jvm::new();
    let long = "x".repeat(101);
    for (source, expected) in [
        (
            "component(\"a\", \"1\"); component(\"b\", \"1\");",
            "a plan is one component: this one is `a` already",
        ),
        ("component(\"\", \"1\");", "\"\" is no name of a component"),
        (
            "component(\"a\", \" \");",
            "\" \" is no version of a component",
        ),
        (
            "component(\"a\\u001b\", \"1\");",
            "is no name of a component",
        ),
        (
            &format!("component(\"{long}\", \"1\");"),
            "1 to 100 printable characters",
        ),
        (
            "component(\"a\");",
            "write component(\"name\", \"version\")",
        ),
        (
            "analyse(|| 1); analyse(|| 2);",
            "a component has one analyser",
        ),
        ("component_detach(\"none\")", "there is no component `none`"),
        ("loop { every(1, || 1); }", "1,000 callbacks wait already"),
    ] {
        let error = jvm
            .try_load("p.rhai", source)
            .expect_err(source)
            .to_string();
        assert!(error.contains(expected), "{source}: {error}");
    }
    assert_eq!(jvm.listed(), NOTHING);
    jvm.load("late.rhai", "every(1, || component(\"late\", \"1\"));");
    assert!(jvm.at(1)[0].contains("component(…) is for a plan's top level"));
}

#[test]
fn the_oldest_detached_components_are_forgotten() {
    let jvm = Jvm::new();
    for n in 0..105 {
        jvm.load(
            "p.rhai",
            &format!("component(\"c{n}\", \"1\"); analyse(|| {n});"),
        );
        assert!(jvm.session.detach_component(&format!("c{n}")));
    }
    let listed = jvm.listed();
    assert_eq!(listed.len(), 100);
    assert_eq!(listed[0], "c5 1 0 false");
    assert_eq!(jvm.report("c104").unwrap().0, "104");
}
