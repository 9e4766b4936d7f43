//! Writes a profile as a file.

use std::io::{self, Write};

use indexmap::IndexSet;

use super::encoding::{write_number, write_optional, write_text};
use super::{
    AccessRow, AllocationRow, CacheCounts, LevelCount, MAGIC, MAJOR, MINOR, MemoryProfile,
    SharingRow, ThreadRow,
};
use crate::histogram::LogHistogram;
use crate::lifetimes::Lifetimes;
use crate::miss_curve::MissCurve;

/// The rows of one section. A file that is cut in the middle keeps the sections before the cut.
const ROWS_PER_SECTION: usize = 4096;

impl MemoryProfile {
    /// Writes the file.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&MAGIC)?;
        to.write_all(&[MAJOR, MINOR])?;
        let mut payload = Vec::new();
        write_text(&mut payload, &self.program);
        write_texts(&mut payload, &self.caches);
        section(to, *b"HEAD", &payload)?;

        let mut names = IndexSet::new();
        for site in &self.sites {
            for text in [&site.class, &site.method, &site.field] {
                names.insert(&**text);
            }
        }
        names.extend(self.types.iter().map(|name| &**name));
        let index = |text: &str| names.get_index_of(text).unwrap_or(0) as u64;
        payload.clear();
        write_number(&mut payload, names.len() as u64);
        names.iter().for_each(|name| write_text(&mut payload, name));
        section(to, *b"NAME", &payload)?;

        payload.clear();
        write_number(&mut payload, self.sites.len() as u64);
        for site in &self.sites {
            write_number(&mut payload, index(&site.class));
            write_number(&mut payload, index(&site.method));
            write_optional(&mut payload, site.line.map(u64::from));
            write_number(&mut payload, index(&site.field));
        }
        section(to, *b"SITE", &payload)?;

        payload.clear();
        write_number(&mut payload, self.types.len() as u64);
        for name in &self.types {
            write_number(&mut payload, index(name));
        }
        section(to, *b"TYPE", &payload)?;

        rows(to, *b"ACCS", &self.accesses, write_access)?;
        rows(to, *b"ALLO", &self.allocations, write_allocation)?;
        rows(to, *b"shar", &self.sharing, write_sharing)?;
        rows(to, *b"curv", &self.curves, write_curve)?;
        rows(to, *b"thrd", &self.threads, write_thread)?;
        payload.clear();
        write_texts(&mut payload, &self.notes);
        section(to, *b"note", &payload)?;

        payload.clear();
        for length in [
            self.accesses.len(),
            self.allocations.len(),
            self.sharing.len(),
            self.curves.len(),
            self.threads.len(),
        ] {
            write_number(&mut payload, length as u64);
        }
        section(to, *b"END ", &payload)
    }
}

/// Writes tag, length, payload and checksum.
fn section(to: &mut impl Write, tag: [u8; 4], payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a section exceeds 4 GiB"))?
        .to_le_bytes();
    let mut checksum = crc32fast::Hasher::new();
    for part in [&tag[..], &length, payload] {
        checksum.update(part);
        to.write_all(part)?;
    }
    to.write_all(&checksum.finalize().to_le_bytes())
}

fn rows<T>(
    to: &mut impl Write,
    tag: [u8; 4],
    rows: &[T],
    write: impl Fn(&mut Vec<u8>, &T),
) -> io::Result<()> {
    for chunk in rows.chunks(ROWS_PER_SECTION) {
        let mut payload = Vec::new();
        write_number(&mut payload, chunk.len() as u64);
        for row in chunk {
            // Each row has its length first, so that an older reader skips fields that it does not know.
            let mut bytes = Vec::new();
            write(&mut bytes, row);
            write_number(&mut payload, bytes.len() as u64);
            payload.extend_from_slice(&bytes);
        }
        section(to, tag, &payload)?;
    }
    Ok(())
}

fn write_texts(to: &mut Vec<u8>, texts: &[String]) {
    write_number(to, texts.len() as u64);
    texts.iter().for_each(|text| write_text(to, text));
}

fn write_access(to: &mut Vec<u8>, row: &AccessRow) {
    write_number(to, u64::from(row.site));
    write_optional(to, row.type_id.map(u64::from));
    write_optional(to, row.allocated_at.map(u64::from));
    let references = &row.references;
    for number in [
        references.reads,
        references.writes,
        references.fetches,
        references.bytes_read,
        references.bytes_written,
    ] {
        write_number(to, number);
    }
    write_number(to, row.caches.len() as u64);
    for counts in &row.caches {
        write_counts(to, counts);
    }
}

fn write_counts(to: &mut Vec<u8>, counts: &CacheCounts) {
    for levels in [&counts.levels, &counts.instructions, &counts.tlbs] {
        write_number(to, levels.len() as u64);
        for LevelCount {
            lookups,
            misses,
            margin,
        } in levels
        {
            write_number(to, *lookups);
            write_number(to, *misses);
            write_number(to, *margin);
        }
    }
}

fn write_allocation(to: &mut Vec<u8>, row: &AllocationRow) {
    write_number(to, u64::from(row.site));
    write_number(to, u64::from(row.type_id));
    write_number(to, row.objects);
    write_number(to, row.bytes);
    write_optional(to, row.heap_objects);
    write_optional(to, row.heap_bytes);
    match &row.lifetimes {
        None => write_number(to, 0),
        Some(lifetimes) => {
            write_number(to, 1);
            write_lifetimes(to, lifetimes);
        }
    }
    // Since version 1.1.
    write_optional(to, row.heap_objects_margin);
    write_optional(to, row.heap_bytes_margin);
}

fn write_lifetimes(to: &mut Vec<u8>, lives: &Lifetimes) {
    for number in [
        lives.objects,
        lives.bytes,
        lives.void,
        lives.alive,
        lives.alive_bytes,
    ] {
        write_number(to, number);
    }
    for span in [&lives.used, &lives.drag, &lives.life] {
        span.iter()
            .for_each(|histogram| write_histogram(to, histogram));
    }
    write_histogram(to, &lives.survived);
}

/// Writes the number of filled buckets, and each bucket with its count.
fn write_histogram(to: &mut Vec<u8>, histogram: &LogHistogram) {
    let filled = || {
        histogram
            .counts()
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
    };
    write_number(to, filled().count() as u64);
    for (bucket, count) in filled() {
        write_number(to, bucket as u64);
        write_number(to, *count);
    }
}

fn write_curve(to: &mut Vec<u8>, curve: &MissCurve) {
    let head = [
        curve.line_bytes,
        curve.references,
        curve.points.len() as u64,
    ];
    head.into_iter().for_each(|number| write_number(to, number));
    for point in &curve.points {
        for number in [point.lines, point.misses, point.margin] {
            write_number(to, number);
        }
    }
}

fn write_thread(to: &mut Vec<u8>, row: &ThreadRow) {
    write_text(to, &row.name);
    write_number(to, row.objects);
    write_number(to, row.bytes);
}

fn write_sharing(to: &mut Vec<u8>, row: &SharingRow) {
    write_number(to, u64::from(row.writer));
    write_number(to, u64::from(row.other));
    write_number(to, row.true_misses);
    write_number(to, row.false_misses);
}
