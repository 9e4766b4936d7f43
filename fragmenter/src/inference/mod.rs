//! Old class files made modern: version 51, with a stack map for every method, without subroutines.
//!
//! ```text
//!   version ≤ 50 ─▶ raise       may the version be raised at all? what the VM ignored at the old one is dropped
//!                ─▶ subroutine  (jsr/ret) each call of a subroutine gets its own copy
//!                ─▶ flow        which kinds of values, and of which classes, come to each place
//!                ─▶ demand      what the uses of a value ask of its class
//!                ─▶ choose      the one class that a stack map names where values of several meet
//!                ─▶ dead        what nothing reaches becomes nop … athrow
//!                ─▶ facts       what the old verifier has found out; the type checker may assume nothing else
//!                                                             ─▶ version 51 with stack maps
//! ```
//!
//! Everything else in this crate reads modern class files only. `invokedynamic`, which stubs need, and types without a class
//! hierarchy (JVMS §4.10.1) both begin there.
//!
//! **Why the verifier takes it.** The old verifier (JVMS §4.10.2) joins the classes A, B of values that meet by their closest
//! common superclass L, which would mean to load classes. It has accepted the method, so every use that asks for a class D
//! has L <: D, hence A <: D and B <: D. If the uses ask for one class only, D itself can stand in the stack map: A <: D and
//! B <: D is all that the new verifier then has to find. An interface may be ignored, for to both verifiers every object
//! passes for it. Where the uses ask for several classes, `choose` must know which one is below the others; where it
//! does not, the class is refused (`Unmergeable`).
//!
//! **Why a mistake here does no harm.** The result passes the type checker of [`crate::verify`], and every assumption about other
//! classes that the checker makes must follow from what the old verifier has found out (`facts`); otherwise the class is refused
//! (`Unverifiable`).
//!
//! **Stack maps of version 50.** HotSpot verifies a class of version 50 by its stack maps, and if they are wrong, with the old
//! verifier. So a map may be wrong in an accepted class, even if only a class that it names is wrong. A method keeps its map if the
//! type checker accepts the map and the facts show every assumption; otherwise its map is inferred as for older versions.
//!
//! **Invariant:** instructions that can be reached are those of the method, in its order (copied, for subroutines).

mod body;
mod choose;
mod demand;
mod facts;
mod flow;
mod kinds;
mod raise;
mod stackmap;
mod subroutine;
mod union;
mod uses;

use crate::classfile::ClassFile;
use crate::refusal::Refusal;
use crate::verify;
use std::borrow::Cow;

/// The version that has `invokedynamic` and always verifies by stack maps: Java 7.
pub const MODERN: u16 = 51;

/// The class file as the rest of this crate can work with it. It is the same bytes where it is modern already, or has no
/// method that could be armed. The same input always gives the same output, and the output is its own modern form.
///
/// # Errors
/// [`Refusal::OldClassFile`], [`Refusal::Subroutine`], [`Refusal::Unmergeable`], [`Refusal::Unverifiable`] with the method that stands
/// in the way; other names if the class file is broken.
pub fn modern(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Refusal> {
    // The major version, without reading the rest.
    if matches!(bytes, [_, _, _, _, _, _, high, low, ..] if u16::from_be_bytes([*high, *low]) >= MODERN)
    {
        return Ok(Cow::Borrowed(bytes));
    }
    let file = ClassFile::parse(bytes)?;
    file.check_closed()?;
    let armable = |m: &crate::classfile::Member| {
        m.attribute(&file.pool, "Code").is_some()
            && file.pool.utf8(m.name).is_ok_and(|n| n != b"<clinit>")
    };
    if !file.methods.iter().any(armable) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = file.clone();
    raise::raise(&mut out)?;
    let kinds = kinds::Kinds::of(&file)?;
    let mut facts = facts::Facts::default();
    // Only version 50 has stack maps that may be kept.
    let mut checker = match file.major {
        50 => verify::Checker::new(&file).ok(),
        _ => None,
    };
    for index in 0..file.methods.len() {
        body::modernise(&file, index, &kinds, &mut facts, checker.as_mut(), &mut out)?;
    }
    let bytes = out.to_bytes()?;
    check(&bytes, &facts, &kinds)?;
    Ok(Cow::Owned(bytes))
}

/// Checks that the JVM accepts the modern form if it accepts the original.
fn check(bytes: &[u8], facts: &facts::Facts, kinds: &kinds::Kinds) -> Result<(), Refusal> {
    let file = ClassFile::parse(bytes)?;
    let this = file.name()?;
    let needed = verify::class(&file).map_err(|e| Refusal::Unverifiable(e.to_string()))?;
    let unknown = needed.iter().find(|a| !facts.show(&this, a, kinds));
    match unknown {
        None => Ok(()),
        Some(assumption) => Err(Refusal::Unverifiable(format!(
            "nothing in the class shows that {assumption}"
        ))),
    }
}
