//! Class files for the checker's unit tests.

use crate::classfile::{Attribute, ClassFile, Code, ConstantPool, ExceptionRange, Member};
use crate::classfile::{StackMapFrame, VerificationType, encode_stack_map};

/// Returns a class without members.
pub(crate) fn class(name: &str, superclass: &str) -> Vec<u8> {
    SampleClass::new(name, superclass).bytes()
}

/// A class with at most one method. The method is static and named `m` unless the test changes
/// that.
pub(crate) struct SampleClass {
    pub pool: ConstantPool<'static>,
    pub access: u16,
    pub name: &'static str,
    pub descriptor: &'static str,
    pub code: Vec<u8>,
    pub max_stack: u16,
    pub max_locals: u16,
    pub exceptions: Vec<ExceptionRange>,
    pub frames: Vec<StackMapFrame>,
    pub entry: Vec<VerificationType>,
    this: u16,
    superclass: u16,
}

impl SampleClass {
    pub fn new(name: &str, superclass: &str) -> SampleClass {
        let mut pool = ConstantPool::new();
        let this = pool.add_class(name).unwrap();
        let superclass = pool.add_class(superclass).unwrap();
        SampleClass {
            pool,
            access: 0x9,
            name: "m",
            descriptor: "()V",
            code: Vec::new(),
            max_stack: 4,
            max_locals: 4,
            exceptions: Vec::new(),
            frames: Vec::new(),
            entry: Vec::new(),
            this,
            superclass,
        }
    }

    pub fn bytes(mut self) -> Vec<u8> {
        let mut methods = Vec::new();
        if !self.code.is_empty() {
            let mut attributes = Vec::new();
            if !self.frames.is_empty() {
                attributes.push(Attribute {
                    name: self.pool.add_utf8("StackMapTable").unwrap(),
                    info: encode_stack_map(&self.frames, &self.entry).unwrap().into(),
                });
            }
            let code = Code {
                max_stack: self.max_stack,
                max_locals: self.max_locals,
                code: self.code.into(),
                exceptions: self.exceptions,
                attributes,
            };
            methods.push(Member {
                access: self.access,
                name: self.pool.add_utf8(self.name).unwrap(),
                descriptor: self.pool.add_utf8(self.descriptor).unwrap(),
                attributes: vec![Attribute {
                    name: self.pool.add_utf8("Code").unwrap(),
                    info: code.to_bytes().unwrap().into(),
                }],
            });
        }
        let file = ClassFile {
            minor: 0,
            major: 61,
            pool: self.pool,
            access: 0x21,
            this_class: self.this,
            super_class: self.superclass,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods,
            attributes: Vec::new(),
        };
        file.to_bytes().unwrap()
    }
}
