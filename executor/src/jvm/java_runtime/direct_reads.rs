//! Direct reads of the value of a constant method handle.
//!
//! ```text
//!   compiled by javac                       defined by the agent
//!   invokestatic VeneerBound.handle         checkcast BoundMethodHandle$Species_L
//!   invokestatic VeneerBound.value          getfield  BoundMethodHandle$Species_L.argL0
//! ```
//!
//! The runtime classes are in the package of the field's class, so the JVM lets them read the field. `javac` does not, because the
//! field's class is declared private. C1 gives a method a larger frame for each method that it inlines there, so the checks of armed
//! bodies read the field without a call. On a JDK without that field, `VeneerBound` reads it through `Unsafe`.

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

/// The runtime classes that call it.
pub const READERS: [&str; 2] = [
    "java/lang/invoke/VeneerCell",
    "java/lang/invoke/VeneerToken",
];

/// Whether this JDK keeps the value in the field that [`direct`] reads.
pub fn is_known(env: Env) -> bool {
    env.find(c"java/lang/invoke/BoundMethodHandle$Species_L")
        .is_ok_and(|class| env.has_field(class, c"argL0", c"Ljava/lang/Object;"))
}

/// A runtime class whose calls of `VeneerBound` are replaced by reads of the field.
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
                    _ => (GETFIELD, read),
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
