//! Validates the references and names of a class file before constants are appended.
//!
//! A malformed class file may refer to a constant beyond the end of its pool. The JVM refuses such
//! a file. After constants are appended, the same index would refer to one of them, and the error
//! would change or disappear. So a pool must be *closed* (all references stay within it) before it
//! is extended.

use super::class::ClassFile;
use super::error::ClassFileError;
use super::{ConstantPool, ConstantTag, PoolEntry, text};

impl ConstantPool<'_> {
    /// Checks that every entry refers to existing entries of the right kind.
    ///
    /// # Errors
    /// Names the first entry that does not.
    pub fn check_closed(&self) -> Result<(), ClassFileError> {
        if self.is_closed() {
            return Ok(());
        }
        for index in self.indices() {
            match self.entry(index)? {
                PoolEntry::Class(text)
                | PoolEntry::String(text)
                | PoolEntry::MethodType(text)
                | PoolEntry::Module(text)
                | PoolEntry::Package(text) => self.check_tag(text, "Utf8", &[ConstantTag::Utf8])?,
                PoolEntry::Field {
                    class,
                    name_and_type,
                }
                | PoolEntry::Method {
                    class,
                    name_and_type,
                }
                | PoolEntry::InterfaceMethod {
                    class,
                    name_and_type,
                } => {
                    self.check_tag(class, "Class", &[ConstantTag::Class])?;
                    self.check_tag(name_and_type, "NameAndType", &[ConstantTag::NameAndType])?;
                }
                PoolEntry::NameAndType { name, descriptor } => {
                    self.check_tag(name, "Utf8", &[ConstantTag::Utf8])?;
                    self.check_tag(descriptor, "Utf8", &[ConstantTag::Utf8])?;
                }
                PoolEntry::MethodHandle { reference, .. } => {
                    let members = [
                        ConstantTag::Field,
                        ConstantTag::Method,
                        ConstantTag::InterfaceMethod,
                    ];
                    self.check_tag(reference, "field or method", &members)?;
                }
                PoolEntry::Dynamic { name_and_type, .. }
                | PoolEntry::InvokeDynamic { name_and_type, .. } => {
                    self.check_tag(name_and_type, "NameAndType", &[ConstantTag::NameAndType])?;
                }
                PoolEntry::Utf8(_)
                | PoolEntry::Integer(_)
                | PoolEntry::Float(_)
                | PoolEntry::Long(_)
                | PoolEntry::Double(_) => {}
            }
        }
        Ok(())
    }

    /// Whether every entry refers to existing entries of the right kind. This is
    /// [`ConstantPool::check_closed`] without the name of the entry, in a tenth of the time.
    fn is_closed(&self) -> bool {
        use ConstantTag::*;
        let is = |high: u8, low: u8, tag: ConstantTag| {
            self.tag_byte(u16::from_be_bytes([high, low])) == tag as u8
        };
        self.entries().all(|entry| {
            let Some(tag) = entry.first().and_then(|byte| ConstantTag::from_byte(*byte)) else {
                return false;
            };
            match (tag, entry) {
                (Utf8 | Integer | Float | Long | Double, _) => true,
                (Class | String | MethodType | Module | Package, [_, a, b, ..]) => is(*a, *b, Utf8),
                (Field | Method | InterfaceMethod, [_, a, b, c, d, ..]) => {
                    is(*a, *b, Class) && is(*c, *d, NameAndType)
                }
                (NameAndType, [_, a, b, c, d, ..]) => is(*a, *b, Utf8) && is(*c, *d, Utf8),
                (MethodHandle, [_, _, a, b, ..]) => [Field, Method, InterfaceMethod]
                    .into_iter()
                    .any(|member| is(*a, *b, member)),
                (Dynamic | InvokeDynamic, [_, _, _, c, d, ..]) => is(*c, *d, NameAndType),
                _ => false,
            }
        })
    }

    /// Whether all texts of the pool are ASCII without U+0000, which are proper names.
    fn is_ascii(&self) -> bool {
        self.texts().all(|(_, text)| text::is_plain(text))
    }

    /// Checks that names and descriptors keep their bytes when they are decoded to text and encoded
    /// again. This is necessary because new constants are built from text.
    ///
    /// # Errors
    /// Names the first entry whose bytes would change.
    pub fn check_names(&self) -> Result<(), ClassFileError> {
        if self.is_ascii() {
            return Ok(());
        }
        let proper = |index: u16| {
            if text::is_proper(self.utf8(index)?) {
                Ok(())
            } else {
                Err(ClassFileError::OddName(index))
            }
        };
        for index in self.indices() {
            match self.entry(index)? {
                PoolEntry::Class(name) | PoolEntry::MethodType(name) => proper(name)?,
                PoolEntry::NameAndType { name, descriptor } => {
                    proper(name)?;
                    proper(descriptor)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_tag(
        &self,
        index: u16,
        expected: &'static str,
        tags: &[ConstantTag],
    ) -> Result<(), ClassFileError> {
        let found = self.tag(index)?;
        if tags.contains(&found) {
            Ok(())
        } else {
            Err(ClassFileError::WrongTag {
                index,
                expected,
                found,
            })
        }
    }
}

impl ClassFile<'_> {
    /// Checks that the pool is closed. Also checks that the class, its supertypes, its members and
    /// all attributes are named by entries of the right kind.
    ///
    /// # Errors
    /// Names the first invalid reference.
    pub fn check_closed(&self) -> Result<(), ClassFileError> {
        let pool = &self.pool;
        pool.check_closed()?;
        pool.check_tag(self.this_class, "Class", &[ConstantTag::Class])?;
        if self.super_class != 0 {
            pool.check_tag(self.super_class, "Class", &[ConstantTag::Class])?;
        }
        for interface in &self.interfaces {
            pool.check_tag(*interface, "Class", &[ConstantTag::Class])?;
        }
        let members = self.fields.iter().chain(&self.methods);
        for member in members.clone() {
            pool.check_tag(member.name, "Utf8", &[ConstantTag::Utf8])?;
            pool.check_tag(member.descriptor, "Utf8", &[ConstantTag::Utf8])?;
        }
        let attributes = members.flat_map(|m| &m.attributes).chain(&self.attributes);
        for attribute in attributes {
            pool.check_tag(attribute.name, "Utf8", &[ConstantTag::Utf8])?;
        }
        Ok(())
    }

    /// Checks all names of the pool and of the members, see [`ConstantPool::check_names`].
    ///
    /// # Errors
    /// Names the first entry whose bytes would change.
    pub fn check_names(&self) -> Result<(), ClassFileError> {
        if self.pool.is_ascii() {
            return Ok(());
        }
        self.pool.check_names()?;
        for member in self.fields.iter().chain(&self.methods) {
            for index in [member.name, member.descriptor] {
                if !text::is_proper(self.pool.utf8(index)?) {
                    return Err(ClassFileError::OddName(index));
                }
            }
        }
        Ok(())
    }
}
