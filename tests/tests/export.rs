//! `veneer export`: the figures are exact in every format, the target programs can read them, and
//! nothing stays attached.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::Value;

use veneer_tests::background::Background;
use veneer_tests::command::{run, veneer};
use veneer_tests::downloads::{debian, node, python, receiver};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::jdk;
use veneer_tests::live::{Live, LiveError, until};
use veneer_tests::output::has_line;
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// The instruments on `Orders`, where `handle` is called 1,000 times per round.
const PLAN: &str = r#"
let handle = methods("Orders::handle(..)");
handle.before(counter().named("calls"));
handle.around(timer().named("took"));
handle.before(log("round").named("rounds"));
let users = tally(100).named("users");
handle.before(|p| users.count(p.order.user.name));
let cost = histogram(10).named("cost of \"x\"");
handle.exits().before(|p| cost.add(p.cost));
let owed = sums(10).named("owed");
handle.before(|p| owed.add(0 - p.order.total));
"#;

type AnyError = Box<dyn std::error::Error>;

/// A program that waits for lines `run`, and the other things that a test of it needs.
struct ExportFixture {
    _programs: Programs,
    folder: Folder,
    plan: String,
    live: Live,
}

impl ExportFixture {
    fn new(programs: Programs) -> Result<ExportFixture, AnyError> {
        let folder = Folder::new("export")?;
        let plan = folder.join("orders.rhai");
        std::fs::write(&plan, PLAN)?;
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        round(&mut live)?;
        Ok(ExportFixture {
            _programs: programs,
            folder,
            plan: plan.display().to_string(),
            live,
        })
    }

    /// Uses the oldest JDK only, because the receiver's result does not depend on the JDK.
    fn on_one_jdk() -> Result<ExportFixture, AnyError> {
        ExportFixture::new(Programs::compile_folder(jdk::oldest(), "instruments")?)
    }

    fn export(&self, words: &[&str]) -> Process {
        veneer()
            .args(["export", &self.live.pid().to_string()])
            .args(words)
    }

    /// Waits until `number` instruments are attached.
    fn attached(&self, number: &str) -> Result<(), LiveError> {
        let ask = || {
            self.live
                .value("instruments().filter(|i| i.attached).len()")
        };
        until("instruments", ask, |n| n == number).map(drop)
    }

    fn end(self) -> Outcome {
        let output = self.live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    }
}

/// Runs one round of the program.
fn round(live: &mut Live) -> Result<(), LiveError> {
    live.say("run")?;
    live.line("sum ").map(drop)
}

#[test]
fn every_export_format_has_the_exact_figures() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let programs = Programs::compile_folder(programs.jdk().clone(), "instruments")?;
        let mut stage = ExportFixture::new(programs)?;
        let pid = stage.live.pid().to_string();
        let exec = veneer().args(["exec", &pid, &stage.plan]).run()?;
        exec.succeeded("veneer exec")?;
        round(&mut stage.live)?;
        let formats: [(&str, &[&[&str]]); 5] = [
            (
                "openmetrics",
                &[
                    &[
                        "veneer_hits_total{",
                        "name=\"calls\",class=\"Orders\"",
                        "} 1000",
                    ],
                    &["veneer_time_seconds_count{", "name=\"took\"", "} 1000"],
                    &["veneer_events_total{", "name=\"rounds\"", "} 1000"],
                    &[
                        "veneer_table_hits_total{",
                        "name=\"users\",key1=\"ann\"} 334",
                    ],
                    &[
                        "veneer_table_values_sum{",
                        "name=\"cost of \\\"x\\\"\"} 1001000",
                    ],
                    &["veneer_table_sum{", "name=\"owed\"} -499500"],
                    &["# EOF"],
                ],
            ),
            (
                "csv",
                &[
                    &[",calls,counter,", ",true,Orders,", ",1000,,,"],
                    &[",bucket,", "\"cost"],
                ],
            ),
            (
                "collapsed",
                &[
                    &["calls;Orders;handle(Orders$Order, int) 1000"],
                    &["users;ann 334"],
                ],
            ),
            ("json", &[&["\"name\": \"calls\""]]),
            ("otlp", &[&["veneer.hits", "\"asInt\":\"1000\""]]),
        ];
        for (format, lines) in formats {
            let words = ["--format", format];
            let text = stage.export(&words).run()?.succeeded(format)?.out;
            for words in lines {
                // Names with quotes are quoted in CSV, in a different way.
                let found =
                    has_line(&text, words) || has_line(&text, &words[..1]) && format == "csv";
                assert!(found, "{format}: {words:?} is not in\n{text}");
            }
        }
        flame_graph_has_the_collapsed_stacks(&stage)?;
        let json = stage.export(&["--json"]).run()?.succeeded("--json")?.out;
        let report: Value = serde_json::from_str(&json)?;
        let mut tables = report["tables"].as_array().ok_or("no tables")?.iter();
        let cost = tables.find(|table| table["kind"] == "histogram");
        let entry = &cost.ok_or("no histogram")?["entries"][0];
        assert_eq!(
            (&entry["min"], &entry["max"]),
            (&Value::from(0), &Value::from(2004))
        );
        let buckets = entry["buckets"].as_array().ok_or("no buckets")?.iter();
        let counts = buckets.map(|bucket| bucket["count"].as_u64().unwrap_or(0));
        assert_eq!(counts.sum::<u64>(), 1000);
        // A detached instrument is exported only on request.
        stage.live.exec("detach_all()")?.succeeded("detach_all")?;
        let text = stage.export(&[]).run()?.succeeded("export")?.out;
        assert!(
            !text.contains("veneer_hits_total") && !text.contains("users"),
            "{text}"
        );
        let text = stage
            .export(&["--all"])
            .run()?
            .succeeded("export --all")?
            .out;
        assert!(has_line(&text, &["veneer_hits_total{", "} 1000"]), "{text}");
        stage.end()
    })
}

/// Compares the nodes of the flame graph with the collapsed stacks.
fn flame_graph_has_the_collapsed_stacks(stage: &ExportFixture) -> Outcome {
    let export = |format| stage.export(&["--format", format]).run();
    let collapsed = export("collapsed")?.succeeded("collapsed")?.out;
    let page = export("flamegraph")?.succeeded("flamegraph")?.out;
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    let data = page.split_once("type=\"application/json\">");
    let data = data.and_then(|(_, rest)| rest.split_once("</script>"));
    let data: Value = serde_json::from_str(data.ok_or("no data")?.0)?;
    let numbers = data["nodes"].as_array().into_iter().flatten();
    let numbers: Vec<u64> = numbers.filter_map(Value::as_u64).collect();
    let mut path: Vec<&str> = Vec::new();
    let mut stacks: Vec<String> = Vec::new();
    for node in numbers.chunks_exact(3) {
        path.truncate(usize::try_from(node[0])?);
        path.push(
            data["names"][usize::try_from(node[1])?]
                .as_str()
                .ok_or("no name")?,
        );
        if node[2] > 0 {
            stacks.push(format!("{} {}", path.join(";"), node[2]));
        }
    }
    let mut expected: Vec<&str> = collapsed.lines().collect();
    stacks.sort();
    expected.sort_unstable();
    assert_eq!(stacks, expected);
    Ok(())
}

/// Tables with more rows than a report has room for, with keys of every type, and with values of
/// every size.
const TABLES: &str = r#"
let pairs = tally(100000).named("pairs");
methods("Orders::odd(..)").before(|p| if p.n < 200 { let i = 0; for x in p.many { pairs.count(p.n, i); i += 1; } });
let handle = methods("Orders::handle(..)");
let kinds = tally().named("kinds");
handle.before(|p| kinds.count(p.order.express, p.order.rate, p.order["match"], p.order.user));
let wide = histogram(10).named("wide");
handle.before(|p| wide.add(p.order.total * p.order.total * p.order.total - 8));
let newest = last(10).named("newest");
handle.before(|p| newest.put(p.round));
"#;

#[test]
fn reports_have_tables_and_state_what_was_truncated() -> Outcome {
    let mut stage = ExportFixture::on_one_jdk()?;
    std::fs::write(&stage.plan, TABLES)?;
    let pid = stage.live.pid().to_string();
    let exec = veneer().args(["exec", &pid, &stage.plan]).run()?;
    exec.succeeded("veneer exec")?;
    round(&mut stage.live)?;
    let json = stage.export(&["--json"]).run()?.succeeded("--json")?.out;
    let report: Value = serde_json::from_str(&json)?;
    let table = |name: &str| {
        let mut tables = report["tables"].as_array().into_iter().flatten();
        tables.find(|t| t["name"] == name).unwrap_or(&Value::Null)
    };
    let entries = |name: &str| {
        table(name)["entries"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let pairs = table("pairs");
    let shown = entries("pairs").len() as u64;
    assert!(shown > 10_000, "{shown} shown");
    assert_eq!(pairs["omitted"], 100_000 - shown);
    assert_eq!(pairs["rest"]["count"], 100_000);
    let kinds = entries("kinds");
    assert_eq!(kinds.len(), 9);
    let all = kinds.iter().filter_map(|entry| entry["count"].as_u64());
    assert_eq!(all.sum::<u64>(), 1000);
    for entry in &kinds {
        let keys = &entry["keys"];
        let user = keys[3].as_str().is_none_or(|hash| hash.starts_with('@'));
        let rate = if keys[0] == true { 0.5 } else { 1.5 };
        assert!(
            user && keys[1] == rate && (keys[2].is_null() || keys[2] == "four"),
            "{entry}"
        );
    }
    assert!(kinds.iter().any(|entry| entry["keys"][3].is_null()));
    assert!(kinds.iter().any(|entry| entry["keys"][3].is_string()));
    let newest = entries("newest");
    let numbers: Vec<_> = newest
        .iter()
        .filter_map(|entry| entry["keys"][0].as_u64())
        .collect();
    assert_eq!(
        numbers[numbers.len() - 10..],
        (990..1000).collect::<Vec<u64>>()
    );
    assert!(newest.iter().all(|entry| entry["thread"] == 1));
    let wide = &entries("wide")[0];
    assert_eq!(
        (&wide["min"], &wide["max"]),
        (&Value::from(-8), &Value::from(997_002_991))
    );
    let negative = &wide["buckets"][0];
    assert_eq!(
        (&negative["from"], &negative["count"]),
        (&Value::from(i64::MIN), &Value::from(2))
    );
    // The agent's buckets are those of the text, so no value is lost between them.
    let text = stage.export(&[]).run()?.succeeded("export")?.out;
    let last = wide["buckets"]
        .as_array()
        .and_then(|buckets| buckets.last());
    let to = last
        .and_then(|bucket| bucket["to"].as_i64())
        .ok_or("no buckets")?;
    let bound = format!("name=\"wide\",le=\"{to}.0\"}} 1000");
    assert!(has_line(&text, &[&bound]), "{bound} is not in\n{text}");
    assert!(has_line(&text, &["name=\"wide\",le=\"-1.0\"} 2"]), "{text}");
    assert!(!text.contains("veneer_table_values_sum"), "{text}");
    stage.end()
}

#[test]
fn an_exported_plan_is_detached_with_its_export_and_only_its_figures_are_exported() -> Outcome {
    let mut stage = ExportFixture::on_one_jdk()?;
    let other = "methods(\"Orders::serve(..)\").before(counter().named(\"other\")); ()";
    stage.live.exec(other)?.succeeded("exec")?;
    let file = stage.folder.join("figures.csv");
    let export = stage.export(&["--plan", &stage.plan, "--for", "2", "--format", "csv"]);
    let mut export = Background::start(&export.arg("-o").arg(&file))?;
    while export.is_running() {
        round(&mut stage.live)?;
    }
    assert_eq!(export.wait()?, Some(0), "{:?}", export.output());
    stage.attached("1")?;
    let text = std::fs::read_to_string(&file)?;
    assert!(
        has_line(&text, &[",calls,counter,", ",true,Orders,"]),
        "{text}"
    );
    assert!(has_line(&text, &[",users,tally,"]), "{text}");
    assert!(!text.contains("other"), "{text}");
    // If it is killed without a chance to clean up, its instruments are detached as well.
    let export = stage.export(&["--plan", &stage.plan, "--listen", "127.0.0.1:0"]);
    let mut export = Background::start(&export)?;
    export.wait_for("are at http")?;
    stage.attached("7")?;
    assert_eq!(export.signal(libc::SIGKILL)?, None);
    stage.attached("1")?;
    stage.end()
}

#[test]
fn invalid_exports_are_rejected_with_a_reason() -> Outcome {
    let stage = ExportFixture::on_one_jdk()?;
    let bad = stage.folder.join("bad.rhai").display().to_string();
    std::fs::write(&bad, "methods(\"Orders\").before(countr())")?;
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    let nowhere = stage.folder.join("no/such/folder").display().to_string();
    for (words, code, expected) in [
        (&["--plan", &bad, "--for", "1"][..], 1, "countr"),
        (&["--plan", &stage.plan], 2, "--for SECONDS"),
        (
            &["--plan", "none.rhai", "--for", "1"],
            2,
            "none.rhai cannot be read",
        ),
        (&["--listen", &address], 2, "choose another port"),
        (
            &["--listen", "0.0.0.0:0"],
            2,
            "not an address of this machine",
        ),
        (
            &["--otlp", "https://127.0.0.1"],
            2,
            "https is not supported",
        ),
        (
            &["--otlp", "http://127.0.0.1:1", "--for", "0.2"],
            2,
            "took no metrics",
        ),
        (&["-o", &nowhere], 2, "cannot be written"),
    ] {
        let output = stage.export(words).run()?;
        assert_eq!(output.code, code, "{words:?}: {}", output.err);
        assert!(output.err.contains(expected), "{words:?}: {}", output.err);
    }
    // A plan that fails leaves no file, and an existing one as it was.
    let (new, old) = (stage.folder.join("new.csv"), stage.folder.join("old.csv"));
    std::fs::write(&old, "of before")?;
    for file in [&new, &old] {
        let export = stage.export(&["--plan", &bad, "--for", "1", "--format", "csv", "-o"]);
        assert_eq!(export.arg(file).run()?.code, 1);
    }
    assert!(!new.exists());
    assert_eq!(std::fs::read_to_string(&old)?, "of before");
    stage.attached("0")?;
    let output = veneer().args(["export", "1"]).run()?;
    assert_eq!(output.code, 2, "{}", output.err);
    stage.end()
}

/// The numbers of the lines with these stacks.
fn weights<const N: usize>(text: &str, stacks: [&str; N]) -> [u64; N] {
    stacks.map(|stack| {
        let mut lines = text.lines().filter_map(|line| line.rsplit_once(' '));
        let found = lines.find(|(frames, _)| *frames == stack);
        found.map_or(0, |(_, number)| number.parse().unwrap_or(0))
    })
}

#[test]
fn stacks_and_trees_of_shipped_plans_have_one_root() -> Outcome {
    let programs = Programs::compile_folder(jdk::oldest(), "shipped")?;
    let mut live = Live::start(&programs.java("Rounds"))?;
    round(&mut live)?;
    let folder = Folder::new("flame")?;
    let pid = live.pid().to_string();
    let mut exported = |plan: &str, methods: &str, root: &str| -> Result<String, AnyError> {
        let file = folder.join(plan);
        let source = workspace().join("scripts/plans").join(plan);
        let source = source.display().to_string();
        let words = ["export", &pid, "--plan", &source, "--set", methods];
        let export = veneer()
            .args(words)
            .args(["--for", "4", "--format", "collapsed", "-o"]);
        let mut export = Background::start(&export.arg(&file))?;
        // The export reads the rows of a table one after the other, so no round runs at its end.
        let attached = || live.value("instruments().filter(|i| i.attached).len()");
        until("instruments", attached, |n| n != "0")?;
        for _ in 0..200 {
            round(&mut live)?;
        }
        assert!(export.is_running(), "the rounds took more than 4 seconds");
        assert_eq!(export.wait()?, Some(0), "{:?}", export.output());
        let text = std::fs::read_to_string(&file)?;
        let all = text.lines().all(|line| line.starts_with(root));
        assert!(all && !text.contains("|p|"), "{text}");
        Ok(text)
    };
    let stacks = exported("stacks.rhai", "methods=Rounds::leaf(..)", "stacks;")?;
    let of = |by: &str| format!("stacks;Rounds.main;Rounds.run;Rounds.{by};Rounds.leaf");
    let [left, right] = weights(&stacks, [of("left").as_str(), of("right").as_str()]);
    // A round may be half done when the counters are attached.
    assert!(left > 0 && (5 * left).abs_diff(3 * right) <= 15, "{stacks}");
    let tree = exported("tree.rhai", "methods=Rounds", "calls;")?;
    let [left, leaf] = weights(
        &tree,
        [
            "calls;Rounds.run;Rounds.left",
            "calls;Rounds.run;Rounds.left;Rounds.leaf",
        ],
    );
    assert!(left > 0 && leaf > 0, "{tree}");
    let output = live.stop()?;
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    Ok(())
}

#[test]
fn the_export_server_answers_locally_and_ends_with_the_jvm() -> Outcome {
    let mut stage = ExportFixture::on_one_jdk()?;
    let export = stage.export(&["--plan", &stage.plan, "--listen", "127.0.0.1:0"]);
    let mut export = Background::start(&export)?;
    let address = export.wait_for("are at ")?;
    round(&mut stage.live)?;
    let asked = |words: &[&str], url: &str| {
        let curl = Process::new("curl").args(["--silent", "--include"]);
        curl.args(words).arg(url).run()
    };
    let answer = asked(&[], &address)?.succeeded("curl")?.out;
    assert!(
        answer.contains("application/openmetrics-text; version=1.0.0"),
        "{answer}"
    );
    assert!(
        has_line(&answer, &["veneer_hits_total{", "} 1000"]),
        "{answer}"
    );
    let elsewhere = address.replace("/metrics", "/else");
    for (words, url, expected) in [
        (&["-H", "Host: evil.example:9464"][..], &address, " 403 "),
        (&["-X", "POST"], &address, " 405 "),
        (&[], &elsewhere, " 404 "),
    ] {
        let answer = asked(words, url)?.out;
        let first = answer.lines().next().unwrap_or_default();
        assert!(first.contains(expected), "{words:?} {url}: {answer}");
    }
    let token = stage.folder.join("token");
    let guarded = stage.export(&["--listen", "127.0.0.1:0", "--token-file"]);
    let mut guarded = Background::start(&guarded.arg(&token))?;
    let address = guarded.wait_for("are at ")?;
    let right = format!(
        "Authorization: Bearer {}",
        std::fs::read_to_string(&token)?.trim()
    );
    let wrong = format!("Authorization: Bearer {}", "0".repeat(64));
    for (header, expected) in [(&right, " 200 "), (&wrong, " 401 ")] {
        let answer = asked(&["-H", header], &address)?.out;
        let first = answer.lines().next().unwrap_or_default();
        assert!(first.contains(expected), "{header}: {answer}");
    }
    let answer = asked(&[], &address)?.out;
    assert!(
        answer.contains(" 401 ") && !answer.contains("veneer_"),
        "{answer}"
    );
    stage.end()?;
    for mut export in [export, guarded] {
        assert_eq!(export.wait()?, Some(0), "{:?}", export.output());
        let ended = |line: &String| line.contains("has ended");
        assert!(export.output().iter().any(ended));
    }
    Ok(())
}

/// Debian's Prometheus, scraping an address.
struct Prometheus {
    _running: Background,
    address: String,
}

impl Prometheus {
    fn start(root: &Path, folder: &Folder, target: &str) -> Result<Prometheus, AnyError> {
        let config = folder.join("prometheus.yml");
        std::fs::write(
            &config,
            format!(
                "scrape_configs:\n  - job_name: veneer\n    scrape_interval: 250ms\n    scrape_timeout: 250ms\n    static_configs:\n      - targets: ['{target}']\n"
            ),
        )?;
        let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let process = Process::new(root.join("usr/bin/prometheus"))
            .arg(format!("--config.file={}", config.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.join("tsdb").display()
            ))
            .arg(format!("--web.listen-address={free}"))
            .env("GOMAXPROCS", "1");
        let mut running = Background::start(&process)?;
        running.wait_for("Server is ready to receive web requests")?;
        let address = format!("http://{free}");
        Ok(Prometheus {
            _running: running,
            address,
        })
    }

    fn get(&self, path: &str, query: &[&str]) -> Result<Value, LiveError> {
        let mut curl = Process::new("curl").args(["--silent", "--get"]);
        for query in query {
            curl = curl.arg("--data-urlencode").arg(query);
        }
        let output = curl.arg(format!("{}{path}", self.address)).run()?;
        serde_json::from_str(&output.out).map_err(|_| LiveError::Answer(output.out))
    }

    /// Returns the results of a query, as Prometheus writes them.
    fn values(&self, query: &str) -> Result<Vec<String>, LiveError> {
        let query = format!("query={query}");
        let answer = self.get("/api/v1/query", &[&query])?;
        let results = answer["data"]["result"].as_array();
        let value = |result: &Value| result["value"][1].as_str().unwrap_or("none").to_string();
        Ok(results.into_iter().flatten().map(value).collect())
    }
}

#[test]
fn prometheus_scrapes_the_exact_counts() -> Outcome {
    let root: PathBuf = match debian("prometheus")? {
        Ok(root) => root,
        Err(tool) => return Ok(skip(tool)?),
    };
    let mut stage = ExportFixture::on_one_jdk()?;
    let export = stage.export(&["--plan", &stage.plan, "--listen", "127.0.0.1:0"]);
    let mut export = Background::start(&export)?;
    let url = export.wait_for("are at ")?;
    let target = url
        .trim_start_matches("http://")
        .trim_end_matches("/metrics");
    let prometheus = Prometheus::start(&root, &stage.folder, target)?;
    let is = |query: &str, expected: &str| {
        until(
            query,
            || prometheus.values(query),
            |values| *values == [expected],
        )
        .map(drop)
    };
    is("veneer_hits_total{name=\"calls\"}", "0")?;
    round(&mut stage.live)?;
    is("veneer_hits_total{name=\"calls\",class=\"Orders\"}", "1000")?;
    is("veneer_time_seconds_count{name=\"took\"}", "1000")?;
    is("veneer_time_max_seconds{name=\"took\"} > bool 0", "1")?;
    is(
        "veneer_table_hits_total{name=\"users\",key1=\"ann\"}",
        "334",
    )?;
    is(
        "veneer_table_hits_total{name=\"users\",key1=\"null\"}",
        "333",
    )?;
    is("veneer_table_values_count{name='cost of \"x\"'}", "1000")?;
    is("veneer_table_values_sum", "1001000")?;
    is("veneer_table_values_bucket{le=\"+Inf\"}", "1000")?;
    is("veneer_table_sum{name=\"owed\"}", "-499500")?;
    is("up", "1")?;
    round(&mut stage.live)?;
    is("veneer_hits_total{name=\"calls\"}", "2000")?;
    let targets = prometheus.get("/api/v1/targets", &[])?;
    let active = &targets["data"]["activeTargets"][0];
    assert_eq!(
        (&active["health"], &active["lastError"]),
        (&Value::from("up"), &Value::from(""))
    );
    let metadata = prometheus.get("/api/v1/metadata", &["metric=veneer_time_seconds"])?;
    let time = &metadata["data"]["veneer_time_seconds"][0];
    assert_eq!(
        (&time["type"], &time["unit"]),
        (&Value::from("summary"), &Value::from("seconds"))
    );
    assert_eq!(export.signal(libc::SIGINT)?, None);
    stage.attached("0")?;
    stage.end()
}

#[test]
fn the_strict_openmetrics_parser_accepts_the_text() -> Outcome {
    let python = match python()? {
        Ok(python) => python,
        Err(tool) => return Ok(skip(tool)?),
    };
    let mut stage = ExportFixture::on_one_jdk()?;
    let pid = stage.live.pid().to_string();
    let exec = veneer().args(["exec", &pid, &stage.plan]).run()?;
    exec.succeeded("veneer exec")?;
    round(&mut stage.live)?;
    let file = stage.folder.join("metrics.txt");
    stage
        .export(&[])
        .arg("-o")
        .arg(&file)
        .run()?
        .succeeded("export")?;
    let parsed = python.arg(receiver("openmetrics.py")).arg(&file).run()?;
    let samples: Vec<(String, Value, f64)> =
        serde_json::from_str(&parsed.succeeded("the parser")?.out)?;
    let value = |name: &str, label: (&str, &str)| {
        let mut found = samples
            .iter()
            .filter(|s| s.0 == name && s.1[label.0] == label.1);
        found.next().map(|sample| sample.2)
    };
    assert_eq!(value("veneer_hits_total", ("name", "calls")), Some(1000.0));
    assert_eq!(
        value("veneer_table_values_sum", ("name", "cost of \"x\"")),
        Some(1_001_000.0)
    );
    assert_eq!(value("veneer_table_min", ("name", "owed")), Some(-999.0));
    stage.end()
}

#[test]
fn an_opentelemetry_receiver_accepts_pushed_metrics() -> Outcome {
    let python = match python()? {
        Ok(python) => python,
        Err(tool) => return Ok(skip(tool)?),
    };
    let mut stage = ExportFixture::on_one_jdk()?;
    let mut collector = Background::start(&python.clone().arg(receiver("otlp.py")))?;
    let address = collector.wait_for("listening at ")?;
    let words = [
        "--plan",
        &stage.plan,
        "--otlp",
        &address,
        "--every",
        "0.2",
        "--service",
        "shop",
    ];
    let mut export = Background::start(&stage.export(&words))?;
    stage.attached("6")?;
    round(&mut stage.live)?;
    let last = || -> Result<Value, LiveError> {
        let said = collector.output();
        let line = said.iter().rev().find(|line| line.starts_with('{'));
        let line = line.ok_or_else(|| LiveError::Answer(said.join("\n")));
        serde_json::from_str(line?).map_err(|error| LiveError::Answer(error.to_string()))
    };
    let pushed = until(
        "a push",
        || Ok(last().unwrap_or_default()),
        |value| {
            point(value, "veneer.hits", "calls")["asInt"] == "1000"
                && point(value, "veneer.time", "took")["count"] == "1000"
        },
    )?;
    let resource = pushed["resourceMetrics"][0]["resource"]["attributes"].to_string();
    assert!(resource.contains("\"stringValue\":\"shop\""), "{resource}");
    let cost = point(&pushed, "veneer.table.values", "cost of \"x\"");
    assert_eq!(
        (&cost["sum"], &cost["max"]),
        (&Value::from(1_001_000.0), &Value::from(2004.0))
    );
    let buckets = cost["bucketCounts"].as_array().ok_or("no buckets")?.iter();
    let counts = buckets.filter_map(|n| n.as_str()?.parse::<u64>().ok());
    assert_eq!(counts.sum::<u64>(), 1000);
    let metric = metric(&pushed, "veneer.time");
    assert_eq!(metric["unit"], "s");
    assert_eq!(export.signal(libc::SIGINT)?, None);
    // Exports these metrics as lines of JSON.
    stage.attached("0")?;
    let file = stage.folder.join("metrics.json");
    let written = stage
        .export(&["--all", "--format", "otlp"])
        .arg("-o")
        .arg(&file)
        .run()?;
    written.succeeded("--format otlp")?;
    let read = python
        .arg(receiver("otlp.py"))
        .arg(&file)
        .run()?
        .succeeded("the file")?;
    let read: Value = serde_json::from_str(&read.out)?;
    assert_eq!(point(&read, "veneer.hits", "calls")["asInt"], "1000");
    stage.end()
}

/// Returns a metric of a request.
fn metric<'a>(request: &'a Value, name: &str) -> &'a Value {
    let metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array();
    let found = metrics
        .into_iter()
        .flatten()
        .find(|metric| metric["name"] == name);
    found.unwrap_or(&Value::Null)
}

/// Returns the point of a metric whose attribute `name` has the value `of`.
fn point<'a>(request: &'a Value, name: &str, of: &str) -> &'a Value {
    let metric = metric(request, name);
    let data = ["sum", "gauge", "histogram"]
        .iter()
        .find_map(|kind| metric.get(kind));
    let points = data.and_then(|data| data["dataPoints"].as_array());
    let named = |point: &&Value| {
        let attributes = point["attributes"].as_array();
        attributes
            .into_iter()
            .flatten()
            .any(|attribute| attribute["key"] == "name" && attribute["value"]["stringValue"] == of)
    };
    points
        .into_iter()
        .flatten()
        .find(named)
        .unwrap_or(&Value::Null)
}

#[test]
fn the_perfetto_trace_processor_reads_a_trace() -> Outcome {
    let (python, node) = match (python()?, node()?) {
        (Ok(python), Ok(node)) => (python, node),
        (Err(tool), _) | (_, Err(tool)) => return Ok(skip(tool)?),
    };
    let mut stage = ExportFixture::on_one_jdk()?;
    let file = stage.folder.join("trace.pftrace");
    let export = stage.export(&[
        "--plan",
        &stage.plan,
        "--format",
        "perfetto",
        "--every",
        "0.1",
    ]);
    let mut export = Background::start(&export.arg("-o").arg(&file))?;
    stage.attached("6")?;
    round(&mut stage.live)?;
    let queries = [
        "select count(*) as n from slice join track on slice.track_id = track.id \
         where track.name = 'Java thread 1' and slice.name = 'handle:43' and slice.category = 'rounds'",
        "select count(distinct int_value) as n, min(int_value) as low, max(int_value) as high from args where key = 'debug.round'",
        "select max(value) as n from counter join track on counter.track_id = track.id where track.name glob 'calls *'",
        "select max(value) as n from counter join track on counter.track_id = track.id where track.name glob 'took * calls'",
        "select count(*) as n from counter join track on counter.track_id = track.id where track.name = 'events lost'",
        "select pid from process where name glob '*VM'",
    ];
    let pid = format!("[[{}]]", stage.live.pid());
    let expected = [
        "[[1000]]",
        "[[1000, 0, 999]]",
        "[[1000.0]]",
        "[[1000.0]]",
        "[[0]]",
        &pid,
    ];
    let asked = python
        .arg(receiver("sql.py"))
        .arg(&node)
        .arg(&file)
        .args(queries);
    let answers = || -> Result<Vec<String>, LiveError> {
        let answered = asked.run()?.succeeded("the trace processor")?.out;
        Ok(answered.lines().map(String::from).collect())
    };
    // The part of a trace that has been written is a valid trace at any time.
    until("the trace", answers, |answers| *answers == expected)?;
    assert_eq!(export.signal(libc::SIGINT)?, None);
    stage.attached("0")?;
    assert_eq!(answers()?, expected);
    stage.end()
}

#[test]
fn the_python_example_follows_a_plan_and_leaves_nothing_attached() -> Outcome {
    if Process::new("python3").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("python3"))?);
    }
    let mut stage = ExportFixture::on_one_jdk()?;
    let example = Process::new("python3")
        .arg(workspace().join("examples/python/follow.py"))
        .args([
            stage.live.pid().to_string().as_str(),
            &stage.plan,
            "--every",
            "0.2",
        ])
        .env("PYTHONUNBUFFERED", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let mut running = Background::start(&example)?;
    running.wait_for("calls: Orders.handle(LOrders$Order;I)J: 0 hits")?;
    round(&mut stage.live)?;
    running.wait_for("calls: Orders.handle(LOrders$Order;I)J: 1000 hits")?;
    running.wait_for("thread 1: round = 999")?;
    assert_eq!(
        running.signal(libc::SIGINT)?,
        Some(0),
        "{:?}",
        running.output()
    );
    stage.attached("0")?;
    let wrong = stage.folder.join("wrong.rhai").display().to_string();
    std::fs::write(&wrong, "countr()")?;
    let follow = workspace().join("examples/python/follow.py");
    let pid = stage.live.pid().to_string();
    let output = Process::new("python3")
        .arg(&follow)
        .args([pid.as_str(), &wrong])
        .run()?;
    assert_eq!(output.code, 1, "{}", output.err);
    assert!(
        output.err.contains("no function `countr()`"),
        "{}",
        output.err
    );
    let output = Process::new("python3")
        .arg(&follow)
        .args(["1", &wrong])
        .run()?;
    assert_eq!(output.code, 2, "{}", output.err);
    stage.end()
}
