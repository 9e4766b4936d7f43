//! A folder with recordings, and the files below it.
//!
//! Files are opened step by step from the folder, and no step follows a symbolic link. So no name in the
//! folder leads out of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};
use veneer_traces::format::NAMES_FILE;

use super::kind::{FileKind, START_BYTES, problem_of_start};
use crate::page::api_error::ApiError;

/// How many folders below the named one are visited.
const MAX_DEPTH: usize = 3;
/// The most files and folders that are looked at.
const MAX_VISITED: usize = 20_000;

/// A folder that the user named, or the folder of a file that the user named.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder without symbolic links.
    pub path: PathBuf,
    /// The only file that is shown, if the user named a file.
    only: Option<OsString>,
    /// Whether files are left out, and only traces are shown.
    has_only_traces: bool,
}

/// A recording in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The path below the folder; empty if the folder itself is a trace.
    pub path: PathBuf,
    pub kind: FileKind,
    /// The size of a file; 0 for a trace.
    pub bytes: u64,
    /// The time of the last change in seconds since 1970.
    pub modified: i64,
    /// Why it cannot be shown, as far as its first bytes tell.
    pub problem: Option<ApiError>,
}

impl Folder {
    /// The folder at a path, or the folder of the file at a path.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be read.
    pub fn at(path: &Path, has_only_traces: bool) -> io::Result<Folder> {
        let path = fs::canonicalize(path)?;
        if fs::metadata(&path)?.is_dir() {
            fs::read_dir(&path)?;
            let only = None;
            return Ok(Folder {
                path,
                only,
                has_only_traces,
            });
        }
        File::open(&path)?;
        let only = path.file_name().map(OsString::from);
        let path = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(Folder {
            path,
            only,
            has_only_traces,
        })
    }

    /// The recordings in the folder, sorted by path. Files that cannot be read are left out.
    pub fn files(&self) -> Vec<FoundFile> {
        let mut found = Vec::new();
        if let Some(name) = &self.only {
            found.extend(self.file(Path::new(name)));
            return found;
        }
        let mut visited = 0;
        self.walk(Path::new(""), 0, &mut visited, &mut found);
        // The user expects a trace there, and the view says why it is none.
        if found.is_empty() && self.has_only_traces {
            found.extend(self.trace(Path::new("")));
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    /// Opens a file below the folder.
    ///
    /// # Errors
    /// It is no file, a step to it is a symbolic link, or it cannot be read.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        // Opening a pipe would wait for a writer.
        let file = File::from(self.descend(path, OFlags::NONBLOCK)?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is no file")),
        }
    }

    /// The path of a trace below the folder, for readers that open its files by name.
    ///
    /// # Errors
    /// A step to it, or a file in it, is a symbolic link, or it cannot be read.
    pub fn open_trace(&self, path: &Path) -> io::Result<PathBuf> {
        self.check_links(path)?;
        let index = path.join("index");
        match self.check_links(&index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(self.path.join(path))
    }

    /// Checks that no entry of a folder is a symbolic link.
    fn check_links(&self, path: &Path) -> io::Result<()> {
        let directory = self.descend(path, OFlags::DIRECTORY)?;
        for entry in entries(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_symlink() {
                let name = entry.file_name().to_string_lossy().into_owned();
                return Err(io::Error::other(format!(
                    "`{name}` in it is a symbolic link"
                )));
            }
        }
        Ok(())
    }

    fn walk(&self, path: &Path, depth: usize, visited: &mut usize, found: &mut Vec<FoundFile>) {
        let Ok(directory) = self.descend(path, OFlags::DIRECTORY) else {
            return;
        };
        if has_names(&directory) {
            found.extend(self.trace(path));
            return;
        }
        let Ok(entries) = entries(&directory) else {
            return;
        };
        for entry in entries.flatten() {
            *visited += 1;
            if *visited > MAX_VISITED {
                return;
            }
            let path = path.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                    self.walk(&path, depth + 1, visited, found);
                }
                Ok(kind) if kind.is_file() && !self.has_only_traces => {
                    found.extend(self.file(&path));
                }
                _ => {}
            }
        }
    }

    /// The file at a path, if it is a recording.
    fn file(&self, path: &Path) -> Option<FoundFile> {
        let file = self.open(path).ok()?;
        let meta = file.metadata().ok()?;
        let mut start = Vec::new();
        file.take(START_BYTES).read_to_end(&mut start).ok()?;
        let kind = FileKind::of_start(path, &start)?;
        Some(FoundFile {
            kind,
            path: path.to_path_buf(),
            bytes: meta.len(),
            modified: meta.mtime(),
            problem: problem_of_start(kind, &start),
        })
    }

    fn trace(&self, path: &Path) -> Option<FoundFile> {
        let directory = File::from(self.descend(path, OFlags::DIRECTORY).ok()?);
        Some(FoundFile {
            path: path.to_path_buf(),
            kind: FileKind::Trace,
            bytes: 0,
            modified: directory.metadata().ok()?.mtime(),
            problem: None,
        })
    }

    /// Opens what is at a path below the folder. `last` are flags of the last step.
    fn descend(&self, path: &Path, last: OFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut place = open(&self.path, flags | OFlags::DIRECTORY, Mode::empty())?;
        let mut steps = path.components().peekable();
        while let Some(step) = steps.next() {
            let Component::Normal(name) = step else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            let kind = match steps.peek() {
                Some(_) => OFlags::DIRECTORY,
                None => last,
            };
            place = openat(&place, name, flags | OFlags::NOFOLLOW | kind, Mode::empty())?;
        }
        Ok(place)
    }
}

/// The entries of an open directory, whatever its name means by now.
fn entries(directory: &OwnedFd) -> io::Result<fs::ReadDir> {
    fs::read_dir(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

/// Whether a directory has the names file of a trace.
fn has_names(directory: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = openat(directory, NAMES_FILE, flags, Mode::empty());
    let meta = file.ok().and_then(|file| File::from(file).metadata().ok());
    meta.is_some_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// The beginning of a file of calls.
    const CALLS: &[u8] = b"veneerCG\x01\0\0\0";

    fn paths(folder: &Folder) -> Vec<String> {
        let files = folder.files();
        let paths = files.iter().map(|file| file.path.display().to_string());
        paths.collect()
    }

    #[test]
    fn recordings_are_found_and_other_files_are_not() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("a/b/c/d/e")).unwrap();
        fs::create_dir(at("t")).unwrap();
        for (name, text) in [
            ("x.calls", CALLS),
            ("renamed", CALLS),
            ("empty.calls", b""),
            ("notes.txt", b"veneer"),
            ("a/b/found.json", b"{\"schema\":1,\"findings\":[]}"),
            ("a/package.json", b"{\"name\":\"x\"}"),
            ("a/b/c/d/e/deep.calls", CALLS),
            ("t/names", b""),
            ("t/thread-1.events", b""),
        ] {
            fs::write(at(name), text).unwrap();
        }
        let folder = Folder::at(place.path(), false).unwrap();
        let all = ["a/b/found.json", "empty.calls", "renamed", "t", "x.calls"];
        assert_eq!(paths(&folder), all);
        assert_eq!(
            paths(&Folder::at(&at("x.calls"), false).unwrap()),
            ["x.calls"]
        );
        assert_eq!(paths(&Folder::at(place.path(), true).unwrap()), ["t"]);
        assert_eq!(paths(&Folder::at(&at("t"), true).unwrap()), [""]);
        // The user said that this is a trace, so it is shown with its problem.
        assert_eq!(paths(&Folder::at(&at("a/b/c"), true).unwrap()), [""]);
        assert!(Folder::at(&at("none"), false).is_err());
    }

    #[test]
    fn nothing_leads_out_of_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("in");
        let outside = place.path().join("out");
        for folder in [&inside, &outside] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(outside.join("secret.calls"), CALLS).unwrap();
        fs::write(outside.join("names"), "").unwrap();
        symlink(outside.join("secret.calls"), inside.join("link.calls")).unwrap();
        symlink(&outside, inside.join("folder")).unwrap();
        let folder = Folder::at(&inside, false).unwrap();
        assert_eq!(paths(&folder), Vec::<String>::new());
        for path in [
            "link.calls",
            "folder/secret.calls",
            "../out/secret.calls",
            "./../out/secret.calls",
            outside.join("secret.calls").to_str().unwrap(),
        ] {
            assert!(folder.open(Path::new(path)).is_err(), "{path}");
        }
        assert!(folder.open_trace(Path::new("folder")).is_err());
        // A trace whose events are elsewhere.
        fs::create_dir(inside.join("t")).unwrap();
        fs::write(inside.join("t/names"), "").unwrap();
        assert!(folder.open_trace(Path::new("t")).is_ok());
        symlink(outside.join("names"), inside.join("t/thread-1.events")).unwrap();
        let refused = folder.open_trace(Path::new("t")).unwrap_err().to_string();
        assert_eq!(refused, "`thread-1.events` in it is a symbolic link");
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe.calls");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let folder = Folder::at(place.path(), false).unwrap();
        assert!(folder.open(Path::new("pipe.calls")).is_err());
        assert_eq!(paths(&folder), Vec::<String>::new());
    }
}
