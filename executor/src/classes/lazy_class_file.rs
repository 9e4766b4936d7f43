//! The class file of one call of the class hook. It is parsed when it is first needed, and once at
//! most: for its name, for the properties that patterns ask for, and for arming.

use std::cell::OnceCell;
use veneer_fragmenter::classfile::{ClassFile, ClassFileError};

/// The bytes of a class file, and its parsed form once it has been needed.
pub struct LazyClassFile<'c> {
    bytes: &'c [u8],
    parsed: OnceCell<Result<ClassFile<'c>, ClassFileError>>,
}

impl<'c> LazyClassFile<'c> {
    /// Wraps the bytes. Does not parse them.
    pub fn new(bytes: &'c [u8]) -> LazyClassFile<'c> {
        LazyClassFile {
            bytes,
            parsed: OnceCell::new(),
        }
    }

    /// Returns the bytes of the class file.
    pub fn bytes(&self) -> &'c [u8] {
        self.bytes
    }

    /// Returns the parsed class file.
    ///
    /// # Errors
    /// The bytes are not a class file.
    pub fn parsed(&self) -> Result<&ClassFile<'c>, ClassFileError> {
        let parsed = self.parsed.get_or_init(|| ClassFile::parse(self.bytes));
        parsed.as_ref().map_err(Clone::clone)
    }
}
