//! The command line's grammar and its help.

mod control;
mod export;
mod generated;
mod shell;

pub use control::{
    AttachArguments, DetachArguments, DoctorArguments, PatchesArguments, PsArguments,
    RelayArguments,
};
mod top;
pub use export::{ExportArguments, Format};
pub use generated::{CompletionsArguments, ManArguments};
pub use shell::ShellArguments;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use veneer_protocol::{AddressError, Policy, loopback_address};

pub use top::TopArguments;

const EXIT_CODES: &str = "\
Exit codes:
  0  done (`run`: the exit code of COMMAND, whatever it is)
  1  `exec`: the program failed; `check`: a class did not pass
  2  Veneer could not do what was asked; one line on standard error says why";

const RUN: &str = "\
Examples:
  veneer run --plan hot.rhai -- java -jar app.jar
  veneer run --plan hot.rhai --report r.json --policy block -- java -cp classes Main
  veneer run --arm 'com.acme..*' --skip 'com.acme.generated..*' -- ./gradlew test
  veneer run --children --plan hot.rhai --report r.json -- mvn test
  veneer run --policy call --calls '*..Remote::*(..)' -- java Client

COMMAND's output and exit code pass through untouched; what plans print goes to standard error.
If COMMAND is `java` the agent comes in as its first argument, otherwise through JAVA_TOOL_OPTIONS, of which each JVM says on
standard error that it has picked it up. With --children it comes in that way in any case, since every JVM hands it on: the plans
run in each, and each writes a report of its own (r.json: r.4711.json). JVMs older than 17 and of other makes run on without it.

Environment:
  VENEER_AGENT     the agent library (else libveneer_agent.so beside the command or in ../lib/veneer)
  VENEER_DATA_DIR  the same as --data

Exit codes: that of COMMAND; 2 where Veneer could not start it.";

const EXEC: &str = "\
Examples:
  veneer exec 4711 hot.rhai
  veneer exec 4711 -e 'let c = methods(\"a.b.C::m(..)\").before(counter()); c'
  echo 'instruments()' | veneer exec 4711
  veneer exec 4711 --json hot.rhai | jq .
  veneer exec 4711 --hold hot.rhai
  veneer exec --connect 127.0.0.1:4712 --token-file t -e 'instruments()'
  veneer exec --connect shop7:4712 --token-file t --cert cert.pem -e 'instruments()'      (there: veneer relay)

What a program attaches stays when its top level has ended well; if this command is killed before that, it is taken off. With
--hold it stays only as long as this command runs: until Ctrl-C, or until the JVM has not heard from it for SECONDS. What
the program's callbacks print comes here then.

Exit codes: 0 done, 1 the program failed, 2 the JVM could not be reached.";

const ASK: &str = "\
Examples:
  veneer count 4711 'shop.Desk::serve(..)'
  veneer count 4711 'shop.Desk::serve(..)' --by order.user.name --if 'order.total > 900'
  veneer time  4711 'shop..*Dao::*(..)' --for 10
  veneer watch 4711 'shop.Desk::serve(..)' order.id order.total thread_name() --if 'order.user == null'
  veneer count 4711 'java.util.ArrayList::grow(..)' --by 'stack()' --for 10
  veneer hist  4711 'shop.Cart::add(..)' items.len --by this.country --at exits
  veneer count 4711 4712 'shop.Desk::serve(..)' --merge --for 10
  veneer time  --match 'shop.*' 'shop..*Dao::*(..)'

An expression reads variables of the method that are live at the point, their fields (private ones too), elements and lengths: `order.user.name`,
`parts[0]`, `parts.len`, `this`; of null everything is null or 0. There are + - * / %, comparisons, && || !, and functions: starts_with, ends_with,
contains, class_of, identity, thread_name, thread_id, one_in, and stack, the callers. It is compiled into the methods, and taken out when the command ends.

Exit codes: 0 done, 1 the JVM refused the question, 2 the JVM could not be reached.";

const LIST: &str = "\
Examples:
  veneer list 4711 'shop.Desk::serve(..)'
  veneer list 4711 'shop.Desk' --json | jq -r '.blocks[].variables[].name' | sort -u
  veneer list shop.jar 'shop.Desk::*(..)'
  veneer list jrt:/java.xml '@Deprecated *..*::*(..)'

A point is written as in `--at` of `veneer count` and the like; the variables are those of its beginning. Of class files the points are
those that the methods have once they are loaded, under the policy `loop`; what cannot be armed is said on standard error. Edges, handlers
and what is live: `veneer fragments PATH CLASS::METHOD`.

Exit codes: 0 done, 1 the JVM refused, 2 the JVM or a class file could not be reached, or nothing there is selected.";

const REFUSALS: &str = "\
Examples:
  veneer refusals 4711
  veneer refusals 4711 --json | jq -r '.[].reason' | sort | uniq -c

Exit codes: 0 done, 2 the JVM could not be reached.";

const REPORT: &str = "\
Examples:
  veneer run --data /var/tmp/d --plan hot.rhai -- java -jar app.jar
  veneer report /var/tmp/d
  veneer report /var/tmp/d --json | jq '.[0].report.instruments'

The figures are those that the JVM had stored when it was killed, or has now. A directory that several JVMs share has a
directory for each, named by its process id; either may be given.

  veneer report 4711 --component 'slow orders'

asks the analyser of a component in a running JVM, also of one that was taken off.

Exit codes: 0 done, 1 there is no such component, or its analyser failed, 2 the directory could not be read or the JVM not be reached.";

const FRAGMENTS: &str = "\
Examples:
  veneer fragments build/classes                        a summary of every class
  veneer fragments app.jar 'com.acme.Parser::next'      the fragments of a method
  veneer fragments jrt:/java.base 'java.util.ArrayList::add' --policy loop --dot | dot -Tsvg
  veneer fragments Main.class 'Main::main' --json

Exit codes: 0 done, 2 the input could not be read or has no such method.";

const CHECK: &str = "\
Examples:
  veneer check app.jar                                  what would be refused in my jar, and is all else right?
  veneer check app.jar --policy all --edits --json      under each policy, with edits, for a script
  veneer check build/classes lib/*.jar --jobs 2
  veneer check jrt:/java.xml jrt:/java.sql --jdk /usr/lib/jvm/temurin-25-jdk-amd64

Nothing is started and nothing of the classes runs. Each class is read and written (it must come out byte for byte as it
was), armed, and emitted with a counter on every block, both for new activations and for running ones; then it is proved
that the armed class and the versions do what the original does. A refusal is no failure: such a method runs as if Veneer
were not there.

`armed` is what `veneer run` arms by itself, `named` what it arms where a plan names the method: by itself it carries no
method over HotSpot's limit for inlining (refusal InlineLimit). `emitted` counts methods with a version.

Exit codes: 0 nothing but refusals, 1 something failed, 2 an input could not be read.";

/// Veneer: instruments, and edits of the control-flow graph, for single fragments of running Java methods.
#[derive(Debug, Parser)]
#[command(name = "veneer", version, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start an application under the agent.
    Run(RunArguments),
    /// Show the JVMs of this machine, and what is attached in them.
    Ps(PsArguments),
    /// Load the agent into running JVMs, and plans into it.
    Attach(AttachArguments),
    /// Take instruments and edits off, or everything and the agent too.
    Detach(DetachArguments),
    /// Show what is attached in running JVMs, and whose it is.
    Patches(PatchesArguments),
    /// Let programs on other machines control a running JVM, over TLS and with a token.
    Relay(RelayArguments),
    /// Say what would work here and what would not, and what to do about it.
    Doctor(DoctorArguments),
    /// Run a Rhai program in the agent of a running JVM; the agent is loaded first where it is not there.
    Exec(ExecArguments),
    /// Type Rhai at a prompt in a running JVM.
    Shell(ShellArguments),
    /// Ask something of a running JVM in one line.
    #[command(flatten)]
    Ask(Question),
    /// Show the points of methods, in a running JVM or in class files, and the variables that code can read at each.
    List(ListArguments),
    /// Watch the hottest methods of a running JVM, and look into them.
    Top(TopArguments),
    /// Give the figures of a running JVM to other programs: Prometheus, OpenTelemetry, flame graphs, Perfetto.
    Export(ExportArguments),
    /// Show what the agent in a running JVM left alone, and why.
    Refusals(RefusalsArguments),
    /// Show the figures in a data directory, also of a JVM that was killed; or what a component's analyser says.
    Report(ReportArguments),
    /// Show the fragments of methods in class files.
    Fragments(FragmentsArguments),
    /// Say what would be refused in class files, and check that everything else comes out right.
    Check(CheckArguments),
    /// Print the completions of this command for a command-line shell.
    Completions(CompletionsArguments),
    /// Print the manual page, or write all of them into a directory.
    Man(ManArguments),
}

/// `veneer run`.
#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub struct RunArguments {
    /// A plan (Rhai) to run in the agent; may be given several times.
    #[arg(long = "plan", value_name = "F")]
    pub plans: Vec<PathBuf>,
    /// What `param("NAME", …)` in the plans gives; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,
    /// What to arm at load [default: everything outside the JDK]; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub arm: Vec<String>,
    /// What not to arm; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub skip: Vec<String>,
    /// Where methods are cut into fragments.
    #[arg(long, default_value_t = Policy::Loop, value_parser = policy())]
    pub policy: Policy,
    /// The invocations at which the policy `call` cuts; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub calls: Vec<String>,
    /// Write a report (JSON) to this file when the JVM ends.
    #[arg(long, value_name = "F.json")]
    pub report: Option<PathBuf>,
    /// Keep counters and events in this directory, for `veneer report` [default: a temporary one, kept if a JVM is killed].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Be controlled over TCP too, at this address of this machine (port 0: any that is free).
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = address, requires = "token_file")]
    pub listen: Option<SocketAddr>,
    /// The file with the token that a client over TCP must show; made where it is missing.
    #[arg(long, value_name = "F", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// Carry the agent into the JVMs that COMMAND starts, and those that they start, too; the report of each is F.PID.json.
    #[arg(long)]
    pub children: bool,
    /// Do not start the application if a plan has an error.
    #[arg(long)]
    pub strict: bool,
    /// Prove of all emitted code that it does what the original does; what does not pass is refused (CheckFailed).
    #[arg(long)]
    pub check: bool,
    /// The application and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `veneer exec`.
#[derive(Debug, Args)]
#[command(after_help = EXEC)]
pub struct ExecArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid(), required_unless_present = "connect", conflicts_with = "connect")]
    pub pid: Option<u32>,
    /// The Rhai program; `-` or nothing: standard input.
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
    /// What `param("NAME", …)` in the program gives; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,
    /// Print the agent's replies as they come, one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Stay, and have what the program attached taken off when this command ends or is silent for SECONDS.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "10",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub hold: Option<u64>,
    /// If this loads the agent: have it prove of all emitted code that it does what the original does (see `run --check`).
    #[arg(long, conflicts_with = "connect")]
    pub check: bool,
    /// The JVM's control port, or that of a relay, instead of a process id; the program comes from -e or standard input.
    #[arg(long, value_name = "ADDRESS", value_parser = host, requires = "token_file")]
    pub connect: Option<SocketAddr>,
    /// The certificate that the relay at ADDRESS must show (PEM).
    #[arg(long, value_name = "F", requires = "connect")]
    pub cert: Option<PathBuf>,
    /// The file with the token for the control port.
    #[arg(long, value_name = "F", requires = "connect")]
    pub token_file: Option<PathBuf>,
}

/// A name and a value.
pub type Setting = (String, String);

fn setting(text: &str) -> Result<Setting, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE".into()),
    }
}

/// Settings by their names; of two with one name the later one counts.
pub fn settings(all: &[Setting]) -> BTreeMap<String, String> {
    all.iter().cloned().collect()
}

/// A question in one line.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// Count how often methods of a running JVM are called, or points in them passed, by values if asked.
    Count(AskArguments),
    /// Time the calls of methods of a running JVM, callees included.
    Time(AskArguments),
    /// Print values at each call of methods of a running JVM.
    Watch(AskArguments),
    /// Show how a value at calls of methods of a running JVM is distributed.
    Hist(AskArguments),
}

impl Question {
    /// What all questions have.
    pub fn arguments(&self) -> &AskArguments {
        match self {
            Question::Count(arguments)
            | Question::Time(arguments)
            | Question::Watch(arguments)
            | Question::Hist(arguments) => arguments,
        }
    }

    /// How many values it wants of each call, at least and at most.
    pub fn values(&self) -> (usize, usize) {
        match self {
            Question::Count(_) | Question::Time(_) => (0, 0),
            Question::Watch(_) => (1, 4),
            Question::Hist(_) => (1, 1),
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

/// What all questions have.
#[derive(Debug, Args)]
#[command(after_help = ASK)]
pub struct AskArguments {
    /// Process ids of JVMs; which methods: 'a.b.C::m(..)'; and what `watch` and `hist` want of each call.
    #[arg(value_name = "PID… PATTERN [EXPR…]", required = true)]
    pub words: Vec<String>,
    /// All JVMs whose main class (or jar) matches, `*` standing for anything.
    #[arg(long = "match", value_name = "MAIN")]
    pub matching: Option<String>,
    /// Of several JVMs: one table for all instead of one for each.
    #[arg(long)]
    pub merge: bool,
    /// Keep figures apart by the value of an expression; up to four times.
    #[arg(long, value_name = "EXPR")]
    pub by: Vec<String>,
    /// Only where this holds.
    #[arg(long = "if", value_name = "EXPR")]
    pub only: Option<String>,
    /// Where in the methods: entry, exits, loops, blocks, edges, line:N, block:N, calls, calls:PATTERN, reads:FIELD, writes:FIELD, allocations, throws …
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub at: Option<Points>,
    /// End after so many seconds [default: at Ctrl-C, or with the JVM].
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Show figures so often [default: 1; into a file with --for only at the end].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub every: Option<f64>,
    /// Rows of a table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: u32,
    /// Print JSON, an object a line.
    #[arg(long)]
    pub json: bool,
}

/// Points in methods, as a plan selects them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Points(pub String);

fn points(text: &str) -> Result<Points, String> {
    let (name, number) = text.split_once(':').unwrap_or((text, ""));
    let wanted = match name {
        "entry" | "exits" | "loops" | "blocks" | "edges" if number.is_empty() => "",
        "calls" | "reads" | "writes" | "array_reads" | "array_writes" | "allocations"
        | "monitor_enters" | "monitor_exits" | "throws" | "branches" | "switches"
            if number.is_empty() =>
        {
            ""
        }
        "calls" | "reads" | "writes" => {
            let text = number.replace(['"', '\\'], "");
            return Ok(Points(format!(".{name}(\"{text}\")")));
        }
        "line" | "block" if number.parse::<u32>().is_ok() => number,
        _ => {
            return Err("write entry, exits, loops, blocks, edges, line:N, block:N, calls, calls:PATTERN, reads, reads:FIELD, writes, writes:FIELD, \
                        array_reads, array_writes, allocations, monitor_enters, monitor_exits, throws, branches or switches".into());
        }
    };
    Ok(Points(format!(".{name}({wanted})")))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "a number of seconds, such as 10 or 0.5")?;
    if (0.05..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("from 0.05 to 86400 seconds".into())
    }
}

/// Of what `veneer list` shows the points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A running JVM, by its process id.
    Process(u32),
    /// Class files.
    Files(PathBuf),
}

/// Digits are a process id, all else is a path.
fn listed(text: &str) -> Result<Listed, String> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(Listed::Files(text.into()));
    }
    match text.parse() {
        Ok(pid) if PIDS.contains(&pid) => Ok(Listed::Process(pid)),
        _ => Err(format!(
            "a process id is from {} to {}; write ./{text} for a file of that name",
            PIDS.start(),
            PIDS.end()
        )),
    }
}

/// `veneer list`.
#[derive(Debug, Args)]
#[command(after_help = LIST)]
pub struct ListArguments {
    /// The JVM's process id; or a class file, a jar, a directory, or a module of the JDK as jrt:/MODULE.
    #[arg(value_name = "PID|PATH", value_parser = listed)]
    pub of: Listed,
    /// Which methods: 'a.b.C::m(..)'.
    pub pattern: String,
    /// Print JSON, an object for each method a line.
    #[arg(long)]
    pub json: bool,
}

/// `veneer refusals`.
#[derive(Debug, Args)]
#[command(after_help = REFUSALS)]
pub struct RefusalsArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `veneer report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT)]
pub struct ReportArguments {
    /// The directory given to `veneer run --data`, or one that it told of; with --component the JVM's process id.
    #[arg(value_name = "DIR|PID")]
    pub place: PathBuf,
    /// What the analyser of a component in a running JVM says, instead.
    #[arg(long, value_name = "NAME", conflicts_with = "rows")]
    pub component: Option<String>,
    /// Rows of each table, and events of each log.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rows: usize,
    /// Print JSON: an array with an object for each JVM; of an analyser what it gave.
    #[arg(long)]
    pub json: bool,
}

/// `veneer fragments`.
#[derive(Debug, Args)]
#[command(after_help = FRAGMENTS)]
pub struct FragmentsArguments {
    /// A class file, a jar, a directory, or a module of the JDK as jrt:/MODULE.
    pub path: PathBuf,
    /// A method, or a pattern as in plans (`a.I+::m(..)`); without it, a summary of every class.
    #[arg(value_name = "CLASS::METHOD")]
    pub method: Option<String>,
    /// Where methods are cut into fragments.
    #[arg(long, default_value_t = Policy::Block, value_parser = policy())]
    pub policy: Policy,
    /// Print a graph for Graphviz.
    #[arg(long, conflicts_with = "json", requires = "method")]
    pub dot: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `veneer check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK)]
pub struct CheckArguments {
    /// Class files, jars, directories, or modules of the JDK as jrt:/MODULE.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Where methods are cut into fragments; several, or `all`: by each policy in turn.
    #[arg(long, default_value = "loop", value_delimiter = ',', value_parser = policies())]
    pub policy: Vec<Policies>,
    /// Also check versions with edits: a fragment skipped, an edge redirected, wherever that is sound.
    #[arg(long)]
    pub edits: bool,
    /// The JDK whose modules are meant [default: the one of JAVA_HOME, else of the PATH].
    #[arg(long, value_name = "HOME")]
    pub jdk: Option<PathBuf>,
    /// So many threads [default: one for each processor].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// One policy or all of them.
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

/// An address of any machine.
fn host(text: &str) -> Result<SocketAddr, String> {
    let plain = text.strip_prefix("tcp://").unwrap_or(text);
    let mut found = plain.to_socket_addrs().map_err(|error| error.to_string())?;
    found.next().ok_or_else(|| "no such machine".into())
}

fn address(text: &str) -> Result<SocketAddr, AddressError> {
    loopback_address(text)
}

/// Linux knows no process ids above 2²².
const PIDS: RangeInclusive<u32> = 1..=1 << 22;

fn pid() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(i64::from(*PIDS.start())..=i64::from(*PIDS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
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
    fn nonsense_is_refused_with_code_two() {
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
