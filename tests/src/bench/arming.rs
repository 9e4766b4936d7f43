//! Measures how long the rewriter takes for one class: the micro-benchmarks of `fragmenter/speed`
//! over all classes of the JDK.
//!
//! The benchmarks run through `cargo bench`, because this crate links no other crate of the
//! project. Criterion writes its estimates as JSON below `target/criterion`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::record::{Goal, Record};
use crate::folder::{files, workspace};
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// The name of the benchmark group in `fragmenter/speed`.
const GROUP: &str = "arming";
/// The measurement to which the goal applies: read, analyse and write a class under the policy
/// `loop`.
const GOAL: &str = "arm-loop";

/// Runs the part `arming`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("arming", "Arming a class", scope)?;
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let classes = extracted(jdk)?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace().join("target"), PathBuf::from);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut bench = Process::new(cargo)
        .args([
            "bench",
            "--quiet",
            // With the same packages and features as the existing build, cargo does not rebuild
            // anything.
            "--no-default-features",
            "-p",
            "veneer-speed",
            "-p",
            "veneer-executor",
            "-p",
            "veneer-console",
            "--bench",
            "arming",
            "--",
        ])
        .folder(&workspace())
        .env("VENEER_BENCH_CLASSES", &classes.to_string_lossy())
        .env(
            "CRITERION_HOME",
            &target.join("criterion").to_string_lossy(),
        )
        .limit(Duration::from_secs(1800));
    if scope.quick {
        bench = bench.env("VENEER_BENCH_SAMPLE", "40").args(["--quick"]);
    }
    let results = target.join("criterion").join(GROUP);
    // The results of an earlier session do not belong to this one.
    if results.is_dir() {
        std::fs::remove_dir_all(&results)?;
    }
    bench.run()?.succeeded("cargo bench")?;
    let mut table = Table::new(
        "",
        &[
            "what",
            "classes",
            "µs a class, one thread",
            "95% interval",
            "bytes a class",
        ],
    );
    for found in estimates(&results)? {
        record.figure("arming", "JDK", &found.name, "µs", &[found.mean]);
        table.rows.push(vec![
            found.name.clone(),
            format!("{:.0}", found.classes),
            format!("{:.1}", found.mean),
            format!("{:.1}–{:.1}", found.low, found.high),
            format!("{:.0}", found.bytes),
        ]);
        if found.name == GOAL {
            let what = "arming a class: read, analyse, write, on average over the JDK";
            record
                .goals
                .push(Goal::at_most(what, 20.0, "µs", found.mean));
        }
    }
    if record.goals.is_empty() {
        record
            .part
            .failures
            .push(format!("no estimate of {GROUP}/{GOAL}"));
    }
    record.part.words = vec![
        "All class files of the JDK's modules (in a quick session every 40th; for the policies \
         `method` and `block` every fourth of these), one after the other in one thread, in \
         memory. The figure is criterion's estimate of the mean. *read-write* reads and writes a \
         class unchanged, *arm-…* arms all methods under a policy. A JVM additionally defines the \
         anchor class and parses the class a second time: see *What grows how*."
            .into(),
    ];
    record.part.tables.push(table);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Returns the folder with the class files of the JDK's modules, and extracts them if they are
/// missing.
fn extracted(jdk: &Jdk) -> Result<PathBuf, TrustError> {
    let folder = workspace().join(format!("target/jdk-classes/{}", jdk.major()));
    let done = folder.join("done");
    if !done.is_file() {
        std::fs::create_dir_all(&folder)?;
        Process::new(jdk.tool("jimage"))
            .arg("extract")
            .arg("--dir")
            .arg(&folder)
            .arg(jdk.home().join("lib/modules"))
            .limit(Duration::from_secs(600))
            .run()?
            .succeeded("jimage extract")?;
        std::fs::write(done, "")?;
    }
    Ok(folder)
}

/// An estimate of criterion. The times are in microseconds per class.
struct Estimate {
    name: String,
    classes: f64,
    bytes: f64,
    mean: f64,
    low: f64,
    high: f64,
}

fn estimates(folder: &Path) -> Result<Vec<Estimate>, TrustError> {
    let mut found = Vec::new();
    for path in files(folder, "json")? {
        if !path.ends_with("new/estimates.json") {
            continue;
        }
        let Some(place) = path.parent() else { continue };
        let read = |name: &str| -> Result<serde_json::Value, TrustError> {
            Ok(serde_json::from_str(&std::fs::read_to_string(
                place.join(name),
            )?)?)
        };
        let (times, about) = (read("estimates.json")?, read("benchmark.json")?);
        // The parameter of the benchmark holds the number of classes and of bytes per iteration:
        // `arm-loop/27601x3021`.
        let text = |key: &str| about.get(key).and_then(|v| v.as_str()).unwrap_or_default();
        let (count, bytes) = text("value_str").split_once('x').unwrap_or(("0", "0"));
        let (classes, bytes): (f64, f64) =
            (count.parse().unwrap_or(0.0), bytes.parse().unwrap_or(0.0));
        let of = |path: &str| {
            let nanoseconds = times.pointer(path).and_then(serde_json::Value::as_f64);
            nanoseconds.unwrap_or(f64::NAN) / 1e3 / classes
        };
        if classes < 1.0 {
            return Err(TrustError::Missing {
                wanted: "number of classes",
                found: place.display().to_string(),
            });
        }
        found.push(Estimate {
            name: text("function_id").to_string(),
            classes,
            bytes,
            mean: of("/mean/point_estimate"),
            low: of("/mean/confidence_interval/lower_bound"),
            high: of("/mean/confidence_interval/upper_bound"),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn reads_what_criterion_leaves() -> Result<(), TrustError> {
        let folder = Folder::new("criterion")?;
        let place = folder.join("arm-loop/100x3000/new");
        std::fs::create_dir_all(&place)?;
        let mean = r#"{"mean":{"point_estimate":2000000.0,"confidence_interval":{"lower_bound":1900000.0,"upper_bound":2100000.0}}}"#;
        std::fs::write(place.join("estimates.json"), mean)?;
        let about = r#"{"function_id":"arm-loop","value_str":"100x3000"}"#;
        std::fs::write(place.join("benchmark.json"), about)?;
        let found = estimates(folder.path())?;
        let one = found.first().expect("an estimate");
        assert_eq!(
            (one.name.as_str(), one.mean, one.low),
            ("arm-loop", 20.0, 19.0)
        );
        Ok(())
    }
}
