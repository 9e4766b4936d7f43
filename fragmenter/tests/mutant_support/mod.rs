//! Versions of one method whose emitted code is falsified, and the failures that the checker finds in them.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::HashSet;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{self, ArmedCode};
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::check::{self, Expected};
use veneer_fragmenter::classfile::{ClassFile, Code, Member};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::Edit;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::MethodId;

/// A class that javac compiles, and one of its methods.
pub struct Subject {
    pub class: &'static str,
    pub source: &'static str,
    pub method: &'static str,
}

impl Subject {
    /// Calls `f` with the method, armed at its loops.
    pub fn with<T>(&self, f: impl FnOnce(&Method, &ArmedCode) -> T) -> Result<T, Refusal> {
        let source = (self.class.to_string(), self.source.to_string());
        let classes = crate::javac_support::compile(&[source]);
        let bytes = classes[self.class].last().cloned().unwrap_or_default();
        let file = ClassFile::parse(&bytes)?;
        let is_wanted = |m: &Member| {
            let name = file.pool.text(m.name);
            name.is_ok_and(|found| found == self.method)
        };
        let index = file.methods.iter().position(is_wanted).unwrap_or(0);
        let policy = Policy::Loop;
        let method = Method::analyse(&file, index, &|i, p| policy.cuts(i, p))?;
        let armed = arming::layout(&method, &policy, true)?;
        Ok(f(&method, &armed))
    }
}

/// The name of the checker's failure for a changed body of a version. The version has the edits `made`, and the
/// checker expects the edits `wanted`. `change` gets the instructions and the bytes of the body.
pub fn failure(
    (method, armed): (&Method, &ArmedCode),
    (made, wanted): (&[Edit], &[Edit]),
    bodies: Bodies,
    change: impl Fn(&[(u16, Instruction)], &mut Vec<u8>, &mut Code),
) -> Result<Option<&'static str>, Refusal> {
    let plan = |edits| VersionPlan {
        method,
        id: MethodId(7),
        armed,
        edits,
        kept: &[],
        probes: &[],
        clean: false,
    };
    let expected = Expected::version_contents(&plan(wanted));
    let (file, protected) = (method.file, HashSet::new());
    let anchor = format!("{}$Veneer", file.name()?);
    let mut class = version::emit(file, &anchor, &[plan(made)], bodies, &protected)?;
    if let Some((_, refusal)) = class.refused.pop() {
        return Err(refusal);
    }
    let mut version = ClassFile::parse(&class.bytes)?;
    let pool = version.pool.clone();
    for member in &mut version.methods {
        for attribute in member.attributes.iter_mut().filter(|a| a.is(&pool, "Code")) {
            let info = attribute.info.to_vec();
            let mut code = Code::parse(&info)?;
            let mut bytes = code.code.to_vec();
            let list = decode(&code.code)?;
            change(&list, &mut bytes, &mut code);
            code.code = bytes.into();
            attribute.info = code.to_bytes()?.into();
        }
    }
    let checked = check::version_class(file, &version, &anchor, &[expected]);
    Ok(checked.failures.first().map(|(_, failure)| failure.name()))
}

/// The pcs of the instructions with this opcode.
pub fn all(list: &[(u16, Instruction)], op: u8) -> Vec<usize> {
    let found = list.iter().filter(|(_, i)| i.op() == op);
    found.map(|(pc, _)| usize::from(*pc)).collect()
}
