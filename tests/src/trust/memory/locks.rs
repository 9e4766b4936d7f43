//! A fault of the JVM that occurs in every program that unloads compiled classes, and that must not
//! be attributed to Veneer.
//!
//! From JDK 25 on, HotSpot keeps the lock of a method's profile (`MethodData::extra_data_lock`: 104
//! bytes, and 18 of its name) when the method's class is unloaded: JDK-8390874. So a plain program
//! is run first. It creates hidden classes, lets their methods be compiled, and drops them. The
//! result shows whether this JVM has the fault.

use super::figures::{self, Figures, OPTIONS};
use crate::java_programs::Programs;
use crate::jdk::Jdk;
use crate::live::Live;
use crate::trust::{Table, TrustError};

/// Numbers of hidden classes after which figures are taken. Before the first of them, the JIT still
/// compiles parts of the program itself.
const CLASSES: [u32; 2] = [600, 1000];

/// Number of methods in each class.
const METHODS: i64 = 2;

/// The result of a JVM without Veneer.
pub struct Plain {
    classes: i64,
    compiled: i64,
    locks: i64,
}

impl Plain {
    /// Returns whether the JVM keeps the locks of unloaded methods, which is so if it kept at least
    /// half of them.
    pub fn keeps(&self) -> bool {
        self.locks > self.classes * METHODS / 2
    }
}

/// Runs the program.
pub fn plain(jdk: &Jdk) -> Result<Plain, TrustError> {
    let programs = Programs::compile_folder(jdk.clone(), "threads")?;
    let java = crate::process::Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .arg("-Xbatch")
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Hidden");
    let mut live = Live::start(&java)?;
    let mut taken: Vec<Figures> = Vec::new();
    let mut done = 0;
    for classes in CLASSES {
        live.say(&(classes - done).to_string())?;
        live.line("done")?;
        done = classes;
        taken.push(figures::measure(jdk, &live, done)?);
    }
    let output = live.stop()?;
    let [first, last] = taken.as_slice() else {
        return Err(TrustError::Missing {
            wanted: "figures of the plain program",
            found: output.err,
        });
    };
    if output.code != 0 {
        return Err(TrustError::ExitCode {
            program: "the program".into(),
            code: output.code,
            output: output.err,
        });
    }
    Ok(Plain {
        classes: i64::from(CLASSES[1] - CLASSES[0]),
        compiled: last.compiled - first.compiled,
        locks: last.locks - first.locks,
    })
}

/// The table of all JVMs.
pub fn table(found: &[(&Jdk, &Plain)]) -> Table {
    let mut table = Table::new(
        "Without Veneer: hidden classes with two methods, compiled and dropped",
        &["JDK", "classes", "compiled", "locks that stayed"],
    );
    for (jdk, plain) in found {
        table.rows.push(vec![
            jdk.major().to_string(),
            plain.classes.to_string(),
            plain.compiled.to_string(),
            format!("{:+}", plain.locks),
        ]);
    }
    table
}
