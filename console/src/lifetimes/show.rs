//! `veneer lifetimes show FILE`, and the end of a recording: lifetimes as a table, as histograms, or as JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use veneer_memory::profile::{LifetimeGroup, LifetimeRow, MemoryProfile, ProfileFile};
use veneer_memory::{Lifetimes, LogHistogram};

use crate::cli::{
    LifetimesClock, LifetimesGroup, LifetimesShowArguments, LifetimesView, LifetimesWeight,
};
use crate::output::{Style, print_error};
use crate::replaced_file::replace_file;
use crate::table;

/// The names of the clocks in texts, in the order of [`veneer_memory::CLOCK_NAMES`].
const CLOCK_TEXTS: [&str; 3] = [
    "bytes of followed objects that were allocated",
    "uses of followed objects",
    "time",
];
/// The widest bar of a histogram.
const BAR_WIDTH: u64 = 40;

/// Shows a file, and returns the exit code.
pub fn run(arguments: &LifetimesShowArguments) -> Result<u8> {
    let name = arguments.file.display();
    let file = File::open(&arguments.file).with_context(|| format!("{name} cannot be opened"))?;
    let file = ProfileFile::read(file).with_context(|| format!("{name}"))?;
    if file.is_truncated {
        print_error(&format_args!(
            "{name} ends early; the rows before the end are shown"
        ));
    }
    if let Some(weight) = arguments.collapsed {
        let mut to = BufWriter::new(io::stdout().lock());
        let rows = file.profile.lifetimes(LifetimeGroup::Site);
        write_collapsed(&mut to, &rows, weight, clock_index(arguments.view.clock))?;
        to.flush()?;
        return Ok(0);
    }
    print(&file.profile, arguments.view, arguments.json)?;
    Ok(0)
}

/// Writes the profile to a file, if one is given. Else, or if JSON is asked for, prints it.
pub fn write_or_print(
    profile: &MemoryProfile,
    output: Option<&Path>,
    view: LifetimesView,
    is_json: bool,
) -> Result<()> {
    if let Some(path) = output {
        replace_file(path, |out| Ok(profile.write(out)?))?;
        if !is_json {
            return Ok(());
        }
    }
    print(profile, view, is_json)
}

fn print(profile: &MemoryProfile, view: LifetimesView, is_json: bool) -> Result<()> {
    let group = LifetimeGroup::from(view.by);
    let rows = profile.lifetimes(group);
    let mut to = BufWriter::new(io::stdout().lock());
    if is_json {
        let value = profile.lifetimes_json(group, &rows);
        serde_json::to_writer_pretty(&mut to, &value).map_err(io::Error::from)?;
        writeln!(to)?;
    } else {
        write_text(&mut to, profile, &rows, view)?;
    }
    to.flush()?;
    Ok(())
}

fn write_text(
    to: &mut impl Write,
    profile: &MemoryProfile,
    rows: &[LifetimeRow],
    view: LifetimesView,
) -> io::Result<()> {
    let clock = clock_index(view.clock);
    if !profile.program.is_empty() {
        writeln!(to, "{}", profile.program)?;
    }
    if rows.is_empty() {
        writeln!(
            to,
            "no object was born during the recording in an observed method"
        )?;
    } else if view.histogram {
        let mut total = Lifetimes::default();
        rows.iter().for_each(|row| total.merge(&row.lives));
        write_histograms(to, &total, clock)?;
    } else {
        write_table(to, rows, view)?;
        writeln!(
            to,
            "use: from birth to last use; drag: from last use to death; life: from birth to death, in {}.\n\
             At least; half of the objects / nine of ten. Never used: void. Survived: collections.",
            CLOCK_TEXTS[clock]
        )?;
    }
    for note in &profile.notes {
        writeln!(to, "{note}")?;
    }
    Ok(())
}

fn write_table(to: &mut impl Write, rows: &[LifetimeRow], view: LifetimesView) -> io::Result<()> {
    let style = Style::of_stdout();
    let clock = clock_index(view.clock);
    let cells = |row: &LifetimeRow| {
        let lives = &row.lives;
        let span = |histogram: &LogHistogram| quantiles(histogram, |n| format_clock(n, clock));
        let place = match row.site.as_str() {
            "" => row.type_name.clone(),
            site => site.to_owned(),
        };
        [
            place,
            row.type_name.clone(),
            lives.objects.to_string(),
            lives.alive.to_string(),
            lives.void.to_string(),
            span(&lives.used[clock]),
            span(&lives.drag[clock]),
            span(&lives.life[clock]),
            quantiles(&lives.survived, |n| n.to_string()),
        ]
    };
    let titles = [
        "allocated at",
        "type",
        "objects",
        "alive",
        "void",
        "use",
        "drag",
        "life",
        "survived",
    ];
    let all: Vec<[String; 9]> = rows.iter().take(view.rows).map(cells).collect();
    match view.by {
        LifetimesGroup::Site => table::write(to, titles, &all, style)?,
        LifetimesGroup::Type => {
            let without: Vec<[String; 8]> =
                all.iter().map(|row| tail(row).map(Clone::clone)).collect();
            table::write(to, tail(&titles).map(|title| *title), &without, style)?;
        }
    }
    if rows.len() > view.rows {
        writeln!(to, "… {} more rows (--rows)", rows.len() - view.rows)?;
    }
    Ok(())
}

/// The index of a clock in [`veneer_memory::CLOCK_NAMES`].
fn clock_index(clock: LifetimesClock) -> usize {
    match clock {
        LifetimesClock::Bytes => 0,
        LifetimesClock::Accesses => 1,
        LifetimesClock::Time => 2,
    }
}

/// Writes a stack of type, method and line for each row, with its weight.
fn write_collapsed(
    to: &mut impl Write,
    rows: &[LifetimeRow],
    weight: LifetimesWeight,
    clock: usize,
) -> io::Result<()> {
    for row in rows {
        let lives = &row.lives;
        let weight = match weight {
            LifetimesWeight::Objects => lives.objects,
            LifetimesWeight::Use => sum(&lives.used[clock]),
            LifetimesWeight::Drag => sum(&lives.drag[clock]),
            LifetimesWeight::Life => sum(&lives.life[clock]),
        };
        if weight > 0 {
            // A semicolon separates frames, and descriptors have some.
            let (method, line) = row.site.rsplit_once(':').unwrap_or((&row.site, "?"));
            let method = method.replace(';', ",");
            writeln!(to, "{};{method};line {line} {weight}", row.type_name)?;
        }
    }
    Ok(())
}

/// The sum of all numbers, each one counted as the beginning of its bucket.
fn sum(histogram: &LogHistogram) -> u64 {
    let counts = histogram.counts().iter().enumerate();
    let parts = counts.map(|(bucket, n)| LogHistogram::lower_bound(bucket).saturating_mul(*n));
    parts.fold(0, u64::saturating_add)
}

/// All elements but the first one.
fn tail<T>(row: &[T; 9]) -> [&T; 8] {
    std::array::from_fn(|index| &row[index + 1])
}

/// The median and the 90 % quantile, such as `2 / 64`.
fn quantiles(histogram: &LogHistogram, show: impl Fn(u64) -> String) -> String {
    let both = histogram.quantile(0.5).zip(histogram.quantile(0.9));
    both.map_or_else(String::new, |(half, most)| {
        format!("{} / {}", show(half), show(most))
    })
}

/// The beginning of a bucket on a clock, in a unit that keeps it short.
fn format_clock(number: u64, clock: usize) -> String {
    let (steps, units): (u64, [&str; 4]) = match clock {
        0 => (1024, ["", "K", "M", "G"]),
        1 => (1000, ["", "k", "m", "g"]),
        _ => (1000, ["ns", "µs", "ms", "s"]),
    };
    let mut unit = 0;
    let mut shown = number;
    while shown >= steps * 10 && unit + 1 < units.len() {
        shown /= steps;
        unit += 1;
    }
    format!("{shown}{}", units[unit])
}

fn write_histograms(to: &mut impl Write, lives: &Lifetimes, clock: usize) -> io::Result<()> {
    let spans = [
        ("use", &lives.used[clock]),
        ("drag", &lives.drag[clock]),
        ("life", &lives.life[clock]),
    ];
    for (name, histogram) in spans {
        writeln!(to, "\n{name}, in {}", CLOCK_TEXTS[clock])?;
        write_bars(to, histogram, &|n| format_clock(n, clock))?;
    }
    writeln!(to, "\ncollections survived")?;
    write_bars(to, &lives.survived, &|n: u64| n.to_string())
}

fn write_bars(
    to: &mut impl Write,
    histogram: &LogHistogram,
    show: &dyn Fn(u64) -> String,
) -> io::Result<()> {
    let counts = histogram.counts();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let filled = |bucket: &usize| counts[*bucket] > 0;
    let (Some(first), Some(last)) = (
        (0..counts.len()).find(filled),
        (0..counts.len()).rev().find(filled),
    ) else {
        return writeln!(to, "  none");
    };
    for (bucket, count) in counts.iter().enumerate().take(last + 1).skip(first) {
        let from = show(LogHistogram::lower_bound(bucket));
        let bar = "█".repeat((count.saturating_mul(BAR_WIDTH).div_ceil(most)) as usize);
        writeln!(to, "  {from:>8}  {count:>12}  {bar}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(site: &str) -> LifetimeRow {
        let mut lives = Lifetimes {
            objects: 3,
            void: 1,
            ..Lifetimes::default()
        };
        lives.used[1].add(5);
        lives.used[1].add(70);
        LifetimeRow {
            site: site.into(),
            type_name: "a.B".into(),
            lives,
        }
    }

    fn text(rows: &[LifetimeRow], histogram: bool) -> String {
        let mut to = Vec::new();
        let view = LifetimesView {
            by: LifetimesGroup::Site,
            clock: LifetimesClock::Accesses,
            rows: 1,
            histogram,
        };
        write_text(&mut to, &MemoryProfile::default(), rows, view).unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn a_table_has_the_quantiles_of_one_clock() {
        let shown = text(&[row("a.C::m()V:1"), row("a.C::m()V:2")], false);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].starts_with("a.C::m()V:1"), "{shown}");
        assert!(lines[1].contains("4 / 64"), "{shown}");
        assert_eq!(lines[2], "… 1 more rows (--rows)");
        assert!(text(&[], false).starts_with("no object was born"));
    }

    #[test]
    fn histograms_have_a_bar_for_each_power_of_two() {
        let shown = text(&[row("x")], true);
        let bars: Vec<&str> = shown.lines().filter(|line| line.contains('█')).collect();
        assert_eq!(bars.len(), 2, "{shown}");
        assert!(bars[0].trim_start().starts_with("4 "), "{shown}");
        assert!(shown.contains("none"), "{shown}");
    }

    #[test]
    fn stacks_have_type_method_and_line() {
        let mut to = Vec::new();
        let rows = [row("a.C::m(La/D;)V:12")];
        write_collapsed(&mut to, &rows, LifetimesWeight::Use, 1).unwrap();
        write_collapsed(&mut to, &rows, LifetimesWeight::Drag, 1).unwrap();
        assert_eq!(
            String::from_utf8(to).unwrap(),
            "a.B;a.C::m(La/D,)V;line 12 68\n"
        );
    }

    #[test]
    fn numbers_of_clocks_have_units() {
        let shown = [(1 << 20, 0), (9_999, 1), (1 << 14, 1), (1 << 31, 2)];
        let shown = shown.map(|(number, clock)| format_clock(number, clock));
        assert_eq!(shown, ["1024K", "9999", "16k", "2147ms"]);
    }
}
