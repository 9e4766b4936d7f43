//! Replaces reads of the value of a constant method handle by direct reads of the handle's field.
//!
//! ```text
//!   compiled by javac                       defined by the agent
//!   invokestatic VeneerBound.handle         checkcast BoundMethodHandle$Species_L
//!   invokestatic VeneerBound.value          getfield  BoundMethodHandle$Species_L.argL0
//! ```
//!
//! The runtime classes are in the package of the field's class, so the JVM lets them read the field.
//! `javac` does not, because the field's class is declared private. C1 gives a method a larger frame
//! for each method that it inlines there, so the checks of armed bodies read the field without a
//! call. If a JDK does not have that field, `VeneerBound` reads the value through `Unsafe`.
//!
//! The classes with such reads are marked in [`crate::jvm::runtime_table`].

use crate::jvm::jni::Env;
use std::borrow::Cow;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::decode;
use veneer_fragmenter::bytecode::opcode::{CHECKCAST, GETFIELD, INVOKESTATIC};
use veneer_fragmenter::classfile::{ClassFile, Code};

/// The class of constant method handles.
const HANDLE: &str = "java/lang/invoke/BoundMethodHandle$Species_L";
/// Its field with the value.
const FIELD: &str = "argL0";
const OBJECT: &str = "Ljava/lang/Object;";
/// The class whose calls are replaced.
const BOUND: &str = "java/lang/invoke/VeneerBound";

/// Whether this JDK has the field that [`direct`] reads.
pub fn is_known(env: Env) -> bool {
    env.find(c"java/lang/invoke/BoundMethodHandle$Species_L")
        .is_ok_and(|class| env.has_field(class, c"argL0", c"Ljava/lang/Object;"))
}

/// Returns a runtime class with its calls of `VeneerBound` replaced by reads of the field. The code
/// keeps its length, so no other part of the class changes.
pub fn direct(bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut file = ClassFile::parse(bytes)?;
    let mut pool = file.pool.clone();
    let cast = pool.add_class(HANDLE)?;
    let read = pool.add_field(HANDLE, FIELD, OBJECT)?;
    for method in &mut file.methods {
        for attribute in &mut method.attributes {
            if !attribute.is(&file.pool, "Code") {
                continue;
            }
            let mut code = Code::parse(&attribute.info)?;
            let instructions = decode(&code.code)?;
            let mut replaced = code.code.to_vec();
            for (pc, instruction) in &instructions {
                let Some(index) = instruction.pool_index() else {
                    continue;
                };
                if instruction.op() != INVOKESTATIC {
                    continue;
                }
                let member = file.pool.member(index)?;
                if file.pool.class_name(member.class)? != BOUND {
                    continue;
                }
                let (op, operand) = match &*file.pool.text(member.name)? {
                    "handle" => (CHECKCAST, cast),
                    "value" => (GETFIELD, read),
                    _ => continue,
                };
                let [high, low] = operand.to_be_bytes();
                let at = usize::from(*pc);
                if let Some(place) = replaced.get_mut(at..at + 3) {
                    place.copy_from_slice(&[op, high, low]);
                }
            }
            code.code = replaced.into();
            attribute.info = Cow::Owned(code.to_bytes()?);
        }
    }
    file.pool = pool;
    Ok(file.to_bytes()?)
}

#[cfg(test)]
mod tests {
    use super::super::{CLASS_FILES, CLASSES};
    use super::*;

    /// Counts the calls of `VeneerBound`, and the reads of the field, in the code of a class.
    fn calls_and_reads(bytes: &[u8]) -> (usize, usize) {
        let file = ClassFile::parse(bytes).unwrap();
        let (mut calls, mut reads) = (0, 0);
        for attribute in file.methods.iter().flat_map(|m| &m.attributes) {
            if !attribute.is(&file.pool, "Code") {
                continue;
            }
            let code = Code::parse(&attribute.info).unwrap();
            for (_, instruction) in decode(&code.code).unwrap() {
                let (INVOKESTATIC | GETFIELD, Some(index)) =
                    (instruction.op(), instruction.pool_index())
                else {
                    continue;
                };
                let member = file.pool.member(index).unwrap();
                let class = file.pool.class_name(member.class).unwrap();
                let name = file.pool.text(member.name).unwrap();
                calls += usize::from(class == BOUND && name != "make");
                reads += usize::from(class == HANDLE);
            }
        }
        (calls, reads)
    }

    #[test]
    fn exactly_the_marked_classes_call_and_no_call_is_left() {
        // `VeneerBound` calls a method of its own.
        let others = CLASS_FILES
            .iter()
            .zip(&CLASSES)
            .filter(|((name, _), _)| *name != BOUND);
        for ((name, bytes), class) in others {
            let (calls, reads) = calls_and_reads(bytes);
            assert_eq!(
                (calls > 0, reads),
                (class.reads_constant_handles, 0),
                "{name}"
            );
            let (left, reads) = calls_and_reads(&direct(bytes).unwrap());
            // One call passes the handle, and the other one reads the value.
            assert_eq!((left, reads), (0, calls / 2), "{name}");
        }
    }
}
