//! The contents of tables: linear histograms, rates, sets, most frequent values, samples,
//! differences since a point in time, and merged tables. Four threads fill them at the same time
//! with known values, before the program starts and while it runs.

use std::time::Duration;

use serde_json::Value;
use veneer_tests::command::{run, veneer};
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::output::has_line;

/// Plan functions that format rows.
const FUNCTIONS: &str = r#"
fn figures(row) {
    let text = `${row.keys.to_debug()} ${row.count}`;
    for name in ["sum", "min", "max", "below", "above", "buckets", "distinct", "error"] {
        if name in row { text += ` ${row[name]}`; }
    }
    text
}
fn joined(lines) {
    lines.sort();
    let out = "";
    for line in lines { if out != "" { out += ", "; } out += line; }
    out
}
fn shown(rows) { joined(rows.map(|row| figures(row))) }
fn by_seconds(rows) {
    let lines = [];
    for row in rows {
        let sum = 0;
        for second in row.seconds { sum += second[1]; }
        lines.push(`${row.keys.to_debug()} ${row.count} ${sum}`);
    }
    joined(lines)
}
// Returns how many of the ten values have correct bounds, how many others do not, and whether no
// value was lost.
fn bounds(t, often) {
    let rest = t.rest().count;
    let sum = rest;
    let right = 0;
    let wrong = 0;
    for row in t.rows() {
        sum += row.count;
        let times = if row.keys[0] < 10 { often } else { 1 };
        let holds = row.count + rest >= times && row.count - row.error <= times;
        if !holds { wrong += 1; } else if times == often { right += 1; }
    }
    `${right} ${wrong} ${sum} ${t.total()}`
}
// Returns whether numbers up to 10,000 are drawn uniformly and without repetition: tenths of them
// within six standard deviations.
fn even(t) {
    let tenths = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let values = [];
    let sum = 0;
    for row in t.rows() {
        let n = row.values[0];
        tenths[n / 1000] += 1;
        sum += n;
        values.push(n);
    }
    values.sort();
    let twice = 0;
    for i in 1..values.len() { if values[i] == values[i - 1] { twice += 1; } }
    let odd = tenths.filter(|n| n < 43 || n > 157);
    let mean = sum / values.len();
    if twice == 0 && odd.is_empty() && mean > 4450 && mean < 5550 { "even" } else { `${twice} ${tenths} ${mean}` }
}
"#;

/// The instrument (`at` is `pass`), the expression printed at the end, and its expected value after
/// one run.
const CASES: &[(&str, &str, &str)] = &[
    // Linear histograms.
    (
        "let t = linear(0, 500, 4); at.before(|p| t.add(p.value))",
        "shown(t.rows())",
        "[] 10000 11495000 -100 2399 400 1600 [[0, 2000], [500, 2000], [1000, 2000], [1500, 2000]]",
    ),
    (
        "let t = linear(-100, 50, 2); at.before(|p| t.add(p.value))",
        "shown(t.rows())",
        "[] 10000 11495000 -100 2399 0 9600 [[-100, 200], [-50, 200]]",
    ),
    (
        "let t = linear(0, 1000, 2, 2); at.before(|p| t.add(p.name, p.value))",
        "`${shown(t.rows())}, rest ${t.rest().count} ${t.total()}`",
        r#"["k0"] 1000 1145000 -100 2390 40 160 [[0, 400], [1000, 400]], ["k1"] 1000 1146000 -99 2391 40 160 [[0, 400], [1000, 400]], rest 8000 10000"#,
    ),
    // NaN becomes 0, and infinite values become the largest or smallest integer.
    (
        "let t = linear(0, 1000, 2); at.before(|p| t.add(p.x))",
        "shown(t.rows())",
        "[] 10000 5006000 -9223372036854775808 9223372036854775807 2000 2804 [[0, 3596], [1000, 1600]]",
    ),
    (
        "let t = sums(); at.before(|p| t.add(p.x))",
        "shown(t.rows())",
        "[] 10000 5006000 -9223372036854775808 9223372036854775807",
    ),
    (
        "let t = linear(0, 500, 4); at.before(|p| t.add(p.value))",
        "t.csv().to_debug()",
        r#""count,sum,min,max,below,0,500,1000,1500,above\r\n10000,11495000,-100,2399,400,2000,2000,2000,2000,1600\r\n""#,
    ),
    (
        "let t = linear(0, 500, 4); at.before(|p| t.add(p.value))",
        "t.json()",
        r#"[{"above":1600,"avg":1149.5,"below":400,"buckets":[[0,2000],[500,2000],[1000,2000],[1500,2000]],"count":10000,"keys":[],"max":2399,"min":-100,"sum":11495000}]"#,
    ),
    (
        "let t = linear(0, 500, 4); at.before(|p| t.add(p.value))",
        "t.bars().split(\"\\n\").map(|line| line.contains(\"█\"))",
        "[true, true, true, true, true, true, false]",
    ),
    (
        "let t = linear(-9223372036854775807 - 1, 9007199254740992, 1000); at.before(|p| t.add(p.x))",
        "`${t.rows()[0].below} ${t.rows()[0].above} ${t.rows()[0].buckets[0]}`",
        "0 8000 [-9223372036854775808, 2000]",
    ),
    // Rates per second.
    (
        "let t = rate(); at.before(|p| t.count(p.name))",
        "by_seconds(t.rows())",
        r#"["k0"] 1000 1000, ["k1"] 1000 1000, ["k2"] 1000 1000, ["k3"] 1000 1000, ["k4"] 1000 1000, ["k5"] 1000 1000, ["k6"] 1000 1000, ["k7"] 1000 1000, ["k8"] 1000 1000, ["k9"] 1000 1000"#,
    ),
    (
        "let t = rate(2); at.before(|p| t.count(p.name))",
        "`${by_seconds(t.rows())}, rest ${t.rest().count} ${t.total()}`",
        r#"["k0"] 1000 1000, ["k1"] 1000 1000, rest 8000 10000"#,
    ),
    // Sets.
    (
        "let t = distinct(); at.before(|p| t.add(p.name, p.i))",
        "shown(t.rows())",
        r#"["k0"] 1000 250, ["k1"] 1000 250, ["k2"] 1000 250, ["k3"] 1000 250, ["k4"] 1000 250, ["k5"] 1000 250, ["k6"] 1000 250, ["k7"] 1000 250, ["k8"] 1000 250, ["k9"] 1000 250"#,
    ),
    (
        "let t = distinct(); at.before(|p| t.add(p.name == \"k0\", p.i % 2, p.heavy < 10, p.i))",
        "shown(t.rows())",
        "[false, 0, true] 4000 1000, [false, 1, false] 5000 1250, [true, 0, true] 1000 250",
    ),
    (
        "let t = distinct(); at.before(|p| t.add(p.n))",
        "`${shown(t.rows())} ${t.rest().count}`",
        "[] 10000 10000 0",
    ),
    (
        "let t = distinct(); at.before(|p| t.add(p.x))",
        "shown(t.rows())",
        "[] 10000 1003",
    ),
    // Long strings with equal beginnings are distinguished by the rest.
    (
        "let t = distinct(); at.before(|p| t.add(p.text))",
        "shown(t.rows())",
        "[] 10000 3",
    ),
    (
        "let t = distinct(); at.before(|p| t.add(p.text, p.i % 3))",
        "t.rows().map(|row| `${row.keys[0].len()} ${row.distinct} ${row.count >= 3332}`)",
        r#"["64 1 true", "64 1 true", "64 1 true"]"#,
    ),
    (
        "let t = distinct(100); at.before(|p| t.add(p.n))",
        "`${shown(t.rows())} ${t.total()} ${t.rest().count}`",
        "[] 100 100 10000 9900",
    ),
    (
        "let t = distinct(5); at.before(|p| t.add(p.own))",
        "`${shown(t.rows())} ${t.total()} ${t.rest().count}`",
        "[] 5 5 10000 9995",
    ),
    // The most frequent values: few values are exact; of many values the bounds are correct.
    (
        "let t = top(100); at.before(|p| t.count(p.i % 10))",
        "bounds(t, 1000)",
        "10 0 10000 10000",
    ),
    (
        "let t = top(100); at.before(|p| t.count(p.name))",
        "let rest = t.rest().count; t.rows().filter(|row| row.error == 0 && row.count <= 1000 && row.count + rest >= 1000).len()",
        "10",
    ),
    (
        "let t = top(16); at.before(|p| t.count(p.heavy))",
        "bounds(t, 500)",
        "10 0 10000 10000",
    ),
    (
        "let t = top(1); at.before(|p| t.count(p.heavy))",
        "let b = bounds(t, 500).split(\" \"); `${b[1]} ${b[2]} ${b[3]} ${t.rows().len()}`",
        "0 10000 10000 8",
    ),
    (
        "let t = top(2); at.before(|p| t.count(p.text, p.name))",
        "let sum = t.rest().count; for row in t.rows() { sum += row.count; } `${sum} ${t.total()}`",
        "10000 10000",
    ),
    // Samples.
    (
        "let t = sample(10); at.before(|p| t.put(p.n, p.name, p.own))",
        "`${t.rows().len()} ${t.total()} ${t.rest().count}`",
        "10 10000 9990",
    ),
    (
        "let t = sample(10); at.before(|p| t.put(p.n, p.n % 10, p.name))",
        "t.rows().filter(|row| `k${row.values[1]}` == row.values[2] && row.values[0] % 10 == row.values[1]).len()",
        "10",
    ),
    (
        "let t = sample(12000); at.before(|p| t.put(p.n))",
        "let sum = 0; for row in t.rows() { sum += row.values[0]; } `${t.rows().len()} ${sum} ${t.rest().count}`",
        "10000 49995000 0",
    ),
    (
        "let t = sample(1000); at.before(|p| t.put(p.n))",
        "even(t)",
        "even",
    ),
    // Merged tables.
    (
        "let t = tally(); let u = tally(); at.before(|p| if p.i % 4 == 0 { t.count(p.name) } else { u.count(p.name) })",
        "shown(merge([t, u]))",
        r#"["k0"] 1000, ["k1"] 1000, ["k2"] 1000, ["k3"] 1000, ["k4"] 1000, ["k5"] 1000, ["k6"] 1000, ["k7"] 1000, ["k8"] 1000, ["k9"] 1000"#,
    ),
    (
        "let t = linear(0, 500, 4); let u = linear(0, 500, 4); at.before(|p| if p.i < 1000 { t.add(p.value) } else { u.add(p.value) })",
        "shown(merge([t, u]))",
        "[] 10000 11495000 -100 2399 400 1600 [[0, 2000], [500, 2000], [1000, 2000], [1500, 2000]]",
    ),
    (
        "let t = distinct(); let u = distinct(); at.before(|p| { if p.i < 1500 { t.add(p.i % 2, p.i) } if p.i >= 1000 { u.add(p.i % 2, p.i) } })",
        "shown(merge([t, u]))",
        "[0] 6000 1250, [1] 6000 1250",
    ),
    (
        "let t = distinct(); let u = distinct(); at.before(|p| { t.add(p.text); u.add(p.text) })",
        "shown(merge([t, u]))",
        "[] 20000 3",
    ),
    (
        "let t = rate(); let u = rate(); at.before(|p| { t.count(p.i % 2); u.count(p.i % 2) })",
        "by_seconds(merge([t, u]))",
        "[0] 10000 10000, [1] 10000 10000",
    ),
    (
        "let t = last(3); let u = last(3); at.before(|p| if p.n == 7 { t.put(p.n) } else if p.n == 9999 { u.put(p.n) })",
        "let all = merge([t, u]).map(|row| row.values[0]); all.sort(); all",
        "[7, 9999]",
    ),
];

/// The plan with all cases.
fn cases() -> String {
    let mut plan = FUNCTIONS.to_string();
    for (n, (code, said, _)) in CASES.iter().enumerate() {
        plan += &format!(
            "{{ let at = methods(\"Stream::pass(..)\"); {code}; at_exit(|| {{ let said = {{ {said} }}; print(`#{n} ${{said}}`); }}); }}\n"
        );
    }
    plan
}

fn differences(said: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (n, (code, _, expected)) in CASES.iter().enumerate() {
        let start = format!("#{n} ");
        let found = said.lines().find_map(|line| line.strip_prefix(&start));
        if found != Some(*expected) {
            wrong.push(format!("{code}: {found:?} instead of {expected}"));
        }
    }
    wrong
}

/// Starts the program that waits, and runs it until its methods are compiled.
fn start_compiled(programs: &Programs) -> Result<Live, Box<dyn std::error::Error>> {
    let mut live = Live::start(&run(&[], &programs.java("Stream").arg("live")))?;
    for _ in 0..20 {
        run_once(&mut live)?;
    }
    Ok(live)
}

/// Runs the program once. The plan must not change its result.
fn run_once(live: &mut Live) -> Outcome {
    live.say("run")?;
    assert_eq!(live.line("sum ")?, EXPECTED_SUM);
    Ok(())
}

/// The sum that each run prints: 49,995,000 for `n` and 11,495,000 for `value`.
const EXPECTED_SUM: &str = "61490000";

#[test]
fn tables_are_exact_from_the_start() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let folder = Folder::new("data")?;
        let file = folder.join("plan.rhai");
        std::fs::write(&file, cases())?;
        let file = file.display().to_string();
        // The second run also proves that the versions have no effect on the program.
        for options in [&["--plan", &file][..], &["--plan", &file, "--check"]] {
            let output = run(options, &programs.java("Stream"))
                .run()?
                .succeeded("Stream")?;
            assert_eq!(output.out.trim(), format!("sum {EXPECTED_SUM}"));
            let wrong = differences(&output.err);
            assert_eq!(wrong, Vec::<String>::new(), "{}", output.err);
        }
        Ok(())
    })
}

/// The kernel may stop a thread while the thread claims a place of a table. Other threads must neither
/// give the same key a second place nor give the place to another key. When they did so, a table was
/// wrong in two of five starts with 300 tables.
#[test]
fn threads_that_are_stopped_while_they_claim_a_place_change_no_table() -> Outcome {
    const STARTS: usize = 5;
    const PLAN: &str = r#"
        let at = methods("Stream::pass(..)");
        let tables = [];
        for n in 0..300 {
            let t = tally(2);
            tables.push(t);
            at.before(|p| t.count(p.name));
        }
        at_exit(|| {
            for t in tables {
                let keys = t.rows().map(|row| `${row.keys[0]} ${row.count}`);
                keys.sort();
                if keys != ["k0 1000", "k1 1000"] || t.rest().count != 8000 {
                    print(`wrong: ${keys}, rest ${t.rest().count}`);
                }
            }
            print(`${tables.len()} tables`);
        });
    "#;
    on_a_jdk_with("data", |programs| {
        let folder = Folder::new("data-stopped")?;
        let file = folder.join("plan.rhai");
        std::fs::write(&file, PLAN)?;
        let file = file.display().to_string();
        for _ in 0..STARTS {
            let output = run(&["--plan", &file], &programs.java("Stream"))
                .run()?
                .succeeded("Stream")?;
            assert_eq!(output.err.trim(), "300 tables");
        }
        Ok(())
    })
}

#[test]
fn tables_are_exact_in_a_running_program() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        live.value(&(cases() + "0"))?;
        run_once(&mut live)?;
        let output = live.stop()?;
        let wrong = differences(&output.err);
        assert_eq!(wrong, Vec::<String>::new(), "{}", output.err);
        Ok(())
    })
}

#[test]
fn rates_are_counted_per_whole_second() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        let plan = r#"
            let t = rate();
            methods("Stream::pass(..)").before(|p| t.count());
            at_exit(|| {
                let row = t.rows()[0];
                let sum = 0;
                let oldest = 0;
                let running = 0;
                for second in row.seconds {
                    if second[0] == 0 { running += second[1]; }
                    if second[0] > oldest { oldest = second[0]; }
                    sum += second[1];
                }
                let average = sum.to_float() / oldest.to_float();
                print(`counted ${row.count} ${sum} ${running}`);
                print(`average ${row.per_second == average} ${oldest >= 4 && oldest <= 60} ${row.seconds.len() >= 3}`);
                print(t.table());
            });
            0"#;
        live.value(plan)?;
        for _ in 0..3 {
            run_once(&mut live)?;
            // The next run begins in another second. The sleep after the loop lets the last second
            // end.
            std::thread::sleep(Duration::from_millis(1_100));
        }
        std::thread::sleep(Duration::from_millis(1_000));
        let said = live.stop()?.err;
        for line in ["counted 30000 30000 0", "average true true true"] {
            assert!(
                said.lines().any(|l| l == line),
                "`{line}` is not in\n{said}"
            );
        }
        assert!(said.contains("10 s") && said.contains("60 s"), "{said}");
        Ok(())
    })
}

#[test]
fn differences_since_a_reading_add_up_to_the_total() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        let plan = r#"
            let at = methods("Stream::pass(..)");
            let t = sums(); at.before(|p| t.add(p.name, p.value));
            let h = histogram(); at.before(|p| h.add(p.value));
            let l = linear(0, 500, 4); at.before(|p| l.add(p.value));
            let d = distinct(); at.before(|p| d.add(p.n));
            let k = top(100); at.before(|p| k.count(p.name));
            let s = sample(5); at.before(|p| s.put(p.n));
            let hits = 0; let sum = 0; let buckets = 0; let sides = 0; let values = 0; let often = 0; let more = 0; let drawn = 0;
            let look = || {
                for row in t.diff() { hits += row.count; sum += row.sum; if "min" in row || "max" in row { more += 1; } }
                for row in h.diff() { for b in row.buckets { buckets += b[1]; } }
                for row in l.diff() { for b in row.buckets { sides += b[1]; } sides += row.below + row.above; }
                for row in d.diff() { values += row.distinct; }
                for row in k.diff() { often += row.count; more += row.error; }
                for row in s.diff() { drawn += 1; }
            };
            every(0.05, look);
            at_exit(|| {
                look.call();
                often += k.rest().count;
                print(`since ${hits} ${sum} ${buckets} ${sides} ${values} ${often} ${more} ${drawn >= 5}`);
                print(`then ${t.diff().len()} ${h.diff().len()} ${d.diff().len()} ${k.diff().len()} ${s.diff().len()}`);
            });
            0"#;
        live.value(plan)?;
        for _ in 0..3 {
            run_once(&mut live)?;
            std::thread::sleep(Duration::from_millis(120));
        }
        let said = live.stop()?.err;
        for line in [
            "since 30000 34485000 30000 30000 10000 30000 0 true",
            "then 0 0 0 0 0",
        ] {
            assert!(
                said.lines().any(|l| l == line),
                "`{line}` is not in\n{said}"
            );
        }
        Ok(())
    })
}

#[test]
fn a_cleared_table_starts_from_zero() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        let plan = r#"
            let at = methods("Stream::pass(..)");
            let t = tally(); at.before(|p| t.count(p.name));
            let l = linear(0, 500, 4); at.before(|p| l.add(p.value));
            let r = rate(); at.before(|p| r.count(p.name));
            let d = distinct(); at.before(|p| d.add(p.n));
            let k = top(100); at.before(|p| k.count(p.name));
            let n = last(8); at.before(|p| n.put(p.n));
            let s = sample(7); at.before(|p| s.put(p.n));
            let all = [t, l, r, d, k, n, s];
            let over = tally(); methods("Stream::over(..)").before(|p| over.count());
            when(|| over.total() == 1, || {
                print(`before ${all.map(|t| t.total())}`);
                for t in all { t.clear(); }
                print(`after ${all.map(|t| t.total())} ${all.map(|t| t.rows().filter(|r| !("count" in r) || r.count > 0 ).len())}`);
                methods("Stream::over(..)").before(counter().named("cleared"));
            });
            at_exit(|| {
                print(`again ${all.map(|t| t.total())}`);
                print(`rows ${all.map(|t| t.rows().len())} ${all.map(|t| t.diff().len())}`);
                let odd = |row| row.number < 0 || row.number >= 10000;
                print(`numbers ${s.rows().filter(odd).len()} ${n.rows().filter(odd).len()}`);
                print(`errors ${k.rows().filter(|row| row.error != 0 || row.count != 1000).len()}`);
            });
            0"#;
        live.value(plan)?;
        run_once(&mut live)?;
        let cleared = "instruments().filter(|i| i.name == \"cleared\").len()";
        until(
            "the tables to be cleared",
            || live.value(cleared),
            |n| n == "1",
        )?;
        run_once(&mut live)?;
        let said = live.stop()?.err;
        for line in [
            "before [10000, 10000, 10000, 10000, 10000, 10000, 10000]",
            "after [0, 0, 0, 0, 0, 0, 0] [0, 0, 0, 0, 0, 0, 0]",
            "again [10000, 10000, 10000, 10000, 10000, 10000, 10000]",
            "rows [10, 1, 10, 1, 10, 8, 7] [10, 1, 10, 1, 10, 8, 7]",
            "numbers 0 0",
            "errors 0",
        ] {
            assert!(
                said.lines().any(|l| l == line),
                "`{line}` is not in\n{said}"
            );
        }
        Ok(())
    })
}

#[test]
fn strings_beyond_the_capacity_are_counted_and_not_mixed_up() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        let plan = r#"
            let t = top(4);
            methods("Stream::pass(..)").before(|p| t.count(p.own));
            at_exit(|| {
                let sum = t.rest().count;
                let others = 0;
                for row in t.rows() {
                    sum += row.count;
                    if row.count - row.error > 1 || !row.keys[0].starts_with("r") { others += 1; }
                }
                print(`strings ${t.total()} ${sum} ${others} ${t.rest().count >= 9997} ${t.rows().len()}`);
            });
            0"#;
        live.value(plan)?;
        for _ in 0..3 {
            run_once(&mut live)?;
        }
        let said = live.stop()?.err;
        let line = "strings 30000 30000 0 true 32";
        assert!(
            said.lines().any(|l| l == line),
            "`{line}` is not in\n{said}"
        );
        Ok(())
    })
}

/// Code that is refused, and a part of the message; `t` is a table, `at` is `pass`.
const REFUSED: &[(&str, &str)] = &[
    ("linear(0, 0, 5)", "0 is no width of a bucket"),
    (
        "linear(0, 1, 1001)",
        "1001 is no number of buckets: write 1 to 1000",
    ),
    (
        "linear(9223372036854775800, 2, 5)",
        "5 buckets of 2 from 9223372036854775800 on end beyond 2^63",
    ),
    (
        "linear(0, 1, 1000, 100000)",
        "there is no room for a table of 100000 entries",
    ),
    ("top(0)", "there is no room for a table of 0 entries"),
    ("sample(-1)", "-1 is no number of entries"),
    (
        "tally().bars()",
        "bars are for a histogram() and a linear(from, step, buckets)",
    ),
    (
        "let t = rate(); at.before(|p| t.add(p.i, 1))",
        "a rate() only counts",
    ),
    (
        "let t = top(3); at.before(|p| t.add(p.i, 1))",
        "a top(k) only counts",
    ),
    (
        "let t = distinct(); at.before(|p| t.count(p.i))",
        "a distinct() counts different values: write .add(key, …, value)",
    ),
    (
        "let t = distinct(); at.before(|p| t.add())",
        "`add` without a value",
    ),
    (
        "let t = distinct(); at.before(|p| t.add(1, 2, 3, 4, p.i))",
        "4 keys and a value, and a distinct() has 3 keys at most",
    ),
    (
        "let t = sample(3); at.before(|p| t.count(p.i))",
        "a sample(n) keeps the values themselves: write .put(value, …)",
    ),
    (
        "let t = linear(0, 1, 5); at.before(|p| t.put(p.i))",
        ".put(…) is for last(n) and sample(n)",
    ),
    (
        "merge([tally(), sums()])",
        "only tables of one kind can be merged, and these are a tally() and a sums()",
    ),
    (
        "merge([linear(0, 1, 5), linear(0, 2, 5)])",
        "these are a linear() and a linear() that differ",
    ),
    ("merge([])", "there is no table to merge"),
    ("merge([7])", "the array must hold tables, not `7`"),
    (
        "merge([top(3), top(3)])",
        "tables made by top(…) cannot be merged",
    ),
    (
        "merge([sample(3), sample(3)])",
        "tables made by sample(…) cannot be merged",
    ),
];

#[test]
fn meaningless_table_calls_are_refused_with_a_reason() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        for (code, expected) in REFUSED {
            let output = live.exec(&format!("let at = methods(\"Stream::pass(..)\"); {code}"))?;
            assert_eq!(output.code, 1, "{code}: {output:?}");
            assert!(output.err.contains(expected), "{code}: {}", output.err);
        }
        run_once(&mut live)?;
        assert_eq!(
            live.value("instruments().filter(|i| i.attached).len()")?,
            "0"
        );
        live.stop()?;
        Ok(())
    })
}

/// One table of each kind, with a name.
const EXPORTED: &str = r#"
let at = methods("Stream::pass(..)");
let width = linear(0, 500, 4).named("width"); at.before(|p| width.add(p.value));
let often = rate().named("often"); at.before(|p| often.count(p.name));
let values = distinct().named("values"); at.before(|p| values.add(p.name, p.i));
let most = top(100).named("most"); at.before(|p| most.count(p.name));
let drawn = sample(5).named("drawn"); at.before(|p| drawn.put(p.n));
"#;

/// For each format, the words of expected lines, each in the order within its line.
const FORMATS: &[(&str, &[&[&str]])] = &[
    (
        "openmetrics",
        &[
            &["# TYPE veneer_table_values histogram"],
            &[
                "veneer_table_values_bucket{",
                "name=\"width\",le=\"-1.0\"} 400",
            ],
            &[
                "veneer_table_values_bucket{",
                "name=\"width\",le=\"499.0\"} 2400",
            ],
            &[
                "veneer_table_values_bucket{",
                "name=\"width\",le=\"1999.0\"} 8400",
            ],
            &[
                "veneer_table_values_bucket{",
                "name=\"width\",le=\"+Inf\"} 10000",
            ],
            &[
                "veneer_table_hits_total{",
                "name=\"often\",key1=\"k3\"} 1000",
            ],
            &["# TYPE veneer_table_distinct gauge"],
            &["veneer_table_distinct{", "name=\"values\",key1=\"k3\"} 250"],
            &["# TYPE veneer_table_top gauge"],
            &["veneer_table_top{", "name=\"most\",key1=\"k3\"} 1000"],
            &["veneer_table_top_error{", "name=\"most\",key1=\"k3\"} 0"],
            &["# EOF"],
        ],
    ),
    (
        "csv",
        &[
            &[",width,linear,", ",10000,11495000,-100,2399"],
            &[",width,bucket,", ",2000,,500,999"],
            &[",often,rate,", ",k3,,,,1000,,,"],
            &[",often,second,", ",k3,,,,"],
            &[",values,distinct,", ",k3,,,,1000,,,"],
            &[",values,different,", ",k3,,,,250,,,"],
            &[",most,top,", ",k3,,,,1000,,,"],
            &[",most,error,", ",k3,,,,0,,,"],
            &[",drawn,sample,"],
        ],
    ),
    (
        "collapsed",
        &[
            &["width 10000"],
            &["often;k3 1000"],
            &["values;k3 250"],
            &["most;k3 1000"],
        ],
    ),
    (
        "otlp",
        &[&[
            "veneer.table.values",
            "veneer.table.distinct",
            "veneer.table.top",
        ]],
    ),
    (
        "json",
        &[&["\"kind\": \"linear\""], &["\"kind\": \"sample\""]],
    ),
];

#[test]
fn tables_are_exported_in_every_format() -> Outcome {
    on_a_jdk_with("data", |programs| {
        let mut live = start_compiled(programs)?;
        live.value(&format!("{EXPORTED} 0"))?;
        run_once(&mut live)?;
        let pid = live.pid().to_string();
        for (format, lines) in FORMATS {
            let export = veneer().args(["export", &pid, "--format", format]);
            let text = export.run()?.succeeded(format)?.out;
            let missing: Vec<_> = lines
                .iter()
                .filter(|words| !has_line(&text, words))
                .collect();
            assert!(
                missing.is_empty(),
                "{format}: {missing:?} are not in\n{text}"
            );
            let leaks = ["openmetrics", "collapsed"].contains(format) && text.contains("drawn");
            assert!(!leaks, "{format}: single values are no metric:\n{text}");
        }
        let json = veneer().args(["export", &pid, "--json"]).run()?;
        let report: Value = serde_json::from_str(&json.succeeded("--json")?.out)?;
        let table = |name: &str| {
            let mut tables = report["tables"].as_array().into_iter().flatten();
            tables.find(|t| t["name"] == name).unwrap_or(&Value::Null)
        };
        let buckets = &table("width")["entries"][0]["buckets"];
        let counts = buckets.as_array().into_iter().flatten();
        let counts: Vec<_> = counts.filter_map(|b| b["count"].as_u64()).collect();
        assert_eq!(counts, [400, 2000, 2000, 2000, 2000, 1600]);
        let seconds = &table("often")["entries"][3]["seconds"];
        let seconds = seconds.as_array().into_iter().flatten();
        let sum: u64 = seconds.filter_map(|s| s["count"].as_u64()).sum();
        assert_eq!(sum, 1000);
        assert_eq!(table("values")["entries"][3]["distinct"], 250);
        assert_eq!(table("most")["entries"][3]["error"], 0);
        let drawn = table("drawn");
        assert_eq!(drawn["entries"].as_array().map(Vec::len), Some(5));
        assert_eq!(drawn["rest"]["count"], 9995);
        live.stop()?;
        Ok(())
    })
}
