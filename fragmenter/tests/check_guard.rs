//! The guard before the JVM: a version that was tampered with is refused by the name `CheckFailed`, an untouched one passes.

mod check_support;
mod classfile_support;

use std::collections::HashSet;

use check_support::policies;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming;
use veneer_fragmenter::bytecode::opcode::{IF_ACMPNE, IFEQ};
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::check::guard;
use veneer_fragmenter::classfile::{ClassFile, Code};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::version::{self, Bodies, Plan, VersionClass};

/// The same class with the question of one conditional branch turned round; `None` where there is none.
fn tampered(class: &VersionClass) -> Option<Vec<u8>> {
    let mut file = ClassFile::parse(&class.bytes).unwrap();
    let pool = file.pool.clone();
    for method in &mut file.methods {
        for attribute in method.attributes.iter_mut().filter(|a| a.is(&pool, "Code")) {
            let info = attribute.info.to_vec();
            let mut code = Code::parse(&info).unwrap();
            let mut bytes = code.code.to_vec();
            for (pc, instruction) in decode(&bytes).unwrap() {
                if let Instruction::Branch { op, .. } = instruction
                    && (IFEQ..=IF_ACMPNE).contains(&op)
                {
                    bytes[pc as usize] = ((op - IFEQ) ^ 1) + IFEQ;
                    code.code = bytes.into();
                    attribute.info = code.to_bytes().unwrap().into();
                    return Some(file.to_bytes().unwrap());
                }
            }
        }
    }
    None
}

#[test]
fn tampered_versions_are_refused_by_name() {
    let (mut seen, mut n) = (0, 0);
    let policy = &policies()[1];
    classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
        n += 1;
        if n % 97 != 0 {
            return;
        }
        let Ok(file) = ClassFile::parse(bytes) else {
            return;
        };
        let Ok(name) = file.name() else { return };
        let anchor = format!("{name}$Veneer");
        for index in 0..file.methods.len() {
            let Ok(method) = Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) else {
                continue;
            };
            let Ok(armed) = arming::layout(&method, policy, true) else {
                continue;
            };
            let plans = [Plan {
                method: &method,
                id: 7,
                armed: &armed,
                edits: &[],
                probes: &[],
                clean: false,
            }];
            let emitted = version::emit(&file, &anchor, &plans, Bodies::Enter, &HashSet::new());
            let Ok(mut class) = emitted else { continue };
            if class.methods.is_empty() {
                continue;
            }
            let at = format!("{} {index}", path.display());
            guard::version(&file, &anchor, &plans, &class).unwrap_or_else(|e| panic!("{at}: {e}"));
            let Some(bytes) = tampered(&class) else {
                continue;
            };
            class.bytes = bytes;
            let refused = guard::version(&file, &anchor, &plans, &class);
            assert!(
                matches!(&refused, Err(Refusal::CheckFailed(_))),
                "{at}: {refused:?}"
            );
            assert_eq!(refused.unwrap_err().name(), "CheckFailed");
            seen += 1;
        }
    });
    assert!(seen > 20, "only {seen} versions with a branch");
}
