//! Finds the methods that a pattern selects among the class files at a path.
//!
//! ```text
//!   all classes ─▶ direct supertypes ─▶ all classes again ─▶ metadata ─▶ pattern ─▶ methods
//! ```
//!
//! A supertype is only known if the path contains its class file. If the answer for a class depends
//! on a missing supertype (a pattern with `+`), the class is reported as uncertain.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use thiserror::Error;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::inference;
use veneer_fragmenter::outline::Outline;
use veneer_instruments::{ClassMatch, ClassMetadata, MethodMetadata, MethodPattern, nearest};

use crate::inputs;
use crate::output::print_error;

#[derive(Debug, Error)]
#[error("no method in {path} matches `{pattern}`{near}")]
struct NothingMatches {
    /// The pattern as the user wrote it.
    pattern: String,
    /// The path that was searched.
    path: String,
    /// Classes with similar names, as part of the message.
    near: String,
}

/// Whether a text is a pattern as in plans, and not the name of one method. Such a name may end
/// with a descriptor.
pub fn is_pattern(text: &str) -> bool {
    let name = text.strip_suffix("(..)").unwrap_or(text);
    let special = |c: char| "*+@!".contains(c) || c.is_whitespace();
    name.contains(special) || name.contains("..") || name.contains("->")
}

/// The names of the direct supertypes of each class. All names have dots.
type DirectSupertypes = HashMap<String, Vec<String>>;

/// Calls `each` with the class file and the index of every method that matches and has code. Prints
/// which classes cannot be read, and returns the exit code.
///
/// # Errors Fails if no method matches, or if `each` fails.
pub fn methods(
    path: &Path,
    pattern: &MethodPattern,
    mut each: impl FnMut(&ClassFile, usize) -> Result<()>,
) -> Result<u8> {
    let above = match pattern.has_subtypes() {
        true => hierarchy(path)?,
        false => DirectSupertypes::new(),
    };
    let mut code = 0;
    let mut found = false;
    let mut names: Vec<String> = Vec::new();
    let (mut unsure, mut missing) = (Vec::new(), BTreeSet::new());
    for class in inputs::class_bytes(path, None)? {
        let read = class.map_err(|error| error.to_string());
        let read = read.and_then(|(place, bytes)| {
            let modern = inference::upgrade_class_file(&bytes).map(|modern| modern.into_owned());
            modern.map_err(|refusal| format!("{place}: {refusal}"))
        });
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                print_error(&error);
                code = crate::exit_code::EXIT_FAILED;
                continue;
            }
        };
        let outline = ClassFile::parse(&bytes)
            .and_then(|file| Outline::from_class_file(&file).map(|outline| (file, outline)));
        let (file, outline) = match outline {
            Ok(both) => both,
            Err(error) => {
                print_error(&error);
                code = crate::exit_code::EXIT_FAILED;
                continue;
            }
        };
        let (facts, unknown) = class_metadata(outline, &above);
        let verdict = pattern.match_class_metadata(&facts);
        let mut methods = facts.methods.iter().enumerate();
        match verdict {
            ClassMatch::Yes => {
                for (index, method) in methods {
                    if selects(pattern, method) {
                        found = true;
                        each(&file, index)?;
                    }
                }
            }
            ClassMatch::Maybe if methods.any(|(_, method)| selects(pattern, method)) => {
                unsure.push(facts.name.clone());
                missing.extend(unknown);
            }
            _ => {}
        }
        names.push(facts.name);
    }
    if !unsure.is_empty() {
        print_error(&uncertain_message(&unsure, &missing, path));
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

/// Whether a method of a matching class matches, and has fragments.
fn selects(pattern: &MethodPattern, method: &MethodMetadata) -> bool {
    method.size.is_some() && pattern.matches_method_metadata(method)
}

/// The message about classes that may match, and about their missing supertypes.
fn uncertain_message(unsure: &[String], missing: &BTreeSet<String>, path: &Path) -> String {
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

/// Returns the first three names, followed by `…` if there are more.
fn first<'a>(mut names: impl Iterator<Item = &'a String>) -> String {
    let shown: Vec<&str> = names.by_ref().take(3).map(String::as_str).collect();
    let more = if names.next().is_some() { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn hierarchy(path: &Path) -> Result<DirectSupertypes> {
    let mut above = DirectSupertypes::new();
    // Classes that cannot be read are reported in the second pass.
    for (_, bytes) in inputs::class_bytes(path, None)?.flatten() {
        if let Ok(file) = ClassFile::parse(&bytes)
            && let Ok(outline) = Outline::from_class_file(&file)
        {
            above.insert(outline.name, outline.above);
        }
    }
    Ok(above)
}

/// Returns the metadata of a class, and the names of its supertypes that have no class file.
fn class_metadata(outline: Outline, above: &DirectSupertypes) -> (ClassMetadata, Vec<String>) {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut unknown = Vec::new();
    let mut open: Vec<&str> = outline.above.iter().map(String::as_str).collect();
    while let Some(name) = open.pop() {
        if !seen.insert(name) {
            continue;
        }
        match above.get(name) {
            Some(more) => open.extend(more.iter().map(String::as_str)),
            // `java.lang.Object` has no supertype.
            None if name == "java.lang.Object" => {}
            None => unknown.push(name.to_owned()),
        }
    }
    let mut supertypes: Vec<String> = seen.into_iter().map(str::to_owned).collect();
    supertypes.sort_unstable();
    let methods = outline.methods.into_iter().map(|m| MethodMetadata {
        name: m.name,
        descriptor: m.descriptor,
        flags: m.access,
        annotations: m.annotations,
        size: m.size,
    });
    let facts = ClassMetadata {
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
    fn patterns_are_distinguished_from_method_names() {
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
    fn supertypes_are_known_if_they_have_class_files() {
        let outline = |name: &str, above: &[&str]| Outline {
            name: name.into(),
            access: 0,
            above: above.iter().map(|name| (*name).to_owned()).collect(),
            annotations: Vec::new(),
            methods: Vec::new(),
        };
        let mut known = DirectSupertypes::new();
        for one in [outline("a.B", &["a.C", "a.I"]), outline("a.C", &["x.Y"])] {
            known.insert(one.name, one.above);
        }
        let (facts, unknown) = class_metadata(outline("a.A", &["a.B", "java.lang.Object"]), &known);
        let expected = ["a.B", "a.C", "a.I", "java.lang.Object", "x.Y"];
        assert_eq!(facts.supertypes, expected);
        assert!(!facts.complete);
        assert_eq!(unknown, ["a.I", "x.Y"]);
        let text = super::uncertain_message(
            &["a.A".into()],
            &unknown.into_iter().collect(),
            Path::new("b.jar"),
        );
        assert!(
            text.contains("(a.A) is not known: a.I, x.Y above them is not in b.jar"),
            "{text}"
        );
        // A cyclic hierarchy, which only a damaged jar contains, does not cause an endless loop.
        known.insert("x.Y".into(), vec!["a.C".into()]);
        known.insert("a.I".into(), Vec::new());
        assert!(
            super::class_metadata(outline("a.A", &["a.B"]), &known)
                .0
                .complete
        );
    }
}
