//! The reference of all functions that plans can call. The texts are used in error messages, in the
//! help at a prompt, and in `docs/reference.md`.

mod function_table;

use function_table::{Function, GROUPS};
use std::fmt::Write;
use veneer_instruments::nearest_words;

fn all() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| group.functions)
}

/// Returns the usage of the function with this name; `None` if the API has no such function.
pub(crate) fn usage(name: &str) -> Option<&'static str> {
    all().find(|f| f.name == name).map(|f| f.usage)
}

/// Returns the usage of the function with the most similar name.
pub(crate) fn nearest_usage(name: &str) -> Option<&'static str> {
    usage(nearest_name(name)?)
}

/// Returns the function with the most similar name. Functions that are called without a receiver
/// have priority.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    let (alone, others): (Vec<_>, Vec<_>) =
        all().partition(|f| f.usage.starts_with(&format!("{}(", f.name)));
    let nearest = |some: &[&'static Function]| {
        let found = nearest_words(name, some.iter().map(|f| f.name), 1).pop()?;
        some.iter().map(|f| f.name).find(|name| *name == found)
    };
    nearest(&alone).or_else(|| nearest(&others))
}

/// A function as a prompt completes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Callable {
    /// The name of the function.
    pub name: &'static str,
    /// Whether the function is called on a receiver: `methods(…).before(…)`.
    pub of_something: bool,
}

/// Returns all functions in alphabetical order. A function that has both forms is listed twice.
pub fn callables() -> Vec<Callable> {
    let mut found = Vec::new();
    for f in all() {
        for of_something in [false, true] {
            let written = |at: usize| {
                let before = f.usage.get(..at).and_then(|before| before.chars().last());
                (before == Some('.')) == of_something
                    && before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
            };
            let call = format!("{}(", f.name);
            if f.usage.match_indices(&call).any(|(at, _)| written(at)) {
                let name = f.name;
                found.push(Callable { name, of_something });
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the description of all functions with this name as text, including functions of probes.
/// Returns `None` if there is no such function.
pub fn help(name: &str) -> Option<String> {
    let mut entries: Vec<String> = Vec::new();
    for f in all().filter(|f| f.name == name) {
        let returns = match f.returns {
            "" => String::new(),
            returns => format!("  returns {returns}\n"),
        };
        entries.push(format!(
            "{}\n{returns}  {}\n",
            f.usage,
            f.description.replace('`', "")
        ));
    }
    for f in veneer_probes::function::FUNCTIONS {
        if f.name == name {
            let takes: Vec<String> = f.parameters.iter().map(ToString::to_string).collect();
            entries.push(format!(
                "{name}({}), in code at a point\n  returns {}\n  {}\n",
                takes.join(", "),
                f.result,
                f.description.replace('`', "")
            ));
        }
    }
    (!entries.is_empty()).then(|| entries.concat())
}

/// Returns the names of all functions, by group.
pub fn overview() -> String {
    let mut out = String::new();
    for group in GROUPS {
        let names: Vec<&str> = group.functions.iter().map(|f| f.name).collect();
        let _ = writeln!(out, "{}: {}", group.name, names.join(", "));
    }
    out
}

/// Returns the reference of all functions as Markdown.
pub fn reference() -> String {
    let mut out = String::from(HEAD);
    let cell = |text: &str| text.replace('|', "\\|");
    for group in GROUPS {
        let _ = write!(
            out,
            "\n## {}\n\n| usage | returns | description |\n| --- | --- | --- |\n",
            group.name
        );
        for f in group.functions {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} |",
                cell(f.usage),
                cell(f.returns),
                cell(f.description)
            );
        }
    }
    out += "\n## In code at a point\n\n| function | parameters | returns | description |\n| --- | --- | --- | --- |\n";
    out += "| `as_a(…, \"a.b.C\")` | object, constant | object | the object, if it is an instance of this class or interface, otherwise `()` |\n";
    out += "| `hash_of_method()` | | int | the number of the method that contains the point, as `hash_of_method(class, method)` computes it outside of code at points |\n";
    out += "| `describe(…)` | any value | string | an object as its class and at most 12 fields of its static type, `Order{id=7, user=User}`; an enum, a number in a box, a date, `BigDecimal` or `UUID` as its text; a collection of the JDK as its class and size; other values as they are |\n";
    out += "| `size(…)`, `….len` | object | int | the length of a string or an array, the number of elements of a collection or map of the JDK; 0 for `()`, and -1 if the object is of another class |\n";
    out += "| `trace_event(\"label\", …)` | constant, any value | | writes an event with a label, and with a value or without one, into the trace that is recorded |\n";
    out += "| `trace_begin(\"label\", …)`, `trace_end(\"label\")` | constant, any value | | writes the beginning and the end of a span into the trace that is recorded: its time, inside the call around it |\n";
    out += "| `here()` | | string | the name of the point, `shop.Desk.serve:41`; its last 64 characters |\n";
    out += "| `site_id()` | | int | a number for the instruction of the point: a hash of class, method and bytecode index, equal in each run |\n";
    for f in veneer_probes::function::FUNCTIONS {
        let takes: Vec<String> = f.parameters.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "| `{}({})` | {} | {} | {} |",
            f.name,
            vec!["…"; takes.len()].join(", "),
            takes.join(", "),
            f.result,
            cell(f.description)
        );
    }
    out
}

const HEAD: &str = "# Reference of plans\n\nThis document lists every function that a plan can call. It is generated from the source code (`VENEER_BLESS=1 cargo test -p veneer-scripts \
                    --test reference`). The guide is `plans.md`.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_with_and_without_receiver_are_distinguished() {
        let all = callables();
        let is = |name: &str, of_something| {
            all.iter()
                .any(|c| c.name == name && c.of_something == of_something)
        };
        for name in ["methods", "counter", "every", "now", "detach"] {
            assert!(is(name, false), "{name}");
        }
        for name in ["before", "blocks", "table", "hits", "detach", "cancel"] {
            assert!(is(name, true), "{name}");
        }
        assert!(!is("methods", true) && !is("before", false) && !is("table", false));
        // `after` has both forms.
        assert!(is("after", true) && is("after", false));
    }

    #[test]
    fn help_is_the_text_of_the_reference() {
        let text = help("counter").unwrap_or_default();
        assert_eq!(
            text,
            "counter()\n  returns instrument\n  Counts how often a point is passed.\n"
        );
        assert!(help("starts_with").is_some_and(|text| text.contains("in code at a point")));
        assert_eq!(help("countr"), None);
        assert_eq!(nearest_name("countr"), Some("counter"));
    }

    #[test]
    fn every_function_is_described_in_the_guide() {
        let text = include_str!("../../docs/plans.md");
        for f in all() {
            assert!(
                text.contains(&format!("{}(", f.name)),
                "docs/plans.md: {}",
                f.name
            );
        }
        for function in veneer_probes::function::FUNCTIONS {
            assert!(
                text.contains(function.description),
                "docs/plans.md: {}",
                function.description
            );
        }
    }
}
