//! The flow graph of a method, with the variables that code can read at each fragment.

use crate::advice::Site;
use crate::bytecode::opcode::mnemonic;
use crate::code_hash::CodeHash;
use crate::devirtualisation::{VirtualCall, virtual_calls};
use crate::flowgraph::{Fragment, FragmentId};
use crate::method::Method;
use crate::points::{Point, reachable};
use crate::readable::Readable;
use crate::specialisation::{check_constant, parameter_slot};
use std::collections::HashSet;
use veneer_names::LocalSlot;

/// The flow graph of a method. Fragments are identified by their numbers, from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphListing {
    /// The hash of the code. Methods with the same hash have the same fragments.
    pub hash: CodeHash,
    /// Edges between fragments in order, without those to exception handlers.
    pub edges: Vec<(u32, u32)>,
    /// The fragments by number.
    pub places: Vec<PlaceListing>,
    /// The parameters without the receiver.
    pub parameters: Vec<ParameterListing>,
}

/// A parameter of a method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterListing {
    /// The name by which code can read the parameter where activations begin.
    pub name: String,
    /// The Java type.
    pub kind: String,
    /// True if the method assigns no value to the parameter and its type is one of those that can be a constant.
    pub can_be_constant: bool,
}

/// A fragment as a join point at which instruments can be placed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaceListing {
    /// The pc of the first instruction.
    pub pc: u16,
    /// Source line of the first instruction.
    pub line: Option<u16>,
    /// Mnemonics of the fragment's instructions.
    pub instructions: Vec<&'static str>,
    /// Number of loops that contain the fragment.
    pub depth: u32,
    /// True if the fragment is a loop header.
    pub is_header: bool,
    /// True if an activation can reach the fragment in a version, so that instruments can be placed
    /// there.
    pub is_reachable: bool,
    /// Names and types of the variables that code can read at the start.
    pub variables: Vec<(String, String)>,
    /// The virtual calls whose receivers can be tested.
    pub calls: Vec<VirtualCall>,
}

/// Lists the flow graph of a method with these capture points.
pub fn graph(method: &Method, points: &[Point]) -> GraphListing {
    let reached: HashSet<FragmentId> = reachable(method, points).into_iter().collect();
    let headers: HashSet<usize> = method.loops.headers().map(|n| n.index()).collect();
    let readable = Readable::new(method, points);
    let calls = virtual_calls(method);
    let place = |f: &Fragment| PlaceListing {
        pc: f.start,
        line: method.line(f.start),
        instructions: method.instructions[f.instructions.clone()]
            .iter()
            .map(|i| mnemonic(i.1.op()))
            .collect(),
        depth: {
            let around = method.loops.loops.iter();
            around.filter(|l| l.body[f.id.index()]).count() as u32
        },
        is_header: headers.contains(&f.id.index()),
        is_reachable: reached.contains(&f.id),
        variables: readable.variables(Site::Before(f.id)),
        calls: {
            let inside = calls.iter();
            let inside = inside.filter(|call| method.flow.fragment_containing(call.pc) == f.id);
            inside.cloned().collect()
        },
    };
    let mut edges = Vec::new();
    for f in method.flow.fragments() {
        edges.extend(method.flow.successors(f.id).iter().map(|to| (f.id.0, to.0)));
    }
    GraphListing {
        hash: CodeHash::from_method(method),
        edges,
        places: method.flow.fragments().map(place).collect(),
        parameters: parameters(method, points),
    }
}

fn parameters(method: &Method, points: &[Point]) -> Vec<ParameterListing> {
    let mut slot = u16::from(!method.is_static());
    let mut all = Vec::new();
    for (number, kind) in (0..).zip(&method.signature.parameters) {
        all.push(ParameterListing {
            name: method.variable_name(LocalSlot(slot), 0),
            kind: kind.to_string(),
            can_be_constant: parameter_slot(method, number)
                .and_then(|slot| check_constant(method, slot, points.first()))
                .is_ok(),
        });
        slot += kind.width();
    }
    all
}
