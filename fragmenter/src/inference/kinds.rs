//! What a class file says of the classes that it names: which are interfaces, which are not, and what its own class extends.
//!
//! No class is loaded for it. A reference of the kind `InterfaceMethodref` names an interface, or resolving it would fail; a
//! `Methodref`, a `new`, a superclass and a caught exception name a class.

use crate::bytecode::opcode::NEW;
use crate::bytecode::{Instruction, decode};
use crate::classfile::{ClassFile, Tag};
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};

/// See the module documentation. Names are internal ones.
#[derive(Default)]
pub(super) struct Kinds {
    /// Certainly interfaces.
    interfaces: BTreeSet<String>,
    /// Certainly not interfaces.
    classes: BTreeSet<String>,
    /// What is known to extend what, directly or not.
    supers: BTreeMap<String, Vec<String>>,
}

/// Interfaces of the platform that code of all ages uses; they were interfaces from their first version on.
const INTERFACES: [&str; 34] = [
    "java/io/Serializable",
    "java/io/DataInput",
    "java/io/DataOutput",
    "java/io/ObjectInput",
    "java/io/ObjectOutput",
    "java/io/Closeable",
    "java/io/Flushable",
    "java/io/Externalizable",
    "java/lang/Appendable",
    "java/lang/CharSequence",
    "java/lang/Cloneable",
    "java/lang/Comparable",
    "java/lang/Iterable",
    "java/lang/AutoCloseable",
    "java/lang/Runnable",
    "java/lang/annotation/Annotation",
    "java/lang/reflect/AnnotatedElement",
    "java/lang/reflect/GenericDeclaration",
    "java/lang/reflect/Member",
    "java/lang/reflect/ParameterizedType",
    "java/lang/reflect/Type",
    "java/lang/reflect/TypeVariable",
    "java/util/Collection",
    "java/util/Comparator",
    "java/util/Enumeration",
    "java/util/Iterator",
    "java/util/List",
    "java/util/ListIterator",
    "java/util/Map",
    "java/util/Map$Entry",
    "java/util/Set",
    "java/util/SortedMap",
    "java/util/SortedSet",
    "java/util/concurrent/Callable",
];

/// Classes of the platform and what each extends, the nearest first.
const SUPERS: [(&str, &[&str]); 12] = [
    ("java/lang/Exception", &["java/lang/Throwable"]),
    ("java/lang/Error", &["java/lang/Throwable"]),
    (
        "java/lang/RuntimeException",
        &["java/lang/Exception", "java/lang/Throwable"],
    ),
    (
        "java/io/IOException",
        &["java/lang/Exception", "java/lang/Throwable"],
    ),
    ("java/awt/Container", &["java/awt/Component"]),
    (
        "java/awt/Window",
        &["java/awt/Container", "java/awt/Component"],
    ),
    (
        "java/awt/Frame",
        &[
            "java/awt/Window",
            "java/awt/Container",
            "java/awt/Component",
        ],
    ),
    (
        "javax/swing/JComponent",
        &["java/awt/Container", "java/awt/Component"],
    ),
    ("java/io/FilterInputStream", &["java/io/InputStream"]),
    ("java/io/FilterOutputStream", &["java/io/OutputStream"]),
    ("java/lang/Integer", &["java/lang/Number"]),
    (
        "java/util/Properties",
        &["java/util/Hashtable", "java/util/Dictionary"],
    ),
];

/// Classes of the platform that extend `Object`, so that the superclasses of what extends them are all known.
const BELOW_OBJECT: [&str; 9] = [
    "java/awt/Component",
    "java/io/InputStream",
    "java/io/OutputStream",
    "java/io/Reader",
    "java/io/Writer",
    "java/lang/Number",
    "java/lang/Thread",
    "java/lang/Throwable",
    "java/util/Dictionary",
];

/// Final classes of the platform that code of all ages uses.
const FINAL: [&str; 15] = [
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Class",
    "java/lang/Double",
    "java/lang/Float",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
    "java/lang/String",
    "java/lang/StringBuffer",
    "java/lang/StringBuilder",
    "java/lang/reflect/Constructor",
    "java/lang/reflect/Field",
    "java/lang/reflect/Method",
];

impl Kinds {
    /// Reads what the class file says.
    pub fn of(file: &ClassFile) -> Result<Kinds, Refusal> {
        let mut kinds = Kinds::default();
        let pool = &file.pool;
        for name in INTERFACES {
            kinds.interfaces.insert(name.into());
        }
        for (name, above) in SUPERS {
            kinds.extends(name, above.iter().map(|s| s.to_string()).collect());
        }
        for i in pool.indices() {
            let Ok(tag) = pool.tag(i) else { continue };
            // A sign of ours, see `union`; the JVM takes no such name either.
            if tag == Tag::Class && pool.class_name(i)?.contains('.') {
                return Err(Refusal::BrokenClass("a class's name holds a dot".into()));
            }
            if !matches!(tag, Tag::Method | Tag::InterfaceMethod) {
                continue;
            }
            let class = pool.class_name(pool.member(i)?.class)?.into_owned();
            match tag {
                Tag::InterfaceMethod => kinds.interfaces.insert(class),
                _ => kinds.classes.insert(class),
            };
        }
        for i in &file.interfaces {
            kinds.interfaces.insert(pool.class_name(*i)?.into_owned());
        }
        let name = file.name()?.into_owned();
        if let Some(above) = file.super_name()? {
            let mut all = vec![above.into_owned()];
            all.extend(kinds.supers.get(&all[0]).cloned().unwrap_or_default());
            kinds.extends(&name, all);
        }
        for method in &file.methods {
            let Some(code) = method.code(pool)? else {
                continue;
            };
            for e in code.exceptions.iter().filter(|e| e.catch_type != 0) {
                let caught = pool.class_name(e.catch_type)?.into_owned();
                if caught != "java/lang/Throwable" {
                    let above = kinds.supers.entry(caught.clone()).or_default();
                    if !above.iter().any(|a| a == "java/lang/Throwable") {
                        above.push("java/lang/Throwable".into());
                    }
                }
                kinds.classes.insert(caught);
            }
            for (_, instruction) in decode(&code.code)? {
                if let Instruction::Pool { op: NEW, index } = instruction {
                    kinds.classes.insert(pool.class_name(index)?.into_owned());
                }
            }
        }
        Ok(kinds)
    }

    fn extends(&mut self, name: &str, above: Vec<String>) {
        self.classes.insert(name.into());
        self.classes.extend(above.iter().cloned());
        self.supers.insert(name.into(), above);
    }

    #[cfg(test)]
    pub fn know(&mut self, name: &str, above: &[&str]) {
        self.extends(name, above.iter().map(|s| (*s).to_owned()).collect());
    }

    #[cfg(test)]
    pub fn know_interface(&mut self, name: &str) {
        self.interfaces.insert(name.into());
    }

    /// Whether certainly an interface.
    pub fn is_interface(&self, name: &str) -> bool {
        self.interfaces.contains(name) && !self.classes.contains(name)
    }

    /// Whether `class` certainly is no superclass of `this`, the class that was read.
    pub fn cannot_be_above(&self, class: &str, this: &str) -> bool {
        if FINAL.contains(&class) || self.is_interface(class) {
            return true;
        }
        let above = self.supers.get(this).map_or(&[][..], |above| above);
        let complete = match above.last() {
            None => true,
            Some(last) => last == "java/lang/Object" || BELOW_OBJECT.contains(&&**last),
        };
        complete && !above.iter().any(|a| a == class)
    }

    /// Whether `name` certainly extends `above`, or is it.
    pub fn is_below(&self, name: &str, above: &str) -> bool {
        name == above
            || above == "java/lang/Object"
            || self
                .supers
                .get(name)
                .is_some_and(|s| s.iter().any(|a| a == above))
    }
}
