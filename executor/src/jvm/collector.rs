//! The garbage collector of the JVM, by the names of its threads.

use std::fs;

/// The beginnings of the names of threads, and the collectors that have them. The kernel keeps 15
/// characters of a name.
const THREADS: [(&str, &str); 4] = [
    ("ZDirector", "ZGC"),
    ("ZDriver", "ZGC"),
    ("ZWorker", "ZGC"),
    ("Shenandoah", "Shenandoah"),
];

/// The name of the collector, if it moves objects while the application runs. `None` for other
/// collectors, and if the names of the threads cannot be read.
pub fn concurrent_collector() -> Option<&'static str> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    let names = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    names.into_iter().find_map(|name| collector_of(&name))
}

fn collector_of(thread: &str) -> Option<&'static str> {
    let known = THREADS.iter().find(|(begin, _)| thread.starts_with(begin));
    known.map(|(_, collector)| *collector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectors_are_known_by_their_threads() {
        assert_eq!(collector_of("ZDriverMinor\n"), Some("ZGC"));
        assert_eq!(collector_of("Shenandoah GC T\n"), Some("Shenandoah"));
        for other in ["G1 Conc#0\n", "GC Thread#0\n", "ZipPool\n", ""] {
            assert_eq!(collector_of(other), None, "{other}");
        }
    }
}
