//! A temporary folder that is removed with its owner, and the comparison of whole folders.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new, empty folder below the system's temporary folder. It is removed on drop, unless the
/// variable `VENEER_KEEP` is set.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates the folder; `what` becomes part of its name.
    pub fn new(what: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("veneer-{what}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::env::var_os("VENEER_KEEP").is_none() {
            // A folder that cannot be removed is no failure of the test that made it.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Returns all files below a folder whose name ends in `.{extension}`, ordered by path.
pub fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Compares the files with an extension in two folders byte by byte. Returns the number of such
/// files in the first folder, and one line for each difference.
pub fn differences(one: &Path, other: &Path, extension: &str) -> io::Result<(usize, Vec<String>)> {
    let left = relative(one, extension)?;
    let right = relative(other, extension)?;
    let mut lines = Vec::new();
    for (name, path) in &left {
        match right.get(name) {
            None => lines.push(format!(
                "{} is missing in {}",
                name.display(),
                other.display()
            )),
            Some(twin) if std::fs::read(path)? != std::fs::read(twin)? => {
                lines.push(format!("{} differs", name.display()));
            }
            Some(_) => {}
        }
    }
    for name in right.keys().filter(|name| !left.contains_key(*name)) {
        lines.push(format!("{} is only in {}", name.display(), other.display()));
    }
    Ok((left.len(), lines))
}

fn relative(folder: &Path, extension: &str) -> io::Result<BTreeMap<PathBuf, PathBuf>> {
    let mut names = BTreeMap::new();
    for path in files(folder, extension)? {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
        names.insert(name, path);
    }
    Ok(names)
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_differs() -> io::Result<()> {
        let (a, b) = (Folder::new("a")?, Folder::new("b")?);
        for (folder, name, text) in [
            (&a, "Same.class", "1"),
            (&b, "Same.class", "1"),
            (&a, "Other.class", "1"),
            (&b, "Other.class", "2"),
            (&a, "Left.class", "1"),
            (&b, "Right.class", "1"),
            (&b, "ignored.txt", "1"),
        ] {
            std::fs::write(folder.join(name), text)?;
        }
        let (count, lines) = differences(a.path(), b.path(), "class")?;
        assert_eq!(count, 3);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines.iter().any(|line| line == "Other.class differs"));
        Ok(())
    }
}
