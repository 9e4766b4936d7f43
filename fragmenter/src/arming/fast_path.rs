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

use super::layout::{BodyConstants, CHECK_BYTES, ENTRY_CHECK_BYTES};
use super::line_table::append_lines;
use super::parameters::{
    Parameters, entry_stub_bytes, exit_stub_bytes, local, object, verification_types,
};
use super::stackmap_relocation::{Frames, LastFrame, NO_PC, StackMap};
use crate::bytecode::opcode::*;
use crate::bytecode::stack_effect::{MemberWords, UNKNOWN_DELTA, deltas, is_store};
use crate::classfile::{
    Attribute, ClassFile, Code, ConstantPool, ExceptionRange, Member, PoolEntry,
    remap_code_attributes,
};
use crate::hotspot::{MAX_COMPILED_BYTES, MAX_INLINE_BYTES};
use crate::osr_exit::ExitConstants;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::runtime;
use veneer_names::MethodId;
use veneer_names::raw::slots;

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
    /// Constant-pool indices of `VeneerCell.version` and `VeneerCell.leave`, once they were added.
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

impl Scratch {
    /// The new pc to which a branch to this pc leads, or `None` if no instruction starts there.
    fn new_target(&self, pc: usize) -> Option<u16> {
        let to = self.targets.get(pc).copied();
        to.filter(|to| *to != NO_PC)
    }

    /// The new pc to which the branch at `pc` with this offset leads.
    fn new_branch_target(&self, pc: u16, offset: u16) -> Option<u16> {
        let to = i32::from(pc) + i32::from(offset as i16);
        usize::try_from(to).ok().and_then(|to| self.new_target(to))
    }
}

/// The state of scanning the code, before the instruction at `pc`.
struct Scan {
    pc: usize,
    /// Depth of the operand stack in words.
    depth: i32,
    /// Whether control continues from the previous instruction.
    flows: bool,
    /// Whether the code so far contains a call.
    calls: bool,
    /// pc of the instruction before which point 0 is placed. `None` before the constructor call of
    /// a constructor.
    entry: Option<u16>,
}

impl Scan {
    /// Checks the branch at the current pc. Returns `None` if the full path must handle it: a
    /// branch out of the code, a loop if `loops` is set, or a branch before point 0.
    fn check_branch(&self, bytes: &[u8], loops: bool) -> Option<()> {
        let at = self.pc as i64;
        let to = at + i64::from(u2(bytes, self.pc + 1)? as i16);
        let allowed =
            (0..bytes.len() as i64).contains(&to) && !(loops && to <= at) && self.entry.is_some();
        allowed.then_some(())
    }

    /// Whether the return at the current pc gets a check. `result` is the width of the result in
    /// words. Returns `None` if the full path must handle the return.
    fn return_has_check(&self, result: i32) -> Option<bool> {
        let first = usize::from(self.entry?);
        if self.pc < first || self.pc > first && self.depth != result {
            return None;
        }
        Some(self.pc > first)
    }
}

/// A method that the scan accepted.
struct ScannedMethod<'m> {
    code: &'m Code<'m>,
    parameters: Parameters,
    /// Whether the method is a constructor of a class other than `Object`.
    constructor: bool,
    /// pc of the instruction before which point 0 is placed.
    entry: u16,
    /// The `StackMapTable`, if the method has one.
    stack_map: Option<&'m Attribute<'m>>,
    last_frame: LastFrame,
    id: MethodId,
    /// Internal name of the class's anchor.
    anchor: &'m str,
    name: &'m str,
}

impl ScannedMethod<'_> {
    /// The descriptor of the result.
    fn result(&self) -> &str {
        &self.parameters.site[self.parameters.result_at..]
    }

    /// The class to which the result of an OSR exit must be cast, if any.
    fn result_class(&self) -> Option<&str> {
        let result = self.result();
        let class = match result.strip_prefix('L') {
            Some(name) => Some(name.trim_end_matches(';')),
            None => Some(result).filter(|d| d.starts_with('[')),
        };
        class.filter(|name| *name != "java/lang/Object")
    }

    fn return_op(&self) -> u8 {
        match self.parameters.result {
            b'V' => RETURN,
            b'J' => LRETURN,
            b'F' => FRETURN,
            b'D' => DRETURN,
            b'L' | b'[' => ARETURN,
            _ => IRETURN,
        }
    }
}

/// The new pcs of the stubs.
struct StubPcs {
    /// The start of each point's stub, by point number.
    starts: Vec<u16>,
    /// The start of the tail that the stubs of the returns share, or 0 if no return has a stub.
    exit_tail: u16,
}

impl<'f> FastPath<'f> {
    /// Prepares the fast path for the class with this internal name.
    pub fn new(file: &'f ClassFile<'f>, class: &'f str) -> FastPath<'f> {
        let is_get_caller_class = |i: u16| matches!(file.pool.entry(i), Ok(PoolEntry::Utf8(text)) if text == b"getCallerClass");
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
        (policy, id, anchor): (&Policy, MethodId, &str),
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
        let stack_map = code
            .attributes
            .iter()
            .find(|a| a.is(&self.file.pool, "StackMapTable"));
        let Some(last_frame) = self.record_depths(stack_map.map(|a| &*a.info), code.code.len())
        else {
            return Ok(None);
        };
        let loops = matches!(policy, Policy::Loop);
        let Some(entry) = self.scan(code, constructor, loops, &parameters) else {
            return Ok(None);
        };
        if !self.ranges_allow(code, entry, constructor)
            || !self.stays_within_limits(code, &parameters)
        {
            return Ok(None);
        }
        let Ok(name) = self.file.pool.text(member.name) else {
            return Ok(None);
        };
        let method = ScannedMethod {
            code,
            parameters,
            constructor,
            entry,
            stack_map,
            last_frame,
            id,
            anchor,
            name: &name,
        };
        let armed = self.write(&method, pool)?;
        Ok(armed.map(|armed| (armed, method.parameters.site)))
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

    /// Scans the code once: instruction starts, returns, point 0 and stack depths. Returns the pc of
    /// the instruction before which point 0 is placed, or `None` if the full path must be used.
    fn scan(
        &mut self,
        code: &Code,
        constructor: bool,
        loops: bool,
        parameters: &Parameters,
    ) -> Option<u16> {
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
        let mut scan = Scan {
            pc: 0,
            depth: 0,
            flows: true,
            calls: false,
            entry: (!constructor).then_some(0),
        };
        let max = i32::from(code.max_stack);
        while let Some(&op) = bytes.get(scan.pc) {
            let at = scan.pc as u16;
            if let Some((_, framed)) = depths.next_if(|f| f.0 == at) {
                scan.depth = i32::from(framed);
            } else if !scan.flows {
                return None;
            }
            scan.flows = true;
            self.code.starts.push(at);
            let length = instruction_bytes(bytes, scan.pc, op)?;
            match op {
                IFEQ..=GOTO | IFNULL | IFNONNULL => scan.check_branch(bytes, loops)?,
                GETSTATIC..=INVOKEDYNAMIC => self.scan_member(&mut scan, bytes, op)?,
                NEW => {
                    scan.entry?;
                }
                MULTIANEWARRAY => scan.depth += 1 - i32::from(*bytes.get(scan.pc + 3)?),
                IRETURN..=RETURN => {
                    if scan.return_has_check(result)? {
                        self.code.exits.push(at);
                    }
                    scan.flows = false;
                }
                ATHROW => {
                    scan.entry?;
                    scan.flows = false;
                }
                _ => {}
            }
            if scan.entry.is_none() && is_store(op) {
                return None;
            }
            scan.flows &= op != GOTO;
            match *delta.get(usize::from(op))? {
                UNKNOWN_DELTA => return None,
                words => scan.depth += i32::from(words),
            }
            scan.pc += length;
            if scan.pc > bytes.len() || scan.depth < 0 || scan.depth > max {
                return None;
            }
        }
        let rest = depths.next().is_some();
        if rest || scan.flows {
            return None;
        }
        if !scan.calls {
            self.code.exits.clear();
        }
        scan.entry
    }

    /// Scans a field access or a call: adds the words of the member to the depth, and places point 0
    /// after the constructor call of a constructor.
    fn scan_member(&mut self, scan: &mut Scan, bytes: &[u8], op: u8) -> Option<()> {
        let index = u2(bytes, scan.pc + 1)?;
        let words = self.members.of_instruction(op, index)?;
        scan.depth += i32::from(words.pushed) - i32::from(words.popped);
        scan.calls |= op >= INVOKEVIRTUAL;
        if scan.entry.is_none() && op == INVOKESPECIAL && self.is_constructor_call(index)? {
            // The code so far creates no object and has no branches, so the receiver is `this`.
            let next = scan.pc + 3;
            if scan.depth != 0 || next >= bytes.len() {
                return None;
            }
            scan.entry = Some(next as u16);
        }
        Some(())
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
        let entry = usize::from(ENTRY_CHECK_BYTES) + 9 * parameters.loads.len() + 7;
        let most = before + entry + self.code.exits.len() * (usize::from(CHECK_BYTES) + 13);
        let crosses = |limit: usize| before <= limit && most > limit;
        !crosses(MAX_INLINE_BYTES) && !crosses(MAX_COMPILED_BYTES) && most < 2 * MAX_FAST_PATH_BYTES
    }

    /// Writes the armed `Code` attribute. If the result is `None`, the full path must arm the method,
    /// and the pool is unchanged.
    fn write(
        &mut self,
        method: &ScannedMethod,
        pool: &mut ConstantPool,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let code = method.code;
        let first_stub = self.assign_new_pcs(code.code.len(), method.entry);
        if !self.branches_have_targets(&code.code) {
            return Ok(None);
        }
        let Scratch {
            targets, new_pcs, ..
        } = &self.code;
        let info = method.stack_map.map(|a| &*a.info);
        let Some(mut stack_map) = StackMap::relocated(info, targets, new_pcs) else {
            return Ok(None);
        };
        // From here on the pool changes, with the constants in the same order as on the full path.
        let constants = self.add_constants(method, pool)?;
        let mut out = self.emit_body(method, &constants, first_stub);
        let stubs = self.emit_stubs(&mut out, method, &constants);
        let mut attributes = self.relocated_attributes(method, &stubs.starts, pool)?;
        self.push_stub_frames(&mut stack_map, method, &stubs, pool)?;
        attributes.push(Attribute {
            name: pool.add_utf8("StackMapTable")?,
            info: stack_map.finish().into(),
        });
        let parameters = &method.parameters;
        let drops = parameters.loads.iter().any(|l| l.0 == ALOAD);
        let stub = parameters.words + 1 + u16::from(drops);
        let mut max_stack = code.max_stack.max(stub).max(2);
        if !self.code.exits.is_empty() {
            max_stack = max_stack.max(slots(&[parameters.result]) + 2);
        }
        let armed = Code {
            max_stack,
            max_locals: code.max_locals,
            code: out.into(),
            exceptions: self.relocated_ranges(method),
            attributes,
        };
        Ok(Some(armed.to_bytes()?))
    }

    /// Computes the new pc of every instruction. Returns the pc of the first stub.
    fn assign_new_pcs(&mut self, length: usize, entry: u16) -> u16 {
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
            let before = *start == entry;
            at += if before { ENTRY_CHECK_BYTES } else { 0 };
            targets[place] = at;
            at += if exit { CHECK_BYTES } else { 0 };
            new_pcs[place] = at;
            at += (end - place) as u16;
        }
        targets[length] = at;
        at
    }

    /// Whether every branch leads to the start of an instruction. The full path refuses other
    /// branches by name.
    fn branches_have_targets(&self, bytes: &[u8]) -> bool {
        self.code.starts.iter().all(|start| {
            branch_offset(bytes, *start)
                .is_none_or(|offset| self.code.new_branch_target(*start, offset).is_some())
        })
    }

    /// Adds the constants of the armed body to the pool.
    fn add_constants(
        &mut self,
        method: &ScannedMethod,
        pool: &mut ConstantPool,
    ) -> Result<BodyConstants, Refusal> {
        let (anchor, id, parameters) = (method.anchor, method.id, &method.parameters);
        let cell = pool.add_field(anchor, &runtime::cell_field(id), runtime::CELL_DESCRIPTOR)?;
        let (version, leave) = match self.checks {
            Some(checks) => checks,
            None => {
                let version = pool.add_method(runtime::CELL, "version", "()Ljava/lang/Object;")?;
                let leave = pool.add_method(runtime::CELL, "leave", "()Z")?;
                *self.checks.insert((version, leave))
            }
        };
        let cast = runtime::anchor_version_descriptor(anchor);
        let cast = pool.add_method(anchor, runtime::ANCHOR_VERSION, &cast)?;
        let enter = runtime::enter_method(method.name, id);
        let enter = pool.add_method(anchor, &enter, &parameters.site)?;
        let mut exit = ExitConstants::default();
        if !self.code.exits.is_empty() {
            let class = method.result_class();
            exit = ExitConstants::for_returns(pool, cell, parameters.result, class)?;
        }
        exit.cell = cell;
        Ok(BodyConstants {
            version,
            leave,
            cast,
            enter,
            exit,
        })
    }

    /// Emits the method's own instructions with the checks.
    fn emit_body(
        &self,
        method: &ScannedMethod,
        constants: &BodyConstants,
        first_stub: u16,
    ) -> Vec<u8> {
        let Scratch { starts, exits, .. } = &self.code;
        let bytes = &*method.code.code;
        let points = 1 + exits.len();
        let mut out: Vec<u8> = Vec::with_capacity(usize::from(first_stub) + 32 + 8 * points);
        let mut exit_stub = u32::from(first_stub) + entry_stub_bytes(&method.parameters);
        let call = |out: &mut Vec<u8>, method: u16| {
            out.push(GETSTATIC);
            out.extend(constants.exit.cell.to_be_bytes());
            out.push(INVOKEVIRTUAL);
            out.extend(method.to_be_bytes());
        };
        let branch = |out: &mut Vec<u8>, op: u8, stub: u32| {
            let from = out.len() as u32;
            out.push(op);
            out.extend(((stub - from) as u16).to_be_bytes());
        };
        let mut next_exit = 0;
        for (n, start) in starts.iter().enumerate() {
            let end = starts
                .get(n + 1)
                .map_or(bytes.len(), |next| usize::from(*next));
            if *start == method.entry {
                call(&mut out, constants.version);
                out.push(DUP);
                branch(&mut out, IFNONNULL, u32::from(first_stub));
                out.push(POP);
            }
            if exits.get(next_exit) == Some(start) {
                call(&mut out, constants.leave);
                branch(&mut out, IFNE, exit_stub);
                next_exit += 1;
                exit_stub += exit_stub_bytes(next_exit);
            }
            let here = out.len();
            out.extend_from_slice(&bytes[usize::from(*start)..end]);
            if let Some(to) = branch_offset(bytes, *start)
                .and_then(|offset| self.code.new_branch_target(*start, offset))
            {
                let offset = (i32::from(to) - here as i32) as i16;
                out[here + 1..here + 3].copy_from_slice(&offset.to_be_bytes());
            }
        }
        out
    }

    /// Emits the stub of each point, and the tail that the stubs of the returns share.
    fn emit_stubs(
        &self,
        out: &mut Vec<u8>,
        method: &ScannedMethod,
        constants: &BodyConstants,
    ) -> StubPcs {
        let points = 1 + self.code.exits.len();
        let mut starts = Vec::with_capacity(points);
        starts.push(out.len() as u16);
        emit_entry_stub(out, method, constants);
        let mut exit_tail = 0;
        for n in 1..points {
            starts.push(out.len() as u16);
            match n {
                1..=5 => out.push(ICONST_0 + n as u8),
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
                let cast = method.result_class().is_some();
                constants.exit.exit_tail_bytes(out, cast);
                out.push(method.return_op());
            }
        }
        for (n, stub) in starts.iter().enumerate().take(points - 1).skip(1) {
            let jump = usize::from(*stub) + exit_stub_bytes(n) as usize - 3;
            let offset = (exit_tail - jump) as u16;
            out[jump + 1..jump + 3].copy_from_slice(&offset.to_be_bytes());
        }
        StubPcs {
            starts,
            exit_tail: exit_tail as u16,
        }
    }

    /// The exception table with new pcs. A range that ends at point 0 does not protect its check.
    fn relocated_ranges(&self, method: &ScannedMethod) -> Vec<ExceptionRange> {
        let Scratch {
            targets, new_pcs, ..
        } = &self.code;
        let relocate = |e: &ExceptionRange| {
            let check = if e.end == method.entry {
                ENTRY_CHECK_BYTES
            } else {
                0
            };
            ExceptionRange {
                start: new_pcs[usize::from(e.start)],
                end: targets[usize::from(e.end)] - check,
                handler: targets[usize::from(e.handler)],
                catch_type: e.catch_type,
            }
        };
        method.code.exceptions.iter().map(relocate).collect()
    }

    /// The attributes of the code with new pcs, without the `StackMapTable`. The line table also
    /// gets the lines of the stubs.
    fn relocated_attributes<'m>(
        &self,
        method: &ScannedMethod<'m>,
        stubs: &[u16],
        pool: &ConstantPool,
    ) -> Result<Vec<Attribute<'m>>, Refusal> {
        let code = method.code;
        let lines: Vec<(u16, u16)> = std::iter::once(method.entry)
            .chain(self.code.exits.iter().copied())
            .zip(stubs)
            .filter_map(|(pc, stub)| Some((*stub, source_line(code, pool, pc)?)))
            .collect();
        let kept = code
            .attributes
            .iter()
            .filter(|a| !a.is(pool, "StackMapTable"));
        let mut attributes: Vec<Attribute> = kept.cloned().collect();
        let map = |pc: u16| self.code.new_target(usize::from(pc)).unwrap_or(0);
        let length = code.code.len() as u16;
        remap_code_attributes(&mut attributes, pool, length, &map, &|e| e)?;
        append_lines(&mut attributes, pool, &lines);
        Ok(attributes)
    }

    /// Appends the frames of the stubs. The entry's stub has the parameters, and the version on the
    /// stack. An exit's stub has only the value to return.
    fn push_stub_frames(
        &self,
        stack_map: &mut StackMap,
        method: &ScannedMethod,
        stubs: &StubPcs,
        pool: &mut ConstantPool,
    ) -> Result<(), Refusal> {
        let parameters = &method.parameters;
        let points = stubs.starts.len();
        let extra = method.last_frame.extra.filter(|_| !method.constructor);
        let mut locals = None;
        if extra != Some(0) {
            locals = Some(verification_types(parameters, pool)?);
        }
        let version = object("Ljava/lang/Object;", pool, true)?;
        let value = match parameters.result {
            b'V' => None,
            b'J' => Some(vec![4]),
            b'F' => Some(vec![2]),
            b'D' => Some(vec![3]),
            b'L' | b'[' => Some(object(method.result(), pool, points > 1)?),
            _ => Some(vec![1]),
        };
        let locals = locals.map(|types| (parameters.count, types));
        stack_map.push_entry(stubs.starts[0], locals, &version);
        let mut before = parameters.count;
        for stub in &stubs.starts[1..] {
            stack_map.push_exit(*stub, before, value.as_deref());
            before = 0;
        }
        if points > 2 {
            stack_map.push_exit_tail(stubs.exit_tail, value.as_deref());
        }
        Ok(())
    }
}

/// The length in bytes of the instruction at a pc. Returns `None` if the full path must handle the
/// instruction: a subroutine, a switch, a monitor, a wide form, or an instruction in a longer form
/// than necessary. The full path writes the shortest form.
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
        JSR | RET | TABLESWITCH | LOOKUPSWITCH | MONITORENTER | MONITOREXIT | WIDE | GOTO_W
        | JSR_W => return None,
        0..=JSR_W => (1, true),
        _ => return None,
    };
    shortest.then_some(length)
}

/// Emits the stub of point 0: calls the current version with the parameters, and returns its
/// result. References in the parameters are set to null before the call.
fn emit_entry_stub(out: &mut Vec<u8>, method: &ScannedMethod, constants: &BodyConstants) {
    let loads = &method.parameters.loads;
    out.push(INVOKESTATIC);
    out.extend(constants.cast.to_be_bytes());
    for (op, slot) in loads {
        local(out, *op, *slot);
    }
    for (_, slot) in loads.iter().filter(|l| l.0 == ALOAD) {
        out.push(ACONST_NULL);
        local(out, ASTORE, *slot);
    }
    out.push(INVOKEVIRTUAL);
    out.extend(constants.enter.to_be_bytes());
    out.push(method.return_op());
}

fn u2(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// The offset of the branch at this pc, or `None` if the instruction is not a branch.
fn branch_offset(code: &[u8], at: u16) -> Option<u16> {
    let at = usize::from(at);
    match *code.get(at)? {
        IFEQ..=GOTO | IFNULL | IFNONNULL => u2(code, at + 1),
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
