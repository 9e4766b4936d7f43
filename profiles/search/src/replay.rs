//! Drivers without probes: the live driver that samples stacks only, and the replay of its record.
//!
//! Both answer each request of the search in the same way, so a record needs no answers. With the
//! settings of the record, a replay therefore has the result of the live search. With other settings
//! it has the result that a live search with these settings would have had from the same samples,
//! except that the rate of the samples stays the recorded one.

use crate::Search;
use crate::observation::Observation;
use crate::request::Request;
use crate::settings::{Settings, SettingsError};

/// The reason for which a driver without probes refuses them.
const NO_PROBES: &str = "this command measures by stack samples alone";

/// Answers all requests of a search whose driver samples stacks and has no probes. Returns the rate
/// of samples per second, if the search asked for another one.
pub fn answer_without_probes(search: &mut Search) -> Option<f64> {
    let mut rate = None;
    for request in search.requests() {
        match request {
            Request::Sample { hertz } => rate = Some(hertz),
            Request::Attach { probe, .. } => search.observe(Observation::Refused {
                probe,
                reason: NO_PROBES.to_owned(),
            }),
            // Samples show the callees.
            Request::Callees { of } | Request::Receivers { of } => {
                search.observe(Observation::Callees {
                    of,
                    callees: Vec::new(),
                    complete: true,
                });
            }
            // Samples show the roots.
            Request::Roots | Request::Detach { .. } => {}
        }
    }
    rate
}

/// A search that takes recorded observations.
#[derive(Clone, Debug)]
pub struct Replay {
    search: Search,
    /// The length after which measurements are ignored, in seconds.
    length: f64,
}

impl Replay {
    /// Returns a replay that ignores the measurements after the first `length` seconds.
    ///
    /// # Errors
    /// A setting is not valid.
    pub fn new(settings: Settings, length: f64) -> Result<Replay, SettingsError> {
        let mut search = Search::new(settings)?;
        answer_without_probes(&mut search);
        Ok(Replay { search, length })
    }

    /// Takes the next observation of the record.
    pub fn observe(&mut self, observation: Observation) {
        let is_measurement = !matches!(
            observation,
            Observation::Fact(_) | Observation::NotSeen { .. }
        );
        if is_measurement && self.search.seconds >= self.length {
            return;
        }
        let is_window_end = matches!(observation, Observation::WindowEnd { .. });
        self.search.observe(observation);
        if is_window_end {
            answer_without_probes(&mut self.search);
        }
    }

    /// Returns the search.
    pub fn search(&self) -> &Search {
        &self.search
    }
}
