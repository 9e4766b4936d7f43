//! Each terminal session in the documents is what `tests/session.sh` prints today, except for the numbers.
//!
//! A document marks a session by `<!-- session NAME -->`, a fenced block, and `<!-- end of session -->`. A document may cut a
//! session into several such blocks with text in between; all of them together are compared with the output of the script.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use veneer_tests::command::path;
use veneer_tests::folder::workspace;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::process::Process;

const BEGIN: &str = "<!-- session ";
const END: &str = "```\n<!-- end of session -->";

/// One word of output with `#` for each number, and `t` for a unit of time that follows a number: whether a time is shown in
/// microseconds or in milliseconds depends on the machine.
fn masked(word: &str, after_number: bool) -> String {
    let digits = |c: char| c.is_ascii_digit();
    if after_number && matches!(word, "ns" | "µs" | "ms" | "s" | "min" | "h") {
        return "t".to_owned();
    }
    if !word.contains(digits) {
        return word.to_owned();
    }
    let kept = word.replace(|c: char| digits(c) || matches!(c, ',' | '.'), "#");
    let mut short = String::new();
    for c in kept.chars() {
        if c != '#' || !short.ends_with('#') {
            short.push(c);
        }
    }
    short
}

/// The distinct lines of a text with masked numbers, and one space for several. The number of equal lines and their order may
/// differ between two runs.
fn shape(text: &str) -> BTreeSet<String> {
    let line = |line: &str| {
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            let after_number = words.last().is_some_and(|last| last == "#");
            words.push(masked(word, after_number));
        }
        words.join(" ")
    };
    text.lines()
        .map(line)
        .filter(|line| !line.is_empty())
        .collect()
}

/// README.md and all pages of the book.
fn documents() -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
    let mut found = vec![workspace().join("README.md")];
    let mut folders = vec![workspace().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// The sessions of a document by name, each with the text of all its blocks.
fn sessions(document: &Path) -> Result<BTreeMap<String, String>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(document)?;
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for rest in text.split(BEGIN).skip(1) {
        let broken = || format!("{}: a session is not closed", document.display());
        let (name, rest) = rest.split_once(" -->\n```\n").ok_or_else(broken)?;
        let (block, _) = rest.split_once(END).ok_or_else(broken)?;
        found.entry(name.to_owned()).or_default().push_str(block);
    }
    Ok(found)
}

/// Returns the output of the script for a session, on the oldest JDK.
fn printed(name: &str) -> Result<String, Box<dyn std::error::Error>> {
    let bin = jdk::oldest().home().join("bin");
    let path_variable = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Process::new("sh")
        .arg(workspace().join("tests/session.sh"))
        .arg(name)
        .env("VENEER", &path().display().to_string())
        .env("PATH", &path_variable)
        .run()?
        .succeeded("tests/session.sh")?;
    Ok(output.out)
}

#[test]
fn each_session_is_what_its_script_prints() -> Outcome {
    let mut names = BTreeSet::new();
    for document in documents()? {
        for (name, text) in sessions(&document)? {
            let out = printed(&name)?;
            let (expected, found) = (shape(&text), shape(&out));
            let missing: Vec<_> = expected.difference(&found).collect();
            let new: Vec<_> = found.difference(&expected).collect();
            assert!(
                missing.is_empty() && new.is_empty(),
                "session {name}: only in {}: {missing:#?}\nonly in what the script prints: {new:#?}\n{out}",
                document.display()
            );
            names.insert(name);
        }
    }
    assert!(names.contains("readme") && names.len() >= 8, "{names:?}");
    Ok(())
}
