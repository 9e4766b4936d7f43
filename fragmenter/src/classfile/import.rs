//! Copies constants from one pool to another, with all constants that they refer to.

use std::collections::HashMap;

use super::entry::{Entry, Tag};
use super::error::ClassFileError;
use super::pool::ConstantPool;

impl ConstantPool<'_> {
    /// Finds or appends a copy of entry `index` of `from`, and of the entries that it refers to.
    /// Text is copied byte for byte. `memo` maps source indices to target indices. Use one map per
    /// pair of pools, empty at first.
    ///
    /// The recursion depth is fixed (`MethodHandle` → member → `NameAndType` → `Utf8`). So entries
    /// that refer to each other in a cycle cause an error and no endless recursion.
    ///
    /// # Errors
    /// If the entry or one that it refers to is malformed, or if this pool is full. Also for
    /// `Dynamic` and `InvokeDynamic`, which depend on the `BootstrapMethods` of their class.
    pub fn import(
        &mut self,
        from: &ConstantPool<'_>,
        index: u16,
        memo: &mut HashMap<u16, u16>,
    ) -> Result<u16, ClassFileError> {
        if let Some(&known) = memo.get(&index) {
            return Ok(known);
        }
        let imported = match from.entry(index)? {
            Entry::Utf8(bytes) => self.intern_utf8(bytes),
            Entry::Integer(_) | Entry::Float(_) | Entry::Long(_) | Entry::Double(_) => {
                self.intern(from.tag(index)?, from.raw(index)?)
            }
            Entry::Class(text) => self.import_named(Tag::Class, from, text, memo),
            Entry::String(text) => self.import_named(Tag::String, from, text, memo),
            Entry::MethodType(text) => self.import_named(Tag::MethodType, from, text, memo),
            Entry::Module(text) => self.import_named(Tag::Module, from, text, memo),
            Entry::Package(text) => self.import_named(Tag::Package, from, text, memo),
            Entry::NameAndType { .. } => self.import_name_and_type(from, index, memo),
            Entry::Field { .. } | Entry::Method { .. } | Entry::InterfaceMethod { .. } => {
                self.import_member(from, index, memo)
            }
            Entry::MethodHandle { kind, reference } => {
                let reference = self.import_member(from, reference, memo)?;
                self.add_method_handle(kind, reference)
            }
            Entry::Dynamic { .. } => {
                return Err(ClassFileError::NotImportable {
                    index,
                    tag: Tag::Dynamic,
                });
            }
            Entry::InvokeDynamic { .. } => {
                return Err(ClassFileError::NotImportable {
                    index,
                    tag: Tag::InvokeDynamic,
                });
            }
        }?;
        memo.insert(index, imported);
        Ok(imported)
    }

    fn import_utf8(
        &mut self,
        from: &ConstantPool<'_>,
        index: u16,
        memo: &mut HashMap<u16, u16>,
    ) -> Result<u16, ClassFileError> {
        let bytes = from.utf8(index)?;
        if let Some(&known) = memo.get(&index) {
            return Ok(known);
        }
        let imported = self.intern_utf8(bytes)?;
        memo.insert(index, imported);
        Ok(imported)
    }

    fn import_named(
        &mut self,
        tag: Tag,
        from: &ConstantPool<'_>,
        text: u16,
        memo: &mut HashMap<u16, u16>,
    ) -> Result<u16, ClassFileError> {
        let text = self.import_utf8(from, text, memo)?;
        self.intern_one(tag, text)
    }

    fn import_name_and_type(
        &mut self,
        from: &ConstantPool<'_>,
        index: u16,
        memo: &mut HashMap<u16, u16>,
    ) -> Result<u16, ClassFileError> {
        let (name, descriptor) = from.name_and_type(index)?;
        let name = self.import_utf8(from, name, memo)?;
        let descriptor = self.import_utf8(from, descriptor, memo)?;
        self.intern_two(Tag::NameAndType, name, descriptor)
    }

    fn import_member(
        &mut self,
        from: &ConstantPool<'_>,
        index: u16,
        memo: &mut HashMap<u16, u16>,
    ) -> Result<u16, ClassFileError> {
        let member = from.member(index)?;
        let class = match from.entry(member.class)? {
            Entry::Class(name) => self.import_named(Tag::Class, from, name, memo)?,
            _ => return Err(from.wrong(member.class, "Class")),
        };
        let name = self.import_utf8(from, member.name, memo)?;
        let descriptor = self.import_utf8(from, member.descriptor, memo)?;
        let name_and_type = self.intern_two(Tag::NameAndType, name, descriptor)?;
        self.intern_two(member.tag, class, name_and_type)
    }
}
