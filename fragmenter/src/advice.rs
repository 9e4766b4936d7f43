//! Advice: what is woven into a version, and where.
//!
//! | action  | bytecode                                                       | state that travels |
//! |---------|----------------------------------------------------------------|--------------------|
//! | `Count` | `shard[slot] += 1`                                             |                    |
//! | `Start` | `t = now`                                                      | `t`                |
//! | `Stop`  | `if t != 0 { record(slot, now - t); t = 0 }`                   | `t`                |
//! | `Lap`   | `if t != 0 { record(slot, now - t) }; t = now`                 | `t`                |
//! | `Enter` | `n = 1`, at the way into a loop                                | `n`                |
//! | `Turn`  | `if n != 0 { n += 1 }`, at its back edges                      | `n`                |
//! | `Over`  | `n = 0`, where it is left                                      | `n`                |
//! | `First` | another action, `Count` or `Log`, as long as its cell has not come to the limit | |
//! | `Gather` | `Count`, or `c += 1` in a loop that calls nothing       |                    |
//! | `Balance` | `shard[slot] += 1`, and `-= 1` where an activation takes its coming back | the fragment that it is in |
//! | `Log`   | copy of chosen live variables into the thread's ring           |                    |
//! | `Run`   | a compiled probe, given the live variables that it reads       |                    |
//!
//! Advice never throws, allocates nothing, takes no lock and calls nothing of the application.

use crate::flowgraph::FragmentId;
use crate::types::Type;
use std::fmt;
use std::sync::Arc;
use veneer_probes::step::Kind;

/// A join point: where in the method advice is woven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Site {
    /// Where an activation begins.
    Entry,
    Before(FragmentId),
    /// At the end of the fragment, before the instruction that leaves it.
    After(FragmentId),
    Edge(FragmentId, FragmentId),
    /// Before the instruction at this pc. The operand stack is the method's.
    At(u16),
    /// Behind the instruction at this pc, where control goes on to the next.
    Behind(u16),
    /// Before every return.
    Return,
    /// Where an exception leaves the activation.
    Throw,
    /// Where activations come into fragments and go out of them otherwise than along edges; see [`crate::counting`].
    Crossing,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Site::Entry => f.write_str("entry"),
            Site::Before(n) => write!(f, "before {n}"),
            Site::After(n) => write!(f, "after {n}"),
            Site::Edge(a, b) => write!(f, "edge {a} -> {b}"),
            Site::At(pc) => write!(f, "@{pc}"),
            Site::Behind(pc) => write!(f, "behind @{pc}"),
            Site::Return => f.write_str("return"),
            Site::Throw => f.write_str("throw"),
            Site::Crossing => f.write_str("crossing"),
        }
    }
}

/// Where a value lies that a probe is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Read {
    /// In a local variable.
    Slot(u16),
    /// On the operand stack, counted in values from the top, which is 0.
    Operand(u8),
    /// Nowhere: it is null always.
    Null,
    /// The turns that the loop of this slot has made so far; -1 outside it, and where its beginning was not seen. A `long`.
    Turns(u32),
}

/// What advice does. A slot is a counter's number in the shard; it also names the state of a timer.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Action {
    Count {
        slot: u32,
    },
    Start {
        slot: u32,
    },
    Stop {
        slot: u32,
    },
    Lap {
        slot: u32,
    },
    /// A loop begins: no turns so far. The slot names its count, as that of a timer.
    Enter {
        slot: u32,
    },
    /// It goes back to its header.
    Turn {
        slot: u32,
    },
    /// It is left.
    Over {
        slot: u32,
    },
    /// Stands nowhere: activations that come into the version without a state of this timer began before. They get as their beginning what the cell
    /// says, a word in memory: a moment of `System.nanoTime`, or the present one as long as it is 0.
    Since {
        slot: u32,
        cell: i64,
    },
    /// Records the time of such an activation, and of no other.
    Until {
        slot: u32,
    },
    /// The action, for the first so many that come to the cell, a word in memory that all threads share.
    First {
        cell: i64,
        most: u64,
        action: Box<Action>,
    },
    /// As `Count`; in a loop that calls nothing, in a local variable of the version meanwhile.
    Gather {
        slot: u32,
    },
    /// The first counters of as many as the method has [`Crossings`](crate::counting::Crossings).
    Balance {
        arrivals: u32,
        departures: u32,
    },
    Log {
        point: u32,
        values: Vec<(u16, Type)>,
    },
    /// `reads` are what the probe's method takes, in order; `operands` the kinds of as many operands of the stack as are read or lie
    /// above one that is, the topmost first.
    Run {
        method: Arc<veneer_probes::Method>,
        reads: Vec<Read>,
        operands: Vec<Kind>,
    },
}

impl Action {
    /// The word of the thread's counters that the action writes to, where it is one.
    pub fn counter(&self) -> Option<u32> {
        match self {
            Action::Count { slot }
            | Action::Gather { slot }
            | Action::Stop { slot }
            | Action::Until { slot }
            | Action::Lap { slot } => Some(*slot),
            Action::First { action, .. } => action.counter(),
            Action::Start { .. }
            | Action::Since { .. }
            | Action::Enter { .. }
            | Action::Turn { .. }
            | Action::Over { .. }
            | Action::Balance { .. }
            | Action::Log { .. }
            | Action::Run { .. } => None,
        }
    }

    /// The timer whose state the action needs.
    pub fn timer(&self) -> Option<u32> {
        match self {
            Action::Start { slot }
            | Action::Stop { slot }
            | Action::Lap { slot }
            | Action::Since { slot, .. }
            | Action::Until { slot }
            | Action::Enter { slot }
            | Action::Turn { slot }
            | Action::Over { slot } => Some(*slot),
            _ => None,
        }
    }
}

/// One action at one join point. Probes of one join point fire in the order in which they are given.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Probe {
    pub site: Site,
    pub action: Action,
}
