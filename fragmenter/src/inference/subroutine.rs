//! Removes subroutines (`jsr`, `ret`; JVMS §4.10.2.5), which version 51 does not support. Each call
//! gets its own copy of the subroutine.
//!
//! ```text
//!    jsr S ──┐                          aconst_null          (in place of the return address)
//!    …     ◀─┼─┐                        goto S'
//!    jsr S ──┤ │                  ▶     …                    R1
//!    …     ◀─┤ │                        S': astore 3 … goto R1
//!  S: astore 3 …; ret 3                 S": astore 3 … goto R2
//! ```
//!
//! A *copy* belongs to one call. Code that the method (or an outer subroutine) reaches without the
//! call belongs to the method (or to that subroutine), because a subroutine that jumps there never
//! returns. ASM's `JSRInlinerAdapter` uses the same rule. Exception ranges, line numbers and
//! variable names are copied with the code.

use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::classfile::{Attribute, Code, ConstantPool, ExceptionRange};
use crate::refusal::Refusal;
use bitvec::vec::BitVec;
use indexmap::IndexMap;
use std::rc::Rc;

/// Maximum number of copies in one method, because more would exceed the size limit of a method.
const MAX_COPIES: usize = 4_096;

/// The copy for one call of a subroutine. The first copy is the method itself.
struct Copy {
    /// The calling copy.
    caller: Option<usize>,
    /// Index of the instruction in the caller to which the subroutine returns.
    back: usize,
    /// The variable that holds the return address, if the subroutine stores it.
    address: Option<u16>,
    /// The instructions that the subroutine reaches.
    reach: Rc<BitVec>,
}

/// An emitted instruction of a copy.
struct Item {
    copy: usize,
    index: usize,
    pc: u16,
    at: Label,
}

struct Inliner<'i, 'a> {
    code: &'i Code<'a>,
    instructions: &'i [(u16, Instruction)],
    copies: Vec<Copy>,
    /// The instructions reachable from a subroutine's entry, shared by all its copies.
    reaches: IndexMap<usize, Rc<BitVec>>,
    labels: IndexMap<(usize, usize), Label>,
    a: Assembler,
    items: Vec<Item>,
}

/// Returns the code without subroutines.
pub(super) fn inline(
    code: &Code,
    instructions: &[(u16, Instruction)],
    pool: &ConstantPool,
) -> Result<Code<'static>, Refusal> {
    let mut inliner = Inliner {
        code,
        instructions,
        copies: Vec::new(),
        reaches: IndexMap::new(),
        labels: IndexMap::new(),
        a: Assembler::new(),
        items: Vec::new(),
    };
    let reach = inliner.reach(0)?;
    inliner.copies.push(Copy {
        caller: None,
        back: 0,
        address: None,
        reach,
    });
    let mut next = 0;
    while next < inliner.copies.len() {
        inliner.emit(next)?;
        next += 1;
    }
    let end = inliner.a.fresh();
    inliner.a.place(end);
    let Inliner {
        a,
        items,
        copies,
        labels,
        ..
    } = inliner;
    let out = a.finish()?;
    let inlined = InlinedCode {
        code,
        instructions,
        copies,
        labels,
        items,
        end,
        out,
    };
    Ok(Code {
        max_stack: code.max_stack,
        max_locals: code.max_locals,
        exceptions: inlined.exceptions()?,
        attributes: inlined.attributes(pool)?,
        code: inlined.out.code.into(),
    })
}

fn refuse(what: &str, pc: u16) -> Refusal {
    Refusal::Subroutine(format!("{what} at {pc}"))
}

/// Returns the copy that an instruction belongs to, seen from a copy: the outermost copy that
/// reaches it.
fn owner(copies: &[Copy], from: usize, index: usize) -> Option<usize> {
    let mut found = None;
    let mut copy = Some(from);
    while let Some(c) = copy {
        if copies[c].reach.get(index).is_some_and(|b| *b) {
            found = Some(c);
        }
        copy = copies[c].caller;
    }
    found
}

impl Inliner<'_, '_> {
    fn index(&self, label: Label) -> Result<usize, Refusal> {
        self.instructions
            .binary_search_by_key(&label.0, |i| i.0 as u32)
            .map_err(|_| Refusal::BrokenCode("a branch leads nowhere".into()))
    }

    /// Returns the instructions reachable from `entry` without entering subroutines.
    fn reach(&mut self, entry: usize) -> Result<Rc<BitVec>, Refusal> {
        if let Some(reach) = self.reaches.get(&entry) {
            return Ok(reach.clone());
        }
        let mut seen: BitVec = BitVec::repeat(false, self.instructions.len());
        let mut work = vec![entry];
        while let Some(i) = work.pop() {
            let Some((pc, instruction)) = self.instructions.get(i) else {
                return Err(Refusal::BrokenCode("the code has no end".into()));
            };
            if seen.replace(i, true) {
                continue;
            }
            let op = instruction.op();
            if op == JSR {
                work.push(i + 1);
            } else {
                for t in instruction.targets() {
                    work.push(self.index(t)?);
                }
                if !ends_flow(op) {
                    work.push(i + 1);
                }
            }
            for e in &self.code.exceptions {
                if (e.start..e.end).contains(pc) {
                    work.push(self.index(Label::pc(e.handler))?);
                }
            }
        }
        let seen = Rc::new(seen);
        self.reaches.insert(entry, seen.clone());
        Ok(seen)
    }

    /// Returns the label of an instruction as seen from a copy.
    fn label(&mut self, from: usize, index: usize) -> Result<Label, Refusal> {
        let owner = owner(&self.copies, from, index)
            .ok_or_else(|| Refusal::Internal("code of a subroutine was lost".into()))?;
        if let Some(label) = self.labels.get(&(owner, index)) {
            return Ok(*label);
        }
        let label = self.a.fresh();
        self.labels.insert((owner, index), label);
        Ok(label)
    }

    /// Emits the instructions that belong to a copy.
    fn emit(&mut self, copy: usize) -> Result<(), Refusal> {
        let mine: Vec<usize> = self.copies[copy]
            .reach
            .iter_ones()
            .filter(|i| owner(&self.copies, copy, *i) == Some(copy))
            .collect();
        for (n, index) in mine.iter().copied().enumerate() {
            let (pc, instruction) = &self.instructions[index];
            let at = self.label(copy, index)?;
            self.a.place(at);
            self.items.push(Item {
                copy,
                index,
                pc: *pc,
                at,
            });
            if self.items.len() > u16::MAX as usize {
                return Err(Refusal::MethodTooLarge(
                    "the method is too large with its subroutines copied".into(),
                ));
            }
            match instruction {
                Instruction::Branch { op: JSR, target } => {
                    let entry = self.index(*target)?;
                    let callee = self.call(copy, entry, index + 1, *pc)?;
                    let to = self.label(callee, entry)?;
                    self.a.plain(ACONST_NULL);
                    self.a.branch(GOTO, to);
                }
                Instruction::Local {
                    op: RET,
                    index: address,
                } => {
                    let to = self.return_label(copy, *address, *pc)?;
                    self.a.branch(GOTO, to);
                }
                _ => {
                    let mut targets = IndexMap::new();
                    for t in instruction.targets() {
                        let to = self.index(t)?;
                        targets.insert(t, self.label(copy, to)?);
                    }
                    let mut rename = |t: Label| targets.get(&t).copied().unwrap_or(t);
                    self.a.push(instruction.retarget(&mut rename));
                    if !ends_flow(instruction.op()) && mine.get(n + 1) != Some(&(index + 1)) {
                        let to = self.label(copy, index + 1)?;
                        self.a.branch(GOTO, to);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a copy for a call.
    fn call(
        &mut self,
        caller: usize,
        entry: usize,
        back: usize,
        pc: u16,
    ) -> Result<usize, Refusal> {
        let mut outer = Some(caller);
        while let Some(c) = outer {
            if self.copies[c].reach[entry] {
                return Err(refuse(
                    "a subroutine is entered by a jump as well, or calls itself",
                    pc,
                ));
            }
            outer = self.copies[c].caller;
        }
        if self.copies.len() >= MAX_COPIES {
            return Err(Refusal::MethodTooLarge(
                "too many calls of subroutines".into(),
            ));
        }
        let address = match self.instructions.get(entry) {
            Some((_, Instruction::Local { op: ASTORE, index })) => Some(*index),
            _ => None,
        };
        let reach = self.reach(entry)?;
        self.copies.push(Copy {
            caller: Some(caller),
            back,
            address,
            reach,
        });
        Ok(self.copies.len() - 1)
    }

    /// Returns the label at which a `ret` continues.
    fn return_label(&mut self, copy: usize, address: u16, pc: u16) -> Result<Label, Refusal> {
        let mut from = copy;
        loop {
            let c = &self.copies[from];
            let Some(caller) = c.caller else {
                return Err(refuse("a return from no subroutine that can be told", pc));
            };
            if c.address == Some(address) {
                return self.label(caller, c.back);
            }
            from = caller;
        }
    }
}

/// The emitted code and its relation to the original.
struct InlinedCode<'l, 'a> {
    code: &'l Code<'a>,
    instructions: &'l [(u16, Instruction)],
    copies: Vec<Copy>,
    labels: IndexMap<(usize, usize), Label>,
    items: Vec<Item>,
    end: Label,
    out: Assembled,
}

impl InlinedCode<'_, '_> {
    fn at(&self, label: Label) -> Result<u16, Refusal> {
        self.out
            .at(label)
            .ok_or_else(|| Refusal::Internal("a label of a subroutine was lost".into()))
    }

    /// Returns the emitted ranges of the instructions in a pc range: copy, start and end.
    fn copied_ranges(&self, start: u32, end: u32) -> Result<Vec<(usize, u16, u16)>, Refusal> {
        let mut runs: Vec<(usize, u16, u16)> = Vec::new();
        let mut open = false;
        for (n, item) in self.items.iter().enumerate() {
            if !(start..end).contains(&(item.pc as u32)) {
                open = false;
                continue;
            }
            let from = self.at(item.at)?;
            let to = self.at(self.items.get(n + 1).map_or(self.end, |i| i.at))?;
            match runs.last_mut() {
                Some(last) if open && last.0 == item.copy => last.2 = to,
                _ => runs.push((item.copy, from, to)),
            }
            open = true;
        }
        Ok(runs)
    }

    fn exceptions(&self) -> Result<Vec<ExceptionRange>, Refusal> {
        let mut rows = Vec::new();
        for e in &self.code.exceptions {
            let handler = self
                .instructions
                .binary_search_by_key(&e.handler, |i| i.0)
                .map_err(|_| Refusal::BrokenCode("a handler lies nowhere".into()))?;
            for (copy, start, end) in self.copied_ranges(e.start as u32, e.end as u32)? {
                let label = owner(&self.copies, copy, handler)
                    .and_then(|o| self.labels.get(&(o, handler)))
                    .ok_or_else(|| Refusal::Internal("a handler was lost".into()))?;
                rows.push(ExceptionRange {
                    start,
                    end,
                    handler: self.at(*label)?,
                    catch_type: e.catch_type,
                });
            }
        }
        if rows.len() > u16::MAX as usize {
            return Err(Refusal::MethodTooLarge("too many exception ranges".into()));
        }
        Ok(rows)
    }

    fn attributes(&self, pool: &ConstantPool) -> Result<Vec<Attribute<'static>>, Refusal> {
        let mut out = Vec::new();
        for a in &self.code.attributes {
            let info = if a.is(pool, "LineNumberTable") {
                self.lines(&a.info)?
            } else if a.is(pool, "LocalVariableTable") || a.is(pool, "LocalVariableTypeTable") {
                self.variables(&a.info)?
            } else {
                continue;
            };
            // A table whose length no longer fits its count is dropped.
            if let Some(info) = info {
                out.push(Attribute {
                    name: a.name,
                    info: info.into(),
                });
            }
        }
        Ok(out)
    }

    fn lines(&self, info: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        let mut table: Vec<(u16, u16)> = rows::<4>(info)
            .map(|[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
            .collect();
        table.sort_by_key(|r| r.0);
        let mut out = Vec::new();
        let mut before: Option<&Item> = None;
        for item in &self.items {
            let follows = before.is_some_and(|b| b.copy == item.copy && b.index + 1 == item.index);
            before = Some(item);
            let Some(row) = table.partition_point(|r| r.0 <= item.pc).checked_sub(1) else {
                continue;
            };
            if !follows || table[row].0 == item.pc {
                out.push([self.at(item.at)?.to_be_bytes(), table[row].1.to_be_bytes()].concat());
            }
        }
        Ok(counted(out))
    }

    fn variables(&self, info: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
        let mut out = Vec::new();
        for [a, b, c, d, rest @ ..] in rows::<10>(info) {
            let start = u16::from_be_bytes([a, b]) as u32;
            let length = u16::from_be_bytes([c, d]) as u32;
            for (_, from, to) in self.copied_ranges(start, start + length)? {
                let mut row = from.to_be_bytes().to_vec();
                row.extend((to - from).to_be_bytes());
                row.extend(rest);
                out.push(row);
            }
        }
        Ok(counted(out))
    }
}

/// Returns the rows of a counted table.
fn rows<const N: usize>(info: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    let rows = info.get(2..).unwrap_or_default();
    rows.chunks_exact(N).filter_map(|c| c.try_into().ok())
}

fn counted(rows: Vec<Vec<u8>>) -> Option<Vec<u8>> {
    let mut out = u16::try_from(rows.len()).ok()?.to_be_bytes().to_vec();
    out.extend(rows.concat());
    Some(out)
}
