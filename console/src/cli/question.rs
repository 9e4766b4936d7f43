//! Arguments and help of the questions: `veneer count`, `time`, `watch` and `hist`.

use clap::{Args, Subcommand};

use super::values::{ValueError, seconds};

/// The part of the help texts that all questions have.
macro_rules! expressions {
    () => {
        "
An expression reads variables of the method that are live at the point, their fields (private fields
too), elements and lengths: `order.user.name`, `parts[0]`, `parts.len`, `this`. `items.len` is the
size of a collection or map of the JDK, and -1 if it is of another class. Enums and dates have a
text, boxes a number: `order.status == \"PAID\" && order.count > 3`. Reading from null yields null or
0. The operators are + - * / %, comparisons, && || and !. The functions are starts_with, ends_with,
contains, class_of, identity, thread_name, thread_id, one_in, and stack, which yields the callers.
The expression is compiled into the methods and removed when the command ends. Without --at,
`elapsed` is the duration of a call in milliseconds, `result` the value that it returns, and
`exception` the class of the exception that ends it, or null; with these, the other names have the
values of the entry. In a condition, `exception` is whether there is one; `exception.detailMessage`
is its message.

A pattern may also be written `com.shop` (all classes below), `com.shop.Desk.serve` or `Desk#serve`.

Exit codes: 0 success, 1 the JVM refused the question or no method matched, 2 the JVM could not be
reached."
    };
}

const COUNT: &str = concat!(
    "\
Examples:
  veneer count 4711 'shop.Desk::serve(..)'
  veneer count 4711 'shop.Desk::serve(..)' --by order.user.name --if 'order.total > 900'
  veneer count 4711 'shop..*' --at 'calls:java.util.ArrayList::add(..)' --by 'stack()' --for 10
  veneer count 4711 'shop.Desk::serve(..)' --at blocks --for 10
  veneer count 4711 4712 'shop.Desk::serve(..)' --merge --for 10
  veneer count 4711 'shop.Desk::serve(..)' --by 'order.getStatus().label()' --unsafe-calls
",
    expressions!()
);

const TIME: &str = concat!(
    "\
Examples:
  veneer time 4711 'shop..*Dao::*(..)' --for 10
  veneer time 4711 'shop.Desk::serve(..)' --by order.user.name --if 'elapsed > 100'
  veneer time 4711 'shop.Desk::serve(..)' --at monitor_enters --for 10
  veneer time 4711 4712 'shop.Desk::serve(..)' --merge --for 10
  veneer time --match 'shop.*' 'shop..*Dao::*(..)'

The time of a call contains the methods that it calls.
",
    expressions!()
);

const WATCH: &str = concat!(
    "\
Examples:
  veneer watch 4711 'shop.Desk::serve(..)' order.id order.total --if 'order.user == null'
  veneer watch 4711 'shop.Desk::serve(..)' order.id result elapsed --if 'elapsed > 100' -n 20
  veneer watch 4711 'shop.Cart::add(..)' this items.len --at exits
  veneer watch 4711 'shop.Desk::serve(..)' order.id --if 'one_in(100)' -n 5
  veneer watch --match 'shop.*' 'shop.Desk::serve(..)' order

Each call is a line with the values of the expressions. An object is shown as its class and its
first fields.
",
    expressions!()
);

const HIST: &str = concat!(
    "\
Examples:
  veneer hist 4711 'shop.Desk::serve(..)'
  veneer hist 4711 'shop.Desk::serve(..)' --by order.user.name --for 10
  veneer hist 4711 'shop.Desk::serve(..)' order.total --if 'order.user != null'
  veneer hist 4711 'shop.Cart::add(..)' items.len --by this.country --at exits
  veneer hist 4711 4712 'shop.Desk::serve(..)' --merge --for 10

Without an expression, the distribution is that of the durations of calls in microseconds.
",
    expressions!()
);

/// The names of the positional arguments. Clap adds the outer brackets.
const METHODS: &str = "PID>… <PATTERN";
const METHODS_AND_VALUES: &str = "PID>… <PATTERN> <EXPR";

/// The commands that attach one kind of instrument and print its measurements.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// Count how often methods of a running JVM are called, or points in them reached; optionally
    /// by values.
    #[command(
        after_help = COUNT,
        override_usage = "veneer count [OPTIONS] <PID>… <PATTERN>\n       \
                          veneer count [OPTIONS] --match <MAIN> <PATTERN>",
        mut_arg("words", |arg| arg.value_name(METHODS)),
        mut_arg("number", |arg| arg.hide(true)),
    )]
    Count(AskArguments),
    /// Time the calls of methods of a running JVM, callees included.
    #[command(
        after_help = TIME,
        override_usage = "veneer time [OPTIONS] <PID>… <PATTERN>\n       \
                          veneer time [OPTIONS] --match <MAIN> <PATTERN>",
        mut_arg("words", |arg| arg.value_name(METHODS)),
        mut_arg("number", |arg| arg.hide(true)),
    )]
    Time(AskArguments),
    /// Print values at each call of methods of a running JVM.
    #[command(
        after_help = WATCH,
        override_usage = "veneer watch [OPTIONS] <PID>… <PATTERN> <EXPR>…\n       \
                          veneer watch [OPTIONS] --match <MAIN> <PATTERN> <EXPR>…",
        mut_arg("words", |arg| arg.value_name(METHODS_AND_VALUES).help(
            "Process ids of JVMs; a pattern of methods: 'a.b.C::m(..)'; and one to four values"
        )),
        mut_arg("merge", |arg| arg.hide(true)),
        mut_arg("by", |arg| arg.hide(true)),
        mut_arg("rows", |arg| arg.hide(true)),
    )]
    Watch(AskArguments),
    /// Show the distribution of a value at calls of methods of a running JVM; without a value, of
    /// the calls' durations.
    #[command(
        after_help = HIST,
        override_usage = "veneer hist [OPTIONS] <PID>… <PATTERN> [EXPR]\n       \
                          veneer hist [OPTIONS] --match <MAIN> <PATTERN> [EXPR]",
        mut_arg("words", |arg| arg.value_name(METHODS_AND_VALUES).help(
            "Process ids of JVMs; a pattern of methods: 'a.b.C::m(..)'; and at most one value"
        )),
        mut_arg("number", |arg| arg.hide(true)),
    )]
    Hist(AskArguments),
}

impl Question {
    pub fn arguments(&self) -> &AskArguments {
        match self {
            Question::Count(arguments)
            | Question::Time(arguments)
            | Question::Watch(arguments)
            | Question::Hist(arguments) => arguments,
        }
    }

    /// Returns how many values the user must and may request at each call.
    pub fn value_count_range(&self) -> (usize, usize) {
        match self {
            Question::Count(_) | Question::Time(_) => (0, 0),
            Question::Watch(_) => (1, 4),
            Question::Hist(_) => (0, 1),
        }
    }

    /// The command's name, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Question::Count(_) => "count",
            Question::Time(_) => "time",
            Question::Watch(_) => "watch",
            Question::Hist(_) => "hist",
        }
    }
}

/// Arguments of `count`, `time`, `watch` and `hist`.
#[derive(Debug, Args)]
pub struct AskArguments {
    /// Process ids of JVMs, and a pattern of methods: 'a.b.C::m(..)'.
    #[arg(required = true)]
    pub words: Vec<String>,
    /// All JVMs whose main class (or jar) matches; `*` matches any text.
    #[arg(long = "match", value_name = "MAIN")]
    pub matching: Option<String>,
    /// If there are several JVMs: print one table for all instead of one for each.
    #[arg(long)]
    pub merge: bool,
    /// Group the results by the value of an expression; up to four times.
    #[arg(long, value_name = "EXPR")]
    pub by: Vec<String>,
    /// Measure only if this condition holds.
    #[arg(long = "if", value_name = "EXPR")]
    pub only: Option<String>,
    /// Allow expressions to call public methods of objects, as in `order.getUser()`. A called method
    /// may wait, write or be slow.
    #[arg(long)]
    pub unsafe_calls: bool,
    /// The points in the methods: entry, exits, loops, loop_exits, blocks, edges, line:N, f3,
    /// calls, calls:PATTERN, reads, reads:FIELD, writes, writes:FIELD, array_reads, array_writes,
    /// allocations, monitor_enters, monitor_exits, throws, handlers, branches or switches.
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub at: Option<PointArguments>,
    /// End after this many seconds [default: at Ctrl-C, or when the JVM ends].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Interval between two outputs [default: 1; into a file with --for: only at the end].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub every: Option<f64>,
    /// Maximum number of rows in a table [default: 20].
    #[arg(long, value_name = "N")]
    pub rows: Option<u32>,
    /// End after this many values.
    #[arg(short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub number: Option<u32>,
    /// Print the answer as JSON, one object a line.
    #[arg(long)]
    pub json: bool,
}

/// The plan function that selects points in methods, such as `.line(12)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointArguments(pub String);

impl PointArguments {
    /// The pattern of the methods whose calls are the points.
    pub fn callee(&self) -> Option<String> {
        let callee = self.0.strip_prefix(".calls(\"")?.strip_suffix("\")")?;
        Some(callee.to_owned())
    }
}

fn points(text: &str) -> Result<PointArguments, ValueError> {
    let (name, number) = text.split_once(':').unwrap_or((text, ""));
    let wanted = match name {
        "entry" | "exits" | "loops" | "loop_exits" | "blocks" | "edges" if number.is_empty() => "",
        "calls" | "reads" | "writes" | "array_reads" | "array_writes" | "allocations"
        | "monitor_enters" | "monitor_exits" | "throws" | "handlers" | "branches" | "switches"
            if number.is_empty() =>
        {
            ""
        }
        "calls" | "reads" | "writes" => {
            let text = number.replace(['"', '\\'], "");
            return Ok(PointArguments(format!(".{name}(\"{text}\")")));
        }
        "line" | "block" if number.parse::<u32>().is_ok() => number,
        fragment if fragment_digits(fragment).is_some() && number.is_empty() => {
            let number = fragment_digits(fragment).unwrap_or_default();
            return Ok(PointArguments(format!(".block({number})")));
        }
        _ => return Err(ValueError::NoPoints),
    };
    Ok(PointArguments(format!(".{name}({wanted})")))
}

/// The number in the name of a fragment: `3` of `f3`.
fn fragment_digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix('f')?;
    digits.parse::<u32>().is_ok().then_some(digits)
}
