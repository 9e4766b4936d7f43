//! Laying out an armed body: which points it keeps, and where each instruction comes to lie.
//!
//! Which constants a body refers to does not change its layout, so this needs no constant pool: a version that wants to
//! know where the host's instructions lie asks for the layout alone.

use super::{COMPILE_LIMIT, INLINE_LIMIT, kind};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::method::Method;
use crate::points::{self, Point, PointId, PointKind};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::types::Type;

/// Size of a check: `getstatic`, `invokevirtual`, and a short `ifne`.
pub(super) const CHECK_BYTES: u16 = 9;

/// What a version must know of the armed body that its activations come from.
pub struct ArmedCode {
    /// Where each original instruction came to lie.
    pub pcs: Vec<u16>,
    /// The points that were kept.
    pub points: Vec<Point>,
    /// Bytes of the armed body.
    pub size: usize,
}

/// The constants that the checks and stubs refer to.
pub(super) struct Refs {
    pub cell: u16,
    pub on: u16,
    pub leave: u16,
    /// The call site of each point.
    pub sites: Vec<u16>,
}

/// A layout.
pub(super) struct Laid {
    pub out: Assembled,
    pub stubs: Vec<Label>,
    pub pcs: Vec<u16>,
}

/// The points that [`super::arm`] keeps for a method, and the layout of its armed body.
pub fn layout(method: &Method, policy: &Policy, forced: bool) -> Result<ArmedCode, Refusal> {
    let (points, _) = points::choose(method, policy)?;
    let points = kept(method, points, forced)?;
    let laid = assemble(method, &points, &Refs::none(points.len()))?;
    Ok(ArmedCode {
        pcs: laid.pcs,
        points,
        size: laid.out.code.len(),
    })
}

impl Refs {
    fn none(points: usize) -> Refs {
        Refs {
            cell: 0,
            on: 0,
            leave: 0,
            sites: vec![0; points],
        }
    }
}

/// All points, or fewer where that keeps the method within HotSpot's limits.
pub(super) fn kept(
    method: &Method,
    mut points: Vec<Point>,
    forced: bool,
) -> Result<Vec<Point>, Refusal> {
    let before = method.code.code.len();
    let crosses = |limit: usize, size: usize| before <= limit && size > limit;
    loop {
        let most = before + points.iter().map(most_bytes).sum::<usize>() + 3 * switches(method);
        if !crosses(INLINE_LIMIT, most) && !crosses(COMPILE_LIMIT, most) {
            return Ok(points);
        }
        let size = assemble(method, &points, &Refs::none(points.len()))?
            .out
            .code
            .len();
        if !crosses(INLINE_LIMIT, size) && !crosses(COMPILE_LIMIT, size) {
            return Ok(points);
        }
        // Exits go first: they serve only what is attached while an activation is in its last stretch.
        if points.iter().any(|p| p.kind == PointKind::Exit) {
            points.retain(|p| p.kind != PointKind::Exit);
            (0..).zip(&mut points).for_each(|(n, p)| p.id = PointId(n));
            continue;
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
fn most_bytes(point: &Point) -> usize {
    CHECK_BYTES as usize + 4 * point.locals.len() + 6
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
            a.pool(GETSTATIC, refs.cell);
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
    for ((p, stub), site) in points.iter().zip(&stubs).zip(&refs.sites) {
        a.place(*stub);
        for (slot, t) in p.locals.iter().filter(|l| l.1 != Type::Null) {
            a.local(ILOAD + kind(t), *slot);
        }
        a.push(Instruction::InvokeDynamic { index: *site });
        a.plain(return_op(method));
    }
    let out = a.finish()?;
    let lost = || Refusal::Internal("a label was lost".into());
    let pcs = starts
        .iter()
        .map(|l| out.at(*l).ok_or_else(lost))
        .collect::<Result<_, _>>()?;
    Ok(Laid { out, stubs, pcs })
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
