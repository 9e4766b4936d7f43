//! Settings of a search.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cause::{CAUSES, Cause};

/// The order in which methods are examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Callees of methods that hold, from the roots downwards (Fig. 1 of Brear et al., 2003).
    TopDown,
    /// Methods that stack samples name (Roth and Miller, *Deep start*, Euro-Par 2002).
    DeepStart,
    /// Both of these at the same time.
    #[default]
    Hybrid,
}

impl Strategy {
    /// Returns the strategy with this name: `top-down`, `deep-start` or `hybrid`.
    pub fn from_name(name: &str) -> Option<Strategy> {
        match name {
            "top-down" => Some(Strategy::TopDown),
            "deep-start" => Some(Strategy::DeepStart),
            "hybrid" => Some(Strategy::Hybrid),
            _ => None,
        }
    }

    /// Returns whether callees of methods that hold are examined.
    pub fn goes_down(self) -> bool {
        self != Strategy::DeepStart
    }

    /// Returns whether stack samples name methods to examine.
    pub fn starts_deep(self) -> bool {
        self != Strategy::TopDown
    }
}

/// Why settings are refused.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SettingsError {
    /// A share or a probability is not between 0 and 1.
    #[error("{name} is {value}, and must be more than 0 and less than 1")]
    OutOfRange {
        /// The name of the setting.
        name: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A number of windows is zero.
    #[error("{name} must be at least 1")]
    Zero {
        /// The name of the setting.
        name: &'static str,
    },
    /// A rate or a cost is negative or not a number.
    #[error("{name} is {value}, and must be a number from 0 on")]
    Negative {
        /// The name of the setting.
        name: &'static str,
        /// The value that was given.
        value: f64,
    },
}

/// The settings of a search. All shares and costs are fractions, not percentages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The order in which methods are examined.
    pub strategy: Strategy,
    /// A place is a bottleneck if its share of the active time exceeds this fraction.
    pub threshold: f64,
    /// The causes that are examined, with their more general causes.
    pub causes: BTreeSet<Cause>,
    /// The largest cost of all instruments, as a fraction of the active time.
    pub max_cost: f64,
    /// The part of the largest cost that stack samples may use. Probes use the rest.
    pub samples_part: f64,
    /// The probability that the search ever decides `Yes` about any place whose share is at most
    /// the threshold.
    pub false_findings: f64,
    /// The probability that one decision rules out a place whose share is at least the threshold.
    pub missed: f64,
    /// The probability that the interval of one share ever misses it.
    pub outside: f64,
    /// The windows that pass before a place can hold.
    pub min_windows: u32,
    /// The number of windows after which all decisions are examined again.
    pub epoch_windows: u32,
    /// The highest rate of stack samples, per second.
    pub max_hertz: f64,
    /// Whether a counter is attached for one window before each timer.
    pub count_first: bool,
    /// The cost of a timer per call, in nanoseconds, for forecasts.
    pub timer_nanos: f64,
    /// The assumed cost of a probe before it is measured, as a fraction of the active time.
    pub assumed_cost: f64,
    /// The most probes that are attached at a time.
    pub max_probes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strategy: Strategy::Hybrid,
            threshold: 0.05,
            causes: CAUSES.into_iter().collect(),
            max_cost: 0.02,
            samples_part: 0.5,
            false_findings: 0.05,
            missed: 0.05,
            outside: 0.05,
            min_windows: 8,
            epoch_windows: 100,
            max_hertz: 20.0,
            count_first: true,
            timer_nanos: 40.0,
            assumed_cost: 0.0002,
            max_probes: 64,
        }
    }
}

impl Settings {
    /// Checks all settings.
    pub fn check(&self) -> Result<(), SettingsError> {
        let shares = [
            ("the threshold", self.threshold),
            ("the rate of false findings", self.false_findings),
            ("the rate of missed places", self.missed),
            ("the rate of wrong intervals", self.outside),
            ("the part of the samples", self.samples_part),
        ];
        for (name, value) in shares {
            if !(value > 0.0 && value < 1.0) {
                return Err(SettingsError::OutOfRange { name, value });
            }
        }
        let costs = [
            ("the cost", self.max_cost),
            ("the rate of samples", self.max_hertz),
            ("the cost of a timer", self.timer_nanos),
            ("the assumed cost", self.assumed_cost),
        ];
        for (name, value) in costs {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(SettingsError::Negative { name, value });
            }
        }
        for (name, value) in [
            ("the number of windows before a finding", self.min_windows),
            ("the number of windows in an epoch", self.epoch_windows),
        ] {
            if value == 0 {
                return Err(SettingsError::Zero { name });
            }
        }
        Ok(())
    }

    /// Returns whether a cause is examined: it is listed, or more general than a listed one.
    pub fn examines(&self, cause: Cause) -> bool {
        self.causes.iter().any(|listed| listed.is_a(cause))
    }
}
