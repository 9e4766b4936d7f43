//! Arming: inserts a check at each capture point of a method. The result, the *armed body*, is the
//! method's own code with these checks and with stubs at the end.
//!
//! ```text
//!    pc:   getstatic     Anchor.c17            a constant to the JIT
//!          invokevirtual VeneerCell.version()  the version to enter, or null
//!          dup
//!          ifnonnull     stub
//!          pop
//!          … the method's own instruction …
//!
//!    pc:   getstatic     Anchor.c17            at points inside the method
//!          invokevirtual VeneerCell.leave()Z
//!          ifne          stub
//!          … the method's own instruction …
//!
//!    stub: leaves the body (`osr_exit.rs`)     out of line, outside every exception range
//! ```
//!
//! A branch to the pc of a point leads to the point's check. The line table, the variables, the
//! exception ranges and the stack maps are adjusted to the new pcs.
//!
//! Most methods are armed by the fast path (`fast_path.rs`), which copies the code without
//! analysing it. The full path analyses the method and assembles it again. Both paths emit the
//! same code and tables; only the numbers of constants may differ.

mod abstract_state;
mod block_graph;
mod class_constants;
mod class_table;
mod code_attribute;
mod code_digest;
mod code_scan;
mod depth_scan;
mod fast_path;
mod fast_points;
mod known_names;
mod layout;
mod line_table;
mod parameters;
mod spare_buffers;
mod splice;
mod stackmap_relocation;
mod typed_scan;
mod word;

pub use crate::point_values::{carried_kind, carried_types, frame_state};
pub use code_digest::{CodeDigest, DigestScope};
pub use layout::{ArmedCode, layout};
pub(crate) use stackmap_relocation::StackMap;

use self::code_scan::CodeScan;
use self::fast_path::{Declined, FastPath, FastRequest};
use self::layout::{AssembledBody, BodyConstants};
use self::line_table::append_lines;
use crate::bytecode::{Assembled, Label};
use crate::classfile::{
    Attribute, ChangedAttribute, ClassFile, Code, ConstantPool, ExceptionRange, StackMapFrame,
    encode_stack_map, remap_code_attributes,
};
use crate::method::Method;
use crate::points::{self, Point, PointKind, Skipped};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::types::{self, State, Type};
use crate::{anchor, frames, osr_exit};
use std::sync::Arc;
use veneer_names::MethodId;

/// The parameters of arming one class.
pub struct Request<'r> {
    /// Determines the capture points.
    pub policy: &'r Policy,
    /// Method number `i` of the class file gets the id `first_id + i`.
    pub first_id: MethodId,
    /// The number of earlier anchors of the class; see [`anchor::name`].
    pub generation: u32,
    /// Whether to arm a method, by name and descriptor.
    pub wanted: &'r dyn Fn(&str, &str) -> bool,
    /// Whether a method may exceed the inlining limit, because a plan names it explicitly.
    pub forced: &'r dyn Fn(&str, &str) -> bool,
    /// Whether to compute [`ArmedMethod::points`].
    pub points: bool,
    /// Whether a class is armed only if a wanted method has a branch to an earlier place, or is `forced`. An
    /// activation of any other method does not run for long by itself, so its class can be armed when a plan
    /// names it. The methods of a class are armed together: the JVM compiles no activation that runs when its
    /// class is armed, so a loop should not be among them.
    pub only_loops: bool,
    /// The anchors and methods of an earlier arming of the same class file, if there was one.
    pub earlier: Option<Earlier<'r>>,
}

/// The result of an earlier arming of the same class file. Its methods keep their anchors.
#[derive(Clone, Copy)]
pub struct Earlier<'r> {
    /// Internal name of the newest anchor.
    pub anchor: &'r str,
    /// The methods that have cells.
    pub methods: &'r [ArmedMethod],
}

/// A method that has been armed, with its cell and its capture points.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmedMethod {
    /// Position in the class file's method list.
    pub index: usize,
    /// The id of the method's cell.
    pub id: MethodId,
    /// The simple name of the method.
    pub name: String,
    /// The descriptor of the method.
    pub descriptor: String,
    /// Internal name of the anchor that declares the method.
    pub anchor: Arc<str>,
    /// The capture points of the armed body. Empty unless [`Request::points`] is set.
    pub points: Vec<Point>,
}

/// An armed class and its anchor.
pub struct Armed {
    /// Internal name of the class.
    pub name: String,
    /// The armed class file. Empty if no method was armed.
    pub bytes: Vec<u8>,
    /// Internal name of the newest anchor, which versions extend.
    pub anchor: Arc<str>,
    /// The newest anchor's class file. Empty if every armed method has an anchor from an earlier
    /// arming.
    pub anchor_bytes: Vec<u8>,
    /// The methods that have cells.
    pub methods: Vec<ArmedMethod>,
    /// A hash of the bytecode of these methods in `bytes`.
    pub code: CodeDigest,
    /// The refusals for methods (named by name and descriptor) and for single positions (followed
    /// by `@pc`).
    pub refusals: Vec<(String, Refusal)>,
}

/// Arms a class. If no method is wanted or every wanted method is refused, the result has no
/// methods and empty `bytes`.
///
/// # Errors
/// If the class file is malformed or cannot be raised to version 51 (Java 7).
pub fn arm(bytes: &[u8], request: &Request) -> Result<Armed, Refusal> {
    let modern = crate::inference::upgrade_class_file(bytes)?;
    arm_class_file(&ClassFile::parse(&modern)?, request)
}

/// Arms a parsed class file. The class file must be modern: no method of a class file that
/// [`upgrade_class_file`](crate::inference::upgrade_class_file) would convert is armed.
///
/// # Errors
/// If the class file is malformed.
pub fn arm_class_file(file: &ClassFile, request: &Request) -> Result<Armed, Refusal> {
    arm_with(file, request, true)
}

/// Like [`arm`], but always uses the full path with an analysis of every method. Versions are
/// emitted for the layout of the full path, so the fast path must produce the same code and tables.
/// Only the numbers of constants may differ.
pub fn arm_analysed(bytes: &[u8], request: &Request) -> Result<Armed, Refusal> {
    let modern = crate::inference::upgrade_class_file(bytes)?;
    arm_with(&ClassFile::parse(&modern)?, request, false)
}

fn arm_with(file: &ClassFile, request: &Request, use_fast_path: bool) -> Result<Armed, Refusal> {
    file.check_closed()?;
    file.check_names()?;
    let name = file.name()?.into_owned();
    let newest: Arc<str> = anchor::name(&name, request.generation).into();
    let mut armed = Armed {
        name,
        bytes: Vec::new(),
        anchor_bytes: Vec::new(),
        anchor: newest.clone(),
        methods: Vec::new(),
        code: CodeDigest::default(),
        refusals: Vec::new(),
    };
    if file.major < crate::inference::MODERN {
        // A class file of this age has no method with code, or has not been converted.
        return Ok(armed);
    }
    if request.only_loops && !is_armed_early(file, request)? {
        return Ok(armed);
    }
    let mut bodies = ArmedBodies {
        pool: file.pool.clone(),
        changes: Vec::with_capacity(file.methods.len()),
        contents: Vec::new(),
    };
    arm_methods(file, request, use_fast_path, &mut bodies, &mut armed)?;
    if !bodies.changes.is_empty() {
        armed.bytes = file.to_bytes_with(&bodies.pool, &bodies.changes, &bodies.contents)?;
    }
    Ok(armed)
}

/// The most methods of a class that is armed when a plan names it. When the JVM exchanges the code of a class, it
/// compares each new constant with all old ones. With 100 methods, that takes some 30 ms.
const MAX_LATE_METHODS: usize = 100;

/// Whether a class is armed now under [`Request::only_loops`]: it has a wanted method that may run for long, or
/// that a plan names, or too many methods for a later arming.
fn is_armed_early(file: &ClassFile, request: &Request) -> Result<bool, Refusal> {
    if file.methods.len() > MAX_LATE_METHODS {
        return Ok(true);
    }
    let mut scan = CodeScan::default();
    for member in &file.methods {
        let is_code = |a: &&Attribute| a.is(&file.pool, "Code");
        let Some(code) = member.attributes.iter().find(is_code) else {
            continue;
        };
        let (name, descriptor) = (
            file.pool.text(member.name)?,
            file.pool.text(member.descriptor)?,
        );
        if (request.wanted)(&name, &descriptor)
            && (scan.may_loop(&code.info) || (request.forced)(&name, &descriptor))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The new `Code` attributes of a class, and its pool.
struct ArmedBodies<'f> {
    pool: ConstantPool<'f>,
    changes: Vec<ChangedAttribute>,
    /// The contents of the attributes, one after the other.
    contents: Vec<u8>,
}

/// Arms the methods of a class, and emits the anchor.
fn arm_methods<'f>(
    file: &'f ClassFile<'f>,
    request: &Request,
    use_fast_path: bool,
    bodies: &mut ArmedBodies<'f>,
    armed: &mut Armed,
) -> Result<(), Refusal> {
    let newest = armed.anchor.clone();
    let mut methods_with_cells = Vec::with_capacity(file.methods.len());
    let class = armed.name.clone();
    let mut fast_path = use_fast_path.then(|| FastPath::new(file, &class));
    let count = file.methods.len();
    bodies.pool.reserve(16 + 8 * count, 512 + 96 * count);
    for index in 0..count {
        let member = &file.methods[index];
        let (method_name, descriptor) = (
            file.pool.text(member.name)?,
            file.pool.text(member.descriptor)?,
        );
        if !(request.wanted)(&method_name, &descriptor) {
            continue;
        }
        let is_code = |a: &Attribute| match &fast_path {
            Some(fast_path) => fast_path.is_code(a.name),
            None => a.is(&file.pool, "Code"),
        };
        let Some(slot) = member.attributes.iter().position(is_code) else {
            continue;
        };
        let id = request.first_id.plus(index as u32);
        let known = request
            .earlier
            .and_then(|e| e.methods.iter().find(|m| m.index == index));
        let anchor = known.map_or(&newest, |m| &m.anchor);
        let one = MethodRequest {
            index,
            slot,
            id,
            anchor,
            forced: (request.forced)(&method_name, &descriptor),
        };
        let begin = bodies.contents.len();
        match arm_method(file, request, &one, fast_path.as_mut(), bodies) {
            Ok(body) => {
                let content = bodies.contents.get(begin..).unwrap_or_default();
                armed.code.add_attribute(content);
                let label = |pc: u16| format!("{method_name}{descriptor}@{pc}");
                let skipped = body.skipped.into_iter();
                armed
                    .refusals
                    .extend(skipped.map(|(pc, reason)| (label(pc), reason)));
                if known.is_none() {
                    methods_with_cells.push(anchor::MethodWithCell {
                        id,
                        name: method_name.clone(),
                        descriptor: body.entry,
                    });
                }
                armed.methods.push(ArmedMethod {
                    index,
                    id,
                    name: method_name.into_owned(),
                    descriptor: descriptor.into_owned(),
                    anchor: anchor.clone(),
                    points: body.points,
                });
            }
            Err(reason) => {
                // Constants that the failed attempt left in the pool are never referred to.
                let label = format!("{method_name}{descriptor}");
                armed.refusals.push((label, reason));
            }
        }
    }
    if !bodies.changes.is_empty() {
        let previous = request.earlier.map(|e| e.anchor);
        match previous {
            Some(previous) if methods_with_cells.is_empty() => armed.anchor = previous.into(),
            _ => {
                let cells = &methods_with_cells;
                armed.anchor_bytes = anchor::emit(&newest, cells, &bodies.pool, previous)?;
            }
        }
    }
    if let Some(fast_path) = fast_path {
        fast_path.finish();
    }
    Ok(())
}

/// One method to arm.
struct MethodRequest<'r> {
    index: usize,
    /// Position of the `Code` attribute among the attributes of the method.
    slot: usize,
    id: MethodId,
    anchor: &'r str,
    forced: bool,
}

/// An armed method.
struct ArmedBody {
    /// Index of the descriptor of the call of the method's versions.
    entry: u16,
    /// Empty unless [`Request::points`] is set.
    points: Vec<Point>,
    /// The pcs at which the policy asks for a point but no point is possible.
    skipped: Vec<(u16, Refusal)>,
}

/// Arms a method by the fast path if that is possible, otherwise by the full path. Adds the content
/// of its `Code` attribute to the bodies.
fn arm_method<'f>(
    file: &'f ClassFile<'f>,
    request: &Request,
    one: &MethodRequest,
    fast_path: Option<&mut FastPath<'f>>,
    bodies: &mut ArmedBodies,
) -> Result<ArmedBody, Refusal> {
    let begin = bodies.contents.len();
    let change = |contents: &[u8]| ChangedAttribute {
        method: one.index,
        attribute: one.slot,
        content: begin..contents.len(),
    };
    let analyse = || Method::analyse(file, one.index, &|i, p| request.policy.cuts(i, p));
    if let Some(fast_path) = fast_path {
        let member = &file.methods[one.index];
        let fast_request = FastRequest {
            policy: request.policy,
            id: one.id,
            anchor: one.anchor,
            forced: one.forced,
        };
        let info = &member.attributes[one.slot].info;
        let to = (&mut bodies.pool, &mut bodies.contents);
        match fast_path.arm(member, info, &fast_request, to) {
            Ok(fast) => {
                let mut points = Vec::new();
                if request.points {
                    points = layout::layout(&analyse()?, request.policy, one.forced)?.points;
                }
                bodies.changes.push(change(&bodies.contents));
                return Ok(ArmedBody {
                    entry: fast.entry,
                    points,
                    skipped: fast.skipped,
                });
            }
            Err(Declined::Refused(reason)) => return Err(reason),
            Err(Declined::Unusual) => {}
        }
    }
    let method = analyse()?;
    let (points, skipped) = points::choose(&method, request.policy)?;
    let points = layout::select_points(&method, points, one.forced)?;
    let pool = &mut bodies.pool;
    let (code, entry) = arm_body(&method, &points, one.id, one.anchor, pool)?;
    let entry = pool.add_utf8(&entry)?;
    bodies.contents.extend_from_slice(&code);
    bodies.changes.push(change(&bodies.contents));
    let skipped = skipped.into_iter();
    Ok(ArmedBody {
        entry,
        points: if request.points { points } else { Vec::new() },
        skipped: skipped.map(|Skipped { pc, reason }| (pc, reason)).collect(),
    })
}

/// Writes the content of the armed `Code` attribute. Also returns the descriptor of the call of the
/// method's versions.
fn arm_body(
    method: &Method,
    points: &[Point],
    id: MethodId,
    anchor: &str,
    pool: &mut ConstantPool,
) -> Result<(Vec<u8>, String), Refusal> {
    let entry = points.first().filter(|p| p.stack.is_empty());
    let entry =
        osr_exit::entry_call_descriptor(entry.ok_or(Refusal::UninitializedObject)?, method)?;
    let result = &method.signature.result;
    let refs = BodyConstants::add(pool, method, points, (id, anchor, &entry))?;
    let AssembledBody {
        out,
        entry_check,
        stubs,
        tails,
        pcs,
    } = layout::assemble(method, points, &refs)?;
    let mut max_stack = method
        .code
        .max_stack
        .max(osr_exit::exit_stack_words(points, result));
    for p in points {
        // A check inside the method pushes one word on top of the operand stack.
        let depth: u16 = p.stack.iter().map(Type::width).sum();
        max_stack = max_stack.max(depth + 1);
    }
    let (exceptions, moved) = exception_ranges(method, points, (&out, entry_check), &pcs)?;
    let mut attributes: Vec<Attribute> = method
        .code
        .attributes
        .iter()
        .filter(|a| !a.is(pool, "StackMapTable"))
        .cloned()
        .collect();
    let map = |pc: u16| out.at(Label(pc as u32)).unwrap_or(0);
    remap_code_attributes(
        &mut attributes,
        pool,
        method.code.code.len() as u16,
        &map,
        &|e| moved.get(e as usize).copied().unwrap_or(e),
    )?;
    let lines: Vec<(u16, u16)> = points
        .iter()
        .zip(&stubs)
        .filter_map(|(p, s)| Some((out.at(*s)?, method.line(p.pc)?)))
        .collect();
    append_lines(&mut attributes, pool, &lines);
    let table = stack_map(method, points, (&stubs, tails), &out, &pcs, pool)?;
    attributes.push(Attribute {
        name: pool.add_utf8("StackMapTable")?,
        info: table.into(),
    });
    let code = Code {
        max_stack,
        max_locals: method.code.max_locals
            + osr_exit::spill_words(osr_exit::points_with_frame(points, result)),
        code: out.code.into(),
        exceptions,
        attributes,
    };
    Ok((code.to_bytes()?, entry))
}

/// The new pc of the instruction at an original pc, after any check before it.
fn new_pc_of(method: &Method, pcs: &[u16], pc: u16) -> Option<u16> {
    let index = method
        .instructions
        .binary_search_by_key(&pc, |i| i.0)
        .ok()?;
    pcs.get(index).copied()
}

/// The new exception table, with every check cut out of the ranges. Also returns the index of the
/// first new entry for each old entry.
fn exception_ranges(
    method: &Method,
    points: &[Point],
    (out, entry_check): (&Assembled, Label),
    pcs: &[u16],
) -> Result<(Vec<ExceptionRange>, Vec<u16>), Refusal> {
    let old_len = method.code.code.len();
    let lost = || Refusal::Internal("an exception range was lost".into());
    let at = |pc: usize| out.at(Label(pc as u32)).ok_or_else(lost);
    let after_check = |pc: u16| new_pc_of(method, pcs, pc).ok_or_else(lost);
    let (mut rows, mut moved) = (Vec::new(), Vec::new());
    for e in &method.code.exceptions {
        moved.push(rows.len() as u16);
        let mut start = after_check(e.start)?;
        for p in points.iter().filter(|p| e.start < p.pc && p.pc < e.end) {
            let end = range_end_at(p.pc, points, (out, entry_check))?;
            if start < end {
                rows.push(ExceptionRange {
                    start,
                    end,
                    handler: at(e.handler as usize)?,
                    catch_type: e.catch_type,
                });
            }
            start = after_check(p.pc)?;
        }
        let end = if e.end as usize == old_len {
            at(old_len)?
        } else {
            range_end_at(e.end, points, (out, entry_check))?
        };
        if start < end {
            rows.push(ExceptionRange {
                start,
                end,
                handler: at(e.handler as usize)?,
                catch_type: e.catch_type,
            });
        }
    }
    if rows.len() > u16::MAX as usize {
        return Err(Refusal::MethodTooLarge(
            "the exception table would have more than 65,535 rows".into(),
        ));
    }
    Ok((rows, moved))
}

/// The new end of a range that ended at `pc`. If point 0 is at `pc`, the range ends before its
/// check.
fn range_end_at(
    pc: u16,
    points: &[Point],
    (out, entry_check): (&Assembled, Label),
) -> Result<u16, Refusal> {
    let prologue = points
        .iter()
        .any(|p| p.kind == PointKind::Entry && p.pc == pc);
    let end = if prologue { entry_check } else { Label::pc(pc) };
    out.at(end)
        .ok_or_else(|| Refusal::Internal("an exception range was lost".into()))
}

fn stack_map(
    method: &Method,
    points: &[Point],
    (stubs, tails): (&[Label], osr_exit::SharedTails),
    out: &Assembled,
    pcs: &[u16],
    pool: &mut ConstantPool,
) -> Result<Vec<u8>, Refusal> {
    // A stack map names an uninitialised object by the pc of its `new`. A check before that
    // instruction moves it.
    let new_pc = |pc: u16| new_pc_of(method, pcs, pc);
    let lost = || Refusal::Internal("a stack map frame was lost".into());
    let mut table: Vec<StackMapFrame> = Vec::with_capacity(method.frames.len() + points.len());
    let own = method.frames.iter().map(|f| (Label::pc(f.pc), f));
    let end = Label(method.code.code.len() as u32);
    let last_jump = layout::last_switch_target(method).map(|f| (end, f));
    for (label, f) in own.chain(last_jump) {
        let pc = out.at(label).ok_or_else(lost)?;
        let state = State::from_frame(
            f,
            &method.file.pool,
            &method.entry.locals,
            method.code.max_locals,
        )
        .ok_or_else(lost)?;
        table.push(frames::frame(pc, &state, pool, &new_pc)?);
    }
    for (p, stub) in points.iter().zip(stubs) {
        let mut state = frame_state(p, method.code.max_locals);
        if p.kind == PointKind::Entry {
            state.stack.push(Type::object("java/lang/Object"));
        } else {
            for t in state.locals.iter_mut().chain(&mut state.stack) {
                *t = osr_exit::as_object(t);
            }
        }
        table.push(frames::frame(
            out.at(*stub).ok_or_else(lost)?,
            &state,
            pool,
            &new_pc,
        )?);
    }
    for (label, state) in tails.states(points, &method.signature.result) {
        let pc = out.at(label).ok_or_else(lost)?;
        let frame = frames::frame(pc, &state, pool, &new_pc)?;
        let place = table.partition_point(|f| f.pc < pc);
        table.insert(place, frame);
    }
    let entry = points.iter().find(|p| p.kind == PointKind::Entry);
    let after_entry_check = entry.and_then(|p| out.at(Label::pc(p.pc)));
    for (pc, mut state) in long_branch_states(method, out, pcs)? {
        if after_entry_check == Some(pc + 1) {
            // The entry's check drops the null that it found instead of a version.
            state.stack.push(Type::object("java/lang/Object"));
        }
        if let Err(place) = table.binary_search_by_key(&pc, |f| f.pc) {
            table.insert(place, frames::frame(pc, &state, pool, &new_pc)?);
        }
    }
    let initial = frames::locals(&method.entry.locals, pool, &new_pc)?;
    Ok(encode_stack_map(&table, &initial)?)
}

/// The states after conditional branches that are too far for their short form. The assembler
/// inserts a jump there. A check does not change types, so the state is that before the next
/// original instruction.
fn long_branch_states(
    method: &Method,
    out: &Assembled,
    pcs: &[u16],
) -> Result<Vec<(u16, State)>, Refusal> {
    let mut found = Vec::new();
    if out.skips.is_empty() {
        return Ok(found);
    }
    let next: Vec<(usize, u16)> = out
        .skips
        .iter()
        .map(|pc| (pcs.partition_point(|at| at < pc), *pc))
        .collect();
    types::walk(
        &method.instructions,
        &method.frames,
        method.entry.clone(),
        &method.file.pool,
        &method.class,
        &mut |i, _, state| {
            let here = next.iter().filter(|(index, _)| *index == i);
            found.extend(here.map(|(_, pc)| (*pc, state.clone())));
        },
    )?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: &[u8] = include_bytes!("../../../executor/src/classes/fixtures/Points.classfile");

    /// The names of the armed methods, if these ones are wanted.
    fn armed(wanted: &[&str], forced: &[&str], only_loops: bool) -> Vec<String> {
        let request = Request {
            policy: &Policy::Loop,
            first_id: MethodId(0),
            generation: 0,
            wanted: &|name, _| wanted.contains(&name),
            forced: &|name, _| forced.contains(&name),
            points: false,
            only_loops,
            earlier: None,
        };
        let armed = arm(POINTS, &request).expect("the class can be armed");
        assert_eq!(armed.bytes.is_empty(), armed.methods.is_empty());
        armed.methods.into_iter().map(|m| m.name).collect()
    }

    #[test]
    fn a_class_waits_for_a_plan_if_no_wanted_method_has_a_loop() {
        assert!(armed(&["larger", "straight"], &[], true).is_empty());
        assert_eq!(
            armed(&["larger", "straight"], &[], false),
            ["larger", "straight"]
        );
    }

    #[test]
    fn the_methods_of_a_class_with_a_loop_or_with_a_named_method_are_armed_together() {
        let together = ["loop", "larger"];
        assert_eq!(armed(&together, &[], true), together);
        let together = ["larger", "straight"];
        assert_eq!(armed(&together, &["straight"], true), together);
        // A name counts only for a method that is wanted.
        assert!(armed(&["larger"], &["straight"], true).is_empty());
    }
}
