//! Reading and writing reproduces every class of the JDK byte for byte, and the decoded parts are
//! consistent.

mod classfile_support;

use std::path::Path;
use std::time::{Duration, Instant};

use classfile_support::{
    ALL, QUICK, for_each_class, for_each_code, initial_locals, instruction_starts,
};
use veneer_fragmenter::classfile::{
    ClassFile, ClassFileError, Code, ConstantPool, ConstantTag, ImportMemo, PoolEntry,
    VerificationType, decode_stack_map, encode_stack_map, remap_code_attributes,
};

/// Numbers of checked items.
#[derive(Debug, Default)]
struct Seen {
    modules: usize,
    methods: usize,
    stack_maps: usize,
    stack_maps_identical: usize,
    types: usize,
    most_types: usize,
    remapped: usize,
}

fn slots(types: &[VerificationType]) -> usize {
    types.iter().map(|entry| usize::from(entry.slots())).sum()
}

fn check_class(path: &Path, bytes: &[u8], seen: &mut Seen) {
    let class = ClassFile::parse(bytes).unwrap();
    assert!(
        class.to_bytes().unwrap() == bytes,
        "{} is written differently",
        path.display()
    );
    assert_eq!(
        class.name().unwrap().rsplit('/').next(),
        path.file_stem().unwrap().to_str()
    );
    assert_eq!(
        class.super_name().unwrap().is_none(),
        class.super_class == 0
    );
    if class.access & 0x8000 != 0 {
        assert_eq!(class.name().unwrap(), "module-info");
        check_module(&class);
        seen.modules += 1;
    }
    check_pool(&class.pool);
    let mut pool = class.pool.clone();
    for_each_code(&class, |method, code| {
        seen.methods += 1;
        assert!(code.to_bytes().unwrap() == *method.attribute(&class.pool, "Code").unwrap().info);
        if let Some(table) = code.attribute(&class.pool, "StackMapTable") {
            let locals = initial_locals(&class, method, &mut pool);
            check_stack_map(code, &table.info, &locals, seen);
        }
        check_remap(&class.pool, code, seen);
    });
    // The copy has additional constants for parameter classes that the pool did not name, and
    // nothing else.
    let grown = ClassFile {
        pool,
        ..class.clone()
    }
    .to_bytes()
    .unwrap();
    assert!(grown.len() >= bytes.len());
    ClassFile::parse(&grown).unwrap();
}

/// The `Module` attribute begins with the pool index of the module. No other class has such an
/// entry.
fn check_module(class: &ClassFile<'_>) {
    let info = &class.attribute("Module").unwrap().info;
    let PoolEntry::Module(name) = class
        .pool
        .entry(u16::from_be_bytes([info[0], info[1]]))
        .unwrap()
    else {
        panic!("a Module attribute without a Module entry");
    };
    assert!(!class.pool.text(name).unwrap().is_empty());
}

/// Every entry can be resolved, found again, and imported into another pool.
fn check_pool(pool: &ConstantPool<'_>) {
    let mut same = pool.clone();
    let mut other = ConstantPool::new();
    let (mut to_same, mut to_other) = (ImportMemo::default(), ImportMemo::default());
    for index in pool.indices() {
        match pool.tag(index).unwrap() {
            ConstantTag::Dynamic | ConstantTag::InvokeDynamic => {
                let (_, name, descriptor) = pool.dynamic(index).unwrap();
                pool.text(name).unwrap();
                pool.text(descriptor).unwrap();
                let refused = other.import(pool, index, &mut to_other);
                assert!(matches!(refused, Err(ClassFileError::NotImportable { .. })));
            }
            _ => {
                let there = other.import(pool, index, &mut to_other).unwrap();
                assert_eq!(show(&other, there), show(pool, index));
                let here = same.import(pool, index, &mut to_same).unwrap();
                assert_eq!(show(pool, here), show(pool, index));
            }
        }
    }
    assert_eq!(same.count(), pool.count(), "an entry was not found again");
    assert!(other.count() <= pool.count());
}

/// Formats an entry with all entries that it refers to. The text does not depend on indices.
fn show(pool: &ConstantPool<'_>, index: u16) -> String {
    let utf8 = |index| pool.text(index).unwrap();
    let tag = pool.tag(index).unwrap();
    match pool.entry(index).unwrap() {
        PoolEntry::Utf8(bytes) => format!("{tag} {bytes:?}"),
        PoolEntry::Float(value) => format!("{tag} {}", value.to_bits()),
        PoolEntry::Double(value) => format!("{tag} {}", value.to_bits()),
        PoolEntry::Integer(value) => format!("{tag} {value}"),
        PoolEntry::Long(value) => format!("{tag} {value}"),
        PoolEntry::Class(text)
        | PoolEntry::String(text)
        | PoolEntry::MethodType(text)
        | PoolEntry::Module(text)
        | PoolEntry::Package(text) => format!("{tag} {}", utf8(text)),
        PoolEntry::NameAndType { name, descriptor } => {
            format!("{tag} {} {}", utf8(name), utf8(descriptor))
        }
        PoolEntry::MethodHandle { kind, reference } => {
            format!("{tag} {kind} {}", show(pool, reference))
        }
        PoolEntry::Field { .. } | PoolEntry::Method { .. } | PoolEntry::InterfaceMethod { .. } => {
            let member = pool.member(index).unwrap();
            let class = pool.class_name(member.class).unwrap();
            format!(
                "{tag} {class} {} {}",
                utf8(member.name),
                utf8(member.descriptor)
            )
        }
        PoolEntry::Dynamic { .. } | PoolEntry::InvokeDynamic { .. } => unreachable!("not imported"),
    }
}

fn check_stack_map(code: &Code<'_>, info: &[u8], locals: &[VerificationType], seen: &mut Seen) {
    let frames = decode_stack_map(info, locals).unwrap();
    let starts = instruction_starts(&code.code);
    let mut types = 0;
    for frame in &frames {
        // A decoding error would soon place frames between instructions, or exceed the size of the
        // frame.
        assert!(starts.binary_search(&usize::from(frame.pc)).is_ok());
        assert!(slots(&frame.locals) <= usize::from(code.max_locals));
        assert!(slots(&frame.stack) <= usize::from(code.max_stack));
        types += frame.locals.len() + frame.stack.len();
    }
    let encoded = encode_stack_map(&frames, locals).unwrap();
    assert!(
        encoded.len() <= info.len(),
        "the smallest forms are larger than what was there"
    );
    assert_eq!(decode_stack_map(&encoded, locals).unwrap(), frames);
    seen.stack_maps += 1;
    seen.stack_maps_identical += usize::from(encoded == info);
    seen.types += types;
    seen.most_types = seen.most_types.max(types);
}

/// Moves the tables with the code, and back again.
fn check_remap(pool: &ConstantPool<'_>, code: &Code<'_>, seen: &mut Seen) {
    let length = u16::try_from(code.code.len()).unwrap();
    if length > 0x7fff {
        return;
    }
    let rows = u16::MAX;
    let mut moved = code.attributes.clone();
    // Doubles each pc, as if one byte were inserted before each byte.
    remap_code_attributes(&mut moved, pool, length, &|pc| 2 * pc, &|row| rows - row).unwrap();
    let changed = moved
        .iter()
        .zip(&code.attributes)
        .filter(|(moved, original)| moved != original)
        .count();
    remap_code_attributes(&mut moved, pool, 2 * length, &|pc| pc / 2, &|row| {
        rows - row
    })
    .unwrap();
    assert_eq!(moved, code.attributes);
    seen.remapped += changed;
}

fn report(what: &str, classes: usize, seen: &Seen) {
    println!("{what}: {classes} classes, {seen:?}");
    assert!(seen.modules > 0 && seen.stack_maps > 1000 && seen.remapped > 1000);
    // Compilers other than javac wrote some stack maps, so nearly all must be reproduced exactly.
    assert!(
        seen.stack_maps_identical * 1000 >= seen.stack_maps * 999,
        "only {} of {} stack maps are identical",
        seen.stack_maps_identical,
        seen.stack_maps
    );
}

#[test]
fn core_classes_are_written_as_they_were() {
    let mut seen = Seen::default();
    let classes = for_each_class("quick", QUICK, |path, bytes| {
        check_class(path, bytes, &mut seen)
    });
    report("quick", classes, &seen);
}

#[test]
#[ignore = "reads all modules of all JDKs; takes minutes without optimisation"]
fn all_classes_are_written_as_they_were() {
    let mut seen = Seen::default();
    let classes = for_each_class("all", ALL, |path, bytes| {
        check_class(path, bytes, &mut seen)
    });
    report("all", classes, &seen);
}

/// Prints the time for reading and writing per class. The limit also holds for unoptimised builds.
#[test]
fn reading_and_writing_is_quick() {
    let mut spent = [Duration::ZERO; 4];
    let mut codes = 0;
    let classes = for_each_class("quick", QUICK, |_, bytes| {
        let started = Instant::now();
        let class = ClassFile::parse(bytes).unwrap();
        let parsed = Instant::now();
        let written = class.to_bytes().unwrap();
        let wrote = Instant::now();
        for_each_code(&class, |_, _| codes += 1);
        let decoded = Instant::now();
        let mut class = class;
        class.pool.add_method("a/B", "c", "()V").unwrap();
        assert_eq!(written.len(), bytes.len());
        for (sum, took) in spent.iter_mut().zip([
            parsed - started,
            wrote - parsed,
            decoded - wrote,
            decoded.elapsed(),
        ]) {
            *sum += took;
        }
    });
    let [parse, write, code, add] =
        spent.map(|sum| sum.as_nanos() as f64 / 1000.0 / classes as f64);
    println!(
        "{classes} classes, {codes} methods: read {parse:.2} µs, write {write:.2} µs, all code {code:.2} µs, \
         first constant added {add:.2} µs a class"
    );
    assert!(parse + write < 2000.0);
}
