//! The command line's grammar and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use veneer_protocol::Policy;

const EXIT_CODES: &str = "\
Exit codes:
  0  done (`run`: the exit code of COMMAND, whatever it is)
  1  `exec`: the program failed
  2  Veneer could not do what was asked; one line on standard error says why";

const RUN: &str = "\
Examples:
  veneer run --plan hot.rhai -- java -jar app.jar
  veneer run --plan hot.rhai --report r.json --policy block -- java -cp classes Main
  veneer run --arm 'com.acme..*' --skip 'com.acme.generated..*' -- ./gradlew test
  veneer run --policy call --calls '*..Remote::*(..)' -- java Client

COMMAND's output and exit code pass through untouched; what plans print goes to standard error.
If COMMAND is `java` the agent comes in as its first argument, otherwise through JAVA_TOOL_OPTIONS.

Environment:
  VENEER_AGENT     the agent library (else libveneer_agent.so beside the command or in ../lib/veneer)
  VENEER_DATA_DIR  directory for data files, which are kept (else a temporary one)

Exit codes: that of COMMAND; 2 where Veneer could not start it.";

const EXEC: &str = "\
Examples:
  veneer exec 4711 hot.rhai
  veneer exec 4711 -e 'let c = methods(\"a.b.C::m(..)\").before(counter()); c'
  echo 'instruments()' | veneer exec 4711
  veneer exec 4711 --json hot.rhai | jq .

Exit codes: 0 done, 1 the program failed, 2 the JVM could not be reached.";

const REFUSALS: &str = "\
Examples:
  veneer refusals 4711
  veneer refusals 4711 --json | jq -r '.[].reason' | sort | uniq -c

Exit codes: 0 done, 2 the JVM could not be reached.";

const FRAGMENTS: &str = "\
Examples:
  veneer fragments build/classes                        a summary of every class
  veneer fragments app.jar 'com.acme.Parser::next'      the fragments of a method
  veneer fragments jrt:/java.base 'java.util.ArrayList::add' --policy loop --dot | dot -Tsvg
  veneer fragments Main.class 'Main::main' --json

Exit codes: 0 done, 2 the input could not be read or has no such method.";

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
    /// Run a Rhai program in the agent of a running JVM; the agent is loaded first where it is not there.
    Exec(ExecArguments),
    /// Show what the agent in a running JVM left alone, and why.
    Refusals(RefusalsArguments),
    /// Show the fragments of methods in class files.
    Fragments(FragmentsArguments),
}

/// `veneer run`.
#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub struct RunArguments {
    /// A plan (Rhai) to run in the agent; may be given several times.
    #[arg(long = "plan", value_name = "F")]
    pub plans: Vec<PathBuf>,
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
    /// Do not start the application if a plan has an error.
    #[arg(long)]
    pub strict: bool,
    /// The application and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `veneer exec`.
#[derive(Debug, Args)]
#[command(after_help = EXEC)]
pub struct ExecArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid())]
    pub pid: u32,
    /// The Rhai program; `-` or nothing: standard input.
    pub file: Option<PathBuf>,
    /// The program itself, instead of a file.
    #[arg(
        short = 'e',
        long = "eval",
        value_name = "CODE",
        conflicts_with = "file"
    )]
    pub code: Option<String>,
    /// Print the agent's replies as they come, one JSON object a line.
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

/// `veneer fragments`.
#[derive(Debug, Args)]
#[command(after_help = FRAGMENTS)]
pub struct FragmentsArguments {
    /// A class file, a jar, a directory, or a module of the JDK as jrt:/MODULE.
    pub path: PathBuf,
    /// A method; without it, a summary of every class.
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

fn policy() -> impl TypedValueParser<Value = Policy> {
    PossibleValuesParser::new(Policy::ALL.map(Policy::name)).try_map(|name| name.parse::<Policy>())
}

fn pid() -> impl TypedValueParser<Value = u32> {
    // Linux knows no process ids above 2²².
    clap::value_parser!(u32).range(1..=1 << 22)
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
            "veneer fragments a.jar --dot",
        ] {
            let error = Cli::try_parse_from(words.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{words}");
        }
    }
}
