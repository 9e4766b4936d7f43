//! Call stacks as keys of tables. They must equal Java's own stack traces, in versions too, if the
//! plan is attached before the program starts or while it runs.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::{Output, Process};

/// Plan functions that print the rows of a table in the format of the program's own list.
const SHOWN: &str = r#"
fn lines(t) {
    let lines = [];
    for row in t.rows() {
        let text = "";
        for line in row.keys[0] { text += if text == "" { line } else { ` < ${line}` }; }
        lines.push(`${row.count} ${text}`);
    }
    lines
}
"#;

/// Runs a program under a plan.
fn run_under_plan(plan: &str, java: &Process) -> Result<Output, Box<dyn std::error::Error>> {
    let folder = Folder::new("call-stacks")?;
    let file = folder.join("plan.rhai");
    std::fs::write(&file, plan)?;
    let file = file.display().to_string();
    Ok(run(&["--plan", &file], java).run()?)
}

/// Returns the lines that begin with `start`, without this prefix, sorted.
fn lines(text: &str, start: &str) -> Vec<String> {
    let found = text.lines().filter_map(|line| line.strip_prefix(start));
    let mut found: Vec<String> = found.map(str::to_string).collect();
    found.sort();
    found
}

/// Truncates stacks to 200 frames, because the outermost frames beyond 200 are not in a key.
fn truncate_stacks(account: Vec<String>) -> Vec<String> {
    let cut = |line: String| match line.split_once(' ') {
        Some((n, stack)) => {
            let frames: Vec<&str> = stack.split(" < ").take(200).collect();
            format!("{n} {}", frames.join(" < "))
        }
        None => line,
    };
    let mut account: Vec<String> = account.into_iter().map(cut).collect();
    account.sort();
    account
}

#[test]
fn stack_keys_equal_stack_traces() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        let java = programs.java("Leads");
        // Some of the methods on the stacks are in versions, some in their armed bodies, some are
        // not armed.
        for others in [
            "",
            r#"methods("Leads::*").before(counter());"#,
            r#"methods("Leads::*").blocks().before(counter());"#,
            r#"methods("Leads::all()").loops().before(counter()); methods("Leads::often(..)").loops().before(counter());"#,
        ] {
            let plan = format!(
                r#"{SHOWN} let t = tally(); {others}
                methods("Leads::leaf(..)").before(|p| t.count(stack(200)));
                at_exit(|| for line in lines(t) {{ print(`stack ${{line}}`) }});"#
            );
            let output = run_under_plan(&plan, &java)?.succeeded("Leads")?;
            let account = truncate_stacks(lines(&output.out, "account "));
            assert!(account.len() > 10, "{output:?}");
            assert_eq!(
                lines(&output.err, "stack "),
                account,
                "{others}: {output:?}"
            );
            assert_eq!(lines(&output.out, "sum "), ["true"]);
        }
        Ok(())
    })
}

#[test]
fn a_stack_key_has_the_requested_number_of_frames() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        let plan = r#"
            let one = tally();
            let two = sums();
            let few = tally(2);
            methods("Leads::leaf(..)").before(|p| {
                one.count(stack(1));
                two.add(p.x == 7, stack(2), p.x);
                few.count(stack());
            });
            at_exit(|| {
                for row in one.rows() { print(`one ${row.keys[0].len()} ${row.keys[0][0]} ${row.count}`); }
                for row in two.rows() { if row.keys[0] { print(`two ${row.keys[1][1]} ${row.sum}`); } }
                print(`few ${few.rows().len()} ${few.rest().count > 0}`);
                print(one.collapsed());
                print(two.collapsed());
                print(one.stacks());
            });"#;
        let output = run_under_plan(plan, &programs.java("Leads"))?.succeeded("Leads")?;
        let account = lines(&output.out, "account ");
        let number = |line: &String| line.split_once(' ')?.0.parse::<u64>().ok();
        let passes: u64 = account.iter().filter_map(number).sum();
        let leaf = account.first().and_then(|line| line.split(' ').nth(1));
        let leaf = leaf.ok_or("no account")?;
        assert_eq!(lines(&output.err, "one "), [format!("1 {leaf} {passes}")]);
        // The program passes the value 7 at one call site only, ten times.
        let sevens = lines(&output.err, "two ");
        assert_eq!(sevens.len(), 1, "{output:?}");
        assert!(sevens[0].starts_with("Leads.all:") && sevens[0].ends_with(" 70"));
        assert_eq!(lines(&output.err, "few "), ["2 true"]);
        assert_eq!(lines(&output.err, "Leads.leaf "), [passes.to_string()]);
        assert_eq!(lines(&output.err, "Leads.all;Leads.leaf;true "), ["70"]);
        assert_eq!(lines(&output.err, "    "), [leaf]);
        Ok(())
    })
}

#[test]
fn stack_keys_equal_stack_traces_in_a_running_program() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        // The program is either armed at its start or attached to later.
        for armed in [true, false] {
            let java = programs.java("Leads").arg("waits");
            let mut live = match armed {
                true => Live::start(&run(&[], &java))?,
                false => Live::start(&java)?,
            };
            live.say("begin")?;
            live.line("counts")?;
            let plan = r#"let t = tally(); methods("Leads::leaf(..)").before(|p| t.count(stack(200))); at_exit(|| for row in t.rows() {
                let text = ""; for line in row.keys[0] { text += if text == "" { line } else { ` < ${line}` }; }
                print(`stack ${row.count} ${text}`); })"#;
            live.exec(plan)?.succeeded("attaching")?;
            live.say("go")?;
            let output = live.stop()?;
            let account = truncate_stacks(lines(&output.out, "account "));
            assert!(account.len() > 10, "{output:?}");
            assert_eq!(lines(&output.err, "stack "), account, "{armed}: {output:?}");
        }
        Ok(())
    })
}

#[test]
fn stacks_can_only_be_used_as_keys() -> Outcome {
    on_a_jdk_with("stacks", |programs| {
        for (code, said) in [
            (
                "t.count(stack() + 1)",
                "`+` does not join call stack and integer",
            ),
            (
                "t.count(stack(\"a\"))",
                "this is java.lang.String, and integer is needed here",
            ),
            (
                "t.count(stack() == stack())",
                "`==` does not join call stack and call stack",
            ),
            (
                "s.add(stack())",
                "this is call stack, and integer is needed here",
            ),
        ] {
            let plan = format!(
                r#"let t = tally(); let s = sums(); methods("Leads::leaf(..)").before(|p| {code});"#
            );
            let output = run_under_plan(&plan, &programs.java("Leads"))?;
            assert!(output.err.contains(said), "{code}: {output:?}");
            assert_eq!(output.code, 0);
        }
        Ok(())
    })
}
