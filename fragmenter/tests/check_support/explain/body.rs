//! One body of emitted code as the judge reads it: which instructions are Veneer's own, what is reached and read, who handles what.

use std::collections::HashSet;

use super::throws;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{ClassFile, Code};
use veneer_fragmenter::runtime;

type List = Vec<(u16, Instruction)>;

/// See the module documentation.
pub(super) struct Body<'f> {
    pub file: &'f ClassFile<'f>,
    pub list: List,
    pub code: Code<'f>,
    pub host_locals: u16,
    /// Locals of Veneer's that only measures are kept in.
    pub measures: HashSet<u16>,
    pub reached: Vec<bool>,
}

impl<'f> Body<'f> {
    pub(super) fn read(file: &'f ClassFile<'f>, host_locals: u16, code: &Code) -> Option<Body<'f>> {
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
        for i in 0..body.list.len() {
            body.measures.extend(body.turns(i));
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

    pub(super) fn at(&self, pc: u16) -> usize {
        self.list.partition_point(|i| i.0 < pc)
    }

    /// Returns true if the code from two places on is the same, instruction by instruction and with
    /// the same handlers. Gotos, Veneer's measures and Veneer's checks are skipped on both sides, so
    /// equal values lead to equal results. `arrived`: see `settle_advice`.
    pub(super) fn alike(&self, one: usize, other: usize, arrived: bool) -> bool {
        let measure = |i: usize| i < self.list.len() && (self.own(i) || self.feeds(i));
        // Bounded, because a loop may consist of nothing but measures.
        let behind = |i: usize| {
            let mut i = self.settle_advice(i, arrived);
            for _ in 0..200 {
                if !measure(i) {
                    break;
                }
                i = self.settle_advice(i + 1, arrived);
            }
            i
        };
        let mut known = HashSet::new();
        let mut work = vec![(one, other)];
        while let Some((x, y)) = work.pop() {
            let (x, y) = (behind(x), behind(y));
            if x == y || !known.insert((x, y)) {
                continue;
            }
            let (Some((at, a)), Some((there, b))) = (self.list.get(x), self.list.get(y)) else {
                return false;
            };
            let same = match (a, b) {
                (
                    Instruction::Branch { op, target },
                    Instruction::Branch {
                        op: other,
                        target: to,
                    },
                ) => {
                    work.push((self.at(target.0 as u16), self.at(to.0 as u16)));
                    op == other
                }
                (Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. }, _) => false,
                (a, b) => a == b,
            };
            let handlers = |pc: u16| {
                let rows = self.code.exceptions.iter();
                rows.filter(move |e| (e.start..e.end).contains(&pc))
                    .map(|e| (e.handler, e.catch_type))
            };
            if !same || !handlers(*at).eq(handlers(*there)) {
                return false;
            }
            if !ends_flow(a.op()) {
                work.push((x + 1, y + 1));
            }
        }
        true
    }

    /// The descriptor of a member.
    pub(super) fn descriptor(&self, index: u16) -> Option<String> {
        let m = self.file.pool.member(index).ok()?;
        Some(self.file.pool.text(m.descriptor).ok()?.into_owned())
    }

    /// Class and name of a method of Veneer's runtime or frame that is called.
    pub(super) fn call(&self, i: &Instruction) -> Option<(String, String)> {
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

    pub(super) fn measures(&self, i: &Instruction) -> bool {
        self.call(i).is_some_and(|(class, name)| match &*class {
            "java/lang/invoke/VeneerRuntime" => [
                "count", "discount", "add", "now", "stop", "lap", "begin", "put", "end", "locate",
            ]
            .contains(&&*name),
            "java/lang/invoke/VeneerFrame" => ["keep", "kept"].contains(&&*name),
            _ => false,
        })
    }

    /// Whether what an instruction pushes goes straight into a measure.
    pub(super) fn feeds(&self, i: usize) -> bool {
        for (_, next) in self.list.iter().skip(i + 1).take(4) {
            match next {
                Instruction::Push(_)
                | Instruction::Ldc { .. }
                // What a loop has counted in a local is an int.
                | Instruction::Plain(ACONST_NULL..=DCONST_0 | I2L) => {}
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

    /// The local of turns that is asked here whether a loop should add what it has counted: `iinc n 1; iload n; push; if_icmplt`.
    pub(super) fn turns(&self, i: usize) -> Option<u16> {
        let asked = self.list.get(i..i + 4)?;
        match (&asked[0].1, &asked[1].1, &asked[2].1, &asked[3].1) {
            (
                Instruction::Iinc { index, delta: 1 },
                Instruction::Local {
                    op: ILOAD,
                    index: n,
                },
                Instruction::Push(_),
                Instruction::Branch { op: IF_ICMPLT, .. },
            ) => (index == n && *index >= self.host_locals).then_some(*index),
            _ => None,
        }
    }

    /// Where a branch leads on both its ways, if that is one place; behind Veneer's own instructions.
    pub(super) fn either_way(&self, i: usize, advice: bool) -> Option<usize> {
        let Instruction::Branch { op, target } = &self.list.get(i)?.1 else {
            return None;
        };
        let settle = |i: usize| match advice {
            true => self.settle_advice(i, false),
            false => self.settle(i),
        };
        let (on, there) = (settle(i + 1), settle(self.at(target.0 as u16)));
        ((IFEQ..=IF_ACMPNE).contains(op) && on == there).then_some(on)
    }

    /// Whether it is a store to a local of Veneer's that nobody reads.
    pub(super) fn spare(&self, i: usize) -> bool {
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

    pub(super) fn own(&self, i: usize) -> bool {
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
            | Instruction::Plain(ACONST_NULL..=DCONST_0 | I2L) => self.feeds(i),
            Instruction::Plain(NOP | POP | POP2) => false,
            other => self.measures(other),
        }
    }

    /// Instructions of a range that are not Veneer's own. What was dropped left `nop`, and `pop` for the value.
    pub(super) fn rest(&self, range: std::ops::Range<usize>) -> Vec<Instruction> {
        let kept = range
            .filter(|i| !self.own(*i))
            .map(|i| self.list[i].1.clone());
        kept.filter(|i| !matches!(i, Instruction::Plain(NOP)))
            .collect()
    }

    /// Which instructions are reached from some; `only` names the one successor of those that have one here.
    pub(super) fn walk(
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

    pub(super) fn next(&self, i: usize) -> Vec<usize> {
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
    pub(super) fn handlers(&self, i: usize) -> Vec<(u16, usize)> {
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

    pub(super) fn handled(&self) -> Vec<Vec<(u16, usize)>> {
        (0..self.list.len())
            .map(|i| {
                if self.reached[i] && throws(self.file, &self.list[i].1) {
                    self.handlers(i)
                } else {
                    Vec::new()
                }
            })
            .collect()
    }

    /// Behind `goto`s.
    pub(super) fn settle(&self, mut i: usize) -> usize {
        for _ in 0..32 {
            match self.list.get(i) {
                Some((_, Instruction::Branch { op: GOTO, target })) => i = self.at(target.0 as u16),
                Some((_, Instruction::Plain(NOP))) => i += 1,
                _ => break,
            }
        }
        i
    }

    /// Returns true if a check's branch can lead to another check's stub instead.
    ///
    /// That holds if both stubs run the same instructions but for the number of the point, and if
    /// the code after both checks is alike: between the two points the method does nothing, so
    /// an activation that leaves at the one goes on as if it had left at the other.
    pub(super) fn same_exit(&self, branch: usize, stub: usize, arrived: bool) -> bool {
        let Some((_, Instruction::Branch { op: IFNE, target })) = self.list.get(branch) else {
            return false;
        };
        let asks = |i: usize| (2..=3).any(|n| i >= n && self.check(i - n) == Some(i + 1));
        if !asks(branch) || !self.same_stub(self.at(target.0 as u16), stub) {
            return false;
        }
        (0..self.list.len()).any(|other| {
            let leads = matches!(&self.list[other].1, Instruction::Branch { op: IFNE, target }
                if self.at(target.0 as u16) == stub);
            leads && asks(other) && self.alike(branch + 1, other + 1, arrived)
        })
    }

    /// Returns true if two stubs run the same instructions and differ in one pushed number at most.
    fn same_stub(&self, one: usize, other: usize) -> bool {
        let number = |i: &Instruction| {
            matches!(
                i,
                Instruction::Push(_) | Instruction::Plain(ICONST_M1..LCONST_0)
            )
        };
        let (mut i, mut j, mut numbers) = (one, other, 0);
        for _ in 0..self.list.len() {
            (i, j) = (self.settle(i), self.settle(j));
            let (Some((_, x)), Some((_, y))) = (self.list.get(i), self.list.get(j)) else {
                return false;
            };
            if i == j {
                return true;
            }
            if x != y {
                numbers += 1;
                if numbers > 1 || !number(x) || !number(y) {
                    return false;
                }
            }
            if ends_flow(x.op()) {
                return true;
            }
            (i, j) = (i + 1, j + 1);
        }
        false
    }

    /// Behind `goto`s, advice and checks: one that says no changes nothing, and one that says yes leads to where it goes on
    /// alike. Where the frame is gone (`arrived`), behind the question for it too.
    pub(super) fn settle_advice(&self, mut i: usize, arrived: bool) -> usize {
        for _ in 0..200 {
            i = self.settle(i);
            // The address of the counters goes into a measure too.
            let load = |i: &(u16, Instruction)| matches!(i.1, Instruction::Local { op, .. } if op < ISTORE);
            let fed = self.list.get(i).is_some_and(load) && self.feeds(i);
            if i < self.list.len() && (self.own(i) || fed) {
                i += 1;
                continue;
            }
            let asked = arrived && self.asks_for_frame(i);
            match self.check(i) {
                Some(on) => i = on,
                None if asked => i += 2,
                None => break,
            }
        }
        i
    }

    /// Where a check goes on that begins here: the cell, for a version the token, the question, the branch to the stub.
    pub(super) fn check(&self, i: usize) -> Option<usize> {
        let get = |i: usize, descriptor: &str| match self.list.get(i) {
            Some((
                _,
                Instruction::Pool {
                    op: GETSTATIC,
                    index,
                },
            )) => self.descriptor(*index).as_deref() == Some(descriptor),
            _ => false,
        };
        let call = if !get(i, runtime::CELL_DESCRIPTOR) {
            return None;
        } else if get(i + 1, runtime::HANDLE_DESCRIPTOR) {
            i + 2
        } else {
            i + 1
        };
        let (class, name) = self.call(&self.list.get(call)?.1)?;
        let asks = class == runtime::CELL && ["on", "leave", "stale"].contains(&&*name);
        let branches = matches!(
            self.list.get(call + 1)?.1,
            Instruction::Branch { op: IFNE, .. }
        );
        (asks && branches).then_some(call + 2)
    }

    /// The local of the frame that an activation came with.
    pub(super) fn frame(&self) -> Option<u16> {
        let frame = |w: &[(u16, Instruction)]| match (&w[0].1, &w[1].1, &w[2].1) {
            (
                Instruction::Local {
                    op: ALOAD,
                    index: 0,
                },
                Instruction::Pool { op: CHECKCAST, .. },
                Instruction::Local { op: ASTORE, index },
            ) => Some(*index),
            _ => None,
        };
        self.list.windows(3).find_map(frame)
    }

    pub(super) fn asks_for_frame(&self, i: usize) -> bool {
        match (self.list.get(i), self.list.get(i + 1)) {
            (
                Some((_, Instruction::Local { op: ALOAD, index })),
                Some((_, Instruction::Branch { op: IFNONNULL, .. })),
            ) => *index >= self.host_locals && Some(*index) == self.frame(),
            _ => false,
        }
    }

    pub(super) fn target(&self, i: usize) -> (u8, Vec<usize>, String) {
        self.lands(i, None)
    }

    /// Where an instruction leads, and what it is otherwise. `advice`: behind advice and checks, see `settle_advice`.
    pub(super) fn lands(&self, i: usize, advice: Option<bool>) -> (u8, Vec<usize>, String) {
        let instruction = &self.list[i].1;
        let to: Vec<usize> = instruction
            .targets()
            .iter()
            .map(|t| self.at(t.0 as u16))
            .map(|t| match advice {
                Some(arrived) => self.settle_advice(t, arrived),
                None => self.settle(t),
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
    pub(super) fn dead(&self, i: usize) -> bool {
        let slot = match &self.list[i].1 {
            Instruction::Plain(NOP) => return true,
            Instruction::Plain(POP | POP2) => return true,
            Instruction::Local { op, index } if *op >= ISTORE => *index,
            Instruction::Iinc { index, .. } => *index,
            _ => return false,
        };
        !self.read_from(self.next(i), slot)
    }

    /// Whether the value that a local has at some places is read. To count it on is no reading: nobody sees that alone.
    pub(super) fn read_from(&self, places: Vec<usize>, slot: u16) -> bool {
        let reads = |j: usize| match &self.list[j].1 {
            Instruction::Local { op, index } => *op < ISTORE && *index == slot,
            _ => false,
        };
        let writes = |body: &Body, j: usize| match &body.list[j].1 {
            Instruction::Local { op, index } if *op >= ISTORE && *index == slot => Some(Vec::new()),
            _ => None,
        };
        let seen = self.walk(places, &writes);
        (0..seen.len()).any(|j| seen[j] && reads(j))
    }

    /// The way of an activation to its place: until the frame is dropped.
    pub(super) fn coming(&self) -> Vec<bool> {
        let frame = self.frame();
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

    /// What is reached of a resume body: that way, and what follows where the frame is dropped. The question for the frame has
    /// one answer on each of the two, so what only lies behind the other answers is not reached.
    pub(super) fn reached_from_frame(&self) -> Vec<bool> {
        let mut seen = self.coming();
        let after = self.arrived(&seen);
        seen.iter_mut().zip(after).for_each(|(s, a)| *s |= a);
        seen
    }

    /// What is reached once the frame is dropped, given the way until then.
    pub(super) fn arrived(&self, seen: &[bool]) -> Vec<bool> {
        let dropped = |i: usize| match (self.list.get(i), self.list.get(i + 1)) {
            (
                Some((_, Instruction::Plain(ACONST_NULL))),
                Some((_, Instruction::Local { op: ASTORE, index })),
            ) => Some(*index) == self.frame(),
            _ => false,
        };
        let mut starts = Vec::new();
        for i in (0..seen.len()).filter(|i| seen[*i]) {
            starts.extend(dropped(i).then_some(i + 1));
            if throws(self.file, &self.list[i].1) {
                starts.extend(self.handlers(i).into_iter().map(|h| h.1));
            }
        }
        self.walk(starts, &|body, i| {
            let question = i > 0 && body.asks_for_frame(i - 1);
            question.then(|| vec![i + 1])
        })
    }

    /// Where a `goto` leads that only activations on the way to their place come to: behind the questions for the frame, which they
    /// all answer alike.
    pub(super) fn lands_with_frame(&self, i: usize) -> Option<usize> {
        let coming = self.coming();
        let Instruction::Branch { op: GOTO, target } = self.list.get(i)?.1 else {
            return None;
        };
        if !coming[i] || self.arrived(&coming)[i] {
            return None;
        }
        let mut to = self.settle(self.at(target.0 as u16));
        for _ in 0..self.list.len() {
            match self.list.get(to + 1) {
                Some((
                    _,
                    Instruction::Branch {
                        op: IFNONNULL,
                        target,
                    },
                )) if self.asks_for_frame(to) => {
                    to = self.settle(self.at(target.0 as u16));
                }
                _ => break,
            }
        }
        Some(to)
    }

    /// A constant for a variable, or its store, on that way: what it holds until the value comes out of the frame.
    pub(super) fn dummy(&self, i: usize, coming: &[bool]) -> bool {
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
