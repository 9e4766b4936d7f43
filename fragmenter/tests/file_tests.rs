//! File tests: Java sources with the expected fragments in comments beside the lines.
//!
//! ```text
//!   //! test liveness policy=block         the kind of test, and the policy (default: `block`)
//!   class Sum {
//!       static int sum(int n) {
//!           int s = 0;                     // f0 live-in {n} live-out {n, s} -> f1
//!           for (int i = 0; i < n; i++) {
//!               // f1 live-in {n, s, i} live-out {n, s, i} -> f2 f3
//!               // f3 …                    comments on separate lines belong to the line of code above
//! ```
//!
//! `version=49` before the policy lowers the version of the class files and removes their stack
//! maps, so that all types are inferred.
//!
//! A comment describes the fragment with this number that begins on its line. If fragments of
//! several methods begin on one line (lambdas), the method's name precedes the number. Either all
//! fragments of a method have comments, or none. The words after the number:
//!
//! | words                                         | meaning                                                      |
//! |-----------------------------------------------|--------------------------------------------------------------|
//! | `use`, `def`, `live-in`, `live-out` `{a, b:T}` | the whole set; given types are compared                      |
//! | `-> f1 f2`, `-> none`                         | all successors, in the order of the code                      |
//! | `!f3 java.lang.Exception`, `!f3 any`          | a handler; all handlers are named if `->` is present          |
//! | `c1`, `c0@5`, `exit c2`                       | the capture points: at the start, at another pc, at returns   |
//! | `no MonitorHeld`                              | the reason why the start has no point                        |
//! | `loop`                                        | a loop header                                                |
//!
//! `VENEER_BLESS=1 cargo test --test file_tests` rewrites the comments. Review the difference
//! before you commit it.

mod classfile_support;
mod javac_support;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use javac_support::{compile, downgraded, file_tests};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::inference;
use veneer_fragmenter::listing::{
    self, FragmentListing, MethodListing, TypeNames, VariableListing,
};
use veneer_fragmenter::policy::Policy;

/// The header line of a test.
struct Test {
    kind: String,
    policy: Policy,
    /// If set, lower the class files to this version, remove their stack maps, and convert them
    /// again.
    version: Option<u16>,
}

fn header(name: &str, source: &str) -> Test {
    let line = source.lines().next().unwrap_or_default();
    let mut words = line
        .strip_prefix("//! test ")
        .unwrap_or_else(|| panic!("{}.java: the first line is not `//! test KIND`", name))
        .split_whitespace();
    let kind = words.next().unwrap_or_default().to_owned();
    assert!(
        ["fragments", "liveness", "points", "types"].contains(&&*kind),
        "{}.java: no test is called `{kind}`",
        name
    );
    let mut words = words.peekable();
    let version = words
        .next_if(|w| w.starts_with("version="))
        .map(|w| w["version=".len()..].parse().unwrap());
    let policy = match words.next().unwrap_or("policy=block") {
        "policy=method" => Policy::Method,
        "policy=loop" => Policy::Loop,
        "policy=block" => Policy::Block,
        // Selects calls of methods named `remote…`, like the RMI policy of the paper.
        "policy=call" => Policy::Call(Arc::new(|_: &str, name: &str, _: &str| {
            name.starts_with("remote")
        })),
        other => panic!("{}.java: what is `{other}`?", name),
    };
    Test {
        kind,
        policy,
        version,
    }
}

/// Lists all methods of the classes.
fn list(name: &str, classes: &[Vec<u8>], test: &Test) -> Vec<MethodListing> {
    let mut out = Vec::new();
    for bytes in classes {
        let bytes = match test.version {
            Some(version) => downgraded(bytes, version),
            None => bytes.clone(),
        };
        let modern = inference::upgrade_class_file(&bytes).unwrap();
        let file = ClassFile::parse(&modern).unwrap();
        for index in 0..file.methods.len() {
            let listing = listing::from_class_file(&file, index, &test.policy);
            let text = listing.to_string();
            let long = text.lines().find(|l| l.chars().count() > listing::WIDTH);
            assert_eq!(long, None, "{name}: a line of the listing is too long");
            out.push(listing);
        }
    }
    out
}

/// An expectation and the number (from 1) of its line of code.
struct Expectation {
    line: usize,
    at: usize,
    method: Option<String>,
    id: String,
    words: String,
}

/// Parses an expectation comment, and returns the method's name, the fragment and the words.
/// Returns `None` for other comments.
fn parse_comment(comment: &str) -> Option<(Option<&str>, &str, &str)> {
    let is_id = |w: &str| {
        w.strip_prefix('f')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let comment = comment.trim();
    let (first, rest) = comment.split_once(' ').unwrap_or((comment, ""));
    if is_id(first) {
        return Some((None, first, rest));
    }
    let (second, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    is_id(second).then_some((Some(first), second, rest))
}

fn expectations(source: &str) -> Vec<Expectation> {
    let mut out = Vec::new();
    let mut code_line = 0;
    for (i, line) in source.lines().enumerate() {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        if !code.trim().is_empty() {
            code_line = i + 1;
        }
        if let Some((method, id, words)) = parse_comment(comment) {
            out.push(Expectation {
                line: code_line,
                at: i + 1,
                method: method.map(str::to_owned),
                id: id.to_owned(),
                words: words.to_owned(),
            });
        }
    }
    out
}

fn simple_name(method: &MethodListing) -> &str {
    method.method.split('(').next().unwrap_or_default()
}

fn variables(set: &[VariableListing], typed: bool) -> String {
    let one = |v: &VariableListing| {
        if typed {
            format!("{}:{}", v.name, v.kind)
        } else {
            v.name.clone()
        }
    };
    let members: Vec<String> = set.iter().map(one).collect();
    format!("{{{}}}", members.join(", "))
}

fn successors(fragment: &FragmentListing) -> String {
    let mut to: Vec<&str> = Vec::new();
    for edge in &fragment.edges {
        if !to.contains(&&*edge.to) {
            to.push(&edge.to);
        }
    }
    if to.is_empty() {
        "none".into()
    } else {
        to.join(" ")
    }
}

fn handlers(fragment: &FragmentListing) -> Vec<String> {
    let one =
        |h: &listing::HandlerListing| format!("!{} {}", h.to, h.catch.as_deref().unwrap_or("any"));
    fragment.handlers.iter().map(one).collect()
}

fn points(fragment: &FragmentListing) -> Vec<String> {
    let one = |p: &listing::PointListing| match &*p.kind {
        "exit" => format!("exit {}", p.id),
        _ if p.pc != fragment.start => format!("{}@{}", p.id, p.pc),
        _ => p.id.clone(),
    };
    let mut out: Vec<String> = fragment.points.iter().map(one).collect();
    out.extend(fragment.no_point.iter().map(|n| format!("no {}", n.reason)));
    out
}

/// Returns the canonical comment for a fragment in this kind of test.
fn canonical(test: &Test, fragment: &FragmentListing) -> String {
    let mut out = vec![fragment.id.clone()];
    let mut set = |name: &str, set: &[VariableListing], typed: bool| {
        out.push(format!("{name} {}", variables(set, typed)));
    };
    match &*test.kind {
        "liveness" => {
            set("use", &fragment.uses, false);
            set("def", &fragment.def, false);
            set("live-in", &fragment.live_in, false);
            set("live-out", &fragment.live_out, false);
        }
        "types" => {
            set("live-in", &fragment.live_in, true);
            set("def", &fragment.def, true);
        }
        "points" => out.extend(points(fragment)),
        _ => {}
    }
    if fragment.loop_header && test.kind != "types" {
        out.push("loop".into());
    }
    out.push(format!("-> {}", successors(fragment)));
    out.extend(handlers(fragment));
    out.join(" ")
}

/// Compares the words of an expectation with a fragment.
fn compare_words(
    words: &str,
    fragment: &FragmentListing,
    kind: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut rest = words.trim();
    let (mut said_ways, mut said_sets, mut said_loop) = (false, 0, false);
    let (mut said_points, mut said_handlers): (Vec<String>, Vec<String>) = Default::default();
    let word = |rest: &str| {
        rest.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    while !rest.is_empty() {
        let key = word(rest);
        rest = rest[key.len()..].trim_start();
        match &*key {
            "use" | "def" | "live-in" | "live-out" => {
                let end = rest.find('}').ok_or(format!("{key}: no set"))? + 1;
                let want = &rest[..end];
                rest = rest[end..].trim_start();
                let set = match &*key {
                    "use" => &fragment.uses,
                    "def" => &fragment.def,
                    "live-in" => &fragment.live_in,
                    _ => &fragment.live_out,
                };
                let have = variables(set, want.contains(':'));
                said_sets += 1;
                if have != want {
                    return Err(format!("{key} is {have}, not {want}").into());
                }
            }
            "->" => {
                said_ways = true;
                let mut want = Vec::new();
                while word(rest) == "none" || word(rest).starts_with('f') {
                    let next = word(rest);
                    rest = rest[next.len()..].trim_start();
                    want.push(next);
                }
                let have = successors(fragment);
                if have != want.join(" ") {
                    return Err(format!("-> is {have}, not {}", want.join(" ")).into());
                }
            }
            "exit" | "no" => {
                let next = word(rest);
                rest = rest[next.len()..].trim_start();
                said_points.push(format!("{key} {next}"));
            }
            "loop" => said_loop = true,
            _ if key.starts_with('!') => {
                let next = word(rest);
                rest = rest[next.len()..].trim_start();
                said_handlers.push(format!("{key} {next}"));
            }
            _ if key.starts_with('c') => said_points.push(key),
            _ => return Err(format!("what is `{key}`?").into()),
        }
    }
    let same = |what: &str, have: String, want: String| -> Result<(), Box<dyn std::error::Error>> {
        if have == want {
            Ok(())
        } else {
            Err(format!("{what}: `{have}`, not `{want}`").into())
        }
    };
    if said_ways {
        same(
            "the handlers",
            handlers(fragment).join(" "),
            said_handlers.join(" "),
        )?;
    }
    if kind == "points" {
        same(
            "the points",
            points(fragment).join(" "),
            said_points.join(" "),
        )?;
    }
    if kind != "types" && said_loop != fragment.loop_header {
        return Err(format!("loop header: {}", fragment.loop_header).into());
    }
    match kind {
        "liveness" | "types" if said_sets == 0 => Err("nothing is said of any set".into()),
        "fragments" if !said_ways => Err("nothing is said of successors".into()),
        _ => Ok(()),
    }
}

fn check(name: &str, source: &str, test: &Test, methods: &[MethodListing]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut spoken: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for e in expectations(source) {
        let begins = |m: &MethodListing| {
            let named = e.method.as_deref().is_none_or(|n| n == simple_name(m));
            let fragment = m.fragments.iter().position(|f| f.id == e.id)?;
            let here = m.fragments[fragment].line.map(usize::from) == Some(e.line);
            (named && here).then_some(fragment)
        };
        let found: Vec<_> = methods
            .iter()
            .enumerate()
            .filter_map(|(i, m)| Some((i, begins(m)?)))
            .collect();
        match found[..] {
            [(m, f)] => {
                let fragment = &methods[m].fragments[f];
                spoken.entry(m).or_default().push(&fragment.id);
                if let Err(fault) = compare_words(&e.words, fragment, &test.kind) {
                    faults.push(format!("{name}.java:{}: {}: {fault}", e.at, e.id));
                }
            }
            [] => faults.push(format!("{name}.java:{}: no {} begins there", e.at, e.id)),
            _ => faults.push(format!("{name}.java:{}: {} of which method?", e.at, e.id)),
        }
    }
    if spoken.is_empty() {
        faults.push(format!("{name}.java: nothing is expected"));
    }
    for (m, ids) in spoken {
        for fragment in methods[m]
            .fragments
            .iter()
            .filter(|f| !ids.contains(&&*f.id))
        {
            faults.push(format!(
                "{name}.java:{}: nothing is said of {} of {}",
                fragment.line.unwrap_or(0),
                fragment.id,
                methods[m].method
            ));
        }
    }
    faults
}

/// Returns the source without expectation comments.
fn strip_comments(source: &str) -> String {
    let mut out = String::new();
    for line in source.lines() {
        match line.split_once("//") {
            Some((code, comment)) if parse_comment(comment).is_some() => {
                if !code.trim().is_empty() {
                    out += code.trim_end();
                    out += "\n";
                }
            }
            _ => {
                out += line;
                out += "\n";
            }
        }
    }
    out
}

/// Adds comments for all fragments to the source. Methods that begin on the line of their class are
/// left out.
fn with_comments(bare: &str, test: &Test, methods: &[MethodListing]) -> String {
    let bare: Vec<&str> = bare.lines().collect();
    let mut comments: BTreeMap<usize, Vec<(usize, String, String)>> = BTreeMap::new();
    for (i, m) in methods.iter().enumerate() {
        let first = m
            .fragments
            .first()
            .and_then(|f| f.line)
            .map_or(0, usize::from);
        let header = |w: &str| {
            bare.get(first.wrapping_sub(1))
                .is_some_and(|l| l.contains(w))
        };
        if first == 0 || header("class ") || header("record ") || header("enum ") {
            continue;
        }
        for f in &m.fragments {
            let entry = (i, simple_name(m).to_owned(), canonical(test, f));
            comments
                .entry(f.line.map_or(0, usize::from))
                .or_default()
                .push(entry);
        }
    }
    let mut out = String::new();
    for (i, line) in bare.iter().enumerate() {
        let mut here: Vec<String> = Vec::new();
        if let Some(list) = comments.get(&(i + 1)) {
            let several = list.iter().any(|c| c.0 != list[0].0);
            let text = |c: &(usize, String, String)| {
                if several {
                    format!("{} {}", c.1, c.2)
                } else {
                    c.2.clone()
                }
            };
            here = list.iter().map(text).collect();
        }
        out += line;
        let indent = line.len() - line.trim_start().len() + 4;
        let beside = here.len() == 1 && line.len() + here[0].len() < 95;
        for text in here {
            let gap = " ".repeat(indent);
            out += &if beside {
                format!(" // {text}")
            } else {
                format!("\n{gap}// {text}")
            };
        }
        out += "\n";
    }
    out
}

#[test]
fn files() {
    let mut sources = file_tests();
    assert!(
        sources.len() >= 14,
        "only {} file tests were found",
        sources.len()
    );
    if std::env::var_os("VENEER_BLESS").is_some() {
        let bare: Vec<(String, String)> = sources
            .iter()
            .map(|(n, s)| (n.clone(), strip_comments(s)))
            .collect();
        let classes = compile(&bare);
        for ((name, source), (_, bare)) in sources.iter_mut().zip(&bare) {
            let test = header(name, source);
            *source = with_comments(bare, &test, &list(name, &classes[name], &test));
            fs::write(
                javac_support::folder().join(format!("{name}.java")),
                &*source,
            )
            .unwrap();
        }
    }
    let classes = compile(&sources);
    let mut faults = Vec::new();
    for (name, source) in &sources {
        let test = header(name, source);
        let methods = list(name, &classes[name], &test);
        faults.extend(check(name, source, &test, &methods));
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn a_wrong_expectation_is_noticed() {
    let source = "//! test liveness\nclass Wrong {\n    static int id(int n) {\n        return n;\n    }\n}\n";
    let test = header("Wrong", source);
    let classes = compile(&[("Wrong".to_owned(), source.to_owned())]);
    let methods = list("Wrong", &classes["Wrong"], &test);
    let right = with_comments(source, &test, &methods);
    assert_eq!(check("Wrong", &right, &test, &methods), [""; 0]);
    for (from, to) in [
        ("use {n}", "use {}"),
        ("live-in {n}", "live-in {n:long}"),
        ("-> none", "-> f0"),
        ("-> none", "loop -> none"),
        ("-> none", "-> none !f0 any"),
        (" f0 ", " f1 "),
        ("// f0", "// g f0"),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{from}");
        assert_ne!(check("Wrong", &wrong, &test, &methods), [""; 0], "{to}");
    }
}

#[test]
fn json_and_dot_contain_the_same_as_the_text() {
    let source = "class Forms {\n    static String s(int n, String a) {\n        try { return n > 0 ? a : a.trim(); } catch (RuntimeException e) { return \"\\\"\"; }\n    }\n}\n";
    let classes = compile(&[("Forms".to_owned(), source.to_owned())]);
    let file = ClassFile::parse(&classes["Forms"][0]).unwrap();
    let index = file
        .methods
        .iter()
        .position(|m| file.pool.text(m.name).unwrap() == "s")
        .unwrap();
    let listing = listing::from_class_file(&file, index, &Policy::Block);
    let json = serde_json::to_value(&listing).unwrap();
    assert_eq!(json["class"], "Forms");
    assert_eq!(json["method"], "s(ILjava/lang/String;)Ljava/lang/String;");
    assert_eq!(json["policy"], "block");
    let f0 = &json["fragments"][0];
    assert_eq!(
        f0["use"],
        serde_json::json!([{"name": "n", "type": "int", "slot": 0}])
    );
    assert_eq!(
        f0["edges"][1],
        serde_json::json!({"to": "f2", "kind": "branch"})
    );
    assert_eq!(
        f0["handlers"][0],
        serde_json::json!({"to": "f4", "catch": "java.lang.RuntimeException"})
    );
    assert_eq!(
        (&f0["point"], &f0["start"], &f0["line"]),
        (&"c0".into(), &0.into(), &3.into())
    );
    let stack = serde_json::json!({"name": "s0", "type": "java.lang.String"});
    assert_eq!(json["fragments"][1]["def"][0], stack);
    let dot = listing.to_dot(TypeNames::Full);
    for edge in [
        "f0 -> f1 [label=\"fall\"]",
        "f0 -> f2 [label=\"branch\"]",
        "f0 -> f4 [style=dashed, label=\"java.lang.RuntimeException\"]",
    ] {
        assert!(dot.contains(edge), "{edge} is not in\n{dot}");
    }
    assert!(dot.contains("s0:java.lang.String"), "{dot}");
    let simple = listing.to_dot(TypeNames::Simple);
    assert!(
        simple.contains("f0 -> f4 [style=dashed, label=\"RuntimeException\"]"),
        "{simple}"
    );
    assert!(
        simple.contains("s0:String") && !simple.contains("java.lang"),
        "{simple}"
    );
    let class = listing::ClassListing::from_class_file(&file, &Policy::Block);
    assert_eq!(
        (class.methods, class.loops, class.refusals.len()),
        (2, 0, 0)
    );
    assert_eq!(class.fragments, 1 + listing.fragments.len());
    assert!(class.armed_bytes > class.code_bytes);
}
