//! Every point that plans can name, with counters, timers and probe code. Counts and values are
//! exact if the plan is attached before the program runs, and if it is attached while a thread is
//! in a loop of the method. `tests/java/points/Passes.java` has the expected values in its
//! comments.

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, LiveError};
use veneer_tests::process::Output;

/// The text after `//:` in a line of the program.
struct Mark {
    /// The line of the code to which the mark belongs.
    line: usize,
    /// For example `turns.writes().before(counter())`.
    text: String,
    /// The expected values if the plan is attached first, and if it is attached while the thread
    /// waits.
    found: [String; 2],
}

impl Mark {
    fn read(text: &str, line: usize) -> Option<Self> {
        let (text, found) = text.split_once(" = ")?;
        let (first, later) = found.split_once(" | ")?;
        Some(Self {
            line,
            text: text.trim().to_string(),
            found: [first, later].map(|found| found.trim().to_string()),
        })
    }

    /// The part of the plan that attaches the instrument and prints its values as `#7 …`.
    fn plan(&self, number: usize) -> Option<String> {
        let line = self.line;
        let (method, rest) = self.text.split_once('.')?;
        let rest = rest.replace('#', &line.to_string());
        let (rest, values) = match rest.split_once("put(") {
            None => (rest, false),
            Some((before, after)) => {
                let (values, after) = after.split_at(closing_bracket(after)?);
                let put = format!("if here().ends_with(\":{line}\") {{ t.put({values}) }}");
                (format!("{before}{put}{}", after.get(1..)?), true)
            }
        };
        let table = if values { "last(20)" } else { "()" };
        Some(format!(
            "{{ let t = {table}; let h = methods(\"Passes::{method}(..)\").{rest}; \
             at_exit(|| print(`#{number} ${{shown(t, h, {line}, {values})}}`)); }}\n"
        ))
    }
}

/// Returns the position of the bracket that closes a bracket opened before the text.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut open = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Plan functions that return the counts of the points at a line in ascending order, or the
/// recorded values in order.
const SHOWN: &str = r#"
fn shown(t, h, line, values) {
    let found = [];
    if values {
        for row in t.rows() {
            let text = "";
            for value in row.values {
                if text != "" { text += ","; }
                text += value.to_debug();
            }
            found.push(text);
        }
    } else {
        for row in h.rows() {
            if row.line == line { found.push(if "hits" in row { row.hits } else { row.count }); }
        }
        found.sort();
    }
    let out = "";
    for one in found {
        if out != "" { out += " "; }
        out += one;
    }
    if out == "" { "-" } else { out }
}
"#;

fn marks() -> Result<Vec<Mark>, Box<dyn std::error::Error>> {
    let source = std::fs::read_to_string(workspace().join("tests/java/points/Passes.java"))?;
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let mut marks = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let Some(text) = line.strip_prefix("//: ") else {
            continue;
        };
        let code = lines[n..].iter().position(|line| !line.starts_with("//"));
        let code = n + code.ok_or("a mark without code")? + 1;
        marks.push(Mark::read(text, code).ok_or_else(|| format!("line {}: {line}", n + 1))?);
    }
    Ok(marks)
}

/// Lets the waiting thread continue, and returns the output without the process id.
fn end_of(mut live: Live) -> Result<Output, LiveError> {
    live.say("go")?;
    let mut output = live.stop()?;
    let (_, rest) = output.out.split_once('\n').unwrap_or_default();
    output.out = rest.to_string();
    Ok(output)
}

fn differences(marks: &[&Mark], which: usize, said: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (n, mark) in marks.iter().enumerate() {
        let start = format!("#{n} ");
        let found = said.lines().find_map(|line| line.strip_prefix(&start));
        if found != Some(&*mark.found[which]) {
            wrong.push(format!(
                "line {} {}: {found:?} instead of {}",
                mark.line, mark.text, mark.found[which]
            ));
        }
    }
    wrong
}

/// Returns the differences for some marks that are all attached at once: before the program starts,
/// and while its thread waits; with and without a proof of each version.
fn find_differences(
    programs: &Programs,
    marks: &[&Mark],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut plan = SHOWN.to_string();
    for (n, mark) in marks.iter().enumerate() {
        plan.push_str(&mark.plan(n).ok_or_else(|| mark.text.clone())?);
    }
    let folder = Folder::new("points")?;
    let file = folder.join("plan.rhai");
    std::fs::write(&file, &plan)?;
    let file = file.display().to_string();
    let java = programs.java("Passes");
    let mut live = Live::start(&java)?;
    live.line("waiting")?;
    let plain = end_of(live)?;
    assert_eq!((plain.code, &*plain.err), (0, ""));
    let mut wrong = Vec::new();
    for check in [None, Some("--check")] {
        let mut options = vec!["--strict", "--plan", &file];
        options.extend(check);
        let mut live = Live::start(&run(&options, &java))?;
        live.line("waiting")?;
        let output = end_of(live)?;
        assert_eq!((output.code, &output.out), (0, &plain.out), "{check:?}");
        let differ = differences(marks, 0, &output.err);
        wrong.extend(
            differ
                .iter()
                .map(|d| format!("before the run {check:?}: {d}")),
        );

        let options: Vec<&str> = check.into_iter().collect();
        let mut live = Live::start(&run(&options, &java))?;
        live.line("waiting")?;
        let pid = live.pid().to_string();
        veneer()
            .args(["exec", &pid, &file])
            .run()?
            .succeeded("exec")?;
        let output = end_of(live)?;
        assert_eq!((output.code, &output.out), (0, &plain.out), "{check:?}");
        let differ = differences(marks, 1, &output.err);
        wrong.extend(
            differ
                .iter()
                .map(|d| format!("while it waits {check:?}: {d}")),
        );
    }
    Ok(wrong)
}

#[test]
fn each_point_is_exact_before_the_run_and_in_a_running_loop() -> Outcome {
    let marks = marks()?;
    // All marks together would make the method too large for HotSpot's compilers.
    let (code, measures): (Vec<_>, Vec<_>) = marks.iter().partition(|m| m.text.contains("|p|"));
    assert!(code.len() > 50 && measures.len() > 50);
    on_a_jdk_with("points", |programs| {
        for some in [&measures, &code] {
            let wrong = find_differences(programs, some)?;
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
        Ok(())
    })
}

/// The functions in the table of points in the user guide.
fn listed() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let guide = std::fs::read_to_string(workspace().join("docs/plans.md"))?;
    let (_, rest) = guide.split_once("## Which points").ok_or("no points")?;
    let (_, table) = rest.split_once("| --- | --- |\n").ok_or("no table")?;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let mut names = Vec::new();
    for row in rows {
        let first = row.split(" | ").next().unwrap_or_default();
        for name in first.split("`.").skip(1) {
            names.push(name.split('(').next().unwrap_or_default().to_string());
        }
    }
    names.dedup();
    Ok(names)
}

#[test]
fn each_point_of_the_guide_is_tested_with_a_counter_and_with_a_probe() -> Outcome {
    let marks = marks()?;
    let listed = listed()?;
    assert!(listed.len() >= 22, "{listed:?}");
    // Methods have guards only where a transformation has put them; `guards.rs` tests these points.
    for name in listed.iter().filter(|name| *name != "guards") {
        let with = |what: &str| {
            let call = format!(".{name}(");
            let mut all = marks.iter();
            all.any(|mark| mark.text.contains(&call) && mark.text.contains(what))
        };
        // According to the table, only probe code can be attached at loop exits.
        let counted = with("counter()") || name == "loop_exits";
        assert!(counted && with("|p|"), "no mark for .{name}(…)");
    }
    Ok(())
}
