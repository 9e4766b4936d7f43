//! The second pass of the fast path: follows the kinds of values through the code, from the frames
//! of the stack map, and records them at the starts of fragments and at returns.

use super::abstract_state::{AbstractState, MemberEffects, u2};
use super::block_graph::Block;
use super::code_scan::CodeScan;
use super::parameters::Parameters;
use super::stackmap_relocation::{Frame, Frames};
use super::word::{OPCODE_EFFECTS, OpcodeEffect, Word};
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantPool, ConstantTag};

/// The kinds at one place, as a range of [`TypedScan::words`]: first the locals, then the operands.
#[derive(Clone, Copy)]
pub(super) struct Snapshot {
    from: usize,
    depth: usize,
}

/// A return instruction.
pub(super) struct Return {
    pub pc: u16,
    pub instruction: u32,
    /// Depth of the operand stack in words.
    pub depth: usize,
    /// The kinds, if an exception range covers any code of the method.
    pub at: Option<Snapshot>,
}

/// Facts about the types of one method. The buffers are reused.
#[derive(Default)]
pub(super) struct TypedScan {
    state: AbstractState,
    /// The locals of the previous frame, one element per value.
    framed: Vec<Word>,
    words: Vec<Word>,
    max_locals: usize,
    /// The kinds at the start of each fragment, by number. Empty unless they were asked for.
    pub at_blocks: Vec<Snapshot>,
    pub returns: Vec<Return>,
    /// Locals that an instruction stores an object in.
    pub object_stores: u64,
    /// Index and pc of the instruction before which point 0 is placed.
    pub entry: Option<(u32, u16)>,
    /// The number of locals that the last frame has beyond those of the frame at entry. `None` if
    /// the last frame does not extend the frame at entry.
    pub last_frame: Option<u16>,
}

/// The method that a scan reads.
pub(super) struct ScannedCode<'m> {
    pub bytes: &'m [u8],
    pub max_stack: u16,
    pub max_locals: u16,
    /// The content of the `StackMapTable`, if the method has one.
    pub stack_map: Option<&'m [u8]>,
    pub parameters: &'m Parameters<'m>,
    /// Whether the method is a constructor of a class other than `Object`.
    pub constructor: bool,
    /// Whether an exception range covers any code.
    pub is_protected: bool,
    pub pool: &'m ConstantPool<'m>,
}

/// The pc of the next frame if there is none.
pub(super) const NO_FRAME: u32 = u32::MAX;

impl TypedScan {
    /// The locals at a recorded place.
    pub fn locals(&self, at: Snapshot) -> &[Word] {
        &self.words[at.from..at.from + self.max_locals]
    }

    /// The operands at a recorded place.
    pub fn stack(&self, at: Snapshot) -> &[Word] {
        let from = at.from + self.max_locals;
        &self.words[from..from + at.depth]
    }

    /// Follows the code. Fills `uses` and `defs` of the blocks, and records their kinds if `blocks`
    /// is not empty. Returns `None` if the full path must handle the method.
    pub fn read(
        &mut self,
        code: &ScannedCode,
        scan: &CodeScan,
        blocks: &mut [Block],
        members: &mut MemberEffects,
    ) -> Option<()> {
        self.begin(code)?;
        let mut frames = Frames::new(code.stack_map.unwrap_or(&[0, 0]))?;
        let mut frame = frames.next()?;
        let pc_of = |frame: &Option<Frame>| frame.as_ref().map_or(NO_FRAME, |f| u32::from(f.pc));
        let mut frame_pc = pc_of(&frame);
        let mut flows = true;
        let max_stack = usize::from(code.max_stack);
        for (n, pc) in (0u32..).zip(&scan.starts) {
            let at = usize::from(*pc);
            if u32::from(*pc) == frame_pc {
                if let Some(here) = &frame {
                    self.enter_frame(here, code.pool)?;
                }
                frame = frames.next()?;
                frame_pc = pc_of(&frame);
            } else if !flows {
                return None;
            }
            let op = *code.bytes.get(at)?;
            if blocks
                .get(self.at_blocks.len())
                .is_some_and(|b| b.first == n)
            {
                let here = self.record();
                self.at_blocks.push(here);
            }
            let was_before_entry = self.entry.is_none();
            match OPCODE_EFFECTS[usize::from(op)] {
                OpcodeEffect::Plain { popped, pushed } => {
                    self.state.drop_words(usize::from(popped))?;
                    if pushed != Word::TOP {
                        self.state.push(pushed);
                    }
                }
                OpcodeEffect::ShortLocal { op, slot } => {
                    self.access_local(blocks, op, u16::from(slot))?;
                }
                OpcodeEffect::Local { op } => {
                    let slot = *code.bytes.get(at + 1)?;
                    self.access_local(blocks, op, u16::from(slot))?;
                }
                OpcodeEffect::WideLocal => {
                    let op = *code.bytes.get(at + 1)?;
                    self.access_local(blocks, op, u2(code.bytes, at + 2)?)?;
                }
                // The operands before a return are recorded as they are.
                OpcodeEffect::Return => self.return_at(code, n, *pc, op)?,
                OpcodeEffect::Other => {
                    let code = (code.bytes, code.pool);
                    self.state.step(code, at, op, members)?;
                }
            }
            if self.state.stack.len() > max_stack {
                return None;
            }
            flows = !ends_flow(op);
            if was_before_entry {
                self.before_entry(code, scan, (n, at), op)?;
            }
        }
        (frame.is_none() && !flows && self.entry.is_some()).then_some(())
    }

    fn begin(&mut self, code: &ScannedCode) -> Option<()> {
        self.max_locals = usize::from(code.max_locals);
        self.words.clear();
        self.at_blocks.clear();
        self.returns.clear();
        self.object_stores = 0;
        self.entry = (!code.constructor).then_some((0, 0));
        self.last_frame = Some(0);
        self.framed.clear();
        self.framed.extend_from_slice(&code.parameters.kinds);
        if code.constructor {
            *self.framed.first_mut()? = Word::UNINITIALIZED_THIS;
        }
        self.state.stack.clear();
        self.expand_locals()
    }

    /// Sets the locals to those of the previous frame.
    fn expand_locals(&mut self) -> Option<()> {
        let locals = &mut self.state.locals;
        locals.clear();
        for word in &self.framed {
            locals.push(*word);
            if word.is_wide() {
                locals.push(Word::TOP);
            }
        }
        if locals.len() > self.max_locals {
            return None;
        }
        locals.resize(self.max_locals, Word::TOP);
        Some(())
    }

    /// Replaces the state by a frame of the stack map.
    fn enter_frame(&mut self, frame: &Frame, pool: &ConstantPool) -> Option<()> {
        let mut rest = frame.types;
        // The code before point 0 has no branches, so a frame there is unusual.
        self.entry?;
        self.state.stack.clear();
        let extra = &mut self.last_frame;
        match frame.form {
            64..=127 | 247 => {
                let word = read_type(&mut rest, pool)?;
                self.state.push(word);
            }
            248..=250 => {
                let dropped = 251 - u16::from(frame.form);
                let kept = self.framed.len().checked_sub(usize::from(dropped))?;
                self.framed.truncate(kept);
                *extra = extra.and_then(|n| n.checked_sub(dropped));
            }
            252..=254 => {
                let added = u16::from(frame.form) - 251;
                for _ in 0..added {
                    self.framed.push(read_type(&mut rest, pool)?);
                }
                *extra = extra.map(|n| n + added);
            }
            255 => {
                self.framed.clear();
                for _ in 0..take_u2(&mut rest)? {
                    self.framed.push(read_type(&mut rest, pool)?);
                }
                for _ in 0..take_u2(&mut rest)? {
                    let word = read_type(&mut rest, pool)?;
                    self.state.push(word);
                }
                *extra = None;
            }
            _ => {}
        }
        // A frame after point 0 has no object without `super(…)`.
        (!self.framed.contains(&Word::UNINITIALIZED_THIS)).then_some(())?;
        self.expand_locals()
    }

    fn record(&mut self) -> Snapshot {
        let from = self.words.len();
        self.words.extend_from_slice(&self.state.locals);
        self.words.extend_from_slice(&self.state.stack);
        let depth = self.state.stack.len();
        Snapshot { from, depth }
    }

    /// Applies an instruction that reads or writes a local variable: `iload` … `aload`, `istore` …
    /// `astore`, or `iinc`.
    #[inline]
    fn access_local(&mut self, blocks: &mut [Block], op: u8, slot: u16) -> Option<()> {
        let current = self.at_blocks.len().wrapping_sub(1);
        if let Some(block) = blocks.get_mut(current) {
            note_locals(block, op, slot)?;
        }
        let index = usize::from(slot);
        match op {
            ILOAD..=ALOAD => self.state.load(op - ILOAD, index),
            ISTORE..=ASTORE => {
                self.state.store(op - ISTORE, index)?;
                if op == ASTORE {
                    // Slots that do not fit the set matter only if points carry values.
                    self.object_stores |= 1u64.checked_shl(u32::from(slot)).unwrap_or(0);
                }
                Some(())
            }
            _ => self.state.locals.get(index).map(|_| ()),
        }
    }

    fn return_at(&mut self, code: &ScannedCode, n: u32, pc: u16, op: u8) -> Option<()> {
        let value = Word::of_descriptor(code.parameters.result);
        let expected = value.map_or(RETURN, |word| IRETURN + word.load_kind());
        let words = value.map_or(0, |word| usize::from(word.width()));
        if op != expected || self.state.stack.len() < words {
            return None;
        }
        let depth = self.state.stack.len();
        let at = code.is_protected.then(|| self.record());
        self.returns.push(Return {
            pc,
            instruction: n,
            depth,
            at,
        });
        Some(())
    }

    /// Handles an instruction before point 0 of a constructor. The full path must handle branches
    /// and stores there, because the frame at point 0 must be the frame at entry with `this`
    /// initialised.
    fn before_entry(
        &mut self,
        code: &ScannedCode,
        scan: &CodeScan,
        (n, at): (u32, usize),
        op: u8,
    ) -> Option<()> {
        let is_store = match OPCODE_EFFECTS[usize::from(op)] {
            OpcodeEffect::ShortLocal { op, .. } | OpcodeEffect::Local { op } => op >= ISTORE,
            OpcodeEffect::WideLocal => *code.bytes.get(at + 1)? >= ISTORE,
            _ => false,
        };
        let next = scan.starts.get(n as usize + 1)?;
        if is_store || ends_flow(op) || branches(op) || self.state.locals.is_empty() {
            return None;
        }
        if self.state.locals[0] != Word::UNINITIALIZED_THIS {
            self.state.stack.is_empty().then_some(())?;
            self.entry = Some((n + 1, *next));
        }
        Some(())
    }
}

fn branches(op: u8) -> bool {
    matches!(op, IFEQ..=GOTO | IFNULL | IFNONNULL)
}

/// Reads a verification type (JVMS §4.7.4).
fn read_type(rest: &mut &[u8], pool: &ConstantPool) -> Option<Word> {
    let (tag, after) = rest.split_first()?;
    *rest = after;
    Some(match tag {
        0 => Word::TOP,
        1 => Word::INT,
        2 => Word::FLOAT,
        3 => Word::DOUBLE,
        4 => Word::LONG,
        5 => Word::NULL,
        6 => Word::UNINITIALIZED_THIS,
        7 => {
            let class = take_u2(rest)?;
            (pool.tag(class).ok()? == ConstantTag::Class).then_some(Word::OBJECT)?
        }
        8 => Word::uninitialized(take_u2(rest)?),
        _ => return None,
    })
}

fn take_u2(rest: &mut &[u8]) -> Option<u16> {
    let value = u2(rest, 0)?;
    *rest = rest.get(2..)?;
    Some(value)
}

/// Adds what an instruction reads and writes to its fragment; see [`crate::use_def`].
#[inline]
fn note_locals(block: &mut Block, op: u8, slot: u16) -> Option<()> {
    let one = 1u64.checked_shl(u32::from(slot))?;
    let slots = match op {
        LLOAD | DLOAD | LSTORE | DSTORE => one | one << 1,
        _ => one,
    };
    if op < ISTORE || op == IINC {
        block.uses |= slots & !block.defs;
    }
    if op >= ISTORE {
        block.defs |= slots;
    }
    Some(())
}
