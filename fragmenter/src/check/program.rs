//! The decoded code of one method: numbered instructions, control-flow merges and exception
//! handlers.

use super::constants::ContentNumbers;
use super::failure::Failure;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label, decode};
use crate::classfile::{ClassFile, Code};

/// One exception-table entry: the content number of the caught class (0 for any), and the handler's
/// first instruction.
pub(super) type Handler = (u32, u32);

/// The decoded code of one method. All positions are instruction indices, except `instructions.0`,
/// which is the pc.
pub(super) struct Program {
    pub instructions: Vec<(u16, Instruction)>,
    pub max_locals: usize,
    /// True if the product has a node at the instruction: control flow merges there, a back edge
    /// ends there, or an exception handler begins there.
    pub leader: Vec<bool>,
    /// Number of the handler range of each instruction. All instructions of a handler range have
    /// the same handlers.
    pub handler_range: Vec<u32>,
    /// Handlers of each handler range in order, up to the first that catches everything.
    pub handlers: Vec<Vec<Handler>>,
    index: Vec<u32>,
}

impl Program {
    /// Decodes a body that is called on an instance of its own class. The body must not use local
    /// 0, which holds the instance. The remaining locals are renumbered from 0.
    pub fn read_instance(
        file: &ClassFile,
        code: &Code,
        contents: &mut ContentNumbers,
        who: &'static str,
    ) -> Result<Program, Failure> {
        let mut program = Program::read(file, code, contents, who)?;
        let bad = |why: &str| Failure::Unreadable(who, why.to_string());
        for (_, instruction) in &mut program.instructions {
            if let Instruction::Local { index, .. } | Instruction::Iinc { index, .. } = instruction
            {
                *index = index
                    .checked_sub(1)
                    .ok_or_else(|| bad("the body uses its own instance"))?;
            }
        }
        program.max_locals = program
            .max_locals
            .checked_sub(1)
            .ok_or_else(|| bad("no local for the instance"))?;
        Ok(program)
    }

    /// Decodes a body. `who` names the side in messages.
    pub fn read(
        file: &ClassFile,
        code: &Code,
        contents: &mut ContentNumbers,
        who: &'static str,
    ) -> Result<Program, Failure> {
        let bad = |why: String| Failure::Unreadable(who, why);
        let instructions = decode(&code.code).map_err(|e| bad(e.to_string()))?;
        let count = instructions.len();
        let mut index = vec![u32::MAX; code.code.len() + 1];
        for (i, (pc, _)) in instructions.iter().enumerate() {
            index[*pc as usize] = i as u32;
        }
        index[code.code.len()] = count as u32;
        let at = |pc: u16| {
            index
                .get(pc as usize)
                .copied()
                .filter(|i| *i != u32::MAX)
                .ok_or_else(|| bad("an exception range does not lie on instructions".into()))
        };
        let mut incoming = vec![0u32; count + 1];
        incoming[0] = 1;
        for (i, (_, instruction)) in instructions.iter().enumerate() {
            if !ends_flow(instruction.op()) {
                incoming[i + 1] += 1;
            }
            for_targets(instruction, &mut |t| {
                let to = index.get(t.0 as usize).copied().unwrap_or(u32::MAX) as usize;
                if let Some(n) = incoming.get_mut(to) {
                    *n += if to <= i { 2 } else { 1 };
                }
            });
        }
        let mut table = Vec::with_capacity(code.exceptions.len());
        let mut edges = vec![0u32];
        for e in &code.exceptions {
            let (start, end, handler) = (at(e.start)?, at(e.end)?, at(e.handler)?);
            let caught = match e.catch_type {
                0 => 0,
                class => contents
                    .class(file, class)
                    .map_err(|e| bad(e.to_string()))?,
            };
            table.push((start, end, caught, handler));
            edges.extend([start, end]);
            if let Some(n) = incoming.get_mut(handler as usize) {
                *n += 2;
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut handlers = Vec::with_capacity(edges.len());
        let mut handler_range = vec![0u32; count];
        for (n, start) in edges.iter().enumerate() {
            let end = edges.get(n + 1).copied().unwrap_or(count as u32);
            for i in *start..end.min(count as u32) {
                handler_range[i as usize] = n as u32;
            }
            let mut here: Vec<Handler> = Vec::new();
            for (s, e, caught, handler) in &table {
                if s <= start && start < e {
                    here.push((*caught, *handler));
                    if *caught == 0 {
                        break;
                    }
                }
            }
            handlers.push(here);
        }
        Ok(Program {
            instructions,
            max_locals: code.max_locals as usize,
            leader: incoming.iter().map(|n| *n > 1).collect(),
            handler_range,
            handlers,
            index,
        })
    }

    /// Returns the index of the instruction at a label, or `u32::MAX` if the label is not on an
    /// instruction.
    pub fn target(&self, label: Label) -> u32 {
        self.index
            .get(label.0 as usize)
            .copied()
            .unwrap_or(u32::MAX)
    }

    pub fn get(&self, i: u32) -> Option<&Instruction> {
        self.instructions.get(i as usize).map(|x| &x.1)
    }

    /// Returns the handler range of an instruction and its handlers.
    pub fn handlers_at(&self, i: u32) -> (u32, &[Handler]) {
        let handler_range = self.handler_range.get(i as usize).copied().unwrap_or(0);
        let handlers = self.handlers.get(handler_range as usize);
        (handler_range, handlers.map_or(&[], |r| &r[..]))
    }

    /// Formats an instruction for a message.
    pub fn text(&self, i: u32) -> String {
        match self.instructions.get(i as usize) {
            Some((pc, Instruction::Local { op, index })) => {
                format!("{pc}: {} {index}", mnemonic(*op))
            }
            Some((pc, instruction)) => format!("{pc}: {}", mnemonic(instruction.op())),
            None => "the end".into(),
        }
    }
}

/// Calls `f` for each branch target, without allocating a list.
pub(super) fn for_targets(instruction: &Instruction, f: &mut dyn FnMut(Label)) {
    match instruction {
        Instruction::Branch { target, .. } => f(*target),
        Instruction::TableSwitch {
            default, targets, ..
        } => {
            targets.iter().for_each(|t| f(*t));
            f(*default);
        }
        Instruction::LookupSwitch { default, pairs } => {
            pairs.iter().for_each(|p| f(p.1));
            f(*default);
        }
        _ => {}
    }
}
