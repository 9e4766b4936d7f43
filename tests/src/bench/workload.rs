//! The programs that are measured in steady state: their sources, their armed and counted code, and
//! their start.

use super::jvm_options::OPTIONS;
use super::prepare::Compiled;
use crate::generator::generate;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

/// A program that does the same work in rounds and prints `round N ms` on standard error.
#[derive(Debug)]
pub struct Workload {
    /// The name on the command line and in tables.
    pub name: &'static str,
    /// The description in tables.
    pub what: &'static str,
    /// Sources as paths in the workspace: files, or folders with all files in them.
    pub sources: &'static [&'static str],
    /// Names of jars in `tests/jars.txt`.
    pub jars: &'static [&'static str],
    /// The patterns of `--arm` if code of the JDK is to be armed. If empty, all code outside the
    /// JDK is armed.
    pub arm: &'static [&'static str],
    /// Patterns of the methods whose blocks are counted.
    pub counted: &'static [&'static str],
    /// The prefix of the class names of the counted code, in internal form.
    pub package: &'static str,
    /// A method that is called once per round.
    pub mark: &'static str,
    main: &'static str,
    /// Arguments of the main class. `{rounds}` is replaced by the number of rounds, `{tree}` by the
    /// folder of the generated sources.
    arguments: &'static [&'static str],
    /// Number of rounds in a quick run and in a full run.
    rounds: (usize, usize),
    /// Whether a quick session includes the workload.
    pub quick: bool,
    /// Number of groups in a full run. It is larger if fresh JVMs of the workload differ more.
    pub groups: usize,
}

/// Number of source files in the tree that the compilers compile.
const TREE_CLASSES: usize = 40;

const COMPILER_LOOP: &[&str] = &["tests/java/javacloop"];
const ROUND_METHOD: &str = "Rounds::once(..)";

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
        mark: ROUND_METHOD,
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
        mark: ROUND_METHOD,
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
        mark: ROUND_METHOD,
        main: "Rounds",
        arguments: &["Matrix", "{rounds}", "320"],
        rounds: (12, 72),
        quick: false,
        groups: 5,
    },
    Workload {
        name: "javac",
        what: "the JDK's compiler over a generated tree",
        sources: COMPILER_LOOP,
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
        mark: ROUND_METHOD,
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
        mark: ROUND_METHOD,
        main: "Rounds",
        arguments: &["Indexing", "{rounds}", "250"],
        rounds: (9, 240),
        quick: false,
        groups: 5,
    },
    Workload {
        name: "ecj",
        what: "Eclipse's compiler over the same tree",
        sources: COMPILER_LOOP,
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

/// Workloads whose first round also measures the start-up of a program, each with an AspectJ
/// pointcut that selects one method.
pub const FIRST_ROUNDS: &[(&str, &str)] = &[
    ("sql", "execution(* Shop.round(..))"),
    ("lucene", "execution(* Indexing.round(..))"),
    ("ecj", "execution(* JavacLoop.sources(..))"),
];

/// Returns the workload with this name.
pub fn named(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|one| one.name == name)
}

/// The variable that names the workloads of a session, separated by commas.
pub const WORKLOADS_VARIABLE: &str = "BENCH_WORKLOADS";

/// The workloads of a session: those that [`WORKLOADS_VARIABLE`] names if the variable is set,
/// otherwise those of the scope.
pub fn session(quick: bool) -> Vec<&'static Workload> {
    let chosen = std::env::var(WORKLOADS_VARIABLE).unwrap_or_default();
    let names: Vec<&str> = chosen.split(',').filter(|name| !name.is_empty()).collect();
    WORKLOADS
        .iter()
        .filter(|w| match names.as_slice() {
            [] => w.quick || !quick,
            some => some.contains(&w.name),
        })
        .collect()
}

/// The small hot method on which timers are measured. It is not part of [`WORKLOADS`].
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
    mark: ROUND_METHOD,
    main: "Rounds",
    arguments: &["HotCall", "{rounds}", "1000000"],
    rounds: (9, 30),
    quick: true,
    groups: 5,
};

/// The method with probe code, for the cost of that code. It is not part of [`WORKLOADS`].
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
    mark: ROUND_METHOD,
    main: "Rounds",
    arguments: &["HotProbe", "{rounds}", "1000000"],
    rounds: (9, 30),
    quick: true,
    groups: 5,
};

/// Calls per round of [`HOT_CALL`] and [`HOT_PROBE`].
pub const CALLS: u64 = 1_000_000;

impl Compiled {
    /// Compiles a workload, and generates the source tree if the workload needs it.
    pub fn workload(jdk: &Jdk, workload: &Workload) -> Result<Self, TrustError> {
        let compiled = Self::new(jdk, workload.sources, workload.jars)?;
        if workload.sources.iter().any(|s| s.contains("javacloop")) {
            generate(TREE_CLASSES, &compiled.tree())?;
        }
        Ok(compiled)
    }
}

impl Workload {
    /// Number of rounds in a run.
    pub fn rounds(&self, quick: bool) -> usize {
        if quick { self.rounds.0 } else { self.rounds.1 }
    }

    /// The plain command with more options of the JVM and more entries of the class path.
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

    /// `--arm` for each pattern of the counted methods.
    pub fn patterns_to_arm(&self) -> Vec<String> {
        let both = |pattern: &&str| ["--arm".to_string(), (*pattern).to_string()];
        self.counted.iter().flat_map(both).collect()
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
    fn the_sources_of_every_workload_exist() {
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
