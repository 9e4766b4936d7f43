//! Capture points: the places at which a running activation can leave its code (OSR exits), and the
//! values that it carries then.
//!
//! A point is possible only where this activation holds no monitor that it entered and no
//! uninitialised object is live. The carried values are the live locals and the whole operand
//! stack.
//!
//! Point 0 is where an activation begins: the method's start (before the target of any back edge),
//! or in a constructor the position directly after `super(…)` or `this(…)`.

use crate::bytecode::opcode::{is_invoke, is_return};
use crate::flowgraph::{FragmentId, FragmentNode};
use crate::method::Method;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::types::Type;
use std::fmt;

/// The number of a capture point in its method. It is written `c2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointId(pub u16);

impl fmt::Display for PointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// The position of a capture point: the entry, the start of a fragment, or before a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// The entry of the method. In a constructor, the point after `super(…)` or `this(…)`.
    Entry,
    /// The start of a fragment.
    Fragment,
    /// The position before a return.
    Exit,
}

/// A capture point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The number of the point.
    pub id: PointId,
    /// The kind of the point.
    pub kind: PointKind,
    /// The point is before this instruction (index into [`Method::instructions`]).
    pub instruction: usize,
    /// pc of that instruction.
    pub pc: u16,
    /// The fragment that contains the instruction.
    pub fragment: FragmentId,
    /// Live locals as pairs of slot and type, sorted by slot.
    pub locals: Vec<(u16, Type)>,
    /// The operand stack, with the top value last.
    pub stack: Vec<Type>,
}

impl Point {
    /// Words that the live values occupy as arguments of a call.
    pub fn words(&self) -> u16 {
        self.stack
            .iter()
            .chain(self.locals.iter().map(|l| &l.1))
            .map(Type::width)
            .sum()
    }
}

/// A position at which the policy asks for a point but no point is possible.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The pc at which the point would be.
    pub pc: u16,
    /// The reason why there is no point.
    pub reason: Refusal,
}

/// The headers of a method's natural loops. For a cycle that is not a natural loop, the targets of
/// its retreating edges.
pub(crate) fn loop_headers(method: &Method) -> Vec<FragmentId> {
    let retreating = method.loops.irreducible.iter();
    let targets = retreating
        .filter_map(|e| method.flow.graph.edge_endpoints(*e))
        .map(|e| e.1);
    let headers = method.loops.headers().chain(targets);
    headers.map(|n| FragmentId(n.index() as u32)).collect()
}

/// Chooses the points of a method, and reports the positions at which a point is not possible.
///
/// # Errors
/// If not even point 0 is possible.
pub fn choose(method: &Method, policy: &Policy) -> Result<(Vec<Point>, Vec<Skipped>), Refusal> {
    let mut points = vec![entry_point(method)?];
    let mut skipped = Vec::new();
    let first = points[0].instruction;
    let mut wanted: Vec<FragmentId> = match policy {
        Policy::Method => Vec::new(),
        Policy::Block => method.flow.fragments().map(|f| f.id).collect(),
        Policy::Loop | Policy::Call(_) => {
            let mut ids = loop_headers(method);
            if let Policy::Call(_) = policy {
                let cut = |f: &&crate::flowgraph::Fragment| {
                    policy.cuts(
                        &method.instructions[f.instructions.start].1,
                        &method.file.pool,
                    )
                };
                ids.extend(method.flow.fragments().filter(cut).map(|f| f.id));
            }
            ids
        }
    };
    wanted.sort_unstable();
    wanted.dedup();
    // Under `block`, point 0 covers the first fragment unless a branch leads back to it.
    wanted.retain(|f| {
        !(f.0 == 0
            && method
                .flow
                .graph
                .edges_directed(f.node(), petgraph::Direction::Incoming)
                .next()
                .is_none())
    });
    for id in wanted {
        let Some(fragment) = method.flow.get(id) else {
            continue;
        };
        match at_fragment(method, first, id) {
            Ok(point) => points.push(point),
            Err(reason) => skipped.push(Skipped {
                pc: fragment.start,
                reason,
            }),
        }
    }
    if method.instructions.iter().any(|(_, i)| is_invoke(i.op())) || !method.held.is_empty() {
        for (i, (pc, _)) in method
            .instructions
            .iter()
            .enumerate()
            .filter(|(i, (_, ins))| is_return(ins.op()) && *i > first)
        {
            let Some(state) = method.state_at.get(&i) else {
                continue;
            };
            let fragment = method.flow.fragment_containing(*pc);
            if points.iter().any(|p| p.instruction == i) {
                continue;
            }
            // The locals that an exception handler which protects the return would read.
            let mut live = veneer_liveness::BitSet::repeat(false, method.code.max_locals as usize);
            for h in method.handlers_at(*pc) {
                let handler = method
                    .flow
                    .fragment_containing(method.code.exceptions[h].handler);
                for slot in method.liveness.live_in[handler.index()]
                    .iter_ones()
                    .take_while(|s| *s < method.code.max_locals as usize)
                {
                    live.set(slot, true);
                }
            }
            let locals = crate::method::typed_lives(state, &live);
            // The value to return is on top. Old or generated code may leave other values below it;
            // these are carried too. The top value has the declared result type, even if a more
            // specific type is known here, because the return requires no more.
            let mut stack = state.stack.clone();
            if let (Some(top), Some(declared)) = (stack.last_mut(), &method.signature.result) {
                *top = declared.clone();
            }
            match check_admissible(method, i, &locals, &stack) {
                Ok(()) => points.push(Point {
                    id: PointId(0),
                    kind: PointKind::Exit,
                    instruction: i,
                    pc: *pc,
                    fragment,
                    locals,
                    stack,
                }),
                Err(reason) => skipped.push(Skipped { pc: *pc, reason }),
            }
        }
    }
    points[1..].sort_by_key(|p| p.instruction);
    for (n, p) in points.iter_mut().enumerate() {
        p.id = PointId(n as u16);
    }
    Ok((points, skipped))
}

/// The point before a fragment, without its final number, or the reason why no point is possible.
/// `first` is the instruction of point 0.
pub(crate) fn at_fragment(method: &Method, first: usize, id: FragmentId) -> Result<Point, Refusal> {
    let Some(fragment) = method.flow.get(id) else {
        return Err(Refusal::UnknownFragment(id.0, method.flow.len()));
    };
    let i = fragment.instructions.start;
    if method.is_constructor() && i < first {
        return Err(Refusal::BeforeSuper);
    }
    let state = &method.states[id.index()];
    let locals = method.live_locals(id);
    check_admissible(method, i, &locals, &state.stack)?;
    Ok(Point {
        id: PointId(0),
        kind: PointKind::Fragment,
        instruction: i,
        pc: fragment.start,
        fragment: id,
        locals,
        stack: state.stack.clone(),
    })
}

/// The fragments that a version can execute: those that are reachable from point 0, so none before
/// `super(…)`.
pub fn reachable(method: &Method, points: &[Point]) -> Vec<FragmentId> {
    let mut seen = vec![false; method.flow.len()];
    let mut work: Vec<FragmentId> = points.first().map(|p| p.fragment).into_iter().collect();
    while let Some(f) = work.pop() {
        if let Some(mark) = seen.get_mut(f.index())
            && !std::mem::replace(mark, true)
        {
            let next = method.flow.graph.neighbors(f.node());
            work.extend(next.map(|n| FragmentId(n.index() as u32)));
        }
    }
    let all = method.flow.fragments().map(|f| f.id);
    all.filter(|f| seen[f.index()]).collect()
}

fn entry_point(method: &Method) -> Result<Point, Refusal> {
    let (instruction, state) = match (
        method.is_constructor() && &*method.class != "java/lang/Object",
        method.after_super,
    ) {
        (false, _) => (0, &method.entry),
        (true, Some(i)) => (i, method.state_at.get(&i).ok_or(Refusal::SplitConstructor)?),
        // The call of `super(…)` never completes normally: the constructor always throws.
        (true, None) => return Err(Refusal::SplitConstructor),
    };
    let pc = method
        .instructions
        .get(instruction)
        .map(|i| i.0)
        .ok_or(Refusal::SplitConstructor)?;
    let locals: Vec<_> = state
        .locals
        .iter()
        .enumerate()
        .filter(|(_, t)| **t != Type::Top)
        .map(|(i, t)| (i as u16, t.clone()))
        .collect();
    check_admissible(method, instruction, &locals, &state.stack)?;
    Ok(Point {
        id: PointId(0),
        kind: PointKind::Entry,
        instruction,
        pc,
        fragment: method.flow.fragment_containing(pc),
        locals,
        stack: state.stack.clone(),
    })
}

fn check_admissible(
    method: &Method,
    instruction: usize,
    locals: &[(u16, Type)],
    stack: &[Type],
) -> Result<(), Refusal> {
    if method.held_before(instruction) > 0 {
        return Err(Refusal::MonitorHeld);
    }
    if locals
        .iter()
        .map(|l| &l.1)
        .chain(stack)
        .any(|t| t.is_uninitialized())
    {
        return Err(Refusal::UninitializedObject);
    }
    let words: u16 = locals
        .iter()
        .map(|l| &l.1)
        .chain(stack)
        .map(Type::width)
        .sum();
    if words > 255 {
        Err(Refusal::TooManyLiveValues)
    } else {
        Ok(())
    }
}
