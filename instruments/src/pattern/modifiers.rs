//! The modifiers before the class in a pattern: flags and annotations.
//!
//! A method must have each modifier, or must not have it if the modifier follows `!`.

use super::class_pattern::ClassPattern;
use super::metadata::{ClassMetadata, MethodMetadata};
use std::fmt;

/// One modifier of a class or a method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Modifier {
    /// Whether `!` precedes the modifier: the method must not have it.
    pub(super) negated: bool,
    pub(super) kind: ModifierKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ModifierKind {
    /// A flag of the method, as an index into [`FLAGS`].
    Flag(usize),
    /// `@a.B`: an annotation of the method.
    Method(ClassPattern),
    /// `@@a.B`: an annotation of the method's class.
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

fn flag_names(
    table: &'static [(&'static str, u16)],
    flags: u16,
) -> impl Iterator<Item = &'static str> {
    let set = table.iter().filter(move |flag| flags & flag.1 != 0);
    set.map(|flag| flag.0)
}

/// Returns the names of a method's access flags, as patterns and plans write them.
pub fn flag_words(flags: u16) -> impl Iterator<Item = &'static str> {
    flag_names(&FLAGS, flags)
}

/// Returns the names of a class's access flags, as patterns and plans write them.
pub fn class_flag_words(flags: u16) -> impl Iterator<Item = &'static str> {
    flag_names(&CLASS_FLAGS, flags)
}

fn any_matches(types: &[String], pattern: &ClassPattern) -> bool {
    types.iter().any(|name| pattern.matches(name))
}

impl Modifier {
    /// Whether methods of the class can match.
    pub(super) fn accepts_class(&self, class: &ClassMetadata) -> bool {
        match &self.kind {
            ModifierKind::Class(pattern) => {
                any_matches(&class.annotations, pattern) != self.negated
            }
            ModifierKind::Flag(_) | ModifierKind::Method(_) => true,
        }
    }

    /// Whether the method matches, given that its class matches.
    pub(super) fn accepts_method(&self, method: &MethodMetadata) -> bool {
        let has = match &self.kind {
            ModifierKind::Class(_) => return true,
            ModifierKind::Flag(at) => FLAGS.get(*at).is_some_and(|f| method.flags & f.1 != 0),
            ModifierKind::Method(pattern) => any_matches(&method.annotations, pattern),
        };
        has != self.negated
    }

    /// Returns the annotation that this modifier requires. Returns `None` for a flag and for a
    /// negated modifier.
    pub(super) fn annotation(&self) -> Option<&ClassPattern> {
        match &self.kind {
            ModifierKind::Method(pattern) | ModifierKind::Class(pattern) if !self.negated => {
                Some(pattern)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Modifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negated { "!" } else { "" })?;
        match &self.kind {
            ModifierKind::Flag(at) => f.write_str(FLAGS.get(*at).map_or("", |flag| flag.0)),
            ModifierKind::Method(pattern) => write!(f, "@{pattern}"),
            ModifierKind::Class(pattern) => write!(f, "@@{pattern}"),
        }
    }
}
