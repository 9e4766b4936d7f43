//! Batched switches of call-site targets. Each switch changes the *cell* of one method, which is its
//! mutable call site: it sets the cell to the token of a version, or to IDLE for the armed body.
//!
//! ```text
//!   switches by time of request ─▶ group_by_gate ─▶ for each group:   close the gate (8 or more switches)
//!                                                                     switch each cell
//!                                                                     open the gate
//! ```
//!
//! For each cell that switches, the JVM walks over all compiled code to discard the code that took
//! the old target as a constant. With 5,000 cells and a full code cache, these walks take seconds.
//! Behind a closed gate (`VeneerGate`, a shared SwitchPoint), cells switch without a walk, so
//! closing and opening the gate costs at most two walks for up to [`METHODS_PER_GATE`] methods.
//!
//! A closed gate slows the compiled code of all its methods, and code that the JIT compiles behind
//! a closed gate is lost. Therefore all versions are made first, gates are closed one after the
//! other and only while their cells switch, and only if at least [`MIN_SWITCHES_TO_CLOSE_GATE`]
//! cells switch.
//!
//! When the JVM discards compiled code, it converts the running frames of that code to interpreter
//! frames, and it allocates the objects that the code kept in registers. If the heap is full, the
//! JVM drops these frames without looking at their exception handlers (JDK-8270010). Therefore
//! cells switch only when the heap has room; see [`wait_for_room`].
//!
//! Batches are committed by the plan thread and by threads that prepare a class. No lock of the
//! agent is held during a commit.

use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, Global, JvmError, jclass};
use crate::jvm::runtime_table::GATE_WIDTH;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};
use veneer_names::MethodId;

/// The number of consecutive method ids that share a gate.
const METHODS_PER_GATE: u32 = GATE_WIDTH as u32;

/// If fewer cells of a gate switch together, the gate stays open.
const MIN_SWITCHES_TO_CLOSE_GATE: usize = 8;

/// The number of pending switches at which a batch is full. Each switch holds some global
/// references of the JVM.
const MAX_PENDING_SWITCHES: usize = 4096;

/// The longest time that one batch waits for room on the heap. After that time, its cells switch
/// without room.
const MAX_WAIT_FOR_ROOM: Duration = Duration::from_secs(2);

const HEAP_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Every poll of the heap whose number is a multiple of this constant makes the JVM collect
/// garbage.
const POLLS_PER_COLLECTION: u32 = 50;

/// The agent reports a full heap once.
static FULL_HEAP_REPORTED: Once = Once::new();

/// The time at which a batch that is committed now stops waiting for room.
pub fn deadline() -> Instant {
    Instant::now() + MAX_WAIT_FOR_ROOM
}

/// Waits until the heap has room for the objects that the JVM allocates when it discards compiled
/// code, or until the deadline. The caller must hold no lock of the agent.
pub fn wait_for_room(agent: &Agent, env: Env, deadline: Instant) {
    for poll in 1.. {
        let collects = poll % POLLS_PER_COLLECTION == 0;
        if agent.library.has_room_to_change(env, collects) {
            return;
        }
        if Instant::now() > deadline {
            FULL_HEAP_REPORTED.call_once(|| {
                agent.report_problem("", "the heap had no room for seconds while instruments or edits changed; an OutOfMemoryError may have passed a handler (JDK-8270010)");
            });
            return;
        }
        std::thread::sleep(HEAP_POLL_INTERVAL);
    }
}

/// A prepared switch of one cell.
pub struct Switch {
    pub class: Arc<Class>,
    /// The id of the method, which is also the number of its cell.
    pub method: MethodId,
    /// The sequence number of the method's instrumentation from which the version was made.
    pub sequence: u64,
    /// The new target; `None` for IDLE.
    pub target: Option<SwitchTarget>,
}

/// The code that new activations enter after a switch.
pub struct SwitchTarget {
    /// The version class. `None` for the armed body, which then counts its entries itself.
    pub version: Option<Arc<Global>>,
    pub token: Arc<Global>,
}

/// Prepared switches that take effect together. See the module documentation.
#[derive(Default)]
pub struct SwitchBatch {
    pending: Vec<Switch>,
}

impl SwitchBatch {
    pub fn push(&mut self, switch: Switch) {
        self.pending.push(switch);
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.pending.len() >= MAX_PENDING_SWITCHES
    }

    /// Switches all cells of the batch, and calls `done` with each switch and its result. The batch
    /// is empty afterwards.
    pub fn commit(
        &mut self,
        agent: &Agent,
        env: Env,
        mut done: impl FnMut(Switch, Result<(), JvmError>),
    ) {
        let deadline = deadline();
        let pending = std::mem::take(&mut self.pending);
        for group in group_by_gate(pending, |switch| switch.method) {
            wait_for_room(agent, env, deadline);
            // If a gate cannot be closed, its cells switch behind the open gate, which only takes
            // longer.
            let is_closed =
                group.closes_gate() && agent.library.turn_gate(env, group.gate, false).is_ok();
            for switch in group.switches {
                if !is_closed {
                    wait_for_room(agent, env, deadline);
                }
                let result = set_target(agent, env, &switch);
                done(switch, result);
            }
            if is_closed {
                wait_for_room(agent, env, deadline);
                let _ = agent.library.turn_gate(env, group.gate, true);
            }
        }
    }
}

fn set_target(agent: &Agent, env: Env, switch: &Switch) -> Result<(), JvmError> {
    let Some(target) = &switch.target else {
        return agent.library.set_idle(env, switch.method);
    };
    let version = target.version.as_ref();
    let version = version.map_or(jclass::NULL, |v| v.raw());
    let token = target.token.raw();
    agent.library.install(env, switch.method, version, token)
}

/// The switches of one batch that are behind the same gate.
struct GateGroup<T> {
    gate: u32,
    switches: Vec<T>,
}

impl<T> GateGroup<T> {
    fn closes_gate(&self) -> bool {
        self.switches.len() >= MIN_SWITCHES_TO_CLOSE_GATE
    }
}

/// Groups switches by gate, in order of the gates. Within a group the order of the batch is kept,
/// because a later switch of the same cell must win. `method` returns the method id of a switch.
fn group_by_gate<T>(switches: Vec<T>, method: impl Fn(&T) -> MethodId) -> Vec<GateGroup<T>> {
    let mut switches = switches;
    switches.sort_by_key(|switch| method(switch).0 / METHODS_PER_GATE);
    let mut groups: Vec<GateGroup<T>> = Vec::new();
    for switch in switches {
        let gate = method(&switch).0 / METHODS_PER_GATE;
        match groups.last_mut() {
            Some(group) if group.gate == gate => group.switches.push(switch),
            _ => groups.push(GateGroup {
                gate,
                switches: vec![switch],
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method id, and the position in the batch.
    type Request = (u32, usize);

    fn groups(methods: &[u32]) -> Vec<(u32, bool, Vec<Request>)> {
        let requests = methods.iter().enumerate().map(|(n, id)| (*id, n));
        group_by_gate(requests.collect(), |(id, _)| MethodId(*id))
            .into_iter()
            .map(|group| (group.gate, group.closes_gate(), group.switches))
            .collect()
    }

    #[test]
    fn an_empty_batch_has_no_groups() {
        assert!(groups(&[]).is_empty());
    }

    #[test]
    fn neighbouring_methods_share_a_gate() {
        assert_eq!(
            groups(&[64, 63, 0, 127]),
            [
                (0, false, vec![(63, 1), (0, 2)]),
                (1, false, vec![(64, 0), (127, 3)]),
            ]
        );
    }

    #[test]
    fn a_later_switch_of_the_same_cell_stays_behind_the_earlier_one() {
        // Other gates lie between the two switches of method 5.
        let all = groups(&[5, 700, 6, 5, 64, 5]);
        let (gate, _, switches) = &all[0];
        assert_eq!(
            (*gate, switches.clone()),
            (0, vec![(5, 0), (6, 2), (5, 3), (5, 5)])
        );
        assert_eq!(all.iter().map(|g| g.0).collect::<Vec<_>>(), [0, 1, 10]);
    }

    #[test]
    fn a_gate_closes_from_eight_switches_on() {
        let seven: Vec<u32> = (0..7).collect();
        let eight: Vec<u32> = (64..72).collect();
        let both = groups(&[seven, eight].concat());
        let closes: Vec<bool> = both.iter().map(|g| g.1).collect();
        assert_eq!(closes, [false, true]);
    }

    #[test]
    fn a_group_never_spans_two_gates_and_loses_no_switch() {
        let ids: Vec<u32> = (0..1000).map(|n| n * 37 % 512).collect();
        let all = groups(&ids);
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(all.iter().all(|(gate, _, switches)| {
            switches
                .iter()
                .all(|(id, _)| id / METHODS_PER_GATE == *gate)
        }));
        assert_eq!(all.iter().map(|g| g.2.len()).sum::<usize>(), ids.len());
    }
}
