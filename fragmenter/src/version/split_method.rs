//! The resume body of a split method ([`crate::split`]): a method for each part, and one that chooses
//! the part by the capture point of the frame.
//!
//! ```text
//!   search$r17(frame)   switch (frame.point)  ─▶  search$p1073741824(frame)
//!                                             ─▶  search$p1073741825(frame)
//!                       no such point         ─▶  frame
//! ```

use super::emitter::Emitter;
use super::method_body::{EmittedMethod, STATIC, emit_body, member, places};
use super::plan::{Bodies, VersionPlan};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction, Label};
use crate::classfile::{Attribute, Code, Member, encode_stack_map};
use crate::frames;
use crate::patch::Patched;
use crate::refusal::Refusal;
use crate::runtime;
use crate::split::Parts;
use crate::types::{State, Type};

/// A part with its capture points.
struct Part {
    /// The name of the method.
    name: String,
    /// The numbers of the points at which activations enter the part.
    points: Vec<i32>,
}

/// Emits the resume body of a split method.
pub(super) fn emit(
    e: &mut Emitter,
    plan: &VersionPlan,
    patched: &Patched,
    parts: &Parts,
) -> Result<EmittedMethod, Refusal> {
    let mut emitted = Vec::new();
    let mut members = Vec::new();
    for number in 0..parts.count() {
        let armed = plan.armed.points.iter().skip(1);
        let points: Vec<i32> = armed
            .chain(&patched.edit_points)
            .filter(|p| parts.part(patched.point_place(p)) == number)
            .map(|p| i32::from(p.id.0))
            .collect();
        if points.is_empty() {
            // Only new activations are in this part.
            continue;
        }
        let body = emit_body(e, plan, patched, (Bodies::Resume, Some(number)))?;
        let key = runtime::part_key(e.part_count)
            .ok_or_else(|| Refusal::Internal("too many parts".into()))?;
        e.part_count += 1;
        e.part_places.extend(places(key, &body)?);
        let name = runtime::part_method(&plan.method.name, key);
        members.push(member(
            e,
            &name,
            runtime::RESUME_DESCRIPTOR,
            STATIC,
            &body.code,
        )?);
        emitted.push(Part { name, points });
    }
    // The JVM looks for the position of an activation in this body, which has none.
    e.places.extend([plan.id.as_java(), 0]);
    members.insert(0, choose_part(e, plan, &emitted)?);
    Ok(EmittedMethod {
        members,
        spans: Vec::new(),
    })
}

/// Emits the method that calls the part of a frame. A frame with an unknown point is returned, as
/// every resume body does.
fn choose_part(
    e: &mut Emitter,
    plan: &VersionPlan,
    parts: &[Part],
) -> Result<Member<'static>, Refusal> {
    let mut a = Assembler::new();
    a.local(ALOAD, 0);
    let class = e.pool.add_class(runtime::FRAME)?;
    a.pool(CHECKCAST, class);
    e.frame_call(&mut a, "point", "()I")?;
    let unknown = a.fresh();
    let labels: Vec<Label> = parts.iter().map(|_| a.fresh()).collect();
    let mut pairs: Vec<(i32, Label)> = parts
        .iter()
        .zip(&labels)
        .flat_map(|(part, label)| part.points.iter().map(|point| (*point, *label)))
        .collect();
    pairs.sort_unstable_by_key(|pair| pair.0);
    a.push(Instruction::LookupSwitch {
        default: unknown,
        pairs,
    });
    for (part, label) in parts.iter().zip(&labels) {
        a.place(*label);
        a.local(ALOAD, 0);
        let owner = e.self_name.clone();
        let method = e
            .pool
            .add_method(&owner, &part.name, runtime::RESUME_DESCRIPTOR)?;
        a.pool(INVOKESTATIC, method);
        a.plain(ARETURN);
    }
    a.place(unknown);
    a.local(ALOAD, 0);
    a.plain(ARETURN);
    let out = a.finish()?;
    let state = State {
        locals: vec![Type::object("java/lang/Object")],
        stack: Vec::new(),
    };
    let no_new = |_: u16| None;
    let mut at: Vec<u16> = labels
        .iter()
        .chain([&unknown])
        .filter_map(|label| out.at(*label))
        .collect();
    at.sort_unstable();
    let mut stack_map = Vec::with_capacity(at.len());
    for pc in at {
        stack_map.push(frames::frame(pc, &state, &mut e.pool, &no_new)?);
    }
    let initial = frames::locals(&state.locals, &mut e.pool, &no_new)?;
    let attribute = Attribute {
        name: e.pool.add_utf8("StackMapTable")?,
        info: encode_stack_map(&stack_map, &initial)?.into(),
    };
    let code = Code {
        // One word more than the code needs, as in every body (`body/code_attribute.rs`).
        max_stack: 2,
        max_locals: 1,
        code: out.code.into(),
        exceptions: Vec::new(),
        attributes: vec![attribute],
    };
    let name = runtime::resume_method(&plan.method.name, plan.id);
    member(e, &name, runtime::RESUME_DESCRIPTOR, STATIC, &code)
}
