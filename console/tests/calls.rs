//! Tests `veneer calls` with the files of `fuzz/corpus/calls`. No JVM is started.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{outcome, refusal, veneer};
use veneer_calls::{
    CallProfile, Context, ContextCost, Loader, Method, MethodForm, MethodName, Origin, Parent, file,
};

fn corpus(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/calls");
    folder.join(name)
}

fn calls(words: &[&str]) -> Command {
    let mut command = veneer();
    command.arg("calls").args(words);
    command
}

fn show(name: &str, words: &[&str]) -> Command {
    let mut command = calls(&["show"]);
    command.arg(corpus(name)).args(words);
    command
}

/// Runs a command that must succeed without a message, and returns its output.
fn text(command: &mut Command) -> String {
    let (code, stdout, stderr) = outcome(&command.output().unwrap());
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    stdout
}

#[test]
fn the_most_called_methods_are_first() {
    let shown = text(&mut show("whole", &[]));
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("command: java shop.Main"));
    let summary = "5 methods, 4 edges with 3,017 calls, 1 allocation site, 6 contexts of 2 threads";
    assert_eq!(lines.next(), Some(summary));
    let row = |line: &str| {
        line.split_whitespace()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let heading = lines.find(|line| line.starts_with("calls")).map(row);
    let titles = [
        "calls", "residue", "self", "wall", "cpu", "objects", "method",
    ];
    assert_eq!(heading.unwrap(), titles);
    let first = lines.next().map(row).unwrap();
    assert_eq!((first[0].as_str(), first[1].as_str()), ("2,006", "0"));
    assert_eq!(first.last().unwrap(), "java.lang.System::nanoTime()");
    let second = lines.next().map(row).unwrap();
    assert_eq!((second[0].as_str(), second[1].as_str()), ("1,003", "3"));
    assert!(
        shown.contains("shop.Größe$1::serve(int) [app#2]"),
        "{shown}"
    );
}

#[test]
fn each_view_and_each_format_is_written() {
    for (words, expected) in [
        (&["--view", "gprof", "--by", "time"][..], "1,000/1,003"),
        (
            &["--view", "tree"],
            "shop.Größe$1::serve(int) [app], line 12",
        ),
        (&["--view", "packages"], "java.lang"),
        (
            &["--view", "never-called"],
            "0 of 3 observed methods were never called",
        ),
        (
            &["--view", "allocations"],
            "shop.Größe$1::serve(int) [app], line 40",
        ),
        (&["--view", "unseen"], "java.lang.Object  intrinsic"),
        (
            &["--callers", "java.lang.System"],
            "  shop.Größe$1::serve(int) [app], line 41",
        ),
        (&["--json"], "\"schema\":1"),
        (&["--csv"], "\r\nedge,"),
        (&["--dot"], "digraph calls"),
        (&["--pprof"], "nanoseconds"),
        (
            &["--collapsed", "--by", "time"],
            ";java.lang.System::nanoTime() 2000\n",
        ),
        (
            &["--firefox", "--fold"],
            "\"preprocessedProfileVersion\":55",
        ),
    ] {
        let output = show("whole", words).output().unwrap();
        let (code, stdout, stderr) = outcome(&output);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{words:?}");
        assert!(stdout.contains(expected), "{words:?}: {stdout}");
    }
}

#[test]
fn a_selection_has_the_paths_between_two_methods() {
    let words = [
        "--from",
        "shop.Main::main(..)",
        "--to",
        "java.lang.System::nanoTime(..)",
    ];
    let json = text(&mut show("whole", &[&words[..], &["--json"]].concat()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["edges"].as_array().unwrap().len(), 2);
    let words = [&words[..], &["--depth", "1", "--json"]].concat();
    let json = text(&mut show("whole", &words));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["edges"].as_array().unwrap().len(), 0);
    let top = text(&mut show("whole", &["--top", "1"]));
    assert!(top.ends_with("more; --top N shows more\n"), "{top}");
}

#[test]
fn what_a_killed_recording_left_is_shown_with_a_message() {
    let (code, stdout, stderr) = outcome(&show("cut", &["--json"]).output().unwrap());
    assert_eq!((code, stderr.lines().count()), (Some(0), 1), "{stderr}");
    assert!(stderr.contains("without its end record"), "{stderr}");
    assert!(
        stdout.contains("\"incomplete\":[") && stdout.contains("\"count\":2006"),
        "{stdout}"
    );
    let (code, _, stderr) = outcome(&show("damaged", &[]).output().unwrap());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("is damaged from byte"), "{stderr}");
    let (code, _, stderr) = outcome(&show("newer-minor", &[]).output().unwrap());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("1 parts of it are of an unknown kind"),
        "{stderr}"
    );
}

#[test]
fn unusable_input_is_refused_in_one_line() {
    for (mut command, words) in [
        (show("newer", &[]), "use a newer veneer"),
        (show("missing", &[]), "No such file"),
        (calls(&["show", "/dev/null"]), "this is no call profile"),
        (show("empty", &["--by", "time"]), "no method was called"),
        (show("appended", &["--by", "time"]), "no times"),
        (show("empty", &["--by", "allocations"]), "no allocations"),
        (show("appended", &["--view", "tree"]), "no contexts"),
        (
            show("whole", &["--from", "shop.Mian"]),
            "near it: shop.Main",
        ),
        (show("whole", &["--to", "shop.Main+"]), "needs class files"),
        (
            show("whole", &["-o", "/missing/folder/o"]),
            "cannot be written",
        ),
    ] {
        let message = refusal(&mut command);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn calls_that_are_shorter_than_a_step_of_the_clock_are_in_the_order_of_their_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.calls");
    let mut profile = CallProfile::new();
    let loader = profile.add_loader(&Loader {
        name: "app".to_owned(),
        number: 1,
    });
    for (name, calls) in [("seldom", 2), ("often", 1000)] {
        let method = profile.add_method(Method {
            loader,
            name: MethodName {
                class: "shop.Desk".to_owned(),
                method: name.to_owned(),
                descriptor: "()V".to_owned(),
            },
            form: MethodForm::Bytecode,
            entries: Some(calls),
            code_bytes: None,
        });
        let cost = ContextCost {
            calls,
            ..ContextCost::default()
        };
        profile.add_context(Context {
            parent: Parent::Root(None),
            method,
            bci: None,
            origin: Origin::Early,
            cost,
        });
    }
    file::write(&profile, fs::File::create(&path).unwrap()).unwrap();
    for view in ["tree", "methods"] {
        let mut show = calls(&["show", "--by", "time", "--view", view]);
        let (code, stdout, stderr) = outcome(&show.arg(&path).output().unwrap());
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stderr.contains("in the order of the counts"), "{stderr}");
        let often = stdout.find("often").unwrap();
        assert!(often < stdout.find("seldom").unwrap(), "{stdout}");
    }
}

#[test]
fn a_sum_of_two_files_has_twice_the_counts() {
    let folder = tempfile::tempdir().unwrap();
    let sum = folder.path().join("sum.calls");
    fs::copy(corpus("whole"), &sum).unwrap();
    // The output is one of the inputs.
    let mut merge = calls(&["merge"]);
    merge.arg(&sum).arg(corpus("whole")).arg("-o").arg(&sum);
    assert_eq!(text(&mut merge), "");
    let names = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!(names(folder.path()), 1);
    let shown = text(calls(&["show"]).arg(&sum));
    assert!(
        shown.contains("5 methods, 4 edges with 6,034 calls"),
        "{shown}"
    );
    let mut threads = calls(&["merge", "--threads"]);
    threads.arg(&sum).arg("-o").arg(&sum);
    assert_eq!(text(&mut threads), "");
    let shown = text(calls(&["show"]).arg(&sum));
    assert!(shown.contains("contexts of 0 threads"), "{shown}");

    let diff = text(calls(&["diff"]).arg(corpus("whole")).arg(&sum));
    assert!(
        diff.starts_with("overlap of the calls: 100.00 %\n"),
        "{diff}"
    );
    assert!(
        diff.contains("          2,006           4,012  java.lang.System::nanoTime()\n"),
        "{diff}"
    );
    let json = text(calls(&["diff", "--json"]).arg(corpus("whole")).arg(&sum));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["schema"], &json["overlap"]),
        (&1.into(), &1.0.into())
    );
    assert_eq!(json["edges"].as_array().unwrap().len(), 4);
    let same = text(calls(&["diff", "--json"]).arg(&sum).arg(&sum));
    let same: serde_json::Value = serde_json::from_str(&same).unwrap();
    assert_eq!(same["methods"].as_array().unwrap().len(), 0);
}
