//! The methods that a transformation may make faster, among those that threads are executing: methods of more
//! than 8,000 bytes, methods with virtual calls on three or more classes, and methods whose calls nearly all have one
//! value of a parameter.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;
use veneer_client::plan_text::literal;
use veneer_client::thread_dump::{DumpedThread, ThreadState, thread_dump};
use veneer_client::{Client, Target};
use veneer_fragmenter::hotspot::MAX_COMPILED_BYTES;

use super::program::execute;

/// The number of thread dumps.
const DUMPS: u32 = 10;
/// The time between two of them.
const DUMP_INTERVAL: Duration = Duration::from_millis(100);
/// The number of innermost frames of a thread that are looked at. A huge method may call others.
const FRAMES: usize = 8;

/// A transformation with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Transformation {
    /// The method is split into parts.
    #[default]
    Huge,
    /// Virtual calls are tested for these receivers.
    Devirtualise {
        /// The calls, by a pattern of the called method.
        calls: String,
        /// The classes, the most frequent first.
        receivers: Vec<String>,
    },
    /// A parameter becomes a constant.
    Specialise {
        /// The number of the parameter.
        parameter: u16,
        /// The value of nearly all calls.
        value: i32,
    },
}

/// A method that a transformation may make faster.
#[derive(Clone, Debug, Deserialize)]
pub struct Candidate {
    /// The pattern that selects the method alone.
    pub pattern: String,
    /// The size of its code in bytes.
    pub size: u64,
    /// The hash of its code, which guards a saved plan.
    pub hash: String,
    /// The transformation to try.
    #[serde(skip)]
    pub transformation: Transformation,
}

impl Transformation {
    /// The name, as in plans.
    pub fn name(&self) -> &'static str {
        match self {
            Transformation::Huge => "huge",
            Transformation::Devirtualise { .. } => "devirtualise",
            Transformation::Specialise { .. } => "specialise",
        }
    }
}

impl Candidate {
    /// The program that attaches the transformation so that it stays, and prints the id of the patch.
    /// `counts` is the id of a counter of the method's blocks.
    pub fn keep_program(&self, counts: &str) -> String {
        let call = match &self.transformation {
            Transformation::Huge => {
                format!("optimise(\"huge\", #{{ counts: {} }})", literal(counts))
            }
            Transformation::Devirtualise { calls, receivers } => {
                devirtualise_call(calls, receivers)
            }
            Transformation::Specialise { parameter, value } => specialise_call(*parameter, *value),
        };
        format!(
            "print(methods({}).expect({}).{call}.id());",
            literal(&self.pattern),
            literal(&self.hash),
        )
    }
}

/// The call of `optimise` in a plan that tests these calls for these receivers.
pub fn devirtualise_call(calls: &str, receivers: &[String]) -> String {
    let receivers: Vec<String> = receivers.iter().map(|name| literal(name)).collect();
    format!(
        "optimise(\"devirtualise\", #{{ calls: {}, receivers: [{}] }})",
        literal(calls),
        receivers.join(", ")
    )
}

/// The call of `optimise` in a plan that makes a parameter a constant.
pub fn specialise_call(parameter: u16, value: i32) -> String {
    format!("optimise(\"specialise\", #{{ parameter: {parameter}, value: {value} }})")
}

/// The selected methods, or, without patterns, those that threads are executing.
pub fn selected_methods(target: &Target, patterns: &[String]) -> Result<Vec<String>> {
    match patterns.is_empty() {
        false => Ok(patterns.to_vec()),
        true => running_methods(target),
    }
}

/// Finds the methods that are too large among the selected ones. The largest is first.
pub fn huge_methods(client: &mut Client, selected: &[String]) -> Result<Vec<Candidate>> {
    if selected.is_empty() {
        return Ok(Vec::new());
    }
    let lines = execute(client, program(selected))?;
    let found = lines
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(found.collect())
}

/// The program that prints each selected method that is too large as JSON.
fn program(patterns: &[String]) -> String {
    let patterns: Vec<String> = patterns.iter().map(|pattern| literal(pattern)).collect();
    format!(
        "let large = [];\n\
         for c in classes([{}]) {{ large += c.methods.filter(|m| m.size > {MAX_COMPILED_BYTES}); }}\n\
         large.sort(|a, b| b.size - a.size);\n\
         for m in large {{ print(#{{ pattern: m.pattern, size: m.size, hash: methods(m.pattern).hash() }}.to_json()); }}",
        patterns.join(", ")
    )
}

/// Patterns of the methods that runnable threads are executing.
fn running_methods(target: &Target) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    for n in 0..DUMPS {
        if n > 0 {
            thread::sleep(DUMP_INTERVAL);
        }
        found.extend(patterns_in(&thread_dump(target)?));
    }
    Ok(found.into_iter().collect())
}

fn patterns_in(dump: &[DumpedThread]) -> BTreeSet<String> {
    let runnable = dump.iter().filter(|t| t.state == ThreadState::Runnable);
    let frames = runnable.flat_map(|thread| thread.frames.iter().take(FRAMES));
    // Hidden classes have no name that a pattern could have.
    let named = frames.filter(|frame| !frame.class.contains('/') && !frame.method.contains('<'));
    named
        .map(|frame| format!("{}::{}(..)", frame.class, frame.method))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_client::thread_dump::parse;

    #[test]
    fn methods_of_runnable_threads_are_candidates() {
        let dump = "\"main\" #1 prio=5 tid=0x1 runnable\n\
                    \x20  java.lang.Thread.State: RUNNABLE\n\
                    \tat a.Parser.next(Parser.java:10)\n\
                    \tat a.Parser.<init>(Parser.java:5)\n\n\
                    \"idle\" #2 prio=5 tid=0x2 waiting\n\
                    \x20  java.lang.Thread.State: WAITING (parking)\n\
                    \tat a.Idle.take(Idle.java:3)\n";
        let found: Vec<String> = patterns_in(&parse(dump)).into_iter().collect();
        assert_eq!(found, ["a.Parser::next(..)"]);
    }

    #[test]
    fn the_program_has_the_patterns_and_the_limit() {
        let text = program(&["a.B::m(..)".into(), "a.C::*(..)".into()]);
        assert!(
            text.contains("classes([\"a.B::m(..)\", \"a.C::*(..)\"])"),
            "{text}"
        );
        assert!(text.contains("m.size > 8000"), "{text}");
    }
}
