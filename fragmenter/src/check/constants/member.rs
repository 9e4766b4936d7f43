//! The effects of calls and field accesses.

use super::content_numbers::{ContentNumbers, bytes};
use super::descriptor::{shape, words_of};
use super::{Constants, Effect, FinalField, Meaning, Resolved, Role};
use crate::bytecode::opcode::*;

impl Constants<'_> {
    pub(super) fn effect(
        &self,
        contents: &mut ContentNumbers,
        op: u8,
        tag: u8,
        class: &[u8],
        name: &[u8],
        d: &[u8],
    ) -> Meaning {
        let (pops, pushes) = match op {
            GETSTATIC => (0, words_of(d)),
            PUTSTATIC => (words_of(d) as u16, 0),
            GETFIELD => (1, words_of(d)),
            PUTFIELD => (1 + words_of(d) as u16, 0),
            INVOKESTATIC => shape(d),
            _ => {
                let (pops, pushes) = shape(d);
                (pops + 1, pushes)
            }
        };
        let boxes = match (op, class, name, d) {
            (INVOKESTATIC, b"java/lang/Integer", b"valueOf", b"(I)Ljava/lang/Integer;")
            | (INVOKEVIRTUAL, b"java/lang/Integer", b"intValue", b"()I") => b'I',
            (INVOKESTATIC, b"java/lang/Long", b"valueOf", b"(J)Ljava/lang/Long;")
            | (INVOKEVIRTUAL, b"java/lang/Long", b"longValue", b"()J") => b'J',
            (INVOKESTATIC, b"java/lang/Float", b"valueOf", b"(F)Ljava/lang/Float;")
            | (INVOKEVIRTUAL, b"java/lang/Float", b"floatValue", b"()F") => b'F',
            (INVOKESTATIC, b"java/lang/Double", b"valueOf", b"(D)Ljava/lang/Double;")
            | (INVOKEVIRTUAL, b"java/lang/Double", b"doubleValue", b"()D") => b'D',
            _ => 0,
        };
        let private = self.other_class
            && matches!(op, INVOKESPECIAL | INVOKEVIRTUAL | INVOKEINTERFACE)
            && self.is_private(class, name, d);
        let op = if private { b'P' } else { op };
        Meaning::Effect(Effect {
            key: contents.number(bytes(op, &[class, name, d])),
            tag,
            pops,
            pushes,
            boxes,
        })
    }

    /// The indexes of the host's final fields.
    pub(in crate::check) fn final_fields(&self) -> Vec<u16> {
        self.final_fields.iter().map(|f| f.index).collect()
    }

    /// Returns the effect of a store to the host's final instance field with this index in the host's
    /// class file, if the field's type has this kind.
    pub(in crate::check) fn final_store(
        &self,
        contents: &mut ContentNumbers,
        index: u16,
        kind: u8,
    ) -> Option<Effect> {
        let of_index = |f: &&FinalField| f.index == index && !f.is_static;
        let field = self.final_fields.iter().find(of_index)?;
        let of_kind = match field.descriptor.first()? {
            b'[' => b'L',
            other => *other,
        };
        let (host, name, d) = (self.host.as_bytes(), &field.name, &field.descriptor);
        match self.effect(contents, PUTFIELD, 0, host, name, d) {
            Meaning::Effect(effect) if of_kind == kind => Some(effect),
            _ => None,
        }
    }

    pub(super) fn is_private(&self, class: &[u8], name: &[u8], d: &[u8]) -> bool {
        class == self.host.as_bytes()
            && name != b"<init>"
            && self
                .private_methods
                .iter()
                .any(|(n, t)| n == name && t == d)
    }

    pub(super) fn member(
        &mut self,
        contents: &mut ContentNumbers,
        op: u8,
        index: u16,
    ) -> Resolved<Meaning> {
        let (tag, class, name, d) = self.parts(index)?;
        if self.role != Role::Original
            && let Some(operation) = self.runtime_operation(op, &class, &name, &d)
        {
            return Ok(operation);
        }
        if self.role == Role::Version {
            let own = class == self.host.as_bytes();
            let of_class = |s: bool| {
                own && self
                    .final_fields
                    .iter()
                    .any(|f| f.name == name && f.descriptor == d && f.is_static == s)
            };
            if op == INVOKESPECIAL && name != b"<init>" {
                return Ok(Meaning::Forbidden(
                    "`invokespecial` of another class's method",
                ));
            }
            if op == PUTFIELD && of_class(false) || op == PUTSTATIC && of_class(true) {
                return Ok(Meaning::Forbidden(
                    "a store to a final field of another class",
                ));
            }
            if class == b"java/lang/invoke/MethodHandles" && name == b"lookup" {
                return Ok(Meaning::Forbidden("a lookup that is not the host's"));
            }
        }
        Ok(self.effect(contents, op, tag as u8, &class, &name, &d))
    }
}
