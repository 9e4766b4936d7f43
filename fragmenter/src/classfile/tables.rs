//! Adjusts the tables inside a `Code` attribute after the code was moved (JVMS 4.7.12 to 4.7.14,
//! 4.7.20).
//!
//! All entries have fixed offsets and sizes. So each pc is overwritten in place, and the rest is
//! kept.

use super::attribute::Attribute;
use super::code_map::{AttributePatches, CodeMap};
use super::error::ClassFileError;
use super::pool::ConstantPool;
use super::reader::Reader;
use super::type_annotations;

/// Adjusts the pcs in the attributes of a `Code`: line numbers, local variables and their generic
/// types, and type annotations.
///
/// `old_len` is the length of the old code in bytes. `map` returns the new pc for the old pc of an
/// instruction and for `old_len`. `exception_index` returns the new index of an exception-table
/// entry.
///
/// * The caller handles `StackMapTable`, because it computes the frames.
/// * Unknown attributes are kept, so a `CharacterRangeTable` (`javac -Xjcov`) becomes outdated.
/// * Attributes without a change are not copied.
/// * A range keeps its first and last instruction. Code inserted before its end is inside the
///   range.
/// * Type annotations of code outside the method, which old compilers wrote, are kept; no JVM reads
///   them.
///
/// # Errors
/// If a table is malformed, or refers to code outside the method. Some of the attributes may then
/// already be rewritten.
pub fn remap_code_attributes(
    attributes: &mut Vec<Attribute<'_>>,
    pool: &ConstantPool<'_>,
    old_len: u16,
    map: &dyn Fn(u16) -> u16,
    exception_index: &dyn Fn(u16) -> u16,
) -> Result<(), ClassFileError> {
    let map = CodeMap {
        old_length: old_len,
        pc: map,
        exception: exception_index,
    };
    for attribute in attributes {
        let changes = match pool.utf8(attribute.name)? {
            b"LineNumberTable" => line_numbers(&attribute.info, &map)?,
            b"LocalVariableTable" => {
                local_variables(&attribute.info, &map, "the LocalVariableTable")?
            }
            b"LocalVariableTypeTable" => {
                local_variables(&attribute.info, &map, "the LocalVariableTypeTable")?
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                type_annotations::remap(&attribute.info, &map)?
            }
            _ => continue,
        };
        changes.apply(attribute);
    }
    Ok(())
}

/// `{ u2 start_pc; u2 line; }`
fn line_numbers(info: &[u8], map: &CodeMap<'_>) -> Result<AttributePatches, ClassFileError> {
    let mut reader = Reader::new(info);
    let mut changes = AttributePatches::default();
    let count = reader.u16("the LineNumberTable's length")?;
    for _ in 0..count {
        let at = reader.at();
        let start = reader.u16("a row of the LineNumberTable")?;
        reader.u16("a row of the LineNumberTable")?;
        if start >= map.old_length {
            return Err(bad_range("the LineNumberTable", start, 1, map));
        }
        changes.set(at, start, (map.pc)(start));
    }
    reader.finish("the LineNumberTable")?;
    Ok(changes)
}

/// `{ u2 start_pc; u2 length; u2 name; u2 descriptor_or_signature; u2 slot; }`
fn local_variables(
    info: &[u8],
    map: &CodeMap<'_>,
    what: &'static str,
) -> Result<AttributePatches, ClassFileError> {
    let mut reader = Reader::new(info);
    let mut changes = AttributePatches::default();
    let count = reader.u16(what)?;
    for _ in 0..count {
        let at = reader.at();
        let start = reader.u16(what)?;
        let length = reader.u16(what)?;
        reader.read_bytes(6, what)?;
        let (new_start, new_length) = map
            .range(start, length)
            .ok_or_else(|| bad_range(what, start, length, map))?;
        changes.set(at, start, new_start);
        changes.set(at + 2, length, new_length);
    }
    reader.finish(what)?;
    Ok(changes)
}

fn bad_range(what: &'static str, start: u16, length: u16, map: &CodeMap<'_>) -> ClassFileError {
    ClassFileError::BadRange {
        what,
        start: u32::from(start),
        end: u32::from(start) + u32::from(length),
        code_length: map.old_length,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// Remaps a table for code of 20 bytes. 5 bytes were inserted before pc 4 and 100 before pc 10.
    /// Entry 1 of the exception table is now entry 3.
    fn moved(name: &str, info: &[u8]) -> Result<Vec<u8>, ClassFileError> {
        let mut pool = ConstantPool::new();
        let mut attributes = vec![Attribute {
            name: pool.add_utf8(name)?,
            info: Cow::Borrowed(info),
        }];
        let map = |pc| match pc {
            0..=3 => pc,
            4..=9 => pc + 5,
            _ => pc + 105,
        };
        remap_code_attributes(&mut attributes, &pool, 20, &map, &|row| {
            if row == 1 { 3 } else { row }
        })?;
        Ok(attributes.remove(0).info.into_owned())
    }

    #[test]
    fn lines() {
        let table = [0, 3, 0, 0, 0, 7, 0, 4, 0, 8, 0, 19, 0, 4];
        let expected = [0, 3, 0, 0, 0, 7, 0, 9, 0, 8, 0, 124, 0, 4];
        assert_eq!(moved("LineNumberTable", &table).unwrap(), expected);
        assert_eq!(
            moved("LineNumberTable", &[0, 1, 0, 20, 0, 7]),
            Err(ClassFileError::BadRange {
                what: "the LineNumberTable",
                start: 20,
                end: 21,
                code_length: 20
            })
        );
    }

    #[test]
    fn variables_reach_to_the_end_of_the_code() {
        let table = [
            0, 2, 0, 0, 0, 20, 0, 1, 0, 2, 0, 0, 0, 5, 0, 4, 0, 1, 0, 2, 0, 4,
        ];
        let expected = [
            0, 2, 0, 0, 0, 125, 0, 1, 0, 2, 0, 0, 0, 10, 0, 4, 0, 1, 0, 2, 0, 4,
        ];
        for name in ["LocalVariableTable", "LocalVariableTypeTable"] {
            assert_eq!(moved(name, &table).unwrap(), expected);
            let beyond = [0, 1, 0, 5, 0, 16, 0, 1, 0, 2, 0, 0];
            assert!(matches!(
                moved(name, &beyond),
                Err(ClassFileError::BadRange {
                    start: 5,
                    end: 21,
                    ..
                })
            ));
        }
    }

    #[test]
    fn other_attributes_are_kept() {
        assert_eq!(moved("StackMapTable", &[0, 1, 4]).unwrap(), [0, 1, 4]);
        assert_eq!(moved("Unheard", &[9]).unwrap(), [9]);
    }

    /// Tests one annotation of each kind of target, with a path and with values of all kinds.
    #[test]
    #[rustfmt::skip]
    fn type_annotations() {
        let plain: &[u8] = &[0, /* type */ 0, 9, 0, 0];
        let rich: &[u8] = &[
            2, 0, 0, 3, 1,                                       // path: array, type argument 1
            0, 9, 0, 4,                                          // type, four values
            0, 1, b'I', 0, 4,                                    // a constant that looks like a pc
            0, 1, b'e', 0, 4, 0, 5,
            0, 1, b'@', 0, 9, 0, 1, 0, 2, b'c', 0, 4,            // an annotation inside
            0, 1, b'[', 0, 2, b'[', 0, 1, b's', 0, 4, b'Z', 0, 4, // an array with an array inside
        ];
        let cases: [(&[u8], &[u8]); 14] = [
            (&[0x00, 4], &[0x00, 4]),
            (&[0x10, 0, 4], &[0x10, 0, 4]),
            (&[0x11, 4, 5], &[0x11, 4, 5]),
            (&[0x13], &[0x13]),
            (&[0x16, 4], &[0x16, 4]),
            (&[0x17, 0, 4], &[0x17, 0, 4]),
            (&[0x40, 0, 2, 0, 4, 0, 16, 0, 4, 0, 0, 0, 4, 0, 10],
             &[0x40, 0, 2, 0, 9, 0, 116, 0, 4, 0, 0, 0, 9, 0, 10]),
            (&[0x41, 0, 0], &[0x41, 0, 0]),
            (&[0x42, 0, 1], &[0x42, 0, 3]),
            (&[0x43, 0, 4], &[0x43, 0, 9]),
            (&[0x46, 0, 10], &[0x46, 0, 115]),
            (&[0x47, 0, 4, 4], &[0x47, 0, 9, 4]),
            (&[0x4b, 0, 19, 10], &[0x4b, 0, 124, 10]),
            // Refers to code outside the method, so it is kept.
            (&[0x44, 0, 20], &[0x44, 0, 20]),
        ];
        let (mut info, mut expected) = (vec![0, 28], vec![0, 28]);
        for rest in [plain, rich] {
            for (before, after) in cases {
                info.extend_from_slice(&[before, rest].concat());
                expected.extend_from_slice(&[after, rest].concat());
            }
        }
        for name in ["RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations"] {
            assert_eq!(moved(name, &info).unwrap(), expected);
        }
        assert_eq!(
            moved("RuntimeVisibleTypeAnnotations", &[0, 1, 0x4c, 0, 4]),
            Err(ClassFileError::BadAnnotation { what: "target type", value: 0x4c, offset: 2 })
        );
    }

    /// Recursion would overflow the stack on this input.
    #[test]
    fn deep_values() {
        let depth = 300_000;
        let mut info = vec![0, 1, 0x13, 0, 0, 9, 0, 1, 0, 1];
        info.extend([b'[', 0, 1].repeat(depth));
        info.extend([b'I', 0, 4]);
        assert_eq!(moved("RuntimeVisibleTypeAnnotations", &info).unwrap(), info);
    }
}
