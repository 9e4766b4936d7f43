//! A summary of a class for choosing classes and methods by patterns: supertypes, annotations,
//! flags and methods, as the class file declares them.
//!
//! The summary contains nothing inherited from superclasses. A malformed annotation attribute
//! counts as having no annotations; it is not an error.

use crate::classfile::{Attribute, ClassFile, ClassFileError, ConstantPool, annotation_types};
use veneer_names::{class_in_type_descriptor, java_form};

/// The summary of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The class name in dotted form.
    pub name: String,
    /// The access flags (JVMS table 4.1-B).
    pub access: u16,
    /// The superclass and the direct superinterfaces, in dotted form.
    pub above: Vec<String>,
    /// Types of the annotations, in dotted form.
    pub annotations: Vec<String>,
    /// Methods in file order.
    pub methods: Vec<MethodOutline>,
}

/// The summary of one method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodOutline {
    /// The simple name of the method.
    pub name: String,
    /// The descriptor of the method.
    pub descriptor: String,
    /// The access flags (JVMS table 4.6-A).
    pub access: u16,
    /// Types of the annotations, in dotted form.
    pub annotations: Vec<String>,
    /// Length of the bytecode in bytes, or `None` if the method has no code.
    pub size: Option<u32>,
}

/// Limit in bytes for all text in one summary. Without a limit, a damaged file could refer to its
/// longest constant everywhere, and the summary would be much larger than the file.
const MAX_TEXT_BYTES: usize = 16 << 20;

/// The bytes of [`MAX_TEXT_BYTES`] that are still available.
struct TextBudget(usize);

impl TextBudget {
    fn take(&mut self, text: &str) -> Result<(), ClassFileError> {
        match self.0.checked_sub(text.len()) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(ClassFileError::TooLong {
                what: "the names in a class",
                length: MAX_TEXT_BYTES - self.0 + text.len(),
                limit: MAX_TEXT_BYTES,
            }),
        }
    }

    fn dotted(&mut self, name: &str) -> Result<String, ClassFileError> {
        self.take(name)?;
        Ok(java_form(name))
    }

    fn types(
        &mut self,
        attributes: &[Attribute],
        file: &ClassFile,
    ) -> Result<Vec<String>, ClassFileError> {
        let names = annotation_types(attributes, &file.pool).into_iter();
        names.map(|name| self.dotted(&name)).collect()
    }
}

impl Outline {
    /// Summarises a class file.
    ///
    /// # Errors
    /// If the class, a supertype or a method has no readable name, or if all names together exceed
    /// 16 MiB.
    pub fn from_class_file(file: &ClassFile) -> Result<Outline, ClassFileError> {
        let mut budget = TextBudget(MAX_TEXT_BYTES);
        let mut above = Vec::new();
        if let Some(name) = file.super_name()? {
            above.push(budget.dotted(&name)?);
        }
        for interface in &file.interfaces {
            above.push(budget.dotted(&file.pool.class_name(*interface)?)?);
        }
        let mut methods = Vec::new();
        for member in &file.methods {
            // `max_stack` and `max_locals` occupy four bytes; the length of the code follows (JVMS
            // §4.7.3).
            let length = |info: &[u8]| info.get(4..8)?.try_into().ok().map(u32::from_be_bytes);
            let code = member.attribute(&file.pool, "Code");
            let (name, descriptor) = (
                file.pool.text(member.name)?,
                file.pool.text(member.descriptor)?,
            );
            budget.take(&name)?;
            budget.take(&descriptor)?;
            methods.push(MethodOutline {
                name: name.into_owned(),
                descriptor: descriptor.into_owned(),
                access: member.access,
                annotations: budget.types(&member.attributes, file)?,
                size: code.and_then(|code| length(&code.info)),
            });
        }
        Ok(Outline {
            name: budget.dotted(&file.name()?)?,
            access: file.access,
            above,
            annotations: budget.types(&file.attributes, file)?,
            methods,
        })
    }
}

/// The names and descriptors of the methods and fields to which the code of a class can refer.
pub fn named_members(pool: &ConstantPool) -> Vec<NamedMember> {
    let text = |index| pool.text(index).ok();
    let member = |index| {
        let (class, name, descriptor) = match pool.member(index) {
            Ok(member) => {
                let class = pool.class_name(member.class).ok()?;
                (java_form(&class), member.name, member.descriptor)
            }
            Err(_) => {
                let (_, name, descriptor) = pool.dynamic(index).ok()?;
                (String::new(), name, descriptor)
            }
        };
        Some(NamedMember {
            class,
            name: text(name)?.into_owned(),
            descriptor: text(descriptor)?.into_owned(),
        })
    };
    pool.indices().filter_map(member).collect()
}

/// A method or a field that a constant pool names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMember {
    /// The class with dots; empty for the method of a dynamic call site.
    pub class: String,
    /// The name of the method or field.
    pub name: String,
    /// The descriptor of the method or field.
    pub descriptor: String,
}

/// The class types (dotted) whose descriptors are in a constant pool. They include the types of all
/// annotations of the class.
pub fn mentioned(pool: &ConstantPool) -> Vec<String> {
    let text = |index| pool.text(index).ok();
    let texts = pool.indices().filter_map(text);
    texts
        .filter_map(|text| class_in_type_descriptor(&text).map(java_form))
        .collect()
}
