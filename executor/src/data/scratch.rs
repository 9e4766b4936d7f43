//! Directories and file-size limits for unit tests.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// An empty directory of one test, removed when the value is dropped.
pub struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    pub fn new() -> ScratchDirectory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "veneer-executor-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a scratch directory");
        ScratchDirectory(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Set in the child process of [`in_own_process`].
const CHILD: &str = "VENEER_EXECUTOR_TEST_CHILD";

/// Runs `body` in a child process that runs only the test `name`. A limit that `body` sets for its
/// process therefore does not apply to the other tests.
pub fn in_own_process(name: &str, body: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("the test program");
    let mut child = Command::new(program);
    let child = child.args(["--exact", name, "--test-threads", "1"]);
    let output = child.env(CHILD, "1").output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "there is no test {name}: {text}");
}

/// Limits the size of files that this process writes. Use it only within [`in_own_process`].
pub fn limit_file_size(bytes: u64) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
    let current = maximum.map_or(bytes, |maximum| bytes.min(maximum));
    let limit = Rlimit {
        current: Some(current),
        maximum,
    };
    setrlimit(Resource::Fsize, limit).expect("a limit");
}
