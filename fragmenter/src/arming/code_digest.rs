//! A hash of the code that arming gave a class.
//!
//! The agent compares it with the code that the JVM has, and so finds the classes that another agent
//! has changed afterwards.

use crate::bytecode::opcode::LDC;
use crate::bytecode::{DecodeError, decode};
use crate::classfile::{ClassFile, Code};
use crate::refusal::Refusal;
use std::borrow::Cow;
use twox_hash::XxHash3_64;

/// The bytes of the code that a digest covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DigestScope {
    /// All bytes of the code.
    #[default]
    AllBytes,
    /// All but the numbers of constants. HotSpot merges the constant pools of the old and the new
    /// class when it retransforms one, and may number the constants anew.
    NoConstants,
}

/// A hash of the bytecode of all armed methods of a class. It does not depend on the order in which
/// the methods are added, because the JVM returns them in an order of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeDigest(pub u64);

impl CodeDigest {
    /// Adds the bytecode of one method: the array `code` of its `Code` attribute (JVMS §4.7.3).
    pub fn add(&mut self, code: &[u8]) {
        self.0 = self.0.wrapping_add(XxHash3_64::oneshot(code));
    }

    /// Adds the bytecode of one method, as far as the scope covers it.
    ///
    /// # Errors
    /// The bytecode is malformed, and the scope leaves bytes out.
    pub fn add_in_scope(&mut self, code: &[u8], scope: DigestScope) -> Result<(), DecodeError> {
        match scope {
            DigestScope::AllBytes => self.add(code),
            DigestScope::NoConstants => self.add(&without_constants(code)?),
        }
        Ok(())
    }

    /// The digest of these methods of an armed class, given by their indices, without the numbers of
    /// constants.
    ///
    /// # Errors
    /// The class file is malformed.
    pub fn without_constants(
        class_file: &[u8],
        methods: impl Iterator<Item = usize>,
    ) -> Result<CodeDigest, Refusal> {
        let file = ClassFile::parse(class_file)?;
        let mut digest = CodeDigest::default();
        for index in methods {
            let member = file.methods.get(index).ok_or(Refusal::NoCode)?;
            let attribute = member.attributes.iter().find(|a| a.is(&file.pool, "Code"));
            let code = Code::parse(&attribute.ok_or(Refusal::NoCode)?.info)?;
            digest.add_in_scope(&code.code, DigestScope::NoConstants)?;
        }
        Ok(digest)
    }

    /// Adds the bytecode in the content of a `Code` attribute. Adds nothing for a truncated content.
    pub(super) fn add_attribute(&mut self, content: &[u8]) {
        // The first eight bytes are the size of the stack, of the frame and of the code.
        let size = content.get(4..8).and_then(|bytes| bytes.first_chunk());
        let size = size.map_or(0, |bytes| u32::from_be_bytes(*bytes) as usize);
        if let Some(code) = content.get(8..8 + size) {
            self.add(code);
        }
    }
}

/// The bytecode with 0 for each number of a constant.
fn without_constants(code: &[u8]) -> Result<Cow<'_, [u8]>, DecodeError> {
    let mut masked = Cow::Borrowed(code);
    for (pc, instruction) in decode(code)? {
        if instruction.pool_index().is_none() {
            continue;
        }
        let at = usize::from(pc);
        let size = if code.get(at) == Some(&LDC) { 1 } else { 2 };
        if let Some(number) = masked.to_mut().get_mut(at + 1..at + 1 + size) {
            number.fill(0);
        }
    }
    Ok(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_numbers_of_constants_are_left_out() {
        // ldc 7; getstatic 258; sipush 300; return
        let code = [0x12, 7, 0xB2, 1, 2, 0x11, 1, 44, 0xB1];
        let masked = without_constants(&code).expect("code");
        assert_eq!(*masked, [0x12, 0, 0xB2, 0, 0, 0x11, 1, 44, 0xB1]);
        let renumbered = [0x12, 9, 0xB2, 3, 4, 0x11, 1, 44, 0xB1];
        let in_scope = |code: &[u8], scope| {
            let mut found = CodeDigest::default();
            found.add_in_scope(code, scope).map(|()| found)
        };
        let (all, some) = (DigestScope::AllBytes, DigestScope::NoConstants);
        assert_eq!(in_scope(&code, some), in_scope(&renumbered, some));
        assert_ne!(in_scope(&code, all), in_scope(&renumbered, all));
        assert!(in_scope(&[0x12], some).is_err() && in_scope(&[0x12], all).is_ok());
    }

    fn digest(codes: &[&[u8]]) -> CodeDigest {
        let mut digest = CodeDigest::default();
        codes.iter().for_each(|code| digest.add(code));
        digest
    }

    #[test]
    fn the_order_of_the_methods_does_not_matter_and_each_byte_does() {
        assert_eq!(digest(&[&[1, 2], &[3]]), digest(&[&[3], &[1, 2]]));
        assert_ne!(digest(&[&[1, 2], &[3]]), digest(&[&[1, 2], &[4]]));
        assert_ne!(digest(&[&[1, 2], &[3]]), digest(&[&[1, 2]]));
    }

    #[test]
    fn only_the_code_of_an_attribute_counts() {
        let attribute = |stack: u8| [0, stack, 0, 3, 0, 0, 0, 2, 4, 0xAC, 0, 0, 0, 0];
        for stack in [1, 2] {
            let mut found = CodeDigest::default();
            found.add_attribute(&attribute(stack));
            assert_eq!(found, digest(&[&[4, 0xAC]]));
        }
    }

    #[test]
    fn a_truncated_attribute_adds_nothing() {
        let mut found = CodeDigest::default();
        found.add_attribute(&[0, 1, 0, 1, 0, 0, 0, 9, 4]);
        found.add_attribute(&[0, 1]);
        assert_eq!(found, CodeDigest::default());
    }
}
