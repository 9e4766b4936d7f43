//! A researcher's session: the program and the plans of the page `docs/howto/transformation.md` are written into files, the
//! plans run on the program, and their effect is the one that the page shows.

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::Outcome;
use veneer_tests::jdk;
use veneer_tests::live::Live;

const PAGE: &str = "docs/howto/transformation.md";

/// The blocks of the page with this tag, in order.
fn blocks(tag: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let page = std::fs::read_to_string(workspace().join(PAGE))?;
    let begin = format!("```{tag}\n");
    let rest = page.split(&begin).skip(1);
    let block = |text: &str| text.split("```").next().map(str::to_owned);
    Ok(rest.filter_map(block).collect())
}

/// The hits in a line of the plan, such as `222894606 times call Zoo$Animal::weight @31 on Zoo$Cow`.
fn hits(out: &str, end: &str) -> Option<u64> {
    let line = out.lines().find(|line| line.ends_with(end))?;
    line.split(' ').next()?.parse().ok()
}

#[test]
fn a_researcher_writes_a_transformation_and_reads_its_effect() -> Outcome {
    let (programs, plans) = (blocks("java")?, blocks("rhai")?);
    for jdk in jdk::for_this_test() {
        let folder = Folder::new("zoo")?;
        let source = folder.join("Zoo.java");
        std::fs::write(&source, &programs[0])?;
        jdk.compile(&[source], folder.path())?;
        let program = |seconds: &str| {
            let java = jdk.verifying_java().arg("-cp").arg(folder.path());
            java.args(["Zoo", seconds])
        };
        for (name, text) in ["look.rhai", "frequent.rhai"].iter().zip(&plans) {
            assert!(text.starts_with(&format!("// {name}")), "{text}");
            std::fs::write(folder.join(name), text)?;
        }
        let with_plan = |name: &str, seconds| {
            let plan = folder.join(name).display().to_string();
            run(&["--check", "--plan", &plan], &program(seconds)).run()
        };
        let looked = with_plan("look.rhai", "3")?;
        let looked = looked.succeeded("the look at the graph")?;
        let all = format!("{}{}", looked.out, looked.err);
        assert!(
            all.contains("f2 at pc 31 calls Zoo$Animal::weight(int)"),
            "{all}"
        );

        let output = with_plan("frequent.rhai", "6")?;
        let output = output.succeeded("the transformation")?;
        let all = format!("{}{}", output.out, output.err);
        assert!(all.contains("the weights are right"), "{all}");
        let edit = "edit: test the call at pc 31 for Zoo$Cow";
        assert_eq!(all.matches(edit).count(), 1, "{all}");
        assert!(
            all.contains("p1 is [[test calls @31 for Zoo$Cow, Zoo$Horse]]"),
            "{all}"
        );
        // Of ten animals, seven are cows, two are horses, and one is a goat. The counter begins and ends in the middle
        // of an array.
        let [cows, horses, goats] =
            ["on Zoo$Cow", "on Zoo$Horse", "on others"].map(|end| hits(&all, end));
        let (Some(cows), Some(horses), Some(goats)) = (cows, horses, goats) else {
            return Err(format!("no counts: {all}").into());
        };
        println!("{jdk}: {cows} cows, {horses} horses, {goats} goats");
        assert!(goats > 1_000, "{all}");
        assert!(cows.abs_diff(7 * goats) <= 20, "{all}");
        assert!(horses.abs_diff(2 * goats) <= 20, "{all}");
    }
    Ok(())
}

/// A transformation of several methods makes one patch of each, and takes all back if one is refused.
#[test]
fn edits_of_all_methods_are_made_or_none() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = veneer_tests::java_programs::Programs::compile_folder(jdk, "tune")?;
    let java = programs
        .launcher()
        .arg("-XX:-OmitStackTraceInFastThrow")
        .arg("-cp")
        .arg(programs.classes().path());
    let java = java.args(["Guards", "200000", "3"]);
    let mut live = Live::start(&run(&["--check"], &java))?;
    live.line("ready")?;
    let declared = r#"
        transformation("own", |graph, options| {
            if graph.method.starts_with("below(") { return [constant(0, 5)]; }
            if graph.method.starts_with("measure(") { return [constant(options.parameter, 8)]; }
            []
        });
        let m = methods("Guards::*(..)");
    "#;
    let refused = live.exec(&format!(
        "{declared} m.optimise(\"own\", #{{ parameter: 3 }})"
    ))?;
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("NoParameter"), "{refused:?}");
    let active = "edits().filter(|e| e.active).len()";
    assert_eq!(live.value(active)?, "0");
    let dumped = live.value(&format!(
        "{declared} m.dump(\"own\", #{{ parameter: 1 }}).map(|d| d.after.text.contains(\"edit: local\"))"
    ))?;
    assert_eq!(dumped, "[true, true]");
    assert_eq!(live.value(active)?, "0");
    let handle = live.value(&format!(
        "{declared} let p = m.optimise(\"own\", #{{ parameter: 1 }}); [p.id(), {active}, m.dump().len() > 2]"
    ))?;
    assert_eq!(
        handle, "[\"p2, p3\", 2, true]",
        "the first patch was taken back"
    );
    live.say("go")?;
    let seen = live.line("calls ")?;
    assert!(seen.starts_with("200000 "), "{seen}");
    live.line("done")?;
    let output = live.stop()?;
    let plain = java.run()?;
    let sum = |out: &str| {
        let mut lines = out.lines().map(str::to_owned);
        lines.find(|line| line.starts_with("sum "))
    };
    assert_eq!(sum(&output.out), sum(&plain.out));
    assert!(sum(&plain.out).is_some());
    Ok(())
}
