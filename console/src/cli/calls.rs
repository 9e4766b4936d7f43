//! Arguments and help of `veneer calls`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use veneer_calls::Measure;
use veneer_instruments::MethodPattern;

use super::values::{pid, seconds};

const CALLS: &str = "\
Examples:
  veneer calls 4711                                    all methods, for 10 seconds
  veneer calls 4711 'shop..*' --for 60 -o shop.calls
  veneer calls 4711 'shop..*' '!static shop.Main' --for 5
  veneer calls 4711 'shop..*' --contexts --for 10 -o shop.calls
  veneer calls 4711 'shop..*' --adaptive --for 600 -o shop.calls   contexts, at most 5 % slower
  veneer calls 4711 --complete -o all.calls            all classes, java.lang and java.util too
  veneer calls show shop.calls --view gprof --by time
  veneer calls diff before.calls after.calls

With a process id, counts the calls of the selected methods in a running JVM: entries, and each
call site with the methods that it called. With --contexts, also the calls and the wall time of each
chain of callers. The agent is loaded first if the JVM has none, and the
classes are armed. Nothing stays attached. Ctrl-C ends the recording and keeps what it has counted.

The other commands need no JVM. docs/calls.md describes the files, and what is not recorded.

Exit codes: 0 success, 1 the agent refused the recording, 2 a JVM could not be reached, or a file
could not be read or written.";

const SHOW: &str = "\
Examples:
  veneer calls show app.calls                                     the most called methods
  veneer calls show app.calls --view tree --from 'shop.Desk::serve(..)' --depth 5 --by time
  veneer calls show app.calls --callers 'java.util.ArrayList::grow(..)'
  veneer calls show app.calls --view gprof --by time --top 10
  veneer calls show app.calls --view never-called
  veneer calls show app.calls --from 'shop.Main::main(..)' --top 40 --dot | dot -Tsvg > calls.svg
  veneer calls show app.calls --pprof -o calls.pb && go tool pprof -top calls.pb
  veneer calls show app.calls --flamegraph --by time -o calls.html
  veneer calls show monday.calls tuesday.calls --json | jq '.edges | length'

Several files are shown as if they were one (see `veneer calls merge`). Patterns are written as in
plans, but without `+`, flags and annotations, because the file has only names.

With --from and --to, the other formats have the methods and calls on the paths between them.
Entries and residues remain those of the whole program. The residue of a method is the number of
its entries that no recorded call explains: calls by native code, by the JVM, and by classes that
were not recorded.

A file whose recording process was killed is shown as far as it was written; a line on standard
error says so.

Exit codes: 0 success, 2 a file could not be read, or nothing in it matches.";

const DIFF: &str = "\
Examples:
  veneer calls diff before.calls after.calls
  veneer calls diff before.calls after.calls --by time --top 50
  veneer calls diff before.calls after.calls --json | jq '.edges[] | select(.before == 0)'

Methods are compared by loader, class, name and descriptor; calls also by bytecode index. The
overlap is the common part of the calls: the sum over all edges of the smaller one of their shares
in both files.

Exit codes: 0 success, 2 a file could not be read.";

const MERGE: &str = "\
Examples:
  veneer calls merge monday.calls tuesday.calls -o week.calls
  veneer calls merge shop-*.calls --threads -o shop.calls

Counts, times and allocations of the same methods, calls and contexts are added.

Exit codes: 0 success, 2 a file could not be read or written.";

#[derive(Debug, Args)]
#[command(after_help = CALLS, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct CallsArguments {
    #[command(subcommand)]
    pub command: Option<CallsCommand>,
    #[command(flatten)]
    pub record: Option<CallsRecordArguments>,
}

/// A recording in a running JVM.
#[derive(Debug, Args)]
pub struct CallsRecordArguments {
    /// The process id of the JVM.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Patterns of the recorded methods [default: *..*].
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Record for this many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub seconds: f64,
    /// Also record the tree of calling contexts of each thread, with calls and wall times.
    #[arg(long)]
    pub contexts: bool,
    /// Read the clock at both ends of each call. Without this option, the times of contexts are those of
    /// a clock of 0.2 ms, which costs less.
    #[arg(long, requires = "contexts")]
    pub exact_times: bool,
    /// Show the calls of a task below the context that submitted it, also if another thread runs it:
    /// tasks of the thread pools of the JDK, CompletableFuture, and threads.
    #[arg(long, requires = "contexts")]
    pub tasks: bool,
    /// Record contexts in bursts of 1 to 4 seconds (of up to 10 in a program of many methods), and attach
    /// nothing in between. The first burst is followed by a pause of 19 times its length, so that the
    /// program is at most 5 % slower; the pauses grow when the shares of the calls have settled. The
    /// profile states its error. For minutes.
    #[arg(long, conflicts_with = "complete")]
    pub adaptive: bool,
    /// Record the calls of all classes, also of those that cannot be armed (java.lang, java.util …).
    /// No class may be armed, and nothing else can be attached meanwhile.
    #[arg(long, conflicts_with_all = ["contexts", "patterns"])]
    pub complete: bool,
    /// Write the recording to this file [default: show the most called methods].
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// The commands that read files of call graphs.
#[derive(Debug, Subcommand)]
pub enum CallsCommand {
    /// Show a file of a call graph, or convert it for another program.
    Show(Box<CallsShowArguments>),
    /// Compare two files of call graphs.
    Diff(CallsDiffArguments),
    /// Add several files of call graphs.
    Merge(CallsMergeArguments),
}

/// A measure, as the user writes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The number of calls.
    #[default]
    Count,
    /// The wall time of calls.
    Time,
    /// The processor time of calls.
    Cpu,
    /// The number of allocated objects.
    Allocations,
}

impl From<By> for Measure {
    fn from(by: By) -> Measure {
        match by {
            By::Count => Measure::Count,
            By::Time => Measure::Time,
            By::Cpu => Measure::Cpu,
            By::Allocations => Measure::Allocations,
        }
    }
}

/// A text that `veneer calls show` prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CallsView {
    /// The methods with the greatest costs.
    #[default]
    Methods,
    /// Each method with its callers above and its callees below it.
    Gprof,
    /// The calls as a tree; needs recorded contexts.
    Tree,
    /// The costs of each package.
    Packages,
    /// The methods that were never called.
    NeverCalled,
    /// The allocation sites.
    Allocations,
    /// The classes whose calls are missing, with the reasons.
    Unseen,
}

#[derive(Debug, Args)]
#[command(after_help = SHOW)]
pub struct CallsShowArguments {
    /// Files of call graphs.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only what these methods call, directly and indirectly.
    #[arg(long, value_name = "PATTERN", value_parser = MethodPattern::parse)]
    pub from: Option<MethodPattern>,
    /// Only what calls these methods, directly and indirectly.
    #[arg(long, value_name = "PATTERN", value_parser = MethodPattern::parse)]
    pub to: Option<MethodPattern>,
    /// The callers of these methods, upwards as a tree; other formats as with --to.
    #[arg(long, value_name = "PATTERN", value_parser = MethodPattern::parse, conflicts_with_all = ["to", "view"])]
    pub callers: Option<MethodPattern>,
    /// The most calls between a selected method and the methods of --from, --to or --callers; of the
    /// tree: its depth.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// The number of rows, or of methods and contexts in other formats [default: 20 rows;
    /// everything in other formats].
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The measure that orders rows and weighs stacks.
    #[arg(long, value_enum, default_value_t)]
    pub by: By,
    /// The text to print.
    #[arg(long, value_enum, default_value_t)]
    pub view: CallsView,
    /// Fold recursion: add each context to the context of the same method above it.
    #[arg(long)]
    pub fold: bool,
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write to this file [default: standard output].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The formats for other programs.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct FormatArguments {
    /// Print JSON, as docs/calls.md describes it.
    #[arg(long, conflicts_with = "view")]
    pub json: bool,
    /// Print a row for each method, call, allocation site and context.
    #[arg(long, conflicts_with = "view")]
    pub csv: bool,
    /// Print a graph for Graphviz.
    #[arg(long, conflicts_with = "view")]
    pub dot: bool,
    /// Write a profile for `go tool pprof`.
    #[arg(long, conflicts_with = "view")]
    pub pprof: bool,
    /// Print stacks for flame graph tools: frames, a space, a number.
    #[arg(long, conflicts_with = "view")]
    pub collapsed: bool,
    /// Print a flame graph: one HTML file that a browser shows without other files.
    #[arg(long, conflicts_with = "view")]
    pub flamegraph: bool,
    /// Print a profile for the Firefox Profiler.
    #[arg(long, conflicts_with = "view")]
    pub firefox: bool,
}

impl FormatArguments {
    /// Whether a format for another program was asked for.
    pub fn is_given(&self) -> bool {
        let is_stacks = self.collapsed || self.flamegraph || self.firefox;
        self.json || self.csv || self.dot || self.pprof || is_stacks
    }
}

#[derive(Debug, Args)]
#[command(after_help = DIFF)]
pub struct CallsDiffArguments {
    /// The file before the change.
    #[arg(value_name = "A")]
    pub before: PathBuf,
    /// The file after the change.
    #[arg(value_name = "B")]
    pub after: PathBuf,
    /// The number of methods and of calls that are shown.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// The measure that orders methods.
    #[arg(long, value_enum, default_value_t)]
    pub by: By,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = MERGE)]
pub struct CallsMergeArguments {
    /// The files to add.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Also make one tree of the contexts of all threads.
    #[arg(long)]
    pub threads: bool,
    /// The file to write; it may be one of the files to add.
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub output: PathBuf,
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn contradictory_options_are_refused() {
        for words in [
            "veneer calls",
            "veneer calls show",
            "veneer calls show f --json --csv",
            "veneer calls show f --json --view tree",
            "veneer calls show f --to a.B --callers a.B",
            "veneer calls show f --from a..",
            "veneer calls show f --by speed",
            "veneer calls diff a",
            "veneer calls merge a b",
            "veneer calls shop.Main",
            "veneer calls 0",
            "veneer calls 4711 --for 0",
        ] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{words}");
        }
        for words in [
            "veneer calls show a b --from a.B::m(..) --depth 3 --top 5 --by cpu --pprof -o o",
            "veneer calls show a --callers a.B --json",
            "veneer calls show a --view never-called --fold",
            "veneer calls merge a -o a",
            "veneer calls 4711",
            "veneer calls 4711 a..* b..* --for 0.5 -o f",
        ] {
            assert!(Cli::try_parse_from(words.split(' ')).is_ok(), "{words}");
        }
    }
}
