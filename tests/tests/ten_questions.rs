//! The ten questions of `docs/howto/ten-questions.md` on the service of `examples/shop`: each line of
//! the page fits in 80 columns, and its answer contains the planted fault.

use std::time::Duration;

use veneer_tests::command::path;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::live::{Live, LiveError, number, until};
use veneer_tests::output::has_words;
use veneer_tests::process::{Output, Process};
use veneer_tests::sample_service::shop_service;

const PAGE: &str = "docs/howto/ten-questions.md";
/// The longest line, without the prompt.
const MAX_COLUMNS: usize = 80;
/// The process id in the page.
const PID: &str = "4711";
/// The time limit of one command: a busy machine needs many times the seconds of `--for`.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);

/// The words that an answer must have, and their place.
enum Expected {
    /// A line has these words in this order.
    AnyLine(&'static [&'static str]),
    /// The first row below the header that begins with this word has these words in this order.
    FirstRow(&'static str, &'static [&'static str]),
}

/// The expected answers, in the order of the page.
const ANSWERS: [Expected; 10] = [
    Expected::AnyLine(&["shop.Prices", "discount(Order)"]),
    Expected::FirstRow("total", &["eve"]),
    Expected::FirstRow("executions", &["SELECT amount FROM stock WHERE item = ?"]),
    Expected::AnyLine(&["worker-", "shop.Prices"]),
    Expected::AnyLine(&["shop.Desk.serve:63"]),
    Expected::AnyLine(&["order.customer = eve", "total = ", "discount = 5"]),
    Expected::AnyLine(&["%", "shop.Receipt.voucher", "line 122: ifne"]),
    Expected::AnyLine(&["shop.Receipt", "write(Order, long, int)", "new char[]"]),
    Expected::AnyLine(&["java.lang.NumberFormatException"]),
    Expected::AnyLine(&["0 are left armed; the agent is gone"]),
];

impl Expected {
    fn is_in(&self, answer: &str) -> bool {
        match self {
            Expected::AnyLine(words) => answer.lines().any(|line| has_words(line, words)),
            Expected::FirstRow(header, words) => {
                let is_header = |line: &&str| line.split_whitespace().next() == Some(header);
                let mut lines = answer.lines().skip_while(|line| !is_header(line));
                lines.nth(1).is_some_and(|row| has_words(row, words))
            }
        }
    }
}

/// The command lines of the page, without the prompt.
fn lines() -> Result<Vec<String>, std::io::Error> {
    let page = std::fs::read_to_string(workspace().join(PAGE))?;
    let lines = page.lines().filter_map(|line| line.strip_prefix("$ "));
    Ok(lines.map(ToOwned::to_owned).collect())
}

/// Runs a line of the page in a shell.
fn ask(line: &str, pid: u32) -> Result<Output, LiveError> {
    let line = line.replacen(PID, &pid.to_string(), 1);
    Ok(Process::new("sh")
        .args([
            "-c",
            &format!("veneer() {{ \"$COMMAND\" \"$@\"; }}; {line}"),
        ])
        .env("COMMAND", &path().display().to_string())
        .limit(COMMAND_TIMEOUT)
        .run()?)
}

#[test]
fn each_of_the_ten_lines_shows_its_planted_fault() -> Outcome {
    let lines = lines()?;
    assert_eq!(lines.len(), ANSWERS.len(), "{lines:#?}");
    for jdk in jdk::for_this_test() {
        let classes = Folder::new("ten-questions")?;
        let mut live = shop_service(&jdk, &classes)?;
        for (line, expected) in lines.iter().zip(&ANSWERS) {
            assert!(line.starts_with("veneer "), "{line}");
            assert!(line.chars().count() <= MAX_COLUMNS, "too long: {line}");
            // On a busy machine, the service may serve no order of the right kind during the command.
            let output = until(
                line,
                || ask(line, live.pid()),
                |output| output.code != 0 || expected.is_in(&output.out),
            )
            .map_err(|error| format!("{jdk}: {error}"))?;
            assert_eq!(output.code, 0, "{jdk}: {line}: {output:?}");
        }
        // The service works as before, and a client sees its times.
        let served = |live: &mut Live| -> Result<i64, LiveError> {
            live.say("after")?;
            let interval = live.line("interval after ")?.replace('=', " ");
            number(&interval, "requests").ok_or(LiveError::Answer(interval))
        };
        until("a request", || served(&mut live), |requests| *requests > 0)?;
        live.stop()?.succeeded("the service")?;
    }
    Ok(())
}
