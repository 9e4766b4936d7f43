//! Checks one method from its first to its last instruction (JVMS §4.10.1.6), in HotSpot's order.
//!
//! ```text
//!   for each instruction:   at a frame:  the incoming types must be assignable; then the frame applies
//!                           a store:     compare with handlers, then store
//!                           all others:  pop, push, compare branches with their frames, then handlers
//! ```

use std::collections::HashSet;

use super::class::{ClassContext, Signature};
use super::failure::{Fault, Rule};
use super::state::FrameState;
use super::table::{DecodedFrame, StackMapTable, mark};
use super::vtype::SlotType;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label, decode};
use crate::classfile::{Code, ConstantPool, ExceptionRange, Member};

pub(super) struct MethodVerifier<'b, 'f, 'c> {
    pub context: &'b mut ClassContext<'f>,
    pub state: FrameState,
    pub code: &'c [u8],
    pub signature: Signature,
    /// True if the current instruction has called `super(…)` or `this(…)`.
    pub initialised_this: bool,
    /// pc of the current instruction.
    pub pc: u16,
    /// True if the method is `<init>`.
    pub constructor: bool,
    table: StackMapTable,
    handlers: Vec<Handler>,
    /// The pc range that contains all exception ranges.
    guarded: (u16, u16),
}

struct Handler {
    range: ExceptionRange,
    caught: SlotType,
    /// Value of [`FrameState::changes`] at the last comparison with this handler.
    compared: Option<u64>,
}

/// Checks one method. An error includes the pc of the instruction that breaks the rule.
pub(super) fn check(
    context: &mut ClassContext<'_>,
    member: &Member<'_>,
) -> Result<(), (u16, Fault)> {
    let whole = |fault: Fault| (0, fault);
    let Some(attribute) = member.attribute(context.pool, "Code") else {
        return Ok(());
    };
    let malformed = |text: String| (0, Rule::Format.fault(text));
    let code = Code::parse(&attribute.info).map_err(|e| malformed(e.to_string()))?;
    let instructions = decode(&code.code).map_err(|e| malformed(e.to_string()))?;
    let mut marks = vec![mark::INSIDE; code.code.len()];
    for (pc, instruction) in &instructions {
        if let Some(at) = marks.get_mut(usize::from(*pc)) {
            *at = match instruction.op() {
                NEW => mark::NEW,
                _ => mark::START,
            };
        }
    }
    let signature = context.signature(member.descriptor).map_err(whole)?;
    let mut locals = context.entry(member, signature).map_err(whole)?;
    let max_locals = usize::from(code.max_locals);
    if locals.len() > max_locals {
        return Err(whole(Rule::Local.fault("the arguments exceed max_locals")));
    }
    let mut maps = code.attributes.iter();
    let mut map = || maps.find(|a| a.is(context.pool, "StackMapTable"));
    let info = map().map(|a| &*a.info);
    if map().is_some() {
        return Err(whole(Rule::StackMap.fault("there are two tables")));
    }
    let limits = (code.max_locals, code.max_stack);
    let table = StackMapTable::read(info, &locals, limits, &marks, context).map_err(whole)?;
    variables(&code, context.pool, &marks).map_err(whole)?;
    let handlers = handlers(&code.exceptions, &marks, context).map_err(whole)?;
    locals.resize(max_locals, SlotType::Top);
    let guarded = (
        handlers.iter().map(|h| h.range.start).min().unwrap_or(0),
        handlers.iter().map(|h| h.range.end).max().unwrap_or(0),
    );
    let constructor = context.pool.utf8(member.name) == Ok(b"<init>");
    let mut body = MethodVerifier {
        context,
        state: FrameState::new(locals, code.max_stack),
        code: &code.code,
        signature,
        initialised_this: false,
        pc: 0,
        constructor,
        table,
        handlers,
        guarded,
    };
    match body.all(&instructions) {
        Ok(()) => Ok(()),
        Err(fault) => Err((body.pc, fault)),
    }
}

fn on_instruction(marks: &[u8], pc: u16) -> bool {
    let mark = marks.get(usize::from(pc));
    mark.is_some_and(|mark| *mark != mark::INSIDE)
}

/// True if `pc` is the start of an instruction or the end of the code.
fn is_range_end(marks: &[u8], pc: u32) -> bool {
    pc as usize == marks.len() || u16::try_from(pc).is_ok_and(|pc| on_instruction(marks, pc))
}

/// Checks the local variable tables. HotSpot refuses a class if a variable's range does not begin
/// and end on instructions, or if a variable has a generic type but no type.
fn variables(code: &Code<'_>, pool: &ConstantPool<'_>, marks: &[u8]) -> Result<(), Fault> {
    let rows = |name: &'static str| {
        let tables = code.attributes.iter().filter(move |a| a.is(pool, name));
        tables.flat_map(|table| table.info.get(2..).unwrap_or_default().chunks_exact(10))
    };
    let mut known: HashSet<[&[u8]; 2], ahash::RandomState> = HashSet::default();
    let generic = rows("LocalVariableTypeTable").next().is_some();
    for row in rows("LocalVariableTable") {
        let start = u16::from_be_bytes([row[0], row[1]]);
        let length = u16::from_be_bytes([row[2], row[3]]);
        let end = u32::from(start) + u32::from(length);
        if !on_instruction(marks, start) || !is_range_end(marks, end) {
            return Rule::Ranges.fail(format!("a variable of {start}..{end}"));
        }
        if generic {
            // The key is range, name and slot. The descriptor is between them, and differs from the
            // generic type.
            known.insert([&row[..6], &row[8..]]);
        }
    }
    for row in rows("LocalVariableTypeTable") {
        if !known.contains(&[&row[..6], &row[8..]]) {
            return Rule::Ranges.fail("a generic type of no variable");
        }
    }
    Ok(())
}

fn handlers(
    ranges: &[ExceptionRange],
    marks: &[u8],
    context: &mut ClassContext<'_>,
) -> Result<Vec<Handler>, Fault> {
    let mut handlers = Vec::with_capacity(ranges.len());
    for range in ranges {
        let fine = range.start < range.end
            && on_instruction(marks, range.start)
            && is_range_end(marks, u32::from(range.end))
            && on_instruction(marks, range.handler);
        if !fine {
            return Rule::Ranges.fail(format!(
                "the exception range {}..{} with the handler {}",
                range.start, range.end, range.handler
            ));
        }
        let throwable = super::names::NameId::THROWABLE;
        let caught = match range.catch_type {
            0 => throwable,
            index => context.class(index)?,
        };
        if !context.class_assignable(caught, throwable) {
            return Rule::Constant.fail("a handler catches what is no Throwable");
        }
        handlers.push(Handler {
            range: *range,
            caught: SlotType::Object(caught),
            compared: None,
        });
    }
    Ok(handlers)
}

impl MethodVerifier<'_, '_, '_> {
    fn all(&mut self, instructions: &[(u16, Instruction)]) -> Result<(), Fault> {
        let mut next_frame = 0;
        let mut flows_in = true;
        for (pc, instruction) in instructions {
            self.pc = *pc;
            match self.table.frames.get(next_frame) {
                Some(frame) if frame.pc == *pc => {
                    if flows_in {
                        self.compare(next_frame, None, Rule::FallThrough)?;
                    }
                    let frame = &self.table.frames[next_frame];
                    self.state.enter(
                        self.table.locals(frame),
                        self.table.stack(frame),
                        frame.this_uninitialized,
                    );
                    next_frame += 1;
                }
                _ if !flows_in => {
                    return Rule::MissingFrame.fail("control does not flow in from above");
                }
                _ => {}
            }
            self.initialised_this = false;
            let stores = matches!(instruction, Instruction::Local { op, .. } if (ISTORE..=ASTORE).contains(op));
            if stores {
                self.handlers()?;
            }
            self.apply(instruction)?;
            if !stores {
                self.handlers()?;
            }
            flows_in = !ends_flow(instruction.op());
        }
        if flows_in {
            return Rule::MissingFrame.fail("control flows over the end of the code");
        }
        Ok(())
    }

    /// Compares the state with a frame. `caught` replaces the operand stack.
    fn compare(&mut self, at: usize, caught: Option<SlotType>, rule: Rule) -> Result<(), Fault> {
        let Some(frame) = self.table.frames.get(at) else {
            return rule.fail("there is no frame");
        };
        let (locals, stack) = (self.table.locals(frame), self.table.stack(frame));
        let depth = match caught {
            Some(_) => 1,
            None => self.state.stack.len(),
        };
        if depth != stack.len() {
            return rule.fail(format!(
                "{depth} slots of stack, the frame has {}",
                stack.len()
            ));
        }
        for (i, to) in locals.iter().enumerate() {
            let from = self.state.locals.get(i).copied().unwrap_or(SlotType::Top);
            if from != *to && !self.context.assignable(from, *to) {
                let (from, to) = (self.context.text(from), self.context.text(*to));
                return rule.fail(format!("local {i} holds {from}, the frame says {to}"));
            }
        }
        for (i, to) in stack.iter().enumerate() {
            let from = match caught {
                Some(caught) => caught,
                None => self.state.stack.get(i).copied().unwrap_or(SlotType::Top),
            };
            if from != *to && !self.context.assignable(from, *to) {
                let (from, to) = (self.context.text(from), self.context.text(*to));
                return rule.fail(format!("stack slot {i} holds {from}, the frame says {to}"));
            }
        }
        let uninitialised =
            self.state.this_uninitialized || (caught.is_some() && self.initialised_this);
        if uninitialised && !frame.this_uninitialized {
            return rule.fail("`this` is not initialised, and the frame does not say so");
        }
        Ok(())
    }

    fn frame(&self, pc: u16, rule: Rule) -> Result<usize, Fault> {
        let by_pc = |f: &DecodedFrame| f.pc;
        let found = self.table.frames.binary_search_by_key(&pc, by_pc);
        found.map_err(|_| rule.fault(format!("there is no frame at {pc}")))
    }

    /// Checks a branch to a label.
    pub(super) fn branch(&mut self, target: Label) -> Result<(), Fault> {
        let far = || Rule::Branch.fault("the target lies outside");
        let pc = u16::try_from(target.0).map_err(|_| far())?;
        let frame = self.frame(pc, Rule::Branch)?;
        self.compare(frame, None, Rule::Branch)
    }

    /// Compares the local variables with the frames of all handlers that cover the current pc.
    pub(super) fn handlers(&mut self) -> Result<(), Fault> {
        if self.pc < self.guarded.0 || self.pc >= self.guarded.1 {
            return Ok(());
        }
        let changes = self.state.changes;
        for i in 0..self.handlers.len() {
            let handler = &mut self.handlers[i];
            let covered = handler.range.start <= self.pc && self.pc < handler.range.end;
            if !covered || handler.compared == Some(changes) {
                continue;
            }
            handler.compared = Some(changes);
            let (pc, caught) = (handler.range.handler, handler.caught);
            let frame = self.frame(pc, Rule::Handler)?;
            self.compare(frame, Some(caught), Rule::Handler)?;
        }
        Ok(())
    }

    /// Checks that a type is assignable to another.
    pub(super) fn fits(&mut self, from: SlotType, to: SlotType) -> Result<(), Fault> {
        if self.context.assignable(from, to) {
            return Ok(());
        }
        let (from, to) = (self.context.text(from), self.context.text(to));
        Rule::Operand.fail(format!("{from} is there, {to} is needed"))
    }

    /// Pops a value that must be assignable to the type.
    pub(super) fn pop(&mut self, to: SlotType) -> Result<(), Fault> {
        match to {
            SlotType::Object(_) => {
                let from = self.state.pop_slot()?;
                self.fits(from, to)
            }
            _ => self.state.pop_exactly(to),
        }
    }
}
