//! The terminal session in README.md equals the current output of its script, except for the
//! numbers.

use std::collections::BTreeSet;

use veneer_tests::command::path;
use veneer_tests::folder::workspace;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::process::Process;

const BEGIN: &str = "<!-- session -->\n```\n";
const END: &str = "```\n<!-- end of session -->";

/// Returns the set of lines with `#` for each number and one space for several. The frequency of a
/// line and the order of ties may vary like the numbers.
fn shape(text: &str) -> BTreeSet<String> {
    let line = |line: &str| {
        let words = line.split_whitespace().map(|word| {
            let digits = |c: char| c.is_ascii_digit();
            match word.contains(digits) {
                true => {
                    let kept = word.replace(|c: char| digits(c) || matches!(c, ',' | '.'), "#");
                    let mut short = String::new();
                    for c in kept.chars() {
                        if c != '#' || !short.ends_with('#') {
                            short.push(c);
                        }
                    }
                    short
                }
                false => word.to_owned(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines()
        .map(line)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_session_in_the_readme_equals_the_output_of_its_script() -> Outcome {
    let readme = std::fs::read_to_string(workspace().join("README.md"))?;
    let session = readme
        .split(BEGIN)
        .nth(1)
        .and_then(|rest| rest.split(END).next());
    let session = session.ok_or("README.md has no session")?;
    let java = jdk::oldest();
    let bin = java.home().join("bin");
    let path_variable = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Process::new("sh")
        .arg(workspace().join("tests/session.sh"))
        .env("VENEER", &path().display().to_string())
        .env("PATH", &path_variable)
        .run()?
        .succeeded("tests/session.sh")?;
    let (expected, found) = (shape(session), shape(&output.out));
    let missing: Vec<_> = expected.difference(&found).collect();
    let new: Vec<_> = found.difference(&expected).collect();
    assert!(
        missing.is_empty() && new.is_empty(),
        "only in README.md: {missing:#?}\nonly in what the script prints: {new:#?}\n{}",
        output.out
    );
    Ok(())
}
