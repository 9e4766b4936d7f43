//! A full disk while a trace is written. The limit holds for the whole process, so this test has a
//! binary of its own.

mod support;

use support::{Collected, write_names};
use veneer_traces::format::names::ClockRecord;
use veneer_traces::reader::Trace;
use veneer_traces::writer::{SegmentRing, ThreadWriter, WriterOptions};

const FRAMES: [(&str, &str); 2] = [("a.A", "outer"), ("a.A", "inner")];
const SEGMENT: u32 = 256;

/// Both tests limit the size of files, so they run in one thread.
#[test]
fn a_full_disk() {
    a_full_disk_loses_events_and_no_depth();
    a_ring_that_cannot_grow_overwrites_its_oldest_segment();
}

fn a_ring_that_cannot_grow_overwrites_its_oldest_segment() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let ring = SegmentRing {
        segments: 100,
        keep: u64::MAX,
    };
    let options = WriterOptions {
        segment_bytes: SEGMENT,
        ring: Some(ring),
    };
    let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
    limit_file_size(3 * u64::from(SEGMENT));
    for n in 0..1_000 {
        writer.entry(10 * n, 1);
        writer.exit(10 * n + 5);
    }
    limit_file_size(u64::MAX);
    assert_eq!(writer.lost(), 0);
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    assert_eq!(thread.index.segments.len(), 3);
    let mut collected = Collected::default();
    thread.read(&trace.names, &mut collected).unwrap();
    assert_eq!(collected.nodes.last().map(|node| node.start), Some(9_990));
}

fn a_full_disk_loses_events_and_no_depth() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let options = WriterOptions {
        segment_bytes: SEGMENT,
        ring: None,
    };
    let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
    limit_file_size(2 * u64::from(SEGMENT));
    writer.entry(10, 1);
    let mut now = 10;
    while writer.lost() == 0 {
        now += 10;
        writer.entry(now, 2);
    }
    writer.exit(now + 1);
    limit_file_size(u64::MAX);
    while writer.depth() > 0 {
        now += 10;
        writer.exit(now);
    }
    let lost = writer.lost();
    assert!((1..40).contains(&lost), "{lost}");
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    assert_eq!(thread.index.findings.lost_events, lost);
    assert_eq!(thread.index.findings.unmatched_exits, 0);
    let mut collected = Collected::default();
    thread.read(&trace.names, &mut collected).unwrap();
    let outer = collected.nodes.last().unwrap();
    assert_eq!((outer.id, outer.start, outer.end), (1, 10, now));
}

/// Limits the size of files that this process writes, like a full disk.
fn limit_file_size(bytes: u64) {
    // SAFETY: plain system calls; the signal is ignored so that the limit is an error.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let mut limit: libc::rlimit = std::mem::zeroed();
        assert_eq!(libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit), 0);
        limit.rlim_cur = bytes.min(limit.rlim_max);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}
