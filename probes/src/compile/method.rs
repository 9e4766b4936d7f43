//! A compiled probe.

use crate::step::{Kind, Label, Owner, Step};

/// A compiled probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The variables of the point that it is given, in order, as the application has them.
    pub reads: Vec<(String, Kind)>,
    /// Its own variables, behind those; each is to have a value before the first step.
    pub own: Vec<Kind>,
    /// What it does.
    pub steps: Vec<Step>,
    /// Words of the stack at most.
    pub max_stack: u16,
    /// The variable that says whether the thread is in a probe with calls because of this one: it has to leave it, whatever happens.
    pub entered: Option<u16>,
}

impl Method {
    /// The descriptor of the method.
    pub fn descriptor(&self) -> String {
        let words: String = self.reads.iter().map(|r| r.1.descriptor()).collect();
        format!("({words})V")
    }

    /// The same for the first so many passes that come to the cell, a word in memory.
    #[must_use]
    pub fn first(mut self, cell: i64, most: u64) -> Self {
        // No label of its own has this number: there are fewer than steps.
        let over = Label(u32::MAX);
        let guard = [
            Step::Long(cell),
            Step::Long(most as i64),
            Step::Helper {
                of: Owner::Probe,
                name: "first",
                descriptor: "(JJ)Z".into(),
            },
            Step::IfZero(over),
        ];
        self.steps.splice(0..0, guard);
        self.steps.extend([Step::Here(over), Step::Return]);
        self.max_stack = self.max_stack.max(4);
        self
    }

    /// The same with the places of tables in memory for their numbers.
    #[must_use]
    pub fn placed(mut self, place: &dyn Fn(u32) -> i64) -> Self {
        for step in &mut self.steps {
            if let Step::Table(n) = step {
                *step = Step::Long(place(*n));
            }
        }
        self
    }
}
