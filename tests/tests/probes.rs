//! Probe code at points, compiled: the values that it can read and the tables that it fills, with
//! results that are known in advance.

use std::path::Path;

use veneer_tests::command::run;
use veneer_tests::folder::Folder;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;

/// The table `t`, the instrument, and the content of the table at the end: keys, count, and for
/// `sums` also sum, minimum, maximum.
const PROBES: &[(&str, &str, &str)] = &[
    ("tally()", "handle.before(|p| t.count())", "[] 1000"),
    ("tally()", "handle.after(|p| t.count())", "[] 1000"),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.user.name))",
        r#"["ann"] 334, ["bob"] 333, [()] 333"#,
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.user.boss.name))",
        r#"["ann"] 333, [()] 667"#,
    ),
    (
        "tally()",
        "handle.before(|p| if p.order.total >= 900 { t.count(p.order.express) })",
        "[false] 50, [true] 50",
    ),
    (
        "sums()",
        "handle.before(|p| t.add(p.order.total))",
        "[] 1000 499500 0 999",
    ),
    (
        "sums()",
        "handle.before(|p| t.add(p.order.weight * 4))",
        "[] 1000 499500 0 999",
    ),
    (
        "sums()",
        "handle.before(|p| t.add(p.order.number))",
        "[] 1000 4995000 0 9990",
    ),
    (
        "sums()",
        "handle.before(|p| t.add(p.order.middle * -1))",
        "[] 1000 -499500 -999 0",
    ),
    (
        "sums()",
        "handle.before(|p| for part in p.order.parts { t.add(part, 1) })",
        "[0] 800 800 1 1, [1] 600 600 1 1, [2] 400 400 1 1, [3] 200 200 1 1",
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.parts.len))",
        "[0] 200, [1] 200, [2] 200, [3] 200, [4] 200",
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.tags[0]))",
        r#"["t0"] 400, ["t1"] 500, [()] 100"#,
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.tags[7], p.order.tags[-1]))",
        "[(), ()] 1000",
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.grade))",
        "[97] 500, [98] 500",
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.small))",
        "[-1] 143, [-2] 143, [-3] 143, [0] 143, [1] 143, [2] 143, [3] 142",
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.order.rate))",
        "[0.5] 500, [1.5] 500",
    ),
    (
        "tally()",
        r#"handle.before(|p| t.count(p.order["match"] == ()))"#,
        "[false] 250, [true] 750",
    ),
    (
        "tally()",
        "handle.before(|p| t.count(p.round % 4 == 1 && p.order.express || p.order.total < 10))",
        "[false] 990, [true] 10",
    ),
    (
        "tally()",
        r#"handle.before(|p| if p.order.user.name == "ann" { t.count() } else if p.order.user == () { t.count(1) })"#,
        "[1] 333, [] 334",
    ),
    (
        "tally()",
        r#"handle.before(|p| t.count(p.order.user.name.starts_with("a"), p.order.user.name.len))"#,
        "[false, 0] 333, [false, 3] 333, [true, 3] 334",
    ),
    (
        "tally()",
        r#"handle.before(|p| { let x = p.round; x += 2; x = x * 3 - 6; if x / 3 != p.round { t.count("wrong") } else { t.count("right") } })"#,
        r#"["right"] 1000"#,
    ),
    (
        "tally()",
        "handle.before(|p| t.count(thread_name(), class_of(p.order)))",
        r#"["main", "Orders$Order"] 1000"#,
    ),
    // An error in a probe does not leave the probe.
    (
        "tally()",
        "handle.before(|p| { t.count(p.round / (p.round - p.round)); t.count() })",
        "",
    ),
    (
        "histogram()",
        "handle.before(|p| t.add(p.round % 8 - 1))",
        "[] 1000 2500 -1 6 | -1:125 0:125 1:125 2:125 3:125 4:125 5:125 6:125",
    ),
    (
        "histogram()",
        "handle.before(|p| t.add(p.round))",
        "[] 1000 499500 0 999 | 0:1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:2 10:2 12:2 14:2 16:4 20:4 24:4 28:4 32:8 40:8 48:8 56:8 \
         64:16 80:16 96:16 112:16 128:32 160:32 192:32 224:32 256:64 320:64 384:64 448:64 512:128 640:128 768:128 896:104",
    ),
    (
        "tally()",
        r#"let limit = 500; let word = "ann"; handle.before(|p| if p.round >= limit && p.order.user.name == word { t.count() })"#,
        "[] 167",
    ),
    (
        "sums()",
        "handle.exits().before(|p| t.add(p.cost))",
        "[] 1000 1001000 0 2004",
    ),
    (
        "sums()",
        "handle.line(45).before(|p| t.add(p.part))",
        "[] 2000 2000 0 3",
    ),
    (
        "tally()",
        r#"methods("Orders::serve(..)").before(|p| if p["thread"] < 100 { t.count(p.self.place) })"#,
        r#"["desk"] 100"#,
    ),
    (
        "tally()",
        "handle.before(|p| if one_in(10) { t.count() })",
        "[] 100",
    ),
    (
        "last(4)",
        "handle.before(|p| t.put(p.round, p.order.user.name, p.order.rate))",
        r#"[996, "ann", 0.5], [997, "bob", 1.5], [998, (), 0.5], [999, "ann", 1.5]"#,
    ),
    (
        "tally()",
        "handle.before(|p| if one_in(2) { t.count(\"two\") } else if one_in(5) { t.count(\"five\") })",
        r#"["five"] 100, ["two"] 500"#,
    ),
    (
        "tally()",
        r#"handle.before(|p| t.count(is_a(p.order, "java.lang.Object"), is_a(p.order, "Orders$User"), is_a(p.order.user, "Orders$User")))"#,
        "[true, false, false] 333, [true, false, true] 667",
    ),
    (
        "tally()",
        "handle.before(|p| if per_second(1000000) { t.count() })",
        "[] 1000",
    ),
    // A value is passed from the entry of a call to its exit, in the same thread.
    (
        "sums()",
        "let at = per_thread(0); handle.before(|p| at.push(p.round)); handle.after(|p| t.add(at.pop()))",
        "[] 1000 499500 0 999",
    ),
    (
        "tally()",
        "let who = per_thread(()); handle.before(|p| who.push(p.order.user)); handle.after(|p| { t.count(class_of(who.top()), who.pop() == ()) })",
        r#"["Orders$User", false] 667, [(), true] 333"#,
    ),
    (
        "sums()",
        r#"let n = per_thread(0); let s = methods("Orders::serve(..)"); s.before(|p| n.push(p["thread"])); s.after(|p| t.add(n.pop()))"#,
        "[] 1000 499500 0 999",
    ),
    (
        "tally()",
        "let n = per_thread(0); handle.after(|p| { n.pop(); t.count(n.pop()) })",
        "[0] 1000",
    ),
    // Long strings are distinguished; their first characters are shown.
    (
        "tally()",
        r#"methods("Orders::odd(..)").before(|p| t.count(p.text.len, p.text.ends_with("y")))"#,
        "[2000000, false] 1500, [2000001, true] 1500",
    ),
    (
        "tally()",
        r#"methods("Orders::odd(..)").before(|p| t.count(p.text, 1))"#,
        r#"["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1] 1500, ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1] 1500"#,
    ),
    // NaN becomes 0 as an integer, and is not equal to itself.
    (
        "sums()",
        r#"methods("Orders::odd(..)").before(|p| t.add(p.x))"#,
        "[] 3000 3002000 0 3000",
    ),
    (
        "tally()",
        r#"methods("Orders::odd(..)").before(|p| t.count(p.x == p.x, to_int(p.x) == 0))"#,
        "[false, true] 1000, [true, false] 2000",
    ),
    (
        "tally()",
        r#"methods("Orders::odd(..)").before(|p| t.count(p.y > 1000000.0, to_int(p.y) == 9223372036854775807))"#,
        "[true, true] 3000",
    ),
    (
        "tally()",
        r#"methods("Orders::odd(..)").before(|p| t.count(p.node.next.next == p.node, p.node.next.next.next == p.node))"#,
        "[true, false] 3000",
    ),
    // A loop of a probe ends after a thousand iterations.
    (
        "tally()",
        r#"methods("Orders::odd(..)").before(|p| for one in p.many { t.count(one) })"#,
        "[0] 3000000",
    ),
    // The number of keys is not limited in advance: the first keys have rows, the others are
    // counted in the rest.
    (
        "tally(5)",
        r#"methods("Orders::odd(..)").before(|p| t.count(p.n))"#,
        "[0] 1, [1] 1, [2] 1, [3] 1, [4] 1, rest 2995",
    ),
    // Three combinations of keys find room, and the others are counted in the rest.
    (
        "tally(3)",
        r#"methods("Orders::serve(..)").before(|p| if p["thread"] < 10 { t.count(p["thread"]) })"#,
        "[0] 1, [1] 1, [2] 1, rest 7",
    ),
];

/// Code that cannot be compiled, and a part of the message.
const REFUSED: &[(&str, &str)] = &[
    (
        "handle.before(|p| t.count(p.nothing))",
        "`nothing` cannot be read here; readable here: order, round",
    ),
    (
        "handle.before(|p| t.count(p.order.nothing))",
        "Orders$Order has no field `nothing`: it has user, total, weight",
    ),
    (
        "handle.before(|p| t.count(p.order.user + 1))",
        "`+` does not join Orders$User and integer",
    ),
    (
        "handle.before(|p| while true { t.count() })",
        "a loop without end has no compiled form",
    ),
    (
        "handle.before(|p| print(p.round))",
        "nothing happens with this value",
    ),
    (
        "handle.after(|p| t.count(p.round))",
        "`round` cannot be read here",
    ),
    (
        "handle.before(|p| t.count(1, 2, 3, 4, 5))",
        "5 keys, and a table has 4 at most",
    ),
    (
        "handle.before(|p| t.add(1))",
        "a tally() only counts: make the table with sums() or histogram()",
    ),
    (
        "handle.before(|p| t.put(1))",
        "a table with keys takes .count(key, …)",
    ),
    (
        "handle.around(|p| t.count())",
        "code runs at one point: write .before(|p| …) or .after(|p| …)",
    ),
    (
        "let n = per_thread(0); handle.before(|p| n.push(p.order))",
        "this is Orders$Order, and integer is needed here",
    ),
    (
        "let n = per_thread(()); handle.before(|p| n.push(p.round))",
        "this is integer, and an object is needed here",
    ),
    (
        "let n = per_thread(0); handle.before(|p| n.count(1))",
        "a per_thread(…) takes .push(value), .pop() and .top()",
    ),
    (
        "let n = per_thread(0); handle.before(|p| t.count(n.depth()))",
        "a per_thread(…) gives values with .pop() and .top()",
    ),
    (
        "methods(\"Orders::*(..)\").limit(3).blocks().before(counter())",
        "this has more than 3 points: narrow the pattern, or write methods(…).limit(30)",
    ),
    ("per_thread(1)", "per_thread(0) is for whole numbers"),
    ("tally(0)", "there is no room for a table of 0 entries"),
];

const SHOW: &str = r#"
fn shown(t) {
    let lines = [];
    for row in t.rows() {
        let line = if "values" in row { row.values.to_debug() } else { `${row.keys.to_debug()} ${row.count}` };
        if "sum" in row { line += ` ${row.sum} ${row.min} ${row.max}`; }
        if "buckets" in row {
            line += " |";
            let all = row.buckets;
            all.sort(|a, b| a[0] - b[0]);
            for b in all { line += ` ${b[0]}:${b[1]}`; }
        }
        lines.push(line);
    }
    lines.sort();
    if t.rest().count > 0 { lines.push(`rest ${t.rest().count}`); }
    let out = "";
    for line in lines { if out != "" { out += ", "; } out += line; }
    out
}
"#;

fn append_all(plan: &mut String, then: &str) {
    for (n, (table, code, _)) in PROBES.iter().enumerate() {
        let line = format!(
            "{{ let t = {table}; let handle = methods(\"Orders::handle(..)\"); {code}; {then} }}\n"
        );
        plan.push_str(&line.replace("#N", &n.to_string()));
    }
}

fn differences(said: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (n, (table, code, expected)) in PROBES.iter().enumerate() {
        let start = format!("#{n} ");
        let found = said.lines().find_map(|line| line.strip_prefix(&start));
        if found.unwrap_or("nothing").trim() != *expected {
            wrong.push(format!("{table} {code}: {found:?} instead of {expected}"));
        }
    }
    wrong
}

fn planned(
    programs: &Programs,
    options: &[&str],
    plan: &str,
) -> Result<(String, String), Box<dyn std::error::Error>> {
    let folder = Folder::new("probes")?;
    let file = folder.join("plan.rhai");
    std::fs::write(&file, plan)?;
    let text = |path: &Path| path.display().to_string();
    let file = text(&file);
    let mut all = vec!["--plan", &file];
    all.extend(options);
    let output = run(&all, &programs.java("Orders"))
        .run()?
        .succeeded("Orders")?;
    Ok((output.out, output.err))
}

#[test]
fn probes_read_values_and_fill_tables() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let plain = programs.java("Orders").run()?.succeeded("Orders")?;
        let mut plan = SHOW.to_string();
        append_all(&mut plan, "at_exit(|| print(`#${#N} ${shown(t)}`));");
        // Attached before any class of the program is loaded. The second run also proves that the
        // versions have no effect on the program.
        for options in [&[][..], &["--check"]] {
            let (out, err) = planned(programs, options, &plan)?;
            assert_eq!(out, plain.out);
            assert_eq!(differences(&err), Vec::<String>::new(), "{err}");
        }
        Ok(())
    })
}

#[test]
fn probes_are_attached_to_a_running_program() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        let mut sums = Vec::new();
        let mut sum = |live: &mut Live| -> Outcome {
            live.say("run")?;
            sums.push(live.line("sum ")?);
            Ok(())
        };
        // Repeat the run until the methods are compiled.
        for _ in 0..30 {
            sum(&mut live)?;
        }
        let mut plan = SHOW.to_string();
        append_all(&mut plan, "at_exit(|| print(`#${#N} ${shown(t)}`));");
        live.value(&(plan + "0"))?;
        sum(&mut live)?;
        let forms = "let t = sums(); let h = methods(\"Orders::handle(..)\").before(|p| t.add(p.order.user.name, 1)); every(60, || t.csv());\n\
                     [t.csv(), t.json()]";
        assert_eq!(live.value(forms)?, "[\"count,sum,min,max\\r\\n\", \"[]\"]");
        live.value("detach_all()")?;
        for (code, expected) in REFUSED {
            let plan = format!(
                "let handle = methods(\"Orders::handle(..)\"); let t = tally(); {code}; \"attached\""
            );
            let said = live.value(&plan).unwrap_or_else(|e| e.to_string());
            assert!(said.contains(expected), "{code}: {said}");
        }
        // The class is never loaded, so no field can be read. The code waits for the class.
        let ghost = "let t = tally(); let h = methods(\"Orders::haunted(..)\").before(|p| t.count(p.one.seen)); h.rows().len()";
        assert_eq!(live.value(ghost)?, "0");
        sum(&mut live)?;
        assert!(sums.windows(2).all(|two| two[0] == two[1]), "{sums:?}");
        let output = live.stop()?;
        assert_eq!(output.code, 0);
        assert_eq!(
            differences(&output.err),
            Vec::<String>::new(),
            "{}",
            output.err
        );
        Ok(())
    })
}
