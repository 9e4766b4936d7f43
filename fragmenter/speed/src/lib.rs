//! Inputs and operations of the rewriter's micro-benchmarks: reading class files, and arming one.

use std::path::{Path, PathBuf};

use veneer_fragmenter::arming::{self, Request};
use veneer_fragmenter::policy::Policy;

/// Reads all class files below a folder, in order of their paths.
pub fn read(folder: &Path) -> Vec<Vec<u8>> {
    let sample = std::env::var("VENEER_BENCH_SAMPLE");
    let step: usize = sample.ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "class") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let chosen = paths.iter().step_by(step.max(1));
    chosen.filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Arms every method that the policy selects without being named. Returns the length of the result
/// in bytes, or 0 if the class is refused.
pub fn arm(bytes: &[u8], policy: &Policy) -> usize {
    let request = Request {
        policy,
        first_id: veneer_names::MethodId(1),
        generation: 0,
        wanted: &|name, _| name != "<clinit>",
        forced: &|_, _| false,
        points: false,
        only_loops: false,
        earlier: None,
    };
    arming::arm(bytes, &request).map_or(0, |armed| armed.bytes.len() + armed.anchor_bytes.len())
}
