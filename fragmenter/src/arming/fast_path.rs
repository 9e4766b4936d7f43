//! The fast path of arming: copies a method's code and inserts the checks, after two linear passes
//! over the code.
//!
//! 1. `code_scan.rs` finds the instructions and the starts of fragments.
//! 2. `typed_scan.rs` follows the *kinds* of values. Kinds suffice because a stub passes references
//!    as `Object`, and its stack map says so.
//! 3. `block_graph.rs` finds loop headers, live variables and held monitors, if points need them.
//! 4. `fast_points.rs` chooses the points.
//! 5. `splice.rs` copies the code.
//!
//! The full path handles unusual code:
//!
//! - a subroutine, a wide jump, a `switch` at the end, or an instruction in a longer form than
//!   necessary;
//! - more than 64 local variables, an irreducible cycle, or a branch before `super(…)`;
//! - a method of a class that may ask for its caller, which is refused by name;
//! - damaged code, which is refused by name.
//!
//! The output has the same code and tables as that of the full path, because versions are emitted
//! for the layout of the full path. Only the numbers of constants may differ.

use super::block_graph::{BlockGraph, MAX_LOCALS};
use super::class_constants::ClassConstants;
use super::code_scan::CodeScan;
use super::fast_points::{FastPoint, FastPoints, PointScan};
use super::layout::{BodyConstants, CHECK_BYTES, ENTRY_CHECK_BYTES};
use super::parameters::Parameters;
use super::splice::{self, Original, Splice};
use super::stackmap_relocation::{EncodedType, OBJECT, StackMap};
use super::typed_scan::{ScannedCode, TypedScan};
use super::word::Word;
use crate::arming::abstract_state::MemberEffects;
use crate::bytecode::opcode::ALOAD;
use crate::classfile::{
    Attribute, ClassFile, ClassFileError, Code, ConstantPool, ExceptionRange, Member, PoolEntry,
    remap_code_attributes, text,
};
use crate::hotspot::{MAX_COMPILED_BYTES, MAX_INLINE_BYTES};
use crate::osr_exit::{EMPTY_FRAME_INDEX, ExitForm, add_index, run_lengths};
use crate::points::PointKind;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::runtime;
use veneer_names::MethodId;

/// Longest code in bytes that the fast path accepts. The branches of a much longer armed body could
/// exceed their 16-bit offsets.
const MAX_FAST_PATH_BYTES: usize = 16_000;

/// The fast path for the methods of one class: facts about the class, and buffers that are reused
/// for each method.
pub(super) struct FastPath<'f> {
    file: &'f ClassFile<'f>,
    class: &'f str,
    class_bytes: &'f [u8],
    members: MemberEffects<'f>,
    constants: ClassConstants<'f>,
    /// Whether a method of the class may call `getCallerClass`.
    may_find_caller: bool,
    scan: CodeScan,
    types: TypedScan,
    graph: BlockGraph,
    points: FastPoints,
    splice: Splice,
    /// Code that is written only to measure it.
    trial: Vec<u8>,
    rows: Vec<ExceptionRange>,
    moved_rows: Vec<u16>,
}

/// The method that is armed, and how.
pub(super) struct FastRequest<'r> {
    pub policy: &'r Policy,
    /// The id of the method's cell.
    pub id: MethodId,
    /// Internal name of the class's anchor.
    pub anchor: &'r str,
    /// Whether the method may exceed the inlining limit.
    pub forced: bool,
}

/// The result of the fast path for one method.
pub(super) struct FastMethod {
    /// The content of the armed `Code` attribute.
    pub code: Vec<u8>,
    /// Descriptor of the call of the method's versions.
    pub entry: String,
    /// Positions at which the policy asks for a point but no point is possible.
    pub skipped: Vec<(u16, Refusal)>,
}

/// Why the fast path does not arm a method.
pub(super) enum Declined {
    /// The full path must handle the method.
    Unusual,
    /// The method is refused.
    Refused(Refusal),
}

/// A method that the scans accepted.
struct AcceptedMethod<'m, 'f> {
    code: &'m Code<'m>,
    parameters: Parameters<'f>,
    constructor: bool,
    object_slots: u64,
}

impl AcceptedMethod<'_, '_> {
    fn original<'s>(&'s self, scan: &'s CodeScan) -> Original<'s> {
        Original {
            bytes: &self.code.code,
            max_locals: self.code.max_locals,
            scan,
            parameters: &self.parameters,
            object_slots: self.object_slots,
            casts: self.parameters.result_class().is_some(),
        }
    }
}

impl<'f> FastPath<'f> {
    /// Prepares the fast path for the class with this internal name.
    pub fn new(file: &'f ClassFile<'f>, class: &'f str) -> FastPath<'f> {
        let is_get_caller_class = |i: u16| matches!(file.pool.entry(i), Ok(PoolEntry::Utf8(text)) if text == b"getCallerClass");
        FastPath {
            file,
            class,
            class_bytes: file
                .pool
                .class_name_bytes(file.this_class)
                .unwrap_or_default(),
            members: MemberEffects::new(&file.pool),
            constants: ClassConstants::new(&file.pool, file.this_class),
            may_find_caller: file.pool.indices().any(is_get_caller_class),
            scan: CodeScan::default(),
            types: TypedScan::default(),
            graph: BlockGraph::default(),
            points: FastPoints::default(),
            splice: Splice::default(),
            trial: Vec::new(),
            rows: Vec::new(),
            moved_rows: Vec::new(),
        }
    }

    /// Arms a method, if the fast path can. Constants that a failed attempt left in the pool are
    /// never referred to.
    pub fn arm(
        &mut self,
        member: &Member,
        info: &[u8],
        request: &FastRequest,
        pool: &mut ConstantPool,
    ) -> Result<FastMethod, Declined> {
        // The full path refuses damaged code by name.
        let code = Code::parse(info).map_err(|_| Declined::Unusual)?;
        let method = self
            .scan(member, &code, request.policy, pool)
            .ok_or(Declined::Unusual)?;
        self.select_points(&method, request.forced)?;
        let constants = self.add_constants(&method, member, request, pool);
        let (constants, entry) = constants.map_err(|_| Declined::Unusual)?;
        let code = self
            .write(&method, &constants, pool)
            .ok_or(Declined::Unusual)?;
        let skipped = std::mem::take(&mut self.points.skipped);
        Ok(FastMethod {
            code,
            entry: text::decode(&entry).into_owned(),
            skipped,
        })
    }

    /// Scans a method and chooses its points. Returns `None` if the full path must handle it.
    fn scan<'m>(
        &mut self,
        member: &Member,
        code: &'m Code<'m>,
        policy: &Policy,
        pool: &ConstantPool,
    ) -> Option<AcceptedMethod<'m, 'f>> {
        let file = self.file;
        let name = file.pool.utf8(member.name).ok()?;
        let descriptor = file.pool.utf8(member.descriptor).ok()?;
        let eligible = !self.may_find_caller
            && name != b"fillInStackTrace"
            && code.code.len() <= MAX_FAST_PATH_BYTES
            && code.max_locals <= MAX_LOCALS
            && pool.count() < crate::types::POOL_LIMIT;
        eligible.then_some(())?;
        let is_static = member.access & crate::method::access::STATIC != 0;
        let constructor = name == b"<init>" && self.class != "java/lang/Object";
        let parameters = Parameters::parse(descriptor, is_static)?;
        if parameters.words > 255 || parameters.words > code.max_locals {
            return None;
        }
        let mut is_cut = |op: u8, index: u16| policy.cuts_call(op, index, &file.pool);
        self.scan.read(&code.code, &code.exceptions, &mut is_cut)?;
        let mut maps = code.attributes.iter();
        let stack_map = maps.find(|a| a.is(&file.pool, "StackMapTable"));
        let scanned = ScannedCode {
            bytes: &code.code,
            max_stack: code.max_stack,
            max_locals: code.max_locals,
            stack_map: stack_map.map(|a| &*a.info),
            parameters: &parameters,
            constructor,
        };
        let needs_graph = self.needs_graph(code, policy);
        self.graph.blocks.clear();
        if needs_graph {
            self.graph.split(&self.scan);
            self.graph.connect(&code.code, &self.scan, &code.exceptions);
        }
        let blocks = &mut self.graph.blocks;
        self.types
            .read(&scanned, &self.scan, blocks, &mut self.members)?;
        if needs_graph {
            self.graph.solve_liveness();
        }
        let method = PointScan {
            bytes: &code.code,
            exceptions: &code.exceptions,
            scan: &self.scan,
            types: &self.types,
            parameters: &parameters,
            policy,
            constructor,
        };
        self.points.choose(&method, &mut self.graph)?;
        let mut object_slots = self.types.object_stores | u64::from(name == b"<init>");
        for (_, slot) in parameters.loads.iter().filter(|l| l.0 == ALOAD) {
            object_slots |= 1 << slot;
        }
        Some(AcceptedMethod {
            code,
            parameters,
            constructor,
            object_slots,
        })
    }

    /// Whether points depend on the flow graph.
    fn needs_graph(&self, code: &Code, policy: &Policy) -> bool {
        let scan = &self.scan;
        let fragments = match policy {
            Policy::Method => false,
            Policy::Loop | Policy::Call(_) => scan.goes_back || scan.is_cut,
            Policy::Block => true,
        };
        // Before a return that a handler protects, the values that the handler reads are live.
        fragments || scan.enters_monitor || scan.calls && !code.exceptions.is_empty()
    }

    /// Selects the points so that the armed body remains within HotSpot's limits; see
    /// [`super::layout::select_points`].
    fn select_points(&mut self, method: &AcceptedMethod, forced: bool) -> Result<(), Declined> {
        let before = method.code.code.len();
        let crosses = |limit: usize, size: usize| before <= limit && size > limit;
        if !crosses(MAX_INLINE_BYTES, self.max_size(method))
            && !crosses(MAX_COMPILED_BYTES, self.max_size(method))
        {
            return Ok(());
        }
        let is_exit = |p: &FastPoint| p.kind == PointKind::Exit;
        let mut size = self.measure(method)?;
        let fits = |size| !crosses(MAX_INLINE_BYTES, size) && !crosses(MAX_COMPILED_BYTES, size);
        if fits(size) {
            return Ok(());
        }
        if self.points.points.iter().any(is_exit) {
            self.points.points.retain(|p| !is_exit(p));
            size = self.measure(method)?;
            if fits(size) {
                return Ok(());
            }
        }
        if self.points.points.iter().any(|p| !p.is_needed) {
            let all = self.points.points.clone();
            self.points.points.retain(|p| p.is_needed);
            if fits(self.measure(method)?) {
                return Ok(());
            }
            self.points.points = all;
        }
        if crosses(MAX_COMPILED_BYTES, size) {
            return Err(Declined::Refused(Refusal::CompileLimit(before, size)));
        }
        if forced {
            Ok(())
        } else {
            Err(Declined::Refused(Refusal::InlineLimit(before, size)))
        }
    }

    /// Upper bound for the size of the armed body in bytes.
    fn max_size(&self, method: &AcceptedMethod) -> usize {
        let points = &self.points;
        let most = |p: &FastPoint| {
            let values = points.operands(p).len() + points.locals(p).len();
            match p.form {
                ExitForm::Entry => usize::from(ENTRY_CHECK_BYTES) + 7 + 9 * values,
                ExitForm::Return => usize::from(CHECK_BYTES) + 6,
                ExitForm::Frame => usize::from(CHECK_BYTES) + 9 + 11 * values,
            }
        };
        let slots = method.object_slots.count_ones() as usize;
        let shared = 20 + 5 * (slots + usize::from(method.code.max_stack));
        let points: usize = points.points.iter().map(most).sum();
        method.code.code.len() + points + shared + 3 * self.scan.switches
    }

    /// The size of the armed body in bytes.
    fn measure(&mut self, method: &AcceptedMethod) -> Result<usize, Declined> {
        self.trial.clear();
        let original = method.original(&self.scan);
        let none = BodyConstants::default();
        self.splice
            .write(original, &self.points, &none, &mut self.trial)
            .ok_or(Declined::Unusual)?;
        Ok(self.trial.len())
    }

    /// Adds the constants of the armed body to the pool. Also returns the descriptor of the call of
    /// the method's versions.
    fn add_constants(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        member: &Member,
        request: &FastRequest,
        pool: &mut ConstantPool,
    ) -> Result<(BodyConstants, Vec<u8>), ClassFileError> {
        let file = self.file;
        let (constants, points) = (&mut self.constants, &self.points);
        let parameters = &method.parameters;
        let mut body = BodyConstants::default();
        body.exit.cell = constants.cell(pool, request.anchor, request.id)?;
        (body.version, body.leave) = (constants.version, constants.leave);
        let is_static = member.access & crate::method::access::STATIC != 0;
        let descriptor = (member.descriptor, is_static);
        if parameters.is_site() {
            constants.has_own_site(descriptor);
        }
        let site = parameters.site(self.class_bytes);
        let name = runtime::enter_method(&file.pool.text(member.name)?, request.id);
        (body.cast, body.enter) =
            constants.enter(pool, request.anchor, name.as_bytes(), descriptor, &site)?;
        let has = |form: ExitForm| points.points.iter().any(|p| p.form == form);
        let leaves = (has(ExitForm::Frame), has(ExitForm::Return));
        if leaves == (false, false) {
            return Ok((body, site));
        }
        constants.add_leaving(pool, leaves, parameters.result, &mut body.exit)?;
        if let Some(class) = parameters.result_class() {
            body.exit.class = constants.class(class, pool)?;
        }
        let framed = points.points.iter().filter(|p| p.form == ExitForm::Frame);
        for p in framed {
            let mut runs = run_lengths(points.kinds(p));
            let first = runs
                .next()
                .map_or(EMPTY_FRAME_INDEX, |(kind, n)| add_index(kind, n));
            body.exit.frame_of[first] = constants.frame_of(pool, first)?;
            for (kind, n) in runs {
                let index = add_index(kind, n);
                body.exit.frame_add[index] = constants.frame_add(pool, index)?;
            }
        }
        Ok((body, site))
    }

    /// Writes the content of the armed `Code` attribute. Returns `None` if the full path must handle
    /// the method.
    fn write(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        constants: &BodyConstants,
        pool: &mut ConstantPool,
    ) -> Option<Vec<u8>> {
        let code = method.code;
        let points = &self.points;
        let added = 64 * points.points.len() + 128;
        let mut out = Vec::with_capacity(code.code.len() * 2 + added + 512);
        let max_stack = code
            .max_stack
            .max(splice::stack_words(points, &method.parameters));
        out.extend(max_stack.to_be_bytes());
        let max_locals = code.max_locals.checked_add(splice::spill_words(points))?;
        out.extend(max_locals.to_be_bytes());
        out.extend([0; 4]);
        let begin = out.len();
        let original = method.original(&self.scan);
        self.splice.write(original, points, constants, &mut out)?;
        let length = (out.len() - begin) as u32;
        out[begin - 4..begin].copy_from_slice(&length.to_be_bytes());
        self.write_ranges(code, &mut out)?;
        self.write_attributes(method, pool, &mut out)?;
        Some(out)
    }

    fn write_ranges(&mut self, code: &Code, out: &mut Vec<u8>) -> Option<()> {
        let (rows, moved) = (&mut self.rows, &mut self.moved_rows);
        let points = &self.points.points;
        self.splice
            .relocate_ranges(&code.exceptions, points, rows, moved);
        out.extend(u16::try_from(rows.len()).ok()?.to_be_bytes());
        for row in rows {
            for number in [row.start, row.end, row.handler, row.catch_type] {
                out.extend(number.to_be_bytes());
            }
        }
        Some(())
    }

    /// Writes the attributes of the code with new pcs. The line table also gets the lines of the
    /// stubs, and the stack map gets their frames.
    fn write_attributes(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        pool: &mut ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let code = method.code;
        let count_at = out.len();
        out.extend([0, 0]);
        let mut count = 0u16;
        let mut stack_map = None;
        let mut has_lines = false;
        let file = self.file;
        for attribute in &code.attributes {
            match file.pool.utf8(attribute.name).ok()? {
                b"StackMapTable" => {
                    // The JVM accepts one table.
                    stack_map.is_none().then_some(())?;
                    stack_map = Some(attribute);
                    continue;
                }
                b"LineNumberTable" => {
                    begin_attribute(out, attribute.name, |out| {
                        self.write_lines(code, &attribute.info, !has_lines, out)
                    })?;
                    has_lines = true;
                }
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    begin_attribute(out, attribute.name, |out| {
                        self.write_variables(code, &attribute.info, out)
                    })?;
                }
                _ => begin_attribute(out, attribute.name, |out| {
                    self.write_other(code, attribute, pool, out)
                })?,
            }
            count = count.checked_add(1)?;
        }
        let name = match stack_map {
            Some(attribute) => attribute.name,
            None => self.constants.stack_map_name(pool).ok()?,
        };
        let info = stack_map.map(|a| &*a.info);
        begin_attribute(out, name, |out| {
            self.write_stack_map(method, info, pool, out)
        })?;
        out[count_at..count_at + 2].copy_from_slice(&count.checked_add(1)?.to_be_bytes());
        Some(())
    }

    /// The new pc to which a branch to this pc leads. `None` if no instruction starts there.
    fn new_target(&self, pc: usize) -> Option<u16> {
        let to = self.splice.targets.get(pc).copied();
        to.filter(|to| *to != super::stackmap_relocation::NO_PC)
    }

    /// Writes a `LineNumberTable` with new pcs. If `stubs` is true, the lines of the stubs follow.
    fn write_lines(&self, code: &Code, info: &[u8], stubs: bool, out: &mut Vec<u8>) -> Option<()> {
        let (count, rows) = info.split_first_chunk::<2>()?;
        let mut count = u16::from_be_bytes(*count);
        (rows.len() == 4 * usize::from(count)).then_some(())?;
        let at = out.len();
        out.extend([0, 0]);
        for row in rows.chunks_exact(4) {
            let start = usize::from(u16::from_be_bytes([row[0], row[1]]));
            (start < code.code.len()).then_some(())?;
            out.extend(self.new_target(start).unwrap_or(0).to_be_bytes());
            out.extend_from_slice(&row[2..]);
        }
        if stubs {
            for (p, stub) in self.points.points.iter().zip(&self.splice.stubs) {
                let Some(line) = source_line(code, &self.file.pool, p.pc) else {
                    continue;
                };
                out.extend(stub.to_be_bytes());
                out.extend(line.to_be_bytes());
                count = count.checked_add(1)?;
            }
        }
        out[at..at + 2].copy_from_slice(&count.to_be_bytes());
        Some(())
    }

    /// Writes a `LocalVariableTable` or `LocalVariableTypeTable` with new pcs.
    fn write_variables(&self, code: &Code, info: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (count, rows) = info.split_first_chunk::<2>()?;
        (rows.len() == 10 * usize::from(u16::from_be_bytes(*count))).then_some(())?;
        out.extend(count);
        for row in rows.chunks_exact(10) {
            let start = usize::from(u16::from_be_bytes([row[0], row[1]]));
            let end = start + usize::from(u16::from_be_bytes([row[2], row[3]]));
            (end <= code.code.len()).then_some(())?;
            let new_start = self.new_target(start).unwrap_or(0);
            let new_end = self.new_target(end).unwrap_or(0);
            out.extend(new_start.to_be_bytes());
            out.extend(new_end.checked_sub(new_start)?.to_be_bytes());
            out.extend_from_slice(&row[4..]);
        }
        Some(())
    }

    /// Writes another attribute with new pcs.
    fn write_other(
        &self,
        code: &Code,
        attribute: &Attribute,
        pool: &ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let map = |pc: u16| self.new_target(usize::from(pc)).unwrap_or(0);
        let row = |e: u16| self.moved_rows.get(usize::from(e)).copied().unwrap_or(e);
        let mut one = vec![attribute.clone()];
        let length = code.code.len() as u16;
        remap_code_attributes(&mut one, pool, length, &map, &row).ok()?;
        out.extend_from_slice(&one[0].info);
        Some(())
    }

    /// Writes the stack map with new pcs and with the frames of the stubs.
    fn write_stack_map(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        info: Option<&[u8]>,
        pool: &mut ConstantPool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let (targets, new_pcs) = (&self.splice.targets, &self.splice.new_pcs);
        let mut map = StackMap::relocated(info, targets, new_pcs, out)?;
        let parameters = &method.parameters;
        let constants = &mut self.constants;
        let object = constants.object(pool).ok()?;
        let last_frame = self.types.last_frame.filter(|_| !method.constructor);
        let types = (last_frame != Some(0)).then_some(|out: &mut Vec<u8>| {
            out.extend((parameters.loads.len() as u16).to_be_bytes());
            parameters.write_types(out, constants, pool)
        });
        let stubs = &self.splice.stubs;
        map.push_entry(out, *stubs.first()?, types, object).ok()?;
        let before = parameters.loads.len();
        let encoded = |word: Word| -> EncodedType {
            match word.tag() {
                OBJECT => (OBJECT, object),
                tag => (tag, 0),
            }
        };
        let (mut locals, mut stack) = (Vec::new(), Vec::new());
        let last = |form: ExitForm| {
            let points = &self.points.points;
            points.iter().rposition(|p| p.form == form)
        };
        let (last_frame, last_return) = (last(ExitForm::Frame), last(ExitForm::Return));
        let has_return_jumps = self
            .points
            .points
            .iter()
            .position(|p| p.form == ExitForm::Return)
            != last_return;
        for (n, (p, stub)) in self.points.points.iter().zip(stubs).enumerate().skip(1) {
            locals.clear();
            let mut slot = 0;
            for value in self.points.locals(p) {
                while slot < value.slot {
                    locals.push((Word::TOP.tag(), 0));
                    slot += 1;
                }
                locals.push(encoded(value.word));
                slot += value.word.width();
            }
            stack.clear();
            stack.extend(self.points.operands(p).iter().map(|v| encoded(v.word)));
            map.push(out, *stub, before, &locals, &stack);
            if let Some(tail) = self.splice.return_tail
                && Some(n) == last_return
                && has_return_jumps
            {
                stack.push(encoded(Word::INT));
                map.push(out, tail, before, &[], &stack);
            }
            if let Some(tail) = self.splice.frame_tail
                && Some(n) == last_frame
            {
                let frame = self.constants.frame(pool).ok()?;
                map.push(out, tail, before, &[], &[(OBJECT, frame)]);
            }
        }
        map.finish(out);
        Some(())
    }
}

/// Writes the name, the length and the content of an attribute.
fn begin_attribute(
    out: &mut Vec<u8>,
    name: u16,
    content: impl FnOnce(&mut Vec<u8>) -> Option<()>,
) -> Option<()> {
    out.extend(name.to_be_bytes());
    out.extend([0; 4]);
    let begin = out.len();
    content(out)?;
    let length = u32::try_from(out.len() - begin).ok()?;
    out[begin - 4..begin].copy_from_slice(&length.to_be_bytes());
    Some(())
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
