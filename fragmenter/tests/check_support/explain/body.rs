//! One body of emitted code as the explanation needs it: runtime operations, reachability, reads
//! and handlers.

use std::collections::HashSet;

use super::throws;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{ClassFile, Code};
use veneer_fragmenter::runtime;

type List = Vec<(u16, Instruction)>;

/// The decoded body with the results of its analyses.
pub(super) struct Body<'f> {
    pub file: &'f ClassFile<'f>,
    pub list: List,
    pub code: Code<'f>,
    pub host_locals: u16,
    /// Locals of Veneer that hold only measurements.
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
                && body.feeds_measurement(i)
            {
                body.measures.insert(index);
            }
        }
        for i in 0..body.list.len() {
            body.measures.extend(body.iteration_local(i));
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

    /// True if the code from two positions is equal instruction by instruction, with equal
    /// handlers. Gotos, Veneer's measurements and Veneer's checks are skipped on both sides, so both
    /// behave equally for all values. `arrived`: see `skip_advice`.
    pub(super) fn same_code(&self, one: usize, other: usize, arrived: bool) -> bool {
        let measure = |i: usize| {
            i < self.list.len() && (self.is_runtime_operation(i) || self.feeds_measurement(i))
        };
        // Bounded, because a loop may consist of nothing but measures.
        let behind = |i: usize| {
            let mut i = self.skip_advice(i, arrived);
            for _ in 0..200 {
                if !measure(i) {
                    break;
                }
                i = self.skip_advice(i + 1, arrived);
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

    /// Returns the descriptor of a member.
    pub(super) fn descriptor(&self, index: u16) -> Option<String> {
        let m = self.file.pool.member(index).ok()?;
        Some(self.file.pool.text(m.descriptor).ok()?.into_owned())
    }

    /// Returns class and name, if the instruction calls a method of a Veneer class.
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

    pub(super) fn is_measurement(&self, i: &Instruction) -> bool {
        self.call(i).is_some_and(|(class, name)| match &*class {
            "java/lang/invoke/VeneerRuntime" => [
                "count",
                "countInWindow",
                "discount",
                "add",
                "now",
                "stop",
                "lap",
                "begin",
                "put",
                "end",
                "locate",
            ]
            .contains(&&*name),
            "java/lang/invoke/VeneerFrame" => ["keep", "kept"].contains(&&*name),
            "java/lang/invoke/VeneerTrace" => true,
            _ => false,
        })
    }

    /// True if the value that an instruction pushes is passed directly to a measurement.
    pub(super) fn feeds_measurement(&self, i: usize) -> bool {
        for (_, next) in self.list.iter().skip(i + 1).take(4) {
            match next {
                Instruction::Push(_)
                | Instruction::Ldc { .. }
                // A loop's local count is an int.
                | Instruction::Plain(ACONST_NULL..=DCONST_0 | I2L) => {}
                Instruction::Local { op, .. } if *op < ISTORE => {}
                Instruction::Pool { op: GETSTATIC, .. } => {}
                Instruction::Local {
                    op: ISTORE | LSTORE,
                    index,
                } => return self.measures.contains(index),
                other => return self.is_measurement(other),
            }
        }
        false
    }

    /// Returns the instructions of a range without those that advance a local that only measurements
    /// read, for example the position for stack traces.
    pub(super) fn without_position_steps(&self, range: std::ops::Range<usize>) -> Vec<Instruction> {
        let instructions = self.list.iter().take(range.end).skip(range.start);
        let is_step = |i: &Instruction| {
            matches!(i, Instruction::Iinc { index, .. }
                if *index >= self.host_locals && self.measures.contains(index))
        };
        let kept = instructions.filter(|(_, i)| !is_step(i));
        kept.map(|(_, i)| i.clone()).collect()
    }

    /// Returns the local that counts iterations, if the code tests here whether to add the count:
    /// `iinc n 1; iload n; push; if_icmplt`.
    pub(super) fn iteration_local(&self, i: usize) -> Option<u16> {
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

    /// Returns the common target of both outcomes of a branch, after runtime operations.
    pub(super) fn common_target(&self, i: usize, advice: bool) -> Option<usize> {
        let Instruction::Branch { op, target } = &self.list.get(i)?.1 else {
            return None;
        };
        let settle = |i: usize| match advice {
            true => self.skip_advice(i, false),
            false => self.skip_gotos(i),
        };
        let (on, there) = (settle(i + 1), settle(self.at(target.0 as u16)));
        ((IFEQ..=IF_ACMPNE).contains(op) && on == there).then_some(on)
    }

    /// True for a store to a local of Veneer that is never read.
    pub(super) fn is_unread_store(&self, i: usize) -> bool {
        let slot = match &self.list[i].1 {
            Instruction::Local { op, index } if *op >= ISTORE => *index,
            Instruction::Iinc { index, .. } => *index,
            _ => return false,
        };
        let loads = |x: &(u16, Instruction)| match &x.1 {
            Instruction::Local { op, index } => *op < ISTORE && *index == slot,
            _ => false,
        };
        slot >= self.host_locals && (self.is_dead_store(i) || !self.list.iter().any(loads))
    }

    pub(super) fn is_runtime_operation(&self, i: usize) -> bool {
        // If a time replaces the address, no code writes there.
        let next = self.list.get(i + 1).map(|n| &n.1);
        if let (Some((_, name)), Some(Instruction::Local { op: LSTORE, index })) =
            (self.call(&self.list[i].1), next)
            && (name == "shard" || name == "shardInWindow")
        {
            let mut others = self.list.iter();
            let is_read = others
                .any(|(_, other)| matches!(other, Instruction::Local { op: LLOAD, index: n } if n == index));
            return self.measures.contains(index) || !is_read;
        }
        match &self.list[i].1 {
            Instruction::Iinc { index, .. } => {
                *index >= self.host_locals && self.measures.contains(index)
            }
            Instruction::Local { op, index } if *index >= self.host_locals => {
                (*op >= ISTORE || self.feeds_measurement(i)) && self.measures.contains(index)
            }
            Instruction::Local { op, .. } if *op < ISTORE => self.feeds_measurement(i),
            Instruction::Push(_)
            | Instruction::Ldc { .. }
            | Instruction::Plain(ACONST_NULL..=DCONST_0 | I2L) => self.feeds_measurement(i),
            Instruction::Plain(NOP | POP | POP2) => false,
            other => self.is_measurement(other),
        }
    }

    /// Returns the instructions of a range without runtime operations and `nop`s. A removed
    /// instruction was replaced by `nop`, and by `pop` for its operand.
    pub(super) fn without_runtime_operations(
        &self,
        range: std::ops::Range<usize>,
    ) -> Vec<Instruction> {
        let kept = range
            .filter(|i| !self.is_runtime_operation(*i))
            .map(|i| self.list[i].1.clone());
        kept.filter(|i| !matches!(i, Instruction::Plain(NOP)))
            .collect()
    }

    /// Returns the instructions reachable from `work`. `only` may replace the successors of an
    /// instruction.
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

    /// Returns the handlers of an instruction, without entries that an earlier entry hides.
    pub(super) fn handlers(&self, i: usize) -> Vec<(u16, usize)> {
        let pc = self.list[i].0;
        let mut out: Vec<(u16, usize)> = Vec::new();
        for e in &self.code.exceptions {
            if (e.start..e.end).contains(&pc) && !out.iter().any(|r| r.0 == e.catch_type) {
                out.push((e.catch_type, self.skip_gotos(self.at(e.handler))));
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

    /// Returns the position after `goto` and `nop`.
    pub(super) fn skip_gotos(&self, mut i: usize) -> usize {
        for _ in 0..32 {
            match self.list.get(i) {
                Some((_, Instruction::Branch { op: GOTO, target })) => i = self.at(target.0 as u16),
                Some((_, Instruction::Plain(NOP))) => i += 1,
                _ => break,
            }
        }
        i
    }

    /// True if the branch of one check can lead to the stub of another check instead.
    ///
    /// Both stubs must run the same instructions, apart from the number of the capture point, and
    /// the code after both checks must be equal. The method then does nothing between the two
    /// points, so an activation that leaves at one behaves as if it had left at the other.
    pub(super) fn same_exit(&self, branch: usize, stub: usize, arrived: bool) -> bool {
        let Some((_, Instruction::Branch { op: IFNE, target })) = self.list.get(branch) else {
            return false;
        };
        let asks = |i: usize| (2..=3).any(|n| i >= n && self.after_check(i - n) == Some(i + 1));
        if !asks(branch) || !self.same_stub(self.at(target.0 as u16), stub) {
            return false;
        }
        (0..self.list.len()).any(|other| {
            let leads = matches!(&self.list[other].1, Instruction::Branch { op: IFNE, target }
                if self.at(target.0 as u16) == stub);
            leads && asks(other) && self.same_code(branch + 1, other + 1, arrived)
        })
    }

    /// True if two stubs run the same instructions and differ in at most one pushed number.
    fn same_stub(&self, one: usize, other: usize) -> bool {
        let number = |i: &Instruction| {
            matches!(
                i,
                Instruction::Push(_) | Instruction::Plain(ICONST_M1..LCONST_0)
            )
        };
        let (mut i, mut j, mut numbers) = (one, other, 0);
        for _ in 0..self.list.len() {
            (i, j) = (self.skip_gotos(i), self.skip_gotos(j));
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

    /// Returns the position after `goto`s, advice and checks. A check that fails changes nothing,
    /// and a check that succeeds leads to equivalent code. If `arrived` is set, tests for the frame
    /// are skipped too, because the frame is `null` then. So is a test whether a loop adds the
    /// iterations that it has counted, if both outcomes lead to one position.
    pub(super) fn skip_advice(&self, i: usize, arrived: bool) -> usize {
        self.skip_advice_and_tests(i, arrived, 4)
    }

    /// Skips at most `tests` tests of loops.
    fn skip_advice_and_tests(&self, mut i: usize, arrived: bool, tests: usize) -> usize {
        for _ in 0..200 {
            i = self.skip_gotos(i);
            if tests > 0
                && self.iteration_local(i).is_some()
                && let Some((_, Instruction::Branch { target, .. })) = self.list.get(i + 3)
            {
                let settle = |i| self.skip_advice_and_tests(i, arrived, tests - 1);
                let (on, there) = (settle(i + 4), settle(self.at(target.0 as u16)));
                if on == there {
                    i = on;
                    continue;
                }
            }
            // The address of the counters is also passed to measurements.
            let load = |i: &(u16, Instruction)| matches!(i.1, Instruction::Local { op, .. } if op < ISTORE);
            let fed = self.list.get(i).is_some_and(load) && self.feeds_measurement(i);
            if i < self.list.len() && (self.is_runtime_operation(i) || fed) {
                i += 1;
                continue;
            }
            let asked = arrived && self.tests_frame(i);
            match self.after_check(i) {
                Some(on) => i = on,
                None if asked => i += 2,
                None => break,
            }
        }
        i
    }

    /// Returns the position after a check that begins here: cell, token (in a version), test, and
    /// branch to the stub.
    pub(super) fn after_check(&self, i: usize) -> Option<usize> {
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

    /// Returns the local that holds the frame of a resumed activation.
    pub(super) fn frame_local(&self) -> Option<u16> {
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

    pub(super) fn tests_frame(&self, i: usize) -> bool {
        match (self.list.get(i), self.list.get(i + 1)) {
            (
                Some((_, Instruction::Local { op: ALOAD, index })),
                Some((_, Instruction::Branch { op: IFNONNULL, .. })),
            ) => *index >= self.host_locals && Some(*index) == self.frame_local(),
            _ => false,
        }
    }

    pub(super) fn target(&self, i: usize) -> (u8, Vec<usize>, String) {
        self.outcome(i, None)
    }

    /// Returns an instruction's opcode and targets, and its text if it has no targets. With
    /// `advice`, targets are moved past advice and checks, see `skip_advice`.
    pub(super) fn outcome(&self, i: usize, advice: Option<bool>) -> (u8, Vec<usize>, String) {
        let instruction = &self.list[i].1;
        let to: Vec<usize> = instruction
            .targets()
            .iter()
            .map(|t| self.at(t.0 as u16))
            .map(|t| match advice {
                Some(arrived) => self.skip_advice(t, arrived),
                None => self.skip_gotos(t),
            })
            .collect();
        let what = if to.is_empty() {
            format!("{instruction:?}")
        } else {
            String::new()
        };
        (instruction.op(), to, what)
    }

    /// True for a store to a local that is not read afterwards, and for a `nop` or `pop`.
    pub(super) fn is_dead_store(&self, i: usize) -> bool {
        let slot = match &self.list[i].1 {
            Instruction::Plain(NOP) => return true,
            Instruction::Plain(POP | POP2) => return true,
            Instruction::Local { op, index } if *op >= ISTORE => *index,
            Instruction::Iinc { index, .. } => *index,
            _ => return false,
        };
        !self.read_from(self.next(i), slot)
    }

    /// True if the value of a local at some positions is read. `iinc` alone is not a read, because
    /// it has no observable effect.
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

    /// Returns the instructions that a resumed activation executes before it reaches its position.
    /// There it clears the frame.
    pub(super) fn before_arrival(&self) -> Vec<bool> {
        let frame = self.frame_local();
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

    /// Returns the reachable instructions of a `resume` body, before and after the frame is
    /// cleared. The test for the frame has one outcome in each of the two parts. Code behind the
    /// other outcome is unreachable.
    pub(super) fn reachable_from_frame(&self) -> Vec<bool> {
        let mut seen = self.before_arrival();
        let after = self.after_arrival(&seen);
        seen.iter_mut().zip(after).for_each(|(s, a)| *s |= a);
        seen
    }

    /// Returns the instructions that are reachable after the frame is cleared. `seen` holds those
    /// before.
    pub(super) fn after_arrival(&self, seen: &[bool]) -> Vec<bool> {
        let dropped = |i: usize| match (self.list.get(i), self.list.get(i + 1)) {
            (
                Some((_, Instruction::Plain(ACONST_NULL))),
                Some((_, Instruction::Local { op: ASTORE, index })),
            ) => Some(*index) == self.frame_local(),
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
            let question = i > 0 && body.tests_frame(i - 1);
            question.then(|| vec![i + 1])
        })
    }

    /// Returns the target of a `goto` that is executed only before the frame is cleared, after the
    /// tests for the frame, which all have the same outcome.
    pub(super) fn goto_target_before_arrival(&self, i: usize) -> Option<usize> {
        let coming = self.before_arrival();
        let Instruction::Branch { op: GOTO, target } = self.list.get(i)?.1 else {
            return None;
        };
        if !coming[i] || self.after_arrival(&coming)[i] {
            return None;
        }
        let mut to = self.skip_gotos(self.at(target.0 as u16));
        for _ in 0..self.list.len() {
            match self.list.get(to + 1) {
                Some((
                    _,
                    Instruction::Branch {
                        op: IFNONNULL,
                        target,
                    },
                )) if self.tests_frame(to) => {
                    to = self.skip_gotos(self.at(target.0 as u16));
                }
                _ => break,
            }
        }
        Some(to)
    }

    /// True for a constant, or a store of one, that initialises a variable until its value is read
    /// from the frame.
    pub(super) fn is_placeholder(&self, i: usize, coming: &[bool]) -> bool {
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
