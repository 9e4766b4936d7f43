//! Tests the conversion of old class files. Some are built by hand, with code that today's
//! compilers no longer write. Others are JDK classes with a lowered version; a small verifier
//! checks their inferred stack maps.

mod arming_support;
mod classfile_support;
mod javac_support;

use std::borrow::Cow;
use std::collections::BTreeMap;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{self, Request};
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Assembler, Instruction, decode};
use veneer_fragmenter::classfile::{
    Attribute, ClassFile, Code, ConstantPool, ConstantTag, ExceptionRange, Member,
};
use veneer_fragmenter::inference;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::verify;

/// A class `old/Old` with one method.
struct OldClass {
    version: u16,
    access: u16,
    name: &'static str,
    descriptor: &'static str,
    method_access: u16,
    code: Code<'static>,
    pool: ConstantPool<'static>,
    lines: Vec<(u16, u16)>,
}

impl OldClass {
    /// Returns a class with a static method `m` that has this code.
    fn new(version: u16, descriptor: &'static str, build: impl FnOnce(&mut Assembler)) -> OldClass {
        let mut a = Assembler::new();
        build(&mut a);
        OldClass {
            version,
            access: 0x21,
            name: "m",
            descriptor,
            method_access: 0x9,
            code: Code {
                max_stack: 4,
                max_locals: 8,
                code: a.finish().unwrap().code.into(),
                exceptions: Vec::new(),
                attributes: Vec::new(),
            },
            pool: ConstantPool::new(),
            lines: Vec::new(),
        }
    }

    fn bytes(mut self) -> Vec<u8> {
        let pool = &mut self.pool;
        if !self.lines.is_empty() {
            let mut info = (self.lines.len() as u16).to_be_bytes().to_vec();
            for (pc, line) in self.lines {
                info.extend(pc.to_be_bytes());
                info.extend(line.to_be_bytes());
            }
            let name = pool.add_utf8("LineNumberTable").unwrap();
            let info = Cow::Owned(info);
            self.code.attributes.push(Attribute { name, info });
        }
        let code = Attribute {
            name: pool.add_utf8("Code").unwrap(),
            info: self.code.to_bytes().unwrap().into(),
        };
        let method = Member {
            access: self.method_access,
            name: pool.add_utf8(self.name).unwrap(),
            descriptor: pool.add_utf8(self.descriptor).unwrap(),
            attributes: vec![code],
        };
        let (this_class, super_class) = (
            pool.add_class("old/Old").unwrap(),
            pool.add_class("java/lang/Object").unwrap(),
        );
        let file = ClassFile {
            minor: 3,
            major: self.version,
            pool: self.pool,
            access: self.access,
            this_class,
            super_class,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: vec![method],
            attributes: Vec::new(),
        };
        file.to_bytes().unwrap()
    }
}

/// Converts a class. The result must verify, must not change when converted again, and can be
/// armed.
fn modern(bytes: &[u8]) -> Vec<u8> {
    let modern = inference::upgrade_class_file(bytes).unwrap().into_owned();
    arming_support::verify(&modern).unwrap();
    assert_eq!(*inference::upgrade_class_file(&modern).unwrap(), *modern);
    let armed = arm(&modern);
    assert!(armed.refusals.is_empty(), "{:?}", armed.refusals);
    assert_eq!(armed.methods.len(), 1);
    arming_support::verify(&armed.bytes).unwrap();
    modern
}

fn arm(bytes: &[u8]) -> arming::Armed {
    let request = Request {
        policy: &Policy::Block,
        first_id: veneer_names::MethodId(0),
        generation: 0,
        wanted: &|_, _| true,
        forced: &|_, _| true,
        points: false,
        only_loops: false,
        earlier: None,
    };
    arming::arm(bytes, &request).unwrap()
}

/// Calls `see` with the code of the only method.
fn with_code<R>(bytes: &[u8], see: impl FnOnce(&ClassFile, &Code) -> R) -> R {
    let file = ClassFile::parse(bytes).unwrap();
    let code = file.methods[0].code(&file.pool).unwrap().unwrap();
    see(&file, &code)
}

fn mnemonics(code: &[u8]) -> Vec<&'static str> {
    let decoded = decode(code).unwrap();
    decoded.iter().map(|(_, i)| mnemonic(i.op())).collect()
}

/// Returns `int m(int n) { try { n++; return n; } finally { n = 7; } }` as compiled by `javac` 1.3,
/// with two calls of the subroutine.
fn with_subroutine() -> OldClass {
    let mut old = OldClass::new(46, "(I)I", |a| {
        let [sub, handler] = [a.fresh(), a.fresh()];
        a.push(Instruction::Iinc { index: 0, delta: 1 }); // 0
        a.local(ILOAD, 0); // 3
        a.local(ISTORE, 3); // 4
        a.branch(JSR, sub); // 5
        a.local(ILOAD, 3); // 8
        a.plain(IRETURN); // 9
        a.place(handler);
        a.local(ASTORE, 1); // 10
        a.branch(JSR, sub); // 11
        a.local(ALOAD, 1); // 14
        a.plain(ATHROW); // 15
        a.place(sub);
        a.local(ASTORE, 2); // 16
        a.push(Instruction::Push(7)); // 17
        a.local(ISTORE, 0); // 19
        a.local(RET, 2); // 20
    });
    old.code.exceptions.push(ExceptionRange {
        start: 0,
        end: 10,
        handler: 10,
        catch_type: 0,
    });
    old.lines = vec![(0, 1), (10, 2), (16, 3)];
    old
}

#[test]
fn each_call_of_a_subroutine_gets_its_own_copy() {
    let modern = modern(&with_subroutine().bytes());
    with_code(&modern, |file, code| {
        let names = mnemonics(&code.code);
        assert!(!names.contains(&"jsr") && !names.contains(&"ret"));
        let sevens = names.iter().filter(|n| **n == "bipush").count();
        assert_eq!(sevens, 2, "{names:?}");
        // The first call is in the range. The subroutine and the second call are not.
        let [row] = code.exceptions[..] else {
            panic!("{:?}", code.exceptions);
        };
        assert_eq!((row.start, row.end), (0, 11));
        let table = code
            .attributes
            .iter()
            .find(|a| a.is(&file.pool, "LineNumberTable"));
        let rows: Vec<&[u8]> = table.unwrap().info[2..].chunks(4).collect();
        let lines: Vec<u8> = rows.iter().map(|r| r[3]).collect();
        assert_eq!(lines, [1, 2, 3, 3]);
    });
}

#[test]
fn a_subroutine_that_calls_itself_is_refused() {
    let old = OldClass::new(46, "()V", |a| {
        let sub = a.fresh();
        a.branch(JSR, sub);
        a.plain(RETURN);
        a.place(sub);
        a.local(ASTORE, 2);
        a.branch(JSR, sub);
        a.local(RET, 2);
    });
    let refusal = inference::upgrade_class_file(&old.bytes()).unwrap_err();
    assert!(matches!(refusal, Refusal::Subroutine(_)), "{refusal}");
}

#[test]
fn unreachable_code_is_overwritten() {
    let old = OldClass::new(48, "()V", |a| {
        a.plain(RETURN);
        a.plain(ICONST_0);
        a.plain(IADD);
        a.plain(RETURN);
    });
    with_code(&modern(&old.bytes()), |_, code| {
        assert_eq!(mnemonics(&code.code), ["return", "nop", "nop", "athrow"]);
    });
}

#[test]
fn unmergeable_classes_are_refused() {
    let mut pool = ConstantPool::new();
    let mut make = |name: &str| {
        pool.add_field("old/Old", &name[name.len() - 1..], &format!("L{name};"))
            .unwrap()
    };
    let (a_field, b_field) = (make("x/A"), make("x/B"));
    let (c_field, d_field) = (make("x/C"), make("x/D"));
    let mut old = OldClass::new(49, "(I)V", |a| {
        let [other, meet] = [a.fresh(), a.fresh()];
        a.local(ILOAD, 0);
        a.branch(IFEQ, other);
        a.pool(GETSTATIC, a_field);
        a.branch(GOTO, meet);
        a.place(other);
        a.pool(GETSTATIC, b_field);
        a.place(meet);
        a.plain(DUP);
        a.pool(PUTSTATIC, c_field);
        a.pool(PUTSTATIC, d_field);
        a.plain(RETURN);
    });
    old.pool = pool;
    let refusal = inference::upgrade_class_file(&old.bytes()).unwrap_err();
    assert_eq!(
        refusal,
        Refusal::Unmergeable("m(I)V".into(), "x.A, x.B".into(), "x.C, x.D".into())
    );
}

#[test]
fn leniency_of_old_versions_is_corrected_or_refused() {
    let returns = |version| OldClass::new(version, "()V", |a| a.plain(RETURN));
    let mut initialiser = returns(48);
    initialiser.name = "<clinit>";
    // A class without an armable method is returned unchanged.
    let bytes = initialiser.bytes();
    assert_eq!(*inference::upgrade_class_file(&bytes).unwrap(), *bytes);
    let mut strict = returns(45);
    strict.method_access |= 0x800;
    let refusal = inference::upgrade_class_file(&strict.bytes()).unwrap_err();
    assert!(matches!(refusal, Refusal::OldClassFile(45, _)), "{refusal}");
    for version in 45..=50 {
        let modern = modern(&returns(version).bytes());
        assert_eq!(ClassFile::parse(&modern).unwrap().major, inference::MODERN);
    }
}

/// In a method of more than 32,767 bytes, a check at the start reaches its stub only by a wide
/// branch. The target of the inverted condition then needs a frame.
#[test]
fn far_stubs_verify() {
    let old = OldClass::new(50, "(I)V", |a| {
        let end = a.fresh();
        a.local(ILOAD, 0);
        a.branch(IFEQ, end);
        for _ in 0..11_000 {
            a.push(Instruction::Iinc { index: 0, delta: 1 });
        }
        a.branch(GOTO, end);
        a.place(end);
        a.plain(RETURN);
    });
    modern(&old.bytes());
}

/// Lowers the version of JDK classes without `invokedynamic` and similar features. The JVM accepts
/// their own stack maps, so the inferred maps must fit all paths through each method.
#[test]
fn stack_maps_of_the_jdk_can_be_inferred() {
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    let (mut classes, mut refused) = (0, 0);
    classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
        let file = ClassFile::parse(bytes).unwrap();
        let young = |i| {
            matches!(
                file.pool.tag(i),
                Ok(ConstantTag::Dynamic
                    | ConstantTag::InvokeDynamic
                    | ConstantTag::MethodHandle
                    | ConstantTag::MethodType
                    | ConstantTag::Module)
            )
        };
        // Interfaces of that version had no code, and no static or private methods that could be
        // called.
        let of_java_7 = ClassFile {
            major: 51,
            ..file.clone()
        };
        let called_so = verify::class(&of_java_7).is_ok();
        if file.access & 0x200 != 0 || !called_so || file.pool.indices().any(young) {
            return;
        }
        classes += 1;
        match inference::upgrade_class_file(&javac_support::downgraded(bytes, 49)) {
            // A class without an armable method is returned unchanged.
            Ok(Cow::Borrowed(_)) => {}
            Ok(modern) => arming_support::verify(&modern)
                .unwrap_or_else(|e| panic!("{}: {e}", path.display())),
            Err(refusal) => {
                refused += 1;
                *refusals.entry(refusal.name().to_string()).or_default() += 1;
                let known = ["Unmergeable", "Unverifiable"].contains(&refusal.name());
                assert!(known, "{}: {refusal}", path.display());
                println!("{}: {refusal}", path.display());
            }
        }
    });
    println!("{classes} classes, {refusals:?}");
    assert!(classes > 1000, "only {classes} classes");
    assert!(refused * 200 < classes, "{refused} of {classes} refused");
}

/// Malformed class files are refused or converted. There is no panic, and no conversion takes long.
#[test]
fn malformed_class_files_cause_no_panic() {
    let mut seeds = vec![with_subroutine().bytes()];
    for (_, classes) in javac_support::compile(&javac_support::file_tests()) {
        let downgraded = classes.iter().map(|c| javac_support::downgraded(c, 48));
        seeds.extend(downgraded.take(1));
    }
    let mut generator = fastrand::Rng::with_seed(7);
    let mut random = |below: usize| generator.usize(..below);
    let (mut taken, mut refused) = (0, 0);
    for seed in &seeds {
        for _ in 0..300 {
            let mut bytes = seed.clone();
            for _ in 0..=random(3) {
                let at = 10 + random(bytes.len() - 10);
                bytes[at] = random(256) as u8;
            }
            match inference::upgrade_class_file(&bytes) {
                Ok(modern) => {
                    taken += 1;
                    // The original need not verify, so the armed class need not verify either.
                    let request = Request {
                        policy: &Policy::Block,
                        first_id: veneer_names::MethodId(0),
                        generation: 0,
                        wanted: &|_, _| true,
                        forced: &|_, _| true,
                        points: false,
                        only_loops: false,
                        earlier: None,
                    };
                    let _ = arming::arm(&modern, &request);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(
        taken > 1000 && refused > 1000,
        "{taken} taken, {refused} refused"
    );
}
