//! The reader of traces with any bytes. The input's first two bytes are the length of the names
//! file; the events file follows.
//!
//! Promises: the code does not panic, and its memory is bounded. Reading from a snapshot of the
//! index gives the same nodes as reading everything.

use std::path::Path;

use veneer_traces::reader::{Names, Node, OpenNode, ThreadTrace, TreeBuilder, Visitor};

use crate::memory;

/// The reader holds one segment, the open nodes and the index. A header can declare a segment of
/// 64 MiB and 65,536 open nodes.
const MEMORY_BASE: usize = 256 << 20;
const MEMORY_FACTOR: usize = 16 << 10;

/// A checksum of the nodes in their order.
#[derive(Default)]
struct Sum {
    nodes: Vec<u64>,
}

impl Visitor for Sum {
    fn instant(&mut self, node: &Node, open: &[OpenNode]) {
        self.leave(node, open);
    }

    fn leave(&mut self, node: &Node, open: &[OpenNode]) {
        assert_eq!(
            node.depth as usize,
            open.len(),
            "the depth is the number of open nodes"
        );
        assert!(
            node.self_ticks <= node.ticks(),
            "the own time is a part of the time"
        );
        let values = node.values().len() as u64;
        self.nodes
            .push(node.number ^ node.start.rotate_left(20) ^ node.end.rotate_left(40) ^ values);
    }
}

/// Reads the names and the events.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    let Some((length, rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (names, events) = rest.split_at(length);
    let limit = MEMORY_BASE + MEMORY_FACTOR * data.len();
    memory::within(limit, "reading a trace", || {
        let first = veneer_traces::NameRecord::Trace {
            version: veneer_traces::format::VERSION,
            pid: 1,
            jvm: String::new(),
            jvm_version: String::new(),
        };
        let mut text = first.line().into_bytes();
        text.extend_from_slice(names);
        let names = Names::parse(&text, Path::new("fuzz")).expect("the first record is valid");
        let source = Box::new(events.to_vec());
        let (thread, _) = ThreadTrace::of_source(source, 1, &names).expect("bytes in memory");
        let mut all = Sum::default();
        thread.read(&names, &mut all).expect("bytes in memory");
        let last = thread.index.segments.len().saturating_sub(1);
        let (at, mut builder): (usize, TreeBuilder) = thread.index.resume_at(last);
        let mut reader = thread.events(at);
        let mut rest = Sum::default();
        while builder
            .read_segment(&mut reader, &names, &mut rest)
            .expect("bytes in memory")
        {}
        assert!(
            all.nodes.ends_with(&rest.nodes),
            "a snapshot gives other nodes"
        );
    });
}
