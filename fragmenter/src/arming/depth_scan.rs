//! The second pass of the fast path over a method whose points depend on no types: follows the depth
//! of the operand stack alone.
//!
//! Such a method has points only at its entry and before returns that no handler protects. The
//! values at these points are the parameters and the result, which the descriptor declares. This is
//! most methods under the policies `loop` and `method`.
//!
//! The depth is checked as in [`super::typed_scan`], the types are not. If they are wrong, the
//! verifier of the JVM rejects the armed body like the original.

use super::abstract_state::{MemberEffects, depth_after, u2};
use super::code_scan::CodeScan;
use super::stackmap_relocation::{Frame, Frames};
use super::typed_scan::{NO_FRAME, Return, ScannedCode, TypedScan};
use super::word::{OPCODE_EFFECTS, OpcodeEffect, Word};
use crate::bytecode::opcode::*;

impl TypedScan {
    /// Like [`TypedScan::read`], for a method whose points depend on no types.
    pub fn read_depths(
        &mut self,
        code: &ScannedCode,
        scan: &CodeScan,
        members: &mut MemberEffects,
    ) -> Option<()> {
        self.at_blocks.clear();
        self.returns.clear();
        self.object_stores = 0;
        self.entry = Some((0, 0));
        let mut depths = DepthScan {
            returns: &mut self.returns,
            last_frame: Some(0),
        };
        depths.read(code, scan, members)?;
        self.last_frame = depths.last_frame;
        Some(())
    }
}

/// Facts about the operand stack of one method.
struct DepthScan<'s> {
    returns: &'s mut Vec<Return>,
    /// See [`TypedScan::last_frame`].
    last_frame: Option<u16>,
}

impl DepthScan<'_> {
    /// Follows the code. Returns `None` if the full path must handle the method.
    fn read(
        &mut self,
        code: &ScannedCode,
        scan: &CodeScan,
        members: &mut MemberEffects,
    ) -> Option<()> {
        let mut frames = Frames::new(code.stack_map.unwrap_or(&[0, 0]))?;
        let mut frame = frames.next()?;
        let pc_of = |frame: &Option<Frame>| frame.as_ref().map_or(NO_FRAME, |f| u32::from(f.pc));
        let mut frame_pc = pc_of(&frame);
        let mut flows = true;
        let max_stack = u32::from(code.max_stack);
        let value = Word::of_descriptor(code.parameters.result);
        let expected_return = value.map_or(RETURN, |word| IRETURN + word.load_kind());
        let words = value.map_or(0, |word| u32::from(word.width()));
        let mut depth = 0u32;
        for (n, pc) in (0u32..).zip(&scan.starts) {
            let at = usize::from(*pc);
            if u32::from(*pc) == frame_pc {
                if let Some(here) = &frame {
                    depth = self.enter_frame(here)?;
                }
                frame = frames.next()?;
                frame_pc = pc_of(&frame);
            } else if !flows {
                return None;
            }
            let op = *code.bytes.get(at)?;
            flows = true;
            match OPCODE_EFFECTS[usize::from(op)] {
                OpcodeEffect::Plain { popped, pushed } => {
                    depth = depth.checked_sub(u32::from(popped))?;
                    if pushed != Word::TOP {
                        depth += u32::from(pushed.width());
                    }
                    flows = !ends_flow(op);
                }
                OpcodeEffect::ShortLocal { op, slot } => {
                    depth = access_local(code, depth, op, u16::from(slot))?;
                }
                OpcodeEffect::Local { op } => {
                    let slot = *code.bytes.get(at + 1)?;
                    depth = access_local(code, depth, op, u16::from(slot))?;
                }
                OpcodeEffect::WideLocal => {
                    let op = *code.bytes.get(at + 1)?;
                    depth = access_local(code, depth, op, u2(code.bytes, at + 2)?)?;
                }
                OpcodeEffect::Return => {
                    if op != expected_return || depth < words {
                        return None;
                    }
                    flows = false;
                    self.returns.push(Return {
                        pc: *pc,
                        instruction: n,
                        depth: depth as usize,
                        at: None,
                    });
                }
                OpcodeEffect::Other => {
                    depth = depth_after(depth, (code.bytes, code.pool), at, op, members)?;
                    flows = !ends_flow(op);
                }
            }
            if depth > max_stack {
                return None;
            }
        }
        (frame.is_none() && !flows).then_some(())
    }

    /// The depth of the operand stack at a frame.
    fn enter_frame(&mut self, frame: &Frame) -> Option<u32> {
        let extra = &mut self.last_frame;
        let mut rest = frame.types;
        match frame.form {
            64..=127 | 247 => return frame_type_words(&mut rest),
            248..=250 => {
                let dropped = 251 - u16::from(frame.form);
                *extra = extra.and_then(|n| n.checked_sub(dropped));
            }
            252..=254 => {
                let added = u16::from(frame.form) - 251;
                *extra = extra.and_then(|n| n.checked_add(added));
            }
            255 => {
                *extra = None;
                let locals = u2(rest, 0)?;
                rest = rest.get(2..)?;
                for _ in 0..locals {
                    frame_type_words(&mut rest)?;
                }
                let operands = u2(rest, 0)?;
                rest = rest.get(2..)?;
                let mut depth = 0;
                for _ in 0..operands {
                    depth += frame_type_words(&mut rest)?;
                }
                return Some(depth);
            }
            _ => {}
        }
        Some(0)
    }
}

/// The width of the next verification type on the operand stack.
fn frame_type_words(rest: &mut &[u8]) -> Option<u32> {
    let tag = *rest.first()?;
    let length = if matches!(tag, 7 | 8) { 3 } else { 1 };
    *rest = rest.get(length..)?;
    Some(if matches!(tag, 3 | 4) { 2 } else { 1 })
}

/// The depth after an instruction that reads or writes a local variable.
fn access_local(code: &ScannedCode, depth: u32, op: u8, slot: u16) -> Option<u32> {
    let width = u16::from(matches!(op, LLOAD | DLOAD | LSTORE | DSTORE));
    (slot.checked_add(width)? < code.max_locals).then_some(())?;
    let words = 1 + u32::from(width);
    match op {
        ILOAD..=ALOAD => Some(depth + words),
        ISTORE..=ASTORE => depth.checked_sub(words),
        _ => Some(depth),
    }
}
