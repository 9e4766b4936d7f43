//! Patterns that select methods: `com.sun.tools.javac.parser..*::*(..)`.
//!
//! ```text
//!   pattern  = class [ "::" method [ "(" arguments ")" ] ]
//!   class    = part { ( "." | ".." ) part }        a part is one segment of the dotted name
//!   argument = ".." | type                         type = "int", "java.lang.String", "*", with "[]"
//! ```
//!
//! * `*` stands for any run of characters within one segment, so it never crosses a `.`; it does cross `$`:
//!   `a.Outer*` selects `a.Outer$Inner` as well. As an argument, a lone `*` is any one type.
//! * `..` between segments stands for any number of packages, none too: `com.sun..*` selects `com.sun.X` and
//!   `com.sun.a.b.X`. A leading `*..` is any package or none: `*..JavaCompiler`. Everything is `*..*`.
//! * `..` among the arguments stands for any number of them. Arguments left out altogether are any too.
//! * Without `::` the pattern selects every method of the class. `*` selects `<init>` and `<clinit>` too.
//! * A nested class is named as the JVM does: `a.Outer$Inner`.

mod glob;
mod parser;

pub use parser::{PatternError, PatternFault};

use glob::Glob;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A pattern over class, method name and argument types. Its text form, which `Display` gives back and
/// serde uses, is described in the module's head.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MethodPattern {
    class: ClassPattern,
    /// `None`: the pattern had no `::` part, any method.
    method: Option<NamePattern>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NamePattern {
    name: Glob,
    /// `None`: no argument list, any arguments.
    arguments: Option<Vec<Argument>>,
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

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Argument {
    /// `..`
    Any,
    /// One type: an element and how many `[]` follow.
    Type {
        element: ClassPattern,
        dimensions: usize,
    },
}

impl MethodPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong and at which column of the text.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        parser::parse(text)
    }

    /// Whether a method is selected. `class` is dotted (`a.b.Outer$Inner`); `descriptor` is as in the class
    /// file, `(I[Ljava/lang/String;)V`. A descriptor that cannot be read matches any-argument patterns only.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.matches_class(class) && self.matches_method(method, descriptor)
    }

    /// Whether methods of this class (dotted) may be selected at all.
    pub fn matches_class(&self, class: &str) -> bool {
        self.class.matches(class)
    }

    /// Whether a method is selected, given that its class is: for a caller that walks the methods of a class.
    pub fn matches_method(&self, method: &str, descriptor: &str) -> bool {
        let Some(pattern) = &self.method else {
            return true;
        };
        if !pattern.name.matches(method) {
            return false;
        }
        match &pattern.arguments {
            None => true,
            Some(arguments) if matches!(arguments.as_slice(), [Argument::Any]) => true,
            Some(arguments) => {
                argument_types(descriptor).is_some_and(|types| matches_arguments(arguments, &types))
            }
        }
    }

    /// The class part, in text form.
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

/// One argument type of a method: the dotted or primitive name of its element, and its array dimensions.
struct ArgumentType {
    element: String,
    dimensions: usize,
}

fn matches_arguments(patterns: &[Argument], types: &[ArgumentType]) -> bool {
    glob::matches_sequence(
        patterns,
        types,
        |pattern| matches!(pattern, Argument::Any),
        |pattern, found| match pattern {
            Argument::Any => false,
            Argument::Type {
                element,
                dimensions,
            } => {
                let star = element.is_star();
                // `*` is any one type, arrays too; `*[]` any array.
                (found.dimensions == *dimensions || star && found.dimensions > *dimensions)
                    && (star || element.matches(&found.element))
            }
        },
    )
}

/// The argument types of a descriptor; `None` where it is not one.
fn argument_types(descriptor: &str) -> Option<Vec<ArgumentType>> {
    let (mut rest, _) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut types = Vec::new();
    while !rest.is_empty() {
        let base = rest.trim_start_matches('[');
        let dimensions = rest.len() - base.len();
        let (element, after) = if let Some(class) = base.strip_prefix('L') {
            let (name, after) = class.split_once(';')?;
            (name.replace('/', "."), after)
        } else {
            let name = primitive(base.chars().next()?)?;
            (name.to_owned(), base.get(1..)?)
        };
        types.push(ArgumentType {
            element,
            dimensions,
        });
        rest = after;
    }
    Some(types)
}

/// The argument types of a descriptor as patterns write them; `None` where it is not one.
pub(crate) fn argument_names(descriptor: &str) -> Option<Vec<String>> {
    let types = argument_types(descriptor)?.into_iter();
    Some(
        types
            .map(|t| t.element + &"[]".repeat(t.dimensions))
            .collect(),
    )
}

/// The Java name of a primitive type's descriptor letter (JVMS 4.3.2).
pub(crate) fn primitive(letter: char) -> Option<&'static str> {
    Some(match letter {
        'Z' => "boolean",
        'B' => "byte",
        'C' => "char",
        'S' => "short",
        'I' => "int",
        'J' => "long",
        'F' => "float",
        'D' => "double",
        _ => return None,
    })
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

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Any => f.write_str(".."),
            Argument::Type {
                element,
                dimensions,
            } => write!(f, "{element}{}", "[]".repeat(*dimensions)),
        }
    }
}

impl fmt::Display for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.class)?;
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
        Ok(())
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
