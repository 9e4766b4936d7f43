//! The definitions of the tools, as the client lists them.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// The definitions. An assistant reads all of them before its first call, so they are short.
pub fn definitions(allow_edits: bool) -> Vec<Tool> {
    let mut all = vec![
        tool(
            "machines",
            "Lists the JVMs of this machine: process id, main class, JDK, and what is attached.",
            &[],
            json!({}),
        ),
        tool(
            "search",
            "Finds the bottlenecks of a JVM: where its threads spend their time, and why (processor, \
             locks, waiting, I/O, allocation, exceptions), with lines and shares. The best first call.",
            &["pid"],
            json!({
                "pid": pid(),
                "seconds": seconds("at least 5"),
                "threads": text("only threads whose name matches; * is any text"),
            }),
        ),
        tool(
            "ask",
            "Measures methods or points in them, exactly, for some seconds. count: how often; time: \
             durations with callees and self time; watch: values at each call; hist: distribution of a \
             value, without a value of the durations.",
            &["pid", "pattern"],
            json!({
                "pid": pid(),
                "question": one_of(&["count", "time", "watch", "hist"]),
                "pattern": pattern(),
                "values": texts("watch, hist: expressions such as order.customer, result, elapsed (ms)"),
                "by": texts("group by expressions: order.customer, thread_name(), stack()"),
                "if": text("only if this holds: order.total > 100 && elapsed > 5"),
                "at": text("points instead of calls: loops, line:64, calls:a.B::m(..), allocations, \
                            monitor_enters, throws, handlers, branches, exits"),
                "seconds": seconds("default 5"),
            }),
        ),
        tool(
            "calls",
            "Records who calls whom, with exact counts and the time of each chain of callers.",
            &["pid", "pattern"],
            json!({
                "pid": pid(),
                "pattern": pattern(),
                "view": one_of(&["methods", "tree", "gprof", "packages", "allocations", "never-called"]),
                "callers_of": text("a pattern: show only the chains that lead to these methods"),
                "seconds": seconds("default 5"),
            }),
        ),
        tool(
            "trace",
            "Records each call with its time, and runs a query over the calls.",
            &["pid", "pattern"],
            json!({
                "pid": pid(),
                "pattern": pattern(),
                "query": text("default: methods by own time. calls(\"A::m(..)\").when(wall > 5 ms).sort(\"-wall\").top(10); \
                               steps: under, longer, by, show, sort, top; columns: method, thread_name, wall, cpu, self, start, caller"),
                "seconds": seconds("default 5"),
            }),
        ),
        tool(
            "code",
            "Shows loaded methods: their points and the variables readable there, their basic blocks \
             with bytecode, or the methods that cannot be measured, with reasons.",
            &["pid"],
            json!({
                "pid": pid(),
                "pattern": pattern(),
                "view": one_of(&["points", "blocks", "refusals"]),
            }),
        ),
        tool(
            "plan",
            "Runs a plan for some seconds and returns its output. Without pid: lists the shipped plans \
             (sql, http, locks, exceptions, allocations, hot, slow …), or with name shows one.",
            &[],
            json!({
                "pid": pid(),
                "name": text("a shipped plan"),
                "source": text("a Rhai program; only if the server allows edits, or for a dry run"),
                "dry_run": json!({"type": "boolean", "description": "run nothing: errors, and what would be attached"}),
                "settings": texts("parameters: methods=com.shop..*"),
                "seconds": seconds("default 5"),
            }),
        ),
        memory(),
        tool(
            "more",
            "Returns the next page of an answer.",
            &["cursor"],
            json!({ "cursor": text("from the answer") }),
        ),
    ];
    if allow_edits {
        all.push(tool(
            "detach",
            "Detaches instruments and edits: those with the ids, or all, also those of other users.",
            &["pid"],
            json!({ "pid": pid(), "ids": texts("such as i7 or p1") }),
        ));
    }
    let annotated = |tool: Tool| {
        let is_destructive = allow_edits && matches!(tool.name.as_ref(), "plan" | "detach");
        tool.with_annotations(
            ToolAnnotations::new()
                .read_only(!is_destructive)
                .destructive(is_destructive),
        )
    };
    all.into_iter().map(annotated).collect()
}

fn memory() -> Tool {
    tool(
        "memory",
        "Reads a memory profile (.vmem) of Veneer: cache misses, allocations and shared lines. With caches: \
         simulates them on an address trace of Valgrind's Lackey.",
        &["file"],
        json!({
            "file": text("path"),
            "by": text("profile: method, line, type, field, site, object; trace: instruction, kind, cache-line, page"),
            "caches": texts("machine, or L1:32K/8/64,L2:1M/16/64"),
        }),
    )
}

fn tool(name: &'static str, description: &'static str, required: &[&str], members: Value) -> Tool {
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), members);
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    Tool::new(name, description, Arc::new(schema))
}

fn pid() -> Value {
    json!({"type": "integer", "description": "process id"})
}

fn pattern() -> Value {
    text("methods: com.shop..*, com.shop.Desk, com.shop.Desk::serve(..)")
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn seconds(description: &str) -> Value {
    json!({"type": "number", "description": description})
}

fn one_of(all: &[&str]) -> Value {
    json!({"type": "string", "enum": all})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_at_most_ten_tools_and_3000_tokens() {
        let all = definitions(true);
        assert!(all.len() <= 10, "{}", all.len());
        // A token of JSON has at least three characters.
        let text = serde_json::to_string(&all).unwrap();
        assert!(text.len() < 3 * 3_000, "{} characters", text.len());
    }

    #[test]
    fn only_a_server_that_allows_edits_has_tools_that_can_change_programs() {
        let may_write = |allow_edits| {
            let all = definitions(allow_edits);
            let hint = |tool: &Tool| tool.annotations.as_ref().and_then(|a| a.read_only_hint);
            all.iter().filter(|tool| hint(tool) != Some(true)).count()
        };
        assert_eq!((may_write(false), may_write(true)), (0, 2));
    }
}
