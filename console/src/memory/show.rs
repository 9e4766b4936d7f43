//! `veneer memory show`: shows a memory profile.

use std::fs::File;
use std::io::{self, Write};

use anyhow::{Context, Result};
use veneer_memory::profile::{MemoryProfile, ProfileFile, curve_json, thread_json};

use super::{annotate, curves, html, render};
use crate::cli::{ShowArguments, ViewArguments};
use crate::output::{Style, print_error, print_note};
use crate::replaced_file::replace_file;

/// Prints the profile and returns the exit code.
pub(super) fn run(arguments: &ShowArguments) -> Result<u8> {
    let name = arguments.file.display();
    let file = File::open(&arguments.file).with_context(|| format!("{name} cannot be opened"))?;
    let file = ProfileFile::read(file).with_context(|| format!("{name}"))?;
    if file.is_truncated {
        print_error(&format_args!(
            "{name} ends early: its writer was killed or has not finished; the rows before the end are shown"
        ));
    }
    if !file.skipped.is_empty() {
        print_error(&format_args!(
            "{name} was written by a newer version; skipped sections: {}",
            file.skipped.join(", ")
        ));
    }
    let profile = &file.profile;
    if let Some(output) = &arguments.html {
        let page = html::page(profile, arguments.source.as_deref());
        replace_file(output, |out| Ok(out.write_all(page.as_bytes())?))?;
        let kilobytes = page.len().div_ceil(1000);
        print_note(&format_args!(
            "{}: {kilobytes} kB; open it in a browser",
            output.display()
        ));
        return Ok(0);
    }
    let mut to = io::BufWriter::new(io::stdout().lock());
    if let Some(class) = &arguments.annotate {
        annotate::annotate(
            &mut to,
            profile,
            class,
            arguments.source.as_deref(),
            Style::of_stdout(),
        )?;
        to.flush()?;
        return Ok(0);
    }
    print(&mut to, profile, &arguments.view)?;
    to.flush()?;
    Ok(0)
}

/// Prints the rows of a profile, summed by the property that the user wants.
///
/// # Errors
/// The output cannot be written.
pub(super) fn print(
    to: &mut impl Write,
    profile: &MemoryProfile,
    view: &ViewArguments,
) -> Result<()> {
    if view.curve {
        return print_curves(to, profile, view);
    }
    if view.threads {
        return print_threads(to, profile, view);
    }
    let rows = profile.view(view.by);
    let by = view.by.name();
    if view.json {
        let value = profile.to_json(by, &rows);
        serde_json::to_writer_pretty(&mut *to, &value).map_err(io::Error::from)?;
        writeln!(to)?;
    } else if view.csv && has_only_allocations(profile) {
        render::allocation_csv(to, profile)?;
    } else if view.csv {
        render::csv(to, profile, by, &rows)?;
    } else {
        let style = Style::of_stdout();
        if !has_only_allocations(profile) {
            render::tables(to, profile, by, &rows, view.rows, style)?;
        }
        render::allocations(to, profile, view.rows, style)?;
        render::threads(to, profile, view.rows, style)?;
        render::sharing(to, profile, view.rows, style)?;
        curves::tables(to, profile, style)?;
        for note in &profile.notes {
            writeln!(to, "\n{note}")?;
        }
    }
    Ok(())
}

/// Prints the allocations of a profile by thread.
fn print_threads(to: &mut impl Write, profile: &MemoryProfile, view: &ViewArguments) -> Result<()> {
    if view.json {
        let all: Vec<_> = profile.threads.iter().map(thread_json).collect();
        serde_json::to_writer_pretty(&mut *to, &all).map_err(io::Error::from)?;
        writeln!(to)?;
        return Ok(());
    }
    if view.csv {
        return render::thread_csv(to, profile);
    }
    if profile.threads.is_empty() {
        print_error(
            &"the profile has no allocations by thread: none were recorded, or with --heap",
        );
    }
    Ok(render::threads(to, profile, view.rows, Style::of_stdout())?)
}

/// Prints the miss-ratio curves of a profile.
fn print_curves(to: &mut impl Write, profile: &MemoryProfile, view: &ViewArguments) -> Result<()> {
    if view.json {
        let all: Vec<_> = profile.curves.iter().map(curve_json).collect();
        serde_json::to_writer_pretty(&mut *to, &all).map_err(io::Error::from)?;
        writeln!(to)?;
        return Ok(());
    }
    if view.csv {
        return curves::csv(to, profile);
    }
    if profile.curves.is_empty() {
        print_error(&"the profile has no miss-ratio curves; record it with --curve");
    }
    Ok(curves::tables(to, profile, Style::of_stdout())?)
}

/// Whether a profile is one of allocations, and has no access.
fn has_only_allocations(profile: &MemoryProfile) -> bool {
    profile.accesses.is_empty() && !profile.allocations.is_empty()
}
