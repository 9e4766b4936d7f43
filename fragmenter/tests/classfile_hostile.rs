//! Malformed class files cause errors, and never a panic, an endless loop or a large allocation.

mod classfile_support;

use std::sync::OnceLock;

use classfile_support::{QUICK, for_each_class};
use proptest::prelude::*;
use proptest::sample::Index;
use veneer_fragmenter::classfile::{
    ClassFile, ClassFileError, Code, ConstantPool, ImportMemo, VerificationType, decode_stack_map,
    encode_stack_map, remap_code_attributes,
};
use veneer_fragmenter::outline::{Outline, mentioned};

/// A few hundred classes of all sizes.
fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let mut samples = Vec::new();
        let mut number = 0_usize;
        for_each_class("quick", QUICK, |_, bytes| {
            number += 1;
            if number.is_multiple_of(29) {
                samples.push(bytes.to_vec());
            }
        });
        samples
    })
}

/// Calls all reading functions on arbitrary bytes, and writes back what could be read.
fn use_everything(bytes: &[u8]) -> Result<(), ClassFileError> {
    let mut class = ClassFile::parse(bytes)?;
    // An accepted class file is written back byte for byte, even if it is malformed.
    assert!(class.to_bytes()? == bytes);
    let _ = (
        class.name(),
        class.super_name(),
        class.attribute("SourceFile"),
    );
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
        assert!(code.to_bytes()? == *attribute.info);
        if let Some(table) = code.attribute(&class.pool, "StackMapTable")
            && let Ok(frames) = decode_stack_map(&table.info, &locals)
        {
            let encoded = encode_stack_map(&frames, &locals)?;
            assert_eq!(decode_stack_map(&encoded, &locals)?, frames);
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
        let _ = (
            class.pool.text(index),
            class.pool.class_name(index),
            class.pool.name_and_type(index),
        );
        let _ = (
            class.pool.member(index),
            class.pool.dynamic(index),
            class.pool.entry(index),
        );
        let _ = other.import(&class.pool, index, &mut memo);
    }
    if class.pool.add_method("a/B", "c", "()V").is_ok() {
        class.pool.add_long(7).ok();
        let written = class.to_bytes()?;
        assert!(ClassFile::parse(&written)?.to_bytes()? == written);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes(
        sample in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = sample.get(samples()).clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = use_everything(&bytes);
    }

    /// Inserts large numbers near the start, where lengths and counts have the greatest effect.
    #[test]
    fn large_counts(sample in any::<Index>(), at in any::<Index>(), wide in any::<bool>()) {
        let mut bytes = sample.get(samples()).clone();
        let at = at.index(bytes.len() - 3);
        bytes[at..at + if wide { 4 } else { 2 }].fill(0xff);
        let _ = use_everything(&bytes);
    }

    #[test]
    fn cut_short(sample in any::<Index>(), end in any::<Index>()) {
        let bytes = sample.get(samples());
        let cut = &bytes[..end.index(bytes.len())];
        prop_assert!(ClassFile::parse(cut).is_err());
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = use_everything(&bytes);
        let _ = Code::parse(&bytes);
        if let Ok(frames) = decode_stack_map(&bytes, &[]) {
            let encoded = encode_stack_map(&frames, &[]).unwrap();
            prop_assert!(encoded.len() <= bytes.len());
            prop_assert_eq!(decode_stack_map(&encoded, &[]).unwrap(), frames);
        }
    }
}

#[test]
fn trailing_bytes_are_refused() {
    for sample in samples() {
        let mut longer = sample.clone();
        longer.push(0);
        let refused = ClassFile::parse(&longer).unwrap_err();
        assert_eq!(
            refused,
            ClassFileError::TrailingBytes {
                what: "the class",
                count: 1
            }
        );
    }
}

#[test]
fn no_class_file_at_all() {
    assert!(matches!(
        ClassFile::parse(b"PK\x03\x04 a jar"),
        Err(ClassFileError::BadMagic(0x504b_0304))
    ));
    assert!(matches!(
        ClassFile::parse(b""),
        Err(ClassFileError::Truncated { offset: 0, .. })
    ));
}

/// Two full frames of 60,000 locals, followed by one-byte frames that each repeat the locals.
#[test]
fn frames_that_grow_without_end_are_refused() {
    let mut info = vec![0xff, 0xff, 255, 0, 0];
    info.extend_from_slice(&60_000_u16.to_be_bytes());
    info.resize(info.len() + 60_000, 1);
    info.extend_from_slice(&[0, 0]);
    info.resize(info.len() + 65_534, 0);
    assert!(matches!(
        decode_stack_map(&info, &[]),
        Err(ClassFileError::FramesTooLarge { .. })
    ));
}
