//! Parameters: values from the command line that a plan requests with `param(…)`.

use parking_lot::Mutex;
use rhai::{Dynamic, FLOAT, INT};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a parameter has no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ParamError {
    /// The value on the command line has another type than the default.
    #[error("--set {name}={value}: {needed} is needed")]
    WrongType {
        name: String,
        value: String,
        /// The type of the default, for instance `a number`.
        needed: &'static str,
    },
    /// The plan's default has a type that no parameter can have.
    #[error(
        "param({name:?}, …) cannot have a default of type {type_name}: only numbers, strings and booleans"
    )]
    UnsupportedDefault {
        name: String,
        type_name: &'static str,
    },
}

/// The given values by name, and the names that the plan has requested.
#[derive(Debug, Default)]
pub(crate) struct Params {
    given: BTreeMap<String, String>,
    /// The requested names, with the values that the plan received.
    requested: Mutex<BTreeMap<String, Dynamic>>,
}

impl Params {
    pub(crate) fn new(given: BTreeMap<String, String>) -> Self {
        let requested = Mutex::default();
        Params { given, requested }
    }

    /// Returns the given value of this name, as text.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let given = self.given.get(name);
        let value = given.map_or(Dynamic::UNIT, |text| text.clone().into());
        self.requested.lock().insert(name.to_owned(), value);
        given.map(String::as_str)
    }

    /// Returns the requested names and the values that the plan received.
    pub(crate) fn requested(&self) -> BTreeMap<String, Dynamic> {
        self.requested.lock().clone()
    }

    /// Returns the value of this name, converted to the type of the default. If no value was given,
    /// returns the default.
    pub(crate) fn typed(&self, name: &str, default: &Dynamic) -> Result<Dynamic, ParamError> {
        let value = self.value(name, default)?;
        self.requested.lock().insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn value(&self, name: &str, default: &Dynamic) -> Result<Dynamic, ParamError> {
        let Some(text) = self.get(name) else {
            return Ok(default.clone());
        };
        let wrong = |needed| ParamError::WrongType {
            name: name.into(),
            value: text.into(),
            needed,
        };
        if default.is_int() {
            let n = text.trim().parse::<INT>();
            n.map(Dynamic::from).map_err(|_| wrong("a whole number"))
        } else if default.is_float() {
            let x = text.trim().parse::<FLOAT>();
            x.map(Dynamic::from).map_err(|_| wrong("a number"))
        } else if default.is_bool() {
            let b = text.trim().parse::<bool>();
            b.map(Dynamic::from).map_err(|_| wrong("true or false"))
        } else if default.is_string() {
            Ok(text.to_owned().into())
        } else {
            Err(ParamError::UnsupportedDefault {
                name: name.into(),
                type_name: default.type_name(),
            })
        }
    }

    /// Returns an error message if a value was given for a name that the plan has not requested.
    pub(crate) fn unused_message(&self) -> Option<String> {
        let requested = self.requested.lock();
        let name = self
            .given
            .keys()
            .find(|name| !requested.contains_key(*name))?;
        let known: Vec<&str> = requested.keys().map(String::as_str).collect();
        Some(match known.as_slice() {
            [] => format!("--set {name}=…: this plan has no parameters"),
            some => format!(
                "--set {name}=…: this plan has no such parameter, but {}",
                some.join(", ")
            ),
        })
    }
}
