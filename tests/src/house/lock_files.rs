//! Lock files of packages outside the workspace: `fuzz/Cargo.lock`.
//!
//! No command of the checks builds these packages, so a dependency that a crate of the workspace
//! gains would leave their lock files behind unnoticed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;
use toml::{Table, Value};

/// A dependency that a manifest names and the lock file does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The package whose manifest names the dependency.
    pub package: String,
    pub dependency: String,
}

#[derive(Deserialize)]
struct LockFile {
    package: Vec<Locked>,
}

/// An entry of a lock file.
#[derive(Deserialize)]
struct Locked {
    name: String,
    /// Names, each followed by a version if there are several versions of the package.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Compares the lock file of a package outside the workspace with its manifest and with the
/// manifests of all packages that it reaches by paths. `manifest` is the path of a `Cargo.toml`.
pub fn missing(manifest: &Path) -> io::Result<Vec<Missing>> {
    let lock = fs::read_to_string(manifest.with_file_name("Cargo.lock"))?;
    let lock: LockFile = toml::from_str(&lock).map_err(io::Error::other)?;
    let mut found = BTreeSet::new();
    let mut todo = vec![manifest.canonicalize()?];
    let mut done = BTreeSet::new();
    while let Some(path) = todo.pop() {
        if !done.insert(path.clone()) {
            continue;
        }
        let table: Table = fs::read_to_string(&path)?
            .parse()
            .map_err(io::Error::other)?;
        let package = package_name(&table);
        let locked = lock.package.iter().find(|locked| locked.name == package);
        for dependency in dependencies(&table) {
            if let Some(folder) = dependency.folder(&path)? {
                todo.push(folder.join("Cargo.toml").canonicalize()?);
            }
            let is_locked = locked.is_some_and(|locked| has(locked, &dependency.package));
            if !is_locked {
                found.insert(Missing {
                    package: package.clone(),
                    dependency: dependency.package,
                });
            }
        }
    }
    Ok(found.into_iter().collect())
}

fn package_name(manifest: &Table) -> String {
    let package = manifest.get("package").and_then(|p| p.get("name"));
    package
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_string()
}

fn has(locked: &Locked, dependency: &str) -> bool {
    locked
        .dependencies
        .iter()
        .any(|text| text.split(' ').next() == Some(dependency))
}

/// A dependency in a manifest.
#[derive(Debug, PartialEq, Eq)]
struct Dependency {
    /// The package's name, which differs from the key if the manifest renames it.
    package: String,
    /// The folder if the manifest states one, relative to the manifest.
    path: Option<String>,
    /// The version, features and folder are those of the workspace.
    of_workspace: bool,
}

impl Dependency {
    /// The folder of a dependency of the manifest `of`, for a dependency by path.
    fn folder(&self, of: &Path) -> io::Result<Option<PathBuf>> {
        let folder = of.parent().unwrap_or(of);
        if let Some(path) = &self.path {
            return Ok(Some(folder.join(path)));
        }
        if !self.of_workspace {
            return Ok(None);
        }
        let root = crate::folder::workspace();
        let manifest: Table = fs::read_to_string(root.join("Cargo.toml"))?
            .parse()
            .map_err(io::Error::other)?;
        let stated = manifest
            .get("workspace")
            .and_then(|w| w.get("dependencies"))
            .and_then(|d| d.get(&self.package))
            .and_then(|d| d.get("path"));
        Ok(stated.and_then(Value::as_str).map(|path| root.join(path)))
    }
}

/// The dependencies that every build has: optional ones and those of tests are left out.
fn dependencies(manifest: &Table) -> Vec<Dependency> {
    let Some(table) = manifest.get("dependencies").and_then(Value::as_table) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, value) in table {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let is_set = |name: &str| value.get(name).and_then(Value::as_bool) == Some(true);
        if is_set("optional") {
            continue;
        }
        found.push(Dependency {
            package: text("package").unwrap_or(key).to_string(),
            path: text("path").map(str::to_string),
            of_workspace: is_set("workspace"),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_dependencies_and_those_of_tests_are_left_out() {
        let manifest: Table = "\
            [dependencies]\n\
            a = \"1\"\n\
            b = { path = \"../b\" }\n\
            c = { workspace = true }\n\
            d = { version = \"1\", optional = true }\n\
            e = { package = \"f\", version = \"1\" }\n\
            [dev-dependencies]\n\
            g = \"1\"\n"
            .parse()
            .unwrap();
        let found: Vec<String> = dependencies(&manifest)
            .into_iter()
            .map(|d| d.package)
            .collect();
        assert_eq!(found, ["a", "b", "c", "f"]);
    }

    #[test]
    fn a_version_may_follow_the_name_in_a_lock_file() {
        let locked = Locked {
            name: "a".into(),
            dependencies: vec!["b".into(), "cc 1.0.0".into()],
        };
        assert!(has(&locked, "b") && has(&locked, "cc"));
        assert!(!has(&locked, "c"));
    }
}
