//! `veneer shell` on a program that runs, through a pipe and in a terminal.

use veneer_tests::command::{path, run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::jdk;
use veneer_tests::live::{Live, LiveError, PATIENCE, until};
use veneer_tests::process::{Output, Process};
use veneer_tests::running::{Outcome, Programs, on_each_jdk_with};
use veneer_tests::terminal::Terminal;

/// Orders, after it has come to know its classes.
fn orders(programs: &Programs) -> Result<Live, LiveError> {
    let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
    round(&mut live)?;
    Ok(live)
}

/// A thousand calls of `handle`.
fn round(live: &mut Live) -> Result<(), LiveError> {
    live.say("run")?;
    live.line("sum ").map(drop)
}

fn attached(live: &Live) -> Result<String, LiveError> {
    live.value("instruments().filter(|i| i.attached).len()")
}

/// The shell with this standard input.
fn piped(live: &Live, options: &[&str], input: &str) -> Result<Output, Box<dyn std::error::Error>> {
    let folder = Folder::new("input")?;
    let file = folder.join("input");
    std::fs::write(&file, input)?;
    let pid = live.pid().to_string();
    // So that it has a time limit.
    Ok(Process::new("sh")
        .args(["-c", "f=$1; shift; exec \"$@\" < \"$f\"", "sh"])
        .arg(&file)
        .arg(path())
        .args(["shell", &pid])
        .args(options)
        .limit(PATIENCE)
        .run()?)
}

#[test]
fn what_an_input_declares_is_there_for_the_next_one() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let live = orders(programs)?;
        let input = "let a = 20;\n\
                     fn twice(x) {\n  x * 2\n}\n\
                     let f = |x| x + 1;\n\
                     a += 1;\n\
                     twice(a)\n\
                     f.call(a)\n\
                     let a = `${a} and ${[\n  1].len()}`; a\n";
        let output = piped(&live, &[], input)?;
        assert_eq!(output.out, "42\n22\n21 and 1\n", "{}", output.err);
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn an_input_that_fails_changes_nothing_and_says_where() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let live = orders(programs)?;
        let folder = Folder::new("shell")?;
        let file = folder.join("half.rhai");
        std::fs::write(&file, "// Halves.\nfn half(x) { x / nothing(2) }\n")?;
        let input = format!(
            "let a = 1;\n\
             a = 2; methods(\"Orders::handle(..)\").before(countr())\n\
             [a, instruments().filter(|i| i.attached).len()]\n\
             let b = [\n  nix];\n\
             fn bad(x) {{ x + boom() }}\n\
             :load {file}\n\
             bad(1)\n\
             half(4)\n\
             :watch a\n\
             :nothing\n",
            file = file.display()
        );
        let output = piped(&live, &[], &input)?;
        assert_eq!(output.out, "[1, 0]\n");
        // The first line and the third were kept.
        for expected in [
            "shell:2:45: no function `countr()`; did you mean counter()?\na = 2; methods(\"Orders::handle(..)\").before(countr())\n",
            "shell:4:3: no variable `nix`",
            "shell:3:17: no function `boom()`\nfn bad(x) { x + boom() }\n                ^\n",
            &format!("{}:2:18: no function `nothing(int)`", file.display()),
            "veneer: :watch needs a terminal",
            "veneer: there is no :nothing, but :help",
        ] {
            assert!(output.err.contains(expected), "{expected}: {}", output.err);
        }
        assert_eq!(output.code, 1);
        assert_eq!(attached(&live)?, "0");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn replies_come_as_json_where_asked() -> Outcome {
    let programs = Programs::of(jdk::oldest(), "instruments")?;
    let live = orders(&programs)?;
    let output = piped(&live, &["--json"], "print(1);\n1 + 1\n1 +\n:instruments")?;
    let lines: Vec<serde_json::Value> = output
        .out
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    assert_eq!(lines.len(), 5, "{}", output.out);
    assert_eq!(lines[4]["status"]["pid"], live.pid(), "{}", output.out);
    assert_eq!(lines[0]["print"], "1");
    assert_eq!(lines[1]["done"]["value"], "");
    assert_eq!(lines[2]["done"]["value"], "2");
    let message = lines[3]["failed"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("shell:3:"), "{message}");
    assert_eq!((output.code, output.err.as_str()), (1, ""));
    Ok(())
}

#[test]
fn leaving_takes_off_what_was_attached_unless_it_is_to_stay() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let mut live = orders(programs)?;
        let attach = "let c = methods(\"Orders::handle(..)\").before(counter());\nevery(60, || print(c.hits()));\n";
        let output = piped(&live, &[], attach)?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        until("its end", || attached(&live), |n| n == "0")?;
        let output = piped(&live, &[], &format!("{attach}:keep\n:quit\nnever"))?;
        assert_eq!(
            (output.code, output.err.as_str()),
            (0, ""),
            "{}",
            output.out
        );
        assert_eq!(attached(&live)?, "1");
        round(&mut live)?;
        let id = live.value("instruments().filter(|i| i.attached)[0].id")?;
        assert_eq!(live.sum(&id)?, 1000);
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn what_is_attached_is_listed_and_taken_off() -> Outcome {
    let programs = Programs::of(jdk::oldest(), "instruments")?;
    let live = orders(&programs)?;
    let input = ":instruments\n\
                 let c = methods(\"Orders::handle(..)\").before(counter().named(\"calls\"));\n\
                 :instruments\n\
                 :detach i1\n\
                 c.attached()\n\
                 :detach i1\n";
    let output = piped(&live, &[], input)?;
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines[0], "nothing is attached", "{output:?}");
    let words: Vec<&str> = lines[2].split_whitespace().take(6).collect();
    assert_eq!(words, ["i1", "calls", "counter", "1", "1", "shell"]);
    assert_eq!(
        lines[3..],
        ["taken off: i1", "false", "nothing was taken off"],
        "{output:?}"
    );
    Ok(())
}

/// A shell in a terminal, once its prompt is there.
fn shell(live: &Live, state: &Folder) -> Result<Terminal, Box<dyn std::error::Error>> {
    let pid = live.pid().to_string();
    let state = state.path().to_string_lossy().into_owned();
    let variables = [("XDG_STATE_HOME", state.as_str())];
    let terminal = Terminal::start(path(), &["shell", &pid], &variables)?;
    terminal.line("1>")?;
    Ok(terminal)
}

#[test]
fn at_a_terminal_tab_completes_and_counters_count_exactly() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let mut live = orders(programs)?;
        let state = Folder::new("state")?;
        let mut terminal = shell(&live, &state)?;
        // A function, a class, a method of it.
        terminal.keys("let c = meth\t")?;
        terminal.line("1> let c = methods(")?;
        terminal.keys("\"Orders$Nu\t")?;
        terminal.line("methods(\"Orders$Numbered")?;
        terminal.keys("\x17\x17\x17")?;
        terminal.keys("\x15let c = methods(\"Orders::han\t")?;
        terminal.line("1> let c = methods(\"Orders::handle(..)")?;
        terminal.keys("\x15let c = methods(\"Orders::<c\t")?;
        terminal.line("1> let c = methods(\"Orders::<clinit>(..)")?;
        terminal.keys("\x15let c = methods(\"Orders::han\t")?;
        terminal.line("1> let c = methods(\"Orders::handle(..)")?;
        terminal.keys("\").bef\t")?;
        terminal.line("handle(..)\").before(")?;
        terminal.enter("counter());")?;
        terminal.line("2>")?;
        round(&mut live)?;
        terminal.enter("c.hits()")?;
        let screen = terminal.line("3>")?;
        assert!(screen.lines().any(|line| line == "1000"), "{screen}");
        // Over several lines, until the bracket is closed.
        terminal.enter("fn more(x) {")?;
        terminal.enter("x + 1 }")?;
        terminal.line("5>")?;
        terminal.enter("more(c.hits())")?;
        let screen = terminal.line("6>")?;
        assert!(screen.lines().any(|line| line == "1001"), "{screen}");
        // Ctrl-C takes the line back and nothing else; an error has its caret.
        terminal.keys("let x = \x03")?;
        terminal.until("a new prompt", |screen| {
            screen.contains("6> let x =") && screen.trim_end().ends_with("\n6>")
        })?;
        terminal.enter("c.hist()")?;
        let screen = terminal.until("an error", |screen| {
            screen.contains("did you mean") && screen.trim_end().ends_with("6>")
        })?;
        assert!(
            screen.contains("veneer: shell:6:3: no function `hist(Handle)`")
                && screen.lines().any(|line| line == "  ^"),
            "{screen}"
        );
        assert_eq!(attached(&live)?, "1");
        // Ctrl-D leaves.
        terminal.keys("\x04")?;
        assert_eq!(terminal.end()?, 0);
        until("its end", || attached(&live), |n| n == "0")?;
        // The next shell remembers.
        let mut terminal = shell(&live, &state)?;
        terminal.keys("\x1b[A\x1b[A")?;
        terminal.line("1> more(c.hits())")?;
        drop(terminal);
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn a_watched_table_goes_on_until_a_key_is_pressed() -> Outcome {
    let programs = Programs::of(jdk::oldest(), "instruments")?;
    let mut live = orders(&programs)?;
    let state = Folder::new("state")?;
    let mut terminal = shell(&live, &state)?;
    terminal.enter("let c = methods(\"Orders::handle(..)\").before(counter());")?;
    terminal.line("2>")?;
    terminal.enter(":watch c")?;
    terminal.until("the table", |screen| {
        screen.contains("handle(Orders$Order, int)")
    })?;
    for n in 1..=2 {
        round(&mut live)?;
        let row = format!("{n},000  100");
        let screen = terminal.until(&row, |screen| screen.contains(&row))?;
        // Drawn over what was there before.
        assert_eq!(screen.matches("handle(Orders").count(), 1, "{screen}");
    }
    // Ctrl-C is a key too.
    terminal.keys("\x03")?;
    terminal.line("2>")?;
    terminal.enter("c.hits()")?;
    terminal.line("3>")?;
    terminal.enter(":watch nothing")?;
    terminal.until("an error", |screen| {
        screen.contains("no variable `nothing`")
    })?;
    // What callbacks print comes above the line that is being typed.
    terminal.enter("after(0.1, || print(`${c.hits()} calls`));")?;
    terminal.line("4>")?;
    terminal.keys("let typed = ")?;
    let screen = terminal.line("2000 calls")?;
    assert!(screen.contains("4> let typed ="), "{screen}");
    Ok(())
}

#[test]
fn a_home_that_cannot_be_written_to_costs_the_history_only() -> Outcome {
    let programs = Programs::of(jdk::oldest(), "instruments")?;
    let live = orders(&programs)?;
    let state = Folder::new("state")?;
    // A file where the directory should be: nobody can make anything below it, root neither.
    std::fs::write(state.join("veneer"), "")?;
    let mut terminal = shell(&live, &state)?;
    terminal.enter("20 + 1")?;
    terminal.line("2>")?;
    terminal.enter("20 + 2")?;
    let screen = terminal.line("3>")?;
    assert_eq!(screen.matches("is not kept").count(), 1, "{screen}");
    assert!(screen.lines().any(|line| line == "22"), "{screen}");
    Ok(())
}

#[test]
fn a_jvm_that_ends_ends_the_shell() -> Outcome {
    let programs = Programs::of(jdk::oldest(), "instruments")?;
    let live = orders(&programs)?;
    let state = Folder::new("state")?;
    let mut terminal = shell(&live, &state)?;
    live.stop()?;
    terminal.until("the news", |screen| screen.contains("has ended"))?;
    terminal.enter("1 + 1")?;
    assert_eq!(terminal.end()?, 0);
    let output = veneer().args(["shell", "1"]).run()?;
    assert_eq!(output.code, 2, "{}", output.err);
    Ok(())
}
