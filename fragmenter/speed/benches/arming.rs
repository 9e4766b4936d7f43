//! Measures the rewriter's time per class: reading and writing it unchanged, type checking, and
//! arming it under each policy.
//!
//! ```text
//! VENEER_BENCH_CLASSES=FOLDER cargo bench -p veneer-speed --bench arming
//! ```
//!
//! The folder holds class files, for example the output of `jimage extract --dir FOLDER
//! JDK/lib/modules`. All files are first read into memory. `VENEER_BENCH_SAMPLE=20` selects every
//! 20th file. The policies `method` and `block` are measured on every fourth of the selected files.
//! Without `VENEER_BENCH_CLASSES`, nothing is measured.
//!
//! One iteration is one pass over all classes. The parameter of a benchmark is the number of
//! classes and their average size in bytes: `arm-loop/27601x3021`.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::verify;
use veneer_speed::{arm, read};

fn benches(criterion: &mut Criterion) {
    let Some(folder) = std::env::var_os("VENEER_BENCH_CLASSES") else {
        eprintln!("VENEER_BENCH_CLASSES names no folder of class files: nothing to measure");
        return;
    };
    let classes = read(Path::new(&folder));
    if classes.is_empty() {
        eprintln!("{}: no class files", Path::new(&folder).display());
        return;
    }
    // The default policy is measured on all classes. For the others, a part of the classes is
    // sufficient.
    let fewer: Vec<&Vec<u8>> = classes.iter().step_by(4).collect();
    let classes: Vec<&Vec<u8>> = classes.iter().collect();
    let mut group = criterion.benchmark_group("arming");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(10))
        .throughput(Throughput::Elements(classes.len() as u64));
    group.bench_function(BenchmarkId::new("read-write", size(&classes)), |b| {
        b.iter(|| {
            for class in &classes {
                let read = ClassFile::parse(class);
                black_box(read.map(|class| class.to_bytes()).is_ok());
            }
        });
    });
    group.bench_function(BenchmarkId::new("verify", size(&classes)), |b| {
        b.iter(|| {
            for class in &classes {
                let read = ClassFile::parse(class);
                black_box(read.is_ok_and(|class| verify::class(&class).is_ok()));
            }
        });
    });
    for (name, policy, classes) in [
        ("arm-method", Policy::Method, &fewer),
        ("arm-loop", Policy::Loop, &classes),
        ("arm-block", Policy::Block, &fewer),
    ] {
        group.throughput(Throughput::Elements(classes.len() as u64));
        group.bench_function(BenchmarkId::new(name, size(classes)), |b| {
            b.iter(|| {
                for class in classes {
                    black_box(arm(class, &policy));
                }
            });
        });
    }
    group.finish();
}

/// Returns the number of classes and their average size in bytes.
fn size(classes: &[&Vec<u8>]) -> String {
    let bytes: usize = classes.iter().map(|class| class.len()).sum();
    format!("{}x{}", classes.len(), bytes / classes.len())
}

criterion_group!(all, benches);
criterion_main!(all);
