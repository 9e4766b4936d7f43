//! Errors and warnings of the plan that answers a question, in the words of the user.
//!
//! The agent reports the position in the plan, which the user has never seen. This file replaces it
//! by the option and the expression that the user typed, with one caret:
//!
//! ```text
//!   hist:3:71: a.B::m(Ljava/lang/String;)D at entry: 4:3: `cost` cannot be read here; …
//!     ─▶  --if 'cost > 10' at the entry of a.B::m(String): `cost` cannot be read here; …
//!             cost > 10
//!             ^
//! ```

use super::written_plan::{PlacedExpression, WrittenPlan};

/// A position in a plan: line and column from 1, and the text after it.
struct Positioned<'m> {
    line: usize,
    column: usize,
    rest: &'m str,
}

/// Reads `LINE:COLUMN: text`.
fn positioned(text: &str) -> Option<Positioned<'_>> {
    let (line, rest) = text.split_once(':')?;
    let (column, rest) = rest.split_once(": ")?;
    Some(Positioned {
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        rest,
    })
}

/// The method and the point at which code does not compile: `a.B::m(I)V at f3`. `is_kept` means that
/// code at the exits uses a value of the entry.
fn place_in_words(place: &str, is_kept: bool) -> String {
    let (method, point) = place.rsplit_once(" at ").unwrap_or((place, ""));
    let method = short_method(method);
    let point = point.strip_prefix("before ").unwrap_or(point);
    match point {
        "" => format!("in {method}"),
        "entry" => format!("at the entry of {method}"),
        "return" | "throw" if is_kept => format!("at the entry of {method}"),
        "return" | "throw" => format!("at the exits of {method}"),
        point => format!("at {point} of {method}"),
    }
}

/// Replaces the descriptor of a method by the simple names of its parameters.
fn short_method(method: &str) -> String {
    match method.rsplit_once("::") {
        Some((class, name)) if name.contains('(') => {
            format!("{class}::{}", veneer_names::short_java_signature(name))
        }
        _ => method.to_owned(),
    }
}

/// The expression as the user typed it, with its option.
fn in_command(expression: &PlacedExpression) -> String {
    match expression.option {
        "" => format!("'{}'", expression.typed),
        option => format!("{option} '{}'", expression.typed),
    }
}

/// The end of an error about a method call, for plans and for this command.
const ALLOW_CALLS: [&str; 2] = [
    "the plan has to say before: unsafe_calls(true);",
    "allow its call by --unsafe-calls",
];

/// The hint for an argument that is not there at the exits.
const ARGUMENTS_AT_EXITS: &str = "; without --at exits, the arguments can be read too";

/// Returns the message of a failed plan in the words of the user. `name` is the name of the plan.
pub fn explain(message: &str, name: &str, plan: &WrittenPlan) -> String {
    let [of_plans, of_commands] = ALLOW_CALLS;
    let message = &message.replace(of_plans, of_commands);
    let first = message.lines().next().unwrap_or_default();
    let own = first
        .strip_prefix(name)
        .and_then(|text| text.strip_prefix(':'));
    let Some(outer) = own.and_then(positioned) else {
        return message.clone();
    };
    // An error of code at a point has a second position, that of the error in the code.
    let inner = outer.rest.match_indices(": ").find_map(|(at, _)| {
        let found = positioned(outer.rest.get(at + 2..)?)?;
        Some((outer.rest.get(..at)?, found))
    });
    let (place, at) = match inner {
        Some((place, at)) => (Some(place), at),
        None => (None, outer),
    };
    let on_line = |line: usize| plan.expressions.iter().find(|one| one.line == line);
    // The parser finds the end of an incomplete expression on the next line.
    let before = || on_line(at.line.saturating_sub(1)).map(|one| (one, one.typed.chars().count()));
    let found = on_line(at.line).map(|one| {
        let column = at.column.saturating_sub(1);
        (one, one.offset + one.translation.typed_column(column))
    });
    let found = found.or_else(before);
    let is_kept = found.as_ref().is_some_and(|(one, _)| one.is_kept);
    let lacks_arguments = place.is_some_and(|place| lacks_arguments(place, is_kept, at.rest));
    let hint = if lacks_arguments {
        ARGUMENTS_AT_EXITS
    } else {
        ""
    };
    let place = place.map_or(String::new(), |place| place_in_words(place, is_kept));
    match found {
        Some((expression, column)) => {
            let space = if place.is_empty() { "" } else { " " };
            format!(
                "{}{space}{place}: {}{hint}\n    {}\n    {}^",
                in_command(expression),
                at.rest,
                expression.typed,
                " ".repeat(column)
            )
        }
        None if place.is_empty() => at.rest.to_owned(),
        None => format!("{place}: {}", at.rest),
    }
}

/// Returns the message of a failed plan that this command has written, for a plan without expressions
/// of the user.
pub fn explain_without_expressions(message: &str, name: &str) -> String {
    explain(message, name, &WrittenPlan::default())
}

/// Returns whether `reason` refuses a variable at the exits of a method. Arguments cannot be read there.
fn lacks_arguments(place: &str, is_kept: bool, reason: &str) -> bool {
    let is_exit = place.ends_with(" at return") || place.ends_with(" at throw");
    is_exit && !is_kept && reason.contains("cannot be read here")
}

/// Returns the text of a warning about the plan `name`, without its position. `None` if `text` is no
/// warning.
pub fn warning<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let own = text.strip_prefix(name)?.strip_prefix(':')?;
    positioned(own)?.rest.strip_prefix("warning: ")
}

#[cfg(test)]
mod tests {
    use super::super::expression::translate;
    use super::*;

    fn plan() -> WrittenPlan {
        WrittenPlan {
            expressions: vec![PlacedExpression {
                line: 4,
                option: "--if",
                typed: "n > 1 && order.cost > 10".into(),
                offset: 9,
                translation: translate("order.cost > 10"),
                is_kept: false,
            }],
            ..WrittenPlan::default()
        }
    }

    #[test]
    fn an_error_names_the_option_and_the_expression_with_one_caret() {
        // `cost` is the second bracket of `p["order"]["cost"] > 10`.
        let message = "count:3:71: a.B::m(Ljava/lang/String;)D at entry: 4:12: a.Order has no field `cost`: it has id\nlet t = 1;\n   ^";
        assert_eq!(
            explain(message, "count", &plan()),
            "--if 'n > 1 && order.cost > 10' at the entry of a.B::m(String): a.Order has no field `cost`: it has id\n    n > 1 && order.cost > 10\n                   ^"
        );
        let incomplete = explain("count:5:1: unexpected `{`", "count", &plan());
        assert!(
            incomplete.ends_with(&format!("\n    {}^", " ".repeat(24))),
            "{incomplete}"
        );
        // A refused call names the option of the command.
        let message = "count:4:20: `pay` has no compiled form here. If it is a method of the object, the plan has to say before: unsafe_calls(true);";
        let said = explain(message, "count", &plan());
        assert!(
            said.contains("If it is a method of the object, allow its call by --unsafe-calls\n"),
            "{said}"
        );
        // An error of the parser has one position.
        let message = "count:4:20: expecting an operand\np[\"order\"] >";
        let said = explain(message, "count", &plan());
        assert!(
            said.starts_with("--if 'n > 1 && order.cost > 10': expecting an operand\n"),
            "{said}"
        );
        assert_eq!(said.matches('^').count(), 1);
    }

    #[test]
    fn an_error_elsewhere_has_no_position_of_the_plan() {
        let message =
            "count:1:9: a.B::m(I)V has no code on line 9: its code is on lines 1 to 3\nlet h";
        assert_eq!(
            explain(message, "count", &plan()),
            "a.B::m(I)V has no code on line 9: its code is on lines 1 to 3"
        );
        for other in ["the JVM is shutting down", "time:1:2: x"] {
            assert_eq!(explain(other, "count", &plan()), other);
        }
    }

    #[test]
    fn arguments_at_the_exits_are_there_without_the_option() {
        let message = "watch:4:71: a.B::m(La/Order;)D at return: 4:12: `order` cannot be read here; readable here: result";
        let said = explain(message, "watch", &plan());
        assert!(
            said.contains("readable here: result; without --at exits, the arguments"),
            "{said}"
        );
        let entry = message.replace("at return", "at entry");
        assert!(!explain(&entry, "watch", &plan()).contains("without --at"));
    }

    #[test]
    fn a_message_about_a_plan_of_this_command_has_no_position() {
        for (message, stripped) in [
            ("top:1:44: no such method", "no such method"),
            ("top: no", "top: no"),
            ("other:1:44: no", "other:1:44: no"),
            ("the JVM is shutting down", "the JVM is shutting down"),
            (
                "top:1:9: a.B::m(La/Order;)D at before f0: 2:132: no field `siz`\nlet h",
                "at f0 of a.B::m(Order): no field `siz`",
            ),
        ] {
            assert_eq!(explain_without_expressions(message, "top"), stripped);
        }
    }

    #[test]
    fn a_warning_loses_its_position() {
        let text = "time:2:11: warning: `a.B` matches nothing";
        assert_eq!(warning(text, "time"), Some("`a.B` matches nothing"));
        assert_eq!(warning("count key", "count"), None);
        assert_eq!(warning("count:1:2: 7", "count"), None);
    }
}
