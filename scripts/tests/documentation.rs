//! The documents: example plans run, links and anchors lead somewhere, limits are those of the code, and the glossary names
//! files that exist.
//!
//! Each block tagged `rhai` is a whole plan. A test loads it, runs it for ten minutes of the test's clock, and finishes it. A block
//! tagged `rhai FILE` is the module FILE, which all plans may import.

mod no_jvm;
mod recorder;

use recorder::Recorder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use veneer_scripts::Plan;

/// The top directory of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All documents, by their paths from the top directory: those in it, and those below `docs`.
fn documents() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec!["docs".to_owned()];
    let mut read = |path: String| {
        let text = std::fs::read_to_string(workspace().join(&path));
        found.insert(path, text.expect("a document can be read"));
    };
    for entry in std::fs::read_dir(workspace()).expect("the top directory can be read") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".md") {
            read(name.into_owned());
        }
    }
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(workspace().join(&folder)).expect("docs can be read");
        for entry in entries {
            let entry = entry.expect("an entry");
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                read(path);
            }
        }
    }
    found
}

/// A block tagged `rhai`.
struct Block {
    /// The document and the line on which the block begins: `docs/plans.md+12`.
    place: String,
    /// The file of a module; `None` for a plan.
    file: Option<String>,
    text: String,
}

/// The blocks tagged `rhai` of all documents.
fn blocks() -> Vec<Block> {
    let mut found = Vec::new();
    for (path, text) in documents() {
        let mut current: Option<Block> = None;
        for (i, line) in text.lines().enumerate() {
            match (&mut current, line) {
                (None, line) => {
                    let Some(tag) = line.strip_prefix("```rhai") else {
                        continue;
                    };
                    let file = Some(tag.trim()).filter(|file| !file.is_empty());
                    current = Some(Block {
                        place: format!("{path}+{}", i + 2),
                        file: file.map(str::to_owned),
                        text: String::new(),
                    });
                }
                (Some(_), "```") => found.extend(current.take()),
                (Some(block), line) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
        }
        assert!(current.is_none(), "{path}: a block is not closed");
    }
    found
}

#[test]
fn every_example_runs() {
    let (modules, examples): (Vec<_>, Vec<_>) =
        blocks().into_iter().partition(|block| block.file.is_some());
    assert!(examples.len() >= 35 && !modules.is_empty());
    let modules: BTreeMap<String, String> = modules
        .into_iter()
        .map(|block| {
            let file = block.file.unwrap_or_default();
            (file.trim_end_matches(".rhai").to_owned(), block.text)
        })
        .collect();
    for Block { place, text, .. } in examples {
        let plan = Plan::compile_with(&place, &text, &modules);
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        no_jvm::dry_run(&plan).unwrap_or_else(|error| panic!("{error}"));

        let (recorder, session) = Recorder::session();
        let zero = Instant::now();
        session
            .load_at(plan, zero)
            .unwrap_or_else(|error| panic!("{error}"));
        for second in 1..=600 {
            session.run_due(zero + Duration::from_secs(second));
        }
        session.finish();
        let printed = recorder.printed();
        assert!(
            !printed.is_empty() || !recorder.calls().is_empty(),
            "{place} does nothing"
        );
        for text in printed {
            // Errors and warnings begin with the plan's name.
            assert!(
                !text.starts_with(&place) && !text.starts_with("lib/"),
                "{text}"
            );
        }
    }
}

#[test]
fn the_limits_in_the_text_are_those_of_the_code() {
    use veneer_instruments::table::format_count;
    use veneer_scripts::limits::*;
    let documents = documents();
    for (page, limit) in [
        (
            "plans/running",
            format!("{} operations", format_count(MAX_OPERATIONS)),
        ),
        (
            "plans/running",
            format!("{} seconds, in which", MAX_CALL_DURATION.as_secs()),
        ),
        (
            "plans/running",
            format!("{MAX_CALL_DEPTH} calls inside each other"),
        ),
        (
            "plans/running",
            format!("strings of {} bytes", format_count(MAX_STRING_BYTES as u64)),
        ),
        (
            "plans/running",
            format!(
                "arrays of {} elements",
                format_count(MAX_ARRAY_ELEMENTS as u64)
            ),
        ),
        (
            "plans/running",
            format!(
                "maps of {} elements",
                format_count(MAX_MAP_PROPERTIES as u64)
            ),
        ),
        (
            "plans/running",
            format!(
                "{} variables, functions and waiting callbacks",
                format_count(MAX_VARIABLES as u64)
            ),
        ),
        ("plans", format!("({MIN_PERIOD_SECONDS} at least)")),
    ] {
        let text = &documents[&format!("docs/{page}.md")];
        assert!(text.contains(&limit), "docs/{page}.md: {limit}");
    }
    assert_eq!(
        (MAX_VARIABLES, MAX_FUNCTIONS),
        (MAX_CALLBACKS, MAX_CALLBACKS)
    );
    assert_eq!(MAX_CONSECUTIVE_ERRORS, 3);
}

/// The lines of a document outside fenced blocks, without the text between backquotes.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let outside = line.split('`').step_by(2);
            found.push(outside.collect::<Vec<_>>().join("`"));
        }
    }
    found
}

/// The anchors of a document's headings, as mdBook and the usual hosts of repositories make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.trim_start_matches('#');
        if fenced || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let anchor: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        found.insert(anchor.replace(' ', "-"));
    }
    found
}

/// The targets of a document's links and pictures.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        for rest in line.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            found.push(target.to_owned());
        }
    }
    found
}

/// The path of `link` from the top directory, where the document `from` contains it.
fn resolved(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let documents = documents();
    let mut wrong = Vec::new();
    for (path, text) in &documents {
        for link in links(text) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => path.clone(),
                file => resolved(path, file),
            };
            let outside_of_the_book = path.starts_with("docs/") && !target.starts_with("docs/");
            if outside_of_the_book || !workspace().join(&target).exists() {
                wrong.push(format!("{path}: {link}"));
            } else if !anchor.is_empty()
                && !documents
                    .get(&target)
                    .is_some_and(|text| anchors(text).contains(anchor))
            {
                wrong.push(format!("{path}: {link}: no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_book_has_every_page() {
    let documents = documents();
    let listed: BTreeSet<String> = links(&documents["docs/SUMMARY.md"])
        .iter()
        .map(|link| resolved("docs/SUMMARY.md", link))
        .collect();
    let pages = documents
        .keys()
        .filter(|path| path.starts_with("docs/") && *path != "docs/SUMMARY.md");
    let pages: BTreeSet<String> = pages.cloned().collect();
    assert_eq!(listed, pages);
}

#[test]
fn the_glossary_names_files_that_exist() {
    let documents = documents();
    let text = &documents["docs/glossary.md"];
    let words = text.split('`').skip(1).step_by(2);
    let files: Vec<&str> = words.filter(|word| word.contains('/')).collect();
    assert!(files.len() >= 20, "{files:?}");
    let missing: Vec<_> = files
        .iter()
        .filter(|file| !workspace().join(file).exists())
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn named_end_to_end_tests_exist() {
    let folder = workspace().join("tests/tests");
    let mut checked = 0;
    let mut missing = Vec::new();
    for (path, text) in documents() {
        for word in text.split('`').skip(1).step_by(2) {
            let Some((file, test)) = word.split_once("::") else {
                continue;
            };
            // Java methods and Rust types have the same form. No file here has the name of a Java
            // class, and types begin with a capital letter.
            if test.starts_with(|c: char| c.is_uppercase()) {
                continue;
            }
            let Ok(tests) = std::fs::read_to_string(folder.join(format!("{file}.rs"))) else {
                continue;
            };
            checked += 1;
            if !tests.contains(&format!("fn {test}(")) {
                missing.push(format!("{path}: {word}"));
            }
        }
    }
    assert!(checked >= 20, "{checked} tests are named");
    assert!(missing.is_empty(), "{missing:#?}");
}
