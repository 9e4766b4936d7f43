//! The kinds of local variables and operands before an instruction, and how an instruction changes
//! them. This is [`crate::types`] without class names.
//!
//! Each function returns `None` for code that no verifier accepts, and for code that it does not
//! know. The full path then analyses the method, and refuses it by name if necessary.

use super::word::{PLAIN_EFFECTS, PlainEffect, Word};
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantPool, PoolEntry};
use veneer_names::raw::{field_length, slots};

/// The kinds before an instruction, one element per word.
#[derive(Default)]
pub(super) struct AbstractState {
    pub locals: Vec<Word>,
    pub stack: Vec<Word>,
}

/// The operands of a field access or a call, from the descriptor of the member.
#[derive(Clone, Copy)]
pub(super) struct MemberEffect {
    /// Words of the parameters, without the receiver.
    pub popped: u16,
    /// The result or the field. `None` for `void`.
    pub value: Option<Word>,
    /// Whether the name is `<init>`.
    pub is_constructor: bool,
}

/// The effects of members, cached by constant-pool index so that each descriptor is parsed once.
pub(super) struct MemberEffects<'f> {
    pool: &'f ConstantPool<'f>,
    known: Vec<Option<MemberEffect>>,
}

impl<'f> MemberEffects<'f> {
    pub fn new(pool: &'f ConstantPool<'f>) -> MemberEffects<'f> {
        MemberEffects {
            pool,
            known: vec![None; usize::from(pool.count())],
        }
    }

    pub fn pool(&self) -> &'f ConstantPool<'f> {
        self.pool
    }

    /// The effect of the member at this index, or `None` if its descriptor is malformed.
    pub fn get(&mut self, index: u16) -> Option<MemberEffect> {
        let known = self.known.get_mut(usize::from(index))?;
        if known.is_none() {
            *known = read_effect(self.pool, index);
        }
        *known
    }
}

fn read_effect(pool: &ConstantPool, index: u16) -> Option<MemberEffect> {
    let name_and_type = match pool.entry(index).ok()? {
        PoolEntry::Field { name_and_type, .. }
        | PoolEntry::Method { name_and_type, .. }
        | PoolEntry::InterfaceMethod { name_and_type, .. }
        | PoolEntry::InvokeDynamic { name_and_type, .. } => name_and_type,
        _ => return None,
    };
    let (name, descriptor) = pool.name_and_type(name_and_type).ok()?;
    let text = pool.utf8(descriptor).ok()?;
    let (mut popped, mut rest) = (0u16, text);
    if let Some(parameters) = text.strip_prefix(b"(") {
        rest = parameters;
        while !rest.starts_with(b")") {
            let length = field_length(rest)?;
            popped = popped.checked_add(slots(rest))?;
            rest = rest.get(length..)?;
        }
        rest = rest.get(1..)?;
    }
    let value = match rest {
        b"V" => None,
        _ if field_length(rest)? == rest.len() => Word::of_descriptor(rest[0]),
        _ => return None,
    };
    Some(MemberEffect {
        popped,
        value,
        is_constructor: pool.utf8(name).ok()? == b"<init>",
    })
}

impl AbstractState {
    #[inline]
    pub fn push(&mut self, word: Word) {
        self.stack.push(word);
        if word.is_wide() {
            self.stack.push(Word::SECOND);
        }
    }

    /// Pops words of operands that are not looked at.
    pub fn drop_words(&mut self, words: usize) -> Option<()> {
        let depth = self.stack.len().checked_sub(words)?;
        self.stack.truncate(depth);
        Some(())
    }

    /// Pushes the local of a load instruction. `kind` is the opcode's offset from `ILOAD`.
    pub fn load(&mut self, kind: u8, slot: usize) -> Option<()> {
        match kind {
            0 => self.push(Word::INT),
            1 => self.push(Word::LONG),
            2 => self.push(Word::FLOAT),
            3 => self.push(Word::DOUBLE),
            _ => {
                let word = self.locals.get(slot).copied()?;
                word.is_object_like().then_some(())?;
                self.push(word);
            }
        }
        Some(())
    }

    /// Stores the top operand in a local. `kind` is the opcode's offset from `ISTORE`.
    pub fn store(&mut self, kind: u8, slot: usize) -> Option<()> {
        let mut word = self.stack.pop()?;
        if word == Word::SECOND {
            word = self.stack.pop()?;
        }
        if word.load_kind() != kind || word == Word::TOP {
            return None;
        }
        let wide = word.is_wide();
        if slot + usize::from(wide) >= self.locals.len() {
            return None;
        }
        // A store into the second half of a `long` or `double` destroys the value.
        if slot > 0 && self.locals[slot - 1].is_wide() {
            self.locals[slot - 1] = Word::TOP;
        }
        self.locals[slot] = word;
        if wide {
            self.locals[slot + 1] = Word::TOP;
        }
        Some(())
    }

    /// Applies the instruction at `pc`, except loads and stores of locals.
    pub fn step(
        &mut self,
        bytes: &[u8],
        pc: usize,
        op: u8,
        members: &mut MemberEffects,
    ) -> Option<()> {
        if let Some(PlainEffect { popped, pushed }) = PLAIN_EFFECTS[usize::from(op)] {
            self.drop_words(usize::from(popped))?;
            if let Some(word) = pushed {
                self.push(word);
            }
            return Some(());
        }
        match op {
            ACONST_NULL => self.push(Word::NULL),
            LDC => self.push(constant(members.pool(), u16::from(*bytes.get(pc + 1)?))?),
            LDC_W | LDC2_W => self.push(constant(members.pool(), u2(bytes, pc + 1)?)?),
            AALOAD => {
                self.stack.pop()?;
                let array = self.stack.pop()?;
                let is_object = array == Word::OBJECT;
                self.push(if is_object { Word::OBJECT } else { Word::NULL });
            }
            POP => self.drop_words(1)?,
            POP2 => self.drop_words(2)?,
            DUP => self.duplicate(1, 0)?,
            DUP_X1 => self.duplicate(1, 1)?,
            DUP_X2 => self.duplicate(1, 2)?,
            DUP2 => self.duplicate(2, 0)?,
            DUP2_X1 => self.duplicate(2, 1)?,
            DUP2_X2 => self.duplicate(2, 2)?,
            SWAP => {
                let (a, b) = (self.stack.pop()?, self.stack.pop()?);
                self.stack.extend([a, b]);
            }
            GETSTATIC..=INVOKEDYNAMIC => self.use_member(bytes, pc, op, members)?,
            NEW => self.push(Word::uninitialized(pc as u16)),
            NEWARRAY | ANEWARRAY | CHECKCAST => {
                self.stack.pop()?;
                self.push(Word::OBJECT);
            }
            MULTIANEWARRAY => {
                self.drop_words(usize::from(*bytes.get(pc + 3)?))?;
                self.push(Word::OBJECT);
            }
            _ => return None,
        }
        Some(())
    }

    /// Copies the top words and inserts the copy below `skipped` more words (JVMS §6.5 `dup*`).
    fn duplicate(&mut self, copied: usize, skipped: usize) -> Option<()> {
        let depth = self.stack.len();
        let from = depth.checked_sub(copied)?;
        let place = from.checked_sub(skipped)?;
        let mut top = [Word::TOP; 2];
        top[..copied].copy_from_slice(&self.stack[from..]);
        self.stack.resize(depth + copied, Word::TOP);
        self.stack.copy_within(place..depth, place + copied);
        self.stack[place..place + copied].copy_from_slice(&top[..copied]);
        Some(())
    }

    /// Applies a field access or a call.
    fn use_member(
        &mut self,
        bytes: &[u8],
        pc: usize,
        op: u8,
        members: &mut MemberEffects,
    ) -> Option<()> {
        let effect = members.get(u2(bytes, pc + 1)?)?;
        match op {
            GETSTATIC | GETFIELD => {
                self.drop_words(usize::from(op == GETFIELD))?;
                self.push(effect.value?);
            }
            PUTSTATIC | PUTFIELD => {
                let value = usize::from(effect.value?.width());
                self.drop_words(value + usize::from(op == PUTFIELD))?;
            }
            _ => {
                self.drop_words(usize::from(effect.popped))?;
                if !matches!(op, INVOKESTATIC | INVOKEDYNAMIC) {
                    let receiver = self.stack.pop()?;
                    if op == INVOKESPECIAL && effect.is_constructor {
                        self.initialize(receiver)?;
                    }
                }
                if let Some(word) = effect.value {
                    self.push(word);
                }
            }
        }
        Some(())
    }

    /// Marks all copies of an object as initialised.
    fn initialize(&mut self, object: Word) -> Option<()> {
        object.is_uninitialized().then_some(())?;
        for word in self.locals.iter_mut().chain(&mut self.stack) {
            if *word == object {
                *word = Word::OBJECT;
            }
        }
        Some(())
    }
}

/// The kind of a constant that `ldc` loads.
fn constant(pool: &ConstantPool, index: u16) -> Option<Word> {
    Some(match pool.entry(index).ok()? {
        PoolEntry::Integer(_) => Word::INT,
        PoolEntry::Float(_) => Word::FLOAT,
        PoolEntry::Long(_) => Word::LONG,
        PoolEntry::Double(_) => Word::DOUBLE,
        PoolEntry::String { .. }
        | PoolEntry::Class { .. }
        | PoolEntry::MethodType { .. }
        | PoolEntry::MethodHandle { .. } => Word::OBJECT,
        PoolEntry::Dynamic { .. } => {
            let (_, _, descriptor) = pool.dynamic(index).ok()?;
            Word::of_descriptor(*pool.utf8(descriptor).ok()?.first()?)?
        }
        _ => return None,
    })
}

pub(super) fn u2(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}
