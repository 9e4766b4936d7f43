//! A planned probe: one point of an instrument in one method, before counters are allocated for it,
//! and the bytecode actions that it becomes.
//!
//! [`planner`](crate::weaving::planner) makes planned probes. [`weaver`](crate::weaving::weaver)
//! allocates their counters and converts them with [`PlannedProbe::probes`]. Both run on the thread
//! that attaches an instrument or that prepares a class. Nothing here calls the JVM.

use crate::weaving::instruction_sites::Operand;
use std::sync::Arc;
use veneer_fragmenter::advice::{Probe, ProbeAction, ProbeArgument, Site};
use veneer_fragmenter::types::{State, Type};
use veneer_names::{FragmentId, LocalSlot, PointSlot};
use veneer_probes::step::ProbeStep;
use veneer_probes::{ProbeCode, ProbeError};

/// One point of an instrument in one method.
#[derive(Clone, Debug)]
pub struct PlannedProbe {
    /// The fragment under which reports list the point; `None` for a point of the whole method.
    pub fragment: Option<FragmentId>,
    /// For an edge: the fragment to which the edge leads.
    pub to: Option<FragmentId>,
    /// The source line.
    pub line: Option<u16>,
    /// The join points, and what happens at each of them. All share the counters of the point.
    pub sites: Vec<(Site, PlannedAction)>,
    /// For a log: the variables that it records.
    pub values: Vec<LoggedValue>,
    /// For a single instruction: its text in reports, such as `call shop.Desk::serve @12`.
    pub what: Option<String>,
    /// The code of the plan, which runs at each site after the measurement.
    pub code: Option<CompiledProbe>,
}

/// A local variable that a log records.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedValue {
    /// The name that the plan wrote.
    pub name: String,
    pub slot: LocalSlot,
    pub ty: Type,
}

/// A limit on the number of times that an instrument acts, shared by all points that have the same
/// cell.
#[derive(Clone, Copy, Debug)]
pub struct HitLimit {
    /// The address of a memory word that counts the measurements. The next word counts the
    /// executions of plan code.
    pub cell: i64,
    /// The maximum number of times.
    pub most: u64,
}

impl HitLimit {
    /// The limit for plan code, which uses the second of the two words.
    fn for_code(self) -> HitLimit {
        HitLimit {
            cell: self.cell + 8,
            ..self
        }
    }
}

/// Plan code that has been compiled for a site.
#[derive(Clone, Debug)]
pub struct CompiledProbe {
    pub method: Arc<veneer_probes::ProbeMethod>,
    /// The source of each argument of `method`.
    pub reads: Vec<ProbeArgument>,
    /// The kinds of the topmost operand-stack values; see [`ProbeAction::RunProbe`].
    pub operands: Vec<veneer_probes::step::ComputationalType>,
}

/// The values that plan code can read at a site.
#[derive(Clone, Debug, Default)]
pub struct VisibleValues {
    /// The types of local variables and of the operand stack.
    pub state: State,
    /// The pc at which variable names are looked up.
    pub pc: u16,
    /// The values on the operand stack that have a name.
    pub operands: Vec<Operand>,
    /// Whether the site is a loop exit, at which code can read the number of iterations.
    pub has_iterations: bool,
    /// Whether the code runs at every exit of the method, where it can read the exception that leaves it.
    pub has_exception: bool,
}

/// A function that compiles the code of a spec for a site.
pub type Compile<'c> = &'c dyn Fn(&ProbeCode, VisibleValues) -> Result<CompiledProbe, ProbeError>;

/// The effect of a planned probe at one of its sites. Most steps are named after the
/// [`ProbeAction`] that they become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlannedAction {
    Count,
    Start,
    Stop,
    Lap,
    Log,
    /// Control enters a loop.
    LoopEnter,
    /// Control takes a back edge of a loop.
    LoopBackEdge,
    /// Control leaves a loop.
    LoopExit,
    /// The entry of a call is written to a trace.
    TraceEntry,
    /// The end of a call is written to a trace.
    TraceExit,
    /// The end of a call by an exception is written to a trace.
    TraceThrow,
    /// An allocation is counted at a calling context.
    TraceAllocation,
    /// Counts a memory access. The counter after that of the point belongs to the code of the point.
    CountAccess,
    /// As `CountAccess`, in the windows of a sampled recording.
    CountAccessInWindow,
    /// Nothing is measured; only the code of the plan runs.
    CodeOnly,
    /// A late timer gives an activation that is older than the timer a start time.
    LateStart,
    /// A late timer marks a new activation, so that it gets no start time later.
    LateSkip,
    /// A late timer records how long an older activation has run at least.
    LateStop,
}

impl PlannedAction {
    /// The number of consecutive counters that a point needs if this is its first step.
    pub fn slots(self) -> u32 {
        match self {
            PlannedAction::Count
            | PlannedAction::CodeOnly
            | PlannedAction::TraceEntry
            | PlannedAction::TraceExit
            | PlannedAction::TraceThrow
            | PlannedAction::TraceAllocation => 1,
            PlannedAction::CountAccess | PlannedAction::CountAccessInWindow => 2,
            PlannedAction::Log
            | PlannedAction::LoopEnter
            | PlannedAction::LoopBackEdge
            | PlannedAction::LoopExit => 0,
            PlannedAction::Start
            | PlannedAction::Stop
            | PlannedAction::Lap
            | PlannedAction::LateStart
            | PlannedAction::LateSkip
            | PlannedAction::LateStop => 4,
        }
    }
}

impl PlannedProbe {
    /// The number of consecutive counters that the point needs.
    pub fn slots(&self) -> u32 {
        self.sites.first().map_or(0, |(_, step)| step.slots())
    }

    /// The actions of the point at its sites.
    ///
    /// * `slot` has the counters of the first step. An action that needs the other kind of slot is
    ///   left out; no spec mixes them in one point.
    /// * `late_cell` is the address of the word that holds the start time of a late timer. Without
    ///   such a word, [`PlannedAction::LateStart`] has no action.
    pub fn probes(
        &self,
        slot: PointSlot,
        limit: Option<HitLimit>,
        late_cell: Option<i64>,
    ) -> Vec<Probe> {
        let code = self.code.as_ref().map(|code| code.action(slot, limit));
        let mut probes = Vec::new();
        for (site, step) in &self.sites {
            let measurement = self.measurement(*step, slot, limit, late_cell);
            let code = code.clone().filter(|_| step.runs_code());
            let code = code.map(|action| at_site(action, *site));
            let actions = [measurement, code].into_iter().flatten();
            probes.extend(actions.map(|action| Probe {
                site: *site,
                action,
            }));
        }
        probes
    }

    /// The action that measures at a site, if the step measures anything.
    fn measurement(
        &self,
        step: PlannedAction,
        slot: PointSlot,
        limit: Option<HitLimit>,
        late_cell: Option<i64>,
    ) -> Option<ProbeAction> {
        let limited = |action: ProbeAction| match limit {
            Some(HitLimit { cell, most }) => ProbeAction::Limited {
                cell,
                most,
                action: action.into(),
            },
            None => action,
        };
        if step == PlannedAction::Log {
            let values = self.values.iter().map(|v| (v.slot, v.ty.clone()));
            return Some(limited(ProbeAction::Log {
                point: slot.log_point()?,
                values: values.collect(),
            }));
        }
        let slot = slot.counter()?;
        Some(match step {
            PlannedAction::Count | PlannedAction::CountAccess => {
                limited(ProbeAction::Count { slot })
            }
            PlannedAction::CountAccessInWindow => ProbeAction::CountInWindow { slot },
            PlannedAction::Start => ProbeAction::Start { slot },
            PlannedAction::Stop => ProbeAction::Stop { slot },
            PlannedAction::Lap => ProbeAction::LapTimer { slot },
            PlannedAction::LoopEnter | PlannedAction::LateSkip => ProbeAction::LoopEnter { slot },
            PlannedAction::LoopBackEdge => ProbeAction::LoopBackEdge { slot },
            PlannedAction::LoopExit => ProbeAction::LoopExit { slot },
            PlannedAction::LateStart => ProbeAction::LateStart {
                slot,
                cell: late_cell?,
            },
            PlannedAction::LateStop => ProbeAction::LateStop { slot },
            PlannedAction::TraceEntry => ProbeAction::TraceEntry { slot },
            PlannedAction::TraceExit => ProbeAction::TraceExit { slot },
            PlannedAction::TraceThrow => ProbeAction::TraceThrow { slot },
            PlannedAction::TraceAllocation => ProbeAction::TraceAllocation,
            PlannedAction::Log | PlannedAction::CodeOnly => return None,
        })
    }
}

impl PlannedAction {
    /// Whether the code of the plan runs at a site with this step. Sites that only maintain the
    /// state of a loop or of a late timer run no code.
    fn runs_code(self) -> bool {
        matches!(
            self,
            PlannedAction::Count
                | PlannedAction::CountAccess
                | PlannedAction::CountAccessInWindow
                | PlannedAction::Start
                | PlannedAction::Stop
                | PlannedAction::Lap
                | PlannedAction::Log
                | PlannedAction::CodeOnly
        )
    }
}

impl CompiledProbe {
    /// The action that calls the compiled code. `slot` names the loop whose iterations the code
    /// reads; the number is unknown until the point has its counters.
    fn action(&self, slot: PointSlot, limit: Option<HitLimit>) -> ProbeAction {
        let method = match limit.map(HitLimit::for_code) {
            Some(HitLimit { cell, most }) => {
                Arc::new(self.method.as_ref().clone().limit_passes(cell, most))
            }
            None => self.method.clone(),
        };
        let method = match slot {
            PointSlot::Counter(slot) if method.steps.contains(&ProbeStep::OwnWord) => {
                let offset = slot.plus(1).byte_offset() as i64;
                Arc::new(method.as_ref().clone().with_own_word(offset))
            }
            _ => method,
        };
        let reads = self.reads.iter().map(|read| match (read, slot) {
            (ProbeArgument::TripCount(_), PointSlot::Counter(slot)) => {
                ProbeArgument::TripCount(slot)
            }
            (other, _) => *other,
        });
        ProbeAction::RunProbe {
            method,
            reads: reads.collect(),
            operands: self.operands.clone(),
        }
    }
}

/// The action at one of the sites of a point. At a return, there is no exception to read.
fn at_site(action: ProbeAction, site: Site) -> ProbeAction {
    let ProbeAction::RunProbe {
        method,
        mut reads,
        operands,
    } = action
    else {
        return action;
    };
    for read in &mut reads {
        if *read == ProbeArgument::Exception && site != Site::Throw {
            *read = ProbeArgument::Null;
        }
    }
    ProbeAction::RunProbe {
        method,
        reads,
        operands,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::empty_probe;
    use veneer_names::{CounterSlot, LogPoint};

    fn planned(sites: Vec<(Site, PlannedAction)>, code: Option<CompiledProbe>) -> PlannedProbe {
        PlannedProbe {
            fragment: None,
            to: None,
            line: None,
            sites,
            values: vec![LoggedValue {
                name: "n".into(),
                slot: LocalSlot(3),
                ty: Type::Long,
            }],
            what: None,
            code,
        }
    }

    fn compiled(reads: Vec<ProbeArgument>) -> CompiledProbe {
        CompiledProbe {
            reads,
            ..empty_probe()
        }
    }

    #[test]
    fn a_timer_takes_its_counters_from_its_first_step() {
        let timer = planned(
            vec![
                (Site::Entry, PlannedAction::Start),
                (Site::Return, PlannedAction::Stop),
            ],
            None,
        );
        assert_eq!(timer.slots(), 4);
        let actions: Vec<ProbeAction> = timer
            .probes(PointSlot::Counter(CounterSlot(8)), None, None)
            .into_iter()
            .map(|p| p.action)
            .collect();
        assert_eq!(
            actions,
            [
                ProbeAction::Start {
                    slot: CounterSlot(8)
                },
                ProbeAction::Stop {
                    slot: CounterSlot(8)
                }
            ]
        );
        assert_eq!(planned(Vec::new(), None).slots(), 0);
    }

    #[test]
    fn a_limit_wraps_counts_and_logs_but_not_timers() {
        let limit = Some(HitLimit {
            cell: 1000,
            most: 5,
        });
        let wrapped = |action: ProbeAction| ProbeAction::Limited {
            cell: 1000,
            most: 5,
            action: action.into(),
        };
        let sites = vec![
            (Site::Entry, PlannedAction::Count),
            (Site::Return, PlannedAction::Log),
            (Site::Throw, PlannedAction::Lap),
        ];
        let point = planned(sites, None);
        let actions = |slot| -> Vec<ProbeAction> {
            let probes = point.probes(slot, limit, None);
            probes.into_iter().map(|p| p.action).collect()
        };
        // A counter and a log point of the same number are different slots.
        let slot = CounterSlot(2);
        assert_eq!(
            actions(PointSlot::Counter(slot)),
            [
                wrapped(ProbeAction::Count { slot }),
                ProbeAction::LapTimer { slot },
            ]
        );
        let log = LogPoint(2);
        assert_eq!(
            actions(PointSlot::Log(log)),
            [wrapped(ProbeAction::Log {
                point: log,
                values: vec![(LocalSlot(3), Type::Long)],
            })]
        );
    }

    #[test]
    fn code_runs_after_the_measurement_and_only_where_something_is_passed() {
        let edge = Site::Edge(FragmentId(1), FragmentId(2));
        let sites = vec![
            (edge, PlannedAction::Count),
            (edge, PlannedAction::LoopExit),
            (Site::Throw, PlannedAction::CodeOnly),
            (Site::Entry, PlannedAction::LoopEnter),
        ];
        let local = ProbeArgument::Slot(LocalSlot(1));
        let code = compiled(vec![ProbeArgument::TripCount(CounterSlot(0)), local]);
        let slot = CounterSlot(6);
        let probes = planned(sites, Some(code)).probes(PointSlot::Counter(slot), None, None);
        let shown: Vec<(Site, bool)> = probes
            .iter()
            .map(|p| (p.site, matches!(p.action, ProbeAction::RunProbe { .. })))
            .collect();
        assert_eq!(
            shown,
            [
                (edge, false),
                (edge, true),
                (edge, false),
                (Site::Throw, true),
                (Site::Entry, false),
            ]
        );
        let Some(ProbeAction::RunProbe { reads, .. }) = probes.get(1).map(|p| &p.action) else {
            panic!("the second action calls the code");
        };
        assert_eq!(*reads, [ProbeArgument::TripCount(slot), local]);
    }

    #[test]
    fn a_late_start_needs_the_cell_of_the_timer() {
        let late = planned(
            vec![
                (Site::Crossing, PlannedAction::LateStart),
                (Site::Return, PlannedAction::LateStop),
            ],
            None,
        );
        let slot = CounterSlot(4);
        let point = PointSlot::Counter(slot);
        assert_eq!(late.probes(point, None, None).len(), 1);
        let with_cell = late.probes(point, None, Some(77));
        assert_eq!(
            with_cell[0].action,
            ProbeAction::LateStart { slot, cell: 77 }
        );
        assert_eq!(with_cell[1].action, ProbeAction::LateStop { slot });
    }

    #[test]
    fn the_exception_is_read_only_where_one_leaves_the_method() {
        let exits = planned(
            vec![
                (Site::Return, PlannedAction::CodeOnly),
                (Site::Throw, PlannedAction::CodeOnly),
            ],
            Some(compiled(vec![ProbeArgument::Exception])),
        );
        let probes = exits.probes(PointSlot::Counter(CounterSlot(9)), None, None);
        let reads = probes.iter().filter_map(|probe| match &probe.action {
            ProbeAction::RunProbe { reads, .. } => Some((probe.site, reads[0])),
            _ => None,
        });
        assert_eq!(
            reads.collect::<Vec<_>>(),
            [
                (Site::Return, ProbeArgument::Null),
                (Site::Throw, ProbeArgument::Exception),
            ]
        );
    }
}
