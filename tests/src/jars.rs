//! Third-party jars, downloaded by name from Maven Central at pinned versions.
//!
//! `tests/jars.txt` has one line for each jar: a short name, the coordinates, and the SHA-256 of
//! the file. The files are stored in `target/jars`, and no release contains them. A file with a
//! wrong checksum is rejected.
//!
//! ```text
//!   h2  com.h2database:h2:2.3.232  ‹64 hex digits›
//!   │   └ group:artifact:version[:classifier]
//!   └ the name that tests use
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::folder::workspace;
use crate::process::{Process, ProcessError};

/// The base address of the repository. The variable `VENEER_MAVEN` can name a mirror.
const CENTRAL: &str = "https://repo1.maven.org/maven2";

/// Why a jar is not available.
#[derive(Debug, thiserror::Error)]
pub enum JarError {
    #[error("tests/jars.txt has no jar named {0}: add a line `{0} group:artifact:version sha256`")]
    Unknown(String),
    #[error(
        "tests/jars.txt:{line}: `{text}` is not `name group:artifact:version[:classifier] sha256`"
    )]
    Line { line: usize, text: String },
    #[error(
        "{url} cannot be fetched ({reason}): is the network there? VENEER_MAVEN names a mirror"
    )]
    Fetch { url: String, reason: String },
    #[error("{url} has the SHA-256 {found}, tests/jars.txt says {expected}: the file is not used")]
    Checksum {
        url: String,
        found: String,
        expected: String,
    },
    #[error("{path}: {source}", path = path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// A line of `tests/jars.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jar {
    /// The name that tests use.
    pub name: String,
    /// The Maven coordinates: `group:artifact:version[:classifier]`.
    pub coordinates: String,
    sha256: String,
}

impl std::fmt::Display for Jar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.coordinates)
    }
}

impl Jar {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (name, coordinates, sha256) = (words.next()?, words.next()?, words.next()?);
        let parts = coordinates.split(':').count();
        let hexadecimal = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
        ((3..=4).contains(&parts) && hexadecimal && words.next().is_none()).then(|| Self {
            name: name.to_string(),
            coordinates: coordinates.to_string(),
            sha256: sha256.to_ascii_lowercase(),
        })
    }

    pub fn version(&self) -> &str {
        self.coordinates.split(':').nth(2).unwrap_or_default()
    }

    fn file(&self) -> String {
        let parts: Vec<&str> = self.coordinates.split(':').collect();
        match parts[..] {
            [_, artifact, version, classifier] => format!("{artifact}-{version}-{classifier}.jar"),
            [_, artifact, version] => format!("{artifact}-{version}.jar"),
            _ => format!("{}.jar", self.name),
        }
    }

    fn url(&self) -> String {
        let base = std::env::var("VENEER_MAVEN").unwrap_or_else(|_| CENTRAL.to_string());
        let parts: Vec<&str> = self.coordinates.split(':').collect();
        let group = parts.first().map_or(String::new(), |g| g.replace('.', "/"));
        let (artifact, version) = (parts.get(1).unwrap_or(&""), self.version());
        format!("{base}/{group}/{artifact}/{version}/{}", self.file())
    }

    /// Returns the path of the file, and downloads it if it is missing.
    pub fn path(&self) -> Result<PathBuf, JarError> {
        let folder = workspace().join("target/jars");
        let path = folder.join(self.file());
        if path.is_file() && digest(&path)? == self.sha256 {
            return Ok(path);
        }
        std::fs::create_dir_all(&folder).map_err(|source| JarError::File {
            path: folder.clone(),
            source,
        })?;
        // Several tests may want the same jar at once. Each downloads its own copy; renaming is
        // atomic.
        let part = folder.join(format!(
            "{}.{}.{:?}.part",
            self.file(),
            std::process::id(),
            std::thread::current().id()
        ));
        let url = self.url();
        fetch(&url, &part).map_err(|error| JarError::Fetch {
            url: url.clone(),
            reason: error.to_string(),
        })?;
        let found = digest(&part)?;
        if found != self.sha256 {
            let _ = std::fs::remove_file(&part);
            return Err(JarError::Checksum {
                url,
                found,
                expected: self.sha256.clone(),
            });
        }
        std::fs::rename(&part, &path).map_err(|source| JarError::File {
            path: path.clone(),
            source,
        })?;
        Ok(path)
    }
}

fn fetch(url: &str, into: &Path) -> Result<(), ProcessError> {
    Process::new("curl")
        .args(["--fail", "--silent", "--show-error", "--location"])
        .args(["--retry", "3", "--connect-timeout", "20", "--output"])
        .arg(into)
        .arg(url)
        .limit(Duration::from_secs(600))
        .run()?
        .succeeded("curl")?;
    Ok(())
}

fn digest(path: &Path) -> Result<String, JarError> {
    let bytes = std::fs::read(path).map_err(|source| JarError::File {
        path: path.to_path_buf(),
        source,
    })?;
    Ok(Sha256::digest(&bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect())
}

/// All jars of `tests/jars.txt`, keyed by name.
pub fn all() -> Result<&'static BTreeMap<String, Jar>, JarError> {
    static ALL: OnceLock<BTreeMap<String, Jar>> = OnceLock::new();
    if let Some(jars) = ALL.get() {
        return Ok(jars);
    }
    let mut jars = BTreeMap::new();
    for (i, text) in include_str!("../jars.txt").lines().enumerate() {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let jar = Jar::parse(text).ok_or_else(|| JarError::Line {
            line: i + 1,
            text: text.to_string(),
        })?;
        jars.insert(jar.name.clone(), jar);
    }
    Ok(ALL.get_or_init(|| jars))
}

/// Returns the jar with this name.
pub fn named(name: &str) -> Result<&'static Jar, JarError> {
    all()?
        .get(name)
        .ok_or_else(|| JarError::Unknown(name.to_string()))
}

/// Returns the path of the jar with this name, and downloads it if it is missing.
pub fn jar(name: &str) -> Result<PathBuf, JarError> {
    named(name)?.path()
}

/// Returns the paths of several jars, in the order of their names.
pub fn jars(names: &[&str]) -> Result<Vec<PathBuf>, JarError> {
    names.iter().map(|name| jar(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_well_formed() {
        assert!(all().is_ok_and(|jars| !jars.is_empty()), "{:?}", all());
    }

    #[test]
    fn coordinates_give_the_address() {
        let line = format!("x a.b:c:1.0:tests {}", "0".repeat(64));
        let jar = Jar::parse(&line).map(|jar| jar.url());
        assert!(jar.is_some_and(|url| url.ends_with("/a/b/c/1.0/c-1.0-tests.jar")));
        assert_eq!(Jar::parse("x a:b 00"), None);
    }
}
