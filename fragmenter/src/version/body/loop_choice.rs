//! Emits the test that chooses between the copies of a loop; see [`crate::unswitching`].
//!
//! ```text
//!   the variables and constants of the condition
//!   nop            tells the checker that the branch is not one of the method
//!   if… COPY
//!   goto HEADER
//! ```

use super::BodyEmitter;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::FragmentId;
use crate::refusal::Refusal;
use std::ops::Range;

impl BodyEmitter<'_, '_> {
    /// Emits a node that only chooses. `choice` has the instructions of the condition, with their branch. The
    /// copies are in the same part as the loop's header, and so is the choice.
    pub(super) fn emit_loop_choice(
        &mut self,
        node: FragmentId,
        choice: Range<usize>,
    ) -> Result<(), Refusal> {
        let method = self.plan.method;
        let broken = || Refusal::Internal("a choice of a loop without a condition".into());
        let (branch, condition) = method.instructions[choice]
            .split_last()
            .ok_or_else(broken)?;
        let (Instruction::Branch { op, .. }, [copy, header]) =
            (&branch.1, &self.patched.nodes[node.index()].out[..])
        else {
            return Err(broken());
        };
        for (_, instruction) in condition {
            self.e.copy_instruction(&mut self.a, method, instruction)?;
        }
        self.a.plain(NOP);
        self.a.branch(*op, self.nodes[copy.1.index()]);
        self.a.branch(GOTO, self.nodes[header.1.index()]);
        Ok(())
    }
}
