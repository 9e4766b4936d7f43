//! Arguments and help of `veneer memory`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use veneer_memory::heap::sampling_interval;
use veneer_memory::profile::Dimension;
use veneer_memory::{CacheDescription, DescriptionError, parse_description};

use super::values::{ValueError, pid, seconds};

const MEMORY: &str = "\
Examples:
  veneer memory 4711                                      all methods, for 10 seconds
  veneer memory 4711 'shop..*' --for 30 --by line
  veneer memory 4711 'shop..*' --cache L1:32K/8/64,L2:1M/16/64 --by type
  veneer memory 4711 'shop..*' --cache none --sharing      lines that threads share
  veneer memory 4711 'shop..*' --by object                 misses by allocation site of the objects
  veneer memory 4711 'shop..*' --curve                     misses of caches of all sizes
  veneer memory 4711 'shop..*' --heap                      allocations, and which reach the heap
  veneer memory 4711 'shop..*' -o shop.vmem
  veneer memory show shop.vmem --annotate shop.Desk --source src/main/java
  veneer memory simulate trace --cache L1:32K/8/64,L2:1M/16/64

With a process id, counts the reads and writes of fields and elements, and the allocations, of the
selected methods in a running JVM, and simulates the caches that they go through. Each thread has
caches of its own. The program is several times slower meanwhile, and its data stay as they are.
The agent is loaded first if the JVM has none. Nothing stays attached. Ctrl-C ends the recording
and keeps what it has counted.

The other commands need no JVM. docs/memory-profile.md describes the format of profiles, and what a
recording does not see.

Exit codes: 0 success, 1 the agent refused the recording, 2 a JVM could not be reached, a file could
not be read or written, or the cache cannot be simulated.";

const SHOW: &str = "\
Examples:
  veneer memory show app.vmem
  veneer memory show app.vmem --by type --rows 50
  veneer memory show app.vmem --annotate spec.db.Database --source src/main/java
  veneer memory show app.vmem --curve --csv
  veneer memory show app.vmem --by field --json | jq '.rows[0]'
  veneer memory show app.vmem --html app.html --source src/main/java

The rows with the most misses in the last level are first. A count from a sample is followed by ±
and its error. docs/memory-profile.md describes the file and the JSON.

Exit codes: 0 success, 2 the file could not be read.";

const SIMULATE: &str = "\
Examples:
  valgrind --tool=lackey --trace-mem=yes --log-file=trace ./program
  veneer memory simulate trace                                        the caches of this machine
  veneer memory simulate trace --cache L1:32K/8/64,L2:1M/16/64 --by instruction
  veneer memory simulate trace --cache dj --cache L1:32K/8/64,L2:1M/8/64,TLB:64/4/4K
  veneer memory simulate trace --cache L1:32K/8/64,L1I:32K/8/64,L2:8M/16/64,rules:cachegrind
  veneer memory simulate trace --sample 1/16@L2 --json
  veneer memory simulate trace --curve

A cache is LEVEL:SIZE/WAYS/LINE with the levels L1 to L4 and L1I, and optionally /wt (write-through;
default: write-back) and /na (no allocation at a write that misses). WAYS is a number or `full`. A
TLB is TLB:ENTRIES/WAYS/PAGE, its second level TLB2. Lines are replaced by LRU. rules:cachegrind
counts as Cachegrind does. `dj` is the description of the DJ paper, `machine` that of this machine
without TLB.

--sample simulates one of N sets, chosen by a hash, and states the error that holds in 99 of 100
samples.

Exit codes: 0 success, 2 the trace could not be read or the cache cannot be simulated.";

#[derive(Debug, Args)]
#[command(after_help = MEMORY, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MemoryArguments {
    #[command(subcommand)]
    pub command: Option<MemoryCommand>,
    #[command(flatten)]
    pub record: Option<MemoryRecordArguments>,
}

/// A recording in a running JVM.
#[derive(Debug, Args)]
pub struct MemoryRecordArguments {
    /// The process id of the JVM.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Patterns of the recorded methods [default: *..*].
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// The caches to simulate [default: machine]; may be given several times. With `none`, accesses are
    /// only counted. `veneer memory simulate --help` explains the text.
    #[arg(long = "cache", value_name = "SPEC", value_parser = cache)]
    pub caches: Vec<CacheArgument>,
    /// Also find the lines that one thread writes and another one accesses, and the two instructions.
    /// Costs about twice as much.
    #[arg(long)]
    pub sharing: bool,
    /// Record only in short windows, 12 ms in each 120 ms, and say how large the error of the misses is.
    /// Costs a fraction of the exact recording. Counts are then those of the windows.
    #[arg(long, conflicts_with = "sharing")]
    pub sample: bool,
    /// Also find the instruction that allocated each accessed object; --by object does the same.
    /// Costs several times as much.
    #[arg(long, conflicts_with = "sample")]
    pub objects: bool,
    /// Also measure the misses of caches of all sizes, for each length of lines of the caches: a curve
    /// from a sample of the lines, with its error.
    #[arg(long, conflicts_with = "sample")]
    pub curve: bool,
    /// Record allocations in place of accesses: those in the bytecode, and those that reach the heap,
    /// which the JVM samples once for each BYTES [default: 512K].
    #[arg(
        long,
        value_name = "BYTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "512K",
        value_parser = interval,
        conflicts_with_all = ["caches", "sharing", "sample", "objects", "curve"]
    )]
    pub heap: Option<u64>,
    /// Record for this many seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    pub seconds: f64,
    /// The property by which accesses are summed; `object` is the allocation site of the accessed
    /// object.
    #[arg(long, default_value = "method", value_parser = dimension())]
    pub by: Dimension,
    /// Maximum number of rows in each table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Print JSON, with all rows.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV, with all rows: one line for each level of each row.
    #[arg(long)]
    pub csv: bool,
    /// Write the profile to this file [default: show it].
    #[arg(short = 'o', long = "output", value_name = "FILE", conflicts_with_all = ["json", "csv"])]
    pub output: Option<PathBuf>,
}

impl MemoryRecordArguments {
    /// The rows that are shown, and their form. The options are not those of [`ViewArguments`] themselves,
    /// because clap does not see that a process is named if an optional group contains another group.
    pub fn view(&self) -> ViewArguments {
        ViewArguments {
            by: self.by,
            rows: self.rows,
            json: self.json,
            csv: self.csv,
            curve: false,
            threads: false,
        }
    }
}

/// The rows that are shown of a profile, and their form.
#[derive(Debug, Args)]
pub struct ViewArguments {
    /// The property by which accesses are summed; `object` is the allocation site of the accessed
    /// object.
    #[arg(long, default_value = "method", value_parser = dimension())]
    pub by: Dimension,
    /// Maximum number of rows in each table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Print JSON, with all rows.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV, with all rows: one line for each level of each row.
    #[arg(long)]
    pub csv: bool,
    /// Show only the miss-ratio curves.
    #[arg(long)]
    pub curve: bool,
    /// Show only the allocations of each thread.
    #[arg(long, conflicts_with = "curve")]
    pub threads: bool,
}

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Show a memory profile: misses by method, line, type, field, site or object.
    Show(Box<ShowArguments>),
    /// Simulate caches on an address trace of Valgrind's tool Lackey.
    Simulate(SimulateArguments),
}

#[derive(Debug, Args)]
#[command(after_help = SHOW)]
pub struct ShowArguments {
    /// The memory profile.
    pub file: PathBuf,
    #[command(flatten)]
    pub view: ViewArguments,
    /// Show the source lines of this class with their misses instead.
    #[arg(
        long,
        value_name = "CLASS",
        group = "sources",
        conflicts_with_all = ["by", "json", "csv", "curve", "threads"]
    )]
    pub annotate: Option<String>,
    /// Write all tables to this HTML file instead, with the sources below --source.
    #[arg(
        long,
        value_name = "OUT.html",
        group = "sources",
        conflicts_with_all = ["by", "rows", "json", "csv", "curve", "threads"]
    )]
    pub html: Option<PathBuf>,
    /// The source file of the class, or the folder of its packages.
    #[arg(long, value_name = "PATH", requires = "sources")]
    pub source: Option<PathBuf>,
}

/// The property of an access by which `simulate` sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyOfAccess {
    /// Read, write, or fetch of an instruction.
    Kind,
    /// The address of the instruction.
    Instruction,
    /// The address of the line, with the line length of the first L1.
    CacheLine,
    /// The address of the page of 4 KiB.
    Page,
}

/// The part of the sets that is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleArgument {
    /// One of this many sets.
    pub denominator: u32,
    /// Index of the first sampled level (0 is L1).
    pub first: usize,
}

#[derive(Debug, Args)]
#[command(after_help = SIMULATE)]
pub struct SimulateArguments {
    /// The trace; `-` is standard input.
    pub trace: PathBuf,
    /// The caches to simulate [default: machine]; may be given several times.
    #[arg(long = "cache", value_name = "SPEC", value_parser = cache)]
    pub caches: Vec<CacheArgument>,
    /// The property by which accesses are summed.
    #[arg(long, value_enum, default_value = "kind")]
    pub by: KeyOfAccess,
    /// Simulate a sample of the sets, from the level L1 or another one on.
    #[arg(long, value_name = "1/N[@LEVEL]", value_parser = sample)]
    pub sample: Option<SampleArgument>,
    /// Determines the sets (and lines) of the sample.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Also show the misses of fully associative caches of all sizes.
    #[arg(long)]
    pub curve: bool,
    /// Maximum number of rows in each table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Print JSON, with all rows.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print CSV, with all rows: one line for each level of each row.
    #[arg(long, conflicts_with = "curve")]
    pub csv: bool,
    /// Also write a memory profile, for `veneer memory show`.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A value of `--cache`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheArgument {
    /// The caches of this machine.
    Machine,
    /// No caches: accesses are only counted.
    Absent,
    Described(CacheDescription),
}

pub(super) fn cache(text: &str) -> Result<CacheArgument, DescriptionError> {
    match text {
        "machine" => Ok(CacheArgument::Machine),
        "none" => Ok(CacheArgument::Absent),
        text => parse_description(text).map(CacheArgument::Described),
    }
}

/// A value of `--heap`.
pub(super) fn interval(text: &str) -> Result<u64, ValueError> {
    sampling_interval(text).ok_or(ValueError::NoInterval)
}

fn sample(text: &str) -> Result<SampleArgument, ValueError> {
    let (rate, level) = text.split_once('@').unwrap_or((text, "L1"));
    let denominator = rate.strip_prefix("1/").and_then(|n| n.parse().ok());
    let level = level.strip_prefix('L').and_then(|n| n.parse().ok());
    match (denominator, level) {
        (Some(denominator @ 1..=65536), Some(level @ 1..=4usize)) => Ok(SampleArgument {
            denominator,
            first: level - 1,
        }),
        _ => Err(ValueError::NoSample),
    }
}

fn dimension() -> impl TypedValueParser<Value = Dimension> {
    let names = Dimension::ALL.map(|(name, _)| name);
    PossibleValuesParser::new(names).map(|name| {
        let found = Dimension::ALL.iter().find(|(known, _)| *known == name);
        found.map_or(Dimension::Method, |(_, dimension)| *dimension)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_names_its_rate_and_its_first_level() {
        let parsed = |text| sample(text).ok().map(|s| (s.denominator, s.first));
        assert_eq!(parsed("1/16"), Some((16, 0)));
        assert_eq!(parsed("1/8@L2"), Some((8, 1)));
        for nonsense in [
            "16", "2/3", "1/0", "1/65537", "1/8@L5", "1/8@2", "1/8@L0", "",
        ] {
            assert_eq!(parsed(nonsense), None, "{nonsense}");
        }
    }
}
