//! `veneer memory simulate`: simulates caches on an address trace.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use veneer_memory::profile::{Dimension, MemoryProfile};
use veneer_memory::{CACHE_FOLDER, Estimate, MissRatioCurve, read_caches};

use super::render;
use super::trace::{SimulatedTrace, TraceSettings, simulate};
use crate::cli::{CacheArgument, KeyOfAccess, SimulateArguments};
use crate::output::Style;
use crate::table;

/// Size of the buffer in front of the trace, in bytes.
const TRACE_BUFFER_BYTES: usize = 1 << 20;

/// Prints the result and returns the exit code.
pub(super) fn run(arguments: &SimulateArguments) -> Result<u8> {
    let machine = [CacheArgument::Machine];
    let caches = match arguments.caches.is_empty() {
        true => &machine[..],
        false => &arguments.caches,
    };
    let description = |cache: &CacheArgument| match cache {
        CacheArgument::Machine => Some(read_caches(Path::new(CACHE_FOLDER))),
        CacheArgument::Described(description) => Some(Ok(description.clone())),
        CacheArgument::Absent => None,
    };
    let settings = TraceSettings {
        caches: caches
            .iter()
            .filter_map(description)
            .collect::<Result<_, _>>()?,
        by: arguments.by,
        sample: arguments.sample,
        seed: arguments.seed,
        curve: arguments.curve,
    };
    let name = arguments.trace.display().to_string();
    let source: Box<dyn BufRead> = match name.as_str() {
        "-" => Box::new(io::stdin().lock()),
        _ => {
            let file = File::open(&arguments.trace);
            let file = file.with_context(|| format!("{name} cannot be opened"))?;
            Box::new(BufReader::with_capacity(TRACE_BUFFER_BYTES, file))
        }
    };
    let trace = simulate(source, &name, &settings).with_context(|| name.clone())?;
    if let Some(path) = &arguments.output {
        write_profile(&trace.profile, path)?;
    }
    let mut to = io::BufWriter::new(io::stdout().lock());
    print(&mut to, arguments, &trace)?;
    to.flush()?;
    Ok(0)
}

fn write_profile(profile: &MemoryProfile, path: &Path) -> Result<()> {
    let write = || {
        let mut file = io::BufWriter::new(File::create(path)?);
        profile.write(&mut file)?;
        file.flush()
    };
    write().with_context(|| {
        format!(
            "{} cannot be written; choose another file for -o",
            path.display()
        )
    })
}

fn print(to: &mut impl Write, arguments: &SimulateArguments, trace: &SimulatedTrace) -> Result<()> {
    let profile = &trace.profile;
    let rows = profile.view(Dimension::Site);
    let by = match arguments.by {
        KeyOfAccess::Kind => "kind",
        KeyOfAccess::Instruction => "instruction",
        KeyOfAccess::CacheLine => "cache-line",
        KeyOfAccess::Page => "page",
    };
    if arguments.json {
        let mut value = profile.to_json(by, &rows);
        if let Some(curve) = &trace.curve {
            value["curve"] = curve_json(curve, trace.line_shift);
        }
        serde_json::to_writer_pretty(&mut *to, &value).map_err(io::Error::from)?;
        writeln!(to)?;
        return Ok(());
    }
    if arguments.csv {
        return render::csv(to, profile, by, &rows);
    }
    let style = Style::of_stdout();
    render::tables(to, profile, by, &rows, arguments.rows, style)?;
    if let Some(curve) = &trace.curve {
        writeln!(to)?;
        write_curve(to, curve, trace.line_shift, style)?;
    }
    for note in &profile.notes {
        writeln!(to, "\n{note}")?;
    }
    Ok(())
}

/// Sizes of the curve in lines: powers of two up to the first that holds everything.
fn sizes(curve: &MissRatioCurve) -> Vec<u64> {
    let largest = curve.largest_useful_size().max(1).next_power_of_two();
    (0..64)
        .map(|shift| 1u64 << shift)
        .take_while(|size| *size <= largest)
        .collect()
}

fn curve_json(curve: &MissRatioCurve, line_shift: u32) -> Value {
    let point = |lines: u64| {
        let Estimate { value, margin } = curve.misses(lines);
        json!({
            "bytes": lines << line_shift,
            "misses": value.round() as u64,
            "margin": margin.map(|margin| margin.ceil() as u64),
        })
    };
    let points: Vec<Value> = sizes(curve).into_iter().map(point).collect();
    json!({ "line_bytes": 1u64 << line_shift, "references": curve.references(), "points": points })
}

fn write_curve(
    to: &mut impl Write,
    curve: &MissRatioCurve,
    line_shift: u32,
    style: Style,
) -> io::Result<()> {
    let references = curve.references().max(1) as f64;
    let row = |lines: u64| {
        let Estimate { value, margin } = curve.misses(lines);
        let error = match margin {
            Some(0.0) => String::new(),
            Some(margin) => format!(" ± {}", margin.ceil() as u64),
            None => " ± ?".into(),
        };
        [
            (lines << line_shift).to_string(),
            format!("{}{error}", value.round() as u64),
            format!("{:.1}%", 100.0 * value / references),
        ]
    };
    let rows: Vec<[String; 3]> = sizes(curve).into_iter().map(row).collect();
    let titles = ["fully associative bytes", "misses", "ratio"];
    table::write(to, titles, &rows, style)
}
