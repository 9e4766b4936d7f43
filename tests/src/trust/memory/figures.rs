//! The figures of a running JVM after a number of cycles, their bounds, and the tables that show them.

use std::time::Duration;

use super::tracking::{Tracking, after};
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::trust::{Table, TrustError};

/// Options that make memory tell: one small heap, touched at once, and the JVM's own account. And a small table of strings: it
/// takes the name of each class whose call sites are linked, and the JVM takes dead ones out when they are half as many as
/// the table has places, by default 32,768.
pub const OPTIONS: [&str; 6] = [
    "-XX:+UseSerialGC",
    "-Xms64m",
    "-Xmx64m",
    "-XX:+AlwaysPreTouch",
    "-XX:NativeMemoryTracking=summary",
    "-XX:StringTableSize=2048",
];

/// The sample at which all is made that is made once: the second.
const WARM: usize = 1;

/// How much each figure may rise from the warm sample to the last, in KiB.
pub const BOUNDS: [(&str, i64); 6] = [
    ("classes", 120),
    ("metaspace", 512),
    ("its chunks", 4096),
    ("code cache", 2048),
    ("JVM native", 96),
    ("agent and malloc", 16_384),
];

/// What counts elsewhere, or breathes with what the compilers do.
const APART: [&str; 9] = [
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

/// A lock of a profile has its name on the heap, in the category `Internal`: `MDOExtraData_lock`, with its end.
const LOCK_NAME: i64 = 18;

/// Figures after so many cycles.
#[derive(Debug)]
pub struct Figures {
    cycle: u32,
    /// In the order of [`BOUNDS`].
    pub values: [i64; 6],
    /// Classes loaded so far.
    loaded: i64,
    resident: i64,
    /// Memory of the JVM's own with that for classes, in bytes.
    pub own: i64,
    /// Methods compiled so far, each time.
    pub compiled: i64,
    /// Locks that the JVM has.
    pub locks: i64,
    tracking: Tracking,
}

/// The first and the last of those that count.
fn ends(figures: &[Figures]) -> Option<(&Figures, &Figures)> {
    Some((figures.get(WARM)?, figures.last()?))
}

/// Which bounds the last figures break. `keeps_locks`: see [`super::locks`].
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

/// Locks that may be there more than before: one for each method that was compiled, where the JVM keeps those; else what
/// single figures differ by, since each class that is just in use has one.
fn locks_allowed(first: &Figures, last: &Figures, keeps: bool) -> i64 {
    if keeps {
        last.compiled - first.compiled
    } else {
        BOUNDS[0].1 * 4
    }
}

/// The figures over the cycles.
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

/// The categories of the JVM's tracking, at both ends.
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
        let (x, y) = (a.tracking.of(name), b.tracking.of(name));
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

/// `jcmd PID COMMAND…`.
fn jcmd(jdk: &Jdk, live: &Live, command: &[&str]) -> Result<String, TrustError> {
    let output = Process::new(jdk.tool("jcmd"))
        .arg(live.pid().to_string())
        .args(command)
        .limit(Duration::from_secs(60))
        .run()?;
    Ok(output.out)
}

/// Takes the figures of a JVM that was started with [`OPTIONS`].
pub fn measure(jdk: &Jdk, live: &Live, cycle: u32) -> Result<Figures, TrustError> {
    // Metadata of a class goes one collection after its last object; twice, and time for the threads that clean up.
    for _ in 0..3 {
        jcmd(jdk, live, &["GC.run"])?;
        std::thread::sleep(Duration::from_millis(300));
    }
    // Not there on every JDK; then what `malloc` keeps counts.
    let _ = jcmd(jdk, live, &["System.trim_native_heap"]);
    let tracked = jcmd(jdk, live, &["VM.native_memory", "summary", "scale=KB"])?;
    let tracking = Tracking::parse(&tracked)
        .ok_or_else(|| TrustError::Other(format!("no native memory tracking: {tracked}")))?;
    let locks = tracking.of(LOCKS);
    let apart: i64 = APART.iter().map(|n| tracking.of(n).committed).sum();
    let native = tracking.total - apart - locks.committed - locks.pieces * LOCK_NAME / 1024;
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
        return Err(TrustError::Other(format!("no Metaspace: {counters}")));
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
            tracking.of("Metaspace").committed,
            code,
            native,
            resident - tracking.total,
        ],
        loaded,
        resident,
        own: (native + tracking.of("Class").committed) * 1024,
        compiled: counter("sun.ci.totalCompiles"),
        locks: locks.pieces,
        tracking,
    })
}
