//! The kinds of local variables and operands before an instruction, and how an instruction changes
//! them. This is [`crate::types`] without class names.
//!
//! Each function returns `None` for code that no verifier accepts, and for code that it does not
//! know. The full path then analyses the method, and refuses it by name if necessary.

use super::word::Word;
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
#[derive(Clone, Copy, Default)]
pub(super) struct MemberEffect {
    /// Words of the parameters, without the receiver.
    popped: u16,
    /// The result or the field. [`Word::TOP`] for `void`.
    value: Word,
    /// Whether the name is `<init>`.
    is_constructor: bool,
    /// Whether the descriptor has been read.
    is_known: bool,
}

/// The effects of members, cached by constant-pool index so that each descriptor is parsed once.
/// The buffer is reused.
#[derive(Default)]
pub(super) struct MemberEffects {
    known: Vec<MemberEffect>,
}

impl MemberEffects {
    /// Forgets the members of the previous class.
    pub fn begin(&mut self, pool: &ConstantPool) {
        self.known.clear();
        let count = usize::from(pool.count());
        self.known.resize(count, MemberEffect::default());
    }

    /// The effect of the member at this index, or `None` if its descriptor is malformed.
    #[inline]
    fn get(&mut self, pool: &ConstantPool, index: u16) -> Option<MemberEffect> {
        let known = self.known.get_mut(usize::from(index))?;
        if !known.is_known {
            *known = read_effect(pool, index)?;
        }
        Some(*known)
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
        while rest.first() != Some(&b')') {
            let length = field_length(rest)?;
            popped = popped.checked_add(slots(rest))?;
            rest = rest.get(length..)?;
        }
        rest = rest.get(1..)?;
    }
    let value = match rest {
        b"V" => Word::TOP,
        _ if field_length(rest)? == rest.len() => Word::of_descriptor(rest[0])?,
        _ => return None,
    };
    Some(MemberEffect {
        popped,
        value,
        is_constructor: pool.utf8(name).ok()? == b"<init>",
        is_known: true,
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
    #[inline]
    pub fn drop_words(&mut self, words: usize) -> Option<()> {
        let depth = self.stack.len().checked_sub(words)?;
        self.stack.truncate(depth);
        Some(())
    }

    /// Pushes the local of a load instruction. `kind` is the opcode's offset from `ILOAD`.
    #[inline]
    pub fn load(&mut self, kind: u8, slot: usize) -> Option<()> {
        match kind {
            0 => self.push(Word::INT),
            1 => self.push(Word::LONG),
            2 => self.push(Word::FLOAT),
            3 => self.push(Word::DOUBLE),
            _ => {
                let word = self.locals.get(slot).copied()?;
                word.is_object_like().then_some(())?;
                self.stack.push(word);
            }
        }
        Some(())
    }

    /// Stores the top operand in a local. `kind` is the opcode's offset from `ISTORE`.
    #[inline]
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

    /// Applies the instruction at `pc`, unless it is one of [`super::word::OPCODE_EFFECTS`].
    pub fn step(
        &mut self,
        (bytes, pool): (&[u8], &ConstantPool),
        pc: usize,
        op: u8,
        members: &mut MemberEffects,
    ) -> Option<()> {
        match op {
            GETSTATIC..=INVOKEDYNAMIC => {
                let effect = members.get(pool, u2(bytes, pc + 1)?)?;
                self.use_member(op, effect)?;
            }
            LDC => self.push(constant(pool, u16::from(*bytes.get(pc + 1)?))?),
            LDC_W | LDC2_W => self.push(constant(pool, u2(bytes, pc + 1)?)?),
            AALOAD => {
                self.stack.pop()?;
                let array = self.stack.pop()?;
                let is_object = array == Word::OBJECT;
                self.push(if is_object { Word::OBJECT } else { Word::NULL });
            }
            DUP => {
                let word = *self.stack.last()?;
                self.stack.push(word);
            }
            DUP_X1 => self.duplicate(1, 1)?,
            DUP_X2 => self.duplicate(1, 2)?,
            DUP2 => self.duplicate(2, 0)?,
            DUP2_X1 => self.duplicate(2, 1)?,
            DUP2_X2 => self.duplicate(2, 2)?,
            SWAP => {
                let (a, b) = (self.stack.pop()?, self.stack.pop()?);
                self.stack.extend([a, b]);
            }
            NEW => self.push(Word::uninitialized(pc as u16)),
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
    #[inline]
    fn use_member(&mut self, op: u8, effect: MemberEffect) -> Option<()> {
        match op {
            GETSTATIC | GETFIELD => {
                self.drop_words(usize::from(op == GETFIELD))?;
                (effect.value != Word::TOP).then(|| self.push(effect.value))
            }
            PUTSTATIC | PUTFIELD => {
                (effect.value != Word::TOP).then_some(())?;
                let value = usize::from(effect.value.width());
                self.drop_words(value + usize::from(op == PUTFIELD))
            }
            _ => {
                self.drop_words(usize::from(effect.popped))?;
                if !matches!(op, INVOKESTATIC | INVOKEDYNAMIC) {
                    let receiver = self.stack.pop()?;
                    if op == INVOKESPECIAL && effect.is_constructor {
                        self.initialize(receiver)?;
                    }
                }
                if effect.value != Word::TOP {
                    self.push(effect.value);
                }
                Some(())
            }
        }
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

/// The depth of the operand stack after the instruction at `pc`, which is none of
/// [`super::word::OPCODE_EFFECTS`]. This is [`AbstractState::step`] without types.
#[inline]
pub(super) fn depth_after(
    depth: u32,
    (bytes, pool): (&[u8], &ConstantPool),
    pc: usize,
    op: u8,
    members: &mut MemberEffects,
) -> Option<u32> {
    let (popped, pushed) = match op {
        GETSTATIC..=INVOKEDYNAMIC => {
            let effect = members.get(pool, u2(bytes, pc + 1)?)?;
            let is_void = effect.value == Word::TOP;
            let value = if is_void {
                0
            } else {
                u32::from(effect.value.width())
            };
            match op {
                GETSTATIC | GETFIELD | PUTSTATIC | PUTFIELD if is_void => return None,
                GETSTATIC => (0, value),
                GETFIELD => (1, value),
                PUTSTATIC => (value, 0),
                PUTFIELD => (value + 1, 0),
                INVOKESTATIC | INVOKEDYNAMIC => (u32::from(effect.popped), value),
                _ => (u32::from(effect.popped) + 1, value),
            }
        }
        LDC => {
            let word = constant(pool, u16::from(*bytes.get(pc + 1)?))?;
            (0, u32::from(word.width()))
        }
        LDC_W | LDC2_W => (0, u32::from(constant(pool, u2(bytes, pc + 1)?)?.width())),
        AALOAD => (2, 1),
        DUP => (1, 2),
        DUP_X1 => (2, 3),
        DUP_X2 => (3, 4),
        DUP2 => (2, 4),
        DUP2_X1 => (3, 5),
        DUP2_X2 => (4, 6),
        SWAP => (2, 2),
        NEW => (0, 1),
        MULTIANEWARRAY => (u32::from(*bytes.get(pc + 3)?), 1),
        _ => return None,
    };
    Some(depth.checked_sub(popped)? + pushed)
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
