//! The share of a place in the time of one window.

use serde::{Deserialize, Serialize};

/// A share of time, known to be between `low` and `high`, each from 0 to 1. An exact measurement
/// has equal bounds. A late timer, whose activation began before the timer, has only a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The lower bound, from 0 to 1.
    pub low: f64,

    /// The upper bound, from 0 to 1.
    pub high: f64,
}

impl Share {
    /// Nothing is known of the share.
    pub const UNKNOWN: Share = Share {
        low: 0.0,
        high: 1.0,
    };

    /// Returns a share between two bounds, which are clamped to 0 and 1 and ordered. A bound that
    /// is not a number becomes the weakest bound.
    pub fn between(low: f64, high: f64) -> Share {
        let low = if low.is_nan() {
            0.0
        } else {
            low.clamp(0.0, 1.0)
        };
        let high = if high.is_nan() {
            1.0
        } else {
            high.clamp(0.0, 1.0)
        };
        Share {
            low,
            high: high.max(low),
        }
    }

    /// Returns a share that is known exactly.
    pub fn exact(share: f64) -> Share {
        Share::between(share, share)
    }

    /// Returns the difference of the bounds.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}
