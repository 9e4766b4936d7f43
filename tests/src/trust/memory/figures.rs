//! The figures of a running JVM after a number of cycles, their bounds, and the tables that show
//! them.

use std::time::Duration;

use super::tracking::{Tracking, after};
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::trust::{Table, TrustError};

/// Options that make memory measurable: a small heap of constant size that is touched at the start,
/// and native memory tracking.
///
/// The table of strings is small as well. It gets the name of each class whose call sites are
/// linked. The JVM removes dead names when their number is half of the table's size, which is
/// 32,768 by default.
///
/// Until JDK 19, a sweeper frees compiled code, in up to three passes. It begins a pass when half a per cent
/// of the code cache (1.2 MB) has changed, so several megabytes of dead code are normal. Here it begins ten
/// times as often. Later JVMs do not know the option.
pub const OPTIONS: [&str; 8] = [
    "-XX:+UseSerialGC",
    "-Xms64m",
    "-Xmx64m",
    "-XX:+AlwaysPreTouch",
    "-XX:NativeMemoryTracking=summary",
    "-XX:StringTableSize=2048",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:SweeperThreshold=0.05",
];

/// The time after which the agent has released the versions for running activations that no thread
/// needs any more. Its second attempt is made three seconds after the last detachment, and it looks
/// once a second.
const RELEASE_TIME: Duration = Duration::from_secs(5);

/// Index of the sample after which all one-time memory has been allocated: the second.
const WARM_SAMPLE: usize = 1;

/// The allowed rise of each figure from the warm sample to the last one, in KiB.
pub const BOUNDS: [(&str, i64); 6] = [
    ("classes", 120),
    ("metaspace", 512),
    ("its chunks", 4096),
    ("code cache", 2048),
    ("JVM native", 96),
    ("agent and malloc", 16_384),
];

/// Categories that are measured separately, or that vary with the activity of the compilers.
const EXCLUDED_CATEGORIES: [&str; 9] = [
    "Java Heap",
    "Metaspace",
    "Class",
    "Thread",
    "Code",
    "Compiler",
    "Arena Chunk",
    "Native Memory Tracking",
    "Shared class space",
];

/// The category of locks.
const LOCKS: &str = "Synchronization";

/// Bytes of a name in the category `Internal`: each lock of a profile has the name
/// `MDOExtraData_lock` with a final NUL.
const LOCK_NAME_BYTES: i64 = 18;

/// The figures after a number of cycles.
#[derive(Debug)]
pub struct Figures {
    cycle: u32,
    /// In the order of [`BOUNDS`].
    pub values: [i64; 6],
    /// Number of classes loaded so far.
    loaded: i64,
    resident: i64,
    /// Memory of the JVM itself including that for classes, in bytes.
    pub own: i64,
    /// Number of compilations of methods so far.
    pub compiled: i64,
    /// Number of locks of the JVM.
    pub locks: i64,
    tracking: Tracking,
}

/// Returns the warm sample and the last one.
fn ends(figures: &[Figures]) -> Option<(&Figures, &Figures)> {
    Some((figures.get(WARM_SAMPLE)?, figures.last()?))
}

/// Returns one line for each bound that the last figures exceed. For `keeps_locks` see
/// [`super::locks`].
pub fn exceeded(figures: &[Figures], keeps_locks: bool) -> Vec<String> {
    let Some((first, last)) = ends(figures) else {
        return vec!["no figures".into()];
    };
    let cycles = format!("from cycle {} to {}", first.cycle, last.cycle);
    let mut found = Vec::new();
    for (i, (what, most)) in BOUNDS.iter().enumerate() {
        let rise = last.values[i] - first.values[i];
        if rise > *most {
            found.push(format!("{what} rose by {rise} {cycles}"));
        }
    }
    let (rise, most) = (
        last.locks - first.locks,
        locks_allowed(first, last, keeps_locks),
    );
    if rise > most {
        found.push(format!(
            "the JVM has {rise} locks more, not {most} at most, {cycles}"
        ));
    }
    found
}

/// The allowed rise of the number of locks. If the JVM keeps the locks of compiled methods, it is
/// the number of methods compiled in between. Otherwise it is the variation between samples,
/// because each class in use has locks.
fn locks_allowed(first: &Figures, last: &Figures, keeps: bool) -> i64 {
    if keeps {
        last.compiled - first.compiled
    } else {
        BOUNDS[0].1 * 4
    }
}

/// The table of the figures over the cycles.
pub fn table(title: &str, unit: &str, figures: &[Figures]) -> Table {
    let mut heads = vec![unit, "loaded so far"];
    heads.extend(BOUNDS.iter().map(|b| b.0));
    heads.extend(["locks", "compiled so far", "resident set"]);
    let mut table = Table::new(title, &heads);
    let cells = |f: &Figures| {
        let mut cells = vec![f.loaded];
        cells.extend(f.values);
        cells.extend([f.locks, f.compiled, f.resident]);
        cells
    };
    for f in figures {
        let mut row = vec![f.cycle.to_string()];
        row.extend(cells(f).iter().map(ToString::to_string));
        table.rows.push(row);
    }
    if let Some((a, b)) = ends(figures) {
        let per = f64::from(b.cycle - a.cycle) / 100.0;
        let mut row = vec!["rise per 100".to_string()];
        row.extend(
            cells(a)
                .iter()
                .zip(cells(b))
                .map(|(x, y)| format!("{:+.1}", (y - x) as f64 / per)),
        );
        table.rows.push(row);
    }
    table
}

/// The table of the tracking's categories, in the warm sample and the last one.
pub fn categories(title: &str, figures: &[Figures]) -> Table {
    let Some((a, b)) = ends(figures) else {
        return Table::new(title, &["category"]);
    };
    let (first, last) = (a.cycle.to_string(), b.cycle.to_string());
    let mut table = Table::new(
        title,
        &["category", &first, &last, "rise", "pieces", "rise"],
    );
    let both = a.tracking.categories.keys();
    let new = b
        .tracking
        .categories
        .keys()
        .filter(|name| !a.tracking.categories.contains_key(*name));
    for name in both.chain(new) {
        let (x, y) = (a.tracking.category(name), b.tracking.category(name));
        table.rows.push(vec![
            name.clone(),
            x.committed.to_string(),
            y.committed.to_string(),
            format!("{:+}", y.committed - x.committed),
            y.pieces.to_string(),
            format!("{:+}", y.pieces - x.pieces),
        ]);
    }
    table
}

/// Runs `jcmd PID COMMAND…`.
fn jcmd(jdk: &Jdk, live: &Live, command: &[&str]) -> Result<String, TrustError> {
    let output = Process::new(jdk.tool("jcmd"))
        .arg(live.pid().to_string())
        .args(command)
        .limit(Duration::from_secs(60))
        .run()?;
    Ok(output.out)
}

/// Measures the figures of a JVM that was started with [`OPTIONS`].
pub fn measure(jdk: &Jdk, live: &Live, cycle: u32) -> Result<Figures, TrustError> {
    std::thread::sleep(RELEASE_TIME);
    // The metadata of a class is freed one collection after its last object. So there are three
    // collections, with pauses in which the JVM's cleaning threads can work.
    for _ in 0..3 {
        jcmd(jdk, live, &["GC.run"])?;
        std::thread::sleep(Duration::from_millis(300));
    }
    // Not every JDK has this command. Without it, the memory that `malloc` keeps is counted as
    // well.
    let _ = jcmd(jdk, live, &["System.trim_native_heap"]);
    let tracked = jcmd(jdk, live, &["VM.native_memory", "summary", "scale=KB"])?;
    let tracking = Tracking::parse(&tracked).ok_or_else(|| TrustError::Missing {
        wanted: "native memory tracking",
        found: tracked.clone(),
    })?;
    let locks = tracking.category(LOCKS);
    let apart: i64 = EXCLUDED_CATEGORIES
        .iter()
        .map(|n| tracking.category(n).committed)
        .sum();
    let native = tracking.total - apart - locks.committed - locks.pieces * LOCK_NAME_BYTES / 1024;
    let code = jcmd(jdk, live, &["Compiler.codecache"])?;
    let code = code.lines().filter_map(|l| after(l, " used=")).sum();
    let counters = jcmd(jdk, live, &["PerfCounter.print"])?;
    let counter = |name: &str| {
        counters
            .lines()
            .find_map(|l| l.strip_prefix(name)?.strip_prefix('=')?.parse::<i64>().ok())
            .unwrap_or(0)
    };
    let metaspace = counter("sun.gc.metaspace.used") / 1024;
    if metaspace == 0 {
        return Err(TrustError::Missing {
            wanted: "Metaspace",
            found: counters,
        });
    }
    let loaded = counter("java.cls.loadedClasses") + counter("java.cls.sharedLoadedClasses");
    let unloaded = counter("java.cls.unloadedClasses") + counter("java.cls.sharedUnloadedClasses");
    let status = std::fs::read_to_string(format!("/proc/{}/status", live.pid()))?;
    let resident = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.trim().split(' ').next()?.parse::<i64>().ok())
        .unwrap_or(0);
    Ok(Figures {
        cycle,
        values: [
            loaded - unloaded,
            metaspace,
            tracking.category("Metaspace").committed,
            code,
            native,
            resident - tracking.total,
        ],
        loaded,
        resident,
        own: (native + tracking.category("Class").committed) * 1024,
        compiled: counter("sun.ci.totalCompiles"),
        locks: locks.pieces,
        tracking,
    })
}
