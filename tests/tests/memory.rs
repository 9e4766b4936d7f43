//! `veneer memory`: caches simulated on address traces, compared with Cachegrind, and the profiles
//! that the command writes.
//!
//! The rules of Cachegrind 3.19 (`cachegrind/cg_sim.c`, `cachegrind/cg_main.c`):
//!
//! * An access is one lookup in a level, even if it touches two lines; it misses if any is missing.
//! * The last level is looked up for the whole access, and only if the first level missed.
//! * The last level is shared by instructions and data. No level is inclusive or exclusive.
//! * A write is treated as a read: there are no dirty lines.
//! * An instruction that loads and stores the same bytes counts as one load.
//! * An access that is longer than the shortest line is cut to that length.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use veneer_tests::command::{json, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::Outcome;
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// Random accesses, rows and columns of a matrix, a linked list, and copies of odd lengths.
const PROGRAM: &str = r"
#include <stdlib.h>
#include <string.h>
static int random_ones[20000];
static double matrix[150][150];
struct node { struct node *next; long value; char text[21]; };
int main(void) {
    unsigned state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 1103515245 + 12345;
        random_ones[(state >> 8) % 20000] += i;
    }
    double sum = 0;
    for (int j = 0; j < 150; j++)
        for (int i = 0; i < 150; i++) {
            sum += matrix[i][j];
            matrix[j][i] = sum;
        }
    struct node *list = 0;
    for (int i = 0; i < 2000; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = list;
        node->value = i;
        memset(node->text, i, sizeof node->text);
        list = node;
    }
    for (int round = 0; round < 3; round++)
        for (struct node *node = list; node; node = node->next)
            sum += node->value;
    return sum + random_ones[5] > 1e12;
}
";

/// Cachegrind's options for the caches, and the same caches for `veneer memory simulate`.
const CACHES: [([&str; 3], &str); 3] = [
    (
        ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"],
        "L1:32K/8/64,L1I:32K/8/64,L2:1M/16/64,rules:cachegrind",
    ),
    (
        ["--I1=1024,1,32", "--D1=2048,2,32", "--LL=16384,4,64"],
        "L1:2K/2/32,L1I:1K/1/32,L2:16K/4/64,rules:cachegrind",
    ),
    (
        ["--I1=4096,2,64", "--D1=4096,4,64", "--LL=65536,8,128"],
        "L1:4K/4/64,L1I:4K/2/64,L2:64K/8/128,rules:cachegrind",
    ),
];

fn valgrind(options: &[&str], program: &Path) -> Process {
    Process::new("valgrind")
        .args(options)
        .arg(program)
        .limit(Duration::from_secs(300))
}

/// Compiles the program and traces it. Returns `None` if a tool is missing, after it was reported.
fn trace(folder: &Folder) -> Result<Option<()>, Box<dyn std::error::Error>> {
    for tool in ["valgrind", "cc"] {
        if Process::new(tool).arg("--version").run().is_err() {
            skip(Need::Program(tool))?;
            return Ok(None);
        }
    }
    std::fs::write(folder.join("program.c"), PROGRAM)?;
    let compile = Process::new("cc").args(["-O1", "-o", "program", "program.c"]);
    compile.folder(folder.path()).run()?.succeeded("cc")?;
    let log = format!("--log-file={}", folder.join("trace").display());
    let options = ["--tool=lackey", "--trace-mem=yes", &log];
    valgrind(&options, &folder.join("program"))
        .run()?
        .succeeded("lackey")?;
    Ok(Some(()))
}

/// The nine totals of Cachegrind: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw.
fn cachegrind(options: &[&str], folder: &Folder) -> Result<Vec<u64>, Box<dyn std::error::Error>> {
    let out = format!("--cachegrind-out-file={}", folder.join("out").display());
    let mut all = vec!["--tool=cachegrind", "--cache-sim=yes", &out];
    all.extend(options);
    valgrind(&all, &folder.join("program"))
        .run()?
        .succeeded("cachegrind")?;
    let text = std::fs::read_to_string(folder.join("out"))?;
    let summary = text.lines().find_map(|line| line.strip_prefix("summary: "));
    let numbers = summary.unwrap_or("").split_whitespace();
    Ok(numbers.map(str::parse).collect::<Result<_, _>>()?)
}

/// The row of a kind of access.
fn row<'a>(answer: &'a Value, kind: &str) -> Option<&'a Value> {
    answer["rows"]
        .as_array()?
        .iter()
        .find(|row| row["name"] == kind)
}

fn number(answer: &Value, kind: &str, path: &str) -> u64 {
    let value = row(answer, kind).and_then(|row| row.pointer(path));
    value.and_then(Value::as_u64).unwrap_or(u64::MAX)
}

#[test]
fn the_counts_are_those_of_cachegrind() -> Outcome {
    let folder = Folder::new("cachegrind")?;
    if trace(&folder)?.is_none() {
        return Ok(());
    }
    let path = folder.join("trace").display().to_string();
    for (options, description) in CACHES {
        let words = [
            "memory",
            "simulate",
            &path,
            "--cache",
            description,
            "--json",
        ];
        let answer = json(&words)?;
        let (l1, l2) = ("/caches/0/levels/0/misses", "/caches/0/levels/1/misses");
        let simulated = [
            number(&answer, "fetch", "/fetches"),
            number(&answer, "fetch", "/caches/0/instructions/0/misses"),
            number(&answer, "fetch", l2),
            number(&answer, "read", "/reads"),
            number(&answer, "read", l1),
            number(&answer, "read", l2),
            number(&answer, "write", "/writes"),
            number(&answer, "write", l1),
            number(&answer, "write", l2),
        ];
        let expected = cachegrind(&options, &folder)?;
        assert_eq!(simulated.as_slice(), expected, "{description}");
        assert!(expected.iter().all(|count| *count > 0), "{expected:?}");
    }
    Ok(())
}

/// A trace by hand: two instructions walk over 16 lines of 64 bytes, three times.
fn walk() -> String {
    let mut text = String::from("==1== Lackey\n");
    for _ in 0..3 {
        for line in 0..16 {
            let address = 0x10000 + line * 64;
            text += &format!(
                "I  00400000,4\n L {address:08x},8\nI  00400004,4\n S {:08x},8\n",
                address + 8
            );
        }
    }
    text
}

#[test]
fn a_trace_becomes_tables_csv_json_and_a_profile() -> Outcome {
    let folder = Folder::new("memory")?;
    let (path, profile) = (folder.join("trace"), folder.join("walk.vmem"));
    std::fs::write(&path, walk())?;
    let (path, profile) = (path.display().to_string(), profile.display().to_string());
    let cache = "L1:1K/2/64,L2:4K/4/64,TLB:4/4/4K";
    let words = [
        "memory",
        "simulate",
        &path,
        "--cache",
        cache,
        "--by",
        "instruction",
    ];
    let output = veneer()
        .args(words)
        .args(["-o", &profile])
        .run()?
        .succeeded("simulate")?;
    assert!(
        output
            .out
            .contains("instruction  accesses  L1 misses   L2 misses"),
        "{}",
        output.out
    );
    assert!(
        output
            .out
            .contains("0x400000     96        16 (33.3%)  16 (100.0%)"),
        "{}",
        output.out
    );
    assert!(
        output
            .out
            .contains("fetches of instructions were not simulated")
    );

    let shown = json(&["memory", "show", &profile, "--by", "site", "--json"])?;
    assert_eq!(shown["program"], path.as_str());
    assert_eq!(shown["total"]["reads"], 48);
    assert_eq!(shown["total"]["caches"][0]["levels"][0]["misses"], 16);
    assert_eq!(shown["total"]["caches"][0]["tlbs"][0]["misses"], 1);
    let simulated = json(&[&words[..], &["--json", "--curve"]].concat())?;
    assert_eq!(simulated["rows"], shown["rows"]);
    let points = simulated["curve"]["points"].as_array().ok_or("no curve")?;
    let misses: Vec<_> = points
        .iter()
        .map(|point| point["misses"].as_u64())
        .collect();
    assert_eq!(misses, [Some(48), Some(48), Some(48), Some(48), Some(16)]);

    let csv = veneer()
        .args(["memory", "show", &profile, "--by", "site", "--csv"])
        .run()?;
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(
        lines[0],
        "site,reads,writes,fetches,bytes_read,bytes_written,cache,level,lookups,misses,margin"
    );
    assert_eq!(
        lines[1],
        format!("0x400000,48,0,48,384,0,\"{cache}\",L1,48,16,0")
    );
    assert_eq!(lines.len(), 1 + 2 * 3);
    Ok(())
}

#[test]
fn bad_input_is_refused_in_one_line() -> Outcome {
    let folder = Folder::new("memory-bad")?;
    let path = folder.join("trace");
    std::fs::write(&path, walk())?;
    let path = path.display().to_string();
    let empty = folder.join("empty");
    std::fs::write(&empty, "hello\n")?;
    let empty = empty.display().to_string();
    for (words, expected) in [
        (
            vec!["simulate", &path, "--cache", "L1:32K/8"],
            "is malformed",
        ),
        (
            vec!["simulate", &path, "--cache", "L1:32K/8/64,L3:1M/8/64"],
            "L2 is missing below L3",
        ),
        (
            vec!["simulate", &path, "--cache", "L1:1024G/16/64"],
            "the limit is",
        ),
        (
            vec![
                "simulate",
                &path,
                "--cache",
                "L1:1K/full/64",
                "--sample",
                "1/2",
            ],
            "independent groups of sets",
        ),
        (vec!["simulate", &path, "--sample", "1/0"], "write 1/N"),
        (
            vec!["simulate", &empty, "--cache", "dj"],
            "the trace has no memory access",
        ),
        (
            vec!["simulate", "/nowhere/trace", "--cache", "dj"],
            "/nowhere/trace cannot be opened",
        ),
        (
            vec!["show", "/nowhere/file"],
            "/nowhere/file cannot be opened",
        ),
        (vec!["show", &path], "is no memory profile"),
    ] {
        let output = veneer().arg("memory").args(&words).run()?;
        assert_eq!(output.code, 2, "{words:?}: {}", output.err);
        assert!(output.err.contains(expected), "{words:?}: {}", output.err);
        assert!(output.out.is_empty(), "{words:?}: {}", output.out);
    }
    Ok(())
}

#[test]
fn a_profile_that_was_cut_shows_its_rows_and_says_so() -> Outcome {
    let folder = Folder::new("memory-cut")?;
    let (path, profile) = (folder.join("trace"), folder.join("cut.vmem"));
    std::fs::write(&path, walk())?;
    let file = profile.display().to_string();
    let trace = path.display().to_string();
    let words = ["memory", "simulate", &trace, "--cache", "dj", "-o", &file];
    veneer().args(words).run()?.succeeded("simulate")?;
    let bytes = std::fs::read(&profile)?;
    std::fs::write(&profile, &bytes[..bytes.len() - 5])?;
    let output = veneer()
        .args(["memory", "show", &file])
        .run()?
        .succeeded("show")?;
    assert!(output.err.contains("ends early"), "{}", output.err);
    assert!(output.out.contains("read"), "{}", output.out);
    std::fs::write(&profile, [&bytes[..40], b"x", &bytes[41..]].concat())?;
    let output = veneer().args(["memory", "show", &file]).run()?;
    assert_eq!(output.code, 2);
    assert!(output.err.contains("is damaged"), "{}", output.err);
    Ok(())
}
