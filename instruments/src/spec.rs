//! The specification of an instrument that a plan attaches.

use crate::{
    AdviceKind, ClassMetadata, InstrumentKind, MethodPattern, PointSelector, RecordingForm,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use veneer_names::MethodId;

/// One instrument at a selection of points, in loaded classes and in classes that are loaded later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstrumentSpec {
    /// The name given by the plan. Without a name, tables show the display form of the spec.
    pub name: Option<String>,
    /// The file name of the plan that attaches the instrument.
    pub plan: String,
    /// The patterns. A method is selected if any of them matches.
    pub patterns: Vec<MethodPattern>,
    /// If set, restricts the spec to the selected methods with these ids. Classes that are loaded
    /// later are not matched. With [`PointSelector::Chosen`], the value lists the basic blocks of
    /// each method.
    #[serde(default)]
    pub only: Option<BTreeMap<MethodId, Vec<u32>>>,
    /// The points in each selected method.
    pub place: PointSelector,
    /// The side of the points on which the instrument acts.
    pub when: AdviceKind,
    /// The action at each point.
    pub kind: InstrumentKind,
    /// The maximum number of points. [`Runtime::attach`](crate::Runtime::attach) fails if the
    /// selection has more points.
    #[serde(default = "limit")]
    pub limit: u32,
    /// Whether each point has a counter of its own. Otherwise the counts of most points are derived
    /// from spanning-tree counters.
    #[serde(default)]
    pub each: bool,
    /// The maximum number of times that the instrument acts. When the limit is reached, the agent
    /// detaches the instrument.
    #[serde(default)]
    pub times: Option<HitQuota>,
    /// For a timer of whole methods: whether activations that began before the timer was attached
    /// are measured from that time on, in a separate row.
    #[serde(default)]
    pub late: bool,
    /// The maximum cost, as a share of the processor time of the whole process. If the instrument
    /// costs more, the agent detaches it.
    #[serde(default)]
    pub budget: Option<f64>,
}

/// The maximum number of times that an instrument acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitQuota {
    /// The largest number of times.
    pub most: u64,
    /// Whether the limit applies to each point separately.
    pub each: bool,
}

/// The maximum number of points of an instrument, unless the plan sets a limit.
pub const DEFAULT_MAX_POINTS: u32 = 100_000;

fn limit() -> u32 {
    DEFAULT_MAX_POINTS
}

impl InstrumentSpec {
    /// Whether the spec selects a method.
    ///
    /// * `class` is the dotted class name (`a.b.Outer$Inner`).
    /// * `facts` are the properties of the class, which only some patterns need.
    /// * `id` is the id of the method.
    /// * `(method, descriptor)` are the method's name and its descriptor as in the class file.
    pub fn selects(
        &self,
        class: &str,
        facts: Option<&ClassMetadata>,
        id: MethodId,
        (method, descriptor): (&str, &str),
    ) -> bool {
        let mut patterns = self.patterns.iter();
        match &self.only {
            // The methods in `only` were chosen with the full patterns, so comparing the names is
            // enough here.
            Some(only) => {
                only.contains_key(&id) && patterns.any(|p| p.matches(class, method, descriptor))
            }
            None => patterns.any(|p| p.selects(class, facts, method, descriptor)),
        }
    }

    /// Returns the spec restricted to one of the methods that it selects.
    pub fn for_method(&self, id: MethodId) -> InstrumentSpec {
        let blocks = self.only.as_ref().and_then(|only| only.get(&id));
        let place = match (&self.place, blocks) {
            (PointSelector::Chosen, Some(blocks)) => PointSelector::Block(blocks.clone()),
            (place, _) => place.clone(),
        };
        InstrumentSpec {
            name: self.name.clone(),
            plan: self.plan.clone(),
            patterns: self.patterns.clone(),
            only: None,
            place,
            when: self.when,
            kind: self.kind.clone(),
            limit: self.limit,
            each: self.each,
            times: self.times,
            budget: self.budget,
            late: self.late,
        }
    }

    /// Whether the instrument records heap allocations.
    pub fn records_heap(&self) -> bool {
        matches!(&self.kind, InstrumentKind::Recorder(recorder) if recorder.form == RecordingForm::Heap)
    }

    /// Whether the instrument counts every fragment, every edge, or every call of a method. Most of
    /// its counts can then be derived from the others.
    pub fn has_derived_counts(&self) -> bool {
        let all = matches!(
            self.place,
            PointSelector::Blocks | PointSelector::Edges | PointSelector::CallGraph
        );
        let plain = self.kind == InstrumentKind::Counter && self.when == AdviceKind::Before;
        all && plain && !self.each && self.times.is_none()
    }
}

impl fmt::Display for InstrumentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind, self.when, self.place)?;
        for (i, pattern) in self.patterns.iter().enumerate() {
            write!(f, "{}{pattern}", if i == 0 { " of " } else { ", " })?;
        }
        Ok(())
    }
}
