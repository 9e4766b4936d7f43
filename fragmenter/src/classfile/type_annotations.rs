//! Type annotations of code (JVMS 4.7.20): adjusts the pcs in `RuntimeVisibleTypeAnnotations` and
//! `RuntimeInvisibleTypeAnnotations`.
//!
//! ```text
//!   target_type  content                                              action
//!   0x00, 0x01   u1 type parameter                                    skipped
//!   0x10         u2 supertype                                         skipped
//!   0x11, 0x12   u1 type parameter, u1 bound                          skipped
//!   0x13 – 0x15  nothing (field, return, receiver)
//!   0x16         u1 formal parameter                                  skipped
//!   0x17         u2 throws                                            skipped
//!   0x40, 0x41   u2 n, n × { u2 start, u2 length, u2 slot }           ranges mapped
//!   0x42         u2 index into the exception table                    mapped by `exception`
//!   0x43 – 0x46  u2 pc (instanceof, new, method references)           mapped
//!   0x47 – 0x4b  u2 pc, u1 type argument (casts, calls)               mapped
//! ```
//!
//! A path (`u1 n, n × 2 bytes`) and an annotation follow. Annotation values may be nested as deeply
//! as the bytes allow.

use super::annotations::annotation;
use super::code_map::{AttributePatches, CodeMap};
use super::error::ClassFileError;
use super::reader::Reader;

const WHAT: &str = "a type annotation";

/// Returns the changes that a map makes to an attribute of type annotations.
pub(super) fn remap(info: &[u8], map: &CodeMap<'_>) -> Result<AttributePatches, ClassFileError> {
    let mut reader = Reader::new(info);
    let mut changes = AttributePatches::default();
    let count = reader.u16(WHAT)?;
    for _ in 0..count {
        remap_target(&mut reader, map, &mut changes)?;
        let steps = reader.u8(WHAT)?;
        reader.read_bytes(2 * usize::from(steps), WHAT)?;
        annotation(&mut reader, WHAT)?;
    }
    reader.finish("the type annotations")?;
    Ok(changes)
}

fn remap_target(
    reader: &mut Reader<'_>,
    map: &CodeMap<'_>,
    changes: &mut AttributePatches,
) -> Result<(), ClassFileError> {
    let at = reader.at();
    let target = reader.u8(WHAT)?;
    match target {
        0x00 | 0x01 | 0x16 => {
            reader.read_bytes(1, WHAT)?;
        }
        0x10..=0x12 | 0x17 => {
            reader.read_bytes(2, WHAT)?;
        }
        0x13..=0x15 => {}
        0x40 | 0x41 => {
            let ranges = reader.u16(WHAT)?;
            for _ in 0..ranges {
                let at = reader.at();
                let start = reader.u16(WHAT)?;
                let length = reader.u16(WHAT)?;
                reader.u16(WHAT)?;
                if let Some((new_start, new_length)) = map.range(start, length) {
                    changes.set(at, start, new_start);
                    changes.set(at + 2, length, new_length);
                }
            }
        }
        0x42 => {
            let at = reader.at();
            let row = reader.u16(WHAT)?;
            changes.set(at, row, (map.exception)(row));
        }
        0x43..=0x4b => {
            let at = reader.at();
            let pc = reader.u16(WHAT)?;
            if pc < map.old_length {
                changes.set(at, pc, (map.pc)(pc));
            }
            if target >= 0x47 {
                reader.read_bytes(1, WHAT)?;
            }
        }
        _ => {
            return Err(ClassFileError::BadAnnotation {
                what: "target type",
                value: target,
                offset: at,
            });
        }
    }
    Ok(())
}
