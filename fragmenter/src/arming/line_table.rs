//! Appends the lines of stubs to a `LineNumberTable`.

use crate::classfile::{Attribute, ConstantPool};

/// Appends pairs of a pc and a source line. Without a `LineNumberTable`, nothing changes.
pub(super) fn append_lines(
    attributes: &mut Vec<Attribute>,
    pool: &ConstantPool,
    lines: &[(u16, u16)],
) {
    let Some(table) = attributes
        .iter_mut()
        .find(|a| a.is(pool, "LineNumberTable"))
    else {
        return;
    };
    let Some(count) = table
        .info
        .get(..2)
        .map(|b| u16::from_be_bytes([b[0], b[1]]))
    else {
        return;
    };
    let Some(total) = count.checked_add(lines.len() as u16) else {
        return;
    };
    let mut info = table.info.to_vec();
    info[..2].copy_from_slice(&total.to_be_bytes());
    for (pc, line) in lines {
        info.extend(pc.to_be_bytes());
        info.extend(line.to_be_bytes());
    }
    table.info = info.into();
}
