//! The tree of contexts of a thread, with the recording to which it belongs.

use crate::data::context_file::{ContextFile, NodeBudget};
use crate::data::trace_clock::TraceClock;
use std::sync::Arc;

/// The tree of a thread.
pub(super) struct ContextTrack {
    pub(super) file: ContextFile,
    /// The room for nodes of the recording.
    pub(super) budget: Arc<NodeBudget>,
    /// The number of the recording.
    pub(super) recording: u32,
    pub(super) clock: TraceClock,
}

impl ContextTrack {
    /// Notes that the recording of the thread has ended.
    pub(super) fn complete(&self) {
        self.file.complete(self.clock.now());
    }
}
