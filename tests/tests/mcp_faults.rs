//! Planted faults, each found through `veneer mcp` by a script of at most five calls and 10,000 tokens.
//!
//! A script begins as an assistant does: it knows neither the process nor, for some faults, any name of
//! the program. Later calls use what earlier answers said.

use std::fmt::Write;

use serde_json::{Value, json};
use veneer_tests::downloads::python_with_mcp;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::Live;
use veneer_tests::mcp_client::McpClient;
use veneer_tests::process::Process;
use veneer_tests::sample_service::shop_service;
use veneer_tests::skip::skip;

/// The most calls of a script, and the most tokens of all its calls and answers.
const MAX_CALLS: usize = 5;
const MAX_TOKENS: usize = 10_000;

/// One step of a script: a call, and words that its answer has. A step whose answer lacks a word is
/// repeated, because a service may handle no order of the right kind for some seconds.
struct Step {
    tool: &'static str,
    /// The arguments, from the process id, the method that the last search named, and the answer before.
    arguments: fn(&Known) -> Value,
    words: &'static [&'static str],
}

/// The facts that a script has learnt.
#[derive(Default)]
struct Known {
    pid: u32,
    /// The pattern of the method of the first finding.
    pattern: String,
    /// The path of a file that belongs to the fault.
    file: String,
}

/// A planted fault and the script that finds it.
struct Fault {
    name: &'static str,
    steps: &'static [Step],
}

const fn step(
    tool: &'static str,
    arguments: fn(&Known) -> Value,
    words: &'static [&'static str],
) -> Step {
    Step {
        tool,
        arguments,
        words,
    }
}

const fn machines(words: &'static [&'static str]) -> Step {
    step("machines", |_| json!({}), words)
}

const fn search(words: &'static [&'static str]) -> Step {
    step(
        "search",
        |known| json!({"pid": known.pid, "seconds": 8}),
        words,
    )
}

const SHOP: [Fault; 7] = [
    // Its share of the time depends on the machine, so a search need not name it. Its growth does not.
    Fault {
        name: "a quadratic search for duplicates in each order",
        steps: &[
            machines(&["shop.Service"]),
            step(
                "ask",
                |known| json!({"pid": known.pid, "question": "time", "pattern": "shop.Desk::hasTwice(..)", "by": ["items.length"]}),
                &["2000"],
            ),
        ],
    },
    Fault {
        name: "threads that wait for each other",
        steps: &[
            machines(&["shop.Service"]),
            // The dumps of a slow machine are so expensive that few of them fit into a shorter search.
            step(
                "search",
                |known| json!({"pid": known.pid, "seconds": 20}),
                &["waiting for a monitor", "shop.Prices.discount"],
            ),
        ],
    },
    Fault {
        name: "orders of one customer are slow",
        steps: &[
            machines(&["shop.Service"]),
            step(
                "ask",
                |known| json!({"pid": known.pid, "question": "time", "pattern": "shop.Stock::left(..)", "by": ["order.customer"]}),
                &["eve"],
            ),
        ],
    },
    Fault {
        name: "one query for each item",
        steps: &[
            machines(&["shop.Service"]),
            step(
                "plan",
                |known| json!({"pid": known.pid, "name": "sql", "settings": ["methods=shop..*"]}),
                &["SELECT amount FROM stock"],
            ),
        ],
    },
    Fault {
        name: "a lock that is held too long",
        steps: &[
            machines(&["shop.Service"]),
            step(
                "ask",
                |known| json!({"pid": known.pid, "question": "time", "pattern": "shop..*", "at": "monitor_enters"}),
                &["shop.Prices"],
            ),
        ],
    },
    Fault {
        name: "an exception as a result",
        steps: &[
            machines(&["shop.Service"]),
            step(
                "ask",
                |known| json!({"pid": known.pid, "question": "count", "pattern": "shop..*", "at": "handlers", "by": ["class_of(exception)"]}),
                &["NumberFormatException"],
            ),
        ],
    },
    Fault {
        name: "a large array for each receipt",
        steps: &[
            machines(&["shop.Service"]),
            step(
                "ask",
                |known| json!({"pid": known.pid, "question": "count", "pattern": "shop..*", "at": "allocations"}),
                &["shop.Receipt", "new char[]"],
            ),
        ],
    },
];

/// Faults of `tests/java/search/Faults.java`, with the names that the program takes.
const SINGLE: [(&str, Fault); 5] = [
    (
        "duplicates",
        Fault {
            name: "a quadratic search for duplicates",
            steps: &[
                machines(&["Faults"]),
                search(&["Faults.hasTwice"]),
                step(
                    "ask",
                    |known| json!({"pid": known.pid, "question": "count", "pattern": known.pattern, "at": "loops"}),
                    &["hasTwice"],
                ),
            ],
        },
    ),
    (
        "loop",
        Fault {
            name: "a loop that never ends",
            steps: &[
                machines(&["Faults"]),
                search(&["Faults.loop"]),
                step(
                    "ask",
                    |known| json!({"pid": known.pid, "question": "count", "pattern": known.pattern, "at": "loops", "seconds": 1}),
                    &["loop"],
                ),
            ],
        },
    ),
    (
        "lock",
        Fault {
            name: "a lock of java.util.concurrent that is held too long",
            steps: &[
                machines(&["Faults"]),
                search(&["Faults.reserve", "java.util.concurrent"]),
                step(
                    "ask",
                    |known| json!({"pid": known.pid, "question": "time", "pattern": known.pattern, "at": "calls:java.util.concurrent.locks.ReentrantLock::lock()", "seconds": 2}),
                    &["reserve"],
                ),
            ],
        },
    ),
    (
        "collisions",
        Fault {
            name: "keys with colliding hash codes",
            steps: &[
                machines(&["Faults"]),
                search(&["Faults.lookup", "colliding hash codes"]),
            ],
        },
    ),
    (
        "file",
        Fault {
            name: "each entry of a journal waits for the disk",
            steps: &[
                machines(&["Faults"]),
                search(&["Faults.journal", "FileDescriptor.sync"]),
                step(
                    "ask",
                    |known| json!({"pid": known.pid, "question": "time", "pattern": known.pattern, "at": "calls:java.io.FileDescriptor::sync()", "seconds": 2}),
                    &["journal"],
                ),
            ],
        },
    ),
];

/// The instruction of the trace that reads a matrix by columns.
const COLUMN_READ: &str = "0x401234";

const MATRIX: Fault = Fault {
    name: "a matrix that is read by columns",
    steps: &[step(
        "memory",
        |known| json!({"file": known.file, "caches": ["L1:32K/8/64"], "by": "instruction"}),
        &[COLUMN_READ],
    )],
};

/// Runs a script, and returns its line in the table of figures.
fn find(
    python: &Process,
    fault: &Fault,
    known: &mut Known,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut client = McpClient::start(python)?;
    for step in fault.steps {
        loop {
            let answer = client.call(step.tool, &(step.arguments)(known))?;
            if step.words.iter().all(|word| answer.contains(word)) {
                if let Some(pattern) = first_finding(&answer).filter(|_| step.tool == "search") {
                    known.pattern = pattern;
                }
                break;
            }
            assert!(
                client.calls < MAX_CALLS,
                "{}: {} does not answer {:?}:\n{answer}",
                fault.name,
                step.tool,
                step.words
            );
        }
    }
    let (calls, tokens) = (client.calls, client.tokens);
    assert!(calls <= MAX_CALLS, "{}: {calls} calls", fault.name);
    assert!(tokens <= MAX_TOKENS, "{}: {tokens} tokens", fault.name);
    Ok(format!("{calls:>6} {tokens:>7}  {}\n", fault.name))
}

/// The pattern of the method in the first sentence of a search: `… in shop.Desk.serve (Desk.java:41)`.
fn first_finding(answer: &str) -> Option<String> {
    let sentence = answer
        .lines()
        .find(|line| line.contains(" of the active time "))?;
    let (before, _) = sentence.split_once(" (").and_then(|_| {
        let at = sentence.find(".java")?;
        sentence.get(..at)?.rsplit_once(" (")
    })?;
    let place = before.rsplit(' ').next()?;
    let (class, method) = place.rsplit_once('.')?;
    Some(format!("{class}::{method}(..)"))
}

/// Writes an address trace of two loops over a matrix of 512 by 512 numbers, by rows and by columns.
fn write_matrix_trace(folder: &Folder) -> Result<String, Box<dyn std::error::Error>> {
    const SIDE: u64 = 512;
    const MATRIX_ADDRESS: u64 = 0x1000_0000;
    let address = |row: u64, column: u64| MATRIX_ADDRESS + (row * SIDE + column) * 8;
    let mut trace = String::new();
    for outer in 0..SIDE {
        for inner in 0..SIDE {
            writeln!(trace, "I  00401200,4\n L {:08x},8", address(outer, inner))?;
        }
    }
    for outer in 0..SIDE {
        for inner in 0..SIDE {
            writeln!(trace, "I  00401234,4\n L {:08x},8", address(inner, outer))?;
        }
    }
    let file = folder.join("trace");
    std::fs::write(&file, trace)?;
    Ok(file.display().to_string())
}

/// Checks that the instruction that reads by columns is first, with nearly all misses.
fn check_matrix(python: &Process, file: &str) -> Outcome {
    let mut client = McpClient::start(python)?;
    let arguments = json!({"file": file, "caches": ["L1:32K/8/64"], "by": "instruction"});
    let answer = client.call("memory", &arguments)?;
    let columns = answer.find(COLUMN_READ);
    let rows = answer.find("0x401200");
    assert!(columns.is_some() && columns < rows, "{answer}");
    Ok(())
}

#[test]
fn each_fault_takes_at_most_five_calls_and_10_000_tokens() -> Outcome {
    let python = match python_with_mcp()? {
        Ok(python) => python,
        Err(missing) => return Ok(skip(missing)?),
    };
    let jdk = jdk::newest().unwrap_or_else(jdk::oldest);
    let classes = Folder::new("mcp-faults")?;
    let mut table = " calls  tokens  fault\n".to_owned();
    let shop = shop_service(&jdk, &classes)?;
    let mut known = Known {
        pid: shop.pid(),
        ..Known::default()
    };
    for fault in &SHOP {
        table += &find(&python, fault, &mut known)?;
    }
    shop.stop()?.succeeded("the service")?;
    let programs = Programs::compile_folder(jdk, "search")?;
    let temporary = format!("-Djava.io.tmpdir={}", classes.path().display());
    for (name, fault) in &SINGLE {
        let java = programs.launcher().arg(&temporary).arg("-cp");
        let java = java.arg(programs.classes().path()).args(["Faults", name]);
        let live = Live::start(&java)?;
        let mut known = Known {
            pid: live.pid(),
            ..Known::default()
        };
        table += &find(&python, fault, &mut known)?;
        live.stop()?;
    }
    let file = write_matrix_trace(&classes)?;
    check_matrix(&python, &file)?;
    let mut known = Known {
        file,
        ..Known::default()
    };
    table += &find(&python, &MATRIX, &mut known)?;
    println!("{table}");
    Ok(())
}
