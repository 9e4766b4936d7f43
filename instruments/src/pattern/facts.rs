//! What is known of a class beyond its name: for patterns that ask for supertypes, annotations or flags.
//!
//! Whoever asks makes the facts from a class file and from what he knows of the classes above it. Where that is not all
//! of them, a pattern with `+` may have no answer yet.

/// A class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassFacts {
    /// Dotted: `a.b.Outer$Inner`.
    pub name: String,
    /// Access flags, as in the class file.
    pub flags: u16,
    /// Dotted names of its annotation types.
    pub annotations: Vec<String>,
    /// Dotted names of the classes and interfaces above it, direct or not, as far as they are known.
    pub supertypes: Vec<String>,
    /// Whether these are all.
    pub complete: bool,
    /// Its methods, with and without code.
    pub methods: Vec<MethodFacts>,
}

/// A method of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodFacts {
    /// Simple name.
    pub name: String,
    /// As in the class file: `(I)V`.
    pub descriptor: String,
    /// Access flags, as in the class file.
    pub flags: u16,
    /// Dotted names of its annotation types.
    pub annotations: Vec<String>,
    /// Bytes of its code; none where it has no code.
    pub size: Option<u32>,
}

impl ClassFacts {
    /// The method of this name and descriptor.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&MethodFacts> {
        let mut methods = self.methods.iter();
        methods.find(|m| m.name == name && m.descriptor == descriptor)
    }
}

/// Whether a class is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No.
    No,
    /// One of the supertypes that are not known may be the one that is asked for.
    Maybe,
    /// Yes.
    Yes,
}
