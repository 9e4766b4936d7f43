//! The data that all methods of one class file share: names, parsed descriptors, and the
//! assumptions made so far.

use std::ops::Range;

use super::assumptions::{AccessAssumption, Assumptions};
use super::failure::{Fault, Rule};
use super::names::NameId;
use super::vtype::SlotType;
use crate::classfile::{ClassFile, ConstantPool, Member, PoolEntry};
use veneer_names::raw;

/// The parameters, as a range of [`ClassContext::slots`], and the result of a method descriptor.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    parameters: (u32, u32),
    /// The type of the result; `None` for `void`.
    pub result: Option<SlotType>,
}

pub(super) struct ClassContext<'f> {
    pub file: &'f ClassFile<'f>,
    pub pool: &'f ConstantPool<'f>,
    pub this: NameId,
    superclass: Option<NameId>,
    interfaces: Vec<NameId>,
    /// The name of each `Class` entry, filled on first use.
    classes: Vec<Option<NameId>>,
    /// The signature of each descriptor (`Utf8`), filled on first use.
    signatures: Vec<Option<Signature>>,
    slots: Vec<SlotType>,
    pub assumptions: Assumptions<'f>,
}

impl<'f> ClassContext<'f> {
    pub fn new(file: &'f ClassFile<'f>) -> Result<ClassContext<'f>, Fault> {
        let pool = &file.pool;
        let count = usize::from(pool.count());
        let mut context = ClassContext {
            file,
            pool,
            this: NameId::OBJECT,
            superclass: None,
            interfaces: Vec::new(),
            classes: vec![None; count],
            signatures: vec![None; count],
            slots: Vec::new(),
            assumptions: Assumptions::new(),
        };
        context.this = context.class(file.this_class)?;
        if file.super_class != 0 {
            context.superclass = Some(context.class(file.super_class)?);
        }
        for i in &file.interfaces {
            let interface = context.class(*i)?;
            context.interfaces.push(interface);
        }
        Ok(context)
    }

    pub fn superclass(&self) -> Option<NameId> {
        self.superclass
    }

    /// Returns the direct superinterfaces.
    pub fn interfaces(&self) -> &[NameId] {
        &self.interfaces
    }

    /// Returns the class of a `Class` entry.
    pub fn class(&mut self, index: u16) -> Result<NameId, Fault> {
        let slot = usize::from(index);
        if let Some(Some(id)) = self.classes.get(slot) {
            return Ok(*id);
        }
        let PoolEntry::Class(name) = self.pool.entry(index)? else {
            return Rule::Constant.fail(format!("constant {index} is no class"));
        };
        let id = self.assumptions.names.intern(self.pool.utf8(name)?);
        if let Some(known) = self.classes.get_mut(slot) {
            *known = Some(id);
        }
        Ok(id)
    }

    /// Returns the name of a `Utf8` entry.
    pub fn name(&mut self, index: u16) -> Result<NameId, Fault> {
        Ok(self.assumptions.names.intern(self.pool.utf8(index)?))
    }

    pub fn is_array(&self, id: NameId) -> bool {
        self.assumptions.names.is_array(id)
    }

    pub fn text(&self, t: SlotType) -> String {
        t.text(&self.assumptions.names)
    }

    /// Parses a field descriptor (`Utf8`).
    pub fn field(&mut self, descriptor: u16) -> Result<SlotType, Fault> {
        let bytes = self.pool.utf8(descriptor)?;
        match self.field_prefix(bytes) {
            Some((t, [])) => Ok(t),
            _ => Rule::Constant.fail(format!("constant {descriptor} is no field descriptor")),
        }
    }

    fn field_prefix(&mut self, bytes: &'f [u8]) -> Option<(SlotType, &'f [u8])> {
        let (text, rest) = bytes.split_at_checked(raw::field_length(bytes)?)?;
        let t = match text.first()? {
            b'J' => SlotType::Long,
            b'F' => SlotType::Float,
            b'D' => SlotType::Double,
            b'L' | b'[' => {
                SlotType::Object(self.assumptions.names.intern(raw::constant_name(text)))
            }
            _ => SlotType::Int,
        };
        Some((t, rest))
    }

    /// Parses a method descriptor (`Utf8`).
    pub fn signature(&mut self, descriptor: u16) -> Result<Signature, Fault> {
        let slot = usize::from(descriptor);
        if let Some(Some(signature)) = self.signatures.get(slot) {
            return Ok(*signature);
        }
        let bytes = self.pool.utf8(descriptor)?;
        let bad = || Rule::Constant.fault(format!("constant {descriptor} is no method descriptor"));
        let mut rest = bytes.strip_prefix(b"(").ok_or_else(bad)?;
        let start = self.slots.len();
        while rest.first() != Some(&b')') {
            let (t, next) = self.field_prefix(rest).ok_or_else(bad)?;
            self.slots.push(t);
            rest = next;
        }
        let result = match rest.get(1..) {
            Some(b"V") => None,
            Some(text) => match self.field_prefix(text) {
                Some((t, [])) => Some(t),
                _ => return Err(bad()),
            },
            None => return Err(bad()),
        };
        let signature = Signature {
            parameters: (start as u32, self.slots.len() as u32),
            result,
        };
        if let Some(known) = self.signatures.get_mut(slot) {
            *known = Some(signature);
        }
        Ok(signature)
    }

    /// Returns the range of a signature's parameters.
    pub fn parameters(&self, signature: Signature) -> Range<usize> {
        signature.parameters.0 as usize..signature.parameters.1 as usize
    }

    /// Returns one parameter by its index in that range.
    pub fn parameter(&self, at: usize) -> SlotType {
        self.slots.get(at).copied().unwrap_or(SlotType::Top)
    }

    /// Returns the local variables at method entry (JVMS §4.10.1.6).
    pub fn entry(
        &mut self,
        member: &Member<'_>,
        signature: Signature,
    ) -> Result<Vec<SlotType>, Fault> {
        let mut locals = Vec::new();
        if member.access & crate::method::access::STATIC == 0 {
            let constructor = self.pool.utf8(member.name)? == b"<init>";
            locals.push(if constructor && self.this != NameId::OBJECT {
                SlotType::UninitializedThis
            } else {
                SlotType::Object(self.this)
            });
        }
        for t in self
            .slots
            .get(self.parameters(signature))
            .unwrap_or_default()
        {
            locals.push(*t);
            locals.extend(t.high());
        }
        Ok(locals)
    }

    /// True if a value may be used as another type. If the class file does not decide this, an
    /// assumption is recorded and the result is true.
    pub fn assignable(&mut self, from: SlotType, to: SlotType) -> bool {
        match (from, to) {
            (_, SlotType::Top) => true,
            (a, b) if a == b => true,
            (SlotType::Null, SlotType::Object(_)) => true,
            (SlotType::Object(from), SlotType::Object(to)) => self.class_assignable(from, to),
            _ => false,
        }
    }

    /// True if an object of the class `from` may be used as one of `to`. If the class file does not
    /// decide this, an assumption is recorded and the result is true.
    pub fn class_assignable(&mut self, from: NameId, to: NameId) -> bool {
        if from == to || to == NameId::OBJECT {
            return true;
        }
        let names = &self.assumptions.names;
        match (names.is_array(from), names.is_array(to)) {
            (false, false) => {
                let known = from == self.this
                    && (self.superclass == Some(to) || self.interfaces.contains(&to));
                if !known {
                    self.assumptions.assignable.insert((from, to));
                }
                true
            }
            (true, false) => is_supertype_of_arrays(names.bytes(to)),
            (false, true) => false,
            (true, true) => match elements(names.bytes(from), names.bytes(to)) {
                Elements::Same => true,
                Elements::Different => false,
                Elements::Classes(from, to) => {
                    let (from, to) = (from.to_vec(), to.to_vec());
                    let from = self.assumptions.names.intern_owned(&from);
                    let to = self.assumptions.names.intern_owned(&to);
                    self.class_assignable(from, to)
                }
            },
        }
    }

    /// Records an access to a member that may be a protected member of a superclass.
    pub fn access(&mut self, access: AccessAssumption) {
        self.assumptions.accesses.insert(access);
    }

    /// Returns the class of an array's elements, or `None` for primitive elements.
    pub fn component(&mut self, array: NameId) -> Option<NameId> {
        let name = raw::component_name(self.assumptions.names.bytes(array))?.to_vec();
        Some(self.assumptions.names.intern_owned(&name))
    }

    /// Returns the array class with this element class.
    pub fn array_of(&mut self, element: NameId) -> NameId {
        let name = self.assumptions.names.bytes(element);
        let array = [b"[", &raw::type_descriptor(name)[..]].concat();
        self.assumptions.names.intern_owned(&array)
    }
}

/// True for the three supertypes that all arrays have.
fn is_supertype_of_arrays(name: &[u8]) -> bool {
    matches!(
        name,
        b"java/lang/Object" | b"java/lang/Cloneable" | b"java/io/Serializable"
    )
}

enum Elements<'n> {
    Same,
    Different,
    /// Two classes that remain to be compared.
    Classes(&'n [u8], &'n [u8]),
}

/// Compares two array types. Removes dimensions from both until one of them is not an array.
fn elements<'n>(mut from: &'n [u8], mut to: &'n [u8]) -> Elements<'n> {
    loop {
        if from == to {
            return Elements::Same;
        }
        match (from, to) {
            ([b'[', a @ ..], [b'[', b @ ..]) => (from, to) = (a, b),
            ([b'L', a @ .., b';'], [b'L', b @ .., b';']) => {
                return Elements::Classes(a, b);
            }
            ([b'[', ..], [b'L', b @ .., b';']) if is_supertype_of_arrays(b) => {
                return Elements::Same;
            }
            _ => return Elements::Different,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classfile::ClassFile;

    fn passes(from: &str, to: &str) -> (bool, usize) {
        let file = crate::verify::samples::class("a/This", "a/Super");
        let file = ClassFile::parse(&file).unwrap();
        let mut context = ClassContext::new(&file).unwrap();
        let from = context.assumptions.names.intern_owned(from.as_bytes());
        let to = context.assumptions.names.intern_owned(to.as_bytes());
        let passes = context.class_assignable(from, to);
        (passes, context.assumptions.len())
    }

    #[test]
    fn relations_shown_by_names_need_no_assumption() {
        assert_eq!(passes("a/A", "a/A"), (true, 0));
        assert_eq!(passes("a/A", "java/lang/Object"), (true, 0));
        assert_eq!(passes("a/This", "a/Super"), (true, 0));
        assert_eq!(passes("[I", "java/lang/Cloneable"), (true, 0));
        assert_eq!(passes("[[I", "[Ljava/io/Serializable;"), (true, 0));
        assert_eq!(passes("[I", "[J"), (false, 0));
        assert_eq!(passes("[I", "[Ljava/lang/Object;"), (false, 0));
        assert_eq!(passes("[I", "a/A"), (false, 0));
        assert_eq!(passes("java/lang/Object", "[I"), (false, 0));
        assert_eq!(passes("[La/A;", "[[La/A;"), (false, 0));
    }

    #[test]
    fn other_pairs_of_classes_are_assumptions() {
        assert_eq!(passes("a/A", "b/B"), (true, 1));
        assert_eq!(passes("a/Super", "a/This"), (true, 1));
        assert_eq!(passes("[[La/A;", "[[Lb/B;"), (true, 1));
        assert_eq!(passes("[La/A;", "[Ljava/lang/Object;"), (true, 0));
    }
}
