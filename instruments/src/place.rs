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
pub enum Place {
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
    /// method. The blocks are in `Spec::only`.
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
    Instructions(Which),
}

/// A selector of instructions by their effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Calls of methods. With a pattern, only calls of matching methods; the class is the one that
    /// the call instruction names.
    Calls(Option<MethodPattern>),
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
    Enters,
    Leaves,
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

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |f: &mut fmt::Formatter<'_>, name: &str, of: &Option<String>| match of {
            Some(of) => write!(f, "{name} {of}"),
            None => f.write_str(name),
        };
        match self {
            Which::Calls(of) => with(f, "calls", &of.as_ref().map(ToString::to_string)),
            Which::Reads(of) => with(f, "reads", of),
            Which::Writes(of) => with(f, "writes", of),
            Which::ArrayReads => f.write_str("array reads"),
            Which::ArrayWrites => f.write_str("array writes"),
            Which::Allocations => f.write_str("allocations"),
            Which::Enters => f.write_str("monitor enters"),
            Which::Leaves => f.write_str("monitor exits"),
            Which::Throws => f.write_str("throws"),
            Which::Handlers => f.write_str("handlers"),
            Which::Branches => f.write_str("branches"),
            Which::Switches => f.write_str("switches"),
            Which::Opcode(name) => write!(f, "instructions {name}"),
        }
    }
}

fn join<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Method => f.write_str("method"),
            Place::Entry => f.write_str("entry"),
            Place::Exits => f.write_str("exits"),
            Place::Blocks => f.write_str("blocks"),
            Place::Block(blocks) => f.write_str(&join(blocks, |b| format!("f{b}"))),
            Place::Chosen => f.write_str("chosen blocks"),
            Place::Loops => f.write_str("loops"),
            Place::LoopExits => f.write_str("loop exits"),
            Place::Edges => f.write_str("edges"),
            Place::Edge(edges) => f.write_str(&join(edges, |(a, b)| format!("f{a}->f{b}"))),
            Place::Instructions(which) => write!(f, "{which}"),
            Place::Line(lines) => write!(f, "line {}", join(lines, u16::to_string)),
        }
    }
}

/// The side of a point on which an instrument acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    Before,
    After,
    /// Before and after the point. The end acts only in activations that have passed the beginning.
    Around,
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            When::Before => "before",
            When::After => "after",
            When::Around => "around",
        })
    }
}
