//! The prediction of what a method's speed-up would gain, from windows with and without a virtual one.
//!
//! The virtual length of a window is its real length without the delays (Curtsinger and Berger, Coz, SOSP
//! 2015, section 3.4). A program that makes the same progress in less virtual time would be faster by as
//! much if the method itself took less time. The windows of a block are A, B, B, A, as for [`crate::Judge`],
//! so a load that rises steadily cancels out. Each neighbouring A and B are a pair. The interval is that of
//! Student's t for the mean of the logarithms of the pairs' ratios.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The probability that the interval misses the gain.
const OUTSIDE: f64 = 0.05;

/// A window of an experiment with a virtual speed-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedupMeasurement {
    /// The part of its time that the method seemed to save; 0 in windows without a speed-up.
    pub share: f64,
    /// The real length of the window in seconds.
    pub seconds: f64,
    /// The delay of each other thread in seconds.
    pub delayed: f64,
    /// The time that threads spent in the method in seconds, summed over the threads.
    pub inside: f64,
    /// The progress of the program: passes of a point.
    pub progress: f64,
}

/// The predicted gain from the speed-up of a method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The pattern that selects the method.
    pub method: String,
    /// The point whose passes are the progress, in words.
    pub progress: Option<String>,
    /// The part of its time that the method seemed to save.
    pub share: Option<f64>,
    /// The part of its time that the program would save.
    pub saved: Option<f64>,
    /// The lower end of the confidence interval of `saved`.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The progress per second without the speed-up.
    pub rate: Option<f64>,
    /// Why there is no prediction.
    pub reason: Option<String>,
    /// The windows in their order.
    pub windows: Vec<SpeedupMeasurement>,
}

impl SpeedupMeasurement {
    /// The progress per second of virtual time. `None` if there was no progress, or no time for it.
    fn rate(&self) -> Option<f64> {
        let virtual_seconds = self.seconds - self.delayed;
        let rate = self.progress / virtual_seconds;
        (virtual_seconds > 0.0 && rate > 0.0 && rate.is_finite()).then_some(rate)
    }
}

impl Prediction {
    /// A prediction without windows.
    pub fn of_method(method: &str) -> Prediction {
        Prediction {
            method: method.to_owned(),
            ..Prediction::default()
        }
    }

    /// Predicts from the windows so far. Windows at the end that are no pair are left out.
    pub fn predict(&mut self) {
        (self.share, self.saved, self.low, self.high) = (None, None, None, None);
        (self.rate, self.reason) = (None, None);
        match self.evaluate() {
            Ok(()) => {}
            Err(reason) => self.reason = Some(reason.to_owned()),
        }
    }

    fn evaluate(&mut self) -> Result<(), &'static str> {
        let pairs: Vec<_> = self
            .windows
            .as_chunks::<2>()
            .0
            .iter()
            .map(ordered)
            .collect();
        if pairs.iter().all(|(_, faster)| faster.share <= 0.0) {
            return Err("the experiment ended before the first pair of windows");
        }
        if self.windows.iter().all(|window| window.inside <= 0.0) {
            return Err("no thread was seen in the method; virtual threads are not seen");
        }
        let mut values = Vec::new();
        let mut rates = Vec::new();
        for (plain, faster) in &pairs {
            let (Some(before), Some(after)) = (plain.rate(), faster.rate()) else {
                return Err("the program made no progress in a window");
            };
            values.push((after / before).ln());
            rates.push(before);
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        self.share = pairs.first().map(|(_, faster)| faster.share);
        self.rate = Some(rates.iter().sum::<f64>() / count);
        // The ratio of the rates is that of the times, turned round.
        let saved = |log_ratio: f64| 1.0 - (-log_ratio).exp();
        self.saved = Some(saved(mean));
        if let Some(half) = half_width(&values, mean) {
            self.low = Some(saved(mean - half));
            self.high = Some(saved(mean + half));
        }
        Ok(())
    }
}

/// The windows of a pair: without the speed-up, and with it.
fn ordered(pair: &[SpeedupMeasurement; 2]) -> (SpeedupMeasurement, SpeedupMeasurement) {
    let [first, second] = *pair;
    match first.share > second.share {
        true => (second, first),
        false => (first, second),
    }
}

/// Half of the confidence interval of the mean. `None` for fewer than two values.
fn half_width(values: &[f64], mean: f64) -> Option<f64> {
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    let width = student.inverse_cdf(1.0 - OUTSIDE / 2.0) * (squares / (count - 1.0) / count).sqrt();
    width.is_finite().then_some(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(share: f64, seconds: f64, delayed: f64, progress: f64) -> SpeedupMeasurement {
        SpeedupMeasurement {
            share,
            seconds,
            delayed,
            inside: 0.8,
            progress,
        }
    }

    fn predicted(windows: Vec<SpeedupMeasurement>) -> Prediction {
        let mut prediction = Prediction {
            windows,
            ..Prediction::of_method("a.B::m(..)")
        };
        prediction.predict();
        prediction
    }

    #[test]
    fn time_that_is_only_delayed_is_gained() {
        // The progress per real second is the same, but 0.4 s of each second are delays.
        let block = [
            window(0.0, 1.0, 0.0, 50.0),
            window(0.5, 1.0, 0.4, 50.0),
            window(0.5, 1.0, 0.4, 51.0),
            window(0.0, 1.0, 0.0, 51.0),
        ];
        let found = predicted(block.repeat(3));
        assert!(
            found.saved.is_some_and(|s| (s - 0.4).abs() < 1e-9),
            "{found:?}"
        );
        assert_eq!((found.share, found.rate), (Some(0.5), Some(50.5)));
        assert!(found.low <= found.saved && found.saved <= found.high);
    }

    #[test]
    fn delays_that_cost_as_much_progress_are_no_gain() {
        let pair = [window(0.0, 1.0, 0.0, 100.0), window(0.5, 1.0, 0.4, 60.0)];
        let found = predicted(pair.to_vec());
        assert!(found.saved.is_some_and(|s| s.abs() < 1e-9), "{found:?}");
        assert_eq!(
            (found.low, found.high),
            (None, None),
            "one pair has no interval"
        );
    }

    #[test]
    fn nineteen_of_twenty_intervals_enclose_the_gain() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut noisy = |mean: f64| {
            let sum: f64 = (0..12).map(|_| random.f64() - 0.5).sum();
            mean * (1.0 + 0.05 * sum)
        };
        let mut enclosed = 0;
        for _ in 0..1_000 {
            let windows = (0..20).map(|n| match n % 4 {
                0 | 3 => window(0.0, 1.0, 0.0, noisy(100.0)),
                _ => window(0.5, 1.0, 0.45, noisy(100.0)),
            });
            let found = predicted(windows.collect());
            let (Some(low), Some(high)) = (found.low, found.high) else {
                panic!("{found:?}");
            };
            enclosed += u32::from((low..=high).contains(&0.45));
        }
        assert!((930..=970).contains(&enclosed), "{enclosed} of 1,000");
    }

    #[test]
    fn a_prediction_that_is_not_possible_has_a_reason() {
        let none = predicted(vec![window(0.0, 1.0, 0.0, 9.0)]);
        assert!(none.reason.is_some_and(|r| r.contains("first pair")));
        let still = predicted(vec![window(0.0, 1.0, 0.0, 9.0), window(0.5, 1.0, 0.1, 0.0)]);
        assert!(still.reason.is_some_and(|r| r.contains("no progress")));
        let mut outside = [window(0.0, 1.0, 0.0, 9.0), window(0.5, 1.0, 0.0, 9.0)];
        outside.iter_mut().for_each(|w| w.inside = 0.0);
        let unseen = predicted(outside.to_vec());
        assert!(unseen.saved.is_none());
        assert!(
            unseen
                .reason
                .is_some_and(|r| r.contains("no thread was seen"))
        );
    }
}
