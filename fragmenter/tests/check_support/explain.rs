//! Why a mutant may rightly pass: what was changed is Veneer's own measure, or nobody can tell the difference.
//!
//! It looks at instructions and tables only, not at what the checker thinks of them. What it cannot say stays unexplained.
//!
//! Both bodies are compared from the front and from the back; what lies between is the change. Instructions that only feed a
//! counter, a timer, a log or the place for stack traces are taken out of it on both sides. If the rest is the same, the change
//! was Veneer's own. The address of the counters is no such thing: a change there must be seen.
//!
//! Two ways come to the same if they run through equal instructions, with the same handlers at each that may throw, until both
//! return or throw, or are at one place (`alike`). That is sound: after equal instructions both sides are in equal states, and an
//! exception on the way is caught at the same place or by nobody. Stubs of two exits are such ways: what they do is the same,
//! word for word. A number from the constant pool is loaded without resolving anything and cannot throw (JVMS 5.1), so
//! whether a handler covers it is no difference.
//! A change within one basic block is judged in `straight.rs`.

mod body;
mod straight;

use body::Body;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, Label, decode};
use veneer_fragmenter::classfile::{ClassFile, Code, Entry};

/// Why a mutant passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Only what Veneer measures by, or the value of a variable before an activation has come to its place.
    Own,
    /// Code that nobody reaches, a variable that nobody reads, rows or targets that come to the same.
    Equivalent,
}

/// What was changed, for people.
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

/// Says why, where it can.
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
    // Which locals are measures is a matter of the code as it was.
    b.measures.clone_from(&a.measures);
    // See `runtime::resume_method`.
    let resumes = name.rsplit('$').next().is_some_and(|n| n.starts_with('r'));
    if resumes {
        a.reached = a.reached_from_frame();
        b.reached = b.reached_from_frame();
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
    if a.rest(left.clone()) == b.rest(right.clone()) {
        return Some(Why::Own);
    }
    let gone = |i: usize| matches!(b.list[i].1, Instruction::Plain(NOP | POP | POP2));
    let mine = |body: &Body, i: usize| body.own(i) || body.spare(i);
    if left.clone().all(|i| a.own(i)) && right.clone().all(|i| gone(i) || mine(&b, i)) {
        return Some(Why::Own);
    }
    if left.clone().all(|i| !a.reached[i]) && right.clone().all(|i| !b.reached[i]) {
        return Some(Why::Equivalent);
    }
    // How often a loop adds what it has counted.
    let asked = |body: &Body, i: usize| i.checked_sub(2).and_then(|i| body.turns(i)).is_some();
    if left.len() == 1 && asked(&a, left.start) && asked(&b, right.start) {
        return Some(Why::Own);
    }
    if let ([(_, x)], [(_, y)]) = (&a.list[left.clone()], &b.list[right.clone()])
        && let (Instruction::Branch { op, target: to }, Instruction::Branch { op: other, target }) =
            (x, y)
        && op == other
        && {
            let arrived = resumes && !a.coming()[left.start];
            let (to, instead) = (a.at(to.0 as u16), a.at(target.0 as u16));
            a.alike(to, instead, arrived) || a.same_exit(left.start, instead, arrived)
        }
    {
        return Some(Why::Own);
    }
    if resumes {
        let (x, y) = (a.coming(), b.coming());
        if left.clone().all(|i| a.dummy(i, &x)) && right.clone().all(|i| b.dummy(i, &y)) {
            return Some(Why::Own);
        }
        if left.len() == 1 && left == right {
            let (x, y) = (
                a.lands_with_frame(left.start),
                b.lands_with_frame(left.start),
            );
            if x.is_some() && x == y {
                return Some(Why::Equivalent);
            }
        }
    }
    let live = |body: &Body, range: std::ops::Range<usize>| {
        let mut out = Vec::new();
        for i in range {
            if !body.dead(i) {
                out.push(body.target(i));
            }
        }
        out
    };
    if live(&a, left.clone()) == live(&b, right.clone())
        || alike_in(&a, &b, left.clone())
        || straight::same(&a, &b, left.clone(), right.clone())
    {
        return Some(Why::Equivalent);
    }
    if let Some(why) = asked_otherwise(&a, &b, left.clone()) {
        return Some(why);
    }
    // Past advice and checks, or to them.
    let past = |body: &Body, range: std::ops::Range<usize>| -> Vec<_> {
        let coming = body.coming();
        let lands = |i: usize| body.lands(i, Some(resumes && !coming[i]));
        range.map(lands).collect()
    };
    (past(&a, left) == past(&b, right)).then_some(Why::Own)
}

/// A branch that asks otherwise, of the same operands, where all answers lead to one place: the next instruction, or behind what only
/// adds up what a loop has counted.
fn asked_otherwise(a: &Body, b: &Body, range: std::ops::Range<usize>) -> Option<Why> {
    let words = |i: &Instruction| matches!(i.op(), IF_ICMPEQ..=IF_ACMPNE);
    let i = range.start;
    if range.len() != 1 || a.list.len() != b.list.len() {
        return None;
    }
    let same = words(&a.list[i].1) == words(&b.list[i].1) && a.list[i].0 == b.list[i].0;
    let one = |advice| {
        let (x, y) = (a.either_way(i, advice)?, b.either_way(i, advice)?);
        (same && x == y).then_some(())
    };
    let equivalent = one(false).map(|_| Why::Equivalent);
    equivalent.or_else(|| one(true).map(|_| Why::Own))
}

/// Whether an instruction may throw: as its operation says, but for numbers from the constant pool.
pub fn throws(file: &ClassFile, i: &Instruction) -> bool {
    let number = match i {
        Instruction::Ldc { index, .. } => matches!(
            file.pool.entry(*index),
            Ok(Entry::Integer(_) | Entry::Float(_) | Entry::Long(_) | Entry::Double(_))
        ),
        _ => false,
    };
    may_throw(i.op()) && !number
}

/// Whether the instructions of a range are the same but for where they lead, and lead to ways that come to the same.
fn alike_in(a: &Body, b: &Body, mut range: std::ops::Range<usize>) -> bool {
    // A place has one number on both sides.
    let places = |body: &Body| body.list.iter().map(|i| i.0).collect::<Vec<u16>>();
    places(a) == places(b)
        && range.all(|i| {
            let (x, y) = (&a.list[i].1, &b.list[i].1);
            let (to, instead) = (x.targets(), y.targets());
            aimless(x) == aimless(y)
                && to.len() == instead.len()
                && to
                    .iter()
                    .zip(&instead)
                    .all(|(t, u)| alike(a, b, a.at(t.0 as u16), b.at(u.0 as u16)))
        })
}

/// An instruction without its targets.
fn aimless(i: &Instruction) -> Instruction {
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

/// Whether the ways from a place in each body come to the same. See the module documentation.
fn alike(a: &Body, b: &Body, mut i: usize, mut j: usize) -> bool {
    for _ in 0..a.list.len() {
        (i, j) = (a.settle(i), b.settle(j));
        let (Some((_, x)), Some((_, y))) = (a.list.get(i), b.list.get(j)) else {
            return false;
        };
        if x.targets().is_empty() && x.op() != RET && x == y {
            // A return may throw too, for a monitor.
            if (may_throw(x.op()) || ends_flow(x.op())) && a.handlers(i) != b.handlers(j) {
                return false;
            }
            if i == j || ends_flow(x.op()) {
                return true;
            }
            (i, j) = (i + 1, j + 1);
        } else {
            // From one place both go on alike: nothing but the change itself differs. But not round a silent circle.
            return i == j && x.op() != GOTO;
        }
    }
    false
}
