//! A method's fragments as places: what stands at each, and what code can read there.

use crate::advice::Site;
use crate::bytecode::opcode::mnemonic;
use crate::flowgraph::Fragment;
use crate::method::Method;
use crate::points::{Point, reachable};
use crate::readable;

/// A method's flow graph. Fragments are named by their numbers, from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphListing {
    /// Edges between fragments, those to exception handlers aside, in order.
    pub edges: Vec<(u32, u32)>,
    /// The fragments by their numbers.
    pub places: Vec<PlaceListing>,
}

/// A fragment as a place where instruments can stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaceListing {
    /// The source line at which it begins.
    pub line: Option<u16>,
    /// Mnemonics of its instructions.
    pub instructions: Vec<&'static str>,
    /// How many loops it is in.
    pub depth: u32,
    /// Whether a loop begins there.
    pub is_header: bool,
    /// Whether an activation can be reached there: whether instruments stand there.
    pub is_reachable: bool,
    /// Names and types of the variables that code can read at its beginning.
    pub variables: Vec<(String, String)>,
}

/// Lists the places of a method with these capture points.
pub fn graph(method: &Method, points: &[Point]) -> GraphListing {
    let reached = reachable(method, points);
    let place = |f: &Fragment| PlaceListing {
        line: method.line(f.start),
        instructions: method.instructions[f.instructions.clone()]
            .iter()
            .map(|i| mnemonic(i.1.op()))
            .collect(),
        depth: {
            let around = method.loops.loops.iter();
            around.filter(|l| l.body[f.id.index()]).count() as u32
        },
        is_header: method.loops.headers().any(|n| n.index() == f.id.index()),
        is_reachable: reached.contains(&f.id),
        variables: readable::variables(method, points, Site::Before(f.id)),
    };
    let mut edges = Vec::new();
    for f in method.flow.fragments() {
        edges.extend(method.flow.successors(f.id).iter().map(|to| (f.id.0, to.0)));
    }
    GraphListing {
        edges,
        places: method.flow.fragments().map(place).collect(),
    }
}
