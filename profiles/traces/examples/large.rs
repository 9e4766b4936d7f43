//! Measures a large trace: `large DIRECTORY EVENTS` writes it, `large DIRECTORY` reads it.
//!
//! ```text
//!   cargo run --release -p veneer-traces --example large -- /var/tmp/t 100000000
//!   cargo run --release -p veneer-traces --example large -- /var/tmp/t       builds the index
//!   cargo run --release -p veneer-traces --example large -- /var/tmp/t       uses the index
//! ```
//!
//! The program is a loop of calls of depth 4 with 1,000 different methods, in one thread. The last
//! line is the largest amount of memory that the process used.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use veneer_traces::format::names::{FrameKind, FrameRecord};
use veneer_traces::query::{parse, run};
use veneer_traces::writer::{NamesWriter, ThreadWriter, WriterOptions};
use veneer_traces::{NameRecord, Trace, TraceError};

/// The number of methods.
const METHODS: u64 = 1000;

/// A measurement of real time and of processor time.
struct Stopwatch {
    real: Instant,
    cpu: Duration,
}

impl Stopwatch {
    fn start() -> Stopwatch {
        let (real, cpu) = (Instant::now(), cpu());
        Stopwatch { real, cpu }
    }

    /// The real time and the processor time, as text.
    fn read(&self) -> String {
        let cpu = cpu().saturating_sub(self.cpu);
        format!("{:.2?} (processor {cpu:.2?})", self.real.elapsed())
    }
}

/// The processor time of this thread, from `/proc/self/schedstat`; 0 if the kernel has none.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(first.unwrap_or(0))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [directory, events] => write(Path::new(directory), events.parse()?)?,
        [directory] => read(Path::new(directory))?,
        _ => println!("usage: large DIRECTORY [EVENTS]"),
    }
    Ok(())
}

fn write(directory: &Path, events: u64) -> Result<(), TraceError> {
    let mut names = NamesWriter::create(directory, 1, "none", "0")?;
    for id in 1..=METHODS {
        names.write(&NameRecord::Frame(FrameRecord {
            id,
            kind: FrameKind::Method,
            class: format!("shop.part{}.Class{}", id % 10, id % 100),
            name: format!("method{id}"),
            descriptor: "()V".into(),
            line: 1,
            probe: 0,
        }))?;
    }
    let mut writer = ThreadWriter::create(directory, 1, WriterOptions::default())?;
    let began = Stopwatch::start();
    let (mut now, mut random) = (0u64, 1u64);
    for _ in 0..events / 8 {
        for depth in 0..4 {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            // Outer methods are few, and one inner method is rare.
            let frame = match depth {
                0 => 1 + (random >> 60),
                3 if random >> 44 == 0 => METHODS,
                _ => 20 + (random >> 33) % (METHODS - 30),
            };
            now += 20 + (random >> 58);
            writer.entry(now, frame);
        }
        for _ in 0..4 {
            now += 15;
            writer.exit(now);
        }
    }
    println!("{events} events in {}", began.read());
    println!("{} lost", writer.lost());
    Ok(())
}

fn read(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let began = Stopwatch::start();
    let trace = Trace::open(directory)?;
    let threads = trace.all_threads()?;
    println!("open: {}", began.read());
    let nodes: u64 = threads.iter().map(|thread| thread.index.nodes).sum();
    println!("{nodes} nodes, {:?}", trace.findings(&threads));
    drop(threads);
    for query in [
        r#"calls().by("method").sort("-sum(self)").top(3)"#,
        r#"calls("shop.part0.Class0::method1000(..)").top(1000)"#,
        r#"calls().longer(450 ns).under("shop.part1.Class1::method1(..)").by("caller", "method").top(3)"#,
        r#"calls().between(1 s, 1001 ms).top(1000000)"#,
    ] {
        let parsed = parse(query)?;
        let (began, mut rows) = (Stopwatch::start(), 0);
        run(&parsed, &trace, |_| {
            rows += 1;
            ControlFlow::Continue(())
        })?;
        println!("{}: {rows} rows {query}", began.read());
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", peak.unwrap_or_default());
    Ok(())
}
