//! Class names as numbers, so that types are small and fast to compare.
//!
//! Names are kept as the bytes of the class file (modified UTF-8). Two names are equal if and only
//! if their bytes are equal.

use std::borrow::Cow;
use std::collections::HashMap;

/// The number of a name in [`NameTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(u32);

impl NameId {
    pub(super) const OBJECT: NameId = NameId(0);
    pub(super) const THROWABLE: NameId = NameId(1);
    pub(super) const STRING: NameId = NameId(2);
    pub(super) const CLASS: NameId = NameId(3);
    pub(super) const METHOD_TYPE: NameId = NameId(4);
    pub(super) const METHOD_HANDLE: NameId = NameId(5);
}

/// The names of the constants of [`NameId`], in the same order.
const PREDEFINED_NAMES: [&[u8]; 6] = [
    b"java/lang/Object",
    b"java/lang/Throwable",
    b"java/lang/String",
    b"java/lang/Class",
    b"java/lang/invoke/MethodType",
    b"java/lang/invoke/MethodHandle",
];

/// All names that one class file mentions.
pub(super) struct NameTable<'n> {
    ids: HashMap<Cow<'n, [u8]>, NameId, ahash::RandomState>,
    list: Vec<Cow<'n, [u8]>>,
}

impl<'n> NameTable<'n> {
    pub fn new() -> NameTable<'n> {
        let mut names = NameTable {
            ids: HashMap::default(),
            list: Vec::new(),
        };
        for name in PREDEFINED_NAMES {
            names.intern(name);
        }
        names
    }

    /// Returns the number of a name that lives as long as the class file.
    pub fn intern(&mut self, name: &'n [u8]) -> NameId {
        match self.ids.get(name) {
            Some(id) => *id,
            None => self.add(Cow::Borrowed(name)),
        }
    }

    /// Returns the number of a derived name: the name of an array, or a part of another name.
    pub fn intern_owned(&mut self, name: &[u8]) -> NameId {
        match self.ids.get(name) {
            Some(id) => *id,
            None => self.add(Cow::Owned(name.to_vec())),
        }
    }

    fn add(&mut self, name: Cow<'n, [u8]>) -> NameId {
        let id = NameId(self.list.len() as u32);
        self.ids.insert(name.clone(), id);
        self.list.push(name);
        id
    }

    /// Returns the number of a name, if it has one.
    pub fn find(&self, name: &[u8]) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// Returns the bytes of a name.
    pub fn bytes(&self, id: NameId) -> &[u8] {
        self.list.get(id.0 as usize).map_or(&[], |name| name)
    }

    /// True if the name is that of an array.
    pub fn is_array(&self, id: NameId) -> bool {
        self.bytes(id).first() == Some(&b'[')
    }

    /// Returns the name as text.
    pub fn text(&self, id: NameId) -> Cow<'_, str> {
        crate::classfile::text::decode(self.bytes(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_one_number() {
        let mut names = NameTable::new();
        assert_eq!(names.find(b"java/lang/Object"), Some(NameId::OBJECT));
        assert_eq!(
            names.intern_owned(b"java/lang/invoke/MethodHandle"),
            NameId::METHOD_HANDLE
        );
        let a = names.intern(b"[La/A;");
        assert_eq!(names.intern_owned(b"[La/A;"), a);
        assert!(names.is_array(a) && !names.is_array(NameId::OBJECT));
        assert_eq!(names.text(a), "[La/A;");
        assert_eq!(names.find(b"b/B"), None);
    }
}
