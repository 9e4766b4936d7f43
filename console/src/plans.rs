//! Reading plans from their files, and checking them before the application starts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use veneer_protocol::PlanSource;
use veneer_scripts::Plan;

use crate::modules::{self, ModuleError};

/// More is no plan but a mistake, in bytes.
const LARGEST: u64 = 4 << 20;

/// Why a plan cannot be used.
#[derive(Debug, Error)]
pub enum PlanError {
    /// The file cannot be read.
    #[error("the plan {path} cannot be read: {source}; check its name and permissions", path = .path.display())]
    Unreadable {
        /// As given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("the plan {path} is {what}, not Rhai source text; check its name", path = .path.display())]
    NotText {
        /// As given.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// What it imports cannot be had.
    #[error(transparent)]
    Module(#[from] ModuleError),
}

/// Reads a plan.
pub fn read(path: &Path, settings: &BTreeMap<String, String>) -> Result<PlanSource, PlanError> {
    let unreadable = |source| PlanError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let not_text = |what| PlanError::NotText {
        path: path.to_owned(),
        what,
    };
    let meta = fs::metadata(path).map_err(unreadable)?;
    if meta.is_dir() {
        return Err(not_text("a directory"));
    }
    if meta.len() > LARGEST {
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

/// Of several plans each gets the settings that it speaks of, since it takes one that it does not know for a mistake. The first also gets
/// those that none speaks of.
pub fn divide(plans: &mut [PlanSource]) {
    if plans.len() < 2 {
        return;
    }
    let speaks = |plan: &PlanSource, name: &str| {
        let word = format!("\"{name}\"");
        plan.source.contains(&word) || plan.modules.values().any(|text| text.contains(&word))
    };
    let all = plans.first().map(|plan| plan.settings.clone());
    let lost = |name: &String| !plans.iter().any(|plan| speaks(plan, name));
    let lost: Vec<String> = all
        .iter()
        .flatten()
        .map(|s| s.0.clone())
        .filter(lost)
        .collect();
    for (n, plan) in plans.iter_mut().enumerate() {
        let mut settings = std::mem::take(&mut plan.settings);
        settings.retain(|name, _| speaks(plan, name) || n == 0 && lost.contains(name));
        plan.settings = settings;
    }
}

/// Says whether the plan is a program at all; nothing of it runs. The error has file, line, column, the
/// line and a caret. (What only shows when it runs is the agent's to find, which knows of `--strict`.)
pub fn check_plan(plan: &PlanSource) -> Result<(), veneer_scripts::PlanError> {
    Plan::compile_with(&plan.name, &plan.source, &plan.modules).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plan_is_said() {
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
