//! Advice: the actions that are woven into a version, and the join points at which they run.
//!
//! | action              | bytecode                                                    | state carried over |
//! |---------------------|-------------------------------------------------------------|--------------------|
//! | `Count`             | `shard[slot] += 1`                                          |                    |
//! | `CountInWindow`     | `if in a window { shard[slot] += 1 }`                       |                    |
//! | `Start`             | `t = now`                                                   | `t`                |
//! | `Stop`              | `if t != 0 { record(slot, now - t); t = 0 }`                | `t`                |
//! | `LapTimer`          | `if t != 0 { record(slot, now - t) }; t = now`              | `t`                |
//! | `LoopEnter`         | `n = 1`, on the edges that enter a loop                     | `n`                |
//! | `LoopBackEdge`      | `if n != 0 { n += 1 }`, on the loop's back edges            | `n`                |
//! | `LoopExit`          | `n = 0`, on the edges that leave the loop                   | `n`                |
//! | `LateStart`         | none: sets `t` when an activation enters without it         | `t`                |
//! | `LateStop`          | like `Stop`, for activations with a `t` from `LateStart`    | `t`                |
//! | `Limited`           | `Count` or `Log`, until its shared cell has reached a limit |                    |
//! | `CountBuffered`     | `Count`, or `c += 1` in a loop that calls nothing           |                    |
//! | `CountExternalEdge` | `shard[slot] += 1` or `-= 1`, at external entries and exits | current node       |
//! | `Log`               | copies chosen live variables into the thread's ring buffer  |                    |
//! | `RunProbe`          | calls a compiled probe with the live values that it reads   |                    |
//! | `TraceEntry`        | writes a call's entry to a trace; `t` = the open call       | `t`                |
//! | `TraceExit`         | `if t != 0 { write the end of the call }; t = 0`            | `t`                |
//! | `TraceThrow`        | like `TraceExit`, for a call that an exception ends         | `t`                |
//! | `TraceAllocation`   | counts an allocation at the node of the innermost open call |                    |
//!
//! Advice never throws. All actions except `RunProbe` allocate nothing, take no lock and call nothing
//! of the application. A compiled probe calls methods of the application only if its plan asks for
//! it.

use crate::counted_steps::CountedSteps;
use crate::flowgraph::FragmentId;
use crate::types::Type;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use veneer_names::{CounterSlot, LocalSlot, LogPoint};
use veneer_probes::step::ComputationalType;

/// A join point: the place in the method at which advice is woven in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// Before the first instruction of a new activation.
    Entry,
    /// At the start of the fragment.
    Before(FragmentId),
    /// At the end of the fragment, before the instruction that leaves it.
    After(FragmentId),
    /// On each edge from the first fragment to the second.
    Edge(FragmentId, FragmentId),
    /// Before the instruction at this pc. The operand stack is the method's own.
    At(u16),
    /// After the instruction at this pc, if control continues with the next instruction.
    AfterCode(u16),
    /// Before every return.
    Return,
    /// On the path of an exception that leaves the activation.
    Throw,
    /// At all external entries and exits: the places where activations enter or leave a fragment
    /// other than along an edge. See [`crate::counting`].
    Crossing,
    /// At one outcome of a guard that an edit inserts. Versions without the guard do not have it. Only counters
    /// can be placed there.
    Guard(OutcomeKey),
}

/// The hash of an outcome of a guard ([`crate::guard_outcome`]). If two outcomes of one method had the same hash of
/// 64 bits, both would be counted by the counters of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutcomeKey(u64);

impl OutcomeKey {
    /// The key of an outcome.
    pub fn from_outcome(outcome: &impl Hash) -> OutcomeKey {
        let mut hasher = DefaultHasher::new();
        outcome.hash(&mut hasher);
        OutcomeKey(hasher.finish())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Site::Entry => f.write_str("entry"),
            Site::Before(n) => write!(f, "before {n}"),
            Site::After(n) => write!(f, "after {n}"),
            Site::Edge(a, b) => write!(f, "edge {a} -> {b}"),
            Site::At(pc) => write!(f, "@{pc}"),
            Site::AfterCode(pc) => write!(f, "behind @{pc}"),
            Site::Return => f.write_str("return"),
            Site::Throw => f.write_str("throw"),
            Site::Crossing => f.write_str("crossing"),
            Site::Guard(_) => f.write_str("guard"),
        }
    }
}

/// The source of one value that a probe receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeArgument {
    /// A local variable.
    Slot(LocalSlot),
    /// A value on the operand stack, counted in values from the top. The top value has number 0.
    Operand(u8),
    /// The constant null: there is no value to read.
    Null,
    /// The exception that leaves the activation, at [`Site::Throw`] only.
    Exception,
    /// The iterations that the loop of this timer slot has completed so far, as a `long`. The value
    /// is -1 outside the loop, and also when the activation entered the loop before counting began.
    TripCount(CounterSlot),
    /// The address of the thread's counters, as a `long`. The same site must have another action that
    /// needs the counters.
    Shard,
    /// The address of the thread's counters during a window of a sampled recording, and otherwise 0
    /// ([`ProbeAction::CountInWindow`]).
    ShardInWindow,
}

/// The effect of one piece of advice. A slot is the number of a counter in the thread's shard. For
/// timers and loop counts, the slot also names the local variable that holds the state.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeAction {
    /// Adds 1 to the counter.
    Count {
        /// The slot of the counter.
        slot: CounterSlot,
    },
    /// Adds 1 to the counter during a window of a sampled recording. The version asks for the window when
    /// an activation begins and in each loop ([`crate::version`], `window.rs`).
    CountInWindow {
        /// The slot of the counter.
        slot: CounterSlot,
    },
    /// Sets the start time of the timer.
    Start {
        /// The slot of the timer.
        slot: CounterSlot,
    },
    /// Stops the timer, and records the time since its start.
    Stop {
        /// The slot of the timer.
        slot: CounterSlot,
    },
    /// Records the time since the start of the timer, and starts it again.
    LapTimer {
        /// The slot of the timer.
        slot: CounterSlot,
    },
    /// Control enters a loop: the loop has completed no iteration yet. The slot names the loop's
    /// count in the same way as the state of a timer.
    LoopEnter {
        /// The slot of the loop count.
        slot: CounterSlot,
    },
    /// Control takes a back edge to the loop header: one more iteration.
    LoopBackEdge {
        /// The slot of the loop count.
        slot: CounterSlot,
    },
    /// Control leaves the loop: the count is unknown again.
    LoopExit {
        /// The slot of the loop count.
        slot: CounterSlot,
    },
    /// Gives activations that enter the version without a state of this timer a start time. Such an
    /// activation began before the timer was attached. `cell` is the address of a memory word that
    /// holds a moment of `System.nanoTime`; while the word is 0, the present moment is used. This
    /// action has no join point of its own: the prologue of the resume body contains its code.
    LateStart {
        /// The slot of the timer.
        slot: CounterSlot,
        /// Address of the word with the start time.
        cell: i64,
    },
    /// Records the time of an activation whose start time was set by `LateStart`. Other activations
    /// are not recorded.
    LateStop {
        /// The slot of the timer.
        slot: CounterSlot,
    },
    /// The inner action, limited to the first `most` executions. `cell` is the address of a memory
    /// word, shared by all threads, that counts the executions.
    Limited {
        /// Address of the word that counts the executions.
        cell: i64,
        /// The largest number of executions.
        most: u64,
        /// The action that is limited.
        action: Box<ProbeAction>,
    },
    /// Like `Count`. In an innermost loop that calls nothing, the version counts in a local
    /// variable and adds it to the counter in memory later; see `version/counter_promotion.rs`.
    CountBuffered {
        /// The slot of the counter.
        slot: CounterSlot,
    },
    /// Counts external entries and exits. `arrivals` and `departures` are the numbers of the first
    /// counter of each list; the lists are those of
    /// [`ExternalEdges`](crate::counting::ExternalEdges).
    CountExternalEdge {
        /// The first counter of entries.
        arrivals: CounterSlot,
        /// The first counter of exits.
        departures: CounterSlot,
        /// The instructions at which a node begins inside a fragment.
        steps: Arc<CountedSteps>,
    },
    /// Writes a log event to the ring buffer of the thread.
    Log {
        /// The log point, which the reader of the ring buffers looks up.
        point: LogPoint,
        /// The local variables whose values the event contains, with their types.
        values: Vec<(LocalSlot, Type)>,
    },
    /// Writes the beginning of a call to the thread's event trace. The slot is the id of the method
    /// in the trace, names the local variable with the state of the call, and counts the calls that
    /// are not recorded because their thread has no trace.
    TraceEntry {
        /// The method, the state and the counter.
        slot: CounterSlot,
    },
    /// Writes the end of a call whose entry was recorded.
    TraceExit {
        /// The slot of the entry.
        slot: CounterSlot,
    },
    /// Writes the end, by an exception, of a call whose entry was recorded.
    TraceThrow {
        /// The slot of the entry.
        slot: CounterSlot,
    },
    /// Counts an allocation at the calling context of the innermost open call.
    TraceAllocation,
    /// Calls a compiled probe. `reads` lists the arguments of the probe's method, in order.
    /// `operands` lists the kinds of the topmost values of the operand stack, the top value first,
    /// down to the deepest value that the probe reads.
    RunProbe {
        /// The method of the probe.
        method: Arc<veneer_probes::ProbeMethod>,
        /// The arguments of the method, in order.
        reads: Vec<ProbeArgument>,
        /// The kinds of the topmost operands.
        operands: Vec<ComputationalType>,
    },
}

impl ProbeAction {
    /// The counter word of the thread's shard that the action writes to, or `None` if the action
    /// writes to no single counter.
    pub fn counter(&self) -> Option<CounterSlot> {
        match self {
            ProbeAction::Count { slot }
            | ProbeAction::CountBuffered { slot }
            | ProbeAction::CountInWindow { slot }
            | ProbeAction::Stop { slot }
            | ProbeAction::LateStop { slot }
            | ProbeAction::LapTimer { slot }
            | ProbeAction::TraceEntry { slot } => Some(*slot),
            ProbeAction::Limited { action, .. } => action.counter(),
            ProbeAction::Start { .. }
            | ProbeAction::LateStart { .. }
            | ProbeAction::LoopEnter { .. }
            | ProbeAction::LoopBackEdge { .. }
            | ProbeAction::LoopExit { .. }
            | ProbeAction::CountExternalEdge { .. }
            | ProbeAction::Log { .. }
            | ProbeAction::TraceExit { .. }
            | ProbeAction::TraceThrow { .. }
            | ProbeAction::TraceAllocation
            | ProbeAction::RunProbe { .. } => None,
        }
    }

    /// The numbers of the tables to which the action writes.
    pub fn tables(&self) -> &[u32] {
        match self {
            ProbeAction::RunProbe { method, .. } => &method.tables,
            _ => &[],
        }
    }

    /// Whether the action only acts during the windows of a sampled recording.
    pub fn is_in_window(&self) -> bool {
        match self {
            ProbeAction::CountInWindow { .. } => true,
            ProbeAction::RunProbe { reads, .. } => reads.contains(&ProbeArgument::ShardInWindow),
            _ => false,
        }
    }

    /// The slot of the timer or loop count whose state the action needs.
    pub fn timer(&self) -> Option<CounterSlot> {
        match self {
            ProbeAction::Start { slot }
            | ProbeAction::Stop { slot }
            | ProbeAction::LapTimer { slot }
            | ProbeAction::LateStart { slot, .. }
            | ProbeAction::LateStop { slot }
            | ProbeAction::LoopEnter { slot }
            | ProbeAction::LoopBackEdge { slot }
            | ProbeAction::LoopExit { slot }
            | ProbeAction::TraceEntry { slot }
            | ProbeAction::TraceExit { slot }
            | ProbeAction::TraceThrow { slot } => Some(*slot),
            _ => None,
        }
    }
}

/// One action at one join point. Probes at the same join point run in the order in which they are
/// listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The join point of the action.
    pub site: Site,
    /// The action at this join point.
    pub action: ProbeAction,
}
