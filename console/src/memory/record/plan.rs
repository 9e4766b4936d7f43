//! The plan that records memory accesses, and the part of a report that belongs to it.

use std::process;

use veneer_client::plan_text::literal;
use veneer_instruments::PointRow;
use veneer_protocol::Report;

use crate::initialisers::with_initialisers;

/// The pattern of all methods that can be recorded.
pub const EVERY_METHOD: &str = "*..*";
/// The line of `memory(…)` that asks for the lines that threads share.
pub const SHARING: &str = "sharing";
/// The line of `memory(…)` that asks for a sample.
pub const SAMPLE: &str = "sample";
/// The line of `memory(…)` that asks for the allocation sites of accessed objects.
pub const OBJECTS: &str = "objects";
/// The line of `memory(…)` that asks for miss-ratio curves.
pub const CURVE: &str = "curve";
/// The most points of each instrument.
const MAX_POINTS: u32 = 5_000_000;

/// The names of the instruments of a recording. They distinguish the recordings of several commands.
pub struct RecordingPlan {
    accesses: String,
    allocations: String,
    patterns: Vec<String>,
    /// The descriptions of the caches, as text.
    caches: Vec<String>,
    /// The sampling interval, if heap allocations are recorded in place of accesses.
    heap: Option<u64>,
}

/// The points of a recording, with the counts of allocations.
#[derive(Debug, Default)]
pub struct RecordedPoints {
    /// The instructions that access memory.
    pub accesses: Vec<PointRow>,
    /// The instructions that allocate.
    pub allocations: Vec<PointRow>,
    /// The methods whose instructions are not recorded, each with the code of the reason.
    pub refused: Vec<String>,
}

impl RecordingPlan {
    /// A recording of these methods by this command.
    pub fn new(patterns: Vec<String>, caches: Vec<String>) -> RecordingPlan {
        let name = |what| format!("veneer memory {}: {what}", process::id());
        RecordingPlan {
            accesses: name("accesses"),
            allocations: name("allocations"),
            patterns,
            caches,
            heap: None,
        }
    }

    /// A recording of the allocations of these methods, with samples of the heap.
    pub fn of_heap(patterns: Vec<String>, interval: u64) -> RecordingPlan {
        RecordingPlan {
            heap: Some(interval),
            ..RecordingPlan::new(patterns, Vec::new())
        }
    }

    /// Whether heap allocations are recorded in place of accesses.
    pub fn is_of_heap(&self) -> bool {
        self.heap.is_some()
    }

    /// The patterns of the recorded methods.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// The descriptions of the caches.
    pub fn caches(&self) -> &[String] {
        &self.caches
    }

    fn is_sampled(&self) -> bool {
        self.caches.iter().any(|line| line == SAMPLE)
    }

    /// The plan that attaches the instruments.
    pub fn source(&self) -> String {
        let patterns = with_initialisers(self.patterns.clone());
        let patterns: Vec<String> = patterns.iter().map(|pattern| literal(pattern)).collect();
        if let Some(interval) = self.heap {
            return format!(
                "let m = methods([{}]).limit({MAX_POINTS});\n\
                 let a = m.around(heap(\"{interval}\").named({}));\n",
                patterns.join(", "),
                literal(&self.accesses),
            );
        }
        let accesses = format!(
            "let m = methods([{}]).limit({MAX_POINTS});\n\
             let a = m.around(memory({}).named({}));\n",
            patterns.join(", "),
            literal(&self.caches.join("\n")),
            literal(&self.accesses),
        );
        // A sample has the allocations in its windows.
        let allocations = match self.is_sampled() {
            true => "let n = a;\n".to_owned(),
            false => format!(
                "let n = m.allocations().before(counter().named({}));\n",
                literal(&self.allocations)
            ),
        };
        accesses + allocations.as_str()
    }

    /// The plan, and the line that names the instruments and the directory of the recording as JSON.
    pub fn held_source(&self) -> String {
        let ids = match self.is_of_heap() {
            true => "a.id()",
            false => "a.id(), n.id()",
        };
        let source = self.source();
        format!(
            "{source}print(#{{ ids: [{ids}], directory: a.recording().directory }}.to_json());\n"
        )
    }

    /// Selects the points of this recording from a report.
    pub fn points(&self, report: Report) -> RecordedPoints {
        // A refusal of one position of a method (`run()V@12`) does not concern its points.
        let whole = report.refusals.iter();
        let whole = whole.filter(|row| row.method.contains('(') && !row.method.contains('@'));
        let mut points = RecordedPoints {
            refused: whole
                .map(|row| format!("{}::{} ({})", row.class, row.method, row.reason))
                .collect(),
            ..RecordedPoints::default()
        };
        for instrument in report.instruments {
            if instrument.name == self.accesses {
                points.accesses.extend(instrument.points);
            } else if instrument.name == self.allocations {
                points.allocations.extend(instrument.points);
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::PlanSource;

    #[test]
    fn a_plan_of_the_heap_is_a_program_with_the_interval() {
        let plan = RecordingPlan::of_heap(vec!["a..*".into()], 65_536);
        let source = plan.held_source();
        assert!(source.contains(r#"heap("65536")"#), "{source}");
        crate::plans::check_plan(&PlanSource {
            name: "memory".into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
        })
        .unwrap();
    }

    #[test]
    fn the_plan_is_a_program_with_the_caches() {
        let caches = ["L1:1K/2/64".to_owned(), "dj".to_owned()];
        let plan = RecordingPlan::new(vec!["a..*".into(), "b.C".into()], caches.to_vec());
        let source = plan.held_source();
        assert!(source.contains(r#"memory("L1:1K/2/64\ndj")"#), "{source}");
        crate::plans::check_plan(&PlanSource {
            name: "memory".into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
        })
        .unwrap();
    }
}
