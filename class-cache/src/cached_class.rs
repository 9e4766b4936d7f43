//! One armed class, as it is stored: the *hot section*, which is read when the class is found. The
//! original class file is behind it and is read only when the agent needs it.

use crate::byte_reader::{ByteReader, push_text};
use crate::digest::{Digest, checksum};
use crate::id_template::IdTemplate;
use std::borrow::Cow;

const IS_WANTED: u8 = 1;
const IS_FORCED: u8 = 2;
const IS_ARMED: u8 = 4;

/// A method with code, and the selection under which its class was armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedMethod<'a> {
    /// The number of the method in its class.
    pub index: u16,
    /// Whether the method was to be armed.
    pub is_wanted: bool,
    /// Whether the method was to be armed even above HotSpot's inlining limit.
    pub is_forced: bool,
    /// Whether the method has a cell.
    pub is_armed: bool,
    /// The simple name.
    pub name: Cow<'a, str>,
    /// The method's descriptor (JVMS §4.3.3).
    pub descriptor: Cow<'a, str>,
}

/// A refusal that arming recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedRefusal<'a> {
    /// The method with its descriptor, followed by `@pc` if the refusal concerns one position.
    pub method: Cow<'a, str>,
    /// The public code of the refusal.
    pub code: Cow<'a, str>,
    /// The sentence for the user.
    pub detail: Cow<'a, str>,
}

/// Everything that arming has produced for one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedClass<'a> {
    /// Length of the class file that was armed, as a further check beside the key.
    pub class_file_len: u32,
    /// The number of methods, with and without code.
    pub method_count: u16,
    /// Hash of the original class file: the class file that was armed, or its form of Java 7.
    pub original: Digest,
    /// Length of the original class file; 0 if no method is armed.
    pub original_len: u32,
    /// Hash of the bytecode of the armed methods; 0 if no method is armed.
    pub armed_code: u64,
    /// Internal name of the anchor.
    pub anchor_name: Cow<'a, str>,
    /// The methods with code.
    pub methods: Vec<CachedMethod<'a>>,
    /// The refusals for methods and positions.
    pub refusals: Vec<CachedRefusal<'a>>,
    /// The class file of the anchor.
    pub anchor: IdTemplate<'a>,
    /// The armed class file; empty if no method is armed.
    pub armed: IdTemplate<'a>,
}

impl<'a> CachedClass<'a> {
    /// The hot section. Returns `None` if a number or a text is too large for its field.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let size = self.anchor.bytes().len() + self.armed.bytes().len();
        let mut out = Vec::with_capacity(size + 1024);
        out.extend([0; 8]);
        out.extend(self.original.0.to_le_bytes());
        out.extend(self.armed_code.to_le_bytes());
        out.extend(self.class_file_len.to_le_bytes());
        out.extend(self.original_len.to_le_bytes());
        out.extend(self.method_count.to_le_bytes());
        out.extend(u16::try_from(self.methods.len()).ok()?.to_le_bytes());
        out.extend(u32::try_from(self.refusals.len()).ok()?.to_le_bytes());
        push_text(&mut out, &self.anchor_name)?;
        for method in &self.methods {
            out.extend(method.index.to_le_bytes());
            let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
            out.push(
                flag(method.is_wanted, IS_WANTED)
                    | flag(method.is_forced, IS_FORCED)
                    | flag(method.is_armed, IS_ARMED),
            );
            push_text(&mut out, &method.name)?;
            push_text(&mut out, &method.descriptor)?;
        }
        for refusal in &self.refusals {
            push_text(&mut out, &refusal.method)?;
            push_text(&mut out, &refusal.code)?;
            push_text(&mut out, &refusal.detail)?;
        }
        self.anchor.push_sites(&mut out)?;
        self.armed.push_sites(&mut out)?;
        out.extend(self.anchor.bytes());
        out.extend(self.armed.bytes());
        let sum = checksum(&out[8..]);
        out[..8].copy_from_slice(&sum.to_le_bytes());
        Some(out)
    }

    /// Reads a hot section. Returns `None` if it is damaged.
    pub fn decode(hot: &'a [u8]) -> Option<CachedClass<'a>> {
        let mut reader = ByteReader::new(hot);
        let sum = reader.u64()?;
        if sum != checksum(&hot[8..]) {
            return None;
        }
        let original = Digest(reader.u128()?);
        let armed_code = reader.u64()?;
        let class_file_len = reader.u32()?;
        let original_len = reader.u32()?;
        let method_count = reader.u16()?;
        let method_records = reader.u16()?;
        let refusal_records = reader.u32()?;
        let anchor_name = reader.text()?.into();
        let mut methods = Vec::with_capacity(method_records.into());
        for _ in 0..method_records {
            let index = reader.u16()?;
            let flags = reader.u8()?;
            if index >= method_count {
                return None;
            }
            methods.push(CachedMethod {
                index,
                is_wanted: flags & IS_WANTED != 0,
                is_forced: flags & IS_FORCED != 0,
                is_armed: flags & IS_ARMED != 0,
                name: reader.text()?.into(),
                descriptor: reader.text()?.into(),
            });
        }
        let mut refusals = Vec::new();
        for _ in 0..refusal_records {
            refusals.push(CachedRefusal {
                method: reader.text()?.into(),
                code: reader.text()?.into(),
                detail: reader.text()?.into(),
            });
        }
        let (mut anchor, anchor_len) = IdTemplate::read_sites(&mut reader)?;
        let (mut armed, armed_len) = IdTemplate::read_sites(&mut reader)?;
        anchor.set_bytes(reader.take(anchor_len)?);
        armed.set_bytes(reader.take(armed_len)?);
        Some(CachedClass {
            class_file_len,
            method_count,
            original,
            original_len,
            armed_code,
            anchor_name,
            methods,
            refusals,
            anchor,
            armed,
        })
    }
}
