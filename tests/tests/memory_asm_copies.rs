//! `veneer run --memory` against copies of the same programs that count their own accesses
//! (`tests/java/asm-copies`, written with ASM).
//!
//! ```text
//!   class files ─▶ plain files ─────────────────▶ veneer run --memory ─▶ counts of the profile ──┐
//!               └▶ copies, instrumented by ASM ─▶ java ──────────────▶ counts of the copies ───▶ equal?
//! ```
//!
//! Both sides count by class, method, line, kind, accessed member and class of the object. Each count of each
//! side is compared. The foreign programs (Lucene, Eclipse's compiler) run twice as copies, too: counts that
//! differ between two runs of the copies do not depend on the program alone, and the test fails.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use veneer_memory::profile::{MemoryProfile, ProfileFile, Site};
use veneer_tests::command::run;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::jars::{jar, jars};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::Process;
use veneer_tests::report::Report;

/// A program that runs alike each time.
struct Program {
    /// Folders of sources, and single sources.
    sources: &'static [&'static str],
    /// The jar whose classes are counted, too.
    library: Option<&'static str>,
    /// Patterns of all methods of the sources and the library.
    methods: &'static [&'static str],
    /// Options of the JVM, main class and arguments. `{folder}` is a folder of its own, `{root}` the workspace.
    command: &'static [&'static str],
    /// The fewest accesses, and the fewest instructions that access: a lower number means that the test lost
    /// its program.
    least: (u64, usize),
}

const OWN: [Program; 7] = [
    Program {
        sources: &["tests/java/accesses"],
        library: None,
        methods: &["Known", "Known$*", "Counts"],
        command: &["Known", "1000"],
        least: (200_000, 300),
    },
    Program {
        sources: &["tests/java/accesses"],
        library: None,
        methods: &["Steady", "Steady$*"],
        command: &["Steady", "5"],
        least: (2_000_000, 20),
    },
    Program {
        sources: &["tests/java/locality"],
        library: None,
        methods: &["Records", "Records$*", "Rounds"],
        command: &["Records", "slow", "2"],
        least: (1_000_000, 10),
    },
    Program {
        sources: &["tests/java/locality"],
        library: None,
        methods: &["BoxedKeys", "BoxedKeys$*", "Rounds"],
        command: &["BoxedKeys", "slow", "2"],
        least: (100_000, 10),
    },
    Program {
        sources: &["tests/java/locality"],
        library: None,
        methods: &["Chase", "Chase$*", "Rounds"],
        command: &["Chase", "slow", "2"],
        least: (100_000, 10),
    },
    Program {
        sources: &["tests/java/database"],
        library: None,
        methods: &["database..*"],
        command: &["database.Database", "5000", "2"],
        least: (1_000_000, 40),
    },
    Program {
        sources: &["tests/java/route"],
        library: None,
        methods: &["route..*"],
        command: &["route.Main", "20", "2"],
        least: (100_000, 100),
    },
];

const LUCENE: Program = Program {
    sources: &[
        "tests/bench/Work.java",
        "tests/bench/Rounds.java",
        "tests/bench/Indexing.java",
    ],
    library: Some("lucene-core"),
    methods: &["org.apache.lucene..*", "Rounds", "Indexing"],
    // Without the seed, Lucene draws hash functions and names of segments. A collection would clear weak
    // references to readers.
    command: &[
        "-XX:+UseSerialGC",
        "-Xmx1g",
        "-Xmn800m",
        "-Dtests.seed=1",
        "Rounds",
        "Indexing",
        "1",
        "150",
    ],
    least: (2_000_000, 3_000),
};

const ECJ: Program = Program {
    sources: &[],
    library: Some("ecj"),
    methods: &["org.eclipse..*"],
    // The compiler has tables whose order depends on identity hashes.
    command: &[
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:hashCode=2",
        "-Djdt.compiler.useSingleThread=true",
        "org.eclipse.jdt.internal.compiler.batch.Main",
        "-17",
        "-proc:none",
        "-nowarn",
        "-classpath",
        "{root}/tests/java/route",
        "-d",
        "{folder}",
        "{root}/tests/java/route",
    ],
    least: (2_000_000, 5_000),
};

/// ASM reads no class files of the newest JDK.
const COMPILER_OPTIONS: [&str; 5] = ["-g", "-nowarn", "-Xlint:-options", "--release", "17"];

/// Kind, class, method, line (-1: unknown) and accessed member.
type Key = (String, String, String, i64, String);

/// Accesses or allocations by instruction.
#[derive(Default, PartialEq, Eq)]
struct Counts {
    all: BTreeMap<Key, u64>,
    by_type: BTreeMap<(Key, String), u64>,
    /// Instructions of which some accesses threw. The class of their objects is not compared.
    failed: BTreeSet<Key>,
}

impl Counts {
    fn add(&mut self, key: Key, type_name: &str, number: u64) {
        *self.all.entry(key.clone()).or_default() += number;
        *self
            .by_type
            .entry((key, without_number(type_name)))
            .or_default() += number;
    }

    /// Leaves methods out.
    fn without(&self, methods: &BTreeSet<(String, String)>) -> Counts {
        let is_kept = |key: &Key| !methods.contains(&(key.1.clone(), key.2.clone()));
        let all = self.all.iter().filter(|(key, _)| is_kept(key));
        let by_type = self.by_type.iter().filter(|((key, _), _)| is_kept(key));
        Counts {
            all: all.map(|(key, number)| (key.clone(), *number)).collect(),
            by_type: by_type
                .map(|(key, number)| (key.clone(), *number))
                .collect(),
            failed: self.failed.clone(),
        }
    }

    fn accesses(&self) -> u64 {
        let all = self.all.iter();
        let accesses = all.filter(|(key, _)| key.0 != "new");
        accesses.map(|(_, number)| number).sum()
    }

    /// One line for each difference to what is expected.
    fn differences(&self, expected: &Counts) -> Vec<String> {
        let keys: BTreeSet<&Key> = self.all.keys().chain(expected.all.keys()).collect();
        let totals = keys
            .into_iter()
            .map(|key| (format!("{key:?}"), expected.all.get(key), self.all.get(key)));
        let typed: BTreeSet<&(Key, String)> =
            self.by_type.keys().chain(expected.by_type.keys()).collect();
        let typed = typed
            .into_iter()
            .filter(|(key, _)| !expected.failed.contains(key));
        let typed = typed.map(|key| {
            let (expected, found) = (expected.by_type.get(key), self.by_type.get(key));
            (format!("{key:?}"), expected, found)
        });
        let all = totals.chain(typed);
        let different = all.filter(|(_, expected, found)| expected != found);
        let line = |(key, expected, found): (String, Option<&u64>, Option<&u64>)| {
            format!("{key}: {found:?} and not {expected:?}")
        };
        different.map(line).collect()
    }
}

/// The name of a class without the number that the JVM gives to the class of a lambda.
fn without_number(name: &str) -> String {
    match name.split_once("$$Lambda") {
        Some((class, _)) => format!("{class}$$Lambda"),
        None => name.to_owned(),
    }
}

/// The counts of a profile.
fn recorded(profile: &MemoryProfile) -> Counts {
    let mut counts = Counts::default();
    let key = |kind: &str, site: &Site, member: &str| -> Key {
        let line = site.line.map_or(-1, i64::from);
        let (class, method) = (site.class.to_string(), site.method.to_string());
        (kind.to_owned(), class, method, line, member.to_owned())
    };
    for row in &profile.accesses {
        let site = &profile.sites[row.site as usize];
        // The writes that clear new objects are no instructions.
        if site.field.starts_with("new ") {
            continue;
        }
        let is_write = row.references.writes > 0;
        let word = if is_write { "write" } else { "read" };
        let type_name = row.type_id.map(|id| profile.type_name(id));
        let type_name = type_name.unwrap_or_default();
        let key = match site.field.ends_with("[]") {
            true => key(&format!("array-{word}"), site, "[]"),
            false => key(word, site, &site.field),
        };
        counts.add(key, &type_name, row.references.accesses());
    }
    for row in profile.allocations.iter().filter(|row| row.objects > 0) {
        let site = &profile.sites[row.site as usize];
        let type_name = profile.type_name(row.type_id);
        counts.add(key("new", site, ""), &type_name, row.objects);
    }
    counts
}

/// The counts of the copies. Accesses before the call of another constructor are not among them, because no
/// instrument sees them.
fn of_copies(table: &Path, counted: &Path) -> Result<Counts, Box<dyn std::error::Error>> {
    let table = std::fs::read_to_string(table)?;
    let sites: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let mut counts = Counts::default();
    for line in std::fs::read_to_string(counted)?.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let [number, type_name, count] = words[..] else {
            return Err(format!("{line:?} is no line of counts").into());
        };
        let site = sites
            .get(number.parse::<usize>()?)
            .map(|words| words.as_slice());
        let Some(&[kind, class, method, source_line, member, place]) = site else {
            return Err(format!("{number} is no instruction").into());
        };
        if place == "before" {
            continue;
        }
        let kind = kind.trim_start_matches("static-");
        let is_new = kind.starts_with("new");
        let (kind, shown) = if is_new { ("new", "") } else { (kind, member) };
        let (class, method) = (class.to_owned(), method.to_owned());
        let line = source_line.parse()?;
        let key = (kind.to_owned(), class, method, line, shown.to_owned());
        // The class is that of the instruction, if the copy did not see an object.
        let declared = match is_new {
            true => member,
            false => member.rsplit_once('.').map_or("", |(class, _)| class),
        };
        if type_name == "!" {
            counts.failed.insert(key.clone());
        }
        let type_name = if type_name.is_empty() {
            declared
        } else {
            type_name
        };
        counts.add(key, type_name, count.parse()?);
    }
    Ok(counts)
}

/// A program in both forms.
struct Copies<'a> {
    jdk: &'a Jdk,
    program: &'a Program,
    folder: Folder,
}

impl Copies<'_> {
    fn make<'a>(
        jdk: &'a Jdk,
        program: &'a Program,
    ) -> Result<Copies<'a>, Box<dyn std::error::Error>> {
        let copies = Copies {
            jdk,
            program,
            folder: Folder::new("asm-copies")?,
        };
        let mut asm = jars(&["asm", "asm-tree"])?;
        let sources = files(&workspace().join("tests/java/asm-copies"), "java")?;
        copies.javac(&sources, &asm, "tool")?;
        let library = program.library.map(jar).transpose()?;
        let mut sources = Vec::new();
        for source in program.sources {
            let path = workspace().join(source);
            match path.is_dir() {
                true => sources.extend(files(&path, "java")?),
                false => sources.push(path),
            }
        }
        std::fs::create_dir_all(copies.folder.join("classes"))?;
        if !sources.is_empty() {
            copies.javac(&sources, library.as_slice(), "classes")?;
        }
        asm.push(copies.folder.join("tool"));
        let mut tool = Process::new(jdk.tool("java"))
            .arg("-cp")
            .arg(std::env::join_paths(asm)?)
            .arg("AsmCopies")
            .args(["plain", "counted", "table"].map(|name| copies.folder.join(name)))
            .arg(copies.folder.join("classes"));
        if let Some(library) = library {
            tool = tool.arg(library);
        }
        tool.run()?.succeeded("AsmCopies")?;
        Ok(copies)
    }

    fn javac(&self, sources: &[PathBuf], path: &[PathBuf], into: &str) -> Outcome {
        let javac = Process::new(self.jdk.tool("javac")).args(COMPILER_OPTIONS);
        let javac = javac.arg("-cp").arg(std::env::join_paths(path)?);
        let javac = javac.arg("-d").arg(self.folder.join(into)).args(sources);
        javac.run()?.succeeded("javac")?;
        Ok(())
    }

    /// The JVM with the program whose classes are in these folders.
    fn java(&self, options: &[String], folders: &[&str]) -> Result<Process, OsString> {
        let folders = folders.iter().map(|name| self.folder.join(name));
        let path = std::env::join_paths(folders).map_err(|_| OsString::from("a folder"))?;
        let (place, root) = (self.folder.join("output"), workspace());
        let words = self.program.command.iter().map(|word| {
            let word = word.replace("{folder}", &place.display().to_string());
            word.replace("{root}", &root.display().to_string())
        });
        let java = self.jdk.verifying_java().args(options);
        Ok(java
            .arg("-cp")
            .arg(path)
            .args(words)
            .limit(Duration::from_secs(600)))
    }

    /// Runs the copies. Returns their counts, and what the program prints.
    fn run_counted(&self) -> Result<(Counts, String), Box<dyn std::error::Error>> {
        let file = self.folder.join("counts");
        let options = [format!("-Doracle.counts={}", file.display())];
        let java = self.java(&options, &["counted", "tool"]);
        let java = java.map_err(|_| "a path with a colon")?;
        let output = java.run()?.succeeded("the copies")?;
        let counts = of_copies(&self.folder.join("table"), &file)?;
        Ok((counts, output.out))
    }

    /// Records the plain program.
    fn run_recorded(&self, caches: &str) -> Result<Recorded, Box<dyn std::error::Error>> {
        let report = self.folder.join("report.json");
        let reported = report.display().to_string();
        let file = self.folder.join("recorded.vmem");
        let place = file.display().to_string();
        let java = self.java(&[], &["plain"]);
        let java = java.map_err(|_| "a path with a colon")?;
        let arm = self.program.methods.iter();
        let arm = arm.flat_map(|pattern| ["--arm", pattern]);
        let options: Vec<&str> = arm
            .chain(["--memory", &place, "--cache", caches, "--report", &reported])
            .collect();
        let output = run(&options, &java).limit(Duration::from_secs(600)).run()?;
        let output = output.succeeded("run --memory")?;
        let profile = ProfileFile::read(File::open(&file)?)?.profile;
        let refusals = Report::read(&report)?.refusals.into_iter();
        let whole = refusals.filter(|refusal| !refusal.method.contains('@'));
        Ok(Recorded {
            counts: recorded(&profile),
            output: output.out,
            refused: whole
                .map(|refusal| (refusal.class, refusal.method))
                .collect(),
            notes: profile.notes,
        })
    }
}

/// The most methods that the agent may refuse to record.
const MAX_REFUSED: usize = 8;

/// A recording of a plain program.
struct Recorded {
    counts: Counts,
    output: String,
    /// Class and method of what the agent refused to record, for example because the method would be too large
    /// for the JIT compilers.
    refused: BTreeSet<(String, String)>,
    notes: Vec<String>,
}

/// Compares a program with its copies, with several caches.
fn compare(jdk: &Jdk, program: &Program, caches: &[&str]) -> Outcome {
    let copies = Copies::make(jdk, program)?;
    let (expected, said) = copies.run_counted()?;
    let (fewest, instructions) = program.least;
    let name = program.command.join(" ");
    assert!(
        expected.accesses() >= fewest,
        "{name}: {}",
        expected.accesses()
    );
    assert!(
        expected.all.len() >= instructions,
        "{name}: {}",
        expected.all.len()
    );
    if program.library.is_some() {
        let (again, _) = copies.run_counted()?;
        let changed = again.differences(&expected);
        assert!(
            changed.is_empty(),
            "{name} differs from run to run: {changed:#?}"
        );
    }
    for caches in caches {
        let recorded = copies.run_recorded(caches)?;
        let refused = &recorded.refused;
        assert!(refused.len() <= MAX_REFUSED, "{name}: {refused:?}");
        // The profile says which methods it does not have.
        let names_refused = |note: &String| note.contains("Not recorded");
        assert_eq!(
            recorded.notes.iter().any(names_refused),
            !refused.is_empty()
        );
        let wrong = recorded.counts.differences(&expected.without(refused));
        let shown = &wrong[..wrong.len().min(50)];
        assert!(
            wrong.is_empty(),
            "{name}, {jdk}, {caches}: {} differences: {shown:#?}",
            wrong.len()
        );
        assert_eq!(without_pid(&recorded.output), without_pid(&said), "{name}");
    }
    Ok(())
}

/// The output of a program without the number of its process.
fn without_pid(output: &str) -> Vec<&str> {
    let lines = output.lines();
    lines.filter(|line| !line.starts_with("pid ")).collect()
}

fn on_each(test: impl Fn(&Jdk) -> Outcome) -> Outcome {
    for jdk in jdk::for_this_test() {
        test(&jdk).map_err(|error| format!("{jdk}: {error}"))?;
    }
    Ok(())
}

#[test]
fn counts_of_own_programs_are_those_of_their_copies() -> Outcome {
    on_each(|jdk| {
        for program in &OWN {
            compare(jdk, program, &["none", "L1:32K/8/64,L2:1M/16/64"])?;
        }
        Ok(())
    })
}

#[test]
fn counts_of_lucene_are_those_of_its_copy() -> Outcome {
    on_each(|jdk| compare(jdk, &LUCENE, &["L1:32K/8/64"]))
}

#[test]
fn counts_of_a_compiler_are_those_of_its_copy() -> Outcome {
    on_each(|jdk| compare(jdk, &ECJ, &["L1:32K/8/64"]))
}
