//! Makes a memory profile of what an agent has recorded.
//!
//! ```text
//!   thread-N.accesses ─▶ counts by site number and type ──┐
//!   points of a report ─▶ method, line, field of a site ──┼─▶ MemoryProfile
//!   names ──────────────▶ names of types ─────────────────┘
//! ```
//!
//! The counter of a point has all accesses of its site. The tables have those to objects of other classes
//! than the primary one, whose accesses are the rest.
//!
//! The number of a site is a hash of its class, method and bytecode index
//! ([`veneer_names::site_id`]), so that the points of a report need no numbers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use veneer_instruments::PointRow;
use veneer_memory::accesses::{
    self, ACCESSES_SUFFIX, AccessEntry, AccessTable, CURVE_SUFFIX, LOCKED_ORIGIN, TableLayout,
};
use veneer_memory::profile::{
    AccessRow, AllocationRow, CacheCounts, LevelCount, MemoryProfile, SharingRow, Site, ThreadRow,
};
use veneer_memory::{MissCurve, References, parse_description};
use veneer_names::site_id;
use veneer_traces::Names;

use super::plan::{CURVE, OBJECTS, RecordedPoints, SAMPLE, SHARING};
use crate::quantity::quantity;

/// The name of sites whose points are not in the report.
const UNKNOWN_SITE: &str = "(unknown instructions)";

/// The name of the place where an object was allocated that another thread had locked.
const LOCKED_OBJECTS: &str = "(locked by another thread)";

/// The note of a recording with the allocation sites of objects.
const OBJECTS_NOTE: &str = "Objects that were allocated before the recording, or by code that is not recorded, \
    have no allocation site.";
/// The name of a thread that the files do not name.
const UNKNOWN_THREAD: &str = "(unknown thread)";
/// The most refused methods that a note names.
const NAMED_REFUSALS: usize = 5;

/// A site and a type.
type AllocationKey = (u32, u32);
/// The accesses of one site to objects of one type and one origin, which is 0 if it is not known.
type RowKey = (u32, u32, u32);

/// An instruction of the report.
struct RecordedSite {
    /// Its index in the profile.
    index: u32,
    /// The number of its executions.
    executions: u64,
    /// Whether it writes.
    is_write: bool,
    /// The type of the accessed objects, if it follows from the instruction.
    type_name: Option<String>,
}

/// The counts of one site and type, summed over the threads.
#[derive(Default)]
struct Counted {
    accesses: u64,
    bytes: u32,
    is_write: bool,
    is_primary: bool,
    is_allocation: bool,
    object_bytes: u64,
    counts: Vec<LevelCount>,
}

/// The profile while it is made.
struct Assembly {
    profile: MemoryProfile,
    layout: TableLayout,
    /// The instructions, by their numbers.
    sites: HashMap<u64, RecordedSite>,
    types: HashMap<String, u32>,
    counted: HashMap<RowKey, Counted>,
    allocations: HashMap<AllocationKey, AllocationRow>,
    /// The sites that allocate, by their numbers as origins.
    origins: HashMap<u32, u32>,
    /// By the site that wrote and the one that found its copy invalid.
    sharing: HashMap<(u32, u32), SharingRow>,
}

/// The profile of a recording whose files are in a directory.
///
/// # Errors
/// The directory has no readable files of a recording.
pub fn profile(
    directory: &Path,
    points: &RecordedPoints,
    caches: &[String],
) -> Result<MemoryProfile> {
    let failed = || format!("{} cannot be read", directory.display());
    let names = Names::read(directory).with_context(failed)?;
    let tables = read_tables(directory).with_context(failed)?;
    let parsed = caches
        .iter()
        .filter(|text| !matches!(text.as_str(), SHARING | SAMPLE | OBJECTS | CURVE));
    let parsed = parsed.map(|text| parse_description(text));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let curves = read_curves(directory).with_context(failed)?;
    let mut assembly = Assembly {
        profile: MemoryProfile {
            caches: parsed.iter().map(ToString::to_string).collect(),
            curves,
            threads: threads(&tables, &names),
            ..MemoryProfile::default()
        },
        layout: TableLayout::new(&parsed, caches.iter().any(|text| text == SAMPLE))?,
        sites: HashMap::new(),
        types: HashMap::new(),
        counted: HashMap::new(),
        allocations: HashMap::new(),
        origins: HashMap::new(),
        sharing: HashMap::new(),
    };
    assembly.add_points(&points.accesses);
    assembly.add_points(&points.allocations);
    for (_, table) in &tables {
        for entry in &table.entries {
            let type_name = names.text(entry.type_id.into()).unwrap_or("?");
            assembly.add_entry(entry, type_name, table.totals.windows);
        }
    }
    assembly.add_allocations(&points.allocations);
    assembly.add_accesses();
    assembly.note(&tables);
    if caches.iter().any(|text| text == OBJECTS) {
        assembly.profile.notes.push(OBJECTS_NOTE.into());
    }
    assembly.profile.notes.extend(refused_note(&points.refused));
    Ok(assembly.finish())
}

/// The tables in a directory, with the numbers of their threads.
fn read_tables(directory: &Path) -> Result<Vec<(u32, AccessTable)>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ACCESSES_SUFFIX) {
            let table = AccessTable::read(&path);
            let table = table.with_context(|| path.display().to_string())?;
            tables.push((thread_of_file(&path).unwrap_or(0), table));
        }
    }
    Ok(tables)
}

/// The number of the thread whose file is `thread-7.accesses`.
fn thread_of_file(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let number = name
        .strip_prefix("thread-")?
        .strip_suffix(ACCESSES_SUFFIX)?;
    number.parse().ok()
}

/// The allocations of each thread. Threads of one name are one row.
fn threads(tables: &[(u32, AccessTable)], names: &Names) -> Vec<ThreadRow> {
    let mut rows: BTreeMap<&str, ThreadRow> = BTreeMap::new();
    for (number, table) in tables {
        let allocations = || table.entries.iter().filter(|entry| entry.is_allocation);
        let objects = allocations().map(|entry| entry.objects).sum::<u64>();
        if objects == 0 {
            continue;
        }
        let name = names.threads.get(number);
        let name = name.map_or(UNKNOWN_THREAD, |thread| thread.name.as_str());
        let row = rows.entry(name).or_default();
        row.objects += objects;
        row.bytes += allocations().map(|entry| entry.object_bytes).sum::<u64>();
    }
    let named = rows.into_iter().map(|(name, row)| ThreadRow {
        name: name.to_owned(),
        ..row
    });
    let mut rows: Vec<ThreadRow> = named.collect();
    rows.sort_by_key(|row| Reverse(row.bytes));
    rows
}

/// The sums of the miss-ratio curves of all threads, one for each length of lines.
fn read_curves(directory: &Path) -> Result<Vec<MissCurve>> {
    let mut sums: BTreeMap<u64, MissCurve> = BTreeMap::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if !path.to_string_lossy().ends_with(CURVE_SUFFIX) {
            continue;
        }
        let curves = accesses::read_curves(&path);
        for curve in curves.with_context(|| path.display().to_string())? {
            let empty = MissCurve {
                line_bytes: curve.line_bytes,
                ..MissCurve::default()
            };
            let sum = sums.entry(curve.line_bytes).or_insert(empty);
            sum.add(&curve);
        }
    }
    Ok(sums.into_values().collect())
}

/// The text and the bytecode index of an instruction: `read shop.Order.total @12`.
pub(super) fn instruction(row: &PointRow) -> Option<(&str, u16)> {
    let (text, index) = row.what.as_deref()?.rsplit_once(" @")?;
    Some((text, index.parse().ok()?))
}

/// The bytes of an element; 0 for other types than arrays of primitive values.
fn element_bytes(type_name: &str) -> u32 {
    match type_name {
        "byte[]" | "boolean[]" => 1,
        "char[]" | "short[]" => 2,
        "int[]" | "float[]" => 4,
        "long[]" | "double[]" => 8,
        _ => 0,
    }
}

/// The field or the type of array in the text of an instruction.
fn accessed(text: &str) -> &str {
    let named = text.strip_prefix("read ").or(text.strip_prefix("write "));
    match text.starts_with("new ") {
        true => text,
        false => named.unwrap_or_default(),
    }
}

impl RecordedSite {
    fn new(index: u32, text: &str, executions: u64) -> RecordedSite {
        let named = text.strip_prefix("read ").or(text.strip_prefix("write "));
        let type_name = named.map(|name| match name.rsplit_once('.') {
            Some((class, _)) if !name.ends_with("[]") => class,
            _ => name,
        });
        RecordedSite {
            index,
            executions,
            is_write: text.starts_with("write ") || text.ends_with("astore"),
            type_name: type_name.map(str::to_owned),
        }
    }
}

impl Assembly {
    /// Adds the sites of a report.
    fn add_points(&mut self, rows: &[PointRow]) {
        for row in rows {
            let Some((text, index)) = instruction(row) else {
                continue;
            };
            let number = site_id(&row.class, &row.method, index) as u64;
            let sites = &mut self.profile.sites;
            let site = self.sites.entry(number).or_insert_with(|| {
                sites.push(Site {
                    class: row.class.as_str().into(),
                    method: row.method.as_str().into(),
                    line: row.line.map(u32::from),
                    field: accessed(text).into(),
                });
                RecordedSite::new(sites.len() as u32 - 1, text, 0)
            });
            // Classes of one name in several loaders have points of their own.
            site.executions += row.data.hits();
        }
    }

    /// The index of a site, which may be unknown.
    fn site(&mut self, number: u64) -> u32 {
        if let Some(site) = self.sites.get(&number) {
            return site.index;
        }
        // All unknown sites are one.
        let sites = &mut self.profile.sites;
        let unknown = self.sites.entry(0).or_insert_with(|| {
            sites.push(Site {
                method: UNKNOWN_SITE.into(),
                ..Site::default()
            });
            RecordedSite::new(sites.len() as u32 - 1, "", 0)
        });
        unknown.index
    }

    fn type_index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.types.get(name) {
            return *index;
        }
        let types = &mut self.profile.types;
        types.push(name.into());
        let index = types.len() as u32 - 1;
        self.types.insert(name.into(), index);
        index
    }

    /// Adds the accesses of a site to lines that another thread had written.
    fn add_sharing(&mut self, entry: &AccessEntry, writer: u64) {
        let key = (self.site(writer), self.site(entry.site));
        let row = self.sharing.entry(key).or_insert_with(|| SharingRow {
            writer: key.0,
            other: key.1,
            ..SharingRow::default()
        });
        row.true_misses += entry.accesses;
        row.false_misses += entry.object_bytes;
    }

    /// Adds an entry of a thread's table. `windows` is the number of windows of a sample, or 0.
    fn add_entry(&mut self, entry: &AccessEntry, type_name: &str, windows: u64) {
        if let Some(writer) = entry.written_at {
            return self.add_sharing(entry, writer);
        }
        let key = (self.site(entry.site), self.type_index(type_name));
        if entry.is_allocation && entry.origin != 0 {
            self.origins.insert(entry.origin, key.0);
        }
        let site = &mut self.profile.sites[key.0 as usize];
        if site.field.is_empty() && type_name.ends_with("[]") {
            site.field = type_name.into();
        }
        if entry.is_allocation {
            let row = self.allocations.entry(key).or_default();
            row.objects += entry.objects;
            row.bytes += entry.object_bytes;
        }
        let counted = self
            .counted
            .entry((key.0, key.1, entry.origin))
            .or_default();
        counted.accesses += entry.accesses;
        counted.object_bytes += entry.object_bytes;
        counted.bytes = entry.bytes;
        counted.is_write = entry.is_write;
        counted.is_primary |= entry.is_primary;
        counted.is_allocation = entry.is_allocation;
        let counts = &mut counted.counts;
        counts.resize(entry.counts.len(), LevelCount::default());
        for (sum, more) in counts.iter_mut().zip(&entry.counts) {
            sum.add(&LevelCount {
                lookups: more.lookups,
                misses: more.misses,
                margin: match windows {
                    0 => 0,
                    _ => more.sums.margin(more.lookups, more.misses),
                },
            });
        }
    }

    /// Makes the rows of accesses.
    fn add_accesses(&mut self) {
        let mut others: HashMap<u32, u64> = HashMap::new();
        let mut with_primary = HashSet::new();
        for ((site, ..), counted) in &self.counted {
            if counted.is_primary {
                with_primary.insert(*site);
            } else {
                *others.entry(*site).or_default() += counted.accesses;
            }
        }
        let executions = self
            .sites
            .values()
            .map(|site| (site.index, site.executions));
        let executions: HashMap<u32, u64> = executions.collect();
        self.add_locked_objects();
        for ((site, type_id, origin), mut counted) in std::mem::take(&mut self.counted) {
            if counted.is_primary {
                let all = executions.get(&site).copied().unwrap_or(0);
                let rest = all.saturating_sub(others.get(&site).copied().unwrap_or(0));
                counted.accesses = counted.accesses.max(rest);
            }
            let row = self.row((site, type_id, origin), &counted);
            self.profile.accesses.push(row);
        }
        self.add_accesses_without_entry(&with_primary, &others);
        self.profile
            .accesses
            .sort_by_key(|row| (row.site, row.type_id, row.allocated_at));
    }

    /// Adds a place for the objects whose origin could not be read, if there are any.
    fn add_locked_objects(&mut self) {
        if self.counted.keys().any(|key| key.2 == LOCKED_ORIGIN) {
            let sites = &mut self.profile.sites;
            sites.push(Site {
                method: LOCKED_OBJECTS.into(),
                ..Site::default()
            });
            self.origins.insert(LOCKED_ORIGIN, sites.len() as u32 - 1);
        }
    }

    /// Adds the accesses of sites that have no entry for their primary class, because no caches were
    /// simulated.
    fn add_accesses_without_entry(
        &mut self,
        with_primary: &HashSet<u32>,
        others: &HashMap<u32, u64>,
    ) {
        let sites = std::mem::take(&mut self.sites);
        for site in sites.values() {
            let is_allocation = self.profile.sites[site.index as usize]
                .field
                .starts_with("new ");
            let seen = others.get(&site.index).copied().unwrap_or(0);
            let accesses = site.executions.saturating_sub(seen);
            if is_allocation || accesses == 0 || with_primary.contains(&site.index) {
                continue;
            }
            let type_id = match &site.type_name {
                Some(name) => self.type_index(name),
                None => continue,
            };
            let counted = Counted {
                accesses,
                bytes: site.type_name.as_deref().map_or(0, element_bytes),
                is_write: site.is_write,
                ..Counted::default()
            };
            let row = self.row((site.index, type_id, 0), &counted);
            self.profile.accesses.push(row);
        }
    }

    fn row(&self, (site, type_id, origin): RowKey, counted: &Counted) -> AccessRow {
        AccessRow {
            site,
            type_id: Some(type_id),
            allocated_at: self.origins.get(&origin).copied(),
            references: references(counted),
            caches: self.caches(counted),
        }
    }

    /// The counts of a site and type for each description.
    fn caches(&self, counted: &Counted) -> Vec<CacheCounts> {
        let mut counts = counted.counts.iter().copied();
        let mut caches = Vec::new();
        for (levels, tlbs) in &self.layout.descriptions {
            // The fast path counts no lookups of L1, and does not exist if there is a TLB.
            let mut of = |rows: usize, first: Option<u64>| -> Vec<LevelCount> {
                let level = |n: usize| {
                    let count = counts.next().unwrap_or_default();
                    LevelCount {
                        lookups: first.filter(|_| n == 0).unwrap_or(count.lookups),
                        ..count
                    }
                };
                (0..rows).map(level).collect()
            };
            caches.push(CacheCounts {
                levels: of(levels.len(), Some(counted.accesses)),
                tlbs: of(tlbs.len(), None),
                instructions: Vec::new(),
            });
        }
        caches
    }

    /// Adds the allocations that were counted but not seen after their constructor, and those of
    /// constructors that threw.
    fn add_allocations(&mut self, rows: &[PointRow]) {
        for row in rows {
            let Some((text, index)) = instruction(row) else {
                continue;
            };
            let objects = row.data.hits();
            let Some(type_name) = text.strip_prefix("new ").filter(|_| objects > 0) else {
                continue;
            };
            let number = site_id(&row.class, &row.method, index) as u64;
            let key = (self.site(number), self.type_index(type_name));
            let row = self.allocations.entry(key).or_default();
            if objects > row.objects && row.objects > 0 {
                row.bytes += row.bytes / row.objects * (objects - row.objects);
            }
            row.objects = row.objects.max(objects);
        }
    }

    fn note(&mut self, tables: &[(u32, AccessTable)]) {
        let notes = &mut self.profile.notes;
        if !self.layout.descriptions.is_empty() {
            notes.push(
                "Each thread has caches of its own. Collections that move objects empty them."
                    .into(),
            );
        }
        let windows = tables.iter().map(|(_, table)| table.totals.windows).max();
        if let Some(windows) = windows.filter(|windows| *windows > 0) {
            notes.push(format!(
                "A sample: the counts are those of {}, about 3 % of the time. Shares and ratios are those of \
                 the program; a margin holds in 99 of 100 samples.",
                quantity(windows, "window")
            ));
        }
        if !self.profile.curves.is_empty() {
            notes.push(
                "Miss-ratio curves: a fully associative LRU cache for each thread, from a sample of lines; a \
                 margin holds in 99 of 100 samples."
                    .into(),
            );
        }
        let collections = tables
            .iter()
            .map(|(_, table)| table.totals.collections)
            .sum::<u64>();
        if collections > 0 {
            let threads = quantity(tables.len() as u64, "thread");
            notes.push(format!(
                "The caches of {threads} were emptied {collections} times in all."
            ));
        }
        let lost = tables
            .iter()
            .map(|(_, table)| table.totals.lost)
            .sum::<u64>();
        if lost > 0 {
            notes.push(format!(
                "{lost} accesses found no room in the table of their thread, and have no site."
            ));
        }
    }

    fn finish(mut self) -> MemoryProfile {
        let allocations = self.allocations.into_iter();
        let mut allocations: Vec<AllocationRow> = allocations
            .map(|((site, type_id), row)| AllocationRow {
                site,
                type_id,
                ..row
            })
            .collect();
        allocations.sort_by_key(|row| (row.site, row.type_id));
        self.profile.allocations = allocations;
        let mut sharing: Vec<SharingRow> = self.sharing.into_values().collect();
        let key = |row: &SharingRow| (Reverse(row.false_misses + row.true_misses), row.writer);
        sharing.sort_by_key(key);
        self.profile.sharing = sharing;
        self.profile
    }
}

/// The note that names the methods which were not recorded.
fn refused_note(refused: &[String]) -> Option<String> {
    let (named, more) = refused.split_at(refused.len().min(NAMED_REFUSALS));
    let more = match more.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let note = format!(
        "Not recorded (docs/refusals.md has the reasons): {}{more}.",
        named.join(", ")
    );
    (!refused.is_empty()).then_some(note)
}

fn references(counted: &Counted) -> References {
    let accesses = counted.accesses;
    let bytes = match counted.is_allocation {
        true => counted.object_bytes,
        false => accesses * u64::from(counted.bytes),
    };
    match counted.is_write {
        true => References {
            writes: accesses,
            bytes_written: bytes,
            ..References::default()
        },
        false => References {
            reads: accesses,
            bytes_read: bytes,
            ..References::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_the_first_methods_that_are_refused() {
        assert_eq!(refused_note(&[]), None);
        let all: Vec<String> = (0..7).map(|n| format!("a.B::m{n}()V (TooLarge)")).collect();
        let note = refused_note(&all).unwrap();
        assert!(note.contains("a.B::m4()V (TooLarge) and 2 more."), "{note}");
        let note = refused_note(&all[..1]).unwrap();
        assert!(note.ends_with(": a.B::m0()V (TooLarge)."), "{note}");
    }
}
