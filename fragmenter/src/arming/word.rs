//! Verification types reduced to one number for each word of a local variable or operand.
//!
//! Arming needs the *kind* of a value only: which instruction loads it, and whether it is null or an
//! object without a finished constructor. All initialised objects are one kind, so no class name is
//! compared or copied.

use crate::bytecode::opcode::signature;

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
pub(super) static PLAIN_EFFECTS: [Option<PlainEffect>; 256] = plain_effects();

const fn plain_effects() -> [Option<PlainEffect>; 256] {
    let mut table = [None; 256];
    let mut op = 0;
    while op < table.len() {
        if let Some(types) = signature(op as u8) {
            table[op] = Some(plain_effect(types.as_bytes()));
        }
        op += 1;
    }
    table
}

/// Reads the effect from the letters of [`signature`].
const fn plain_effect(types: &[u8]) -> PlainEffect {
    let (mut popped, mut at) = (0, 0);
    while types[at] != b':' {
        popped += if matches!(types[at], b'L' | b'D') {
            2
        } else {
            1
        };
        at += 1;
    }
    let pushed = match types.split_at(at + 1).1 {
        [] => None,
        [b'L', ..] => Some(Word::LONG),
        [b'F', ..] => Some(Word::FLOAT),
        [b'D', ..] => Some(Word::DOUBLE),
        [_, ..] => Some(Word::INT),
    };
    PlainEffect { popped, pushed }
}
