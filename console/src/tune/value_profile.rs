//! The parameters that `specialise` may make constants: one held plan counts the calls of the running methods, and
//! another one the values of the parameters of those that are called most.
//!
//! ```text
//!   {"pattern":"a.B::m(..)","size":40,"hash":"…","parameter":1,"name":"size"}    the first plan
//!   {"seen":0,"total":1000,"values":[[64,980],[32,20]]}                         the second one, by index
//!   {"profiled":true}                                                           the end of each
//! ```
//!
//! A parameter is a candidate if nine of ten calls have one value. A call with another value costs a transfer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;
use veneer_client::plan_text::literal;
use veneer_fragmenter::hotspot::MAX_COMPILED_BYTES;

use super::candidates::{Candidate, Transformation};
use super::counting_plan::count;

/// The length of each of the two counts, in seconds.
const COUNT_SECONDS: f64 = 1.0;
/// A method that is called less often in that time is not looked at.
const MIN_CALLS: u64 = 10_000;
/// The most methods whose values are counted. Those that are called most are first.
const MAX_METHODS: usize = 8;
/// The most candidates.
const MAX_CANDIDATES: usize = 4;
/// The different values of a parameter that are counted.
const MAX_VALUES: u32 = 64;
/// The part of the calls that must have the value.
const MIN_SHARE: f64 = 0.9;

/// The words that a plan cannot use as the name of a variable, although Java can.
const RESERVED: [&str; 25] = [
    "as", "async", "await", "call", "curry", "debug", "eval", "exit", "export", "fn", "global",
    "go", "in", "is", "let", "loop", "match", "module", "nil", "print", "shared", "spawn", "sync",
    "thread", "until",
];

/// A parameter that can be a constant.
#[derive(Clone, Debug, Deserialize)]
struct Parameter {
    pattern: String,
    size: u64,
    hash: String,
    parameter: u16,
    name: String,
}

/// The values of a parameter.
#[derive(Debug, Deserialize)]
struct SeenValues {
    /// The index of the parameter in the list of parameters.
    seen: usize,
    total: u64,
    values: Vec<(Value, u64)>,
}

/// Finds the parameters of these methods that hardly ever change, those of the most frequent calls first. None if
/// `interrupted` is set.
///
/// # Errors
/// The connection failed.
pub fn candidates(
    pid: u32,
    methods: &[String],
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<Candidate>> {
    let subject = "the values of parameters";
    let program = parameters_program(methods);
    let mut parameters: Vec<Parameter> = count(pid, (program, subject), interrupted)?;
    parameters.retain(|one| can_be_named(&one.name));
    if parameters.is_empty() {
        return Ok(Vec::new());
    }
    let program = values_program(&parameters);
    let seen = count(pid, (program, subject), interrupted)?;
    Ok(chosen(&parameters, seen))
}

/// Whether code of a plan can have this name.
fn can_be_named(name: &str) -> bool {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    begins && letters.all(|c| c.is_ascii_alphanumeric() || c == '_') && !RESERVED.contains(&name)
}

/// The value of a parameter as the JVM keeps it.
fn constant(value: &Value) -> Option<i32> {
    match value {
        Value::Bool(truth) => Some(i32::from(*truth)),
        Value::Number(number) => number.as_i64()?.try_into().ok(),
        _ => None,
    }
}

/// The candidates: of each method the parameter that changes least.
fn chosen(parameters: &[Parameter], seen: Vec<SeenValues>) -> Vec<Candidate> {
    let mut all: Vec<(f64, u64, Candidate)> = Vec::new();
    for one in seen {
        let frequent = one.values.iter().max_by_key(|(_, count)| *count);
        let (Some(parameter), Some((value, count))) = (parameters.get(one.seen), frequent) else {
            continue;
        };
        let share = *count as f64 / one.total.max(1) as f64;
        let Some(value) = constant(value).filter(|_| share >= MIN_SHARE) else {
            continue;
        };
        if one.total < MIN_CALLS {
            continue;
        }
        let candidate = Candidate {
            pattern: parameter.pattern.clone(),
            size: parameter.size,
            hash: parameter.hash.clone(),
            transformation: Transformation::Specialise {
                parameter: parameter.parameter,
                value,
            },
        };
        all.push((share, one.total, candidate));
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut best: Vec<(u64, Candidate)> = Vec::new();
    for (_, total, candidate) in all {
        if !best.iter().any(|(_, one)| one.pattern == candidate.pattern) {
            best.push((total, candidate));
        }
    }
    best.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    let best = best.into_iter().map(|(_, candidate)| candidate);
    best.take(MAX_CANDIDATES).collect()
}

/// The plan that finds the parameters of the methods that are called most.
fn parameters_program(methods: &[String]) -> String {
    let methods: Vec<String> = methods.iter().map(|pattern| literal(pattern)).collect();
    format!(
        r#"let found = [];
for c in classes([{methods}]) {{
    for m in c.methods.filter(|m| m.size > 0 && m.size <= {MAX_COMPILED_BYTES}) {{
        try {{ found.push(#{{ method: m, entries: methods(m.pattern).entry().before(counter()), hits: 0 }}); }} catch (error) {{}}
    }}
}}
after({COUNT_SECONDS:?}, || {{
    let called = [];
    for one in found {{
        one.hits = one.entries.hits();
        one.entries.detach();
        if one.hits >= {MIN_CALLS} {{ called.push(one); }}
    }}
    called.sort(|a, b| b.hits - a.hits);
    called.truncate({MAX_METHODS});
    for one in called {{
        let m = one.method;
        for graph in methods(m.pattern).graphs() {{
            for p in graph.parameters.filter(|p| p.constant) {{
                print(#{{ pattern: m.pattern, size: m.size, hash: graph.hash, parameter: p.number, name: p.name }}.to_json());
            }}
        }}
    }}
    print(#{{ profiled: true }}.to_json());
}});
"#,
        methods = methods.join(", ")
    )
}

/// The plan that counts the values. A parameter that code cannot read is left out.
fn values_program(parameters: &[Parameter]) -> String {
    let mut text = String::from("let all = [];\n");
    for (index, one) in parameters.iter().enumerate() {
        text += &format!(
            "try {{\n    let values = tally({MAX_VALUES});\n    let seen = methods({pattern}).entry().before(|p| values.count(p.{name}));\n    all.push(#{{ index: {index}, values: values, seen: seen }});\n}} catch (error) {{}}\n",
            pattern = literal(&one.pattern),
            name = one.name,
        );
    }
    text += &format!(
        r#"after({COUNT_SECONDS:?}, || {{
    for one in all {{ one.seen.detach(); }}
    for one in all {{
        let rows = one.values.rows();
        let total = one.values.rest().count;
        for row in rows {{ total += row.count; }}
        print(#{{ seen: one.index, total: total, values: rows.map(|r| [r.keys[0], r.count]) }}.to_json());
    }}
    print(#{{ profiled: true }}.to_json());
}});
"#
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::counting_plan::CountedLine;

    fn parameter(pattern: &str, number: u16) -> Parameter {
        Parameter {
            pattern: pattern.into(),
            size: 40,
            hash: "5be2f2a1c09d7e43".into(),
            parameter: number,
            name: format!("p{number}"),
        }
    }

    fn seen(index: usize, values: &[(Value, u64)]) -> SeenValues {
        SeenValues {
            seen: index,
            total: values.iter().map(|(_, count)| count).sum(),
            values: values.to_vec(),
        }
    }

    #[test]
    fn a_value_of_nine_of_ten_calls_is_a_constant() {
        let parameters = [
            parameter("a.B::m(int, int)", 0),
            parameter("a.B::m(int, int)", 1),
            parameter("a.B::n(boolean)", 0),
            parameter("a.B::o(int)", 0),
            parameter("a.B::p(int)", 0),
            parameter("a.B::q(long)", 0),
        ];
        let found = chosen(
            &parameters,
            vec![
                seen(0, &[(64.into(), 19_000), (8.into(), 1_000)]),
                seen(1, &[((-7).into(), 20_000)]),
                seen(2, &[(false.into(), 1_000), (true.into(), 90_000)]),
                seen(3, &[(1.into(), 89_000), (2.into(), 11_000)]),
                seen(4, &[(1.into(), 9_000)]),
                seen(5, &[(Value::from("x"), 90_000)]),
            ],
        );
        let found: Vec<_> = found
            .into_iter()
            .map(|one| (one.pattern, one.transformation))
            .collect();
        let constant = |parameter, value| Transformation::Specialise { parameter, value };
        assert_eq!(
            found,
            [
                ("a.B::n(boolean)".into(), constant(0, 1)),
                ("a.B::m(int, int)".into(), constant(1, -7)),
            ]
        );
    }

    #[test]
    fn names_that_a_plan_cannot_have_are_left_out() {
        for name in ["size", "arg0", "x_1"] {
            assert!(can_be_named(name), "{name}");
        }
        for name in ["call", "größe", "", "1", "a$b", "_x"] {
            assert!(!can_be_named(name), "{name}");
        }
    }

    #[test]
    fn lines_of_the_plans_are_told_apart() {
        let text = r#"{"seen":0,"total":9,"values":[[8,9]]}"#;
        let line: CountedLine<SeenValues> = serde_json::from_str(text).expect(text);
        assert!(matches!(line, CountedLine::Found(one) if one.values[0].1 == 9));
        let text = r#"{"profiled":true}"#;
        let line: CountedLine<Parameter> = serde_json::from_str(text).expect(text);
        assert!(matches!(line, CountedLine::Profiled { .. }));
    }
}
