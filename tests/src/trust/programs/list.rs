//! The programs: their jars, their armed and counted code, and their start.

use std::path::{Path, PathBuf};

use crate::folder::workspace;
use crate::generator::generate;
use crate::jars::jars;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::TrustError;

/// A program of `tests/programs`.
pub struct Program {
    /// The main class. With `.java` it is the name of the source file.
    pub name: &'static str,
    /// The description in tables.
    pub what: &'static str,
    /// Names of jars in `tests/jars.txt`.
    pub jars: &'static [&'static str],
    /// The patterns of `--arm` if code of the JDK is to be armed. If empty, all code outside the
    /// JDK is armed.
    pub arm: &'static [&'static str],
    /// Patterns of the methods whose blocks are counted.
    pub counted: &'static [&'static str],
    /// The arguments. [`Prepared::java`] explains the words in braces.
    pub arguments: &'static [&'static str],
    /// The number of operations that storms do in the program, in one run or several. It is that of a
    /// run at 150 operations a second on the machine of 28 November 2026, so it does not depend on the
    /// speed of the machine.
    pub storm_operations: u64,
}

pub const PROGRAMS: &[Program] = &[
    Program {
        name: "Sql",
        what: "H2 in memory: definitions, joins, windows, transactions",
        jars: &["h2"],
        arm: &[],
        counted: &["org.h2..*", "Sql*"],
        arguments: &[],
        storm_operations: 1_600,
    },
    Program {
        name: "Search",
        what: "Lucene indexes and searches generated texts",
        jars: &["lucene-core"],
        arm: &[],
        counted: &["org.apache.lucene..*", "Search*"],
        arguments: &[],
        storm_operations: 1_650,
    },
    Program {
        name: "Ecj",
        what: "Eclipse's compiler on a generated tree",
        jars: &["ecj"],
        arm: &[],
        counted: &["org.eclipse..*", "Ecj*"],
        arguments: &["{tree}", "{work}"],
        storm_operations: 2_200,
    },
    Program {
        name: "Javac",
        what: "the JDK's compiler on the same tree",
        jars: &[],
        arm: &["com.sun.tools.javac..*", "*"],
        counted: &["com.sun.tools.javac..*", "Javac*"],
        arguments: &["{tree}", "{work}"],
        storm_operations: 2_250,
    },
    Program {
        name: "GroovyProgram",
        what: "a Groovy script",
        jars: &["groovy-runs"],
        arm: &[],
        counted: &[
            "org.codehaus.groovy..*",
            "groovy..*",
            "script*",
            "Point",
            "Item",
            "Robot",
            "Fast",
        ],
        arguments: &["{programs}"],
        storm_operations: 1_900,
    },
    Program {
        name: "ClojureProgram",
        what: "a Clojure script",
        jars: &["clojure", "spec.alpha", "core.specs.alpha"],
        arm: &[],
        counted: &["clojure..*", "program*", "program..*"],
        arguments: &["{programs}"],
        storm_operations: 1_100,
    },
    Program {
        name: "RhinoProgram",
        what: "JavaScript in Rhino, interpreted and compiled at all levels",
        jars: &["rhino"],
        arm: &[],
        counted: &["org.mozilla..*", "RhinoProgram*"],
        arguments: &["{programs}"],
        storm_operations: 1_600,
    },
    Program {
        name: "JythonProgram",
        what: "a Python script in Jython, compiled to class files of version 50",
        jars: &["jython-standalone"],
        arm: &[],
        counted: &["org.python..*", "JythonProgram*"],
        arguments: &["{programs}"],
        storm_operations: 1_500,
    },
    Program {
        name: "JRubyProgram",
        what: "a Ruby script in JRuby: interpreted, with its JIT, and compiled beforehand",
        jars: &["jruby-complete"],
        arm: &[],
        counted: &["org.jruby..*", "JRubyProgram*", "rubyjit..*"],
        arguments: &["{programs}"],
        storm_operations: 3_800,
    },
    Program {
        name: "BeanShellProgram",
        what: "a script in BeanShell, with classes that it writes as class files of version 45",
        jars: &["bsh"],
        arm: &[],
        counted: &["bsh..*", "BeanShellProgram*", "Shape", "Square"],
        arguments: &["{programs}"],
        storm_operations: 250,
    },
    Program {
        name: "Written",
        what: "class files of versions 45 to 50 that BCEL and Javassist write",
        jars: &["bcel", "commons-io", "commons-lang3", "javassist"],
        arm: &[],
        counted: &[
            "written..*",
            "org.apache.bcel..*",
            "javassist..*",
            "Written*",
        ],
        arguments: &[],
        storm_operations: 1_300,
    },
    Program {
        name: "Downgraded",
        what: "Commons Collections, downgraded with ASM to each version from 45 to 50",
        jars: &[
            "commons-collections4",
            "asm",
            "asm-tree",
            "asm-analysis",
            "asm-commons",
        ],
        arm: &[],
        counted: &["org.apache.commons..*", "Downgraded*"],
        arguments: &[],
        storm_operations: 650,
    },
    Program {
        name: "Web",
        what: "Tomcat serves a client in the same process",
        jars: &["tomcat-embed-core", "tomcat-annotations-api"],
        arm: &[],
        counted: &["org.apache..*", "Web*"],
        arguments: &["{work}"],
        storm_operations: 1_150,
    },
    Program {
        name: "Transform",
        what: "the JDK's XML parsers, XPath, schema and XSLT",
        jars: &[],
        arm: &["com.sun.org.apache..*", "*"],
        counted: &["com.sun.org.apache..*", "Transform*"],
        arguments: &[],
        storm_operations: 900,
    },
    Program {
        name: "Echo",
        what: "a Netty server with framing and compression",
        jars: &[
            "netty-common",
            "netty-buffer",
            "netty-transport",
            "netty-resolver",
            "netty-codec",
            "netty-handler",
        ],
        arm: &[],
        counted: &["io.netty..*", "Echo*"],
        arguments: &[],
        storm_operations: 900,
    },
    Program {
        name: "Json",
        what: "Jackson round trips",
        jars: &["jackson-core", "jackson-annotations", "jackson-databind"],
        arm: &[],
        counted: &["com.fasterxml..*", "Json*"],
        arguments: &[],
        storm_operations: 1_250,
    },
    Program {
        name: "GuavaProgram",
        what: "Guava's collections, caches, graphs, hashes",
        jars: &["guava", "failureaccess"],
        arm: &[],
        counted: &["com.google..*", "GuavaProgram*"],
        arguments: &[],
        storm_operations: 700,
    },
    Program {
        name: "KotlinProgram",
        what: "Kotlin's collections, sequences, strings",
        jars: &["kotlin-stdlib"],
        arm: &[],
        counted: &["kotlin..*", "KotlinProgram*"],
        arguments: &[],
        storm_operations: 400,
    },
    Program {
        name: "Crypto",
        what: "Bouncy Castle; the JDK's zip and regular expressions",
        jars: &["bcprov"],
        arm: &[
            "org.bouncycastle..*",
            "java.util.zip..*",
            "java.util.regex..*",
            "*",
        ],
        counted: &[
            "org.bouncycastle..*",
            "java.util.zip..*",
            "java.util.regex..*",
            "Crypto*",
        ],
        arguments: &[],
        storm_operations: 500,
    },
    Program {
        name: "Concurrent",
        what: "streams, futures, fork and join, virtual threads on JDK 25",
        jars: &[],
        arm: &["java.util.stream..*", "*"],
        counted: &["java.util.stream..*", "Concurrent*"],
        arguments: &[],
        storm_operations: 450,
    },
];

/// A compiled program that can be started.
pub struct Prepared {
    pub program: &'static Program,
    pub jdk: Jdk,
    class_path: std::ffi::OsString,
}

/// The folder for the files of the programs. It is not deleted, so that a failed run can be
/// repeated.
pub fn folder() -> PathBuf {
    workspace().join("target/programs")
}

/// The sources that the compilers compile.
fn tree() -> Result<PathBuf, TrustError> {
    let tree = folder().join("tree");
    if !tree.join("gen/Main.java").is_file() {
        generate(120, &tree)?;
    }
    Ok(tree)
}

impl Program {
    /// Downloads the jars and compiles the program.
    pub fn prepare(&'static self, jdk: &Jdk) -> Result<Prepared, TrustError> {
        let sources = workspace().join("tests/programs");
        let classes = folder().join(format!("jdk{}", jdk.major())).join(self.name);
        std::fs::create_dir_all(&classes)?;
        let mut path = vec![classes.clone()];
        path.extend(jars(self.jars)?);
        let class_path = std::env::join_paths(&path)?;
        Process::new(jdk.tool("javac"))
            .args(["-g", "-nowarn", "-Xlint:-options", "-proc:none", "-d"])
            .arg(&classes)
            .arg("-cp")
            .arg(&class_path)
            .arg("-sourcepath")
            .arg(&sources)
            .arg(sources.join(format!("{}.java", self.name)))
            .run()?
            .succeeded("javac")?;
        if self.arguments.contains(&"{tree}") {
            tree()?;
        }
        Ok(Prepared {
            program: self,
            jdk: jdk.clone(),
            class_path,
        })
    }
}

impl Prepared {
    /// The process of the program without Veneer, with full verification. In the arguments,
    /// `{programs}` is the folder of the sources, `{tree}` the folder of the generated sources, and
    /// `{work}` the folder for output, which is also the working folder.
    pub fn java(&self, work: &Path) -> Process {
        let java = Process::new(self.jdk.tool("java"))
            .args(["-Xmx512m", "-XX:+UnlockDiagnosticVMOptions"])
            .args([
                "-XX:+BytecodeVerificationLocal",
                "-XX:+BytecodeVerificationRemote",
            ])
            .arg("-cp")
            .arg(&self.class_path)
            .arg(self.program.name);
        let argument = |text: &&str| match *text {
            "{programs}" => workspace().join("tests/programs"),
            "{tree}" => folder().join("tree"),
            "{work}" => work.to_path_buf(),
            other => PathBuf::from(other),
        };
        java.args(self.program.arguments.iter().map(argument))
            .folder(work)
    }
}
