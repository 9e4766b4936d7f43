//! `veneer run --memory --curve`: the misses of caches of all sizes.
//!
//! The curve of a walk through one large array is compared with caches of several sizes that are simulated
//! exactly in the same JVM run (`--cache`, fully associative), and with the distances that the pure crate
//! measures for the same accesses.

use std::fs::File;

use veneer_memory::profile::{MemoryProfile, ProfileFile};
use veneer_memory::{Access, AccessKind, MissCurve, StackDistances};
use veneer_tests::command::{json, run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};

/// The number of elements, the seed, and the number of accesses of the walk.
const WALK: (u64, u64, u64) = (300_000, 42, 1_000_000);
/// Caches of 4, 64 and 256 KiB, with two lengths of lines.
const CACHES: [&str; 3] = [
    "L1:4K/full/64,L2:64K/16/128",
    "L1:64K/full/64",
    "L1:256K/full/64",
];

fn recorded(
    programs: &Programs,
    folder: &Folder,
    options: &[&str],
) -> Result<MemoryProfile, Box<dyn std::error::Error>> {
    let file = folder.join("walk.vmem");
    let place = file.display().to_string();
    let options = [
        &["--arm", "Walk::walk(..)", "--memory", &place][..],
        options,
    ]
    .concat();
    let (elements, seed, count) = WALK;
    let numbers = [elements, seed, count].map(|number| number.to_string());
    let java = programs
        .launcher()
        .args(["-XX:+UseG1GC", "-Xmx512m", "-cp"]);
    let java = java
        .arg(programs.classes().path())
        .arg("Walk")
        .args(&numbers);
    run(&options, &java).run()?.succeeded("run --memory")?;
    Ok(ProfileFile::read(File::open(&file)?)?.profile)
}

/// The exact curve of the accesses of `Walk.walk`, whose array begins at a region of G1.
fn exact_curve(line_shift: u32) -> MissCurve {
    let (elements, seed, count) = WALK;
    let mut state = seed;
    let mut distances = StackDistances::exact(line_shift);
    for i in 0..count {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let index = match state & 1 << 40 {
            0 => (state >> 33) % elements,
            _ => i * 7 % elements,
        };
        distances.access(&Access {
            address: (1 << 30) + 16 + 4 * index,
            bytes: 4,
            kind: AccessKind::Read,
        });
    }
    MissCurve::measured(&distances.curve(), 1 << line_shift)
}

#[test]
fn a_curve_has_the_misses_of_exact_caches_within_its_error() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        let folder = Folder::new("memory-curve")?;
        let caches = CACHES.iter().flat_map(|text| ["--cache", text]);
        let options: Vec<&str> = caches.chain(["--curve"]).collect();
        let profile = recorded(programs, &folder, &options)?;
        let lines: Vec<u64> = profile
            .curves
            .iter()
            .map(|curve| curve.line_bytes)
            .collect();
        assert_eq!(lines, [64, 128]);
        let total = profile.total();
        let curve = &profile.curves[0];
        assert_eq!(curve.references, total.references.accesses());
        // The caches that were simulated beside it.
        for (index, lines) in [(0, 64), (1, 1024), (2, 4096)] {
            let exact = total.caches[index].levels[0].misses;
            let found = curve.at(lines);
            assert!(
                found.misses.abs_diff(exact) <= found.margin,
                "{found:?}, {exact}"
            );
            assert!(found.margin < WALK.2 / 5, "{found:?}");
        }
        // The exact curve of the pure crate. A margin holds for 99 of 100 samples, so one of the points of
        // both curves may be outside its margin.
        let mut outside = Vec::new();
        for curve in &profile.curves {
            let exact = exact_curve(curve.line_bytes.trailing_zeros());
            assert!(exact.points.len() > 40, "{exact:?}");
            for point in exact
                .points
                .iter()
                .filter(|point| point.lines.is_power_of_two())
            {
                let found = curve.at(point.lines);
                if found.misses.abs_diff(point.misses) > found.margin {
                    outside.push((curve.line_bytes, *point, found));
                }
            }
        }
        assert!(outside.len() <= 1, "{outside:?}");
        Ok(())
    })
}

#[test]
fn curves_are_shown_in_all_forms() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        let folder = Folder::new("memory-curve-shown")?;
        let profile = recorded(programs, &folder, &["--cache", "none", "--curve"])?;
        let [curve] = &profile.curves[..] else {
            return Err(format!("{:?}", profile.curves).into());
        };
        assert_eq!((curve.line_bytes, curve.references), (64, WALK.2));
        let place = folder.join("walk.vmem").display().to_string();
        let show = |options: &[&str]| {
            let command = veneer().args(["memory", "show", &place]).args(options);
            command.run()?.succeeded("memory show")
        };
        let table = show(&[])?.out;
        assert!(table.contains("cache with lines of 64 bytes"), "{table}");
        let csv = show(&["--curve", "--csv"])?.out;
        let rows = csv.lines().skip(1).filter(|line| line.starts_with("64,"));
        assert_eq!(rows.count(), curve.points.len());
        let value = json(&["memory", "show", &place, "--json"])?;
        assert_eq!(value["curves"][0]["references"], WALK.2);
        let points = value["curves"][0]["points"].as_array().ok_or("points")?;
        assert_eq!(points.len(), curve.points.len());
        let page = folder.join("walk.html");
        show(&["--html", &page.display().to_string()])?;
        let page = std::fs::read_to_string(page)?;
        assert!(page.contains("<polyline points="), "{page}");
        Ok(())
    })
}
