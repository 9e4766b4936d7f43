//! The threads of the control endpoint. The JVM does not know them: they are not attached to the
//! JVM and call no Java code.

/// The stack size of such a thread.
const STACK_BYTES: usize = 1 << 20;

/// Starts a thread that the program never joins.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let builder = std::thread::Builder::new().name(name.into());
    builder.stack_size(STACK_BYTES).spawn(run).map(|_| ())
}
