//! The programs that are measured in steady state: what each is made of, what is armed and counted in it, and how it is started.

use crate::jdk::Jdk;
use crate::process::Process;

use super::OPTIONS;
use super::prepare::Compiled;

/// A program that does the same work in rounds and says `round N ms` on standard error.
#[derive(Debug)]
pub struct Workload {
    /// On the command line and in tables.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Sources, as paths in the workspace: files, or folders with all in them.
    pub sources: &'static [&'static str],
    /// Names in `tests/jars.txt`.
    pub jars: &'static [&'static str],
    /// `--arm` patterns, where it is code of the JDK that is to be armed; else none, and everything outside the JDK is.
    pub arm: &'static [&'static str],
    /// On all blocks of these methods there are counters.
    pub counted: &'static [&'static str],
    /// What the class names of the counted code begin with, as a class file has them.
    pub package: &'static str,
    /// A method that is called once a round.
    pub mark: &'static str,
    main: &'static str,
    /// `{rounds}` and `{tree}` stand for the number of rounds and the generated sources.
    arguments: &'static [&'static str],
    /// Rounds in a quick run and in a full one.
    rounds: (usize, usize),
    /// Whether a quick session has it.
    pub quick: bool,
    /// Groups in a full run: more where fresh JVMs differ more.
    pub groups: usize,
}

const LOOP: &[&str] = &["tests/java/javacloop"];
const ONCE: &str = "Rounds::once(..)";

/// All workloads.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "route",
        what: "the route finder: tiny hot methods",
        sources: &["tests/java/route"],
        jars: &[],
        arm: &[],
        counted: &["route..*"],
        package: "route/",
        mark: "route.Main::round(..)",
        main: "route.Main",
        arguments: &["250", "{rounds}", "--time"],
        rounds: (9, 36),
        quick: true,
        groups: 5,
    },
    Workload {
        name: "sort",
        what: "a database sort like `_209_db`: few calls, long loops",
        sources: &[
            "tests/bench/Work.java",
            "tests/bench/Rounds.java",
            "tests/bench/Sort.java",
        ],
        jars: &[],
        arm: &[],
        counted: &["Sort", "Rounds"],
        package: "Sort",
        mark: ONCE,
        main: "Rounds",
        arguments: &["Sort", "{rounds}", "18000"],
        rounds: (9, 36),
        quick: true,
        groups: 5,
    },
    Workload {
        name: "sieve",
        what: "sieve, sum and scaled addition of arrays",
        sources: &[
            "tests/bench/Work.java",
            "tests/bench/Rounds.java",
            "tests/bench/Sieve.java",
        ],
        jars: &[],
        arm: &[],
        counted: &["Sieve", "Rounds"],
        package: "Sieve",
        mark: ONCE,
        main: "Rounds",
        arguments: &["Sieve", "{rounds}", "8000000"],
        rounds: (12, 60),
        quick: true,
        groups: 5,
    },
    Workload {
        name: "matrix",
        what: "product and relaxation of matrices of doubles",
        sources: &[
            "tests/bench/Work.java",
            "tests/bench/Rounds.java",
            "tests/bench/Matrix.java",
        ],
        jars: &[],
        arm: &[],
        counted: &["Matrix", "Rounds"],
        package: "Matrix",
        mark: ONCE,
        main: "Rounds",
        arguments: &["Matrix", "{rounds}", "320"],
        rounds: (12, 72),
        quick: false,
        groups: 5,
    },
    Workload {
        name: "javac",
        what: "the JDK's compiler over a generated tree",
        sources: LOOP,
        jars: &[],
        arm: &["com.sun.tools.javac..*", "JavacLoop*"],
        counted: &["com.sun.tools.javac..*"],
        package: "com/sun/tools/javac/",
        mark: "JavacLoop$Kept::checksum()",
        main: "JavacLoop",
        arguments: &["{tree}", "{rounds}"],
        rounds: (9, 30),
        quick: false,
        groups: 5,
    },
    Workload {
        name: "sql",
        what: "H2 with a mixed load",
        sources: &[
            "tests/bench/Work.java",
            "tests/bench/Rounds.java",
            "tests/bench/Shop.java",
        ],
        jars: &["h2"],
        arm: &[],
        counted: &["org.h2..*", "Shop", "Rounds"],
        package: "org/h2/",
        mark: ONCE,
        main: "Rounds",
        arguments: &["Shop", "{rounds}", "250"],
        rounds: (9, 360),
        quick: false,
        groups: 5,
    },
    Workload {
        name: "lucene",
        what: "Lucene indexing",
        sources: &[
            "tests/bench/Work.java",
            "tests/bench/Rounds.java",
            "tests/bench/Indexing.java",
        ],
        jars: &["lucene-core"],
        arm: &[],
        counted: &["org.apache.lucene..*", "Indexing", "Rounds"],
        package: "org/apache/lucene/",
        mark: ONCE,
        main: "Rounds",
        arguments: &["Indexing", "{rounds}", "250"],
        rounds: (9, 240),
        quick: false,
        groups: 5,
    },
    Workload {
        name: "ecj",
        what: "Eclipse's compiler over the same tree",
        sources: LOOP,
        jars: &["ecj"],
        arm: &[],
        counted: &["org.eclipse..*", "JavacLoop*"],
        package: "org/eclipse/",
        mark: "JavacLoop$Kept::checksum()",
        main: "JavacLoop",
        arguments: &[
            "{tree}",
            "{rounds}",
            "org.eclipse.jdt.internal.compiler.tool.EclipseCompiler",
        ],
        rounds: (9, 30),
        quick: false,
        groups: 5,
    },
];

/// Workloads whose first round is a program's start-up as well, with a pointcut of AspectJ that is one method of each.
pub const FIRST_ROUNDS: &[(&str, &str)] = &[
    ("sql", "execution(* Shop.round(..))"),
    ("lucene", "execution(* Indexing.round(..))"),
    ("ecj", "execution(* JavacLoop.sources(..))"),
];

/// The workload of a name.
pub fn named(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|one| one.name == name)
}

/// The variable that names the workloads of a sample, separated by commas.
pub const CHOSEN: &str = "BENCH_WORKLOADS";

/// The workloads of a session: those that [`CHOSEN`] names where it is set, else all of its scope.
pub fn session(quick: bool) -> Vec<&'static Workload> {
    let chosen = std::env::var(CHOSEN).unwrap_or_default();
    let names: Vec<&str> = chosen.split(',').filter(|name| !name.is_empty()).collect();
    WORKLOADS
        .iter()
        .filter(|w| match names.as_slice() {
            [] => w.quick || !quick,
            some => some.contains(&w.name),
        })
        .collect()
}

/// The small hot method on which timers are measured; not one of the workloads.
pub const HOT_CALL: Workload = Workload {
    name: "hot call",
    what: "a method of six operations that is called all the time",
    sources: &[
        "tests/bench/Work.java",
        "tests/bench/Rounds.java",
        "tests/bench/HotCall.java",
    ],
    jars: &[],
    arm: &[],
    counted: &["HotCall"],
    package: "HotCall",
    mark: ONCE,
    main: "Rounds",
    arguments: &["HotCall", "{rounds}", "1000000"],
    rounds: (9, 30),
    quick: true,
    groups: 5,
};

/// The method in which code stands, for what that costs.
pub const HOT_PROBE: Workload = Workload {
    name: "hot probe",
    what: "a method of six operations that is called all the time, with an object",
    sources: &[
        "tests/bench/Work.java",
        "tests/bench/Rounds.java",
        "tests/bench/HotProbe.java",
    ],
    jars: &[],
    arm: &[],
    counted: &["HotProbe"],
    package: "HotProbe",
    mark: ONCE,
    main: "Rounds",
    arguments: &["HotProbe", "{rounds}", "1000000"],
    rounds: (9, 30),
    quick: true,
    groups: 5,
};

/// Calls in a round of [`HOT_CALL`] and [`HOT_PROBE`].
pub const CALLS: u64 = 1_000_000;

impl Workload {
    /// Rounds in a run.
    pub fn rounds(&self, quick: bool) -> usize {
        if quick { self.rounds.0 } else { self.rounds.1 }
    }

    /// The plain command, with more options for the JVM, and more on the class path.
    pub fn java(
        &self,
        jdk: &Jdk,
        compiled: &Compiled,
        rounds: usize,
        options: &[String],
        path: &[&std::path::Path],
    ) -> Process {
        let java = Process::new(jdk.tool("java")).args(OPTIONS).args(options);
        let argument = |text: &&str| match *text {
            "{rounds}" => rounds.to_string(),
            "{tree}" => compiled.tree().to_string_lossy().into_owned(),
            other => other.to_string(),
        };
        java.arg("-cp")
            .arg(compiled.class_path(path))
            .arg(self.main)
            .args(self.arguments.iter().map(argument))
    }

    /// `--arm` for each pattern.
    pub fn arming(&self) -> Vec<String> {
        let both = |pattern: &&str| ["--arm".to_string(), (*pattern).to_string()];
        self.arm.iter().flat_map(both).collect()
    }

    /// The counted methods as an argument of `methods(…)`.
    pub fn pattern(&self) -> String {
        let quoted: Vec<String> = self.counted.iter().map(|p| format!("{p:?}")).collect();
        format!("[{}]", quoted.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::workspace;

    #[test]
    fn every_workload_is_there() {
        for workload in WORKLOADS {
            for source in workload.sources {
                assert!(workspace().join(source).exists(), "{source}");
            }
            assert!(
                crate::jars::all()
                    .is_ok_and(|all| { workload.jars.iter().all(|jar| all.contains_key(*jar)) })
            );
            assert!(workload.rounds.0 >= 9 && workload.rounds.1 >= workload.rounds.0);
        }
        assert!(named("sql").is_some());
        assert_eq!(
            named("route").map(Workload::pattern),
            Some("[\"route..*\"]".into())
        );
    }
}
