//! Content numbers: equal constants of the two class files get equal numbers.

use crate::classfile::{ClassFile, ClassFileError};
use ahash::RandomState;
use std::collections::HashMap;

/// The content numbers of both sides.
pub(in crate::check) struct ContentNumbers {
    numbers: HashMap<Vec<u8>, u32, RandomState>,
}

/// The first content number. Smaller numbers are opcodes and similar keys.
const FIRST_CONTENT_NUMBER: u32 = 4096;

impl ContentNumbers {
    pub fn new() -> ContentNumbers {
        ContentNumbers {
            numbers: HashMap::default(),
        }
    }

    pub fn number(&mut self, content: Vec<u8>) -> u32 {
        let next = FIRST_CONTENT_NUMBER + self.numbers.len() as u32;
        *self.numbers.entry(content).or_insert(next)
    }

    /// Returns the content number of the class at a pool index.
    pub fn class(&mut self, file: &ClassFile, index: u16) -> Result<u32, ClassFileError> {
        let name = file.pool.class_name(index)?;
        Ok(self.number(bytes(b'c', &[name.as_bytes()])))
    }

    /// Returns the content number of the class with this name.
    pub fn class_named(&mut self, name: &str) -> u32 {
        self.number(bytes(b'c', &[name.as_bytes()]))
    }

    /// Returns the key of the effect of a test for the class with this name.
    pub fn test_for(&mut self, name: &str) -> u32 {
        self.class_named(name) << 2 | 3 | 1 << 30
    }

    /// Returns the key of the effect of a cast to the class with this name.
    pub fn cast_to(&mut self, name: &str) -> u32 {
        self.class_named(name) << 2 | 2 | 1 << 30
    }
}

/// Encodes a tag and its parts injectively: each part is preceded by its length.
pub(super) fn bytes(head: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![head];
    for p in parts {
        out.extend((p.len() as u32).to_be_bytes());
        out.extend_from_slice(p);
    }
    out
}
