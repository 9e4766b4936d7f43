//! Tests `veneer fragments` with class files of the installed JDK.

use std::process::{Command, Output};

fn fragments(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_veneer"))
        .arg("fragments")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

const METHOD: [&str; 2] = ["jrt:/java.base", "java.util.ArrayList::indexOf(..)"];

#[test]
fn a_method_is_listed_in_three_forms() {
    let plain = text(&fragments(&METHOD));
    assert!(plain.starts_with("java.util.ArrayList::indexOf(Ljava/lang/Object;)I\n"));
    assert!(plain.contains("use {this:ArrayList, o:Object}"), "{plain}");
    let dot = text(&fragments(&[
        METHOD[0], METHOD[1], "--dot", "--policy", "method",
    ]));
    assert!(
        dot.starts_with("digraph") && dot.contains("f0 [label="),
        "{dot}"
    );
    let json = text(&fragments(&[METHOD[0], METHOD[1], "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["class"], "java.util.ArrayList");
    assert_eq!(json[0]["method"], "indexOf(Ljava/lang/Object;)I");
    assert_eq!(json[0]["fragments"][0]["live_in"][1]["name"], "o");
    // A method whose name only begins with the given name is not selected.
    assert_eq!(json.as_array().unwrap().len(), 1);
}

#[test]
fn a_class_has_a_summary() {
    let lines = text(&fragments(&["jrt:/java.logging"]));
    let mut lines = lines.lines();
    let heading = lines.next().unwrap();
    let columns: Vec<&str> = heading.split_whitespace().collect();
    assert_eq!(columns.last(), Some(&"class"));
    let level = lines
        .find(|l| l.ends_with(" java.util.logging.Level"))
        .unwrap();
    let numbers: Vec<usize> = level
        .split_whitespace()
        .take(7)
        .map(|n| n.parse().unwrap())
        .collect();
    assert!(numbers[0] >= 15 && numbers[1] >= numbers[0], "{level}");
    assert!(numbers[6] > numbers[5], "{level}");
    let json = text(&fragments(&["jrt:/java.logging", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let classes = json.as_array().unwrap();
    let level = classes
        .iter()
        .find(|c| c["class"] == "java.util.logging.Level")
        .unwrap();
    assert_eq!(level["fragments"], numbers[1]);
    assert_eq!(level["refusals"], serde_json::json!([]));
}

#[test]
fn missing_methods_and_classes_are_reported_in_one_line() {
    for (method, words) in [
        (
            "java.util.ArrayList::nix",
            "no method nix; its methods: <init>",
        ),
        ("java.util.ArrayLis::add", "java/util/ArrayLis"),
        ("java.util.ArrayList", "write CLASS::METHOD"),
    ] {
        let output = fragments(&[METHOD[0], method]);
        assert_eq!(output.status.code(), Some(2), "{method}");
        assert_eq!(output.stdout, b"", "{method}");
        let line = String::from_utf8(output.stderr).unwrap();
        assert!(line.contains(words) && line.lines().count() == 1, "{line}");
    }
}

/// Returns the listed methods, in order.
fn methods(output: &Output) -> Vec<String> {
    let listed = text(output);
    let named = listed.lines().filter(|line| line.contains("::"));
    named.map(str::to_owned).collect()
}

#[test]
fn a_pattern_lists_the_methods_that_it_selects() {
    let logging = "jrt:/java.logging";
    let below = fragments(&[logging, "java.util.logging.Handler+::publish(..)"]);
    let publish =
        |class: &str| format!("java.util.logging.{class}::publish(Ljava/util/logging/LogRecord;)V");
    let all = [
        "ConsoleHandler",
        "FileHandler",
        "MemoryHandler",
        "SocketHandler",
        "StreamHandler",
    ];
    assert_eq!(methods(&below), all.map(publish));
    assert!(below.stderr.is_empty());
    let pattern = "@java.lang.Deprecated java.util.logging.LogRecord::*(..) -> int";
    let deprecated = methods(&fragments(&[logging, pattern]));
    assert_eq!(deprecated, ["java.util.logging.LogRecord::getThreadID()I"]);
    let pattern = "static java.util.logging.Level::parse(..)";
    assert_eq!(methods(&fragments(&[logging, pattern])).len(), 1);
}

#[test]
fn uncertain_classes_are_reported() {
    let unknown = fragments(&["jrt:/java.logging", "java.io.Closeable+::close()"]);
    assert_eq!(text(&unknown), "");
    let said = String::from_utf8_lossy(&unknown.stderr);
    assert!(
        said.contains("(java.util.logging.FileHandler$MeteredStream) is not known: java.io.OutputStream above them is not in jrt:/java.logging"),
        "{said}"
    );
    for (pattern, message) in [
        (
            "java.util.loging..*",
            "no method in jrt:/java.logging matches `java.util.loging..*`",
        ),
        (
            "java.util.logging.Level+::x*(..)",
            "; near it: java.util.logging.Level",
        ),
        ("@a.B", "column 5: a class must follow"),
    ] {
        let output = fragments(&["jrt:/java.logging", pattern]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(message), "{said}");
    }
}
