//! Asks whether a sampled recording is in one of its windows.
//!
//! An activation asks when it begins, at the header of each loop that calls something or has loops in
//! it, and in other loops on the cold back edge ([`counter_promotion`](super::counter_promotion)). The answer is in a
//! local variable, which C2 sees as constant in an innermost loop. So it makes two forms of the loop,
//! and the one outside the windows has no code of the recording.

use super::body::BodyEmitter;
use crate::bytecode::opcode::*;
use crate::refusal::Refusal;

impl BodyEmitter<'_, '_> {
    /// Stores the shard of the thread if a window is open, and else 0. Does nothing if nothing is sampled.
    pub(super) fn look_at_window(&mut self) -> Result<(), Refusal> {
        if let Some(window) = self.slots.window {
            self.e.call(&mut self.a, "shardInWindow", "()J")?;
            self.a.local(LSTORE, window);
        }
        Ok(())
    }
}
