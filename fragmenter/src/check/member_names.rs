//! The names in a member reference.

use crate::classfile::ConstantPool;

/// Returns the class and the name of a member reference.
pub(super) fn class_and_name(pool: &ConstantPool, index: u16) -> Option<(String, String)> {
    let m = pool.member(index).ok()?;
    Some((
        pool.class_name(m.class).ok()?.into_owned(),
        pool.text(m.name).ok()?.into_owned(),
    ))
}
