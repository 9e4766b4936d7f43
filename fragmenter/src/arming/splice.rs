//! Writes an armed body by copying the method's code, with checks inserted before the points and
//! with stubs at the end.
//!
//! ```text
//!     original   │ … code … │ ireturn │ … code … │ ireturn │
//!                ▼          ▼         ▼
//!     armed  ┌check┬ … code … ┬check┬ ireturn │ … │ stub 0 │ stub 1 │ …
//!
//!     the offset of each branch over an insertion grows by the size of the insertion
//! ```

use super::code_scan::{CodeScan, START, SwitchTable, branch_offset, i4};
use super::fast_points::{FastPoint, FastPoints};
use super::layout::{BodyConstants, CHECK_BYTES, ENTRY_CHECK_BYTES};
use super::parameters::{Parameters, local};
use super::stackmap_relocation::NO_PC;
use crate::bytecode::opcode::*;
use crate::classfile::ExceptionRange;
use crate::osr_exit::{EMPTY_FRAME_INDEX, ExitForm, add_index, run_lengths};
use crate::points::PointKind;
use std::ops::Range;

/// The largest code in bytes in which no branch exceeds its 16-bit offset.
const MAX_SHORT_BRANCH_BYTES: usize = i16::MAX as usize;

/// The new pcs of an armed body. The buffers are reused.
#[derive(Default)]
pub(super) struct Splice {
    /// By original pc, up to and including the length: the new pc to which a branch leads.
    pub targets: Vec<u16>,
    /// By original pc: the new pc of the instruction itself, after any check.
    pub new_pcs: Vec<u16>,
    /// The new pc of each point's stub.
    pub stubs: Vec<u16>,
    /// The new pc of the code that stubs with a frame share, if there is any.
    pub frame_tail: Option<u16>,
    /// The new pc of the code that the stubs of returns share, if there is any.
    pub return_tail: Option<u16>,
    /// For each point, the position of its branch to its stub.
    branches: Vec<usize>,
    /// The positions of the jumps to each tail.
    jumps_to_frame_tail: Vec<usize>,
    jumps_to_return_tail: Vec<usize>,
}

/// The method that is copied.
#[derive(Clone, Copy)]
pub(super) struct Original<'m> {
    pub bytes: &'m [u8],
    pub max_locals: u16,
    pub scan: &'m CodeScan,
    pub parameters: &'m Parameters<'m>,
    /// Locals that hold an object at some time.
    pub object_slots: u64,
    /// Whether results are cast to a class.
    pub casts: bool,
}

impl Splice {
    /// Appends the armed code to `out`. Returns `None` if the full path must handle the method: if
    /// a branch would need a wide offset.
    pub fn write(
        &mut self,
        method: Original,
        points: &FastPoints,
        constants: &BodyConstants,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let begin = out.len();
        self.assign_new_pcs(method, &points.points)?;
        self.write_body(method, &points.points, constants, out)?;
        self.write_stubs(method, points, constants, (begin, out));
        (out.len() - begin <= MAX_SHORT_BRANCH_BYTES).then_some(())?;
        for (stub, branch) in self.stubs.iter().zip(&self.branches) {
            set_offset(out, begin, *branch, *stub);
        }
        for jump in &self.jumps_to_frame_tail {
            set_offset(out, begin, *jump, self.frame_tail.unwrap_or(0));
        }
        for jump in &self.jumps_to_return_tail {
            set_offset(out, begin, *jump, self.return_tail.unwrap_or(0));
        }
        Some(())
    }

    /// Computes the new pc of every instruction. The instructions between two insertions move by
    /// one distance, so they are not looked at one by one.
    fn assign_new_pcs(&mut self, method: Original, points: &[FastPoint]) -> Option<()> {
        let length = method.bytes.len();
        let starts = &method.scan.starts;
        for places in [&mut self.targets, &mut self.new_pcs] {
            places.resize(length + 1, NO_PC);
        }
        let is_switch = |n: &&u32| {
            let start = starts.get(**n as usize);
            start.is_some_and(|pc| {
                matches!(
                    method.bytes.get(usize::from(*pc)),
                    Some(&(TABLESWITCH | LOOKUPSWITCH))
                )
            })
        };
        let jumps = match method.scan.switches {
            0 => &[][..],
            _ => &method.scan.jumps,
        };
        let mut switches = jumps.iter().filter(is_switch).copied().peekable();
        let mut points = points.iter().peekable();
        let (mut shift, mut done) = (0usize, 0usize);
        loop {
            let n = match (points.peek(), switches.peek()) {
                (Some(p), Some(switch)) => p.instruction.min(*switch),
                (Some(p), None) => p.instruction,
                (None, Some(switch)) => *switch,
                (None, None) => break,
            };
            let place = usize::from(*starts.get(n as usize)?);
            self.shift_pcs(method.scan, done..place, shift);
            // A branch to point 0 belongs to an activation that began earlier, so it skips the
            // check. A branch to another point passes the check.
            if points
                .next_if(|p| p.instruction == n && p.kind == PointKind::Entry)
                .is_some()
            {
                shift += usize::from(ENTRY_CHECK_BYTES);
            }
            self.targets[place] = (place + shift) as u16;
            if points.next_if(|p| p.instruction == n).is_some() {
                shift += usize::from(CHECK_BYTES);
            }
            let new_pc = place + shift;
            self.new_pcs[place] = new_pc as u16;
            if switches.next_if_eq(&n).is_some() {
                // The operands of a switch begin at a multiple of four bytes.
                shift = shift + (3 - new_pc % 4) - (3 - place % 4);
            }
            done = place + 1;
        }
        self.shift_pcs(method.scan, done..length, shift);
        let end = length + shift;
        (self.targets[length], self.new_pcs[length]) = (end as u16, NO_PC);
        (end <= MAX_SHORT_BRANCH_BYTES).then_some(())
    }

    /// Moves the instructions of a range of pcs by a distance.
    fn shift_pcs(&mut self, scan: &CodeScan, pcs: Range<usize>, shift: usize) {
        let mut new_pc = (pcs.start + shift) as u16;
        let marks = &scan.marks[pcs.clone()];
        let places = self.targets[pcs.clone()].iter_mut();
        let places = places.zip(&mut self.new_pcs[pcs]);
        for ((target, own), mark) in places.zip(marks) {
            let to = if mark & START != 0 { new_pc } else { NO_PC };
            (*target, *own) = (to, to);
            new_pc = new_pc.wrapping_add(1);
        }
    }

    /// Writes the method's own instructions with the checks.
    fn write_body(
        &mut self,
        method: Original,
        points: &[FastPoint],
        constants: &BodyConstants,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let begin = out.len();
        let bytes = method.bytes;
        let [cell_high, cell_low] = constants.exit.cell.to_be_bytes();
        let call = |method: u16| {
            let [high, low] = method.to_be_bytes();
            [GETSTATIC, cell_high, cell_low, INVOKEVIRTUAL, high, low]
        };
        let (version, leave) = (call(constants.version), call(constants.leave));
        self.branches.clear();
        let (starts, jumps) = (&method.scan.starts, &method.scan.jumps);
        let mut points = points.iter().peekable();
        let mut jumps = jumps.iter().copied().peekable();
        // The bytes before this pc are written.
        let mut written = 0;
        loop {
            // The next instruction that has a check or changes.
            let n = match (points.peek(), jumps.peek()) {
                (Some(p), Some(jump)) => p.instruction.min(*jump),
                (Some(p), None) => p.instruction,
                (None, Some(jump)) => *jump,
                (None, None) => break,
            };
            let start = *starts.get(n as usize)?;
            let place = usize::from(start);
            out.extend_from_slice(&bytes[written..place]);
            written = place;
            while let Some(p) = points.next_if(|p| p.instruction == n) {
                let is_entry = p.kind == PointKind::Entry;
                out.extend_from_slice(if is_entry { &version } else { &leave });
                if is_entry {
                    self.branches.push(out.len() + 1);
                    out.extend_from_slice(&[DUP, IFNONNULL, 0, 0, POP]);
                } else {
                    self.branches.push(out.len());
                    out.extend_from_slice(&[IFNE, 0, 0]);
                }
            }
            if jumps.next_if_eq(&n).is_some() {
                let end = starts.get(n as usize + 1);
                let end = end.map_or(bytes.len(), |next| usize::from(*next));
                self.write_jump(bytes, start..end as u16, (begin, out))?;
                written = end;
            }
        }
        out.extend_from_slice(&bytes[written..]);
        Some(())
    }

    /// Writes a branch or a switch with new offsets.
    fn write_jump(
        &self,
        bytes: &[u8],
        jump: Range<u16>,
        (begin, out): (usize, &mut Vec<u8>),
    ) -> Option<()> {
        let place = usize::from(jump.start);
        let op = bytes[place];
        if let Some(offset) = branch_offset(bytes, jump.start) {
            let offset = self.new_offset(jump.start, i32::from(offset as i16));
            let [high, low] = (offset as i16).to_be_bytes();
            out.extend_from_slice(&[op, high, low]);
            return Some(());
        }
        let table = SwitchTable::read(bytes, place)?;
        let padding = 3 - (out.len() - begin) % 4;
        out.push(op);
        out.extend(std::iter::repeat_n(0, padding));
        let operands = out.len();
        out.extend_from_slice(&bytes[table.default..usize::from(jump.end)]);
        for at in table.offsets() {
            let offset = self.new_offset(jump.start, i4(bytes, at)?);
            let to = operands + at - table.default;
            out[to..to + 4].copy_from_slice(&offset.to_be_bytes());
        }
        Some(())
    }

    /// The offset of a branch in the armed body.
    fn new_offset(&self, pc: u16, offset: i32) -> i32 {
        let to = (i32::from(pc) + offset) as usize;
        i32::from(self.targets[to]) - i32::from(self.new_pcs[usize::from(pc)])
    }

    /// Writes the stub of each point, and the tails that stubs share.
    fn write_stubs(
        &mut self,
        method: Original,
        points: &FastPoints,
        constants: &BodyConstants,
        (begin, out): (usize, &mut Vec<u8>),
    ) {
        self.stubs.clear();
        self.jumps_to_frame_tail.clear();
        self.jumps_to_return_tail.clear();
        (self.frame_tail, self.return_tail) = (None, None);
        let last = |form: ExitForm| points.points.iter().rposition(|p| p.form == form);
        let (last_frame, last_return) = (last(ExitForm::Frame), last(ExitForm::Return));
        for (n, p) in points.points.iter().enumerate() {
            self.stubs.push((out.len() - begin) as u16);
            match p.form {
                ExitForm::Entry => write_entry_stub(out, method, constants),
                ExitForm::Return => {
                    push_number(out, n as u16);
                    if Some(n) == last_return {
                        self.return_tail = Some((out.len() - begin) as u16);
                        constants.exit.exit_tail_bytes(out, method.casts);
                        out.push(return_op(method.parameters.result));
                    } else {
                        self.jumps_to_return_tail.push(out.len());
                        out.extend_from_slice(&[GOTO, 0, 0]);
                    }
                }
                ExitForm::Frame => {
                    write_frame(out, (n as u16, p), points, method.max_locals, constants);
                    if Some(n) == last_frame {
                        self.frame_tail = Some((out.len() - begin) as u16);
                        write_frame_tail(out, method, points, constants);
                    } else {
                        self.jumps_to_frame_tail.push(out.len());
                        out.extend_from_slice(&[GOTO, 0, 0]);
                    }
                }
            }
        }
    }

    /// The exception table with new pcs, and with every check cut out of the ranges. Also sets, for
    /// each old row, the number of its first new row.
    pub fn relocate_ranges(
        &self,
        exceptions: &[ExceptionRange],
        points: &[FastPoint],
        rows: &mut Vec<ExceptionRange>,
        moved: &mut Vec<u16>,
    ) {
        rows.clear();
        moved.clear();
        let entry = points.first().map(|p| p.pc);
        // If point 0 is at the end of a range, the range ends before its check.
        let end_at = |pc: u16| {
            let check = if entry == Some(pc) {
                ENTRY_CHECK_BYTES
            } else {
                0
            };
            self.targets[usize::from(pc)] - check
        };
        for e in exceptions {
            moved.push(rows.len() as u16);
            let mut row = ExceptionRange {
                start: self.new_pcs[usize::from(e.start)],
                end: 0,
                handler: self.targets[usize::from(e.handler)],
                catch_type: e.catch_type,
            };
            for p in points.iter().filter(|p| e.start < p.pc && p.pc < e.end) {
                row.end = end_at(p.pc);
                if row.start < row.end {
                    rows.push(row);
                }
                row.start = self.new_pcs[usize::from(p.pc)];
            }
            row.end = end_at(e.end);
            if row.start < row.end {
                rows.push(row);
            }
        }
    }
}

/// Sets the offset of the branch at this position.
fn set_offset(out: &mut [u8], begin: usize, branch: usize, to: u16) {
    let offset = (i32::from(to) - (branch - begin) as i32) as i16;
    out[branch + 1..branch + 3].copy_from_slice(&offset.to_be_bytes());
}

/// Writes the stub of point 0: calls the current version with the parameters, and returns its
/// result. References in the parameters are set to null before the call.
fn write_entry_stub(out: &mut Vec<u8>, method: Original, constants: &BodyConstants) {
    let loads = &method.parameters.loads;
    let [high, low] = constants.cast.to_be_bytes();
    out.extend_from_slice(&[INVOKESTATIC, high, low]);
    for (op, slot) in loads {
        local(out, *op, *slot);
    }
    for (_, slot) in loads.iter().filter(|l| l.0 == ALOAD) {
        out.push(ACONST_NULL);
        local(out, ASTORE, *slot);
    }
    let [high, low] = constants.enter.to_be_bytes();
    let op = return_op(method.parameters.result);
    out.extend_from_slice(&[INVOKEVIRTUAL, high, low, op]);
}

/// Writes the code that puts the live values at a point into a new frame; see
/// [`crate::osr_exit::ExitConstants::build_frame`].
fn write_frame(
    out: &mut Vec<u8>,
    (number, point): (u16, &FastPoint),
    points: &FastPoints,
    temp: u16,
    constants: &BodyConstants,
) {
    let staying = points.staying(point);
    let spilled = &points.operands(point)[staying..];
    let mut next = temp + spilled.iter().map(|v| v.word.width()).sum::<u16>();
    for value in spilled.iter().rev() {
        next -= value.word.width();
        local(out, ISTORE + value.word.load_kind(), next);
    }
    let locals = points.locals(point).iter();
    let locals = locals.filter(|v| v.word != crate::arming::word::Word::NULL);
    let spilled = spilled.iter().scan(temp, |next, value| {
        let slot = *next;
        *next += value.word.width();
        Some(slot)
    });
    let mut slots = spilled.chain(locals.map(|v| v.slot));
    let mut runs = run_lengths(points.kinds(point));
    let mut load = |out: &mut Vec<u8>, kind: u8, count: usize| {
        for slot in slots.by_ref().take(count) {
            local(out, ILOAD + kind, slot);
        }
    };
    let mut first = EMPTY_FRAME_INDEX;
    if let Some((kind, count)) = runs.next() {
        load(out, kind, count - staying);
        first = add_index(kind, count);
    }
    push_number(out, number);
    out.push(INVOKESTATIC);
    out.extend(constants.exit.frame_of[first].to_be_bytes());
    for (kind, count) in runs {
        load(out, kind, count);
        out.push(INVOKEVIRTUAL);
        out.extend(constants.exit.frame_add[add_index(kind, count)].to_be_bytes());
    }
}

/// Writes the code that stubs with a frame share: sets the locals to null, and calls the executor
/// loop; see [`crate::osr_exit::ExitConstants::run_loop`].
fn write_frame_tail(
    out: &mut Vec<u8>,
    method: Original,
    points: &FastPoints,
    constants: &BodyConstants,
) {
    let clear = |out: &mut Vec<u8>, slot: u16| {
        out.push(ACONST_NULL);
        local(out, ASTORE, slot);
    };
    let mut slots = method.object_slots;
    while slots != 0 {
        clear(out, slots.trailing_zeros() as u16);
        slots &= slots - 1;
    }
    for slot in 0..spill_words(points) {
        clear(out, method.max_locals + slot);
    }
    out.push(GETSTATIC);
    out.extend(constants.exit.cell.to_be_bytes());
    out.push(INVOKESTATIC);
    out.extend(constants.exit.go.to_be_bytes());
    if method.casts {
        out.push(CHECKCAST);
        out.extend(constants.exit.class.to_be_bytes());
    }
    out.push(return_op(method.parameters.result));
}

/// The largest number of local-variable words that a point needs for operands.
pub(super) fn spill_words(points: &FastPoints) -> u16 {
    let framed = points.points.iter().filter(|p| p.form == ExitForm::Frame);
    let words = |p: &FastPoint| -> u16 {
        let spilled = &points.operands(p)[points.staying(p)..];
        spilled.iter().map(|v| v.word.width()).sum()
    };
    framed.map(words).max().unwrap_or(0)
}

/// The operand stack that checks and stubs need, in words; see
/// [`crate::osr_exit::exit_stack_words`].
pub(super) fn stack_words(points: &FastPoints, parameters: &Parameters) -> u16 {
    let words = |p: &FastPoint| {
        let depth = points.depth(p);
        match p.form {
            ExitForm::Entry => {
                let clears = parameters.loads.iter().any(|l| l.0 == ALOAD);
                (parameters.words + 1 + u16::from(clears)).max(2)
            }
            ExitForm::Return => depth + 2,
            ExitForm::Frame => {
                let words = |(kind, n): (u8, usize)| {
                    if matches!(kind, 1 | 3) { 2 } else { n as u16 }
                };
                let most = run_lengths(points.kinds(p)).map(words).max().unwrap_or(0);
                depth.max(1 + most).max(2)
            }
        }
        .max(depth + 1)
    };
    points.points.iter().map(words).max().unwrap_or(0)
}

/// Writes the instruction that pushes the number of a point.
fn push_number(out: &mut Vec<u8>, number: u16) {
    match number {
        0..=5 => out.push(ICONST_0 + number as u8),
        6..=127 => out.extend([BIPUSH, number as u8]),
        _ => {
            out.push(SIPUSH);
            out.extend(number.to_be_bytes());
        }
    }
}

fn return_op(result: u8) -> u8 {
    match result {
        b'V' => RETURN,
        b'J' => LRETURN,
        b'F' => FRETURN,
        b'D' => DRETURN,
        b'L' | b'[' => ARETURN,
        _ => IRETURN,
    }
}
