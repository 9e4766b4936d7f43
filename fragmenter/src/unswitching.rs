//! Loops that are copied, one copy for each outcome of an invariant condition
//! ([`Edit::Unswitch`](crate::patch::Edit::Unswitch)).
//!
//! ```text
//!   the method                           unswitch f3, which ends with `if a`
//!   f1 ──▶ f2 ◀───────────╮              f1 ──▶ if a ──▶ f2' f3' f4' f5'   the whole loop
//!          ▼              │                     ╰──────▶ f2  f3  f4  f5    the whole loop
//!          f3: if a ─▶ f4─┤
//!          ╰────────▶ f5 ─╯
//! ```
//!
//! Both copies have the whole loop with the branch of f3. So the test at the loop's entry only chooses a copy,
//! and no choice can be wrong: an activation may enter either copy, and may move from one to the other. In each
//! copy, the JIT compiler sees the branch taken in one way only, behind a test of the same values.

use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::PoolEntry;
use crate::flowgraph::{FragmentId, FragmentNode};
use crate::method::Method;
use crate::node_copies::NodeCopies;
use crate::patched_node::PatchedNode;
use crate::refusal::Refusal;
use crate::specialisation::assigns;
use crate::types::Type;
use std::collections::BTreeMap;
use std::ops::Range;

/// Copies the innermost loop around a fragment that ends with a branch on an invariant condition.
///
/// # Errors
/// The condition is not invariant, or the loop cannot be copied.
pub(crate) fn unswitch_loop(copies: &mut NodeCopies, fragment: FragmentId) -> Result<(), Refusal> {
    let around = copies.loops.innermost(fragment.node());
    let Some(around) = around.and_then(|l| copies.loops.get(l)) else {
        return Err(variant(fragment, "it is in no loop"));
    };
    let header = FragmentId(around.header.index() as u32);
    let code = copies.nodes[fragment.index()].code;
    let condition = condition(copies.method, code).map_err(|why| variant(fragment, why))?;
    let body = loop_nodes(copies, header);
    check_invariant(copies, (fragment, &condition), (header, &body))?;
    for node in &body {
        let handlers = copies.method.flow.handlers(copies.nodes[node.index()].code);
        let is_inside = |h: &FragmentId| around.body.get(h.index()).is_some_and(|b| *b);
        if let Some(handler) = handlers.into_iter().find(is_inside) {
            return Err(Refusal::LoopWithHandler(header.0, handler.0));
        }
    }
    let mut copy_of = BTreeMap::new();
    for node in &body {
        copy_of.insert(*node, copies.add(*node)?);
    }
    for copy in copy_of.values() {
        for (_, target) in &mut copies.nodes[copy.index()].out {
            *target = copy_of.get(target).copied().unwrap_or(*target);
        }
    }
    let choice = FragmentId(copies.nodes.len() as u32);
    for node in 0..copies.nodes.len() as u32 {
        if !body.contains(&FragmentId(node)) {
            copies.lead(FragmentId(node), header, choice);
        }
    }
    if *copies.entry == header {
        *copies.entry = choice;
    }
    copies.nodes.push(PatchedNode {
        origin: header,
        code: copies.nodes[header.index()].code,
        out: vec![(header, copy_of[&header]), (header, header)],
        choice: Some(condition),
    });
    let live = copies.live_in[header.index()].clone();
    copies.live_in.push(live);
    Ok(())
}

fn variant(fragment: FragmentId, why: &str) -> Refusal {
    Refusal::NotInvariant(fragment.0, why.to_string())
}

/// The nodes of the loop with a header, without those of copies that were made before.
fn loop_nodes(copies: &NodeCopies, header: FragmentId) -> Vec<FragmentId> {
    let found = copies
        .loops
        .loops
        .iter()
        .find(|l| l.header == header.node());
    let is_inside = |node: FragmentId| {
        let origin = copies.origin(node).index();
        found.is_some_and(|l| l.body.get(origin).is_some_and(|b| *b))
    };
    let mut nodes = vec![header];
    let mut next = 0;
    while let Some(node) = nodes.get(next).copied() {
        next += 1;
        for (_, to) in &copies.nodes[node.index()].out {
            if is_inside(*to) && !nodes.contains(to) {
                nodes.push(*to);
            }
        }
    }
    nodes.sort_unstable();
    nodes
}

/// The instructions that compute the condition with which a fragment ends: loads of local variables, constants and
/// arithmetic that throws nothing, and then the branch.
fn condition(method: &Method, code: FragmentId) -> Result<Range<usize>, &'static str> {
    let instructions = method.flow.get(code).map(|f| f.instructions.clone());
    let instructions = instructions.unwrap_or(0..0);
    let mut first = instructions.end.saturating_sub(1);
    let mut missing = match method.instructions.get(first) {
        Some((_, Instruction::Branch { op, .. })) => words_compared(*op),
        _ => 0,
    };
    if missing == 0 {
        return Err("it does not end with a branch");
    }
    while missing > 0 {
        if first <= instructions.start {
            return Err("its condition is on the operand stack at its start");
        }
        first -= 1;
        let words = words_moved(method, &method.instructions[first].1);
        let Some((popped, pushed)) = words.filter(|(_, pushed)| *pushed <= missing) else {
            return Err("its condition is made of more than variables and constants");
        };
        missing = missing - pushed + popped;
    }
    Ok(first..instructions.end)
}

/// The words that a conditional branch compares; 0 for other branches.
fn words_compared(op: u8) -> usize {
    match op {
        IFEQ..IF_ICMPEQ | IFNULL | IFNONNULL => 1,
        IF_ICMPEQ..=IF_ACMPNE => 2,
        _ => 0,
    }
}

/// The words that an instruction without effects pops and pushes.
fn words_moved(method: &Method, instruction: &Instruction) -> Option<(usize, usize)> {
    let words = |kinds: &str| {
        let wide = kinds.bytes().filter(|k| matches!(k, b'L' | b'D'));
        kinds.len() + wide.count()
    };
    match instruction {
        Instruction::Push(_) => Some((0, 1)),
        Instruction::Ldc { index, .. } => match method.file.pool.entry(*index).ok()? {
            PoolEntry::Integer(_) | PoolEntry::Float(_) => Some((0, 1)),
            PoolEntry::Long(_) | PoolEntry::Double(_) => Some((0, 2)),
            // Loading it may resolve a class, or call a method.
            _ => None,
        },
        Instruction::Local { op, .. } if *op < ISTORE => {
            Some((0, 1 + usize::from(matches!(*op, LLOAD | DLOAD))))
        }
        Instruction::Plain(IDIV | LDIV | IREM | LREM) => None,
        Instruction::Plain(ACONST_NULL) => Some((0, 1)),
        Instruction::Plain(op @ (ICONST_M1..=15 | IADD..=LXOR | I2L..=DCMPG)) => {
            let (popped, pushed) = signature(*op)?.split_once(':')?;
            Some((words(popped), words(pushed)))
        }
        _ => None,
    }
}

/// Checks that the loop assigns no variable of a fragment's condition, and that each has its value at the loop's
/// header.
///
/// # Errors
/// [`Refusal::NotInvariant`].
fn check_invariant(
    copies: &NodeCopies,
    (fragment, condition): (FragmentId, &Range<usize>),
    (header, body): (FragmentId, &[FragmentId]),
) -> Result<(), Refusal> {
    let method = copies.method;
    for (_, load) in &method.instructions[condition.clone()] {
        let Instruction::Local { op, index } = load else {
            continue;
        };
        let is_wide = matches!(*op, LLOAD | DLOAD);
        let slots = *index..=*index + u16::from(is_wide);
        let assigned = body.iter().any(|node| {
            let fragment = method.flow.get(copies.nodes[node.index()].code);
            let code = fragment.map_or(0..0, |f| f.instructions.clone());
            let mut code = method.instructions[code].iter();
            code.any(|(_, i)| slots.clone().any(|slot| assigns(i, slot)))
        });
        if assigned {
            let why = format!("the loop assigns local {index}");
            return Err(variant(fragment, &why));
        }
        let local = method.states[header.index()]
            .locals
            .get(usize::from(*index));
        let lives = copies.live_in[header.index()].get(usize::from(*index));
        if local.is_none_or(|t| *t == Type::Top) || lives.is_none_or(|b| !*b) {
            let why = format!("local {index} has no value at the loop's header");
            return Err(variant(fragment, &why));
        }
    }
    Ok(())
}
