//! Conversion of old class files to version 51, with a stack map for every method and without
//! subroutines.
//!
//! ```text
//!   version ≤ 50 ─▶ upgrade          may the version be raised? attributes that were ignored before are dropped
//!                ─▶ subroutine       (jsr/ret) each call of a subroutine gets its own copy
//!                ─▶ flow             the kinds and classes of the values at each position
//!                ─▶ constraints      the classes that the uses of a value require
//!                ─▶ solve            the one class that a stack map names where values of several classes meet
//!                ─▶ dead code        unreachable code becomes nop … athrow
//!                ─▶ verifier_facts   the facts of the old verifier; the type checker may assume nothing else
//!                                                             ─▶ version 51 with stack maps
//! ```
//!
//! The rest of this crate reads modern class files only. Version 51 is the first with
//! `invokedynamic`, which stubs need, and with types that do not depend on a class hierarchy (JVMS
//! §4.10.1).
//!
//! **Why the result verifies.** The old verifier (JVMS §4.10.2) merges the classes A and B of two
//! values to their closest common superclass L, which requires loading classes. The verifier
//! accepted the method, so every use that requires a class D has L <: D, hence A <: D and B <: D.
//! If the uses require one class only, the stack map can name D itself, and the new verifier only
//! has to check A <: D and B <: D. Interfaces can be ignored, because to both verifiers every
//! object is assignable to an interface. If the uses require several classes, `solve` must know
//! which one is a subclass of the others. If it does not know, the class is refused
//! (`Unmergeable`).
//!
//! **Why an error here does no harm.** The result must pass the type checker of [`crate::verify`].
//! Every assumption about other classes that the checker makes must follow from the facts of the
//! old verifier (`verifier_facts`). Otherwise the class is refused (`Unverifiable`).
//!
//! **Stack maps of version 50.** HotSpot verifies a class of version 50 by its stack maps, and with
//! the old verifier if the maps are wrong. So an accepted class may have a wrong map, even one in
//! which only a class name is wrong. A method keeps its map if the type checker accepts the map and
//! the facts prove every assumption. Otherwise its map is inferred as for older versions.
//!
//! **Invariant:** reachable instructions are those of the method in their order (copied, for
//! subroutines).

mod class_hierarchy;
mod constraints;
mod flow;
mod method_body;
mod solve;
mod stackmap;
mod subroutine;
mod union_types;
mod upgrade;
mod uses;
mod verifier_facts;

pub use upgrade::MODERN;

use crate::classfile::ClassFile;
use crate::refusal::Refusal;
use crate::verify;
use std::borrow::Cow;

/// Converts a class file to the form that the rest of this crate requires.
///
/// Returns the same bytes if the class file is already modern, or has no method that could be
/// armed. The function is deterministic and idempotent.
///
/// # Errors
/// [`Refusal::OldClassFile`], [`Refusal::Subroutine`], [`Refusal::Unmergeable`] or
/// [`Refusal::Unverifiable`], with the method that causes the refusal. Other refusals if the class
/// file is malformed.
pub fn upgrade_class_file(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    // Reads the major version without parsing the rest.
    if matches!(bytes, [_, _, _, _, _, _, high, low, ..] if u16::from_be_bytes([*high, *low]) >= MODERN)
    {
        return Ok(Cow::Borrowed(bytes));
    }
    let upgraded = upgrade_parsed(&ClassFile::parse(bytes)?)?;
    upgraded.map_or(Ok(Cow::Borrowed(bytes)), |upgraded| {
        upgraded.checked_class_file()?;
        Ok(Cow::Owned(upgraded.bytes))
    })
}

/// Converts a parsed class file as [`upgrade_class_file`] does, but leaves the check of the result
/// to [`UpgradedClass::checked_class_file`]. Returns `None` if the class file is already modern, or
/// has no method that could be armed.
///
/// # Errors
/// The errors of [`upgrade_class_file`].
pub fn upgrade_parsed(file: &ClassFile) -> Result<Option<UpgradedClass>, Refusal> {
    if file.major >= MODERN {
        return Ok(None);
    }
    file.check_closed()?;
    let armable = |m: &crate::classfile::Member| {
        m.attribute(&file.pool, "Code").is_some()
            && file.pool.utf8(m.name).is_ok_and(|n| n != b"<clinit>")
    };
    if !file.methods.iter().any(armable) {
        return Ok(None);
    }
    let mut out = file.clone();
    upgrade::raise_version(&mut out)?;
    let hierarchy = class_hierarchy::ClassHierarchy::from_class_file(file)?;
    let mut facts = verifier_facts::Facts::default();
    // Only version 50 has stack maps that may be kept.
    let mut checker = match file.major {
        50 => verify::Checker::new(file).ok(),
        _ => None,
    };
    for index in 0..file.methods.len() {
        method_body::modernise(
            file,
            index,
            &hierarchy,
            &mut facts,
            checker.as_mut(),
            &mut out,
        )?;
    }
    Ok(Some(UpgradedClass {
        bytes: out.to_bytes()?,
        facts,
        hierarchy,
    }))
}

/// A class file that [`upgrade_parsed`] has converted to version [`MODERN`].
pub struct UpgradedClass {
    bytes: Vec<u8>,
    facts: verifier_facts::Facts,
    hierarchy: class_hierarchy::ClassHierarchy,
}

impl UpgradedClass {
    /// Returns the converted class file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Parses the converted class file, and checks that the JVM accepts it if it accepts the
    /// original.
    ///
    /// # Errors
    /// [`Refusal::Unverifiable`] if nothing in the original shows an assumption of the type checker.
    pub fn checked_class_file(&self) -> Result<ClassFile<'_>, Refusal> {
        let file = ClassFile::parse(&self.bytes)?;
        let unknown = {
            let this = file.name()?;
            let needed = verify::class(&file).map_err(|e| Refusal::Unverifiable(e.to_string()))?;
            let unknown = needed
                .iter()
                .find(|a| !self.facts.prove(&this, a, &self.hierarchy));
            unknown.map(|assumption| format!("nothing in the class shows that {assumption}"))
        };
        if let Some(reason) = unknown {
            return Err(Refusal::Unverifiable(reason));
        }
        Ok(file)
    }
}
