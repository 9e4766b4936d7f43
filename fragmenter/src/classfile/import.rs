//! Copies constants from one pool to another, with all constants that they refer to.

use std::collections::HashMap;

use ahash::RandomState;

use super::entry::{ConstantTag, PoolEntry};
use super::error::ClassFileError;
use super::pool::ConstantPool;

/// The indices of imported entries in the target pool, by their indices in the source pool.
pub type ImportMemo = HashMap<u16, u16, RandomState>;

impl ConstantPool<'_> {
    /// Finds or appends a copy of entry `index` of `from`, and of the entries that it refers to.
    /// Text is copied byte for byte. Use one `memo` per pair of pools, empty at first.
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
        memo: &mut ImportMemo,
    ) -> Result<u16, ClassFileError> {
        if let Some(&known) = memo.get(&index) {
            return Ok(known);
        }
        let imported = match from.entry(index)? {
            PoolEntry::Utf8(bytes) => self.intern_utf8(bytes),
            PoolEntry::Integer(_)
            | PoolEntry::Float(_)
            | PoolEntry::Long(_)
            | PoolEntry::Double(_) => self.intern(from.tag(index)?, from.raw(index)?),
            PoolEntry::Class(text) => self.import_named(ConstantTag::Class, from, text, memo),
            PoolEntry::String(text) => self.import_named(ConstantTag::String, from, text, memo),
            PoolEntry::MethodType(text) => {
                self.import_named(ConstantTag::MethodType, from, text, memo)
            }
            PoolEntry::Module(text) => self.import_named(ConstantTag::Module, from, text, memo),
            PoolEntry::Package(text) => self.import_named(ConstantTag::Package, from, text, memo),
            PoolEntry::NameAndType { .. } => self.import_name_and_type(from, index, memo),
            PoolEntry::Field { .. }
            | PoolEntry::Method { .. }
            | PoolEntry::InterfaceMethod { .. } => self.import_member(from, index, memo),
            PoolEntry::MethodHandle { kind, reference } => {
                let reference = self.import_member(from, reference, memo)?;
                self.add_method_handle(kind, reference)
            }
            PoolEntry::Dynamic { .. } => {
                return Err(ClassFileError::NotImportable {
                    index,
                    tag: ConstantTag::Dynamic,
                });
            }
            PoolEntry::InvokeDynamic { .. } => {
                return Err(ClassFileError::NotImportable {
                    index,
                    tag: ConstantTag::InvokeDynamic,
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
        memo: &mut ImportMemo,
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
        tag: ConstantTag,
        from: &ConstantPool<'_>,
        text: u16,
        memo: &mut ImportMemo,
    ) -> Result<u16, ClassFileError> {
        let text = self.import_utf8(from, text, memo)?;
        self.intern_one(tag, text)
    }

    fn import_name_and_type(
        &mut self,
        from: &ConstantPool<'_>,
        index: u16,
        memo: &mut ImportMemo,
    ) -> Result<u16, ClassFileError> {
        let (name, descriptor) = from.name_and_type(index)?;
        let name = self.import_utf8(from, name, memo)?;
        let descriptor = self.import_utf8(from, descriptor, memo)?;
        self.intern_two(ConstantTag::NameAndType, name, descriptor)
    }

    fn import_member(
        &mut self,
        from: &ConstantPool<'_>,
        index: u16,
        memo: &mut ImportMemo,
    ) -> Result<u16, ClassFileError> {
        let member = from.member(index)?;
        let class = match from.entry(member.class)? {
            PoolEntry::Class(name) => self.import_named(ConstantTag::Class, from, name, memo)?,
            _ => return Err(from.wrong(member.class, "Class")),
        };
        let name = self.import_utf8(from, member.name, memo)?;
        let descriptor = self.import_utf8(from, member.descriptor, memo)?;
        let name_and_type = self.intern_two(ConstantTag::NameAndType, name, descriptor)?;
        self.intern_two(member.tag, class, name_and_type)
    }
}
