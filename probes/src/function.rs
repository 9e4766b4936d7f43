//! The functions that a probe can call.

use crate::error::Reason;
use crate::ty::Ty;

/// The type of a function's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]

pub enum Takes {
    Integer,
    Number,
    Text,
    Object,
}

impl Takes {
    pub(crate) fn descriptor(self) -> &'static str {
        match self {
            Self::Integer => "J",
            Self::Number => "D",
            Self::Text | Self::Object => "Ljava/lang/Object;",
        }
    }
}

impl std::fmt::Display for Takes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Integer => "int",
            Self::Number => "number",
            Self::Text => "string",
            Self::Object => "object",
        })
    }
}

/// The type of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]

pub enum Gives {
    Integer,
    Number,
    Bool,
    Text,
    Stack,
}

impl Gives {
    pub(crate) fn ty(self) -> Ty {
        match self {
            Self::Integer => Ty::Long,
            Self::Number => Ty::Double,
            Self::Bool => Ty::Bool,
            Self::Text => Ty::Object(crate::ty::STRING.into()),
            Self::Stack => Ty::Stack,
        }
    }
}

impl std::fmt::Display for Gives {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Integer => "int",
            Self::Number => "float",
            Self::Bool => "bool",
            Self::Text => "string",
            Self::Stack => "call stack",
        })
    }
}

/// A function that a probe can call.
pub struct Function {
    /// The name in plans.
    pub name: &'static str,
    /// The name of the static method in the runtime class `VeneerProbe`.
    pub helper: &'static str,
    /// The types of the parameters. In the method-call form `a.name(b)`, the first parameter is
    /// `a`.
    pub takes: &'static [Takes],
    pub gives: Gives,
    /// The description in the reference document.
    pub text: &'static str,
}

/// Functions that count their calls. Each call site in a plan has its own count.
pub(crate) const COUNTED_PER_CALL_SITE: [&str; 2] = ["one_in", "per_second"];

/// All functions that the runtime implements.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "starts_with",
        helper: "startsWith",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string begins with another; false for `()`",
    },
    Function {
        name: "ends_with",
        helper: "endsWith",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string ends with another; false for `()`",
    },
    Function {
        name: "contains",
        helper: "contains",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string contains another; false for `()`",
    },
    Function {
        name: "identity",
        helper: "identity",
        takes: &[Takes::Object],
        gives: Gives::Integer,
        text: "the identity hash of an object; 0 for `()`",
    },
    Function {
        name: "class_of",
        helper: "classOf",
        takes: &[Takes::Object],
        gives: Gives::Text,
        text: "the name of an object's class; `()` for `()`",
    },
    Function {
        name: "is_a",
        helper: "isA",
        takes: &[Takes::Object, Takes::Text],
        gives: Gives::Bool,
        text: "whether an object's class or one of its superclasses has this name: `is_a(p.x, \"a.B\")`; interfaces are not compared",
    },
    Function {
        name: "thread_id",
        helper: "threadId",
        takes: &[],
        gives: Gives::Integer,
        text: "`Thread.getId()` of the current thread",
    },
    Function {
        name: "thread_name",
        helper: "threadName",
        takes: &[],
        gives: Gives::Text,
        text: "the name of the current thread",
    },
    Function {
        name: "one_in",
        helper: "oneIn",
        takes: &[Takes::Integer],
        gives: Gives::Bool,
        text: "true for one in n passes of each thread: `if one_in(100) { … }`",
    },
    Function {
        name: "per_second",
        helper: "perSecond",
        takes: &[Takes::Integer],
        gives: Gives::Bool,
        text: "true for the first n passes of each thread in each second: `if per_second(100) { … }`",
    },
    Function {
        name: "stack",
        helper: "stack",
        takes: &[],
        gives: Gives::Stack,
        text: "the innermost 32 frames of the current call stack, as a key of a table",
    },
    Function {
        name: "stack",
        helper: "stack",
        takes: &[Takes::Integer],
        gives: Gives::Stack,
        text: "the innermost n frames of the current call stack, at most 200, as a key of a table",
    },
    Function {
        name: "now_ns",
        helper: "now",
        takes: &[],
        gives: Gives::Integer,
        text: "`System.nanoTime()`",
    },
    Function {
        name: "to_int",
        helper: "toInt",
        takes: &[Takes::Number],
        gives: Gives::Integer,
        text: "a number without its fraction; 0 for NaN",
    },
    Function {
        name: "to_float",
        helper: "toFloat",
        takes: &[Takes::Number],
        gives: Gives::Number,
        text: "an integer as a floating-point number",
    },
];

/// Returns the error for a name that is no function.
pub(crate) fn no_function(name: &str) -> Reason {
    Reason::NoFunction {
        name: name.to_string(),
        functions: names(),
    }
}

/// Returns the names of all functions, separated by commas.
pub fn names() -> String {
    let mut names: Vec<&str> = FUNCTIONS.iter().map(|f| f.name).collect();
    // Overloads of one name are adjacent.
    names.dedup();
    names.extend(BUILT_IN);
    names.join(", ")
}

/// Functions that the compiler implements itself.
const BUILT_IN: [&str; 2] = ["as_a", "here"];

/// Returns the function of this name with `values` parameters. In the form `a.name(b)`, `a` counts
/// as a parameter.
pub fn find(name: &str, values: usize) -> Option<&'static Function> {
    let mut all = FUNCTIONS.iter();
    all.find(|f| f.name == name && f.takes.len() == values)
}

/// Whether a function of this name with `values` parameters exists.
pub fn is_there(name: &str, values: usize) -> bool {
    find(name, values).is_some() || [("as_a", 2), ("here", 0)].contains(&(name, values))
}
