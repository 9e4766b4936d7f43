//! The split verifier (JVMS §4.10.1): type checking with stack maps, without loading a class.
//!
//! ```text
//!   class file ─▶ names, descriptors ─▶ each method: table of frames ─▶ each instruction ─▶ Assumptions
//!                                                                        first broken rule ─▶ Failure
//! ```
//!
//! The checker decides every rule that the bytes of the class file decide. Rules that depend on
//! other classes become [`Assumption`]s: pairs of classes that must be assignable, and members that
//! must be accessible although they may be protected. If all assumptions hold, then HotSpot's type
//! checker accepts the class.
//!
//! Two class files can be compared by their assumptions. If the JVM accepts the first, and the
//! second passes with a subset of the first one's assumptions, then the JVM accepts the second as
//! well ([`guard`]). HotSpot then loads no additional class for the second, because it loads
//! classes exactly to decide assumptions.
//!
//! The checker is stricter than HotSpot in one place: `new` at a pc forgets older objects of the
//! same pc, as the specification requires.
//!
//! **Invariant:** a class file that HotSpot's type checker rejects either fails here or has an
//! assumption that does not hold. `tests/verify_hotspot.rs` compares both verifiers on mutants.

mod assumptions;
mod class;
mod failure;
pub mod guard;
mod instruction;
mod member;
mod method;
mod names;
#[cfg(test)]
pub(crate) mod samples;
mod state;
mod table;
mod vtype;

pub use assumptions::{Assumption, Assumptions};
pub use failure::{Rule, VerifyFailure};

use crate::classfile::{ClassFile, Member};
use class::ClassContext;
use failure::Fault;

/// Checks all methods of a class file.
///
/// # Errors
/// The first broken rule.
pub fn class<'f>(file: &'f ClassFile<'f>) -> Result<Assumptions<'f>, VerifyFailure> {
    let mut checker = Checker::new(file)?;
    for index in 0..file.methods.len() {
        checker.method(index)?;
    }
    Ok(checker.finish())
}

/// Checks the methods of a class file one by one.
pub struct Checker<'f> {
    context: ClassContext<'f>,
}

impl<'f> Checker<'f> {
    /// Reads the data that all methods share.
    ///
    /// # Errors
    /// If the class, its superclass or one of its interfaces has no name.
    pub fn new(file: &'f ClassFile<'f>) -> Result<Checker<'f>, VerifyFailure> {
        let context = ClassContext::new(file).map_err(|fault| failure(file, None, 0, fault))?;
        Ok(Checker { context })
    }

    /// Checks method number `index`. A method without code passes.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn method(&mut self, index: usize) -> Result<(), VerifyFailure> {
        let file = self.context.file;
        let Some(member) = file.methods.get(index) else {
            return Ok(());
        };
        method::check(&mut self.context, member)
            .map_err(|(pc, fault)| failure(file, Some(member), pc, fault))
    }

    /// Removes and returns the assumptions made so far.
    pub fn take_assumptions(&mut self) -> Vec<Assumption> {
        let made = self.context.assumptions.iter().collect();
        self.context.assumptions.assignable.clear();
        self.context.assumptions.accesses.clear();
        made
    }

    /// Returns all assumptions made so far.
    pub fn finish(self) -> Assumptions<'f> {
        self.context.assumptions
    }
}

fn failure(
    file: &ClassFile<'_>,
    member: Option<&Member<'_>>,
    pc: u16,
    fault: Fault,
) -> VerifyFailure {
    let text = |index| file.pool.text(index).unwrap_or_default().into_owned();
    VerifyFailure {
        method: member.map_or_else(
            || "the class".into(),
            |m| format!("{}{}", text(m.name), text(m.descriptor)),
        ),
        pc,
        rule: fault.rule,
        detail: fault.detail,
    }
}
