//! Patterns that select methods: `com.sun.tools.javac.parser..*::*(..)`.
//!
//! ```text
//!   pattern  = { modifier } class [ "+" ] [ "::" method [ "(" arguments ")" ] [ "->" type ] ]
//!              [ " except " class { "," class } ]
//!   modifier = [ "!" ] ( flag | "@" class | "@@" class ) " "
//!   flag     = "static", "public", …
//!   class    = part { ( "." | ".." ) part }       a part is one segment of the dotted name
//!   argument = ".." | type                        type = "int", "java.lang.String", "*", with "[]"
//! ```
//!
//! * `*` matches any characters within one segment. `*` does not match `.` but does match `$`:
//!   `a.Outer*` selects `a.Outer$Inner` as well. As an argument, a lone `*` is any one type.
//! * `..` between segments matches any number of packages, including none: `com.sun..*` selects
//!   `com.sun.X` and `com.sun.a.b.X`. A leading `*..` matches any package or none:
//!   `*..JavaCompiler`. The pattern `*..*` selects all classes.
//! * `..` among the arguments matches any number of arguments. A pattern without an argument list
//!   matches any arguments.
//! * A pattern without `::` selects every method of the class.
//! * `*` selects `<init>` but not `<clinit>`, the static initialiser. A pattern selects `<clinit>`
//!   only by that name; otherwise the agent would arm every class with a static initialiser for
//!   code that runs once.
//! * A nested class has its JVM name: `a.Outer$Inner`.
//! * `+` after the class selects the class and all its direct and indirect subtypes.
//! * `-> type` is the type of the result, including `void`. A lone `*` is any type.
//! * `except` names classes whose methods are not selected: `*..* except org.h2..*`.
//! * `static`, `!synchronized` … are flags of the method. `@a.B` is an annotation of the method,
//!   and `@@a.B` is an annotation of its class.
//!
//! Names alone do not decide `+`, flags and annotations ([`MethodPattern::needs_metadata`]). To
//! match such a pattern, the caller must provide the properties of the class ([`ClassMetadata`]).

mod class_pattern;
mod glob;
mod metadata;
mod method_pattern;
mod modifiers;
mod parser;
mod types;

pub(crate) use class_pattern::PackageElement;
pub use metadata::{ClassMatch, ClassMetadata, MethodMetadata};
pub use method_pattern::{CLASS_INITIALISER, MethodPattern, PatternBreadth};
pub use modifiers::{class_flag_words, flag_words};
pub use parser::{PatternError, PatternFault};
