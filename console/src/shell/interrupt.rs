//! Ctrl-C while the shell waits for the JVM: it is noted, and ends nothing. (While a line is typed it is a key like others.)

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

static PRESSED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is noted.
pub fn install() -> io::Result<()> {
    // SAFETY: `sigaction` is plain data that may be zero; the handler only stores to an atomic.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        action.sa_sigaction = note as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        match libc::sigaction(libc::SIGINT, &action, ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

extern "C" fn note(_: libc::c_int) {
    PRESSED.store(true, Ordering::Relaxed);
}

/// Whether it was pressed since the last time.
pub fn pressed() -> bool {
    PRESSED.swap(false, Ordering::Relaxed)
}
