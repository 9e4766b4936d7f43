//! The constant pool (JVMS 4.4): the bytes as they were read, and the offset of each entry.
//!
//! ```text
//!   offsets   [ – , 0, 11, 14, – , …, 9000 ]     one per slot; `–` for slot 0 and the second slot of a long or double
//!                   │   │   │           │
//!   original  [ Utf8… Class Long…  … ]  │        borrowed from the class file, written back verbatim
//!   appended  [ Methodref … ] ◀─────────┘        entries that the builders of `intern.rs` added
//! ```
//!
//! Entries are decoded on request. A reference from one entry to another is checked when it is
//! followed.

use std::borrow::Cow;

use super::entry::{ConstantTag, MemberRef, PoolEntry};
use super::error::ClassFileError;
use super::intern_table::InternTable;
use super::reader::{Reader, put_u16};
use super::text;

/// The offset of a slot without an entry. No entry can begin at this offset, because 65,534 entries
/// of at most 65,538 bytes end before it.
const NO_ENTRY: u32 = u32::MAX;

/// A constant pool.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    original: &'a [u8],
    appended: Vec<u8>,
    /// Offset of each slot's entry in the concatenation of `original` and `appended`. The length of
    /// this vector is the file's `constant_pool_count`.
    offsets: Vec<u32>,
    /// Hash table of the entries, built by the first builder call.
    pub(super) interned: Option<InternTable>,
}

impl ConstantPool<'static> {
    /// Returns an empty pool.
    pub fn new() -> ConstantPool<'static> {
        ConstantPool {
            original: &[],
            appended: Vec::new(),
            offsets: vec![NO_ENTRY],
            interned: None,
        }
    }
}

impl Default for ConstantPool<'static> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> ConstantPool<'a> {
    /// Reads the entries without a count field, as a JVM returns them for a loaded class. `count`
    /// is `constant_pool_count`.
    ///
    /// # Errors
    /// If the bytes are not exactly this number of entries.
    pub fn of_entries(count: u16, bytes: &'a [u8]) -> Result<Self, ClassFileError> {
        let mut reader = Reader::new(bytes);
        let pool = Self::read_entries(count, &mut reader)?;
        reader.finish("the constant pool")?;
        Ok(pool)
    }

    /// Reads the count and the entries.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, ClassFileError> {
        let count = reader.u16("the constant pool's count")?;
        Self::read_entries(count, reader)
    }

    fn read_entries(count: u16, reader: &mut Reader<'a>) -> Result<Self, ClassFileError> {
        if count == 0 {
            return Err(ClassFileError::BadIndex { index: 0, count });
        }
        let (start, bytes) = (reader.at(), reader.rest());
        let mut offsets = reader.vec_for(count, 1);
        offsets.push(NO_ENTRY);
        let mut index = 1_u16;
        while index < count {
            let at = reader.at() - start;
            let byte = reader.u8("a constant")?;
            let tag = ConstantTag::from_byte(byte)
                .ok_or(ClassFileError::UnknownTag { index, tag: byte })?;
            let fixed = reader.read_bytes(tag.fixed_size(), "a constant")?;
            if let (ConstantTag::Utf8, [high, low]) = (tag, fixed) {
                reader.read_bytes(
                    usize::from(u16::from_be_bytes([*high, *low])),
                    "a Utf8 constant",
                )?;
            }
            offsets.push(u32::try_from(at).unwrap_or(NO_ENTRY));
            if tag.slots() == 2 {
                offsets.push(NO_ENTRY);
                // The second slot must be within the pool too.
                index = index.checked_add(2).filter(|&next| next <= count).ok_or(
                    ClassFileError::BadIndex {
                        index: index.saturating_add(1),
                        count,
                    },
                )?;
            } else {
                index += 1;
            }
        }
        let original = bytes.get(..reader.at() - start).unwrap_or_default();
        Ok(ConstantPool {
            original,
            appended: Vec::new(),
            offsets,
            interned: None,
        })
    }

    /// Writes the count and the entries.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_u16(out, self.count());
        out.extend_from_slice(self.original);
        out.extend_from_slice(&self.appended);
    }

    /// Size of all entries in bytes.
    pub(super) fn size(&self) -> usize {
        self.original.len() + self.appended.len()
    }

    /// Number of slots plus one (JVMS `constant_pool_count`), which is the index of the next entry.
    pub fn count(&self) -> u16 {
        // `append` keeps the length within 16 bits.
        u16::try_from(self.offsets.len()).unwrap_or(u16::MAX)
    }

    /// Returns the bytes from an entry's tag to the end of `original` or `appended`.
    #[inline]
    pub(super) fn bytes_at(&self, index: u16) -> Result<&[u8], ClassFileError> {
        self.offsets
            .get(usize::from(index))
            .filter(|&&offset| offset != NO_ENTRY)
            .and_then(|&offset| self.bytes_from(offset))
            .ok_or(ClassFileError::BadIndex {
                index,
                count: self.count(),
            })
    }

    /// Returns an entry's tag and the bytes after it.
    #[inline]
    fn body(&self, index: u16) -> Result<(ConstantTag, &[u8]), ClassFileError> {
        match self.bytes_at(index)? {
            [byte, body @ ..] => match ConstantTag::from_byte(*byte) {
                Some(tag) => Ok((tag, body)),
                None => Err(ClassFileError::UnknownTag { index, tag: *byte }),
            },
            [] => Err(ClassFileError::BadIndex {
                index,
                count: self.count(),
            }),
        }
    }

    /// Returns the bytes of an entry, including the tag.
    pub(super) fn raw(&self, index: u16) -> Result<&[u8], ClassFileError> {
        let (tag, body) = self.body(index)?;
        let mut size = 1 + tag.fixed_size();
        if let (ConstantTag::Utf8, [high, low, ..]) = (tag, body) {
            size += usize::from(u16::from_be_bytes([*high, *low]));
        }
        let bytes = self.bytes_at(index)?;
        bytes.get(..size).ok_or(ClassFileError::Truncated {
            what: "a constant",
            offset: 0,
        })
    }

    /// Reserves memory for entries that will be appended.
    pub fn reserve(&mut self, entries: usize, bytes: usize) {
        self.offsets.reserve(entries);
        self.appended.reserve(bytes);
    }

    /// Appends an entry and returns its index. The bytes must be a valid entry.
    pub(super) fn append(&mut self, tag: ConstantTag, entry: &[u8]) -> Result<u16, ClassFileError> {
        let index = self.count();
        if self.offsets.len() + tag.slots() > usize::from(u16::MAX) {
            return Err(ClassFileError::PoolFull);
        }
        let offset = u32::try_from(self.size()).map_err(|_| ClassFileError::PoolFull)?;
        self.offsets.push(offset);
        if tag.slots() == 2 {
            self.offsets.push(NO_ENTRY);
        }
        self.appended.extend_from_slice(entry);
        Ok(index)
    }

    /// Appends an entry with one 16-bit number without looking for an equal one.
    fn append_one(&mut self, tag: ConstantTag, value: u16) -> Result<u16, ClassFileError> {
        self.append(tag, &tag.entry_of_one(value))
    }

    /// Appends an entry with two 16-bit numbers without looking for an equal one.
    fn append_two(
        &mut self,
        tag: ConstantTag,
        first: u16,
        second: u16,
    ) -> Result<u16, ClassFileError> {
        self.append(tag, &tag.entry_of_two(first, second))
    }

    /// Appends a `Utf8` entry, given in modified UTF-8, without looking for an equal one. The
    /// functions `append_…` do not build the table of the builders in `intern.rs`, so they suit
    /// constants that cannot be in the pool yet.
    ///
    /// # Errors
    /// If the text exceeds 65,535 bytes, or (as for all functions `append_…`) the pool is full.
    pub fn append_utf8(&mut self, bytes: &[u8]) -> Result<u16, ClassFileError> {
        let head = utf8_head(bytes.len())?;
        let index = self.append(ConstantTag::Utf8, &head)?;
        self.appended.extend_from_slice(bytes);
        Ok(index)
    }

    /// Like [`ConstantPool::append_utf8`], for text.
    ///
    /// # Errors
    /// See [`ConstantPool::append_utf8`].
    pub fn append_text(&mut self, text: &str) -> Result<u16, ClassFileError> {
        self.append_utf8(&text::encode(text))
    }

    /// Appends a `Class` entry. `name` is the index of its name (`Utf8`).
    ///
    /// # Errors
    /// See [`ConstantPool::append_utf8`].
    pub fn append_class(&mut self, name: u16) -> Result<u16, ClassFileError> {
        self.append_one(ConstantTag::Class, name)
    }

    /// Appends an `Integer` entry.
    ///
    /// # Errors
    /// See [`ConstantPool::append_utf8`].
    pub fn append_integer(&mut self, value: i32) -> Result<u16, ClassFileError> {
        let [a, b, c, d] = value.to_be_bytes();
        self.append(
            ConstantTag::Integer,
            &[ConstantTag::Integer as u8, a, b, c, d],
        )
    }

    /// Appends a field reference. `class` is the index of a `Class`; `name` and `descriptor` are
    /// indices of `Utf8` entries.
    ///
    /// # Errors
    /// See [`ConstantPool::append_utf8`].
    pub fn append_field(
        &mut self,
        class: u16,
        name: u16,
        descriptor: u16,
    ) -> Result<u16, ClassFileError> {
        let name_and_type = self.append_two(ConstantTag::NameAndType, name, descriptor)?;
        self.append_two(ConstantTag::Field, class, name_and_type)
    }

    /// Appends a reference to a method of a class. The parameters are those of
    /// [`ConstantPool::append_field`].
    ///
    /// # Errors
    /// See [`ConstantPool::append_utf8`].
    pub fn append_method(
        &mut self,
        class: u16,
        name: u16,
        descriptor: u16,
    ) -> Result<u16, ClassFileError> {
        let name_and_type = self.append_two(ConstantTag::NameAndType, name, descriptor)?;
        self.append_two(ConstantTag::Method, class, name_and_type)
    }

    /// Returns the indices of all entries in order.
    pub fn indices(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.count()).filter(|&index| {
            self.offsets
                .get(usize::from(index))
                .is_some_and(|&at| at != NO_ENTRY)
        })
    }

    /// Returns, for each entry, the bytes from its tag on. Bytes of other entries follow.
    #[inline]
    pub(super) fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let offsets = self.offsets.iter().filter(|at| **at != NO_ENTRY);
        offsets.map(|at| self.bytes_from(*at).unwrap_or_default())
    }

    /// Returns the tag of an entry, or 0 if the index has no entry.
    #[inline]
    pub(super) fn tag_byte(&self, index: u16) -> u8 {
        let Some(at) = self.offsets.get(usize::from(index)) else {
            return 0;
        };
        match self.original.get(*at as usize) {
            Some(tag) => *tag,
            None if *at == NO_ENTRY => 0,
            None => self
                .bytes_from(*at)
                .and_then(<[u8]>::first)
                .copied()
                .unwrap_or(0),
        }
    }

    /// Returns the bytes from an offset to the end of `original` or `appended`.
    #[inline]
    fn bytes_from(&self, offset: u32) -> Option<&[u8]> {
        let offset = offset as usize;
        match offset.checked_sub(self.original.len()) {
            None => self.original.get(offset..),
            Some(offset) => self.appended.get(offset..),
        }
    }

    /// Returns the index and the text of each `Utf8` entry, in modified UTF-8.
    pub fn texts(&self) -> impl Iterator<Item = (u16, &[u8])> {
        const UTF8: u8 = ConstantTag::Utf8 as u8;
        let indexed = (0u16..).zip(&self.offsets);
        indexed.filter_map(|(index, at)| {
            if *at == NO_ENTRY {
                return None;
            }
            let [UTF8, high, low, text @ ..] = self.bytes_from(*at)? else {
                return None;
            };
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            Some((index, text.get(..length)?))
        })
    }

    /// Returns the index and the name of each `Class` entry, in modified UTF-8.
    pub fn classes(&self) -> impl Iterator<Item = (u16, &[u8])> {
        const CLASS: u8 = ConstantTag::Class as u8;
        let indexed = (0u16..).zip(&self.offsets);
        indexed.filter_map(|(index, at)| {
            if *at == NO_ENTRY {
                return None;
            }
            let [CLASS, high, low, ..] = self.bytes_from(*at)? else {
                return None;
            };
            let name = self.utf8(u16::from_be_bytes([*high, *low])).ok()?;
            Some((index, name))
        })
    }

    /// Returns the kind of an entry.
    ///
    /// # Errors
    /// If the index has no entry. The same error applies to all methods below.
    pub fn tag(&self, index: u16) -> Result<ConstantTag, ClassFileError> {
        Ok(self.body(index)?.0)
    }

    /// Returns the bytes of a `Utf8` entry, in modified UTF-8.
    ///
    /// # Errors
    /// If the index is not a `Utf8`.
    #[inline]
    pub fn utf8(&self, index: u16) -> Result<&[u8], ClassFileError> {
        const UTF8: u8 = ConstantTag::Utf8 as u8;
        let [UTF8, high, low, text @ ..] = self.bytes_at(index)? else {
            return Err(self.wrong(index, "Utf8"));
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        text.get(..length).ok_or(ClassFileError::Truncated {
            what: "a constant",
            offset: 0,
        })
    }

    /// Returns the text of a `Utf8` entry, borrowed if it is also valid UTF-8.
    ///
    /// # Errors
    /// If the index is not a `Utf8`. Malformed text is not an error (see [`text::decode`]).
    pub fn text(&self, index: u16) -> Result<Cow<'_, str>, ClassFileError> {
        self.utf8(index).map(text::decode)
    }

    /// Returns the name of a `Class` entry: `java/lang/Object`, or the descriptor of an array.
    ///
    /// # Errors
    /// If the index is not a `Class`, or its name is not a `Utf8`.
    pub fn class_name(&self, index: u16) -> Result<Cow<'_, str>, ClassFileError> {
        match self.entry(index)? {
            PoolEntry::Class(name) => self.text(name),
            _ => Err(self.wrong(index, "Class")),
        }
    }

    /// Returns the name of a `Class` entry in modified UTF-8.
    ///
    /// # Errors
    /// If the index is not a `Class`, or its name is not a `Utf8`.
    #[inline]
    pub fn class_name_bytes(&self, index: u16) -> Result<&[u8], ClassFileError> {
        const CLASS: u8 = ConstantTag::Class as u8;
        match self.bytes_at(index)? {
            [CLASS, high, low, ..] => self.utf8(u16::from_be_bytes([*high, *low])),
            _ => Err(self.wrong(index, "Class")),
        }
    }

    /// Returns name and descriptor (indices of `Utf8`) of a `NameAndType`.
    ///
    /// # Errors
    /// If the index is not a `NameAndType`.
    #[inline]
    pub fn name_and_type(&self, index: u16) -> Result<(u16, u16), ClassFileError> {
        const NAME_AND_TYPE: u8 = ConstantTag::NameAndType as u8;
        match self.bytes_at(index)? {
            [NAME_AND_TYPE, a, b, c, d, ..] => {
                Ok((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])))
            }
            _ => Err(self.wrong(index, "NameAndType")),
        }
    }

    /// Returns a field or method reference.
    ///
    /// # Errors
    /// If the index is not a member reference, or a part of it is missing.
    pub fn member(&self, index: u16) -> Result<MemberRef, ClassFileError> {
        let (tag, class, name_and_type) = match self.entry(index)? {
            PoolEntry::Field {
                class,
                name_and_type,
            } => (ConstantTag::Field, class, name_and_type),
            PoolEntry::Method {
                class,
                name_and_type,
            } => (ConstantTag::Method, class, name_and_type),
            PoolEntry::InterfaceMethod {
                class,
                name_and_type,
            } => (ConstantTag::InterfaceMethod, class, name_and_type),
            _ => return Err(self.wrong(index, "field or method")),
        };
        let (name, descriptor) = self.name_and_type(name_and_type)?;
        Ok(MemberRef {
            tag,
            class,
            name,
            descriptor,
        })
    }

    /// Returns the index into `BootstrapMethods`, the name and the descriptor (indices of `Utf8`)
    /// of a `Dynamic` or `InvokeDynamic`.
    ///
    /// # Errors
    /// If the index is neither, or a part of it is missing.
    pub fn dynamic(&self, index: u16) -> Result<(u16, u16, u16), ClassFileError> {
        match self.entry(index)? {
            PoolEntry::Dynamic {
                bootstrap,
                name_and_type,
            }
            | PoolEntry::InvokeDynamic {
                bootstrap,
                name_and_type,
            } => {
                let (name, descriptor) = self.name_and_type(name_and_type)?;
                Ok((bootstrap, name, descriptor))
            }
            _ => Err(self.wrong(index, "Dynamic or InvokeDynamic")),
        }
    }

    /// Decodes an entry.
    ///
    /// # Errors
    /// If the index has no entry.
    #[inline]
    pub fn entry(&self, index: u16) -> Result<PoolEntry<'_>, ClassFileError> {
        let (tag, body) = self.body(index)?;
        let mut body = Reader::new(body);
        const WHAT: &str = "a constant";
        Ok(match tag {
            ConstantTag::Utf8 => {
                let length = body.u16(WHAT)?;
                PoolEntry::Utf8(body.read_bytes(usize::from(length), WHAT)?)
            }
            ConstantTag::Integer => PoolEntry::Integer(body.u32(WHAT)? as i32),
            ConstantTag::Float => PoolEntry::Float(f32::from_bits(body.u32(WHAT)?)),
            ConstantTag::Long => PoolEntry::Long(body.u64(WHAT)? as i64),
            ConstantTag::Double => PoolEntry::Double(f64::from_bits(body.u64(WHAT)?)),
            ConstantTag::Class => PoolEntry::Class(body.u16(WHAT)?),
            ConstantTag::String => PoolEntry::String(body.u16(WHAT)?),
            ConstantTag::Field => PoolEntry::Field {
                class: body.u16(WHAT)?,
                name_and_type: body.u16(WHAT)?,
            },
            ConstantTag::Method => PoolEntry::Method {
                class: body.u16(WHAT)?,
                name_and_type: body.u16(WHAT)?,
            },
            ConstantTag::InterfaceMethod => PoolEntry::InterfaceMethod {
                class: body.u16(WHAT)?,
                name_and_type: body.u16(WHAT)?,
            },
            ConstantTag::NameAndType => PoolEntry::NameAndType {
                name: body.u16(WHAT)?,
                descriptor: body.u16(WHAT)?,
            },
            ConstantTag::MethodHandle => PoolEntry::MethodHandle {
                kind: body.u8(WHAT)?,
                reference: body.u16(WHAT)?,
            },
            ConstantTag::MethodType => PoolEntry::MethodType(body.u16(WHAT)?),
            ConstantTag::Dynamic => PoolEntry::Dynamic {
                bootstrap: body.u16(WHAT)?,
                name_and_type: body.u16(WHAT)?,
            },
            ConstantTag::InvokeDynamic => PoolEntry::InvokeDynamic {
                bootstrap: body.u16(WHAT)?,
                name_and_type: body.u16(WHAT)?,
            },
            ConstantTag::Module => PoolEntry::Module(body.u16(WHAT)?),
            ConstantTag::Package => PoolEntry::Package(body.u16(WHAT)?),
        })
    }

    /// Returns the error for an entry that has the wrong kind or does not exist.
    pub(super) fn wrong(&self, index: u16, expected: &'static str) -> ClassFileError {
        match self.tag(index) {
            Ok(found) => ClassFileError::WrongTag {
                index,
                expected,
                found,
            },
            Err(error) => error,
        }
    }
}

/// The bytes of a `Utf8` entry before the text, which has `length` bytes.
///
/// # Errors
/// If the text exceeds 65,535 bytes.
pub(super) fn utf8_head(length: usize) -> Result<[u8; 3], ClassFileError> {
    let bytes = u16::try_from(length).map_err(|_| ClassFileError::TooLong {
        what: "a Utf8 constant",
        length,
        limit: usize::from(u16::MAX),
    })?;
    Ok(ConstantTag::Utf8.entry_of_one(bytes))
}
