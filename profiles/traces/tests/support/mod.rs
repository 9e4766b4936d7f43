//! Traces for the tests, and a visitor that collects nodes.

// Each test binary uses only a part of this module.
#![allow(dead_code)]

use std::path::Path;

use veneer_traces::format::names::{
    ClockRecord, FrameKind, FrameRecord, NameRecord, ProbeRecord, ThreadRecord,
};
use veneer_traces::reader::{Node, OpenNode, Visitor};
use veneer_traces::writer::NamesWriter;

/// Writes a names file with these frames, numbered from 1. Frames have the probe form 1.
pub fn write_names(directory: &Path, frames: &[(&str, &str)], clock: ClockRecord) {
    let mut names = NamesWriter::create(directory, 4711, "Test VM", "17").expect("a names file");
    let mut write = |record: NameRecord| names.write(&record).expect("room for a record");
    write(NameRecord::Clock(clock));
    write(NameRecord::ProcessorTime("rseq".into()));
    write(NameRecord::Probe(ProbeRecord {
        id: 1,
        name: "entry and exit".into(),
        inside_ps: 20_000,
        outside_ps: 10_000,
        spread_ps: 1_000,
    }));
    for (id, (class, name)) in (1..).zip(frames) {
        write(NameRecord::Frame(FrameRecord {
            id,
            kind: FrameKind::Method,
            class: (*class).into(),
            name: (*name).into(),
            descriptor: "()V".into(),
            line: id as u32 * 10,
            probe: 1,
        }));
    }
    write(NameRecord::Text {
        id: 1,
        text: "shop.Stock".into(),
    });
    for id in 1..=3 {
        write(NameRecord::Thread(ThreadRecord {
            id,
            java_id: u64::from(id) + 30,
            name: format!("worker-{id}"),
            group: "main".into(),
            ..ThreadRecord::default()
        }));
    }
}

/// Collects all nodes and instants, in the order of their ends.
#[derive(Default)]
pub struct Collected {
    pub nodes: Vec<Node>,
    pub entered: u64,
}

impl Visitor for Collected {
    fn enter(&mut self, _: &[OpenNode]) {
        self.entered += 1;
    }

    fn instant(&mut self, node: &Node, _: &[OpenNode]) {
        self.nodes.push(node.clone());
    }

    fn leave(&mut self, node: &Node, open: &[OpenNode]) {
        assert_eq!(node.depth as usize, open.len());
        self.nodes.push(node.clone());
    }
}
