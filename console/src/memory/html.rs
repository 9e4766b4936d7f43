//! `veneer memory show --html`: a memory profile as one HTML file, without scripts and without references to
//! other files.
//!
//! ```text
//!   MemoryProfile ─┬─▶ a table for each property ─┐
//!                  ├─▶ allocations, shared lines ─┼─▶ HTML
//!   sources ───────┴─▶ lines with their misses ───┘
//! ```
//!
//! All texts of the profile and of the sources are escaped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use veneer_memory::profile::{Dimension, MemoryProfile, ViewRow};

use super::annotate::read_source;
use super::curves;
use super::render::{THREAD_TITLES, allocation_cells, columns, misses, names, thread_cells};

/// The most rows of a table, so that a browser can show the file.
const MAX_ROWS: usize = 200;
/// The most classes whose sources are in the file: those with the most misses, or accesses.
const MAX_SOURCES: usize = 20;

const STYLE: &str = "body{font:14px/1.4 system-ui,sans-serif;margin:2rem;color:#1c1c1c;background:#fff}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}\
th,td{padding:.15rem .6rem;text-align:left;vertical-align:top}th{border-bottom:1px solid #888}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
td.m{font-family:ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}\
tr.hot td{background:#fff3d6}p.note{color:#555}\
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#1b1b1b}tr.hot td{background:#4a3a10}p.note{color:#aaa}}";

/// The file. `sources` is the folder of the packages, or the file of a class.
pub(super) fn page(profile: &MemoryProfile, sources: Option<&Path>) -> String {
    let title = escaped(&format!("Memory: {}", profile.program));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>\n"
    );
    for note in &profile.notes {
        let _ = writeln!(html, "<p class=\"note\">{}</p>", escaped(note));
    }
    if !profile.accesses.is_empty() {
        for (name, dimension) in Dimension::ALL {
            views(&mut html, profile, name, &profile.view(dimension));
        }
    }
    allocations(&mut html, profile);
    threads(&mut html, profile);
    sharing(&mut html, profile);
    miss_curves(&mut html, profile);
    if let Some(sources) = sources {
        // One file is the source of the hottest class.
        let most = if sources.is_dir() { MAX_SOURCES } else { 1 };
        for class in hot_classes(profile).into_iter().take(most) {
            annotated(&mut html, profile, &class, sources);
        }
    }
    html.push_str("</body></html>\n");
    html
}

/// Writes `<`, `>`, `&` and quotes as references, and characters that HTML forbids as a replacement.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A column of a table: its title, and whether it has numbers.
type Column<'t> = (&'t str, bool);

/// Writes a table. A row is marked if its first value says so.
fn table(html: &mut String, heading: &str, columns: &[Column<'_>], rows: &[(bool, Vec<String>)]) {
    let _ = write!(html, "<h2>{}</h2><table><thead><tr>", escaped(heading));
    for (title, is_number) in columns {
        let class = if *is_number { " class=\"n\"" } else { "" };
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escaped(title));
    }
    html.push_str("</tr></thead><tbody>\n");
    for (is_hot, cells) in rows {
        html.push_str(if *is_hot {
            "<tr class=\"hot\">"
        } else {
            "<tr>"
        });
        for ((_, is_number), cell) in columns.iter().zip(cells) {
            let class = if *is_number { "n" } else { "m" };
            let _ = write!(html, "<td class=\"{class}\">{}</td>", escaped(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table>\n");
}

/// Says how many rows a table does not have.
fn rest(html: &mut String, count: usize) {
    if count > MAX_ROWS {
        let _ = writeln!(
            html,
            "<p class=\"note\">… {} more rows</p>",
            count - MAX_ROWS
        );
    }
}

/// The tables of a property, one for each cache description.
fn views(html: &mut String, profile: &MemoryProfile, by: &str, rows: &[ViewRow]) {
    if rows.iter().all(|row| row.name == "(none)") {
        return;
    }
    let total = profile.total();
    for index in 0..profile.caches.len().max(1) {
        let counts = total.caches.get(index).cloned().unwrap_or_default();
        let titles = names(&counts).into_iter();
        let titles: Vec<String> = titles.map(|name| format!("{name} misses")).collect();
        let mut all: Vec<Column> = vec![(by, false), ("accesses", true)];
        all.extend(titles.iter().map(|title| (title.as_str(), true)));
        let shown = rows.iter().take(MAX_ROWS).chain([&total]);
        let cells = shown.map(|row| (false, figures(row, index, vec![row.name.clone()])));
        let heading = match profile.caches.get(index) {
            Some(description) => format!("By {by}: {description}"),
            None => format!("By {by}"),
        };
        table(html, &heading, &all, &cells.collect::<Vec<_>>());
        rest(html, rows.len());
    }
}

/// Adds the accesses and misses of a row to its first cells.
fn figures(row: &ViewRow, cache: usize, mut cells: Vec<String>) -> Vec<String> {
    let references = &row.references;
    let accesses = references.accesses().saturating_add(references.fetches);
    cells.push(accesses.to_string());
    let counts = row.caches.get(cache).into_iter().flat_map(columns);
    cells.extend(counts.map(misses));
    cells
}

/// Writes the allocations of each thread.
fn threads(html: &mut String, profile: &MemoryProfile) {
    if profile.threads.is_empty() {
        return;
    }
    let [name, objects, bytes] = THREAD_TITLES;
    let columns = [(name, false), (objects, true), (bytes, true)];
    let rows = profile.threads.iter().take(MAX_ROWS);
    let rows = rows.map(|row| (false, thread_cells(row).to_vec()));
    table(
        html,
        "Allocations by thread",
        &columns,
        &rows.collect::<Vec<_>>(),
    );
    rest(html, profile.threads.len());
}

/// Writes a picture and a table for each miss-ratio curve.
fn miss_curves(html: &mut String, profile: &MemoryProfile) {
    for curve in &profile.curves {
        let title = curves::title(curve);
        let columns = [(title.as_str(), false), ("misses", true), ("ratio", true)];
        let rows = curves::shown(curve).map(|point| (false, curves::cells(curve, point).to_vec()));
        table(html, "Misses by size", &columns, &rows.collect::<Vec<_>>());
        html.push_str(&curves::picture(curve));
    }
}

fn allocations(html: &mut String, profile: &MemoryProfile) {
    if profile.allocations.is_empty() {
        return;
    }
    let mut rows: Vec<_> = profile.allocations.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes.max(row.heap_bytes.unwrap_or(0))));
    let cells = rows
        .iter()
        .take(MAX_ROWS)
        .map(|row| (false, allocation_cells(profile, row).to_vec()));
    let titles = [
        ("allocated at", false),
        ("type", false),
        ("objects in bytecode", true),
        ("objects on the heap", true),
        ("bytes in bytecode", true),
        ("bytes on the heap", true),
    ];
    table(html, "Allocations", &titles, &cells.collect::<Vec<_>>());
    rest(html, rows.len());
}

fn sharing(html: &mut String, profile: &MemoryProfile) {
    if profile.sharing.is_empty() {
        return;
    }
    let rows = profile.sharing.iter().take(MAX_ROWS).map(|row| {
        let cells = vec![
            profile.site_name(row.writer),
            profile.site_name(row.other),
            row.true_misses.to_string(),
            row.false_misses.to_string(),
        ];
        (false, cells)
    });
    let titles = [
        ("written at", false),
        ("invalid at", false),
        ("true sharing", true),
        ("false sharing", true),
    ];
    table(
        html,
        "Lines that threads share",
        &titles,
        &rows.collect::<Vec<_>>(),
    );
    rest(html, profile.sharing.len());
}

/// The classes with the most misses of the last level; without misses, those with the most accesses.
fn hot_classes(profile: &MemoryProfile) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let rows = profile.view(Dimension::Method).into_iter();
    let classes = rows.filter_map(|row| Some(row.name.split_once("::")?.0.to_owned()));
    let classes = classes.filter(|class| seen.insert(class.clone()));
    classes.collect()
}

/// The source of a class with the accesses and misses of its lines. A class without a source has none.
fn annotated(html: &mut String, profile: &MemoryProfile, class: &str, sources: &Path) {
    let Ok(text) = read_source(sources, class) else {
        return;
    };
    let lines: BTreeMap<u32, ViewRow> = profile.lines_of(class).into_iter().collect();
    let hottest = lines.values().map(weight).max().unwrap_or(0);
    let counts = profile
        .total()
        .caches
        .into_iter()
        .next()
        .unwrap_or_default();
    let titles = names(&counts).into_iter();
    let titles: Vec<String> = titles.map(|name| format!("{name} misses")).collect();
    let mut all: Vec<Column> = vec![("line", true), ("source", false), ("accesses", true)];
    all.extend(titles.iter().map(|title| (title.as_str(), true)));
    let rows = text.lines().enumerate().map(|(index, line)| {
        let number = index as u32 + 1;
        let cells = vec![number.to_string(), line.replace('\t', "    ")];
        match lines.get(&number) {
            Some(row) => (weight(row) * 10 >= hottest.max(1), figures(row, 0, cells)),
            None => (false, cells),
        }
    });
    table(html, class, &all, &rows.collect::<Vec<_>>());
}

/// The misses of a row, or its accesses if there are no caches.
fn weight(row: &ViewRow) -> u64 {
    match row.caches.is_empty() {
        true => row.references.accesses(),
        false => row.last_level_misses(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_memory::References;
    use veneer_memory::profile::{AccessRow, CacheCounts, LevelCount, SharingRow, Site};

    fn profile() -> MemoryProfile {
        let site = |class: &str, line| Site {
            class: class.into(),
            method: "m()V".into(),
            line: Some(line),
            field: "long[]".into(),
        };
        let row = |site, misses| AccessRow {
            site,
            type_id: Some(0),
            references: References {
                reads: 100,
                ..References::default()
            },
            caches: vec![CacheCounts {
                levels: vec![LevelCount {
                    lookups: 100,
                    misses,
                    margin: 0,
                }],
                ..CacheCounts::default()
            }],
            ..AccessRow::default()
        };
        MemoryProfile {
            program: "<script>alert('x')</script> & \"y\"".into(),
            caches: vec!["L1:1K/2/64".into()],
            sites: vec![site("a.B", 2), site("a.B", 3)],
            types: vec!["<b>".into()],
            accesses: vec![row(0, 90), row(1, 1)],
            sharing: vec![SharingRow::default()],
            notes: vec!["a & b".into()],
            ..MemoryProfile::default()
        }
    }

    #[test]
    fn all_texts_are_escaped_and_nothing_is_loaded() {
        let html = page(&profile(), None);
        assert!(html.contains("&lt;script&gt;alert(&#39;x&#39;)"), "{html}");
        assert!(html.contains("<td class=\"m\">&lt;b&gt;</td>"), "{html}");
        assert!(html.contains("a &amp; b"));
        for foreign in ["<script", "src=", "href=", "http", "<b>", "@import", "url("] {
            assert!(!html.contains(foreign), "{foreign}");
        }
        assert!(html.contains("<td class=\"n\">90 (90.0%)</td>"), "{html}");
        assert_eq!(escaped("\u{0}\u{1b}a\tb"), "\u{fffd}\u{fffd}a\tb");
    }

    #[test]
    fn hot_lines_of_a_source_are_marked() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(scratch.path().join("a")).unwrap();
        let source = "class B {\n  long x = a[i] < b; // hot\n  long y;\n}\n";
        std::fs::write(scratch.path().join("a/B.java"), source).unwrap();
        let html = page(&profile(), Some(scratch.path()));
        let hot = "<tr class=\"hot\"><td class=\"n\">2</td><td class=\"m\">  long x = a[i] &lt; b; // hot</td>";
        assert!(html.contains(hot), "{html}");
        assert_eq!(html.matches("class=\"hot\"").count(), 1);
        assert!(html.contains("<td class=\"n\">3</td><td class=\"m\">  long y;</td>"));
    }
}
