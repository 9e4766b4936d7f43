//! Reads plans from their files, and checks them before the application starts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use veneer_protocol::PlanSource;
use veneer_scripts::Plan;

use crate::modules::{self, ModuleError};
use crate::shipped_plans;

/// Maximum size of a plan in bytes. A larger file is certainly not a plan.
const MAX_PLAN_BYTES: u64 = 4 << 20;

/// Why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanFileError {
    #[error("the plan {path} cannot be read: {source}; check its name and permissions (`veneer plans` lists those that ship with Veneer)", path = .path.display())]
    Unreadable {
        /// The path as the user wrote it.
        path: PathBuf,
        source: io::Error,
    },
    /// The file is not Rhai source text.
    #[error("the plan {path} is {what}, not Rhai source text; check its name", path = .path.display())]
    NotText {
        /// The path as the user wrote it.
        path: PathBuf,
        /// A description of the file, such as `a directory`.
        what: &'static str,
    },
    /// A module that the plan imports cannot be read.
    #[error(transparent)]
    Module(#[from] ModuleError),
}

/// Reads a plan from its file. If there is no such file, a plan that ships with Veneer may have the
/// name.
pub fn read(path: &Path, settings: &BTreeMap<String, String>) -> Result<PlanSource, PlanFileError> {
    let unreadable = |source| PlanFileError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let not_text = |what| PlanFileError::NotText {
        path: path.to_owned(),
        what,
    };
    let meta = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let shipped = path.to_str().and_then(shipped_plans::find);
            return shipped
                .map(|plan| plan.source(settings))
                .ok_or_else(|| unreadable(error));
        }
        meta => meta.map_err(unreadable)?,
    };
    if meta.is_dir() {
        return Err(not_text("a directory"));
    }
    if meta.len() > MAX_PLAN_BYTES {
        return Err(not_text("larger than 4 MiB"));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let name = path.display().to_string();
    let source = String::from_utf8(bytes).map_err(|_| not_text("no UTF-8 text"))?;
    let directory = path.parent().unwrap_or(Path::new(""));
    Ok(PlanSource {
        modules: modules::read(directory, &name, &source)?,
        name,
        source,
        settings: settings.clone(),
    })
}

/// Assigns the settings to several plans. Each plan gets the settings whose names occur in its text
/// as string literals, because a plan reports a setting that it does not know as an error. The
/// first plan also gets the settings whose names occur in no plan, so that this error is reported.
pub fn assign_settings(plans: &mut [PlanSource]) {
    if plans.len() < 2 {
        return;
    }
    let mentions = |plan: &PlanSource, name: &str| {
        let word = format!("\"{name}\"");
        plan.source.contains(&word) || plan.modules.values().any(|text| text.contains(&word))
    };
    let all = plans.first().map(|plan| plan.settings.clone());
    let unmentioned = |name: &String| !plans.iter().any(|plan| mentions(plan, name));
    let unmentioned: Vec<String> = all
        .iter()
        .flatten()
        .map(|s| s.0.clone())
        .filter(unmentioned)
        .collect();
    for (n, plan) in plans.iter_mut().enumerate() {
        let mut settings = std::mem::take(&mut plan.settings);
        settings.retain(|name, _| mentions(plan, name) || n == 0 && unmentioned.contains(name));
        plan.settings = settings;
    }
}

/// Compiles the plan without running it. The error contains file, line, column, the source line and
/// a caret. Errors that only occur at run time are found by the agent, which also knows `--strict`.
pub fn check_plan(plan: &PlanSource) -> Result<(), veneer_scripts::PlanError> {
    Plan::compile_with(&plan.name, &plan.source, &plan.modules).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_plans_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p.rhai");
        let error = read(&path, &BTreeMap::new()).unwrap_err().to_string();
        assert!(error.contains("p.rhai cannot be read"), "{error}");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(
            read(&path, &BTreeMap::new())
                .unwrap_err()
                .to_string()
                .contains("no UTF-8 text")
        );
        assert!(
            read(directory.path(), &BTreeMap::new())
                .unwrap_err()
                .to_string()
                .contains("a directory")
        );
        fs::write(&path, "print(1);").unwrap();
        assert_eq!(read(&path, &BTreeMap::new()).unwrap().source, "print(1);");
    }
}
