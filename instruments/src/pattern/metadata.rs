//! The properties of a class and its methods that patterns with supertypes, annotations or flags
//! need.
//!
//! The caller collects these properties from the class file and from the known supertypes. If some
//! supertypes are unknown, the answer for a pattern with `+` may be [`ClassMatch::Maybe`].

/// The properties of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassMetadata {
    /// The dotted class name: `a.b.Outer$Inner`.
    pub name: String,
    /// The access flags, as in the class file.
    pub flags: u16,
    /// The dotted names of the annotation types.
    pub annotations: Vec<String>,
    /// The dotted names of the known direct and indirect superclasses and superinterfaces.
    pub supertypes: Vec<String>,
    /// Whether `supertypes` contains all supertypes.
    pub complete: bool,
    /// All methods, with and without code.
    pub methods: Vec<MethodMetadata>,
}

/// The properties of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodMetadata {
    /// The simple name.
    pub name: String,
    /// The descriptor, as in the class file: `(I)V`.
    pub descriptor: String,
    /// The access flags, as in the class file.
    pub flags: u16,
    /// The dotted names of the annotation types.
    pub annotations: Vec<String>,
    /// The size of the bytecode, in bytes; `None` if the method has no code.
    pub size: Option<u32>,
}

impl ClassMetadata {
    /// Returns the method with this name and descriptor.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&MethodMetadata> {
        let mut methods = self.methods.iter();
        methods.find(|m| m.name == name && m.descriptor == descriptor)
    }
}

/// The answer to the question whether a class is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassMatch {
    /// The class is not selected.
    No,
    /// The class is selected only if one of its unknown supertypes matches the pattern.
    Maybe,
    /// The class is selected.
    Yes,
}
