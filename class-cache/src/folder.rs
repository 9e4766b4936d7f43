//! The cache folder. It belongs to one user: nothing in it is read or written unless the folder and
//! the file belong to the user of this process and nobody else may write to them.
//!
//! The folder is opened once, and all files are reached from there. So a symbolic link or a rename of
//! the folder or of one above it changes nothing afterwards.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::fs::{Stat, fstat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a folder is not used.
#[derive(Debug, Error)]
pub enum FolderFault {
    /// The folder cannot be created or opened.
    #[error("{} cannot be used: {source}", .path.display())]
    Unusable {
        /// The folder of the cache.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The path is a symbolic link or no folder.
    #[error("{} is a symbolic link or no folder", .path.display())]
    NoFolder {
        /// The folder of the cache.
        path: PathBuf,
    },
    /// The folder belongs to another user.
    #[error("{} belongs to user {owner}, not to user {user} of this process", .path.display())]
    OtherOwner {
        /// The folder of the cache.
        path: PathBuf,
        /// The owner's user id.
        owner: u32,
        /// The user id of this process.
        user: u32,
    },
    /// Other users may write to the folder.
    #[error("other users may write to {} (mode {mode:o})", .path.display())]
    WritableByOthers {
        /// The folder of the cache.
        path: PathBuf,
        /// The permission bits of the folder.
        mode: u32,
    },
}

/// A file in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderFile {
    pub(crate) name: String,
    pub(crate) length: u64,
    /// Seconds since 1970 of the last change.
    pub(crate) modified: i64,
}

/// An open cache folder.
pub struct CacheFolder {
    directory: OwnedFd,
    path: PathBuf,
}

const OWNER_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);
const WRITABLE_BY_OTHERS: u32 = 0o022;

impl CacheFolder {
    /// Opens the folder, and creates it if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be used, or is not that of this user alone.
    pub fn open(path: &Path) -> Result<CacheFolder, FolderFault> {
        let unusable = |source| FolderFault::Unusable {
            path: path.into(),
            source,
        };
        match DirBuilder::new().recursive(true).mode(0o700).create(path) {
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {}
            created => created.map_err(unusable)?,
        }
        CacheFolder::open_existing(path)
    }

    /// Opens a folder that exists.
    ///
    /// # Errors
    /// As for [`CacheFolder::open`].
    pub fn open_existing(path: &Path) -> Result<CacheFolder, FolderFault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(CWD, path, flags, Mode::empty());
        let directory = opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => FolderFault::NoFolder { path: path.into() },
            error => FolderFault::Unusable {
                path: path.into(),
                source: error.into(),
            },
        })?;
        let stat = fstat(&directory).map_err(|error| FolderFault::Unusable {
            path: path.into(),
            source: error.into(),
        })?;
        let user = geteuid().as_raw();
        if stat.st_uid != user {
            return Err(FolderFault::OtherOwner {
                path: path.into(),
                owner: stat.st_uid,
                user,
            });
        }
        if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
            return Err(FolderFault::WritableByOthers {
                path: path.into(),
                mode: stat.st_mode & 0o7777,
            });
        }
        Ok(CacheFolder {
            directory,
            path: path.into(),
        })
    }

    /// The path by which the folder was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file for reading, if it is one of this user alone.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<File> {
        // A named pipe would block the thread without NONBLOCK.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&self.directory, name, flags, Mode::empty())?;
        if !is_own_file(&fstat(&file)?) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(file.into())
    }

    /// Creates a file that does not exist yet.
    pub(crate) fn create_file(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.directory, name, flags, OWNER_ONLY)?.into())
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.directory, from, &self.directory, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    /// The regular files of this user in the folder.
    pub(crate) fn files(&self) -> io::Result<Vec<FolderFile>> {
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.directory)? {
            let Ok(name) = entry?.file_name().to_str().map(str::to_owned) else {
                continue;
            };
            let Ok(stat) = statat(&self.directory, &*name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if is_own_file(&stat) {
                files.push(FolderFile {
                    name,
                    length: stat.st_size as u64,
                    modified: stat.st_mtime,
                });
            }
        }
        Ok(files)
    }
}

fn is_own_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_uid == geteuid().as_raw()
        && stat.st_mode & WRITABLE_BY_OTHERS == 0
}
