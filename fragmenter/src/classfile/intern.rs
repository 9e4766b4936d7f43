//! Builders for constants. Each builder returns the index of an equal entry of the pool, or appends
//! one.
//!
//! The lookup table is built by the first builder call, so a class that is only read does not pay
//! for it (`intern_table.rs`).

use super::entry::ConstantTag;
use super::error::ClassFileError;
use super::intern_table::InternTable;
use super::pool::{ConstantPool, utf8_head};
use super::text;

/// Number of bytes up to which an entry is built on the stack.
const MAX_SHORT_ENTRY: usize = 128;

/// Fills a table with all entries of the pool. Of equal entries, the first is kept.
fn fill(table: &mut InternTable, pool: &ConstantPool<'_>) {
    for index in pool.indices() {
        if let Ok(entry) = pool.raw(index)
            && let Err(position) = table.find(entry, |index| pool.bytes_at(index).ok())
        {
            table.insert(position, index);
        }
    }
}

impl ConstantPool<'_> {
    fn new_intern_table(&self) -> InternTable {
        let mut table = InternTable::with_room_for(self.count());
        fill(&mut table, self);
        table
    }

    /// Finds or appends an entry, given by its bytes including the tag.
    pub(super) fn intern(&mut self, tag: ConstantTag, entry: &[u8]) -> Result<u16, ClassFileError> {
        let mut table = self
            .interned
            .take()
            .unwrap_or_else(|| self.new_intern_table());
        let index = match table.find(entry, |index| self.bytes_at(index).ok()) {
            Ok(index) => Ok(index),
            Err(position) => self.append(tag, entry).inspect(|&index| {
                table.insert(position, index);
                if table.is_half_full() {
                    table.clear_and_double();
                    fill(&mut table, self);
                }
            }),
        };
        self.interned = Some(table);
        index
    }

    /// Finds or appends an entry with one 16-bit number.
    pub(super) fn intern_one(
        &mut self,
        tag: ConstantTag,
        value: u16,
    ) -> Result<u16, ClassFileError> {
        self.intern(tag, &tag.entry_of_one(value))
    }

    /// Finds or appends an entry with two 16-bit numbers.
    pub(super) fn intern_two(
        &mut self,
        tag: ConstantTag,
        first: u16,
        second: u16,
    ) -> Result<u16, ClassFileError> {
        self.intern(tag, &tag.entry_of_two(first, second))
    }

    /// Finds or appends a `Utf8` entry, given in modified UTF-8.
    pub(super) fn intern_utf8(&mut self, bytes: &[u8]) -> Result<u16, ClassFileError> {
        let head = utf8_head(bytes.len())?;
        let size = head.len() + bytes.len();
        let write = |entry: &mut [u8]| {
            let (start, rest) = entry.split_at_mut(head.len());
            start.copy_from_slice(&head);
            rest.copy_from_slice(bytes);
        };
        // Most texts are short, and need no allocation.
        let mut short = [0; MAX_SHORT_ENTRY];
        match short.get_mut(..size) {
            Some(entry) => {
                write(entry);
                self.intern(ConstantTag::Utf8, entry)
            }
            None => {
                let mut entry = vec![0; size];
                write(&mut entry);
                self.intern(ConstantTag::Utf8, &entry)
            }
        }
    }

    /// Adds a `Utf8` entry for the text.
    ///
    /// # Errors
    /// If the encoded text exceeds 65,535 bytes, or (as for all builders) the pool is full. Parts
    /// that were appended before the pool became full remain, without effect.
    pub fn add_utf8(&mut self, text: &str) -> Result<u16, ClassFileError> {
        self.intern_utf8(&text::encode(text))
    }

    /// Adds a `Class` entry. `name` is an internal name (`java/lang/Object`), or the descriptor of
    /// an array.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_class(&mut self, name: &str) -> Result<u16, ClassFileError> {
        let name = self.add_utf8(name)?;
        self.intern_one(ConstantTag::Class, name)
    }

    /// Adds a `String` entry.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_string(&mut self, text: &str) -> Result<u16, ClassFileError> {
        let text = self.add_utf8(text)?;
        self.intern_one(ConstantTag::String, text)
    }

    /// Adds an `Integer` entry.
    ///
    /// # Errors
    /// If the pool is full.
    pub fn add_integer(&mut self, value: i32) -> Result<u16, ClassFileError> {
        let [a, b, c, d] = value.to_be_bytes();
        self.intern(
            ConstantTag::Integer,
            &[ConstantTag::Integer as u8, a, b, c, d],
        )
    }

    /// Adds a `Long` entry.
    ///
    /// # Errors
    /// If the pool is full.
    pub fn add_long(&mut self, value: i64) -> Result<u16, ClassFileError> {
        let [a, b, c, d, e, f, g, h] = value.to_be_bytes();
        self.intern(
            ConstantTag::Long,
            &[ConstantTag::Long as u8, a, b, c, d, e, f, g, h],
        )
    }

    /// Adds a `Double` entry. Doubles are equal if their bits are equal.
    ///
    /// # Errors
    /// If the pool is full.
    pub fn add_double(&mut self, value: f64) -> Result<u16, ClassFileError> {
        let [a, b, c, d, e, f, g, h] = value.to_bits().to_be_bytes();
        self.intern(
            ConstantTag::Double,
            &[ConstantTag::Double as u8, a, b, c, d, e, f, g, h],
        )
    }

    /// Adds a `NameAndType` entry.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_name_and_type(
        &mut self,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        let name = self.add_utf8(name)?;
        let descriptor = self.add_utf8(descriptor)?;
        self.intern_two(ConstantTag::NameAndType, name, descriptor)
    }

    /// Adds a field reference.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_field(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        self.add_member(ConstantTag::Field, class, name, descriptor)
    }

    /// Adds a reference to a method of a class.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_method(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        self.add_member(ConstantTag::Method, class, name, descriptor)
    }

    /// Adds a reference to a method of an interface.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_interface_method(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        self.add_member(ConstantTag::InterfaceMethod, class, name, descriptor)
    }

    fn add_member(
        &mut self,
        tag: ConstantTag,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        let class = self.add_class(class)?;
        let name_and_type = self.add_name_and_type(name, descriptor)?;
        self.intern_two(tag, class, name_and_type)
    }

    /// Adds a `MethodHandle` entry. `kind` is defined in JVMS table 5.4.3.5-A, `reference` is the
    /// index of a field or method reference.
    ///
    /// # Errors
    /// If `reference` is of another kind, or the pool is full.
    pub fn add_method_handle(&mut self, kind: u8, reference: u16) -> Result<u16, ClassFileError> {
        match self.tag(reference)? {
            ConstantTag::Field | ConstantTag::Method | ConstantTag::InterfaceMethod => {}
            _ => return Err(self.wrong(reference, "field or method")),
        }
        let [a, b] = reference.to_be_bytes();
        self.intern(
            ConstantTag::MethodHandle,
            &[ConstantTag::MethodHandle as u8, kind, a, b],
        )
    }

    /// Adds a call site of `invokedynamic`. `bootstrap` is an index into the class's
    /// `BootstrapMethods`.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_invoke_dynamic(
        &mut self,
        bootstrap: u16,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        let name_and_type = self.add_name_and_type(name, descriptor)?;
        self.intern_two(ConstantTag::InvokeDynamic, bootstrap, name_and_type)
    }

    /// Adds a dynamically computed constant. `bootstrap` is an index into the class's
    /// `BootstrapMethods`.
    ///
    /// # Errors
    /// See [`ConstantPool::add_utf8`].
    pub fn add_dynamic(
        &mut self,
        bootstrap: u16,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, ClassFileError> {
        let name_and_type = self.add_name_and_type(name, descriptor)?;
        self.intern_two(ConstantTag::Dynamic, bootstrap, name_and_type)
    }
}

#[cfg(test)]
impl ConstantPool<'_> {
    /// Adds a `MethodType` entry. Only unit tests need one.
    pub(crate) fn add_method_type(&mut self, descriptor: &str) -> Result<u16, ClassFileError> {
        let descriptor = self.add_utf8(descriptor)?;
        self.intern_one(ConstantTag::MethodType, descriptor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::PoolEntry;
    use super::*;

    #[test]
    fn equal_entries_are_found_again() {
        let mut pool = ConstantPool::new();
        let method = pool.add_method("a/B", "m", "()V").unwrap();
        let count = pool.count();
        // Utf8 ×3, Class, NameAndType, Methodref.
        assert_eq!((method, count), (6, 7));
        assert_eq!(pool.add_method("a/B", "m", "()V"), Ok(method));
        assert_eq!(pool.count(), count);
        // The parts are equal, but the entry has another tag.
        assert_eq!(pool.add_interface_method("a/B", "m", "()V"), Ok(7));
        assert_eq!(pool.add_field("a/B", "m", "()V"), Ok(8));
    }

    #[test]
    fn long_and_double_take_two_slots() {
        let mut pool = ConstantPool::new();
        assert_eq!(pool.add_long(-1), Ok(1));
        assert_eq!(pool.add_double(f64::NAN), Ok(3));
        assert_eq!(pool.add_integer(5), Ok(5));
        assert_eq!(
            (pool.add_long(-1), pool.add_double(f64::NAN)),
            (Ok(1), Ok(3))
        );
        assert_eq!(pool.entry(1), Ok(PoolEntry::Long(-1)));
        assert_eq!(
            pool.entry(2),
            Err(ClassFileError::BadIndex { index: 2, count: 6 })
        );
        assert_eq!(pool.indices().collect::<Vec<_>>(), [1, 3, 5]);
    }

    #[test]
    fn a_full_pool_is_an_error() {
        let mut pool = ConstantPool::new();
        for value in 0..65_533 {
            assert_eq!(pool.add_integer(value), Ok(value as u16 + 1));
        }
        // One slot is left (65,534): too few for a long.
        assert_eq!(pool.add_long(0), Err(ClassFileError::PoolFull));
        assert_eq!(pool.add_integer(-1), Ok(65_534));
        assert_eq!(pool.add_integer(-2), Err(ClassFileError::PoolFull));
        assert_eq!(pool.count(), u16::MAX);
        // Existing entries are still found.
        assert_eq!(pool.add_integer(40_000), Ok(40_001));
    }

    #[test]
    fn parts_must_be_of_the_right_kind() {
        let mut pool = ConstantPool::new();
        let text = pool.add_utf8("x").unwrap();
        let refused = pool.add_method_handle(6, text);
        assert_eq!(
            refused,
            Err(ClassFileError::WrongTag {
                index: text,
                expected: "field or method",
                found: ConstantTag::Utf8
            })
        );
        assert!(matches!(
            pool.add_utf8(&"x".repeat(65_536)),
            Err(ClassFileError::TooLong { .. })
        ));
    }
}
