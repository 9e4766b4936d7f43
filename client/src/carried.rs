//! A copy of the agent library that a program has inside: JVMs load libraries from files, so one is made of it where it is needed.
//!
//! ```text
//!   for JVMs of our own user   $XDG_CACHE_HOME/veneer, else ~/.cache/veneer, else /tmp/veneer-<uid>
//!   for one of another user, or in another file system       /tmp/veneer-<its uid>, as that JVM sees it
//!                                      └─ libveneer_agent-<what is in it>.so
//! ```
//!
//! The name tells versions apart, so a file is made once and never changed: JVMs may have it mapped. A directory serves only if no
//! other user can write to it, and if the system runs code from there.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use veneer_protocol::socket_directory;

use crate::target::Target;

static CARRIED: OnceLock<&'static [u8]> = OnceLock::new();

/// From now on the library need not be found as a file. Of two copies the first counts.
pub fn carry(library: &'static [u8]) {
    let _ = CARRIED.set(library);
}

/// The copy, where there is one.
pub(crate) fn library() -> Option<&'static [u8]> {
    CARRIED.get().copied()
}

/// A file of it for JVMs of our own user. The error names all places and what is wrong with each.
pub(crate) fn for_ourselves(library: &[u8]) -> Result<PathBuf, String> {
    // SAFETY: always succeeds.
    let us = unsafe { libc::geteuid() };
    let mut tried = Vec::new();
    for directory in cache().into_iter().chain([socket_directory(us)]) {
        match place(&directory, library, us) {
            Ok(path) => return Ok(path),
            Err(error) => tried.push(format!("{}: {error}", directory.display())),
        }
    }
    Err(tried.join("; "))
}

/// A file of it that this JVM can read, by the path that it has there.
pub(crate) fn for_target(library: &[u8], target: &Target) -> Result<PathBuf, String> {
    let directory = socket_directory(target.uid);
    let reached = target.reach(&directory);
    let path = target
        .as_its_user(|| place(&reached, library, target.uid))
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(directory.join(path.file_name().unwrap_or_default()))
}

/// The user's directory for what can be made anew.
fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        // The standard says of others that they are to be ignored.
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("veneer"))
}

/// The file in this directory; both are made where they are missing.
fn place(directory: &Path, library: &[u8], owner: u32) -> io::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let meta = fs::symlink_metadata(directory)?;
    if !meta.is_dir() || meta.uid() != owner || meta.mode() & 0o022 != 0 {
        return Err(io::Error::other("others can write to it"));
    }
    if !runs_code(directory)? {
        return Err(io::Error::other("it is mounted with noexec"));
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(library);
    let name = format!("libveneer_agent-{:016x}.so", hasher.finish());
    let path = directory.join(&name);
    let is_there = fs::symlink_metadata(&path).is_ok_and(|meta| {
        meta.is_file() && meta.uid() == owner && meta.len() == library.len() as u64
    });
    if !is_there {
        // Under a name of its own until it is whole: others may make the same file now.
        let unfinished = directory.join(format!("{name}.{}", std::process::id()));
        let written = write(&unfinished, library).and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
    }
    Ok(path)
}

fn write(path: &Path, library: &[u8]) -> io::Result<()> {
    // Left behind by an earlier process with the same id.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(library)?;
    file.sync_data()
}

/// Whether libraries can be loaded from here.
fn runs_code(directory: &Path) -> io::Result<bool> {
    let opened = File::open(directory)?;
    let mut system = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `system` is valid for the write; it is plain data.
    let flags = unsafe {
        if libc::fstatvfs(opened.as_raw_fd(), system.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        system.assume_init().f_flag
    };
    Ok(flags & libc::ST_NOEXEC == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_made_once_and_kept_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("cache/veneer");
        let us = fs::metadata(root.path()).unwrap().uid();
        let path = place(&directory, b"one", us).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
        let before = fs::metadata(&path).unwrap();
        assert_eq!(place(&directory, b"one", us).unwrap(), path);
        assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
        let other = place(&directory, b"two", us).unwrap();
        assert_ne!(other, path);
        // One that is not whole is made again, under the same name and as another file.
        fs::write(&other, b"t").unwrap();
        assert_eq!(place(&directory, b"two", us).unwrap(), other);
        assert_eq!(fs::read(&other).unwrap(), b"two");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
    }

    #[test]
    fn a_directory_that_others_can_write_to_does_not_serve() {
        let root = tempfile::tempdir().unwrap();
        let us = fs::metadata(root.path()).unwrap().uid();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = place(root.path(), b"one", us).unwrap_err();
        assert!(error.to_string().contains("others can write"), "{error}");
    }
}
