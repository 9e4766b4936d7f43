//! Another agent that changes the body of a method after Veneer has armed it. What it has put there
//! must run in Veneer's versions too: before and after an instrument is attached, and for a class
//! that is loaded only then. (`other_agents.rs` has the storm beside well-known agents.)

use std::path::Path;

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::jars;
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;

/// The sum that 100 calls of `Work.loop(12)` return.
const SUM: &str = "6600";
/// The calls in the loop during these 100 calls.
const TICKS: &str = "1200";
const ATTACH: &str = "methods(\"Work::loop\").blocks().before(counter())";

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The program with its agent, under Veneer.
struct Program {
    live: Live,
    /// Keeps the compiled program as long as the JVM runs.
    _folder: Folder,
}

impl Program {
    fn start(jdk: &Jdk) -> Result<Program, Box<dyn std::error::Error>> {
        let folder = Folder::new("later-agents")?;
        let library = jars::jar("asm")?;
        Process::new(jdk.tool("javac"))
            // The library reads no class files of the newest JDK.
            .args(["--release", "17", "-nowarn", "-cp", &text(&library), "-d"])
            .arg(folder.path())
            .arg(workspace().join("tests/java/agents/later/LateAgent.java"))
            .run()?
            .succeeded("javac")?;
        let (manifest, jar) = (folder.join("manifest"), folder.join("agent.jar"));
        std::fs::write(
            &manifest,
            "Premain-Class: LateAgent\nCan-Retransform-Classes: true\n",
        )?;
        Process::new(jdk.tool("jar"))
            .args(["cfm", &text(&jar), &text(&manifest)])
            .run()?
            .succeeded("jar")?;
        let path = std::env::join_paths([folder.path(), &library])?;
        let java = Process::new(jdk.tool("java"))
            .args(["-Xmx128m", &format!("-javaagent:{}", text(&jar)), "-cp"])
            .arg(path)
            .arg("LateAgent");
        Ok(Program {
            live: Live::start(&run(&["--policy", "loop"], &java))?,
            _folder: folder,
        })
    }

    /// Says a line, and waits for the answer.
    fn say(&mut self, line: &str, answer: &str) -> Result<String, Box<dyn std::error::Error>> {
        self.live.say(line)?;
        Ok(self.live.line(answer)?)
    }

    /// Lets the method work, and returns the sum and the number of calls in the loop.
    fn work(&mut self) -> Result<String, Box<dyn std::error::Error>> {
        self.say("work", "worked ")
    }

    fn has_ticks(&mut self, ticks: &str) -> Outcome {
        assert_eq!(self.work()?, format!("{SUM} ticks {ticks}"));
        Ok(())
    }

    /// Ends the program. No class may have been refused.
    fn end(self) -> Outcome {
        let refused = self
            .live
            .value("refusals().filter(|r| r[\"class\"] == \"Work\").len()")?;
        assert_eq!(refused, "0");
        let output = self.live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        Ok(())
    }
}

fn on_each(test: impl Fn(Program) -> Outcome) -> Outcome {
    for jdk in jdk::for_this_test() {
        let program = Program::start(&jdk)?;
        test(program).map_err(|error| format!("{jdk}: {error}"))?;
    }
    Ok(())
}

#[test]
fn a_version_of_a_changed_method_has_the_change() -> Outcome {
    on_each(|mut program| {
        program.has_ticks("0")?;
        program.say("change", "changed")?;
        program.has_ticks(TICKS)?;
        let id = program.live.value(ATTACH)?;
        program.has_ticks(TICKS)?;
        assert!(program.live.sum(&id)? > 0, "nothing was counted");
        program.live.value(&format!("detach(\"{id}\")"))?;
        program.has_ticks(TICKS)?;
        program.end()
    })
}

#[test]
fn a_method_that_has_a_version_gets_a_new_one_when_it_is_changed() -> Outcome {
    on_each(|mut program| {
        program.has_ticks("0")?;
        let id = program.live.value(ATTACH)?;
        program.has_ticks("0")?;
        program.say("change", "changed")?;
        // The agent looks for changes once a second.
        let changed = format!("{SUM} ticks {TICKS}");
        until(
            "the version with the change",
            || {
                program.live.say("work")?;
                program.live.line("worked ")
            },
            |found| *found == changed,
        )?;
        let before = program.live.sum(&id)?;
        program.has_ticks(TICKS)?;
        assert!(program.live.sum(&id)? > before, "nothing more was counted");
        program.end()
    })
}

#[test]
fn a_class_that_is_changed_while_it_is_loaded_gets_a_version_with_the_change() -> Outcome {
    on_each(|mut program| {
        let id = program.live.value(ATTACH)?;
        program.say("add", "added")?;
        program.has_ticks(TICKS)?;
        until(
            "a count",
            || {
                program.live.say("work")?;
                program.live.line("worked ")?;
                program.live.sum(&id)
            },
            |hits| *hits > 0,
        )?;
        program.has_ticks(TICKS)?;
        program.end()
    })
}
