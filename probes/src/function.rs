//! The functions that a probe can call.

use crate::error::Reason;
use crate::ty::Ty;

/// What a function takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
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

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
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
    /// In a plan.
    pub name: &'static str,
    /// In the runtime's class.
    pub helper: &'static str,
    /// Its arguments; for the form `a.name(b)` the first is `a`.
    pub takes: &'static [Takes],
    /// Its result.
    pub gives: Gives,
    /// What it does, for the reference.
    pub text: &'static str,
}

/// Those that count their passes, at each place where they are written by itself.
pub(crate) const COUNTING: [&str; 2] = ["one_in", "per_second"];

/// All functions.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "starts_with",
        helper: "startsWith",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string begins with another; false of `()`",
    },
    Function {
        name: "ends_with",
        helper: "endsWith",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string ends with another; false of `()`",
    },
    Function {
        name: "contains",
        helper: "contains",
        takes: &[Takes::Text, Takes::Text],
        gives: Gives::Bool,
        text: "whether a string has another in it; false of `()`",
    },
    Function {
        name: "identity",
        helper: "identity",
        takes: &[Takes::Object],
        gives: Gives::Integer,
        text: "the identity hash of an object; 0 of `()`",
    },
    Function {
        name: "class_of",
        helper: "classOf",
        takes: &[Takes::Object],
        gives: Gives::Text,
        text: "the name of an object's class; `()` of `()`",
    },
    Function {
        name: "is_a",
        helper: "isA",
        takes: &[Takes::Object, Takes::Text],
        gives: Gives::Bool,
        text: "whether an object's class, or one above it, has this name: `is_a(p.x, \"a.B\")`; no interfaces",
    },
    Function {
        name: "thread_id",
        helper: "threadId",
        takes: &[],
        gives: Gives::Integer,
        text: "`Thread.getId()` of the thread that runs",
    },
    Function {
        name: "thread_name",
        helper: "threadName",
        takes: &[],
        gives: Gives::Text,
        text: "its name",
    },
    Function {
        name: "one_in",
        helper: "oneIn",
        takes: &[Takes::Integer],
        gives: Gives::Bool,
        text: "whether this is one in so many passes of its thread, for `if one_in(100) { … }`",
    },
    Function {
        name: "per_second",
        helper: "perSecond",
        takes: &[Takes::Integer],
        gives: Gives::Bool,
        text: "whether these are at most so many passes of its thread in this second, for `if per_second(100) { … }`",
    },
    Function {
        name: "stack",
        helper: "stack",
        takes: &[],
        gives: Gives::Stack,
        text: "the call stack of the thread, its innermost 32 frames, as a key of a table",
    },
    Function {
        name: "stack",
        helper: "stack",
        takes: &[Takes::Integer],
        gives: Gives::Stack,
        text: "the same with so many frames, 200 at most",
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
        text: "a number without its fraction; 0 of NaN",
    },
    Function {
        name: "to_float",
        helper: "toFloat",
        takes: &[Takes::Number],
        gives: Gives::Number,
        text: "a whole number as one with a point",
    },
];

/// The refusal of a function that is none of them.
pub(crate) fn no_function(name: &str) -> Reason {
    Reason::NoFunction {
        name: name.to_string(),
        functions: names(),
    }
}

/// The names of all functions.
pub fn names() -> String {
    let mut names: Vec<&str> = FUNCTIONS.iter().map(|f| f.name).collect();
    // Those that take more or less stand beside each other.
    names.dedup();
    names.extend(OTHERS);
    names.join(", ")
}

/// Those that the compiler knows by itself.
const OTHERS: [&str; 2] = ["as_a", "here"];

/// The function of a name for so many values, the one before the dot too.
pub fn find(name: &str, values: usize) -> Option<&'static Function> {
    let mut all = FUNCTIONS.iter();
    all.find(|f| f.name == name && f.takes.len() == values)
}

/// Whether there is a function of this name for so many values.
pub fn is_there(name: &str, values: usize) -> bool {
    find(name, values).is_some() || [("as_a", 2), ("here", 0)].contains(&(name, values))
}
