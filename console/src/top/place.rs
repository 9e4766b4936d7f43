//! Where an instrument stands, and what it measures.

use std::fmt;

use serde::{Serialize, Serializer};
use veneer_instruments::{ArmedMethod, table};

/// A method, or a fragment of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Place {
    /// With dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// None: the method as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<u32>,
}

impl Place {
    /// The pattern that selects the method.
    pub fn pattern(&self) -> String {
        let method = ArmedMethod {
            id: 0,
            class: self.class.clone(),
            method: self.method.clone(),
        };
        method
            .pattern()
            .unwrap_or_else(|| format!("{}::{}", self.class, self.method))
    }

    /// The method as a whole.
    pub fn whole(&self) -> Place {
        Place {
            fragment: None,
            ..self.clone()
        }
    }

    /// Class and method as people write them: `shop.Desk.serve(int)`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.class, table::signature(&self.method))
    }

    /// The same without package: `Desk.serve(int)`.
    pub fn short_name(&self) -> String {
        let simple = self.class.rsplit('.').next().unwrap_or(&self.class);
        format!("{simple}.{}", table::signature(&self.method))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fragment {
            Some(number) => write!(f, "f{number} of {}", self.short_name()),
            None => f.write_str(&self.short_name()),
        }
    }
}

/// What is measured there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// How often.
    Counter,
    /// How long.
    Timer,
    /// The values of these expressions.
    Watch(Vec<String>),
}

impl Kind {
    /// As in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Timer => "timer",
            Kind::Watch(_) => "watch",
        }
    }

    /// The letter that stands for it in tables; the key too.
    pub fn letter(&self) -> char {
        match self {
            Kind::Counter => 'c',
            Kind::Timer => 't',
            Kind::Watch(_) => 'w',
        }
    }

    /// Whether both are of one kind, whatever they watch.
    pub fn is_like(&self, other: &Kind) -> bool {
        self.letter() == other.letter()
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
