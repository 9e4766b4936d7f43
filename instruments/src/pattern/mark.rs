//! What stands before the class in a pattern: flags and annotations, each of which a method must have or, behind `!`, must not have.

use super::ClassPattern;
use super::facts::{ClassFacts, MethodFacts};
use std::fmt;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    /// `!`: the method must not have it.
    pub(super) negated: bool,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// A flag of the method: its place in [`FLAGS`].
    Flag(usize),
    /// `@a.B`: an annotation of the method.
    Method(ClassPattern),
    /// `@@a.B`: an annotation of its class.
    Class(ClassPattern),
}

/// Flags of methods with code (JVMS table 4.6-A).
pub(super) const FLAGS: [(&str, u16); 10] = [
    ("public", 0x0001),
    ("private", 0x0002),
    ("protected", 0x0004),
    ("static", 0x0008),
    ("final", 0x0010),
    ("synchronized", 0x0020),
    ("bridge", 0x0040),
    ("varargs", 0x0080),
    ("strictfp", 0x0800),
    ("synthetic", 0x1000),
];

/// Flags of classes (JVMS table 4.1-B).
const CLASS_FLAGS: [(&str, u16); 7] = [
    ("public", 0x0001),
    ("final", 0x0010),
    ("interface", 0x0200),
    ("abstract", 0x0400),
    ("synthetic", 0x1000),
    ("annotation", 0x2000),
    ("enum", 0x4000),
];

fn words(table: &'static [(&'static str, u16)], flags: u16) -> impl Iterator<Item = &'static str> {
    let set = table.iter().filter(move |flag| flags & flag.1 != 0);
    set.map(|flag| flag.0)
}

/// The words of a method's access flags, as patterns and plans have them.
pub fn flag_words(flags: u16) -> impl Iterator<Item = &'static str> {
    words(&FLAGS, flags)
}

/// The same of a class.
pub fn class_flag_words(flags: u16) -> impl Iterator<Item = &'static str> {
    words(&CLASS_FLAGS, flags)
}

fn among(types: &[String], pattern: &ClassPattern) -> bool {
    types.iter().any(|name| pattern.matches(name))
}

impl Mark {
    /// Whether methods of a class can fit.
    pub(super) fn fits_class(&self, class: &ClassFacts) -> bool {
        match &self.what {
            What::Class(pattern) => among(&class.annotations, pattern) != self.negated,
            What::Flag(_) | What::Method(_) => true,
        }
    }

    /// Whether a method of such a class fits.
    pub(super) fn fits_method(&self, method: &MethodFacts) -> bool {
        let has = match &self.what {
            What::Class(_) => return true,
            What::Flag(at) => FLAGS.get(*at).is_some_and(|f| method.flags & f.1 != 0),
            What::Method(pattern) => among(&method.annotations, pattern),
        };
        has != self.negated
    }

    /// The annotation that it asks for; none of a flag and of what must not be there.
    pub(super) fn annotation(&self) -> Option<&ClassPattern> {
        match &self.what {
            What::Method(pattern) | What::Class(pattern) if !self.negated => Some(pattern),
            _ => None,
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negated { "!" } else { "" })?;
        match &self.what {
            What::Flag(at) => f.write_str(FLAGS.get(*at).map_or("", |flag| flag.0)),
            What::Method(pattern) => write!(f, "@{pattern}"),
            What::Class(pattern) => write!(f, "@@{pattern}"),
        }
    }
}
