//! `veneer memory show --annotate`: the source lines of a class with their misses.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use veneer_memory::profile::{MemoryProfile, ViewRow};

use super::render::{columns, misses, names};
use crate::output::Style;
use crate::table;

/// The most columns of counts, as in the tables.
const COUNT_COLUMNS: usize = 7;

/// Writes all lines of the source; without a source, the lines that have accesses. The counts are
/// those of the first cache description.
pub(super) fn annotate(
    to: &mut impl Write,
    profile: &MemoryProfile,
    class: &str,
    source: Option<&Path>,
    style: Style,
) -> Result<()> {
    let measured: BTreeMap<u32, ViewRow> = profile.lines_of(class).into_iter().collect();
    if measured.is_empty() {
        let mut classes: Vec<&str> = profile.sites.iter().map(|s| &*s.class).collect();
        classes.retain(|name| !name.is_empty());
        classes.sort_unstable();
        classes.dedup();
        let known = match classes.len() {
            0 => "no class".into(),
            n if n > 10 => format!("{}, …", classes[..10].join(", ")),
            _ => classes.join(", "),
        };
        bail!("the profile has no source line of the class {class}; it has lines of {known}");
    }
    let text = source.map(|path| read_source(path, class)).transpose()?;
    let text: Vec<&str> = text.iter().flat_map(|text| text.lines()).collect();
    let last = measured.keys().next_back().copied().unwrap_or(0);
    let row = |number: u32| {
        let line = text
            .get((number as usize).wrapping_sub(1))
            .copied()
            .unwrap_or("");
        let mut cells = vec![number.to_string(), line.replace('\t', "    ")];
        if let Some(row) = measured.get(&number) {
            cells.push(row.references.accesses().to_string());
            let counts = row.caches.first();
            cells.extend(counts.into_iter().flat_map(columns).map(misses));
        }
        cells.resize(COUNT_COLUMNS + 3, String::new());
        std::array::from_fn(|i| cells[i].clone())
    };
    let cells: Vec<[String; COUNT_COLUMNS + 3]> = match text.is_empty() {
        true => measured.keys().map(|number| row(*number)).collect(),
        false => (1..=(text.len() as u32).max(last)).map(row).collect(),
    };
    let counts = profile
        .total()
        .caches
        .into_iter()
        .next()
        .unwrap_or_default();
    let mut titles = vec!["line".to_owned(), class.to_owned(), "accesses".into()];
    titles.extend(
        names(&counts)
            .into_iter()
            .map(|name| format!("{name} misses")),
    );
    let titles: [&str; COUNT_COLUMNS + 3] =
        std::array::from_fn(|i| titles.get(i).map_or("", String::as_str));
    table::write(to, titles, &cells, style)?;
    Ok(())
}

/// Reads the source of a class: `path` itself, or the file of the class below it.
pub(super) fn read_source(path: &Path, class: &str) -> Result<String> {
    let file = match path.is_dir() {
        true => source_file(path, class),
        false => path.to_path_buf(),
    };
    let bytes = std::fs::read(&file).map_err(|cause: io::Error| cause);
    let bytes = bytes.with_context(|| {
        format!(
            "{} cannot be read; name the source file with --source",
            file.display()
        )
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the file that the Java compiler would use for the outermost class.
fn source_file(folder: &Path, class: &str) -> PathBuf {
    let outer = class.split('$').next().unwrap_or(class);
    folder.join(outer.replace('.', "/") + ".java")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_class_has_the_file_of_the_outermost_class() {
        let file = source_file(Path::new("src"), "a.b.C$D$1");
        assert_eq!(file, Path::new("src/a/b/C.java"));
    }
}
