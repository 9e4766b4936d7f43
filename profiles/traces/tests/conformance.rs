//! The readers in Rust, Python and Java read the kept traces alike.
//!
//! `tests/corpus` has one directory for each trace, and beside it the nodes that every reader must
//! print. `VENEER_BLESS=1` writes both anew.

mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Collected, write_names};
use veneer_tests::skip::{Need, SkippedInCi, skip};
use veneer_traces::NameRecord;
use veneer_traces::format::names::{ClockRecord, FrameKind, FrameRecord, ProbeRecord};
use veneer_traces::format::word::kind;
use veneer_traces::reader::{Ending, Trace};
use veneer_traces::writer::{ArgumentValue, SegmentRing, ThreadWriter, WriterOptions};

const FRAMES: [(&str, &str); 3] = [("a.A", "one"), ("a.B", "tw\to"), ("ä.Ö", "drei")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Writes calls with arguments, waits, instants, readings and long times.
fn write_events(writer: &mut ThreadWriter, calls: u64) {
    let mut now = 50;
    writer.event(kind::THREAD_START, now, 1);
    writer.entry(now, 3);
    for n in 0..calls {
        now += 7 * n + 1;
        let values = [
            ArgumentValue::Int(n as i64 - 5),
            ArgumentValue::Double(n as f64 / 3.0),
            ArgumentValue::Text("a text of several words, größer"),
            ArgumentValue::Allocated(100 * n),
        ];
        let count = n as usize % (values.len() + 1);
        writer.event_with(kind::ENTRY, now, 1 + n % 2, &values[..count]);
        if n % 3 == 0 {
            writer.event_with(kind::SWITCH, now + 1, 0, &[ArgumentValue::Cpu(11 * n)]);
        }
        if n % 4 == 1 {
            writer.event_with(kind::CONTENDED, now + 2, 1, &[ArgumentValue::Owner(2)]);
            writer.exit(now + 5);
        }
        if n % 5 == 2 {
            now += 5_000_000_000;
            writer.event(kind::MARK, now, 1 << 30);
        }
        now += 9;
        match n % 7 {
            6 => writer.throw(now),
            5 => {}
            _ => writer.exit(now),
        }
    }
    writer.event_with(kind::OMITTED, now, 1, &[ArgumentValue::Int(12)]);
    writer.exit(now + 3);
}

fn create(name: &str, clock: ClockRecord) -> PathBuf {
    let directory = folder().join(name);
    let _ = fs::remove_dir_all(&directory);
    write_names(&directory, &FRAMES, clock);
    directory
}

fn small(ring: Option<SegmentRing>) -> WriterOptions {
    WriterOptions {
        segment_bytes: 512,
        ring,
    }
}

/// Writes a ring that has grown, whose segments are not in the order of their places.
fn write_flight() {
    let directory = create("flight", ClockRecord::default());
    let ring = SegmentRing {
        segments: 8,
        keep: 400,
    };
    let mut writer = ThreadWriter::create(&directory, 1, small(Some(ring))).unwrap();
    let mut now = 0;
    writer.entry(now, 3);
    // The thread is slow, then fast, then slow and fast again.
    for step in [100, 3, 60, 4] {
        for n in 0..150 {
            now += step;
            writer.entry(now, 1 + n % 2);
            writer.exit(now + step / 2);
        }
    }
    let places = fs::read(directory.join("thread-1.events")).unwrap();
    let sequences: Vec<u8> = places.chunks(512).map(|segment| segment[24]).collect();
    assert!(!sequences.is_sorted(), "{sequences:?}");
    let oldest = sequences.iter().min().unwrap();
    let at = sequences.iter().position(|n| n == oldest).unwrap();
    let rotated = sequences[at..].iter().chain(&sequences[..at]);
    assert!(!rotated.is_sorted(), "{sequences:?}");
}

/// Writes a trace with several probe forms, whose calls are much longer than their costs.
fn write_costs() {
    let clock = ClockRecord {
        numerator: 1000,
        denominator: 2400,
        ..ClockRecord::default()
    };
    let directory = create("costs", clock);
    let probe = |id, inside_ps, spread_ps| {
        NameRecord::Probe(ProbeRecord {
            id,
            name: format!("form {id}"),
            inside_ps,
            outside_ps: 2 * inside_ps,
            spread_ps,
        })
    };
    let frame = |id, probe| {
        NameRecord::Frame(FrameRecord {
            id,
            kind: FrameKind::Method,
            class: "a.C".into(),
            name: format!("m{id}"),
            descriptor: "()V".into(),
            line: 0,
            probe,
        })
    };
    // The last record of a number counts. The form 7 has no record.
    let records = [
        probe(2, 1, 1),
        probe(2, 2_500_700, 80_300),
        frame(4, 2),
        frame(5, 0),
        frame(6, 7),
    ];
    let lines: String = records.iter().map(NameRecord::line).collect();
    let names = directory.join("names");
    fs::write(&names, fs::read_to_string(&names).unwrap() + &lines).unwrap();
    let mut writer = ThreadWriter::create(&directory, 1, small(None)).unwrap();
    let mut now = 1_000;
    for n in 0..12u64 {
        // 1 is cheap, 4 is expensive, and the costs of 5, 6 and 9 are unknown.
        for frame in [1, 4, 5, 6, 9].into_iter().cycle().skip(n as usize).take(5) {
            writer.entry(now, frame);
            now += 30_000;
        }
        let omitted = ArgumentValue::Int(if n == 5 { -4 } else { n as i64 });
        writer.event_with(
            kind::OMITTED,
            now,
            1 + n % 3,
            &[omitted, ArgumentValue::Int(7)],
        );
        if n == 9 {
            // A cost that exceeds the raw time.
            let omitted = ArgumentValue::Int(1 << 40);
            writer.event_with(kind::OMITTED, now, 2, &[omitted]);
        }
        for _ in 0..5 {
            now += 100 * n * n;
            writer.exit(now);
        }
    }
    writer.entry(now, 4);
    writer.event(kind::MARK, now + 9_000, 4);
}

/// Writes a trace of one thread, and changes the bytes of its events file.
fn damaged(name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let directory = create(name, ClockRecord::default());
    let mut writer = ThreadWriter::create(&directory, 1, small(None)).unwrap();
    write_events(&mut writer, 30);
    drop(writer);
    let path = directory.join("thread-1.events");
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
}

fn write_corpus() {
    let clock = ClockRecord {
        ticks: 40,
        unix_ns: 1_700_000_000_000_000_000,
        numerator: 1000,
        denominator: 2400,
    };
    let directory = create("threads", clock);
    for thread in 1..=3 {
        let mut writer = ThreadWriter::create(&directory, thread, small(None)).unwrap();
        write_events(&mut writer, 10 * u64::from(thread));
    }
    let directory = create("ring", ClockRecord::default());
    let ring = Some(SegmentRing {
        segments: 3,
        keep: u64::MAX,
    });
    let mut writer = ThreadWriter::create(&directory, 1, small(ring)).unwrap();
    write_events(&mut writer, 80);
    write_flight();
    write_costs();
    damaged("truncated", |bytes| bytes.truncate(1100));
    damaged("header", |bytes| bytes[512 + 20] ^= 1);
    damaged("words", |bytes| {
        for at in (70..bytes.len()).step_by(157) {
            bytes[at] ^= 0x15;
        }
    });
    damaged("unknown", |bytes| {
        // Kinds of a later version: a node, an instant, an end, an instant without an id.
        for (at, kind) in [
            (72, 0x1f),
            (160, 0x3e),
            (240, 0x4d),
            (320, 0x7e),
            (400, 0xee),
        ] {
            bytes[at] = kind;
        }
    });
    damaged("future", |bytes| {
        // Minor version 9: readable.
        bytes[10] = 9;
        let sum = crc32fast::hash(&bytes[..56]).to_le_bytes();
        bytes[56..60].copy_from_slice(&sum);
        // Major version 2 in the second segment: skipped.
        bytes[512 + 8] = 2;
        let sum = crc32fast::hash(&bytes[512..568]).to_le_bytes();
        bytes[568..572].copy_from_slice(&sum);
    });
}

/// The nodes of a trace, as the example readers print them.
fn nodes(directory: &Path) -> String {
    // The index of an earlier run belongs to no trace of the corpus.
    let scratch = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, scratch.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let trace = Trace::open(scratch.path()).unwrap();
    let mut text = String::new();
    for thread in trace.all_threads().unwrap() {
        let mut collected = Collected::default();
        thread.read(&trace.names, &mut collected).unwrap();
        for node in &collected.nodes {
            let optional = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
            let ending = match node.ending {
                Ending::Exit => "exit",
                Ending::Throw => "throw",
                Ending::Cut => "cut",
                Ending::Lost => "lost",
            };
            writeln!(
                text,
                "{} {} {} {} {} {} {} {} {} {} {} {} {} {ending}",
                thread.thread,
                node.number,
                optional(node.parent),
                node.depth,
                node.kind,
                node.id,
                node.start,
                node.end,
                node.self_ticks,
                optional(node.cpu_ns),
                node.corrected_ns(&trace.names),
                node.corrected_self_ns(&trace.names),
                node.unexplained_ns(&trace.names),
            )
            .unwrap();
        }
    }
    text
}

/// The traces of the corpus, with the nodes that are expected.
fn corpus() -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder()).unwrap();
    let directories = entries.map(|e| e.unwrap().path()).filter(|p| p.is_dir());
    let expected = |path: PathBuf| {
        let text = fs::read_to_string(path.with_extension("nodes")).unwrap();
        (path, text)
    };
    let all: Vec<_> = directories.map(expected).collect();
    assert!(all.len() >= 9, "{}", all.len());
    all
}

#[test]
fn the_rust_reader() {
    if std::env::var_os("VENEER_BLESS").is_some() {
        write_corpus();
        for entry in fs::read_dir(folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::write(path.with_extension("nodes"), nodes(&path)).unwrap();
            }
        }
    }
    for (path, expected) in corpus() {
        assert!(expected.lines().count() > 10, "{}", path.display());
        assert_eq!(nodes(&path), expected, "{}", path.display());
    }
}

fn run_reader(program: &'static str, source: &str) -> Result<(), SkippedInCi> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(source);
    for (path, expected) in corpus() {
        let output = Command::new(program).arg(&source).arg(&path).output();
        let output = match output {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return skip(Need::Program(program));
            }
            output => output.unwrap(),
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", path.display());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, expected, "{program}: {}", path.display());
    }
    Ok(())
}

#[test]
fn the_python_reader() -> Result<(), SkippedInCi> {
    run_reader("python3", "python/veneer_trace.py")
}

#[test]
fn the_java_reader() -> Result<(), SkippedInCi> {
    run_reader("java", "java/TraceReader.java")
}
