//! The reasons for which a probe cannot be compiled.

use crate::tree::{Operator, SourcePosition};
use crate::ty::Ty;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A compile error with its position in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{place}: {reason}")]
pub struct ProbeError {
    /// The position in the plan.
    pub place: SourcePosition,
    /// The reason for the error.
    pub reason: Reason,
}

/// The reason why a probe cannot be compiled at a point.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Reason {
    /// The variable is not live at the point, or its type is unknown there.
    #[error("`{name}` cannot be read here{}", readable(live))]
    NotLive {
        /// The name of the variable.
        name: String,
        /// The variables that can be read at the point.
        live: Vec<String>,
    },
    /// The probe uses a variable that it has not declared.
    #[error(
        "no variable `{name}`: declare it with `let {name} = …;`, or write `p.{name}` for one of the method"
    )]
    Unknown {
        /// The name that the plan uses.
        name: String,
    },
    /// The class has no such field.
    #[error("{of} has no field `{name}`{}", among("it has", fields))]
    NoField {
        /// The type of the object.
        of: Ty,
        /// The name of the missing field.
        name: String,
        /// The fields that the class has.
        fields: Vec<String>,
    },
    /// The class is not loaded, so its fields are unknown. The agent compiles the probe again when
    /// the class is loaded.
    #[error("{class} is not loaded yet: the code is put in when it is")]
    NotLoaded {
        /// The dotted class name.
        class: String,
    },
    /// The operator does not accept operands of these types.
    #[error("`{operator}` does not join {left} and {right}")]
    Operands {
        /// The operator of the expression.
        operator: Operator,
        /// The type of the left operand.
        left: Ty,
        /// The type of the right operand.
        right: Ty,
    },
    /// A value has one type where another is required.
    #[error("this is {found}, and {wanted} is needed here")]
    Type {
        /// The required type, as text for the message.
        wanted: String,
        /// The actual type.
        found: Ty,
    },
    /// No function of this name has a compiled form.
    #[error("`{name}` has no compiled form here: there are {functions}")]
    NoFunction {
        /// The name that the plan calls.
        name: String,
        /// The names of all functions that can be called.
        functions: String,
    },
    /// The class name of a cast is not a string constant.
    #[error("the second value of as_a is the name of a class as a constant: as_a(p.x, \"a.b.C\")")]
    ClassName,
    /// Several loaded classes have the name, and the point's own class does not refer to any of
    /// them by it.
    #[error(
        "{count} loaded classes are called {class}, and none of them by the class of this point"
    )]
    SeveralClasses {
        /// The dotted class name.
        class: String,
        /// The number of loaded classes of that name.
        count: usize,
    },
    /// The class has no public method of this name that accepts these arguments.
    #[error(
        "{of} has no public method {name}({arguments}){}",
        among("it has", candidates)
    )]
    NoMethod {
        /// The type of the object.
        of: Ty,
        /// The name of the missing method.
        name: String,
        /// The types of the arguments, as text.
        arguments: String,
        /// The methods of that name. If there are none, the names of all methods.
        candidates: Vec<String>,
    },
    /// Several methods accept these arguments, and none of them is the best match.
    #[error(
        "{of} has several methods for {name}({arguments}){}",
        among("these", candidates)
    )]
    Ambiguous {
        /// The type of the object.
        of: Ty,
        /// The name that several methods have.
        name: String,
        /// The types of the arguments, as text.
        arguments: String,
        /// The methods that match equally well.
        candidates: Vec<String>,
    },
    /// Code at the point cannot be linked to the method.
    #[error("{method} cannot be called here: {why}")]
    NotReachable {
        /// The method with its class.
        method: String,
        /// The reason, as text for the message.
        why: String,
    },
    /// The method returns `void`, and a value is required.
    #[error("{method} returns nothing: code at points calls methods for what they return")]
    NoResult {
        /// The method with its class.
        method: String,
    },
    /// The probe exceeds a limit of the compiler.
    #[error("this is too much code for a probe: {what}")]
    TooLarge {
        /// The exceeded limit, as text for the message.
        what: String,
    },
}

fn readable(live: &[String]) -> String {
    match live {
        [] => ", where no variable is live".to_owned(),
        some => format!("; readable here: {}", some.join(", ")),
    }
}

fn among(word: &str, names: &[String]) -> String {
    match names {
        [] => String::new(),
        some => format!(": {word} {}", some.join(", ")),
    }
}
