//! Why a mutant may rightly pass: what was changed is Veneer's own measure, or nobody can tell the difference.
//!
//! It looks at instructions and tables only, not at what the checker thinks of them. What it cannot say stays unexplained.
//!
//! Both bodies are compared from the front and from the back; what lies between is the change. Instructions that only feed a
//! counter, a timer, a log or the place for stack traces are taken out of it on both sides. If the rest is the same, the change
//! was Veneer's own. The address of the counters is no such thing: a change there must be seen.

use std::collections::HashSet;

use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{ClassFile, Code};

/// Why a mutant passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Only what Veneer measures by, or the value of a variable before an activation has come to its place.
    Own,
    /// Code that nobody reaches, a variable that nobody reads, rows or targets that come to the same.
    Equivalent,
}

type List = Vec<(u16, Instruction)>;

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
    let (a, mut b) = (
        Body::read(file, host_locals, old)?,
        Body::read(file, host_locals, new)?,
    );
    // Which locals are measures is a matter of the code as it was.
    b.measures.clone_from(&a.measures);
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
    if name.starts_with('r') {
        let (x, y) = (a.coming(), b.coming());
        if left.clone().all(|i| a.dummy(i, &x)) && right.clone().all(|i| b.dummy(i, &y)) {
            return Some(Why::Own);
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
    if live(&a, left.clone()) == live(&b, right.clone()) {
        return Some(Why::Equivalent);
    }
    // Past advice, or to it.
    let past = |body: &Body, range: std::ops::Range<usize>| -> Vec<_> {
        range.map(|i| body.lands(i, true)).collect()
    };
    (past(&a, left) == past(&b, right)).then_some(Why::Own)
}

struct Body<'f> {
    file: &'f ClassFile<'f>,
    list: List,
    code: Code<'f>,
    host_locals: u16,
    /// Locals of Veneer's that only measures are kept in.
    measures: HashSet<u16>,
    reached: Vec<bool>,
}

impl<'f> Body<'f> {
    fn read(file: &'f ClassFile<'f>, host_locals: u16, code: &Code) -> Option<Body<'f>> {
        let mut body = Body {
            file,
            list: decode(&code.code).ok()?,
            code: Code {
                code: code.code.to_vec().into(),
                exceptions: code.exceptions.clone(),
                attributes: Vec::new(),
                ..*code
            },
            host_locals,
            measures: HashSet::new(),
            reached: Vec::new(),
        };
        for i in 0..body.list.len() {
            if let Instruction::Local { op, index } = body.list[i].1
                && op < ISTORE
                && index >= host_locals
                && body.feeds(i)
            {
                body.measures.insert(index);
            }
        }
        for w in body.list.windows(2) {
            if let (Some((_, name)), Instruction::Local { op: LSTORE, index }) =
                (body.call(&w[0].1), &w[1].1)
                && name == "shard"
            {
                body.measures.remove(index);
            }
        }
        body.reached = body.walk(vec![0], &|_, _| None);
        Some(body)
    }

    fn at(&self, pc: u16) -> usize {
        self.list.partition_point(|i| i.0 < pc)
    }

    /// Class and name of a method of Veneer's runtime or frame that is called.
    fn call(&self, i: &Instruction) -> Option<(String, String)> {
        let Instruction::Pool {
            op: INVOKESTATIC | INVOKEVIRTUAL,
            index,
        } = i
        else {
            return None;
        };
        let m = self.file.pool.member(*index).ok()?;
        let class = self.file.pool.class_name(m.class).ok()?.into_owned();
        let name = self.file.pool.text(m.name).ok()?.into_owned();
        class
            .starts_with("java/lang/invoke/Veneer")
            .then_some((class, name))
    }

    fn measures(&self, i: &Instruction) -> bool {
        self.call(i).is_some_and(|(class, name)| match &*class {
            "java/lang/invoke/VeneerRuntime" => [
                "count", "now", "stop", "lap", "begin", "put", "end", "locate",
            ]
            .contains(&&*name),
            "java/lang/invoke/VeneerFrame" => ["keep", "kept"].contains(&&*name),
            _ => false,
        })
    }

    /// Whether what an instruction pushes goes straight into a measure.
    fn feeds(&self, i: usize) -> bool {
        for (_, next) in self.list.iter().skip(i + 1).take(3) {
            match next {
                Instruction::Push(_)
                | Instruction::Ldc { .. }
                | Instruction::Plain(ACONST_NULL..=DCONST_0) => {}
                Instruction::Local { op, .. } if *op < ISTORE => {}
                Instruction::Pool { op: GETSTATIC, .. } => {}
                Instruction::Local {
                    op: ISTORE | LSTORE,
                    index,
                } => return self.measures.contains(index),
                other => return self.measures(other),
            }
        }
        false
    }

    /// Whether it is a store to a local of Veneer's that nobody reads.
    fn spare(&self, i: usize) -> bool {
        let slot = match &self.list[i].1 {
            Instruction::Local { op, index } if *op >= ISTORE => *index,
            Instruction::Iinc { index, .. } => *index,
            _ => return false,
        };
        let loads = |x: &(u16, Instruction)| match &x.1 {
            Instruction::Local { op, index } => *op < ISTORE && *index == slot,
            _ => false,
        };
        slot >= self.host_locals && (self.dead(i) || !self.list.iter().any(loads))
    }

    fn own(&self, i: usize) -> bool {
        // A number for a time: nobody writes there.
        let next = self.list.get(i + 1).map(|n| &n.1);
        if let (Some((_, name)), Some(Instruction::Local { op: LSTORE, index })) =
            (self.call(&self.list[i].1), next)
            && name == "shard"
        {
            return self.measures.contains(index);
        }
        match &self.list[i].1 {
            Instruction::Iinc { index, .. } => {
                *index >= self.host_locals && self.measures.contains(index)
            }
            Instruction::Local { op, index } if *index >= self.host_locals => {
                (*op >= ISTORE || self.feeds(i)) && self.measures.contains(index)
            }
            Instruction::Local { op, .. } if *op < ISTORE => self.feeds(i),
            Instruction::Push(_)
            | Instruction::Ldc { .. }
            | Instruction::Plain(ACONST_NULL..=DCONST_0) => self.feeds(i),
            Instruction::Plain(NOP | POP | POP2) => false,
            other => self.measures(other),
        }
    }

    /// Instructions of a range that are not Veneer's own. What was dropped left `nop`, and `pop` for the value.
    fn rest(&self, range: std::ops::Range<usize>) -> Vec<Instruction> {
        let kept = range
            .filter(|i| !self.own(*i))
            .map(|i| self.list[i].1.clone());
        kept.filter(|i| !matches!(i, Instruction::Plain(NOP)))
            .collect()
    }

    /// Which instructions are reached from some; `only` names the one successor of those that have one here.
    fn walk(
        &self,
        mut work: Vec<usize>,
        only: &dyn Fn(&Body, usize) -> Option<Vec<usize>>,
    ) -> Vec<bool> {
        let mut seen = vec![false; self.list.len()];
        while let Some(i) = work.pop() {
            if i >= seen.len() || std::mem::replace(&mut seen[i], true) {
                continue;
            }
            if let Some(next) = only(self, i) {
                work.extend(next);
                continue;
            }
            work.extend(self.next(i));
            work.extend(self.handlers(i).into_iter().map(|h| h.1));
        }
        seen
    }

    fn next(&self, i: usize) -> Vec<usize> {
        let instruction = &self.list[i].1;
        let mut out: Vec<usize> = instruction
            .targets()
            .iter()
            .map(|t| self.at(t.0 as u16))
            .collect();
        if !ends_flow(instruction.op()) {
            out.push(i + 1);
        }
        out
    }

    /// Who handles what at an instruction, without rows that never have their turn.
    fn handlers(&self, i: usize) -> Vec<(u16, usize)> {
        let pc = self.list[i].0;
        let mut out: Vec<(u16, usize)> = Vec::new();
        for e in &self.code.exceptions {
            if (e.start..e.end).contains(&pc) && !out.iter().any(|r| r.0 == e.catch_type) {
                out.push((e.catch_type, self.settle(self.at(e.handler))));
                if e.catch_type == 0 {
                    break;
                }
            }
        }
        out
    }

    fn handled(&self) -> Vec<Vec<(u16, usize)>> {
        let throws = |i: usize| self.reached[i] && may_throw(self.list[i].1.op());
        (0..self.list.len())
            .map(|i| {
                if throws(i) {
                    self.handlers(i)
                } else {
                    Vec::new()
                }
            })
            .collect()
    }

    /// Behind `goto`s.
    fn settle(&self, mut i: usize) -> usize {
        for _ in 0..32 {
            match self.list.get(i) {
                Some((_, Instruction::Branch { op: GOTO, target })) => i = self.at(target.0 as u16),
                Some((_, Instruction::Plain(NOP))) => i += 1,
                _ => break,
            }
        }
        i
    }

    /// Behind `goto`s and advice.
    fn settle_advice(&self, mut i: usize) -> usize {
        for _ in 0..200 {
            i = self.settle(i);
            if i >= self.list.len() || !(self.own(i) || self.feeds(i)) {
                break;
            }
            i += 1;
        }
        i
    }

    fn target(&self, i: usize) -> (u8, Vec<usize>, String) {
        self.lands(i, false)
    }

    /// Where an instruction leads, and what it is otherwise.
    fn lands(&self, i: usize, advice: bool) -> (u8, Vec<usize>, String) {
        let instruction = &self.list[i].1;
        let to: Vec<usize> = instruction
            .targets()
            .iter()
            .map(|t| self.at(t.0 as u16))
            .map(|t| {
                if advice {
                    self.settle_advice(t)
                } else {
                    self.settle(t)
                }
            })
            .collect();
        let what = if to.is_empty() {
            format!("{instruction:?}")
        } else {
            String::new()
        };
        (instruction.op(), to, what)
    }

    /// Whether it is a store to a local that nobody reads any more, or the constant for one.
    fn dead(&self, i: usize) -> bool {
        let slot = match &self.list[i].1 {
            Instruction::Plain(NOP) => return true,
            Instruction::Plain(POP | POP2) => return true,
            Instruction::Local { op, index } if *op >= ISTORE => *index,
            Instruction::Iinc { index, .. } => *index,
            _ => return false,
        };
        let reads = |j: usize| match &self.list[j].1 {
            Instruction::Local { op, index } => *op < ISTORE && *index == slot,
            Instruction::Iinc { index, .. } => *index == slot,
            _ => false,
        };
        let writes = |body: &Body, j: usize| match &body.list[j].1 {
            Instruction::Local { op, index } if *op >= ISTORE && *index == slot => Some(Vec::new()),
            _ => None,
        };
        let seen = self.walk(self.next(i), &writes);
        !(0..seen.len()).any(|j| seen[j] && reads(j))
    }

    /// The way of an activation to its place: until the frame is dropped.
    fn coming(&self) -> Vec<bool> {
        let frame = self.list.windows(2).find_map(|w| match (&w[0].1, &w[1].1) {
            (
                Instruction::Local {
                    op: ALOAD,
                    index: 0,
                },
                Instruction::Local { op: ASTORE, index },
            ) => Some(*index),
            _ => None,
        });
        self.walk(vec![0], &|body, i| match &body.list[i].1 {
            Instruction::Branch {
                op: IFNONNULL,
                target,
            } => Some(vec![body.at(target.0 as u16)]),
            Instruction::Plain(ACONST_NULL) => match body.list.get(i + 1) {
                Some((_, Instruction::Local { op: ASTORE, index })) if Some(*index) == frame => {
                    Some(Vec::new())
                }
                _ => Some(vec![i + 1]),
            },
            _ => Some(body.next(i)),
        })
    }

    /// A constant for a variable, or its store, on that way: what it holds until the value comes out of the frame.
    fn dummy(&self, i: usize, coming: &[bool]) -> bool {
        let constant = |i: &Instruction| {
            matches!(
                i,
                Instruction::Push(_)
                    | Instruction::Plain(NOP | ACONST_NULL..=DCONST_0 | POP | POP2)
            )
        };
        let store = |i: &Instruction| matches!(i, Instruction::Local { op, .. } if *op >= ISTORE);
        let here = &self.list[i].1;
        let before = i.checked_sub(1).map(|k| &self.list[k].1);
        let after = self.list.get(i + 1).map(|k| &k.1);
        coming[i]
            && (constant(here) && after.is_some_and(|n| store(n) || constant(n))
                || constant(here) && before.is_some_and(|n| store(n) || constant(n))
                || store(here) && before.is_some_and(constant))
    }
}
