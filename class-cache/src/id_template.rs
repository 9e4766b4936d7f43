//! A class file with gaps for method ids.
//!
//! Armed classes and anchors contain the ids of methods in names, such as `c17` and `search$e17`. The
//! ids depend on the order in which a program loads its classes, so the same class has other ids
//! in the next run. The cache stores the class file without the digits, and a list of the names.
//!
//! ```text
//!   stored   … 01 0001 63 …            site: offset of the length, method 3
//!   filled   … 01 0003 63 31 37 …      "c17", if the class has the ids from 14 on
//! ```
//!
//! Ids stand in the constant pool only, in `CONSTANT_Utf8` entries of their own.

use crate::byte_reader::ByteReader;
use std::borrow::Cow;

const UTF8: u8 = 1;
const CLASS: u8 = 7;
const STRING: u8 = 8;
const NAME_AND_TYPE: u8 = 12;
const METHOD_TYPE: u8 = 16;

/// The most decimal digits of an id.
const MAX_DIGITS: usize = 10;

/// A name with an id in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdSite {
    /// Offset of the two length bytes of the `CONSTANT_Utf8` entry.
    offset: u32,
    /// The number of the method in its class.
    method: u16,
}

/// A name that contains the id of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedMethod {
    /// The number of the method in its class.
    pub method: u16,
    /// The name of the method's cell. Otherwise the name is that of the method's body in versions.
    pub is_cell: bool,
}

/// A class file with gaps for method ids. See the module documentation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdTemplate<'a> {
    bytes: Cow<'a, [u8]>,
    sites: Vec<IdSite>,
}

/// A constant pool, by the offsets of its entries.
struct Pool<'f> {
    file: &'f [u8],
    /// The offset of the tag of each entry; 0 for entries that do not exist.
    offsets: Vec<u32>,
}

impl<'f> Pool<'f> {
    fn parse(file: &'f [u8]) -> Option<Pool<'f>> {
        let count = u16_at(file, 8)?;
        let mut offsets = vec![0; count.into()];
        let (mut at, mut index) = (10usize, 1usize);
        while index < offsets.len() {
            offsets[index] = u32::try_from(at).ok()?;
            let tag = *file.get(at)?;
            let size = match tag {
                1 => 2 + usize::from(u16_at(file, at + 1)?),
                3 | 4 | 9..=12 | 17 | 18 => 4,
                5 | 6 => 8,
                7 | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                _ => return None,
            };
            // A `long` or `double` has the number of the next entry too.
            index += if matches!(tag, 5 | 6) { 2 } else { 1 };
            at += 1 + size;
        }
        (at <= file.len()).then_some(Pool { file, offsets })
    }

    /// The tag of an entry and the offset behind the tag.
    fn entry(&self, index: usize) -> Option<(u8, usize)> {
        let at = *self.offsets.get(index)? as usize;
        (at > 0).then(|| (self.file[at], at + 1))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([two[0], two[1]]))
}

/// The number of entries of the constant pool of a class file, with the entry 0 that does not exist.
fn pool_size(class_file: &[u8]) -> Option<usize> {
    u16_at(class_file, 8).map(usize::from)
}

impl<'a> IdTemplate<'a> {
    /// The template of an armed class file. Only constants that arming has appended to those of
    /// `original` can contain ids. `named` tells which method a text names.
    ///
    /// Returns `None` if a name with an id is used as another text too, which the template could not
    /// separate, or if one of the `armed` methods has no such name.
    pub fn of_armed_class(
        armed: &[u8],
        original: &[u8],
        armed_methods: usize,
        named: &dyn Fn(&str) -> Option<NamedMethod>,
    ) -> Option<IdTemplate<'static>> {
        let pool = Pool::parse(armed)?;
        let appended = pool_size(original)?..pool.offsets.len();
        let mut is_name = vec![false; pool.offsets.len()];
        let mut is_other_text = vec![false; pool.offsets.len()];
        for index in 1..pool.offsets.len() {
            let Some((tag, at)) = pool.entry(index) else {
                continue;
            };
            let mark = |list: &mut Vec<bool>, at| {
                let text = usize::from(u16_at(armed, at)?);
                *list.get_mut(text)? = true;
                Some(())
            };
            match tag {
                NAME_AND_TYPE => {
                    mark(&mut is_name, at)?;
                    mark(&mut is_other_text, at + 2)?;
                }
                CLASS | STRING | METHOD_TYPE => mark(&mut is_other_text, at)?,
                _ => {}
            }
        }
        let mut found = Vec::new();
        let (mut cells, mut bodies) = (Vec::new(), Vec::new());
        for index in appended {
            let Some((method, offset)) = pool.named(index, named).filter(|_| is_name[index]) else {
                continue;
            };
            if is_other_text[index] {
                return None;
            }
            let list = if method.is_cell {
                &mut cells
            } else {
                &mut bodies
            };
            list.push(method.method);
            found.push((method.method, offset));
        }
        for mut methods in [cells, bodies] {
            methods.sort_unstable();
            methods.dedup();
            // Methods that were refused late may have left names behind, so there can be more.
            if methods.len() < armed_methods {
                return None;
            }
        }
        IdTemplate::without_digits(armed, &found)
    }

    /// The template of an anchor, whose constant pool contains names of Veneer only.
    pub fn of_anchor(
        anchor: &[u8],
        named: &dyn Fn(&str) -> Option<NamedMethod>,
    ) -> Option<IdTemplate<'static>> {
        if anchor.is_empty() {
            return Some(IdTemplate::default());
        }
        let pool = Pool::parse(anchor)?;
        let found = (1..pool.offsets.len()).filter_map(|index| pool.named(index, named));
        let found: Vec<_> = found.map(|(named, at)| (named.method, at)).collect();
        IdTemplate::without_digits(anchor, &found)
    }

    /// Removes the digits at the end of the texts at these offsets.
    fn without_digits(file: &[u8], found: &[(u16, usize)]) -> Option<IdTemplate<'static>> {
        let mut bytes = Vec::with_capacity(file.len());
        let mut sites = Vec::with_capacity(found.len());
        let mut copied = 0;
        for (method, at) in found {
            let text = file.get(at + 2..at + 2 + usize::from(u16_at(file, *at)?))?;
            let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let prefix = &text[..text.len() - digits];
            bytes.extend(&file[copied..*at]);
            sites.push(IdSite {
                offset: u32::try_from(bytes.len()).ok()?,
                method: *method,
            });
            bytes.extend((prefix.len() as u16).to_be_bytes());
            bytes.extend(prefix);
            copied = at + 2 + text.len();
        }
        bytes.extend(&file[copied..]);
        Some(IdTemplate {
            bytes: bytes.into(),
            sites,
        })
    }

    /// Whether the template is that of no class file.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The class file with the ids of a class whose method number `i` has the id `first_id + i`.
    /// Returns `None` if the template is damaged.
    pub fn fill(&self, first_id: u32) -> Option<Vec<u8>> {
        let most = self.bytes.len() + self.sites.len() * MAX_DIGITS;
        let mut out = Vec::with_capacity(most);
        let mut copied = 0;
        for site in &self.sites {
            let at = site.offset as usize;
            let length = u16_at(&self.bytes, at)?;
            out.extend(self.bytes.get(copied..at)?);
            let mut digits = [0u8; MAX_DIGITS];
            let digits = decimal(first_id.checked_add(site.method.into())?, &mut digits);
            let filled = length.checked_add(digits.len() as u16)?;
            out.extend(filled.to_be_bytes());
            copied = at + 2 + usize::from(length);
            out.extend(self.bytes.get(at + 2..copied)?);
            out.extend(digits);
        }
        out.extend(self.bytes.get(copied..)?);
        Some(out)
    }

    /// Appends the lengths and the sites. The bytes are written elsewhere.
    pub(crate) fn push_sites(&self, out: &mut Vec<u8>) -> Option<()> {
        out.extend(u32::try_from(self.bytes.len()).ok()?.to_le_bytes());
        out.extend(u32::try_from(self.sites.len()).ok()?.to_le_bytes());
        for site in &self.sites {
            out.extend(site.offset.to_le_bytes());
            out.extend(site.method.to_le_bytes());
        }
        Some(())
    }

    /// The bytes without ids.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads what [`IdTemplate::push_sites`] has written. Returns the template without its bytes, and
    /// their number.
    pub(crate) fn read_sites(reader: &mut ByteReader<'a>) -> Option<(IdTemplate<'a>, usize)> {
        let length = reader.u32()? as usize;
        let count = reader.u32()? as usize;
        let mut packed = ByteReader::new(reader.take(count.checked_mul(6)?)?);
        let mut sites = Vec::with_capacity(count);
        for _ in 0..count {
            sites.push(IdSite {
                offset: packed.u32()?,
                method: packed.u16()?,
            });
        }
        let template = IdTemplate {
            bytes: Cow::default(),
            sites,
        };
        Some((template, length))
    }

    pub(crate) fn set_bytes(&mut self, bytes: &'a [u8]) {
        self.bytes = Cow::Borrowed(bytes);
    }
}

impl Pool<'_> {
    /// The method that an entry names, and the offset of the length of the entry's text.
    fn named(
        &self,
        index: usize,
        named: &dyn Fn(&str) -> Option<NamedMethod>,
    ) -> Option<(NamedMethod, usize)> {
        let (tag, at) = self.entry(index)?;
        if tag != UTF8 {
            return None;
        }
        let text = self
            .file
            .get(at + 2..at + 2 + usize::from(u16_at(self.file, at)?))?;
        // Most texts do not end with a digit.
        if !text.last()?.is_ascii_digit() {
            return None;
        }
        Some((named(std::str::from_utf8(text).ok()?)?, at))
    }
}

/// The decimal digits of a number, at the end of the buffer.
fn decimal(mut number: u32, buffer: &mut [u8; MAX_DIGITS]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[at..];
        }
    }
}
