//! A constant pool (JVMS 4.4) that is only ever added to; equal entries are one.

use std::collections::HashMap;

/// The pool.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    bytes: Vec<u8>,
    /// Entries, of which `long` and `double` take two numbers.
    count: u16,
    known: HashMap<Vec<u8>, u16>,
}

impl Pool {
    fn add(&mut self, entry: Vec<u8>, width: u16) -> u16 {
        if let Some(index) = self.known.get(&entry) {
            return *index;
        }
        let index = self.count + 1;
        self.count += width;
        self.bytes.extend_from_slice(&entry);
        self.known.insert(entry, index);
        index
    }

    fn tagged(&mut self, tag: u8, parts: &[u16]) -> u16 {
        let mut entry = vec![tag];
        for part in parts {
            entry.extend_from_slice(&part.to_be_bytes());
        }
        self.add(entry, 1)
    }

    /// `CONSTANT_Utf8`; the text must be ASCII without NUL.
    pub fn utf8(&mut self, text: &str) -> u16 {
        let mut entry = vec![1];
        entry.extend_from_slice(&(text.len() as u16).to_be_bytes());
        entry.extend_from_slice(text.as_bytes());
        self.add(entry, 1)
    }

    /// `CONSTANT_Integer`.
    pub fn int(&mut self, value: i32) -> u16 {
        let mut entry = vec![3];
        entry.extend_from_slice(&value.to_be_bytes());
        self.add(entry, 1)
    }

    /// `CONSTANT_Float`.
    pub fn float(&mut self, value: f32) -> u16 {
        let mut entry = vec![4];
        entry.extend_from_slice(&value.to_bits().to_be_bytes());
        self.add(entry, 1)
    }

    /// `CONSTANT_Long`.
    pub fn long(&mut self, value: i64) -> u16 {
        let mut entry = vec![5];
        entry.extend_from_slice(&value.to_be_bytes());
        self.add(entry, 2)
    }

    /// `CONSTANT_Double`.
    pub fn double(&mut self, value: f64) -> u16 {
        let mut entry = vec![6];
        entry.extend_from_slice(&value.to_bits().to_be_bytes());
        self.add(entry, 2)
    }

    /// `CONSTANT_Class`.
    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.tagged(7, &[name])
    }

    /// `CONSTANT_String`.
    pub fn string(&mut self, text: &str) -> u16 {
        let text = self.utf8(text);
        self.tagged(8, &[text])
    }

    fn name_and_type(&mut self, name: &str, descriptor: &str) -> u16 {
        let parts = [self.utf8(name), self.utf8(descriptor)];
        self.tagged(12, &parts)
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let parts = [self.class(class), self.name_and_type(name, descriptor)];
        self.tagged(tag, &parts)
    }

    /// `CONSTANT_Fieldref`.
    pub fn field(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(9, class, name, descriptor)
    }

    /// `CONSTANT_Methodref`.
    pub fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(10, class, name, descriptor)
    }

    /// `CONSTANT_InterfaceMethodref`.
    pub fn interface_method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(11, class, name, descriptor)
    }

    /// `CONSTANT_MethodHandle` of kind `REF_invokeStatic`.
    pub fn static_handle(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        let method = self.method(class, name, descriptor);
        let mut entry = vec![15, 6];
        entry.extend_from_slice(&method.to_be_bytes());
        self.add(entry, 1)
    }

    /// `CONSTANT_MethodType`.
    pub fn method_type(&mut self, descriptor: &str) -> u16 {
        let descriptor = self.utf8(descriptor);
        self.tagged(16, &[descriptor])
    }

    /// `CONSTANT_InvokeDynamic` with this number of a bootstrap method.
    pub fn invoke_dynamic(&mut self, bootstrap: u16, name: &str, descriptor: &str) -> u16 {
        let name_and_type = self.name_and_type(name, descriptor);
        self.tagged(18, &[bootstrap, name_and_type])
    }

    /// The pool as it stands in a class file, with its count.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.count + 1).to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }
}
