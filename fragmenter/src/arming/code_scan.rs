//! The first pass of the fast path over a method's code: where instructions start, where control
//! flow merges or splits, and whether the full path must handle the method.

use super::abstract_state::u2;
use crate::bytecode::opcode::*;
use crate::classfile::{Code, ExceptionRange};

/// Marks of a pc in [`CodeScan::marks`].
pub(super) const START: u8 = 1;
/// A fragment starts here. The rule is that of [`crate::flowgraph::FlowGraph::build`].
pub(super) const LEADER: u8 = 2;
/// The policy cuts at the call at this pc.
const CUT: u8 = 4;

/// Facts about the code of one method, without its types. The buffers are reused.
#[derive(Default)]
pub(super) struct CodeScan {
    /// The pcs of all instructions, in rising order.
    pub starts: Vec<u16>,
    /// The branches and switches, as indices of `starts`.
    pub jumps: Vec<u32>,
    /// By pc, up to and including the length of the code.
    pub marks: Vec<u8>,
    pub calls: bool,
    pub enters_monitor: bool,
    pub switches: usize,
    /// Whether control can pass to the same or an earlier pc.
    pub goes_back: bool,
    /// Whether the policy cuts at an instruction.
    pub is_cut: bool,
    /// Whether there is more than one fragment.
    pub is_split: bool,
}

/// The operands of a switch.
pub(super) struct SwitchTable {
    /// Position of the offset of the default target.
    pub default: usize,
    /// Position of the offset of the first other target.
    first: usize,
    /// Distance of the offsets of two targets.
    step: usize,
    count: usize,
    /// Position after the instruction.
    pub end: usize,
}

impl SwitchTable {
    /// Reads the switch at a pc. Returns `None` if it is malformed.
    pub fn read(bytes: &[u8], pc: usize) -> Option<SwitchTable> {
        let default = (pc + 4) & !3;
        let second = i4(bytes, default + 4)?;
        let table = if *bytes.get(pc)? == TABLESWITCH {
            let high = i4(bytes, default + 8)?;
            let count = i64::from(high) - i64::from(second) + 1;
            let count = usize::try_from(count).ok().filter(|n| *n > 0)?;
            SwitchTable {
                default,
                first: default + 12,
                step: 4,
                count,
                end: default
                    .checked_add(12)?
                    .checked_add(count.checked_mul(4)?)?,
            }
        } else {
            let count = usize::try_from(second).ok()?;
            SwitchTable {
                default,
                first: default + 12,
                step: 8,
                count,
                end: default.checked_add(8)?.checked_add(count.checked_mul(8)?)?,
            }
        };
        (table.end <= bytes.len()).then_some(table)
    }

    /// The positions of the offsets of all targets.
    pub fn offsets(&self) -> impl Iterator<Item = usize> {
        let (first, step) = (self.first, self.step);
        std::iter::once(self.default).chain((0..self.count).map(move |n| first + n * step))
    }
}

impl CodeScan {
    /// Reads the code. `is_cut` returns whether the policy cuts at the call of this member by this
    /// opcode; it is `None` if the policy cuts at no call. Returns `None` if the full path must handle the method.
    pub fn read(
        &mut self,
        bytes: &[u8],
        exceptions: &[ExceptionRange],
        mut is_cut: Option<&mut dyn FnMut(u8, u16) -> bool>,
    ) -> Option<()> {
        self.starts.clear();
        self.jumps.clear();
        self.marks.clear();
        self.marks.resize(bytes.len() + 1, 0);
        (self.calls, self.enters_monitor, self.switches) = (false, false, 0);
        (self.goes_back, self.is_cut, self.is_split) = (false, false, false);
        self.starts.reserve(bytes.len());
        self.marks[0] = LEADER;
        let mut pc = 0;
        while let Some(&op) = bytes.get(pc) {
            self.starts.push(pc as u16);
            self.marks[pc] |= START;
            let plain = PLAIN_LENGTHS[usize::from(op)];
            if plain != 0 {
                pc += usize::from(plain);
                continue;
            }
            let length = instruction_bytes(bytes, pc, op)?;
            let next = pc + length;
            match op {
                IFEQ..=GOTO | IFNULL | IFNONNULL => {
                    self.jumps.push(self.starts.len() as u32 - 1);
                    let offset = u2(bytes, pc + 1)? as i16;
                    self.mark_target(pc, i32::from(offset))?;
                    self.mark_next(next);
                }
                TABLESWITCH | LOOKUPSWITCH => {
                    self.switches += 1;
                    self.jumps.push(self.starts.len() as u32 - 1);
                    // The full path separates a switch at the end from the stubs.
                    (next < bytes.len()).then_some(())?;
                    for at in SwitchTable::read(bytes, pc)?.offsets() {
                        self.mark_target(pc, i4(bytes, at)?)?;
                    }
                    self.mark_next(next);
                }
                IRETURN..=RETURN | ATHROW => self.mark_next(next),
                INVOKEVIRTUAL..=INVOKEINTERFACE => {
                    self.calls = true;
                    if let Some(is_cut) = &mut is_cut
                        && is_cut(op, u2(bytes, pc + 1)?)
                    {
                        self.marks[pc] |= LEADER | CUT;
                        self.is_cut = true;
                        self.is_split |= pc != 0;
                    }
                }
                INVOKEDYNAMIC => self.calls = true,
                MONITORENTER => self.enters_monitor = true,
                _ => {}
            }
            pc = next;
        }
        if pc != bytes.len() {
            return None;
        }
        for e in exceptions {
            let starts = |pc: u16| {
                self.marks
                    .get(usize::from(pc))
                    .is_some_and(|m| m & START != 0)
            };
            let ends = usize::from(e.end) == bytes.len() || starts(e.end);
            if !(e.start < e.end && starts(e.start) && starts(e.handler) && ends) {
                return None;
            }
            self.marks[usize::from(e.handler)] |= LEADER;
            self.goes_back |= e.handler < e.end;
            self.is_split = true;
        }
        // All marks are read, because the compiler makes vector instructions of such a loop.
        let is_inside = |mark: &u8| mark & (START | LEADER) == LEADER;
        let marks = self.marks[..bytes.len()].iter();
        (!marks.fold(false, |found, mark| found | is_inside(mark))).then_some(())
    }

    /// Whether the content of a `Code` attribute may have a loop: control can pass to the same or an earlier
    /// pc, or the scan does not know the code.
    pub fn may_loop(&mut self, info: &[u8]) -> bool {
        let Ok(code) = Code::parse(info) else {
            return true;
        };
        let read = self.read(&code.code, &code.exceptions, None);
        read.is_none() || self.goes_back
    }

    fn mark_target(&mut self, pc: usize, offset: i32) -> Option<()> {
        let to = usize::try_from(pc as i64 + i64::from(offset)).ok()?;
        if to + 1 >= self.marks.len() {
            return None;
        }
        self.marks[to] |= LEADER;
        self.goes_back |= to <= pc;
        self.is_split = true;
        Some(())
    }

    /// A fragment starts after an instruction that branches or ends the flow.
    fn mark_next(&mut self, next: usize) {
        if let Some(mark) = self.marks.get_mut(next) {
            *mark |= LEADER;
            self.is_split |= next + 1 < self.marks.len();
        }
    }

    /// Whether the policy cuts at the call at this pc.
    pub fn is_cut_at(&self, pc: u16) -> bool {
        self.marks[usize::from(pc)] & CUT != 0
    }

    /// Whether a fragment starts at this pc.
    pub fn is_leader(&self, pc: u16) -> bool {
        self.marks[usize::from(pc)] & LEADER != 0
    }
}

/// The lengths in bytes of the opcodes for which [`CodeScan::read`] does nothing else. All other
/// opcodes have 0.
static PLAIN_LENGTHS: [u8; 256] = plain_lengths();

const fn plain_lengths() -> [u8; 256] {
    let mut lengths = [0; 256];
    let mut op = 0u8;
    while op < JSR_W {
        lengths[op as usize] = match op {
            LDC | NEWARRAY => 2,
            LDC2_W | IINC | NEW | ANEWARRAY | CHECKCAST | INSTANCEOF => 3,
            GETSTATIC..=PUTFIELD => 3,
            MULTIANEWARRAY => 4,
            BIPUSH | SIPUSH | LDC_W | ILOAD..=ALOAD | ISTORE..=ASTORE => 0,
            IFEQ..=RETURN | INVOKEVIRTUAL..=INVOKEDYNAMIC | ATHROW | MONITORENTER | WIDE => 0,
            IFNULL..=GOTO_W => 0,
            _ => 1,
        };
        op += 1;
    }
    lengths
}

/// The length in bytes of the instruction at a pc. Returns `None` if the full path must handle the
/// instruction: a subroutine, a wide jump, or an instruction in a longer form than necessary. The
/// full path writes the shortest form.
fn instruction_bytes(bytes: &[u8], pc: usize, op: u8) -> Option<usize> {
    let (length, shortest) = match op {
        BIPUSH => (2, !(-1..=5).contains(&(*bytes.get(pc + 1)? as i8))),
        SIPUSH => (3, i8::try_from(u2(bytes, pc + 1)? as i16).is_err()),
        LDC_W => (3, u2(bytes, pc + 1)? > 255),
        ILOAD..=ALOAD | ISTORE..=ASTORE => (2, *bytes.get(pc + 1)? > 3),
        LDC | NEWARRAY => (2, true),
        LDC2_W | IINC | IFEQ..=GOTO | IFNULL | IFNONNULL => (3, true),
        INVOKEINTERFACE | INVOKEDYNAMIC => (5, true),
        GETSTATIC..=INVOKESTATIC => (3, true),
        NEW | ANEWARRAY | CHECKCAST | INSTANCEOF => (3, true),
        MULTIANEWARRAY => (4, true),
        TABLESWITCH | LOOKUPSWITCH => (SwitchTable::read(bytes, pc)?.end - pc, true),
        WIDE => match *bytes.get(pc + 1)? {
            IINC => {
                let delta = u2(bytes, pc + 4)? as i16;
                (6, u2(bytes, pc + 2)? > 255 || i8::try_from(delta).is_err())
            }
            ILOAD..=ALOAD | ISTORE..=ASTORE => (4, u2(bytes, pc + 2)? > 255),
            _ => return None,
        },
        JSR | RET | GOTO_W | JSR_W => return None,
        0..JSR_W => (1, true),
        _ => return None,
    };
    shortest.then_some(length)
}

/// The position of the offset of the branch at this pc, or `None` if the instruction is not a
/// branch.
pub(super) fn branch_offset(code: &[u8], at: u16) -> Option<u16> {
    let at = usize::from(at);
    match *code.get(at)? {
        IFEQ..=GOTO | IFNULL | IFNONNULL => u2(code, at + 1),
        _ => None,
    }
}

pub(super) fn i4(bytes: &[u8], at: usize) -> Option<i32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(i32::from_be_bytes(*four))
}
