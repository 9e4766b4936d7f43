//! Facts of the driver: evidence of findings that samples do not show, and what was not seen at all.

use std::collections::BTreeMap;

use crate::cause::Cause;
use crate::hypothesis::Hypothesis;
use crate::observation::Fact;
use crate::place::{MethodId, Place};

/// The most facts that are kept. Later facts are ignored, because a driver that sends facts without
/// end must not fill the memory.
const MAX_FACTS: usize = 100_000;
/// The most remarks that are kept.
const MAX_REMARKS: usize = 100;

/// All facts that a driver sent.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    places: BTreeMap<(Option<MethodId>, Option<u32>), Vec<Fact>>,
    count: usize,
    not_seen: Vec<(Cause, String)>,
}

impl Facts {
    /// Adds a fact, unless the same fact is known.
    pub fn add(&mut self, fact: Fact) {
        let known = self.places.entry((fact.method, fact.line)).or_default();
        if self.count < MAX_FACTS && !known.contains(&fact) {
            known.push(fact);
            self.count += 1;
        }
    }

    /// Adds a remark about a cause that the driver does not see, unless the same remark is known.
    pub fn add_not_seen(&mut self, cause: Cause, reason: String) {
        let remark = (cause, reason);
        if self.not_seen.len() < MAX_REMARKS && !self.not_seen.contains(&remark) {
            self.not_seen.push(remark);
        }
    }

    /// Returns the facts that support a hypothesis: those about its line, or about its method if it
    /// has no line, and then those about the whole program.
    pub fn supporting(&self, hypothesis: Hypothesis) -> Vec<&Fact> {
        let line = match hypothesis.place {
            Place::Method(_) | Place::Loop { .. } => None,
            Place::Block { line, .. } => Some(line),
        };
        let method = Some(hypothesis.place.method());
        let keys = [(method, line), (None, None)];
        let facts = keys.iter().filter_map(|key| self.places.get(key)).flatten();
        facts
            .filter(|fact| fact.causes.is_empty() || fact.causes.contains(&hypothesis.cause))
            .collect()
    }

    /// Returns the causes that the driver does not see, with the reasons.
    pub fn not_seen(&self) -> &[(Cause, String)] {
        &self.not_seen
    }
}
