//! Verification types reduced to one number for each word of a local variable or operand.
//!
//! Arming needs the *kind* of a value only: which instruction loads it, and whether it is null or an
//! object without a finished constructor. All initialised objects are one kind, so no class name is
//! compared or copied.

use crate::bytecode::opcode::*;

/// The kind of a word. The numbers are the tags of the stack map (JVMS §4.7.4). An object that was
/// created by a `new` and is not yet initialised also has the pc of this `new`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// How the typed scan handles an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpcodeEffect {
    /// Pops a number of words and pushes a value, [`Word::TOP`] for none.
    Plain { popped: u8, pushed: Word },
    /// Reads or writes a local variable: `iload` … `aload`, `istore` … `astore`, or `iinc`. The slot
    /// is an operand.
    Local { op: u8 },
    /// Reads or writes this local variable.
    ShortLocal { op: u8, slot: u8 },
    /// Reads or writes a local variable with a wide number.
    WideLocal,
    /// Returns from the method.
    Return,
    /// The effect depends on the operands; see [`super::abstract_state::AbstractState::step`].
    Other,
}

/// The effects of all opcodes.
pub(super) static OPCODE_EFFECTS: [OpcodeEffect; 256] = opcode_effects();

const fn opcode_effects() -> [OpcodeEffect; 256] {
    let mut table = [OpcodeEffect::Other; 256];
    let mut op = 0;
    while op < table.len() {
        table[op] = opcode_effect(op as u8);
        op += 1;
    }
    table
}

const fn opcode_effect(op: u8) -> OpcodeEffect {
    match op {
        ILOAD..=ALOAD | ISTORE..=ASTORE | IINC => OpcodeEffect::Local { op },
        ILOAD_0..IALOAD => OpcodeEffect::ShortLocal {
            op: ILOAD + (op - ILOAD_0) / 4,
            slot: (op - ILOAD_0) % 4,
        },
        ISTORE_0..IASTORE => OpcodeEffect::ShortLocal {
            op: ISTORE + (op - ISTORE_0) / 4,
            slot: (op - ISTORE_0) % 4,
        },
        WIDE => OpcodeEffect::WideLocal,
        IRETURN..=RETURN => OpcodeEffect::Return,
        ACONST_NULL => plain(0, Word::NULL),
        POP => plain(1, Word::TOP),
        POP2 => plain(2, Word::TOP),
        NEWARRAY | ANEWARRAY | CHECKCAST => plain(1, Word::OBJECT),
        _ => match signature(op) {
            Some(types) => plain_effect(types.as_bytes()),
            None => OpcodeEffect::Other,
        },
    }
}

const fn plain(popped: u8, pushed: Word) -> OpcodeEffect {
    OpcodeEffect::Plain { popped, pushed }
}

/// Reads the effect from the letters of [`signature`].
const fn plain_effect(types: &[u8]) -> OpcodeEffect {
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
        [] => Word::TOP,
        [b'L', ..] => Word::LONG,
        [b'F', ..] => Word::FLOAT,
        [b'D', ..] => Word::DOUBLE,
        [_, ..] => Word::INT,
    };
    plain(popped, pushed)
}
