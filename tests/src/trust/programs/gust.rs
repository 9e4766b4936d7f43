//! What the storm's plan said when the JVM ended: how much it did, and what was refused.

use std::collections::BTreeMap;

/// Operations a second that a storm is to reach over its whole run; the plan tries to do some more.
pub const RATE: f64 = 200.0;

/// What a storm did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gust {
    /// From the first armed class to the end.
    pub seconds: f64,
    /// Attached, redirected, detached or refused.
    pub operations: u64,
    /// Instruments attached.
    pub attached: u64,
    /// Edges redirected to where they led.
    pub redirected: u64,
    /// Instruments and redirections taken off.
    pub detached: u64,
    /// Refused by Veneer, with the program left as it was.
    pub refused: u64,
    /// What the instruments counted that were taken off.
    pub hits: u64,
    /// Refusals by name.
    pub reasons: BTreeMap<String, u64>,
}

impl Gust {
    /// Reads the plan's lines out of the standard error of a run; none where they are not there.
    pub fn read(err: &str) -> Option<Self> {
        let mut gust = None;
        for line in err.lines().filter_map(|line| line.strip_prefix("storm: ")) {
            if let Some(rest) = line.strip_prefix("refused ") {
                let (count, name) = rest.split_once(" times: ")?;
                let gust: &mut Gust = gust.as_mut()?;
                gust.reasons.insert(name.to_string(), count.parse().ok()?);
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = |name: &str| {
                let at = words.iter().position(|word| *word == name)?;
                words.get(at + 1)?.parse::<f64>().ok()
            };
            gust = Some(Gust {
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
        gust
    }

    /// Operations a second.
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
        let gust = Gust::read(err).unwrap_or_default();
        assert_eq!((gust.operations, gust.hits, gust.rate()), (900, 77, 200.0));
        assert_eq!(gust.reasons.get("HandlerEdited"), Some(&7));
        assert_eq!(Gust::read("nothing"), None);
    }
}
