//! The summary that the plan of a storm prints when the JVM ends: its operations and the refusals.

use std::collections::BTreeMap;

/// The target rate of a storm in operations per second over its whole run. The plan attempts
/// slightly more.
pub const RATE: f64 = 200.0;

/// The summary of a storm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StormSummary {
    /// Seconds from the first armed class to the end.
    pub seconds: f64,
    /// Number of operations: attached, redirected, detached and refused.
    pub operations: u64,
    /// Number of attached instruments.
    pub attached: u64,
    /// Number of edges that were redirected to their original target.
    pub redirected: u64,
    /// Number of instruments and redirections that were detached.
    pub detached: u64,
    /// Number of operations that Veneer refused. These leave the program unchanged.
    pub refused: u64,
    /// Sum of the hits of the detached instruments.
    pub hits: u64,
    /// Number of refusals by code.
    pub reasons: BTreeMap<String, u64>,
}

impl StormSummary {
    /// Parses the plan's lines in the standard error of a run. Returns `None` if there are none.
    pub fn read(err: &str) -> Option<Self> {
        let mut summary = None;
        for line in err.lines().filter_map(|line| line.strip_prefix("storm: ")) {
            if let Some(rest) = line.strip_prefix("refused ") {
                let (count, name) = rest.split_once(" times: ")?;
                let summary: &mut StormSummary = summary.as_mut()?;
                summary
                    .reasons
                    .insert(name.to_string(), count.parse().ok()?);
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = |name: &str| {
                let at = words.iter().position(|word| *word == name)?;
                words.get(at + 1)?.parse::<f64>().ok()
            };
            summary = Some(StormSummary {
                seconds: after("seconds")?,
                operations: after("operations")? as u64,
                attached: after("attached")? as u64,
                redirected: after("redirected")? as u64,
                detached: after("detached")? as u64,
                refused: after("refused")? as u64,
                hits: after("hits")? as u64,
                reasons: BTreeMap::new(),
            });
        }
        summary
    }

    /// Adds the storm of another run of the same program.
    pub fn add(&mut self, other: &StormSummary) {
        self.seconds += other.seconds;
        self.operations += other.operations;
        self.attached += other.attached;
        self.redirected += other.redirected;
        self.detached += other.detached;
        self.refused += other.refused;
        self.hits += other.hits;
        for (name, count) in &other.reasons {
            *self.reasons.entry(name.clone()).or_default() += count;
        }
    }

    /// The rate in operations per second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds.max(0.001)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_plan_says() {
        let err = "noise\nstorm: seconds 4.5 operations 900 attached 400 redirected 100 detached 390 refused 10 hits 77\n\
                   storm: refused 7 times: HandlerEdited\nstorm: refused 3 times: MonitorHeld\n";
        let summary = StormSummary::read(err).unwrap_or_default();
        assert_eq!(
            (summary.operations, summary.hits, summary.rate()),
            (900, 77, 200.0)
        );
        assert_eq!(summary.reasons.get("HandlerEdited"), Some(&7));
        assert_eq!(StormSummary::read("nothing"), None);
    }

    #[test]
    fn two_storms_are_added() {
        let mut one = StormSummary {
            seconds: 1.5,
            operations: 300,
            attached: 100,
            redirected: 20,
            detached: 110,
            refused: 70,
            hits: 5,
            reasons: [("MonitorHeld".to_string(), 70)].into(),
        };
        let mut other = one.clone();
        other.reasons.insert("BeforeSuper".into(), 1);
        one.add(&other);
        assert_eq!((one.seconds, one.operations, one.attached), (3.0, 600, 200));
        assert_eq!((one.redirected, one.detached, one.refused), (40, 220, 140));
        assert_eq!(one.hits, 10);
        let reasons = [("BeforeSuper".to_string(), 1), ("MonitorHeld".into(), 140)];
        assert_eq!(one.reasons, reasons.into());
    }
}
