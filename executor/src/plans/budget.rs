//! Limits of instruments: how much they may cost, and how often they may act. The plan thread
//! checks them as long as an attached instrument has a limit.
//!
//! The cost of an instrument is an estimate: its passes since the last check, times the cost of a
//! pass of its kind. It is compared with the processor time that the whole process has used since
//! the last check.
//! The costs of a timer and of code are those of `docs/benchmarks.md`; the costs of a counter and
//! of a log are guesses that no benchmark has measured yet. They hold on JDK 25 with compiled, warm
//! code. Interpreted code costs more. The estimate does not include optimisations that a probe
//! prevents.

use crate::agent::Agent;
use crate::data::aggregations::Tallies;
use crate::plans::cost_sample::{CostSample, processor_time};
use crate::plans::instrument_registry::{Instrument, InstrumentTable};
use crate::plans::readings::rows;
use crate::plans::runtime::RuntimeHandle;
use std::time::{Duration, Instant};
use veneer_instruments::{InstrumentId, InstrumentKind, InstrumentSpec, Runtime};

/// The time between two checks of costs.
pub const COST_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The time between two checks of how often instruments have acted.
pub const TIMES_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The least processor time between two samples. A share of less would be mostly noise.
const MIN_PROCESSOR_TIME: Duration = Duration::from_millis(100);

/// The estimated cost of a pass in nanoseconds. A pass of a counter adds to a counter of the thread.
/// A pass of a timer reads the clock twice. A pass of a log writes an event with its values, and
/// a pass of code adds a value to a tally.
fn pass_nanos(kind: &InstrumentKind) -> f64 {
    match kind {
        InstrumentKind::Counter => 0.6,
        InstrumentKind::Timer => 33.0,
        InstrumentKind::Log(_) => 80.0,
        InstrumentKind::Code(_) => 14.0,
        // The readings of a recorder are not passes, so `budget` refuses it.
        InstrumentKind::Recorder(_) => 0.0,
    }
}

/// The estimated cost of an instrument between two samples, as a share of the processor time of the
/// process. Returns `None` if the time between them is too short.
fn cost_share(kind: &InstrumentKind, before: CostSample, now: CostSample) -> Option<f64> {
    let used = now.cpu.saturating_sub(before.cpu);
    if used < MIN_PROCESSOR_TIME {
        return None;
    }
    let passes = now.passes.saturating_sub(before.passes);
    Some(passes as f64 * pass_nanos(kind) / used.as_nanos() as f64)
}

/// The time from one check to the next; `None` if no attached instrument has a limit.
fn check_interval(table: &InstrumentTable) -> Option<Duration> {
    let attached = || table.instruments.iter().filter(|i| i.attached);
    if attached().any(|i| i.spec.times.is_some()) {
        return Some(TIMES_CHECK_INTERVAL);
    }
    let has_budget = attached().any(|i| i.spec.budget.is_some());
    has_budget.then_some(COST_CHECK_INTERVAL)
}

/// Returns the time of the next check after `last`, if one is necessary.
pub fn next_check(agent: &Agent, last: Instant) -> Option<Instant> {
    let interval = check_interval(&agent.table.lock());
    interval.map(|interval| last + interval)
}

/// Whether an instrument has acted as often as it may.
fn is_used_up(tallies: &Tallies, instrument: &Instrument) -> bool {
    let Some(times) = instrument.spec.times.filter(|_| instrument.attached) else {
        return false;
    };
    // An instrument with a limit for each point has a cell for each of them. It may get more
    // points, in classes that are loaded later.
    let [cell] = instrument.cells[..] else {
        return false;
    };
    // The second cell of a pair counts runs of code, which come after the first one.
    let acted = tallies.cell(match instrument.spec.kind {
        InstrumentKind::Code(_) => cell + 8,
        _ => cell,
    });
    !times.each && acted >= times.most
}

/// Detaches the instruments that have acted as often as they may, and returns their ids.
pub fn detach_exhausted(agent: &Agent, handle: &RuntimeHandle) -> Vec<InstrumentId> {
    let mut used_up: Vec<InstrumentId> = {
        let table = agent.table.lock();
        let all = table.numbered();
        all.filter(|(_, i)| is_used_up(&agent.tallies, i))
            .map(|(id, _)| id)
            .collect()
    };
    used_up.retain(|id| handle.detach(*id).is_ok());
    used_up
}

/// Detaches the instruments that cost more than their budgets, reports each as a problem of its
/// plan, and returns their ids.
pub fn detach_over_budget(agent: &Agent, handle: &RuntimeHandle) -> Vec<InstrumentId> {
    let watched: Vec<(InstrumentId, InstrumentSpec, CostSample)> = {
        let table = agent.table.lock();
        let all = table.numbered();
        let watched = all.filter(|(_, i)| i.attached && i.spec.budget.is_some());
        watched
            .map(|(id, i)| (id, i.spec.clone(), i.cost))
            .collect()
    };
    let mut detached = Vec::new();
    for (id, spec, before) in watched {
        let mut now = CostSample {
            passes: before.passes,
            cpu: processor_time(),
        };
        if cost_share(&spec.kind, before, now).is_none() {
            continue;
        }
        now.passes = rows(agent, id)
            .iter()
            .fold(0u64, |sum, row| sum.saturating_add(row.data.hits()));
        let share = cost_share(&spec.kind, before, now).unwrap_or(0.0);
        if let Some(i) = agent.table.lock().instrument(id) {
            i.cost = now;
        }
        let budget = spec.budget.unwrap_or(f64::INFINITY);
        if share <= budget {
            continue;
        }
        let name = spec.name.clone().unwrap_or_else(|| spec.to_string());
        let message = format!(
            "{}: {id} ({name}) costs about {:.1} % of the processor time of the program, more than its budget of {} %: taken off; its figures stay",
            spec.plan,
            100.0 * share,
            100.0 * budget
        );
        if handle.detach(id).is_ok() {
            detached.push(id);
            agent.report_problem(&spec.plan, &message);
        }
    }
    detached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use crate::plans::instrument_registry::tests::instrument;
    use veneer_instruments::HitQuota;

    fn sample(passes: u64, millis: u64) -> CostSample {
        CostSample {
            passes,
            cpu: Duration::from_millis(millis),
        }
    }

    #[test]
    fn the_share_is_the_time_of_the_passes_by_the_processor_time_since_the_last_check() {
        let share = |kind: InstrumentKind, before, now| cost_share(&kind, before, now);
        // A million passes of 33 ns are 33 ms of 1,000 ms.
        let timer = share(
            InstrumentKind::Timer,
            sample(500, 2_000),
            sample(1_000_500, 3_000),
        );
        assert!((timer.expect("a share") - 0.033).abs() < 1e-9);
        let log = share(
            InstrumentKind::Log(Vec::new()),
            sample(0, 0),
            sample(1_000_000, 200),
        );
        assert!((log.expect("a share") - 0.4).abs() < 1e-9);
    }

    #[test]
    fn a_short_time_has_no_share_and_lost_passes_cost_nothing() {
        let share = |before, now| cost_share(&InstrumentKind::Counter, before, now);
        assert_eq!(share(sample(0, 500), sample(1_000, 599)), None);
        assert!(share(sample(0, 500), sample(1_000, 600)).is_some());
        assert_eq!(share(sample(0, 600), sample(1_000, 500)), None);
        assert_eq!(share(sample(1_000, 0), sample(900, 500)), Some(0.0));
    }

    #[test]
    fn checks_are_due_as_often_as_the_strictest_attached_instrument_needs() {
        let mut table = InstrumentTable::default();
        assert_eq!(check_interval(&table), None);
        let plain = table.add(instrument(InstrumentKind::Counter));
        assert_eq!(check_interval(&table), None);
        let spec = |table: &mut InstrumentTable, id| {
            table.instrument(id).map(|i| i.spec.budget = Some(0.1))
        };
        spec(&mut table, plain);
        assert_eq!(check_interval(&table), Some(COST_CHECK_INTERVAL));
        let mut limited = instrument(InstrumentKind::Counter);
        limited.spec.times = Some(HitQuota {
            most: 1,
            each: false,
        });
        let limited = table.add(limited);
        assert_eq!(check_interval(&table), Some(TIMES_CHECK_INTERVAL));
        for id in [limited, plain] {
            if let Some(i) = table.instrument(id) {
                i.attached = false;
            }
        }
        assert_eq!(check_interval(&table), None);
    }

    #[test]
    fn an_instrument_is_used_up_when_its_one_cell_has_reached_the_limit() {
        let directory = ScratchDirectory::new();
        let tallies = Tallies::create(&directory.join("tallies")).expect("tallies");
        let mut one = instrument(InstrumentKind::Counter);
        let cell = tallies.allocate_cells().expect("a cell");
        one.cells = vec![cell];
        assert!(!is_used_up(&tallies, &one), "no limit");
        let limit = |each| Some(HitQuota { most: 3, each });
        one.spec.times = limit(false);
        tallies.set_cell(cell, 2);
        // The second cell of the pair belongs to code.
        tallies.set_cell(cell + 8, 9);
        assert!(!is_used_up(&tallies, &one));
        tallies.set_cell(cell, 3);
        assert!(is_used_up(&tallies, &one));
        one.attached = false;
        assert!(!is_used_up(&tallies, &one), "detached already");
        one.attached = true;
        one.spec.times = limit(true);
        assert!(!is_used_up(&tallies, &one), "a limit for each point");
        one.spec.times = limit(false);
        one.cells = Vec::new();
        assert!(!is_used_up(&tallies, &one), "not installed yet");
    }
}
