//! The source of the plans that this command holds. Each plan has its own connection, so closing
//! the connection detaches what the plan attached.
//!
//! A plan attaches its instruments, prints their ids, and ends. The command then subscribes to
//! their measurements. The agent's only thread for plans is therefore free for the plans of other
//! clients, and only changed measurements are sent.

use crate::ask::expression::to_plan_expression;
use veneer_client::plan_text::literal;

use super::location::{MethodLocation, ProbeKind};

/// Number of values of a watch that the agent keeps, and maximum number that a thread may record in
/// a second.
const VALUES: u32 = 50;
const VALUES_PER_SECOND: u32 = 20;

/// Attaches a counter to all methods that the patterns select.
pub fn call_counter_plan(patterns: &[String], limit: u32) -> String {
    let patterns: Vec<String> = patterns.iter().map(|p| literal(p)).collect();
    format!(
        "let calls = methods([{}]).limit({limit}).before(counter());\n\
         let mine = instruments().filter(|i| i.id == calls.id());\n\
         for i in mine {{ print(#{{attached: #{{methods: i.methods, points: i.points}}}}.to_json()); }}\n\
         let ids = #{{}}; ids[calls.id()] = \"calls\"; print(#{{ids: ids}}.to_json());\n",
        patterns.join(", ")
    )
}

/// Prints the flow graph of one method.
pub fn graph_query_plan(pattern: &str) -> String {
    let pattern = literal(pattern);
    format!("for g in methods({pattern}).graphs() {{ print(#{{graph: g}}.to_json()); }}\n")
}

/// Attaches one instrument.
pub fn probe_plan(location: &MethodLocation, kind: &ProbeKind, every: f64) -> String {
    let methods = format!("methods({})", literal(&location.pattern()));
    let points = match location.fragment {
        Some(fragment) => format!("{methods}.block({fragment})"),
        None => methods,
    };
    let ids = "let ids = #{}; ids[h.id()] = \"probe\"; print(#{ids: ids}.to_json());\n";
    match kind {
        ProbeKind::Counter => {
            format!("let h = {points}.before(counter().each());\n{ids}")
        }
        ProbeKind::Timer => format!("let h = {points}.around(timer());\n{ids}"),
        ProbeKind::Watch(values) => {
            let values: Vec<String> = values.iter().map(|v| to_plan_expression(v)).collect();
            format!(
                "let seen = last({VALUES});\n\
                 let h = {points}.before(|p| if per_second({VALUES_PER_SECOND}) {{ seen.put({}) }});\n\
                 every({every:?}, || print(#{{watch: seen.rows()}}.to_json()));\n{ids}",
                values.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_records_its_values() {
        let location = MethodLocation {
            class: "a.B".into(),
            method: "m(I)V".into(),
            fragment: Some(3),
        };
        let plan = probe_plan(
            &location,
            &ProbeKind::Watch(vec!["this".into(), "n".into()]),
            1.0,
        );
        assert!(
            plan.contains("methods(\"a.B::m(int)\").block(3).before(|p| if per_second(20) { seen.put(p.self, p[\"n\"]) })"),
            "{plan}"
        );
    }

    #[test]
    fn the_limit_on_methods_is_passed_on() {
        let plan = call_counter_plan(&["a..*".into(), "b.C".into()], 7);
        assert!(plan.starts_with("let calls = methods([\"a..*\", \"b.C\"]).limit(7)"));
    }
}
