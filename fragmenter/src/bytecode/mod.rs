//! The instructions of a method body: decoding, stack effects, and assembling.
//!
//! ```text
//!   bytes ──decode──▶ [(pc, Instruction)] ──push──▶ Assembler ──finish──▶ bytes + the pc of each label
//! ```
//!
//! A branch target is a [`Label`]. Labels below 65,536 are the pcs of the original method, so
//! decoded instructions keep their labels. Labels from [`Label::FRESH`] belong to inserted code.

mod assembler;
mod instruction;
pub mod opcode;
pub(crate) mod stack_effect;

pub use assembler::{AssembleError, Assembled, Assembler};
pub use instruction::{DecodeError, Instruction, Label, decode};
