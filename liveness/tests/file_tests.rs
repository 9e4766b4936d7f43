//! Runs every `tests/file/*.flow`: parses the graph, runs the command that the first line names,
//! and compares each expectation with the result of the analysis. `flow/mod.rs` describes the
//! format.

mod flow;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns every expectation of the file `text` that does not hold, as lines to print.
fn failures(text: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let file = flow::parse(text)?;
    let answer = flow::answer(&file);
    let mut failures = Vec::new();
    let mut compare = |line: usize, expected: &str, actual: &str| {
        if expected != actual {
            failures.push(format!(
                "  line {line}\n    expected: {expected}\n    actual:   {actual}"
            ));
        }
    };
    for (n, (line, expected)) in file.expected_of_node.iter().enumerate() {
        let actual = answer.of_node.as_ref().map(|of_node| of_node[n].as_str());
        let nothing = "(nothing)";
        compare(
            *line,
            expected.as_deref().unwrap_or(nothing),
            actual.unwrap_or(nothing),
        );
    }
    let last = text.lines().count();
    for i in 0..file.expected_of_graph.len().max(answer.of_graph.len()) {
        let missing = (last, "(no such line)".to_string());
        let (line, expected) = file.expected_of_graph.get(i).unwrap_or(&missing);
        let actual = answer.of_graph.get(i).unwrap_or(&missing.1);
        compare(*line, expected, actual);
    }
    Ok(failures)
}

#[test]
fn files_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/file");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&folder).expect("tests/file is there") {
        let path = entry.expect("tests/file can be listed").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "flow")
        {
            let text = fs::read_to_string(&path).expect("the file can be read");
            files.insert(path, text);
        }
    }
    assert!(
        files.len() >= 15,
        "only {} files in {}",
        files.len(),
        folder.display()
    );
    let mut failed = String::new();
    for (path, text) in &files {
        let lines = failures(text).unwrap_or_else(|why| vec![format!("  {why}")]);
        if !lines.is_empty() {
            failed += &format!("{}\n{}\n", path.display(), lines.join("\n"));
        }
    }
    assert!(
        failed.is_empty(),
        "expectations that do not hold:\n{failed}"
    );
}

#[test]
fn a_wrong_expectation_is_reported() {
    let text = "test liveness\nn0: def a -> n1 ; in: {a} out: {a}\nn1: use a ; in: {a} out: {}";
    assert_eq!(
        failures(text).expect("the file is well-formed"),
        ["  line 2\n    expected: in: {a} out: {a}\n    actual:   in: {} out: {a}"]
    );
}

#[test]
fn a_missing_expectation_is_reported() {
    let node = failures("test liveness\nn0: use a");
    assert_eq!(node.expect("the file is well-formed").len(), 1);
    let graph = failures("test loops\nn0: -> n0 ; nest: loop0\n; irreducible: none");
    assert_eq!(graph.expect("the file is well-formed").len(), 2);
}

#[test]
fn syntax_errors_name_the_line() {
    let why = |text| {
        let error = failures(text).expect_err("the file is damaged");
        error.to_string()
    };
    assert!(why("n0: use a").starts_with("line 1 must name the test"));
    assert!(why("test loops\nn1:").starts_with("line 2: the next node must be n0"));
    assert!(why("test loops\nn0: a").starts_with("line 2: a variable without"));
    assert!(why("test loops\nn0: -> n7").starts_with("no node n7"));
    assert!(why("test loops\nn0: use s\nstack s").starts_with("s is named before"));
}
