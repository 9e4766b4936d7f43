//! A view of a memory profile as JSON, as `docs/memory-profile.md` describes it.

use serde_json::{Value, json};

use super::{
    AllocationRow, CacheCounts, LevelCount, MemoryProfile, SharingRow, ThreadRow, UNKNOWN_MARGIN,
    ViewRow,
};
use crate::histogram::LogHistogram;
use crate::lifetimes::CLOCK_NAMES;
use crate::miss_curve::{CurvePoint, MissCurve};

impl MemoryProfile {
    /// The rows of a view, and everything that does not depend on the view. `by` is the name of the
    /// property of the rows.
    pub fn to_json(&self, by: &str, rows: &[ViewRow]) -> Value {
        let sharing = |row: &SharingRow| {
            json!({
                "writer": self.site_name(row.writer),
                "other": self.site_name(row.other),
                "true_misses": row.true_misses,
                "false_misses": row.false_misses,
            })
        };
        let allocation = |row| allocation_json(self, row);
        json!({
            "program": self.program,
            "caches": self.caches,
            "by": by,
            "total": row_json(&self.total()),
            "rows": rows_json(rows),
            "allocations": self.allocations.iter().map(allocation).collect::<Vec<_>>(),
            "sharing": self.sharing.iter().map(sharing).collect::<Vec<_>>(),
            "curves": self.curves.iter().map(curve_json).collect::<Vec<_>>(),
            "threads": self.threads.iter().map(thread_json).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

/// A miss-ratio curve: its points with their sizes in bytes.
pub fn curve_json(curve: &MissCurve) -> Value {
    let point = |point: &CurvePoint| {
        json!({
            "bytes": point.lines.saturating_mul(curve.line_bytes),
            "misses": point.misses,
            "margin": (point.margin != UNKNOWN_MARGIN).then_some(point.margin),
        })
    };
    json!({
        "line_bytes": curve.line_bytes,
        "references": curve.references,
        "points": curve.points.iter().map(point).collect::<Vec<_>>(),
    })
}

/// The allocations of a thread.
pub fn thread_json(row: &ThreadRow) -> Value {
    json!({ "name": row.name, "objects": row.objects, "bytes": row.bytes })
}

/// The rows of a view.
pub fn rows_json(rows: &[ViewRow]) -> Value {
    rows.iter().map(row_json).collect()
}

fn level_json(count: &LevelCount) -> Value {
    let margin = match count.margin {
        UNKNOWN_MARGIN => Value::Null,
        margin => json!(margin),
    };
    json!({ "lookups": count.lookups, "misses": count.misses, "margin": margin })
}

fn levels_json(levels: &[LevelCount]) -> Vec<Value> {
    levels.iter().map(level_json).collect()
}

fn row_json(row: &ViewRow) -> Value {
    let cache = |counts: &CacheCounts| {
        json!({
            "levels": levels_json(&counts.levels),
            "instructions": levels_json(&counts.instructions),
            "tlbs": levels_json(&counts.tlbs),
        })
    };
    let references = &row.references;
    json!({
        "name": row.name,
        "reads": references.reads,
        "writes": references.writes,
        "fetches": references.fetches,
        "bytes_read": references.bytes_read,
        "bytes_written": references.bytes_written,
        "caches": row.caches.iter().map(cache).collect::<Vec<_>>(),
    })
}

fn span_json(span: &[LogHistogram]) -> Value {
    let histogram = |histogram: &LogHistogram| {
        let counts = histogram.counts().iter().enumerate();
        let filled = counts.filter(|(_, count)| **count > 0);
        let rows = filled.map(|(b, n)| json!({ "from": LogHistogram::lower_bound(b), "count": n }));
        Value::Array(rows.collect())
    };
    let clocks = CLOCK_NAMES.iter().zip(span);
    let map = clocks.map(|(name, h)| ((*name).to_owned(), histogram(h)));
    Value::Object(map.collect())
}

fn allocation_json(profile: &MemoryProfile, row: &AllocationRow) -> Value {
    let lifetimes = row.lifetimes.as_ref().map(|lives| {
        json!({
            "objects": lives.objects,
            "bytes": lives.bytes,
            "void": lives.void,
            "alive": lives.alive,
            "alive_bytes": lives.alive_bytes,
            "used": span_json(&lives.used),
            "drag": span_json(&lives.drag),
            "life": span_json(&lives.life),
        })
    });
    json!({
        "site": profile.site_name(row.site),
        "type": profile.type_name(row.type_id),
        "objects": row.objects,
        "bytes": row.known_bytes(),
        "heap_objects": row.heap_objects,
        "heap_objects_margin": row.heap_objects_margin,
        "heap_bytes": row.heap_bytes,
        "heap_bytes_margin": row.heap_bytes_margin,
        "lifetimes": lifetimes,
    })
}
