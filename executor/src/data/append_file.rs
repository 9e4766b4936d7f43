//! A file to which records are appended, each whole or not at all, on a disk that may fill.
//!
//! The event log and the metadata journal are such files. Their owners hold a lock around
//! [`AppendFile::append`], so one thread writes at a time. **Invariant:** the first `len` bytes of
//! the file are complete records. A failed write can leave more bytes behind them only until the
//! next successful write, and only if the file cannot be truncated either.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// An open file with the length of its complete records.
pub struct AppendFile {
    file: File,
    len: u64,
}

impl AppendFile {
    /// Creates the file, or empties an existing one.
    pub fn create(path: &Path) -> io::Result<AppendFile> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        Ok(AppendFile { file, len: 0 })
    }

    /// Locks the file (`flock`) until the process ends. A reader of the file can test by the lock
    /// whether the process is alive.
    pub fn lock(&self) -> io::Result<()> {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(())
    }

    /// Returns the number of bytes appended so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes. After an error the file has its previous content.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = with_file_size_signal_blocked(|| self.file.write_all_at(bytes, self.len));
        match written {
            Ok(()) => {
                self.len += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // If this fails too, the next `append` overwrites the partial record.
                let _ = self.file.set_len(self.len);
                Err(error)
            }
        }
    }
}

/// Runs `write` with the signal SIGXFSZ blocked in this thread, and drops a signal that it raises.
///
/// A write beyond the limit of file sizes (`ulimit -f`) raises SIGXFSZ. The signal ends a process
/// that does not handle it. If the signal is blocked, the write returns an error like that of a
/// full disk.
pub fn with_file_size_signal_blocked<T>(write: impl FnOnce() -> T) -> T {
    if cfg!(miri) {
        // Miri does not know `pthread_sigmask`. Its writes raise no signal.
        return write();
    }
    // SAFETY: a signal set of zero bytes is a valid value of this plain C type.
    let (mut set, mut before) = unsafe {
        (
            std::mem::zeroed::<libc::sigset_t>(),
            std::mem::zeroed::<libc::sigset_t>(),
        )
    };
    // SAFETY: plain system calls; the pointers refer to the two local signal sets.
    let is_blocked = unsafe {
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) == 0
    };
    let result = write();
    // SAFETY: `pthread_sigmask` has filled `before` if it succeeded.
    if is_blocked && unsafe { libc::sigismember(&before, libc::SIGXFSZ) } == 0 {
        let no_wait = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: plain system calls; the pointers refer to local values. The first call drops a
        // pending signal, so that it is not delivered when the mask is restored.
        unsafe {
            libc::sigtimedwait(&set, std::ptr::null_mut(), &no_wait);
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::{ScratchDirectory, in_own_process, limit_file_size};

    #[test]
    fn creating_a_file_empties_it() {
        let directory = ScratchDirectory::new();
        let path = directory.join("log");
        std::fs::write(&path, "old content").expect("a file");
        let mut file = AppendFile::create(&path).expect("a file");
        file.append(b"new").expect("room");
        assert_eq!(file.len(), 3);
        assert_eq!(std::fs::read(&path).expect("the file"), b"new");
    }

    #[test]
    fn a_symbolic_link_is_not_followed() {
        let directory = ScratchDirectory::new();
        let target = directory.join("target");
        std::fs::write(&target, "precious").expect("a file");
        std::os::unix::fs::symlink(&target, directory.join("log")).expect("a link");
        assert!(AppendFile::create(&directory.join("log")).is_err());
        assert_eq!(std::fs::read(&target).expect("the file"), b"precious");
    }

    #[test]
    fn a_second_lock_is_refused() {
        let directory = ScratchDirectory::new();
        let path = directory.join("log");
        let file = AppendFile::create(&path).expect("a file");
        file.lock().expect("the first lock");
        let other = AppendFile::create(&path).expect("the same file");
        assert!(other.lock().is_err());
        drop(file);
        assert!(other.lock().is_ok());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no process")]
    fn a_record_beyond_the_file_size_limit_is_not_written_in_part() {
        let name =
            "data::append_file::tests::a_record_beyond_the_file_size_limit_is_not_written_in_part";
        in_own_process(name, || {
            let directory = ScratchDirectory::new();
            let path = directory.join("log");
            let mut file = AppendFile::create(&path).expect("a file");
            limit_file_size(10);
            file.append(b"12345678").expect("room");
            // Two bytes of this record would fit.
            let error = file.append(b"abcdefgh").expect_err("a limit");
            assert_eq!(error.raw_os_error(), Some(libc::EFBIG));
            assert_eq!(file.len(), 8);
            assert_eq!(std::fs::read(&path).expect("the file"), b"12345678");
            limit_file_size(16);
            file.append(b"ABCDEFGH").expect("room again");
            assert_eq!(std::fs::read(&path).expect("the file"), b"12345678ABCDEFGH");
        });
    }
}
