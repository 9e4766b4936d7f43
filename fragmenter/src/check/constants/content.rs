//! Encodes constants by their content, including all constants that they refer to.

use super::content_numbers::bytes;
use super::{ConstantError, Constants, Resolved};
use crate::classfile::{ConstantTag, PoolEntry};

/// A member reference: tag, class, name and descriptor.
pub(super) type Parts = (ConstantTag, Vec<u8>, Vec<u8>, Vec<u8>);

impl Constants<'_> {
    pub(super) fn entry(&self, index: u16) -> Resolved<PoolEntry<'_>> {
        Ok(self.file.pool.entry(index)?)
    }

    pub(super) fn utf8(&self, index: u16) -> Resolved<Vec<u8>> {
        Ok(self.file.pool.utf8(index)?.to_vec())
    }

    pub(super) fn class_bytes(&self, index: u16) -> Resolved<Vec<u8>> {
        match self.entry(index)? {
            PoolEntry::Class(name) => self.utf8(name),
            other => Err(ConstantError::NoClass(format!("{other:?}"))),
        }
    }

    /// Reads a dynamic constant: index of the bootstrap method, name and descriptor.
    pub(super) fn dynamic(&self, index: u16) -> Resolved<(u16, Vec<u8>, Vec<u8>)> {
        let (row, name, descriptor) = self.file.pool.dynamic(index)?;
        Ok((row, self.utf8(name)?, self.utf8(descriptor)?))
    }

    /// Reads a member reference.
    pub(in crate::check) fn parts(&self, index: u16) -> Resolved<Parts> {
        let m = self.file.pool.member(index)?;
        Ok((
            m.tag,
            self.class_bytes(m.class)?,
            self.utf8(m.name)?,
            self.utf8(m.descriptor)?,
        ))
    }

    /// Encodes a constant with all constants that it refers to.
    pub(super) fn content(&self, index: u16, depth: u8) -> Resolved<Vec<u8>> {
        if depth > 16 {
            return Err(ConstantError::Circle);
        }
        Ok(match self.entry(index)? {
            PoolEntry::Utf8(b) => bytes(b'u', &[b]),
            PoolEntry::Integer(v) => bytes(b'i', &[&v.to_be_bytes()]),
            PoolEntry::Float(v) => bytes(b'f', &[&v.to_bits().to_be_bytes()]),
            PoolEntry::Long(v) => bytes(b'j', &[&v.to_be_bytes()]),
            PoolEntry::Double(v) => bytes(b'd', &[&v.to_bits().to_be_bytes()]),
            PoolEntry::Class(i) => bytes(b'c', &[&self.utf8(i)?]),
            PoolEntry::String(i) => bytes(b's', &[&self.utf8(i)?]),
            PoolEntry::MethodType(i) => bytes(b't', &[&self.utf8(i)?]),
            PoolEntry::MethodHandle { kind, reference } => self.handle(kind, reference)?,
            PoolEntry::Dynamic { .. } => {
                let (row, name, descriptor) = self.dynamic(index)?;
                bytes(b'y', &[&name, &descriptor, &self.row(row, depth)?])
            }
            other => return Err(ConstantError::NotLoadable(format!("{other:?}"))),
        })
    }

    pub(super) fn handle(&self, kind: u8, reference: u16) -> Resolved<Vec<u8>> {
        let (tag, class, name, descriptor) = self.parts(reference)?;
        Ok(bytes(
            b'h',
            &[&[kind, tag as u8], &class, &name, &descriptor],
        ))
    }

    /// Encodes an argument of a relinked call site. If `special` is set, the runtime converts the
    /// argument back into a method handle of kind `invokeSpecial`.
    pub(super) fn relinked(&self, index: u16, special: bool) -> Resolved<Vec<u8>> {
        match self.entry(index)? {
            PoolEntry::MethodHandle {
                kind: 5 | 9,
                reference,
            } if special => self.handle(7, reference),
            _ if special => Err(ConstantError::NoSpecialHandle),
            _ => self.content(index, 1),
        }
    }

    /// Encodes a bootstrap method and its arguments.
    pub(super) fn row(&self, row: u16, depth: u8) -> Resolved<Vec<u8>> {
        let b = self
            .bootstrap
            .get(row as usize)
            .ok_or(ConstantError::NoBootstrapMethod)?;
        let mut out = self.content(b.handle, depth + 1)?;
        for a in &b.arguments {
            out.extend(self.content(*a, depth + 1)?);
        }
        Ok(out)
    }
}
