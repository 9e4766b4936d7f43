//! The part `suites`: unit-test suites of other projects, run plain, armed at every block, and
//! under the patch storm. Each test must have the same result.
//!
//! ```text
//!   commons-X-tests.jar ─ JUnit's console ─▶ TEST-*.xml: one result per test ┐  compare
//!     plain, plain again, armed, storm                                       ┴▶ by test id
//! ```
//!
//! If the results of a test differ between two plain runs, the test says nothing about Veneer. Such
//! a test is left out and listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::part::{Part, Scope, Table, TrustError};
use super::programs::mode::storm;
use super::programs::storm_summary::StormSummary;
use crate::command;
use crate::folder::{Folder, files};
use crate::jars::{jar, jars, named};
use crate::jdk::Jdk;
use crate::process::{Process, ProcessError};
use crate::workers;

/// A test suite.
struct Suite {
    /// The name of the tested jar. Its tests are in the jar `‹name›-tests`.
    name: &'static str,
    /// Names of further jars that it needs.
    needs: &'static [&'static str],
    /// The packages whose tests are run. If empty, all are run.
    packages: &'static [&'static str],
    /// Classes that are left out, as regular expressions, each with the reason.
    without: &'static [(&'static str, &'static str)],
}

/// The further jars that most suites need.
const MOCKS: &[&str] = &[
    "commons-io",
    "commons-lang3",
    "mockito-core",
    "byte-buddy",
    "byte-buddy-agent",
    "objenesis",
    "hamcrest",
    "easymock",
    "assertj-core",
    "junit-pioneer",
];

/// The suite that runs before the others, and alone. Its storm patches the methods that all its tests spend
/// their time in, so the JIT compiler needs the other processor: beside another suite its runs took 399
/// seconds with 65,000 operations, instead of 79 seconds with 5,000.
const ALONE: &str = "commons-math3";

const SUITES: &[Suite] = &[
    Suite {
        name: "commons-math3",
        needs: &[],
        packages: &[
            "org.apache.commons.math3.complex",
            "org.apache.commons.math3.fraction",
            "org.apache.commons.math3.special",
            "org.apache.commons.math3.stat.descriptive",
            "org.apache.commons.math3.analysis.polynomials",
            "org.apache.commons.math3.analysis.solvers",
            "org.apache.commons.math3.geometry.euclidean.threed",
            "org.apache.commons.math3.util",
        ],
        without: &[
            (
                ".*FastMathTestPerformance.*|.*Performance.*",
                "it measures time",
            ),
            (".*ResizableDoubleArray.*Memory.*", "it fills the heap"),
        ],
    },
    Suite {
        name: "commons-lang3",
        needs: &["commons-text"],
        packages: &[
            "org.apache.commons.lang3.builder",
            "org.apache.commons.lang3.math",
            "org.apache.commons.lang3.mutable",
            "org.apache.commons.lang3.reflect",
            "org.apache.commons.lang3.text.translate",
            "org.apache.commons.lang3.tuple",
            "org.apache.commons.lang3.function",
            "org.apache.commons.lang3.stream",
            "org.apache.commons.lang3.exception",
            "org.apache.commons.lang3.event",
        ],
        without: &[],
    },
    Suite {
        name: "commons-collections4",
        needs: &[],
        packages: &[],
        without: &[],
    },
    Suite {
        name: "commons-text",
        needs: &[],
        // The tests of string builders fill the heap.
        packages: &[
            "org.apache.commons.text.diff",
            "org.apache.commons.text.matcher",
            "org.apache.commons.text.numbers",
            "org.apache.commons.text.similarity",
            "org.apache.commons.text.translate",
        ],
        without: &[],
    },
    Suite {
        name: "commons-codec",
        needs: &[],
        packages: &[],
        without: &[(
            ".*PhoneticEnginePerformance.*|.*DaitchMokotoff.*Performance.*",
            "it measures time",
        )],
    },
    Suite {
        name: "commons-csv",
        needs: &["commons-codec"],
        packages: &[],
        without: &[(".*PerformanceTest.*", "it measures time")],
    },
];

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestResult {
    Passed,
    Failed,
    Skipped,
}

/// The result of each test of a run, by test id.
type TestResults = BTreeMap<String, TestResult>;

/// The runs of a suite.
struct Outcome {
    suite: &'static Suite,
    plain: TestResults,
    armed: Vec<String>,
    storm: Vec<String>,
    /// Tests whose results differ between two plain runs.
    unsteady: Vec<String>,
    counts: [[usize; 3]; 3],
    summary: Option<StormSummary>,
    seconds: f64,
    failures: Vec<String>,
}

/// Reads the files that JUnit's console writes, one for each engine.
fn read(folder: &Path) -> Result<TestResults, TrustError> {
    let mut ends = TestResults::new();
    for file in files(folder, "xml")? {
        let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
        let mut current = None;
        let mut id = None;
        for line in text.lines() {
            if line.starts_with("<testcase ") {
                (current, id) = (Some(TestResult::Passed), None);
            } else if current.is_some() && line.starts_with("<skipped") {
                current = Some(TestResult::Skipped);
            } else if current.is_some()
                && (line.starts_with("<failure") || line.starts_with("<error"))
            {
                current = Some(TestResult::Failed);
            } else if let (None, Some(text)) = (&id, line.strip_prefix("unique-id: ")) {
                id = Some(text.to_string());
            } else if line == "</testcase>"
                && let (Some(end), Some(id)) = (current.take(), id.take())
            {
                ends.insert(id, end);
            }
        }
    }
    Ok(ends)
}

fn count(ends: &TestResults) -> [usize; 3] {
    [TestResult::Passed, TestResult::Failed, TestResult::Skipped]
        .map(|end| ends.values().filter(|e| **e == end).count())
}

impl Suite {
    fn java(&self, jdk: &Jdk, reports: &Path, work: &Path) -> Result<Process, TrustError> {
        let tests = jar(&format!("{}-tests", self.name))?;
        let mut path: Vec<PathBuf> = vec![tests.clone(), jar(self.name)?];
        let needs: Vec<&str> = MOCKS
            .iter()
            .chain(self.needs)
            .copied()
            .filter(|name| *name != self.name)
            .collect();
        path.extend(jars(&needs)?);
        let path = std::env::join_paths(path)?;
        let mut scan = std::ffi::OsString::from("--scan-classpath=");
        scan.push(&tests);
        let mut folder = std::ffi::OsString::from("--reports-dir=");
        folder.push(reports);
        let mut temporary = std::ffi::OsString::from("-Djava.io.tmpdir=");
        temporary.push(work);
        let mut java = Process::new(jdk.tool("java"))
            .args(["-Xmx512m", "-Xshare:auto", "-XX:+UnlockDiagnosticVMOptions"])
            .args([
                "-XX:+BytecodeVerificationLocal",
                "-XX:+BytecodeVerificationRemote",
            ])
            .args([
                "-Duser.language=en",
                "-Duser.country=US",
                "-Duser.timezone=UTC",
                "-Djava.awt.headless=true",
            ])
            .arg(temporary);
        for package in [
            "lang",
            "lang.reflect",
            "lang.invoke",
            "util",
            "util.concurrent",
            "text",
            "time",
            "time.chrono",
            "io",
            "nio.charset",
            "net",
        ] {
            java = java.arg(format!("--add-opens=java.base/java.{package}=ALL-UNNAMED"));
        }
        java = java
            .arg("-jar")
            .arg(jar("junit-console")?)
            .args(["execute", "--disable-banner", "--details=none"])
            .arg(scan)
            .arg("-cp")
            .arg(path)
            .arg(folder)
            .args(["--include-classname", ".*Test.*"]);
        for package in self.packages {
            java = java.args(["--include-package", package]);
        }
        for (pattern, _) in self.without {
            java = java.args(["--exclude-classname", pattern]);
        }
        Ok(java.folder(work).limit(Duration::from_secs(420)))
    }

    /// Runs the suite once, and returns the results and the standard error.
    fn run_once(
        &self,
        jdk: &Jdk,
        options: &[&str],
        plan: Option<String>,
    ) -> Result<(TestResults, String), TrustError> {
        let folder = Folder::new(self.name)?;
        let (reports, work) = (folder.join("reports"), folder.join("work"));
        std::fs::create_dir_all(&work)?;
        let file = folder.join("plan.rhai").display().to_string();
        let mut options = options.to_vec();
        if let Some(plan) = plan {
            std::fs::write(&file, plan)?;
            options.extend(["--plan", file.as_str()]);
        }
        let java = self.java(jdk, &reports, &work)?;
        let process = if options.is_empty() {
            java
        } else {
            command::run(&options, &java)
        };
        let output = match process.run() {
            Err(ProcessError::Late {
                seconds, output, ..
            }) => {
                return Err(TrustError::Late {
                    seconds,
                    output,
                    process: process.to_string(),
                });
            }
            other => other?,
        };
        // The console ends with 1 if a test failed, which may happen in a plain run too.
        let ends = read(&reports)?;
        if ends.is_empty() || output.code > 1 {
            let end: Vec<&str> = output.err.lines().rev().take(8).collect();
            return Err(TrustError::ExitCode {
                program: process.to_string(),
                code: output.code,
                output: format!("{} tests; {}", ends.len(), end.join(" / ")),
            });
        }
        Ok((ends, output.err))
    }

    fn run(&'static self, jdk: &Jdk) -> Result<Outcome, TrustError> {
        let begun = Instant::now();
        let (plain, _) = self.run_once(jdk, &[], None)?;
        let (again, _) = self.run_once(jdk, &[], None)?;
        let unsteady: BTreeSet<String> = differences(&plain, &again, &BTreeSet::new())
            .into_iter()
            .map(|d| d.0)
            .collect();
        let (armed, _) = self.run_once(jdk, &["--policy", "block"], None)?;
        let (stormy, err) = self.run_once(jdk, &["--policy", "loop"], Some(storm(4711)))?;
        let mut failures = Vec::new();
        let mut compare = |what: &str, ends: &TestResults| -> Vec<String> {
            let found = differences(&plain, ends, &unsteady);
            let lines = found
                .iter()
                .map(|(id, a, b)| format!("{}, {what}: {id} {b} instead of {a}", self.name));
            failures.extend(lines);
            found.into_iter().map(|d| d.0).collect()
        };
        let different = [compare("armed", &armed), compare("storm", &stormy)];
        let summary = StormSummary::read(&err);
        if summary.is_none() {
            failures.push(format!(
                "{}: the storm's plan did not say what it did",
                self.name
            ));
        }
        let counts = [count(&plain), count(&armed), count(&stormy)];
        let [armed, storm] = different;
        Ok(Outcome {
            suite: self,
            plain,
            armed,
            storm,
            unsteady: unsteady.into_iter().collect(),
            counts,
            summary,
            seconds: begun.elapsed().as_secs_f64(),
            failures,
        })
    }
}

/// Returns the tests whose results differ: the id and both results.
fn differences(
    one: &TestResults,
    other: &TestResults,
    without: &BTreeSet<String>,
) -> Vec<(String, String, String)> {
    let ids: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let show = |end: Option<&TestResult>| end.map_or("not run".to_string(), |e| format!("{e:?}"));
    ids.into_iter()
        .filter(|id| !without.contains(*id) && one.get(*id) != other.get(*id))
        .map(|id| (id.clone(), show(one.get(id)), show(other.get(id))))
        .collect()
}

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let begun = Instant::now();
    let mut part = Part::new("suites", "Test suites of others");
    part.words = vec![
        "The unit tests that Apache Commons publishes, run by JUnit's console on the oldest JDK: twice plain, armed at every block, and \
         under the patch storm of the programs above. All that is not of the JDK is armed, JUnit included. Each test must end as it does \
         plain: passed, failed or skipped. A test that ends differently in the two plain runs is left out and listed."
            .into(),
    ];
    let Some(jdk) = scope.jdks.first() else {
        return Err(TrustError::NoJdk);
    };
    command::path();
    let only = std::env::var("VENEER_ONLY").unwrap_or_default();
    let chosen: Vec<&'static Suite> = SUITES.iter().filter(|s| s.name.contains(&only)).collect();
    let (alone, beside): (Vec<_>, Vec<_>) = chosen.into_iter().partition(|s| s.name == ALONE);
    let run = |suite: &&'static Suite| {
        let result = suite.run(jdk);
        if let Ok(r) = &result {
            eprintln!(
                "suites: {}: {} tests, {:.0} s, {} failures",
                suite.name,
                r.plain.len(),
                r.seconds,
                r.failures.len()
            );
        }
        result.map_err(|e| format!("{}: {e}", suite.name))
    };
    let mut results: Vec<_> = alone.iter().map(run).collect();
    results.extend(workers::parallel_map(&beside, run));
    let mut table = Table::new(
        "Tests: passed / failed / skipped",
        &[
            "suite",
            "version",
            "tests",
            "plain",
            "armed",
            "storm",
            "differ armed",
            "differ in the storm",
            "unsteady plain",
            "storm operations",
            "a second",
        ],
    );
    let mut left_out = Table::new("Left out", &["suite", "what", "why"]);
    for result in results {
        let r = match result {
            Ok(r) => r,
            Err(error) => {
                part.failures.push(error);
                continue;
            }
        };
        let show = |c: [usize; 3]| format!("{} / {} / {}", c[0], c[1], c[2]);
        let summary = r.summary.clone().unwrap_or_default();
        table.rows.push(vec![
            r.suite.name.to_string(),
            named(r.suite.name)?.version().to_string(),
            r.plain.len().to_string(),
            show(r.counts[0]),
            show(r.counts[1]),
            show(r.counts[2]),
            r.armed.len().to_string(),
            r.storm.len().to_string(),
            r.unsteady.len().to_string(),
            summary.operations.to_string(),
            format!("{:.0}", summary.rate()),
        ]);
        let name = r.suite.name;
        for (pattern, why) in r.suite.without {
            left_out
                .rows
                .push(vec![name.into(), (*pattern).into(), (*why).into()]);
        }
        if !r.suite.packages.is_empty() {
            let text = format!("packages other than {}", r.suite.packages.join(", "));
            left_out
                .rows
                .push(vec![name.into(), text, "time and memory".into()]);
        }
        for id in &r.unsteady {
            left_out.rows.push(vec![
                name.into(),
                id.clone(),
                "it ends differently in two plain runs".into(),
            ]);
        }
        part.failures.extend(r.failures);
    }
    part.tables = vec![table, left_out];
    Ok(part.with_duration_since(begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_how_tests_ended() -> Result<(), TrustError> {
        let folder = Folder::new("suite")?;
        std::fs::write(
            folder.join("TEST-x.xml"),
            "<testsuite>\n<testcase name=\"a\">\n<system-out><![CDATA[\nunique-id: [a]\n]]></system-out>\n</testcase>\n\
             <testcase name=\"b\">\n<failure message=\"m\"><![CDATA[x]]></failure>\n<system-out><![CDATA[\nunique-id: [b]\n]]></system-out>\n</testcase>\n\
             <testcase name=\"c\">\n<skipped><![CDATA[y]]></skipped>\n<system-out><![CDATA[\nunique-id: [c]\n]]></system-out>\n</testcase>\n</testsuite>\n",
        )?;
        let ends = read(folder.path())?;
        assert_eq!(count(&ends), [1, 1, 1]);
        let other = TestResults::from([
            ("[a]".to_string(), TestResult::Passed),
            ("[b]".to_string(), TestResult::Passed),
        ]);
        let found = differences(&ends, &other, &BTreeSet::from(["[c]".to_string()]));
        assert_eq!(
            found,
            [(
                "[b]".to_string(),
                "Failed".to_string(),
                "Passed".to_string()
            )]
        );
        Ok(())
    }
}
