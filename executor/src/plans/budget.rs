//! What instruments cost, and how often they still may act: looked at by the plan thread once a second where a plan has set a limit.
//!
//! An instrument's own cost is an estimate: its passes since the last look times what a pass of its kind takes, by the processor time
//! of the whole process since then. The times of a timer and of code are those of `docs/benchmarks.md`, those of a counter and a log
//! are guesses that nothing has measured yet. They hold on JDK 25 with the JIT compiled code
//! warm: code that is still interpreted costs more, and what a probe keeps the compiler from doing is not in it.

use crate::agent::Agent;
use crate::plans::readings::rows;
use crate::plans::runtime::Handle;
use crate::plans::spent_time::{Spent, processor_time};
use std::time::{Duration, Instant};
use veneer_instruments::{InstrumentId, Kind, Runtime, Spec};

/// Between two looks, where there is something to look at.
pub const LOOK: Duration = Duration::from_secs(1);

/// The same where something is to be taken off that has acted often enough.
pub const SOON: Duration = Duration::from_millis(100);

/// Less processor time than this since the last look says nothing about a share.
const LEAST: Duration = Duration::from_millis(100);

/// Nanoseconds that a pass takes: a counter (`inc` of a word of the thread's own), a timer, an event with its values, code that gives a
/// value to a table.
fn cost(kind: &Kind) -> f64 {
    match kind {
        Kind::Counter => 0.6,
        Kind::Timer => 33.0,
        Kind::Log(_) => 80.0,
        Kind::Code(_) => 14.0,
    }
}

/// When to look next, if at all.
pub fn next(agent: &Agent, last: Instant) -> Option<Instant> {
    let tables = agent.table.lock();
    let mut attached = tables.instruments.iter().filter(|i| i.attached);
    let soon = attached.clone().any(|i| i.spec.times.is_some());
    let some = soon || attached.any(|i| i.spec.budget.is_some());
    some.then(|| last + if soon { SOON } else { LOOK })
}

/// Takes off what has acted as often as it may.
pub fn used_up(agent: &Agent, handle: &Handle) -> Vec<InstrumentId> {
    let mut over = Vec::new();
    for (n, i) in agent.table.lock().instruments.iter().enumerate() {
        let Some(times) = i.spec.times.filter(|_| i.attached) else {
            continue;
        };
        // At each of its points there may be others to come, in classes that are not loaded yet.
        let [cell] = i.cells[..] else {
            continue;
        };
        // The second cell is that of code, and is the later one.
        let acted = agent.tallies.cell(match i.spec.kind {
            Kind::Code(_) => cell + 8,
            _ => cell,
        });
        if !times.each && acted >= times.most {
            over.push(InstrumentId(n as u32 + 1));
        }
    }
    over.retain(|id| handle.detach(*id).is_ok());
    over
}

/// Takes off what costs more than it may, and says so.
pub fn look(agent: &Agent, handle: &Handle) -> Vec<InstrumentId> {
    let watched: Vec<(InstrumentId, Spec, Spent)> = {
        let tables = agent.table.lock();
        let all = tables.instruments.iter().enumerate();
        let watched = all.filter(|(_, i)| i.attached && i.spec.budget.is_some());
        watched
            .map(|(n, i)| (InstrumentId(n as u32 + 1), i.spec.clone(), i.spent))
            .collect()
    };
    let mut over = Vec::new();
    for (id, spec, before) in watched {
        let cpu = processor_time();
        let used = cpu.saturating_sub(before.cpu);
        if used < LEAST {
            continue;
        }
        let passes = rows(agent, id)
            .iter()
            .fold(0u64, |sum, row| sum.saturating_add(row.data.hits()));
        let own = passes.saturating_sub(before.passes) as f64 * cost(&spec.kind);
        let share = own / used.as_nanos() as f64;
        if let Some(i) = agent.table.lock().instrument(id) {
            i.spent = Spent { passes, cpu };
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
            over.push(id);
            agent.problem(&spec.plan, &message);
        }
    }
    over
}
