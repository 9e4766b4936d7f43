//! The `Code` attribute (JVMS 4.7.3).

use std::borrow::Cow;

use super::attribute::{Attribute, attributes_size, find, read_attributes, write_attributes};
use super::error::ClassFileError;
use super::pool::ConstantPool;
use super::reader::{Reader, put_count, put_u16, put_u32};

/// A method's code, borrowing from the attribute's bytes.
///
/// Class files before version 45.3 (JDK 1.0.2) use a shorter form of this attribute, which HotSpot
/// still loads. This reader does not support the form, so a class of such a version must be left
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code<'a> {
    /// Maximum depth of the operand stack, in slots (`long` and `double` take two).
    pub max_stack: u16,
    /// Number of local variables, in slots.
    pub max_locals: u16,
    /// The bytecode, 1 to 65,535 bytes.
    pub code: Cow<'a, [u8]>,
    /// Exception table. The first matching entry applies.
    pub exceptions: Vec<ExceptionRange>,
    /// Line numbers, local variables, stack maps, type annotations.
    pub attributes: Vec<Attribute<'a>>,
}

/// An entry of the exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExceptionRange {
    /// First protected pc.
    pub start: u16,
    /// pc after the last protected instruction; may be the code length.
    pub end: u16,
    /// pc of the handler.
    pub handler: u16,
    /// Pool index of the caught class (`Class`); 0 for any.
    pub catch_type: u16,
}

impl<'a> Code<'a> {
    /// Parses the `info` of a `Code` attribute. The instructions are not decoded.
    ///
    /// # Errors
    /// If the attribute is truncated or continues after its end, or if its code is empty or too
    /// long.
    pub fn parse(info: &'a [u8]) -> Result<Self, ClassFileError> {
        let mut reader = Reader::new(info);
        let max_stack = reader.u16("max_stack")?;
        let max_locals = reader.u16("max_locals")?;
        let length = usize::try_from(reader.u32("code_length")?).unwrap_or(usize::MAX);
        check_length(length)?;
        let code = Cow::Borrowed(reader.read_bytes(length, "the bytecode")?);
        let count = reader.u16("the exception table's length")?;
        let mut exceptions = reader.vec_for(count, 8);
        for _ in 0..count {
            exceptions.push(ExceptionRange {
                start: reader.u16("an exception range")?,
                end: reader.u16("an exception range")?,
                handler: reader.u16("an exception range")?,
                catch_type: reader.u16("an exception range")?,
            });
        }
        let attributes = read_attributes(&mut reader)?;
        reader.finish("the Code attribute")?;
        Ok(Code {
            max_stack,
            max_locals,
            code,
            exceptions,
            attributes,
        })
    }

    /// Serialises the `info` of the `Code` attribute.
    ///
    /// # Errors
    /// If the code is empty or too long, or a list has become too long for its count.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ClassFileError> {
        check_length(self.code.len())?;
        let size =
            10 + self.code.len() + 8 * self.exceptions.len() + attributes_size(&self.attributes);
        let mut out = Vec::with_capacity(size);
        put_u16(&mut out, self.max_stack);
        put_u16(&mut out, self.max_locals);
        // `check_length` limits the length to 16 bits.
        put_u32(&mut out, self.code.len() as u32);
        out.extend_from_slice(&self.code);
        put_count(&mut out, self.exceptions.len(), "an exception table")?;
        for range in &self.exceptions {
            put_u16(&mut out, range.start);
            put_u16(&mut out, range.end);
            put_u16(&mut out, range.handler);
            put_u16(&mut out, range.catch_type);
        }
        write_attributes(&mut out, &self.attributes)?;
        Ok(out)
    }

    /// Returns the first attribute with this name.
    pub fn attribute(&self, pool: &ConstantPool<'_>, name: &str) -> Option<&Attribute<'a>> {
        find(&self.attributes, pool, name)
    }
}

fn check_length(length: usize) -> Result<(), ClassFileError> {
    match length {
        1..=0xffff => Ok(()),
        _ => Err(ClassFileError::CodeLength(length)),
    }
}
