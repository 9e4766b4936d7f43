//! A whole pattern, and the methods that it selects.

use super::class_pattern::ClassPattern;
use super::glob::Glob;
use super::metadata::{ClassMatch, ClassMetadata, MethodMetadata};
use super::modifiers::Modifier;
use super::types::{self, Argument, TypePattern};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The JVM's name of the static initialiser.
pub const CLASS_INITIALISER: &str = "<clinit>";

/// A pattern over the class name, the method name and types, with optional flags and annotations.
/// `Display` and serde use the text form that `pattern.rs` describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MethodPattern {
    /// Flags and annotations.
    pub(super) modifiers: Vec<Modifier>,
    pub(super) class: ClassPattern,
    /// Whether the pattern has `+`, so that it also selects subtypes of the class.
    pub(super) subtypes: bool,
    /// `None` if the pattern has no `::` part: any method matches.
    pub(super) method: Option<NamePattern>,
    /// The classes after `except`, whose methods are not selected.
    pub(super) except: Vec<ClassPattern>,
}

/// How many methods a pattern names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatternBreadth {
    /// The methods of one name in one class.
    Method,
    /// Methods of one class.
    Class,
    /// Methods of any number of classes.
    Classes,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NamePattern {
    pub(super) name: Glob,
    /// `None` if the pattern has no argument list: any arguments match.
    pub(super) arguments: Option<Vec<Argument>>,
    /// `None` if the pattern has no result type: any result matches.
    pub(super) result: Option<TypePattern>,
}

impl MethodPattern {
    /// Whether the names and types of a method match. For a pattern without `+`, flags and
    /// annotations this is the final answer. For other patterns
    /// ([`MethodPattern::needs_metadata`]), true means that the method may be selected.
    ///
    /// `class` is dotted (`a.b.Outer$Inner`). `descriptor` is as in the class file,
    /// `(I[Ljava/lang/String;)V`. If the descriptor is malformed, only patterns that accept any
    /// arguments and any result match.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.matches_class(class) && self.matches_method(method, descriptor)
    }

    /// Whether methods of a class of this dotted name may be selected. For a pattern with `+` the
    /// answer is true for each class that `except` does not name, because any class may be a subtype
    /// of another.
    pub fn matches_class(&self, class: &str) -> bool {
        (self.subtypes || self.class.matches(class)) && !self.excludes_class(class)
    }

    /// Whether `except` names a class of this dotted name.
    fn excludes_class(&self, class: &str) -> bool {
        self.except.iter().any(|excluded| excluded.matches(class))
    }

    /// Whether a class of this dotted name is the class of the pattern. For a pattern with `+`, the
    /// class is the supertype of the selected classes.
    pub fn names_class(&self, class: &str) -> bool {
        self.class.matches(class)
    }

    /// Whether the name and types of a method match, given that its class is selected. Callers use
    /// this method while they iterate over the methods of a class.
    pub fn matches_method(&self, method: &str, descriptor: &str) -> bool {
        let Some(pattern) = &self.method else {
            return method != CLASS_INITIALISER;
        };
        if !pattern.name.matches(method)
            || method == CLASS_INITIALISER && pattern.name.text() != method
        {
            return false;
        }
        let result = pattern.result.as_ref();
        if !result.is_none_or(|p| types::result_type(descriptor).is_some_and(|t| p.matches(&t))) {
            return false;
        }
        match &pattern.arguments {
            None => true,
            Some(arguments) if matches!(arguments.as_slice(), [Argument::Any]) => true,
            Some(arguments) => types::argument_types(descriptor)
                .is_some_and(|types| types::matches_arguments(arguments, &types)),
        }
    }

    /// Whether the pattern depends on more than names: on `+`, an annotation or a flag.
    pub fn needs_metadata(&self) -> bool {
        self.subtypes || !self.modifiers.is_empty()
    }

    /// Whether the pattern has `+`.
    pub fn has_subtypes(&self) -> bool {
        self.subtypes
    }

    /// Whether methods of a class can be selected.
    pub fn match_class_metadata(&self, class: &ClassMetadata) -> ClassMatch {
        if self.excludes_class(&class.name)
            || !self
                .modifiers
                .iter()
                .all(|modifier| modifier.accepts_class(class))
        {
            ClassMatch::No
        } else if self.class.matches(&class.name) {
            ClassMatch::Yes
        } else if !self.subtypes {
            ClassMatch::No
        } else if class.supertypes.iter().any(|name| self.class.matches(name)) {
            ClassMatch::Yes
        } else if class.complete {
            ClassMatch::No
        } else {
            ClassMatch::Maybe
        }
    }

    /// Whether a method is selected, given that its class is selected.
    pub fn matches_method_metadata(&self, method: &MethodMetadata) -> bool {
        self.matches_method(&method.name, &method.descriptor)
            && self
                .modifiers
                .iter()
                .all(|modifier| modifier.accepts_method(method))
    }

    /// Whether a method is selected. `class` is dotted, and `facts` are the properties of the
    /// class. A pattern that depends on more than names selects nothing without `facts`.
    pub fn selects(
        &self,
        class: &str,
        facts: Option<&ClassMetadata>,
        method: &str,
        descriptor: &str,
    ) -> bool {
        if !self.needs_metadata() {
            return self.matches(class, method, descriptor);
        }
        let Some(facts) = facts.filter(|facts| self.match_class_metadata(facts) == ClassMatch::Yes)
        else {
            return false;
        };
        let method = facts.method(method, descriptor);
        method.is_some_and(|method| self.matches_method_metadata(method))
    }

    /// Whether the pattern requires an annotation. Only the class file contains annotations.
    pub fn has_annotations(&self) -> bool {
        self.modifiers
            .iter()
            .any(|modifier| modifier.annotation().is_some())
    }

    /// Whether a class can have the annotations that the pattern requires, given that its class
    /// file mentions the dotted type names in `mentioned`.
    pub fn may_be_annotated(&self, mentioned: &[String]) -> bool {
        let mut wanted = self.modifiers.iter().filter_map(Modifier::annotation);
        wanted.all(|pattern| mentioned.iter().any(|name| pattern.matches(name)))
    }

    /// The text form of the class part, without `+`.
    pub fn class_text(&self) -> String {
        self.class.to_string()
    }

    /// The text form of the method name; `None` if the pattern has no `::` part.
    pub fn method_text(&self) -> Option<&str> {
        self.method.as_ref().map(|method| method.name.text())
    }

    /// How many methods the pattern names, as far as its text says. A missing package counts as a name.
    pub fn breadth(&self) -> PatternBreadth {
        let class = self.class_text();
        let class = class.strip_prefix("*..").unwrap_or(&class);
        if self.needs_metadata() || class.contains('*') || class.contains("..") {
            return PatternBreadth::Classes;
        }
        match self.method_text() {
            Some(name) if !name.contains('*') => PatternBreadth::Method,
            _ => PatternBreadth::Class,
        }
    }

    pub(crate) fn class(&self) -> &ClassPattern {
        &self.class
    }
}

impl fmt::Display for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in &self.modifiers {
            write!(f, "{modifier} ")?;
        }
        write!(f, "{}{}", self.class, if self.subtypes { "+" } else { "" })?;
        if let Some(method) = &self.method {
            write!(f, "::{method}")?;
        }
        for (i, class) in self.except.iter().enumerate() {
            write!(f, "{}{class}", if i == 0 { " except " } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.text())?;
        if let Some(arguments) = &self.arguments {
            f.write_str("(")?;
            for (i, argument) in arguments.iter().enumerate() {
                write!(f, "{}{argument}", if i == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
        }
        match &self.result {
            Some(result) => write!(f, " -> {result}"),
            None => Ok(()),
        }
    }
}

impl From<MethodPattern> for String {
    fn from(pattern: MethodPattern) -> String {
        pattern.to_string()
    }
}
