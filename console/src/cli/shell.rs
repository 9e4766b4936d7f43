//! Arguments and help of `veneer shell`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::values::{pid, resolve_host};

const HELP: &str = "\
Examples:
  veneer shell 4711
  veneer shell --connect 127.0.0.1:4712 --token-file t
  echo 'instruments().len()' | veneer shell 4711
  veneer shell 4711 --json < inputs.rhai

At the prompt:
  let c = methods(\"shop.Desk::serve(..)\").before(counter());
                       variables are kept; Tab completes functions, classes and methods
  c.hits()             the value of an input is printed
  :watch c             print the table of c again each second, until a key is pressed
  :help [FUNCTION]     list the functions; :help also lists the commands

The instruments and edits attached at the prompt are detached when the shell ends, even if it is
killed, unless `:keep` was entered. Ctrl-C cancels the current line or ends `:watch`; Ctrl-D ends
the shell.

If standard input is not a terminal, inputs are read from it and results are written without a
prompt. A failed input does not end the shell then, but the exit code is 1.

Environment:
  XDG_STATE_HOME   the history is stored in veneer/history below it [default: ~/.local/state]

Exit codes: 0 success, 1 an input failed (not at a terminal), 2 the JVM could not be reached.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ShellArguments {
    /// The JVM's process id.
    #[arg(value_parser = pid(), required_unless_present = "connect", conflicts_with = "connect")]
    pub pid: Option<u32>,
    /// The control port of the JVM or of a relay, instead of a process id.
    #[arg(long, value_name = "ADDRESS", value_parser = resolve_host, requires = "token_file")]
    pub connect: Option<SocketAddr>,
    /// The certificate that the relay at ADDRESS must present (PEM).
    #[arg(long, value_name = "F", requires = "connect")]
    pub cert: Option<PathBuf>,
    /// The file with the token for the control port.
    #[arg(long, value_name = "F", requires = "connect")]
    pub token_file: Option<PathBuf>,
    /// Print the agent's replies as they arrive, one JSON object a line.
    #[arg(long)]
    pub json: bool,
}
