//! Arguments and help of `veneer lifetimes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use veneer_memory::profile::LifetimeGroup;

use super::values::{pid, seconds};
use crate::lifetimes::FollowedType;

const LIFETIMES: &str = "\
Examples:
  veneer lifetimes 4711 shop.Order                     for 10 seconds
  veneer lifetimes 4711 shop.Order+ --for 60 --clock time
  veneer lifetimes 4711 'shop.model..*' --by type -o model.vmem
  veneer lifetimes 4711 shop.Order --within 'shop.billing..*' --json | jq '.rows[0].drag'
  veneer lifetimes show model.vmem --histogram
  veneer run --lifetimes app.vmem --lifetimes-of shop.Order -- java -jar app.jar

Follows the objects of a class that are made during the recording: where they were allocated, how
long they were used, and how long they lived on after their last use (drag). `shop.Order+` follows
objects of subclasses too. Arrays are not followed.

A use is a call of a method of the object, or a read or write of a field, in an observed method. An
object is dead when a collection has found it dead; `jcmd PID GC.run` starts one. Lifetimes are
measured in bytes of followed objects, uses of followed objects, and time. At most 1,000,000 objects
are followed at a time; the others are counted.

Nothing stays attached. Ctrl-C ends the recording and keeps its result. docs/lifetimes.md describes
the numbers, their limits, and the JSON.

Exit codes: 0 success, 1 the agent refused the recording, 2 a JVM could not be reached, or a file
could not be read or written.";

const SHOW: &str = "\
Examples:
  veneer lifetimes show app.vmem
  veneer lifetimes show app.vmem --by type --clock bytes
  veneer lifetimes show app.vmem --histogram --clock time
  veneer lifetimes show app.vmem --collapsed drag | flamegraph.pl > drag.svg
  veneer lifetimes show app.vmem --json | jq '.rows[] | [.site, .drag.time.median]'

Exit codes: 0 success, 2 the file could not be read.";

#[derive(Debug, Args)]
#[command(after_help = LIFETIMES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LifetimesArguments {
    #[command(subcommand)]
    pub command: Option<LifetimesCommand>,
    #[command(flatten)]
    pub record: Option<LifetimesRecordArguments>,
}

/// A recording in a running JVM.
#[derive(Debug, Args)]
pub struct LifetimesRecordArguments {
    /// The process id of the JVM.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// The class whose objects are followed, or a pattern of classes; `+` includes subclasses.
    #[arg(value_name = "TYPE")]
    pub followed: FollowedType,
    /// Record for this many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub seconds: f64,
    /// Methods whose uses and allocations of objects are observed [default: all methods that name the
    /// class]; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub within: Vec<String>,
    // Arguments that are flattened here would be lost, because the recording itself is optional.
    /// The property by which objects are summed.
    #[arg(long, value_enum, default_value = "site")]
    pub by: LifetimesGroup,
    /// The clock of the shown lifetimes.
    #[arg(long, value_enum, default_value = "time")]
    pub clock: LifetimesClock,
    /// Maximum number of rows.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Show histograms of all objects instead of a table.
    #[arg(long)]
    pub histogram: bool,
    /// Print JSON, with all rows and histograms.
    #[arg(long, conflicts_with = "histogram")]
    pub json: bool,
    /// Write the lifetimes to this file, for `veneer lifetimes show` and `veneer memory show` [default:
    /// print a table].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl LifetimesRecordArguments {
    /// The way in which the result is shown.
    pub fn view(&self) -> LifetimesView {
        LifetimesView {
            by: self.by,
            clock: self.clock,
            rows: self.rows,
            histogram: self.histogram,
        }
    }
}

/// The commands that read files.
#[derive(Debug, Subcommand)]
pub enum LifetimesCommand {
    /// Show a file of lifetimes.
    Show(LifetimesShowArguments),
}

#[derive(Debug, Args)]
#[command(after_help = SHOW)]
pub struct LifetimesShowArguments {
    /// The memory profile.
    pub file: PathBuf,
    #[command(flatten)]
    pub view: LifetimesView,
    /// Print JSON, with all rows and histograms.
    #[arg(long, conflicts_with = "histogram")]
    pub json: bool,
    /// Print collapsed stacks of type, method and line, for flame graph tools. The weight is the number
    /// of objects, or the sum of a length on the clock, each one counted as the beginning of its bucket.
    #[arg(long, value_name = "WEIGHT", conflicts_with_all = ["json", "histogram"])]
    pub collapsed: Option<LifetimesWeight>,
}

/// A value of `--collapsed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LifetimesWeight {
    /// The number of objects.
    Objects,
    /// From birth to last use.
    Use,
    /// From last use to death.
    Drag,
    /// From birth to death.
    Life,
}

/// The way in which lifetimes are shown.
#[derive(Clone, Copy, Debug, Args)]
pub struct LifetimesView {
    /// The property by which objects are summed.
    #[arg(long, value_enum, default_value = "site")]
    pub by: LifetimesGroup,
    /// The clock of the shown lifetimes.
    #[arg(long, value_enum, default_value = "time")]
    pub clock: LifetimesClock,
    /// Maximum number of rows.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Show histograms of all objects instead of a table.
    #[arg(long)]
    pub histogram: bool,
}

/// A value of `--by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LifetimesGroup {
    /// The allocation site and the type.
    Site,
    /// The type alone.
    Type,
}

impl From<LifetimesGroup> for LifetimeGroup {
    fn from(group: LifetimesGroup) -> LifetimeGroup {
        match group {
            LifetimesGroup::Site => LifetimeGroup::Site,
            LifetimesGroup::Type => LifetimeGroup::Type,
        }
    }
}

/// A clock, in the order of [`veneer_memory::CLOCK_NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LifetimesClock {
    /// Bytes of followed objects that were allocated.
    Bytes,
    /// Uses of followed objects.
    Accesses,
    /// Time in nanoseconds.
    Time,
}
