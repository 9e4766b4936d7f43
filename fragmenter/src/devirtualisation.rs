//! The virtual calls of a method that may be tested for frequent classes of their receivers
//! ([`Edit::Receiver`](crate::patch::Edit::Receiver)).
//!
//! HotSpot inlines a virtual call if its profile has at most two classes of receivers, or if one class has
//! nine calls of ten. It remembers no third class, so it executes all other calls by a table. A version
//! tests the receiver first, and calls the method in a branch for each class:
//!
//! ```text
//!   receiver instanceof C ─yes─▶ the call, whose receiver is a C  ─┐
//!     │ no                                                         │
//!     ▼                                                            ▼
//!   receiver instanceof D ─yes─▶ the call, whose receiver is a D ─▶ the next instruction
//!     │ no                                                         ▲
//!     ▼                                                            │
//!   the call ──────────────────────────────────────────────────────┘
//! ```
//!
//! **Argument.** Each branch executes the method's own call instruction on the same operands, so it selects
//! the same method, checks the same access, and throws the same exceptions at the same line. The test and
//! the cast have no effect: the agent has resolved the classes before, `null` is an instance of no class,
//! and the cast follows the test. The checker shows this for each emitted body.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::method::Method;
use crate::refusal::Refusal;

/// A virtual call of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualCall {
    /// The pc of the call.
    pub pc: u16,
    /// Internal name of the class or interface that the call names.
    pub class: String,
    /// The name of the method.
    pub name: String,
    /// The descriptor of the method.
    pub descriptor: String,
}

/// The classes whose methods adapt to the descriptor of the call (JVMS §2.9.3). A call of such a method
/// has no virtual target.
const SIGNATURE_POLYMORPHIC: [&str; 2] = [
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/VarHandle",
];

/// The virtual calls of a method that may be tested, in the order of their pcs. Versions have no code from
/// before `super(…)`, so calls there are left out.
pub fn virtual_calls(method: &Method) -> Vec<VirtualCall> {
    let begins = method.after_super.unwrap_or(0);
    let instructions = method.instructions.iter().skip(begins);
    instructions
        .filter_map(|(pc, instruction)| virtual_call(method, *pc, instruction))
        .collect()
}

fn virtual_call(method: &Method, pc: u16, instruction: &Instruction) -> Option<VirtualCall> {
    let index = match instruction {
        Instruction::Pool {
            op: INVOKEVIRTUAL,
            index,
        }
        | Instruction::InvokeInterface { index, .. } => *index,
        _ => return None,
    };
    let pool = &method.file.pool;
    let member = pool.member(index).ok()?;
    let class = pool.class_name(member.class).ok()?.into_owned();
    let has_receiver_class =
        !class.starts_with('[') && !SIGNATURE_POLYMORPHIC.contains(&class.as_str());
    has_receiver_class.then_some(VirtualCall {
        pc,
        class,
        name: pool.text(member.name).ok()?.into_owned(),
        descriptor: pool.text(member.descriptor).ok()?.into_owned(),
    })
}

/// Checks that the instruction at a pc is a virtual call that may be tested.
///
/// # Errors
/// There is no such call at the pc.
pub(crate) fn check_call(method: &Method, pc: u16) -> Result<(), Refusal> {
    let begins = method.after_super.unwrap_or(0);
    let found = method.instructions.binary_search_by_key(&pc, |i| i.0);
    let call = found.ok().filter(|index| *index >= begins);
    let call = call.and_then(|index| virtual_call(method, pc, &method.instructions[index].1));
    call.map(|_| ())
        .ok_or_else(|| Refusal::NoVirtualCall(format!("at pc {pc}")))
}
