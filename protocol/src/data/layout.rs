//! Where things lie in the mapped files; the agent writes by these numbers, the command reads by them.
//!
//! ```text
//!   counters.bin  shard 0 (shared) | shard 1 | …            a shard: SLOTS words of 8 bytes
//!   events.bin    ring 0 | ring 1 | … | points | life       a ring: head tail – size counted … | data
//!                                                           a point: drained dropped      life: milliseconds
//! ```

use std::path::Path;

/// Name of the catalogue.
pub const CATALOGUE: &str = "catalogue";
/// Name of the file of counters.
pub const COUNTERS: &str = "counters.bin";
/// Tables of compiled probes.
pub const TALLIES: &str = "tallies.bin";
/// Name of the file of rings.
pub const EVENTS: &str = "events.bin";
/// Names of the two files of drained events; when one is full the other one is emptied.
pub const ROTATED: [&str; 2] = ["drained.0", "drained.1"];
/// When one of them is full, in bytes.
pub const SEGMENT: u64 = 16 << 20;

/// The counters' file.
pub struct Shards;

impl Shards {
    /// Shards in the file, the shared one included.
    pub const COUNT: u64 = 256;
    /// Counters in a shard.
    pub const SLOTS: u64 = 1 << 19;
    /// Bytes of a shard.
    pub const STRIDE: u64 = Self::SLOTS * 8;
    /// Bytes of the file.
    pub const SIZE: u64 = Self::COUNT * Self::STRIDE;
}

/// The rings' file.
pub struct Rings;

impl Rings {
    /// Rings in the file.
    pub const COUNT: u64 = 128;
    /// Bytes of a ring, its header included.
    pub const STRIDE: u64 = 1 << 18;
    /// Bytes of a ring's header.
    pub const HEADER: u64 = 64;
    /// Bytes of a ring's data.
    pub const DATA: u64 = Self::STRIDE - 4096;
    /// Offset in the header of the position up to which events have been written.
    pub const HEAD: u64 = 0;
    /// Offset in the header of the position up to which they have been taken out.
    pub const TAIL: u64 = 8;
    /// Offset in the header of the size of the data.
    pub const CAPACITY: u64 = 24;
    /// Offset in the header of the position up to which they are counted under their points.
    pub const COUNTED: u64 = 32;
    /// Log points that have figures of their own.
    pub const POINTS: u64 = 1 << 16;
    /// Where those figures begin: 16 bytes for each point.
    pub const FIGURES: u64 = Self::COUNT * Self::STRIDE;
    /// Where the milliseconds stand for which the agent has lived.
    pub const LIFE: u64 = Self::FIGURES + Self::POINTS * 16;
    /// Bytes of the file.
    pub const SIZE: u64 = Self::LIFE + 4096;
}

/// Whether a directory is that of one JVM.
pub fn is_data_directory(path: &Path) -> bool {
    path.join(CATALOGUE).is_file()
}
