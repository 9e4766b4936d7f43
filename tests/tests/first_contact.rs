//! The findings of `docs/first-contact.md` that a command shows, by their numbers: each command on a shop
//! of the same shape as the one in which they were found, with its exit code and the words of its output.
//! The findings about tables that run out (P2) are tested in `table_room`, and those about `veneer top` (P7)
//! in `top`.
//!
//! With `--nocapture` the test prints a row for each command, for the page.

use std::path::Path;
use std::time::Duration;

use veneer_tests::command::veneer;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, LiveError, until};
use veneer_tests::output::has_line;
use veneer_tests::process::Output;

/// The process id in a command.
const PID: &str = "PID";
/// The time limit of one command, which takes a second on an idle machine.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

/// A command of a finding, and its answer.
struct Finding {
    number: &'static str,
    /// The words of the command, without `veneer`.
    command: &'static [&'static str],
    code: i32,
    /// For each entry, a line of the output has these words in this order.
    lines: &'static [&'static [&'static str]],
    /// No line of the output has this text.
    absent: &'static str,
}

/// A finding whose output has no descriptor of the JVM (P9).
const fn finding(
    number: &'static str,
    command: &'static [&'static str],
    code: i32,
    lines: &'static [&'static [&'static str]],
) -> Finding {
    Finding {
        number,
        command,
        code,
        lines,
        absent: "Ljava/lang/String;",
    }
}

const FACTOR: &str = "com.shop.Pricing::factor(..)";
const FOR_CUSTOMER: &str = "com.shop.Orders::forCustomer(..)";

const VALUES: &[Finding] = &[
    finding(
        "P1",
        &["time", PID, FOR_CUSTOMER, "--by", "c", "--for", "1"],
        0,
        &[&["ms", "c1"], &["ms", "c7"], &["10 keys"]],
    ),
    finding(
        "P1",
        &["time", PID, FOR_CUSTOMER, "--by", "nonsense", "--for", "1"],
        1,
        &[
            &[
                "--by 'nonsense' at the entry of com.shop.Orders::forCustomer(String)",
                "readable here: this, c",
            ],
            &["^"],
        ],
    ),
    Finding {
        absent: "c1",
        ..finding(
            "P1",
            &[
                "time",
                PID,
                FOR_CUSTOMER,
                "--by",
                "c",
                "--if",
                "c == \"c7\"",
                "--for",
                "1",
            ],
            0,
            &[&["ms", "c7"], &["1 key"]],
        )
    },
    finding(
        "P1",
        &["watch", PID, FOR_CUSTOMER, "c", "--by", "c", "--for", "1"],
        2,
        &[&["prints each value by itself", "ValuesAreNotGrouped"]],
    ),
    finding(
        "P3",
        &[
            "count",
            PID,
            "java.util.ArrayList::grow(..)",
            "--by",
            "stack()",
            "--for",
            "1",
        ],
        0,
        &[
            &["java.util.ArrayList.grow"],
            &["com.shop.Order.<init>"],
            &["stacks"],
        ],
    ),
    finding(
        "P3",
        &[
            "count",
            PID,
            "java.lang.String::substring(..)",
            "--for",
            "1",
        ],
        1,
        &[&[
            "is never armed",
            "OnCellPath",
            "--at 'calls:java.lang.String::substring(..)'",
        ]],
    ),
    finding(
        "P3",
        &[
            "count",
            PID,
            "com.shop.Order",
            "--at",
            "calls:java.util.ArrayList::add(..)",
            "--for",
            "1",
        ],
        1,
        &[
            &["attached: nothing"],
            &["declared type", "try --at 'calls:*..*::add(..)'"],
        ],
    ),
    finding(
        "P3",
        &[
            "time",
            PID,
            "com.shop.Pricing",
            "--at",
            "calls:java.lang.Integer::parseInt(..)",
            "--for",
            "1",
        ],
        0,
        &[&["µs", "parse(String)"]],
    ),
    finding(
        "P4",
        &[
            "watch",
            PID,
            FACTOR,
            "o.id",
            "o.customer",
            "result",
            "elapsed",
            "-n",
            "3",
        ],
        0,
        &[&[
            "http-",
            "o.id = ",
            "o.customer = c",
            "result = 1",
            "elapsed = ",
        ]],
    ),
    finding(
        "P4",
        &[
            "watch",
            PID,
            FOR_CUSTOMER,
            "c",
            "elapsed",
            "--if",
            "elapsed > 10",
            "-n",
            "2",
        ],
        0,
        &[&["c = c7, elapsed = "]],
    ),
    finding(
        "P4",
        &[
            "watch",
            PID,
            "com.shop.Orders::check(..)",
            "customer",
            "exception",
            "-n",
            "200",
        ],
        0,
        &[
            &["exception = null"],
            &["customer = c3, exception = java.lang.IllegalStateException"],
        ],
    ),
    finding(
        "P4",
        &["hist", PID, FOR_CUSTOMER, "--for", "1"],
        0,
        &[&["1024 … 1279"]],
    ),
    finding(
        "P4",
        &[
            "watch", PID, FACTOR, "o.id", "result", "--at", "exits", "-n", "1",
        ],
        1,
        &[&[
            "'o.id' at",
            "of com.shop.Pricing::factor(Order)",
            "readable here: result",
        ]],
    ),
    finding(
        "P8",
        &["watch", PID, FACTOR, "o.items.size", "-n", "1"],
        0,
        &[&["o.items.size = 4"]],
    ),
    finding(
        "P8",
        &["watch", PID, FACTOR, "o.getCustomer()", "-n", "1"],
        1,
        &[&["allow its call by --unsafe-calls"]],
    ),
    finding(
        "P8",
        &[
            "watch",
            PID,
            FACTOR,
            "o.getCustomer()",
            "--unsafe-calls",
            "-n",
            "1",
        ],
        0,
        &[&["o.getCustomer() = c"]],
    ),
    finding(
        "P8",
        &[
            "count",
            PID,
            FACTOR,
            "--by",
            "o.status",
            "--if",
            "o.status == \"PAID\" && o.number > 3 && o.items.len > 30",
            "--for",
            "1",
        ],
        0,
        &[&["PAID"], &["in 1 entries"]],
    ),
    finding(
        "P9",
        &[
            "watch",
            PID,
            "com.shop.Pricing::discount(..)",
            "customer",
            "--at",
            "entry",
            "--if",
            "elapsed > 10",
        ],
        1,
        &[
            &[
                "--if 'elapsed > 10' at the entry of com.shop.Pricing::discount(String)",
                "this, customer",
            ],
            &["^"],
        ],
    ),
];

const PLANS: &[Finding] = &[
    finding(
        "P5",
        &[
            "exec",
            PID,
            "tree.rhai",
            "--set",
            "methods=com.shop..*",
            "--for",
            "1",
        ],
        0,
        &[&["total ms", "self ms"], &["com.shop.Pricing.price"]],
    ),
    finding(
        "P5",
        &[
            "exec",
            PID,
            "slow.rhai",
            "--set",
            "methods=com.shop.Orders",
            "--for",
            "1",
        ],
        0,
        &[&["slow calls", "avg µs", "min µs", "max µs"]],
    ),
    finding(
        "P5",
        &["exec", PID, "http.rhai", "--for", "1"],
        0,
        &[&["No request ended in the methods of this plan"]],
    ),
    finding(
        "P6",
        &["exec", PID, "exceptions.rhai", "--for", "2"],
        0,
        &[
            &["java.lang.IllegalStateException", "com.shop.Orders.check"],
            &["java.lang.NumberFormatException", "com.shop.Pricing.parse"],
        ],
    ),
    // The plan before has instrumented classes of the JDK, too.
    finding(
        "P11",
        &["refusals", PID],
        0,
        &[
            &["reason", "classes", "methods"],
            &["more; --all lists all"],
        ],
    ),
    finding(
        "P6",
        &["plans"],
        0,
        &[
            &["hot.rhai"],
            &["sql.rhai"],
            &["locks.rhai", "java.util.concurrent"],
        ],
    ),
    finding(
        "P12",
        &[
            "export",
            PID,
            "--plan",
            "hot.rhai",
            "--set",
            "methods=com.shop.Pricing",
            "--format",
            "collapsed",
            "--for",
            "1",
        ],
        0,
        &[&["blocks;com.shop.Pricing;factor(com.shop.Order);block 1 (line "]],
    ),
    finding(
        "P12",
        &[
            "export",
            PID,
            "--plan",
            "stacks.rhai",
            "--set",
            "methods=com.shop.Pricing",
            "--format",
            "collapsed",
            "--for",
            "1",
        ],
        0,
        &[&[
            "stacks;java.lang.Thread.run;",
            ";com.shop.Pricing.price;com.shop.Pricing.factor ",
        ]],
    ),
    finding(
        "P12",
        &[
            "exec",
            PID,
            "-e",
            "methods(\"com.shop.Pricing::factor(..)\").before(log(\"o.id\"))",
        ],
        1,
        &[&["a log records variables only: fill a table instead"]],
    ),
    // The last one of these stays attached.
    finding(
        "P5",
        &["exec", PID, "hot.rhai", "--set", "methods=com.shop.Pricing"],
        0,
        &[&["hot.rhai stays attached", "with --for 10", "with --hold"]],
    ),
    finding(
        "P13",
        &["patches", PID],
        0,
        &[&["Veneer", "for"], &["blocks", "hot.rhai"]],
    ),
    finding("P13", &["detach", PID, "--all"], 0, &[]),
];

const PATTERNS: &[Finding] = &[
    finding(
        "P10",
        &["count", PID, "com.shop", "--for", "1"],
        0,
        &[
            &["`com.shop` is read as `com.shop..*`"],
            &["attached: ", "methods in ", "classes"],
        ],
    ),
    finding(
        "P10",
        &["count", PID, "com.shop.Pricing.factor", "--for", "1"],
        0,
        &[
            &["is read as `com.shop.Pricing::factor`"],
            &["attached: 1 method in 1 class"],
        ],
    ),
    finding(
        "P10",
        &["count", PID, "com.shop.Pricing#factor", "--for", "1"],
        0,
        &[
            &["is read as `com.shop.Pricing::factor`"],
            &["attached: 1 method in 1 class"],
        ],
    ),
    finding(
        "P10",
        &["count", PID, "Pricing.factor", "--for", "1"],
        0,
        &[
            &["is read as `*..Pricing::factor`"],
            &["attached: 1 method in 1 class"],
        ],
    ),
    finding(
        "P10",
        &["count", PID, "Pricing::factor()", "--for", "1"],
        1,
        &[&["did you mean `com.shop.Pricing::factor(..)`?"]],
    ),
    finding(
        "P10",
        &["count", PID, "com.shop.Pricing::factr(..)", "--for", "1"],
        1,
        &[&["com.shop.Pricing has no method `factr`; it has factor"]],
    ),
    finding(
        "P10",
        &["count", PID, FACTOR, "--at", "throws", "--for", "1"],
        1,
        &[&["attached: nothing; 1 method matches, and it has no such point"]],
    ),
    finding(
        "P11",
        &[
            "count",
            PID,
            "com.shop..*",
            "--at",
            "handlers",
            "--for",
            "1",
        ],
        0,
        &[&["attached: 3 points in 3 methods in 3 classes"]],
    ),
    finding(
        "P11",
        &["count", PID, "com.shop..*", "--at", "bogus"],
        2,
        &[&["write entry, exits, loops", "handlers"]],
    ),
    Finding {
        absent: " in 8 rows",
        ..finding(
            "P11",
            &["time", PID, "com.shop..*", "--for", "1"],
            0,
            &[&["total", "self", "count"], &["8 methods; 11 never called"]],
        )
    },
    finding(
        "P11",
        &["watch", PID, FACTOR, "o", "-n", "2"],
        0,
        &[&["http-", "o = Order{id=", "status=", "items=ArrayList("]],
    ),
    finding(
        "P11",
        &["count", PID, "com.shop.Main::serve(..)", "--for", "1"],
        0,
        &[&["2 calls were already running and are not measured: com.shop.Main::serve"]],
    ),
    finding(
        "P13",
        &["count", "--help"],
        0,
        &[&["Usage: veneer count [OPTIONS] <PID>… <PATTERN>"]],
    ),
];

const EXPERIMENTS: &[Finding] = &[
    Finding {
        absent: "panicked",
        ..finding(
            "R1",
            &[
                "exec",
                PID,
                "-e",
                "methods(\"com.shop.Pricing::factor(..)\").replace(4, \"dconst_1 dreturn\")",
            ],
            1,
            &[&["`dconst_1 dreturn` names no fragment: write its number, or line(64)"]],
        )
    },
    Finding {
        absent: "panicked",
        ..finding(
            "R5",
            &[
                "exec",
                PID,
                "-e",
                "methods(\"com.shop.Pricing::factor(..)\").expect(\"deadbeef\").skip(1)",
            ],
            1,
            &[&["has other code than expected: its hash is", "not deadbeef"]],
        )
    },
    Finding {
        absent: "panicked",
        ..finding(
            "R6",
            &["fragments", PID, FACTOR, "--body", "armed", "--dot"],
            0,
            &[&["digraph", "armed body"], &["f0 ->"]],
        )
    },
    finding(
        "R7",
        &["fragments", "--help"],
        0,
        &[
            &["How to read a fragment"],
            &["How the policy divides a method"],
        ],
    ),
    Finding {
        absent: "panicked",
        ..finding(
            "R10",
            &["fragments", PID, FACTOR, "--dot", "--simple"],
            0,
            &[&["o:Order"]],
        )
    },
    Finding {
        absent: "panicked",
        ..finding(
            "refusals",
            &[
                "exec",
                PID,
                "-e",
                "methods(\"com.shop.Pricing::factor(..)\").skip(12)",
            ],
            1,
            &[&[
                "there is no fragment f12 in the method",
                "(UnknownFragment)",
            ]],
        )
    },
];

/// Runs a command on a JVM.
fn ask(command: &[&str], live: &Live) -> Result<Output, LiveError> {
    let pid = live.pid().to_string();
    let words = command
        .iter()
        .map(|word| if *word == PID { &pid } else { *word });
    Ok(veneer().args(words).limit(COMMAND_TIMEOUT).run()?)
}

fn text(output: &Output) -> String {
    format!("{}{}", output.out, output.err)
}

/// Runs the command of a finding until its answer is as expected: on a busy machine, the program may do too
/// little during the command.
fn check(finding: &Finding, live: &Live) -> Outcome {
    let is_expected = |output: &Output| {
        let text = text(output);
        output.code == finding.code
            && finding.lines.iter().all(|words| has_line(&text, words))
            && !text.contains(finding.absent)
    };
    let what = format!("{}: {:?}", finding.number, finding.command);
    let output = until(&what, || ask(finding.command, live), is_expected)?;
    let text = text(&output);
    let first = finding.lines.first();
    let shown = text
        .lines()
        .find(|line| first.is_some_and(|words| has_line(line, words)));
    println!(
        "| {} | `{}` | `{}`; exit code {} |",
        finding.number,
        finding.command.join(" "),
        shown.unwrap_or_default().trim(),
        output.code
    );
    Ok(())
}

fn with_the_shop(findings: &[Finding]) -> Outcome {
    on_a_jdk_with("contact", |programs| {
        let live = start(programs)?;
        for finding in findings {
            check(finding, &live)?;
        }
        live.stop()?.succeeded("the shop")?;
        Ok(())
    })
}

fn start(programs: &Programs) -> Result<Live, LiveError> {
    Live::start(&programs.java("com.shop.Main"))
}

#[test]
fn values_can_be_read_and_conditions_hold() -> Outcome {
    with_the_shop(VALUES)
}

#[test]
fn shipped_plans_print_what_they_found() -> Outcome {
    with_the_shop(PLANS)
}

#[test]
fn patterns_and_tables_are_as_people_write_and_read_them() -> Outcome {
    with_the_shop(PATTERNS)
}

#[test]
fn experiments_are_shown_or_refused_with_a_reason() -> Outcome {
    with_the_shop(EXPERIMENTS)
}

/// P12: a plan that fails leaves no file.
#[test]
fn a_failed_export_writes_no_file() -> Outcome {
    on_a_jdk_with("contact", |programs| {
        let live = start(programs)?;
        let plan = programs.classes().join("bad.rhai");
        let file = programs.classes().join("t.pftrace");
        std::fs::write(&plan, "throw \"no\";")?;
        let export = |plan: &Path, file: &Path| {
            let pid = live.pid().to_string();
            let words = [
                "export", &pid, "--format", "perfetto", "--for", "1", "--plan",
            ];
            veneer().args(words).arg(plan).arg("-o").arg(file).run()
        };
        let output = export(&plan, &file)?;
        assert_eq!(output.code, 1, "{output:?}");
        assert!(has_line(&output.err, &["1:1: no"]), "{output:?}");
        assert!(!file.exists());
        // P13: a command that starts no JVM is told.
        let run = veneer()
            .args(["run", "--plan"])
            .arg(&plan)
            .args(["--", "ls"])
            .run()?;
        assert!(
            has_line(&run.err, &["no JVM has run under Veneer: ls started none"]),
            "{run:?}"
        );
        live.stop()?.succeeded("the shop")?;
        Ok(())
    })
}
