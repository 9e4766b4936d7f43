//! The class file as a whole (JVMS 4.1), its fields and methods (4.5, 4.6).

use std::borrow::Cow;
use std::ops::Range;

use super::attribute::{
    Attribute, attributes_size, find, read_attributes, write_attribute, write_attributes,
};
use super::code::Code;
use super::error::ClassFileError;
use super::pool::ConstantPool;
use super::reader::{Reader, put_count, put_u16, put_u32};

#[cfg(feature = "parse-count")]
thread_local! {
    /// The number of calls of [`ClassFile::parse`] in this thread.
    static PARSE_COUNT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

const MAGIC: u32 = 0xcafe_babe;

/// A class file that borrows from the bytes it was read from. An unchanged class file is written
/// back byte for byte.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    /// Minor version; 65,535 for a class with preview features.
    pub minor: u16,
    /// Major version: 52 is Java 8, 61 is Java 17, 69 is Java 25.
    pub major: u16,
    /// The constant pool. Entries are appended and never changed or removed.
    pub pool: ConstantPool<'a>,
    /// Access flags. `ACC_MODULE` (0x8000) for `module-info`, which has neither a superclass nor
    /// members.
    pub access: u16,
    /// Pool index of this class (`Class`).
    pub this_class: u16,
    /// Pool index of the superclass (`Class`); 0 for `java/lang/Object` and `module-info`.
    pub super_class: u16,
    /// Pool indices of the direct superinterfaces (`Class`).
    pub interfaces: Vec<u16>,
    /// In file order.
    pub fields: Vec<Member<'a>>,
    /// In file order.
    pub methods: Vec<Member<'a>>,
    /// The attributes of the class, in file order.
    pub attributes: Vec<Attribute<'a>>,
}

/// An attribute of a method with a new content; see [`ClassFile::to_bytes_with`].
#[derive(Debug, Clone)]
pub struct ChangedAttribute {
    /// Position of the method in the class file.
    pub method: usize,
    /// Position of the attribute among those of the method.
    pub attribute: usize,
    /// The new content, as a range of the bytes with all new contents.
    pub content: Range<usize>,
}

/// A field or method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// The access flags (JVMS tables 4.5-A and 4.6-A).
    pub access: u16,
    /// Pool index of the name (`Utf8`).
    pub name: u16,
    /// Pool index of the descriptor (`Utf8`).
    pub descriptor: u16,
    /// In file order.
    pub attributes: Vec<Attribute<'a>>,
}

impl<'a> ClassFile<'a> {
    /// Parses the outline of a class file. Pool entries are decoded on request; attributes are
    /// decoded by the modules that know them.
    ///
    /// # Errors
    /// If the bytes are not a class file, are truncated, or continue after its end.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ClassFileError> {
        #[cfg(feature = "parse-count")]
        PARSE_COUNT.set(PARSE_COUNT.get() + 1);
        let mut reader = Reader::new(bytes);
        let magic = reader.u32("the magic number")?;
        if magic != MAGIC {
            return Err(ClassFileError::BadMagic(magic));
        }
        let minor = reader.u16("the minor version")?;
        let major = reader.u16("the major version")?;
        let pool = ConstantPool::read(&mut reader)?;
        let access = reader.u16("the access flags")?;
        let this_class = reader.u16("this class")?;
        let super_class = reader.u16("the superclass")?;
        let count = reader.u16("the interface count")?;
        let mut interfaces = reader.vec_for(count, 2);
        for _ in 0..count {
            interfaces.push(reader.u16("an interface")?);
        }
        let fields = read_members(&mut reader)?;
        let methods = read_members(&mut reader)?;
        let attributes = read_attributes(&mut reader)?;
        reader.finish("the class")?;
        Ok(ClassFile {
            minor,
            major,
            pool,
            access,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            attributes,
        })
    }

    /// Returns the number of calls of [`ClassFile::parse`] in this thread so far.
    #[cfg(feature = "parse-count")]
    pub fn parse_count() -> usize {
        PARSE_COUNT.get()
    }

    /// Serialises the class file.
    ///
    /// # Errors
    /// If a list has become too long for its count.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ClassFileError> {
        self.to_bytes_with(&self.pool, &[], &[])
    }

    /// Serialises the class file with another constant pool, which must begin with the entries of
    /// this one, and with new contents of some attributes of methods. The changes must be sorted by
    /// method. `contents` holds the new contents.
    ///
    /// # Errors
    /// If a list has become too long for its count.
    pub fn to_bytes_with(
        &self,
        pool: &ConstantPool<'_>,
        changes: &[ChangedAttribute],
        contents: &[u8],
    ) -> Result<Vec<u8>, ClassFileError> {
        let size = 24
            + pool.size()
            + 2 * self.interfaces.len()
            + members_size(&self.fields)
            + members_size(&self.methods)
            + attributes_size(&self.attributes)
            + contents.len();
        let mut out = Vec::with_capacity(size);
        put_u32(&mut out, MAGIC);
        put_u16(&mut out, self.minor);
        put_u16(&mut out, self.major);
        pool.write(&mut out);
        put_u16(&mut out, self.access);
        put_u16(&mut out, self.this_class);
        put_u16(&mut out, self.super_class);
        put_count(&mut out, self.interfaces.len(), "the interface list")?;
        for &interface in &self.interfaces {
            put_u16(&mut out, interface);
        }
        write_members(&mut out, &self.fields, "the field list")?;
        put_count(&mut out, self.methods.len(), "the method list")?;
        let mut changes = changes.iter().peekable();
        for (index, method) in self.methods.iter().enumerate() {
            let change = changes.next_if(|change| change.method == index);
            write_method(&mut out, method, change, contents)?;
        }
        write_attributes(&mut out, &self.attributes)?;
        Ok(out)
    }

    /// Returns the internal name of the class: `java/util/Map$Entry`.
    ///
    /// # Errors
    /// If `this_class` does not refer to a class.
    pub fn name(&self) -> Result<Cow<'_, str>, ClassFileError> {
        self.pool.class_name(self.this_class)
    }

    /// Returns the internal name of the superclass, or `None` for `java/lang/Object` and
    /// `module-info`.
    ///
    /// # Errors
    /// If `super_class` is neither 0 nor refers to a class.
    pub fn super_name(&self) -> Result<Option<Cow<'_, str>>, ClassFileError> {
        match self.super_class {
            0 => Ok(None),
            index => self.pool.class_name(index).map(Some),
        }
    }

    /// Returns the first attribute of the class with this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        find(&self.attributes, &self.pool, name)
    }
}

impl<'a> Member<'a> {
    /// Returns the first attribute with this name.
    pub fn attribute(&self, pool: &ConstantPool<'_>, name: &str) -> Option<&Attribute<'a>> {
        find(&self.attributes, pool, name)
    }

    /// Returns the method's code, or `None` for a field, an abstract method or a native method.
    ///
    /// # Errors
    /// If the `Code` attribute is malformed.
    pub fn code(&self, pool: &ConstantPool<'_>) -> Result<Option<Code<'_>>, ClassFileError> {
        self.attribute(pool, "Code")
            .map(|attribute| Code::parse(&attribute.info))
            .transpose()
    }
}

fn read_members<'a>(reader: &mut Reader<'a>) -> Result<Vec<Member<'a>>, ClassFileError> {
    let count = reader.u16("a field or method count")?;
    let mut members = reader.vec_for(count, 8);
    for _ in 0..count {
        members.push(Member {
            access: reader.u16("a member's access flags")?,
            name: reader.u16("a member's name")?,
            descriptor: reader.u16("a member's descriptor")?,
            attributes: read_attributes(reader)?,
        });
    }
    Ok(members)
}

fn write_members(
    out: &mut Vec<u8>,
    members: &[Member<'_>],
    what: &'static str,
) -> Result<(), ClassFileError> {
    put_count(out, members.len(), what)?;
    for member in members {
        put_u16(out, member.access);
        put_u16(out, member.name);
        put_u16(out, member.descriptor);
        write_attributes(out, &member.attributes)?;
    }
    Ok(())
}

/// Writes a method, with a new content of one attribute if there is a change.
fn write_method(
    out: &mut Vec<u8>,
    method: &Member<'_>,
    change: Option<&ChangedAttribute>,
    contents: &[u8],
) -> Result<(), ClassFileError> {
    put_u16(out, method.access);
    put_u16(out, method.name);
    put_u16(out, method.descriptor);
    let Some(change) = change else {
        return write_attributes(out, &method.attributes);
    };
    let content = contents.get(change.content.clone()).unwrap_or_default();
    put_count(out, method.attributes.len(), "an attribute list")?;
    for (index, attribute) in method.attributes.iter().enumerate() {
        let is_changed = index == change.attribute;
        let info = if is_changed { content } else { &attribute.info };
        write_attribute(out, attribute.name, info)?;
    }
    Ok(())
}

fn members_size(members: &[Member<'_>]) -> usize {
    members
        .iter()
        .map(|member| 6 + attributes_size(&member.attributes))
        .sum()
}
