//! What came out of a check, added up: for a path, for a policy, for a refusal by name.

use std::collections::BTreeMap;

use serde::Serialize;
use veneer_fragmenter::Refusal;

/// What was done to a method when it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Arming, without a plan that names the method.
    Arm,
    /// Arming where a plan names it.
    Named,
    /// Emitting a version with a counter on each block.
    Emit,
    /// Emitting a version with an edit.
    Edit,
    /// A single place of an armed method gets no capture point.
    Place,
}

impl Stage {
    /// In tables.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Arm => "arm",
            Stage::Named => "arm by name",
            Stage::Emit => "emit",
            Stage::Edit => "emit edited",
            Stage::Place => "place",
        }
    }
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Dotted; where the class file does not say, the name of its place.
    pub class: String,
    /// Name and descriptor; empty: the whole class.
    pub method: String,
    /// What was being done: `read`, `write`, `arm loop`, `emit loop`, `prove loop` …
    pub doing: String,
    /// What is wrong.
    pub reason: String,
}

/// Figures of one policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByPolicy {
    /// Methods that are armed without being named.
    pub armed: u64,
    /// Methods that are armed where a plan names them.
    pub named: u64,
    /// Methods with versions for new and running activations, each block counted.
    pub emitted: u64,
    /// Capture points of the armed methods (named).
    pub points: u64,
    /// Versions with an edit.
    pub edited: u64,
    /// Armed bodies and versions that the checker proved.
    pub proved: u64,
    /// How often each refusal came.
    pub refused: BTreeMap<(Stage, String), u64>,
}

/// Figures of a class, a path, or of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Classes read.
    pub classes: u64,
    /// Classes that are written byte for byte as they were.
    pub identical: u64,
    /// Methods with code.
    pub methods: u64,
    /// Static initialisers among them: they are armed where a pattern names them.
    pub initialisers: u64,
    /// Classes that the agent never arms, because its cells need them.
    pub on_cell_path: u64,
    /// Methods with code in those.
    pub methods_on_cell_path: u64,
    /// The least and the greatest class-file version.
    pub versions: Option<(u16, u16)>,
    /// By policy, in the order of the command.
    pub policies: Vec<ByPolicy>,
    /// What is not as it must be.
    pub failures: Vec<Failure>,
    /// Processor time of all threads, in nanoseconds.
    pub nanos: u64,
}

impl ByPolicy {
    /// Counts a refusal; `n` methods or places.
    pub fn refuse(&mut self, stage: Stage, reason: &Refusal, n: u64) {
        if n > 0 {
            *self.refused.entry((stage, reason.name())).or_default() += n;
        }
    }

    fn add(&mut self, other: ByPolicy) {
        self.armed += other.armed;
        self.named += other.named;
        self.emitted += other.emitted;
        self.points += other.points;
        self.edited += other.edited;
        self.proved += other.proved;
        for (key, n) in other.refused {
            *self.refused.entry(key).or_default() += n;
        }
    }
}

impl Tally {
    /// Takes another one in.
    pub fn add(&mut self, other: Tally) {
        self.classes += other.classes;
        self.identical += other.identical;
        self.methods += other.methods;
        self.initialisers += other.initialisers;
        self.on_cell_path += other.on_cell_path;
        self.methods_on_cell_path += other.methods_on_cell_path;
        self.versions = match (self.versions, other.versions) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        if self.policies.len() < other.policies.len() {
            self.policies
                .resize(other.policies.len(), ByPolicy::default());
        }
        for (mine, theirs) in self.policies.iter_mut().zip(other.policies) {
            mine.add(theirs);
        }
        self.failures.extend(other.failures);
        self.nanos += other.nanos;
    }

    /// Microseconds of processor time that a class took, on average.
    pub fn micros(&self) -> f64 {
        self.nanos as f64 / 1000.0 / self.classes.max(1) as f64
    }
}

/// `part` of `whole`, in percent; of nothing, all.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        100.0
    } else {
        100.0 * part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_everything() {
        let one = |version: u16, armed: u64| {
            let mut policy = ByPolicy {
                armed,
                ..ByPolicy::default()
            };
            policy.refuse(Stage::Arm, &Refusal::MonitorHeld, 2);
            Tally {
                classes: 1,
                versions: Some((version, version)),
                policies: vec![policy],
                ..Tally::default()
            }
        };
        let mut sum = Tally::default();
        sum.add(one(61, 3));
        sum.add(one(45, 4));
        assert_eq!((sum.classes, sum.versions), (2, Some((45, 61))));
        assert_eq!(sum.policies[0].armed, 7);
        let key = (Stage::Arm, "MonitorHeld".to_string());
        assert_eq!(sum.policies[0].refused.get(&key), Some(&4));
        assert_eq!((percent(1, 4), percent(0, 0)), (25.0, 100.0));
    }
}
