//! The views of event traces for people: the tree in a terminal, and two traces beside each other, as text
//! and in a browser. The traces are those of the conformance corpus, so no JVM runs.

use std::path::Path;

use veneer_tests::command::veneer;
use veneer_tests::downloads::chromium;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::process::{Output, Process};
use veneer_tests::screen::Screen;
use veneer_tests::skip::skip;

type AnyError = Box<dyn std::error::Error>;

/// Copies a trace of the corpus, because its index is written beside it.
fn corpus(name: &str, folder: &Folder) -> Result<(), AnyError> {
    let from = workspace().join("profiles/traces/tests/corpus").join(name);
    std::fs::create_dir_all(folder.join(name))?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), folder.join(name).join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn trace(words: &[&str], folder: &Path) -> Result<Output, AnyError> {
    Ok(veneer().arg("trace").args(words).folder(folder).run()?)
}

#[test]
fn the_tree_is_expanded_and_collapsed_in_a_terminal() -> Outcome {
    let folder = Folder::new("browse")?;
    corpus("threads", &folder)?;
    let printed = trace(&["show", "threads"], folder.path())?;
    let mut screen = Screen::start(&["trace", "show", "threads"], folder.path(), (24, 80), &[])?;
    // The first thread is expanded, and its calls are not.
    screen.line(&["worker-1", "(1),"])?;
    let text = screen
        .line(&["ä.Ö::drei", "self"])
        .and(screen.until("keys", |text| text.contains("q quit")))?;
    assert!(!text.contains("contended"), "{text}");
    // `e` expands all calls below the thread.
    screen.press("e")?;
    let text = screen.until("everything", |text| text.contains("contended shop.Stock"))?;
    let lines = |text: &str| {
        text.lines()
            .filter(|line| line.contains("a.A::one"))
            .count()
    };
    let of_thread = printed.out.split("\n\n").next().unwrap_or_default();
    assert_eq!(lines(&text), lines(of_thread), "{text}");
    screen.press("c")?;
    screen.until("nothing", |text| {
        !text.contains("a.A::one") && text.contains("worker-2")
    })?;
    // The arrow keys expand the second thread.
    screen.press("\u{1b}[B\u{1b}[C")?;
    screen.line(&["worker-2"])?;
    screen.line(&["ä.Ö::drei"])?;
    screen.press("q")?;
    assert_eq!(screen.end()?, 0);
    assert!(screen.is_restored());
    // With --text, a terminal gets the text too.
    let mut screen = Screen::start(
        &["trace", "show", "threads", "--text"],
        folder.path(),
        (60, 100),
        &[],
    )?;
    screen.line(&["contended", "shop.Stock"])?;
    assert_eq!(screen.end()?, 0);
    assert!(!screen.uses_alternate_screen());
    Ok(())
}

#[test]
fn two_traces_are_compared_as_trees_and_in_a_browser() -> Outcome {
    let folder = Folder::new("compare")?;
    for name in ["threads", "words"] {
        corpus(name, &folder)?;
    }
    let tree = trace(&["diff", "threads", "words", "--tree"], folder.path())?;
    assert_eq!(tree.code, 1, "{}", tree.err);
    let page = folder.join("diff.html");
    let stacks = trace(&["diff", "threads", "words", "--collapsed"], folder.path())?;
    let written = trace(
        &[
            "diff",
            "threads",
            "words",
            "--flamegraph",
            "-o",
            "diff.html",
        ],
        folder.path(),
    )?;
    assert_eq!((written.code, written.out.as_str()), (1, ""));
    let sums = stacks.out.lines().fold((0_u64, 0_u64), |(a, b), line| {
        let mut numbers = line.rsplit(' ').map(|word| word.parse().unwrap_or(0));
        let second = numbers.next().unwrap_or(0);
        (a + numbers.next().unwrap_or(0), b + second)
    });
    assert!(sums.0 > 0 && sums.1 > 0, "{sums:?}");
    let chromium = match chromium()? {
        Ok(chromium) => chromium,
        Err(missing) => return Ok(skip(missing)?),
    };
    let address = format!("file://{}", page.display());
    let dom = Process::new(chromium.display().to_string())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(&address)
        .run()?
        .succeeded("Chromium")?
        .out;
    // The script has described the whole: what it has in A and in B.
    let (_, shown) = dom
        .split_once(r#"<div id="shown">"#)
        .ok_or_else(|| dom.clone())?;
    let shown = shown.split_once("</div>").map_or(shown, |(shown, _)| shown);
    let words = ["all — A ", " s · B ", " s · "];
    assert!(
        words.iter().all(|word| shown.contains(word)),
        "{shown} {sums:?}"
    );
    let legend = dom.contains(r#"<span id="legend">"#);
    assert!(legend, "the legend is hidden: {dom}");
    Ok(())
}
