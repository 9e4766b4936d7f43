//! The change of the operand stack's depth, in words, for each instruction.

use super::parameters::{field_length, width};
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantPool, Entry};
use std::sync::OnceLock;

/// The words that a member's descriptor takes from the stack and leaves there, without the
/// receiver.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub taken: u16,
    pub left: u16,
}

/// The words of members, cached by constant-pool index so that each descriptor is parsed only once.
pub(super) struct MemberWords<'f> {
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

    /// The words of a member, or `None` if its descriptor is malformed.
    pub fn words(&mut self, index: u16) -> Option<Words> {
        let known = self.known.get(usize::from(index)).copied().flatten();
        if known.is_some() {
            return known;
        }
        let pool = self.pool;
        let text = match pool.entry(index).ok()? {
            Entry::Field { name_and_type, .. }
            | Entry::Method { name_and_type, .. }
            | Entry::InterfaceMethod { name_and_type, .. }
            | Entry::InvokeDynamic { name_and_type, .. } => {
                pool.utf8(pool.name_and_type(name_and_type).ok()?.1).ok()?
            }
            _ => return None,
        };
        let mut words = Words { taken: 0, left: 0 };
        let mut rest = text;
        if let Some(parameters) = text.strip_prefix(b"(") {
            rest = parameters;
            while !rest.starts_with(b")") {
                let length = field_length(rest)?;
                words.taken += width(rest);
                rest = rest.get(length..)?;
            }
            rest = rest.get(1..)?;
        }
        words.left = match rest {
            b"V" => 0,
            _ if field_length(rest)? == rest.len() => width(rest),
            _ => return None,
        };
        *self.known.get_mut(usize::from(index))? = Some(words);
        Some(words)
    }
}

pub(super) fn is_store(op: u8) -> bool {
    (ISTORE..IASTORE).contains(&op)
}

/// Marks opcodes whose change of depth is not known from the opcode.
pub(super) const UNKNOWN_DELTA: i8 = i8::MIN;

/// The change of depth for each opcode, in words. For instructions with a member or an operand that
/// determines the change, the table contains only the part that the opcode determines; the scan
/// adds the rest.
pub(super) fn deltas() -> &'static [i8; 256] {
    static DELTAS: OnceLock<[i8; 256]> = OnceLock::new();
    DELTAS.get_or_init(|| {
        let words = |types: &str| -> i8 {
            types
                .bytes()
                .map(|t| if matches!(t, b'L' | b'D') { 2 } else { 1 })
                .sum()
        };
        let mut table = [0; 256];
        for (op, delta) in (0u8..=255).zip(&mut table) {
            *delta = match (op, signature(op)) {
                (_, Some(types)) => {
                    let (taken, left) = types.split_once(':').unwrap_or_default();
                    words(left) - words(taken)
                }
                (ACONST_NULL | LDC | LDC_W | NEW | DUP | DUP_X1 | DUP_X2, _) => 1,
                (LDC2_W | DUP2 | DUP2_X1 | DUP2_X2, _) => 2,
                (POP | AALOAD, _) => -1,
                (POP2, _) => -2,
                (LLOAD | DLOAD, _) => 2,
                (ILOAD..=ALOAD, _) => 1,
                (LSTORE | DSTORE, _) => -2,
                (ISTORE..=ASTORE, _) => -1,
                (ILOAD_0..IALOAD, _) => {
                    if matches!((op - ILOAD_0) / 4, 1 | 3) {
                        2
                    } else {
                        1
                    }
                }
                (ISTORE_0..IASTORE, _) => {
                    if matches!((op - ISTORE_0) / 4, 1 | 3) {
                        -2
                    } else {
                        -1
                    }
                }
                (SWAP | IINC | NEWARRAY | ANEWARRAY | CHECKCAST, _) => 0,
                // The scan adds the words of members and of array dimensions.
                (GETSTATIC..=INVOKEDYNAMIC | MULTIANEWARRAY, _) => 0,
                _ => UNKNOWN_DELTA,
            };
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every opcode is either known, or refused by the scan and left to the full path.
    #[test]
    fn only_opcodes_that_the_scan_refuses_are_unknown() {
        let unknown: Vec<u8> = (0..=JSR_W)
            .filter(|op| deltas()[usize::from(*op)] == UNKNOWN_DELTA)
            .collect();
        assert_eq!(unknown, [JSR, RET, WIDE, GOTO_W, JSR_W]);
    }

    #[test]
    fn depths_are_those_of_the_specification() {
        let delta = |op: u8| deltas()[usize::from(op)];
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
}
