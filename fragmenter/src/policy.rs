//! Fragmentation policies: where a method is cut, and so where a running activation can leave it.
//!
//! | policy   | capture points                                              |
//! |----------|-------------------------------------------------------------|
//! | `method` | entry; exits                                                |
//! | `loop`   | entry; loop headers; exits                                  |
//! | `call`   | entry; loop headers; exits; calls that match a pattern      |
//! | `block`  | every basic block; exits                                    |
//!
//! Exits of a method without calls and monitors get none: nothing keeps an activation between its last loop header
//! and its return long enough for anybody to want it back.
//!
//! A method that the points would carry over HotSpot's inlining limit gets fewer: no exits, and if that is not enough, only the points
//! of policy `loop`.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::is_invoke;
use crate::classfile::ConstantPool;
use std::sync::Arc;

/// Whether a call of `class` (dotted), `name`, `descriptor` is one to cut at.
pub type CallFilter = Arc<dyn Fn(&str, &str, &str) -> bool + Send + Sync>;

/// See the module documentation.
#[derive(Clone, Default)]
pub enum Policy {
    /// Whole methods.
    Method,
    /// Loops (the default).
    #[default]
    Loop,
    /// Calls that match, as the paper's RMI policy.
    Call(CallFilter),
    /// Every basic block.
    Block,
}

impl Policy {
    /// Whether a fragment starts at this instruction whatever the flow says.
    pub fn cuts(&self, instruction: &Instruction, pool: &ConstantPool) -> bool {
        let Policy::Call(filter) = self else {
            return false;
        };
        let op = instruction.op();
        if !is_invoke(op) || matches!(instruction, Instruction::InvokeDynamic { .. }) {
            return false;
        }
        let Some(member) = instruction.pool_index().and_then(|i| pool.member(i).ok()) else {
            return false;
        };
        match (
            pool.class_name(member.class),
            pool.text(member.name),
            pool.text(member.descriptor),
        ) {
            (Ok(class), Ok(name), Ok(descriptor)) => {
                filter(&class.replace('/', "."), &name, &descriptor)
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
