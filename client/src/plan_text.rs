//! Texts of plans that several programs send: for one method, or with values of a user in them.

/// Returns the text as a Rhai string literal.
pub fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The plan that attaches counters to the blocks and edges of methods, and prints their flow graphs and
/// the ids of the counters. The agent arms methods when something is attached to them, so the graphs
/// follow the first counter.
///
/// ```text
///   {"graph":{…}}                              once for each method
///   {"ids":{"i1":"blocks","i2":"edges"}}       once: the counters
/// ```
pub fn block_counter_plan(pattern: &str) -> String {
    let pattern = literal(pattern);
    format!(
        "let m = methods({pattern});\n\
         let ids = #{{}}; ids[m.blocks().before(counter()).id()] = \"blocks\";\n\
         let graphs = m.graphs();\n\
         for g in graphs {{ print(#{{graph: g}}.to_json()); }}\n\
         if !graphs.filter(|g| !g.edges.is_empty()).is_empty() {{ ids[m.edges().before(counter()).id()] = \"edges\"; }}\n\
         print(#{{ids: ids}}.to_json());\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_literal() {
        for (text, written) in [
            ("a.B::m(..)", r#""a.B::m(..)""#),
            ("\"); exit(\"", r#""\"); exit(\"""#),
            ("\\\"", r#""\\\"""#),
            ("a\nb", r#""a\nb""#),
        ] {
            assert_eq!(literal(text), written);
        }
    }
}
