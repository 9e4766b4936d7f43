//! Numbers for contents: equal contents have equal numbers, whichever class file they stand in.

use crate::classfile::ClassFile;
use std::collections::HashMap;

/// Numbers of contents, for both sides.
pub(in crate::check) struct Canon {
    numbers: HashMap<Vec<u8>, u32>,
}

/// Numbers below are opcodes and such.
const FIRST: u32 = 4096;

impl Canon {
    pub fn new() -> Canon {
        Canon {
            numbers: HashMap::new(),
        }
    }

    pub fn number(&mut self, content: Vec<u8>) -> u32 {
        let next = FIRST + self.numbers.len() as u32;
        *self.numbers.entry(content).or_insert(next)
    }

    /// The number of a class's name.
    pub fn class(&mut self, file: &ClassFile, index: u16) -> Result<u32, String> {
        let name = file.pool.class_name(index).map_err(|e| e.to_string())?;
        Ok(self.number(bytes(b'c', &[name.as_bytes()])))
    }

    /// The number of a class's name as text.
    pub fn class_named(&mut self, name: &str) -> u32 {
        self.number(bytes(b'c', &[name.as_bytes()]))
    }
}

/// A content of parts, so that no two different ones look alike.
pub(super) fn bytes(head: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![head];
    for p in parts {
        out.extend((p.len() as u32).to_be_bytes());
        out.extend_from_slice(p);
    }
    out
}
