//! `veneer completions` and `veneer man`: their arguments and help.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS: &str = "\
Examples:
  veneer completions bash > ~/.local/share/bash-completion/completions/veneer
  veneer completions zsh > ~/.zfunc/_veneer              with `fpath+=~/.zfunc` before `compinit` in .zshrc
  veneer completions fish > ~/.config/fish/completions/veneer.fish

Exit codes: 0 done, 2 it could not be written.";

const MAN: &str = "\
Examples:
  veneer man | man -l -
  veneer man ~/.local/share/man/man1

Exit codes: 0 done, 2 the directory could not be written to.";

/// `veneer completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub struct CompletionsArguments {
    /// Which one.
    pub shell: Shell,
}

/// `veneer man`.
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub struct ManArguments {
    /// Where all of them are written to: veneer.1, veneer-run.1 and so on; it is made where it is missing.
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
