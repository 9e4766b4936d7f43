//! Ratio estimates from a sample of equal groups, with their error.
//!
//! The sample consists of groups of sets. A group `g` received `a(g)` requests, of which `y(g)`
//! missed. The number `A` of requests of all sets is counted exactly. The estimate of all misses is
//! `Y = A · Σy / Σa`. Its variance follows from the residuals `y(g) − a(g) · Σy / Σa`, with the
//! correction for a finite population (Cochran, *Sampling Techniques*, 3rd edition, 1977, sections
//! 2.11 and 6.4).
//!
//! **Stated error.** The margin is that of a 99.9 % interval of Student's distribution. The number
//! of misses per set is skewed, so that the interval holds in fewer than 99.9 % of all samples. The
//! margin is meant to hold in 99 of 100 samples, and tests verify this for several access patterns.
//!
//! **Limit.** No sample shows that all misses are in one set that is not part of the sample. The
//! margin assumes that the sets of the sample resemble the others. A sample without a miss (or
//! without a hit) has at least the margin of the rule of three for 99 % (Hanley and Lippman-Hand,
//! JAMA 249(13), 1983): 4.6 requests of the sample.

/// The fewest groups that give an error.
pub const MIN_GROUPS: usize = 8;
/// The most groups into which a sample is divided.
pub const MAX_GROUPS: usize = 16;

/// The margin of a count about which a sample says nothing.
pub const UNKNOWN_MARGIN: u64 = u64::MAX;

/// Student's two-sided 99.9 % quantiles for 7 to 15 degrees of freedom.
const QUANTILES: [f64; 9] = [
    5.408, 5.041, 4.781, 4.587, 4.437, 4.318, 4.221, 4.140, 4.073,
];
/// `-ln(0.01)`: the requests that a rate needs so that at least one miss is seen with 99 %.
const RULE_OF_THREE: f64 = 4.605;

/// A count, exact or estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The exact count, or its estimate, which can have a fractional part.
    pub value: f64,
    /// The most by which the value differs from the exact count in 99 of 100 samples. It is 0 if the
    /// value is exact, and `None` if the sample contains nothing from which it follows.
    pub margin: Option<f64>,
}

impl Estimate {
    /// A count without error.
    pub fn exact(count: u64) -> Estimate {
        Estimate {
            value: count as f64,
            margin: Some(0.0),
        }
    }

    /// Whether a count lies within the margin.
    pub fn covers(&self, count: u64) -> bool {
        self.margin
            .is_some_and(|margin| (count as f64 - self.value).abs() <= margin + 1e-6)
    }
}

/// The observations of one group of sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCount {
    /// Requests that reached the sets of the group.
    pub arrivals: u64,
    /// Events, such as misses, among them.
    pub events: u64,
}

/// Estimates the events of all sets from groups with the same number of sets.
///
/// `arrivals` is the exact number of requests to all sets. `fraction` is the part of all sets that
/// is in the sample, from 0 to 1.
pub fn ratio_estimate(groups: &[GroupCount], arrivals: u64, fraction: f64) -> Estimate {
    let seen: u64 = groups.iter().map(|group| group.arrivals).sum();
    let events: u64 = groups.iter().map(|group| group.events).sum();
    if fraction >= 1.0 || arrivals == 0 {
        return Estimate::exact(events);
    }
    let quantile = groups
        .len()
        .checked_sub(MIN_GROUPS)
        .and_then(|i| QUANTILES.get(i));
    let (Some(quantile), true) = (quantile, seen > 0) else {
        return Estimate {
            value: 0.0,
            margin: None,
        };
    };
    let ratio = events as f64 / seen as f64;
    let scale = arrivals as f64 / seen as f64;
    let residuals = groups
        .iter()
        .map(|group| (group.events as f64 - ratio * group.arrivals as f64).powi(2));
    let count = groups.len() as f64;
    let variance = residuals.sum::<f64>() / (count - 1.0) * count * (1.0 - fraction);
    let floor = RULE_OF_THREE * scale * (1.0 - fraction);
    Estimate {
        value: ratio * arrivals as f64,
        margin: Some((quantile * scale * variance.sqrt()).max(floor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_groups_have_only_the_margin_of_the_rule_of_three() {
        let groups = [GroupCount {
            arrivals: 100,
            events: 25,
        }; 8];
        let estimate = ratio_estimate(&groups, 8000, 0.1);
        assert!((estimate.value - 2000.0).abs() < 1e-9);
        assert!(estimate.covers(2000) && estimate.covers(2041) && !estimate.covers(2042));
    }

    #[test]
    fn a_complete_sample_is_exact_and_an_empty_one_has_no_margin() {
        let groups = [GroupCount {
            arrivals: 10,
            events: 3,
        }; 8];
        assert_eq!(ratio_estimate(&groups, 80, 1.0), Estimate::exact(24));
        let nothing = ratio_estimate(&[GroupCount::default(); 8], 80, 0.5);
        assert!(nothing.margin.is_none() && !nothing.covers(0));
        assert!(ratio_estimate(&groups[..7], 80, 0.5).margin.is_none());
    }

    #[test]
    fn the_margin_is_that_of_the_textbook() {
        // Σy = 36, Σa = 80, R = 0.45. The residuals are -3.5, -2.5, … 3.5; their squares sum to 42.
        let groups: Vec<GroupCount> = (1..=8)
            .map(|events| GroupCount {
                arrivals: 10,
                events,
            })
            .collect();
        let estimate = ratio_estimate(&groups, 160, 0.5);
        assert!((estimate.value - 72.0).abs() < 1e-9);
        let expected = 5.408 * 2.0 * (42.0f64 / 7.0 * 8.0 * 0.5).sqrt();
        assert!((estimate.margin.unwrap_or(0.0) - expected).abs() < 1e-9);
    }
}
