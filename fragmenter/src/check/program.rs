//! The code of one method, decoded: instructions by number, where control flows together, and who handles what.

use super::constants::Canon;
use super::failure::Failure;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label, decode};
use crate::classfile::{ClassFile, Code};

/// One row of the exception table at a place: the class caught (0 for any) by content, and the handler's instruction.
pub(super) type Row = (u32, u32);

/// See the module documentation.
pub(super) struct Program {
    pub instructions: Vec<(u16, Instruction)>,
    pub max_locals: usize,
    /// Whether the product has a node at an instruction: control flows together there, comes back, or an exception enters.
    pub leader: Vec<bool>,
    /// Number of the stretch of code in which the same rows are in force.
    pub stretch: Vec<u32>,
    /// The rows of each stretch, up to the first that catches everything.
    pub rows: Vec<Vec<Row>>,
    index: Vec<u32>,
}

impl Program {
    /// Decodes a body that is called on an instance of its own class, which it does not use: its locals are numbered from the next
    /// one on.
    pub fn read_instance(
        file: &ClassFile,
        code: &Code,
        canon: &mut Canon,
        who: &'static str,
    ) -> Result<Program, Failure> {
        let mut program = Program::read(file, code, canon, who)?;
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

    /// Decodes. `who` is the side, for messages.
    pub fn read(
        file: &ClassFile,
        code: &Code,
        canon: &mut Canon,
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
                class => canon.class(file, class).map_err(bad)?,
            };
            table.push((start, end, caught, handler));
            edges.extend([start, end]);
            if let Some(n) = incoming.get_mut(handler as usize) {
                *n += 2;
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut rows = Vec::with_capacity(edges.len());
        let mut stretch = vec![0u32; count];
        for (n, start) in edges.iter().enumerate() {
            let end = edges.get(n + 1).copied().unwrap_or(count as u32);
            for i in *start..end.min(count as u32) {
                stretch[i as usize] = n as u32;
            }
            let mut here: Vec<Row> = Vec::new();
            for (s, e, caught, handler) in &table {
                if s <= start && start < e {
                    here.push((*caught, *handler));
                    if *caught == 0 {
                        break;
                    }
                }
            }
            rows.push(here);
        }
        Ok(Program {
            instructions,
            max_locals: code.max_locals as usize,
            leader: incoming.iter().map(|n| *n > 1).collect(),
            stretch,
            rows,
            index,
        })
    }

    /// The instruction at a label.
    pub fn target(&self, label: Label) -> u32 {
        self.index
            .get(label.0 as usize)
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// One instruction.
    pub fn get(&self, i: u32) -> Option<&Instruction> {
        self.instructions.get(i as usize).map(|x| &x.1)
    }

    /// Who handles what at an instruction.
    pub fn rows_at(&self, i: u32) -> (u32, &[Row]) {
        let stretch = self.stretch.get(i as usize).copied().unwrap_or(0);
        let rows = self.rows.get(stretch as usize);
        (stretch, rows.map_or(&[], |r| &r[..]))
    }

    /// An instruction for messages.
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

/// Calls `f` for each target, without making a list.
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
