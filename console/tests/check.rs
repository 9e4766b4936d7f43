//! Tests `veneer check` with a module of the installed JDK, and with files that are not classes.

mod common;

use std::fs;

use common::{outcome, refusal, veneer};

#[test]
fn a_module_passes_under_each_policy() {
    let output = veneer()
        .args(["check", "jrt:/java.sql", "--policy", "all", "--edits"])
        .arg("--json")
        .output()
        .unwrap();
    let (code, stdout, stderr) = outcome(&output);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let all: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let sum = &all["total"];
    assert_eq!(sum["classes"], sum["identical"]);
    assert_eq!(sum["failures"].as_array().map(Vec::len), Some(0));
    let methods = sum["methods"].as_u64().unwrap();
    assert!(methods > 300, "{sum}");
    let policies = sum["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 4);
    for policy in policies {
        let number = |name: &str| policy[name].as_u64().unwrap();
        assert!(number("named") >= number("armed") && number("armed") * 10 > methods * 8);
        assert!(number("emitted") * 100 >= methods * 97, "{policy}");
        assert!(number("edited") > 0 && number("points") > number("named"));
        // Each armed method and its version are proved; most methods also have an OSR entry.
        assert!(number("proved") >= 2 * number("emitted"), "{policy}");
    }
}

#[test]
fn the_table_contains_refusals() {
    let output = veneer()
        .args(["check", "jrt:/java.sql", "--policy", "block", "--jobs", "1"])
        .output()
        .unwrap();
    let (code, stdout, _) = outcome(&output);
    assert_eq!(code, Some(0), "{stdout}");
    for part in ["jrt:/java.sql", "InlineLimit", "byte for byte as they were"] {
        assert!(stdout.contains(part), "{part} is missing in\n{stdout}");
    }
}

#[test]
fn a_damaged_class_is_a_failure_with_its_name() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("a")).unwrap();
    let broken = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 9, 1];
    fs::write(root.path().join("a/Broken.class"), broken).unwrap();
    let output = veneer()
        .arg("check")
        .arg(root.path())
        .arg("--json")
        .output()
        .unwrap();
    let (code, stdout, _) = outcome(&output);
    assert_eq!(code, Some(1), "{stdout}");
    let all: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let failure = &all["total"]["failures"][0];
    assert_eq!(failure["class"], "a.Broken");
    assert_eq!(failure["doing"], "read");
}

#[test]
fn files_that_are_not_classes_are_reported() {
    let line = refusal(veneer().args(["check", "/nonexistent.jar"]));
    assert!(line.contains("/nonexistent.jar"), "{line}");
    let line = refusal(veneer().args(["check", "jrt:/java.sql", "--jdk", "/nonexistent"]));
    assert!(line.contains("/nonexistent is no JDK"), "{line}");
}
