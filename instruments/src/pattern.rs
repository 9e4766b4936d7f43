//! Patterns that select methods: `com.sun.tools.javac.parser..*::*(..)`.
//!
//! ```text
//!   pattern  = { mark } class [ "+" ] [ "::" method [ "(" arguments ")" ] [ "->" type ] ]
//!   mark     = [ "!" ] ( flag | "@" class | "@@" class )      flag = "static", "public", …; a space behind each
//!   class    = part { ( "." | ".." ) part }        a part is one segment of the dotted name
//!   argument = ".." | type                         type = "int", "java.lang.String", "*", with "[]"
//! ```
//!
//! * `*` stands for any run of characters within one segment, so it never crosses a `.`; it does cross `$`:
//!   `a.Outer*` selects `a.Outer$Inner` as well. As an argument, a lone `*` is any one type.
//! * `..` between segments stands for any number of packages, none too: `com.sun..*` selects `com.sun.X` and
//!   `com.sun.a.b.X`. A leading `*..` is any package or none: `*..JavaCompiler`. Everything is `*..*`.
//! * `..` among the arguments stands for any number of them. Arguments left out altogether are any too.
//! * Without `::` the pattern selects every method of the class. `*` selects `<init>` too, but `<clinit>`, the static initialiser, only where it is
//!   named: every class that has one would be armed for what runs once.
//! * A nested class is named as the JVM does: `a.Outer$Inner`.
//! * `+` behind the class selects it and everything that extends or implements it, directly or not.
//! * `-> type` is the type of the result, `void` too; a lone `*` is any.
//! * `static`, `!synchronized` … are flags of the method, `@a.B` is an annotation of it, `@@a.B` one of its class.
//!
//! Names alone do not decide `+` and marks ([`MethodPattern::asks_more`]): for these somebody has to know the class
//! ([`ClassFacts`]).

mod facts;
mod glob;
mod mark;
mod parser;
mod types;

pub use facts::{ClassFacts, MethodFacts, Verdict};
pub use mark::{class_flag_words, flag_words};
pub use parser::{PatternError, PatternFault};
pub(crate) use types::{argument_names, primitive};

use glob::Glob;
use mark::Mark;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use types::{Argument, TypePattern};

/// The static initialiser.
pub const INITIALISER: &str = "<clinit>";

/// A pattern over class, method name and types. Its text form, which `Display` gives back and
/// serde uses, is described in the module's head.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MethodPattern {
    /// Flags and annotations.
    marks: Vec<Mark>,
    class: ClassPattern,
    /// `+`: what is below the class too.
    subtypes: bool,
    /// `None`: the pattern had no `::` part, any method.
    method: Option<NamePattern>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NamePattern {
    name: Glob,
    /// `None`: no argument list, any arguments.
    arguments: Option<Vec<Argument>>,
    /// `None`: any result.
    result: Option<TypePattern>,
}

/// A dotted name with wildcards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassPattern {
    pub(crate) steps: Vec<Step>,
}

/// A piece of a dotted name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Exactly one segment.
    Segment(Glob),
    /// `..`: any number of segments.
    Gap,
}

impl MethodPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong and at which column of the text.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        parser::parse(text)
    }

    /// Whether a method is selected, as far as names and types say: always so where the pattern does not ask for more
    /// ([`MethodPattern::asks_more`]), else it may be. `class` is dotted (`a.b.Outer$Inner`); `descriptor` is as in the class
    /// file, `(I[Ljava/lang/String;)V`. A descriptor that cannot be read matches any-argument patterns only.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.matches_class(class) && self.matches_method(method, descriptor)
    }

    /// Whether methods of a class of this name (dotted) may be selected at all. Any class may be below another.
    pub fn matches_class(&self, class: &str) -> bool {
        self.subtypes || self.class.matches(class)
    }

    /// Whether a class of this name is the one of the pattern, or above those that `+` selects.
    pub fn names_class(&self, class: &str) -> bool {
        self.class.matches(class)
    }

    /// Whether a method is selected by name and types, given that its class is: for a caller that walks the methods of a class.
    pub fn matches_method(&self, method: &str, descriptor: &str) -> bool {
        let Some(pattern) = &self.method else {
            return method != INITIALISER;
        };
        if !pattern.name.matches(method) || method == INITIALISER && pattern.name.text() != method {
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

    /// Whether more than names has to be known: the pattern has `+`, an annotation or a flag.
    pub fn asks_more(&self) -> bool {
        self.subtypes || !self.marks.is_empty()
    }

    /// Whether it has `+`.
    pub fn has_subtypes(&self) -> bool {
        self.subtypes
    }

    /// Whether methods of a class are selected.
    pub fn of_class(&self, class: &ClassFacts) -> Verdict {
        if !self.marks.iter().all(|mark| mark.fits_class(class)) {
            Verdict::No
        } else if self.class.matches(&class.name) {
            Verdict::Yes
        } else if !self.subtypes {
            Verdict::No
        } else if class.supertypes.iter().any(|name| self.class.matches(name)) {
            Verdict::Yes
        } else if class.complete {
            Verdict::No
        } else {
            Verdict::Maybe
        }
    }

    /// Whether a method is selected, given that its class is.
    pub fn of_method(&self, method: &MethodFacts) -> bool {
        self.matches_method(&method.name, &method.descriptor)
            && self.marks.iter().all(|mark| mark.fits_method(method))
    }

    /// Whether a method is selected. `class` is dotted; `facts` are those of the class, without which a pattern that asks for more
    /// selects nothing.
    pub fn selects(
        &self,
        class: &str,
        facts: Option<&ClassFacts>,
        method: &str,
        descriptor: &str,
    ) -> bool {
        if !self.asks_more() {
            return self.matches(class, method, descriptor);
        }
        let Some(facts) = facts.filter(|facts| self.of_class(facts) == Verdict::Yes) else {
            return false;
        };
        let method = facts.method(method, descriptor);
        method.is_some_and(|method| self.of_method(method))
    }

    /// Whether the pattern asks for an annotation that only a class file tells.
    pub fn has_annotations(&self) -> bool {
        self.marks.iter().any(|mark| mark.annotation().is_some())
    }

    /// Whether a class in which these types (dotted) are mentioned can have the annotations that the pattern asks for.
    pub fn may_be_annotated(&self, mentioned: &[String]) -> bool {
        let mut wanted = self.marks.iter().filter_map(Mark::annotation);
        wanted.all(|pattern| mentioned.iter().any(|name| pattern.matches(name)))
    }

    /// The class part, in text form, without `+`.
    pub fn class_text(&self) -> String {
        self.class.to_string()
    }

    /// The method name part in text form; none where the pattern has no `::`.
    pub fn method_text(&self) -> Option<&str> {
        self.method.as_ref().map(|method| method.name.text())
    }

    pub(crate) fn class(&self) -> &ClassPattern {
        &self.class
    }
}

impl ClassPattern {
    fn matches(&self, class: &str) -> bool {
        let segments: Vec<&str> = class.split('.').collect();
        glob::matches_sequence(
            &self.steps,
            &segments,
            |step| matches!(step, Step::Gap),
            |step, segment| match step {
                Step::Segment(glob) => glob.matches(segment),
                Step::Gap => false,
            },
        )
    }

    /// A lone `*`.
    fn is_star(&self) -> bool {
        matches!(self.steps.as_slice(), [Step::Segment(glob)] if glob.text() == "*")
    }
}

impl fmt::Display for ClassPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut after_segment = false;
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                // A leading gap is written `*..`: see the module's head.
                Step::Gap => f.write_str(if i == 0 { "*.." } else { ".." })?,
                Step::Segment(glob) => {
                    write!(f, "{}{}", if after_segment { "." } else { "" }, glob.text())?;
                }
            }
            after_segment = matches!(step, Step::Segment(_));
        }
        Ok(())
    }
}

impl fmt::Display for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mark in &self.marks {
            write!(f, "{mark} ")?;
        }
        write!(f, "{}{}", self.class, if self.subtypes { "+" } else { "" })?;
        let Some(method) = &self.method else {
            return Ok(());
        };
        write!(f, "::{}", method.name.text())?;
        if let Some(arguments) = &method.arguments {
            f.write_str("(")?;
            for (i, argument) in arguments.iter().enumerate() {
                write!(f, "{}{argument}", if i == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
        }
        match &method.result {
            Some(result) => write!(f, " -> {result}"),
            None => Ok(()),
        }
    }
}

impl FromStr for MethodPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for MethodPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        Self::parse(&text)
    }
}

impl From<MethodPattern> for String {
    fn from(pattern: MethodPattern) -> String {
        pattern.to_string()
    }
}
