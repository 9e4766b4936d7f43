//! A memory profile: the result of a measurement, as data and as a file.
//!
//! The file format is documented in `docs/memory-profile.md`. [`MemoryProfile::write`] and
//! [`ProfileFile::read`] implement it.

mod encoding;
mod error;
mod json;
mod lifetime_view;
mod reader;
mod view;
mod writer;

pub use error::{MAX_PROFILE_BYTES, ProfileError};
pub use json::{curve_json, rows_json, thread_json};
pub use lifetime_view::{LifetimeGroup, LifetimeRow};
pub use reader::ProfileFile;
pub use view::{Dimension, ViewRow};

pub use crate::estimate::UNKNOWN_MARGIN;

use std::sync::Arc;

use crate::ledger::References;
use crate::lifetimes::Lifetimes;
use crate::miss_curve::MissCurve;

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"VNRMEM\r\n";
/// The major version. A reader refuses files with another one.
pub const MAJOR: u8 = 1;
/// The minor version. A newer one adds sections or fields that an older reader can skip.
pub const MINOR: u8 = 2;

/// An instruction of the program, or a place outside any method. Sites share their names, so that a
/// small file cannot name a long class a million times and fill the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The class in Java form (`a.b.C`); empty for code that is not Java.
    pub class: Arc<str>,
    /// Name and descriptor of the method; for code that is not Java, the address.
    pub method: Arc<str>,
    /// The source line.
    pub line: Option<u32>,
    /// The field as `a.b.C.name`, or the element type as `int[]`. Empty if the site accesses none.
    pub field: Arc<str>,
}

/// Lookups of one level, exact or estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCount {
    /// Number of lookups in this level, hits and misses together.
    pub lookups: u64,
    /// Number of lookups that missed this level. `margin` states the error of this number.
    pub misses: u64,
    /// The stated error of `misses`: 0 if exact, [`UNKNOWN_MARGIN`] if unknown.
    pub margin: u64,
}

impl LevelCount {
    /// Adds the counts of other accesses. The margin of a sum is at most the sum of the margins.
    pub fn add(&mut self, other: &LevelCount) {
        self.lookups = self.lookups.saturating_add(other.lookups);
        self.misses = self.misses.saturating_add(other.misses);
        self.margin = self.margin.saturating_add(other.margin);
    }
}

/// The lookups in the caches and TLBs of one description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// The data caches, from L1 on.
    pub levels: Vec<LevelCount>,
    /// The first-level cache for instructions: one element or none.
    pub instructions: Vec<LevelCount>,
    /// The TLBs for data, from the first level on.
    pub tlbs: Vec<LevelCount>,
}

impl CacheCounts {
    /// Adds the counts of other accesses.
    pub fn add(&mut self, other: &CacheCounts) {
        for (sums, more) in [
            (&mut self.levels, &other.levels),
            (&mut self.instructions, &other.instructions),
            (&mut self.tlbs, &other.tlbs),
        ] {
            sums.resize(sums.len().max(more.len()), LevelCount::default());
            for (sum, more) in sums.iter_mut().zip(more) {
                sum.add(more);
            }
        }
    }
}

/// The accesses of one site to objects of one type and group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessRow {
    /// Index into [`MemoryProfile::sites`].
    pub site: u32,
    /// Index into [`MemoryProfile::types`].
    pub type_id: Option<u32>,
    /// The object group: an index into [`MemoryProfile::sites`], the allocation site of the object.
    pub allocated_at: Option<u32>,
    /// The numbers of reads, writes and instruction fetches, and the bytes that were read and
    /// written.
    pub references: References,
    /// The lookups in each of [`MemoryProfile::caches`].
    pub caches: Vec<CacheCounts>,
}

/// The allocations of one site and type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationRow {
    /// Index into [`MemoryProfile::sites`].
    pub site: u32,
    /// Index into [`MemoryProfile::types`].
    pub type_id: u32,
    /// Allocations in the bytecode.
    pub objects: u64,
    /// Total size in bytes of the objects that the bytecode allocated; 0 if it is not known.
    pub bytes: u64,
    /// Estimates from samples of the heap (JEP 331). They are smaller if the compiler has removed
    /// allocations.
    pub heap_objects: Option<u64>,
    /// Estimated size in bytes of the objects that were allocated on the heap, from the same
    /// samples.
    pub heap_bytes: Option<u64>,
    /// The stated error of `heap_objects`.
    pub heap_objects_margin: Option<u64>,
    /// The stated error of `heap_bytes`.
    pub heap_bytes_margin: Option<u64>,
    /// The lifetimes of the allocated objects, or `None` if the measurement has no lifetimes for
    /// this row.
    pub lifetimes: Option<Box<Lifetimes>>,
}

impl AllocationRow {
    /// The bytes that the bytecode allocated, if they are known.
    pub fn known_bytes(&self) -> Option<u64> {
        (self.bytes > 0 || self.objects == 0).then_some(self.bytes)
    }
}

/// The allocations of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRow {
    /// The name of the thread.
    pub name: String,
    /// The number of objects that it allocated.
    pub objects: u64,
    /// The size in bytes of these objects.
    pub bytes: u64,
}

/// Two sites whose threads share lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharingRow {
    /// Index into [`MemoryProfile::sites`]: the site that wrote.
    pub writer: u32,
    /// Index into [`MemoryProfile::sites`]: the site that found its copy invalid.
    pub other: u32,
    /// Number of invalidation misses of `other` that touched bytes written by other threads.
    pub true_misses: u64,
    /// Number of invalidation misses of `other` that touched only neighbours of the written bytes.
    pub false_misses: u64,
}

/// The result of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryProfile {
    /// The measured program or trace.
    pub program: String,
    /// The descriptions of the simulated caches.
    pub caches: Vec<String>,
    /// The sites to which the rows refer by index.
    pub sites: Vec<Site>,
    /// Types in Java form.
    pub types: Vec<Arc<str>>,
    /// The memory accesses, summed by site, type and object group.
    pub accesses: Vec<AccessRow>,
    /// The allocations, summed by allocation site and type.
    pub allocations: Vec<AllocationRow>,
    /// The pairs of sites whose threads share cache lines, with their invalidation misses.
    pub sharing: Vec<SharingRow>,
    /// The miss-ratio curves, one for each length of lines.
    pub curves: Vec<MissCurve>,
    /// The allocations by thread, if they are known.
    pub threads: Vec<ThreadRow>,
    /// Sentences on what the measurement did not see.
    pub notes: Vec<String>,
}

impl MemoryProfile {
    /// The name of the site with this index; empty if there is none.
    pub fn site_name(&self, site: u32) -> String {
        let site = self.sites.get(site as usize);
        site.map_or_else(String::new, Site::name)
    }

    /// The name of the line of the site with this index; empty if there is none.
    pub fn line_name(&self, site: u32) -> String {
        let site = self.sites.get(site as usize);
        site.map_or_else(String::new, Site::line_name)
    }

    /// The name of the type with this index; empty if there is none.
    pub fn type_name(&self, type_id: u32) -> String {
        let name = self.types.get(type_id as usize);
        name.map(ToString::to_string).unwrap_or_default()
    }
}
