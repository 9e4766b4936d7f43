//! Arguments and help of `veneer tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{pid, seconds};

const TUNE: &str = "\
Examples:
  veneer tune 4711                                  methods that threads are executing
  veneer tune 4711 'com.acme.parser..*'             these methods
  veneer tune 4711 --dry-run                        only list them
  veneer tune 4711 --only devirtualise              only this transformation
  veneer tune 4711 --for 300 --save tuned.rhai      and keep the result for the next start
  veneer run --plan tuned.rhai -- java -jar app.jar
  veneer tune 4711 --json | jq '.decisions[].gain'

Transformations, which change no result:
  huge          HotSpot compiles no method of more than 8,000 bytes. Veneer splits such a method into parts
                that it compiles, also in a call that is already running.
  devirtualise  HotSpot inlines no virtual call on three or more classes, unless one is much more frequent.
                Veneer tests the call for the frequent ones. The classes are counted for some seconds.
  specialise    A parameter that has one value in nine of ten calls becomes a constant behind a guard.
                The values are counted for some seconds.

Each method is tried by an experiment: it runs without the transformation, with it, with it, without, and so
on, until the difference is proven. The measure is how often the method, or one that it calls, is called.
The probability that a transformation without a gain is kept is at most 5 %. What is proven stays until
`veneer detach`; everything else is taken back. Ctrl-C ends the experiment that runs, takes it back,
and prints the decisions until then.

Exit codes: 0 success, also if nothing was kept; 2 the JVM could not be reached or has ended.";

/// A transformation that the command tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransformationName {
    /// Methods of more than 8,000 bytes are split.
    Huge,
    /// Virtual calls are tested for their most frequent receivers.
    Devirtualise,
    /// Parameters that hardly ever change become constants.
    Specialise,
}

impl TuneArguments {
    /// Whether the command tries a transformation.
    pub fn tries(&self, name: TransformationName) -> bool {
        self.only.is_empty() || self.only.contains(&name)
    }
}

#[derive(Debug, Args)]
#[command(after_help = TUNE)]
pub struct TuneArguments {
    /// The process id of the JVM.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Patterns of the methods to try [default: those that threads are executing].
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Try each method for at most this many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    pub seconds: f64,
    /// Try only these transformations [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub only: Vec<TransformationName>,
    /// List the methods, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Write a plan that makes the same changes at the next start.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub save: Option<PathBuf>,
    /// Print the decisions as JSON.
    #[arg(long)]
    pub json: bool,
}
