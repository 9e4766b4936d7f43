//! Instructions of a method body: decoding, the operand signature of each, and laying code out again.
//!
//! ```text
//!   bytes ──decode──▶ [(pc, Instruction)] ──push──▶ Assembler ──finish──▶ bytes + where each label came to lie
//! ```
//!
//! A branch target is a [`Label`]. Labels below 65,536 are the pcs of the original method, so that decoded
//! instructions need no renaming; labels from [`Label::FRESH`] on belong to inserted code.

mod assembler;
mod instruction;
pub mod opcode;

pub use assembler::{AssembleError, Assembled, Assembler};
pub use instruction::{DecodeError, Instruction, Label, decode};
