//! Arms class files once or several times in one thread, for a profiler or an instruction counter.
//!
//! ```text
//! cargo build --release -p veneer-speed --example pass
//! valgrind --tool=none target/release/examples/pass loop FOLDER 3
//! ```
//!
//! The first argument is a policy, or `read` for reading and writing alone. The last one is the
//! number of passes; 0 only reads the files, so that the difference of two runs is the cost of the
//! passes. Prints the number of classes, the bytes of all results and the processor time per class.

use std::path::Path;
use std::process::ExitCode;

use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::policy::Policy;
use veneer_speed::{arm, read};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, folder, passes] = arguments.as_slice() else {
        eprintln!("usage: pass loop|block|method|read FOLDER PASSES");
        return ExitCode::FAILURE;
    };
    let policy = match policy.as_str() {
        "loop" => Some(Policy::Loop),
        "block" => Some(Policy::Block),
        "method" => Some(Policy::Method),
        _ => None,
    };
    let passes: u32 = passes.parse().unwrap_or(1);
    let classes = read(Path::new(folder));
    let mut written = 0;
    let mut fastest = f64::INFINITY;
    for _ in 0..passes {
        written = 0;
        let begin = processor_nanos();
        for class in &classes {
            written += match &policy {
                Some(policy) => arm(class, policy),
                None => {
                    let file = ClassFile::parse(class).and_then(|file| file.to_bytes());
                    file.map_or(0, |bytes| bytes.len())
                }
            };
        }
        fastest = fastest.min((processor_nanos() - begin) as f64 / 1e3);
    }
    let each = fastest / classes.len().max(1) as f64;
    println!(
        "{} classes, {written} bytes, {each:.1} µs a class in the fastest pass",
        classes.len()
    );
    ExitCode::SUCCESS
}

/// The processor time of this thread in nanoseconds, by the kernel's scheduler. 0 if the kernel
/// does not tell.
fn processor_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|n| n.parse().ok()).unwrap_or(0)
}
