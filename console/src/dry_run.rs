//! `veneer exec PID --dry-run`: runs the top level of a plan without the agent, and says what it would
//! attach.
//!
//! ```text
//!   plan ─▶ parser ─▶ top level, on a runtime without a JVM ─▶ instruments and edits
//!                                                                    │ patterns
//!   JVM ─▶ names of its loaded classes (no agent is loaded) ─────────┴─▶ how many classes match
//! ```
//!
//! A dry run finds errors of the language, unknown functions and variables, wrong arguments and malformed
//! patterns. Whether a method has a point or a variable is known to the agent only.

mod recording_runtime;

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Result;
use serde::Serialize;
use veneer_client::Target;
use veneer_client::classes::loaded_classes;
use veneer_instruments::nearest;
use veneer_protocol::PlanSource;
use veneer_scripts::{Plan, PlanError, PlanSession, PlanStage};

use crate::output::{print_error, print_note};
use recording_runtime::{Planned, RecordingRuntime};

/// The most similar class names that are shown for a pattern without a match.
const MAX_NEAREST: usize = 3;

/// The result of a dry run, as `--json` prints it.
#[derive(Debug, PartialEq, Serialize)]
struct DryRun {
    /// The instruments and edits in the order of the plan.
    attached: Vec<PlannedRow>,
    /// The lines that the top level printed.
    printed: Vec<String>,
    /// The error of the plan.
    error: Option<ErrorRow>,
}

/// An instrument or an edit that the plan would attach.
#[derive(Debug, PartialEq, Serialize)]
struct PlannedRow {
    /// The instrument or edit in words.
    text: String,
    /// Whether the plan would change what the program does.
    is_edit: bool,
    /// The number of loaded classes that match; `None` if it is not known.
    classes: Option<usize>,
    /// Similar names, if no class matches.
    nearest: Vec<String>,
}

/// The error of a plan.
#[derive(Debug, PartialEq, Serialize)]
struct ErrorRow {
    /// The line, from 1; 0 if the error has no position.
    line: usize,
    /// The column in characters, from 1; 0 if the error has no position.
    column: usize,
    /// The problem and the remedy.
    message: String,
    /// Whether the plan was correct until it ran. Such an error can come from the data that a dry run
    /// lacks.
    is_at_run_time: bool,
}

/// Runs the top level of a plan without the agent, and returns whether the plan is correct.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(target: Option<&Target>, plan: &PlanSource, is_json: bool) -> Result<bool> {
    let (planned, printed, failed) = run_top_level(plan);
    let classes = match target.map(loaded_classes) {
        Some(Ok(loaded)) => {
            let mut all = loaded.application;
            all.extend(loaded.jdk);
            Some(all)
        }
        Some(Err(error)) => {
            print_note(&format!("matching classes are not counted: {error}"));
            None
        }
        None => None,
    };
    let rows = planned.iter().map(|one| row(one, classes.as_deref()));
    let result = DryRun {
        attached: rows.collect(),
        printed,
        error: failed.as_ref().map(error_row),
    };
    let mut stdout = io::stdout().lock();
    if is_json {
        writeln!(stdout, "{}", serde_json::to_string(&result)?)?;
    } else {
        write_text(&mut stdout, &result)?;
    }
    stdout.flush()?;
    if let Some(error) = &failed {
        print_error(error);
    }
    Ok(failed.is_none())
}

/// Returns what the top level would attach, what it printed, and its error.
fn run_top_level(plan: &PlanSource) -> (Vec<Planned>, Vec<String>, Option<PlanError>) {
    let runtime = Arc::new(RecordingRuntime::default());
    let parsed = Plan::compile_with(&plan.name, &plan.source, &plan.modules);
    let ran = parsed.and_then(|parsed| {
        let session = PlanSession::new(runtime.clone());
        session.load(parsed.with_params(plan.settings.clone()))
    });
    let (planned, printed) = runtime.take();
    (planned, printed, ran.err())
}

fn row(planned: &Planned, classes: Option<&[String]>) -> PlannedRow {
    // Names alone do not say which classes are subtypes or have an annotation.
    let is_by_name = !planned.patterns.iter().any(|p| p.needs_metadata());
    let classes = classes.filter(|_| planned.is_chosen_by_patterns && is_by_name);
    let is_match = |class: &&String| planned.patterns.iter().any(|p| p.matches_class(class));
    let count = classes.map(|all| all.iter().filter(is_match).count());
    let similar = match (count, classes, planned.patterns.first()) {
        (Some(0), Some(all), Some(pattern)) => {
            nearest(pattern, all.iter().map(String::as_str), MAX_NEAREST)
        }
        _ => Vec::new(),
    };
    PlannedRow {
        text: planned.text.clone(),
        is_edit: planned.is_edit,
        classes: count,
        nearest: similar,
    }
}

fn error_row(error: &PlanError) -> ErrorRow {
    ErrorRow {
        line: error.line,
        column: error.column,
        message: error.message.clone(),
        is_at_run_time: error.stage != PlanStage::Compile,
    }
}

fn write_text(to: &mut impl Write, result: &DryRun) -> io::Result<()> {
    for line in &result.printed {
        writeln!(to, "{line}")?;
    }
    for row in &result.attached {
        let kind = if row.is_edit { "edit" } else { "instrument" };
        write!(to, "{kind}: {}", row.text)?;
        match (row.classes, row.nearest.as_slice()) {
            (None, _) => writeln!(to)?,
            (Some(0), []) => writeln!(to, " (no loaded class matches)")?,
            (Some(0), similar) => writeln!(
                to,
                " (no loaded class matches; did you mean {}?)",
                similar.join(" or ")
            )?,
            (Some(1), _) => writeln!(to, " (1 loaded class matches)")?,
            (Some(n), _) => writeln!(to, " ({n} loaded classes match)")?,
        }
    }
    let edits = result.attached.iter().filter(|row| row.is_edit).count();
    let instruments = result.attached.len() - edits;
    writeln!(
        to,
        "A dry run: the plan would attach {instruments} instruments and {edits} edits. Nothing was attached."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dry_run(source: &str) -> DryRun {
        let plan = PlanSource {
            name: "t".into(),
            source: source.into(),
            settings: Default::default(),
            modules: Default::default(),
        };
        let (planned, printed, failed) = run_top_level(&plan);
        let classes = ["shop.Desk", "shop.Order", "java.lang.String"].map(String::from);
        let rows = planned.iter().map(|one| row(one, Some(&classes)));
        DryRun {
            attached: rows.collect(),
            printed,
            error: failed.as_ref().map(error_row),
        }
    }

    #[test]
    fn instruments_and_edits_are_listed_with_the_classes_that_match() {
        let result = dry_run(
            "let h = methods(\"shop..*::*(..)\").before(counter());\n\
             methods(\"shop.Dsek::serve(..)\").around(timer());\n\
             methods(\"shop.Desk::round()\").skip(1);\nprint(\"done\");",
        );
        assert_eq!(result.error, None);
        assert_eq!(result.printed, ["done"]);
        let found: Vec<_> = result
            .attached
            .iter()
            .map(|row| (row.is_edit, row.classes))
            .collect();
        assert_eq!(found, [(false, Some(2)), (false, Some(0)), (true, Some(1))]);
        assert_eq!(result.attached[1].nearest, ["shop.Desk"]);
        let mut text = Vec::new();
        write_text(&mut text, &result).unwrap();
        let text = String::from_utf8(text).unwrap();
        for words in [
            "(2 loaded classes match)",
            "did you mean shop.Desk?",
            "edit: skip",
            "2 instruments and 1 edits",
        ] {
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn errors_have_their_line_and_column() {
        let parsed = dry_run("let a = 1;\nlet b = methods(;");
        let error = parsed.error.unwrap();
        assert_eq!((error.line, error.is_at_run_time), (2, false));
        assert!(error.column > 8, "{error:?}");
        let unknown = dry_run("let a = 1;\n  countr();").error.unwrap();
        assert_eq!((unknown.line, unknown.column), (2, 3));
        assert!(unknown.message.contains("counter()"), "{unknown:?}");
        let pattern = dry_run("methods(\"a b c::\").before(counter());")
            .error
            .unwrap();
        assert_eq!(pattern.line, 1);
        assert!(pattern.is_at_run_time);
    }

    #[test]
    fn an_endless_plan_ends_at_its_limit() {
        let endless = dry_run("loop { }").error.unwrap();
        assert!(endless.message.contains("limit of a plan"), "{endless:?}");
    }
}
