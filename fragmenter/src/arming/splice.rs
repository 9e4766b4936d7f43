//! Arming without analysis: most methods have no place to be left but their start and their returns, and there nothing has
//! to be known of them but how deep the stack is. Their code is copied with the checks put in between.
//!
//! ```text
//!     original   │ … code … │ ireturn │ … code … │ ireturn │
//!                ▼          ▼         ▼
//!     armed  ┌check┬ … code … ┬check┬ ireturn │ … │ stub 0 │ stub 1 │ …      each branch over an insertion grows by it
//! ```
//!
//! Whatever asks for more (a loop under a policy that cuts at loops, a monitor, a `switch`, a return that an exception handler protects,
//! instructions in longer forms than necessary, a size near HotSpot's limits) is left to the full way, and so is everything
//! that is strange. What is done here comes out byte for byte as there: versions are emitted for the layout that the full way gives.

use super::layout::CHECK_BYTES;
use super::moved_frames::{Frames, Shape, StackMap};
use super::parameters::{
    Parameters, entry_stub_bytes, exit_stub_bytes, local, object, types, width,
};
use super::steps::{Members, UNKNOWN, deltas, is_store};
use super::{COMPILE_LIMIT, INLINE_LIMIT};
use crate::bytecode::opcode::*;
use crate::capture;
use crate::classfile::{
    Attribute, ClassFile, Code, ConstantPool, Entry, ExceptionRange, Member, remap_code_attributes,
};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::runtime;

/// Longer code is left to the full way: here no branch and no check can come to reach too far.
const LONGEST: usize = 16_000;
/// No place.
pub(super) const NOWHERE: u16 = u16::MAX;

/// What is the same for all methods of a class, and room that is used again.
pub(super) struct Splicer<'f> {
    file: &'f ClassFile<'f>,
    class: &'f str,
    members: Members<'f>,
    /// Something in the class may ask the JVM who calls it.
    asks: bool,
    /// `VeneerCell.on` and `VeneerCell.leave`.
    checks: Option<(u16, u16)>,
    code: Scratch,
}

/// By pc of the original, up to and including its length.
#[derive(Default)]
struct Scratch {
    /// Where a branch to it goes now.
    labels: Vec<u16>,
    /// Where the instruction itself begins now, behind a check.
    moved: Vec<u16>,
    /// Where instructions begin, in order.
    starts: Vec<u16>,
    /// The returns that get a check.
    exits: Vec<u16>,
    /// Depth of the stack in words at the frames of the stack map.
    depths: Vec<(u16, u16)>,
}

/// What the scan of the code found.
struct Scan {
    /// Point 0 stands before this instruction.
    entry: u16,
}

impl<'f> Splicer<'f> {
    /// For a class whose internal name is this.
    pub fn new(file: &'f ClassFile<'f>, class: &'f str) -> Splicer<'f> {
        let asks = |i: u16| matches!(file.pool.entry(i), Ok(Entry::Utf8(text)) if text == b"getCallerClass");
        Splicer {
            file,
            class,
            members: Members::new(&file.pool),
            asks: file.pool.indices().any(asks),
            checks: None,
            code: Scratch::default(),
        }
    }

    /// The armed `Code` of a method and the descriptor of the call of its versions, if this fast path can arm it. The pool is changed
    /// only then.
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
        // What is damaged is refused by name elsewhere.
        let Ok(code) = &Code::parse(info) else {
            return Ok(None);
        };
        let plain = matches!(policy, Policy::Loop | Policy::Method)
            && !self.asks
            && name != b"fillInStackTrace"
            && code.code.len() <= LONGEST
            && pool.count() < crate::types::POOL_LIMIT;
        if !plain {
            return Ok(None);
        }
        let is_static = member.access & crate::method::access::STATIC != 0;
        let constructor = name == b"<init>" && self.class != "java/lang/Object";
        let Some(parameters) = Parameters::of(self.class, descriptor, is_static) else {
            return Ok(None);
        };
        if parameters.words > 255 || parameters.words > code.max_locals {
            return Ok(None);
        }
        let map = code
            .attributes
            .iter()
            .find(|a| a.is(&self.file.pool, "StackMapTable"));
        let Some(shape) = self.depths(map.map(|a| &*a.info), code.code.len()) else {
            return Ok(None);
        };
        let loops = matches!(policy, Policy::Loop);
        let Some(scan) = self.scan(code, constructor, loops, &parameters) else {
            return Ok(None);
        };
        if !self.ranges_allow(code, scan.entry, constructor) || !self.fits(code, &parameters) {
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
            shape,
            map,
            pool,
        )
    }

    /// Notes how deep the stack is at each frame. Gives how many locals more than at entry the last frame has, if it builds on the
    /// frame at entry.
    fn depths(&mut self, map: Option<&[u8]>, length: usize) -> Option<Shape> {
        self.code.depths.clear();
        let mut shape = Shape {
            extra: Some(0),
            last: None,
        };
        let Some(info) = map else { return Some(shape) };
        let mut frames = Frames::new(info)?;
        while let Some(frame) = frames.next()? {
            if usize::from(frame.pc) >= length {
                return None;
            }
            self.code.depths.push((frame.pc, frame.depth));
            shape.last = Some(frame.pc);
            shape.extra = match frame.form {
                248..=250 => shape
                    .extra
                    .and_then(|n| n.checked_sub(251 - u16::from(frame.form))),
                252..=254 => shape.extra.map(|n| n + u16::from(frame.form) - 251),
                255 => None,
                _ => shape.extra,
            };
        }
        Some(shape)
    }

    /// Goes through the code once. `None` where the full way has to be taken.
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
                    // What fits a shorter form is written so by the full way.
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
                    let words = self.members.of(index)?;
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
                    if entry.is_none() && op == INVOKESPECIAL && self.constructs(index)? {
                        // What came before made no object and went one way, so this is the object itself.
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
                // Subroutines, switches, monitors, wide forms.
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
                UNKNOWN => return None,
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

    /// Whether the member is a constructor; `None` where it is one of a class that `super(…)` and `this(…)` cannot mean.
    fn constructs(&self, index: u16) -> Option<bool> {
        let pool = &self.file.pool;
        let member = pool.member(index).ok()?;
        if pool.utf8(member.name).ok()? != b"<init>" {
            return Some(false);
        }
        let class = pool.class_name(member.class).ok()?;
        let ours = class == self.class || self.file.super_name().ok()?.is_some_and(|s| s == class);
        ours.then_some(true)
    }

    /// Exception handlers neither protect a place with a check, nor close a cycle, nor reach before point 0.
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

    /// The armed body stays on the same side of HotSpot's limits, and branches lead to instructions.
    fn fits(&self, code: &Code, parameters: &Parameters) -> bool {
        let before = code.code.len();
        // At least the sum of `most_bytes` over the points.
        let entry = usize::from(CHECK_BYTES) + 9 * parameters.loads.len() + 10;
        let most = before + entry + self.code.exits.len() * (usize::from(CHECK_BYTES) + 13);
        let crosses = |limit: usize| before <= limit && most > limit;
        !crosses(INLINE_LIMIT) && !crosses(COMPILE_LIMIT) && most < 2 * LONGEST
    }

    #[allow(clippy::too_many_arguments)]
    fn write(
        &mut self,
        code: &Code,
        scan: &Scan,
        constructor: bool,
        parameters: &Parameters,
        (id, anchor, name): (u32, &str, &str),
        shape: Shape,
        map: Option<&Attribute>,
        pool: &mut ConstantPool,
    ) -> Result<Option<(Vec<u8>, String)>, Refusal> {
        let bytes = &*code.code;
        let length = bytes.len();
        let points = 1 + self.code.exits.len();
        // Where everything comes to lie.
        let Scratch {
            labels,
            moved,
            starts,
            exits,
            ..
        } = &mut self.code;
        for places in [&mut *labels, &mut *moved] {
            places.clear();
            places.resize(length + 1, NOWHERE);
        }
        let (mut at, mut next_exit) = (0u16, 0);
        for (n, start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).map_or(length, |next| usize::from(*next));
            let place = usize::from(*start);
            let exit = exits.get(next_exit) == Some(start);
            next_exit += usize::from(exit);
            // What branches to point 0 has long begun; what branches to a return is checked.
            let before = *start == scan.entry;
            at += if before { CHECK_BYTES } else { 0 };
            labels[place] = at;
            at += if exit { CHECK_BYTES } else { 0 };
            moved[place] = at;
            at += (end - place) as u16;
        }
        labels[length] = at;
        let first_stub = at;
        // A branch into the middle of an instruction: the full way refuses it by name.
        let target = |pc: u16, offset: u16| {
            let to = i32::from(pc) + i32::from(offset as i16);
            usize::try_from(to)
                .ok()
                .and_then(|to| labels.get(to))
                .copied()
                .filter(|to| *to != NOWHERE)
        };
        for start in starts.iter() {
            if let Some(offset) = branch(bytes, *start)
                && target(*start, offset).is_none()
            {
                return Ok(None);
            }
        }
        let Some(mut table) = StackMap::shifted(map.map(|a| &*a.info), labels, moved) else {
            return Ok(None);
        };
        // From here on the pool is changed, in the order of the full way.
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
            capture::Refs::returns(pool, cell, parameters.result, class)?
        } else {
            capture::Refs::default()
        };
        // The code, then the stubs.
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
            if let Some(to) = branch(bytes, *start).and_then(|offset| target(*start, offset)) {
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
                // Filled in once the place of the tail is known.
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
        // Attributes.
        let exceptions = code.exceptions.iter().map(|e| ExceptionRange {
            start: moved[usize::from(e.start)],
            end: labels[usize::from(e.end)] - if e.end == scan.entry { CHECK_BYTES } else { 0 },
            handler: labels[usize::from(e.handler)],
            catch_type: e.catch_type,
        });
        let exceptions = exceptions.collect();
        let lines: Vec<(u16, u16)> = std::iter::once(scan.entry)
            .chain(exits.iter().copied())
            .zip(&stubs)
            .filter_map(|(pc, stub)| Some((*stub, line(code, pool, pc)?)))
            .collect();
        let kept = code
            .attributes
            .iter()
            .filter(|a| !a.is(pool, "StackMapTable"));
        let mut attributes: Vec<Attribute> = kept.cloned().collect();
        let map = |pc: u16| {
            labels
                .get(usize::from(pc))
                .copied()
                .filter(|to| *to != NOWHERE)
                .unwrap_or(0)
        };
        remap_code_attributes(&mut attributes, pool, length as u16, &map, &|e| e)?;
        super::append_lines(&mut attributes, pool, &lines);
        // Frames of the stubs: the parameters and nothing on the stack; nothing but the value to return.
        let extra = shape.extra.filter(|_| !constructor);
        let mut locals = None;
        if extra.is_none_or(|n| n > 3) {
            locals = Some(types(parameters, pool)?);
        }
        let value = match parameters.result {
            b'V' => None,
            b'J' => Some(vec![4]),
            b'F' => Some(vec![2]),
            b'D' => Some(vec![3]),
            b'L' | b'[' => Some(object(result, pool, points > 1)?),
            _ => Some(vec![1]),
        };
        table.entry(stubs[0], extra, parameters.count, locals.as_deref());
        let mut before = parameters.count;
        for stub in &stubs[1..] {
            table.exit(*stub, before, value.as_deref());
            before = 0;
        }
        if points > 2 {
            table.exit_tail(exit_tail as u16, value.as_deref());
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

/// The offset of a branch.
fn branch(code: &[u8], at: u16) -> Option<u16> {
    let at = usize::from(at);
    match *code.get(at)? {
        IFEQ..=GOTO | IFNULL | IFNONNULL => {
            Some(u16::from_be_bytes([*code.get(at + 1)?, *code.get(at + 2)?]))
        }
        _ => None,
    }
}

/// The source line of a pc.
fn line(code: &Code, pool: &ConstantPool, pc: u16) -> Option<u16> {
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
