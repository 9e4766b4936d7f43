//! The route finder prints the same plain, armed, and with counters on all blocks.

use veneer_tests::command::run;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::jdk;
use veneer_tests::process::Process;
use veneer_tests::report::Report;
use veneer_tests::workers;

const ARGUMENTS: [&str; 3] = ["route.Main", "200", "4"];

#[test]
fn the_route_finder_prints_the_same_output() {
    for outcome in workers::parallel_map(&jdk::for_this_test(), |jdk| {
        on(jdk).map_err(|error| format!("{jdk}: {error}"))
    }) {
        outcome.unwrap_or_else(|error| panic!("{error}"));
    }
}

fn on(jdk: &jdk::Jdk) -> Result<(), Box<dyn std::error::Error>> {
    let folder = Folder::new("route")?;
    jdk.compile(
        &files(&workspace().join("tests/java/route"), "java")?,
        folder.path(),
    )?;
    let java = Process::new(jdk.tool("java"))
        .arg("-cp")
        .arg(folder.path())
        .args(ARGUMENTS);
    let plain = java.run()?.succeeded("route.Main")?;
    assert_eq!(plain.out.lines().count(), 10, "{}", plain.out);
    assert_eq!(run(&[], &java).run()?, plain, "armed");
    let (plan, report) = (folder.join("plan.rhai"), folder.join("report.json"));
    let lines = [
        "let all = methods(\"route..*::*(..)\");",
        "all.blocks().before(counter());",
        "methods(\"route.Edge::isMe(..)\").before(counter());",
        "methods(\"route.Edge::isMe(..)\").after(counter());",
    ];
    std::fs::write(&plan, lines.join("\n"))?;
    let (plan, file) = (plan.to_string_lossy(), report.to_string_lossy());
    for policy in ["loop", "block"] {
        let options = ["--policy", policy, "--plan", &plan, "--report", &file];
        assert_eq!(
            run(&options, &java).run()?,
            plain,
            "counted, policy {policy}"
        );
        let report = Report::read(&report)?;
        // In a method without a loop to its start, the first fragment, the entries and the exits
        // have equal counts.
        let is_me = |number: usize| -> u64 {
            let points = report
                .instruments
                .get(number)
                .map(|one| one.points.as_slice());
            let points = points.unwrap_or_default().iter();
            let mine = points.filter(|p| p.class == "route.Edge" && p.method.starts_with("isMe("));
            mine.filter(|point| number > 0 || point.fragment == Some(0))
                .map(|point| point.hits)
                .sum()
        };
        assert!(is_me(0) > 1_000_000, "isMe was entered {} times", is_me(0));
        assert_eq!(
            (is_me(1), is_me(2)),
            (is_me(0), is_me(0)),
            "policy {policy}"
        );
    }
    Ok(())
}
