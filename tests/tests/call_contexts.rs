//! `veneer run --call-graph OUT --contexts`: the calling-context trees of small programs are compared
//! with an agent of the test, which writes the entries and exits of methods by JVMTI events
//! (`tests/native/call_trace.c`). Other tests check times against a program that sleeps, and processor times
//! against the clocks of the JVM, fill the tree of a thread, and compare the contexts of a running program
//! with its counters.
//!
//! Constructors are left out of both trees, their callees are not: a constructor is recorded after
//! `super(…)`, so the constructor of a superclass is beside it and not below it. The methods of the
//! classes of lambdas and native methods have no nodes. Calls in virtual threads are counted by method.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;
use veneer_tests::call_oracle::{compile_library, oracle_option, start_recording};
use veneer_tests::command::{json, run, veneer};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// The programs, and the least number of contexts that the agent of the test finds in each.
const PROGRAMS: [(&str, usize); 10] = [
    ("Exceptions", 8),
    ("Initialisers", 8),
    ("Inner", 10),
    ("Interfaces", 12),
    ("Lambdas", 10),
    ("Natives", 4),
    ("Recursion", 60),
    ("Reflection", 5),
    ("Serialisation", 8),
    ("Threads", 6),
];
/// The names of the threads that run virtual threads, to which the agent of the test gives their events.
const CARRIER: &str = "ForkJoinPool-";

/// Native methods have no code that could record their calls.
const NATIVE_METHODS: [&str; 2] = [
    "kinds.Natives::callStatic(I)I",
    "kinds.Natives::callVirtual(I)V",
];

/// The number of calls of each path of methods, by the name of the thread.
type Paths = BTreeMap<(String, Vec<String>), i64>;

/// Whether a method has no node in the comparison.
fn is_left_out(method: &str) -> bool {
    method.contains("::<init>(") || method.contains("$$Lambda") || NATIVE_METHODS.contains(&method)
}

/// The paths in the events of the agent of the test.
fn paths_of_events(text: &str) -> Result<Paths, Box<dyn Error>> {
    let (lines, last) = text.trim_end().rsplit_once('\n').ok_or("no event")?;
    assert_eq!(last, "end");
    let mut paths = Paths::new();
    let mut thread = String::new();
    let mut open: Vec<Option<String>> = Vec::new();
    for line in lines.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "thread" => {
                thread = rest.to_owned();
                open.clear();
            }
            ">" => {
                let (class, method) = rest.split_once(' ').ok_or("no method")?;
                let method = format!("{}::{method}", class.replace('/', "."));
                if is_left_out(&method) {
                    open.push(None);
                    continue;
                }
                open.push(Some(method));
                let path = open.iter().flatten().cloned().collect();
                *paths.entry((thread.clone(), path)).or_default() += 1;
            }
            _ => {
                open.pop();
            }
        }
    }
    Ok(paths)
}

/// The methods of a recording as `class::name` with descriptor, by number.
fn methods(shown: &Value) -> HashMap<i64, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = |one: &Value| {
        let (class, method) = (text(&one["class"]), text(&one["method"]));
        let name = match class.is_empty() {
            true => method,
            false => format!("{class}::{method}{}", text(&one["descriptor"])),
        };
        Some((one["id"].as_i64()?, name))
    };
    let all = shown["methods"].as_array().into_iter().flatten();
    all.filter_map(name).collect()
}

/// The recorded paths, and the calls in threads without a tree by method.
fn recorded_paths(shown: &Value) -> Result<(Paths, BTreeMap<String, i64>), Box<dyn Error>> {
    let methods = methods(shown);
    let threads: HashMap<i64, (String, bool)> = shown["threads"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| {
            let name = one["name"].as_str()?.to_owned();
            Some((one["id"].as_i64()?, (name, one["virtual"].as_bool()?)))
        })
        .collect();
    let mut paths = Paths::new();
    let mut others = BTreeMap::new();
    let mut known: HashMap<i64, (String, Vec<String>)> = HashMap::new();
    for context in shown["contexts"].as_array().into_iter().flatten() {
        let number = |field: &str| context[field].as_i64();
        let method = methods.get(&number("method").ok_or("no method")?);
        let method = method.ok_or("an unknown method")?.clone();
        let calls = number("calls").ok_or("no calls")?;
        let (thread, mut path) = match number("parent") {
            Some(parent) => known.get(&parent).ok_or("an unknown parent")?.clone(),
            None => {
                let thread = threads.get(&number("thread").ok_or("no thread")?);
                let (name, is_virtual) = thread.ok_or("an unknown thread")?.clone();
                if is_virtual {
                    *others.entry(method).or_default() += calls;
                    continue;
                }
                (name, Vec::new())
            }
        };
        if !is_left_out(&method) {
            path.push(method);
            *paths.entry((thread.clone(), path.clone())).or_default() += calls;
        }
        known.insert(number("id").ok_or("no id")?, (thread, path));
    }
    paths.retain(|_, calls| *calls > 0);
    Ok((paths, others))
}

/// Records a program, and returns what the file shows and what the program printed.
fn record(
    programs: &Programs,
    java: &Process,
    options: &[&str],
) -> Result<(Value, String), Box<dyn Error>> {
    let file = programs.classes().join("contexts.calls");
    let file = file.to_string_lossy();
    let options = [options, &["--call-graph", &file, "--contexts"]].concat();
    let output = run(&options, java).run()?.succeeded("the program")?;
    assert!(output.err.contains(" contexts in "), "{}", output.err);
    Ok((json(&["calls", "show", &file, "--json"])?, output.out))
}

fn java(programs: &Programs, options: &[String], program: &str, library: &Path) -> Process {
    let launcher = programs.launcher().args(options);
    launcher
        .arg("-cp")
        .arg(programs.classes().path())
        .arg(format!("kinds.{program}"))
        .arg(library)
}

/// The names of pool threads and of threads that programs start, which are numbered in the order in
/// which they begin.
fn without_number(paths: Paths) -> Paths {
    let mut sums = Paths::new();
    for ((thread, path), calls) in paths {
        let thread = thread.trim_end_matches(|c: char| c.is_ascii_digit());
        *sums.entry((thread.to_owned(), path)).or_default() += calls;
    }
    sums
}

/// The first lines of the differences of two maps of paths.
fn differences(found: &Paths, expected: &Paths) -> Vec<String> {
    let keys = found.keys().chain(expected.keys());
    let different = keys.filter(|key| found.get(key) != expected.get(key));
    let line = |key: &(String, Vec<String>)| {
        format!(
            "{key:?}: {:?} found, {:?} expected",
            found.get(key),
            expected.get(key)
        )
    };
    different.map(line).take(10).collect()
}

#[test]
fn the_contexts_of_a_whole_run_are_those_that_the_jvm_reports() -> Outcome {
    if Process::new("cc").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("kinds", |programs| {
        let oracle = compile_library(programs, "call_trace")?;
        let natives = compile_library(programs, "call_back")?;
        let written = programs.classes().join("call_trace.txt");
        for (program, least) in PROGRAMS {
            let option = oracle_option(&oracle, &written, "kinds");
            let plain = java(programs, &[option], program, &natives).run()?;
            let plain = plain.succeeded(program)?;
            let mut expected = paths_of_events(&fs::read_to_string(&written)?)?;
            let armed = java(programs, &[], program, &natives);
            let (shown, out) = record(programs, &armed, &["--arm", "kinds..*"])?;
            assert_eq!(out, plain.out, "{program}");
            let (found, others) = recorded_paths(&shown)?;
            let is_carrier = |thread: &str| thread.starts_with(CARRIER);
            let in_virtual_threads = expected.iter().filter(|((name, _), _)| is_carrier(name));
            let mut by_method: BTreeMap<String, i64> = BTreeMap::new();
            for ((_, path), calls) in in_virtual_threads {
                let method = path.last().ok_or("an empty path")?;
                *by_method.entry(method.clone()).or_default() += calls;
            }
            assert_eq!(others, by_method, "{program}");
            expected.retain(|(thread, _), _| !is_carrier(thread));
            let (found, expected) = (without_number(found), without_number(expected));
            assert!(expected.len() >= least, "{program}: {}", expected.len());
            let different = differences(&found, &expected);
            assert!(different.is_empty(), "{program}:\n{}", different.join("\n"));
        }
        Ok(())
    })
}

/// The recorded costs of a method, summed over its contexts: calls, time, time without callees.
fn costs(shown: &Value, method: &str) -> (i64, i64, i64) {
    let methods = methods(shown);
    let contexts = shown["contexts"].as_array().into_iter().flatten();
    let of_method = contexts.filter(|one| {
        let id = one["method"].as_i64().unwrap_or(-1);
        methods.get(&id).is_some_and(|name| name.contains(method))
    });
    of_method.fold((0, 0, 0), |sum, one| {
        let number = |field: &str| one[field].as_i64().unwrap_or(0);
        (
            sum.0 + number("calls"),
            sum.1 + number("wall_ns"),
            sum.2 + number("self_ns"),
        )
    })
}

#[test]
fn times_belong_to_the_context_in_which_they_passed() -> Outcome {
    on_a_jdk_with("contexts", |programs| {
        let (shown, _) = record(programs, &programs.java("Sleeping"), &["--arm", "Sleeping"])?;
        let (calls, wall, own) = costs(&shown, "Sleeping::outer");
        // Two calls, each with 30 ms of its own and three calls of 20 ms.
        assert_eq!(calls, 2);
        assert!(own >= 60_000_000 && wall >= 180_000_000, "{wall} {own}");
        let (calls, wall, own) = costs(&shown, "Sleeping::inner");
        assert_eq!((calls, wall), (6, own));
        assert!(wall >= 120_000_000, "{wall}");
        let (_, main, _) = costs(&shown, "Sleeping::main");
        let (_, outer, _) = costs(&shown, "Sleeping::outer");
        assert!(main >= outer, "{main} {outer}");
        Ok(())
    })
}

/// A cost of the contexts of a method that one method called; of all its contexts without a caller.
fn cost_under(shown: &Value, caller: Option<&str>, method: &str, field: &str) -> i64 {
    let names = methods(shown);
    let all = shown["contexts"].as_array().map_or(&[][..], Vec::as_slice);
    let is_of = |context: &Value, name: &str| {
        let id = context["method"].as_i64().unwrap_or(-1);
        names.get(&id).is_some_and(|known| known.contains(name))
    };
    let parent = |context: &Value| {
        let id = context["parent"].as_i64()?;
        all.iter().find(|one| one["id"].as_i64() == Some(id))
    };
    let selected = all.iter().filter(|one| is_of(one, method));
    let selected = selected.filter(|one| {
        caller.is_none_or(|caller| parent(one).is_some_and(|above| is_of(above, caller)))
    });
    selected.map(|one| one[field].as_i64().unwrap_or(0)).sum()
}

/// The program has more threads than there are processors, so the wall times of its methods are much
/// longer than their processor times. The clocks of the JVM are the oracle.
#[test]
fn processor_time_and_allocations_belong_to_their_context() -> Outcome {
    on_a_jdk_with("contexts", |programs| {
        for options in [&[][..], &["--exact-times"]] {
            let is_exact = !options.is_empty();
            let options = [&["--arm", "Costs"], options].concat();
            let (shown, out) = record(programs, &programs.java("Costs"), &options)?;
            let printed = |name: &str| -> Result<i64, Box<dyn Error>> {
                let line = out.lines().find_map(|line| line.strip_prefix(name));
                Ok(line.ok_or("no line")?.trim().parse()?)
            };
            for name in ["work", "calls", "nap"] {
                let expected = printed(name)?;
                let found = cost_under(&shown, None, &format!("Costs::{name}("), "cpu_ns");
                // Each of the 25 intervals has two readings of a clock, and a switch of the thread.
                // Without exact times, it has two ticks, too, which are late on a busy machine.
                let tolerance = match is_exact {
                    true => expected / 50 + 5_000_000,
                    false => expected / 10 + 15_000_000,
                };
                assert!(
                    (found - expected).abs() < tolerance,
                    "{name} {options:?}: {found} recorded, {expected} measured"
                );
            }
            for name in ["few", "many"] {
                let caller = format!("Costs::{name}(");
                let made = cost_under(&shown, Some(&caller), "Costs::make(", "allocations");
                assert_eq!(made, printed(name)?, "{name}");
            }
            let allocations = shown["allocations"].as_array().into_iter().flatten();
            let counted: i64 = allocations.filter_map(|one| one["count"].as_i64()).sum();
            assert_eq!(cost_under(&shown, None, "Costs::", "allocations"), counted);
        }
        Ok(())
    })
}

/// The calls of a method in tasks, by the method that submitted the task.
fn submitters(shown: &Value, method: &str) -> BTreeMap<String, i64> {
    let names = methods(shown);
    let all = shown["contexts"].as_array().map_or(&[][..], Vec::as_slice);
    let by_id: HashMap<i64, &Value> = all
        .iter()
        .filter_map(|one| Some((one["id"].as_i64()?, one)))
        .collect();
    let name = |context: &Value| {
        let id = context["method"].as_i64().unwrap_or(-1);
        names.get(&id).cloned().unwrap_or_default()
    };
    let parent = |context: &Value| by_id.get(&context["parent"].as_i64()?).copied();
    let mut found = BTreeMap::new();
    for context in all.iter().filter(|one| name(one).contains(method)) {
        let mut above = Some(context);
        while let Some(one) = above
            && one["origin"] != "handover"
        {
            above = parent(one);
        }
        let submitter = above.and_then(parent).map_or("none".to_owned(), name);
        let (_, submitter) = submitter.split_once("::").unwrap_or(("", &submitter));
        let (submitter, _) = submitter.split_once('(').unwrap_or((submitter, ""));
        *found.entry(submitter.to_owned()).or_default() += context["calls"].as_i64().unwrap_or(0);
    }
    found
}

#[test]
fn tasks_are_below_the_contexts_that_submitted_them() -> Outcome {
    on_a_jdk_with("contexts", |programs| {
        let options = ["--arm", "Tasks", "--arm", "Tasks$*", "--tasks"];
        let (shown, _) = record(programs, &programs.java("Tasks"), &options)?;
        for (method, submitter, calls) in [
            ("Tasks::runnable(", "runnables", 40),
            ("Tasks::callable(", "callables", 30),
            ("Tasks::failing(", "failures", 20),
            ("Tasks::outer(", "nested", 1),
            ("Tasks::inner(", "outer", 1),
            ("Tasks::later(", "scheduled", 5),
            ("Tasks::first(", "futures", 10),
            ("Tasks::second(", "futures", 10),
            ("Tasks::third(", "common", 10),
            ("Tasks::body(", "threads", 6),
        ] {
            let expected = BTreeMap::from([(submitter.to_owned(), calls)]);
            assert_eq!(submitters(&shown, method), expected, "{method}");
        }
        let ticks = submitters(&shown, "Tasks::tick(");
        assert!(ticks.len() == 1 && ticks["periodic"] >= 10, "{ticks:?}");
        let leaves = submitters(&shown, "Tasks::leaf(");
        let known = ["compute", "forked"];
        assert!(
            leaves.keys().all(|one| known.contains(&one.as_str())),
            "{leaves:?}"
        );
        assert_eq!(leaves.values().sum::<i64>(), 64);
        let links = submitters(&shown, "Tasks::link(");
        let expected = [("chain".to_owned(), 1), ("link".to_owned(), 99)];
        assert_eq!(links, BTreeMap::from(expected));
        // A chain of tasks has a bounded number of contexts.
        let names = methods(&shown);
        let contexts = shown["contexts"].as_array().into_iter().flatten();
        let of_links = contexts.filter(|one| {
            let id = one["method"].as_i64().unwrap_or(-1);
            names
                .get(&id)
                .is_some_and(|name| name.contains("Tasks::link("))
        });
        assert!((8..=9).contains(&of_links.count()));
        let (main, ..) = costs(&shown, "Tasks::main");
        assert_eq!(main, 1);
        Ok(())
    })
}

/// The threads of the pool begin before the recording. A JVM of version 17 gives the classes of pools
/// without stack maps to an agent that comes late.
#[test]
fn tasks_of_a_running_program_are_followed_or_the_command_says_why_not() -> Outcome {
    on_a_jdk_with("contexts", |programs| {
        let live = Live::start(&programs.java("Pools"))?;
        let file = programs.classes().join("pools.calls");
        let file = file.to_string_lossy();
        let pid = live.pid().to_string();
        let options = ["Pools", "--contexts", "--tasks", "--for", "3", "-o", &*file];
        let recorded = veneer()
            .args([&["calls", &pid], &options[..]].concat())
            .run()?;
        let recorded = recorded.succeeded("veneer calls")?;
        live.stop()?;
        let shown = json(&["calls", "show", &file, "--json"])?;
        let found = submitters(&shown, "Pools::job(");
        match recorded
            .err
            .contains("tasks of the thread pools of the JDK are not followed")
        {
            true => assert!(programs.jdk().major() < 21, "{}", recorded.err),
            false => {
                let followed = found.get("submit").copied().unwrap_or(0);
                // Tasks that were submitted before the recording have no known submitter.
                let others: i64 = found.values().sum::<i64>() - followed;
                assert!(followed > 50 && others < 20, "{found:?}");
            }
        }
        Ok(())
    })
}

#[test]
fn calls_beyond_the_room_for_contexts_are_counted_where_they_are() -> Outcome {
    on_a_jdk_with("contexts", |programs| {
        let java = programs.java("Wide");
        let (shown, out) = record(programs, &java, &["--arm", "Wide"])?;
        let expected: i64 = out.trim().parse()?;
        let (overflow, wall, own) = costs(&shown, "contexts beyond");
        let (left, ..) = costs(&shown, "Wide::left");
        let (right, ..) = costs(&shown, "Wide::right");
        assert!(overflow > 0 && wall > 0 && wall == own, "{overflow} {wall}");
        assert_eq!(left + right + overflow, expected);
        // Contexts that have a node are recorded also after there was no room for others.
        assert_eq!(costs(&shown, "Wide::brief").0, 6);
        assert!(shown["info"]["contexts"].is_array(), "{}", shown["info"]);
        Ok(())
    })
}

/// The calls in all contexts of each method, the overflow and the early calls left out.
fn calls_by_method(shown: &Value) -> BTreeMap<String, i64> {
    let methods = methods(shown);
    let mut calls = BTreeMap::new();
    for context in shown["contexts"].as_array().into_iter().flatten() {
        let number = |field: &str| context[field].as_i64().unwrap_or(-1);
        let name = methods.get(&number("method")).cloned().unwrap_or_default();
        if name.contains("::") {
            *calls.entry(name).or_default() += number("calls");
        }
    }
    calls.retain(|_, calls| *calls > 0);
    calls
}

/// The entries of each method, which counters of their own have counted.
fn entries_by_method(shown: &Value) -> BTreeMap<String, i64> {
    let names = methods(shown);
    let all = shown["methods"].as_array().into_iter().flatten();
    let entries = all.filter_map(|one| {
        let name = names.get(&one["id"].as_i64()?)?.clone();
        Some((
            name,
            one["entries"].as_i64().filter(|entries| *entries > 0)?,
        ))
    });
    entries.collect()
}

#[test]
fn the_contexts_of_a_running_program_have_the_calls_that_counters_count() -> Outcome {
    on_a_jdk_with("callgraph", |programs| {
        let mut live = Live::start(&programs.java("graph.Main"))?;
        let file = programs.classes().join("live.calls");
        let options = ["graph..*", "--contexts", "--for", "8"];
        let mut command = start_recording(live.pid(), &options, &file)?;
        live.say("run")?;
        live.line("sum ")?;
        let status = command.wait()?;
        assert!(status.success(), "{status}");
        let attached = || live.value("instruments().filter(|i| i.attached).len()");
        until("the end of the recording", attached, |count| count == "0")?;
        // The files of the trees are gone.
        let data = live.socket().with_extension("data");
        let beside = fs::read_dir(data.parent().ok_or("no folder")?)?;
        let names = beside.map(|one| Ok(one?.file_name().to_string_lossy().into_owned()));
        let names = names.collect::<Result<Vec<String>, std::io::Error>>()?;
        let pid = live.pid().to_string();
        let left = names
            .iter()
            .filter(|name| name.starts_with(&pid) && name.contains("trace"));
        assert_eq!(left.count(), 0, "{names:?}");
        let file = file.to_string_lossy();
        let shown = json(&["calls", "show", &file, "--json"])?;
        let (contexts, mut entries) = (calls_by_method(&shown), entries_by_method(&shown));
        // Other methods are callees, which have no code of the recorder.
        entries.retain(|name, _| name.starts_with("graph.") && !name.contains("$$Lambda"));
        assert!(entries.len() > 20, "{}", entries.len());
        assert_eq!(contexts, entries);
        let (_, wall, _) = costs(&shown, "graph.Work::");
        assert!(wall > 0);
        live.stop()?.succeeded("graph.Main")?;
        Ok(())
    })
}
