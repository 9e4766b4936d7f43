//! `veneer top` in a pseudo-terminal on running programs: its screen, its keys, and that it leaves
//! nothing attached however it ends.

use std::path::Path;
use std::time::Duration;

use veneer_tests::command::veneer;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::jdk;
use veneer_tests::live::{Live, LiveError, until};
use veneer_tests::process::Output;
use veneer_tests::screen::{Screen, ScreenError};

/// Size of the terminal in rows and columns.
const SCREEN_SIZE: (u16, u16) = (24, 80);

/// Starts the program Kiosk without Veneer. The first command that needs the agent loads it.
fn kiosk(programs: &Programs) -> Result<Live, LiveError> {
    let java = programs.launcher().arg("-Xmx256m");
    let java = java.arg("-XX:+EnableDynamicAgentLoading").arg("-cp");
    Live::start(&java.arg(programs.classes().path()).arg("kiosk.Kiosk"))
}

fn top(live: &Live, more: &[&str], folder: &Path) -> Result<Screen, ScreenError> {
    let pid = live.pid().to_string();
    let arguments: Vec<&str> = ["top", &pid].iter().chain(more).copied().collect();
    Screen::start(&arguments, folder, SCREEN_SIZE, &[])
}

/// Waits until the counters are attached and the first update is shown.
fn ready(screen: &Screen) -> Result<String, ScreenError> {
    screen.until("a first look", |text| {
        text.contains(" methods ") && text.contains("kiosk.Kiosk.price(int)")
    })
}

/// Waits as [`ready`] does, and sorts by calls per second. At first the table is sorted by time.
fn sorted_by_rate(screen: &mut Screen) -> Outcome {
    ready(screen)?;
    screen.press("oo")?;
    screen.line(&["calls/s▼"])?;
    Ok(())
}

/// Waits until the first fragment has a count. The graph is shown before its counters are attached.
fn counts_are_shown(screen: &Screen) -> Outcome {
    screen.until("counters on the fragments", |text| {
        let first = text
            .lines()
            .find(|line| line.trim_start().starts_with("f0 "));
        first.is_some_and(|line| line.split_whitespace().nth(2) == Some("0"))
    })?;
    Ok(())
}

/// Returns the number of attached instruments.
fn attached(live: &Live) -> Result<String, LiveError> {
    live.value("instruments().filter(|i| i.attached).len()")
}

fn nothing_is_attached(live: &Live) -> Outcome {
    until("nothing attached", || attached(live), |n| n == "0")?;
    Ok(())
}

/// Runs one round: a thousand customers.
fn run(live: &mut Live) -> Result<(), LiveError> {
    live.say("run")?;
    live.line("sum ").map(|_| ())
}

fn ended(live: Live) -> Outcome {
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    Ok(())
}

/// Returns the number in this place of a line, or 0 if it is no number.
fn figure(line: &str, place: usize) -> u64 {
    let words = line.split_whitespace().nth(place).unwrap_or_default();
    words.replace(',', "").parse().unwrap_or(0)
}

/// Returns the percentage in this place of a line, or 0 if there is none.
fn percent(line: &str, place: usize) -> f64 {
    let word = line.split_whitespace().nth(place).unwrap_or_default();
    word.strip_suffix('%')
        .and_then(|number| number.parse().ok())
        .unwrap_or(0.0)
}

#[test]
fn the_hottest_method_is_first_and_enter_shows_its_fragments() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let folder = Folder::new("top")?;
        let mut live = kiosk(programs)?;
        let mut screen = top(&live, &["--every", "0.3"], folder.path())?;
        sorted_by_rate(&mut screen)?;
        run(&mut live)?;
        let line = screen.line(&["90,000", "kiosk.Kiosk.price(int)"])?;
        screen.line(&["1,000", "kiosk.Kiosk.serve(int)"])?;
        let text = screen.text();
        assert!(
            text.contains("6 methods outside the JDK, 3 called"),
            "{text}"
        );
        assert!(
            text.lines()
                .next()
                .is_some_and(|bar| bar.contains("cost ≈ ")),
            "{text}"
        );
        // The first three rows are the bar, the summary and the titles.
        assert_eq!(text.lines().nth(3), Some(line.as_str()), "{text}");
        assert!(screen.is_coloured() && screen.uses_alternate_screen());

        // While the program runs, its count grows and the cost is above zero.
        live.say("go")?;
        live.line("going")?;
        screen.until("a growing count", |text| {
            let first = text.lines().nth(3).unwrap_or_default();
            first.contains("price") && figure(first, 2) > 1_000 && figure(first, 3) > 500_000
        })?;
        screen.until("a cost", |text| {
            let bar = text.lines().next().unwrap_or_default();
            bar.contains('%') && !bar.contains(" 0.0%")
        })?;
        screen.press(" ")?;
        screen.line(&["PAUSED"])?;
        let paused = screen.text().lines().nth(3).map(str::to_owned);
        std::thread::sleep(Duration::from_millis(700));
        assert_eq!(screen.text().lines().nth(3).map(str::to_owned), paused);
        screen.press(" ")?;
        let before = figure(paused.as_deref().unwrap_or_default(), 3);
        screen.until("figures that go on", |text| {
            figure(text.lines().nth(3).unwrap_or_default(), 3) > before
        })?;
        live.say("rest")?;
        live.line("resting")?;

        // Sorted by name, in reverse order, filtered.
        screen.press("oor")?;
        screen.line(&["method▲"])?;
        screen.press("/SERVE\r")?;
        screen.line(&["1 with `SERVE`"])?;
        screen.press("\r")?;
        screen.line(&["f1 loop"])?;
        counts_are_shown(&screen)?;
        run(&mut live)?;
        // f0 → f1 header → f2 test → f4 price → f5 step → f1; f2 → f3 continue; f1 → f6.
        screen.line(&["▶f1 loop", "101,000"])?;
        screen.line(&["↺ f1"])?;
        screen.line(&["90,000", "90.0%"])?;
        screen.line(&["10,000", "10.0%"])?;
        screen.line(&["return"])?;
        screen.press("q")?;
        assert_eq!(screen.end()?, 0);
        assert!(screen.is_restored(), "{}", screen.text());
        nothing_is_attached(&live)?;
        ended(live)
    })
}

#[test]
fn keys_attach_detach_and_save() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let folder = Folder::new("top")?;
        let mut live = kiosk(programs)?;
        let mut screen = top(&live, &["kiosk..*", "--every", "0.3"], folder.path())?;
        sorted_by_rate(&mut screen)?;
        run(&mut live)?;
        screen.line(&["90,000", "price(int)"])?;
        // A timer and a watch on the method itself.
        screen.press("tw")?;
        screen.line(&["[ ] int item"])?;
        screen.press("\r")?;
        screen.line(&["watch item: 0 passes"])?;
        until("two more", || attached(&live), |n| n == "3")?;
        run(&mut live)?;
        screen.line(&["timer: ", "on average", "90,000 times"])?;
        screen.line(&["watch item: 90,000 passes"])?;
        screen.line(&["item = ", "thread "])?;
        screen.line(&["  tw ", "price(int)"])?;
        // A counter on a fragment from now on, and the values of an expression there.
        screen.press("/serve\r\r")?;
        screen.line(&["f1 loop"])?;
        screen.press("jc")?;
        screen.line(&["counter: 0 passes"])?;
        screen.press("w")?;
        screen.line(&["watch at f1 of Kiosk.serve(int)"])?;
        screen.press("eitem * 2\r\r")?;
        screen.line(&["watch item * 2: 0 passes"])?;
        run(&mut live)?;
        screen.line(&["counter: 101,000 passes"])?;
        screen.line(&["item * 2 = "])?;
        screen.line(&["f1 loop", " cw "])?;
        // An impossible request is reported, and nothing is attached.
        screen.press("dw")?;
        screen.line(&["watch at f1"])?;
        screen.press("enothing\r\r")?;
        screen.line(&["`nothing` cannot be read here"])?;
        // The typed text is not lost.
        screen.line(&["expression: nothing_"])?;
        screen.press("\x1b")?;
        screen.until("no expression", |text| {
            !text.contains("expression: nothing_")
        })?;
        screen.press("\x1b")?;
        screen.until("no selection", |text| !text.contains("watch at f1 of"))?;
        // Files are saved under names that the command shows, in both formats; a second file does
        // not replace the first.
        let pid = live.pid();
        for (key, name) in [
            ("s", format!("veneer-top-{pid}-1.json")),
            ("S", format!("veneer-top-{pid}-1.txt")),
            ("s", format!("veneer-top-{pid}-2.json")),
        ] {
            screen.press(key)?;
            screen.line(&["written to ", &name])?;
        }
        let saved = std::fs::read_to_string(folder.join(&format!("veneer-top-{pid}-2.json")))?;
        let saved: serde_json::Value = serde_json::from_str(&saved)?;
        let edges = saved["inside"]["edges"].as_array().ok_or("no edges")?;
        assert!(edges.iter().any(|e| e["passes"] == 90_000), "{saved}");
        assert_eq!(saved["instruments"][0]["kind"], "timer", "{saved}");
        assert_eq!(
            saved["instruments"][0]["figures"]["passes"], 180_000,
            "{saved}"
        );
        let text = std::fs::read_to_string(folder.join(&format!("veneer-top-{pid}-1.txt")))?;
        assert!(text.contains("↺ f1") && text.contains("timer: "), "{text}");
        // Back at the methods, everything is detached except their counters.
        screen.press("\x1b")?;
        screen.line(&["1 with `serve`"])?;
        screen.press("D")?;
        screen.line(&["2 instruments are taken off"])?;
        until("the counters alone", || attached(&live), |n| n == "1")?;
        screen.press("?")?;
        screen.line(&["The cost is an estimate"])?;
        screen.press("q")?;
        screen.line(&["calls/s"])?;
        screen.press("\x03")?;
        assert_eq!(screen.end()?, 0);
        assert!(screen.is_restored());
        nothing_is_attached(&live)?;
        ended(live)
    })
}

#[test]
fn nothing_stays_attached_however_top_ends() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let folder = Folder::new("top")?;
        let mut live = kiosk(programs)?;
        let signal = |screen: &Screen, number| {
            // SAFETY: a plain system call; the command has not been waited for, so its id has not
            // been reused.
            unsafe { libc::kill(screen.pid() as libc::pid_t, number) }
        };
        for way in ["killed", "terminated", "closed"] {
            let mut screen = top(&live, &["--every", "0.3"], folder.path())?;
            sorted_by_rate(&mut screen)?;
            screen.press("t\r")?;
            screen.line(&["fragment"])?;
            // The method that is first by name is a single block, so no edge is counted.
            until("all of them", || attached(&live), |n| n == "3")?;
            let code = match way {
                "killed" => {
                    signal(&screen, libc::SIGKILL);
                    None
                }
                "terminated" => {
                    signal(&screen, libc::SIGTERM);
                    Some(0)
                }
                _ => {
                    screen.close();
                    None
                }
            };
            let ended = screen.end()?;
            assert!(code.is_none_or(|code| code == ended), "{way}: {ended}");
            assert!(way != "terminated" || screen.is_restored(), "{way}");
            nothing_is_attached(&live)?;
        }
        // The program is not affected.
        run(&mut live)?;
        ended(live)
    })
}

#[test]
fn the_end_of_the_program_ends_the_view() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let folder = Folder::new("top")?;
        let live = kiosk(programs)?;
        let pid = live.pid();
        let mut screen = top(&live, &[], folder.path())?;
        ready(&screen)?;
        screen.press("\rt")?;
        ended(live)?;
        assert_eq!(screen.end()?, 0);
        screen.line(&[
            "veneer: ",
            &format!("process {pid} has ended; it was watched for "),
        ])?;
        assert!(screen.is_restored());
        Ok(())
    })
}

#[test]
fn detaching_by_another_client_ends_the_view() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let folder = Folder::new("top")?;
        let live = kiosk(programs)?;
        let pid = live.pid().to_string();
        let mut screen = top(&live, &["--every", "0.3"], folder.path())?;
        sorted_by_rate(&mut screen)?;
        // One instrument is detached elsewhere. The view reports this, and the other instruments
        // stay.
        screen.press("c")?;
        screen.line(&["counter: 0 passes"])?;
        let newest =
            "let all = instruments().filter(|i| i.attached); detach(all[all.len() - 1].id)";
        live.value(newest)?;
        screen.line(&["the counter of Kiosk.<init>() was taken off by somebody else"])?;
        let detach = veneer().args(["detach", &pid, "--all"]).run()?;
        detach.succeeded("veneer detach --all")?;
        assert_eq!(screen.end()?, 2);
        screen.line(&["veneer: ", "was taken off by somebody else"])?;
        assert!(screen.is_restored());
        nothing_is_attached(&live)?;
        ended(live)
    })
}

#[test]
fn small_and_colourless_terminals_are_supported() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let folder = Folder::new("top")?;
        let mut live = kiosk(programs)?;
        let pid = live.pid().to_string();
        let arguments = ["top", &pid, "kiosk..*", "--every", "0.3"];
        let plain = [("NO_COLOR", "1")];
        let mut screen = Screen::start(&arguments, folder.path(), (7, 34), &plain)?;
        screen.line(&["main(String[])"])?;
        run(&mut live)?;
        screen.press("ooo")?;
        screen.line(&["90,000", "price(int)"])?;
        screen.press("\r")?;
        counts_are_shown(&screen)?;
        run(&mut live)?;
        screen.line(&["f0", "90,000"])?;
        assert!(!screen.is_coloured());
        screen.line(&["cost ≈ "])?;
        screen.press("q")?;
        assert_eq!(screen.end()?, 0);
        nothing_is_attached(&live)?;
        ended(live)
    })
}

#[test]
fn without_a_terminal_there_is_one_table_or_json() -> Outcome {
    on_a_jdk_with("top", |programs| {
        let mut live = kiosk(programs)?;
        live.say("go")?;
        live.line("going")?;
        let pid = live.pid().to_string();
        let asked = |more: &[&str]| -> Result<Output, Box<dyn std::error::Error>> {
            let veneer = veneer().args(["top", &pid]).args(more);
            Ok(veneer.run()?)
        };
        let table = asked(&["--for", "0.5"])?.succeeded("top")?.out;
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].contains("cost ≈ "), "{table}");
        // The method that takes most time is first. A dump sees no method that the compiler inlined
        // into a loop, so it need not be the most called one.
        assert!(percent(lines[4], 0) > 20.0, "{table}");
        assert!(percent(lines[4], 0) <= percent(lines[4], 1), "{table}");
        let sum: f64 = lines[4..].iter().map(|line| percent(line, 0)).sum();
        assert!((95.0..=100.5).contains(&sum), "{sum}: {table}");
        let price = lines
            .iter()
            .find(|line| line.ends_with("kiosk.Kiosk.price(int)"));
        assert!(figure(price.ok_or("no price")?, 3) > 1_000, "{table}");
        let many = asked(&["kiosk..*", "--json", "--every", "0.2", "--for", "1"])?;
        let many = many.succeeded("top --json")?.out;
        let looks: Vec<serde_json::Value> = many
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        assert!(looks.len() > 1, "{many}");
        let price = |look: &serde_json::Value| {
            let methods = look["methods"].as_array();
            let mut methods = methods.into_iter().flatten();
            methods
                .find(|method| method["method"] == "price(I)I")
                .cloned()
        };
        let calls = |look: &serde_json::Value| price(look)?["calls"].as_u64();
        let last = looks.last().ok_or("no look")?;
        assert!(
            calls(last).is_some() && calls(&looks[0]) < calls(last),
            "{many}"
        );
        let total = &last["methods"][0]["total_share"];
        assert!(total.as_f64().is_some_and(|share| share > 0.2), "{many}");
        assert!(
            last["cost"]
                .as_f64()
                .is_some_and(|cost| (0.0..=1.0).contains(&cost)),
            "{many}"
        );
        let one = asked(&["--json", "--once", "--rows", "1"])?.succeeded("top --once")?;
        assert_eq!(one.out.lines().count(), 1, "{}", one.out);
        // An impossible request is reported in one or two lines, with the exit codes that the help
        // lists.
        for (words, code, expected) in [
            (
                &["--limit", "2"][..],
                1,
                "more than 2 such methods; name fewer",
            ),
            (&["a.B::("][..], 1, "a.B::("),
        ] {
            let output = asked(words)?;
            assert_eq!(output.code, code, "{words:?}: {output:?}");
            assert!(output.err.contains(expected), "{words:?}: {}", output.err);
        }
        let output = veneer().args(["top", "1"]).run()?;
        assert_eq!((output.code, output.out.as_str()), (2, ""), "{output:?}");
        let output = asked(&["no.such..*", "--for", "0.2"])?.succeeded("top")?;
        assert!(output.err.contains("no.such..*"), "{}", output.err);
        nothing_is_attached(&live)?;
        live.say("rest")?;
        live.line("resting")?;
        ended(live)
    })
}

/// Replaces the numbers that change from run to run by those of the guide, and removes empty lines
/// at the end.
fn normalise_screen(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(n, line)| match n {
        0 => " veneer top 4711   cost ≈ 0.0%   12 s",
        _ => line,
    });
    let mut lines: Vec<&str> = lines.collect();
    // Removes empty rows, which exist if the terminal has more rows than needed.
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    lines.join("\n").trim_end().to_owned() + "\n"
}

/// The screens in the guide equal those of the command on the oldest JDK. `VENEER_BLESS=1` updates
/// the guide.
#[test]
fn the_screens_in_the_guide_equal_those_of_the_command() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "top")?;
    let guide = workspace().join("docs/top.md");
    let text = std::fs::read_to_string(&guide)?;
    let bless = std::env::var_os("VENEER_BLESS").is_some();
    // Every second piece is inside a code fence.
    let mut pieces: Vec<String> = text.split("```").map(str::to_owned).collect();
    let folder = Folder::new("top")?;
    let mut live = kiosk(&programs)?;
    let mut screen = top(&live, &["--every", "0.3"], folder.path())?;
    ready(&screen)?;
    run(&mut live)?;
    let mut same = |screen: &Screen, number: usize| -> Outcome {
        let piece = pieces
            .get_mut(number)
            .ok_or("the guide has no such screen")?;
        if bless {
            // Wait until the rates are zero again, and no sampled stack is left but that of `main`.
            std::thread::sleep(Duration::from_secs(7));
            *piece = format!("text\n{}", normalise_screen(&screen.text()));
        }
        let expected = piece.strip_prefix("text\n").unwrap_or_default();
        screen.until(&format!("docs/top.md:\n{expected}"), |text| {
            normalise_screen(text) == expected
        })?;
        Ok(())
    };
    screen.line(&["90,000", "kiosk.Kiosk.price(int)"])?;
    same(&screen, 1)?;
    screen.press("/serve\r\r")?;
    screen.line(&["f1 loop"])?;
    screen.press("jc")?;
    screen.line(&["counter: 0 passes"])?;
    run(&mut live)?;
    screen.line(&["counter: 101,000 passes"])?;
    same(&screen, 3)?;
    if bless {
        std::fs::write(&guide, pieces.join("```"))?;
    }
    screen.press("q")?;
    assert_eq!(screen.end()?, 0);
    ended(live)
}
