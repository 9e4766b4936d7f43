//! Arguments and help of `veneer completions` and `veneer man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS: &str = "\
Examples:
  veneer completions bash > ~/.local/share/bash-completion/completions/veneer
  veneer completions zsh > ~/.zfunc/_veneer       with `fpath+=~/.zfunc` before `compinit` in .zshrc
  veneer completions fish > ~/.config/fish/completions/veneer.fish

Exit codes: 0 success, 2 the script could not be written.";

const MAN: &str = "\
Examples:
  veneer man | man -l -
  veneer man ~/.local/share/man/man1

Exit codes: 0 success, 2 the directory could not be written to.";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub struct CompletionsArguments {
    /// The shell that the completions are for.
    pub shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub struct ManArguments {
    /// Directory for all pages: veneer.1, veneer-run.1 and so on; created if it does not exist.
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
