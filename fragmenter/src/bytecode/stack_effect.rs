//! The words of the operand stack that each instruction pops and pushes. An `int`, a `float` or a
//! reference is one word, a `long` or a `double` is two words.

use super::opcode::*;
use crate::classfile::{ConstantPool, PoolEntry};
use veneer_names::raw::{field_length, slots};

/// The words that an instruction pops from the operand stack and pushes onto it. For a member's
/// descriptor, these are the words of the parameters and of the result or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub popped: u16,
    pub pushed: u16,
}

/// The words of members, cached by constant-pool index so that each descriptor is parsed only once.
pub(crate) struct MemberWords<'f> {
    pool: &'f ConstantPool<'f>,
    known: Vec<Option<Words>>,
}

impl<'f> MemberWords<'f> {
    pub fn new(pool: &'f ConstantPool<'f>) -> MemberWords<'f> {
        MemberWords {
            pool,
            known: vec![None; usize::from(pool.count())],
        }
    }

    /// The words that a field access or a call of this member pops and pushes, or `None` if the
    /// member's descriptor is malformed.
    pub fn of_instruction(&mut self, op: u8, member: u16) -> Option<Words> {
        let words = self.descriptor_words(member)?;
        let receiver = u16::from(!matches!(
            op,
            GETSTATIC | PUTSTATIC | INVOKESTATIC | INVOKEDYNAMIC
        ));
        let (popped, pushed) = match op {
            GETSTATIC | GETFIELD => (0, words.pushed),
            PUTSTATIC | PUTFIELD => (words.pushed, 0),
            _ => (words.popped, words.pushed),
        };
        Some(Words {
            popped: popped + receiver,
            pushed,
        })
    }

    /// The words of a member's descriptor, or `None` if the descriptor is malformed.
    fn descriptor_words(&mut self, index: u16) -> Option<Words> {
        let known = self.known.get(usize::from(index)).copied().flatten();
        if known.is_some() {
            return known;
        }
        let pool = self.pool;
        let text = match pool.entry(index).ok()? {
            PoolEntry::Field { name_and_type, .. }
            | PoolEntry::Method { name_and_type, .. }
            | PoolEntry::InterfaceMethod { name_and_type, .. }
            | PoolEntry::InvokeDynamic { name_and_type, .. } => {
                pool.utf8(pool.name_and_type(name_and_type).ok()?.1).ok()?
            }
            _ => return None,
        };
        let mut words = Words {
            popped: 0,
            pushed: 0,
        };
        let mut rest = text;
        if let Some(parameters) = text.strip_prefix(b"(") {
            rest = parameters;
            while !rest.starts_with(b")") {
                let length = field_length(rest)?;
                words.popped += slots(rest);
                rest = rest.get(length..)?;
            }
            rest = rest.get(1..)?;
        }
        words.pushed = match rest {
            b"V" => 0,
            _ if field_length(rest)? == rest.len() => slots(rest),
            _ => return None,
        };
        *self.known.get_mut(usize::from(index))? = Some(words);
        Some(words)
    }
}

/// The words that each opcode pops and pushes, as far as the opcode determines them.
///
/// Instructions whose operand determines their words (calls, field accesses, `multianewarray`) have
/// no words here. For `ldc` and `ldc_w`, the table contains one word, for `ldc2_w` two words.
///
/// Returns `None` for `jsr`, `ret`, `wide` and `goto_w`.
pub(crate) fn opcode_words(op: u8) -> Option<Words> {
    if let Some((popped, pushed)) = signature(op).and_then(|types| types.split_once(':')) {
        let words = |types: &str| types.bytes().map(signature_letter_words).sum();
        return Some(Words {
            popped: words(popped),
            pushed: words(pushed),
        });
    }
    let (popped, pushed) = match op {
        ACONST_NULL | LDC | LDC_W | NEW => (0, 1),
        DUP => (1, 2),
        DUP_X1 => (2, 3),
        DUP_X2 => (3, 4),
        LDC2_W => (0, 2),
        DUP2 => (2, 4),
        DUP2_X1 => (3, 5),
        DUP2_X2 => (4, 6),
        POP => (1, 0),
        POP2 => (2, 0),
        AALOAD => (2, 1),
        SWAP => (2, 2),
        LLOAD | DLOAD => (0, 2),
        ILOAD..=ALOAD => (0, 1),
        LSTORE | DSTORE => (2, 0),
        ISTORE..=ASTORE => (1, 0),
        ILOAD_0..IALOAD => (0, short_form_words(op - ILOAD_0)),
        ISTORE_0..IASTORE => (short_form_words(op - ISTORE_0), 0),
        NEWARRAY | ANEWARRAY | CHECKCAST => (1, 1),
        // The caller adds the words of members and of array dimensions.
        IINC | GETSTATIC..=INVOKEDYNAMIC | MULTIANEWARRAY => (0, 0),
        _ => return None,
    };
    Some(Words { popped, pushed })
}

/// Number of words of a letter in [`signature`].
fn signature_letter_words(letter: u8) -> u16 {
    match letter {
        b'L' | b'D' => 2,
        _ => 1,
    }
}

/// Number of words of the local of a short form, such as `lload_2`. Four forms of each type follow
/// each other: `iload_0` to `iload_3`, then those of `long`, `float`, `double` and references.
fn short_form_words(offset: u8) -> u16 {
    match offset / 4 {
        1 | 3 => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_opcodes_with_their_effect_in_an_operand_are_unknown() {
        let unknown: Vec<u8> = (0..=JSR_W)
            .filter(|op| opcode_words(*op).is_none())
            .collect();
        assert_eq!(unknown, [JSR, RET, WIDE, GOTO_W, JSR_W]);
    }

    #[test]
    fn depths_are_those_of_the_specification() {
        let delta = |op: u8| {
            let words = opcode_words(op).unwrap();
            i32::from(words.pushed) - i32::from(words.popped)
        };
        for (op, words) in [
            (ACONST_NULL, 1),
            (LCONST_0, 2),
            (AALOAD, -1),
            (AASTORE, -3),
            (ILOAD_0 + 4, 2),
            (ISTORE_0 + 12, -2),
            (LCMP, -3),
            (I2L, 1),
            (DUP2_X2, 2),
            (ARETURN, -1),
            (CHECKCAST, 0),
        ] {
            assert_eq!(delta(op), words, "{}", mnemonic(op));
        }
    }

    /// Instructions that copy or exchange operands pop all operands that they read.
    #[test]
    fn popped_words_include_operands_that_are_pushed_again() {
        for (op, popped, pushed) in [
            (DUP_X2, 3, 4),
            (DUP2_X1, 3, 5),
            (SWAP, 2, 2),
            (CHECKCAST, 1, 1),
            (LCMP, 4, 1),
            (IINC, 0, 0),
        ] {
            let expected = Some(Words { popped, pushed });
            assert_eq!(opcode_words(op), expected, "{}", mnemonic(op));
        }
    }
}
