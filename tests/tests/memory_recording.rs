//! `veneer memory PID` and `veneer run --memory`: accesses of running programs with simulated caches.
//!
//! * Counts are compared with a program that prints the number of its accesses
//!   (`tests/java/accesses/Known.java`).
//! * Allocations are compared with the JVM's own events (`tests/native/allocations.c`).
//! * The misses of a sample are compared with those of all accesses of a program whose rounds are alike
//!   (`tests/java/accesses/Steady.java`).
//! * Misses are compared with the simulator of `veneer-memory`, for accesses to one large array whose
//!   position in memory is known (`tests/java/accesses/Walk.java`).

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use veneer_memory::profile::{
    AccessRow, Dimension, LevelCount, MemoryProfile, ProfileFile, UNKNOWN_MARGIN,
};
use veneer_memory::{Access as SimulatedAccess, AccessKind, Origin, Simulation, parse_description};
use veneer_tests::browser::until_nothing_is_attached;
use veneer_tests::call_oracle::compile_library;
use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::Process;

/// Method, kind, and field or element type.
type Access = (String, &'static str, String);
type Counts = BTreeMap<Access, u64>;

/// Caches with the fast path, without it (a TLB, two descriptions), and none.
const FORMS: [&[&str]; 4] = [
    &["none"],
    &["L1:32K/8/64,L2:1M/16/64"],
    &["L1:4K/2/64,TLB:16/4/4K"],
    &["L1:32K/8/64", "L1:1K/1/32/wt/na"],
];

/// Accesses before `super(…)` or `this(…)`, where instruments see nothing: the method, and the fields or
/// the element type.
const BEFORE_SUPER: [(&str, &[&str]); 3] = [
    ("Known$1Local.<init>", &["val$cell", "val$number"]),
    ("Known$Outer$Inner.<init>", &["this$0"]),
    (
        "Known$Place.<init>",
        &["int", "cellField", "intField", "staticInt"],
    ),
];

fn java(programs: &Programs, class: &str, arguments: &[&str]) -> Process {
    let launcher = programs.launcher().arg("-cp");
    let launcher = launcher.arg(programs.classes().path()).arg(class);
    launcher.args(arguments)
}

fn read(path: &Path) -> Result<MemoryProfile, Box<dyn std::error::Error>> {
    Ok(ProfileFile::read(File::open(path)?)?.profile)
}

/// The accesses of a profile, without the writes that clear new objects.
fn counts(profile: &MemoryProfile) -> Counts {
    let mut counts = Counts::new();
    for row in &profile.accesses {
        if let Some((access, number)) = access(profile, row) {
            *counts.entry(access).or_default() += number;
        }
    }
    counts
}

fn access(profile: &MemoryProfile, row: &AccessRow) -> Option<(Access, u64)> {
    let site = profile.sites.get(row.site as usize)?;
    if site.field.starts_with("new ") {
        return None;
    }
    let (name, _) = site.method.split_once('(')?;
    let method = format!("{}.{name}", site.class);
    let is_write = row.references.writes > 0;
    let number = row.references.accesses();
    let type_name = profile.types.get(row.type_id? as usize)?;
    Some(match type_name.strip_suffix("[]") {
        Some(element) if site.field.ends_with("[]") => {
            let kind = if is_write {
                "array-write"
            } else {
                "array-read"
            };
            ((method, kind, element.to_owned()), number)
        }
        _ => {
            let kind = if is_write { "write" } else { "read" };
            let field = site.field.rsplit('.').next().unwrap_or_default();
            ((method, kind, field.to_owned()), number)
        }
    })
}

/// The counts that the program prints. An access that throws is counted, too.
fn expected(output: &str) -> Counts {
    let mut counts = Counts::new();
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let ["count" | "failed", method, kind, accessed, number] = words[..] else {
            continue;
        };
        let number: u64 = number.parse().unwrap_or(0);
        let (kind, accessed) = match kind {
            "array-read" => ("array-read", accessed),
            "array-write" => ("array-write", accessed),
            "read" | "static-read" => ("read", accessed.rsplit('.').next().unwrap_or_default()),
            _ => ("write", accessed.rsplit('.').next().unwrap_or_default()),
        };
        let key = (method.to_owned(), kind, accessed.to_owned());
        if number > 0 {
            *counts.entry(key).or_default() += number;
        }
    }
    counts
}

fn is_before_super((method, _, accessed): &Access) -> bool {
    let mut known = BEFORE_SUPER.iter();
    known.any(|(name, fields)| name == method && fields.contains(&accessed.as_str()))
}

fn differences(expected: &Counts, counted: &Counts) -> Vec<String> {
    let keys = expected.keys().chain(counted.keys());
    let mut all: Vec<String> = keys
        .filter(|key| !is_before_super(key))
        .filter(|key| expected.get(*key) != counted.get(*key))
        .map(|key| {
            let number = |counts: &Counts| counts.get(key).copied().unwrap_or(0);
            format!("{key:?}: {} and not {}", number(counted), number(expected))
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn the_accesses_of_a_program_are_counted_exactly() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        for caches in FORMS {
            let folder = Folder::new("memory-known")?;
            let file = folder.join("known.vmem");
            let mut options = vec!["--arm", "Known", "--arm", "Known$*"];
            let place = file.display().to_string();
            options.extend(["--memory", &place]);
            options.extend(caches.iter().flat_map(|cache| ["--cache", cache]));
            let known = java(programs, "Known", &["2000"]);
            let output = run(&options, &known).run()?.succeeded("run --memory")?;
            let profile = read(&file)?;
            let found = differences(&expected(&output.out), &counts(&profile));
            assert!(found.is_empty(), "{caches:?}: {found:#?}");
        }
        Ok(())
    })
}

/// The number of elements, the seed, and the number of accesses of the walk.
const WALK: (u64, u64, u64) = (300_000, 42, 3_000_000);
/// Offset of the first element of an array of `int`.
const FIRST_INT: u64 = 16;
/// The position of the array. Only its alignment matters, because all numbers of sets are powers of two.
const REGION: u64 = 1 << 30;

/// Caches with and without the fast path, and with each policy.
const WALK_CACHES: [&[&str]; 6] = [
    &["L1:32K/8/64,L2:1M/16/64"],
    &["L1:1K/2/32,L2:16K/4/64,L3:256K/8/128"],
    &["L1:32K/8/64/wt,L2:256K/8/64"],
    &["L1:8K/4/64/na,L2:64K/8/64/wt/na"],
    &["L1:48K/12/64,L2:512K/8/64,TLB:64/4/4K,TLB2:512/8/4K"],
    &["L1:32K/8/64,L2:1M/16/64", "dj"],
];

/// The accesses of `Walk.walk`.
fn walk() -> impl Iterator<Item = SimulatedAccess> {
    let (elements, seed, count) = WALK;
    let mut state = seed;
    (0..count).map(move |i| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let index = match state & 1 << 40 {
            0 => (state >> 33) % elements,
            _ => i * 7 % elements,
        };
        let kind = match state >> 62 {
            0 => AccessKind::Write,
            _ => AccessKind::Read,
        };
        SimulatedAccess {
            address: REGION + FIRST_INT + 4 * index,
            bytes: 4,
            kind,
        }
    })
}

#[test]
fn misses_are_those_of_the_simulator() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        let (elements, seed, count) = WALK;
        for caches in WALK_CACHES {
            let folder = Folder::new("memory-walk")?;
            let file = folder.join("walk.vmem");
            let place = file.display().to_string();
            let mut options = vec!["--check", "--arm", "Walk::walk(..)", "--memory", &place];
            options.extend(caches.iter().flat_map(|cache| ["--cache", cache]));
            let numbers = [elements, seed, count].map(|number| number.to_string());
            let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
            let java = programs
                .launcher()
                .args(["-XX:+UseG1GC", "-Xmx512m", "-cp"]);
            let java = java
                .arg(programs.classes().path())
                .arg("Walk")
                .args(&numbers);
            run(&options, &java).run()?.succeeded("run --memory")?;
            let profile = read(&file)?;
            let parsed = caches.iter().map(|text| parse_description(text));
            let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
            let mut simulation = Simulation::new(&parsed);
            for access in walk() {
                let origin = Origin {
                    site: u32::from(access.kind == AccessKind::Write),
                    ..Origin::default()
                };
                simulation.access(&access, origin);
            }
            for (origin, account) in simulation.accounts() {
                let is_write = origin.site == 1;
                let row = profile.accesses.iter();
                let mut row = row.filter(|row| (row.references.writes > 0) == is_write);
                let row = row.next().expect("a row");
                assert_eq!(row.references.reads, account.references.reads);
                assert_eq!(row.references.writes, account.references.writes);
                for (counts, outcome) in row.caches.iter().zip(&account.outcomes) {
                    let levels = counts.levels.iter().zip(outcome.levels);
                    let tlbs = counts.tlbs.iter().zip(outcome.tlbs);
                    for (counted, simulated) in levels.chain(tlbs) {
                        let expected = (simulated.lookups, simulated.misses);
                        assert_eq!((counted.lookups, counted.misses), expected, "{caches:?}");
                    }
                }
            }
        }
        Ok(())
    })
}

/// The rounds of the exact recording, and of the sampled one, which takes some seconds.
const STEADY_ROUNDS: [&str; 2] = ["20", "6000"];
/// A part of the program that has fewer lookups has no steady ratio.
const STEADY_LOOKUPS: u64 = 1_000;

/// Misses and lookups by instruction, type and level, with the margin of the misses.
fn by_level(profile: &MemoryProfile) -> BTreeMap<(String, String, usize), LevelCount> {
    let rows = profile.accesses.iter().flat_map(|row| {
        let levels = row.caches.iter().flat_map(|caches| &caches.levels);
        let type_name = row.type_id.map(|id| profile.type_name(id));
        let key = (profile.site_name(row.site), type_name.unwrap_or_default());
        levels
            .enumerate()
            .map(move |(level, count)| ((key.0.clone(), key.1.clone(), level), *count))
    });
    let mut sums: BTreeMap<_, LevelCount> = BTreeMap::new();
    rows.for_each(|(key, count)| sums.entry(key).or_default().add(&count));
    sums
}

#[test]
fn the_ratios_of_a_sample_are_those_of_all_accesses_within_the_stated_error() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        let folder = Folder::new("memory-steady")?;
        let mut profiles = Vec::new();
        for (rounds, sample) in STEADY_ROUNDS.iter().zip([&[][..], &["--sample"]]) {
            let place = folder.join("steady.vmem");
            let file = place.display().to_string();
            let caches = "L1:32K/8/64,L2:256K/8/64";
            let mut options = vec!["--check", "--arm", "Steady"];
            options.extend(["--memory", &file, "--cache", caches]);
            options.extend(sample);
            let java = programs.launcher().args(["-XX:+UseSerialGC", "-cp"]);
            let java = java.arg(programs.classes().path()).args(["Steady", rounds]);
            run(&options, &java).run()?.succeeded("run --memory")?;
            profiles.push(by_level(&read(&place)?));
        }
        let [all, sample] = &profiles[..] else {
            return Err("two profiles".into());
        };
        let (mut compared, mut wrong) = (0, Vec::new());
        for (key, exact) in all {
            let Some(found) = sample.get(key) else {
                continue;
            };
            if exact.lookups < STEADY_LOOKUPS || found.margin == UNKNOWN_MARGIN {
                continue;
            }
            compared += 1;
            let expected = exact.misses as f64 / exact.lookups as f64 * found.lookups as f64;
            // The agent allocates before the program does, so that objects are in other lines.
            let moved = found.lookups as f64 / 50.0;
            if (found.misses as f64 - expected).abs() > found.margin as f64 + moved {
                wrong.push(format!("{key:?}: {found:?} instead of {expected:.0}"));
            }
        }
        assert!(compared >= 8, "{compared} of {}: {sample:?}", all.len());
        assert!(wrong.is_empty(), "of {compared}: {wrong:#?}");
        Ok(())
    })
}

/// A seeded fault: the program, its rounds, and the instruction that misses most.
const FAULTS: [(&str, &str, &str); 4] = [
    ("Stride", "2", "Stride.sumByColumns long[]"),
    ("Chase", "3", "Chase.sumList Chase$Node.value"),
    ("BoxedKeys", "4", "BoxedKeys.findBoxed BoxedKeys$Box.value"),
    ("Records", "5", "Records.sumRecords Records$Order.price"),
];

/// The program with its fault, or mended, recorded with an L1 and an L2.
fn recorded(
    programs: &Programs,
    (program, variant, rounds): (&str, &str, &str),
    options: &[&str],
) -> Result<MemoryProfile, Box<dyn std::error::Error>> {
    let folder = Folder::new("memory-faults")?;
    let file = folder.join("fault.vmem");
    let place = file.display().to_string();
    let mut all = vec!["--arm", "*", "--memory", &place];
    all.extend(options);
    let java = java(programs, program, &[variant, rounds]);
    run(&all, &java).run()?.succeeded("run --memory")?;
    read(&file)
}

/// The misses of the last level.
fn misses(row: &AccessRow) -> u64 {
    let levels = row.caches.first().and_then(|counts| counts.levels.last());
    levels.map_or(0, |level| level.misses)
}

#[test]
fn seeded_faults_have_the_most_misses() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        let caches = ["--cache", "L1:32K/8/64,L2:1M/16/64"];
        for (program, rounds, expected) in FAULTS {
            let slow = recorded(programs, (program, "slow", rounds), &caches)?;
            let top = slow.accesses.iter().max_by_key(|row| misses(row));
            let top = top.and_then(|row| slow.sites.get(row.site as usize));
            let site = top.expect("a site");
            let (method, _) = site.method.split_once('(').expect("a descriptor");
            let found = format!("{}.{method} {}", site.class, site.field);
            assert_eq!(found, expected);
            let fast = recorded(programs, (program, "fast", rounds), &caches)?;
            // Both variants make their data with some misses.
            let in_method = |profile: &MemoryProfile, name: &str| -> u64 {
                let of_rounds = profile.accesses.iter().filter(|row| {
                    let site = profile.sites.get(row.site as usize);
                    site.is_some_and(|site| site.method.starts_with(name))
                });
                of_rounds.map(misses).sum()
            };
            let slow = in_method(&slow, method);
            let mended = match program {
                "BoxedKeys" => "findInt",
                "Stride" => "sumByRows",
                "Chase" => "sumArray",
                _ => "sumColumn",
            };
            let fast = in_method(&fast, mended);
            assert!(slow > 2 * fast.max(1), "{program}: {slow} and {fast}");
        }
        Ok(())
    })
}

#[test]
fn false_sharing_names_both_instructions() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        let options = ["--cache", "none", "--sharing"];
        let slow = recorded(programs, ("FalseSharing", "slow", "60"), &options)?;
        let top = slow.sharing.iter().max_by_key(|row| row.false_misses);
        let top = top.expect("lines that threads share");
        for site in [top.writer, top.other] {
            let site = slow.sites.get(site as usize).expect("a site");
            assert_eq!(site.method.as_ref(), "addToNeighbours([JI)V");
        }
        // The threads take turns for milliseconds if other programs need the processors.
        assert!(top.false_misses > 100, "{top:?}");
        assert!(top.true_misses < top.false_misses, "{top:?}");
        let fast = recorded(programs, ("FalseSharing", "fast", "60"), &options)?;
        let misses = fast.sharing.iter().map(|row| row.false_misses);
        assert!(misses.sum::<u64>() < top.false_misses / 2);
        Ok(())
    })
}

#[test]
fn a_running_program_is_recorded_and_left_as_it_was() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        let folder = Folder::new("memory-live")?;
        let file = folder.join("live.vmem");
        let live = Live::start(&java(programs, "Records", &["slow", "0"]))?;
        let pid = live.pid().to_string();
        for _ in 0..2 {
            let mut command = veneer().args(["memory", &pid, "Records", "--for", "1", "-o"]);
            command = command.arg(&file);
            let output = command.run()?.succeeded("memory")?;
            assert!(output.err.contains("accesses by"), "{}", output.err);
            let profile = read(&file)?;
            assert!(profile.total().references.reads > 100_000);
            let method = |row: &AccessRow| profile.sites[row.site as usize].method.clone();
            let top = profile.accesses.iter().max_by_key(|row| misses(row));
            assert_eq!(
                top.map(method).as_deref(),
                Some("sumRecords([LRecords$Order;)J")
            );
        }
        let page = folder.join("live.html");
        let show = veneer().args(["memory", "show"]).arg(&file);
        let sources = workspace().join("tests/java/locality");
        let show = show.arg("--html").arg(&page).arg("--source").arg(&sources);
        show.run()?.succeeded("memory show --html")?;
        let page = std::fs::read_to_string(page)?;
        // The line with the fault has the most misses.
        let marked = page.lines().find(|line| line.contains("// FAULT records"));
        assert!(
            marked.is_some_and(|line| line.starts_with("<tr class=\"hot\">")),
            "{marked:?}"
        );
        let table = veneer().args(["memory", &pid, "Records", "--for", "0.5", "--by", "line"]);
        let table = table.run()?.succeeded("memory")?;
        assert!(table.out.contains("L1 misses"), "{}", table.out);
        until_nothing_is_attached(&live)?;
        live.stop()?;
        Ok(())
    })
}

#[test]
fn what_cannot_be_recorded_is_refused_with_a_reason() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        let z = programs.launcher().args(["-XX:+UseZGC", "-cp"]);
        let z = z
            .arg(programs.classes().path())
            .arg("Records")
            .args(["slow", "0"]);
        let live = Live::start(&z)?;
        let pid = live.pid().to_string();
        let refused = veneer()
            .args(["memory", &pid, "Records", "--for", "1"])
            .run()?;
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("ZGC"), "{}", refused.err);
        assert!(refused.err.contains("-XX:+UseG1GC"), "{}", refused.err);
        for (caches, reason) in [
            ("L1:32K/8/64,L1I:32K/8/64", "L1I"),
            ("L1:32K/8/64,L2:1M/16/64,rules:cachegrind", "rules"),
        ] {
            let command = veneer().args(["memory", &pid, "Records", "--cache", caches]);
            let refused = command.run()?;
            assert_ne!(refused.code, 0);
            assert!(refused.err.contains(reason), "{}", refused.err);
        }
        live.stop()?;
        Ok(())
    })
}

#[test]
fn a_collection_empties_the_caches() -> Outcome {
    on_a_jdk_with("locality", |programs| {
        // The orders fill the young generation several times.
        let folder = Folder::new("memory-collections")?;
        let file = folder.join("small.vmem");
        let java = programs.launcher().args(["-Xmx64m", "-Xmn4m", "-cp"]);
        let java = java
            .arg(programs.classes().path())
            .arg("Records")
            .args(["slow", "3"]);
        let place = file.display().to_string();
        let options = [
            "--arm",
            "Records",
            "--memory",
            &place,
            "--cache",
            "L1:32K/8/64",
        ];
        run(&options, &java).run()?.succeeded("run --memory")?;
        let profile = read(&file)?;
        let note = profile.notes.iter().find(|note| note.contains("emptied"));
        assert!(note.is_some(), "{:?}", profile.notes);
        Ok(())
    })
}

/// The allocated objects of each class, and their bytes.
type Allocations = BTreeMap<String, (u64, u64)>;

#[test]
fn allocations_are_those_of_the_jvm() -> Outcome {
    on_a_jdk_with("accesses", |programs| {
        let library = compile_library(programs, "allocations")?;
        let folder = Folder::new("memory-allocations")?;
        let counted = folder.join("counted");
        let option = format!(
            "-agentpath:{}={},LKnown",
            library.display(),
            counted.display()
        );
        let launcher = programs.launcher().args(["-Xint", &option, "-cp"]);
        let known = launcher
            .arg(programs.classes().path())
            .args(["Known", "500"]);
        known.run()?.succeeded("java")?;
        let mut expected = Allocations::new();
        for line in std::fs::read_to_string(&counted)?.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [signature, objects, bytes] = words[..] else {
                continue;
            };
            let name = signature.trim_start_matches('L').trim_end_matches(';');
            // The classes of lambdas are made by the JVM.
            if !name.contains("Lambda") {
                expected.insert(name.to_owned(), (objects.parse()?, bytes.parse()?));
            }
        }
        assert!(expected.len() > 10, "{expected:?}");
        let file = folder.join("known.vmem");
        let place = file.display().to_string();
        let options = ["--arm", "Known", "--arm", "Known$*", "--memory", &place];
        run(&options, &java(programs, "Known", &["500"]))
            .run()?
            .succeeded("run --memory")?;
        let profile = read(&file)?;
        let recorded = |is_counted: &dyn Fn(&str) -> bool| {
            let mut recorded = Allocations::new();
            for row in &profile.allocations {
                let name = profile.type_name(row.type_id);
                let site = &profile.sites[row.site as usize];
                if name.starts_with("Known") && !name.ends_with("[]") && is_counted(&site.method) {
                    let sum = recorded.entry(name).or_default();
                    *sum = (sum.0 + row.objects, sum.1 + row.bytes);
                }
            }
            recorded
        };
        let all = recorded(&|_| true);
        // JDK 17 samples the first allocations of a thread with the interval that it had before. Those are
        // in the static initialiser of the main class.
        let later = recorded(&|method| !method.starts_with("<clinit>"));
        assert!(
            expected == all || expected == later,
            "{expected:?}, {all:?}"
        );
        assert!(later.len() + 1 >= all.len());
        Ok(())
    })
}

#[test]
fn the_sort_of_the_paper_misses_where_the_paper_says() -> Outcome {
    on_a_jdk_with("database", |programs| {
        let folder = Folder::new("memory-database")?;
        let file = folder.join("db.vmem");
        let place = file.display().to_string();
        let options = ["--arm", "database..*", "--memory", &place, "--cache", "dj"];
        let java = java(programs, "database.Database", &["20000", "3"]);
        run(&options, &java).run()?.succeeded("run --memory")?;
        let profile = read(&file)?;
        let rows = profile.view(Dimension::Line);
        let source =
            std::fs::read_to_string(workspace().join("tests/java/database/Database.java"))?;
        let lines = source.lines().enumerate();
        let faults = lines.filter(|(_, text)| text.contains("// FAULT sort"));
        let faults: Vec<String> = faults
            .map(|(index, _)| format!("database.Database::shell_sort(I)V:{}", index + 1))
            .collect();
        assert_eq!(faults.len(), 2);
        let top: Vec<&str> = rows.iter().take(2).map(|row| row.name.as_str()).collect();
        assert!(
            faults.iter().all(|fault| top.contains(&fault.as_str())),
            "{top:?}"
        );
        Ok(())
    })
}
