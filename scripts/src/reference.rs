//! What plans can call: for messages about calls that do not fit, for help at a prompt, and for `docs/reference.md`.

use std::fmt::Write;
use veneer_instruments::nearest_words;

/// A function of plans.
struct Function {
    name: &'static str,
    /// How it is written.
    usage: &'static str,
    /// The type of what it gives.
    gives: &'static str,
    /// What it does, in which units, and when it fails.
    text: &'static str,
}

/// Functions that belong together.
struct Group {
    name: &'static str,
    functions: &'static [Function],
}

fn all() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| group.functions)
}

/// How the function of this name is written; none where it is not one of the API.
pub(crate) fn usage(name: &str) -> Option<&'static str> {
    all().find(|f| f.name == name).map(|f| f.usage)
}

/// How the function with the name nearest to this one is written.
pub(crate) fn nearest_usage(name: &str) -> Option<&'static str> {
    usage(nearest(name)?)
}

/// The function with the name nearest to this one; one that is called by itself comes first.
pub fn nearest(name: &str) -> Option<&'static str> {
    let (alone, others): (Vec<_>, Vec<_>) =
        all().partition(|f| f.usage.starts_with(&format!("{}(", f.name)));
    let nearest = |some: &[&'static Function]| {
        let found = nearest_words(name, some.iter().map(|f| f.name), 1).pop()?;
        some.iter().map(|f| f.name).find(|name| *name == found)
    };
    nearest(&alone).or_else(|| nearest(&others))
}

/// What can be typed at a prompt, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Callable {
    /// `before`.
    pub name: &'static str,
    /// It is called of something: `methods(…).before(…)`.
    pub of_something: bool,
}

/// All functions, in alphabetical order; one that is written in both ways is there twice.
pub fn callables() -> Vec<Callable> {
    let mut found = Vec::new();
    for f in all() {
        for of_something in [false, true] {
            let written = |at: usize| {
                let before = f.usage.get(..at).and_then(|before| before.chars().last());
                (before == Some('.')) == of_something
                    && before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
            };
            let call = format!("{}(", f.name);
            if f.usage.match_indices(&call).any(|(at, _)| written(at)) {
                let name = f.name;
                found.push(Callable { name, of_something });
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What the reference says of a function, as text; of all functions of that name, those in code at a point too. None where there is none.
pub fn help(name: &str) -> Option<String> {
    let mut entries: Vec<String> = Vec::new();
    for f in all().filter(|f| f.name == name) {
        let gives = match f.gives {
            "" => String::new(),
            gives => format!("  gives {gives}\n"),
        };
        entries.push(format!(
            "{}\n{gives}  {}\n",
            f.usage,
            f.text.replace('`', "")
        ));
    }
    for f in veneer_probes::function::FUNCTIONS {
        if f.name == name {
            let takes: Vec<String> = f.takes.iter().map(ToString::to_string).collect();
            entries.push(format!(
                "{name}({}), in code at a point\n  gives {}\n  {}\n",
                takes.join(", "),
                f.gives,
                f.text.replace('`', "")
            ));
        }
    }
    (!entries.is_empty()).then(|| entries.concat())
}

/// The names of all functions, by what they are for.
pub fn overview() -> String {
    let mut out = String::new();
    for group in GROUPS {
        let names: Vec<&str> = group.functions.iter().map(|f| f.name).collect();
        let _ = writeln!(out, "{}: {}", group.name, names.join(", "));
    }
    out
}

/// The reference of all functions, as Markdown.
pub fn reference() -> String {
    let mut out = String::from(HEAD);
    let cell = |text: &str| text.replace('|', "\\|");
    for group in GROUPS {
        let _ = write!(
            out,
            "\n## {}\n\n| written | gives | |\n| --- | --- | --- |\n",
            group.name
        );
        for f in group.functions {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} |",
                cell(f.usage),
                cell(f.gives),
                cell(f.text)
            );
        }
    }
    out += "\n## In code at a point\n\n| written | takes | gives | |\n| --- | --- | --- | --- |\n";
    out += "| `as_a(…, \"a.b.C\")` | object, constant | object | the object as one of this class or interface, or `()` where it is none |\n";
    out += "| `here()` | | string | the point: `shop.Desk.serve:41`; its last 64 characters |\n";
    for f in veneer_probes::function::FUNCTIONS {
        let takes: Vec<String> = f.takes.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "| `{}({})` | {} | {} | {} |",
            f.name,
            vec!["…"; takes.len()].join(", "),
            takes.join(", "),
            f.gives,
            cell(f.text)
        );
    }
    out
}

const HEAD: &str = "# Reference of plans\n\nEvery function that a plan can call, made from the code (`VENEER_BLESS=1 cargo test -p veneer-scripts \
                    --test reference`). The guide is `plans.md`.\n";

const GROUPS: &[Group] = &[
    Group {
        name: "Which methods",
        functions: &[
            Function {
                name: "methods",
                usage: "methods(\"a.b..*::m(..)\") or methods([\"…\", \"…\"])",
                gives: "methods",
                text: "A selection by patterns. Error: a pattern that cannot be read, with the column.",
            },
            Function {
                name: "limit",
                usage: "methods(…).limit(number)",
                gives: "methods",
                text: "The same with at most so many points for an instrument (100,000). Error where there are more: `TooManyPoints`, and nothing is attached.",
            },
            Function {
                name: "classes",
                usage: "classes(\"a.b..*::m(..)\") or classes([\"…\", \"…\"])",
                gives: "array of classes",
                text: "The loaded classes that the patterns select methods of; as when something is attached, they are armed first. Each has `name`, `annotations`, `supertypes`, `flags`, `initialised` and `methods`: the selected ones, with `class`, `method`, `name`, `pattern`, `size` (bytes of code), `annotations`, `flags`, `blocks` and `edges`.",
            },
            Function {
                name: "filter",
                usage: "methods(…).filter(|m| …) or methods(…).blocks().filter(|b| …)",
                gives: "methods, or points",
                text: "Of what is loaded now the methods, as in `classes()`, or the reachable blocks, as in `graphs()` and with `class` and `method`, of which the predicate holds. Error: it gives neither true nor false.",
            },
            Function {
                name: "list",
                usage: "methods(…).list()",
                gives: "array of maps",
                text: "`class`, `method`, `pattern` of each armed method that can be patched now.",
            },
            Function {
                name: "sample",
                usage: "methods(…).sample(number, seed)",
                gives: "array of maps",
                text: "At most so many of them, drawn at random; the same seed draws the same ones.",
            },
            Function {
                name: "graphs",
                usage: "methods(…).graphs()",
                gives: "array of maps",
                text: "`class`, `method`, `fragments` (how many), `edges` (pairs of numbers), `blocks`: maps `number`, `line`, `instructions`, `size`, `depth`, `header`, `reachable`, `variables`.",
            },
        ],
    },
    Group {
        name: "Which points",
        functions: &[
            Function {
                name: "entry",
                usage: "methods(…).entry()",
                gives: "points",
                text: "The entry of each method.",
            },
            Function {
                name: "exits",
                usage: "methods(…).exits()",
                gives: "points",
                text: "Every return; for counters the exits by exception too, as one row.",
            },
            Function {
                name: "blocks",
                usage: "methods(…).blocks()",
                gives: "points",
                text: "Every basic block.",
            },
            Function {
                name: "block",
                usage: "methods(…).block(number) or .block([number, …])",
                gives: "points",
                text: "Those of these numbers. Refused where a method has no such fragment.",
            },
            Function {
                name: "loops",
                usage: "methods(…).loops()",
                gives: "points",
                text: "Every loop header.",
            },
            Function {
                name: "loop_exits",
                usage: "methods(…).loop_exits()",
                gives: "points",
                text: "Where loops are left, by exceptions too; only for code, which sees `turns` there: how often the loop went back to its header.",
            },
            Function {
                name: "edges",
                usage: "methods(…).edges()",
                gives: "points",
                text: "Every edge, those to exception handlers aside.",
            },
            Function {
                name: "edge",
                usage: "methods(…).edge(from, to) or .edge([[from, to], …])",
                gives: "points",
                text: "These edges. Refused where a method has no such edge.",
            },
            Function {
                name: "line",
                usage: "methods(…).line(number) or .line([number, …])",
                gives: "points",
                text: "Where the code of a source line begins. Refused where a method has no code there.",
            },
            Function {
                name: "calls",
                usage: "methods(…).calls() or .calls(\"a.B::m(..)\")",
                gives: "points",
                text: "Calls; values `receiver`, `arg0` … before, `result` behind.",
            },
            Function {
                name: "reads",
                usage: "methods(…).reads() or .reads(\"a.B.field\")",
                gives: "points",
                text: "Reads of fields; `object` before, `result` behind.",
            },
            Function {
                name: "writes",
                usage: "methods(…).writes() or .writes(\"a.B.field\")",
                gives: "points",
                text: "Writes of fields; `object` and `value` before.",
            },
            Function {
                name: "array_reads",
                usage: "methods(…).array_reads()",
                gives: "points",
                text: "Reads of elements; `array` and `index` before, `result` behind.",
            },
            Function {
                name: "array_writes",
                usage: "methods(…).array_writes()",
                gives: "points",
                text: "Writes of elements; `array`, `index` and `value` before.",
            },
            Function {
                name: "allocations",
                usage: "methods(…).allocations()",
                gives: "points",
                text: "`new` of objects and arrays; of arrays `length` before and `result` behind.",
            },
            Function {
                name: "monitor_enters",
                usage: "methods(…).monitor_enters()",
                gives: "points",
                text: "The beginnings of `synchronized` blocks; `object` before.",
            },
            Function {
                name: "monitor_exits",
                usage: "methods(…).monitor_exits()",
                gives: "points",
                text: "Their ends; `object` before.",
            },
            Function {
                name: "throws",
                usage: "methods(…).throws()",
                gives: "points",
                text: "`throw`; `exception` before. There is nothing behind it.",
            },
            Function {
                name: "handlers",
                usage: "methods(…).handlers()",
                gives: "points",
                text: "Where exception handlers begin, those of `finally` and `synchronized` too; `exception` before.",
            },
            Function {
                name: "branches",
                usage: "methods(…).branches()",
                gives: "points",
                text: "Conditional branches; `value`, or `left` and `right`, before. There is nothing behind them but edges.",
            },
            Function {
                name: "switches",
                usage: "methods(…).switches()",
                gives: "points",
                text: "Switches; `key` before.",
            },
            Function {
                name: "instructions",
                usage: "methods(…).instructions() or .instructions(\"iadd\")",
                gives: "points",
                text: "Instructions of the JVM, all or by mnemonic.",
            },
        ],
    },
    Group {
        name: "Instruments",
        functions: &[
            Function {
                name: "before",
                usage: "methods(…).before(instrument), where an instrument is counter(), log(\"name\", …) or code: |p| …",
                gives: "handle",
                text: "Attaches it before each point. Error where it can stand at none, with the reason of the first.",
            },
            Function {
                name: "after",
                usage: "after(seconds, || …), or methods(…).after(instrument) where an instrument is counter(), log(\"name\", …) or code: |p| …",
                gives: "handle, or timer",
                text: "Attaches it behind each point; of methods, at every return and exception. With seconds (0.01 at least): runs the closure once.",
            },
            Function {
                name: "around",
                usage: "methods(…).around(instrument), where an instrument is timer() or log(\"name\", …)",
                gives: "handle",
                text: "Attaches it on both sides.",
            },
            Function {
                name: "counter",
                usage: "counter()",
                gives: "instrument",
                text: "How often.",
            },
            Function {
                name: "timer",
                usage: "timer()",
                gives: "instrument",
                text: "Time in nanoseconds, callees included.",
            },
            Function {
                name: "log",
                usage: "log(\"name\", …) with up to eight variables, or log([\"name\", …])",
                gives: "instrument",
                text: "The values of variables each time. Refused where one is not live, with those that are.",
            },
            Function {
                name: "code",
                usage: "code(|p| …)",
                gives: "instrument",
                text: "Code at points as an instrument, for `.named(…)`, `.times(…)` and `.budget(…)`.",
            },
            Function {
                name: "times",
                usage: "counter().times(number), or code(…).times(number), or log(…).times(number)",
                gives: "instrument",
                text: "The same for the first so many passes in all; then the agent takes it off. Error: of a timer.",
            },
            Function {
                name: "times_each",
                usage: "counter().times_each(number), or code(…).times_each(number), or log(…).times_each(number)",
                gives: "instrument",
                text: "The same for the first so many passes of each point; it stays on.",
            },
            Function {
                name: "late",
                usage: "timer().late()",
                gives: "instrument",
                text: "The same for activations too that began before it is attached: from there on, in a row of their own, since that is the least that they took. Error: of another instrument, or of other points than whole methods.",
            },
            Function {
                name: "budget",
                usage: "counter().budget(share), or budget() of any instrument",
                gives: "instrument",
                text: "The same for at most this share (0.05) of the processor time of the program, by estimate: the agent looks once a second, takes it off when it costs more, and says so.",
            },
            Function {
                name: "each",
                usage: "counter().each()",
                gives: "instrument",
                text: "A counter for each point, where most counts would follow from others.",
            },
            Function {
                name: "named",
                usage: "counter().named(\"…\"); the same of a table: tally().named(\"…\")",
                gives: "instrument or table",
                text: "The same under a name.",
            },
        ],
    },
    Group {
        name: "Handles",
        functions: &[
            Function {
                name: "table",
                usage: "handle.table() or handle.table(rows); the same of a table",
                gives: "string",
                text: "The heaviest rows (20) as text, 100 columns wide.",
            },
            Function {
                name: "rows",
                usage: "handle.rows(), or rows() of a table",
                gives: "array of maps",
                text: "Of a handle `class`, `method`, `fragment`, `to`, `what`, `line` and `hits`, or `count`, `total_ns`, `min_ns`, `max_ns`, or `events`, `dropped`. Of a table `keys`, `count`, and by its kind `sum`, `avg`, `min`, `max`, `buckets`, `below`, `above`, `per_second`, `seconds`, `distinct`, `error`, or `values`, `number`, `time_ns`, `thread_id`.",
            },
            Function {
                name: "hits",
                usage: "handle.hits()",
                gives: "int",
                text: "The sum over all points.",
            },
            Function {
                name: "events",
                usage: "handle.events(number)",
                gives: "array of maps",
                text: "Of a log: `class`, `method`, `fragment`, `line`, `thread_id`, `time_ns`, `values`; the newest last.",
            },
            Function {
                name: "detach",
                usage: "handle.detach() or detach(\"i7\")",
                gives: "()",
                text: "Takes the instrument off. Error: an id that was never given out.",
            },
            Function {
                name: "attached",
                usage: "handle.attached()",
                gives: "bool",
                text: "Whether it is on.",
            },
            Function {
                name: "id",
                usage: "handle.id()",
                gives: "string",
                text: "Its id, `i7`; of a patch `p3`.",
            },
        ],
    },
    Group {
        name: "Tables",
        functions: &[
            Function {
                name: "tally",
                usage: "tally() or tally(combinations of keys)",
                gives: "table",
                text: "How often, by up to four keys; for 1,000 combinations, or so many as it says (100,000). Error: no room (256 MiB for all tables).",
            },
            Function {
                name: "sums",
                usage: "sums() or sums(combinations of keys)",
                gives: "table",
                text: "Also sum, least and greatest of whole numbers.",
            },
            Function {
                name: "histogram",
                usage: "histogram() or histogram(combinations of keys)",
                gives: "table",
                text: "Also how many in each of 249 buckets.",
            },
            Function {
                name: "linear",
                usage: "linear(from, step, buckets) or linear(from, step, buckets, combinations of keys)",
                gives: "table",
                text: "The same with so many buckets (1 to 1,000) of one width, and two for what is below and above them. Error: buckets without width, or that end beyond 2⁶³.",
            },
            Function {
                name: "rate",
                usage: "rate() or rate(combinations of keys)",
                gives: "table",
                text: "How often, and how often in each of the last 60 seconds.",
            },
            Function {
                name: "distinct",
                usage: "distinct() or distinct(combinations of keys and value)",
                gives: "table",
                text: "How many different values, by up to three keys; exact while there is room for each value with its keys (10,000).",
            },
            Function {
                name: "top",
                usage: "top(number of keys)",
                gives: "table",
                text: "The most frequent of keys without bound, by the Space-Saving algorithm: `count` is at most so much too high as `error` says.",
            },
            Function {
                name: "sample",
                usage: "sample(number of combinations)",
                gives: "table",
                text: "Values drawn evenly from all that came, with time and thread.",
            },
            Function {
                name: "last",
                usage: "last() or last(number of combinations)",
                gives: "table",
                text: "The newest values themselves, with time and thread.",
            },
            Function {
                name: "per_thread",
                usage: "per_thread(0) for whole numbers, or per_thread(()) for objects",
                gives: "stack",
                text: "A stack for each thread, 32 deep.",
            },
            Function {
                name: "count",
                usage: "table.count(key, …), with up to four keys, in code at a point",
                gives: "",
                text: "One more; of a tally(), rate() or top().",
            },
            Function {
                name: "add",
                usage: "table.add(key, …, value), with up to four keys, in code at a point",
                gives: "",
                text: "One more value; one with a point is rounded, NaN is 0. Of a distinct() up to three keys, and the value is of any type.",
            },
            Function {
                name: "put",
                usage: "last(…).put(value, …), with up to four values, in code at a point; the same of a sample(…)",
                gives: "",
                text: "The newest values, or one more combination to draw from.",
            },
            Function {
                name: "per_object",
                usage: "per_object(0) or per_object(0, objects)",
                gives: "values of objects",
                text: "A whole number for each object, 0 at first, for 100,000 objects or so many at a time; it goes with the object. Error: no room.",
            },
            Function {
                name: "set",
                usage: "values.set(object, value), of a per_object(0), in code at a point",
                gives: "",
                text: "Gives an object its value; nothing happens of `()`.",
            },
            Function {
                name: "get",
                usage: "values.get(object), of a per_object(0), in code at a point",
                gives: "int",
                text: "An object's value; 0 where it has none, and of `()`.",
            },
            Function {
                name: "push",
                usage: "stack.push(value), of a per_thread(…), in code at a point",
                gives: "",
                text: "Puts a value on the thread's stack.",
            },
            Function {
                name: "pop",
                usage: "stack.pop(), of a per_thread(…), in code at a point",
                gives: "int or object",
                text: "Takes it off again; 0 or `()` where there is none.",
            },
            Function {
                name: "top",
                usage: "stack.top(), of a per_thread(…), in code at a point",
                gives: "int or object",
                text: "Looks at it.",
            },
            Function {
                name: "collapsed",
                usage: "tally(…).collapsed(); the same of a sums() or histogram()",
                gives: "string",
                text: "Entries with a `stack()` among their keys as collapsed stacks, which flame graphs are drawn from: by count, or by sum. Error: of another table.",
            },
            Function {
                name: "stacks",
                usage: "tally(…).stacks() or tally(…).stacks(number); the same of a sums() or histogram()",
                gives: "string",
                text: "The heaviest stacks (10), a line for each frame. Error: of another table.",
            },
            Function {
                name: "bars",
                usage: "histogram(…).bars() or histogram(…).bars(combinations of keys); the same of a linear(…)",
                gives: "string",
                text: "Histograms as bars. Error: of another table.",
            },
            Function {
                name: "csv",
                usage: "table.csv()",
                gives: "string",
                text: "All rows as comma-separated values (RFC 4180).",
            },
            Function {
                name: "json",
                usage: "table.json()",
                gives: "string",
                text: "All rows as an array of JSON objects.",
            },
            Function {
                name: "rest",
                usage: "table.rest()",
                gives: "map",
                text: "What found no room, as a row without keys; of a sample() what was not drawn.",
            },
            Function {
                name: "total",
                usage: "table.total()",
                gives: "int",
                text: "How often something was given to it, whether it found room or not.",
            },
            Function {
                name: "diff",
                usage: "table.diff()",
                gives: "array of maps",
                text: "Rows of what has come since the last call of it, without `min`, `max`, `per_second` and `seconds`.",
            },
            Function {
                name: "merge",
                usage: "merge([table, …])",
                gives: "array of maps",
                text: "Rows of several tables of one kind together. Error: tables of different kinds, a top() or a sample().",
            },
            Function {
                name: "clear",
                usage: "table.clear()",
                gives: "()",
                text: "Sets all to nothing.",
            },
        ],
    },
    Group {
        name: "Time",
        functions: &[
            Function {
                name: "every",
                usage: "every(seconds, || …)",
                gives: "timer",
                text: "Runs the closure each time so many seconds (0.01 at least) have passed, until it has failed three times in a row.",
            },
            Function {
                name: "when",
                usage: "when(|| condition, || …)",
                gives: "timer",
                text: "Looks ten times a second whether the condition holds, and when it does runs the other closure, once.",
            },
            Function {
                name: "at_exit",
                usage: "at_exit(|| …)",
                gives: "timer",
                text: "Runs the closure when the JVM ends.",
            },
            Function {
                name: "cancel",
                usage: "every(…).cancel()",
                gives: "()",
                text: "It does not run any more.",
            },
            Function {
                name: "now",
                usage: "now()",
                gives: "float",
                text: "Seconds since the plan began.",
            },
        ],
    },
    Group {
        name: "Components",
        functions: &[
            Function {
                name: "component",
                usage: "component(\"name\", \"version\")",
                gives: "()",
                text: "Says what the plan deploys; takes the place of what is there of that name. Error: twice, or not at the top level.",
            },
            Function {
                name: "analyse",
                usage: "analyse(|| …)",
                gives: "()",
                text: "What the closure gives is the component's report, whenever it is asked for and when the JVM ends. Error: twice, or not at the top level.",
            },
            Function {
                name: "components",
                usage: "components()",
                gives: "array of maps",
                text: "`id`, `name`, `version`, `plan`, `since` (seconds), `parameters` (a map of strings), `instruments` (ids), `things` (how many instruments and edits), `analyser`, `attached`, in order of loading.",
            },
            Function {
                name: "component_report",
                usage: "component_report(\"name\")",
                gives: "what its analyser gives",
                text: "Asks the newest component of this name. Error: there is none, it has no analyser, or that fails.",
            },
            Function {
                name: "report",
                usage: "components()[n].report()",
                gives: "what its analyser gives",
                text: "The same of one of the list.",
            },
            Function {
                name: "component_detach",
                usage: "component_detach(\"name\"), or components()[n].detach()",
                gives: "int",
                text: "Takes all off that a component attached and cancels its callbacks; how many instruments and edits. Error: there is none.",
            },
        ],
    },
    Group {
        name: "Edits",
        functions: &[
            Function {
                name: "redirect",
                usage: "methods(…).redirect(from, to, target)",
                gives: "patch",
                text: "The edge leads to another fragment. Error: variables, monitors or handlers there do not fit.",
            },
            Function {
                name: "skip",
                usage: "methods(…).skip(fragment)",
                gives: "patch",
                text: "The fragment is left out. Error: as above.",
            },
            Function {
                name: "replace",
                usage: "methods(…).replace(fragment, by)",
                gives: "patch",
                text: "The fragment runs the code of another. Error: as above.",
            },
            Function {
                name: "edit",
                usage: "methods(…).edit([redirect(from, to, target), skip(fragment), replace(fragment, by)])",
                gives: "patch",
                text: "Several, together or not at all.",
            },
        ],
    },
    Group {
        name: "Everything else",
        functions: &[
            Function {
                name: "param",
                usage: "param(\"name\", default), or param(\"name\") where there is none",
                gives: "int, float, bool or string",
                text: "What `--set name=…` says. Error: not of the default's type; or nothing said and no default.",
            },
            Function {
                name: "unsafe_calls",
                usage: "unsafe_calls(true)",
                gives: "()",
                text: "From here on code at points may call public methods of the objects that it sees, `p.request.getRequestURI()`, which may change what the program does. Off at the beginning.",
            },
            Function {
                name: "refusals",
                usage: "refusals()",
                gives: "array of maps",
                text: "`class`, `method`, `reason`, `detail` of what was left as it was.",
            },
            Function {
                name: "instruments",
                usage: "instruments()",
                gives: "array of maps",
                text: "`id`, `name`, `kind`, `plan`, `methods`, `points`, `attached`.",
            },
            Function {
                name: "stale",
                usage: "stale()",
                gives: "int",
                text: "Activations that run older code.",
            },
            Function {
                name: "names",
                usage: "names(\"shop.De\")",
                gives: "array of strings",
                text: "At most 200 names of loaded classes that begin so, up to the next dot; behind `::` those of the class's methods. For completion.",
            },
            Function {
                name: "pid",
                usage: "pid()",
                gives: "int",
                text: "The process id of the JVM.",
            },
            Function {
                name: "detach_all",
                usage: "detach_all()",
                gives: "int",
                text: "Takes off the instruments and patches of all plans; how many.",
            },
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_of_something_is_told_from_what_is_not() {
        let all = callables();
        let is = |name: &str, of_something| {
            all.iter()
                .any(|c| c.name == name && c.of_something == of_something)
        };
        for name in ["methods", "counter", "every", "now", "detach"] {
            assert!(is(name, false), "{name}");
        }
        for name in ["before", "blocks", "table", "hits", "detach", "cancel"] {
            assert!(is(name, true), "{name}");
        }
        assert!(!is("methods", true) && !is("before", false) && !is("table", false));
        // Written in both ways.
        assert!(is("after", true) && is("after", false));
    }

    #[test]
    fn help_is_the_text_of_the_reference() {
        let text = help("counter").unwrap_or_default();
        assert_eq!(text, "counter()\n  gives instrument\n  How often.\n");
        assert!(help("starts_with").is_some_and(|text| text.contains("in code at a point")));
        assert_eq!(help("countr"), None);
        assert_eq!(nearest("countr"), Some("counter"));
    }

    #[test]
    fn every_function_is_described_in_the_guide() {
        let text = include_str!("../../docs/plans.md");
        for f in all() {
            assert!(
                text.contains(&format!("{}(", f.name)),
                "docs/plans.md: {}",
                f.name
            );
        }
        for function in veneer_probes::function::FUNCTIONS {
            assert!(
                text.contains(function.text),
                "docs/plans.md: {}",
                function.text
            );
        }
    }
}
