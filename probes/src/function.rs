//! The functions that a probe can call.

use crate::error::Reason;
use crate::ty::Ty;

/// The type of a function's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]

pub enum ParameterType {
    /// An integer of 64 bits.
    Integer,
    /// An integer or a floating-point number, passed as a `double`.
    Number,
    /// A string or null.
    Text,
    /// Any reference, also null.
    Object,
}

impl ParameterType {
    pub(crate) fn descriptor(self) -> &'static str {
        match self {
            Self::Integer => "J",
            Self::Number => "D",
            Self::Text | Self::Object => "Ljava/lang/Object;",
        }
    }
}

impl std::fmt::Display for ParameterType {
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

pub enum ResultType {
    /// An integer of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Number,
    /// A truth value.
    Bool,
    /// A string or null.
    Text,
    /// The number of a call stack.
    Stack,
    /// Any reference, also null.
    Object,
}

impl ResultType {
    pub(crate) fn ty(self) -> Ty {
        match self {
            Self::Integer => Ty::Long,
            Self::Number => Ty::Double,
            Self::Bool => Ty::Bool,
            Self::Text => Ty::Object(veneer_names::STRING.into()),
            Self::Stack => Ty::Stack,
            Self::Object => Ty::Object(veneer_names::OBJECT.into()),
        }
    }
}

impl std::fmt::Display for ResultType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Integer => "int",
            Self::Number => "float",
            Self::Bool => "bool",
            Self::Text => "string",
            Self::Stack => "call stack",
            Self::Object => "object",
        })
    }
}

/// A function that a probe can call.
pub struct ProbeFunction {
    /// The name in plans.
    pub name: &'static str,
    /// The name of the static method in the runtime class `VeneerProbe`.
    pub helper: &'static str,
    /// The types of the parameters. In the method-call form `a.name(b)`, the first parameter is
    /// `a`.
    pub parameters: &'static [ParameterType],
    /// The type of the result.
    pub result: ResultType,
    /// The description in the reference document.
    pub description: &'static str,
}

/// Functions that count their calls. Each call site in a plan has its own count.
pub(crate) const COUNTED_PER_CALL_SITE: [&str; 2] = ["one_in", "per_second"];

/// Whether a call of this function has an effect, so that its value need not be used.
pub fn has_effect(name: &str) -> bool {
    [
        "task_submitted",
        "task_begins",
        "task_ends",
        "object_born",
        "object_constructed",
        "object_used",
    ]
    .contains(&name)
}

/// Functions whose helpers also have the allocation site ([`crate::scope::Scope::site`]) as a parameter.
pub(crate) const TOLD_SITE: [&str; 2] = ["object_born", "object_constructed"];

/// The function that notes a use of an object.
pub(crate) const OBJECT_USED: &str = "object_used";

/// All functions that the runtime implements.
pub const FUNCTIONS: &[ProbeFunction] = &[
    ProbeFunction {
        name: "starts_with",
        helper: "startsWith",
        parameters: &[ParameterType::Text, ParameterType::Text],
        result: ResultType::Bool,
        description: "whether a string begins with another; false for `()`",
    },
    ProbeFunction {
        name: "ends_with",
        helper: "endsWith",
        parameters: &[ParameterType::Text, ParameterType::Text],
        result: ResultType::Bool,
        description: "whether a string ends with another; false for `()`",
    },
    ProbeFunction {
        name: "contains",
        helper: "contains",
        parameters: &[ParameterType::Text, ParameterType::Text],
        result: ResultType::Bool,
        description: "whether a string contains another; false for `()`",
    },
    ProbeFunction {
        name: "identity",
        helper: "identity",
        parameters: &[ParameterType::Object],
        result: ResultType::Integer,
        description: "the identity hash of an object; 0 for `()`",
    },
    ProbeFunction {
        name: "class_of",
        helper: "classOf",
        parameters: &[ParameterType::Object],
        result: ResultType::Text,
        description: "the name of an object's class; `()` for `()`",
    },
    ProbeFunction {
        name: "inline_cache",
        helper: "inlineCache",
        parameters: &[ParameterType::Object],
        result: ResultType::Integer,
        description: "compares the class of an object with that of the first object at this point: 1 for the first object, 0 for each later one of its class, 2 for all others and for `()`; costs next to nothing where all objects have one class",
    },
    ProbeFunction {
        name: "is_a",
        helper: "isA",
        parameters: &[ParameterType::Object, ParameterType::Text],
        result: ResultType::Bool,
        description: "whether an object's class or one of its superclasses has this name: `is_a(p.x, \"a.B\")`; interfaces are not compared",
    },
    ProbeFunction {
        name: "thread_id",
        helper: "threadId",
        parameters: &[],
        result: ResultType::Integer,
        description: "`Thread.getId()` of the current thread",
    },
    ProbeFunction {
        name: "thread_name",
        helper: "threadName",
        parameters: &[],
        result: ResultType::Text,
        description: "the name of the current thread",
    },
    ProbeFunction {
        name: "park_blocker",
        helper: "parkBlocker",
        parameters: &[],
        result: ResultType::Object,
        description: "the object for which `LockSupport` parks the current thread, or `()`: at a call of `jdk.internal.misc.Unsafe::park` in its methods",
    },
    ProbeFunction {
        name: "task_submitted",
        helper: "taskSubmitted",
        parameters: &[ParameterType::Object],
        result: ResultType::Bool,
        description: "remembers the current calling context as that of an object, which another thread will run as a task; false if the contexts of this thread are not recorded",
    },
    ProbeFunction {
        name: "task_begins",
        helper: "taskBegins",
        parameters: &[ParameterType::Object],
        result: ResultType::Bool,
        description: "places the calls of the current thread below the context in which the object was submitted, until `task_ends()`; false if contexts are not recorded",
    },
    ProbeFunction {
        name: "task_ends",
        helper: "taskEnds",
        parameters: &[],
        result: ResultType::Bool,
        description: "ends the innermost task of the current thread; false if there is none",
    },
    ProbeFunction {
        name: "object_born",
        helper: "objectBorn",
        parameters: &[ParameterType::Object],
        result: ResultType::Bool,
        description: "begins the life of an object, whose allocation site is the point: after a call of a constructor, for `p.result`; false if the object is not followed",
    },
    ProbeFunction {
        name: "object_constructed",
        helper: "objectConstructed",
        parameters: &[ParameterType::Object],
        result: ResultType::Bool,
        description: "begins the life of an object at the exit of a constructor, for `p.self`; without effect in constructors of its superclasses",
    },
    ProbeFunction {
        name: "object_used",
        helper: "objectUsed",
        parameters: &[ParameterType::Object],
        result: ResultType::Bool,
        description: "notes a use of an object whose life has begun; false for other objects",
    },
    ProbeFunction {
        name: "one_in",
        helper: "oneIn",
        parameters: &[ParameterType::Integer],
        result: ResultType::Bool,
        description: "true for one in n passes of each thread: `if one_in(100) { … }`",
    },
    ProbeFunction {
        name: "per_second",
        helper: "perSecond",
        parameters: &[ParameterType::Integer],
        result: ResultType::Bool,
        description: "true for the first n passes of each thread in each second: `if per_second(100) { … }`",
    },
    ProbeFunction {
        name: "stack",
        helper: "stack",
        parameters: &[],
        result: ResultType::Stack,
        description: "the innermost 32 frames of the current call stack, as a key of a table",
    },
    ProbeFunction {
        name: "stack",
        helper: "stack",
        parameters: &[ParameterType::Integer],
        result: ResultType::Stack,
        description: "the innermost n frames of the current call stack, at most 200, as a key of a table",
    },
    ProbeFunction {
        name: "now_ns",
        helper: "now",
        parameters: &[],
        result: ResultType::Integer,
        description: "`System.nanoTime()`",
    },
    ProbeFunction {
        name: "to_int",
        helper: "toInt",
        parameters: &[ParameterType::Number],
        result: ResultType::Integer,
        description: "a number without its fraction; 0 for NaN",
    },
    ProbeFunction {
        name: "to_float",
        helper: "toFloat",
        parameters: &[ParameterType::Number],
        result: ResultType::Number,
        description: "an integer as a floating-point number",
    },
];

/// Returns the error for a name that is no function.
pub(crate) fn unknown_function(name: &str) -> Reason {
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
const BUILT_IN: [&str; 6] = [
    "as_a",
    "describe",
    "here",
    "site_id",
    "size",
    "hash_of_method",
];

/// Returns the function of this name with `values` parameters. In the form `a.name(b)`, `a` counts
/// as a parameter.
pub fn find(name: &str, values: usize) -> Option<&'static ProbeFunction> {
    let mut all = FUNCTIONS.iter();
    all.find(|f| f.name == name && f.parameters.len() == values)
}

/// Whether a function of this name with `values` parameters exists.
pub fn exists(name: &str, values: usize) -> bool {
    find(name, values).is_some()
        || [
            ("as_a", 2),
            ("describe", 1),
            ("size", 1),
            ("here", 0),
            ("site_id", 0),
            ("hash_of_method", 0),
        ]
        .contains(&(name, values))
}

/// Returns the number under which tables know a method: 63 bits of the FNV-1a hash of its class,
/// name and descriptor, `shop.Desk::serve(I)V`. Strings in tables are cut after 64 characters, so
/// two methods with long names could be confused; two numbers are equal with a probability of 2⁻⁶³.
pub fn hash_of_method(label: &str) -> i64 {
    let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 1) as i64
}
