//! The annotation types of classes and members (JVMS 4.7.16, 4.7.17). Annotation values are
//! skipped. They may be nested as deeply as the bytes allow.

use super::attribute::Attribute;
use super::error::ClassFileError;
use super::pool::ConstantPool;
use super::reader::Reader;
use veneer_names::class_in_type_descriptor;

const WHAT: &str = "an annotation";

/// Returns the types (internal names) of the annotations among the attributes of a class, field or
/// method. Annotations that are invisible at run time are included.
///
/// A malformed attribute yields no types. The JVM treats it alike: it does not parse the attribute
/// until the application asks for annotations.
pub fn annotation_types(attributes: &[Attribute<'_>], pool: &ConstantPool<'_>) -> Vec<String> {
    let mut types = Vec::new();
    for attribute in attributes {
        let named = ["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"];
        if named.iter().any(|name| attribute.is(pool, name)) {
            types.extend(types_in(&attribute.info, pool).unwrap_or_default());
        }
    }
    types
}

/// Returns the annotation types in one attribute.
fn types_in(info: &[u8], pool: &ConstantPool<'_>) -> Result<Vec<String>, ClassFileError> {
    let mut reader = Reader::new(info);
    let mut indices = Vec::new();
    let count = reader.u16(WHAT)?;
    for _ in 0..count {
        indices.push(annotation(&mut reader, WHAT)?);
    }
    reader.finish("the annotations")?;
    // Without this step, every four bytes of input could repeat a name of any length.
    indices.sort_unstable();
    indices.dedup();
    let mut types = Vec::new();
    for index in indices {
        let descriptor = pool.text(index)?;
        types.extend(class_in_type_descriptor(&descriptor).map(str::to_owned));
    }
    Ok(types)
}

/// Values that remain to be skipped at one nesting level. If `named` is set, each value is preceded
/// by the name of its element.
struct Pending {
    count: u16,
    named: bool,
}

/// Skips `{ u2 type; u2 n; n × { u2 name; value } }` and returns the type, which is the index of a
/// descriptor (`Utf8`). An explicit stack replaces recursion; each level takes at least three bytes
/// of input.
pub(super) fn annotation(
    reader: &mut Reader<'_>,
    what: &'static str,
) -> Result<u16, ClassFileError> {
    let of = reader.u16(what)?;
    let mut pending = vec![values(reader, what)?];
    while let Some(level) = pending.last_mut() {
        let Some(left) = level.count.checked_sub(1) else {
            pending.pop();
            continue;
        };
        level.count = left;
        if level.named {
            reader.u16(what)?;
        }
        let at = reader.at();
        match reader.u8(what)? {
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => {
                reader.read_bytes(2, what)?;
            }
            b'e' => {
                reader.read_bytes(4, what)?;
            }
            b'@' => {
                reader.u16(what)?;
                pending.push(values(reader, what)?);
            }
            b'[' => pending.push(Pending {
                count: reader.u16(what)?,
                named: false,
            }),
            value => {
                return Err(ClassFileError::BadAnnotation {
                    what: "element tag",
                    value,
                    offset: at,
                });
            }
        }
    }
    Ok(of)
}

/// Reads the count of named values of an annotation.
fn values(reader: &mut Reader<'_>, what: &'static str) -> Result<Pending, ClassFileError> {
    Ok(Pending {
        count: reader.u16(what)?,
        named: true,
    })
}
