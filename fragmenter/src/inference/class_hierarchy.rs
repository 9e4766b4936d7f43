//! The class hierarchy, as far as one class file reveals it: interfaces, classes, and superclasses.
//!
//! No class is loaded. An `InterfaceMethodref` names an interface, or its resolution would fail. A
//! `Methodref`, a `new`, a superclass and a caught exception each name a class.

use crate::bytecode::opcode::NEW;
use crate::bytecode::{Instruction, decode};
use crate::classfile::{ClassFile, ConstantTag};
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};

/// The known part of the class hierarchy. Names are internal names.
#[derive(Default)]
pub(super) struct ClassHierarchy {
    /// Names that are certainly interfaces.
    interfaces: BTreeSet<String>,
    /// Names that are certainly not interfaces.
    classes: BTreeSet<String>,
    /// Known direct and indirect superclasses of each class.
    supers: BTreeMap<String, Vec<String>>,
}

/// Interfaces of the platform that code of all ages uses. All have been interfaces since their
/// first version.
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

/// Classes of the platform and their superclasses, the nearest first.
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

/// Classes of the platform that extend `Object` directly. All superclasses of their subclasses are
/// therefore known.
const EXTENDS_OBJECT: [&str; 9] = [
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

impl ClassHierarchy {
    /// Reads the hierarchy that a class file reveals.
    pub fn from_class_file(file: &ClassFile) -> Result<ClassHierarchy, Refusal> {
        let mut hierarchy = ClassHierarchy::default();
        let pool = &file.pool;
        for name in INTERFACES {
            hierarchy.interfaces.insert(name.into());
        }
        for (name, above) in SUPERS {
            hierarchy.extends(name, above.iter().map(|s| s.to_string()).collect());
        }
        for i in pool.indices() {
            let Ok(tag) = pool.tag(i) else { continue };
            // A dot separates the members of a union, see `union_types`. The JVM refuses such a
            // class name too.
            if tag == ConstantTag::Class && pool.class_name(i)?.contains('.') {
                return Err(Refusal::BrokenClass("a class's name holds a dot".into()));
            }
            if !matches!(tag, ConstantTag::Method | ConstantTag::InterfaceMethod) {
                continue;
            }
            let class = pool.class_name(pool.member(i)?.class)?.into_owned();
            match tag {
                ConstantTag::InterfaceMethod => hierarchy.interfaces.insert(class),
                _ => hierarchy.classes.insert(class),
            };
        }
        for i in &file.interfaces {
            hierarchy
                .interfaces
                .insert(pool.class_name(*i)?.into_owned());
        }
        let name = file.name()?.into_owned();
        if let Some(above) = file.super_name()? {
            let mut all = vec![above.into_owned()];
            all.extend(hierarchy.supers.get(&all[0]).cloned().unwrap_or_default());
            hierarchy.extends(&name, all);
        }
        for method in &file.methods {
            let Some(code) = method.code(pool)? else {
                continue;
            };
            for e in code.exceptions.iter().filter(|e| e.catch_type != 0) {
                let caught = pool.class_name(e.catch_type)?.into_owned();
                if caught != "java/lang/Throwable" {
                    let above = hierarchy.supers.entry(caught.clone()).or_default();
                    if !above.iter().any(|a| a == "java/lang/Throwable") {
                        above.push("java/lang/Throwable".into());
                    }
                }
                hierarchy.classes.insert(caught);
            }
            for (_, instruction) in decode(&code.code)? {
                if let Instruction::Pool { op: NEW, index } = instruction {
                    hierarchy
                        .classes
                        .insert(pool.class_name(index)?.into_owned());
                }
            }
        }
        Ok(hierarchy)
    }

    fn extends(&mut self, name: &str, above: Vec<String>) {
        self.classes.insert(name.into());
        self.classes.extend(above.iter().cloned());
        self.supers.insert(name.into(), above);
    }

    #[cfg(test)]
    pub fn add_class(&mut self, name: &str, above: &[&str]) {
        self.extends(name, above.iter().map(|s| (*s).to_owned()).collect());
    }

    #[cfg(test)]
    pub fn add_interface(&mut self, name: &str) {
        self.interfaces.insert(name.into());
    }

    /// True if the name is certainly an interface.
    pub fn is_interface(&self, name: &str) -> bool {
        self.interfaces.contains(name) && !self.classes.contains(name)
    }

    /// True if `class` is certainly not a superclass of `this`, the class of the class file.
    pub fn cannot_be_superclass(&self, class: &str, this: &str) -> bool {
        if FINAL.contains(&class) || self.is_interface(class) {
            return true;
        }
        let above = self.supers.get(this).map_or(&[][..], |above| above);
        let complete = match above.last() {
            None => true,
            Some(last) => last == "java/lang/Object" || EXTENDS_OBJECT.contains(&&**last),
        };
        complete && !above.iter().any(|a| a == class)
    }

    /// True if `name` certainly extends `above`, or is the same class.
    pub fn is_subclass(&self, name: &str, above: &str) -> bool {
        name == above
            || above == "java/lang/Object"
            || self
                .supers
                .get(name)
                .is_some_and(|s| s.iter().any(|a| a == above))
    }
}
