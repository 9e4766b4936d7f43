//! Arguments and help of `veneer top`.

use clap::Args;

use super::values::{pid, seconds};

const TOP: &str = "\
Examples:
  veneer top 4711                                    where the time goes, outside the JDK
  veneer top 4711 'com.shop..*'                      these classes
  veneer top 4711 'com.shop..*' --once               one table, without the screen
  veneer top 4711 --for 10 --json | jq '.methods[0]' a JSON object every second

Keys (`?` shows them all):
  Enter  the fragments of the method, with counts on the edges and live variables      Esc  back
  c t w  attach a counter, timer or watch to the selected method or fragment; again: detach
  d D    detach        o r  sort by the next column, reverse the order
  /      filter        space  pause        s S  save        q  end

own and total are shares of the time of active threads in the last five seconds, from thread dumps
that take at most 2 % of it: own is the time in the method and in JDK code that it calls, total also
contains the other methods that it calls. calls/s is an average over five seconds too.

The cost at the top is an estimate: executions of instruments during the last refreshes, times the
cost of one execution of each kind (counter 1 ns, timer 35 ns, watch 10 ns: docs/benchmarks.md),
divided by the processor time of the process in the same time (/proc/PID/stat). It includes what
this command has attached.

Everything is attached on a lease: it is detached when the command ends, even if it is killed.

Exit codes: 0 success, or the JVM ended; 1 the JVM refused to count; 2 the JVM could not be reached,
or another client detached the counters.";

#[derive(Debug, Args)]
#[command(after_help = TOP)]
pub struct TopArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// A pattern of methods: 'a.b..*', 'a.b.C::m(..)' [default: all that are loaded outside the
    /// JDK; of more than 300 classes, those on sampled stacks].
    pub pattern: Option<String>,
    /// Count all methods outside the JDK, also those that no sampled stack contains. For a large
    /// program this takes seconds and slows it down meanwhile.
    #[arg(long, conflicts_with = "pattern")]
    pub all: bool,
    /// Interval between two refreshes.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub every: f64,
    /// Maximum number of methods to count.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=500_000))]
    pub limit: u32,
    /// Without the screen: print one table, or with --json one object, and end.
    #[arg(long)]
    pub once: bool,
    /// Without the screen: print JSON, an object for each refresh.
    #[arg(long)]
    pub json: bool,
    /// Without the screen: end after this many seconds [default: 2].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Without the screen: number of rows in the table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
}
