//! Layout of the mapped files. The agent writes and the command reads with these offsets.
//!
//! ```text
//!   counters.bin  shard 0 (shared) | shard 1 | …         shard: SLOTS words of 8 bytes
//!   events.bin    ring 0 | ring 1 | … | points | life    ring: head tail – size counted … | data
//!                                                        point: drained dropped
//!                                                        life: milliseconds
//! ```

use std::path::Path;

/// File name of the metadata journal.
pub const JOURNAL_FILE: &str = "catalogue";
/// File name of the counters.
pub const COUNTERS_FILE: &str = "counters.bin";
/// File name of the tallies (aggregation maps) that compiled probes fill.
pub const TALLIES_FILE: &str = "tallies.bin";
/// File name of the ring buffers of events.
pub const EVENTS_FILE: &str = "events.bin";
/// File names of the event log. When one of the two files is full, the agent empties the other one.
pub const EVENT_LOG_FILES: [&str; 2] = ["drained.0", "drained.1"];
/// The size at which a file of the event log is full, in bytes.
pub const MAX_EVENT_LOG_BYTES: u64 = 16 << 20;

/// Layout of `counters.bin`. The value of a counter is its sum over all shards.
///
/// A platform thread owns a shard while it lives. Virtual threads, and threads that find no free
/// shard, add atomically in the shared shard 0.
pub struct ShardLayout;

impl ShardLayout {
    /// Number of shards in the file, including the shared shard 0.
    pub const COUNT: u64 = 256;
    /// Number of counters in a shard.
    pub const SLOTS: u64 = 1 << 19;
    /// Size of a shard in bytes.
    pub const STRIDE: u64 = Self::SLOTS * 8;
    /// Size of the file in bytes.
    pub const SIZE: u64 = Self::COUNT * Self::STRIDE;
}

/// Layout of `events.bin`.
pub struct RingLayout;

impl RingLayout {
    /// Number of ring buffers in the file.
    pub const COUNT: u64 = 128;
    /// Size of a ring buffer in bytes, including its header.
    pub const STRIDE: u64 = 1 << 18;
    /// Size of the header of a ring buffer in bytes.
    pub const HEADER: u64 = 64;
    /// Size of the data of a ring buffer in bytes.
    pub const DATA: u64 = Self::STRIDE - 4096;
    /// Header offset of the position up to which the application thread has written events.
    pub const HEAD: u64 = 0;
    /// Header offset of the position up to which the agent has drained events.
    pub const TAIL: u64 = 8;
    /// Header offset of the size of the data.
    pub const CAPACITY: u64 = 24;
    /// Header offset of the position up to which the agent has counted drained events under their
    /// log points.
    pub const COUNTED_POSITION: u64 = 32;
    /// Header offset of the position after the event that the agent counts now, or counted last.
    pub const COUNTING_POSITION: u64 = 40;
    /// Header offset of the number of drained events of that event's log point, with that event. It is
    /// valid if the position before it is beyond the counted one: then the event is counted already if
    /// its log point has this number.
    pub const COUNTING_NUMBER: u64 = 48;
    /// Number of log points that have their own metrics.
    pub const MAX_LOG_POINTS: u64 = 1 << 16;
    /// File offset of the log points' metrics, 16 bytes per log point.
    pub const POINT_METRICS: u64 = Self::COUNT * Self::STRIDE;
    /// File offset of the age of the agent in milliseconds.
    pub const AGENT_AGE: u64 = Self::POINT_METRICS + Self::MAX_LOG_POINTS * 16;
    /// Size of the file in bytes.
    pub const SIZE: u64 = Self::AGENT_AGE + 4096;
}

/// Whether a directory is the data directory of one JVM.
pub fn is_data_directory(path: &Path) -> bool {
    path.join(JOURNAL_FILE).is_file()
}
