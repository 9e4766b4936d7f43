//! Arguments and help of `veneer trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::event_list::{RecordedEvents, parse_events};
use super::values::{call_duration, pid, seconds, seconds_with_unit};

const TRACE: &str = "\
Examples:
  veneer trace 4711 'shop..*' -o t                       for 10 seconds
  veneer trace 4711 'shop..*' --for 60 --filter shop.jpmt -o t
  veneer trace 4711 'shop..*' --events contended,wait,gc -o t
  veneer trace 4711 'shop.Desk::serve(..)' --value order.id --value result -o t
  veneer trace 4711 'shop..*' --last 5s --trigger 'elapsed > 50 ms' --keep 2s -o t
  veneer trace show t
  veneer trace query t 'calls(\"shop..*Dao::*(..)\").longer(5 ms).by(\"method\")'
  veneer trace diff before after
  veneer trace export t --collapsed -o t.folded

With a process id, records the entry and the exit of each call of the selected methods, thread by
thread. The agent is loaded first if the JVM has none, and the classes are armed. Nothing stays
attached. Ctrl-C ends the recording and keeps the trace. What is written survives if the JVM is
killed.

A filter has lines `includemethod CLASS METHOD` and `excludemethod CLASS METHOD`, in which `*` is
any text. The first line that matches a method decides. It is read from configurations of JPMT.

With --events, the trace also has events of the JVM: contended, wait, thread_start, thread_end, gc,
class_load, class_unload, compile, allocate, free, park, unpark, sleep, notify, or all. A filter asks for them with `observe_gc`, and so on.

With --longer, a call that is shorter is left out, unless a recorded call or event is in it. With
--thread 'http-*', only these threads are recorded. The summary has the number of calls left out.

With --value, each call has the value of an expression: of variables and their fields at the entry, of
`result`, or of `exception`, the class of the exception that ends the call. Queries have them in the
column `values`.

With --last, older events are overwritten, so the recording can run for days. With --trigger, it ends
when a call has fulfilled the condition, which reads `elapsed` (the duration of the call) and the
parameters of the method. --trigger-on names the methods that are tested.

The other commands need no JVM. docs/traces.md describes the format of traces, and what is not
recorded.

Exit codes: 0 success (`diff`: the traces do the same), 1 the agent refused the recording, the trigger
did not fire, or `diff`: the traces differ, 2 a JVM could not be reached, a trace could not be read or written, or a
query is malformed.";

const SHOW: &str = "\
Examples:
  veneer trace show t                          browse the tree of each thread, repetitions folded
  veneer trace show t --thread worker-1 --depth 5
  veneer trace show t --longer 0.01            calls of more than 10 ms
  veneer trace show t | less
  veneer trace show t --json

On a terminal, the tree is expanded and collapsed by the arrow keys; `w` follows the longest calls, and
`q` ends. With --text, and if the output is no terminal, the whole tree is printed.

Calls in a row with the same tree below are one line, with the sum of their times. `× 40` is a
number of repetitions; `⟳ × 40` is a sequence of calls that repeats.

`corrected` is the time without the cost of observing, `unexplained` the part of that cost which is
not certain. Both are shown if the cost is at least 1 % of the time, and always with --json.

Exit codes: 0 success, 2 the trace could not be read.";

const QUERY: &str = "\
Examples:
  veneer trace query t 'calls(\"shop.Desk::serve(..)\").sort(\"-wall\").top(10)'
  veneer trace query t 'calls().by(\"method\").sort(\"-sum(self)\").top(20)'
  veneer trace query t 'calls(\"shop..*Dao\").under(\"shop.Desk::serve(..)\").by(\"method\")'
  veneer trace query t 'calls().when(wall > 5 ms && cpu < 1 ms).show(\"method\", \"start\", \"wall\")'
  veneer trace query t 'events(\"wait\", \"contended\").by(\"caller\")' --format csv
  veneer trace query t 'calls().by(\"method\").show(\"method\", \"sum(self)\", \"sum(corrected_self)\")'

A query begins with calls(PATTERN…) or events(KIND…). Steps are under, directly_under, without
(patterns), longer, shorter (a duration), thread (names or numbers), between (two times), when (a
condition), by (columns), show (columns, count, sum, avg, min, max, p50, p99 …), sort and top.

Columns: thread thread_name node parent depth kind class method descriptor caller site line start
end wall cpu self self_cpu corrected corrected_self unexplained allocated children below omitted
owner ended values.

Times are in nanoseconds in CSV and JSON. `corrected` and `corrected_self` are without the cost of
observing; `unexplained` is the part of that cost which is not certain.

Exit codes: 0 success, 2 the trace could not be read or the query is malformed.";

const DIFF: &str = "\
Examples:
  veneer trace diff before after
  veneer trace diff before after --rows 50
  veneer trace diff before after --tree                     the calls below each other
  veneer trace diff before after --flamegraph -o diff.html
  veneer trace diff before after --collapsed | difffolded.pl | flamegraph.pl > diff.svg

Prints the first point at which each pair of threads differs, and the methods whose total time
differs most. A method is marked with * if its calls last longer or shorter with a probability of
error below 5 %, adjusted for the number of methods (Welch's test on logarithms, Holm). At least 30
calls in each trace are necessary.

Exit codes: 0 the traces have the same calls, 1 they differ, 2 a trace could not be read.";

const EXPORT: &str = "\
Examples:
  veneer trace export t --perfetto -o t.pftrace
  veneer trace export t --firefox -o t.json
  veneer trace export t --flamegraph -o t.html
  veneer trace export t --parquet -o t.parquet
  veneer trace export t --otlp --service shop -o spans.json

Exit codes: 0 success, 2 the trace could not be read or the file not written.";

#[derive(Debug, Args)]
#[command(after_help = TRACE, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct TraceArguments {
    #[command(subcommand)]
    pub command: Option<TraceCommand>,
    #[command(flatten)]
    pub record: Option<TraceRecordArguments>,
}

/// A recording in a running JVM.
#[derive(Debug, Args)]
pub struct TraceRecordArguments {
    /// The process id of the JVM.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Patterns of the recorded methods [default: *..*].
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Record for this many seconds [default: 10; with --trigger, until the trigger fires].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Keep the last seconds only: older events are overwritten.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_with_unit)]
    pub last: Option<f64>,
    /// End the recording after a call that fulfils this condition.
    #[arg(long, value_name = "COND", requires = "last")]
    pub trigger: Option<String>,
    /// The methods whose calls are tested [default: all recorded methods].
    #[arg(long, value_name = "PATTERN", requires = "trigger")]
    pub trigger_on: Option<String>,
    /// After the trigger, record for this many seconds more.
    #[arg(long, value_name = "SECONDS", value_parser = seconds_with_unit, requires = "trigger")]
    pub keep: Option<f64>,
    /// Also record this value of each call: of the entry, `result`, or `exception`; may be given several
    /// times.
    #[arg(long = "value", value_name = "EXPR")]
    pub values: Vec<String>,
    /// Leave methods out by the rules in this file.
    #[arg(long, value_name = "FILE")]
    pub filter: Option<PathBuf>,
    /// Record only the threads whose names match; may be given several times.
    #[arg(long = "thread", value_name = "PATTERN")]
    pub threads: Vec<String>,
    /// Leave out calls that are shorter and have no recorded calls in them: 500us, 1ms.
    #[arg(long, value_name = "DURATION", value_parser = call_duration)]
    pub longer: Option<f64>,
    /// Also record these events of the JVM: a comma-separated list, or `all`.
    #[arg(long, value_name = "KINDS", value_parser = parse_events, default_value = "", hide_default_value = true)]
    pub events: RecordedEvents,
    /// Write the trace to this directory, which must be empty or absent.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub output: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Show the tree of each thread, with repetitions folded.
    Show(TraceShowArguments),
    /// Select, group and sort calls.
    Query(TraceQueryArguments),
    /// Compare two traces.
    Diff(TraceDiffArguments),
    /// Write a trace in the format of another program.
    Export(TraceExportArguments),
}

#[derive(Debug, Args)]
#[command(after_help = SHOW)]
pub struct TraceShowArguments {
    /// The trace directory.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Only this thread: its name or its number; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub thread: Vec<String>,
    /// Show this many levels of calls.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub depth: u32,
    /// Show calls of at least this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = super::call_seconds)]
    pub longer: Option<f64>,
    /// Print text on a terminal too, instead of a tree to expand and collapse.
    #[arg(long)]
    pub text: bool,
    /// Print one JSON object per thread; times are in nanoseconds.
    #[arg(long)]
    pub json: bool,
}

/// The form of a query's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// A text table; times have units.
    Table,
    /// Rows of comma-separated values.
    Csv,
    /// One JSON object per line.
    Json,
    /// An Apache Parquet file.
    Parquet,
}

#[derive(Debug, Args)]
#[command(after_help = QUERY)]
pub struct TraceQueryArguments {
    /// The trace directory.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The query: calls("pattern") and steps.
    #[arg(value_name = "EXPR")]
    pub expression: String,
    /// The form of the result.
    #[arg(long, value_enum, default_value = "table")]
    pub format: RowFormat,
    /// Write to this file [default: standard output].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = DIFF)]
pub struct TraceDiffArguments {
    /// The first trace directory.
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The second trace directory.
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Maximum number of methods, of threads or of contexts in the tables.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Print the trees of both traces beside each other instead, the largest differences first.
    #[arg(long, group = "form")]
    pub tree: bool,
    /// Write a differential flame graph instead: one HTML file, red for more time in B, blue for less.
    #[arg(long, group = "form")]
    pub flamegraph: bool,
    /// Print differential collapsed stacks instead: frames, and the own nanoseconds in A and in B.
    #[arg(long, group = "form")]
    pub collapsed: bool,
    /// Write to this file [default: standard output].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXPORT, override_usage = "veneer trace export [OPTIONS] --<FORMAT> <DIR>")]
pub struct TraceExportArguments {
    /// The trace directory.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    #[command(flatten)]
    pub format: TraceFormat,
    /// The service's name in OpenTelemetry.
    #[arg(long, value_name = "NAME", default_value = "unknown_service:java")]
    pub service: String,
    /// Write to this file [default: standard output].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The format of an exported trace. Exactly one is given.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct TraceFormat {
    /// A trace for Perfetto (ui.perfetto.dev): a track per thread, a slice per call.
    #[arg(long)]
    pub perfetto: bool,
    /// A profile for the Firefox Profiler (profiler.firefox.com): exact stacks over time, and events.
    #[arg(long)]
    pub firefox: bool,
    /// An Apache Parquet file with a row per call, and all columns of queries.
    #[arg(long)]
    pub parquet: bool,
    /// Collapsed stacks for flame graph tools: frames, a space, own nanoseconds.
    #[arg(long)]
    pub collapsed: bool,
    /// A flame graph: one HTML file that a browser shows without other files.
    #[arg(long)]
    pub flamegraph: bool,
    /// OpenTelemetry spans as JSON lines, the file format of collectors.
    #[arg(long)]
    pub otlp: bool,
}

impl TraceFormat {
    /// Whether the output is not text.
    pub fn is_binary(&self) -> bool {
        self.perfetto || self.parquet
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn wrong_arguments_are_refused() {
        for words in [
            "veneer trace",
            "veneer trace 4711",
            "veneer trace x -o t",
            "veneer trace 4711 a..* --for x -o t",
            "veneer trace 4711 a..* --last x -o t",
            "veneer trace 4711 a..* --trigger elapsed>5 -o t",
            "veneer trace 4711 a..* --last 5s --keep 2s -o t",
            "veneer trace show",
            "veneer trace show t --longer x",
            "veneer trace query t",
            "veneer trace query t e --format xml",
            "veneer trace diff a",
            "veneer trace export t",
            "veneer trace export t --perfetto --otlp",
        ] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{words}");
        }
    }
}
