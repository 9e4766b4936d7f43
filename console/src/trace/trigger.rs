//! The trigger of `veneer trace PID --last`: a condition on a call, and the part of the plan that
//! reports the first call which fulfils the condition.
//!
//! ```text
//!   elapsed > 50 ms && order.total > 900
//!      │
//!      ▼
//!   m.before(|p| { k0.push(p["order"]["total"]); began.push(now_ns()); });
//!   m.after(|p| { … if elapsed > 50.0 && v0 > 900 { fired.count(); } });
//!   every(0.1, || if fired has a row { print("fired"); });
//! ```

use thiserror::Error;

use crate::ask::expression::{
    EXCEPTION, RESULT, reads, reads_exit, to_plan_expression, translate_at_exit,
};

/// The line that the plan prints when a call has fulfilled the condition.
pub const FIRED: &str = "veneer-trace: the trigger has fired";
/// The time between two questions of the plan, in seconds.
const QUESTION_INTERVAL: &str = "0.1";

/// Why a condition cannot be a trigger.
#[derive(Debug, Error)]
pub enum TriggerError {
    /// The condition asks for something that code after a method does not know.
    #[error("a trigger cannot read `{0}`: it reads `elapsed` and the parameters of the methods")]
    NotReadable(&'static str),
}

/// The plan code of a trigger on the methods `m`.
///
/// # Errors
/// The condition reads the result or the exception of a call.
pub fn trigger_code(condition: &str) -> Result<String, TriggerError> {
    for name in [RESULT, EXCEPTION] {
        if reads(condition, name) {
            return Err(TriggerError::NotReadable(name));
        }
    }
    let condition = without_units(condition);
    let code = match reads_exit(&condition) {
        true => code_at_exits(&condition),
        false => format!(
            "m.before(|p| {{ if\n{}\n{{ fired.count() }} }});\n",
            to_plan_expression(&condition)
        ),
    };
    Ok(format!(
        "let fired = tally();\n{code}let told = [false];\n\
         every({QUESTION_INTERVAL}, || if !told[0] && !fired.rows().is_empty() {{ told[0] = true; print(\"{FIRED}\"); }});\n"
    ))
}

/// The code of a condition that depends on the end of the call. The values of parameters are kept from
/// the entry to the exit.
fn code_at_exits(condition: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut keep = |path: &str| {
        let number = kept.iter().position(|one| one == path);
        let number = number.unwrap_or_else(|| {
            kept.push(path.to_owned());
            kept.len() - 1
        });
        format!("v{number}")
    };
    let condition = translate_at_exit(condition, &mut keep).code;
    let each = |line: &dyn Fn(usize, String) -> String| {
        let lines = kept.iter().enumerate();
        lines
            .map(|(n, path)| line(n, to_plan_expression(path)))
            .collect::<String>()
    };
    let tables = each(&|n, _| format!("let k{n} = per_call();\n"));
    let pushes = each(&|n, path| format!("k{n}.push({path}); "));
    let pops = each(&|n, path| format!("let v{n} = k{n}.pop({path}); "));
    format!(
        "let began = per_thread(0);\n{tables}\
         m.before(|p| {{ {pushes}began.push(now_ns()); }});\n\
         m.after(|p| {{ let end = now_ns(); let start = began.pop(); {pops}\
         if start > 0 {{ let elapsed = to_float(end - start) / 1000000.0; if\n{condition}\n{{ fired.count() }} }} }});\n"
    )
}

/// The condition with durations in milliseconds: `50 ms` becomes `50.0`, and `2 s` becomes `2000.0`. The
/// texts in quotation marks remain.
fn without_units(condition: &str) -> String {
    let quoted = |part: usize| part % 2 == 1;
    let parts = condition.split('"').enumerate();
    let parts = parts.map(|(n, part)| match quoted(n) {
        true => part.to_owned(),
        false => convert_durations(part),
    });
    parts.collect::<Vec<_>>().join("\"")
}

fn convert_durations(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = from.split_at(end.unwrap_or(from.len()));
        match (number.parse::<f64>(), unit(after)) {
            (Ok(value), Some((milliseconds, length))) if !is_word => {
                out.push_str(&format!("{:?}", value * milliseconds));
                rest = after.get(length..).unwrap_or_default();
            }
            _ => {
                out.push_str(number);
                rest = after;
            }
        }
    }
    out + rest
}

/// The unit with which a text begins: its milliseconds, and its length with the space before it.
fn unit(text: &str) -> Option<(f64, usize)> {
    let trimmed = text.trim_start();
    let length = trimmed.find(|c: char| !c.is_alphanumeric() && c != '_');
    let word = trimmed.get(..length.unwrap_or(trimmed.len()))?;
    let milliseconds = match word {
        "ns" => 1e-6,
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        _ => return None,
    };
    Some((milliseconds, text.len() - trimmed.len() + word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::PlanSource;

    fn checked(condition: &str) -> String {
        let code = trigger_code(condition).unwrap();
        let plan = PlanSource {
            name: "trace".into(),
            source: format!("let m = methods(\"a.B::m(..)\");\n{code}"),
            settings: Default::default(),
            modules: Default::default(),
        };
        crate::plans::check_plan(&plan).unwrap();
        code
    }

    #[test]
    fn a_condition_on_the_duration_is_tested_at_the_exits() {
        let code = checked("elapsed > 50 ms");
        assert!(
            code.contains("if\nelapsed > 50.0\n{ fired.count() }"),
            "{code}"
        );
        assert!(!code.contains("per_call"), "{code}");
    }

    #[test]
    fn parameters_are_kept_for_the_exits() {
        let code = checked("elapsed > 2s && order.total > 900 || order.total < 0");
        assert!(
            code.contains("elapsed > 2000.0 && v0 > 900 || v0 < 0"),
            "{code}"
        );
        assert_eq!(code.matches("per_call").count(), 1, "{code}");
        assert!(code.contains("k0.push(p[\"order\"][\"total\"]);"), "{code}");
    }

    #[test]
    fn a_condition_on_parameters_is_tested_at_the_entry() {
        let code = checked("name == \"5 ms\" && n > 50");
        assert!(
            code.starts_with("let fired = tally();\nm.before("),
            "{code}"
        );
        assert!(
            code.contains("p[\"name\"] == \"5 ms\" && p[\"n\"] > 50"),
            "{code}"
        );
    }

    #[test]
    fn units_are_those_of_queries() {
        for (typed, expected) in [
            ("elapsed>5ms", "elapsed>5.0"),
            ("elapsed > 1.5 s", "elapsed > 1500.0"),
            ("elapsed > 250 us)", "elapsed > 0.25)"),
            ("n1 s > 3 sx", "n1 s > 3 sx"),
            ("a > 5", "a > 5"),
        ] {
            assert_eq!(without_units(typed), expected, "{typed}");
        }
    }

    #[test]
    fn the_result_is_not_readable() {
        let error = trigger_code("result > 5").expect_err("an error");
        assert!(error.to_string().contains("`result`"), "{error}");
        assert!(trigger_code("exception").is_err());
    }
}
