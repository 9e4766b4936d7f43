//! Call stacks as keys of tables: they are those of Java's own stack traces, in versions too, before the run and during it.

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::live::Live;
use veneer_tests::process::{Output, Process};
use veneer_tests::running::{Outcome, on_each_jdk_with};

/// Rows of the table as the program prints its account.
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

/// A program under a plan.
fn under(plan: &str, java: &Process) -> Result<Output, Box<dyn std::error::Error>> {
    let folder = Folder::new("call-stacks")?;
    let file = folder.join("plan.rhai");
    std::fs::write(&file, plan)?;
    let file = file.display().to_string();
    Ok(run(&["--plan", &file], java).run()?)
}

/// Lines that begin so, without that, sorted.
fn lines(text: &str, start: &str) -> Vec<String> {
    let found = text.lines().filter_map(|line| line.strip_prefix(start));
    let mut found: Vec<String> = found.map(str::to_string).collect();
    found.sort();
    found
}

/// The outermost frames of a stack of more than 200 are not in its key.
fn cut(account: Vec<String>) -> Vec<String> {
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
fn stacks_are_those_of_stack_traces() -> Outcome {
    on_each_jdk_with("stacks", |programs| {
        let java = programs.java("Leads");
        // Some of the methods on the stacks are in versions, some in their armed bodies, some not armed at all.
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
            let output = under(&plan, &java)?.succeeded("Leads")?;
            let account = cut(lines(&output.out, "account "));
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
fn so_many_frames_and_no_more() -> Outcome {
    on_each_jdk_with("stacks", |programs| {
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
        let output = under(plan, &programs.java("Leads"))?.succeeded("Leads")?;
        let account = lines(&output.out, "account ");
        let number = |line: &String| line.split_once(' ')?.0.parse::<u64>().ok();
        let passes: u64 = account.iter().filter_map(number).sum();
        let leaf = account.first().and_then(|line| line.split(' ').nth(1));
        let leaf = leaf.ok_or("no account")?;
        assert_eq!(lines(&output.err, "one "), [format!("1 {leaf} {passes}")]);
        // The program passes 7 at one place only, ten times.
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
fn stacks_of_a_program_that_runs_already() -> Outcome {
    on_each_jdk_with("stacks", |programs| {
        // Armed from its start, and not armed before it was attached to.
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
            let account = cut(lines(&output.out, "account "));
            assert!(account.len() > 10, "{output:?}");
            assert_eq!(lines(&output.err, "stack "), account, "{armed}: {output:?}");
        }
        Ok(())
    })
}

#[test]
fn a_stack_is_a_key_and_nothing_else() -> Outcome {
    on_each_jdk_with("stacks", |programs| {
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
            let output = under(&plan, &programs.java("Leads"))?;
            assert!(output.err.contains(said), "{code}: {output:?}");
            assert_eq!(output.code, 0);
        }
        Ok(())
    })
}
