//! The points in a method at which an instrument acts.
//!
//! ```text
//!   int sum(int n) {            Entry      the entry of the method
//!     int s = 0;         f0     Block([0]) one fragment, numbered in order of bytecode index
//!     while (i < n)      f1     Loops      every loop header, here f1
//!       s += i++;        f2     Edge([(2, 1)]) one edge, here the back edge; Edges: all of them
//!     return s;          f3     Exits      every exit: returns and exceptions
//!   }                           Method     from entry to exit, for every exit
//!                               Instructions  single instructions: calls, reads, writes …
//! ```

use crate::MethodPattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The selector of points in each selected method. Fragment numbers are those of basic blocks in
/// order of bytecode index, displayed as `f3`; `veneer fragments … --policy block` shows them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointSelector {
    /// The method as a whole: before = at entry, after = at every exit, around = from entry to
    /// exit.
    Method,
    /// The entry of the method.
    Entry,
    /// Every exit: returns, and exceptions that leave the method.
    Exits,
    /// Every basic block.
    Blocks,
    /// The basic blocks with these numbers.
    Block(Vec<u32>),
    /// The basic blocks that a predicate of the plan has chosen, which differ from method to
    /// method. The blocks are in `InstrumentSpec::only`.
    Chosen,
    /// Every loop header.
    Loops,
    /// Every exit of a loop. A probe at a loop exit can read the number of iterations.
    LoopExits,
    /// Every edge between basic blocks.
    Edges,
    /// The edges with these pairs of block numbers (from, to).
    Edge(Vec<(u32, u32)>),
    /// The first instruction of each named source line. A line may begin in the middle of a basic
    /// block.
    Line(Vec<u16>),
    /// Single instructions of the selected kind.
    Instructions(InstructionKind),
    /// For a counter: the entry, every call and every allocation. For code: every call whose callee
    /// depends on the receiver; nothing is counted there.
    CallGraph,
    /// Each outcome of the guards that the method's transformations have inserted so far. Only counters can be
    /// placed there.
    Guards,
}

/// A selector of instructions by their effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionKind {
    /// Calls of methods. With a pattern, only calls of matching methods; the class is the one that
    /// the call instruction names.
    Calls(Option<MethodPattern>),
    /// Calls of methods, with the whole target in their text. With a mnemonic, only calls by this
    /// instruction.
    CallSites(Option<String>),
    /// Reads of fields. With a text, only of fields with this name or `class.name`.
    Reads(Option<String>),
    /// Writes of fields. With a text, only of fields with this name or `class.name`.
    Writes(Option<String>),
    /// Reads of array elements.
    ArrayReads,
    /// Writes of array elements.
    ArrayWrites,
    /// `new` and the array allocation instructions.
    Allocations,
    /// The `monitorenter` instructions.
    #[serde(rename = "enters")]
    MonitorEnters,
    /// The `monitorexit` instructions.
    #[serde(rename = "leaves")]
    MonitorExits,
    /// The `athrow` instructions.
    Throws,
    /// The first instructions of exception handlers.
    Handlers,
    /// Conditional branches, which have two successors.
    Branches,
    /// `tableswitch` and `lookupswitch`.
    Switches,
    /// Instructions with this mnemonic; `*` selects all instructions.
    Opcode(String),
}

impl fmt::Display for InstructionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |f: &mut fmt::Formatter<'_>, name: &str, of: &Option<String>| match of {
            Some(of) => write!(f, "{name} {of}"),
            None => f.write_str(name),
        };
        match self {
            InstructionKind::Calls(of) => with(f, "calls", &of.as_ref().map(ToString::to_string)),
            InstructionKind::CallSites(of) => with(f, "call sites", of),
            InstructionKind::Reads(of) => with(f, "reads", of),
            InstructionKind::Writes(of) => with(f, "writes", of),
            InstructionKind::ArrayReads => f.write_str("array reads"),
            InstructionKind::ArrayWrites => f.write_str("array writes"),
            InstructionKind::Allocations => f.write_str("allocations"),
            InstructionKind::MonitorEnters => f.write_str("monitor enters"),
            InstructionKind::MonitorExits => f.write_str("monitor exits"),
            InstructionKind::Throws => f.write_str("throws"),
            InstructionKind::Handlers => f.write_str("handlers"),
            InstructionKind::Branches => f.write_str("branches"),
            InstructionKind::Switches => f.write_str("switches"),
            InstructionKind::Opcode(name) => write!(f, "instructions {name}"),
        }
    }
}

fn join<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for PointSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointSelector::Method => f.write_str("method"),
            PointSelector::Entry => f.write_str("entry"),
            PointSelector::Exits => f.write_str("exits"),
            PointSelector::Blocks => f.write_str("blocks"),
            PointSelector::Block(blocks) => f.write_str(&join(blocks, |b| format!("f{b}"))),
            PointSelector::Chosen => f.write_str("chosen blocks"),
            PointSelector::Loops => f.write_str("loops"),
            PointSelector::LoopExits => f.write_str("loop exits"),
            PointSelector::Edges => f.write_str("edges"),
            PointSelector::Edge(edges) => f.write_str(&join(edges, |(a, b)| format!("f{a}->f{b}"))),
            PointSelector::Instructions(which) => write!(f, "{which}"),
            PointSelector::CallGraph => f.write_str("call graph"),
            PointSelector::Guards => f.write_str("guards"),
            PointSelector::Line(lines) => write!(f, "line {}", join(lines, u16::to_string)),
        }
    }
}

/// The side of a point on which an instrument acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdviceKind {
    /// Before the instructions of the point.
    Before,
    /// After the instructions of the point.
    After,
    /// Before and after the point. The end acts only in activations that have passed the beginning.
    Around,
}

impl fmt::Display for AdviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AdviceKind::Before => "before",
            AdviceKind::After => "after",
            AdviceKind::Around => "around",
        })
    }
}
