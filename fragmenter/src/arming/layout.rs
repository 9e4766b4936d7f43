//! The layout of an armed body: which points it keeps, and the new pc of each instruction.
//!
//! The layout does not depend on the constants that a body refers to, so it needs no constant pool.
//! A version that needs the pcs of the armed body's instructions computes the layout alone.

use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::classfile::{ConstantPool, StackMapFrame};
use crate::hotspot::{MAX_COMPILED_BYTES, MAX_INLINE_BYTES};
use crate::method::Method;
use crate::osr_exit::{self, PointNumber};
use crate::point_values::carried_kind;
use crate::points::{self, Point, PointId, PointKind};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::Type;
use veneer_names::MethodId;

/// Size in bytes of the check at the method's entry: `getstatic`, `invokevirtual`, `dup`, a short
/// `ifnonnull`, and `pop`.
pub(super) const ENTRY_CHECK_BYTES: u16 = 11;

/// Size in bytes of the check at another point: `getstatic`, `invokevirtual`, and a short `ifne`.
pub(super) const CHECK_BYTES: u16 = 9;

/// Upper bound for the bytes of the jump after a switch at the end of a method.
const LAST_SWITCH_JUMP_BYTES: usize = 5;

/// The facts about an armed body that a version needs, because its activations enter from there.
pub struct ArmedCode {
    /// The new pc of each original instruction, by instruction index.
    pub pcs: Vec<u16>,
    /// The points that the armed body keeps.
    pub points: Vec<Point>,
    /// The pc after the method's own code. The stubs follow there.
    pub stubs: u16,
    /// Length of the armed body in bytes.
    pub size: usize,
}

/// Constant-pool indices of the members that the checks and stubs refer to.
#[derive(Default)]
pub(super) struct BodyConstants {
    /// The cell's method that returns the version that a new activation enters, or null.
    pub version: u16,
    pub leave: u16,
    /// The anchor's method that casts a version to the anchor.
    pub cast: u16,
    /// The version's body for new activations.
    pub enter: u16,
    pub exit: osr_exit::ExitConstants,
}

/// An assembled armed body with its labels and new pcs.
pub(super) struct AssembledBody {
    pub out: Assembled,
    /// Label of the check at the method's entry.
    pub entry_check: Label,
    pub stubs: Vec<Label>,
    /// Labels of the code that stubs share.
    pub tails: osr_exit::SharedTails,
    pub pcs: Vec<u16>,
}

/// Computes the points that [`super::arm`] keeps for a method, and the layout of its armed body.
///
/// # Errors
/// The refusals of [`super::arm`] for this method, such as [`Refusal::InlineLimit`].
pub fn layout(method: &Method, policy: &Policy, forced: bool) -> Result<ArmedCode, Refusal> {
    let (points, _) = points::choose(method, policy)?;
    let points = select_points(method, points, forced)?;
    let laid = assemble(method, &points, &BodyConstants::default())?;
    let end = Label(method.code.code.len() as u32);
    let stubs = laid
        .out
        .at(end)
        .ok_or_else(|| Refusal::Internal("a label was lost".into()))?;
    Ok(ArmedCode {
        pcs: laid.pcs,
        points,
        stubs,
        size: laid.out.code.len(),
    })
}

impl BodyConstants {
    /// Adds the constants of a method's checks and stubs. `entry` is the descriptor of the call of
    /// its versions.
    pub fn add(
        pool: &mut ConstantPool,
        method: &Method,
        points: &[Point],
        (id, anchor, entry): (MethodId, &str, &str),
    ) -> Result<BodyConstants, Refusal> {
        let cell = pool.add_field(anchor, &runtime::cell_field(id), runtime::CELL_DESCRIPTOR)?;
        Ok(BodyConstants {
            version: pool.add_method(runtime::CELL, "version", "()Ljava/lang/Object;")?,
            leave: pool.add_method(runtime::CELL, "leave", "()Z")?,
            cast: pool.add_method(
                anchor,
                runtime::ANCHOR_VERSION,
                &runtime::anchor_version_descriptor(anchor),
            )?,
            enter: pool.add_method(anchor, &runtime::enter_method(&method.name, id), entry)?,
            exit: osr_exit::ExitConstants::for_armed_body(
                pool,
                cell,
                points,
                &method.signature.result,
            )?,
        })
    }
}

/// Selects the points of a method so that its armed body remains within HotSpot's limits. It is
/// enough that no limit is crossed: a method that is already above a limit keeps all points.
///
/// 1. If all points fit, they are kept.
/// 2. Otherwise the exits are dropped. They help only activations that are about to return.
/// 3. Otherwise only the entry and the loop headers are kept.
///
/// # Errors
/// [`Refusal::CompileLimit`] if the method would no longer be compiled. [`Refusal::InlineLimit`] if
/// it would no longer be inlined and is not `forced`. A forced method keeps all points but the
/// exits.
pub(super) fn select_points(
    method: &Method,
    mut points: Vec<Point>,
    forced: bool,
) -> Result<Vec<Point>, Refusal> {
    let before = method.code.code.len();
    let crosses = |limit: usize, size: usize| before <= limit && size > limit;
    let mut reserve = None;
    loop {
        let shared = osr_exit::max_shared_bytes(method);
        let most = before
            + points
                .iter()
                .map(|p| max_point_bytes(p, method))
                .sum::<usize>()
            + shared
            + 3 * switch_count(method)
            + last_switch_target(method).map_or(0, |_| LAST_SWITCH_JUMP_BYTES);
        if !crosses(MAX_INLINE_BYTES, most) && !crosses(MAX_COMPILED_BYTES, most) {
            return Ok(points);
        }
        let mut size = assemble(method, &points, &BodyConstants::default())?
            .out
            .code
            .len();
        if !crosses(MAX_INLINE_BYTES, size) && !crosses(MAX_COMPILED_BYTES, size) {
            return Ok(points);
        }
        if points.iter().any(|p| p.kind == PointKind::Exit) {
            points.retain(|p| p.kind != PointKind::Exit);
            (0..).zip(&mut points).for_each(|(n, p)| p.id = PointId(n));
            continue;
        }
        if reserve.is_none() {
            let headers = points::loop_headers(method);
            let is_needed = |p: &Point| p.kind == PointKind::Entry || headers.contains(&p.fragment);
            let (needed, others): (Vec<Point>, Vec<Point>) =
                points.iter().cloned().partition(is_needed);
            if !others.is_empty() {
                // Keep all points but the exits in reserve: they are restored if dropping more of
                // them does not help.
                reserve = Some(std::mem::replace(&mut points, needed));
                (0..).zip(&mut points).for_each(|(n, p)| p.id = PointId(n));
                continue;
            }
        }
        if let Some(more) = reserve.take() {
            points = more;
            size = assemble(method, &points, &BodyConstants::default())?
                .out
                .code
                .len();
        }
        if crosses(MAX_COMPILED_BYTES, size) {
            return Err(Refusal::CompileLimit(before, size));
        }
        return if forced {
            Ok(points)
        } else {
            Err(Refusal::InlineLimit(before, size))
        };
    }
}

/// Upper bound for the bytes that a point adds to a method whose branches remain short.
pub(super) fn max_point_bytes(point: &Point, method: &Method) -> usize {
    let check = if point.kind == PointKind::Entry {
        ENTRY_CHECK_BYTES
    } else {
        CHECK_BYTES
    };
    usize::from(check) + osr_exit::max_exit_bytes(point, &method.signature.result)
}

/// The frame at the default target of the method's last instruction, if that is a switch.
///
/// HotSpot's analysis of null pointers continues after a switch ([`crate::hotspot::null_message`]),
/// and the first stub begins with the version on its stack. So a jump to the target, which no
/// activation reaches, separates the two.
pub(super) fn last_switch_target<'m>(method: &'m Method) -> Option<&'m StackMapFrame> {
    let (_, last) = method.instructions.last()?;
    if !matches!(last.op(), TABLESWITCH | LOOKUPSWITCH) {
        return None;
    }
    let default = last.targets().last().copied()?;
    method.frames.iter().find(|f| Label::pc(f.pc) == default)
}

fn switch_count(method: &Method) -> usize {
    method
        .instructions
        .iter()
        .filter(|(_, i)| matches!(i.op(), TABLESWITCH | LOOKUPSWITCH))
        .count()
}

/// Assembles the armed body. See the drawing in [`super`].
pub(super) fn assemble(
    method: &Method,
    points: &[Point],
    refs: &BodyConstants,
) -> Result<AssembledBody, Refusal> {
    let mut a = Assembler::new();
    let stubs: Vec<Label> = points.iter().map(|_| a.fresh()).collect();
    let starts: Vec<Label> = method.instructions.iter().map(|_| a.fresh()).collect();
    let entry_check = a.fresh();
    for (i, (pc, instruction)) in method.instructions.iter().enumerate() {
        let mut here = points
            .iter()
            .zip(&stubs)
            .filter(|(p, _)| p.instruction == i)
            .peekable();
        // The check of point 0 is before the label, so branches to this instruction skip it. Such a
        // branch belongs to an activation that began earlier.
        if let Some((p, stub)) = here.next_if(|(p, _)| p.kind == PointKind::Entry) {
            debug_assert!(
                p.stack.is_empty(),
                "an activation begins with an empty stack"
            );
            a.place(entry_check);
            a.pool(GETSTATIC, refs.exit.cell);
            a.pool(INVOKEVIRTUAL, refs.version);
            a.plain(DUP);
            a.branch(IFNONNULL, *stub);
            a.plain(POP);
        }
        a.place(Label::pc(*pc));
        for (_, stub) in here {
            a.pool(GETSTATIC, refs.exit.cell);
            a.pool(INVOKEVIRTUAL, refs.leave);
            a.branch(IFNE, *stub);
        }
        a.place(starts[i]);
        a.push(instruction.clone());
    }
    a.place(Label(method.code.code.len() as u32));
    if let Some(target) = last_switch_target(method) {
        a.branch(GOTO, Label::pc(target.pc));
    }
    let result = &method.signature.result;
    let tails = osr_exit::SharedTails::new(&mut a, points, result);
    let last = |of: osr_exit::ExitForm| {
        points
            .iter()
            .rposition(|p| osr_exit::exit_form(p, result) == of)
    };
    let last_frame = last(osr_exit::ExitForm::Frame);
    let last_exit = last(osr_exit::ExitForm::Return);
    for (n, (p, stub)) in points.iter().zip(&stubs).enumerate() {
        a.place(*stub);
        match osr_exit::exit_form(p, result) {
            osr_exit::ExitForm::Entry => {
                a.pool(INVOKESTATIC, refs.cast);
                for (slot, t) in p.locals.iter().filter(|l| l.1 != Type::Null) {
                    a.local(ILOAD + carried_kind(t), *slot);
                }
                osr_exit::clear_locals(&mut a, &osr_exit::object_arguments(p));
                a.pool(INVOKEVIRTUAL, refs.enter);
                a.plain(return_op(method));
            }
            osr_exit::ExitForm::Return => {
                a.push(Instruction::Push(p.id.0 as i16));
                if let Some(tail) = tails.exit {
                    if Some(n) == last_exit {
                        a.place(tail);
                        refs.exit.exit_tail(&mut a, result);
                    } else {
                        a.branch(GOTO, tail);
                    }
                }
            }
            osr_exit::ExitForm::Frame => {
                let temp = method.code.max_locals;
                refs.exit.build_frame(&mut a, p, PointNumber::OfPoint, temp);
                if let Some(tail) = tails.frame {
                    if Some(n) == last_frame {
                        a.place(tail);
                        let cleared = osr_exit::locals_to_clear(
                            method,
                            osr_exit::points_with_frame(points, result),
                            temp,
                        );
                        refs.exit.run_loop(&mut a, &cleared, result);
                    } else {
                        a.branch(GOTO, tail);
                    }
                }
            }
        }
    }
    let out = a.finish()?;
    let lost = || Refusal::Internal("a label was lost".into());
    let pcs = starts
        .iter()
        .map(|l| out.at(*l).ok_or_else(lost))
        .collect::<Result<_, _>>()?;
    Ok(AssembledBody {
        out,
        entry_check,
        stubs,
        tails,
        pcs,
    })
}

fn return_op(method: &Method) -> u8 {
    match &method.signature.result {
        None => RETURN,
        Some(Type::Int) => IRETURN,
        Some(Type::Long) => LRETURN,
        Some(Type::Float) => FRETURN,
        Some(Type::Double) => DRETURN,
        Some(_) => ARETURN,
    }
}
