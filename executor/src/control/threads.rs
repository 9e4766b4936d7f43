//! The threads of the control endpoint. They know no Java.

/// Bytes of stack of a client's thread.
const STACK: usize = 1 << 20;

/// Starts a thread.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let builder = std::thread::Builder::new().name(name.into());
    builder.stack_size(STACK).spawn(run).map(|_| ())
}
