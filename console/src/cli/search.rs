//! Arguments and help of `veneer search`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use thiserror::Error;
use veneer_search::cause::{CAUSES, Cause};
use veneer_search::settings::Strategy;

use super::values::{pid, seconds};

const SEARCH: &str = "\
Examples:
  veneer search 4711                                10 seconds, everything above 5 % of the time
  veneer search 4711 --for 30 --threshold 2%        longer, and smaller places too
  veneer search 4711 --threads 'http-*'             only threads whose name matches
  veneer search 4711 --why monitor,lock             only these causes
  veneer search 4711 --graph g.svg                  the coloured call graph as a picture
  veneer search 4711 --json | jq '.findings[0]'
  veneer search 4711 --record s.search              also keep the observations
  veneer search --replay s.search --threshold 2%    decide again from them, without the JVM
  veneer search 4711 --memory                       also why memory accesses are slow
  veneer search 4711 --what-if                      then: what would the program gain?
  veneer search 4711 --then plan.rhai               then: a plan that sees the findings
  veneer run --search r.json -- java -jar app.jar   from the start of a program to its end

The command samples the stacks of all threads by thread dumps, at a rate that keeps the cost below
--cost. It loads no agent and attaches nothing, so Ctrl-C leaves nothing behind; it prints what is
known by then.

Threads that wait for work are idle, and their time does not count.

--memory loads the agent. For each of up to three methods, the program is several times slower for 3 s.

--what-if loads the agent, and makes an experiment of 24 s with each of the three largest findings. While
a thread is in the method, all others are delayed by half of that time, so the program is slower for as
long. It behaves as if only the method had become faster. Ctrl-C ends the experiments.

Causes: time; processor: allocation, exceptions, class-loading, interpreted; waiting: monitor, lock,
sleep, park, collections, input-output (file, socket); statement (JDBC). A general cause selects
those below it too.

--then loads the agent, and runs a plan with the array `findings`, the largest first. Each finding has
`pattern`, `class`, `method`, `line`, `why`, `share`, `low`, `high` and `threads`. For example, the plan
`for f in findings { if f.pattern != () { methods(f.pattern).around(timer()); } }` times their methods.

A replay has the threshold, causes and strategy of the record unless these options are given.

Exit codes: 0 success, Ctrl-C, or the JVM ended during the search; 1 the plan of --then failed; 2 the JVM
could not be reached, or a record could not be written or read.";

/// Why the value of an argument of `veneer search` is not accepted.
#[derive(Clone, Copy, Debug, Error)]
enum SearchValueError {
    #[error("a share such as 5%, more than 0% and less than 100%")]
    NoShare,
    #[error("write one or more of {}, separated by commas", cause_names())]
    NoCause,
}

/// The order in which methods are examined.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StrategyArgument {
    /// From the first methods of the threads downwards.
    TopDown,
    /// At the methods that stack samples show.
    DeepStart,
    /// Both at the same time.
    Hybrid,
}

impl From<StrategyArgument> for Strategy {
    fn from(argument: StrategyArgument) -> Strategy {
        match argument {
            StrategyArgument::TopDown => Strategy::TopDown,
            StrategyArgument::DeepStart => Strategy::DeepStart,
            StrategyArgument::Hybrid => Strategy::Hybrid,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = SEARCH)]
pub struct SearchArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid(), required_unless_present = "replay")]
    pub pid: Option<u32>,
    /// Length of the search [default: 10, and the whole record with --replay].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Search once more from a record, without a JVM.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["pid", "threads", "cost", "record", "memory", "what_if", "then"]
    )]
    pub replay: Option<PathBuf>,
    /// Record the memory accesses of the methods that take processor time, at most three of them, and name
    /// why they are slow: false sharing, pointer chasing, boxed keys, arrays of objects, long strides.
    #[arg(long)]
    pub memory: bool,
    /// Predict by experiments what the program would gain if the methods found took less time: the
    /// largest N of them [default: 3].
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "3"
    )]
    pub what_if: Option<usize>,
    /// Methods whose calls are the progress of the program [default: those of the finding].
    #[arg(long, value_name = "PATTERN", requires = "what_if")]
    pub progress: Option<String>,
    /// Then run this plan, which sees the findings in the variable `findings`.
    #[arg(long, value_name = "PLAN.rhai")]
    pub then: Option<PathBuf>,
    /// Length of the plan's run. Afterwards everything that it attached is taken back.
    #[arg(long, value_name = "SECONDS", requires = "then", default_value = "10", value_parser = seconds)]
    pub then_for: f64,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub options: SearchOptions,
}

/// The options of a search, for `veneer search` and `veneer run --search`.
#[derive(Clone, Debug, Args)]
pub struct SearchOptions {
    /// Share of the active time above which a place is a bottleneck [default: 5%].
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub threshold: Option<f64>,
    /// Causes to examine, separated by commas [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = cause)]
    pub why: Vec<Cause>,
    /// Only threads whose name or group matches; `*` matches any text.
    #[arg(long, value_name = "PATTERN")]
    pub threads: Option<String>,
    /// Maximum share of the time in which thread dumps may stop the program [default: 2%].
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub cost: Option<f64>,
    /// Write the coloured call graph to this file: a picture if the name ends with `.svg`; data, also
    /// while the search runs, if it ends with `.json`; else the DOT language of Graphviz.
    #[arg(long, value_name = "OUT.dot|OUT.svg|OUT.json")]
    pub graph: Option<PathBuf>,
    /// The order in which methods are examined [default: hybrid].
    #[arg(long, value_enum)]
    pub strategy: Option<StrategyArgument>,
    /// Write the observations to this file, for `veneer search --replay`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl SearchOptions {
    /// Returns whether any option is given.
    pub fn are_given(&self) -> bool {
        let SearchOptions {
            threshold,
            why,
            threads,
            cost,
            graph,
            strategy,
            record,
        } = self;
        !why.is_empty()
            || threshold.is_some()
            || threads.is_some()
            || cost.is_some()
            || graph.is_some()
            || strategy.is_some()
            || record.is_some()
    }
}

/// Parses `5%` or `5`. The result has six decimals at most, so that every reader of a record gets
/// the same number.
fn share(text: &str) -> Result<f64, SearchValueError> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let percent: f64 = number.parse().map_err(|_| SearchValueError::NoShare)?;
    let share = (percent * 1e4).round() / 1e6;
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err(SearchValueError::NoShare)
    }
}

fn cause(text: &str) -> Result<Cause, SearchValueError> {
    Cause::from_name(text).ok_or(SearchValueError::NoCause)
}

fn cause_names() -> String {
    CAUSES.map(Cause::name).join(", ")
}
