//! The totals of a check: for each path, for each policy, and for each kind of refusal.

use std::collections::BTreeMap;

use serde::Serialize;
use veneer_fragmenter::Refusal;

/// The step at which a method was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStage {
    /// Arming without a plan that names the method.
    Arm,
    /// Arming with a plan that names the method.
    Named,
    /// Emitting a version with a counter on each block.
    Emit,
    /// Emitting a version with an edit.
    Edit,
    /// A single place of an armed method has no capture point.
    Place,
}

impl CheckStage {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            CheckStage::Arm => "arm",
            CheckStage::Named => "arm by name",
            CheckStage::Emit => "emit",
            CheckStage::Edit => "emit edited",
            CheckStage::Place => "place",
        }
    }
}

/// A failure: the check of a class or method did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckFailure {
    /// Name with dots. If the class file cannot be parsed, the name according to its path.
    pub class: String,
    /// Name and descriptor. Empty for the whole class.
    pub method: String,
    /// The step that failed: `read`, `write`, `arm loop`, `emit loop`, `prove loop` …
    pub doing: String,
    pub reason: String,
}

/// A method for which HotSpot's analysis of null pointers is unsound, with or without Veneer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnsafeNullMessage {
    /// Name with dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The first inconsistency of the analysis.
    pub reason: String,
}

/// The totals under one policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyTotals {
    /// Methods that are armed without being named.
    pub armed: u64,
    /// Methods that are armed if a plan names them.
    pub named: u64,
    /// Methods with versions for new and running activations, in which each block is counted.
    pub emitted: u64,
    /// Capture points of the methods in `named`.
    pub points: u64,
    /// Versions with an edit.
    pub edited: u64,
    /// Armed bodies and versions that the checker proved.
    pub proved: u64,
    /// Number of refusals, by step and name.
    pub refused: BTreeMap<(CheckStage, String), u64>,
}

/// The totals of a class, of a path, or of all paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckTotals {
    /// Number of classes that were read.
    pub classes: u64,
    /// Number of classes that are written byte for byte as they were read.
    pub identical: u64,
    /// Number of methods with code.
    pub methods: u64,
    /// Number of static initialisers among them. They are armed if a pattern names them.
    pub initialisers: u64,
    /// Number of classes that the agent never arms, because its cells depend on them.
    pub on_cell_path: u64,
    /// Number of methods with code in these classes.
    pub methods_on_cell_path: u64,
    /// The smallest and the largest class-file version.
    pub versions: Option<(u16, u16)>,
    /// In the order of the policies on the command line.
    pub policies: Vec<PolicyTotals>,
    pub failures: Vec<CheckFailure>,
    /// Methods in which `NullPointerException.getMessage` can crash HotSpot.
    pub unsafe_null_messages: Vec<UnsafeNullMessage>,
    /// Processor time of all threads, in nanoseconds.
    pub nanos: u64,
}

impl PolicyTotals {
    /// Counts a refusal of `n` methods or places.
    pub fn refuse(&mut self, stage: CheckStage, reason: &Refusal, n: u64) {
        if n > 0 {
            *self
                .refused
                .entry((stage, reason.name().to_string()))
                .or_default() += n;
        }
    }

    fn add(&mut self, other: PolicyTotals) {
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

impl CheckTotals {
    /// Adds other totals.
    pub fn add(&mut self, other: CheckTotals) {
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
                .resize(other.policies.len(), PolicyTotals::default());
        }
        for (mine, theirs) in self.policies.iter_mut().zip(other.policies) {
            mine.add(theirs);
        }
        self.failures.extend(other.failures);
        self.unsafe_null_messages.extend(other.unsafe_null_messages);
        self.nanos += other.nanos;
    }

    /// Average processor time for a class, in microseconds.
    pub fn micros(&self) -> f64 {
        self.nanos as f64 / 1000.0 / self.classes.max(1) as f64
    }
}

/// Returns `part` of `whole` in percent. If the whole is 0, returns 100.
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
    fn all_totals_are_added() {
        let one = |version: u16, armed: u64| {
            let mut policy = PolicyTotals {
                armed,
                ..PolicyTotals::default()
            };
            policy.refuse(CheckStage::Arm, &Refusal::MonitorHeld, 2);
            CheckTotals {
                classes: 1,
                versions: Some((version, version)),
                policies: vec![policy],
                ..CheckTotals::default()
            }
        };
        let mut sum = CheckTotals::default();
        sum.add(one(61, 3));
        sum.add(one(45, 4));
        assert_eq!((sum.classes, sum.versions), (2, Some((45, 61))));
        assert_eq!(sum.policies[0].armed, 7);
        let key = (CheckStage::Arm, "MonitorHeld".to_string());
        assert_eq!(sum.policies[0].refused.get(&key), Some(&4));
        assert_eq!((percent(1, 4), percent(0, 0)), (25.0, 100.0));
    }
}
