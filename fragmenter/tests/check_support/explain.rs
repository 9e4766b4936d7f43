//! Explains why a mutant may pass: the change affects only a measurement of Veneer, or has no
//! effect.
//!
//! The explanation uses instructions and tables only, and no result of the checker. A mutant that
//! this module cannot explain stays unexplained.
//!
//! The two bodies are compared from the front and from the back; the part between is the change.
//! Instructions that only feed a counter, a timer, a log or the position for stack traces are
//! removed from the change on both sides. If the rest is equal, the change affects only Veneer's
//! measurements. The address of the counters is not such a measurement: the checker must detect a
//! change of it.
//!
//! Two paths are equivalent if they execute equal instructions, with equal handlers at each
//! instruction that may throw, until both return or throw or reach the same position
//! (`paths_equivalent`). This rule is sound: equal instructions lead to equal states, and an
//! exception on the way is handled at the same position or leaves both bodies. Stubs of two exits
//! may be such paths, if their instructions are equal.
//!
//! A number from the constant pool is loaded without resolution and cannot throw (JVMS 5.1). So it
//! does not matter whether a handler covers the load. A change within one basic block is judged in
//! `basic_block.rs`.

mod basic_block;
mod body;

use body::Body;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, Label, decode};
use veneer_fragmenter::classfile::{ClassFile, Code, PoolEntry};

/// The reason why a mutant passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The change affects only Veneer's measurements, or the value of a variable before a resumed
    /// activation has reached its position.
    Own,
    /// The change affects only unreachable code, a variable that is never read, or handlers or
    /// targets that are equivalent.
    Equivalent,
}

/// Describes the change for a message.
pub fn differs(old: &Code, new: &Code) -> String {
    let (Ok(a), Ok(b)) = (decode(&old.code), decode(&new.code)) else {
        return String::new();
    };
    let left = a.iter().filter(|x| !b.contains(x));
    let right = b.iter().filter(|x| !a.contains(x));
    format!(
        "{:?} to {:?}",
        left.collect::<Vec<_>>(),
        right.collect::<Vec<_>>()
    )
}

/// Explains a mutant, if possible.
pub fn explain(
    file: &ClassFile,
    host_locals: u16,
    name: &str,
    old: &Code,
    new: &Code,
) -> Option<Why> {
    let (mut a, mut b) = (
        Body::read(file, host_locals, old)?,
        Body::read(file, host_locals, new)?,
    );
    // The original code decides which locals hold measurements.
    b.measures.clone_from(&a.measures);
    // See `runtime::resume_method`.
    let resumes = name.rsplit('$').next().is_some_and(|n| n.starts_with('r'));
    if resumes {
        a.reached = a.reachable_from_frame();
        b.reached = b.reachable_from_frame();
    }
    let rows = old.exceptions != new.exceptions;
    if a.handled() == b.handled() && rows && old.code == new.code {
        return Some(Why::Equivalent);
    }
    if rows {
        return None;
    }
    let front = a
        .list
        .iter()
        .zip(&b.list)
        .take_while(|(x, y)| x == y)
        .count();
    let most = a.list.len().min(b.list.len()) - front;
    let back = (a.list.iter().rev().zip(b.list.iter().rev()))
        .take(most)
        .take_while(|(x, y)| x == y)
        .count();
    let (left, right) = (front..a.list.len() - back, front..b.list.len() - back);
    if a.without_runtime_operations(left.clone()) == b.without_runtime_operations(right.clone()) {
        return Some(Why::Own);
    }
    if a.without_position_steps(left.clone()) == b.without_position_steps(right.clone()) {
        return Some(Why::Own);
    }
    let gone = |i: usize| matches!(b.list[i].1, Instruction::Plain(NOP | POP | POP2));
    let mine = |body: &Body, i: usize| body.is_runtime_operation(i) || body.is_unread_store(i);
    if left.clone().all(|i| a.is_runtime_operation(i))
        && right.clone().all(|i| gone(i) || mine(&b, i))
    {
        return Some(Why::Own);
    }
    if left.clone().all(|i| !a.reached[i]) && right.clone().all(|i| !b.reached[i]) {
        return Some(Why::Equivalent);
    }
    // The change affects how often a loop adds the iterations that it has counted.
    let asked = |body: &Body, i: usize| {
        i.checked_sub(2)
            .and_then(|i| body.iteration_local(i))
            .is_some()
    };
    if left.len() == 1 && asked(&a, left.start) && asked(&b, right.start) {
        return Some(Why::Own);
    }
    if let ([(_, x)], [(_, y)]) = (&a.list[left.clone()], &b.list[right.clone()])
        && let (Instruction::Branch { op, target: to }, Instruction::Branch { op: other, target }) =
            (x, y)
        && op == other
        && {
            let arrived = resumes && !a.before_arrival()[left.start];
            let (to, instead) = (a.at(to.0 as u16), a.at(target.0 as u16));
            a.same_code(to, instead, arrived) || a.same_exit(left.start, instead, arrived)
        }
    {
        return Some(Why::Own);
    }
    if left.len() == 1 && left == right && switches_own(&a, &b, left.start, resumes) {
        return Some(Why::Own);
    }
    if resumes {
        let (x, y) = (a.before_arrival(), b.before_arrival());
        if left.clone().all(|i| a.is_placeholder(i, &x))
            && right.clone().all(|i| b.is_placeholder(i, &y))
        {
            return Some(Why::Own);
        }
        if left.len() == 1 && left == right {
            let (x, y) = (
                a.goto_target_before_arrival(left.start),
                b.goto_target_before_arrival(left.start),
            );
            if x.is_some() && x == y {
                return Some(Why::Equivalent);
            }
        }
    }
    let live = |body: &Body, range: std::ops::Range<usize>| {
        let mut out = Vec::new();
        for i in range {
            if !body.is_dead_store(i) {
                out.push(body.target(i));
            }
        }
        out
    };
    if live(&a, left.clone()) == live(&b, right.clone())
        || targets_equivalent(&a, &b, left.clone())
        || basic_block::block_equivalent(&a, &b, left.clone(), right.clone())
    {
        return Some(Why::Equivalent);
    }
    if let Some(why) = explain_changed_condition(&a, &b, left.clone()) {
        return Some(why);
    }
    // Compare the positions after advice and checks.
    let past = |body: &Body, range: std::ops::Range<usize>| -> Vec<_> {
        let coming = body.before_arrival();
        let lands = |i: usize| body.outcome(i, Some(resumes && !coming[i]));
        range.map(lands).collect()
    };
    (past(&a, left) == past(&b, right)).then_some(Why::Own)
}

/// Explains a branch whose condition was changed, with the same operands. All outcomes must lead to
/// one position: the next instruction, or the code after an update of counters.
fn explain_changed_condition(a: &Body, b: &Body, range: std::ops::Range<usize>) -> Option<Why> {
    let words = |i: &Instruction| matches!(i.op(), IF_ICMPEQ..=IF_ACMPNE);
    let i = range.start;
    if range.len() != 1 || a.list.len() != b.list.len() {
        return None;
    }
    let same = words(&a.list[i].1) == words(&b.list[i].1) && a.list[i].0 == b.list[i].0;
    let one = |advice| {
        let (x, y) = (a.common_target(i, advice)?, b.common_target(i, advice)?);
        (same && x == y).then_some(())
    };
    let equivalent = one(false).map(|_| Why::Equivalent);
    equivalent.or_else(|| one(true).map(|_| Why::Own))
}

/// True if both bodies have a switch at this index, and corresponding targets lead to the same code
/// apart from advice and checks. A resumed activation that continues at another check of the same
/// place is counted differently and does nothing else.
fn switches_own(a: &Body, b: &Body, i: usize, arrived: bool) -> bool {
    let (x, y) = (&a.list[i].1, &b.list[i].1);
    let is_switch = matches!(
        x,
        Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. }
    );
    let (to, instead) = (x.targets(), y.targets());
    is_switch
        && without_targets(x) == without_targets(y)
        && to.len() == instead.len()
        && to.iter().zip(&instead).all(|(t, u)| {
            let (t, u) = (a.at(t.0 as u16), a.at(u.0 as u16));
            t == u || a.same_code(t, u, arrived)
        })
}

/// True if an instruction may throw. Loading a number from the constant pool cannot throw, nor can a
/// version that reads one of its own fields.
pub fn throws(file: &ClassFile, i: &Instruction) -> bool {
    let number = match i {
        Instruction::Ldc { index, .. } => matches!(
            file.pool.entry(*index),
            Ok(PoolEntry::Integer(_)
                | PoolEntry::Float(_)
                | PoolEntry::Long(_)
                | PoolEntry::Double(_))
        ),
        _ => false,
    };
    may_throw(i.op()) && !number && !reads_own_field(file, i)
}

/// True if a version reads one of its own fields, which the agent has filled in before.
pub fn reads_own_field(file: &ClassFile, i: &Instruction) -> bool {
    let Instruction::Pool {
        op: GETSTATIC,
        index,
    } = i
    else {
        return false;
    };
    let class = file.pool.member(*index).map(|m| m.class);
    let class = class.and_then(|class| file.pool.class_name(class));
    let name = file.name();
    matches!((class, name), (Ok(class), Ok(name)) if class == name && name.ends_with("$V"))
}

/// True if the instructions of a range differ only in their targets, and corresponding targets
/// start equivalent paths.
fn targets_equivalent(a: &Body, b: &Body, mut range: std::ops::Range<usize>) -> bool {
    // Instructions have equal indices on both sides.
    let places = |body: &Body| body.list.iter().map(|i| i.0).collect::<Vec<u16>>();
    places(a) == places(b)
        && range.all(|i| {
            let (x, y) = (&a.list[i].1, &b.list[i].1);
            let (to, instead) = (x.targets(), y.targets());
            without_targets(x) == without_targets(y)
                && to.len() == instead.len()
                && to
                    .iter()
                    .zip(&instead)
                    .all(|(t, u)| paths_equivalent(a, b, a.at(t.0 as u16), b.at(u.0 as u16)))
        })
}

/// Returns the instruction with all targets set to 0.
fn without_targets(i: &Instruction) -> Instruction {
    let mut i = i.clone();
    let nowhere = Label(0);
    match &mut i {
        Instruction::Branch { target, .. } => *target = nowhere,
        Instruction::TableSwitch {
            default, targets, ..
        } => {
            *default = nowhere;
            targets.fill(nowhere);
        }
        Instruction::LookupSwitch { default, pairs } => {
            *default = nowhere;
            pairs.iter_mut().for_each(|p| p.1 = nowhere);
        }
        _ => {}
    }
    i
}

/// True if the paths from a position in each body are equivalent. See the module documentation.
fn paths_equivalent(a: &Body, b: &Body, mut i: usize, mut j: usize) -> bool {
    for _ in 0..a.list.len() {
        (i, j) = (a.skip_gotos(i), b.skip_gotos(j));
        let (Some((_, x)), Some((_, y))) = (a.list.get(i), b.list.get(j)) else {
            return false;
        };
        if x.targets().is_empty() && x.op() != RET && x == y {
            // A return may throw too, because of a monitor.
            if (may_throw(x.op()) || ends_flow(x.op())) && a.handlers(i) != b.handlers(j) {
                return false;
            }
            if i == j || ends_flow(x.op()) {
                return true;
            }
            (i, j) = (i + 1, j + 1);
        } else {
            // From an equal position both bodies continue equally, because only the change differs.
            // A silent loop is excluded.
            return i == j && x.op() != GOTO;
        }
    }
    false
}
