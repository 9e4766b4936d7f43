//! Compares every class with the result of an independent reader (`ristretto_classfile`).

mod classfile_support;

use std::path::Path;

use classfile_support::{ALL, QUICK, for_each_class, initial_locals, instruction_starts};
use ristretto_classfile as oracle;
use ristretto_classfile::attributes::{Attribute, StackFrame};
use veneer_fragmenter::classfile::{
    ClassFile, Code, StackMapFrame, VerificationType, decode_stack_map,
};

fn check_class(path: &Path, bytes: &[u8], methods: &mut usize) {
    let ours = ClassFile::parse(bytes).unwrap();
    let theirs = oracle::ClassFile::from_bytes(bytes).unwrap();
    let theirs_pool = &theirs.constant_pool;
    assert_eq!(
        ours.name().unwrap(),
        theirs.class_name().unwrap().to_str_lossy(),
        "{}",
        path.display()
    );
    assert_eq!(ours.interfaces, theirs.interfaces);
    assert_eq!(ours.fields.len(), theirs.fields.len());
    assert_eq!(ours.methods.len(), theirs.methods.len());
    for index in ours.pool.indices() {
        if let Ok(text) = ours.pool.utf8(index) {
            assert_eq!(text, theirs_pool.try_get_utf8(index).unwrap().as_bytes());
        }
    }
    let mut pool = ours.pool.clone();
    for (our_method, their_method) in ours.methods.iter().zip(&theirs.methods) {
        let name = theirs_pool.try_get_utf8(their_method.name_index).unwrap();
        assert_eq!(
            ours.pool.text(our_method.name).unwrap(),
            name.to_str_lossy()
        );
        let descriptor = theirs_pool
            .try_get_utf8(their_method.descriptor_index)
            .unwrap();
        assert_eq!(
            ours.pool.text(our_method.descriptor).unwrap(),
            descriptor.to_str_lossy()
        );
        let our_code = our_method.code(&ours.pool).unwrap();
        let their_code = their_method
            .attributes
            .iter()
            .find(|found| matches!(found, Attribute::Code { .. }));
        assert_eq!(our_code.is_some(), their_code.is_some());
        if let (Some(our_code), Some(their_code)) = (our_code, their_code) {
            let locals = initial_locals(&ours, our_method, &mut pool);
            let frames = our_code
                .attribute(&ours.pool, "StackMapTable")
                .map(|table| decode_stack_map(&table.info, &locals).unwrap());
            check_code(&our_code, frames.as_deref(), their_code);
            *methods += 1;
        }
    }
}

/// The oracle counts instructions; a class file counts bytes.
fn check_code(ours: &Code<'_>, frames: Option<&[StackMapFrame]>, theirs: &Attribute) {
    let Attribute::Code {
        max_stack,
        max_locals,
        code,
        exception_table,
        attributes,
        ..
    } = theirs
    else {
        unreachable!("the caller found a Code attribute");
    };
    assert_eq!((ours.max_stack, ours.max_locals), (*max_stack, *max_locals));
    let starts = instruction_starts(&ours.code);
    assert_eq!(starts.len() - 1, code.len());
    let number = |pc: u16| starts.binary_search(&usize::from(pc)).unwrap();
    assert_eq!(ours.exceptions.len(), exception_table.len());
    for (our_range, their_range) in ours.exceptions.iter().zip(exception_table) {
        assert_eq!(
            number(our_range.start),
            usize::from(their_range.range_pc.start)
        );
        // For the end of the code, the oracle returns its last instruction.
        let end = number(our_range.end).min(code.len() - 1);
        assert_eq!(end, usize::from(their_range.range_pc.end));
        assert_eq!(
            number(our_range.handler),
            usize::from(their_range.handler_pc)
        );
        assert_eq!(our_range.catch_type, their_range.catch_type);
    }
    let their_frames = attributes.iter().find_map(|attribute| match attribute {
        Attribute::StackMapTable { frames, .. } => Some(frames),
        _ => None,
    });
    assert_eq!(frames.map(<[_]>::len), their_frames.map(Vec::len));
    let mut next = 0;
    for (frame, theirs) in frames
        .unwrap_or_default()
        .iter()
        .zip(their_frames.into_iter().flatten())
    {
        let at = next + usize::from(theirs.offset_delta());
        assert_eq!(number(frame.pc), at, "a frame is elsewhere");
        next = at + 1;
        match theirs {
            StackFrame::SameFrame { .. }
            | StackFrame::SameFrameExtended { .. }
            | StackFrame::ChopFrame { .. } => {
                assert!(frame.stack.is_empty());
            }
            StackFrame::SameLocals1StackItemFrame { stack, .. }
            | StackFrame::SameLocals1StackItemFrameExtended { stack, .. } => {
                check_types(&frame.stack, stack)
            }
            StackFrame::AppendFrame { locals, .. } => {
                assert!(frame.stack.is_empty());
                check_types(&frame.locals[frame.locals.len() - locals.len()..], locals);
            }
            StackFrame::FullFrame { locals, stack, .. } => {
                check_types(&frame.locals, locals);
                check_types(&frame.stack, stack);
            }
        }
    }
}

fn check_types(ours: &[VerificationType], theirs: &[oracle::attributes::VerificationType]) {
    use oracle::attributes::VerificationType as Theirs;
    assert_eq!(ours.len(), theirs.len());
    for (our_type, their_type) in ours.iter().zip(theirs) {
        let agree = match (our_type, their_type) {
            (VerificationType::Top, Theirs::Top)
            | (VerificationType::Integer, Theirs::Integer)
            | (VerificationType::Float, Theirs::Float)
            | (VerificationType::Double, Theirs::Double)
            | (VerificationType::Long, Theirs::Long)
            | (VerificationType::Null, Theirs::Null)
            | (VerificationType::UninitializedThis, Theirs::UninitializedThis)
            // The oracle numbers its pcs differently.
            | (VerificationType::Uninitialized(_), Theirs::Uninitialized { .. }) => true,
            (VerificationType::Object(class), Theirs::Object { cpool_index }) => class == cpool_index,
            _ => false,
        };
        assert!(agree, "{our_type} is not {their_type:?}");
    }
}

#[test]
fn core_classes_read_the_same() {
    let mut methods = 0;
    let classes = for_each_class("quick", QUICK, |path, bytes| {
        check_class(path, bytes, &mut methods)
    });
    println!("{classes} classes, {methods} methods");
    assert!(methods > 10_000);
}

#[test]
#[ignore = "reads all modules of all JDKs; takes minutes without optimisation"]
fn all_classes_read_the_same() {
    let mut methods = 0;
    let classes = for_each_class("all", ALL, |path, bytes| {
        check_class(path, bytes, &mut methods)
    });
    println!("{classes} classes, {methods} methods");
    assert!(methods > 100_000);
}
