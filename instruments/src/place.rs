//! Where in a method an instrument stands.
//!
//! ```text
//!   int sum(int n) {            Entry      the way into the method
//!     int s = 0;         f0     Block([0]) one fragment, numbered in order of bytecode index
//!     while (i < n)      f1     Loops      every loop header, here f1
//!       s += i++;        f2     Edge([(2, 1)]) one edge, here the back edge; Edges: all of them
//!     return s;          f3     Exits      every way out, exceptional ones too
//!   }                           Method     from entry to exit, whichever exit it is
//!                               Instructions  single instructions: calls, reads, writes, allocations …
//! ```

use crate::MethodPattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The points of each selected method. Fragment numbers are those of basic blocks in order of bytecode
/// index (what `veneer fragments … --policy block` shows), displayed `f3`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The method as a whole: before = at entry, after = at every exit, around = from entry to exit.
    Method,
    /// The entry.
    Entry,
    /// Every exit: returns, and exceptions that leave the method.
    Exits,
    /// Every basic block.
    Blocks,
    /// The named basic blocks.
    Block(Vec<u32>),
    /// Basic blocks that a predicate has chosen, others in each method (`Spec::only`).
    Chosen,
    /// Every loop header.
    Loops,
    /// Where loops are left, whichever way; code sees there how many turns they have made.
    LoopExits,
    /// Every edge between basic blocks.
    Edges,
    /// The named edges, as (from, to).
    Edge(Vec<(u32, u32)>),
    /// Where the code of each named source line begins, in the middle of a basic block too.
    Line(Vec<u16>),
    /// Single instructions.
    Instructions(Which),
}

/// Instructions by what they do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Calls of methods, of those that the pattern matches by the class that the code names.
    Calls(Option<MethodPattern>),
    /// Reads of fields, of those with this name or `class.name`.
    Reads(Option<String>),
    /// Writes of fields.
    Writes(Option<String>),
    /// Reads of elements of arrays.
    ArrayReads,
    /// Writes of elements of arrays.
    ArrayWrites,
    /// `new` and the like.
    Allocations,
    /// `monitorenter`.
    Enters,
    /// `monitorexit`.
    Leaves,
    /// `athrow`.
    Throws,
    /// Where exception handlers begin.
    Handlers,
    /// Branches with a condition.
    Branches,
    /// `tableswitch` and `lookupswitch`.
    Switches,
    /// Those with this mnemonic; `*`: all.
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

/// On which side of a point the instrument acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Before the point.
    Before,
    /// After the point.
    After,
    /// A pair: its end fires only in activations that passed its beginning.
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
