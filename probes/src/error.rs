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
