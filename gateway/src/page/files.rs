//! Recordings and traces on disk, which `--data` and `--trace` name. The page lists and opens them as it
//! opens its own recordings.
//!
//! ```text
//!   --data DIR, --trace DIR ─▶ folder   finds them, opens nothing outside
//!                                │
//!                                ├─▶ kind     tells them apart
//!                                └─▶ result   calls, searches as JSON
//!                                    timelines, queries, comparison: traces
//! ```
//!
//! **A request names a recording by its id and never by a path.** The id is a hash of the path, so an
//! address is valid after a restart of the server too. Paths come from listings of the folders only.

pub mod folder;
mod kind;
mod result;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::api_error::ApiError;
use super::recordings::{RecordingKind, RecordingState};
use super::shell_word::shell_word;
use folder::{Folder, FoundFile};
use kind::{FileKind, not_read};

/// The first letter of ids. Recordings of the server itself have another one.
const ID_LETTER: char = 'f';
/// The bytes of a hash in an id.
const ID_BYTES: usize = 8;
/// The most recordings in a list.
const MAX_LISTED: usize = 1_000;

/// A folder of `--data` or `--trace` that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be read: {source}; name a folder or a file that exists", path = .path.display())]
pub struct UnreadableFolder {
    path: PathBuf,
    source: io::Error,
}

/// The recordings on disk.
#[derive(Debug, Default)]
pub struct Files {
    folders: Vec<Folder>,
    /// The files of all listings so far, by id.
    known: Mutex<BTreeMap<String, KnownFile>>,
}

/// A file that a listing found.
#[derive(Clone, Debug)]
struct KnownFile {
    folder: usize,
    found: FoundFile,
}

/// A recording on disk in answers. Its members are also those of the server's own recordings.
#[derive(Clone, Debug, Serialize)]
pub struct FileRow {
    pub id: String,
    /// Always `null`: no JVM belongs to a file.
    pub pid: Option<u32>,
    pub kind: RecordingKind,
    pub state: RecordingState,
    pub seconds: f64,
    pub wanted: f64,
    pub progress: Vec<String>,
    /// The command that shows the same.
    pub command: String,
    /// The path below the folder.
    pub file: String,
    pub folder: String,
    pub bytes: u64,
    /// The time of the last change in seconds since 1970.
    pub modified: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ApiError>,
}

impl Files {
    /// The recordings in folders. In those of `traces`, files are left out.
    ///
    /// # Errors
    /// A folder does not exist or cannot be read.
    pub fn new(data: &[PathBuf], traces: &[PathBuf]) -> Result<Files, UnreadableFolder> {
        let data = data.iter().map(|path| (path, false));
        let all = data.chain(traces.iter().map(|path| (path, true)));
        let folders = all.map(|(path, has_only_traces)| {
            Folder::at(path, has_only_traces).map_err(|source| UnreadableFolder {
                path: path.clone(),
                source,
            })
        });
        Ok(Files {
            folders: folders.collect::<Result<_, _>>()?,
            known: Mutex::default(),
        })
    }

    /// The folders, as the page shows them.
    pub fn folders(&self) -> Vec<String> {
        let paths = self.folders.iter();
        paths.map(|one| one.path.display().to_string()).collect()
    }

    /// Whether an id is one of a file, and not of a recording that the server made.
    pub fn is_id(id: &str) -> bool {
        id.starts_with(ID_LETTER)
    }

    /// All recordings, folder by folder.
    pub fn rows(&self) -> Vec<FileRow> {
        self.list();
        let known = self.known.lock();
        let mut files: Vec<(&String, &KnownFile)> = known.iter().collect();
        files.sort_by_key(|(_, file)| (file.folder, &file.found.path));
        let files = files.into_iter().take(MAX_LISTED);
        files
            .filter_map(|(id, file)| self.row_of(id, file))
            .collect()
    }

    /// One recording.
    ///
    /// # Errors
    /// No file of the folders has this id.
    pub fn row(&self, id: &str) -> Result<FileRow, ApiError> {
        let file = self.get(id)?;
        self.row_of(id, &file).ok_or_else(unknown)
    }

    /// The result of a recording as JSON.
    ///
    /// # Errors
    /// There is no such file, or nothing of it can be shown.
    pub fn result(&self, id: &str, veneer: &Path) -> Result<Vec<u8>, ApiError> {
        let KnownFile { folder, found } = self.get(id)?;
        let folder = self.folders.get(folder).ok_or_else(unknown)?;
        let file = folder
            .open(&found.path)
            .map_err(|error| unreadable(&error))?;
        let name = found.path.display().to_string();
        result::read(found.kind, file, &name, veneer)
    }

    /// The directory of a trace.
    ///
    /// # Errors
    /// There is no such trace, or a symbolic link leads out of it.
    pub fn trace(&self, id: &str) -> Result<PathBuf, ApiError> {
        let KnownFile { folder, found } = self.get(id)?;
        let folder = self.folders.get(folder).ok_or_else(unknown)?;
        match found.kind {
            FileKind::Trace => folder
                .open_trace(&found.path)
                .map_err(|error| unreadable(&error)),
            _ => Err(ApiError::unknown("trace in this recording")),
        }
    }

    /// The file of an id. Lists the folders if no listing has seen it yet.
    fn get(&self, id: &str) -> Result<KnownFile, ApiError> {
        let known = || self.known.lock().get(id).cloned();
        let found = known().or_else(|| {
            self.list();
            known()
        });
        found.ok_or_else(unknown)
    }

    /// Looks for recordings in all folders.
    fn list(&self) {
        let mut known = BTreeMap::new();
        for (number, folder) in self.folders.iter().enumerate() {
            for found in folder.files() {
                // A folder may be named twice, or be inside another one.
                known
                    .entry(id_of(&folder.path.join(&found.path)))
                    .or_insert(KnownFile {
                        folder: number,
                        found,
                    });
            }
        }
        *self.known.lock() = known;
    }

    fn row_of(&self, id: &str, file: &KnownFile) -> Option<FileRow> {
        let folder = self.folders.get(file.folder)?;
        Some(row(id, &folder.path, &file.found))
    }
}

/// The recordings at a path that the user named in a command: one file, or all in a folder.
///
/// # Errors
/// Nothing is there, or there is no recording.
pub fn named(path: &Path) -> Result<Vec<NamedFile>, ApiError> {
    let folder = Folder::at(path, false).map_err(|error| {
        not_read(&format!(
            "it cannot be read: {error}; name a file or a folder that exists"
        ))
    })?;
    let found = folder.files();
    if found.is_empty() {
        return Err(not_read(
            "no recording is there; name a file of `veneer calls -o`, `veneer search --json` or `--record`, or a trace of `veneer trace -o`",
        ));
    }
    let named = found.into_iter().map(|found| {
        let path = folder.path.join(&found.path);
        NamedFile {
            row: row(&id_of(&path), &folder.path, &found),
            kind: found.kind,
            path,
        }
    });
    Ok(named.collect())
}

/// A recording that the user named in a command.
#[derive(Debug)]
pub struct NamedFile {
    pub row: FileRow,
    pub path: PathBuf,
    kind: FileKind,
}

impl NamedFile {
    /// The result as JSON.
    ///
    /// # Errors
    /// Nothing of the file can be shown.
    pub fn result(&self, veneer: &Path) -> Result<Vec<u8>, ApiError> {
        let file = File::open(&self.path).map_err(|error| unreadable(&error))?;
        result::read(self.kind, file, &self.row.file, veneer)
    }
}

fn row(id: &str, folder: &Path, found: &FoundFile) -> FileRow {
    let path = folder.join(&found.path);
    let error = found.problem.clone();
    let name = match found.path.as_os_str().is_empty() {
        true => folder.file_name().unwrap_or_default().to_string_lossy(),
        false => found.path.to_string_lossy(),
    };
    FileRow {
        id: id.to_owned(),
        pid: None,
        kind: found.kind.recording(),
        state: match error {
            Some(_) => RecordingState::Failed,
            None => RecordingState::Done,
        },
        seconds: 0.0,
        wanted: 0.0,
        progress: Vec::new(),
        command: format!(
            "{} {}",
            found.kind.command(),
            shell_word(&path.to_string_lossy())
        ),
        file: name.into_owned(),
        folder: folder.display().to_string(),
        bytes: found.bytes,
        modified: found.modified,
        error,
    }
}

/// The id of a file with this path.
fn id_of(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_bytes());
    let digits = hash.iter().take(ID_BYTES);
    let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
    format!("{ID_LETTER}{digits}")
}

fn unknown() -> ApiError {
    let error = ApiError::unknown("recording of this id in the folders of --data and --trace");
    let remedy = "the file was moved or removed, or the server was started with other folders";
    ApiError {
        remedy: remedy.into(),
        ..error
    }
}

fn unreadable(error: &io::Error) -> ApiError {
    not_read(&format!(
        "the file cannot be read: {error}; copy it into the folder as a plain file that this user can read"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A file of calls without calls.
    fn empty_calls() -> Vec<u8> {
        let profile = veneer_calls::CallProfile::new();
        veneer_calls::file::write(&profile, Vec::new()).unwrap()
    }

    #[test]
    fn an_id_is_the_same_in_another_server() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a.calls"), empty_calls()).unwrap();
        fs::write(place.path().join("b.calls"), b"").unwrap();
        let data = [place.path().to_owned()];
        let files = Files::new(&data, &[]).unwrap();
        let rows = files.rows();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].file.as_str(), rows[0].state),
            ("a.calls", RecordingState::Done)
        );
        assert_eq!(rows[1].state, RecordingState::Failed);
        assert!(
            rows[0].command.starts_with("veneer calls show /"),
            "{:?}",
            rows[0]
        );
        // The second server has listed nothing yet, and has the folder twice.
        let other = Files::new(&[data[0].clone(), data[0].clone()], &[]).unwrap();
        let result = other.result(&rows[0].id, Path::new("veneer")).unwrap();
        assert!(result.starts_with(b"{\"schema\":1"));
        assert_eq!(other.rows().len(), 2);
        assert!(other.trace(&rows[0].id).is_err());
    }

    #[test]
    fn an_id_that_no_listing_made_is_unknown() {
        let place = tempfile::tempdir().unwrap();
        let files = Files::new(&[place.path().to_owned()], &[]).unwrap();
        for id in [
            "f",
            "f../../etc/passwd",
            "f0000000000000000",
            "/etc/passwd",
            "r1",
            "",
        ] {
            assert_eq!(files.row(id).unwrap_err().code, "unknown", "{id}");
            assert_eq!(
                files.result(id, Path::new("veneer")).unwrap_err().code,
                "unknown"
            );
            assert_eq!(files.trace(id).unwrap_err().code, "unknown");
        }
    }

    #[test]
    fn a_removed_file_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.calls");
        fs::write(&path, empty_calls()).unwrap();
        let files = Files::new(&[place.path().to_owned()], &[]).unwrap();
        let id = files.rows().remove(0).id;
        fs::remove_file(&path).unwrap();
        let error = files.result(&id, Path::new("veneer")).unwrap_err();
        assert_eq!(error.code, "not-read");
        assert!(!error.remedy.is_empty());
        assert!(files.rows().is_empty());
    }
}
