//! Records Ctrl-C while the shell waits for the JVM, instead of ending the process. While a line is
//! being typed, the line editor handles Ctrl-C as a key.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::SIGINT;

static PRESSED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the signal handler. From now on, SIGINT is recorded and does not end the process.
pub fn install() -> io::Result<()> {
    signal_hook::flag::register(SIGINT, PRESSED.clone())?;
    Ok(())
}

/// Whether Ctrl-C was pressed since the last call.
pub fn take_interrupt() -> bool {
    PRESSED.swap(false, Ordering::Relaxed)
}
