//! The class-file reader and its decoders with any bytes.
//!
//! Promises: the code does not panic. Memory is bounded by the input's size. An accepted file is
//! written again byte for byte. A decoded stack map is equal after encoding and decoding it again.

use veneer_fragmenter::bytecode::decode;
use veneer_fragmenter::classfile::{
    ClassFile, ClassFileError, Code, ConstantPool, ImportMemo, VerificationType, decode_stack_map,
    encode_stack_map, remap_code_attributes,
};
use veneer_fragmenter::outline::{Outline, mentioned};

use crate::memory;

/// Bytes of memory that reading may hold for each byte of input.
const MEMORY_FACTOR: usize = 64;
/// Bytes of memory that reading may hold in addition.
const MEMORY_BASE: usize = 256 << 10;

/// Reads, writes and decodes the input.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    memory::within(
        MEMORY_BASE + MEMORY_FACTOR * data.len(),
        "reading the outline",
        || {
            let _ = ClassFile::parse(data).map(|file| {
                let _ = (file.check_closed(), file.name(), file.super_name());
            });
        },
    );
    let _ = whole(data);
    parts(data);
}

/// Reads the input as a whole class file and uses all its parts.
fn whole(data: &[u8]) -> Result<(), ClassFileError> {
    let mut class = ClassFile::parse(data)?;
    assert!(class.to_bytes()? == data, "written otherwise than read");
    // The summary has its own limit for text.
    if let Ok(outline) = Outline::from_class_file(&class) {
        assert_eq!(outline.methods.len(), class.methods.len());
    }
    let _ = mentioned(&class.pool);
    let locals = [
        VerificationType::Object(class.this_class),
        VerificationType::Long,
    ];
    for method in &class.methods {
        let Some(attribute) = method.attribute(&class.pool, "Code") else {
            continue;
        };
        let Ok(mut code) = Code::parse(&attribute.info) else {
            continue;
        };
        assert!(
            code.to_bytes()? == *attribute.info,
            "the code is written otherwise than read"
        );
        let _ = memory::within(
            MEMORY_BASE + MEMORY_FACTOR * code.code.len(),
            "decoding instructions",
            || decode(&code.code).map(|instructions| instructions.len()),
        );
        if let Some(table) = code.attribute(&class.pool, "StackMapTable") {
            stack_map(&table.info, &locals);
        }
        let length = code.code.len() as u16;
        let _ = remap_code_attributes(
            &mut code.attributes,
            &class.pool,
            length,
            &|pc| pc.wrapping_mul(3),
            &|row| row.wrapping_add(1),
        );
    }
    let (mut other, mut memo) = (ConstantPool::new(), ImportMemo::default());
    for index in 0..class.pool.count().saturating_add(2) {
        let pool = &class.pool;
        let _ = (
            pool.text(index),
            pool.class_name(index),
            pool.name_and_type(index),
        );
        let _ = (pool.member(index), pool.dynamic(index), pool.entry(index));
        let _ = other.import(pool, index, &mut memo);
    }
    if class.pool.add_method("a/B", "c", "()V").is_ok() {
        let _ = class.pool.add_long(7);
        let written = class.to_bytes()?;
        let again = ClassFile::parse(&written).and_then(|file| file.to_bytes());
        assert!(
            again.is_ok_and(|again| again == written),
            "a class with more constants is not read again"
        );
    }
    Ok(())
}

/// Reads the input as each part that has its own decoder.
fn parts(data: &[u8]) {
    let _ = decode(data);
    stack_map(data, &[]);
    if let Ok(code) = Code::parse(data) {
        let written = code.to_bytes();
        assert!(
            written.is_ok_and(|written| written == data),
            "the code is written otherwise than read"
        );
    }
}

fn stack_map(info: &[u8], locals: &[VerificationType]) {
    let Ok(frames) = decode_stack_map(info, locals) else {
        return;
    };
    let encoded = match encode_stack_map(&frames, locals) {
        Ok(encoded) => encoded,
        Err(error) => panic!("decoded frames are not encoded: {error}"),
    };
    assert!(
        decode_stack_map(&encoded, locals).is_ok_and(|again| again == frames),
        "frames are decoded otherwise than encoded"
    );
}
