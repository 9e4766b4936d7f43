//! The rows of a profile, summed by one property.

use ahash::RandomState;
use indexmap::IndexMap;

use super::{AccessRow, CacheCounts, MemoryProfile, Site};
use crate::ledger::References;

/// A property by which rows are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The method that contains the instruction, with its class and descriptor.
    Method,
    /// A source line.
    Line,
    /// The dynamic type of the accessed object.
    Type,
    /// The accessed field, or the element type of the accessed array.
    Field,
    /// The instruction: method, source line and field.
    Site,
    /// The accessed objects, by their allocation sites.
    Object,
}

impl Dimension {
    /// All dimensions with their names.
    pub const ALL: [(&'static str, Dimension); 6] = [
        ("method", Dimension::Method),
        ("line", Dimension::Line),
        ("type", Dimension::Type),
        ("field", Dimension::Field),
        ("site", Dimension::Site),
        ("object", Dimension::Object),
    ];

    /// The name in [`Dimension::ALL`].
    pub fn name(self) -> &'static str {
        let found = Dimension::ALL.iter().find(|(_, one)| *one == self);
        found.map_or("", |(name, _)| name)
    }
}

/// The sum of the rows with one value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewRow {
    /// The value of the property, as text.
    pub name: String,
    /// The numbers of reads, writes and instruction fetches, and the bytes that were read and
    /// written.
    pub references: References,
    /// The lookups in each of [`MemoryProfile::caches`].
    pub caches: Vec<CacheCounts>,
}

impl ViewRow {
    fn new(name: String) -> ViewRow {
        ViewRow {
            name,
            references: References::default(),
            caches: Vec::new(),
        }
    }

    /// Adds the counts of a row of the profile.
    pub fn add(&mut self, row: &AccessRow) {
        self.references.add(&row.references);
        self.caches.resize(
            self.caches.len().max(row.caches.len()),
            CacheCounts::default(),
        );
        for (sum, more) in self.caches.iter_mut().zip(&row.caches) {
            sum.add(more);
        }
    }

    /// Returns the misses of the last level of the first description that has levels, for sorting.
    pub fn last_level_misses(&self) -> u64 {
        let levels = self.caches.first().map(|counts| counts.levels.as_slice());
        levels.and_then(<[_]>::last).map_or(0, |level| level.misses)
    }

    fn first_level_misses(&self) -> u64 {
        let levels = self.caches.first().map(|counts| counts.levels.as_slice());
        levels
            .and_then(<[_]>::first)
            .map_or(0, |level| level.misses)
    }
}

/// The text for rows without the property.
const NONE: &str = "(none)";
/// The text for accesses to objects that no recorded instruction allocated during the recording, if the
/// profile has allocation sites of objects.
const ELSEWHERE: &str = "(allocated before or elsewhere)";

impl MemoryProfile {
    /// Sums all rows by a property. The rows with the most misses in the last level are first.
    pub fn view(&self, by: Dimension) -> Vec<ViewRow> {
        let mut rows: IndexMap<String, ViewRow, RandomState> = IndexMap::default();
        let has_origins = self.accesses.iter().any(|row| row.allocated_at.is_some());
        let without = match by == Dimension::Object && has_origins {
            true => ELSEWHERE,
            false => NONE,
        };
        for row in &self.accesses {
            let name = self.name(row, by).unwrap_or_else(|| without.into());
            let entry = rows.entry(name);
            let name = entry.key().clone();
            entry.or_insert_with(|| ViewRow::new(name)).add(row);
        }
        let mut rows: Vec<ViewRow> = rows.into_values().collect();
        rows.sort_by(|a, b| {
            let key = |row: &ViewRow| {
                (
                    row.last_level_misses(),
                    row.first_level_misses(),
                    row.references.accesses(),
                )
            };
            key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name))
        });
        rows
    }

    /// Returns the sum of all rows.
    pub fn total(&self) -> ViewRow {
        let mut total = ViewRow::new("total".into());
        self.accesses.iter().for_each(|row| total.add(row));
        total
    }

    /// Sums the rows of a class by source line.
    pub fn lines_of(&self, class: &str) -> Vec<(u32, ViewRow)> {
        let mut lines: IndexMap<u32, ViewRow, RandomState> = IndexMap::default();
        for row in &self.accesses {
            let site = self.sites.get(row.site as usize);
            if let Some(line) = site.filter(|s| *s.class == *class).and_then(|s| s.line) {
                let sum = || ViewRow::new(line.to_string());
                lines.entry(line).or_insert_with(sum).add(row);
            }
        }
        lines.sort_unstable_keys();
        lines.into_iter().collect()
    }

    fn name(&self, row: &AccessRow, by: Dimension) -> Option<String> {
        let site = |index: u32| self.sites.get(index as usize);
        match by {
            Dimension::Method => site(row.site).map(Site::method_name),
            Dimension::Line => site(row.site).map(Site::line_name),
            Dimension::Site => site(row.site).map(Site::name),
            Dimension::Field => site(row.site)
                .map(|site| site.field.to_string())
                .filter(|field| !field.is_empty()),
            Dimension::Type => row
                .type_id
                .and_then(|index| self.types.get(index as usize).map(ToString::to_string)),
            Dimension::Object => row.allocated_at.and_then(site).map(Site::name),
        }
    }
}

impl Site {
    /// Returns `a.b.C::m(I)V`, or the method alone if the site has no class.
    pub fn method_name(&self) -> String {
        match self.class.is_empty() {
            true => self.method.to_string(),
            false => format!("{}::{}", self.class, self.method),
        }
    }

    /// Returns `a.b.C::m(I)V:12`.
    pub fn line_name(&self) -> String {
        match self.line {
            None => self.method_name(),
            Some(line) => format!("{}:{line}", self.method_name()),
        }
    }

    /// Returns the line and the field.
    pub fn name(&self) -> String {
        match self.field.is_empty() {
            true => self.line_name(),
            false => format!("{} {}", self.line_name(), self.field),
        }
    }
}
