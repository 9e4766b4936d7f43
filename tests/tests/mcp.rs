//! `veneer mcp`: the official Python SDK of the protocol calls the tools on a running program. Without
//! `--allow-edits`, nothing can be changed. `mcp_faults.rs` finds planted faults through the protocol.

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use veneer_tests::command::{json as json_of, path};
use veneer_tests::downloads::{python_with_mcp, receiver};
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::{Live, LiveError, until};
use veneer_tests::process::Process;
use veneer_tests::sample_service::{handle_orders, stop_and_check};
use veneer_tests::skip::skip;

/// The most characters of an answer. They are fewer than 1,500 tokens, at three characters a token.
const MAX_CHARACTERS: usize = 4_500;

/// The answer to a call.
#[derive(Debug)]
struct Answer {
    is_error: bool,
    text: String,
}

/// Calls tools of a server that has these options. `python` has the SDK. Returns what the server says
/// about itself, and the answers.
fn session(
    python: &Process,
    options: &[&str],
    calls: &[(&str, Value)],
) -> Result<(Value, Vec<Answer>), Box<dyn std::error::Error>> {
    let client = python
        .clone()
        .arg(receiver("mcp_client.py"))
        .arg(path())
        .arg("mcp")
        .args(options);
    let mut child = client.start()?;
    let mut input = child.stdin.take().ok_or("no standard input")?;
    for (tool, arguments) in calls {
        writeln!(input, "{}", json!({"tool": tool, "arguments": arguments}))?;
    }
    drop(input);
    let output = child.wait_with_output()?;
    let text = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let mut lines = lines?.into_iter();
    let server = lines.next().ok_or_else(|| format!("no server: {errors}"))?;
    let answers = lines.map(|line| Answer {
        is_error: line["error"].as_bool().unwrap_or(true),
        text: line["text"].as_str().unwrap_or_default().to_owned(),
    });
    let answers: Vec<Answer> = answers.collect();
    assert_eq!(answers.len(), calls.len(), "{text}{errors}");
    Ok((server, answers))
}

#[test]
fn a_client_of_the_official_sdk_measures_and_changes_nothing() -> Outcome {
    let python = match python_with_mcp()? {
        Ok(python) => python,
        Err(missing) => return Ok(skip(missing)?),
    };
    on_a_jdk_with("control", |programs| {
        let mut live = Live::start(&programs.java("Desk"))?;
        let pid = live.pid();
        let (end, ended) = channel();
        let orders = thread::spawn(move || -> Result<Live, LiveError> {
            while ended.recv_timeout(Duration::from_millis(10)).is_err() {
                handle_orders(&mut live, 100)?;
            }
            Ok(live)
        });
        let edit = json!({"pid": pid, "source": "methods(\"Desk::round()\").skip(1)"});
        let calls = [
            ("machines", json!({})),
            (
                "ask",
                json!({"pid": pid, "question": "time", "pattern": "Desk", "seconds": 1}),
            ),
            ("code", json!({"pid": pid, "pattern": "Desk::serve(..)"})),
            (
                "calls",
                json!({"pid": pid, "pattern": "Desk", "view": "tree", "seconds": 1}),
            ),
            (
                "trace",
                json!({"pid": pid, "pattern": "Desk", "seconds": 1}),
            ),
            (
                "ask",
                json!({"pid": pid, "pattern": "Desk::srve(..)", "seconds": 0.2}),
            ),
            ("plan", edit.clone()),
            ("detach", json!({"pid": pid})),
            ("plan", json!({"name": "http"})),
            ("nonsense", json!({})),
            (
                "plan",
                json!({"pid": pid, "source": "methods(\"Desk::round()\").skip(1)", "dry_run": true}),
            ),
            (
                "plan",
                json!({"pid": pid, "source": "methods(\"Desk\").before(countr())", "dry_run": true}),
            ),
        ];
        let (server, answers) = session(&python, &[], &calls)?;
        assert_eq!(server["name"], "veneer");
        assert_eq!(
            server["tools"].as_array().map(Vec::len),
            Some(9),
            "{server}"
        );
        let text = |n: usize| answers[n].text.as_str();
        for (n, answer) in answers.iter().enumerate() {
            assert_eq!(
                answer.is_error,
                matches!(n, 5 | 6 | 7 | 9 | 11),
                "{n}: {answer:?}"
            );
            assert!(
                answer.text.chars().count() <= MAX_CHARACTERS,
                "{n}: {answer:?}"
            );
        }
        assert!(text(0).contains(&pid.to_string()) && text(0).ends_with("command: veneer ps"));
        assert!(
            text(1).contains("serve(") && text(1).contains("note: attached: "),
            "{}",
            text(1)
        );
        assert!(text(2).contains("order"), "{}", text(2));
        assert!(
            text(3).contains("Desk.serve") || text(3).contains("Desk::serve"),
            "{}",
            text(3)
        );
        assert!(text(4).contains("Desk::serve"), "{}", text(4));
        assert!(text(5).contains("serve"), "{}", text(5));
        for refused in [6, 7] {
            assert!(text(refused).contains("--allow-edits"), "{}", text(refused));
        }
        assert!(
            text(10).contains("edit: skip") && text(10).contains("Nothing was attached"),
            "{}",
            text(10)
        );
        assert!(text(11).contains("1:24: no function"), "{}", text(11));
        // Nothing is attached any more.
        let status = || Ok(json_of(&["patches", &pid.to_string(), "--json"]).unwrap_or_default());
        let is_clean = |status: &Value| status[0]["loads"] == json!([]);
        until("the end of what was attached", status, is_clean)?;
        // With the right to edit, the same plan runs.
        let (_, answers) = session(&python, &["--allow-edits"], &[("plan", edit)])?;
        assert!(
            !answers[0].text.contains("--allow-edits"),
            "{:?}",
            answers[0]
        );
        end.send(())?;
        stop_and_check(orders.join().map_err(|_| "the orders ended")??)
    })
}
