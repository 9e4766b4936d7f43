//! The calling-context tree of one thread, in a mapped file whose nodes the thread itself updates.
//!
//! ```text
//!   track    recording | nodes | current | used | end | index | mask | overflow depth
//!   nodes    root | node 1 | node 2 | …               thread-N.contexts, mapped
//!   overflow of the root | of node 1 | …              behind all nodes in the file
//!   index    hash of (parent, method) ─▶ node         memory of the process
//! ```
//!
//! `veneer_traces::format::context_node` specifies the nodes. `VeneerContexts` finds and adds nodes;
//! this file claims room for them, and enlarges the index with the room.
//!
//! **Bounds:** a thread has at most [`MAX_THREAD_NODES`] nodes, and a recording at most
//! [`MAX_NODES`]. `VeneerContexts` counts calls beyond them at the node above them.
//!
//! **Invariant:** the index has at least twice as many entries as there is room for nodes, so a search
//! in it ends.

use crate::data::memory::Mapping;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use veneer_traces::format::context_node::{
    KEY, LATEST_CHILD, MAGIC, MAX_NODES as MAX_THREAD_NODES, NODE_BYTES, OFF_CPU, OVERFLOW_BYTES,
    OVERFLOW_OFFSET, ROOT_END, ROOT_VERSION, VERSION, contexts_file,
};

/// The number of nodes for which a new file has room.
const FIRST_NODES: u64 = 64;
/// The most nodes of a recording, whose files then have 320 MiB.
pub const MAX_NODES: u64 = 1 << 22;

/// The room for nodes of a recording.
#[derive(Debug, Default)]
pub struct NodeBudget(AtomicU64);

impl NodeBudget {
    /// Takes room for `wanted` nodes. Returns whether there was as much.
    fn take(&self, wanted: u64) -> bool {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                Some(taken + wanted).filter(|sum| *sum <= MAX_NODES)
            });
        taken.is_ok()
    }
}

/// The file and the index of a thread's tree.
pub struct ContextFile {
    map: Mapping,
    /// The number of nodes for which there is room, the root included.
    room: u64,
    /// Offsets of nodes, found by the hash of their keys; 0 for a free entry.
    index: Box<[AtomicI64]>,
}

impl ContextFile {
    /// Creates the file of a thread.
    ///
    /// # Errors
    /// The file cannot be created, or the recording has no room for more nodes.
    pub fn create(
        directory: &Path,
        number: u32,
        flags: u64,
        budget: &NodeBudget,
    ) -> io::Result<ContextFile> {
        if !budget.take(FIRST_NODES) {
            let text = format!("the recording has {MAX_NODES} contexts already");
            return Err(io::Error::other(text));
        }
        let size = OVERFLOW_OFFSET + MAX_THREAD_NODES * OVERFLOW_BYTES as u64;
        let map = Mapping::create(&directory.join(contexts_file(number)), size)?;
        claim(&map, 0, FIRST_NODES)?;
        let root = |word: usize, value: u64| {
            map.word(word as u64 * 8)
                .store(value as i64, Ordering::Relaxed);
        };
        root(ROOT_VERSION, VERSION | flags);
        root(KEY, MAGIC);
        // No method has this key, so no child of the root is found there.
        root(LATEST_CHILD, map.address() as u64);
        Ok(ContextFile {
            map,
            room: FIRST_NODES,
            index: empty_index(FIRST_NODES),
        })
    }

    /// The address of the root, the offset behind the last node for which there is room, the address
    /// of the index, and the mask for its entries.
    pub fn addresses(&self) -> [i64; 4] {
        [
            self.map.address(),
            (self.room * NODE_BYTES as u64) as i64,
            self.index.as_ptr() as i64,
            self.index.len() as i64 - 1,
        ]
    }

    /// Doubles the room for nodes, and the index with it. Returns false if that is not possible.
    pub fn grow(&mut self, budget: &NodeBudget) -> bool {
        let more = self.room;
        if self.room + more > MAX_THREAD_NODES || !budget.take(more) {
            return false;
        }
        if claim(&self.map, self.room, more).is_err() {
            return false;
        }
        let bytes = NODE_BYTES as u64;
        let used = self.room;
        self.room += more;
        self.index = empty_index(self.room);
        for node in 1..used {
            let key = self.map.word(node * bytes).load(Ordering::Relaxed);
            if key != 0 {
                self.add_to_index(key as u64, node * bytes);
            }
        }
        true
    }

    /// Adds a node to the index, as `VeneerContexts` does.
    fn add_to_index(&self, key: u64, offset: u64) {
        let mask = self.index.len() - 1;
        let mut entry = hash(key) as usize & mask;
        while self.index[entry].load(Ordering::Relaxed) != 0 {
            entry = (entry + 1) & mask;
        }
        self.index[entry].store(offset as i64, Ordering::Relaxed);
    }

    /// Adds time to the node at an address, during which the thread did not run on a processor. An address
    /// of no node is ignored.
    pub fn add_off_cpu(&self, node: i64, ticks: u64) {
        let offset = node.wrapping_sub(self.map.address()) as u64;
        let bytes = NODE_BYTES as u64;
        if offset < self.room * bytes && offset.is_multiple_of(bytes) {
            let word = self.map.word(offset + OFF_CPU as u64 * 8);
            word.fetch_add(ticks as i64, Ordering::Relaxed);
        }
    }

    /// Notes the time at which the recording of the thread ended.
    pub fn complete(&self, now: u64) {
        let end = self.map.word(ROOT_END as u64 * 8);
        end.store(now as i64, Ordering::Relaxed);
    }
}

/// Allocates the disk blocks of `count` nodes from a number on, and of their overflow.
fn claim(map: &Mapping, first: u64, count: u64) -> io::Result<()> {
    let (node, overflow) = (NODE_BYTES as u64, OVERFLOW_BYTES as u64);
    map.claim(first * node, count * node)?;
    map.claim(OVERFLOW_OFFSET + first * overflow, count * overflow)
}

/// An index for a number of nodes, which is a power of two.
fn empty_index(nodes: u64) -> Box<[AtomicI64]> {
    (0..2 * nodes).map(|_| AtomicI64::new(0)).collect()
}

/// The hash of a key. `VeneerContexts.hash` computes the same.
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_traces::ContextTree;
    use veneer_traces::format::context_node::{CALLS, IS_LATE, OVERFLOW_CALLS};

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn a_tree_grows_to_its_bound_and_keeps_its_nodes() {
        let scratch = ScratchDirectory::new();
        let budget = NodeBudget::default();
        let directory = scratch.join("");
        let mut file = ContextFile::create(&directory, 3, IS_LATE, &budget).expect("a file");
        for node in 1..FIRST_NODES {
            let at = node * NODE_BYTES as u64;
            let key = (node - 1) << 32 | (100 + node);
            file.map.word(at).store(key as i64, Ordering::Relaxed);
            let calls = file.map.word(at + CALLS as u64 * 8);
            calls.store(node as i64, Ordering::Relaxed);
            file.add_to_index(key, at);
        }
        assert!(file.grow(&budget));
        let found = file.index.iter();
        let found = found.filter(|entry| entry.load(Ordering::Relaxed) != 0);
        assert_eq!(found.count() as u64, FIRST_NODES - 1);
        while file.grow(&budget) {}
        assert_eq!(file.room, MAX_THREAD_NODES);
        file.complete(77);
        for node in [5, 2] {
            file.add_off_cpu(file.map.address() + node * NODE_BYTES as i64, 40);
        }
        file.add_off_cpu(0, 1);
        file.add_off_cpu(i64::MAX, 1);
        let overflow = OVERFLOW_OFFSET + 5 * OVERFLOW_BYTES as u64;
        let overflow = file.map.word(overflow + OVERFLOW_CALLS as u64 * 8);
        overflow.store(3, Ordering::Relaxed);
        let path = directory.join(contexts_file(3));
        let tree = ContextTree::read(&path, 3).expect("a tree");
        assert!(tree.is_late && tree.is_complete && !tree.is_damaged);
        assert_eq!(tree.nodes.len() as u64, FIRST_NODES);
        assert_eq!((tree.nodes[5].parent, tree.nodes[5].method), (4, 104));
        assert_eq!(tree.nodes[5].calls, 5);
        assert_eq!((tree.nodes[5].off_cpu, tree.nodes[6].off_cpu), (40, 0));
        let overflow = |node: usize| tree.nodes[node].overflow_calls;
        assert_eq!((overflow(4), overflow(5)), (0, 3));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no shared files")]
    fn the_nodes_of_a_recording_are_bounded() {
        let scratch = ScratchDirectory::new();
        let budget = NodeBudget(AtomicU64::new(MAX_NODES - 2 * FIRST_NODES + 1));
        let directory = scratch.join("");
        let mut file = ContextFile::create(&directory, 1, 0, &budget).expect("a file");
        assert!(!file.grow(&budget));
        assert!(ContextFile::create(&directory, 2, 0, &budget).is_err());
        assert_eq!(file.room, FIRST_NODES);
    }
}
