//! The source files of a checkout.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders that hold no source of this project.
const SKIPPED: [&str; 4] = ["target", ".git", "node_modules", "corpus"];

/// The files below `root` that have one of the extensions, sorted.
pub fn with_extension(root: &Path, extensions: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type()?.is_dir() {
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    folders.push(path);
                }
            } else if extensions
                .iter()
                .any(|e| path.extension().is_some_and(|x| x == *e))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folders of the crates: each has a `Cargo.toml` and a folder `src`.
pub fn crates(root: &Path) -> io::Result<Vec<PathBuf>> {
    let manifests = with_extension(root, &["toml"])?;
    let folders = manifests
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "Cargo.toml"))
        .filter_map(|path| path.parent().map(Path::to_path_buf));
    Ok(folders
        .filter(|folder| folder.join("src").is_dir())
        .collect())
}
