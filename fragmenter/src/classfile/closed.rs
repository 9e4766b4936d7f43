//! Whether a class file's references stay within it.
//!
//! A damaged file may name a constant beyond the end of its pool. The JVM refuses that. Once constants are appended the
//! same number would name one of them, and another error, or none, would come of it. So what is going to be appended to
//! must be closed first.

use super::class::ClassFile;
use super::error::ClassFileError;
use super::{ConstantPool, Entry, Tag, text};

impl ConstantPool<'_> {
    /// Checks that every entry refers to entries of the right kind.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check_closed(&self) -> Result<(), ClassFileError> {
        for index in self.indices() {
            match self.entry(index)? {
                Entry::Class(text)
                | Entry::String(text)
                | Entry::MethodType(text)
                | Entry::Module(text)
                | Entry::Package(text) => self.is(text, "Utf8", &[Tag::Utf8])?,
                Entry::Field {
                    class,
                    name_and_type,
                }
                | Entry::Method {
                    class,
                    name_and_type,
                }
                | Entry::InterfaceMethod {
                    class,
                    name_and_type,
                } => {
                    self.is(class, "Class", &[Tag::Class])?;
                    self.is(name_and_type, "NameAndType", &[Tag::NameAndType])?;
                }
                Entry::NameAndType { name, descriptor } => {
                    self.is(name, "Utf8", &[Tag::Utf8])?;
                    self.is(descriptor, "Utf8", &[Tag::Utf8])?;
                }
                Entry::MethodHandle { reference, .. } => {
                    let members = [Tag::Field, Tag::Method, Tag::InterfaceMethod];
                    self.is(reference, "field or method", &members)?;
                }
                Entry::Dynamic { name_and_type, .. }
                | Entry::InvokeDynamic { name_and_type, .. } => {
                    self.is(name_and_type, "NameAndType", &[Tag::NameAndType])?;
                }
                Entry::Utf8(_)
                | Entry::Integer(_)
                | Entry::Float(_)
                | Entry::Long(_)
                | Entry::Double(_) => {}
            }
        }
        Ok(())
    }

    /// Checks that names and descriptors keep their bytes when they are read as text and written again. New constants are made
    /// from text.
    ///
    /// # Errors
    /// Names the first that would become another name.
    pub fn check_names(&self) -> Result<(), ClassFileError> {
        let proper = |index: u16| {
            if text::is_proper(self.utf8(index)?) {
                Ok(())
            } else {
                Err(ClassFileError::OddName(index))
            }
        };
        for index in self.indices() {
            match self.entry(index)? {
                Entry::Class(name) | Entry::MethodType(name) => proper(name)?,
                Entry::NameAndType { name, descriptor } => {
                    proper(name)?;
                    proper(descriptor)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is(&self, index: u16, expected: &'static str, tags: &[Tag]) -> Result<(), ClassFileError> {
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
    /// Checks that the pool is closed, and that the class, its supertypes, its members and all attribute names are
    /// named by entries of the right kind.
    ///
    /// # Errors
    /// Names the first reference that leads nowhere.
    pub fn check_closed(&self) -> Result<(), ClassFileError> {
        let pool = &self.pool;
        pool.check_closed()?;
        pool.is(self.this_class, "Class", &[Tag::Class])?;
        if self.super_class != 0 {
            pool.is(self.super_class, "Class", &[Tag::Class])?;
        }
        for interface in &self.interfaces {
            pool.is(*interface, "Class", &[Tag::Class])?;
        }
        let members = self.fields.iter().chain(&self.methods);
        for member in members.clone() {
            pool.is(member.name, "Utf8", &[Tag::Utf8])?;
            pool.is(member.descriptor, "Utf8", &[Tag::Utf8])?;
        }
        let attributes = members.flat_map(|m| &m.attributes).chain(&self.attributes);
        for attribute in attributes {
            pool.is(attribute.name, "Utf8", &[Tag::Utf8])?;
        }
        Ok(())
    }

    /// The same of all names in the class ([`ConstantPool::check_names`]).
    ///
    /// # Errors
    /// Names the first that would become another name.
    pub fn check_names(&self) -> Result<(), ClassFileError> {
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
