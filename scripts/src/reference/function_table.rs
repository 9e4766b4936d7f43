//! The table of all functions that plans can call, with their texts.

/// A function of plans.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// The forms of the call.
    pub(super) usage: &'static str,
    /// The type of the result.
    pub(super) returns: &'static str,
    /// The effect or result of the function, its units, and its errors.
    pub(super) description: &'static str,
}

/// A group of related functions.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) functions: &'static [Function],
}

/// All functions, by group, in the order of the reference.
pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "Which methods",
        functions: &[
            Function {
                name: "methods",
                usage: "methods(\"a.b..*::m(..)\") or methods([\"…\", \"…\"])",
                returns: "methods",
                description: "A selection of methods by patterns. Error: a pattern that cannot be parsed, with the column.",
            },
            Function {
                name: "limit",
                usage: "methods(…).limit(number)",
                returns: "methods",
                description: "The same selection with at most this number of points for an instrument (default 100,000). Error: an instrument has more points (`TooManyPoints`); nothing is attached then.",
            },
            Function {
                name: "classes",
                usage: "classes(\"a.b..*::m(..)\") or classes([\"…\", \"…\"])",
                returns: "array of classes",
                description: "The loaded classes that contain methods selected by the patterns. As when an instrument is attached, these classes are armed first. Each class has `name`, `annotations`, `supertypes`, `flags`, `initialised` and `methods`, the selected methods. Each method has `class`, `method`, `name`, `pattern`, `size` (bytes of code), `annotations`, `flags`, `blocks` and `edges`.",
            },
            Function {
                name: "filter",
                usage: "methods(…).filter(|m| …) or methods(…).blocks().filter(|b| …)",
                returns: "methods, or points",
                description: "The methods or blocks for which the predicate returns true, among the classes that are loaded now. Methods have the properties that `classes()` returns. Blocks are the reachable ones, with the properties that `graphs()` returns and with `class` and `method`. Error: the predicate does not return a boolean.",
            },
            Function {
                name: "list",
                usage: "methods(…).list()",
                returns: "array of maps",
                description: "`class`, `method` and `pattern` of each armed method that can be patched now.",
            },
            Function {
                name: "sample",
                usage: "methods(…).sample(number, seed)",
                returns: "array of maps",
                description: "A random sample of `list()` with at most this number of methods. Equal seeds draw equal samples.",
            },
            Function {
                name: "graphs",
                usage: "methods(…).graphs()",
                returns: "array of maps",
                description: "The flow graph of each method: `class`, `method`, `fragments` (the number of fragments), `edges` (pairs of numbers) and `blocks`. Each block has `number`, `line`, `instructions`, `size`, `depth`, `header`, `reachable` and `variables`.",
            },
        ],
    },
    Group {
        name: "Which points",
        functions: &[
            Function {
                name: "entry",
                usage: "methods(…).entry()",
                returns: "points",
                description: "The entry of each method.",
            },
            Function {
                name: "exits",
                usage: "methods(…).exits()",
                returns: "points",
                description: "Every return. For counters also the exits by exception, as one row.",
            },
            Function {
                name: "blocks",
                usage: "methods(…).blocks()",
                returns: "points",
                description: "Every basic block.",
            },
            Function {
                name: "block",
                usage: "methods(…).block(number) or .block([number, …])",
                returns: "points",
                description: "The blocks with these numbers. Refused if a method has no such block.",
            },
            Function {
                name: "loops",
                usage: "methods(…).loops()",
                returns: "points",
                description: "Every loop header.",
            },
            Function {
                name: "loop_exits",
                usage: "methods(…).loop_exits()",
                returns: "points",
                description: "The exits of loops, including exits by exception. Only code can be attached there. The code can read `turns`, the number of times that the loop returned to its header.",
            },
            Function {
                name: "edges",
                usage: "methods(…).edges()",
                returns: "points",
                description: "Every edge, except the edges to exception handlers.",
            },
            Function {
                name: "edge",
                usage: "methods(…).edge(from, to) or .edge([[from, to], …])",
                returns: "points",
                description: "The edges between these blocks. Refused if a method has no such edge.",
            },
            Function {
                name: "line",
                usage: "methods(…).line(number) or .line([number, …])",
                returns: "points",
                description: "The beginning of the code of each source line. Refused if a method has no code on the line.",
            },
            Function {
                name: "calls",
                usage: "methods(…).calls() or .calls(\"a.B::m(..)\")",
                returns: "points",
                description: "Method calls. Code before a call can read `receiver`, `arg0` …; code after a call can read `result`.",
            },
            Function {
                name: "call_sites",
                usage: "methods(…).call_sites() or .call_sites(\"invokevirtual\")",
                returns: "points",
                description: "Method calls, all or those by one instruction, with the whole target in `what`: `invokevirtual a.B::m(I)V @17`. With a counter also the call of the superclass's constructor, counted when it has returned.",
            },
            Function {
                name: "reads",
                usage: "methods(…).reads() or .reads(\"a.B.field\")",
                returns: "points",
                description: "Reads of fields. Code before a read can read `object`; code after a read can read `result`.",
            },
            Function {
                name: "writes",
                usage: "methods(…).writes() or .writes(\"a.B.field\")",
                returns: "points",
                description: "Writes of fields. Code before a write can read `object` and `value`.",
            },
            Function {
                name: "array_reads",
                usage: "methods(…).array_reads()",
                returns: "points",
                description: "Reads of array elements. Code before a read can read `array` and `index`; code after a read can read `result`.",
            },
            Function {
                name: "array_writes",
                usage: "methods(…).array_writes()",
                returns: "points",
                description: "Writes of array elements. Code before a write can read `array`, `index` and `value`.",
            },
            Function {
                name: "allocations",
                usage: "methods(…).allocations()",
                returns: "points",
                description: "Allocations of objects and arrays by `new`. For arrays, code before an allocation can read `length`, and code after an allocation can read `result`.",
            },
            Function {
                name: "monitor_enters",
                usage: "methods(…).monitor_enters()",
                returns: "points",
                description: "The beginnings of `synchronized` blocks. Code before a beginning can read `object`.",
            },
            Function {
                name: "monitor_exits",
                usage: "methods(…).monitor_exits()",
                returns: "points",
                description: "The ends of `synchronized` blocks. Code before an end can read `object`.",
            },
            Function {
                name: "throws",
                usage: "methods(…).throws()",
                returns: "points",
                description: "`throw` statements. Code before a `throw` can read `exception`. No instrument can be attached after a `throw`.",
            },
            Function {
                name: "handlers",
                usage: "methods(…).handlers()",
                returns: "points",
                description: "The beginnings of exception handlers, including those of `finally` and `synchronized`. Code before a beginning can read `exception`.",
            },
            Function {
                name: "branches",
                usage: "methods(…).branches()",
                returns: "points",
                description: "Conditional branches. Code before a branch can read `value`, or `left` and `right`. No instrument can be attached after a branch; use its edges instead.",
            },
            Function {
                name: "switches",
                usage: "methods(…).switches()",
                returns: "points",
                description: "`switch` instructions. Code before a switch can read `key`.",
            },
            Function {
                name: "instructions",
                usage: "methods(…).instructions() or .instructions(\"iadd\")",
                returns: "points",
                description: "All JVM instructions, or those with this mnemonic.",
            },
        ],
    },
    Group {
        name: "Instruments",
        functions: &[
            Function {
                name: "before",
                usage: "methods(…).before(instrument), where an instrument is counter(), log(\"name\", …) or code: |p| …",
                returns: "handle",
                description: "Attaches the instrument before each point. Error: the instrument can be attached at no point; the message has the reason for the first point.",
            },
            Function {
                name: "after",
                usage: "after(seconds, || …), or methods(…).after(instrument) where an instrument is counter(), log(\"name\", …) or code: |p| …",
                returns: "handle, or timer",
                description: "Attaches the instrument after each point; for methods, at every return and every exit by exception. With seconds (0.01 at least): runs the closure once.",
            },
            Function {
                name: "around",
                usage: "methods(…).around(instrument), where an instrument is timer() or log(\"name\", …)",
                returns: "handle",
                description: "Attaches the instrument on both sides of each point.",
            },
            Function {
                name: "counter",
                usage: "counter()",
                returns: "instrument",
                description: "Counts how often a point is passed.",
            },
            Function {
                name: "timer",
                usage: "timer()",
                returns: "instrument",
                description: "Measures the time in nanoseconds, including callees.",
            },
            Function {
                name: "log",
                usage: "log(\"name\", …) with up to eight variables, or log([\"name\", …])",
                returns: "instrument",
                description: "Records the values of variables each time the point is passed. Refused if a variable is not live at a point; the message names the live variables.",
            },
            Function {
                name: "code",
                usage: "code(|p| …)",
                returns: "instrument",
                description: "Makes code at points an instrument, so that `.named(…)`, `.times(…)` and `.budget(…)` can be applied.",
            },
            Function {
                name: "times",
                usage: "counter().times(number), or code(…).times(number), or log(…).times(number)",
                returns: "instrument",
                description: "The same instrument, limited to this number of passes over all its points. The agent then detaches the instrument. Error: the instrument is a timer.",
            },
            Function {
                name: "times_each",
                usage: "counter().times_each(number), or code(…).times_each(number), or log(…).times_each(number)",
                returns: "instrument",
                description: "The same instrument, limited to this number of passes of each point. The instrument remains attached.",
            },
            Function {
                name: "late",
                usage: "timer().late()",
                returns: "instrument",
                description: "The same timer, which also measures activations that began before it was attached. These are measured from that time on and have a row of their own, because the time is only a lower bound. Error: another instrument than a timer, or other points than whole methods.",
            },
            Function {
                name: "budget",
                usage: "counter().budget(share) or counter().budget(), for any instrument",
                returns: "instrument",
                description: "The same instrument with a limit for its estimated cost, as a share of the processor time of the program (default 0.05). The agent checks the cost once a second. If the cost exceeds the limit, the agent detaches the instrument and prints a message.",
            },
            Function {
                name: "each",
                usage: "counter().each()",
                returns: "instrument",
                description: "Gives each point a counter of its own. Otherwise most counts are derived from the counts of other points.",
            },
            Function {
                name: "named",
                usage: "counter().named(\"…\") or tally().named(\"…\")",
                returns: "instrument or table",
                description: "The same instrument or table under a name.",
            },
        ],
    },
    Group {
        name: "Handles",
        functions: &[
            Function {
                name: "table",
                usage: "handle.table() or handle.table(rows), or table.table() or table.table(rows)",
                returns: "string",
                description: "The heaviest rows (default 20) as text, 100 columns wide.",
            },
            Function {
                name: "rows",
                usage: "handle.rows() or table.rows()",
                returns: "array of maps",
                description: "The rows of a handle have `class`, `method`, `fragment`, `to`, `what` and `line`. Counters add `hits`; timers add `count`, `total_ns`, `min_ns` and `max_ns`; logs add `events` and `dropped`. The rows of a table have `keys` and `count` and, depending on its kind, `sum`, `avg`, `min`, `max`, `buckets`, `below`, `above`, `per_second`, `seconds`, `distinct` and `error`. The rows of a last() or sample() have `values`, `number`, `time_ns` and `thread_id` instead.",
            },
            Function {
                name: "hits",
                usage: "handle.hits()",
                returns: "int",
                description: "The sum over all points.",
            },
            Function {
                name: "events",
                usage: "handle.events(number)",
                returns: "array of maps",
                description: "The last events of a log, newest last: `class`, `method`, `fragment`, `line`, `thread_id`, `time_ns` and `values`.",
            },
            Function {
                name: "detach",
                usage: "handle.detach() or detach(\"i7\")",
                returns: "()",
                description: "Detaches the instrument. Error: an id that was never assigned.",
            },
            Function {
                name: "attached",
                usage: "handle.attached()",
                returns: "bool",
                description: "Whether the instrument is attached.",
            },
            Function {
                name: "id",
                usage: "handle.id()",
                returns: "string",
                description: "The id of the instrument, `i7`, or of the patch, `p3`.",
            },
        ],
    },
    Group {
        name: "Tables",
        functions: &[
            Function {
                name: "tally",
                usage: "tally() or tally(combinations of keys)",
                returns: "table",
                description: "Counts by up to four keys. The table has room for 1,000 combinations of keys, or for the given number (at most 100,000). Error: the memory for tables (256 MiB) is exhausted.",
            },
            Function {
                name: "sums",
                usage: "sums() or sums(combinations of keys)",
                returns: "table",
                description: "Also the sum, the minimum and the maximum of integers.",
            },
            Function {
                name: "histogram",
                usage: "histogram() or histogram(combinations of keys)",
                returns: "table",
                description: "Also a count for each of 249 buckets.",
            },
            Function {
                name: "linear",
                usage: "linear(from, step, buckets) or linear(from, step, buckets, combinations of keys)",
                returns: "table",
                description: "Also a count for each of the given buckets (1 to 1,000) of equal width, and two more buckets for the values below and above. Error: a width less than 1, or buckets that end beyond 2⁶³.",
            },
            Function {
                name: "rate",
                usage: "rate() or rate(combinations of keys)",
                returns: "table",
                description: "A count, and a count for each of the last 60 seconds.",
            },
            Function {
                name: "distinct",
                usage: "distinct() or distinct(combinations of keys and value)",
                returns: "table",
                description: "The number of different values, by up to three keys. The number is exact while the table has room for each value with its keys (default 10,000).",
            },
            Function {
                name: "top",
                usage: "top(number of keys)",
                returns: "table",
                description: "The most frequent keys out of an unbounded number, by the Space-Saving algorithm: `count` may be too high by at most `error`.",
            },
            Function {
                name: "sample",
                usage: "sample(number of combinations)",
                returns: "table",
                description: "A uniform random sample of all recorded values, with time and thread.",
            },
            Function {
                name: "last",
                usage: "last() or last(number of combinations)",
                returns: "table",
                description: "The newest values, with time and thread.",
            },
            Function {
                name: "per_thread",
                usage: "per_thread(0) for whole numbers, or per_thread(()) for objects",
                returns: "stack",
                description: "A stack for each thread, with room for 32 values.",
            },
            Function {
                name: "per_call",
                usage: "per_call()",
                returns: "stack",
                description: "Values of any type that a call keeps from its entry to its exits, at most 32 in each thread.",
            },
            Function {
                name: "count",
                usage: "table.count(key, …), with up to four keys, in code at a point",
                returns: "",
                description: "Adds 1 to the count of the keys. For tally(), sums(), histogram(), linear(), rate() and top().",
            },
            Function {
                name: "add",
                usage: "table.add(key, …, value), with up to four keys, in code at a point",
                returns: "",
                description: "Records a value for the keys. A floating-point value is rounded, and NaN is 0. In a distinct(), there are up to three keys and the value is of any type.",
            },
            Function {
                name: "put",
                usage: "last(…).put(value, …) or sample(…).put(value, …), with up to four values, in code at a point",
                returns: "",
                description: "Records a combination of values.",
            },
            Function {
                name: "per_object",
                usage: "per_object(0) or per_object(0, objects)",
                returns: "values of objects",
                description: "An integer for each object, initially 0, for 100,000 objects at a time or for the given number. The integer is dropped when the object is collected. Error: the memory for tables is exhausted.",
            },
            Function {
                name: "set",
                usage: "per_object(0).set(object, value), in code at a point",
                returns: "",
                description: "Sets the value of an object. Has no effect for `()`.",
            },
            Function {
                name: "get",
                usage: "per_object(0).get(object), in code at a point",
                returns: "int",
                description: "The value of an object; 0 if no value was set, and for `()`.",
            },
            Function {
                name: "push",
                usage: "per_thread(…).push(value), in code at a point",
                returns: "",
                description: "Pushes a value on the stack of the current thread.",
            },
            Function {
                name: "pop",
                usage: "per_thread(…).pop(), in code at a point",
                returns: "int or object",
                description: "Removes and returns the top value of the stack; 0 or `()` if the stack is empty.",
            },
            Function {
                name: "push",
                usage: "per_call().push(value), in code at the entry of a method",
                returns: "",
                description: "Keeps the value of an expression of the parameters.",
            },
            Function {
                name: "pop",
                usage: "per_call().pop(value), in code after a method",
                returns: "the kept value",
                description: "Removes and returns the value that was kept. The argument is the expression that was kept; it is not evaluated, and gives the type only. An object has no readable fields, because its class is not known.",
            },
            Function {
                name: "top",
                usage: "per_thread(…).top(), in code at a point",
                returns: "int or object",
                description: "The top value of the stack; 0 or `()` if the stack is empty.",
            },
            Function {
                name: "collapsed",
                usage: "tally(…).collapsed(), sums(…).collapsed() or histogram(…).collapsed()",
                returns: "string",
                description: "The entries that have a `stack()` among their keys, as collapsed stacks for flame graphs: weighted by count, or by sum. Error: a table of another kind.",
            },
            Function {
                name: "stacks",
                usage: "tally(…).stacks() or tally(…).stacks(number), for a tally(), sums() or histogram()",
                returns: "string",
                description: "The heaviest stacks (default 10), one line for each frame. Error: a table of another kind.",
            },
            Function {
                name: "bars",
                usage: "histogram(…).bars() or histogram(…).bars(combinations of keys), for a histogram() or linear()",
                returns: "string",
                description: "Histograms as bars. Error: a table of another kind.",
            },
            Function {
                name: "csv",
                usage: "table.csv()",
                returns: "string",
                description: "All rows as comma-separated values (RFC 4180).",
            },
            Function {
                name: "json",
                usage: "table.json()",
                returns: "string",
                description: "All rows as an array of JSON objects.",
            },
            Function {
                name: "rest",
                usage: "table.rest()",
                returns: "map",
                description: "The values that did not fit into the table, as a row without keys; for a sample(), the values that were not drawn.",
            },
            Function {
                name: "total",
                usage: "table.total()",
                returns: "int",
                description: "The number of recorded values, including those that did not fit into the table.",
            },
            Function {
                name: "diff",
                usage: "table.diff()",
                returns: "array of maps",
                description: "Rows of the values recorded since the last call of `diff`, without `min`, `max`, `per_second` and `seconds`.",
            },
            Function {
                name: "merge",
                usage: "merge([table, …])",
                returns: "array of maps",
                description: "The merged rows of several tables of one kind. Error: tables of different kinds, a top() or a sample().",
            },
            Function {
                name: "clear",
                usage: "table.clear()",
                returns: "()",
                description: "Removes all entries.",
            },
        ],
    },
    Group {
        name: "Time",
        functions: &[
            Function {
                name: "every",
                usage: "every(seconds, || …)",
                returns: "timer",
                description: "Runs the closure periodically; the period is given in seconds (0.01 at least). After three errors in a row, the closure is cancelled.",
            },
            Function {
                name: "when",
                usage: "when(|| condition, || …)",
                returns: "timer",
                description: "Checks the condition ten times a second. When the condition holds, runs the second closure, once.",
            },
            Function {
                name: "at_exit",
                usage: "at_exit(|| …)",
                returns: "timer",
                description: "Runs the closure when the JVM exits.",
            },
            Function {
                name: "cancel",
                usage: "every(…).cancel()",
                returns: "()",
                description: "Cancels the callback.",
            },
            Function {
                name: "now",
                usage: "now()",
                returns: "float",
                description: "Seconds since the plan began.",
            },
        ],
    },
    Group {
        name: "Components",
        functions: &[
            Function {
                name: "component",
                usage: "component(\"name\", \"version\")",
                returns: "()",
                description: "Declares the name and version of the plan as a component. The component replaces an existing component of the same name. Error: a second call, or a call that is not at the top level.",
            },
            Function {
                name: "analyse",
                usage: "analyse(|| …)",
                returns: "()",
                description: "Sets the analyser of the component. Its result is the component's report, on request and when the JVM exits. Error: a second call, or a call that is not at the top level.",
            },
            Function {
                name: "components",
                usage: "components()",
                returns: "array of maps",
                description: "The components in order of loading: `id`, `name`, `version`, `plan`, `since` (seconds), `parameters` (a map of strings), `instruments` (ids), `things` (the number of instruments and edits), `analyser` and `attached`.",
            },
            Function {
                name: "component_report",
                usage: "component_report(\"name\")",
                returns: "the result of the analyser",
                description: "The report of the newest component of this name. Error: there is no such component, it has no analyser, or the analyser fails.",
            },
            Function {
                name: "report",
                usage: "components()[n].report()",
                returns: "the result of the analyser",
                description: "The report of this component. Error: the component has no analyser, or the analyser fails.",
            },
            Function {
                name: "component_detach",
                usage: "component_detach(\"name\"), or components()[n].detach()",
                returns: "int",
                description: "Detaches everything that the component has attached and cancels its callbacks. Returns the number of instruments and edits. Error: there is no such component.",
            },
        ],
    },
    Group {
        name: "Edits",
        functions: &[
            Function {
                name: "redirect",
                usage: "methods(…).redirect(from, to, target)",
                returns: "patch",
                description: "The edge leads to the target fragment instead. Error: the variables, monitors or handlers at the target do not fit.",
            },
            Function {
                name: "skip",
                usage: "methods(…).skip(fragment)",
                returns: "patch",
                description: "The fragment is skipped. Error: the variables, monitors or handlers at its successor do not fit.",
            },
            Function {
                name: "replace",
                usage: "methods(…).replace(fragment, by)",
                returns: "patch",
                description: "The fragment runs the code of the other fragment. Error: the variables, monitors or handlers of the two do not fit.",
            },
            Function {
                name: "edit",
                usage: "methods(…).edit([redirect(from, to, target), skip(fragment), replace(fragment, by)])",
                returns: "patch",
                description: "Several edits, which take effect together or not at all.",
            },
        ],
    },
    Group {
        name: "Everything else",
        functions: &[
            Function {
                name: "param",
                usage: "param(\"name\", default) or param(\"name\")",
                returns: "int, float, bool or string",
                description: "The value given by `--set name=…`, otherwise the default. Error: the value does not have the type of the default, or there is neither a value nor a default.",
            },
            Function {
                name: "unsafe_calls",
                usage: "unsafe_calls(true)",
                returns: "()",
                description: "Allows code at points, from here on, to call public methods of the objects that it reads: `p.request.getRequestURI()`. Such calls may change the behaviour of the program. Initially off.",
            },
            Function {
                name: "refusals",
                usage: "refusals()",
                returns: "array of maps",
                description: "The classes and methods that were not instrumented: `class`, `method`, `reason` and `detail`.",
            },
            Function {
                name: "instruments",
                usage: "instruments()",
                returns: "array of maps",
                description: "All instruments: `id`, `name`, `kind`, `plan`, `methods`, `points` and `attached`.",
            },
            Function {
                name: "stale",
                usage: "stale()",
                returns: "int",
                description: "The number of activations that run older code.",
            },
            Function {
                name: "names",
                usage: "names(\"shop.De\")",
                returns: "array of strings",
                description: "At most 200 completions of the text: names of loaded classes, up to the next dot; after `::`, names of the class's methods.",
            },
            Function {
                name: "hash_of_method",
                usage: "hash_of_method(class, method), with the texts that rows have",
                returns: "int",
                description: "The number by which tables know a method: 63 bits of a hash of its class, name and descriptor.",
            },
            Function {
                name: "pid",
                usage: "pid()",
                returns: "int",
                description: "The process id of the JVM.",
            },
            Function {
                name: "detach_all",
                usage: "detach_all()",
                returns: "int",
                description: "Detaches the instruments and patches of all plans. Returns their number.",
            },
        ],
    },
];
