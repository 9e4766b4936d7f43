//! The class that reads the value of a constant method handle.
//!
//! ```text
//!   @ForceInline static Object value(MethodHandle constant) { return ((BoundMethodHandle.Species_L) constant).argL0; }
//! ```
//!
//! The class is in the package of the field's class, so the JVM lets it read the field. `javac` does not, because the field's class
//! is declared private. On a JDK without that field, `java/java/lang/invoke/VeneerBound.java` serves.

use crate::jni::Env;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::Assembler;
use veneer_fragmenter::bytecode::opcode::{ALOAD, ARETURN, CHECKCAST, GETFIELD};
use veneer_fragmenter::classfile::{Attribute, ClassFile, Code, ConstantPool, Member};

/// The class of constant method handles.
const HANDLE: &str = "java/lang/invoke/BoundMethodHandle$Species_L";
/// Its field with the value.
const FIELD: &str = "argL0";
const OBJECT: &str = "Ljava/lang/Object;";
const FORCE_INLINE: &str = "Ljdk/internal/vm/annotation/ForceInline;";

/// Name of the class, internal.
pub const NAME: &str = "java/lang/invoke/VeneerBound";

/// Whether this JDK keeps the value in the field that [`emit`] reads.
pub fn is_known(env: Env) -> bool {
    env.find(c"java/lang/invoke/BoundMethodHandle$Species_L")
        .is_ok_and(|class| env.has_field(class, c"argL0", c"Ljava/lang/Object;"))
}

/// Writes the class.
pub fn emit() -> Result<Vec<u8>, Refusal> {
    let mut pool = ConstantPool::new();
    let mut a = Assembler::new();
    a.local(ALOAD, 0);
    a.pool(CHECKCAST, pool.add_class(HANDLE)?);
    a.pool(GETFIELD, pool.add_field(HANDLE, FIELD, OBJECT)?);
    a.plain(ARETURN);
    let code = Code {
        max_stack: 1,
        max_locals: 1,
        code: a
            .finish()
            .map_err(|e| Refusal::Internal(e.to_string()))?
            .code
            .into(),
        exceptions: Vec::new(),
        attributes: Vec::new(),
    };
    // One annotation without elements.
    let mut annotation = 1u16.to_be_bytes().to_vec();
    annotation.extend(pool.add_utf8(FORCE_INLINE)?.to_be_bytes());
    annotation.extend([0, 0]);
    let value = Member {
        access: 0x0008,
        name: pool.add_utf8("value")?,
        descriptor: pool.add_utf8("(Ljava/lang/invoke/MethodHandle;)Ljava/lang/Object;")?,
        attributes: vec![
            Attribute {
                name: pool.add_utf8("Code")?,
                info: code.to_bytes()?.into(),
            },
            Attribute {
                name: pool.add_utf8("RuntimeVisibleAnnotations")?,
                info: annotation.into(),
            },
        ],
    };
    let file = ClassFile {
        minor: 0,
        major: 61,
        this_class: pool.add_class(NAME)?,
        super_class: pool.add_class("java/lang/Object")?,
        pool,
        access: 0x1030,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: vec![value],
        attributes: Vec::new(),
    };
    Ok(file.to_bytes()?)
}
