//! Readings of instruments, and lists of classes, methods and instruments.

use super::RuntimeHandle;
use crate::classes::class_names;
use crate::classes::plan_pattern::PlanPattern;
use crate::classes::queries;
use crate::classes::retransform;
use crate::data::rings::DrainedEvent;
use crate::plans::instrument_registry::{InstalledPoint, InstrumentTable};
use crate::plans::readings::installed_points;
use crate::weaving::changed_classes::settled_classes;
use std::collections::HashSet;
use veneer_instruments::{
    ArmedClass, ArmedMethod, Graph, InstrumentId, InstrumentSummary, LogEvent, MethodPattern,
    RandomSample,
};

impl RuntimeHandle {
    /// Returns the last `last` events of a log, newest last.
    pub(super) fn logged_events(&self, id: InstrumentId, last: usize) -> Vec<LogEvent> {
        let agent = self.agent;
        agent.rings.drain();
        let points = installed_points(agent, id);
        let mut events: Vec<LogEvent> = Vec::new();
        for point in &points {
            let Some(log) = point.slot.log_point() else {
                continue;
            };
            let drained = agent.rings.last_events(log, last).into_iter();
            events.extend(drained.map(|e| event(point, e, agent.nano_began)));
        }
        newest(events, last)
    }

    pub(super) fn armed_methods(
        &self,
        patterns: &[MethodPattern],
        sample: Option<RandomSample>,
    ) -> Vec<ArmedMethod> {
        queries::armed_methods(self.agent, self.env(), patterns, sample)
    }

    pub(super) fn flow_graphs(&self, patterns: &[MethodPattern]) -> Vec<Graph> {
        settled_classes(self.agent, self.env(), patterns);
        queries::flow_graphs(self.agent, self.env(), patterns)
    }

    /// Arms the loaded classes that the patterns select, and returns them with their methods.
    pub(super) fn described_classes(&self, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
        self.arm_matching_classes(patterns);
        self.refresh_patterns();
        queries::describe_classes(self.agent, self.env(), patterns)
    }

    /// Arms the loaded classes that the patterns select. Returns whether a class was armed.
    ///
    /// While the classes are retransformed, the hook must select them. So the caller calls
    /// `refresh_patterns` only afterwards.
    pub(super) fn arm_matching_classes(&self, patterns: &[MethodPattern]) -> bool {
        let agent = self.agent;
        let mut all = agent.plan_patterns().to_vec();
        all.extend(patterns.iter().cloned().map(PlanPattern::of_methods));
        agent.set_plan_patterns(all);
        retransform::arm_loaded_classes(agent, self.env(), patterns, None)
    }

    /// Returns all instruments, attached and detached.
    pub(super) fn summaries(&self) -> Vec<InstrumentSummary> {
        summaries(&self.agent.table.lock())
    }

    pub(super) fn completions(&self, beginning: &str, limit: usize) -> Vec<String> {
        class_names::complete(self.agent.tool, self.env(), beginning, limit)
    }
}

/// The form of an event in plans. Its time counts from the start of the agent.
fn event(point: &InstalledPoint, drained: DrainedEvent, nano_began: u64) -> LogEvent {
    LogEvent {
        class: point.class.to_string(),
        method: point.method.to_string(),
        fragment: point.fragment,
        line: point.line,
        thread: drained.thread,
        time_ns: drained.time_ns.saturating_sub(nano_began),
        values: point.values.iter().cloned().zip(drained.values).collect(),
    }
}

/// The newest `last` events, by time.
fn newest(mut events: Vec<LogEvent>, last: usize) -> Vec<LogEvent> {
    events.sort_by_key(|e| e.time_ns);
    let skip = events.len().saturating_sub(last);
    events.split_off(skip)
}

fn summaries(table: &InstrumentTable) -> Vec<InstrumentSummary> {
    let all = table.numbered();
    all.map(|(id, i)| InstrumentSummary {
        id,
        name: i.name(),
        kind: i.spec.kind.to_string(),
        plan: i.spec.plan.clone(),
        methods: i.method_count(),
        classes: i
            .points
            .iter()
            .map(|p| &p.class)
            .collect::<HashSet<_>>()
            .len(),
        matched: i.tried.len(),
        points: i.points.len(),
        attached: i.attached,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::instrument_registry::tests::{instrument, point};
    use veneer_instruments::{EventValue, InstrumentKind};

    fn drained(time_ns: u64) -> DrainedEvent {
        DrainedEvent {
            time_ns,
            thread: 7,
            values: vec![EventValue::Int(1), EventValue::Int(2)],
        }
    }

    #[test]
    fn an_event_has_the_names_of_its_point_and_the_time_since_the_start() {
        let mut log = point(1, 1, 5);
        log.values = vec!["a".into(), "b".into()];
        let one = event(&log, drained(1_500), 1_000);
        assert_eq!(
            (one.class.as_str(), one.thread, one.time_ns),
            ("C1", 7, 500)
        );
        let names: Vec<&str> = one.values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(event(&log, drained(900), 1_000).time_ns, 0);
    }

    #[test]
    fn the_newest_events_of_all_points_are_sorted_by_time() {
        let at = |time| event(&point(1, 1, 5), drained(time), 0);
        let events = vec![at(5), at(1), at(9), at(3)];
        let times = |last| -> Vec<u64> {
            newest(events.clone(), last)
                .iter()
                .map(|e| e.time_ns)
                .collect()
        };
        assert_eq!(times(2), [5, 9]);
        assert_eq!(times(10), [1, 3, 5, 9]);
        assert_eq!(times(0), [0; 0]);
    }

    #[test]
    fn summaries_have_the_spec_as_name_if_the_plan_gave_none() {
        let mut table = InstrumentTable::default();
        let mut unnamed = instrument(InstrumentKind::Counter);
        unnamed.spec.name = None;
        unnamed.attached = false;
        let spec = unnamed.spec.to_string();
        table.add(instrument(InstrumentKind::Timer));
        table.add(unnamed);
        let all = summaries(&table);
        let found: Vec<_> = all
            .iter()
            .map(|s| (s.id.0, s.name.as_str(), s.attached))
            .collect();
        assert_eq!(found, [(1, "calls", true), (2, spec.as_str(), false)]);
    }
}
