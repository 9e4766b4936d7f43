//! The plans that this command holds. Each has a connection of its own, so what it attached goes when that is closed.
//!
//! A plan attaches and tells the ids of its instruments; their figures are subscribed to. So the agent's one thread for plans is free
//! for those of others, and only what has changed is sent.

use crate::ask::expression::of_point;
use crate::ask::literal;

use super::place::{Kind, Place};

/// Values of a watch that are shown, and how many of them a thread may add in a second.
const VALUES: u32 = 50;
const VALUES_A_SECOND: u32 = 20;

/// Counts the calls of all that the patterns select.
pub fn calls(patterns: &[String], limit: u32) -> String {
    let patterns: Vec<String> = patterns.iter().map(|p| literal(p)).collect();
    format!(
        "let calls = methods([{}]).limit({limit}).before(counter());\n\
         let mine = instruments().filter(|i| i.id == calls.id());\n\
         for i in mine {{ print(#{{attached: #{{methods: i.methods, points: i.points}}}}.to_json()); }}\n\
         let ids = #{{}}; ids[calls.id()] = \"calls\"; print(#{{ids: ids}}.to_json());\n",
        patterns.join(", ")
    )
}

/// Counts blocks and edges of one method, after its flow graph.
pub fn inside(pattern: &str) -> String {
    let pattern = literal(pattern);
    format!(
        "let m = methods({pattern});\n\
         let graphs = m.graphs();\n\
         for g in graphs {{ print(#{{graph: g}}.to_json()); }}\n\
         let ids = #{{}}; ids[m.blocks().before(counter()).id()] = \"blocks\";\n\
         if !graphs.filter(|g| !g.edges.is_empty()).is_empty() {{ ids[m.edges().before(counter()).id()] = \"edges\"; }}\n\
         print(#{{ids: ids}}.to_json());\n"
    )
}

/// Tells the flow graph of one method.
pub fn graph(pattern: &str) -> String {
    let pattern = literal(pattern);
    format!("for g in methods({pattern}).graphs() {{ print(#{{graph: g}}.to_json()); }}\n")
}

/// One instrument at one place.
pub fn probe(place: &Place, kind: &Kind, every: f64) -> String {
    let methods = format!("methods({})", literal(&place.pattern()));
    let points = match place.fragment {
        Some(fragment) => format!("{methods}.block({fragment})"),
        None => methods,
    };
    let ids = "let ids = #{}; ids[h.id()] = \"probe\"; print(#{ids: ids}.to_json());\n";
    match kind {
        Kind::Counter => {
            format!("let h = {points}.before(counter().each());\n{ids}")
        }
        Kind::Timer => format!("let h = {points}.around(timer());\n{ids}"),
        Kind::Watch(values) => {
            let values: Vec<String> = values.iter().map(|v| of_point(v)).collect();
            format!(
                "let seen = last({VALUES});\n\
                 let h = {points}.before(|p| if per_second({VALUES_A_SECOND}) {{ seen.put({}) }});\n\
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
    fn a_watch_asks_for_its_values() {
        let place = Place {
            class: "a.B".into(),
            method: "m(I)V".into(),
            fragment: Some(3),
        };
        let plan = probe(&place, &Kind::Watch(vec!["this".into(), "n".into()]), 1.0);
        assert!(
            plan.contains("methods(\"a.B::m(int)\").block(3).before(|p| if per_second(20) { seen.put(p.self, p[\"n\"]) })"),
            "{plan}"
        );
    }

    #[test]
    fn the_limit_on_points_is_said() {
        let plan = calls(&["a..*".into(), "b.C".into()], 7);
        assert!(plan.starts_with("let calls = methods([\"a..*\", \"b.C\"]).limit(7)"));
    }
}
