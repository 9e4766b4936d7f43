//! A file to which records are appended, each whole or not at all, on a disk that may fill.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// See the module documentation.
pub struct Appendix {
    file: File,
    len: u64,
}

impl Appendix {
    /// Makes the file, or empties it.
    pub fn create(path: &Path) -> io::Result<Appendix> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        Ok(Appendix { file, len: 0 })
    }

    /// Holds a lock as long as the process lives: who reads the file can see by it whether that is so.
    pub fn lock(&self) -> io::Result<()> {
        // Safety: a plain system call on an open file.
        match unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Bytes that it holds.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes. After an error the file is as it was before.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = with_file_size_signal_blocked(|| self.file.write_all_at(bytes, self.len));
        match written {
            Ok(()) => {
                self.len += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // If that fails too, the next attempt writes over it.
                let _ = self.file.set_len(self.len);
                Err(error)
            }
        }
    }
}

/// Beyond a limit of file sizes (`ulimit -f`) a write raises SIGXFSZ, which ends a process that does not handle it; with the
/// signal blocked it is an error like that of a full disk.
pub fn with_file_size_signal_blocked<T>(write: impl FnOnce() -> T) -> T {
    // Safety: plain system calls on signal sets of this thread.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        let mut before = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGXFSZ);
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before) == 0;
        let result = write();
        if blocked && libc::sigismember(&before, libc::SIGXFSZ) == 0 {
            // What came meanwhile is taken away, not delivered later.
            let now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            libc::sigtimedwait(&set, std::ptr::null_mut(), &now);
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        }
        result
    }
}
