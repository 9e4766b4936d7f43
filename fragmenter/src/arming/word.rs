//! Verification types reduced to one number for each word of a local variable or operand.
//!
//! Arming needs the *kind* of a value only: which instruction loads it, and whether it is null or an
//! object without a finished constructor. All initialised objects are one kind, so no class name is
//! compared or copied.

use crate::bytecode::opcode::*;
use std::sync::OnceLock;

/// The kind of a word. The numbers are the tags of the stack map (JVMS §4.7.4). An object that was
/// created by a `new` and is not yet initialised also has the pc of this `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u32);

impl Word {
    pub const TOP: Word = Word(0);
    pub const INT: Word = Word(1);
    pub const FLOAT: Word = Word(2);
    pub const DOUBLE: Word = Word(3);
    pub const LONG: Word = Word(4);
    pub const NULL: Word = Word(5);
    pub const UNINITIALIZED_THIS: Word = Word(6);
    pub const OBJECT: Word = Word(7);
    /// The second word of a `long` or `double` on the operand stack. In local variables, this word
    /// is [`Word::TOP`].
    pub const SECOND: Word = Word(9);

    /// An object that the `new` at this pc has created.
    pub fn uninitialized(pc: u16) -> Word {
        Word(8 | u32::from(pc) << 8)
    }

    /// The kind of values with this field descriptor. `V` has no kind.
    pub fn of_descriptor(first: u8) -> Option<Word> {
        Some(match first {
            b'V' => return None,
            b'J' => Word::LONG,
            b'F' => Word::FLOAT,
            b'D' => Word::DOUBLE,
            b'L' | b'[' => Word::OBJECT,
            _ => Word::INT,
        })
    }

    /// The tag of the stack map.
    pub fn tag(self) -> u8 {
        self.0 as u8
    }

    /// Whether this is the first word of a `long` or `double`.
    pub fn is_wide(self) -> bool {
        matches!(self, Word::LONG | Word::DOUBLE)
    }

    pub fn width(self) -> u16 {
        1 + u16::from(self.is_wide())
    }

    /// Whether no constructor has completed on this object.
    pub fn is_uninitialized(self) -> bool {
        matches!(self.tag(), 6 | 8)
    }

    /// Whether `aload` and `astore` accept this word.
    pub fn is_object_like(self) -> bool {
        (5..=8).contains(&self.tag())
    }

    /// The offset of the load instruction from `ILOAD`; see [`crate::point_values::carried_kind`].
    pub fn load_kind(self) -> u8 {
        match self {
            Word::INT => 0,
            Word::LONG => 1,
            Word::FLOAT => 2,
            Word::DOUBLE => 3,
            _ => 4,
        }
    }
}

/// The words that an opcode pops, and the value that it pushes, for opcodes whose effect does not
/// depend on operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlainEffect {
    pub popped: u8,
    pub pushed: Option<Word>,
}

/// The effects of all opcodes of [`signature`].
pub(super) fn plain_effects() -> &'static [Option<PlainEffect>; 256] {
    static EFFECTS: OnceLock<[Option<PlainEffect>; 256]> = OnceLock::new();
    EFFECTS.get_or_init(|| {
        let mut table = [None; 256];
        for (op, effect) in (0u8..=255).zip(&mut table) {
            let Some((pops, pushes)) = signature(op).and_then(|types| types.split_once(':')) else {
                continue;
            };
            let words = |letter: u8| 1 + u8::from(matches!(letter, b'L' | b'D'));
            *effect = Some(PlainEffect {
                popped: pops.bytes().map(words).sum(),
                pushed: pushes.bytes().next().map(|letter| match letter {
                    b'L' => Word::LONG,
                    b'F' => Word::FLOAT,
                    b'D' => Word::DOUBLE,
                    _ => Word::INT,
                }),
            });
        }
        table
    })
}
