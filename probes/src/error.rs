//! Why a probe has no compiled form.

use crate::tree::{Operator, Place};
use crate::ty::Ty;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A refusal with its place in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{place}: {reason}")]
pub struct ProbeError {
    /// Where it is written.
    pub place: Place,
    /// Why.
    pub reason: Reason,
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Reason {
    /// A variable that cannot be read at the point.
    #[error("`{name}` cannot be read here{}", among("these can", live))]
    NotLive {
        /// What was asked for.
        name: String,
        /// What there is.
        live: Vec<String>,
    },
    /// A variable of the probe that was not declared.
    #[error(
        "no variable `{name}`: declare it with `let {name} = …;`, or write `p.{name}` for one of the method"
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A field that the class does not have.
    #[error("{of} has no field `{name}`{}", among("it has", fields))]
    NoField {
        /// The type.
        of: Ty,
        /// What was asked for.
        name: String,
        /// What there is.
        fields: Vec<String>,
    },
    /// The fields of a class that is not loaded: known when it is.
    #[error("{class} is not loaded yet: the code is put in when it is")]
    NotLoaded {
        /// With dots.
        class: String,
    },
    /// An operator between things that it does not join.
    #[error("`{operator}` does not join {left} and {right}")]
    Operands {
        /// The operator.
        operator: Operator,
        /// On its left.
        left: Ty,
        /// On its right.
        right: Ty,
    },
    /// A value of one type where another is needed.
    #[error("this is {found}, and {wanted} is needed here")]
    Type {
        /// What is needed, in words.
        wanted: String,
        /// What there is.
        found: Ty,
    },
    /// A function that has no compiled form.
    #[error("`{name}` has no compiled form here: there are {functions}")]
    NoFunction {
        /// What was called.
        name: String,
        /// What can be called.
        functions: String,
    },
    /// The class of a cast is not a constant.
    #[error("the second value of as_a is the name of a class as a constant: as_a(p.x, \"a.b.C\")")]
    ClassName,
    /// Several loaded classes have a name, and the one that the point's class would mean is not among them.
    #[error(
        "{count} loaded classes are called {class}, and none of them by the class of this point"
    )]
    SeveralClasses {
        /// With dots.
        class: String,
        /// How many.
        count: usize,
    },
    /// A method that the class does not have, for these arguments.
    #[error(
        "{of} has no public method {name}({arguments}){}",
        among("it has", candidates)
    )]
    NoMethod {
        /// The type.
        of: Ty,
        /// What was asked for.
        name: String,
        /// The types of the arguments.
        arguments: String,
        /// Methods of that name; where there are none, the names of all.
        candidates: Vec<String>,
    },
    /// Several methods take these arguments, and none of them fits best.
    #[error(
        "{of} has several methods for {name}({arguments}){}",
        among("these", candidates)
    )]
    Ambiguous {
        /// The type.
        of: Ty,
        /// What was asked for.
        name: String,
        /// The types of the arguments.
        arguments: String,
        /// They.
        candidates: Vec<String>,
    },
    /// A method to which code at the point cannot be linked.
    #[error("{method} cannot be called here: {why}")]
    NotReachable {
        /// With its class.
        method: String,
        /// What is in the way.
        why: String,
    },
    /// A method that returns nothing, where a value is needed.
    #[error("{method} returns nothing: code at points calls methods for what they return")]
    NoResult {
        /// With its class.
        method: String,
    },
    /// Too much code for one point.
    #[error("this is too much code for a probe: {what}")]
    TooLarge {
        /// What there is too much of.
        what: String,
    },
}

fn among(word: &str, names: &[String]) -> String {
    match names {
        [] => String::new(),
        some => format!(": {word} {}", some.join(", ")),
    }
}
