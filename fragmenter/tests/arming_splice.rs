//! The fast path and the full path must arm the JDK's classes identically.
//!
//! Constant indices may differ, because the fast path appends constants without looking for equal
//! ones. So methods are compared by the meaning of their code, tables and frames.

mod classfile_support;

use std::sync::Arc;

use veneer_fragmenter::arming::{Armed, Request, arm, arm_analysed};
use veneer_fragmenter::bytecode::decode;
use veneer_fragmenter::classfile::{
    ClassFile, ConstantPool, Member, PoolEntry, StackMapFrame, VerificationType, decode_stack_map,
};
use veneer_fragmenter::policy::Policy;

/// Formats a constant by its meaning.
fn constant(pool: &ConstantPool, index: u16) -> String {
    match pool.entry(index).unwrap() {
        PoolEntry::Class(name) => format!("class {}", pool.text(name).unwrap()),
        PoolEntry::InvokeDynamic {
            bootstrap,
            name_and_type,
        } => format!("dynamic {bootstrap} {}", named(pool, name_and_type)),
        PoolEntry::Field {
            class,
            name_and_type,
        }
        | PoolEntry::Method {
            class,
            name_and_type,
        }
        | PoolEntry::InterfaceMethod {
            class,
            name_and_type,
        } => format!(
            "{} {}",
            pool.class_name(class).unwrap(),
            named(pool, name_and_type)
        ),
        // The constant belongs to the original, so its index is the same on both sides.
        _ => format!("#{index}"),
    }
}

fn named(pool: &ConstantPool, index: u16) -> String {
    let (name, descriptor) = pool.name_and_type(index).unwrap();
    format!(
        "{} {}",
        pool.text(name).unwrap(),
        pool.text(descriptor).unwrap()
    )
}

fn types(pool: &ConstantPool, types: &[VerificationType]) -> String {
    let one = |t: &VerificationType| match t {
        VerificationType::Object(index) => constant(pool, *index),
        other => other.to_string(),
    };
    types.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Formats a method as text.
fn words(class: &ClassFile, member: &Member) -> String {
    let pool = &class.pool;
    let Some(code) = member.code(pool).unwrap() else {
        return "no code".into();
    };
    let mut out = format!("stack {} locals {}\n", code.max_stack, code.max_locals);
    for (pc, instruction) in decode(&code.code).unwrap() {
        out += &match instruction.pool_index() {
            Some(index) => format!("{pc} {} {}\n", instruction.op(), constant(pool, index)),
            None => format!("{pc} {instruction:?}\n"),
        };
    }
    for e in &code.exceptions {
        out += &format!("{e:?}\n");
    }
    for a in &code.attributes {
        let name = pool.text(a.name).unwrap();
        if name != "StackMapTable" {
            out += &format!("{name} {:?}\n", a.info);
            continue;
        }
        let mut scratch = pool.clone();
        let initial = classfile_support::initial_locals(class, member, &mut scratch);
        for StackMapFrame { pc, locals, stack } in decode_stack_map(&a.info, &initial).unwrap() {
            out += &format!(
                "frame {pc}: {} | {}\n",
                types(&scratch, &locals),
                types(&scratch, &stack)
            );
        }
    }
    out
}

fn compare(path: &std::path::Path, quick: &Armed, full: &Armed) {
    let outline = |a: &Armed| {
        let methods: Vec<_> = a.methods.iter().map(|m| (m.index, m.id)).collect();
        let refusals: Vec<_> = a.refusals.iter().map(|r| format!("{r:?}")).collect();
        (methods, refusals, a.anchor_bytes.clone())
    };
    assert_eq!(outline(quick), outline(full), "{}", path.display());
    if full.bytes.is_empty() {
        return;
    }
    let (a, b) = (
        ClassFile::parse(&quick.bytes).unwrap(),
        ClassFile::parse(&full.bytes).unwrap(),
    );
    for (left, right) in a.methods.iter().zip(&b.methods) {
        let (l, r) = (words(&a, left), words(&b, right));
        assert!(
            l == r,
            "{}: {}\nquick\n{l}\nfull\n{r}",
            path.display(),
            a.pool.text(left.name).unwrap()
        );
    }
}

fn both(label: &str, include: &str, sparse: usize) {
    let calls = Policy::Call(Arc::new(|class: &str, _: &str, _: &str| {
        class.starts_with("java.util")
    }));
    let (mut classes, mut same) = (0, 0);
    classfile_support::for_each_class(label, include, |path, bytes| {
        classes += 1;
        if classes % sparse != 0 {
            return;
        }
        for policy in [&Policy::Method, &Policy::Loop, &calls, &Policy::Block] {
            for forced in [false, true] {
                let request = Request {
                    policy,
                    first_id: veneer_names::MethodId(1000),
                    generation: 0,
                    wanted: &|_, _| true,
                    forced: &|_, _| forced,
                    points: false,
                    only_loops: false,
                    earlier: None,
                };
                match (arm(bytes, &request), arm_analysed(bytes, &request)) {
                    (Ok(quick), Ok(full)) => compare(path, &quick, &full),
                    (quick, full) => {
                        assert_eq!(quick.err(), full.err(), "{}", path.display());
                    }
                }
                same += 1;
            }
        }
    });
    println!("{classes} classes, {same} comparisons");
    assert!(same > 100);
}

#[test]
fn a_part_of_the_jdk() {
    both("quick", classfile_support::QUICK, 37);
}

#[test]
#[ignore = "takes minutes: all classes of the JDKs"]
fn the_whole_jdk() {
    both("everything", "regex:.*[.]class", 1);
}
