//! Records Ctrl-C while the shell waits for the JVM, instead of ending the process. While a line is
//! being typed, the line editor handles Ctrl-C as a key.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

static PRESSED: AtomicBool = AtomicBool::new(false);

/// Installs the signal handler. From now on, SIGINT is recorded and does not end the process.
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

/// Whether Ctrl-C was pressed since the last call.
pub fn take_interrupt() -> bool {
    PRESSED.swap(false, Ordering::Relaxed)
}
