//! A hash of a method's code, by which an edit checks that it meets the code for which it was
//! written.
//!
//! Fragment numbers depend on the instructions and on the exception table, and on nothing else. The
//! hash covers both, with the constants instead of their numbers: the JVM may number the constants
//! anew when it returns the class file of a loaded class, and a compiler does so when another method
//! of the class changes. Names of variables and source lines are not covered.

use crate::bytecode::opcode::LDC;
use crate::classfile::{ConstantPool, PoolEntry};
use crate::method::Method;
use std::fmt;
use twox_hash::XxHash3_64;

/// The deepest nesting of constants. A method handle, its method, the class and the class's name are
/// four levels. Deeper constants, which only damaged class files have, are cut.
const MAX_NESTING: u8 = 6;

/// The hash of the code of one method. Its text form has 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeHash(pub u64);

impl CodeHash {
    /// The hash of a method's code.
    pub fn from_method(method: &Method) -> CodeHash {
        let pool = &method.file.pool;
        let code = &method.code.code;
        let mut covered: Vec<u8> = Vec::with_capacity(4 * code.len());
        let ends = method
            .instructions
            .iter()
            .skip(1)
            .map(|(pc, _)| usize::from(*pc));
        let ends = ends.chain(std::iter::once(code.len()));
        for ((pc, instruction), end) in method.instructions.iter().zip(ends) {
            let bytes = code.get(usize::from(*pc)..end).unwrap_or_default();
            let number = match (instruction.pool_index(), bytes.first()) {
                (None, _) => 0,
                (Some(_), Some(&LDC)) => 1,
                (Some(_), _) => 2,
            };
            covered.extend(bytes.first());
            covered.extend(bytes.get(1 + number..).unwrap_or_default());
            if let Some(index) = instruction.pool_index() {
                add_constant(&mut covered, pool, index, 0);
            }
        }
        for range in &method.code.exceptions {
            for pc in [range.start, range.end, range.handler] {
                covered.extend(pc.to_be_bytes());
            }
            add_constant(&mut covered, pool, range.catch_type, 0);
        }
        CodeHash(XxHash3_64::oneshot(&covered))
    }
}

impl fmt::Display for CodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Appends the content of a constant. Numbers of bootstrap methods are left out, because they change
/// like the numbers of constants.
fn add_constant(to: &mut Vec<u8>, pool: &ConstantPool, index: u16, depth: u8) {
    let (Ok(entry), Ok(tag)) = (pool.entry(index), pool.tag(index)) else {
        to.push(0);
        return;
    };
    to.push(tag as u8);
    if depth == MAX_NESTING {
        return;
    }
    let mut nested = |indices: &[u16]| {
        for index in indices {
            add_constant(to, pool, *index, depth + 1);
        }
    };
    match entry {
        PoolEntry::Utf8(text) => {
            to.extend((text.len() as u64).to_be_bytes());
            to.extend(text);
        }
        PoolEntry::Integer(value) => to.extend(value.to_be_bytes()),
        PoolEntry::Float(value) => to.extend(value.to_bits().to_be_bytes()),
        PoolEntry::Long(value) => to.extend(value.to_be_bytes()),
        PoolEntry::Double(value) => to.extend(value.to_bits().to_be_bytes()),
        PoolEntry::Class(name)
        | PoolEntry::String(name)
        | PoolEntry::MethodType(name)
        | PoolEntry::Module(name)
        | PoolEntry::Package(name) => nested(&[name]),
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
        } => nested(&[class, name_and_type]),
        PoolEntry::NameAndType { name, descriptor } => nested(&[name, descriptor]),
        PoolEntry::MethodHandle { kind, reference } => {
            nested(&[reference]);
            to.push(kind);
        }
        PoolEntry::Dynamic { name_and_type, .. }
        | PoolEntry::InvokeDynamic { name_and_type, .. } => nested(&[name_and_type]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classfile::ClassFile;

    /// `Points.java`, compiled by `javac -g --release 17`.
    const POINTS: &[u8] = include_bytes!("../../executor/src/classes/fixtures/Points.classfile");

    fn hashes(bytes: &[u8]) -> Vec<Option<CodeHash>> {
        let file = ClassFile::parse(bytes).expect("a class file");
        let hash = |index| {
            let method = Method::analyse(&file, index, &|_, _| false).ok()?;
            Some(CodeHash::from_method(&method))
        };
        (0..file.methods.len()).map(hash).collect()
    }

    /// The position of the text in the bytes.
    fn position(text: &str) -> usize {
        let mut windows = POINTS.windows(text.len());
        windows
            .position(|w| w == text.as_bytes())
            .expect("the text")
    }

    #[test]
    fn methods_with_other_code_have_other_hashes() {
        let all = hashes(POINTS);
        let mut known: Vec<u64> = all.iter().flatten().map(|hash| hash.0).collect();
        let count = known.len();
        known.sort_unstable();
        known.dedup();
        assert!(
            count > 5 && known.len() + 2 >= count,
            "{count} {}",
            known.len()
        );
        assert_eq!(hashes(POINTS), all);
    }

    #[test]
    fn the_name_of_a_field_is_covered_and_the_name_of_a_variable_is_not() {
        let changed_by_renaming = |text: &str| {
            let mut bytes = POINTS.to_vec();
            bytes[position(text)] = b'Z';
            let pairs = hashes(&bytes).into_iter().zip(hashes(POINTS));
            pairs.filter(|(one, other)| one != other).count()
        };
        assert_eq!(changed_by_renaming("narrow"), 0);
        // One method counts in the field.
        assert_eq!(changed_by_renaming("served"), 1);
    }
}
