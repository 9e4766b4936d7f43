//! By how many words each instruction changes the depth of the operand stack.

use super::parameters::{field_length, width};
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantPool, Entry};
use std::sync::OnceLock;

/// What the call of a member takes and leaves, in words, without the receiver.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub taken: u16,
    pub left: u16,
}

/// The words of members, by their place in a pool; each descriptor is read once.
pub(super) struct Members<'f> {
    pool: &'f ConstantPool<'f>,
    known: Vec<Option<Words>>,
}

impl<'f> Members<'f> {
    pub fn new(pool: &'f ConstantPool<'f>) -> Members<'f> {
        Members {
            pool,
            known: vec![None; usize::from(pool.count())],
        }
    }

    /// Words of a member's descriptor.
    pub fn of(&mut self, index: u16) -> Option<Words> {
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

/// Not known from the opcode.
pub(super) const UNKNOWN: i8 = i8::MIN;

/// By how many words each opcode changes the depth of the stack, as far as the opcode says so alone. What a member's descriptor or
/// an operand says comes to it.
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
                // The members' and the dimensions' are counted by the scan.
                (GETSTATIC..=INVOKEDYNAMIC | MULTIANEWARRAY, _) => 0,
                _ => UNKNOWN,
            };
        }
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another opcode that nobody thought of is left to the full way.
    #[test]
    fn only_what_the_scan_refuses_is_unknown() {
        let unknown: Vec<u8> = (0..=JSR_W)
            .filter(|op| deltas()[usize::from(*op)] == UNKNOWN)
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
