//! Compiles the runtime classes of `java/` for Java 17 and puts them where the agent embeds them from.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const CLASSES: [&str; 17] = [
    "VeneerBound",
    "VeneerCell",
    "VeneerClock",
    "VeneerFrame",
    "VeneerGate",
    "VeneerMark",
    "VeneerObjects",
    "VeneerProbe",
    "VeneerReserve",
    "VeneerRuntime$1",
    "VeneerRuntime",
    "VeneerTables",
    "VeneerTexts",
    "VeneerThreads",
    "VeneerTicks",
    "VeneerToken",
    "VeneerWalk",
];

fn main() {
    println!("cargo:rerun-if-changed=java");
    println!("cargo:rerun-if-env-changed=JAVA_HOME");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("classes");
    let _ = fs::remove_dir_all(&out);
    let sources = Path::new("java/java/lang/invoke");
    let files: Vec<PathBuf> = [
        "VeneerBound.java",
        "VeneerCell.java",
        "VeneerClock.java",
        "VeneerFrame.java",
        "VeneerGate.java",
        "VeneerMark.java",
        "VeneerObjects.java",
        "VeneerProbe.java",
        "VeneerReserve.java",
        "VeneerRuntime.java",
        "VeneerTables.java",
        "VeneerTexts.java",
        "VeneerThreads.java",
        "VeneerTicks.java",
        "VeneerToken.java",
        "VeneerWalk.java",
    ]
    .iter()
    .map(|f| sources.join(f))
    .collect();
    let javac = env::var_os("JAVA_HOME")
        .map(|home| Path::new(&home).join("bin/javac"))
        .filter(|p| p.exists())
        .unwrap_or_else(|| "javac".into());
    // `--release 17` where the compiler takes it together with a patched module (JDK 17 itself); newer ones know only
    // the public API of 17 then, so they compile against their own library for the same class-file version.
    let attempts: [&[&str]; 2] = [
        &["--release", "17"],
        &["-source", "17", "-target", "17", "-Xlint:-options"],
    ];
    let mut said = String::new();
    for options in attempts {
        let result = Command::new(&javac)
            .args(options)
            .args(["-g", "--patch-module", "java.base=java", "-d"])
            .arg(&out)
            .args(&files)
            .output();
        match result {
            Ok(done) if done.status.success() => {
                for class in CLASSES {
                    assert!(
                        out.join(format!("java/lang/invoke/{class}.class")).exists(),
                        "javac made no {class}"
                    );
                }
                return;
            }
            Ok(done) => said = String::from_utf8_lossy(&done.stderr).into_owned(),
            Err(e) => panic!(
                "cannot run {}: {e}; install a JDK 17 or newer, or set JAVA_HOME",
                javac.display()
            ),
        }
    }
    panic!("the runtime classes do not compile:\n{said}");
}
