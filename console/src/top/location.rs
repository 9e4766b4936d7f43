//! The location that an instrument is attached to, and the kind of instrument.

use std::fmt;

use serde::{Serialize, Serializer};
use veneer_instruments::ArmedMethod;

/// A method, or a fragment of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct MethodLocation {
    /// In Java form, with dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// `None` means the method as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<u32>,
}

impl MethodLocation {
    /// Returns the pattern that selects the method.
    pub fn pattern(&self) -> String {
        let method = ArmedMethod {
            id: veneer_names::MethodId::default(),
            class: self.class.clone(),
            method: self.method.clone(),
        };
        method
            .pattern()
            .unwrap_or_else(|| format!("{}::{}", self.class, self.method))
    }

    /// Returns the location of the whole method.
    pub fn whole_method(&self) -> MethodLocation {
        MethodLocation {
            fragment: None,
            ..self.clone()
        }
    }

    /// The class and method in the form `shop.Desk.serve(int)`.
    pub fn name(&self) -> String {
        format!(
            "{}.{}",
            self.class,
            veneer_names::short_java_signature(&self.method)
        )
    }

    /// The class and method without the package: `Desk.serve(int)`.
    pub fn short_name(&self) -> String {
        let simple = self.class.rsplit('.').next().unwrap_or(&self.class);
        format!(
            "{simple}.{}",
            veneer_names::short_java_signature(&self.method)
        )
    }
}

impl fmt::Display for MethodLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fragment {
            Some(number) => write!(f, "f{number} of {}", self.short_name()),
            None => f.write_str(&self.short_name()),
        }
    }
}

/// The kind of an instrument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeKind {
    /// Counts the passes of the location.
    Counter,
    /// Measures durations of calls or of a fragment.
    Timer,
    /// Records the values of these expressions.
    Watch(Vec<String>),
}

impl ProbeKind {
    /// The name in messages and in saved files.
    pub fn name(&self) -> &'static str {
        match self {
            ProbeKind::Counter => "counter",
            ProbeKind::Timer => "timer",
            ProbeKind::Watch(_) => "watch",
        }
    }

    /// The letter that marks the instrument in tables. The same letter is the key that attaches it.
    pub fn letter(&self) -> char {
        match self {
            ProbeKind::Counter => 'c',
            ProbeKind::Timer => 't',
            ProbeKind::Watch(_) => 'w',
        }
    }

    /// Whether both instruments are counters, timers or watches. The expressions of a watch are not
    /// compared.
    pub fn is_same_kind(&self, other: &ProbeKind) -> bool {
        self.letter() == other.letter()
    }
}

impl Serialize for ProbeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
