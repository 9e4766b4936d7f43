//! `veneer shell`: its arguments and help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{host, pid};

const HELP: &str = "\
Examples:
  veneer shell 4711
  veneer shell --connect 127.0.0.1:4712 --token-file t
  echo 'instruments().len()' | veneer shell 4711
  veneer shell 4711 --json < inputs.rhai

At the prompt:
  let c = methods(\"shop.Desk::serve(..)\").before(counter());    variables stay; Tab completes functions, classes and methods
  c.hits()                                                       the value of an input is shown
  :watch c                                                       its table, again each second, until a key is pressed
  :help [FUNCTION]                                               what can be called; :help also lists the commands

What is attached here is taken off when the shell ends, however that comes about, unless `:keep` was said. Ctrl-C leaves the line
that is being typed, or a table that is being watched; Ctrl-D leaves the shell.

Where standard input is no terminal, inputs are read from it and results written without a prompt; an input that fails does not end
the shell, but its exit code is 1 then.

Environment:
  XDG_STATE_HOME   the history is in veneer/history below it [default: ~/.local/state]

Exit codes: 0 done, 1 an input failed (not at a terminal), 2 the JVM could not be reached.";

/// `veneer shell`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ShellArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid(), required_unless_present = "connect", conflicts_with = "connect")]
    pub pid: Option<u32>,
    /// The JVM's control port, or that of a relay, instead of a process id.
    #[arg(long, value_name = "ADDRESS", value_parser = host, requires = "token_file")]
    pub connect: Option<SocketAddr>,
    /// The certificate that the relay at ADDRESS must show (PEM).
    #[arg(long, value_name = "F", requires = "connect")]
    pub cert: Option<PathBuf>,
    /// The file with the token for the control port.
    #[arg(long, value_name = "F", requires = "connect")]
    pub token_file: Option<PathBuf>,
    /// Print the agent's replies as they come, one JSON object a line.
    #[arg(long)]
    pub json: bool,
}
