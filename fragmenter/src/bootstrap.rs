//! The `BootstrapMethods` attribute (JVMS §4.7.23): reading it, writing it and adding entries.

use crate::classfile::{Attribute, ClassFile, ClassFileError, ConstantPool};
use crate::refusal::Refusal;

/// One entry: a method handle and static arguments, as constant-pool indices.
#[derive(Clone, Debug, PartialEq)]
pub struct BootstrapMethod {
    /// Index of the `MethodHandle` constant.
    pub handle: u16,
    /// Indices of the static arguments.
    pub arguments: Vec<u16>,
}

/// Reads the table of a class. The result is empty if the class has no such attribute.
pub fn read(file: &ClassFile) -> Result<Vec<BootstrapMethod>, Refusal> {
    let Some(attribute) = file
        .attributes
        .iter()
        .find(|a| a.is(&file.pool, "BootstrapMethods"))
    else {
        return Ok(Vec::new());
    };
    let mut words = attribute
        .info
        .chunks_exact(2)
        .map(|c| u16::from_be_bytes([c[0], c[1]]));
    let mut next = || {
        words
            .next()
            .ok_or_else(|| Refusal::BrokenClass("BootstrapMethods ends too early".into()))
    };
    let count = next()?;
    let mut out = Vec::new();
    for _ in 0..count {
        let handle = next()?;
        let n = next()?;
        let arguments = (0..n).map(|_| next()).collect::<Result<_, _>>()?;
        out.push(BootstrapMethod { handle, arguments });
    }
    Ok(out)
}

/// Encodes the attribute's content.
pub fn write(table: &[BootstrapMethod]) -> Vec<u8> {
    let mut out = (table.len() as u16).to_be_bytes().to_vec();
    for b in table {
        out.extend(b.handle.to_be_bytes());
        out.extend((b.arguments.len() as u16).to_be_bytes());
        out.extend(b.arguments.iter().flat_map(|a| a.to_be_bytes()));
    }
    out
}

/// Adds one bootstrap method to the class attributes and returns its index. Creates the attribute
/// if the class has none.
pub fn append(
    attributes: &mut Vec<Attribute>,
    pool: &mut ConstantPool,
    added: &BootstrapMethod,
) -> Result<u16, Refusal> {
    let one = {
        let mut one = added.handle.to_be_bytes().to_vec();
        one.extend((added.arguments.len() as u16).to_be_bytes());
        one.extend(added.arguments.iter().flat_map(|a| a.to_be_bytes()));
        one
    };
    if let Some(attribute) = attributes
        .iter_mut()
        .find(|a| a.is(pool, "BootstrapMethods"))
    {
        let mut info = attribute.info.to_vec();
        let [a, b, ..] = info[..] else {
            return Err(Refusal::BrokenClass("an empty BootstrapMethods".into()));
        };
        let count = u16::from_be_bytes([a, b]);
        let more = count.checked_add(1).ok_or(Refusal::PoolFull)?;
        info[..2].copy_from_slice(&more.to_be_bytes());
        info.extend(one);
        attribute.info = info.into();
        return Ok(count);
    }
    let name = pool.add_utf8("BootstrapMethods")?;
    let mut info = vec![0, 1];
    info.extend(one);
    attributes.push(Attribute {
        name,
        info: info.into(),
    });
    Ok(0)
}

/// Adds a method handle for a static bootstrap method of Veneer's runtime classes.
pub fn runtime_handle(
    pool: &mut ConstantPool,
    name: &str,
    descriptor: &str,
) -> Result<u16, ClassFileError> {
    let method = pool.add_method(crate::runtime::RUNTIME, name, descriptor)?;
    pool.add_method_handle(6, method)
}
