//! Fragmentation policies: the places at which a method is cut into fragments, and at which a
//! running activation can leave it.
//!
//! | policy   | capture points                                              |
//! |----------|-------------------------------------------------------------|
//! | `method` | entry; exits                                                |
//! | `loop`   | entry; loop headers; exits                                  |
//! | `call`   | entry; loop headers; exits; calls that match a pattern      |
//! | `block`  | every basic block; exits                                    |
//!
//! A method without calls and monitors has no points at its exits. In such a method, an activation
//! returns so soon after its last loop header that an exit point would not be useful.
//!
//! If the points would make a method exceed HotSpot's inlining limit, some points are omitted:
//! first the exits, then every point that the policy `loop` would not have.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::{INVOKEDYNAMIC, is_invoke};
use crate::classfile::ConstantPool;
use std::sync::Arc;

/// Decides whether to cut at a call of `class` (dotted), `name`, `descriptor`.
pub type CallFilter = Arc<dyn Fn(&str, &str, &str) -> bool + Send + Sync>;

/// A fragmentation policy; see the module documentation.
#[derive(Clone, Default)]
pub enum Policy {
    /// No cuts: each method is one fragment.
    Method,
    /// Cuts at loops. This is the default.
    #[default]
    Loop,
    /// Cuts at loops and at matching calls, like the RMI policy of the original paper.
    Call(CallFilter),
    /// Cuts at loops, and puts a point at every basic block.
    Block,
}

impl Policy {
    /// Whether a fragment starts at this instruction, even if the control flow does not require it.
    pub fn cuts(&self, instruction: &Instruction, pool: &ConstantPool) -> bool {
        let index = instruction.pool_index();
        index.is_some_and(|index| self.cuts_call(instruction.op(), index, pool))
    }

    /// Whether a fragment starts at the call of this member by this opcode.
    pub(crate) fn cuts_call(&self, op: u8, index: u16, pool: &ConstantPool) -> bool {
        let Policy::Call(filter) = self else {
            return false;
        };
        if !is_invoke(op) || op == INVOKEDYNAMIC {
            return false;
        }
        let Ok(member) = pool.member(index) else {
            return false;
        };
        match (
            pool.class_name(member.class),
            pool.text(member.name),
            pool.text(member.descriptor),
        ) {
            (Ok(class), Ok(name), Ok(descriptor)) => {
                filter(&veneer_names::java_form(&class), &name, &descriptor)
            }
            _ => false,
        }
    }
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Policy::Method => "method",
            Policy::Loop => "loop",
            Policy::Call(_) => "call",
            Policy::Block => "block",
        })
    }
}
