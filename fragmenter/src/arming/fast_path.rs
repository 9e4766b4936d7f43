//! The fast path of arming: copies a method's code and inserts the checks, without analysing the
//! method.
//!
//! Most methods have capture points only at their entry and their returns. For these points, the
//! only fact needed about the code is the depth of the operand stack.
//!
//! ```text
//!     original   │ … code … │ ireturn │ … code … │ ireturn │
//!                ▼          ▼         ▼
//!     armed  ┌check┬ … code … ┬check┬ ireturn │ … │ stub 0 │ stub 1 │ …
//!
//!     the offset of each branch over an insertion grows by the size of the insertion
//! ```
//!
//! The full path handles every other method, and all unusual code:
//!
//! - a loop under a policy that cuts at loops;
//! - a monitor or a `switch`;
//! - a return that an exception handler protects;
//! - an instruction in a longer form than necessary;
//! - a size near HotSpot's limits.
//!
//! The output has the same code and tables as that of the full path, because versions are emitted
//! for the layout of the full path. Only the numbers of constants may differ: the stack map of the
//! fast path names fewer classes if a frame extends the frame before it.

use super::layout::CHECK_BYTES;
use super::line_table::append_lines;
use super::parameters::{
    Parameters, entry_stub_bytes, exit_stub_bytes, local, object, verification_types, width,
};
use super::stack_effect::{MemberWords, UNKNOWN_DELTA, deltas, is_store};
use super::stackmap_relocation::{Frames, LastFrame, NO_PC, StackMap};
use crate::bytecode::opcode::*;
use crate::classfile::{
    Attribute, ClassFile, Code, ConstantPool, Entry, ExceptionRange, Member, remap_code_attributes,
};
use crate::hotspot::{COMPILE_LIMIT, INLINE_LIMIT};
use crate::osr_exit;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::runtime;

/// Longest code in bytes that the fast path accepts. Below this limit, the branches of the armed
/// body cannot exceed their 16-bit offsets.
const MAX_FAST_PATH_BYTES: usize = 16_000;

/// The fast path for the methods of one class: facts about the class, and buffers that are reused
/// for each method.
pub(super) struct FastPath<'f> {
    file: &'f ClassFile<'f>,
    class: &'f str,
    members: MemberWords<'f>,
    /// Whether a method of the class may call `getCallerClass`.
    may_find_caller: bool,
    /// Constant-pool indices of `VeneerCell.on` and `VeneerCell.leave`, once they were added.
    checks: Option<(u16, u16)>,
    code: Scratch,
}

/// Buffers for one method. `targets` and `new_pcs` are indexed by original pc, up to and including
/// the code length.
#[derive(Default)]
struct Scratch {
    /// The new pc to which a branch leads.
    targets: Vec<u16>,
    /// The new pc of the instruction itself, after any check.
    new_pcs: Vec<u16>,
    /// The pcs of all instructions, in rising order.
    starts: Vec<u16>,
    /// The pcs of the returns that get a check.
    exits: Vec<u16>,
    /// The frames of the stack map: pc and operand stack depth in words.
    depths: Vec<(u16, u16)>,
}

/// The result of scanning the code.
struct Scan {
    /// pc of the instruction before which point 0 is placed.
    entry: u16,
}

impl<'f> FastPath<'f> {
    /// Prepares the fast path for the class with this internal name.
    pub fn new(file: &'f ClassFile<'f>, class: &'f str) -> FastPath<'f> {
        let is_get_caller_class = |i: u16| matches!(file.pool.entry(i), Ok(Entry::Utf8(text)) if text == b"getCallerClass");
        FastPath {
            file,
            class,
            members: MemberWords::new(&file.pool),
            may_find_caller: file.pool.indices().any(is_get_caller_class),
            checks: None,
            code: Scratch::default(),
        }
    }

    /// Arms a method, if the fast path can. Returns the armed `Code` attribute and the descriptor
    /// of the call of the method's versions. If the result is `None`, the full path must arm the
    /// method, and the pool is unchanged.
    pub fn arm(
        &mut self,
        member: &Member,
        info: &[u8],
        (policy, id, anchor): (&Policy, u32, &str),
        pool: &mut ConstantPool,
    ) -> Result<Option<(Vec<u8>, String)>, Refusal> {
        let (Ok(name), Ok(descriptor)) = (
            self.file.pool.utf8(member.name),
            self.file.pool.utf8(member.descriptor),
        ) else {
            return Ok(None);
        };
        // The full path refuses damaged code by name.
        let Ok(code) = &Code::parse(info) else {
            return Ok(None);
        };
        let eligible = matches!(policy, Policy::Loop | Policy::Method)
            && !self.may_find_caller
            && name != b"fillInStackTrace"
            && code.code.len() <= MAX_FAST_PATH_BYTES
            && pool.count() < crate::types::POOL_LIMIT;
        if !eligible {
            return Ok(None);
        }
        let is_static = member.access & crate::method::access::STATIC != 0;
        let constructor = name == b"<init>" && self.class != "java/lang/Object";
        let Some(parameters) = Parameters::parse(self.class, descriptor, is_static) else {
            return Ok(None);
        };
        if parameters.words > 255 || parameters.words > code.max_locals {
            return Ok(None);
        }
        let map = code
            .attributes
            .iter()
            .find(|a| a.is(&self.file.pool, "StackMapTable"));
        let Some(last_frame) = self.record_depths(map.map(|a| &*a.info), code.code.len()) else {
            return Ok(None);
        };
        let loops = matches!(policy, Policy::Loop);
        let Some(scan) = self.scan(code, constructor, loops, &parameters) else {
            return Ok(None);
        };
        if !self.ranges_allow(code, scan.entry, constructor)
            || !self.stays_within_limits(code, &parameters)
        {
            return Ok(None);
        }
        let Ok(name) = self.file.pool.text(member.name) else {
            return Ok(None);
        };
        self.write(
            code,
            &scan,
            constructor,
            &parameters,
            (id, anchor, &name),
            last_frame,
            map,
            pool,
        )
    }

    /// Records the depth of the operand stack at each frame. Returns `None` if the stack map is
    /// malformed.
    fn record_depths(&mut self, map: Option<&[u8]>, length: usize) -> Option<LastFrame> {
        self.code.depths.clear();
        let mut last_frame = LastFrame { extra: Some(0) };
        let Some(info) = map else {
            return Some(last_frame);
        };
        let mut frames = Frames::new(info)?;
        while let Some(frame) = frames.next()? {
            if usize::from(frame.pc) >= length {
                return None;
            }
            self.code.depths.push((frame.pc, frame.depth));
            last_frame.extra = match frame.form {
                248..=250 => last_frame
                    .extra
                    .and_then(|n| n.checked_sub(251 - u16::from(frame.form))),
                252..=254 => last_frame.extra.map(|n| n + u16::from(frame.form) - 251),
                255 => None,
                _ => last_frame.extra,
            };
        }
        Some(last_frame)
    }

    /// Scans the code once: instruction starts, returns, point 0 and stack depths. Returns `None`
    /// if the full path must be used.
    fn scan(
        &mut self,
        code: &Code,
        constructor: bool,
        loops: bool,
        parameters: &Parameters,
    ) -> Option<Scan> {
        let bytes = &*code.code;
        let delta = deltas();
        let result = match parameters.result {
            b'V' => 0,
            b'J' | b'D' => 2,
            _ => 1,
        };
        self.code.starts.clear();
        self.code.exits.clear();
        let mut depths = std::mem::take(&mut self.code.depths).into_iter().peekable();
        let (mut pc, mut depth, mut flows, mut calls) = (0usize, 0i32, true, false);
        let mut entry = (!constructor).then_some(0u16);
        let max = i32::from(code.max_stack);
        while let Some(&op) = bytes.get(pc) {
            let at = pc as u16;
            if let Some((_, framed)) = depths.next_if(|f| f.0 == at) {
                depth = i32::from(framed);
            } else if !flows {
                return None;
            }
            flows = true;
            self.code.starts.push(at);
            let u2 = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
            let length = match op {
                BIPUSH => {
                    // The full path writes a value that fits a shorter form in that form.
                    if (-1..=5).contains(&(*bytes.get(pc + 1)? as i8)) {
                        return None;
                    }
                    2
                }
                SIPUSH => {
                    if i8::try_from(u2(pc + 1)? as i16).is_ok() {
                        return None;
                    }
                    3
                }
                LDC | NEWARRAY => 2,
                LDC_W => {
                    if u2(pc + 1)? <= 255 {
                        return None;
                    }
                    3
                }
                LDC2_W => 3,
                ILOAD..=ALOAD | ISTORE..=ASTORE => {
                    if *bytes.get(pc + 1)? <= 3 {
                        return None;
                    }
                    2
                }
                IINC => 3,
                IFEQ..=GOTO | IFNULL | IFNONNULL => {
                    let to = i64::from(at) + i64::from(u2(pc + 1)? as i16);
                    let backward = to <= i64::from(at);
                    if !(0..bytes.len() as i64).contains(&to)
                        || loops && backward
                        || entry.is_none()
                    {
                        return None;
                    }
                    3
                }
                GETSTATIC..=INVOKEDYNAMIC => {
                    let index = u2(pc + 1)?;
                    let words = self.members.words(index)?;
                    let receiver = i32::from(!matches!(
                        op,
                        GETSTATIC | PUTSTATIC | INVOKESTATIC | INVOKEDYNAMIC
                    ));
                    depth += match op {
                        GETSTATIC | GETFIELD => i32::from(words.left) - receiver,
                        PUTSTATIC | PUTFIELD => -i32::from(words.left) - receiver,
                        _ => i32::from(words.left) - i32::from(words.taken) - receiver,
                    };
                    calls |= op >= INVOKEVIRTUAL;
                    if entry.is_none() && op == INVOKESPECIAL && self.is_constructor_call(index)? {
                        // The code so far creates no object and has no branches, so the receiver is
                        // `this`.
                        let next = pc + 3;
                        if depth != 0 || next >= bytes.len() {
                            return None;
                        }
                        entry = Some(next as u16);
                    }
                    match op {
                        INVOKEINTERFACE | INVOKEDYNAMIC => 5,
                        _ => 3,
                    }
                }
                NEW | ANEWARRAY | CHECKCAST | INSTANCEOF => {
                    if op == NEW && entry.is_none() {
                        return None;
                    }
                    3
                }
                MULTIANEWARRAY => {
                    depth += 1 - i32::from(*bytes.get(pc + 3)?);
                    4
                }
                IRETURN..=RETURN => {
                    let first = entry?;
                    if at > first {
                        if depth != result {
                            return None;
                        }
                        self.code.exits.push(at);
                    } else if at < first {
                        return None;
                    }
                    flows = false;
                    1
                }
                ATHROW => {
                    entry?;
                    flows = false;
                    1
                }
                // Subroutines, switches, monitors and wide forms.
                JSR | RET | TABLESWITCH | LOOKUPSWITCH | MONITORENTER | MONITOREXIT | WIDE
                | GOTO_W | JSR_W => return None,
                0..=JSR_W => 1,
                _ => return None,
            };
            if entry.is_none() && is_store(op) {
                return None;
            }
            flows &= op != GOTO;
            match *delta.get(usize::from(op))? {
                UNKNOWN_DELTA => return None,
                words => depth += i32::from(words),
            }
            pc += length;
            if pc > bytes.len() || depth < 0 || depth > max {
                return None;
            }
        }
        let rest = depths.next().is_some();
        if rest || flows {
            return None;
        }
        if !calls {
            self.code.exits.clear();
        }
        Some(Scan { entry: entry? })
    }

    /// Whether the member is a constructor. Returns `None` if it is a constructor of a class other
    /// than this class and its superclass: then the call is neither `super(…)` nor `this(…)`.
    fn is_constructor_call(&self, index: u16) -> Option<bool> {
        let pool = &self.file.pool;
        let member = pool.member(index).ok()?;
        if pool.utf8(member.name).ok()? != b"<init>" {
            return Some(false);
        }
        let class = pool.class_name(member.class).ok()?;
        let ours = class == self.class || self.file.super_name().ok()?.is_some_and(|s| s == class);
        ours.then_some(true)
    }

    /// Whether the exception ranges are well-formed and allow the fast path. It requires that
    /// no range protects a return with a check, that no handler closes a cycle, and that no range
    /// of a constructor begins before or at point 0.
    fn ranges_allow(&mut self, code: &Code, entry: u16, constructor: bool) -> bool {
        let length = code.code.len();
        let starts = &self.code.starts;
        let begins = |pc: u16| starts.binary_search(&pc).is_ok();
        code.exceptions.iter().all(|e| {
            let proper = e.start < e.end
                && begins(e.start)
                && begins(e.handler)
                && (usize::from(e.end) == length || begins(e.end))
                && e.handler >= e.end;
            let free = !self
                .code
                .exits
                .iter()
                .any(|pc| (e.start..e.end).contains(pc));
            proper && free && !(constructor && e.start <= entry)
        })
    }

    /// Whether the armed body remains on the same side of HotSpot's limits, with 16-bit branch
    /// offsets.
    fn stays_within_limits(&self, code: &Code, parameters: &Parameters) -> bool {
        let before = code.code.len();
        // At least the sum of `max_point_bytes` over the points.
        let entry = usize::from(CHECK_BYTES) + 9 * parameters.loads.len() + 10;
        let most = before + entry + self.code.exits.len() * (usize::from(CHECK_BYTES) + 13);
        let crosses = |limit: usize| before <= limit && most > limit;
        !crosses(INLINE_LIMIT) && !crosses(COMPILE_LIMIT) && most < 2 * MAX_FAST_PATH_BYTES
    }

    #[allow(clippy::too_many_arguments)]
    fn write(
        &mut self,
        code: &Code,
        scan: &Scan,
        constructor: bool,
        parameters: &Parameters,
        (id, anchor, name): (u32, &str, &str),
        last_frame: LastFrame,
        map: Option<&Attribute>,
        pool: &mut ConstantPool,
    ) -> Result<Option<(Vec<u8>, String)>, Refusal> {
        let bytes = &*code.code;
        let length = bytes.len();
        let points = 1 + self.code.exits.len();
        // Compute the new pc of every instruction.
        let Scratch {
            targets,
            new_pcs,
            starts,
            exits,
            ..
        } = &mut self.code;
        for places in [&mut *targets, &mut *new_pcs] {
            places.clear();
            places.resize(length + 1, NO_PC);
        }
        let (mut at, mut next_exit) = (0u16, 0);
        for (n, start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).map_or(length, |next| usize::from(*next));
            let place = usize::from(*start);
            let exit = exits.get(next_exit) == Some(start);
            next_exit += usize::from(exit);
            // A branch to point 0 belongs to an activation that began earlier, so it skips the
            // check. A branch to a return passes the check.
            let before = *start == scan.entry;
            at += if before { CHECK_BYTES } else { 0 };
            targets[place] = at;
            at += if exit { CHECK_BYTES } else { 0 };
            new_pcs[place] = at;
            at += (end - place) as u16;
        }
        targets[length] = at;
        let first_stub = at;
        // A branch into the middle of an instruction has no target here. The full path refuses it
        // by name.
        let target = |pc: u16, offset: u16| {
            let to = i32::from(pc) + i32::from(offset as i16);
            usize::try_from(to)
                .ok()
                .and_then(|to| targets.get(to))
                .copied()
                .filter(|to| *to != NO_PC)
        };
        for start in starts.iter() {
            if let Some(offset) = branch_offset(bytes, *start)
                && target(*start, offset).is_none()
            {
                return Ok(None);
            }
        }
        let Some(mut table) = StackMap::relocated(map.map(|a| &*a.info), targets, new_pcs) else {
            return Ok(None);
        };
        // From here on the pool changes, with the constants in the same order as on the full path.
        let result = &parameters.site[parameters.result_at..];
        let cell = pool.add_field(anchor, &runtime::cell_field(id), runtime::CELL_DESCRIPTOR)?;
        let (on, leave) = match self.checks {
            Some(checks) => checks,
            None => {
                let on = pool.add_method(runtime::CELL, "on", "()Z")?;
                let leave = pool.add_method(runtime::CELL, "leave", "()Z")?;
                *self.checks.insert((on, leave))
            }
        };
        let version = runtime::anchor_version_descriptor(anchor);
        let version = pool.add_method(anchor, runtime::ANCHOR_VERSION, &version)?;
        let enter = pool.add_method(anchor, &runtime::enter_method(name, id), &parameters.site)?;
        let class = match result.strip_prefix('L') {
            Some(name) => Some(name.trim_end_matches(';')),
            None => Some(result).filter(|d| d.starts_with('[')),
        };
        let class = class.filter(|name| *name != "java/lang/Object");
        let refs = if points > 1 {
            osr_exit::ExitConstants::for_returns(pool, cell, parameters.result, class)?
        } else {
            osr_exit::ExitConstants::default()
        };
        // Emit the code, then the stubs.
        let mut out: Vec<u8> = Vec::with_capacity(usize::from(first_stub) + 32 + 8 * points);
        let mut exit_stub = u32::from(first_stub) + entry_stub_bytes(parameters);
        let check = |out: &mut Vec<u8>, method: u16, stub: u32| {
            out.push(GETSTATIC);
            out.extend(cell.to_be_bytes());
            out.push(INVOKEVIRTUAL);
            out.extend(method.to_be_bytes());
            let from = out.len() as u32;
            out.push(IFNE);
            out.extend(((stub - from) as u16).to_be_bytes());
        };
        let mut next_exit = 0;
        for (n, start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).map_or(length, |next| usize::from(*next));
            if *start == scan.entry {
                check(&mut out, on, u32::from(first_stub));
            }
            if exits.get(next_exit) == Some(start) {
                check(&mut out, leave, exit_stub);
                next_exit += 1;
                exit_stub += exit_stub_bytes(next_exit);
            }
            let here = out.len();
            out.extend_from_slice(&bytes[usize::from(*start)..end]);
            if let Some(to) = branch_offset(bytes, *start).and_then(|offset| target(*start, offset))
            {
                let offset = (i32::from(to) - here as i32) as i16;
                out[here + 1..here + 3].copy_from_slice(&offset.to_be_bytes());
            }
        }
        let mut stubs = Vec::with_capacity(points);
        let return_op = match parameters.result {
            b'V' => RETURN,
            b'J' => LRETURN,
            b'F' => FRETURN,
            b'D' => DRETURN,
            b'L' | b'[' => ARETURN,
            _ => IRETURN,
        };
        let mut exit_tail = 0;
        for n in 0..points {
            stubs.push(out.len() as u16);
            if n == 0 {
                out.push(GETSTATIC);
                out.extend(cell.to_be_bytes());
                out.push(INVOKESTATIC);
                out.extend(version.to_be_bytes());
                for (op, slot) in &parameters.loads {
                    local(&mut out, *op, *slot);
                }
                for (_, slot) in parameters.loads.iter().filter(|l| l.0 == ALOAD) {
                    out.push(ACONST_NULL);
                    local(&mut out, ASTORE, *slot);
                }
                out.push(INVOKEVIRTUAL);
                out.extend(enter.to_be_bytes());
                out.push(return_op);
                continue;
            }
            match n {
                0..=5 => out.push(ICONST_0 + n as u8),
                6..=127 => out.extend([BIPUSH, n as u8]),
                _ => {
                    out.push(SIPUSH);
                    out.extend((n as u16).to_be_bytes());
                }
            }
            if n + 1 < points {
                // The offset is filled in when the pc of the tail is known.
                out.extend([GOTO, 0, 0]);
            } else {
                exit_tail = out.len();
                refs.exit_tail_bytes(&mut out, class.is_some());
                out.push(return_op);
            }
        }
        for (n, stub) in stubs.iter().enumerate().take(points - 1).skip(1) {
            let jump = usize::from(*stub) + exit_stub_bytes(n) as usize - 3;
            let offset = (exit_tail - jump) as u16;
            out[jump + 1..jump + 3].copy_from_slice(&offset.to_be_bytes());
        }
        // Build the attributes.
        let exceptions = code.exceptions.iter().map(|e| ExceptionRange {
            start: new_pcs[usize::from(e.start)],
            end: targets[usize::from(e.end)] - if e.end == scan.entry { CHECK_BYTES } else { 0 },
            handler: targets[usize::from(e.handler)],
            catch_type: e.catch_type,
        });
        let exceptions = exceptions.collect();
        let lines: Vec<(u16, u16)> = std::iter::once(scan.entry)
            .chain(exits.iter().copied())
            .zip(&stubs)
            .filter_map(|(pc, stub)| Some((*stub, source_line(code, pool, pc)?)))
            .collect();
        let kept = code
            .attributes
            .iter()
            .filter(|a| !a.is(pool, "StackMapTable"));
        let mut attributes: Vec<Attribute> = kept.cloned().collect();
        let map = |pc: u16| {
            targets
                .get(usize::from(pc))
                .copied()
                .filter(|to| *to != NO_PC)
                .unwrap_or(0)
        };
        remap_code_attributes(&mut attributes, pool, length as u16, &map, &|e| e)?;
        append_lines(&mut attributes, pool, &lines);
        // Frames of the stubs: the entry's stub has the parameters and an empty stack; an exit's
        // stub has only the value to return.
        let extra = last_frame.extra.filter(|_| !constructor);
        let mut locals = None;
        if extra.is_none_or(|n| n > 3) {
            locals = Some(verification_types(parameters, pool)?);
        }
        let value = match parameters.result {
            b'V' => None,
            b'J' => Some(vec![4]),
            b'F' => Some(vec![2]),
            b'D' => Some(vec![3]),
            b'L' | b'[' => Some(object(result, pool, points > 1)?),
            _ => Some(vec![1]),
        };
        table.push_entry(stubs[0], extra, parameters.count, locals.as_deref());
        let mut before = parameters.count;
        for stub in &stubs[1..] {
            table.push_exit(*stub, before, value.as_deref());
            before = 0;
        }
        if points > 2 {
            table.push_exit_tail(exit_tail as u16, value.as_deref());
        }
        attributes.push(Attribute {
            name: pool.add_utf8("StackMapTable")?,
            info: table.finish().into(),
        });
        let drops = parameters.loads.iter().any(|l| l.0 == ALOAD);
        let mut max_stack = code.max_stack.max(parameters.words + 1 + u16::from(drops));
        if points > 1 {
            max_stack = max_stack.max(width(&[parameters.result]) + 2);
        }
        let armed = Code {
            max_stack,
            max_locals: code.max_locals,
            code: out.into(),
            exceptions,
            attributes,
        };
        Ok(Some((armed.to_bytes()?, parameters.site.clone())))
    }
}

/// The offset of the branch at this pc, or `None` if the instruction is not a branch.
fn branch_offset(code: &[u8], at: u16) -> Option<u16> {
    let at = usize::from(at);
    match *code.get(at)? {
        IFEQ..=GOTO | IFNULL | IFNONNULL => {
            Some(u16::from_be_bytes([*code.get(at + 1)?, *code.get(at + 2)?]))
        }
        _ => None,
    }
}

/// The source line of a pc.
fn source_line(code: &Code, pool: &ConstantPool, pc: u16) -> Option<u16> {
    let mut best: Option<(u16, u16)> = None;
    for table in code
        .attributes
        .iter()
        .filter(|a| a.is(pool, "LineNumberTable"))
    {
        for row in table.info.get(2..)?.chunks_exact(4) {
            let (start, line) = (
                u16::from_be_bytes([row[0], row[1]]),
                u16::from_be_bytes([row[2], row[3]]),
            );
            if start <= pc && best.is_none_or(|b| b.0 <= start) {
                best = Some((start, line));
            }
        }
    }
    best.map(|b| b.1)
}
