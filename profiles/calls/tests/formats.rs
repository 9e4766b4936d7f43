//! The formats, read by the programs that they are for.

mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use veneer_calls::output::{collapsed, csv, dot, firefox, json, pprof};
use veneer_calls::tree::{self, TreeLimits};
use veneer_calls::{CallProfile, Labels, Measure, Parent, Query, Selection, gprof};
use veneer_instruments::MethodPattern;
use veneer_tests::downloads::{node, npm, receiver};
use veneer_tests::firefox_profiler::FirefoxProfiler;
use veneer_tests::skip::{Need, skip};

use sample::{graph_only, profile};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn by(measure: Measure) -> Query {
    Query {
        by: measure,
        ..Query::default()
    }
}

fn text(
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), veneer_calls::output::OutputError>,
) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("a vector can be written");
    String::from_utf8(bytes).expect("UTF-8")
}

fn to_json(selection: &Selection) -> Value {
    serde_json::from_str(&text(|to| json::write(selection, to))).expect("JSON")
}

#[test]
fn the_schema_accepts_what_is_written_and_nothing_else() -> Outcome {
    let schema = include_str!("../../../docs/calls.schema.json");
    let schema: Value = serde_json::from_str(schema)?;
    jsonschema::meta::validate(&schema).expect("the schema is a JSON Schema");
    let schema = jsonschema::validator_for(&schema).expect("the schema compiles");
    let profile = profile();
    let whole = to_json(&Selection::all(&profile));
    let errors: Vec<String> = schema.iter_errors(&whole).map(|e| e.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    for list in [
        "methods",
        "edges",
        "allocations",
        "contexts",
        "unseen",
        "loaders",
        "threads",
    ] {
        let mut more = whole.clone();
        more[list][0]["new"] = 1.into();
        assert!(!schema.is_valid(&more), "{list} with another field");
        let names: Vec<String> = whole[list][0]
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect();
        for name in names {
            let mut wrong = whole.clone();
            wrong[list][0][&name] = Value::Null;
            assert!(!schema.is_valid(&wrong), "{list}.{name} of a wrong type");
        }
        let mut less = whole.clone();
        less.as_object_mut().expect("an object").remove(list);
        assert!(!schema.is_valid(&less), "no {list}");
    }
    Ok(())
}

#[test]
fn json_has_counts_and_residues() {
    let profile = profile();
    let whole = to_json(&Selection::all(&profile));
    let serve = &whole["methods"][1];
    assert_eq!(
        (&serve["method"], &serve["descriptor"]),
        (&"serve".into(), &"(I)V".into())
    );
    assert_eq!(
        (&serve["entries"], &serve["residue"]),
        (&1003.into(), &3.into())
    );
    let native = &whole["methods"][2];
    assert_eq!(
        (&native["native"], &native["entries"]),
        (&true.into(), &2006.into())
    );
    assert_eq!(native["residue"], 0);
    let edge = serde_json::json!({
        "caller": 0, "callee": 1, "bci": 5, "line": 12, "kind": "virtual", "count": 1000
    });
    assert_eq!(whole["edges"][0], edge);
    assert_eq!(whole["schema"], 1);
    // The residue of a selection is that of the whole program.
    let query = Query {
        from: Some(MethodPattern::parse("shop.Desk::serve(..)").expect("a pattern")),
        ..Query::default()
    };
    let part = to_json(&Selection::new(&profile, &query).expect("a match"));
    assert_eq!(part["methods"][0]["residue"], 3);
    assert_eq!(part["edges"].as_array().map(Vec::len), Some(1));
}

#[test]
fn two_loaders_with_one_class_are_two_methods() {
    let profile = profile();
    let labels = Labels::new(&profile);
    let names: Vec<String> = profile.method_ids().map(|id| labels.label(id)).collect();
    assert!(
        names.contains(&"shop.Größe$1::apply(java.lang.Object[]) [shop.Loader]".into()),
        "{names:?}"
    );
    assert!(names.contains(&"shop.Größe$1::apply(java.lang.Object[]) [shop.Loader#2]".into()));
}

#[test]
fn each_stack_has_its_self_weight() {
    let profile = profile();
    let counts = Selection::new(&profile, &by(Measure::Count)).expect("everything");
    let stacks = text(|to| collapsed::write(&counts, to));
    assert!(
        stacks.contains("shop.Main::main(java.lang.String[]);shop.Desk::serve(int) 1000\n"),
        "{stacks}"
    );
    let times = Selection::new(&profile, &by(Measure::Time)).expect("everything");
    let stacks = text(|to| collapsed::write(&times, to));
    assert!(
        stacks.contains("shop.Main::main(java.lang.String[]) 500\n"),
        "{stacks}"
    );
    // Without contexts, each edge and each residue is a stack.
    let graph = graph_only();
    let stacks = text(|to| collapsed::write(&Selection::all(&graph), to));
    assert!(stacks.contains("shop.Desk::serve(int) 3\n"), "{stacks}");
    assert!(stacks.contains("shop.Desk::serve(int);java.lang.System::nanoTime() 2006\n"));
}

#[test]
fn csv_rows_have_all_columns() {
    let profile = profile();
    let rows = text(|to| csv::write(&Selection::all(&profile), to));
    assert!(
        rows.contains(
            "edge,,,shop.Main::main(java.lang.String[]),5,12,shop.Desk::serve(int),virtual,1000,"
        ),
        "{rows}"
    );
    let width = |line: &str| line.matches(',').count();
    let header = rows.lines().next().map(width);
    assert!(
        rows.lines()
            .all(|line| Some(width(line)) == header || line.contains('"')),
        "{rows}"
    );
}

#[test]
fn callers_are_above_and_callees_below_each_method() {
    let profile = profile();
    let selection = Selection::new(&profile, &by(Measure::Time)).expect("everything");
    let shown = gprof::to_text(
        &gprof::entries(&selection),
        &profile.method_costs(),
        &Labels::new(&profile),
    );
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let at = |text: &str| {
        lines
            .iter()
            .position(|line| *line == text)
            .unwrap_or_else(|| panic!("{text} in\n{shown}"))
    };
    let caller = at(
        "4.00 ms      2.00 ms               1,000/1,003      shop.Main::main(java.lang.String[])",
    );
    let own = at("4.01 ms      2.00 ms                     1,003  shop.Desk::serve(int)");
    let callee =
        at("2.00 ms         0 ns               2,006/2,006      java.lang.System::nanoTime()");
    assert!(caller < own && own < callee);
}

#[test]
fn trees_show_lines_and_recursion() {
    let profile = profile();
    let labels = Labels::new(&profile);
    let limits = TreeLimits {
        depth: 9,
        nodes: 99,
    };
    let selection = Selection::new(&profile, &by(Measure::Time)).expect("everything");
    let calls = tree::calls(&selection, limits).to_text(&labels, true);
    assert!(
        calls.contains("    shop.Desk::serve(int), line 12\n"),
        "{calls}"
    );
    assert!(calls.contains("shop.Main::main(java.lang.String[]) (began before the recording)\n"));
    let name = |id: &veneer_calls::MethodId| labels.label(*id).contains("nanoTime");
    let targets: Vec<_> = profile.method_ids().filter(name).collect();
    let callers = tree::callers(&selection, &targets, limits).to_text(&labels, false);
    let expected = "          calls  method
          2,006  java.lang.System::nanoTime()
          2,006    shop.Desk::serve(int), line 41
          1,000      shop.Main::main(java.lang.String[]), line 12
";
    assert_eq!(callers, expected);
}

#[test]
fn pprof_reads_the_exact_counts() -> Outcome {
    if Command::new("go").arg("version").output().is_err() {
        return Ok(skip(Need::Program("go"))?);
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("calls.pb");
    let profile = profile();
    pprof::write(&Selection::all(&profile), fs::File::create(&file)?)?;
    let run = |words: &[&str]| -> Result<String, Box<dyn std::error::Error>> {
        let mut command = Command::new("go");
        let output = command
            .args(["tool", "pprof"])
            .args(words)
            .arg(&file)
            .output()?;
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?)
    };
    // `raw` checks the whole file for consistency.
    let raw = run(&["-raw"])?;
    assert!(
        raw.contains("calls/count[dflt] wall/nanoseconds cpu/nanoseconds allocations/count"),
        "{raw}"
    );
    assert!(
        raw.contains("shop.Größe$1::apply(java.lang.Object[]) [shop.Loader#2]"),
        "{raw}"
    );
    let top = run(&["-top", "-sample_index=calls"])?;
    assert!(top.lines().any(|line| line.trim().starts_with("1003 ") && line.ends_with("shop.Desk::serve(int)")), "{top}");
    let lines = run(&["-traces", "-lines", "-sample_index=wall"])?;
    assert!(
        lines.contains("shop.Main::main(java.lang.String[]) shop.Main:12"),
        "{lines}"
    );
    Ok(())
}

#[test]
fn graphviz_draws_the_graph() -> Outcome {
    let profile = profile();
    let graph = text(|to| dot::write(&Selection::all(&profile), to));
    assert!(
        graph.contains("m0 -> m1 [label=\"1,000\\nline 12\""),
        "{graph}"
    );
    let (node, viz) = match (node()?, npm("@viz-js/viz")?) {
        (Ok(node), Ok(viz)) => (node, viz),
        (Err(tool), _) | (_, Err(tool)) => return Ok(skip(tool)?),
    };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("calls.dot");
    fs::write(&file, &graph)?;
    let mut draw = Command::new(node);
    draw.arg(receiver("graphviz.js")).arg(viz).arg(&file);
    let drawn = draw.output()?;
    let messages = String::from_utf8_lossy(&drawn.stderr);
    assert!(drawn.status.success(), "{messages}");
    let svg = String::from_utf8(drawn.stdout)?;
    assert!(svg.contains("shop.Größe$1::apply"), "{svg}");
    Ok(())
}

/// The self times of the methods of each thread in milliseconds, in the order of the threads.
fn self_times(profile: &CallProfile) -> Vec<BTreeMap<String, f64>> {
    let labels = Labels::new(profile);
    let mut threads = vec![BTreeMap::new(); profile.threads().len()];
    for context in profile.contexts() {
        let mut parent = context.parent;
        while let Parent::Context(above) = parent {
            parent = profile.contexts()[above.index()].parent;
        }
        if let (Parent::Root(Some(thread)), 1..) = (parent, context.cost.self_ns) {
            let times: &mut BTreeMap<String, f64> = &mut threads[thread.index()];
            *times.entry(labels.label(context.method)).or_default() +=
                context.cost.self_ns as f64 / 1e6;
        }
    }
    threads
}

#[test]
fn the_firefox_profiler_reads_the_exact_times() -> Outcome {
    let profiler = match FirefoxProfiler::new()? {
        Ok(profiler) => profiler,
        Err(tool) => return Ok(skip(tool)?),
    };
    let profile = profile();
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("profile.json");
    let selection = Selection::new(&profile, &by(Measure::Time))?;
    firefox::write(&selection, fs::File::create(&file)?)?;
    profiler.load(&file)?;
    let expected = self_times(&profile);
    assert!(expected.iter().all(|times| !times.is_empty()));
    let threads = profiler.threads()?;
    assert_eq!(threads.len(), expected.len());
    for ((handle, _), expected) in threads.iter().zip(&expected) {
        let found = profiler.self_times(handle)?;
        assert!(found.keys().eq(expected.keys()), "{found:?} {expected:?}");
        for (name, time) in expected {
            assert!((found[name] - time).abs() < 1e-6, "{name}: {found:?}");
        }
    }
    Ok(())
}

/// The tables of version 55 must be consistent: the columns of a table have its length, and each
/// index names an element of its table.
#[test]
fn firefox_tables_are_consistent() -> Outcome {
    let profile = profile();
    let selection = Selection::new(&profile, &by(Measure::Time))?;
    let written: Value = serde_json::from_str(&text(|to| firefox::write(&selection, to)))?;
    assert_eq!(written["meta"]["preprocessedProfileVersion"], 55);
    let threads = written["threads"].as_array().ok_or("no threads")?;
    assert_eq!(threads.len(), 2);
    let mut sum = 0.0;
    for thread in threads {
        for (name, table) in thread.as_object().ok_or("no object")? {
            let Some(length) = table["length"].as_u64() else {
                continue;
            };
            for (column, values) in table.as_object().ok_or("no object")? {
                if let Some(values) = values.as_array() {
                    assert_eq!(values.len() as u64, length, "{name}.{column}");
                }
            }
        }
        let names = thread["stringArray"].as_array().map_or(0, Vec::len) as u64;
        for (table, column, into) in [
            ("samples", "stack", thread["stackTable"]["length"].as_u64()),
            (
                "stackTable",
                "frame",
                thread["frameTable"]["length"].as_u64(),
            ),
            ("frameTable", "func", thread["funcTable"]["length"].as_u64()),
            ("funcTable", "name", Some(names)),
        ] {
            for index in thread[table][column].as_array().ok_or("no column")? {
                assert!(index.as_u64() < into, "{table}.{column}: {index}");
            }
        }
        let prefixes = thread["stackTable"]["prefix"]
            .as_array()
            .ok_or("no column")?;
        for (index, prefix) in prefixes.iter().enumerate() {
            assert!(prefix.as_u64().is_none_or(|prefix| prefix < index as u64));
        }
        let weights = thread["samples"]["weight"].as_array().ok_or("no weights")?;
        sum += weights.iter().filter_map(Value::as_f64).sum::<f64>();
    }
    let expected: u64 = profile.contexts().iter().map(|one| one.cost.self_ns).sum();
    assert!((sum - expected as f64 / 1e6).abs() < 1e-9, "{sum}");
    Ok(())
}
