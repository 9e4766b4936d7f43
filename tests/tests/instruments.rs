//! The measurements of instruments at each kind of point, with results that are known in advance;
//! the values of logs; instruments that another process attaches and detaches; many threads.

use std::path::Path;

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::jdk;
use veneer_tests::live::{Live, until};
use veneer_tests::process::Output;
use veneer_tests::report::{Instrument, Point, Report};
use veneer_tests::skip::{Need, skip};

/// An instrument as a plan attaches it, and its expected counts in `Points`: `2-3:9` is nine hits
/// on the edge from f2 to f3, `3:9` is nine hits at f3, `m:9` is nine hits at no fragment.
const POINTS: &[(&str, &str)] = &[
    // The calls are edges(10), edges(7) and edges(0).
    (
        r#"methods("Points::edges(..)").edges().before(counter())"#,
        "0-1:3 1-2:17 1-6:3 2-3:9 2-4:8 3-5:9 4-5:8 5-1:17",
    ),
    (
        r#"methods("Points::edges(..)").edge(5, 1).before(counter())"#,
        "5-1:17",
    ),
    (
        r#"methods("Points::edges(..)").edge([[2, 3], [0, 1]]).after(counter())"#,
        "0-1:3 2-3:9",
    ),
    (
        r#"methods("Points::edges(..)").line([13, 17, 19, 22]).before(counter())"#,
        "0:3 3:9 4:8 6:3",
    ),
    (
        r#"methods("Points::edges(..)").block(3).before(counter())"#,
        "3:9",
    ),
    (
        r#"methods("Points::edges(..)").block([0, 5]).after(counter())"#,
        "0:3 5:17",
    ),
    (
        r#"methods("Points::edges(..)").block(5).around(timer())"#,
        "5:17",
    ),
    // Each activation has one lap less than traversals of the edge, if it has any: 9 + 6 and 4 + 3.
    (
        r#"methods("Points::edges(..)").edge(5, 1).around(timer())"#,
        "5-1:15",
    ),
    (
        r#"methods("Points::edges(..)").edge(2, 3).around(timer())"#,
        "2-3:7",
    ),
    // nested(4, 5) is called three times, with 5 and 4 × 6 executions of the headers in each call.
    (
        r#"methods("Points::nested(..)").loops().before(counter())"#,
        "1:15 3:72",
    ),
    (
        r#"methods("Points::nested(..)").loops().around(timer())"#,
        "1:12 3:69",
    ),
    // 28 calls: 3 with 0, 3 with 1, 13 with a larger number, and 9 that throw.
    (
        r#"methods("Points::exits(..)").exits().before(counter())"#,
        "3:3 5:3 6:13 m:9",
    ),
    (r#"methods("Points::exits(..)").after(counter())"#, "m:28"),
    (r#"methods("Points::exits(..)").around(timer())"#, "m:28"),
    (
        r#"methods("Points::exits(..)").entry().before(counter())"#,
        "m:28",
    ),
    // Nine calls, five of which end with an exception of the callee.
    (r#"methods("Points::leaves(..)").around(timer())"#, "m:9"),
    (r#"methods("Points::leaves(..)").after(counter())"#, "m:9"),
    (
        r#"methods("Points::leaves(..)").exits().before(counter())"#,
        "3:4 m:5",
    ),
    // Twelve iterations. In four of them an exception leaves f5, which ends the interval although
    // it is not the end of f5.
    (
        r#"methods("Points::throwing(..)").block(5).around(timer())"#,
        "5:12",
    ),
    (
        r#"methods("Points::throwing(..)").block(5).before(counter())"#,
        "5:12",
    ),
    (
        r#"methods("Points::throwing(..)").block(5).after(counter())"#,
        "5:8",
    ),
    (
        r#"methods("Points::throwing(..)").block(6).before(counter())"#,
        "6:4",
    ),
    (
        r#"methods("Points::throwing(..)").edges().before(counter())"#,
        "0-1:1 1-2:12 1-8:1 2-3:4 2-4:8 3-5:4 4-5:8 5-7:8 6-7:4 7-1:12",
    ),
    (r#"methods("Points::deep(..)").around(timer())"#, "m:10"),
    // Four calls with six elements: the seventh execution throws.
    (
        r#"methods("Points::torn(..)").loops().around(timer())"#,
        "1:24",
    ),
    (r#"methods("Points::torn(..)").around(timer())"#, "m:4"),
    (
        r#"methods("Points::torn(..)").exits().before(counter())"#,
        "m:4",
    ),
    (
        r#"methods("Points::torn(..)").block(1).around(timer())"#,
        "1:28",
    ),
    (
        r#"methods("Points::torn(..)").block(1).after(counter())"#,
        "1:24",
    ),
    (
        r#"methods("Points::torn(..)").edges().before(counter())"#,
        "0-1:4 1-1:24",
    ),
    // The calls are nap(5, 10) and nap(1, 10); their times are compared with the clock.
    (r#"methods("Points::nap(..)").around(timer())"#, "m:2"),
    (
        r#"methods("Points::nap(..)").block(2).around(timer())"#,
        "2:6",
    ),
    (
        r#"methods("Points::nap(..)").loops().around(timer())"#,
        "1:6",
    ),
    (
        r#"methods("Points::nap(..)").edge(2, 1).around(timer())"#,
        "2-1:4",
    ),
];

fn show(instrument: &Instrument) -> String {
    let one = |point: &Point| {
        let number = point.hits + point.count + point.events;
        match (point.fragment, point.to) {
            (Some(from), Some(to)) => format!("{from}-{to}:{number}"),
            (Some(at), None) => format!("{at}:{number}"),
            _ => format!("m:{number}"),
        }
    };
    instrument
        .points
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a program with a plan, and returns its output and the report.
fn planned(
    programs: &Programs,
    name: &str,
    arguments: &[&str],
    plan: &str,
) -> Result<(Output, Report), Box<dyn std::error::Error>> {
    let folder = Folder::new("planned")?;
    let (file, report) = (folder.join("plan.rhai"), folder.join("report.json"));
    std::fs::write(&file, plan)?;
    let text = |path: &Path| path.display().to_string();
    let options = ["--plan", &text(&file), "--report", &text(&report)];
    let java = programs.java(name).args(arguments);
    let output = run(&options, &java).run()?.succeeded(name)?;
    Ok((output, Report::read(&report)?))
}

fn plain(
    programs: &Programs,
    name: &str,
    arguments: &[&str],
) -> Result<Output, Box<dyn std::error::Error>> {
    let output = programs.java(name).args(arguments).run()?;
    Ok(output.succeeded(name)?)
}

/// Compares the measurements of a plan with the table. The figures of intervals must also be
/// consistent with each other.
fn differences(table: &[(&str, &str)], report: &Report) -> Vec<String> {
    let mut failures = Vec::new();
    for ((attach, expected), instrument) in table.iter().zip(&report.instruments) {
        let actual = show(instrument);
        if actual != *expected {
            failures.push(format!("{attach}: expected {expected}, actual {actual}"));
        }
        for point in instrument.points.iter().filter(|point| point.count > 0) {
            let (min, max, total) = (point.min_ns, point.max_ns, point.total_ns);
            if min > max
                || max > total
                || total > max.saturating_mul(point.count)
                || total < min.saturating_mul(point.count)
            {
                failures.push(format!(
                    "{attach}: min {min}, max {max}, total {total} ns of {}",
                    point.count
                ));
            }
        }
    }
    if table.len() != report.instruments.len() {
        failures.push(format!(
            "{} instruments in the report, {} attached",
            report.instruments.len(),
            table.len()
        ));
    }
    failures
}

/// A plan that attaches all instruments of a table.
fn plan_of(table: &[(&str, &str)]) -> String {
    table
        .iter()
        .map(|(attach, _)| format!("{attach};\n"))
        .collect()
}

#[test]
fn every_kind_of_point_is_measured_exactly() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let expected = plain(programs, "Points", &[])?;
        // All instruments are attached at once, so none may disturb another.
        let (output, report) = planned(programs, "Points", &[], &plan_of(POINTS))?;
        assert_eq!(output, expected);
        assert_eq!(differences(POINTS, &report), Vec::<String>::new());
        for instrument in &report.instruments {
            for point in instrument
                .points
                .iter()
                .filter(|p| p.method.starts_with("nap") && p.count > 0)
            {
                assert!(
                    point.min_ns >= 9_900_000 && point.max_ns < 5_000_000_000,
                    "each interval sleeps 10 ms at least: {point:?}"
                );
            }
        }
        Ok(())
    })
}

/// The tolerance is a thousandth: much more than the difference of both clocks, and much less than
/// a wrong unit.
#[test]
fn timers_agree_with_the_programs_clock_even_if_their_own_clock_changes() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let plan = "methods(\"Naps::longest(..)\").around(timer());\nmethods(\"Naps::nap(..)\").around(timer());\n";
        let (output, report) = planned(programs, "Naps", &[], plan)?;
        for line in output.out.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, inside, outside] = words[..] else {
                return Err(line.into());
            };
            let (inside, outside): (u64, u64) = (inside.parse()?, outside.parse()?);
            let points = report.instruments.iter().flat_map(|one| &one.points);
            let of_it = |p: &&Point| p.method.starts_with(name);
            let total: u64 = points.filter(of_it).map(|p| p.total_ns).sum();
            assert!(
                inside - inside / 1000 <= total && total <= outside + outside / 1000,
                "{line}: the timer says {total}"
            );
        }
        Ok(())
    })
}

#[test]
fn instruments_on_one_point_do_not_disturb_each_other() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let expected = plain(programs, "Points", &[])?;
        let twice: Vec<(&str, &str)> = POINTS.iter().flat_map(|one| [*one, *one]).collect();
        let (output, report) = planned(programs, "Points", &[], &plan_of(&twice))?;
        assert_eq!(output, expected);
        assert_eq!(differences(&twice, &report), Vec::<String>::new());
        Ok(())
    })
}

/// A log, and the expected events in `Values`; `@` stands for the hash code of an object.
const LOGS: &[(&str, &[&str])] = &[
    (
        r#"methods("Values::all(..)").entry().before(log(["i", "l", "f", "d", "b", "c", "y", "s"]))"#,
        &[
            "i=1 l=2 f=0.5 d=0.25 b=1 c=120 y=-1 s=-300",
            "i=-2147483648 l=-9223372036854775808 f=-1.5 d=1.7976931348623157e308 b=0 c=228 y=127 s=32767",
            "i=-7 l=-8 f=inf d=-0.0 b=1 c=65535 y=0 s=0",
            "i=0 l=0 f=0.0 d=0.0 b=0 c=32 y=0 s=0",
        ],
    ),
    (
        r#"methods("Values::all(..)").entry().before(log("t", "o", "a"))"#,
        &[
            r#"t="one" o=() a="[I@""#,
            r#"t="" o="Values@" a="[I@""#,
            r#"t=() o="text" a="[I@""#,
            r#"t="ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀ä€😀" o="[I@" a="[I@""#,
        ],
    ),
    (
        r#"methods("Values::turns(..)").block(1).before(log("i", "square"))"#,
        &[
            "i=0 square=0",
            "i=1 square=0",
            "i=2 square=1",
            "i=3 square=4",
            "i=4 square=9",
            "i=5 square=16",
        ],
    ),
    (
        r#"methods("Values::turns(..)").edge(2, 1).before(log("square", "i", "n"))"#,
        &[
            "square=0 i=1 n=5",
            "square=1 i=2 n=5",
            "square=4 i=3 n=5",
            "square=9 i=4 n=5",
            "square=16 i=5 n=5",
        ],
    ),
    (
        r#"methods("Values::turns(..)").exits().before(log("square"))"#,
        &["square=16"],
    ),
    (
        r#"methods("Values::own(..)").entry().before(log("this", "by"))"#,
        &[r#"this="Values@" by=7"#],
    ),
    (
        r#"methods("Values::own(..)").entry().before(log("local1", "local0"))"#,
        &[r#"local1=7 local0="Values@""#],
    ),
];

/// A plan that prints the events of all logs of the table, with their variables in the order of the
/// log.
fn plan_of_logs() -> String {
    let mut plan = String::from("let logs = [];\n");
    for (attach, _) in LOGS {
        let names = attach.rsplit_once("log(").map_or("", |(_, rest)| rest);
        let names: Vec<&str> = names.split('"').skip(1).step_by(2).collect();
        plan.push_str(&format!("logs.push([{attach}, {names:?}]);\n"));
    }
    plan.push_str(
        "at_exit(|| for (pair, n) in logs {\n\
             for event in pair[0].events(100) {\n\
                 let text = `${n}:`;\n\
                 for name in pair[1] { text += ` ${name}=${event.values[name].to_debug()}`; }\n\
                 print(text);\n\
             }\n\
             print(`${n} has ${pair[0].hits()}, the last is ${pair[0].events(1).len()}`);\n\
         });\n",
    );
    plan
}

/// Removes the digits after each `@`.
fn without_hashes(text: &str) -> String {
    let mut out = String::new();
    for (n, part) in text.split('@').enumerate() {
        if n > 0 {
            out.push('@');
        }
        out.push_str(if n == 0 {
            part
        } else {
            part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
        });
    }
    out
}

#[test]
fn a_log_shows_the_values_of_each_type_in_order() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let expected = plain(programs, "Values", &[])?;
        let (output, report) = planned(programs, "Values", &[], &plan_of_logs())?;
        assert_eq!(output.out, expected.out);
        let said: Vec<String> = output.err.lines().map(without_hashes).collect();
        let mut wanted = Vec::new();
        for (n, (_, events)) in LOGS.iter().enumerate() {
            wanted.extend(events.iter().map(|event| format!("{n}: {event}")));
            wanted.push(format!("{n} has {}, the last is 1", events.len()));
        }
        assert_eq!(said, wanted);
        let counts: Vec<u64> = report.points("log").map(|point| point.events).collect();
        assert_eq!(
            counts,
            LOGS.iter()
                .map(|(_, events)| events.len() as u64)
                .collect::<Vec<_>>()
        );
        Ok(())
    })
}

#[test]
fn impossible_instruments_are_rejected_with_the_available_points() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Session")))?;
        for (attach, words) in [
            (
                r#".entry().before(log("sum"))"#,
                &["`sum`", "live there are n"][..],
            ),
            (
                r#".block(2).before(log("sum", "nope"))"#,
                &["`nope`", "n, sum, i"],
            ),
            (".block(7).before(counter())", &["f7", "f0 to f3"]),
            (".edge(1, 0).before(counter())", &["f1->f0"]),
            (".line(2).before(counter())", &["line 2", "lines"]),
            (r#".after(log("n"))"#, &[".exits().before(log("]),
            (".exits().around(timer())", &["timer"]),
        ] {
            let output = live.exec(&format!("methods(\"Session::work(..)\"){attach}"))?;
            assert_eq!(output.code, 1, "{attach} is not refused: {output:?}");
            for word in words {
                assert!(
                    output.err.contains(word),
                    "{attach}: no `{word}` in {}",
                    output.err
                );
            }
        }
        assert_eq!(
            live.value("instruments().filter(|i| i.attached).len()")?,
            "0"
        );
        live.say("call 5")?;
        assert_eq!(live.line("called ")?, "15");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn an_instrument_reaches_methods_that_ran_are_running_or_never_ran() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        // The class is loaded and armed from the start, or armed by the plan that names its
        // methods.
        for mut live in [
            Live::start(&run(&[], &programs.java("Session")))?,
            Live::start(&run(&["--arm", "Session::spin"], &programs.java("Session")))?,
        ] {
            live.say("call 5")?;
            live.line("called ")?;
            let work = live.value("methods(\"Session::work(..)\").before(counter())")?;
            let never = live.value("methods(\"Session::never(..)\").before(counter())")?;
            assert_eq!(live.sum(&never)?, 0);
            assert_eq!(live.sum(&work)?, 0);
            live.say("call 4")?;
            live.line("called ")?;
            assert_eq!(live.sum(&work)?, 4);
            live.say("never")?;
            assert_eq!(live.line("never ")?, "2");
            assert_eq!(live.sum(&never)?, 1);
            live.say("begin")?;
            live.line("begun")?;
            let spin = live.value("methods(\"Session::spin(..)\").loops().before(counter())")?;
            until(
                "turns of a loop that began before",
                || live.sum(&spin),
                |hits| *hits > 1000,
            )?;
            live.value(&format!("detach(\"{work}\"); detach(\"{never}\")"))?;
            live.say("end")?;
            live.line("ended")?;
            let output = live.stop()?;
            assert_eq!((output.code, output.err.as_str()), (0, ""));
        }
        Ok(())
    })
}

#[test]
fn counts_remain_after_detaching_and_the_next_instrument_starts_at_zero() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Session")))?;
        let call = |live: &mut Live, times: u32| -> Outcome {
            live.say(&format!("call {times}"))?;
            assert_eq!(live.line("called ")?, (3 * times).to_string());
            Ok(())
        };
        let attach = "methods(\"Session::work(..)\").blocks().before(counter())";
        let timer = "methods(\"Session::work(..)\").around(timer())";
        call(&mut live, 30)?;
        let first = live.value(attach)?;
        let took = live.value(timer)?;
        call(&mut live, 20)?;
        let second = live.value(attach)?;
        call(&mut live, 1)?;
        let at = |live: &Live, id: &str| -> Result<Vec<u64>, Box<dyn std::error::Error>> {
            Ok(live.hits(id)?.iter().map(|(_, hits)| *hits).collect())
        };
        // The instruments are detached in another order than they were attached.
        live.value(&format!("detach(\"{first}\")"))?;
        call(&mut live, 4)?;
        let third = live.value(attach)?;
        call(&mut live, 2)?;
        live.value(&format!("detach(\"{second}\"); detach(\"{took}\")"))?;
        let late = live.value(timer)?;
        call(&mut live, 3)?;
        live.value("detach_all()")?;
        call(&mut live, 50)?;
        assert_eq!(at(&live, &first)?, [21, 84, 63, 21], "from 20 + 1 calls");
        assert_eq!(at(&live, &second)?, [7, 28, 21, 7], "from 1 + 4 + 2 calls");
        assert_eq!(at(&live, &third)?, [5, 20, 15, 5], "from 2 + 3 calls");
        let report = live.report()?;
        let timers: Vec<(String, u64)> = report
            .instruments
            .iter()
            .filter(|one| one.kind == "timer")
            .map(|one| {
                (
                    one.id.as_str().unwrap_or_default().to_string(),
                    one.points.iter().map(|p| p.count).sum(),
                )
            })
            .collect();
        assert_eq!(timers, [(took, 27), (late, 3)]);
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

/// Runs `work(3)` `threads` × `calls` times, and compares the counts with the expected ones.
fn check_thread_counts(programs: &Programs, kind: &str, threads: u64, calls: u64) -> Outcome {
    let arguments = [kind, &threads.to_string(), &calls.to_string()];
    let plan = "methods(\"Crowd::work(..)\").blocks().before(counter());\n\
                methods(\"Crowd::work(..)\").around(timer());\n\
                methods(\"Crowd::guarded(..)\").before(counter());\n\
                methods(\"Crowd::run(..)\").after(counter());\n\
                methods(\"Crowd::work(..)\").edge(2, 1).around(timer());\n";
    let expected = plain(programs, "Crowd", &arguments)?;
    let (output, report) = planned(programs, "Crowd", &arguments, plan)?;
    assert_eq!(output, expected);
    let n = threads * calls;
    let found: Vec<String> = report.instruments.iter().map(show).collect();
    let wanted = [
        format!("0:{n} 1:{} 2:{} 3:{n}", 4 * n, 3 * n),
        format!("m:{n}"),
        format!("m:{n}"),
        format!("m:{threads}"),
        format!("2-1:{}", 2 * n),
    ];
    assert_eq!(found, wanted, "{kind} threads");
    Ok(())
}

#[test]
fn no_count_is_lost_among_platform_threads() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        check_thread_counts(programs, "platform", 16, 5_000)?;
        // The number of threads exceeds the number of shards.
        check_thread_counts(programs, "platform", 400, 50)
    })
}

#[test]
fn no_count_is_lost_among_virtual_threads() -> Outcome {
    let newest = jdk::newest().unwrap_or_else(jdk::oldest);
    if newest.major() < 21 {
        return Ok(skip(Need::VirtualThreads)?);
    }
    let programs = Programs::compile_folder(newest, "instruments")?;
    check_thread_counts(&programs, "virtual", 1_000, 60)
}
