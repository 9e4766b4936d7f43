//! Raises the class-file version, and handles all other differences between the versions 45 and 51.
//!
//! | before version 51                                             | at 51        | action           |
//! |---------------------------------------------------------------|--------------|------------------|
//! | `Signature`, annotations, … are ignored before 49             | are read     | dropped          |
//! | `StackMapTable` (before 50), `BootstrapMethods` are ignored   | are read     | dropped          |
//! | the VM marks an interface as abstract, before 50              | an error     | marked here      |
//! | `<clinit>` may be non-static or have parameters               | an error     | refused          |
//! | `abstract synchronized`, `ACC_SUPER` on an interface, … are allowed before 49 | errors | refused |
//! | a wrong stack map of version 50 makes the VM use the old verifier | an error | maps are checked |
//!
//! Interfaces are also marked as abstract in `InnerClasses`.
//!
//! Sources: JVMS §4.1 to §4.7 (tables 4.7-A, 4.7-C) and HotSpot's `classFileParser.cpp`.

use crate::classfile::{Attribute, ClassFile, ConstantPool};
use crate::refusal::Refusal;

/// The first version that has `invokedynamic` and always verifies by stack maps: Java 7.
pub const MODERN: u16 = 51;

const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const SUPER: u16 = 0x0020;
const SYNCHRONIZED: u16 = 0x0020;
const BRIDGE: u16 = 0x0040;
const INTERFACE: u16 = 0x0200;
const ABSTRACT: u16 = 0x0400;
const STRICT: u16 = 0x0800;
const ANNOTATION: u16 = 0x2000;
const ENUM: u16 = 0x4000;

/// Attributes that the VM reads only from version 49 onwards.
const SINCE_49: [&str; 8] = [
    "Signature",
    "EnclosingMethod",
    "AnnotationDefault",
    "RuntimeVisibleAnnotations",
    "RuntimeInvisibleAnnotations",
    "RuntimeVisibleParameterAnnotations",
    "RuntimeInvisibleParameterAnnotations",
    "LocalVariableTypeTable",
];

/// Sets the version and adjusts the class to it, except the contents of `Code` attributes.
pub(super) fn raise_version(file: &mut ClassFile) -> Result<(), Refusal> {
    let old = file.major;
    let refuse = |what: &str| Err(Refusal::OldClassFile(old, what.to_owned()));
    let before_49 = old < 49;
    if old < 45 || old == 45 && file.minor < 3 {
        return refuse("its code has the form of Java 1.0");
    }
    if before_49 {
        let bad = if file.access & INTERFACE != 0 {
            file.access & (SUPER | ENUM) != 0
        } else {
            file.access & ANNOTATION != 0
        };
        if bad {
            return refuse("the flags of the class mean something else there");
        }
    }
    for method in &file.methods {
        let name = file.pool.utf8(method.name)?;
        let flags = method.access;
        if name == b"<clinit>"
            && (flags & STATIC == 0 || file.pool.utf8(method.descriptor)? != b"()V")
        {
            return refuse("<clinit> would have to be static and without parameters");
        }
        let abstracts = flags & ABSTRACT != 0 && flags & (SYNCHRONIZED | STRICT) != 0;
        let in_interface = file.access & INTERFACE != 0
            && flags & (SYNCHRONIZED | STRICT) != 0
            && name != b"<clinit>";
        let constructor = name == b"<init>" && flags & BRIDGE != 0;
        // Before version 46 the flag for strict arithmetic had no meaning.
        if before_49 && (abstracts || in_interface || constructor)
            || old < 46 && flags & STRICT != 0
        {
            return refuse("the flags of a method mean something else there");
        }
    }
    if file.access & INTERFACE != 0 {
        file.access |= ABSTRACT;
    }
    let pool = &file.pool;
    let ignored = |a: &Attribute| {
        a.is(pool, "BootstrapMethods") || before_49 && SINCE_49.iter().any(|n| a.is(pool, n))
    };
    file.attributes.retain(|a| !ignored(a));
    for member in file.fields.iter_mut().chain(&mut file.methods) {
        member.attributes.retain(|a| !ignored(a));
    }
    for attribute in file
        .attributes
        .iter_mut()
        .filter(|a| a.is(pool, "InnerClasses"))
    {
        if !mark_interfaces(attribute, before_49) {
            return refuse("the flags of an inner class mean something else there");
        }
    }
    file.major = MODERN;
    file.minor = 0;
    Ok(())
}

/// Drops from a `Code` attribute the nested attributes that the old version ignored.
pub(super) fn drop_ignored_code_attributes(
    attributes: &mut Vec<Attribute>,
    pool: &ConstantPool,
    old: u16,
) {
    attributes.retain(|a| !(old < 49 && a.is(pool, "LocalVariableTypeTable")));
}

/// Marks interfaces in `InnerClasses` as abstract. Returns `false` if flags would become an error.
fn mark_interfaces(attribute: &mut Attribute, before_49: bool) -> bool {
    let rows = attribute.info.get(2..).unwrap_or_default();
    let (mut changed, mut fine) = (Vec::new(), true);
    for (n, row) in rows.chunks_exact(8).enumerate() {
        let flags = u16::from_be_bytes([row[6], row[7]]);
        if flags & INTERFACE != 0 && flags & ABSTRACT == 0 {
            changed.push((2 + 8 * n + 6, flags | ABSTRACT));
        }
        let interface = flags & INTERFACE != 0;
        fine &= !(before_49 && interface && flags & (SUPER | ENUM) != 0);
        fine &= !(before_49 && !interface && flags & ANNOTATION != 0);
        fine &= !(flags & FINAL != 0 && (flags & ABSTRACT != 0 || interface));
    }
    if !changed.is_empty() {
        let info = attribute.info.to_mut();
        for (at, flags) in changed {
            info[at..at + 2].copy_from_slice(&flags.to_be_bytes());
        }
    }
    fine
}
