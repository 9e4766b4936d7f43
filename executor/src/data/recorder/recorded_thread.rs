//! The description of a thread in a trace.

/// A thread whose events are recorded, or that owns a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedThread {
    /// `Thread.threadId()`; 0 for a thread that is not a Java thread.
    pub java_id: u64,
    /// The thread's name.
    pub name: String,
    /// The name of the thread's group.
    pub group: String,
}
