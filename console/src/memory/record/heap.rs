//! Makes a memory profile of a recording of heap allocations.
//!
//! ```text
//!   points of a report ─▶ allocations in the bytecode, by site ─┐
//!   heap.samples ───────▶ estimates of those on the heap ───────┼─▶ MemoryProfile
//!   names ──────────────▶ names of types ───────────────────────┘
//! ```

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use veneer_instruments::PointRow;
use veneer_memory::heap::{HEAP_FILE, HeapSamples, HeapScale, HeapTally};
use veneer_memory::profile::{AllocationRow, MemoryProfile, Site};
use veneer_names::site_id;
use veneer_traces::Names;

use super::assemble::instruction;
use crate::quantity::quantity;

/// The note of a recording for which the JVM gave no samples.
const NO_SAMPLES: &str = "The JVM gave no samples of the heap: another agent may take them.";

/// The share of the samples from which on a note tells of large objects.
const LARGE_SHARE: f64 = 0.05;

/// An allocation of the bytecode.
struct Allocation<'r> {
    row: &'r PointRow,
    index: u16,
    /// The text without the bytecode index: `new shop.Order`.
    text: &'r str,
    objects: u64,
}

/// The profile of a recording whose file of samples is in a directory.
///
/// # Errors
/// The directory has no readable names, or its samples cannot be read.
pub fn profile(directory: &Path, points: &[PointRow]) -> Result<MemoryProfile> {
    let failed = || format!("{} cannot be read", directory.display());
    let names = Names::read(directory).with_context(failed)?;
    let file = directory.join(HEAP_FILE);
    let samples = HeapSamples::read(&file).with_context(|| file.display().to_string())?;
    Ok(assemble(&allocations(points), &samples, &names))
}

/// The allocations by the number of their instruction. Classes of one name in several loaders have points of
/// their own, which are summed.
fn allocations(points: &[PointRow]) -> HashMap<u64, Allocation<'_>> {
    let mut all: HashMap<u64, Allocation> = HashMap::new();
    for row in points {
        let Some((text, index)) = instruction(row) else {
            continue;
        };
        let number = site_id(&row.class, &row.method, index).cast_unsigned();
        let known = all.entry(number).or_insert(Allocation {
            row,
            index,
            text,
            objects: 0,
        });
        known.objects += row.data.hits();
    }
    all
}

fn assemble(
    allocations: &HashMap<u64, Allocation<'_>>,
    samples: &HeapSamples,
    names: &Names,
) -> MemoryProfile {
    let mut profile = MemoryProfile::default();
    let (mut tallies, mut elsewhere) = (HashMap::<u64, HeapTally>::new(), HeapTally::default());
    for sample in &samples.samples {
        let tally = match allocations.contains_key(&sample.site) {
            true => tallies.entry(sample.site).or_default(),
            false => &mut elsewhere,
        };
        tally.add(sample.object_bytes, sample.samples, samples.interval);
    }
    let sizes = samples.sizes.iter();
    let sizes = sizes.filter_map(|size| Some((names.text(size.type_id)?, size.object_bytes)));
    let sizes: HashMap<&str, u64> = sizes.collect();
    let scale = (!samples.is_refused).then(|| scale(samples));
    let mut types: HashMap<&str, u32> = HashMap::new();
    let mut sites: Vec<(&u64, &Allocation)> = allocations.iter().collect();
    sites.sort_by_key(|(_, one)| (&one.row.class, &one.row.method, one.index));
    for (number, one) in sites {
        let tally = tallies.get(number);
        if one.objects == 0 && tally.is_none() {
            continue;
        }
        let name = one.text.strip_prefix("new ").unwrap_or(one.text);
        let type_id = *types.entry(name).or_insert_with(|| {
            profile.types.push(name.into());
            profile.types.len() as u32 - 1
        });
        profile.sites.push(Site {
            class: one.row.class.as_str().into(),
            method: one.row.method.as_str().into(),
            line: one.row.line.map(u32::from),
            field: one.text.into(),
        });
        let size = sizes.get(name).copied();
        let estimate = scale.map(|scale| tally.copied().unwrap_or_default().estimate(size, scale));
        profile.allocations.push(AllocationRow {
            site: profile.sites.len() as u32 - 1,
            type_id,
            objects: one.objects,
            bytes: size.map_or(0, |size| size.saturating_mul(one.objects)),
            heap_objects: estimate.map(|heap| heap.objects),
            heap_objects_margin: estimate.map(|heap| heap.objects_margin),
            heap_bytes: estimate.map(|heap| heap.bytes),
            heap_bytes_margin: estimate.map(|heap| heap.bytes_margin),
            lifetimes: None,
        });
    }
    profile.notes = notes(samples, elsewhere);
    profile
}

fn scale(samples: &HeapSamples) -> HeapScale {
    let sizes = samples.samples.iter();
    let sizes = sizes.map(|sample| (sample.object_bytes, sample.samples));
    HeapScale::new(samples.interval, sizes)
}

/// The sentences on the limits of the recording.
fn notes(samples: &HeapSamples, elsewhere: HeapTally) -> Vec<String> {
    if samples.is_refused {
        return vec![NO_SAMPLES.into()];
    }
    let taken: u64 = samples.samples.iter().map(|sample| sample.samples).sum();
    let mut notes = vec![format!(
        "The JVM took {}, one for each {} bytes in the mean. The error holds in 99 of 100 recordings.",
        quantity(taken, "sample"),
        samples.interval
    )];
    let other = elsewhere.estimate(None, scale(samples));
    if elsewhere.samples() > 0 {
        notes.push(format!(
            "Other code, such as that of the JDK, allocated {} ± {} bytes on the heap.",
            other.bytes, other.bytes_margin
        ));
    }
    if scale(samples).large_share() > LARGE_SHARE {
        notes.push(format!(
            "Many samples are of objects of more than {} bytes. The JVM takes the samples after them too early; \
             a longer interval (--heap=) is more exact.",
            samples.interval / 8
        ));
    }
    if samples.lost > 0 {
        notes.push(format!(
            "{} found no room.",
            quantity(samples.lost, "sample")
        ));
    }
    notes
}
