//! `optimise("superblock")` and `optimise("unswitch")` on a real program: copies of paths and loops change no result, no
//! exception, no line of a stack trace and no count, with instruments and without.

use std::collections::BTreeMap;
use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::huge_method::sums;
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::Live;
use veneer_tests::phases::alternate;
use veneer_tests::process::Process;
use veneer_tests::random::Draw;

/// The cycles of attaching and detaching.
const CYCLES: usize = 24;

/// The methods with merges and loops.
const METHODS: [&str; 5] = ["blend", "digits", "inner", "guarded", "locked"];

/// The methods with a branch on an invariant condition, and the line at which its fragment begins.
const BRANCHES: [(&str, &str); 5] = [
    ("digits", "if (octal)"),
    ("inner", "if (octal)"),
    ("locked", "(flags & 4)"),
    ("locked", "(flags & 8)"),
    ("locked", "wide > 7"),
];

/// A random path may be refused for these reasons. Then the next one is tried.
const EXPECTED_REFUSALS: [&str; 3] = ["NoSideEntry", "PathEntersLoop", "UninitializedObject"];

/// All exceptions have their traces, so that the sums do not depend on what the JVM compiles.
fn paths(programs: &Programs, rounds: usize, wanted: &str) -> Process {
    programs
        .launcher()
        .args(["-XX:-OmitStackTraceInFastThrow", "-cp"])
        .arg(programs.classes().path())
        .args(["Paths", &rounds.to_string(), "5", wanted])
}

/// Compares the rounds of a program with those of a plain run.
fn check_rounds(programs: &Programs, out: &str, wanted: &str, label: &str) -> Outcome {
    let found = sums(out);
    let plain = paths(programs, found.len(), wanted).run()?;
    let expected = sums(&plain.succeeded("the plain run")?.out);
    if let Some(round) = (0..found.len()).find(|n| expected.get(*n) != found.get(*n)) {
        return Err(format!("{label}: round {round} differs: {:?}", found.get(round)).into());
    }
    assert!(found.len() > 1, "{label}: the program has hardly run");
    println!("{label}: {} rounds are equal", found.len());
    Ok(())
}

/// The line of a method that has this text.
fn line_of(method: &str, text: &str) -> usize {
    let source = include_str!("../java/tune/Paths.java");
    let begins = format!(" {method}(");
    let lines = source.lines().enumerate();
    let mut lines =
        lines.skip_while(|(_, line)| !line.starts_with("    static") || !line.contains(&begins));
    let found = lines.find(|(_, line)| line.contains(text));
    found.map_or(0, |(n, _)| n + 1)
}

fn unswitch((method, text): (&str, &str)) -> String {
    format!(
        "methods(\"Paths::{method}(..)\").optimise(\"unswitch\", #{{ branch: line({}) }})",
        line_of(method, text)
    )
}

fn duplicate(method: &str, path: &[u64]) -> String {
    format!("methods(\"Paths::{method}(..)\").duplicate({path:?})")
}

/// The successors of each fragment, by method.
type Edges = BTreeMap<&'static str, BTreeMap<u64, Vec<u64>>>;

/// Asks the agent for the edges of the methods.
fn edges(live: &Live) -> Result<Edges, Box<dyn std::error::Error>> {
    let mut all = Edges::new();
    for method in METHODS {
        let text = live.value(&format!(
            "let c = methods(\"Paths::{method}(..)\").edges().before(counter());\n\
             let text = \"\"; for row in c.rows() {{ text += `${{row.fragment}} ${{row.to}},`; }}\n\
             c.detach(); text"
        ))?;
        let pair = |pair: &str| {
            let (from, to) = pair.trim_matches('"').split_once(' ')?;
            Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?))
        };
        let successors = all.entry(method).or_default();
        for (from, to) in text.split(',').filter_map(pair) {
            successors.entry(from).or_default().push(to);
        }
        assert!(successors.len() > 3, "{method}: {text}");
    }
    Ok(all)
}

/// A random path of a method.
fn random_path(successors: &BTreeMap<u64, Vec<u64>>, draw: &mut Draw) -> Vec<u64> {
    let starts: Vec<u64> = successors.keys().copied().collect();
    let mut path = vec![draw.pick(&starts)];
    for _ in 0..draw.within(1, 6) {
        match path.last().and_then(|last| successors.get(last)) {
            Some(next) => path.push(draw.pick(next)),
            None => break,
        }
    }
    path
}

/// Copies random paths and loops, with instruments that come and go. Returns how many paths were copied.
fn storm(live: &Live, seed: u64) -> Result<usize, Box<dyn std::error::Error>> {
    let mut draw = Draw::new(seed);
    let edges = edges(live)?;
    let mut copied = 0;
    for _ in 0..CYCLES {
        let mut edits = Vec::new();
        for method in METHODS {
            for _ in 0..4 {
                let path = random_path(&edges[method], &mut draw);
                edits.push(duplicate(method, &path));
            }
        }
        let expected: Vec<String> = EXPECTED_REFUSALS
            .iter()
            .map(|name| format!("why.contains(\"{name}\")"))
            .collect();
        let expected = expected.join(" || ");
        let made: String = edits
            .iter()
            .map(|edit| {
                format!(
                    "try {{ all.push({edit}); }} catch (e) {{ let why = `${{e}}`; if !({expected}) {{ throw why; }} }}\n"
                )
            })
            .collect();
        let unswitched = unswitch(draw.pick(&BRANCHES));
        let instrument = draw.pick(&[
            "blocks().before(counter())",
            "edges().before(counter())",
            "around(timer())",
            "entry().before(counter())",
        ]);
        let count = live.value(&format!(
            "let all = [{unswitched}];\n{made}\
             let seen = methods(\"Paths::*(..)\").{instrument};\n\
             after({:.2}, || seen.detach()); after({:.2}, || {{ for one in all {{ one.detach(); }} }});\n\
             all.len()",
            draw.below(300) as f64 / 1000.0,
            draw.below(300) as f64 / 1000.0
        ))?;
        copied += count.parse::<usize>()?;
        std::thread::sleep(Duration::from_millis(350));
    }
    Ok(copied)
}

#[test]
fn copies_that_come_and_go_change_nothing() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        for (policy, seed) in [("loop", 1), ("block", 2)] {
            // Each version is checked against the method, as `--check` does.
            let java = paths(&programs, 0, "all");
            let live = Live::start(&run(&["--policy", policy, "--check"], &java))?;
            let copied = storm(&live, seed)?;
            println!("{jdk}, {policy}: {copied} copies");
            assert!(copied > CYCLES, "hardly anything was copied");
            let output = live.stop()?;
            assert_eq!(output.err, "", "{policy}");
            check_rounds(&programs, &output.out, "all", &format!("{jdk}, {policy}"))?;
        }
    }
    Ok(())
}

/// The edits whose counts are compared with those of the method itself: the loops, and the paths that run most.
const COUNTED_PLAN: &str = r#"
let seen = [];
for name in ["blend", "digits", "inner", "guarded", "locked"] {
    let m = methods(`Paths::${name}(..)`);
    seen.push(m.blocks().before(counter()));
    seen.push(m.edges().before(counter()));
}
let state = #{ made: 0 };
after(0.5, || {
    EDITS
});
at_exit(|| {
    let text = `counted ${state.made}`;
    for one in seen { for row in one.rows() { text += ` ${row.hits}`; } }
    print(text);
});
"#;

/// The number of edits that were made, and then the counts of all blocks and edges of a whole run.
fn counts(programs: &Programs, edits: &str) -> Result<Vec<u64>, Box<dyn std::error::Error>> {
    let folder = veneer_tests::folder::Folder::new("copies-plan")?;
    let plan = folder.join("counts.rhai");
    std::fs::write(&plan, COUNTED_PLAN.replace("EDITS", edits))?;
    let java = paths(programs, 40, "all");
    let output = run(&["--plan", &plan.display().to_string()], &java).run()?;
    let output = output.succeeded("the counted run")?;
    check_rounds(programs, &output.out, "all", "counted")?;
    let all = format!("{}\n{}", output.out, output.err);
    let line = all.lines().find_map(|line| line.split_once("counted "));
    let words = line.map_or("", |(_, rest)| rest).split(' ');
    let numbers: Result<Vec<u64>, _> = words.map(str::parse).collect();
    numbers.map_err(|_| all.into())
}

#[test]
fn counts_are_those_without_copies() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk, "tune")?;
        // The most frequent path of `digits` is in its inner loop, which has no merge.
        let merging = METHODS.iter().enumerate();
        let merging = merging.filter(|(_, method)| **method != "digits");
        let paths = merging.map(|(n, method)| {
            format!(
                "methods(\"Paths::{method}(..)\").optimise(\"superblock\", #{{ counts: seen[{}] }}); state.made += 1;",
                2 * n
            )
        });
        let loops = BRANCHES
            .iter()
            .map(|branch| format!("{}; state.made += 1;", unswitch(*branch)));
        let edits: Vec<String> = paths.chain(loops).collect();
        let plain = counts(&programs, "")?;
        let copied = counts(&programs, &edits.join("\n    "))?;
        assert_eq!(plain[0], 0);
        assert_eq!(copied[0], 9, "the program ended too early");
        assert!(plain.iter().sum::<u64>() > 1_000_000, "{plain:?}");
        assert_eq!(copied[1..], plain[1..]);
    }
    Ok(())
}

#[test]
fn paths_and_loops_that_cannot_be_copied_are_refused_by_name() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = Programs::compile_folder(jdk, "tune")?;
    let live = Live::start(&run(&[], &paths(&programs, 0, "all")))?;
    let edges = edges(&live)?;
    let blend = &edges["blend"];
    let first = blend[&0][0];
    let catching = ("guarded", "data[at % 100]");
    for (edit, word) in [
        (duplicate("blend", &[0, 99]), "UnknownFragment"),
        (duplicate("blend", &[0, 0]), "UnknownEdge"),
        (duplicate("blend", &[0, first]), "PathEntersLoop"),
        (duplicate("line", &[0, 1]), "UnknownFragment"),
        (duplicate("blend", &[0]), "has no edge"),
        (unswitch(catching), "LoopWithHandler"),
        (unswitch(("blend", "int value = data[n]")), "NotInvariant"),
    ] {
        let refused = live.exec(&edit)?;
        assert_eq!(refused.code, 1, "{edit}: {refused:?}");
        assert!(refused.err.contains(word), "{edit}: {}", refused.err);
    }
    assert_eq!(live.value("edits().filter(|e| e.active).len()")?, "0");
    let output = live.stop()?;
    check_rounds(&programs, &output.out, "all", "refused")
}

/// Prints the times of alternating phases of one JVM. How much faster the methods are is a measurement of
/// `ARCHITECTURE.md`.
fn measure(wanted: &str, change: &str) -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        let mut live = Live::start(&run(&[], &paths(&programs, 0, wanted)))?;
        let phases = alternate(&mut live, change, (2, Duration::from_secs(2)))?;
        println!("{jdk}: {wanted}, microseconds a round: {phases:?}");
        let output = live.stop()?;
        check_rounds(&programs, &output.out, wanted, "measured")?;
        assert!(phases.changed[1] > 0 && phases.plain[1] > 0);
    }
    Ok(())
}

#[test]
fn a_frequent_path_without_side_entries_is_measured() -> Outcome {
    let lines = ["int value = data[n];", "step = 8;", "sum += value / step"]
        .map(|text| line_of("blend", text));
    let [first, frequent, merge] = lines;
    measure(
        "blend",
        &format!(
            "methods(\"Paths::blend(..)\").duplicate([line({first}), line({frequent}), line({merge})])"
        ),
    )
}

#[test]
fn a_loop_for_each_outcome_of_a_condition_is_measured() -> Outcome {
    measure("digits", &unswitch(BRANCHES[0]))
}

#[test]
fn an_innermost_loop_is_measured() -> Outcome {
    measure("inner", &unswitch(BRANCHES[1]))
}
