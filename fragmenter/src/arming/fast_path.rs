//! The fast path of arming: copies a method's code and inserts the checks, after two linear passes
//! over the code.
//!
//! 1. `code_scan.rs` finds the instructions and the starts of fragments.
//! 2. `depth_scan.rs` follows the depth of the operand stack. If points depend on types,
//!    `typed_scan.rs` follows the *kinds* of values instead. Kinds suffice because a stub passes
//!    references as `Object`, and its stack map says so.
//! 3. `block_graph.rs` finds loop headers, live variables and held monitors, if points need them.
//! 4. `fast_points.rs` chooses the points.
//! 5. `splice.rs` copies the code, and `code_attribute.rs` the tables of the code.
//!
//! The full path handles unusual code:
//!
//! - a subroutine, a wide jump, a `switch` at the end, or an instruction in a longer form than
//!   necessary;
//! - an armed body above 32,767 bytes, an irreducible cycle, or a branch before `super(…)`;
//! - more than 64 local variables, if a point carries values of some of them;
//! - a method that calls a `getCallerClass`, which may be refused by name;
//! - a method with an annotation of [`JVM_ANNOTATIONS`], which is refused;
//! - damaged code, which is refused by name.
//!
//! The output has the same code and tables as that of the full path, because versions are emitted
//! for the layout of the full path. Only the numbers of constants may differ.

use super::block_graph::MAX_LOCALS;
use super::class_constants::ClassConstants;
use super::code_scan::CodeScan;
use super::fast_points::{FastPoint, PointScan};
use super::known_names::AttributeKind;
use super::layout::{BodyConstants, CHECK_BYTES, ENTRY_CHECK_BYTES};
use super::parameters::Parameters;
use super::spare_buffers::{self, FastPathBuffers};
use super::splice::Original;
use super::typed_scan::ScannedCode;
use crate::bytecode::opcode::{ALOAD, INVOKESTATIC};
use crate::classfile::{ClassFile, ClassFileError, Code, ConstantPool, Member, annotation_types};
use crate::hotspot::{MAX_COMPILED_BYTES, MAX_INLINE_BYTES};
use crate::method::JVM_ANNOTATIONS;
use crate::osr_exit::{EMPTY_FRAME_INDEX, ExitForm, add_index, run_lengths};
use crate::points::PointKind;
use crate::policy::Policy;
use crate::refusal::Refusal;
use veneer_names::MethodId;

/// Longest code in bytes that the fast path accepts. No branch of a body of this size exceeds its
/// 16-bit offset.
const MAX_FAST_PATH_BYTES: usize = i16::MAX as usize;

/// The fast path for the methods of one class: facts about the class, and reused buffers.
pub(super) struct FastPath<'f> {
    pub file: &'f ClassFile<'f>,
    class: &'f str,
    class_bytes: &'f [u8],
    pub constants: ClassConstants,
    pub buffers: Box<FastPathBuffers>,
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
    /// Index of the descriptor of the call of the method's versions.
    pub entry: u16,
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
pub(super) struct AcceptedMethod<'m, 'f> {
    pub code: &'m Code<'m>,
    pub parameters: Parameters<'f>,
    pub constructor: bool,
    object_slots: u64,
}

impl AcceptedMethod<'_, '_> {
    pub fn original<'s>(&'s self, scan: &'s CodeScan) -> Original<'s> {
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
        let mut buffers = spare_buffers::take();
        buffers.names.read(&file.pool);
        buffers.members.begin(&file.pool);
        buffers.sites.clear();
        let count = usize::from(file.pool.count());
        buffers.sites.resize(count, [0, 0]);
        FastPath {
            file,
            class,
            class_bytes: file
                .pool
                .class_name_bytes(file.this_class)
                .unwrap_or_default(),
            constants: ClassConstants::new(file.this_class, std::mem::take(&mut buffers.classes)),
            buffers,
        }
    }

    /// Keeps the buffers for other classes.
    pub fn finish(self) {
        let mut buffers = self.buffers;
        buffers.classes = self.constants.into_table();
        spare_buffers::put(buffers);
    }

    /// Whether an attribute of a method is its code.
    pub fn is_code(&self, name: u16) -> bool {
        self.buffers.names.kind(name) == AttributeKind::Code
    }

    /// Arms a method, if the fast path can, and appends the content of its `Code` attribute to
    /// `out`. Constants that a failed attempt left in the pool are never referred to.
    pub fn arm(
        &mut self,
        member: &Member,
        info: &[u8],
        request: &FastRequest,
        (pool, out): (&mut ConstantPool, &mut Vec<u8>),
    ) -> Result<FastMethod, Declined> {
        // The full path refuses damaged code by name.
        let code = Code::parse(info).map_err(|_| Declined::Unusual)?;
        let method = self
            .scan(member, &code, request.policy, pool)
            .ok_or(Declined::Unusual)?;
        self.select_points(&method, request.forced)?;
        let constants = self.add_constants(&method, member, request, pool);
        let (constants, entry) = constants.map_err(|_| Declined::Unusual)?;
        let begin = out.len();
        if self.write(&method, &constants, pool, out).is_none() {
            out.truncate(begin);
            return Err(Declined::Unusual);
        }
        let AcceptedMethod { parameters, .. } = method;
        self.buffers.parameters = (parameters.loads, parameters.kinds);
        let skipped = std::mem::take(&mut self.buffers.points.skipped);
        Ok(FastMethod { entry, skipped })
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
        let eligible = name != b"fillInStackTrace"
            && !(self.buffers.names.may_be_special && has_jvm_annotation(member, &file.pool))
            && code.code.len() <= MAX_FAST_PATH_BYTES
            && pool.count() < crate::types::POOL_LIMIT;
        eligible.then_some(())?;
        let is_static = member.access & crate::method::access::STATIC != 0;
        let constructor = name == b"<init>" && self.class != "java/lang/Object";
        let buffers = &mut *self.buffers;
        let reused = std::mem::take(&mut buffers.parameters);
        let parameters = Parameters::parse(descriptor, is_static, reused)?;
        if parameters.words > 255 || parameters.words > code.max_locals {
            return None;
        }
        let mut is_cut = |op: u8, index: u16| policy.cuts_call(op, index, &file.pool);
        let may_cut = matches!(policy, Policy::Call(_));
        let is_cut: Option<&mut dyn FnMut(u8, u16) -> bool> = match may_cut {
            true => Some(&mut is_cut),
            false => None,
        };
        let scan = &mut buffers.scan;
        scan.read(&code.code, &code.exceptions, is_cut)?;
        if buffers.names.may_find_caller && calls_get_caller(&code.code, scan, &file.pool) {
            return None;
        }
        let mut maps = code.attributes.iter();
        let stack_map = maps.find(|a| buffers.names.kind(a.name) == AttributeKind::StackMap);
        let scanned = ScannedCode {
            bytes: &code.code,
            max_stack: code.max_stack,
            max_locals: code.max_locals,
            stack_map: stack_map.map(|a| &*a.info),
            parameters: &parameters,
            constructor,
            is_protected: !code.exceptions.is_empty(),
            pool: &file.pool,
        };
        let needs_graph = needs_graph(scan, code, policy);
        if needs_graph && code.max_locals > MAX_LOCALS {
            return None;
        }
        let graph = &mut buffers.graph;
        graph.blocks.clear();
        if needs_graph {
            graph.split(scan);
            graph.connect(&code.code, scan, &code.exceptions);
        }
        let (types, members) = (&mut buffers.types, &mut buffers.members);
        if constructor || needs_graph {
            types.read(&scanned, scan, &mut graph.blocks, members)?;
        } else {
            types.read_depths(&scanned, scan, members)?;
        }
        if needs_graph {
            graph.solve_liveness();
        }
        let method = PointScan {
            bytes: &code.code,
            exceptions: &code.exceptions,
            scan,
            types,
            parameters: &parameters,
            policy,
            constructor,
        };
        buffers.points.choose(&method, graph)?;
        // A set of slots has 64 bits. Only points that carry values need it.
        let carries = |p: &FastPoint| p.form == ExitForm::Frame;
        if code.max_locals > MAX_LOCALS && buffers.points.points.iter().any(carries) {
            return None;
        }
        let mut object_slots = types.object_stores | u64::from(name == b"<init>");
        for (_, slot) in parameters.loads.iter().filter(|l| l.0 == ALOAD) {
            object_slots |= 1u64.checked_shl(u32::from(*slot)).unwrap_or(0);
        }
        Some(AcceptedMethod {
            code,
            parameters,
            constructor,
            object_slots,
        })
    }

    /// Selects the points so that the armed body remains within HotSpot's limits; see
    /// [`super::layout::select_points`].
    fn select_points(&mut self, method: &AcceptedMethod, forced: bool) -> Result<(), Declined> {
        let before = method.code.code.len();
        let crosses = |limit: usize, size: usize| before <= limit && size > limit;
        if before > MAX_COMPILED_BYTES {
            return Ok(());
        }
        let most = self.max_size(method);
        if !crosses(MAX_INLINE_BYTES, most) && !crosses(MAX_COMPILED_BYTES, most) {
            return Ok(());
        }
        let is_exit = |p: &FastPoint| p.kind == PointKind::Exit;
        let mut size = self.measure(method)?;
        let fits = |size| !crosses(MAX_INLINE_BYTES, size) && !crosses(MAX_COMPILED_BYTES, size);
        if fits(size) {
            return Ok(());
        }
        if self.buffers.points.points.iter().any(is_exit) {
            self.buffers.points.points.retain(|p| !is_exit(p));
            size = self.measure(method)?;
            if fits(size) {
                return Ok(());
            }
        }
        if self.buffers.points.points.iter().any(|p| !p.is_needed) {
            let all = self.buffers.points.points.clone();
            self.buffers.points.points.retain(|p| p.is_needed);
            if fits(self.measure(method)?) {
                return Ok(());
            }
            self.buffers.points.points = all;
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
        let points = &self.buffers.points;
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
        method.code.code.len() + points + shared + 3 * self.buffers.scan.switches
    }

    /// The size of the armed body in bytes.
    fn measure(&mut self, method: &AcceptedMethod) -> Result<usize, Declined> {
        let buffers = &mut *self.buffers;
        buffers.trial.clear();
        let original = method.original(&buffers.scan);
        let none = BodyConstants::default();
        buffers
            .splice
            .write(original, &buffers.points, &none, &mut buffers.trial)
            .ok_or(Declined::Unusual)?;
        Ok(buffers.trial.len())
    }

    /// Adds the constants of the armed body to the pool. Also returns the index of the descriptor of
    /// the call of the method's versions.
    fn add_constants(
        &mut self,
        method: &AcceptedMethod<'_, 'f>,
        member: &Member,
        request: &FastRequest,
        pool: &mut ConstantPool,
    ) -> Result<(BodyConstants, u16), ClassFileError> {
        let site = self.site(&method.parameters, member, pool)?;
        let file = self.file;
        let (constants, points) = (&mut self.constants, &self.buffers.points);
        let parameters = &method.parameters;
        let mut body = BodyConstants::default();
        body.exit.cell = constants.cell(pool, request.anchor, request.id)?;
        (body.version, body.leave) = (constants.version, constants.leave);
        let name = file.pool.text(member.name)?;
        (body.cast, body.enter) =
            constants.enter(pool, request.anchor, (&name, request.id), site)?;
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

    /// Index of the descriptor of the call of the versions of a method. Methods with one descriptor
    /// share it.
    fn site(
        &mut self,
        parameters: &Parameters,
        member: &Member,
        pool: &mut ConstantPool,
    ) -> Result<u16, ClassFileError> {
        let descriptor = usize::from(member.descriptor);
        let is_static = member.access & crate::method::access::STATIC != 0;
        let mut lost = [0, 0];
        let sites = self.buffers.sites.get_mut(descriptor).unwrap_or(&mut lost);
        let known = &mut sites[usize::from(is_static)];
        if *known == 0 {
            *known = match parameters.is_site() {
                true => member.descriptor,
                false => pool.append_utf8(&parameters.site(self.class_bytes))?,
            };
        }
        Ok(*known)
    }
}

/// Whether points depend on the flow graph.
fn needs_graph(scan: &CodeScan, code: &Code, policy: &Policy) -> bool {
    let fragments = match policy {
        Policy::Method => false,
        Policy::Loop | Policy::Call(_) => scan.goes_back || scan.is_cut,
        Policy::Block => scan.is_split,
    };
    // Before a return that a handler protects, the values that the handler reads are live.
    fragments || scan.enters_monitor || scan.calls && !code.exceptions.is_empty()
}

/// Whether a method has an annotation by which the full path refuses it.
fn has_jvm_annotation(member: &Member, pool: &ConstantPool) -> bool {
    let types = annotation_types(&member.attributes, pool);
    types.iter().any(|t| JVM_ANNOTATIONS.contains(&t.as_str()))
}

/// Whether code calls a static method with the name `getCallerClass`. The full path refuses such a
/// method if the method's class is that of the JDK.
fn calls_get_caller(code: &[u8], scan: &CodeScan, pool: &ConstantPool) -> bool {
    let calls = scan.starts.iter().filter_map(|pc| {
        let [INVOKESTATIC, high, low, ..] = code.get(usize::from(*pc)..)? else {
            return None;
        };
        Some(u16::from_be_bytes([*high, *low]))
    });
    let mut names = calls.filter_map(|index| {
        let member = pool.member(index).ok()?;
        pool.utf8(member.name).ok()
    });
    names.any(|name| name == b"getCallerClass")
}
