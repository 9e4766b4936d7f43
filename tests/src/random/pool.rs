//! An append-only constant pool (JVMS 4.4) without duplicate entries.

use std::collections::HashMap;

#[derive(Clone, Debug, Default)]
pub struct Pool {
    bytes: Vec<u8>,
    /// Number of indexes in use. An entry of type `long` or `double` uses two.
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

    /// Adds `CONSTANT_Utf8`. The text must be ASCII without NUL.
    pub fn utf8(&mut self, text: &str) -> u16 {
        let mut entry = vec![1];
        entry.extend_from_slice(&(text.len() as u16).to_be_bytes());
        entry.extend_from_slice(text.as_bytes());
        self.add(entry, 1)
    }

    pub fn int(&mut self, value: i32) -> u16 {
        let mut entry = vec![3];
        entry.extend_from_slice(&value.to_be_bytes());
        self.add(entry, 1)
    }

    pub fn float(&mut self, value: f32) -> u16 {
        let mut entry = vec![4];
        entry.extend_from_slice(&value.to_bits().to_be_bytes());
        self.add(entry, 1)
    }

    pub fn long(&mut self, value: i64) -> u16 {
        let mut entry = vec![5];
        entry.extend_from_slice(&value.to_be_bytes());
        self.add(entry, 2)
    }

    pub fn double(&mut self, value: f64) -> u16 {
        let mut entry = vec![6];
        entry.extend_from_slice(&value.to_bits().to_be_bytes());
        self.add(entry, 2)
    }

    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.tagged(7, &[name])
    }

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

    pub fn field(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(9, class, name, descriptor)
    }

    pub fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(10, class, name, descriptor)
    }

    pub fn interface_method(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(11, class, name, descriptor)
    }

    /// Adds `CONSTANT_MethodHandle` of kind `REF_invokeStatic`.
    pub fn static_handle(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        let method = self.method(class, name, descriptor);
        let mut entry = vec![15, 6];
        entry.extend_from_slice(&method.to_be_bytes());
        self.add(entry, 1)
    }

    pub fn method_type(&mut self, descriptor: &str) -> u16 {
        let descriptor = self.utf8(descriptor);
        self.tagged(16, &[descriptor])
    }

    /// Adds `CONSTANT_InvokeDynamic` with this index of a bootstrap method.
    pub fn invoke_dynamic(&mut self, bootstrap: u16, name: &str, descriptor: &str) -> u16 {
        let name_and_type = self.name_and_type(name, descriptor);
        self.tagged(18, &[bootstrap, name_and_type])
    }

    /// Writes the count and the entries as a class file contains them.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.count + 1).to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }
}
