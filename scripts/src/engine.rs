//! The script engine as plans get it: limits set, what would block or read files taken out.

use crate::api;
use crate::context::Context;
use crate::limits;
use rhai::module_resolvers::DummyModuleResolver;
use rhai::{Dynamic, Engine, EvalAltResult, FLOAT, INT};
use std::sync::Arc;
use veneer_instruments::nearest_words;
use veneer_instruments::table::count;

/// An engine that can read plans. Only [`for_plan`] gives one that can run them.
pub(crate) fn for_reading() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_operations(limits::OPERATIONS)
        .set_max_call_levels(limits::CALL_DEPTH)
        .set_max_expr_depths(limits::EXPRESSION_DEPTH, limits::EXPRESSION_DEPTH)
        .set_max_string_size(limits::STRING_BYTES)
        .set_max_array_size(limits::ARRAY_ELEMENTS)
        .set_max_map_size(limits::MAP_PROPERTIES)
        .set_max_variables(limits::VARIABLES)
        .set_max_functions(limits::FUNCTIONS)
        // A misspelt variable is found when the plan is read, not an hour later in a callback.
        .set_strict_variables(true)
        // Positions inside an evaluated text would not be those of the plan.
        .disable_symbol("eval")
        .set_module_resolver(DummyModuleResolver::new());
    engine
}

/// An engine that runs one plan.
pub(crate) fn for_plan(context: &Arc<Context>) -> Engine {
    let mut engine = for_reading();
    let budget = context.clone();
    engine.on_progress(move |operations| {
        // Reading the clock costs about as much as a cheap operation; a dear one (copying a large array) may
        // take 20 ms, so that looking much more seldom would let the limit slip.
        if operations % 16 == 0 && budget.out_of_time() {
            let seconds = limits::WALL_CLOCK.as_secs();
            return Some(Dynamic::from(format!(
                "more than {seconds} s in one call, the limit of a plan ({} operations done); for what goes on, use every(seconds, …) in place of a loop",
                count(operations)
            )));
        }
        None
    });
    let out = context.clone();
    engine.on_print(move |text| out.ask(|runtime| runtime.print(text)));
    let out = context.clone();
    engine.on_debug(move |text, _, position| {
        let place = out.place(position);
        out.ask(|runtime| runtime.print(&format!("{place}: {text}")));
    });
    // The engine's own would block the thread on which all plans take turns.
    engine.register_fn("sleep", |_: INT| no_sleep());
    engine.register_fn("sleep", |_: FLOAT| no_sleep());
    api::register(&mut engine, context);
    engine
}

fn no_sleep() -> Result<(), Box<EvalAltResult>> {
    Err("a plan cannot sleep, since all plans share one thread: write after(seconds, || …)".into())
}

/// How each function of the API is written: for messages about calls that do not fit.
const USAGE: &[(&str, &str)] = &[
    (
        "methods",
        "methods(\"a.b..*::m(..)\") or methods([\"…\", \"…\"])",
    ),
    ("entry", "methods(…).entry()"),
    ("exits", "methods(…).exits()"),
    ("blocks", "methods(…).blocks()"),
    ("block", "methods(…).block(number) or .block([number, …])"),
    ("loops", "methods(…).loops()"),
    ("edges", "methods(…).edges()"),
    (
        "edge",
        "methods(…).edge(from, to) or .edge([[from, to], …])",
    ),
    ("line", "methods(…).line(number) or .line([number, …])"),
    ("calls", "methods(…).calls() or .calls(\"a.B::m(..)\")"),
    ("reads", "methods(…).reads() or .reads(\"a.B.field\")"),
    ("writes", "methods(…).writes() or .writes(\"a.B.field\")"),
    ("array_reads", "methods(…).array_reads()"),
    ("array_writes", "methods(…).array_writes()"),
    ("allocations", "methods(…).allocations()"),
    ("monitor_enters", "methods(…).monitor_enters()"),
    ("monitor_exits", "methods(…).monitor_exits()"),
    ("throws", "methods(…).throws()"),
    ("branches", "methods(…).branches()"),
    ("switches", "methods(…).switches()"),
    (
        "instructions",
        "methods(…).instructions() or .instructions(\"iadd\")",
    ),
    ("list", "methods(…).list()"),
    ("sample", "methods(…).sample(number, seed)"),
    ("graphs", "methods(…).graphs()"),
    (
        "before",
        "methods(…).before(instrument), where an instrument is counter(), log(\"name\", …) or code: |p| …",
    ),
    (
        "after",
        "after(seconds, || …), or methods(…).after(instrument) where an instrument is counter(), log(\"name\", …) or code: |p| …",
    ),
    (
        "around",
        "methods(…).around(instrument), where an instrument is timer() or log(\"name\", …)",
    ),
    ("counter", "counter()"),
    ("timer", "timer()"),
    (
        "log",
        "log(\"name\", …) with up to eight variables, or log([\"name\", …])",
    ),
    ("each", "counter().each()"),
    ("named", "counter().named(\"…\")"),
    ("every", "every(seconds, || …)"),
    ("at_exit", "at_exit(|| …)"),
    ("cancel", "every(…).cancel()"),
    ("tally", "tally() or tally(combinations of keys)"),
    ("sums", "sums() or sums(combinations of keys)"),
    (
        "histogram",
        "histogram() or histogram(combinations of keys)",
    ),
    (
        "count",
        "table.count(key, …), with up to four keys, in code at a point",
    ),
    (
        "add",
        "table.add(key, …, value), with up to four keys, in code at a point",
    ),
    ("last", "last() or last(number of combinations)"),
    (
        "put",
        "last(…).put(value, …), with up to four values, in code at a point",
    ),
    (
        "bars",
        "histogram(…).bars() or histogram(…).bars(combinations of keys)",
    ),
    ("rest", "table.rest(), of a tally(), sums() or histogram()"),
    (
        "clear",
        "table.clear(), of a tally(), sums() or histogram()",
    ),
    (
        "table",
        "handle.table() or handle.table(rows); the same of a tally(), sums() or histogram()",
    ),
    (
        "rows",
        "handle.rows(), or rows() of a tally(), sums() or histogram()",
    ),
    ("hits", "handle.hits()"),
    ("events", "handle.events(number)"),
    ("detach", "handle.detach() or detach(\"i7\")"),
    ("attached", "handle.attached()"),
    ("id", "handle.id()"),
    ("redirect", "methods(…).redirect(from, to, target)"),
    ("skip", "methods(…).skip(fragment)"),
    ("replace", "methods(…).replace(fragment, by)"),
    (
        "edit",
        "methods(…).edit([redirect(from, to, target), skip(fragment), replace(fragment, by)])",
    ),
    ("refusals", "refusals()"),
    ("instruments", "instruments()"),
    ("stale", "stale()"),
    ("now", "now()"),
    ("pid", "pid()"),
    ("detach_all", "detach_all()"),
];

/// How the function of this name is written; none where it is not one of the API.
pub(crate) fn usage(name: &str) -> Option<&'static str> {
    USAGE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, usage)| *usage)
}

/// How the function with the name nearest to this one is written; one that is called by itself comes first.
pub(crate) fn nearest_usage(name: &str) -> Option<&'static str> {
    let (alone, others): (Vec<_>, Vec<_>) = USAGE
        .iter()
        .copied()
        .partition(|(known, usage)| usage.starts_with(&format!("{known}(")));
    let nearest = |names: &[(&'static str, &str)]| {
        nearest_words(name, names.iter().map(|(known, _)| *known), 1).pop()
    };
    usage(&nearest(&alone).or_else(|| nearest(&others))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_described() {
        let text = include_str!("../../docs/plans.md");
        for (name, _) in USAGE {
            assert!(text.contains(&format!("{name}(")), "docs/plans.md: {name}");
        }
        for function in veneer_probes::compile::FUNCTIONS {
            assert!(
                text.contains(function.text),
                "docs/plans.md: {}",
                function.text
            );
        }
    }
}
