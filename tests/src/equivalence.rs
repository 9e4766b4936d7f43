//! Compares derived counts with direct counts.
//!
//! A *derived* count is calculated from the counters of other fragments and edges of the method
//! (spanning-tree counters). A *direct* count has a counter of its own at the point. Both must be
//! equal.

use std::collections::BTreeMap;

use crate::report::{Point, Report};

/// The result of comparing the derived and the direct counts of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalence {
    /// Points at which both counts are equal.
    pub agree: usize,
    /// Points among `agree` that were passed at least once.
    pub passed: usize,
    /// Sum of the hits at the points of `agree`.
    pub hits: u64,
    /// One line for each point at which the counts differ, with both counts.
    pub differ: Vec<String>,
}

impl Equivalence {
    /// Compares the counters of a plan that counts each point twice: first derived, then directly.
    /// The order is reliable, because a report lists instruments in the order in which they were
    /// attached.
    pub fn from_report(report: &Report) -> Self {
        let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for point in report.points("counter") {
            all.entry(name(point)).or_default().push(point.hits);
        }
        let mut found = Self::default();
        for (point, counts) in all {
            match counts[..] {
                [flow, each] if flow == each => {
                    found.agree += 1;
                    found.passed += usize::from(flow > 0);
                    found.hits += flow;
                }
                _ => {
                    let line = format!("{point}: by flow and one by one {counts:?}");
                    found.differ.push(line);
                }
            }
        }
        found
    }
}

fn name(p: &Point) -> String {
    let to = p.to.map_or(String::new(), |to| format!(" -> f{to}"));
    let fragment = p.fragment.map_or(String::new(), |f| format!(" f{f}"));
    let what = p
        .what
        .as_deref()
        .map_or(String::new(), |what| format!(" {what}"));
    format!("{}::{}{fragment}{to}{what}", p.class, p.method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_with_different_counts_is_listed() -> Result<(), serde_json::Error> {
        let points = |a: u64, b: u64| {
            format!(
                r#"[{{"class":"A","method":"m()V","fragment":0,"hits":{a}}},{{"class":"A","method":"m()V","fragment":1,"hits":{b}}}]"#
            )
        };
        let instrument =
            |id: u32, p: String| format!(r#"{{"id":"i{id}","kind":"counter","points":{p}}}"#);
        let text = format!(
            r#"{{"schema":1,"instruments":[{},{}]}}"#,
            instrument(1, points(7, 3)),
            instrument(2, points(7, 4))
        );
        let found = Equivalence::from_report(&Report::parse(&text)?);
        assert_eq!((found.agree, found.passed, found.hits), (1, 1, 7));
        assert_eq!(
            found.differ,
            ["A::m()V f1: by flow and one by one [3, 4]".to_string()]
        );
        Ok(())
    }
}
