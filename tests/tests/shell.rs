//! `veneer shell` on a running program, through a pipe and in a terminal.

use veneer_tests::command::{path, run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::jdk;
use veneer_tests::live::{Live, LiveError, event_timeout, until};
use veneer_tests::process::{Output, Process};
use veneer_tests::terminal::Terminal;

/// Starts the program Orders, and runs it once so that its classes are loaded.
fn orders(programs: &Programs) -> Result<Live, LiveError> {
    let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
    round(&mut live)?;
    Ok(live)
}

/// Runs one round: a thousand calls of `handle`.
fn round(live: &mut Live) -> Result<(), LiveError> {
    live.say("run")?;
    live.line("sum ").map(drop)
}

fn attached(live: &Live) -> Result<String, LiveError> {
    live.value("instruments().filter(|i| i.attached).len()")
}

/// Runs the shell with this standard input.
fn piped(live: &Live, options: &[&str], input: &str) -> Result<Output, Box<dyn std::error::Error>> {
    let folder = Folder::new("input")?;
    let file = folder.join("input");
    std::fs::write(&file, input)?;
    let pid = live.pid().to_string();
    // The shell runs as a process with a time limit.
    Ok(Process::new("sh")
        .args(["-c", "f=$1; shift; exec \"$@\" < \"$f\"", "sh"])
        .arg(&file)
        .arg(path())
        .args(["shell", &pid])
        .args(options)
        .limit(event_timeout())
        .run()?)
}

#[test]
fn declarations_are_kept_for_the_next_input() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
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
fn a_failing_input_changes_nothing_and_reports_its_position() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
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
        // The declarations of the first and the third line were kept.
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
fn replies_are_json_on_request() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
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
fn leaving_the_shell_detaches_its_instruments_unless_they_are_kept() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
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
fn attached_instruments_are_listed_and_detached() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
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

/// Starts a shell in a terminal, and waits for its prompt.
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
    on_a_jdk_with("instruments", |programs| {
        let mut live = orders(programs)?;
        let state = Folder::new("state")?;
        let mut terminal = shell(&live, &state)?;
        // Complete a function, a class, and a method of the class.
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
        // An input of several lines ends when its bracket is closed.
        terminal.enter("fn more(x) {")?;
        terminal.enter("x + 1 }")?;
        terminal.line("5>")?;
        terminal.enter("more(c.hits())")?;
        let screen = terminal.line("6>")?;
        assert!(screen.lines().any(|line| line == "1001"), "{screen}");
        // Ctrl-C discards only the current line. An error message has a caret.
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
        // Ctrl-D ends the shell.
        terminal.keys("\x04")?;
        assert_eq!(terminal.end()?, 0);
        until("its end", || attached(&live), |n| n == "0")?;
        // The next shell has the history.
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
fn a_watched_table_is_updated_until_a_key_is_pressed() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
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
        // The new table replaces the old one on the screen.
        assert_eq!(screen.matches("handle(Orders").count(), 1, "{screen}");
    }
    // Ctrl-C is one of the keys that end it.
    terminal.keys("\x03")?;
    terminal.line("2>")?;
    terminal.enter("c.hits()")?;
    terminal.line("3>")?;
    terminal.enter(":watch nothing")?;
    terminal.until("an error", |screen| {
        screen.contains("no variable `nothing`")
    })?;
    // The output of callbacks appears above the line that is being typed.
    terminal.enter("after(0.1, || print(`${c.hits()} calls`));")?;
    terminal.line("4>")?;
    terminal.keys("let typed = ")?;
    let screen = terminal.line("2000 calls")?;
    assert!(screen.contains("4> let typed ="), "{screen}");
    Ok(())
}

#[test]
fn an_unwritable_home_only_disables_the_history() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
    let live = orders(&programs)?;
    let state = Folder::new("state")?;
    // There is a file in place of the directory. No user, including root, can create anything below
    // it.
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
    let programs = Programs::compile_folder(jdk::oldest(), "instruments")?;
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
