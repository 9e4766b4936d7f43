//! Call sites of a version. A call site either repeats a call site of the host (`relink`), or
//! replaces an operation that only the host may perform (`bind`).

use super::content::Parts;
use super::content_numbers::{ContentNumbers, bytes};
use super::descriptor::shape;
use super::{ConstantError, Constants, Effect, Meaning, Resolved, Role};
use crate::bytecode::opcode::*;
use crate::classfile::PoolEntry;
use crate::runtime;
use veneer_names::MethodDescriptor;

const BIND: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/Class;Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/invoke/CallSite;";
const RELINK: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/invoke/MethodHandle;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;";

/// The `bind` kind that returns the host's lookup object.
const LOOKUP: i32 = 9;

fn kind_of(entry: PoolEntry) -> Option<i32> {
    match entry {
        PoolEntry::Integer(kind) => Some(kind),
        _ => None,
    }
}

impl Constants<'_> {
    /// True if a bootstrap method is this method of `VeneerRuntime`.
    pub(super) fn calls(&self, row: u16, name: &str, descriptor: &str) -> Resolved<bool> {
        let Some(b) = self.bootstrap.get(row as usize) else {
            return Err(ConstantError::NoBootstrapMethod);
        };
        let PoolEntry::MethodHandle { kind: 6, reference } = self.entry(b.handle)? else {
            return Ok(false);
        };
        let (_, c, n, d) = self.parts(reference)?;
        Ok(c == runtime::RUNTIME.as_bytes() && n == name.as_bytes() && d == descriptor.as_bytes())
    }

    pub(super) fn indy(
        &self,
        contents: &mut ContentNumbers,
        site: u32,
        name: &[u8],
        d: &[u8],
        row: &[u8],
    ) -> Meaning {
        // A version may not reuse a different call site of the host with equal content, so the
        // site's index is part of the key.
        let site = if self.other_class { site } else { 0 };
        let content = bytes(b'I', &[&site.to_be_bytes(), name, d, row]);
        let (pops, pushes) = shape(d);
        Meaning::Effect(Effect {
            key: contents.number(content),
            tag: 0,
            pops,
            pushes,
            boxes: 0,
        })
    }

    pub(super) fn call_site(
        &mut self,
        contents: &mut ContentNumbers,
        index: u16,
    ) -> Resolved<Meaning> {
        let (row, name, descriptor) = self.dynamic(index)?;
        if self.role != Role::Version {
            let row = self.row(row, 0)?;
            return Ok(self.indy(contents, index as u32, &name, &descriptor, &row));
        }
        let arguments = match self.bootstrap.get(row as usize) {
            Some(b) => b.arguments.clone(),
            None => return Err(ConstantError::NoBootstrapMethod),
        };
        if self.calls(row, "relink", RELINK)? {
            let [host, site, method, ref rest @ ..] = arguments[..] else {
                return Ok(Meaning::Forbidden("a relinked call site without its site"));
            };
            let PoolEntry::String(site) = self.entry(site)? else {
                return Ok(Meaning::Forbidden("a relinked call site without a number"));
            };
            let text = String::from_utf8(self.utf8(site)?).unwrap_or_default();
            let numbers: Result<Vec<u16>, _> = text.split(' ').map(str::parse).collect();
            let Ok([site, special @ ..]) = numbers.as_deref() else {
                return Ok(Meaning::Forbidden("a relinked call site without a number"));
            };
            if self.class_bytes(host)? != self.host.as_bytes() {
                return Ok(Meaning::Forbidden("a call site of another host"));
            }
            let mut row = self.content(method, 1)?;
            for (place, index) in rest.iter().enumerate() {
                let special = special.iter().any(|s| usize::from(*s) == place);
                row.extend(self.relinked(*index, special)?);
            }
            return Ok(self.indy(contents, u32::from(*site), &name, &descriptor, &row));
        }
        if self.calls(row, "bind", BIND)? {
            let [kind, class, host, typed] = arguments[..] else {
                return Ok(Meaning::Forbidden("a bound call site without its member"));
            };
            let PoolEntry::String(typed) = self.entry(typed)? else {
                return Ok(Meaning::Forbidden("a bound call site without its types"));
            };
            let typed = self.utf8(typed)?;
            let lookup = kind_of(self.entry(kind)?) == Some(LOOKUP);
            let parsed = std::str::from_utf8(&typed).map(MethodDescriptor::parse);
            let erased = parsed
                .into_iter()
                .flatten()
                .next()
                .map(MethodDescriptor::erased);
            if !lookup && erased.is_none_or(|erased| erased.as_bytes() != descriptor)
                || lookup && typed != descriptor
            {
                return Ok(Meaning::Forbidden("a bound call site of another type"));
            }
            let PoolEntry::Integer(kind) = self.entry(kind)? else {
                return Ok(Meaning::Forbidden("a bound call site of no kind"));
            };
            if self.class_bytes(host)? != self.host.as_bytes() {
                return Ok(Meaning::Forbidden("a call site of another host"));
            }
            let class = self.class_bytes(class)?;
            return Ok(self.bound_site(contents, kind, &class, &name, &typed));
        }
        Ok(Meaning::Forbidden("a call site that is not the host's"))
    }

    /// Returns the descriptor if this member is `MethodHandle.invokeExact`.
    pub(in crate::check) fn exact_call(&self, member: u16) -> Resolved<Option<Vec<u8>>> {
        let (_, class, name, descriptor) = self.parts(member)?;
        let exact = class == b"java/lang/invoke/MethodHandle" && name == b"invokeExact";
        Ok(exact.then_some(descriptor))
    }

    /// Returns the effect of a method handle for a member of the host, and the descriptor of a method
    /// that takes the same operands. The numbers of the operations are the `BIND` constants of the
    /// runtime classes.
    pub(in crate::check) fn bound(
        &self,
        contents: &mut ContentNumbers,
        operation: u8,
        (_, class, name, d): &Parts,
    ) -> Option<(Effect, String)> {
        let text = |b: &[u8]| std::str::from_utf8(b).ok().map(str::to_string);
        let (owner, d_text) = (text(class)?, text(d)?);
        let with = |receiver: &str| Some(format!("(L{receiver};{}", d_text.strip_prefix('(')?));
        let (op, typed) = match operation {
            1 => (INVOKESPECIAL, with(&self.host)?),
            2 => (INVOKEVIRTUAL, with(&owner)?),
            3 => (INVOKESTATIC, d_text),
            4 => (GETFIELD, format!("(L{owner};){d_text}")),
            5 => (PUTFIELD, format!("(L{owner};{d_text})V")),
            6 => (GETSTATIC, format!("(){d_text}")),
            7 => (PUTSTATIC, format!("({d_text})V")),
            _ => return None,
        };
        match self.effect(contents, op, 0, class, name, d) {
            Meaning::Effect(effect) => Some((effect, typed)),
            _ => None,
        }
    }

    /// Translates a bound call site back into the operation that it replaces. The numbers are the
    /// `bind` kinds of `VeneerRuntime`.
    fn bound_site(
        &mut self,
        contents: &mut ContentNumbers,
        kind: i32,
        class: &[u8],
        name: &[u8],
        d: &[u8],
    ) -> Meaning {
        let value = |of: &[u8]| -> Option<Vec<u8>> {
            Some(of.strip_prefix(b"(")?.strip_suffix(b")V")?.to_vec())
        };
        let found = match kind {
            9 if class == b"java/lang/invoke/MethodHandles" && name == b"lookup" => {
                Some((INVOKESTATIC, d.to_vec()))
            }
            10 if class == self.host.as_bytes() => value(d).map(|d| (PUTSTATIC, d)),
            _ => None,
        };
        match found {
            Some((op, d)) => self.effect(contents, op, 0, class, name, &d),
            None => Meaning::Forbidden("a bound call site whose type does not fit its member"),
        }
    }
}
