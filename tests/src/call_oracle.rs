//! The call graph of a program, as an agent of the tests counts it by JVMTI events
//! (`tests/native/call_edges.c`), and as `veneer calls` recorded it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Debug;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;

use serde_json::Value;

use crate::command::{json, veneer};
use crate::folder::workspace;
use crate::java_programs::Programs;
use crate::process::Process;

/// Class, name with descriptor.
pub type Method = (String, String);
/// Caller, bytecode index, callee. The index of a native caller is -1.
pub type Edge = (Method, i64, Method);

/// Entries and calls of the methods of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The number of entries of each method.
    pub entries: BTreeMap<Method, i64>,
    /// The number of calls on each edge.
    pub edges: BTreeMap<Edge, i64>,
}

/// The name of a lambda's class without its number.
fn class_name(name: &str) -> String {
    let name = name.replace('/', ".");
    match name.find("$$Lambda") {
        Some(at) => name[..at + "$$Lambda".len()].to_owned(),
        None => name,
    }
}

/// Whether a method is a static initialiser.
pub fn is_initialiser((_, method): &Method) -> bool {
    method.starts_with("<clinit>")
}

/// Whether a method belongs to the class of a lambda.
pub fn is_lambda((class, _): &Method) -> bool {
    class.ends_with("$$Lambda")
}

/// Compiles a C file of `tests/native` to a library in the folder of the programs.
///
/// # Errors
/// The compiler fails.
pub fn compile_library(programs: &Programs, name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let library = programs.classes().join(&format!("{name}.so"));
    let include = programs.jdk().home().join("include");
    Process::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(format!("-I{}", include.display()))
        .arg(format!("-I{}", include.join("linux").display()))
        .arg(workspace().join("tests/native").join(format!("{name}.c")))
        .run()?
        .succeeded("cc")?;
    Ok(library)
}

/// The option of `java` that loads the agent, which counts the methods of the classes below
/// `package` and writes the file when the JVM ends.
pub fn oracle_option(library: &Path, counted: &Path, package: &str) -> String {
    format!(
        "-agentpath:{}={},{package}/",
        library.display(),
        counted.display()
    )
}

/// Reads what the agent counted.
///
/// # Errors
/// The file has another form, or the agent had no room for all edges.
pub fn read_counted(path: &Path) -> Result<Graph, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let (lines, last) = text
        .trim_end()
        .rsplit_once('\n')
        .ok_or("the agent counted nothing")?;
    assert_eq!(last, "end");
    let mut graph = Graph::default();
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [from, caller, index, class, method, count] = words[..] else {
            return Err(format!("the agent wrote `{line}`").into());
        };
        let callee = (class_name(class), method.to_owned());
        let caller = (class_name(from), caller.to_owned());
        let count: i64 = count.parse()?;
        // The methods of lambdas' classes have no entries in a recording.
        if !is_lambda(&callee) {
            *graph.entries.entry(callee.clone()).or_default() += count;
        }
        if from != "-" && !is_lambda(&caller) {
            let edge = (caller, index.parse()?, callee);
            *graph.edges.entry(edge).or_default() += count;
        }
    }
    Ok(graph)
}

/// The graph in a file, and everything that `veneer calls show --json` prints of it.
///
/// # Errors
/// The file cannot be read, or the output has another form.
pub fn recorded(file: &Path) -> Result<(Graph, Value), Box<dyn Error>> {
    let file = file.to_string_lossy();
    let shown = json(&["calls", "show", &file, "--json"])?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| shown[name].as_array().cloned().unwrap_or_default();
    let mut graph = Graph::default();
    let mut methods: BTreeMap<i64, Method> = BTreeMap::new();
    for method in list("methods") {
        let name = format!("{}{}", text(&method["method"]), text(&method["descriptor"]));
        let name = (text(&method["class"]), name);
        if let Some(entries) = method["entries"].as_i64() {
            graph.entries.insert(name.clone(), entries);
        }
        methods.insert(method["id"].as_i64().ok_or("no id")?, name);
    }
    for edge in list("edges") {
        let method = |end: &str| methods.get(&edge[end].as_i64()?).cloned();
        let caller = method("caller").ok_or("no caller")?;
        let callee = method("callee").ok_or("no callee")?;
        let index = edge["bci"].as_i64().ok_or("no bytecode index")?;
        let count = edge["count"].as_i64().ok_or("no count")?;
        *graph.edges.entry((caller, index, callee)).or_default() += count;
    }
    Ok((graph, shown))
}

/// The differences of two maps, one line for each key.
pub fn differences<K: Ord + Debug>(
    recorded: &BTreeMap<K, i64>,
    expected: &BTreeMap<K, i64>,
) -> Vec<String> {
    let keys = recorded.keys().chain(expected.keys());
    let keys: BTreeSet<&K> = keys.collect();
    keys.into_iter()
        .filter(|key| recorded.get(key) != expected.get(key))
        .map(|key| {
            format!(
                "{key:?}: {:?} recorded, {:?} expected",
                recorded.get(key),
                expected.get(key)
            )
        })
        .collect()
}

/// Starts `veneer calls PID OPTIONS -o FILE`, and waits until its instruments are attached.
///
/// # Errors
/// The command ends before, or cannot be started. The error has what it printed.
pub fn start_recording(pid: u32, options: &[&str], file: &Path) -> Result<Child, Box<dyn Error>> {
    let pid = pid.to_string();
    let words = [&["calls", pid.as_str()], options, &["-o"]].concat();
    let mut child = veneer().args(words).arg(file).start()?;
    let errors = child.stderr.take().ok_or("no standard error")?;
    let mut seen = String::new();
    for line in BufReader::new(errors).lines() {
        let line = line?;
        if line.contains("recording") {
            return Ok(child);
        }
        seen += &line;
    }
    Err(format!("the command records nothing: {seen}").into())
}
