//! A method's parameters, read from the descriptor alone: the instructions by which a stub loads
//! them, and their verification types in a stack map.

use super::class_constants::ClassConstants;
use super::word::Word;
use crate::bytecode::opcode::*;
use crate::classfile::{ClassFileError, ConstantPool};
use veneer_names::raw::field_length;

/// The parameters as local variables. Each load is a pair of opcode and slot.
pub(super) struct Parameters<'f> {
    pub loads: Vec<(u8, u16)>,
    /// The kinds of the parameters, by value.
    pub kinds: Vec<Word>,
    pub words: u16,
    /// Whether the method has no receiver.
    is_static: bool,
    /// The declared parameters, without parentheses.
    declared: &'f [u8],
    /// The descriptor of the result.
    pub result_descriptor: &'f [u8],
    /// First byte of the result's descriptor.
    pub result: u8,
}

/// The memory of [`Parameters::loads`] and [`Parameters::kinds`].
pub(super) type ParameterBuffers = (Vec<(u8, u16)>, Vec<Word>);

impl<'f> Parameters<'f> {
    /// Parses a descriptor. Returns `None` if it is malformed. The
    /// buffers are reused.
    pub fn parse(
        descriptor: &'f [u8],
        is_static: bool,
        (mut loads, mut kinds): ParameterBuffers,
    ) -> Option<Parameters<'f>> {
        loads.clear();
        kinds.clear();
        let mut found = Parameters {
            loads,
            kinds,
            words: 0,
            is_static,
            declared: &[],
            result_descriptor: &[],
            result: 0,
        };
        if !is_static {
            found.add(Word::OBJECT)?;
        }
        let declared = descriptor.strip_prefix(b"(")?;
        let mut rest = declared;
        while rest.first() != Some(&b')') {
            let length = field_length(rest)?;
            found.add(Word::of_descriptor(rest[0])?)?;
            rest = rest.get(length..)?;
        }
        found.declared = &declared[..declared.len() - rest.len()];
        let result = &rest[1..];
        if result != b"V" && field_length(result)? != result.len() {
            return None;
        }
        found.result_descriptor = result;
        found.result = result[0];
        Some(found)
    }

    fn add(&mut self, word: Word) -> Option<()> {
        self.loads.push((ILOAD + word.load_kind(), self.words));
        self.kinds.push(word);
        self.words = self.words.checked_add(word.width())?;
        Some(())
    }

    /// Whether [`Parameters::site`] is the method's own descriptor.
    pub fn is_site(&self) -> bool {
        let mut rest = self.declared;
        let mut is_int = true;
        while let Some(length) = field_length(rest) {
            is_int &= !matches!(rest[0], b'Z' | b'B' | b'C' | b'S');
            rest = &rest[length..];
        }
        self.is_static && is_int
    }

    /// Descriptor of the call of the version, in modified UTF-8: the parameters, including the
    /// receiver of this class, and the result.
    pub fn site(&self, class: &[u8]) -> Vec<u8> {
        let length = self.declared.len() + self.result_descriptor.len() + class.len() + 4;
        let mut site = Vec::with_capacity(length);
        site.push(b'(');
        if !self.is_static {
            site.push(b'L');
            site.extend_from_slice(class);
            site.push(b';');
        }
        let mut rest = self.declared;
        while let Some(length) = field_length(rest) {
            match rest[0] {
                b'Z' | b'B' | b'C' | b'S' => site.push(b'I'),
                _ => site.extend_from_slice(&rest[..length]),
            }
            rest = &rest[length..];
        }
        site.push(b')');
        site.extend_from_slice(self.result_descriptor);
        site
    }

    /// The parameters as encoded verification types of a full frame.
    pub fn write_types(
        &self,
        out: &mut Vec<u8>,
        constants: &mut ClassConstants,
        pool: &mut ConstantPool,
    ) -> Result<(), ClassFileError> {
        if !self.is_static {
            out.push(Word::OBJECT.tag());
            out.extend(constants.this_class().to_be_bytes());
        }
        let mut rest = self.declared;
        for word in &self.kinds[usize::from(!self.is_static)..] {
            let length = field_length(rest).unwrap_or(rest.len());
            out.push(word.tag());
            if *word == Word::OBJECT {
                let class = constants.class(class_of(&rest[..length]), pool)?;
                out.extend(class.to_be_bytes());
            }
            rest = &rest[length..];
        }
        Ok(())
    }

    /// The class to which the result of an OSR exit must be cast, if any.
    pub fn result_class(&self) -> Option<&'f [u8]> {
        let class = match self.result {
            b'L' | b'[' => class_of(self.result_descriptor),
            _ => return None,
        };
        Some(class).filter(|name| *name != b"java/lang/Object")
    }
}

/// The class of a reference descriptor, in the form of a `Class` constant.
fn class_of(descriptor: &[u8]) -> &[u8] {
    descriptor
        .strip_prefix(b"L")
        .and_then(|name| name.strip_suffix(b";"))
        .unwrap_or(descriptor)
}

/// Appends a load (`ILOAD` …) or store (`ISTORE` …) of a local variable.
pub(super) fn local(out: &mut Vec<u8>, op: u8, slot: u16) {
    let (first, short) = if op >= ISTORE {
        (ISTORE, ISTORE_0)
    } else {
        (ILOAD, ILOAD_0)
    };
    match slot {
        0..=3 => out.push(short + (op - first) * 4 + slot as u8),
        4..=255 => out.extend([op, slot as u8]),
        _ => {
            out.extend([WIDE, op]);
            out.extend(slot.to_be_bytes());
        }
    }
}
