//! What a class file says of its class beside its code: supertypes, annotations, flags, methods. For choosing classes and methods.
//!
//! Nothing above the class is looked at. A damaged attribute of annotations has none; it is no error.

use crate::classfile::{Attribute, ClassFile, ClassFileError, ConstantPool, annotation_types};

/// A class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Dotted.
    pub name: String,
    /// Access flags.
    pub access: u16,
    /// The superclass and the direct superinterfaces, dotted.
    pub above: Vec<String>,
    /// Types of annotations, dotted.
    pub annotations: Vec<String>,
    /// Methods, in file order.
    pub methods: Vec<MethodOutline>,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodOutline {
    /// Simple name.
    pub name: String,
    /// Descriptor.
    pub descriptor: String,
    /// Access flags.
    pub access: u16,
    /// Types of annotations, dotted.
    pub annotations: Vec<String>,
    /// Bytes of its code; none where it has none.
    pub size: Option<u32>,
}

/// Bytes of text in an outline: a damaged file may name the longest of its constants everywhere.
const MOST: usize = 16 << 20;

fn dotted(name: &str) -> String {
    name.replace('/', ".")
}

/// What is left of [`MOST`].
struct Room(usize);

impl Room {
    fn take(&mut self, text: &str) -> Result<(), ClassFileError> {
        match self.0.checked_sub(text.len()) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(ClassFileError::TooLong {
                what: "the names in a class",
                length: MOST - self.0 + text.len(),
                limit: MOST,
            }),
        }
    }

    fn dotted(&mut self, name: &str) -> Result<String, ClassFileError> {
        self.take(name)?;
        Ok(dotted(name))
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
    /// That of a class file.
    ///
    /// # Errors
    /// If the class, something above it or a method has no name, or all names together are longer than a class file's can be.
    pub fn of(file: &ClassFile) -> Result<Outline, ClassFileError> {
        let mut room = Room(MOST);
        let mut above = Vec::new();
        if let Some(name) = file.super_name()? {
            above.push(room.dotted(&name)?);
        }
        for interface in &file.interfaces {
            above.push(room.dotted(&file.pool.class_name(*interface)?)?);
        }
        let mut methods = Vec::new();
        for member in &file.methods {
            // Four bytes of limits, then the length of the code (JVMS 4.7.3).
            let length = |info: &[u8]| info.get(4..8)?.try_into().ok().map(u32::from_be_bytes);
            let code = member.attribute(&file.pool, "Code");
            let (name, descriptor) = (
                file.pool.text(member.name)?,
                file.pool.text(member.descriptor)?,
            );
            room.take(&name)?;
            room.take(&descriptor)?;
            methods.push(MethodOutline {
                name: name.into_owned(),
                descriptor: descriptor.into_owned(),
                access: member.access,
                annotations: room.types(&member.attributes, file)?,
                size: code.and_then(|code| length(&code.info)),
            });
        }
        Ok(Outline {
            name: room.dotted(&file.name()?)?,
            access: file.access,
            above,
            annotations: room.types(&file.attributes, file)?,
            methods,
        })
    }
}

/// The types (dotted) that a constant pool holds descriptors of, among them those of all annotations of its class.
pub fn mentioned(pool: &ConstantPool) -> Vec<String> {
    let text = |index| pool.text(index).ok();
    let texts = pool.indices().filter_map(text);
    let names = texts.filter_map(|text| {
        let name = text.strip_prefix('L')?.strip_suffix(';')?;
        Some(dotted(name))
    });
    names.collect()
}
