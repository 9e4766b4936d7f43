//! The methods that a pattern selects, among the classes at a path.
//!
//! ```text
//!   all classes ─▶ what is directly above each ─▶ again all classes ─▶ facts ─▶ pattern ─▶ methods
//! ```
//!
//! Supertypes are known as far as the path has their class files. Of classes that a pattern with `+` may select but for one that is not
//! there, it is said.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use thiserror::Error;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::inference;
use veneer_fragmenter::outline::Outline;
use veneer_instruments::{ClassFacts, MethodFacts, MethodPattern, Verdict, nearest};

use crate::inputs;
use crate::output::complain;

/// No method is selected.
#[derive(Debug, Error)]
#[error("no method in {path} matches `{pattern}`{near}")]
struct NothingMatches {
    /// As asked for.
    pattern: String,
    /// Where it was looked for.
    path: String,
    /// Classes of nearly that name.
    near: String,
}

/// Whether a text is a pattern as in plans, and not the name of one method, which may have a descriptor instead.
pub fn is_pattern(text: &str) -> bool {
    let name = text.strip_suffix("(..)").unwrap_or(text);
    let special = |c: char| "*+@!".contains(c) || c.is_whitespace();
    name.contains(special) || name.contains("..") || name.contains("->")
}

/// What is directly above each class, by dotted names.
type Above = HashMap<String, Vec<String>>;

/// Calls `each` with the class file and the place in it of every method that is selected and has code. Says what cannot be read, and gives
/// the exit code.
///
/// # Errors
/// Where nothing is selected, or `each` fails.
pub fn methods(
    path: &Path,
    pattern: &MethodPattern,
    mut each: impl FnMut(&ClassFile, usize) -> Result<()>,
) -> Result<u8> {
    let above = match pattern.has_subtypes() {
        true => hierarchy(path)?,
        false => Above::new(),
    };
    let mut code = 0;
    let mut found = false;
    let mut names: Vec<String> = Vec::new();
    let (mut unsure, mut missing) = (Vec::new(), BTreeSet::new());
    for class in inputs::class_bytes(path, None)? {
        let read = class.map_err(|error| error.to_string());
        let read = read.and_then(|(place, bytes)| {
            let modern = inference::modern(&bytes).map(|modern| modern.into_owned());
            modern.map_err(|refusal| format!("{place}: {refusal}"))
        });
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                complain(&error);
                code = crate::FAILED;
                continue;
            }
        };
        let outline = ClassFile::parse(&bytes)
            .and_then(|file| Outline::of(&file).map(|outline| (file, outline)));
        let (file, outline) = match outline {
            Ok(both) => both,
            Err(error) => {
                complain(&error);
                code = crate::FAILED;
                continue;
            }
        };
        let (facts, unknown) = facts(outline, &above);
        let verdict = pattern.of_class(&facts);
        let mut methods = facts.methods.iter().enumerate();
        match verdict {
            Verdict::Yes => {
                for (index, method) in methods {
                    if selects(pattern, method) {
                        found = true;
                        each(&file, index)?;
                    }
                }
            }
            Verdict::Maybe if methods.any(|(_, method)| selects(pattern, method)) => {
                unsure.push(facts.name.clone());
                missing.extend(unknown);
            }
            _ => {}
        }
        names.push(facts.name);
    }
    if !unsure.is_empty() {
        complain(&unknown(&unsure, &missing, path));
    }
    if !found && code == 0 && unsure.is_empty() {
        let near = nearest(pattern, names.iter().map(String::as_str), 3);
        return Err(NothingMatches {
            pattern: pattern.to_string(),
            path: path.display().to_string(),
            near: match near.is_empty() {
                true => String::new(),
                false => format!("; near it: {}", near.join(", ")),
            },
        }
        .into());
    }
    Ok(code)
}

/// Whether a method of a class that is selected is, and has fragments.
fn selects(pattern: &MethodPattern, method: &MethodFacts) -> bool {
    method.size.is_some() && pattern.of_method(method)
}

/// What cannot be known, and what to do.
fn unknown(unsure: &[String], missing: &BTreeSet<String>, path: &Path) -> String {
    format!(
        "whether {} may be selected too ({}) is not known: {} above them is not in {}; give a path that has it, or ask a running program with `veneer list`",
        match unsure.len() {
            1 => "a class".to_string(),
            n => format!("{n} classes"),
        },
        first(unsure.iter()),
        first(missing.iter()),
        path.display()
    )
}

/// The first three, and whether there are more.
fn first<'a>(mut names: impl Iterator<Item = &'a String>) -> String {
    let shown: Vec<&str> = names.by_ref().take(3).map(String::as_str).collect();
    let more = if names.next().is_some() { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn hierarchy(path: &Path) -> Result<Above> {
    let mut above = Above::new();
    // What cannot be read is said when the classes are looked at.
    for (_, bytes) in inputs::class_bytes(path, None)?.flatten() {
        if let Ok(file) = ClassFile::parse(&bytes)
            && let Ok(outline) = Outline::of(&file)
        {
            above.insert(outline.name, outline.above);
        }
    }
    Ok(above)
}

/// The facts of a class, and the names above it of which there is no class file.
fn facts(outline: Outline, above: &Above) -> (ClassFacts, Vec<String>) {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut unknown = Vec::new();
    let mut open: Vec<&str> = outline.above.iter().map(String::as_str).collect();
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        match above.get(name) {
            Some(more) => open.extend(more.iter().map(String::as_str)),
            // Nothing is above it.
            None if name == "java.lang.Object" => {}
            None => unknown.push(name.to_owned()),
        }
    }
    let mut supertypes: Vec<String> = seen.into_iter().map(str::to_owned).collect();
    supertypes.sort_unstable();
    let methods = outline.methods.into_iter().map(|m| MethodFacts {
        name: m.name,
        descriptor: m.descriptor,
        flags: m.access,
        annotations: m.annotations,
        size: m.size,
    });
    let facts = ClassFacts {
        methods: methods.collect(),
        complete: unknown.is_empty(),
        name: outline.name,
        flags: outline.access,
        annotations: outline.annotations,
        supertypes,
    };
    (facts, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_told_from_the_name_of_a_method() {
        for text in [
            "java.util.ArrayList::add",
            "a.B::m(..)",
            "a.B::m(I)I",
            "B::m([Ljava/lang/String;)V",
        ] {
            assert!(!is_pattern(text), "{text}");
        }
        for text in [
            "a..B::m",
            "a.I+::m(..)",
            "@a.T *..*",
            "static a.B::m",
            "!final a.B",
            "a.B::m(..) -> int",
            "a.B::m->int",
            "a.B::m(int, ..)",
        ] {
            assert!(is_pattern(text), "{text}");
        }
    }

    #[test]
    fn what_is_above_is_known_as_far_as_there_are_class_files() {
        let outline = |name: &str, above: &[&str]| Outline {
            name: name.into(),
            access: 0,
            above: above.iter().map(|name| (*name).to_owned()).collect(),
            annotations: Vec::new(),
            methods: Vec::new(),
        };
        let mut known = Above::new();
        for one in [outline("a.B", &["a.C", "a.I"]), outline("a.C", &["x.Y"])] {
            known.insert(one.name, one.above);
        }
        let (facts, unknown) = facts(outline("a.A", &["a.B", "java.lang.Object"]), &known);
        let expected = ["a.B", "a.C", "a.I", "java.lang.Object", "x.Y"];
        assert_eq!(facts.supertypes, expected);
        assert!(!facts.complete);
        assert_eq!(unknown, ["a.I", "x.Y"]);
        let text = super::unknown(
            &["a.A".into()],
            &unknown.into_iter().collect(),
            Path::new("b.jar"),
        );
        assert!(
            text.contains("(a.A) is not known: a.I, x.Y above them is not in b.jar"),
            "{text}"
        );
        // A circle, which only a damaged jar has, ends.
        known.insert("x.Y".into(), vec!["a.C".into()]);
        known.insert("a.I".into(), Vec::new());
        assert!(super::facts(outline("a.A", &["a.B"]), &known).0.complete);
    }
}
