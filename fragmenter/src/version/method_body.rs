//! The members of a version class that hold bodies.

use super::body::{self, EmittedBody};
use super::emitter::Emitter;
use super::plan::{Bodies, PositionTracking, VersionPlan};
use super::version_class::Span;
use crate::classfile::{Attribute, Code, Member};
use crate::hotspot::{MAX_COMPILED_BYTES, MAX_INLINE_BYTES};
use crate::patch::Patched;
use crate::refusal::Refusal;

/// An annotation that hides a body from methods that determine their caller (`Class.forName`,
/// `Method.invoke` …); these see the host instead. HotSpot honours the annotation in classes
/// defined by `VeneerVersions.define`.
const COMPILED: &str = "Ljava/lang/invoke/LambdaForm$Compiled;";

/// The methods that a version class gets for one method of the host.
pub(super) struct EmittedMethod {
    /// The body that the agent installs, and then the parts of a split method.
    pub members: Vec<Member<'static>>,
    pub spans: Vec<Span>,
}

/// Emits a body, or the part of it with this number, with positions as exact as HotSpot's limits allow.
pub(super) fn emit_body(
    e: &mut Emitter,
    plan: &VersionPlan,
    patched: &Patched,
    (bodies, part): (Bodies, Option<u16>),
) -> Result<EmittedBody, Refusal> {
    let before = plan.method.code.code.len();
    let inlinable = before <= MAX_INLINE_BYTES;
    let scope = (bodies, part);
    let mut body = body::emit(e, plan, patched, scope, PositionTracking::Instruction)?;
    // If the body with exact positions is too large for inlining or for compilation, try again with
    // less exact positions.
    if inlinable && body.code.code.len() > MAX_INLINE_BYTES {
        let by_line = body::emit(e, plan, patched, scope, PositionTracking::Line)?;
        if by_line.code.code.len() <= MAX_INLINE_BYTES {
            body = by_line;
        }
    }
    if before <= MAX_COMPILED_BYTES || part.is_some() {
        for track in [PositionTracking::Line, PositionTracking::No] {
            if body.code.code.len() > MAX_COMPILED_BYTES {
                body = body::emit(e, plan, patched, scope, track)?;
            }
        }
        if body.code.code.len() > MAX_COMPILED_BYTES && part.is_none() {
            return Err(Refusal::CompileLimit(before, body.code.code.len()));
        }
    }
    e.largest_body = e.largest_body.max(body.code.code.len());
    Ok(body)
}

/// The entry of [`VersionClass::places`] for a body.
pub(super) fn places(key: i32, body: &EmittedBody) -> Result<Vec<i32>, Refusal> {
    let count = i32::try_from(body.armed_pcs.len());
    let count = count.map_err(|_| Refusal::Internal("too many positions".into()))?;
    let pairs = body.armed_pcs.iter();
    let pairs = pairs.map(|(pc, at)| (*pc as i32) << 16 | *at as i32);
    Ok([key, count].into_iter().chain(pairs).collect())
}

pub(super) const STATIC: u16 = 0x1008;
pub(super) const FINAL: u16 = 0x1010;

/// A method of the version class.
pub(super) fn member(
    e: &mut Emitter,
    name: &str,
    descriptor: &str,
    access: u16,
    code: &Code,
) -> Result<Member<'static>, Refusal> {
    let mut attributes = vec![Attribute {
        name: e.pool.add_utf8("Code")?,
        info: code.to_bytes()?.into(),
    }];
    // The attribute has one annotation without elements.
    let mut info = 1u16.to_be_bytes().to_vec();
    info.extend(e.pool.add_utf8(COMPILED)?.to_be_bytes());
    info.extend([0, 0]);
    attributes.push(Attribute {
        name: e.pool.add_utf8("RuntimeVisibleAnnotations")?,
        info: info.into(),
    });
    Ok(Member {
        access,
        name: e.pool.add_utf8(name)?,
        descriptor: e.pool.add_utf8(descriptor)?,
        attributes,
    })
}
