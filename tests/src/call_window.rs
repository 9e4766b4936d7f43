//! The calls in a part of a program's run, as an agent of the tests counts them by JVMTI events
//! (`tests/native/call_window.c`), beside a recording of all classes in the same JVM.
//!
//! Both count calls by caller and callee. The comparison leaves out
//!
//! * calls by native methods and by the JVM, which are no edges of a recording: their entries are
//!   compared;
//! * hidden classes, whose code no agent sees, and the methods that the recording lists as unseen, as
//!   callers;
//! * methods that take any arguments (`MethodHandle.invokeExact`) and `invokedynamic`, whose callee a
//!   recording does not know;
//! * methods for which the JVM posts no event.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::call_oracle::Method;
use crate::command::json;

/// Caller and callee.
pub type Pair = (Method, Method);

/// The calls of both sides that can be compared.
#[derive(Debug, Default)]
pub struct Window {
    /// Entries of methods: recorded, expected.
    pub entries: BTreeMap<Method, [i64; 2]>,
    /// Calls: recorded, expected.
    pub calls: BTreeMap<Pair, [i64; 2]>,
}

/// The counts of the agent of the test.
#[derive(Default)]
struct Counted {
    entries: BTreeMap<Method, i64>,
    calls: BTreeMap<Pair, i64>,
    natives: BTreeSet<Method>,
}

/// Methods whose calls the JVM's interpreter executes without an event.
const WITHOUT_EVENT: [(&str, &str); 2] = [
    ("java.lang.ref.Reference", "get("),
    ("java.lang.Thread", "currentThread("),
];
/// Classes of methods that run while the JVM changes the identity of a thread, without events, or that
/// Veneer executes in virtual threads.
const SWITCHING: [&str; 5] = [
    "java.lang.Class",
    "java.lang.VirtualThread",
    "jdk.internal.vm.",
    "java.lang.System$",
    "jdk.internal.misc.Unsafe",
];
/// Classes whose code the JVM itself changes when it loads them.
const CHANGED_BY_JVM: &str = "jdk.internal.event.";
/// Methods that run since before the recording, in code without counters.
const OLDER: [(&str, &str); 2] = [
    ("java.lang.ref.Reference", "processPendingReferences("),
    ("java.lang.ref.Reference$ReferenceHandler", "run("),
];

fn is_one_of((class, method): &Method, list: &[(&str, &str)]) -> bool {
    list.iter()
        .any(|(known, name)| class == known && method.starts_with(name))
}

fn is_hidden((class, _): &Method) -> bool {
    class.contains(".0x") || class.contains("+0x") || class.contains("$$Lambda")
}

/// Whether the JVM selects the code of a method by the kind of the call.
fn is_polymorphic((class, _): &Method) -> bool {
    let known = [
        "",
        "java.lang.invoke.MethodHandle",
        "java.lang.invoke.VarHandle",
    ];
    known.contains(&class.as_str())
}

/// Whether the JVM calls the method while it executes an instruction of the caller.
fn is_called_by_jvm((class, method): &Method) -> bool {
    let loads = ["loadClass(", "checkPackageAccess("];
    let is_thrown = class.ends_with("Exception") || class.ends_with("Error");
    method.starts_with("<clinit>")
        || class == "java.lang.invoke.MethodHandleNatives"
        || class == "java.lang.ClassLoader" && loads.iter().any(|name| method.starts_with(name))
        || is_thrown && method.starts_with("<init>")
}

fn has_no_event(method: &Method) -> bool {
    is_one_of(method, &WITHOUT_EVENT) || method.0.starts_with(CHANGED_BY_JVM)
}

/// Reads what the agent counted.
fn read_counted(path: &Path) -> Result<Counted, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let (lines, last) = text
        .trim_end()
        .rsplit_once('\n')
        .ok_or("the agent counted nothing")?;
    assert_eq!(last, "end");
    let mut counted = Counted::default();
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [from, caller, from_native, class, method, native, count] = words[..] else {
            return Err(format!("the agent wrote `{line}`").into());
        };
        let caller = (from.replace('/', "."), caller.to_owned());
        let callee = (class.replace('/', "."), method.to_owned());
        let count: i64 = count.parse()?;
        *counted.entries.entry(callee.clone()).or_default() += count;
        if native == "1" {
            counted.natives.insert(callee.clone());
        }
        if from != "-" && from_native == "0" {
            *counted.calls.entry((caller, callee)).or_default() += count;
        }
    }
    Ok(counted)
}

/// Reads what both sides counted, and keeps what can be compared. `counted` is the file of the agent of
/// the test, `file` the recording.
///
/// # Errors
/// A file cannot be read, or has another form.
pub fn read_window(counted: &Path, file: &Path) -> Result<Window, Box<dyn Error>> {
    let counted = read_counted(counted)?;
    let shown = json(&["calls", "show", &file.to_string_lossy(), "--json"])?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |name: &str| shown[name].as_array().cloned().unwrap_or_default();
    let mut unseen: BTreeSet<Method> = BTreeSet::new();
    for one in list("unseen") {
        let reason = text(&one["reason"]);
        let method = reason.split(": ").next().unwrap_or_default().to_owned();
        unseen.insert((text(&one["class"]), method));
    }
    let mut window = Window::default();
    let mut names: BTreeMap<i64, Method> = BTreeMap::new();
    let mut natives = counted.natives.clone();
    for method in list("methods") {
        let name = format!("{}{}", text(&method["method"]), text(&method["descriptor"]));
        let name = (text(&method["class"]), name);
        names.insert(method["id"].as_i64().ok_or("no id")?, name.clone());
        if method["native"] == true {
            natives.insert(name.clone());
        }
        if let Some(entries) = method["entries"].as_i64() {
            window.entries.entry(name).or_default()[0] += entries;
        }
    }
    for (method, count) in counted.entries {
        window.entries.entry(method).or_default()[1] += count;
    }
    let mut unknown_callees: BTreeSet<Method> = BTreeSet::new();
    for edge in list("edges") {
        let method = |end: &str| names.get(&edge[end].as_i64()?).cloned();
        let caller = method("caller").ok_or("no caller")?;
        let callee = method("callee").ok_or("no callee")?;
        if is_polymorphic(&callee) {
            unknown_callees.insert(caller.clone());
        }
        let count = edge["count"].as_i64().ok_or("no count")?;
        window.calls.entry((caller, callee)).or_default()[0] += count;
    }
    for (pair, count) in counted.calls {
        window.calls.entry(pair).or_default()[1] += count;
    }
    window.entries.retain(|method, _| {
        !(unseen.contains(method)
            || natives.contains(method)
            || is_hidden(method)
            || is_polymorphic(method)
            || has_no_event(method)
            || is_one_of(method, &OLDER)
            || method.0 == "Window")
    });
    window
        .calls
        .retain(|(caller, callee), [recorded, expected]| {
            let is_upcall = is_called_by_jvm(callee) && recorded <= expected;
            let is_of_unknown = *recorded == 0 && unknown_callees.contains(caller);
            !(unseen.contains(caller)
                || is_hidden(caller)
                || is_hidden(callee)
                || is_polymorphic(callee)
                || has_no_event(callee)
                || is_one_of(caller, &OLDER)
                || is_upcall
                || is_of_unknown
                || callee.0 == "Window")
        });
    Ok(window)
}

impl Window {
    /// Leaves out what runs while the JVM changes the identity of a thread.
    pub fn without_thread_switches(mut self) -> Window {
        let is_switching = |(class, _): &Method| {
            class.starts_with("java.lang.Thread")
                || class.starts_with("java.lang.ref.")
                || SWITCHING.iter().any(|known| class.starts_with(known))
        };
        self.entries.retain(|method, _| !is_switching(method));
        self.calls
            .retain(|(caller, callee), _| !is_switching(caller) && !is_switching(callee));
        self
    }

    /// The differences, one line for each.
    pub fn differences(&self) -> Vec<String> {
        let entries = self.entries.iter().filter(|(_, [a, b])| a != b);
        let entries = entries.map(|(method, [recorded, expected])| {
            format!("{method:?}: {recorded} entries recorded, {expected} expected")
        });
        let calls = self.calls.iter().filter(|(_, [a, b])| a != b);
        let calls = calls.map(|((caller, callee), [recorded, expected])| {
            format!("{caller:?} → {callee:?}: {recorded} calls recorded, {expected} expected")
        });
        entries.chain(calls).collect()
    }
}
