//! What a plan asks to have attached.

use crate::{ClassFacts, Kind, MethodPattern, Place, When};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// One instrument on a selection of points, of classes that are loaded and of those loaded later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// What the plan calls it; without it, tables show the display form of the spec.
    pub name: Option<String>,
    /// The plan that attaches it: its file name.
    pub plan: String,
    /// A method is selected when any of these matches.
    pub patterns: Vec<MethodPattern>,
    /// Of the methods that are selected and there, only those of these ids, and of classes loaded later none; with
    /// [`Place::Chosen`] in each these blocks.
    #[serde(default)]
    pub only: Option<BTreeMap<u32, Vec<u32>>>,
    /// The points in each selected method.
    pub place: Place,
    /// The side of each point.
    pub when: When,
    /// What is measured there.
    pub kind: Kind,
    /// It has no more points than these.
    #[serde(default = "limit")]
    pub limit: u32,
    /// Each point has a counter of its own, where the counts of most could follow from those of others.
    #[serde(default)]
    pub each: bool,
    /// It acts so many times at most, and is taken off when all are used up.
    #[serde(default)]
    pub times: Option<Times>,
    /// Of a timer of whole methods: activations that began before it was attached are measured from there on, in a row of their own.
    #[serde(default)]
    pub late: bool,
    /// What it may cost, as a share of the processor time of the whole process. When it costs more it is taken off.
    #[serde(default)]
    pub budget: Option<f64>,
}

/// How often an instrument acts at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// So many times.
    pub most: u64,
    /// At each of its points, not in all.
    pub each: bool,
}

/// Points of an instrument at most, where the plan does not say.
pub const LIMIT: u32 = 100_000;

fn limit() -> u32 {
    LIMIT
}

impl Spec {
    /// Whether a method is selected. `class` is dotted (`a.b.Outer$Inner`), `facts` are what is known of it beyond its name where a
    /// pattern asks for more, `id` is the method's, and the descriptor as in the class file.
    pub fn selects(
        &self,
        class: &str,
        facts: Option<&ClassFacts>,
        id: u32,
        (method, descriptor): (&str, &str),
    ) -> bool {
        let mut patterns = self.patterns.iter();
        match &self.only {
            // What the patterns ask beyond names was looked at when the methods were chosen.
            Some(only) => {
                only.contains_key(&id) && patterns.any(|p| p.matches(class, method, descriptor))
            }
            None => patterns.any(|p| p.selects(class, facts, method, descriptor)),
        }
    }

    /// The same for one method of those that it selects.
    pub fn of_method(&self, id: u32) -> Spec {
        let blocks = self.only.as_ref().and_then(|only| only.get(&id));
        let place = match (&self.place, blocks) {
            (Place::Chosen, Some(blocks)) => Place::Block(blocks.clone()),
            (place, _) => place.clone(),
        };
        Spec {
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

    /// Whether it counts every fragment or every edge of a method, so that most counts follow from the others.
    pub fn counts_all(&self) -> bool {
        let all = matches!(self.place, Place::Blocks | Place::Edges);
        let plain = self.kind == Kind::Counter && self.when == When::Before;
        all && plain && !self.each && self.times.is_none()
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind, self.when, self.place)?;
        for (i, pattern) in self.patterns.iter().enumerate() {
            write!(f, "{}{pattern}", if i == 0 { " of " } else { ", " })?;
        }
        Ok(())
    }
}
