//! `veneer search --memory` names each seeded locality fault of `tests/java/locality`, and nothing in the
//! mended form of the program.

use serde_json::Value;
use veneer_tests::browser::until_nothing_is_attached;
use veneer_tests::command::veneer;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::Output;

/// A program, the mark of the line with the fault, the cause, and a part of its evidence.
struct Fault {
    program: &'static str,
    mark: &'static str,
    cause: &'static str,
    text: &'static str,
}

const FAULTS: [Fault; 5] = [
    Fault {
        program: "Stride",
        mark: "// FAULT stride",
        cause: "stride",
        text: "accesses elements of long[] that are 8192 bytes apart",
    },
    Fault {
        program: "Chase",
        mark: "// FAULT chase",
        cause: "pointer-chasing",
        text: "reads Chase$Node.value of objects that Chase$Node.next links",
    },
    Fault {
        program: "FalseSharing",
        mark: "// FAULT sharing",
        cause: "false-sharing",
        text: "accesses elements of long[] in lines of 64 bytes",
    },
    Fault {
        program: "BoxedKeys",
        mark: "// FAULT boxes",
        cause: "boxed-keys",
        text: "reads BoxedKeys$Box.value, the only field of the objects in BoxedKeys$Box[]",
    },
    Fault {
        program: "Records",
        mark: "// FAULT records",
        cause: "array-of-objects",
        text: "reads Records$Order.price, and 8 of 48 bytes of the fields of each object",
    },
];

/// The seconds of a search. Other programs may need the processors, too.
const SECONDS: &str = "6";
const ATTEMPTS: u32 = 4;

fn start(programs: &Programs, program: &str, variant: &str) -> Fallible<Live> {
    let java = programs.launcher().arg("-cp");
    let java = java
        .arg(programs.classes().path())
        .args([program, variant, "0"]);
    Ok(Live::start(&java)?)
}

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Searches with further options. Returns the result and what the command printed.
fn search(live: &Live, options: &[&str]) -> Fallible<(Value, Output)> {
    let pid = live.pid().to_string();
    let command = veneer().args(["search", &pid, "--for", SECONDS, "--memory", "--json"]);
    let output = command.args(options).run()?.succeeded("search --memory")?;
    let result = serde_json::from_str(&output.out)?;
    Ok((result, output))
}

/// Whether a finding has a locality cause.
fn names(finding: &Value, cause: &str) -> bool {
    let causes = finding["locality"].as_array().into_iter().flatten();
    causes.into_iter().any(|one| one == cause)
}

/// Searches until the result is as wanted, for some attempts. On a busy machine a search may decide nothing,
/// and threads that take turns on one processor share no line at the same time.
fn search_until(
    live: &Live,
    options: &[&str],
    is_wanted: impl Fn(&Value, &Output) -> bool,
) -> Fallible<(Value, Output)> {
    for _ in 1..ATTEMPTS {
        let (result, output) = search(live, options)?;
        if is_wanted(&result, &output) {
            return Ok((result, output));
        }
    }
    search(live, options)
}

/// The names of all locality causes of a result.
fn causes(result: &Value) -> Vec<&str> {
    let findings = result["findings"].as_array().into_iter().flatten();
    let named = findings.filter_map(|finding| finding["locality"].as_array());
    named.flatten().filter_map(Value::as_str).collect()
}

/// Whether a search has recorded accesses.
fn has_recorded(output: &Output) -> bool {
    output.err.contains("recording the memory accesses")
}

/// The name of the finding's method.
fn method(finding: &Value) -> Option<&str> {
    let steps = finding["path"].as_array()?.iter();
    let mut methods = steps.filter(|step| step["kind"] == "method");
    methods.next()?["name"].as_str()
}

#[test]
fn each_seeded_fault_is_named_with_its_line() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        for fault in FAULTS {
            let live = start(programs, fault.program, "slow")?;
            let (result, output) = search_until(&live, &[], |result, _| {
                causes(result).contains(&fault.cause)
            })?;
            until_nothing_is_attached(&live)?;
            live.stop()?;
            let findings = result["findings"].as_array().expect("findings");
            // Stack samples can show the time of an inlined method at its caller.
            let mut named = findings
                .iter()
                .filter(|finding| names(finding, fault.cause));
            let Some(finding) = named.next() else {
                return Err(format!("{}: {result:#}\n{}", fault.cause, output.err).into());
            };
            assert_eq!(finding["locality"], serde_json::json!([fault.cause]));
            let evidence = finding["evidence"].as_array().into_iter().flatten();
            let mut evidence = evidence.filter(|one| one["source"] == fault.cause);
            let text = evidence
                .next()
                .map_or("", |one| one["text"].as_str().unwrap_or(""));
            assert!(text.contains(fault.text), "{text}");
            let source = format!("java/locality/{}.java", fault.program);
            let source = std::fs::read_to_string(source)?;
            let line = source.lines().position(|line| line.ends_with(fault.mark));
            let line = line.expect("a mark") + 1;
            assert!(text.contains(&format!("line {line} ")), "{line}: {text}");
            let sentences = result["sentences"].to_string();
            assert!(
                sentences.contains("its accesses to memory are slow ("),
                "{sentences}"
            );
        }
        Ok(())
    })
}

#[test]
fn mended_programs_have_no_locality_cause() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        for fault in FAULTS {
            let live = start(programs, fault.program, "fast")?;
            let (result, output) = search_until(&live, &[], |result, output| {
                has_recorded(output) || !causes(result).is_empty()
            })?;
            live.stop()?;
            let none: [&str; 0] = [];
            assert_eq!(causes(&result), none, "{}: {result:#}", fault.program);
            assert!(has_recorded(&output), "{}: {}", fault.program, output.err);
        }
        Ok(())
    })
}

#[test]
fn a_replay_names_the_cause_again_and_a_jvm_that_refuses_loses_nothing() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        let folder = Folder::new("search-locality")?;
        let record = folder.join("s.search");
        let place = record.display().to_string();
        let live = start(programs, "Records", "slow")?;
        let (result, _) = search_until(&live, &["--record", &place], |result, _| {
            !causes(result).is_empty()
        })?;
        live.stop()?;
        assert!(causes(&result).contains(&"array-of-objects"), "{result:#}");
        let again = veneer().args(["search", "--replay", &place, "--json"]);
        let again: Value = serde_json::from_str(&again.run()?.succeeded("replay")?.out)?;
        assert_eq!(again["findings"], result["findings"]);

        let java = programs.launcher().args(["-XX:+UseZGC", "-Xmx1g", "-cp"]);
        let java = java.arg(programs.classes().path());
        let live = Live::start(&java.args(["Records", "slow", "0"]))?;
        let (result, output) = search_until(&live, &[], |_, output| output.err.contains("ZGC"))?;
        live.stop()?;
        assert!(output.err.contains("ZGC"), "{}", output.err);
        let none: [&str; 0] = [];
        assert_eq!(causes(&result), none);
        let findings = result["findings"].as_array().expect("findings");
        assert!(findings.iter().any(|one| method(one) == Some("sumRecords")));
        Ok(())
    })
}
