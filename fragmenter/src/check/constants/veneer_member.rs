//! Recognises the members of Veneer's classes that an instruction names.

use super::runtime_operation::{
    RuntimeOperation, added, first, frame_member, loop_member, probe, static_member, trace_member,
};
use super::{Constants, Meaning, Role};
use crate::bytecode::opcode::*;
use crate::runtime;
use veneer_names::MethodId;

impl Constants<'_> {
    /// Returns the runtime operation of a member access. Returns `None` if the member belongs to
    /// the application, and [`Meaning::Forbidden`] for any other member of a Veneer class.
    pub(super) fn runtime_operation(
        &self,
        op: u8,
        class: &[u8],
        name: &[u8],
        d: &[u8],
    ) -> Option<Meaning> {
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        let (class, name, d) = (text(class), text(name), text(d));
        let version = self.role == Role::Version;
        let number = |head: char| -> Option<MethodId> {
            name.strip_prefix(head)?.parse().ok().map(MethodId)
        };
        if version && class == runtime::RUNTIME && op == INVOKESTATIC {
            let kind = name.strip_prefix("putFinal").map(str::as_bytes);
            if let Some([kind]) = kind
                && d == runtime::put_final_descriptor(*kind)
            {
                return Some(Meaning::PutFinal(*kind));
            }
        }
        let found = if class == self.anchor {
            match (op, number('c'), &*d) {
                (GETSTATIC, Some(id), runtime::CELL_DESCRIPTOR) => Some(RuntimeOperation::Cell(id)),
                (INVOKESTATIC, _, d)
                    if !version
                        && name == runtime::ANCHOR_VERSION
                        && d == runtime::anchor_version_descriptor(&class) =>
                {
                    Some(RuntimeOperation::CastVersion)
                }
                (INVOKEVIRTUAL, ..) if !version => {
                    runtime::method_id(&name).map(RuntimeOperation::Enter)
                }
                _ => None,
            }
        } else if version && class == self.container {
            match (op, number('t'), &*d) {
                (GETSTATIC, Some(id), runtime::HANDLE_DESCRIPTOR) => {
                    Some(RuntimeOperation::Token(id))
                }
                (GETSTATIC, None, runtime::HANDLE_DESCRIPTOR) => {
                    let bound = runtime::bound_member(&name);
                    bound
                        .map(|(operation, member)| RuntimeOperation::BoundHandle(operation, member))
                }
                (GETSTATIC, _, "J") => {
                    let index = name.strip_prefix('f').and_then(|n| n.parse().ok());
                    index.map(RuntimeOperation::FinalOffset)
                }
                (INVOKESTATIC, ..) if name.starts_with("run") => {
                    probe(&d).map(RuntimeOperation::Run)
                }
                _ => None,
            }
        } else if class == runtime::CELL {
            match (op, &*name, &*d) {
                (INVOKEVIRTUAL, "version", "()Ljava/lang/Object;") if !version => {
                    Some(RuntimeOperation::VersionOrNull)
                }
                (INVOKEVIRTUAL, "leave", "()Z") => Some(RuntimeOperation::Leave),
                (INVOKEVIRTUAL, "stale", "(Ljava/lang/invoke/MethodHandle;)Z") if version => {
                    Some(RuntimeOperation::Stale)
                }
                (GETSTATIC, "IDLE", runtime::HANDLE_DESCRIPTOR) if version => {
                    Some(RuntimeOperation::Idle)
                }
                _ => None,
            }
        } else if class == runtime::RUNTIME && op == INVOKESTATIC {
            let found = loop_member(&name, &d);
            found.or_else(|| version.then(|| static_member(&name, &d)).flatten())
        } else if class == runtime::TRACE && op == INVOKESTATIC && version {
            trace_member(&name, &d)
        } else if class == runtime::FRAME && op == INVOKESTATIC {
            first(&name, &d).map(RuntimeOperation::Frame)
        } else if class == runtime::FRAME && op == INVOKEVIRTUAL {
            let found = added(&name, &d).map(RuntimeOperation::Fill);
            found.or_else(|| version.then(|| frame_member(&name, &d)).flatten())
        } else if [runtime::RUNTIME, runtime::FRAME, runtime::TRACE].contains(&&*class) {
            None
        } else {
            return None;
        };
        Some(found.map_or(
            Meaning::Forbidden("a member of Veneer's classes that has no place here"),
            Meaning::Runtime,
        ))
    }
}
