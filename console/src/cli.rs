//! The grammar of the command line and the texts of `--help`.

mod calls;
mod control;
mod event_list;
mod export;
mod generated;
mod lifetimes;
mod mcp;
mod memory;
mod question;
mod search;
mod serve;
mod shell;
mod top;
mod trace;
mod tune;
mod values;

pub use calls::{
    CallsArguments, CallsCommand, CallsDiffArguments, CallsMergeArguments, CallsRecordArguments,
    CallsShowArguments, CallsView,
};
pub use control::{
    AttachArguments, DetachArguments, DoctorArguments, PatchesArguments, PsArguments,
    RelayArguments,
};
pub use event_list::RecordedEvents;
use event_list::parse_events;
pub use export::{ExportArguments, Format};
pub use generated::{CompletionsArguments, ManArguments};
pub use lifetimes::{
    LifetimesArguments, LifetimesClock, LifetimesCommand, LifetimesGroup, LifetimesRecordArguments,
    LifetimesShowArguments, LifetimesView, LifetimesWeight,
};
pub use mcp::McpArguments;
pub use memory::{
    CacheArgument, KeyOfAccess, MemoryArguments, MemoryCommand, MemoryRecordArguments,
    SampleArgument, ShowArguments, SimulateArguments, ViewArguments,
};
pub use question::{PointArguments, Question};
pub use search::{SearchArguments, SearchOptions};
pub use serve::ServeArguments;
pub use shell::ShellArguments;
pub use trace::{
    RowFormat, TraceArguments, TraceCommand, TraceDiffArguments, TraceExportArguments,
    TraceQueryArguments, TraceRecordArguments, TraceShowArguments,
};

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use veneer_protocol::Policy;

use crate::lifetimes::FollowedType;

pub use top::TopArguments;
pub use tune::{TransformationName, TuneArguments};
use values::{PIDS, ValueError, address, call_seconds, pid, resolve_host, seconds};

const EXIT_CODES: &str = "\
Exit codes:
  0  success (`run`: the exit code of COMMAND, whatever it is)
  1  `exec`: the program failed; `count`, `time`, `watch`, `hist`: no method matched;
     `check`: a class did not pass
  2  Veneer could not do what was asked; one line on standard error gives the reason";

const RUN: &str = "\
Examples:
  veneer run --plan hot.rhai -- java -jar app.jar
  veneer run --plan hot.rhai --report r.json --policy block -- java -cp classes Main
  veneer run --arm 'com.acme..*' --skip 'com.acme.generated..*' -- ./gradlew test
  veneer run --children --plan hot.rhai --report r.json -- mvn test
  veneer run --policy call --calls '*..Remote::*(..)' -- java Client
  veneer run --arm 'shop..*' --trace t -- java -jar app.jar
  veneer run --search r.json --threshold 2% -- java -jar app.jar
  veneer run --no-cache -- java -jar app.jar
  veneer run --arm 'shop..*' --call-graph shop.calls -- java -jar app.jar
  veneer run --arm 'shop..*' --call-graph shop.calls --contexts -- java -jar app.jar
  veneer run --complete --call-graph all.calls -- java -jar app.jar
  veneer run --arm 'shop..*' --memory shop.vmem -- java -jar app.jar

The output and the exit code of COMMAND are passed through unchanged. The output of plans is written
to standard error.

If COMMAND is `java`, the agent is its first argument. Otherwise the agent is loaded through
JAVA_TOOL_OPTIONS, and each JVM prints a line about this variable to standard error. With --children
the agent is always loaded through JAVA_TOOL_OPTIONS, because a JVM passes its environment on to the
JVMs that it starts. The plans run in each JVM, and each JVM writes its own report (r.json:
r.4711.json). JVMs that are older than 17 or of another make run without the agent.

Environment:
  VENEER_AGENT     the agent library (else the one beside the command, or in ../lib/veneer)
  VENEER_DATA_DIR  the same as --data
  XDG_CACHE_HOME   the folder `veneer` in it is the class cache, with the armed classes of earlier
                   starts (else ~/.cache/veneer)

Exit codes: that of COMMAND; 2 if Veneer could not start COMMAND.";

const EXEC: &str = "\
Examples:
  veneer exec 4711 hot.rhai --for 5
  veneer exec 4711 -e 'let c = methods(\"a.b.C::m(..)\").before(counter()); c'
  echo 'instruments()' | veneer exec 4711
  veneer exec 4711 --json hot.rhai | jq .
  veneer exec 4711 --hold hot.rhai
  veneer exec 4711 --dry-run hot.rhai        what it would attach, without the agent
  veneer exec 4711 tree.rhai --set 'methods=shop..*' --for 10
  veneer exec --connect 127.0.0.1:4712 --token-file t -e 'instruments()'
  veneer exec --connect shop7:4712 --token-file t --cert cert.pem -e 'instruments()'
                                             (with `veneer relay` on shop7)

The instruments and edits of a program stay attached after its top level has ended without an error.
If this command is killed before that, the agent detaches them. With --hold they stay attached only
while this command runs: until Ctrl-C, or until the JVM has received nothing from this command for
SECONDS. With --hold this command also prints the output of the program's callbacks, and Ctrl-C runs
those of `at_exit` first. A FILE that does not exist may be the name of a plan that ships with
Veneer: `veneer plans` lists them.

Exit codes: 0 success, 1 the program failed, 2 the JVM could not be reached.";

const PLANS: &str = "\
Examples:
  veneer plans
  veneer plans slow.rhai
  veneer exec 4711 --hold slow.rhai --set 'methods=shop.Desk::serve(..)' --set ms=20

Exit codes: 0 success, 2 no plan has this name.";

const LIST: &str = "\
Examples:
  veneer list 4711 'shop.Desk::serve(..)'
  veneer list 4711 'shop.Desk' --json | jq -r '.blocks[].variables[].name' | sort -u
  veneer list shop.jar 'shop.Desk::*(..)'
  veneer list jrt:/java.xml '@Deprecated *..*::*(..)'

Points are written as for `--at` of `veneer count`, `time`, `watch` and `hist`. The variables are
those at the beginning of the point. For class files, the points are those that the methods have
after loading under the policy `loop`; methods that cannot be armed are reported on standard error.
`veneer fragments PATH CLASS::METHOD` shows edges, exception handlers and live variables.

Exit codes: 0 success, 1 the JVM refused, 2 the JVM or a class file could not be reached, or nothing
there is selected.";

const REFUSALS: &str = "\
Examples:
  veneer refusals 4711
  veneer refusals 4711 --reason InlineLimit
  veneer refusals 4711 --json | jq -r '.[].reason' | sort | uniq -c

The first table counts the reasons. The second one has the first refusals in classes outside the JDK.

Exit codes: 0 success, 2 the JVM could not be reached.";

const REPORT: &str = "\
Examples:
  veneer run --data /var/tmp/d --plan hot.rhai -- java -jar app.jar
  veneer report /var/tmp/d
  veneer report /var/tmp/d --json | jq '.[0].report.instruments'

The counts are those that the JVM had stored when it was killed, or has stored by now. If several
JVMs share a data directory, it has a subdirectory for each, named by the process id; both kinds of
directory are accepted.

  veneer report 4711 --component 'slow orders'

calls the analyser of a component in a running JVM. The component may already be detached.

  veneer report --html shop.html shop.calls             recordings in one file, to send to somebody
  veneer report --html week.html monday tuesday         two traces, and their comparison
  veneer report --html found.html found.json            the result of `veneer search --json`

writes the views of `veneer serve` and the recordings into one HTML file. It opens in a browser
without a server and sends no request. It has the names of classes, methods and threads, but no path
of this machine.

Exit codes: 0 success, 1 the component does not exist or its analyser failed, 2 a file or directory
could not be read, the JVM could not be reached, or the report could not be written.";

const FRAGMENTS: &str = "\
Examples:
  veneer fragments build/classes                        a summary of every class
  veneer fragments app.jar 'com.acme.Parser::next'      the fragments of a method
  veneer fragments jrt:/java.base 'java.util.ArrayList::add' --policy loop --dot | dot -Tsvg
  veneer fragments Main.class 'Main::main' --json
  veneer fragments 4711 'com.acme.Parser::next(..)'     of a running JVM
  veneer fragments 4711 'com.acme.Parser::next(..)' --body version --dot --simple
  veneer fragments 4711 'com.acme.Parser::next(..)' --counts 10 --dot | dot -Tsvg > next.svg
  veneer fragments 4711 'com.acme.Parser' --dump out    its class files, armed ones and versions

How to read a fragment:
  f3  pc 36..39  line 67  c2    fragment 3: bytecode from index 36 to below 39; capture point 2
  use, def                      variables that it reads before it writes them; that it writes
  live-in, live-out             variables whose values are needed at its beginning; after it
  s0                            the lowest operand on the stack
  -> f4 branch, f5 fall         where control continues, and how
  !f7 IOException, !f8 any      handlers of exceptions inside it
  exit c5                       the capture point before a return

How the policy divides a method:
  block   at every basic block
  loop    at the entry and at loop headers
  call    as loop, and at the calls that `veneer run --calls` names
  method  not at all
Plans always number basic blocks, as `--policy block` does.

With --counts, blocks and edges have the number of their passes, and those with more passes have
thicker lines. Edges to exception handlers are not counted. Nothing stays attached.

Exit codes: 0 success, 1 the JVM refused, 2 the input could not be read or has no such method.";

const CHECK: &str = "\
Examples:
  veneer check app.jar                                  list refusals, and check all other methods
  veneer check app.jar --policy all --edits --json      under each policy, with edits, for a script
  veneer check build/classes lib/*.jar --jobs 2
  veneer check jrt:/java.xml jrt:/java.sql --jdk /usr/lib/jvm/temurin-25-jdk-amd64

This command starts no JVM and runs no code of the classes. Each class is parsed and written again;
the result must equal the input byte for byte. Then the class is armed, and versions with a counter
on every block are emitted, both for new and for running activations. A proof then shows that the
armed class and the versions behave as the original does. A refusal is not a failure: a refused
method runs unchanged.

`armed` is what `veneer run` arms without being asked; `named` is what `veneer run` arms if a plan
names the method. Without being asked, it arms no method that would then exceed HotSpot's limit for
inlining (refusal InlineLimit). `emitted` is the number of methods with a version.

Exit codes: 0 nothing but refusals, 1 something failed, 2 an input could not be read.";

/// Veneer: instruments, and edits of the control-flow graph, for single fragments of running Java
/// methods.
#[derive(Debug, Parser)]
#[command(name = "veneer", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start an application with the agent loaded.
    Run(Box<RunArguments>),
    /// List the JVMs on this machine, and what is attached in each.
    Ps(PsArguments),
    /// Load the agent into running JVMs, and run plans in it.
    Attach(AttachArguments),
    /// Detach instruments and edits, or everything; optionally unload the agent.
    Detach(DetachArguments),
    /// List what is attached in running JVMs, and by which plan.
    Patches(PatchesArguments),
    /// Let programs on other machines control a running JVM, over TLS and with a token.
    Relay(RelayArguments),
    /// Report what works on this machine, what does not, and how to fix it.
    Doctor(DoctorArguments),
    /// Run a Rhai program in the agent of a running JVM. The agent is loaded first if necessary.
    Exec(ExecArguments),
    /// List the plans that ship with Veneer, or print one.
    Plans(PlansArguments),
    /// Enter Rhai at a prompt, and run it in a running JVM.
    Shell(ShellArguments),
    /// Answer a question about a running JVM with one line.
    #[command(flatten)]
    Ask(Question),
    /// List the points of methods, in a running JVM or in class files, and the variables readable
    /// at each.
    List(ListArguments),
    /// Watch where the time of a running JVM goes, and inspect its methods.
    Top(TopArguments),
    /// Find the bottlenecks of a running JVM: where its threads spend their time, and why.
    Search(SearchArguments),
    /// Export the metrics of a running JVM to other programs: Prometheus, OpenTelemetry, flame
    /// graphs, Perfetto.
    Export(ExportArguments),
    /// Show running JVMs in the browser: flow graphs with live counts, bottlenecks, calls.
    Serve(ServeArguments),
    /// Answer an assistant over the Model Context Protocol, on standard input and output.
    Mcp(McpArguments),
    /// List the methods that the agent in a running JVM did not arm, with the reasons.
    Refusals(RefusalsArguments),
    /// Show the measurements in a data directory, even if its JVM was killed; or a component's
    /// analysis; or write recordings into one HTML file.
    Report(ReportArguments),
    /// Record call graphs, and show, compare and add their files.
    Calls(CallsArguments),
    /// Record how long objects of a type are used and how long they live.
    Lifetimes(LifetimesArguments),
    /// Show memory profiles, and simulate caches on address traces.
    Memory(MemoryArguments),
    /// Record event traces, and show, query, compare and export them.
    Trace(TraceArguments),
    /// Make methods of a running JVM faster, and prove it by experiments.
    Tune(TuneArguments),
    /// Show the fragments of methods in class files.
    Fragments(FragmentsArguments),
    /// List what would be refused in class files, and check that the code for everything else is
    /// correct.
    Check(CheckArguments),
    /// Print a completion script for a command-line shell.
    Completions(CompletionsArguments),
    /// Print the manual page, or write all manual pages into a directory.
    Man(ManArguments),
}

#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub struct RunArguments {
    /// A plan (Rhai) to run in the agent; may be given several times.
    #[arg(long = "plan", value_name = "F")]
    pub plans: Vec<PathBuf>,
    /// The value that `param("NAME", …)` returns in the plans; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,
    /// Methods to arm when their class is loaded [default: all of classes outside the JDK that have a
    /// loop]; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub arm: Vec<String>,
    /// Arm all methods outside the JDK when their class is loaded. Without this option, a class without
    /// loops is armed when a plan first names it: the program starts faster, and the first plan takes
    /// longer.
    #[arg(long, conflicts_with = "arm")]
    pub arm_all: bool,
    /// Methods not to arm; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub skip: Vec<String>,
    /// How methods are divided into fragments.
    #[arg(long, default_value_t = Policy::Loop, value_parser = policy())]
    pub policy: Policy,
    /// The calls at which the policy `call` begins a fragment; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub calls: Vec<String>,
    /// Write a report (JSON) to this file when the JVM ends.
    #[arg(long, value_name = "F.json")]
    pub report: Option<PathBuf>,
    /// Store counters and events in this directory, for `veneer report` [default: a temporary
    /// directory, kept if a JVM is killed].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Record the calls of the methods that --arm names [default: all methods] as an event trace in
    /// this directory, which must be empty or absent. With several JVMs, each one has a directory
    /// in it.
    #[arg(long, value_name = "DIR")]
    pub trace: Option<PathBuf>,
    /// Record the call graph of the methods that --arm names [default: all methods] in this file,
    /// for `veneer calls show`. Several JVMs have a file each (c.calls: c.4711.calls). The calls are
    /// counted in the code of the methods, and no class is armed meanwhile, unless another option
    /// needs it (--contexts, --plan, --listen, --trace, --search, --skip, --check, or a method in
    /// --arm).
    #[arg(long, value_name = "OUT")]
    pub call_graph: Option<PathBuf>,
    /// Also record the tree of calling contexts of each thread, with calls and wall times.
    #[arg(long, requires = "call_graph", conflicts_with = "trace")]
    pub contexts: bool,
    /// Read the clock at both ends of each call. Without this option, the times of contexts are those of
    /// a clock of 0.2 ms, which costs less.
    #[arg(long, requires = "contexts")]
    pub exact_times: bool,
    /// Show the calls of a task below the context that submitted it, also if another thread runs it:
    /// tasks of the thread pools of the JDK, CompletableFuture, and threads.
    #[arg(long, requires = "contexts")]
    pub tasks: bool,
    /// Record the calls of all classes, also of those that cannot be armed (java.lang, java.util …), or
    /// say why it is not possible. --call-graph alone does the same.
    #[arg(
        long,
        requires = "call_graph",
        conflicts_with_all = ["arm", "contexts", "trace", "search", "plans", "check"]
    )]
    pub complete: bool,
    /// Record the memory accesses of the methods that --arm names [default: all methods] in this file,
    /// for `veneer memory show`. Several JVMs have a file each (m.vmem: m.4711.vmem).
    #[arg(long, value_name = "OUT", conflicts_with_all = ["trace", "contexts", "complete"])]
    pub memory: Option<PathBuf>,
    /// The caches to simulate for --memory [default: machine]; may be given several times. With `none`,
    /// accesses are only counted.
    #[arg(long = "cache", value_name = "SPEC", value_parser = memory::cache, requires = "memory")]
    pub caches: Vec<CacheArgument>,
    /// Also find the lines that one thread writes and another one accesses, for --memory.
    #[arg(long, requires = "memory")]
    pub sharing: bool,
    /// Record only in short windows, 12 ms in each 120 ms, for --memory. Costs a fraction of the exact
    /// recording. Counts are then those of the windows.
    #[arg(long, requires = "memory", conflicts_with = "sharing")]
    pub sample: bool,
    /// Also find the instruction that allocated each accessed object, for --memory. `veneer memory show
    /// --by object` then sums by it. Costs several times as much.
    #[arg(long, requires = "memory", conflicts_with = "sample")]
    pub objects: bool,
    /// Also measure the misses of caches of all sizes, for --memory: a curve from a sample of the lines.
    #[arg(long, requires = "memory", conflicts_with = "sample")]
    pub curve: bool,
    /// For --memory, record allocations in place of accesses: those in the bytecode, and those that reach
    /// the heap, which the JVM samples once for each BYTES [default: 512K].
    #[arg(
        long,
        value_name = "BYTES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "512K",
        value_parser = memory::interval,
        requires = "memory",
        conflicts_with_all = ["caches", "sharing", "sample", "objects", "curve"]
    )]
    pub heap: Option<u64>,
    /// Record the lifetimes of the objects that --lifetimes-of names in this file, for `veneer lifetimes
    /// show`. Uses and allocations are those in the methods that --arm names [default: all methods that
    /// name the class]. Several JVMs have a file each (c.vmem: c.4711.vmem).
    #[arg(
        long,
        value_name = "OUT",
        requires = "lifetimes_of",
        conflicts_with = "complete"
    )]
    pub lifetimes: Option<PathBuf>,
    /// The class whose objects are followed, or a pattern of classes; `+` includes subclasses.
    #[arg(long, value_name = "TYPE", requires = "lifetimes")]
    pub lifetimes_of: Option<FollowedType>,
    /// Leave methods out of the trace by the rules in this file.
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub filter: Option<PathBuf>,
    /// Record these events of the JVM in the trace: a comma-separated list, or `all`.
    #[arg(long, value_name = "KINDS", value_parser = parse_events, default_value = "", hide_default_value = true, requires = "trace")]
    pub trace_events: RecordedEvents,
    /// Search the first JVM of COMMAND for bottlenecks until it ends, and write the result (JSON) to
    /// this file.
    #[arg(long, value_name = "OUT.json")]
    pub search: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Options of --search")]
    pub search_options: SearchOptions,
    /// Also accept control connections over TCP, at this loopback address (port 0: any free port).
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = address, requires = "token_file")]
    pub listen: Option<SocketAddr>,
    /// The file with the token that a TCP client must present; created if it does not exist.
    #[arg(long, value_name = "F", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// Also load the agent into the JVMs that COMMAND starts, and into JVMs started by these; each
    /// JVM writes its report to F.PID.json.
    #[arg(long)]
    pub children: bool,
    /// Do not start the application if a plan has an error.
    #[arg(long)]
    pub strict: bool,
    /// Prove that all emitted code does what the original does; code without a proof is refused
    /// (CheckFailed).
    #[arg(long)]
    pub check: bool,
    /// Arm each class anew: neither read nor write the class cache.
    #[arg(long)]
    pub no_cache: bool,
    /// The application and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = EXEC)]
pub struct ExecArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid(), required_unless_present = "connect", conflicts_with = "connect")]
    pub pid: Option<u32>,
    /// The Rhai program; if it is `-` or missing, standard input is read.
    #[arg(conflicts_with = "connect")]
    pub file: Option<PathBuf>,
    /// The program itself, instead of a file.
    #[arg(
        short = 'e',
        long = "eval",
        value_name = "CODE",
        conflicts_with = "file"
    )]
    pub code: Option<String>,
    /// The value that `param("NAME", …)` returns in the program; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,
    /// Print the agent's replies as they arrive, one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Keep running; the program's instruments and edits are detached when this command ends or is
    /// silent for SECONDS.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "10",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub hold: Option<u64>,
    /// Keep running for this many seconds, then end the program as Ctrl-C does under --hold.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Do not load the agent and attach nothing: check the program, and list what it would attach and
    /// how many loaded classes match.
    #[arg(long, conflicts_with_all = ["connect", "hold", "seconds", "check"])]
    pub dry_run: bool,
    /// If this command loads the agent: prove that all emitted code does what the original does
    /// (see `run --check`).
    #[arg(long, conflicts_with = "connect")]
    pub check: bool,
    /// The control port of the JVM or of a relay, instead of a process id; the program is read from
    /// -e or standard input.
    #[arg(long, value_name = "ADDRESS", value_parser = resolve_host, requires = "token_file")]
    pub connect: Option<SocketAddr>,
    /// The certificate that the relay at ADDRESS must present (PEM).
    #[arg(long, value_name = "F", requires = "connect")]
    pub cert: Option<PathBuf>,
    /// The file with the token for the control port.
    #[arg(long, value_name = "F", requires = "connect")]
    pub token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = PLANS)]
pub struct PlansArguments {
    /// The name of a plan, such as `hot.rhai`: print its text.
    pub name: Option<String>,
}

/// The name and the value of a plan parameter.
pub type Setting = (String, String);

fn setting(text: &str) -> Result<Setting, ValueError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err(ValueError::NoSetting),
    }
}

/// Returns the settings by name. If a name occurs twice, the later value is used.
pub fn settings(all: &[Setting]) -> BTreeMap<String, String> {
    all.iter().cloned().collect()
}

/// The source from which `veneer list` reads the methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSource {
    /// A running JVM, by its process id.
    Process(u32),
    Files(PathBuf),
}

/// Parses digits as a process id and all other text as a path.
fn list_source(text: &str) -> Result<ListSource, ValueError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(ListSource::Files(text.into()));
    }
    match text.parse() {
        Ok(pid) if PIDS.contains(&pid) => Ok(ListSource::Process(pid)),
        _ => Err(ValueError::PidOutOfRange {
            number: text.into(),
        }),
    }
}

#[derive(Debug, Args)]
#[command(after_help = LIST)]
pub struct ListArguments {
    /// The JVM's process id; or a class file, a jar, a directory, or a module of the JDK as
    /// jrt:/MODULE.
    #[arg(value_name = "PID|PATH", value_parser = list_source)]
    pub source: ListSource,
    /// A pattern of methods: 'a.b.C::m(..)'.
    pub pattern: String,
    /// Print JSON, one object for each method, one a line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = REFUSALS)]
pub struct RefusalsArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Only refusals for this reason; all of them are listed.
    #[arg(long, value_name = "NAME")]
    pub reason: Option<String>,
    /// List all refusals, those in classes of the JDK too.
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = REPORT)]
pub struct ReportArguments {
    /// The directory given to `veneer run --data`, or one that it printed; with --component, the
    /// JVM's process id; with --html, a recording or a folder with recordings.
    #[arg(value_name = "DIR|PID|FILE")]
    pub place: PathBuf,
    /// More recordings for --html.
    #[arg(value_name = "FILE", requires = "html")]
    pub more: Vec<PathBuf>,
    /// Write recordings into this HTML file: call graphs, search results and traces.
    #[arg(long, value_name = "OUT", conflicts_with_all = ["component", "rows", "json"])]
    pub html: Option<PathBuf>,
    /// Print the analysis of a component in a running JVM instead.
    #[arg(long, value_name = "NAME", conflicts_with = "rows")]
    pub component: Option<String>,
    /// Maximum number of rows in each table, and of events in each log.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Print JSON: an array with an object for each JVM; with --component, the analyser's result.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = FRAGMENTS)]
pub struct FragmentsArguments {
    /// A class file, a jar, a directory, or a module of the JDK as jrt:/MODULE; or the process id of
    /// a running JVM.
    #[arg(value_name = "PATH|PID", value_parser = list_source)]
    pub source: ListSource,
    /// A method, or a pattern as in plans (`a.I+::m(..)`); without it, a summary of every class.
    #[arg(value_name = "CLASS::METHOD")]
    pub method: Option<String>,
    /// How methods are divided into fragments.
    #[arg(long, default_value_t = Policy::Block, value_parser = policy())]
    pub policy: Policy,
    /// Print a graph for Graphviz.
    #[arg(long, conflicts_with = "json", requires = "method")]
    pub dot: bool,
    /// Name types without their packages in the graph.
    #[arg(long, requires = "dot")]
    pub simple: bool,
    /// The code of a running JVM to show: of the class file, with the checks at its capture points,
    /// or of the versions with instruments and edits [default: original].
    #[arg(long, value_name = "BODY", value_enum)]
    pub body: Option<BodyKind>,
    /// Count the passes of the blocks and edges in a running JVM for this many seconds, and show them
    /// with --dot or --json.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with_all = ["dump", "body"])]
    pub counts: Option<f64>,
    /// Write the class files of a running JVM into this directory: original, armed and version.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dot", "json", "body"])]
    pub dump: Option<PathBuf>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The code of a method in a running JVM.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum BodyKind {
    /// The code of the class file.
    #[default]
    Original,
    /// The code that the JVM runs without instruments: with a check at each capture point.
    Armed,
    /// The code of the versions, with instruments and edits.
    Version,
}

#[derive(Debug, Args)]
#[command(after_help = CHECK)]
pub struct CheckArguments {
    /// Class files, jars, directories, or modules of the JDK as jrt:/MODULE.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How methods are divided into fragments; several policies, or `all`: check under each policy.
    #[arg(long, default_value = "loop", value_delimiter = ',', value_parser = policies())]
    pub policy: Vec<Policies>,
    /// Also check versions with edits: skip each fragment and redirect each edge if the edit is
    /// valid there.
    #[arg(long)]
    pub edits: bool,
    /// The JDK that contains the modules [default: the one of JAVA_HOME, else of the PATH].
    #[arg(long, value_name = "HOME")]
    pub jdk: Option<PathBuf>,
    /// Number of threads [default: one for each processor].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print the answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// One policy or all policies: the value of one element of `--policy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policies(pub Vec<Policy>);

fn policies() -> impl TypedValueParser<Value = Policies> {
    let names = Policy::ALL.map(Policy::name).into_iter().chain(["all"]);
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        "all" => Ok(Policies(Policy::ALL.to_vec())),
        one => one.parse::<Policy>().map(|policy| Policies(vec![policy])),
    })
}

fn policy() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.map(Policy::name)).try_map(|name| name.parse::<Policy>())
}

#[cfg(test)]
pub(crate) mod examples;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    /// The help texts of a command and of all its subcommands, short and long.
    fn help_texts(command: &mut clap::Command) -> Vec<String> {
        let mut texts = vec![
            command.render_help().to_string(),
            command.render_long_help().to_string(),
        ];
        texts.extend(command.get_subcommands_mut().flat_map(help_texts));
        texts
    }

    #[test]
    fn help_fits_into_100_columns() {
        let mut command = Cli::command();
        command.build();
        let texts = help_texts(&mut command);
        assert!(texts.len() > 40, "{} texts", texts.len());
        for line in texts.iter().flat_map(|text| text.lines()) {
            assert!(veneer_text::display_width(line) <= 100, "{line}");
        }
    }

    #[test]
    fn all_examples_of_the_help_are_accepted() {
        let all = examples::all();
        assert!(all.len() > 40, "{}", all.len());
        for words in all {
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{words:?}: {error}");
            }
        }
    }

    #[test]
    fn the_application_keeps_its_own_options() {
        let words = "veneer run --plan a --plan b --policy block -- java --plan -x -- y";
        let Command::Run(run) = Cli::parse_from(words.split(' ')).command else {
            panic!("not run");
        };
        assert_eq!(run.plans, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(run.policy, Policy::Block);
        assert_eq!(run.command, ["java", "--plan", "-x", "--", "y"]);
    }

    #[test]
    fn invalid_arguments_are_refused_with_code_two() {
        for words in [
            "veneer run",
            "veneer run --policy blocks -- java",
            "veneer exec x",
            "veneer exec 0",
            "veneer exec 1 f -e c",
            "veneer exec --connect 127.0.0.1:9",
            "veneer exec 1 --connect 127.0.0.1:9 --token-file t",
            "veneer run --listen 0.0.0.0:9 --token-file t -- java",
            "veneer run --listen 127.0.0.1:9 -- java",
            "veneer fragments a.jar --dot",
            "veneer report 4711 --component c --rows 3",
            "veneer report a.calls b.calls",
            "veneer report a.calls --html x --json",
            "veneer detach 4711 --component",
            "veneer check",
            "veneer check a.jar --jobs 0",
            "veneer check a.jar --policy some",
        ] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{words}");
        }
    }
}
