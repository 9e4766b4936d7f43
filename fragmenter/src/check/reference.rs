//! The reference program: the original method with the edits applied to the edges of its flow
//! graph.
//!
//! A *block* is a node of the edited flow graph. Each block has the number of the fragment that was
//! there before the edits. A block executes the instructions of some fragment, and its list of
//! edges says which block follows each original successor. A [`Position`] is an instruction within
//! a block, because two blocks may execute the same fragment. Without edits there is only block 0.

use super::constants::ContentNumbers;
use super::expected::Expected;
use super::failure::Failure;
use super::frame_contract::kind;
use super::program::{Program, for_targets};
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::classfile::{ClassFile, Code};
use crate::patch::Edit;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A program position of the original: an instruction within a block. See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Position {
    pub block: u32,
    pub instruction: u32,
}

impl Position {
    /// The position after an exception has left the method.
    pub const OUT: Position = Position {
        block: u32::MAX,
        instruction: u32::MAX,
    };
}

/// A node of the edited flow graph.
struct Block {
    /// The fragment whose instructions the block executes.
    code: usize,
    /// For each original successor fragment, the block that follows now.
    out: Vec<(usize, usize)>,
}

/// The edited flow graph.
struct Overlay {
    /// First instruction of each fragment, then the number of instructions.
    starts: Vec<u32>,
    /// Fragment of each instruction.
    fragment: Vec<usize>,
    blocks: Vec<Block>,
    /// For each fragment, the block at which an activation continues that is before the fragment.
    successor: Vec<usize>,
    /// The block at which new activations begin.
    entry: usize,
}

pub(super) struct ReferenceProgram {
    pub program: Program,
    /// Kind of the result: `V`, `J`, `F`, `D`, `L` (also for arrays), or `I` for all types that the
    /// JVM keeps as `int`.
    pub result: u8,
    /// Descriptor of the result.
    pub result_text: Vec<u8>,
    has_monitors: bool,
    /// The result of [`ReferenceProgram::all_gotos`].
    gotos: OnceLock<HashMap<Position, Vec<u32>>>,
    overlay: Option<Overlay>,
}

fn unreadable_edits(why: &str) -> Failure {
    Failure::Unreadable("list of edits", why.to_string())
}

impl ReferenceProgram {
    pub fn read(
        file: &ClassFile,
        code: &Code,
        descriptor: &[u8],
        contents: &mut ContentNumbers,
    ) -> Result<ReferenceProgram, Failure> {
        let result_text = veneer_names::raw::result(descriptor).to_vec();
        let program = Program::read(file, code, contents, "original")?;
        let enters = |(_, i): &(u16, Instruction)| i.op() == MONITORENTER;
        Ok(ReferenceProgram {
            has_monitors: program.instructions.iter().any(enters),
            program,
            result: kind(&result_text),
            result_text,
            gotos: OnceLock::new(),
            overlay: None,
        })
    }

    /// Applies the edits of `expected`.
    pub fn edit(&mut self, expected: &Expected) -> Result<(), Failure> {
        self.gotos = OnceLock::new();
        if expected.edits.is_empty() {
            self.overlay = None;
            return Ok(());
        }
        let bad = unreadable_edits;
        let count = self.program.instructions.len() as u32;
        let starts: Vec<u32> = expected
            .fragments
            .iter()
            .map(|pc| self.program.target(Label(*pc as u32)))
            .chain([count])
            .collect();
        if starts.windows(2).any(|w| w[0] >= w[1]) || starts[0] != 0 {
            return Err(bad("the fragments do not follow each other"));
        }
        let mut fragment = vec![0; count as usize];
        for (f, w) in starts.windows(2).enumerate() {
            fragment[w[0] as usize..w[1] as usize].fill(f);
        }
        let many = starts.len() - 1;
        let blocks: Result<Vec<Block>, Failure> = (0..many)
            .map(|f| self.unedited_block(&starts, &fragment, f))
            .collect();
        let begin = expected
            .points
            .first()
            .and_then(|p| fragment.get(p.instruction).copied())
            .unwrap_or(0);
        let mut overlay = Overlay {
            starts,
            fragment,
            blocks: blocks?,
            successor: (0..many).collect(),
            entry: begin,
        };
        let known = |f: crate::flowgraph::FragmentId| {
            if f.index() < many {
                Ok(f.index())
            } else {
                Err(bad("an edit of a fragment that is not there"))
            }
        };
        // The distinct successors of each fragment in the original order. `Replace` maps them one
        // by one.
        let original: Vec<Vec<usize>> = overlay
            .blocks
            .iter()
            .map(|p| p.out.iter().map(|o| o.0).collect())
            .collect();
        for edit in &expected.edits {
            match *edit {
                Edit::Redirect { from, to, target } => {
                    let (from, to, target) = (known(from)?, known(to)?, known(target)?);
                    for o in &mut overlay.blocks[from].out {
                        if o.1 == to {
                            o.1 = target;
                        }
                    }
                }
                Edit::Skip { fragment } => {
                    let f = known(fragment)?;
                    let mut next = overlay.blocks[f]
                        .out
                        .iter()
                        .map(|o| o.1)
                        .filter(|t| *t != f);
                    let Some(n) = next.next() else {
                        return Err(bad("a fragment that leads nowhere is skipped"));
                    };
                    for p in &mut overlay.blocks {
                        p.out.iter_mut().filter(|o| o.1 == f).for_each(|o| o.1 = n);
                    }
                    for s in &mut overlay.successor {
                        if *s == f {
                            *s = n;
                        }
                    }
                    if overlay.entry == f {
                        overlay.entry = n;
                    }
                }
                // These concern the placement of code, copies of code, the tests before calls, and guards.
                Edit::Split { .. }
                | Edit::Passes { .. }
                | Edit::Receiver { .. }
                | Edit::Constant { .. }
                | Edit::Duplicate { .. }
                | Edit::Unswitch { .. } => {}
                Edit::Replace { fragment, by } => {
                    let (f, by) = (known(fragment)?, known(by)?);
                    let ours: Vec<usize> = overlay.blocks[f].out.iter().map(|o| o.1).collect();
                    if ours.len() != original[by].len() {
                        return Err(bad("fragments of different shape replace each other"));
                    }
                    overlay.blocks[f] = Block {
                        code: by,
                        out: original[by].iter().copied().zip(ours).collect(),
                    };
                }
            }
        }
        self.overlay = Some(overlay);
        Ok(())
    }

    /// Returns the block of a fragment before the edits. `starts` has the first instruction of each fragment,
    /// and `fragment` the fragment of each instruction.
    fn unedited_block(
        &self,
        starts: &[u32],
        fragment: &[usize],
        f: usize,
    ) -> Result<Block, Failure> {
        let last = starts[f + 1] - 1;
        let Some(i) = self.program.get(last) else {
            return Err(unreadable_edits("a fragment without instructions"));
        };
        let mut targets = Vec::new();
        if !ends_flow(i.op()) {
            targets.push(starts[f + 1]);
        }
        for_targets(i, &mut |t| targets.push(self.program.target(t)));
        let mut out = Vec::new();
        for t in targets {
            let n = fragment.get(t as usize).copied().unwrap_or(0);
            if starts[n] != t {
                return Err(unreadable_edits("a branch into the middle of a fragment"));
            }
            if !out.contains(&(n, n)) {
                out.push((n, n));
            }
        }
        Ok(Block { code: f, out })
    }

    /// Returns the first position of a block, or `None` without edits.
    pub fn block_start(&self, fragment: usize) -> Option<Position> {
        let o = self.overlay.as_ref()?;
        let code = o.blocks.get(fragment)?.code;
        Some(Position {
            block: fragment as u32,
            instruction: *o.starts.get(code)?,
        })
    }

    fn edge_target(&self, from: u32, to: u32) -> Option<Position> {
        let Some(o) = &self.overlay else {
            return ((to as usize) < self.program.instructions.len()).then_some(Position {
                block: 0,
                instruction: to,
            });
        };
        let target = *o.fragment.get(to as usize)?;
        let out = &o.blocks.get(from as usize)?.out;
        self.block_start(out.iter().find(|x| x.0 == target)?.1)
    }

    /// Returns the position of the next instruction.
    pub fn next(&self, p: Position) -> Option<Position> {
        let i = p.instruction + 1;
        if let Some(o) = &self.overlay {
            let f = *o.fragment.get(p.instruction as usize)?;
            if o.starts.get(f + 1) == Some(&i) {
                return self.edge_target(p.block, i);
            }
        }
        ((i as usize) < self.program.instructions.len()).then_some(Position {
            block: p.block,
            instruction: i,
        })
    }

    /// Returns the position to which a branch leads.
    pub fn branch_target(&self, p: Position, to: Label) -> Option<Position> {
        self.edge_target(p.block, self.program.target(to))
    }

    /// Returns the position of a handler's first instruction.
    pub fn handler_position(&self, instruction: u32) -> Position {
        let block = self
            .overlay
            .as_ref()
            .and_then(|o| o.fragment.get(instruction as usize));
        Position {
            block: block.map_or(0, |f| *f as u32),
            instruction,
        }
    }

    /// Whether the method enters a monitor.
    pub fn has_monitors(&self) -> bool {
        self.has_monitors
    }

    /// Returns the `goto` and `nop` instructions after which control comes to a position without another
    /// instruction between.
    pub fn gotos_to(&self, to: Position) -> &[u32] {
        let gotos = self.gotos.get_or_init(|| self.all_gotos());
        gotos.get(&to).map_or(&[], Vec::as_slice)
    }

    /// The `goto` and `nop` instructions by the position to which control comes after them.
    fn all_gotos(&self) -> HashMap<Position, Vec<u32>> {
        let mut gotos: HashMap<Position, Vec<u32>> = HashMap::new();
        let mut add = |block: u32, instructions: std::ops::Range<u32>| {
            for instruction in instructions {
                if let Some(Instruction::Branch { op: GOTO, .. } | Instruction::Plain(NOP)) =
                    self.program.get(instruction)
                {
                    let to = self.skip_gotos(Position { block, instruction });
                    gotos.entry(to).or_default().push(instruction);
                }
            }
        };
        match &self.overlay {
            None => add(0, 0..self.program.instructions.len() as u32),
            Some(o) => {
                for (n, block) in o.blocks.iter().enumerate() {
                    if let [start, end, ..] = o.starts[block.code..] {
                        add(n as u32, start..end);
                    }
                }
            }
        }
        gotos
    }

    /// Returns the position after all `goto` and `nop` instructions. If these form an endless loop,
    /// returns the smallest position of the loop, so that the result does not depend on the start.
    pub fn skip_gotos(&self, p: Position) -> Position {
        let mut at = p;
        for _ in 0..=self.program.instructions.len() * 2 {
            let next = match self.program.get(at.instruction) {
                Some(Instruction::Branch { op: GOTO, target }) => self.branch_target(at, *target),
                Some(Instruction::Plain(NOP)) => self.next(at),
                _ => return at,
            };
            match next {
                Some(n) => at = n,
                None => return at,
            }
        }
        let (mut least, start) = (at, at);
        while let Some(n) = match self.program.get(at.instruction) {
            Some(Instruction::Branch { target, .. }) => self.branch_target(at, *target),
            _ => self.next(at),
        } {
            at = n;
            least = least.min(at);
            if at == start {
                break;
            }
        }
        least
    }

    /// Returns the position at which new activations begin. `instruction` is the instruction of
    /// point 0.
    pub fn entry_position(&self, instruction: u32) -> Option<Position> {
        let Some(o) = &self.overlay else {
            return Some(Position {
                block: 0,
                instruction,
            });
        };
        let f = *o.fragment.get(instruction as usize)?;
        if o.starts[f] == instruction {
            self.block_start(o.entry)
        } else {
            Some(Position {
                block: f as u32,
                instruction,
            })
        }
    }

    /// Returns the position of an activation that leaves at a point: the start of the fragment's
    /// block, or the `return` itself at an exit point.
    pub fn leave_position(&self, instruction: u32, exit: bool) -> Option<Position> {
        match &self.overlay {
            Some(o) => {
                let f = *o.fragment.get(instruction as usize)?;
                if o.starts[f] == instruction && !exit {
                    return self.block_start(f);
                }
                Some(Position {
                    block: f as u32,
                    instruction,
                })
            }
            None => Some(Position {
                block: 0,
                instruction,
            }),
        }
    }

    /// Returns the position at which an activation from a point continues.
    pub fn resume_position(&self, instruction: u32, exit: bool) -> Option<Position> {
        let Some(o) = &self.overlay else {
            return self.leave_position(instruction, exit);
        };
        let f = *o.fragment.get(instruction as usize)?;
        let to = *o.successor.get(f)?;
        if exit && to == f {
            return Some(Position {
                block: f as u32,
                instruction,
            });
        }
        self.block_start(to)
    }
}
