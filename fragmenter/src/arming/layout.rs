//! Laying out an armed body: which points it keeps, and where each instruction comes to lie.
//!
//! Which constants a body refers to does not change its layout, so this needs no constant pool: a version that wants to
//! know where the host's instructions lie asks for the layout alone.

use super::{COMPILE_LIMIT, INLINE_LIMIT, kind};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::capture;
use crate::classfile::ConstantPool;
use crate::method::Method;
use crate::points::{self, Point, PointId, PointKind};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::Type;

/// Size of a check: `getstatic`, `invokevirtual`, and a short `ifne`.
pub(super) const CHECK_BYTES: u16 = 9;

/// What a version must know of the armed body that its activations come from.
pub struct ArmedCode {
    /// Where each original instruction came to lie.
    pub pcs: Vec<u16>,
    /// The points that were kept.
    pub points: Vec<Point>,
    /// The pc of the first stub. The stubs follow the method's own code.
    pub stubs: u16,
    /// Bytes of the armed body.
    pub size: usize,
}

/// The constants that the checks and stubs refer to.
#[derive(Default)]
pub(super) struct Refs {
    pub on: u16,
    pub leave: u16,
    /// The anchor's method that gives the current version.
    pub version: u16,
    /// The version's body.
    pub enter: u16,
    pub capture: capture::Refs,
}

/// A layout.
pub(super) struct Laid {
    pub out: Assembled,
    pub stubs: Vec<Label>,
    /// Labels of the code that stubs share.
    pub tails: capture::Tails,
    pub pcs: Vec<u16>,
}

/// The points that [`super::arm`] keeps for a method, and the layout of its armed body.
pub fn layout(method: &Method, policy: &Policy, forced: bool) -> Result<ArmedCode, Refusal> {
    let (points, _) = points::choose(method, policy)?;
    let points = kept(method, points, forced)?;
    let laid = assemble(method, &points, &Refs::default())?;
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

impl Refs {
    /// Adds the constants of a method's checks and stubs. `entry` is the descriptor of the call of its versions.
    pub fn add(
        pool: &mut ConstantPool,
        method: &Method,
        points: &[Point],
        (id, anchor, entry): (u32, &str, &str),
    ) -> Result<Refs, Refusal> {
        let cell = pool.add_field(anchor, &runtime::cell_field(id), runtime::CELL_DESCRIPTOR)?;
        Ok(Refs {
            on: pool.add_method(runtime::CELL, "on", "()Z")?,
            leave: pool.add_method(runtime::CELL, "leave", "()Z")?,
            version: pool.add_method(
                anchor,
                runtime::ANCHOR_VERSION,
                &runtime::anchor_version_descriptor(anchor),
            )?,
            enter: pool.add_method(anchor, &runtime::enter_method(&method.name, id), entry)?,
            capture: capture::Refs::add(pool, cell, points, &method.signature.result)?,
        })
    }
}

/// All points, or fewer if that keeps the method within HotSpot's limits. Exits are given up first: they serve only activations that are
/// in their last stretch. Then the method keeps its entry and its loop headers alone.
pub(super) fn kept(
    method: &Method,
    mut points: Vec<Point>,
    forced: bool,
) -> Result<Vec<Point>, Refusal> {
    let before = method.code.code.len();
    let crosses = |limit: usize, size: usize| before <= limit && size > limit;
    let mut fewer = None;
    loop {
        let shared = capture::most_shared_bytes(method);
        let most = before
            + points.iter().map(|p| most_bytes(p, method)).sum::<usize>()
            + shared
            + 3 * switches(method);
        if !crosses(INLINE_LIMIT, most) && !crosses(COMPILE_LIMIT, most) {
            return Ok(points);
        }
        let mut size = assemble(method, &points, &Refs::default())?.out.code.len();
        if !crosses(INLINE_LIMIT, size) && !crosses(COMPILE_LIMIT, size) {
            return Ok(points);
        }
        if points.iter().any(|p| p.kind == PointKind::Exit) {
            points.retain(|p| p.kind != PointKind::Exit);
            (0..).zip(&mut points).for_each(|(n, p)| p.id = PointId(n));
            continue;
        }
        if fewer.is_none() {
            let headers = points::loop_headers(method);
            let is_needed = |p: &Point| p.kind == PointKind::Entry || headers.contains(&p.fragment);
            let (needed, others): (Vec<Point>, Vec<Point>) =
                points.iter().cloned().partition(is_needed);
            if !others.is_empty() {
                // All points but the exits, for the case that giving up more does not help.
                fewer = Some(std::mem::replace(&mut points, needed));
                (0..).zip(&mut points).for_each(|(n, p)| p.id = PointId(n));
                continue;
            }
        }
        if let Some(more) = fewer.take() {
            points = more;
            size = assemble(method, &points, &Refs::default())?.out.code.len();
        }
        if crosses(COMPILE_LIMIT, size) {
            return Err(Refusal::CompileLimit(before, size));
        }
        return if forced {
            Ok(points)
        } else {
            Err(Refusal::InlineLimit(before, size))
        };
    }
}

/// More bytes than a point ever adds to a method whose branches stay short.
pub(super) fn most_bytes(point: &Point, method: &Method) -> usize {
    CHECK_BYTES as usize + capture::most_bytes(point, &method.signature.result)
}

fn switches(method: &Method) -> usize {
    method
        .instructions
        .iter()
        .filter(|(_, i)| matches!(i.op(), TABLESWITCH | LOOKUPSWITCH))
        .count()
}

/// Lays the body out. See the drawing in [`super`].
pub(super) fn assemble(method: &Method, points: &[Point], refs: &Refs) -> Result<Laid, Refusal> {
    let mut a = Assembler::new();
    let stubs: Vec<Label> = points.iter().map(|_| a.fresh()).collect();
    let starts: Vec<Label> = method.instructions.iter().map(|_| a.fresh()).collect();
    for (i, (pc, instruction)) in method.instructions.iter().enumerate() {
        let mut here = points
            .iter()
            .zip(&stubs)
            .filter(|(p, _)| p.instruction == i)
            .peekable();
        let check = |a: &mut Assembler, p: &Point, stub: Label| {
            a.pool(GETSTATIC, refs.capture.cell);
            a.pool(
                INVOKEVIRTUAL,
                if p.kind == PointKind::Entry {
                    refs.on
                } else {
                    refs.leave
                },
            );
            a.branch(IFNE, stub);
        };
        // Point 0 comes before the label: what branches back to here has long begun.
        if let Some((p, stub)) = here.next_if(|(p, _)| p.kind == PointKind::Entry) {
            check(&mut a, p, *stub);
        }
        a.place(Label::pc(*pc));
        for (p, stub) in here {
            check(&mut a, p, *stub);
        }
        a.place(starts[i]);
        a.push(instruction.clone());
    }
    a.place(Label(method.code.code.len() as u32));
    let result = &method.signature.result;
    let tails = capture::Tails::new(&mut a, points, result);
    let last = |of: capture::Way| points.iter().rposition(|p| capture::way(p, result) == of);
    let last_frame = last(capture::Way::Frame);
    let last_exit = last(capture::Way::Return);
    for (n, (p, stub)) in points.iter().zip(&stubs).enumerate() {
        a.place(*stub);
        match capture::way(p, result) {
            capture::Way::Entry => {
                a.pool(GETSTATIC, refs.capture.cell);
                a.pool(INVOKESTATIC, refs.version);
                for (slot, t) in p.locals.iter().filter(|l| l.1 != Type::Null) {
                    a.local(ILOAD + kind(t), *slot);
                }
                capture::drop_locals(&mut a, &capture::object_arguments(p));
                a.pool(INVOKEVIRTUAL, refs.enter);
                a.plain(return_op(method));
            }
            capture::Way::Return => {
                a.push(Instruction::Push(p.id.0 as i16));
                if let Some(tail) = tails.exit {
                    if Some(n) == last_exit {
                        a.place(tail);
                        refs.capture.exit_tail(&mut a, result);
                    } else {
                        a.branch(GOTO, tail);
                    }
                }
            }
            capture::Way::Frame => {
                let temp = method.code.max_locals;
                refs.capture.framed(&mut a, p, temp);
                if let Some(tail) = tails.frame {
                    if Some(n) == last_frame {
                        a.place(tail);
                        let dropped =
                            capture::dropped(method, capture::framed(points, result), temp);
                        refs.capture.go(&mut a, &dropped, result);
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
    Ok(Laid {
        out,
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
