//! The copy of the agent library that is embedded in a program. JVMs load libraries from files
//! only, so the program writes the copy to a file when a JVM needs it:
//!
//! ```text
//!   JVM of our user in our file system     $XDG_CACHE_HOME/veneer, else ~/.cache/veneer,
//!                                          else /tmp/veneer-<our uid>
//!   other JVM (user or file system)        /tmp/veneer-<uid of the JVM> in the JVM's file system
//!                                            └─ libveneer_agent-<hash of the content>.so
//! ```
//!
//! The file name contains a hash of the library, so that different versions have different files. A
//! complete file is never changed, because running JVMs may have mapped it. A directory is used
//! only if no other user can write to it and if its file system permits the execution of code.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{StatVfsMountFlags, fstatvfs};
use rustix::process::geteuid;
use sha2::{Digest, Sha256};
use thiserror::Error;
use veneer_protocol::socket_directory;

use crate::target::Target;

/// A directory in which the library cannot be stored.
#[derive(Debug, Error)]
#[error("{directory}: {reason}", directory = .directory.display())]
pub struct RejectedDirectory {
    /// The path of the rejected directory.
    pub directory: PathBuf,
    /// The reason for the rejection.
    pub reason: io::Error,
}

/// The directories in which the library cannot be stored, in the order in which they were tried.
#[derive(Debug, Error)]
#[error("{}", self.list())]
pub struct RejectedDirectories(pub Vec<RejectedDirectory>);

impl RejectedDirectories {
    fn list(&self) -> String {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        all.join("; ")
    }
}

static EMBEDDED: OnceLock<&'static [u8]> = OnceLock::new();

/// Registers a copy of the agent library, which is used if no library file is found. Only the first
/// call in a process has an effect.
pub fn register_library(library: &'static [u8]) {
    let _ = EMBEDDED.set(library);
}

/// The registered copy of the library.
pub(crate) fn library() -> Option<&'static [u8]> {
    EMBEDDED.get().copied()
}

/// Provides a file with the library for JVMs of our own user. The error lists all tried directories
/// with the reason why each was rejected.
pub(crate) fn file_for_own_user(library: &[u8]) -> Result<PathBuf, RejectedDirectories> {
    let us = geteuid().as_raw();
    let mut tried = Vec::new();
    for directory in cache_directory().into_iter().chain([socket_directory(us)]) {
        match ensure_file(&directory, library, us) {
            Ok(path) => return Ok(path),
            Err(reason) => tried.push(RejectedDirectory { directory, reason }),
        }
    }
    Err(RejectedDirectories(tried))
}

/// Provides a file with the library that this JVM can read. The result is the file's path in the
/// JVM's file system.
pub(crate) fn file_for_target(
    library: &[u8],
    target: &Target,
) -> Result<PathBuf, RejectedDirectories> {
    let directory = socket_directory(target.uid);
    let reached = target.path_from_here(&directory);
    match target.run_as_target_user(|| ensure_file(&reached, library, target.uid)) {
        Ok(path) => Ok(directory.join(path.file_name().unwrap_or_default())),
        Err(reason) => Err(RejectedDirectories(vec![RejectedDirectory {
            directory,
            reason,
        }])),
    }
}

/// The user's cache directory by the XDG Base Directory Specification. `None` if neither
/// XDG_CACHE_HOME nor HOME is an absolute path.
fn cache_directory() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        // The specification requires that relative paths are ignored.
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("veneer"))
}

/// The path of the library in this directory. Creates the directory and the file if they are
/// missing, and replaces a file of the wrong length.
fn ensure_file(directory: &Path, library: &[u8], owner: u32) -> io::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let meta = fs::symlink_metadata(directory)?;
    if !meta.is_dir() || meta.uid() != owner || meta.mode() & 0o022 != 0 {
        return Err(io::Error::other("others can write to it"));
    }
    if !permits_execution(directory)? {
        return Err(io::Error::other("it is mounted with noexec"));
    }
    let name = file_name(library);
    let path = directory.join(&name);
    let is_complete = fs::symlink_metadata(&path).is_ok_and(|meta| {
        meta.is_file() && meta.uid() == owner && meta.len() == library.len() as u64
    });
    if !is_complete {
        // The file is written under a temporary name and then renamed, because another process may
        // write the same library at the same time.
        let unfinished = directory.join(format!("{name}.{}", std::process::id()));
        let written = write(&unfinished, library).and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
    }
    Ok(path)
}

/// The file name of this library: `libveneer_agent-`, the first 64 bits of the SHA-256 hash of its
/// content as 16 hexadecimal digits, and `.so`.
fn file_name(library: &[u8]) -> String {
    let hash = Sha256::digest(library);
    let digits: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("libveneer_agent-{digits}.so")
}

/// Writes a new file that only its owner can read, and syncs it to the disk.
fn write(path: &Path, library: &[u8]) -> io::Result<()> {
    // An earlier process with the same id may have left a file behind.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(library)?;
    file.sync_data()
}

/// Whether the file system of this directory permits the execution of code (is not mounted with
/// `noexec`).
fn permits_execution(directory: &Path) -> io::Result<bool> {
    let flags = fstatvfs(File::open(directory)?)?.f_flag;
    Ok(!flags.contains(StatVfsMountFlags::NOEXEC))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_file_name_depends_on_the_content_only() {
        // SHA-256 of "abc" in FIPS 180-2 begins with ba7816bf 8f01cfea.
        assert_eq!(file_name(b"abc"), "libveneer_agent-ba7816bf8f01cfea.so");
        assert_ne!(file_name(b"abd"), file_name(b"abc"));
    }

    #[test]
    fn a_file_is_created_once_and_never_changed() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("cache/veneer");
        let us = fs::metadata(root.path()).unwrap().uid();
        let path = ensure_file(&directory, b"one", us).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
        let before = fs::metadata(&path).unwrap();
        assert_eq!(ensure_file(&directory, b"one", us).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
        let other = ensure_file(&directory, b"two", us).unwrap();
        assert_ne!(other, path);
        // An incomplete file is replaced by a new file with the same name.
        fs::write(&other, b"t").unwrap();
        assert_eq!(ensure_file(&directory, b"two", us).unwrap(), other);
        assert_eq!(fs::read(&other).unwrap(), b"two");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
    }

    #[test]
    fn a_directory_that_others_can_write_to_is_rejected() {
        let root = tempfile::tempdir().unwrap();
        let us = fs::metadata(root.path()).unwrap().uid();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = ensure_file(root.path(), b"one", us).unwrap_err();
        assert!(error.to_string().contains("others can write"), "{error}");
    }
}
