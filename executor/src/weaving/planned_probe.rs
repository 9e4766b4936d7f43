//! One planned probe of an instrument: a point of a method with its sites, before counters are allocated, and the probes that it becomes.

use crate::weaving::instruction_sites::Operand;
use std::sync::Arc;
use veneer_fragmenter::advice::{Action, Probe, Read, Site};
use veneer_fragmenter::types::{State, Type};
use veneer_probes::{Code, ProbeError};

/// One point of an instrument in one method, before counters are given to it.
#[derive(Clone, Debug)]
pub struct Join {
    /// Where it counts as standing.
    pub fragment: Option<u32>,
    /// For an edge.
    pub to: Option<u32>,
    /// Source line.
    pub line: Option<u16>,
    /// The woven sites and what each does.
    pub sites: Vec<(Site, Step)>,
    /// For a log: name, slot and type of the values.
    pub values: Vec<(String, u16, Type)>,
    /// For an instruction: what it does.
    pub what: Option<String>,
    /// Code that runs at the sites, after what is measured there.
    pub code: Option<Run>,
}

/// A cell that points share, and how often it lets them act.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Where it lies.
    pub cell: i64,
    /// So often.
    pub most: u64,
}

impl Limit {
    /// The next cell: that of code, where the first is that of what is counted.
    fn of_code(self) -> Limit {
        Limit {
            cell: self.cell + 8,
            ..self
        }
    }
}

/// A compiled probe.
#[derive(Clone, Debug)]
pub struct Run {
    /// It.
    pub method: Arc<veneer_probes::Method>,
    /// Where what it reads lies.
    pub reads: Vec<Read>,
    /// See [`Action::Run`].
    pub operands: Vec<veneer_probes::step::Kind>,
}

/// What can be seen at a site.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Types of local variables and of the stack.
    pub state: State,
    /// The pc by which variables are named.
    pub pc: u16,
    /// Names of values on the stack.
    pub operands: Vec<Operand>,
    /// A loop is left there, whose turns can be asked for.
    pub turns: bool,
}

/// Compiles the code of a spec for a site.
pub type Compile<'c> = &'c dyn Fn(&Code, View) -> Result<Run, ProbeError>;

/// What happens at one site of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Step {
    Count,
    Start,
    Stop,
    Lap,
    Log,
    /// A loop begins, goes round, is left.
    Enter,
    Turn,
    Over,
    /// Nothing is measured: only code runs.
    Pass,
    /// An activation that began before gets a beginning; one that begins now needs none; what the first has run at least.
    Since,
    Known,
    Until,
}

impl Step {
    /// Counters in a row.
    pub fn slots(self) -> u32 {
        match self {
            Step::Count | Step::Pass => 1,
            Step::Log | Step::Enter | Step::Turn | Step::Over => 0,
            Step::Start | Step::Stop | Step::Lap | Step::Since | Step::Known | Step::Until => 4,
        }
    }
}

impl Join {
    /// Counters that it needs in a row.
    pub fn slots(&self) -> u32 {
        self.sites.first().map_or(0, |s| s.1.slots())
    }

    /// The probes, once it has counters (or, a log, the number of its point). `since`: the cell of a late timer.
    pub fn probes(&self, slot: u32, limit: Option<Limit>, since: Option<i64>) -> Vec<Probe> {
        let values = || {
            self.values
                .iter()
                .map(|(_, slot, t)| (*slot, t.clone()))
                .collect()
        };
        let limited = |action: Action| match limit {
            Some(Limit { cell, most }) => Action::First {
                cell,
                most,
                action: action.into(),
            },
            None => action,
        };
        let run = self.code.as_ref().map(|run| {
            let method = match limit.map(Limit::of_code) {
                Some(Limit { cell, most }) => {
                    Arc::new(run.method.as_ref().clone().first(cell, most))
                }
                None => run.method.clone(),
            };
            // Only now the loop has a number.
            let reads = run.reads.iter().map(|read| match read {
                Read::Turns(_) => Read::Turns(slot),
                other => *other,
            });
            Action::Run {
                method,
                reads: reads.collect(),
                operands: run.operands.clone(),
            }
        });
        let at = |(site, step): &(Site, Step)| {
            let (measured, run) = match step {
                Step::Count => (Some(limited(Action::Count { slot })), run.clone()),
                Step::Start => (Some(Action::Start { slot }), run.clone()),
                Step::Stop => (Some(Action::Stop { slot }), run.clone()),
                Step::Lap => (Some(Action::Lap { slot }), run.clone()),
                Step::Log => {
                    let (point, values) = (slot, values());
                    (Some(limited(Action::Log { point, values })), run.clone())
                }
                Step::Pass => (None, run.clone()),
                Step::Enter => (Some(Action::Enter { slot }), None),
                Step::Turn => (Some(Action::Turn { slot }), None),
                Step::Over => (Some(Action::Over { slot }), None),
                Step::Since => (since.map(|cell| Action::Since { slot, cell }), None),
                Step::Known => (Some(Action::Enter { slot }), None),
                Step::Until => (Some(Action::Until { slot }), None),
            };
            let site = *site;
            [measured, run]
                .into_iter()
                .flatten()
                .map(move |action| Probe { site, action })
        };
        self.sites.iter().flat_map(at).collect()
    }
}
