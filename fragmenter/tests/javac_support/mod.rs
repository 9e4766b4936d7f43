//! Java sources for the tests, compiled with an installed JDK.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::classfile_support;
use veneer_fragmenter::classfile::{ClassFile, Code};

/// Returns the folder of the file tests.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/file")
}

/// Returns the name and text of each file test.
pub fn file_tests() -> Vec<(String, String)> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "java") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            sources.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    sources.sort();
    sources
}

/// Compiles sources (name and text) with a JDK, preferably 17. Returns the class files by source
/// name.
pub fn compile(sources: &[(String, String)]) -> BTreeMap<String, Vec<Vec<u8>>> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = format!(
        "file-{}-{}",
        std::process::id(),
        RUNS.fetch_add(1, Ordering::Relaxed)
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(run);
    fs::create_dir_all(&folder).unwrap();
    let homes = classfile_support::jdks();
    let seventeen = homes.iter().find(|h| h.to_string_lossy().contains("17"));
    let home = seventeen.unwrap_or(&homes[0]);
    let mut javac = Command::new(home.join("bin/javac"));
    javac
        .args(["-g", "-Xlint:-options", "--release", "17", "-d"])
        .arg(&folder);
    for (name, source) in sources {
        let file = folder.join(format!("{name}.java"));
        fs::write(&file, source).unwrap();
        javac.arg(file);
    }
    let javac = javac.output().unwrap();
    assert!(
        javac.status.success(),
        "{}",
        String::from_utf8_lossy(&javac.stderr)
    );
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "class"))
        .collect();
    paths.sort();
    let mut out: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for path in paths {
        let class = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = class.split('$').next().unwrap_or_default().to_owned();
        out.entry(source)
            .or_default()
            .push(fs::read(&path).unwrap());
    }
    fs::remove_dir_all(&folder).unwrap();
    out
}

/// Lowers the version of a class file and removes its stack maps, like the output of an old
/// compiler.
pub fn downgraded(bytes: &[u8], version: u16) -> Vec<u8> {
    let mut file = ClassFile::parse(bytes).unwrap();
    let pool = file.pool.clone();
    file.major = version;
    for method in &mut file.methods {
        for attribute in method.attributes.iter_mut().filter(|a| a.is(&pool, "Code")) {
            let mut code = Code::parse(&attribute.info).unwrap();
            code.attributes.retain(|a| !a.is(&pool, "StackMapTable"));
            let info = code.to_bytes().unwrap();
            attribute.info = info.into();
        }
    }
    file.to_bytes().unwrap()
}
