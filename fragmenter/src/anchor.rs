//! The anchor: a small class that accompanies an armed class. An anchor holds the cells (the
//! call-site constants) of the class's methods, and it declares the bodies of their versions as
//! abstract methods.
//!
//! ```text
//!   abstract synthetic class a/b/C$Veneer {
//!     static final VeneerCell c17;
//!     abstract int search$e17(C this, int n);
//!     static C$Veneer version(Object version) { return (C$Veneer) version; }
//!   }
//! ```
//!
//! The anchor is defined in the loader and package of the armed class, so the armed class itself
//! needs no new members. The cells are `static final` because the JIT compiler then treats them as
//! constants.
//!
//! The agent stores the cells before it defines the armed class. The anchor has no initialiser,
//! because an initialiser would look up its classes through the application's loader, in a thread
//! of the agent.
//!
//! A version extends the anchor. An armed body can therefore call the version by an ordinary
//! virtual call, for which the JVM resolves no type of the method's descriptor.
//!
//! If a class is armed again with more methods, a second anchor is emitted for the new methods
//! only. The second anchor extends the first one, and each method keeps the anchor that declared it
//! first. As a result:
//!
//! - a version that was linked before the second anchor existed remains callable from the newer
//!   armed code;
//! - a version that extends the second anchor is callable from the older armed code.

use crate::bytecode::opcode::*;
use crate::classfile::{Attribute, ClassFile, Code, ConstantPool, Member};
use crate::refusal::Refusal;
use crate::runtime;
use ahash::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;
use veneer_names::MethodId;

const FLAGS: u16 = 0x1000 | 0x0400 | 0x0020; // synthetic, abstract, super
const FIELD_FLAGS: u16 = 0x1000 | 0x0010 | 0x0008; // synthetic, final, static

/// The anchor's internal name. `generation` is the number of anchors that the armed class had
/// before this one.
pub fn name(class: &str, generation: u32) -> String {
    if generation == 0 {
        format!("{class}$Veneer")
    } else {
        format!("{class}$Veneer{generation}")
    }
}

/// Whether an internal class name is that of an anchor.
pub fn is_anchor(name: &str) -> bool {
    name.rsplit_once("$Veneer")
        .is_some_and(|(_, rest)| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// A method that has a cell in the anchor.
pub struct MethodWithCell<'m> {
    /// The id of the method's cell.
    pub id: MethodId,
    /// Simple name of the application's method.
    pub name: Cow<'m, str>,
    /// Index of the descriptor of the call by which new activations enter a version, in the pool of
    /// the armed class.
    pub descriptor: u16,
}

/// Emits the anchor class that declares these methods. `armed` is the pool of the armed class.
/// `previous` is the newest existing anchor of the same class, which the new anchor extends.
///
/// # Errors
/// [`Refusal::PoolFull`] if the constant pool overflows.
pub fn emit(
    name: &str,
    methods_with_cells: &[MethodWithCell],
    armed: &ConstantPool,
    previous: Option<&str>,
) -> Result<Vec<u8>, Refusal> {
    // The pool is new and the names are different, so nothing is looked up.
    let mut pool = ConstantPool::new();
    let count = methods_with_cells.len();
    pool.reserve(12 + 3 * count, 256 + 64 * count);
    let own_name = pool.append_text(name)?;
    let this_class = pool.append_class(own_name)?;
    let super_name = pool.append_text(previous.unwrap_or("java/lang/Object"))?;
    let super_class = pool.append_class(super_name)?;
    let descriptor = pool.append_text(runtime::CELL_DESCRIPTOR)?;
    let mut fields = Vec::with_capacity(count);
    let mut methods = Vec::with_capacity(1 + count);
    let mut text = Vec::new();
    methods.push(version_method(name, this_class, &mut pool)?);
    let mut descriptors: HashMap<&[u8], u16, RandomState> =
        HashMap::with_capacity_and_hasher(count, RandomState::default());
    for one in methods_with_cells {
        text.clear();
        runtime::write_cell_field(&mut text, one.id);
        fields.push(Member {
            access: FIELD_FLAGS,
            name: pool.append_utf8(&text)?,
            descriptor,
            attributes: Vec::new(),
        });
        let descriptor = armed.utf8(one.descriptor)?;
        let descriptor = match descriptors.get(descriptor) {
            Some(known) => *known,
            None => {
                let index = pool.append_utf8(descriptor)?;
                *descriptors.entry(descriptor).or_insert(index)
            }
        };
        text.clear();
        runtime::write_enter_method(&mut text, &one.name, one.id);
        methods.push(Member {
            access: 0x0400,
            name: pool.append_utf8(&text)?,
            descriptor,
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

/// Emits `static C$Veneer version(Object version) { return (C$Veneer) version; }`.
fn version_method(
    name: &str,
    this_class: u16,
    pool: &mut ConstantPool<'static>,
) -> Result<Member<'static>, Refusal> {
    const ALOAD_0: u8 = ILOAD_0 + 4 * (ALOAD - ILOAD);
    let [high, low] = this_class.to_be_bytes();
    let code = Code {
        max_stack: 1,
        max_locals: 1,
        code: vec![ALOAD_0, CHECKCAST, high, low, ARETURN].into(),
        exceptions: Vec::new(),
        attributes: Vec::new(),
    };
    Ok(Member {
        access: 0x0008,
        name: pool.append_text(runtime::ANCHOR_VERSION)?,
        descriptor: pool.append_text(&runtime::anchor_version_descriptor(name))?,
        attributes: vec![Attribute {
            name: pool.append_text("Code")?,
            info: code.to_bytes()?.into(),
        }],
    })
}
