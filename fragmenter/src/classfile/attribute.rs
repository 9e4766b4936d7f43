//! Attributes (JVMS 4.7), kept as raw bytes. An attribute is decoded only on request, and an
//! unchanged attribute is written back byte for byte.

use std::borrow::Cow;

use super::error::ClassFileError;
use super::pool::ConstantPool;
use super::reader::{Reader, put_count, put_u16, put_u32};

/// An attribute of a class, field, method or `Code`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Pool index of its name (`Utf8`).
    pub name: u16,
    /// Content, without name and length.
    pub info: Cow<'a, [u8]>,
}

impl Attribute<'_> {
    /// True if the attribute has this name.
    pub fn is(&self, pool: &ConstantPool<'_>, name: &str) -> bool {
        pool.utf8(self.name)
            .is_ok_and(|found| found == name.as_bytes())
    }

    /// Converts the attribute into one that borrows nothing.
    pub fn into_owned(self) -> Attribute<'static> {
        Attribute {
            name: self.name,
            info: Cow::Owned(self.info.into_owned()),
        }
    }
}

/// Returns the first attribute with this name.
pub fn find<'l, 'a>(
    attributes: &'l [Attribute<'a>],
    pool: &ConstantPool<'_>,
    name: &str,
) -> Option<&'l Attribute<'a>> {
    attributes.iter().find(|attribute| attribute.is(pool, name))
}

/// Reads a counted list of attributes.
pub(super) fn read_attributes<'a>(
    reader: &mut Reader<'a>,
) -> Result<Vec<Attribute<'a>>, ClassFileError> {
    let count = reader.u16("an attribute count")?;
    let mut attributes = reader.vec_for(count, 6);
    for _ in 0..count {
        let name = reader.u16("an attribute's name")?;
        let length = reader.u32("an attribute's length")?;
        // A length that does not fit `usize` exceeds the input, so `read_bytes` reports the error.
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let info = reader.read_bytes(length, "an attribute")?;
        attributes.push(Attribute {
            name,
            info: Cow::Borrowed(info),
        });
    }
    Ok(attributes)
}

/// Writes a counted list of attributes.
pub(super) fn write_attributes(
    out: &mut Vec<u8>,
    attributes: &[Attribute<'_>],
) -> Result<(), ClassFileError> {
    put_count(out, attributes.len(), "an attribute list")?;
    for attribute in attributes {
        write_attribute(out, attribute.name, &attribute.info)?;
    }
    Ok(())
}

/// Writes an attribute.
pub(super) fn write_attribute(
    out: &mut Vec<u8>,
    name: u16,
    info: &[u8],
) -> Result<(), ClassFileError> {
    let length = u32::try_from(info.len()).map_err(|_| ClassFileError::TooLong {
        what: "an attribute",
        length: info.len(),
        limit: u32::MAX as usize,
    })?;
    put_u16(out, name);
    put_u32(out, length);
    out.extend_from_slice(info);
    Ok(())
}

/// Returns the number of bytes that [`write_attributes`] writes.
pub(super) fn attributes_size(attributes: &[Attribute<'_>]) -> usize {
    2 + attributes
        .iter()
        .map(|attribute| 6 + attribute.info.len())
        .sum::<usize>()
}
