//! The anchor: a small class beside an armed class that holds the cells of its methods and declares the bodies of their versions.
//!
//! ```text
//!   abstract synthetic class a/b/C$Veneer {
//!     static final VeneerCell c17;
//!     abstract int search$e17(C this, int n);
//!     static C$Veneer version(VeneerCell cell) { return (C$Veneer) cell.body(); }
//!   }
//! ```
//!
//! It is defined in the armed class's own loader and package, so that nothing has to be added to the armed class. The
//! cells are `static final`, so that the JIT takes them as constants. The agent fills them before it defines the armed class; the anchor
//! has no initialiser, because an initialiser would look up its classes through the application's loader, in a thread of the agent.
//! A version extends the anchor: so an armed body calls it by an ordinary virtual call, for which the JVM resolves no type of the
//! method's descriptor.
//!
//! A class that is armed again with more methods gets a second anchor, for the new methods only, which extends the first. Each method
//! keeps the anchor that declared it first. So a version that was linked before the second anchor stays callable from the newer
//! armed code, and a version that extends the second anchor is callable from the older.

use crate::bytecode::Assembler;
use crate::bytecode::opcode::*;
use crate::classfile::{Attribute, ClassFile, Code, ConstantPool, Member};
use crate::refusal::Refusal;
use crate::runtime;

const FLAGS: u16 = 0x1000 | 0x0400 | 0x0020; // synthetic, abstract, super
const FIELD_FLAGS: u16 = 0x1000 | 0x0010 | 0x0008; // synthetic, final, static

/// The anchor's internal name. `generation` counts the anchors of the armed class before this one.
pub fn name(class: &str, generation: u32) -> String {
    if generation == 0 {
        format!("{class}$Veneer")
    } else {
        format!("{class}$Veneer{generation}")
    }
}

/// Whether an internal name is an anchor's.
pub fn is_anchor(name: &str) -> bool {
    name.rsplit_once("$Veneer")
        .is_some_and(|(_, rest)| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// A method that has a cell.
pub struct Held {
    /// The id of the cell.
    pub id: u32,
    /// Simple name of the method.
    pub name: String,
    /// Descriptor of the call by which activations enter a version.
    pub descriptor: String,
}

/// Emits the anchor class that declares these methods. `previous` is the newest anchor of the same class until now, which the new
/// anchor extends.
pub fn emit(name: &str, held: &[Held], previous: Option<&str>) -> Result<Vec<u8>, Refusal> {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class(name)?;
    let super_class = pool.add_class(previous.unwrap_or("java/lang/Object"))?;
    let descriptor = pool.add_utf8(runtime::CELL_DESCRIPTOR)?;
    let mut fields = Vec::with_capacity(held.len());
    for Held { id, .. } in held {
        let field = runtime::cell_field(*id);
        fields.push(Member {
            access: FIELD_FLAGS,
            name: pool.add_utf8(&field)?,
            descriptor,
            attributes: Vec::new(),
        });
    }
    let mut methods = vec![version(name, &mut pool)?];
    for one in held {
        methods.push(Member {
            access: 0x0400,
            name: pool.add_utf8(&runtime::enter_method(&one.name, one.id))?,
            descriptor: pool.add_utf8(&one.descriptor)?,
            attributes: Vec::new(),
        });
    }
    let file = ClassFile {
        minor: 0,
        major: 52,
        pool,
        access: FLAGS,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields,
        methods,
        attributes: Vec::new(),
    };
    Ok(file.to_bytes()?)
}

/// `static C$Veneer version(VeneerCell cell) { return (C$Veneer) cell.body(); }`
fn version(name: &str, pool: &mut ConstantPool<'static>) -> Result<Member<'static>, Refusal> {
    let mut a = Assembler::new();
    a.local(ALOAD, 0);
    a.pool(
        INVOKEVIRTUAL,
        pool.add_method(runtime::CELL, "body", "()Ljava/lang/Object;")?,
    );
    a.pool(CHECKCAST, pool.add_class(name)?);
    a.plain(ARETURN);
    let code = Code {
        max_stack: 1,
        max_locals: 1,
        code: a.finish()?.code.into(),
        exceptions: Vec::new(),
        attributes: Vec::new(),
    };
    Ok(Member {
        access: 0x0008,
        name: pool.add_utf8(runtime::ANCHOR_VERSION)?,
        descriptor: pool.add_utf8(&runtime::anchor_version_descriptor(name))?,
        attributes: vec![Attribute {
            name: pool.add_utf8("Code")?,
            info: code.to_bytes()?.into(),
        }],
    })
}
