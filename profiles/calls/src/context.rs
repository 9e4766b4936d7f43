//! Nodes of the calling-context tree (Ammons, Ball and Larus, *Exploiting hardware performance
//! counters with flow and context sensitive profiling*, PLDI 1997).
//!
//! A *calling context* is a method together with the call sites through which it was reached. The
//! contexts of a thread form a tree: the parent of a context is the context of its caller.

use crate::call::CallKind;
use crate::measure::Measure;
use crate::method::MethodId;

/// The index of a context in its profile. The parent of a context has a smaller index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub u32);

impl ContextId {
    /// The index as a position in [`crate::CallProfile::contexts`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The index of a thread in its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The index as a position in [`crate::CallProfile::threads`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread whose contexts were recorded. Two threads are the same if name and number are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thread {
    /// The name of the thread (`Thread.getName`).
    pub name: String,
    /// Distinguishes threads of one name.
    pub number: u64,
    /// Whether this is a virtual thread (JEP 444).
    pub is_virtual: bool,
}

/// The position at which a tree of contexts begins or continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Parent {
    /// The context is a root of the tree of a thread. `None` stands for all threads together.
    Root(Option<ThreadId>),
    /// The context of the caller.
    Context(ContextId),
}

/// The way in which the activations of a context began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// A call of this kind.
    Call(CallKind),
    /// The activation began before the recording did. Its times begin with the recording.
    Early,
}

impl Origin {
    pub(crate) fn code(self) -> u64 {
        match self {
            Origin::Early => 0,
            Origin::Call(kind) => kind.code() + 1,
        }
    }

    pub(crate) fn from_code(code: u64) -> Origin {
        match code.checked_sub(1) {
            None => Origin::Early,
            Some(code) => Origin::Call(CallKind::from_code(code)),
        }
    }
}

/// The costs of a context. All times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextCost {
    /// The number of calls.
    pub calls: u64,
    /// The wall time of these calls, callees included.
    pub wall_ns: u64,
    /// The wall time of these calls, callees excluded.
    pub self_ns: u64,
    /// The processor time of these calls, callees included.
    pub cpu_ns: u64,
    /// The processor time of these calls, callees excluded.
    pub self_cpu_ns: u64,
    /// The number of objects allocated in this context, callees excluded.
    pub allocations: u64,
}

impl ContextCost {
    /// Adds other costs. A sum beyond 2⁶⁴ − 1 becomes 2⁶⁴ − 1.
    pub fn add(&mut self, other: &ContextCost) {
        for (sum, more) in [
            (&mut self.calls, other.calls),
            (&mut self.wall_ns, other.wall_ns),
            (&mut self.self_ns, other.self_ns),
            (&mut self.cpu_ns, other.cpu_ns),
            (&mut self.self_cpu_ns, other.self_cpu_ns),
            (&mut self.allocations, other.allocations),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// The cost by a measure, callees excluded.
    pub fn by(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Count => self.calls,
            Measure::Time => self.self_ns,
            Measure::Cpu => self.self_cpu_ns,
            Measure::Allocations => self.allocations,
        }
    }
}

/// A node of the calling-context tree.
///
/// Two contexts are the same if parent, method, bytecode index and origin are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The thread, or the context of the caller.
    pub parent: Parent,
    /// The method that was called.
    pub method: MethodId,
    /// The bytecode index of the call in the method of the parent, if it is known.
    pub bci: Option<u16>,
    /// How the activations began.
    pub origin: Origin,
    /// The costs of all activations in this context.
    pub cost: ContextCost,
}

impl Context {
    /// Whether the times of this context are part of the times of its parent.
    pub fn is_part_of_parent(&self) -> bool {
        self.origin != Origin::Call(CallKind::Handover)
    }
}
