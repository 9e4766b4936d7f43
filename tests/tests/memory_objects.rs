//! `veneer memory --by object` and `veneer run --memory --objects`: accesses by the allocation site of the
//! accessed objects.
//!
//! * `tests/java/accesses/Origins.java` prints the number of accesses to the objects of each site. Its objects
//!   are locked, hashed, and moved by the collections of three collectors.
//! * Accesses of all objects together, and their misses, are those of a recording without allocation sites.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use veneer_memory::profile::{MemoryProfile, ProfileFile, ThreadRow};
use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::{Output, Process};

/// Options of the JVM, and arguments of the program.
const RUNS: [(&[&str], &[&str]); 5] = [
    (&["-XX:+UseG1GC"], &["3000"]),
    (
        &["-XX:+UseG1GC", "-Xmx64m", "-Xmn4m"],
        &["20000", "collect"],
    ),
    (&["-XX:+UseSerialGC", "-Xmx64m"], &["5000", "collect"]),
    (&["-XX:+UseParallelGC", "-Xmx64m"], &["5000", "collect"]),
    (
        &["-XX:+UseSerialGC", "-XX:-UseCompressedOops"],
        &["2000", "collect"],
    ),
];
/// The site of objects that another thread had locked.
const LOCKED: &str = "(locked by another thread)";

fn read(path: &Path) -> Result<MemoryProfile, Box<dyn std::error::Error>> {
    Ok(ProfileFile::read(File::open(path)?)?.profile)
}

/// Records a program from its start.
fn recorded(
    java: &Process,
    options: &[&str],
) -> Result<(MemoryProfile, Output), Box<dyn std::error::Error>> {
    let folder = Folder::new("memory-objects")?;
    let file = folder.join("recorded.vmem");
    let place = file.display().to_string();
    let options = [options, &["--memory", &place]].concat();
    let output = run(&options, java).run()?.succeeded("run --memory")?;
    Ok((read(&file)?, output))
}

fn java(programs: &Programs, options: &[&str], words: &[&str]) -> Process {
    let launcher = programs.launcher().args(options).arg("-cp");
    launcher.arg(programs.classes().path()).args(words)
}

/// Accesses by the method that allocated the object. The writes that clear new objects are left out.
fn by_method(profile: &MemoryProfile) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in &profile.accesses {
        let accessing = &profile.sites[row.site as usize];
        let origin = row.allocated_at.map(|index| &profile.sites[index as usize]);
        if accessing.field.starts_with("new ") {
            assert_eq!(row.allocated_at, Some(row.site), "{accessing:?}");
            continue;
        }
        let name = match origin {
            Some(site) if site.method.as_ref() == LOCKED => LOCKED,
            Some(site) => site.method.split('(').next().unwrap_or_default(),
            None => "?",
        };
        *counts.entry(name.to_owned()).or_default() += row.references.accesses();
    }
    counts
}

#[test]
fn accesses_belong_to_the_sites_that_allocated_the_objects() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        for (options, arguments) in RUNS {
            for caches in ["none", "L1:32K/8/64,L2:256K/8/64"] {
                let words = [&["Origins"], arguments].concat();
                let java = java(programs, options, &words);
                let arm = ["--arm", "Origins", "--arm", "Origins$*", "--objects"];
                let (profile, output) =
                    recorded(&java, &[&arm[..], &["--cache", caches]].concat())?;
                let mut found = by_method(&profile);
                let locked = found.remove(LOCKED).unwrap_or(0);
                if let Some(another) = found.get_mut("another") {
                    *another += locked;
                }
                let mut sites = 0;
                for line in output.out.lines() {
                    let words: Vec<&str> = line.split(' ').collect();
                    let ["origin", method, count] = words[..] else {
                        continue;
                    };
                    sites += 1;
                    let number = found.get(method).copied().unwrap_or(0);
                    assert_eq!(
                        number.to_string(),
                        count,
                        "{method} {options:?} {caches}: {found:?}"
                    );
                }
                assert_eq!(sites, 8, "{}", output.out);
                assert!(locked <= 2, "{locked}");
            }
        }
        Ok(())
    })
}

/// Accesses and misses by instruction and type.
fn by_instruction(profile: &MemoryProfile) -> BTreeMap<(String, String), Vec<u64>> {
    let mut sums: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    for row in &profile.accesses {
        let type_name = row.type_id.map(|id| profile.type_name(id));
        let key = (profile.site_name(row.site), type_name.unwrap_or_default());
        let levels = row.caches.iter().flat_map(|caches| &caches.levels);
        let misses = levels.map(|level| level.misses);
        let numbers = std::iter::once(row.references.accesses()).chain(misses);
        let sum = sums.entry(key).or_default();
        for (index, number) in numbers.enumerate() {
            match sum.get_mut(index) {
                Some(known) => *known += number,
                None => sum.push(number),
            }
        }
    }
    sums
}

#[test]
fn the_sum_of_all_objects_is_that_of_a_recording_without_them() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        // The array of the walk is at the beginning of a region of G1.
        let walk = ["Walk", "300000", "7", "500000"];
        let java = java(programs, &["-XX:+UseG1GC", "-Xmx512m"], &walk);
        let caches = ["--cache", "L1:32K/8/64,L2:256K/8/64"];
        let arm = [&["--arm", "Walk::walk(..)"][..], &caches[..]].concat();
        let (without, _) = recorded(&java, &arm)?;
        let (with, _) = recorded(&java, &[&arm[..], &["--objects"]].concat())?;
        let expected = by_instruction(&without);
        assert!(expected.values().any(|sums| sums[1] > 10_000));
        assert_eq!(by_instruction(&with), expected);
        Ok(())
    })
}

#[test]
fn a_running_program_is_shown_by_object() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        let live = Live::start(&java(programs, &[], &["Records", "slow", "0"]))?;
        let pid = live.pid().to_string();
        let table = veneer().args(["memory", &pid, "Records", "--for", "1", "--by", "object"]);
        let table = table.run()?.succeeded("memory --by object")?;
        // The orders were made before the recording.
        assert!(
            table.out.contains("have no allocation site"),
            "{}",
            table.out
        );
        let refused = veneer().args(["memory", &pid, "--objects", "--sample"]);
        assert_ne!(refused.run()?.code, 0);
        live.stop()?;
        Ok(())
    })
}

#[test]
fn allocations_belong_to_the_threads_that_made_them() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        let java = java(programs, &[], &["Known", "500"]);
        let arm = ["--arm", "Known", "--arm", "Known$*", "--cache", "none"];
        let folder = Folder::new("memory-threads")?;
        let file = folder.join("known.vmem");
        let place = file.display().to_string();
        let options = [&arm[..], &["--memory", &place]].concat();
        run(&options, &java).run()?.succeeded("run --memory")?;
        let profile = read(&file)?;
        let sum = |number: fn(&ThreadRow) -> u64| profile.threads.iter().map(number).sum::<u64>();
        let allocated = profile.allocations.iter();
        let objects: u64 = allocated.clone().map(|row| row.objects).sum();
        assert_eq!(sum(|row| row.objects), objects);
        assert_eq!(
            sum(|row| row.bytes),
            allocated.map(|row| row.bytes).sum::<u64>()
        );
        // Each worker allocates one cell, and nothing else.
        let worker = profile.threads.iter().find(|row| row.name == "worker-0");
        let cells = profile.allocations.iter();
        let mut cells = cells.filter(|row| profile.type_name(row.type_id) == "Known$Cell");
        let cell = cells.next().expect("a cell");
        let expected = (1, cell.bytes / cell.objects);
        assert_eq!(worker.map(|row| (row.objects, row.bytes)), Some(expected));
        let show = veneer().args(["memory", "show", &place, "--threads", "--csv"]);
        let csv = show.run()?.succeeded("memory show --threads")?.out;
        let line = format!("worker-0,1,{}", expected.1);
        assert!(csv.lines().any(|found| found == line), "{csv}");
        Ok(())
    })
}

#[test]
fn headers_without_room_are_refused() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        // Compact headers are an option of newer JVMs, biased locking one of older ones.
        let option = match programs.jdk().major() {
            ..=17 => ["-XX:+UseBiasedLocking", "-XX:BiasedLockingStartupDelay=0"],
            _ => [
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:+UseCompactObjectHeaders",
            ],
        };
        let live = Live::start(&java(programs, &option, &["Records", "slow", "0"]))?;
        let pid = live.pid().to_string();
        let refused = veneer().args(["memory", &pid, "Records", "--for", "1", "--objects"]);
        let refused = refused.run()?;
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("no room"), "{}", refused.err);
        // Accesses without allocation sites can be recorded.
        let plain = veneer().args(["memory", &pid, "Records", "--for", "0.5"]);
        plain.run()?.succeeded("memory")?;
        live.stop()?;
        Ok(())
    })
}
