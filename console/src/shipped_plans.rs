//! `veneer plans`: the plans that ship with Veneer. The command contains their texts, so `exec` and
//! `run` find them by name on every machine.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Result, bail};
use veneer_protocol::PlanSource;
use veneer_scripts::modules::{imports, resolve};

use crate::cli::PlansArguments;
use crate::output::Style;
use crate::table;

/// A plan that ships with Veneer.
#[derive(Debug)]
pub struct ShippedPlan {
    /// The name of the file: `hot.rhai`.
    pub name: &'static str,
    /// The question that the plan answers.
    pub answers: &'static str,
    text: &'static str,
}

macro_rules! plan {
    ($name:literal, $answers:literal) => {
        ShippedPlan {
            name: concat!($name, ".rhai"),
            answers: $answers,
            text: include_str!(concat!("../../scripts/plans/", $name, ".rhai")),
        }
    };
}

/// All plans, as `docs/plans/shipped.md` describes them.
const PLANS: &[ShippedPlan] = &[
    plan!("hot", "which basic blocks run most"),
    plan!(
        "branches",
        "how often each branch is passed and taken (after BIT)"
    ),
    plan!(
        "opcodes",
        "how many instructions ran, and which (after BIT)"
    ),
    plan!("coverage", "which blocks and edges never ran"),
    plan!("timing", "where the time is spent, by method"),
    plan!("slow", "which calls are slow, and with which argument"),
    plan!(
        "exceptions",
        "which exceptions are thrown and caught, and at which place"
    ),
    plan!(
        "allocations",
        "which objects are allocated, and at which place"
    ),
    plan!(
        "locks",
        "where threads wait for monitors, and for locks of java.util.concurrent"
    ),
    plan!(
        "stacks",
        "which call stacks lead to a method; also for flame graphs"
    ),
    plan!(
        "receivers",
        "the classes of the receivers of calls, by call site"
    ),
    plan!("nulls", "which calls return null"),
    plan!(
        "trips",
        "how many iterations loops make: a histogram for each loop"
    ),
    plan!("tree", "a tree of calls with the time of each"),
    plan!(
        "http",
        "HTTP requests by path and status, with their time: servlets, and the JDK's own server"
    ),
    plan!(
        "sql",
        "SQL statements by their text, with their time, through the interfaces of JDBC"
    ),
    plan!("values", "the values of a variable at a line"),
    plan!(
        "strategy",
        "counts or times, by a strategy that you name; an example of a component"
    ),
];

/// The modules of the plans, by path.
const MODULES: &[(&str, &str)] = &[
    (
        "lib/strategy",
        include_str!("../../scripts/plans/lib/strategy.rhai"),
    ),
    (
        "lib/text",
        include_str!("../../scripts/plans/lib/text.rhai"),
    ),
];

/// Returns the plan of a name, with or without `.rhai`.
pub fn find(name: &str) -> Option<&'static ShippedPlan> {
    let is_named =
        |plan: &&ShippedPlan| plan.name == name || plan.name.strip_suffix(".rhai") == Some(name);
    PLANS.iter().find(is_named)
}

impl ShippedPlan {
    /// Returns the plan with its modules, for the agent.
    pub fn source(&self, settings: &BTreeMap<String, String>) -> PlanSource {
        let mut modules = BTreeMap::new();
        add_imports("", self.text, &mut modules);
        PlanSource {
            name: self.name.to_owned(),
            source: self.text.to_owned(),
            settings: settings.clone(),
            modules,
        }
    }
}

/// Adds the modules that a text imports, and those that these import.
fn add_imports(from: &str, text: &str, into: &mut BTreeMap<String, String>) {
    for import in imports(text) {
        // A test compiles all plans, so each import leads to a module.
        let Ok(key) = resolve(from, &import.path) else {
            continue;
        };
        let found = MODULES.iter().find(|(path, _)| *path == key);
        if let Some((path, text)) = found
            && into.insert(key.clone(), (*text).to_owned()).is_none()
        {
            add_imports(path, text, into);
        }
    }
}

/// Lists the plans, or prints the text of one.
pub fn run(arguments: PlansArguments) -> Result<u8> {
    let mut stdout = io::stdout().lock();
    let Some(name) = &arguments.name else {
        let rows: Vec<[String; 2]> = PLANS
            .iter()
            .map(|plan| [plan.name, plan.answers].map(String::from))
            .collect();
        table::write(&mut stdout, ["plan", "answers"], &rows, Style::of_stdout())?;
        return Ok(0);
    };
    let Some(plan) = find(name) else {
        bail!("no plan that ships with Veneer is called `{name}`; `veneer plans` lists them");
    };
    stdout.write_all(plan.text.as_bytes())?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn workspace() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
    }

    #[test]
    fn each_file_is_a_plan_that_compiles_with_its_modules() {
        let files = std::fs::read_dir(workspace().join("scripts/plans")).unwrap();
        let mut names: Vec<String> = files
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".rhai"))
            .collect();
        names.sort();
        let mut shipped: Vec<&str> = PLANS.iter().map(|plan| plan.name).collect();
        shipped.sort_unstable();
        assert_eq!(shipped, names);
        for plan in PLANS {
            let source = plan.source(&BTreeMap::new());
            crate::plans::check_plan(&source).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(
            find("branches")
                .unwrap()
                .source(&BTreeMap::new())
                .modules
                .len(),
            1
        );
    }

    #[test]
    fn the_list_is_that_of_the_documentation() {
        let page = std::fs::read_to_string(workspace().join("docs/plans/shipped.md")).unwrap();
        for plan in PLANS {
            let answers = plan.answers.split(" [").next().unwrap();
            let row = format!("| `{}` | ", plan.name);
            let line = page.lines().find_map(|line| line.strip_prefix(&row));
            let line = line
                .unwrap_or_default()
                .replace("[component](components.md)", "component");
            assert!(line.starts_with(answers), "{}: {line}", plan.name);
        }
    }

    #[test]
    fn a_plan_is_found_by_its_name() {
        assert_eq!(find("hot").unwrap().name, "hot.rhai");
        assert_eq!(find("hot.rhai").unwrap().name, "hot.rhai");
        assert!(find("cold").is_none() && find("lib/text").is_none());
    }
}
