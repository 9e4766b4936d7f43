//! The calling-context tree of a thread: a file of nodes of 64 bytes.
//!
//! ```text
//!   thread-7.contexts   root | node 1 | node 2 | … | zeros | overflow of the root | of node 1 | … | zeros
//! ```
//!
//! A recorder adds calls to the node of their context instead of writing events. The file grows with
//! the number of contexts and not with the number of calls. `docs/traces.md` is the specification.

/// First part of the file name, as of events files: `thread-7.contexts`.
pub const CONTEXTS_PREFIX: &str = super::EVENTS_PREFIX;
/// Last part of the file name.
pub const CONTEXTS_SUFFIX: &str = ".contexts";

/// The size of a node in bytes.
pub const NODE_BYTES: usize = 64;
/// The number of 8-byte words of a node.
pub const NODE_WORDS: usize = NODE_BYTES / 8;

/// The first word of the root: identifies the file. No node has this key.
pub const MAGIC: u64 = u64::from_le_bytes(*b"veneer c");
/// The version of the file. Readers refuse other versions.
pub const VERSION: u64 = 2;

/// Word of a node: the number of its parent in the upper half, and the id of its method plus 1 in
/// the lower half. The word is zero behind the last node.
pub const KEY: usize = 0;
/// Bit of [`KEY`]: the node is that of tasks, and the 31 bits below are the number of their submission.
pub const TASK: u64 = 1 << 31;
/// The file with the contexts of submissions: a word for each number, with a node in its lower half,
/// and the number of the node's thread in its upper half. 0 is an unknown context.
pub const SUBMISSIONS_FILE: &str = "submissions";
/// Word of a node: the number of calls that began.
pub const CALLS: usize = 1;
/// Word of a node: the time of the calls that ended, in ticks.
pub const WALL: usize = 2;
/// Word of a node: the time at which the call began that has not ended, or 0.
pub const START: usize = 3;
/// Word of a node: the number of allocations in its calls, callees excluded. Not of a node of tasks.
pub const ALLOCATIONS: usize = 4;
/// Word of a node: the time in its calls, callees excluded, during which the thread did not run on a
/// processor, in ticks.
pub const OFF_CPU: usize = 5;
/// Word of a node: the offset of the child that was found last. Only the recorder uses it.
pub const LATEST_CHILD: usize = 6;
/// Word of a node: the number of nodes above it.
pub const DEPTH: usize = 7;

/// The most nodes of a tree, the root included.
pub const MAX_NODES: u64 = 1 << 20;
/// The offset in bytes of the overflow of the root, behind all nodes.
pub const OVERFLOW_OFFSET: u64 = MAX_NODES * NODE_BYTES as u64;
/// The size in bytes of the overflow of a node.
pub const OVERFLOW_BYTES: usize = 16;
/// The number of 8-byte words of the overflow of a node.
pub const OVERFLOW_WORDS: usize = OVERFLOW_BYTES / 8;
/// Word of the overflow of a node: the number of calls below this node that found no room for a node.
pub const OVERFLOW_CALLS: usize = 0;
/// Word of the overflow of a node: the time of these calls.
pub const OVERFLOW_WALL: usize = 1;

/// Word of the root: the version in the lower half, and [`IS_LATE`] and [`HAS_CPU`].
pub const ROOT_VERSION: usize = 1;
/// Bit of [`ROOT_VERSION`]: the thread began before the recording.
pub const IS_LATE: u64 = 1 << 32;
/// Bit of [`ROOT_VERSION`]: the recorder fills in [`OFF_CPU`].
pub const HAS_CPU: u64 = 1 << 33;
/// Word of the root: the time at which the recording of the thread ended, or 0.
pub const ROOT_END: usize = 2;

/// The file name of the contexts of a thread.
pub fn contexts_file(thread: u32) -> String {
    format!("{CONTEXTS_PREFIX}{thread}{CONTEXTS_SUFFIX}")
}
