//! Generates completions and manual pages from the grammar of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::{Cli, CompletionsArguments, ManArguments};

const COMMAND_NAME: &str = "veneer";

/// Prints the completion script for a shell.
pub fn completions(arguments: CompletionsArguments) -> Result<u8> {
    // The text is generated before it is printed, because the generator panics if it writes to a
    // closed pipe.
    let mut text = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        COMMAND_NAME,
        &mut text,
    );
    print(&text)
}

/// Prints the page of the main command, or writes the pages of all commands to a directory.
pub fn man(arguments: ManArguments) -> Result<u8> {
    let mut command = Cli::command();
    command.build();
    let Some(directory) = arguments.directory else {
        return print(&page(command)?);
    };
    let written = fs::create_dir_all(&directory).and_then(|()| write(command, &directory));
    written.with_context(|| {
        format!(
            "the manual pages cannot be written to {}; name another directory",
            directory.display()
        )
    })?;
    Ok(0)
}

fn print(text: &[u8]) -> Result<u8> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()?;
    Ok(0)
}

/// Writes the page of a command and the pages of its subcommands.
fn write(command: clap::Command, directory: &Path) -> io::Result<()> {
    for inner in command.get_subcommands() {
        if inner.get_name() != "help" {
            write(inner.clone(), directory)?;
        }
    }
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = directory.join(format!("{name}.1"));
    fs::write(path, page(command)?)
}

/// Renders a page. The text after the options contains examples, whose line breaks must be kept.
fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let after_help = command.get_after_help().map(ToString::to_string);
    let has_commands = command.has_subcommands();
    let has_version = command.get_version().is_some();
    // The page has the name that the user types: `veneer run`.
    let name = command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let man = Man::new(command)
        .title(name)
        .source(concat!("veneer ", env!("CARGO_PKG_VERSION")))
        .manual("Veneer");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(text) = after_help {
        let mut section = Roff::new();
        section.control("SH", ["NOTES"]).control("nf", []);
        for line in text.lines() {
            section.text([roman(line)]);
        }
        section.control("fi", []);
        section.to_writer(&mut page)?;
    }
    if has_version {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}
