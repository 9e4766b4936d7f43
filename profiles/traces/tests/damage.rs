//! Truncated, damaged, sparse and future traces: the reader reports and never panics.

mod support;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use support::{Collected, write_names};
use veneer_traces::format::names::ClockRecord;
use veneer_traces::format::segment::SegmentHeader;
use veneer_traces::format::word::kind;
use veneer_traces::reader::{Names, ThreadTrace, Trace};
use veneer_traces::writer::{ArgumentValue, ThreadWriter, WriterOptions};

const FRAMES: [(&str, &str); 2] = [("a.A", "outer"), ("a.A", "inner")];
const SEGMENT: u32 = 256;
/// Inner calls of the sample.
const CALLS: usize = 40;

/// A trace of [`CALLS`] calls with arguments in several segments. Returns the bytes of the events file.
fn sample() -> (tempfile::TempDir, Vec<u8>) {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let options = WriterOptions {
        segment_bytes: SEGMENT,
        ring: None,
    };
    let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
    writer.entry(100, 1);
    for n in 0..CALLS as i64 {
        let value = [ArgumentValue::Int(n), ArgumentValue::Cpu(50 * n as u64)];
        writer.event_with(kind::ENTRY, 200 + 100 * n as u64, 2, &value);
        writer.exit(250 + 100 * n as u64);
    }
    writer.exit(10_000);
    let bytes = fs::read(scratch.path().join("thread-1.events")).unwrap();
    (scratch, bytes)
}

fn names(directory: &std::path::Path) -> Names {
    Names::read(directory).unwrap()
}

fn read(bytes: Vec<u8>, names: &Names) -> (Collected, ThreadTrace) {
    let (thread, _) = ThreadTrace::of_source(Box::new(bytes), 1, names).unwrap();
    let mut collected = Collected::default();
    thread.read(names, &mut collected).unwrap();
    (collected, thread)
}

#[test]
fn a_trace_that_is_cut_at_any_byte_has_all_whole_events_before() {
    let (scratch, bytes) = sample();
    let names = names(scratch.path());
    let (whole, _) = read(bytes.clone(), &names);
    assert_eq!(whole.nodes.len(), CALLS + 1);
    let mut last = 0;
    for length in 0..=bytes.len() {
        let (cut, thread) = read(bytes[..length].to_vec(), &names);
        assert!(
            cut.entered >= last && cut.entered <= CALLS as u64 + 1,
            "{length}"
        );
        last = cut.entered;
        // Nodes that ended before the cut are equal to those of the whole trace.
        let ended = cut.nodes.len() - thread.index.findings.open_nodes as usize;
        assert_eq!(&cut.nodes[..ended], &whole.nodes[..ended], "{length}");
    }
    assert_eq!(last, CALLS as u64 + 1);
}

#[test]
fn a_damaged_byte_never_ends_the_reader() {
    let (scratch, bytes) = sample();
    let names = names(scratch.path());
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bad = bytes.clone();
            bad[at] ^= flip;
            let (nodes, thread) = read(bad, &names);
            assert!(nodes.nodes.len() <= 3 * CALLS);
            let in_header = at % SEGMENT as usize;
            // The checksum covers the first 56 bytes of a header.
            if in_header < 60 {
                assert_eq!(thread.index.findings.damaged_segments, 1, "byte {at}");
            }
        }
    }
}

#[test]
fn a_missing_segment_costs_its_own_events_only() {
    let (scratch, mut bytes) = sample();
    let names = names(scratch.path());
    let size = SEGMENT as usize;
    let count = bytes.len() / size;
    assert!(count > 4);
    bytes[2 * size..3 * size].fill(0);
    let (nodes, thread) = read(bytes, &names);
    assert_eq!(thread.index.findings.missing_segments, 1);
    assert_eq!(thread.index.segments.len(), count - 1);
    let inner = nodes.nodes.iter().filter(|n| n.id == 2).count();
    assert!((CALLS - 7..CALLS).contains(&inner), "{inner}");
}

#[test]
fn a_sparse_file_of_100_gigabytes_is_read_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(scratch.path(), 1, WriterOptions::default()).unwrap();
    writer.entry(100, 1);
    writer.exit(200);
    drop(writer);
    let path = scratch.path().join("thread-1.events");
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let header = file_header(&path);
    let later = SegmentHeader {
        sequence: 90_000,
        start: 5_000,
        ..header
    };
    let offset = 89_999u64 << 20;
    file.write_all_at(&later.to_bytes(), offset).unwrap();
    let words = [
        veneer_traces::format::word::short(kind::ENTRY, 2, 10),
        veneer_traces::format::word::long(kind::EXIT, 7),
    ];
    for (n, word) in words.iter().enumerate() {
        let at = offset + 64 + 8 * n as u64;
        file.write_all_at(&word.to_le_bytes(), at).unwrap();
    }
    file.set_len(100 << 30).unwrap();
    let began = std::time::Instant::now();
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    assert_eq!(thread.index.segments.len(), 2);
    assert_eq!(thread.index.findings.missing_segments, 89_998);
    let mut collected = Collected::default();
    thread.read(&trace.names, &mut collected).unwrap();
    let found: Vec<_> = collected
        .nodes
        .iter()
        .map(|n| (n.id, n.start, n.end))
        .collect();
    assert_eq!(found, [(1, 100, 200), (2, 5_010, 5_017)]);
}

fn file_header(path: &std::path::Path) -> SegmentHeader {
    use veneer_traces::format::segment::HeaderState;
    let bytes = fs::read(path).unwrap();
    match SegmentHeader::parse(&bytes[..64]) {
        HeaderState::Valid(header) => header,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_future_version_is_an_error_with_a_code() {
    let (scratch, _) = sample();
    let path = scratch.path().join("names");
    let text = fs::read_to_string(&path).unwrap();
    let record = "trace\t2\t0\t1\tvm\t17";
    let line = format!("{:08x} {record}\n", crc32fast::hash(record.as_bytes()));
    let rest = text.split_once('\n').unwrap().1;
    fs::write(&path, format!("{line}{rest}")).unwrap();
    assert_eq!(
        Trace::open(scratch.path()).unwrap_err().code(),
        "FutureTrace"
    );
    fs::write(&path, "nonsense").unwrap();
    assert_eq!(Trace::open(scratch.path()).unwrap_err().code(), "NotATrace");
    fs::remove_file(&path).unwrap();
    assert_eq!(Trace::open(scratch.path()).unwrap_err().code(), "NotATrace");
}

#[test]
fn words_of_unknown_kinds_are_skipped_and_counted() {
    let (scratch, mut bytes) = sample();
    let names = names(scratch.path());
    let (whole, _) = read(bytes.clone(), &names);
    // The second event of the first segment and its arguments: kinds that do not exist yet.
    let at = 64 + 8;
    assert_eq!(bytes[at], kind::ENTRY);
    bytes[at] = 0x1f;
    bytes[at + 8] = 0xfe;
    let (nodes, thread) = read(bytes, &names);
    assert_eq!(thread.index.findings.unknown_kinds, 1);
    assert_eq!(nodes.nodes.len(), whole.nodes.len());
    // The outer node differs, because the cost of the unknown node is unknown.
    assert_eq!(nodes.nodes[1..CALLS], whole.nodes[1..CALLS]);
    assert_eq!((nodes.nodes[0].start, nodes.nodes[0].kind), (200, 0x1f));
}
