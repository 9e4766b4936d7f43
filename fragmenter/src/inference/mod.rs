//! Old class files made modern: version 51, with a stack map for every method, without subroutines.
//!
//! ```text
//!   version ≤ 50 ─▶ raise       may the version be raised at all? what the VM ignored at the old one is dropped
//!                ─▶ subroutine  (jsr/ret) each call of a subroutine gets its own copy
//!                ─▶ flow        which kinds of values, and of which classes, come to each place
//!                ─▶ demand      what the uses of a value ask of its class
//!                ─▶ choose      the one class that a stack map names where values of several meet
//!                ─▶ dead        what nothing reaches becomes nop … athrow
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
//! **Invariant:** instructions that can be reached are those of the method, in its order (copied, for subroutines).

mod body;
mod choose;
mod demand;
mod flow;
mod kinds;
mod raise;
mod stackmap;
mod subroutine;
mod union;

use crate::classfile::ClassFile;
use crate::refusal::Refusal;
use std::borrow::Cow;

/// The version that has `invokedynamic` and always verifies by stack maps: Java 7.
pub const MODERN: u16 = 51;

/// The class file as the rest of this crate can work with it. It is the same bytes where it is modern already, or has no
/// method that could be armed. The same input always gives the same output, and the output is its own modern form.
///
/// # Errors
/// [`Refusal::OldClassFile`], [`Refusal::Subroutine`], [`Refusal::Unmergeable`] with the method that stands in the way; other
/// names if the class file is broken.
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
    for index in 0..file.methods.len() {
        body::modernise(&file, index, &kinds, &mut out)?;
    }
    Ok(Cow::Owned(out.to_bytes()?))
}
