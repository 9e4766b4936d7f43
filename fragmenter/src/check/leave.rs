//! Veneer's own instructions, and the ways out: what an activation takes along must be what it has.

use super::constants::{Event, Own, long, parameters, result_of, words_of};
use super::failure::Failure;
use super::original::{Carried, Face, Position, Slot, class_in, kind};
use super::product::{Mode, Product, Run};
use super::value::Value;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

/// An activation on its way out.
#[derive(Clone, Default)]
pub(super) struct Leave {
    /// Which check it comes from: that of point 0, or of another.
    entry: bool,
    /// The operand stack at the check.
    stack: Vec<Value>,
    /// Locals that the stub loaded, with their words.
    pub loaded: Vec<(u16, u8)>,
    /// The point of the frame that it makes.
    frame: Option<i32>,
    /// The values in the frame, with their kinds.
    added: Vec<(u8, Value)>,
    /// Whether the call that takes it away has been made.
    gone: bool,
    /// The class to which the result was cast.
    class: Option<u32>,
}

impl Leave {
    pub fn at_check(entry: bool, stack: Vec<Value>) -> Leave {
        Leave {
            entry,
            stack,
            ..Leave::default()
        }
    }
}

/// Instead of a class in [`Leave::class`]: the call itself gives the declared result.
const RESULT_IS_TYPED: u32 = u32::MAX;

impl Product<'_, '_> {
    fn wrong(&self, r: &Run, why: &str) -> Failure {
        Failure::Own {
            at: self.at(r),
            why: why.to_string(),
        }
    }

    fn no_way(&self, r: &Run, why: &str) -> Failure {
        Failure::Leave {
            at: self.at(r),
            why: why.to_string(),
        }
    }

    fn want(&self, r: &mut Run, v: Value, what: &str) -> Result<(), Failure> {
        if self.pop(r)? == v {
            Ok(())
        } else {
            Err(self.wrong(r, &format!("{what} is not what it has to be")))
        }
    }

    fn pop_wide(&self, r: &mut Run) -> Result<Value, Failure> {
        self.want(r, Value::HIGH, "the upper word")?;
        self.pop(r)
    }

    fn pop_int(&self, r: &mut Run) -> Result<i32, Failure> {
        let v = self.pop(r)?;
        v.as_int()
            .ok_or_else(|| self.wrong(r, "a number of Veneer's is not a constant"))
    }

    fn pop_kind(&self, r: &mut Run, kind: u8) -> Result<Value, Failure> {
        if matches!(kind, b'J' | b'D') {
            self.pop_wide(r)
        } else {
            self.pop(r)
        }
    }

    /// A value that is taken along. The upper word of a long or double on the operand stack may be unknown where control flows
    /// together; then it is that of the stack at the check.
    fn pop_taken(&self, r: &mut Run, kind: u8) -> Result<Value, Failure> {
        if !matches!(kind, b'J' | b'D') {
            return self.pop(r);
        }
        let (upper, lower) = (self.pop(r)?, self.pop(r)?);
        let stack = r.leave.as_ref().map_or(&[][..], |leave| &leave.stack);
        let there = stack.windows(2).any(|w| w == [lower, upper]);
        if upper == Value::HIGH || there {
            return Ok(lower);
        }
        Err(self.wrong(r, "the upper word of a value is not its own"))
    }

    /// A time, or a value of the method's: never the address of the counters, which nobody outside may learn.
    fn pop_measured(&self, r: &mut Run, kind: u8) -> Result<(), Failure> {
        if self.pop_kind(r, kind)? == Value::SHARD {
            return Err(self.wrong(r, "the address of the counters as a value"));
        }
        Ok(())
    }

    fn own_id(&mut self, r: &Run, id: u32) -> Result<(), Failure> {
        if *self.id.get_or_insert(id) == id {
            Ok(())
        } else {
            Err(self.wrong(r, "the cell of another method"))
        }
    }

    /// Whether it is a constant that a probe has for the offset of a counter.
    pub(super) fn is_counter(&self, v: Value) -> bool {
        v.as_int()
            .is_some_and(|offset| self.counters.binary_search(&offset).is_ok())
    }

    /// The place of a counter: an address of the thread's own, and a constant offset to a word.
    fn counter(&self, r: &mut Run) -> Result<(), Failure> {
        let offset = self.pop(r)?;
        if offset != Value::COUNTER && !self.is_counter(offset) {
            return Err(self.wrong(r, "a counter that no probe has"));
        }
        if self.pop_wide(r)? != Value::SHARD {
            return Err(self.wrong(r, "an address that is not that of the counters"));
        }
        Ok(())
    }

    /// The address of a cell and its limit: constants that a probe has, together.
    fn limit(&mut self, r: &mut Run) -> Result<(), Failure> {
        let (most, cell) = (self.pop_wide(r)?, self.pop_wide(r)?);
        let limits = self.limits;
        let known = limits.iter().any(|(address, times)| {
            cell == long(&mut self.values, *address as u64)
                && most == long(&mut self.values, *times)
        });
        if known {
            return Ok(());
        }
        Err(self.wrong(r, "a cell or a limit that no probe has"))
    }

    /// The address of a cell with the beginning of activations: a constant that a probe has.
    fn since(&mut self, r: &mut Run) -> Result<(), Failure> {
        let cell = self.pop_wide(r)?;
        let limits = self.limits;
        let known = limits
            .iter()
            .any(|(address, times)| *times == 0 && cell == long(&mut self.values, *address as u64));
        if known {
            return Ok(());
        }
        Err(self.wrong(r, "a cell that no probe has"))
    }

    /// Runs one of Veneer's own instructions.
    pub(super) fn own_instruction(&mut self, r: &mut Run, own: Own) -> Result<(), Failure> {
        let version = matches!(self.mode, Mode::Enter | Mode::Resume);
        let inside = version && r.leave.is_none();
        let no_place = |this: &Self, r: &Run| Err(this.wrong(r, "this has no place here"));
        match own {
            Own::Cell(id) => {
                self.own_id(r, id)?;
                r.e.push(Value::CELL, 1);
            }
            Own::Token(id) if inside && !self.clean && self.id == Some(id) => {
                r.e.push(Value::TOKEN, 1)
            }
            Own::Idle if inside && self.clean => r.e.push(Value::TOKEN, 1),
            Own::On if self.mode == Mode::Armed => {
                self.want(r, Value::CELL, "the cell")?;
                r.e.push(Value::CHECK_ON, 1);
            }
            Own::Leave if self.mode == Mode::Armed => {
                self.want(r, Value::CELL, "the cell")?;
                r.e.push(Value::CHECK, 1);
            }
            Own::Stale if inside => {
                self.want(r, Value::TOKEN, "the token")?;
                self.want(r, Value::CELL, "the cell")?;
                r.e.push(Value::CHECK, 1);
            }
            Own::Shard if inside => r.e.push(Value::SHARD, 2),
            Own::Now if inside => r.e.push(Value::OWN, 2),
            Own::Count if version => self.counter(r)?,
            Own::CountFirst if inside => {
                self.limit(r)?;
                self.counter(r)?;
            }
            Own::Add if version => {
                self.pop_measured(r, b'J')?;
                self.counter(r)?;
            }
            Own::Stop | Own::Lap if inside => {
                self.pop_measured(r, b'J')?;
                self.counter(r)?;
                if own == Own::Lap {
                    r.e.push(Value::OWN, 2);
                }
            }
            Own::Begin | Own::BeginFirst if inside => {
                if own == Own::BeginFirst {
                    self.limit(r)?;
                }
                let count = self.pop_int(r)?;
                self.pop_int(r)?;
                if self.log(r).replace(count).is_some() {
                    return Err(self.wrong(r, "a log inside another"));
                }
                r.e.push(Value::OWN, 2);
            }
            Own::Log(kind) if inside => {
                self.pop_measured(r, kind)?;
                if self.pop_wide(r)? != Value::OWN {
                    return Err(self.wrong(r, "a log at an address that is not Veneer's"));
                }
                match self.log(r) {
                    Some(n) if *n > 0 => *n -= 1,
                    _ => return Err(self.wrong(r, "a log of more values than it has room for")),
                }
                r.e.push(Value::OWN, 2);
            }
            Own::End if inside => {
                if self.pop_wide(r)? != Value::OWN || self.log(r).take().is_none() {
                    return Err(self.wrong(r, "the end of no log"));
                }
            }
            Own::Run(mut kinds) if inside => {
                while kinds != 0 {
                    self.pop_measured(r, kinds as u8)?;
                    kinds >>= 8;
                }
            }
            Own::Locate if inside => {
                self.want(r, Value::CELL, "the cell")?;
                self.pop_int(r)?;
                self.pop(r)?;
                let exception = self.pop(r)?;
                let caught = r.thrown == Some(exception)
                    || !r.matched && r.o.stack.first() == Some(&exception);
                if !caught {
                    return Err(self.wrong(r, "a place for something that was not just caught"));
                }
            }
            Own::Point if self.mode == Mode::Resume => {
                self.want(r, Value::FRAME_IN, "the frame")?;
                r.e.push(Value::POINT, 1);
            }
            Own::Kept if self.mode == Mode::Resume => {
                self.pop_int(r)?;
                self.want(r, Value::FRAME_IN, "the frame")?;
                r.e.push(Value::OWN, 2);
            }
            Own::Since if self.mode == Mode::Resume => {
                self.since(r)?;
                if self.pop_wide(r)? != Value::OWN {
                    return Err(self.wrong(r, "a beginning for something that is no timer's"));
                }
                r.e.push(Value::OWN, 2);
            }
            Own::Get(kind) if self.mode == Mode::Resume => self.get(r, kind)?,
            Own::Clear if self.mode == Mode::Resume => {
                self.want(r, Value::FRAME_IN, "the frame")?
            }
            Own::Version if self.mode == Mode::Armed && r.leave.is_some() => {
                self.want(r, Value::CELL, "the cell")?;
                r.e.push(Value::VERSION, 1);
            }
            Own::Enter(id) if self.mode == Mode::Armed => self.enter_version(r, id)?,
            Own::Frame(mut kinds) => {
                let point = self.pop_int(r)?;
                let mut values = Vec::new();
                while kinds != 0 {
                    values.push((kinds as u8, self.pop_taken(r, kinds as u8)?));
                    kinds >>= 8;
                }
                match &mut r.leave {
                    Some(leave) if leave.frame.is_none() && !leave.entry => {
                        leave.frame = Some(point);
                        leave.added.extend(values.into_iter().rev());
                    }
                    _ => return no_place(self, r),
                }
                r.e.push(Value::FRAME_OUT, 1);
            }
            Own::Fill(mut kinds) => {
                let mut values = Vec::new();
                while kinds != 0 {
                    values.push((kinds as u8, self.pop_taken(r, kinds as u8)?));
                    kinds >>= 8;
                }
                self.want(r, Value::FRAME_OUT, "the frame")?;
                match &mut r.leave {
                    Some(leave) => leave.added.extend(values.into_iter().rev()),
                    None => return no_place(self, r),
                }
                r.e.push(Value::FRAME_OUT, 1);
            }
            Own::Keep if version && r.leave.is_some() => {
                self.pop_measured(r, b'J')?;
                self.pop_int(r)?;
                self.want(r, Value::FRAME_OUT, "the frame")?;
                r.e.push(Value::FRAME_OUT, 1);
            }
            Own::Go(kind) if matches!(self.mode, Mode::Armed | Mode::Enter) => {
                self.want(r, Value::CELL, "the cell")?;
                self.want(r, Value::FRAME_OUT, "the frame")?;
                self.gone(r, kind)?;
            }
            Own::Exit(kind) if self.mode == Mode::Armed => {
                self.want(r, Value::CELL, "the cell")?;
                let point = self.pop_int(r)?;
                let value = match kind {
                    b'V' => None,
                    _ => Some((kind, self.pop_taken(r, kind)?)),
                };
                match &mut r.leave {
                    Some(leave) if leave.frame.is_none() && !leave.entry => {
                        leave.frame = Some(point);
                        leave.added.extend(value);
                    }
                    _ => return no_place(self, r),
                }
                self.gone(r, kind)?;
            }
            _ => return no_place(self, r),
        }
        Ok(())
    }

    /// A value out of the frame that an activation came with.
    fn get(&mut self, r: &mut Run, kind_wanted: u8) -> Result<(), Failure> {
        let position = self.pop_int(r)?;
        self.want(r, Value::FRAME_IN, "the frame")?;
        let face = self.faces.get(r.from as usize).cloned().flatten();
        let Some(face) = face else {
            return Err(self.wrong(r, "a frame from nowhere"));
        };
        let found = usize::try_from(position).ok();
        let found = found.and_then(|n| face.carried.get(n));
        let found = found.filter(|c| kind(&c.descriptor) == kind_wanted);
        let Some(c) = found else {
            return Err(Failure::Resume {
                at: self.at(r),
                why: format!(
                    "no activation brings such a value at position {position} of the frame"
                ),
            });
        };
        let v = self
            .came_from(r)
            .and_then(|(o, _)| value_of(c, o))
            .ok_or_else(|| self.wrong(r, "a frame from nowhere"))?;
        r.e.push(v, words_of(&c.descriptor));
        if kind_wanted == b'L' {
            self.came_out(r, v, class_in(&c.descriptor));
        }
        Ok(())
    }

    /// The activation goes on in the executor loop, whose result is of this kind.
    fn gone(&mut self, r: &mut Run, kind: u8) -> Result<(), Failure> {
        if kind != self.original.result {
            return Err(self.no_way(r, "the executor loop gives something else"));
        }
        match self.mode {
            Mode::Armed => self.captured(r)?,
            _ => self.filled(r)?,
        }
        match &mut r.leave {
            Some(leave) if !leave.gone => leave.gone = true,
            _ => return Err(self.no_way(r, "it leaves twice")),
        }
        r.e.stack.clear();
        let words = words_of(&self.original.result_text);
        r.e.push(Value::RESULT, words);
        Ok(())
    }

    /// Where the activation stands is the place of the point, and its frame is filled as the point says.
    fn filled(&mut self, r: &mut Run) -> Result<(), Failure> {
        let Some(leave) = r.leave.clone() else {
            return Err(self.no_way(r, "no stub"));
        };
        let Some(point) = leave.frame else {
            return Err(self.no_way(r, "no frame"));
        };
        let face = usize::try_from(point)
            .ok()
            .filter(|p| *p > 0)
            .and_then(|p| self.faces.get(p).cloned().flatten())
            .ok_or_else(|| self.no_way(r, "there is no such point"))?;
        let stands = self.original.stands(face.instruction, face.exit);
        let stands = stands.ok_or_else(|| self.no_way(r, "the point has no place"))?;
        self.reach(r, stands, face.exit, &leave.stack)?;
        if leave.added.len() != face.carried.len() {
            return Err(self.no_way(r, "the frame gets another number of values"));
        }
        for (c, (of, value)) in face.carried.iter().zip(&leave.added) {
            if *of != kind(&c.descriptor) || Some(*value) != value_of(c, &r.o) {
                return Err(self.no_way(r, "the frame gets another value"));
            }
        }
        self.nulls(r, &face)
    }

    /// What a face says to be null is.
    fn nulls(&self, r: &Run, face: &Face) -> Result<(), Failure> {
        let null = |slot: &u16| r.o.locals.get(*slot as usize) == Some(&Value::NULL);
        let mut carried = face.carried.iter().filter(|c| c.null);
        let all =
            face.nulls.iter().all(null) && carried.all(|c| value_of(c, &r.o) == Some(Value::NULL));
        if !all {
            return Err(self.no_way(r, "a variable that has to be null may not be"));
        }
        Ok(())
    }

    /// Leads the original to the place of a point.
    fn reach(
        &mut self,
        r: &mut Run,
        stands: Position,
        exit: bool,
        stack: &[Value],
    ) -> Result<(), Failure> {
        let goal = self.original.settle(stands);
        for _ in 0..=self.original.program.instructions.len() {
            let at = self.original.settle(r.at);
            if at == goal || exit && at.instruction == goal.instruction {
                r.at = at;
                return if r.o.stack == stack {
                    Ok(())
                } else {
                    Err(self.no_way(r, "the operand stacks differ"))
                };
            }
            r.at = at;
            if !self.lead(r)? {
                break;
            }
        }
        Err(self.no_way(r, "the activation stands elsewhere than the point"))
    }

    /// The call of a version by an activation that begins in an armed body.
    fn enter_version(&mut self, r: &mut Run, id: u32) -> Result<(), Failure> {
        self.own_id(r, id)?;
        let Some(leave) = r.leave.clone() else {
            return Err(self.no_way(r, "no stub"));
        };
        if !leave.entry || leave.gone || leave.frame.is_some() {
            return Err(self.no_way(r, "the check is that of another kind of point"));
        }
        let descriptor = match self.emitted.get(r.q) {
            Some(Instruction::Pool { index, .. }) => {
                let parts = self.right.parts(*index).ok();
                parts.map(|(.., descriptor)| descriptor).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if result_of(&descriptor) != self.original.result_text {
            return Err(self.no_way(r, "the call of the version gives something else"));
        }
        let kinds: Vec<u8> = parameters(&descriptor).into_iter().map(kind).collect();
        let mut added = Vec::with_capacity(kinds.len());
        for kind in kinds.iter().rev() {
            added.push((*kind, self.pop_kind(r, *kind)?));
        }
        added.reverse();
        self.want(r, Value::VERSION, "the version")?;
        let descriptors = parameters(&descriptor).into_iter().map(<[u8]>::to_vec);
        self.learn(r, 0, &leave, &added, descriptors.collect())?;
        if let Some(leave) = &mut r.leave {
            leave.gone = true;
            leave.class = Some(RESULT_IS_TYPED);
        }
        r.e.stack.clear();
        let words = words_of(&self.original.result_text);
        r.e.push(Value::RESULT, words);
        Ok(())
    }

    /// An activation leaves an armed body with a frame: its point is learnt.
    fn captured(&mut self, r: &mut Run) -> Result<(), Failure> {
        let Some(leave) = r.leave.clone() else {
            return Err(self.no_way(r, "no stub"));
        };
        let point = leave.frame.and_then(|p| u16::try_from(p).ok());
        let Some(point) = point.filter(|p| *p > 0) else {
            return Err(self.no_way(r, "there is no such point"));
        };
        let types = leave.added.iter().map(|(kind, _)| match kind {
            b'L' => b"Ljava/lang/Object;".to_vec(),
            kind => vec![*kind],
        });
        let types = types.collect();
        self.learn(r, point, &leave, &leave.added, types)
    }

    /// Learns what a point of an armed body carries, and where it stands.
    fn learn(
        &mut self,
        r: &mut Run,
        point: u16,
        leave: &Leave,
        added: &[(u8, Value)],
        types: Vec<Vec<u8>>,
    ) -> Result<(), Failure> {
        // The original at the check.
        r.e.stack.clone_from(&leave.stack);
        self.sync(r)?;
        let own_from = self.own_from;
        let locals = leave.loaded.iter().filter(|l| usize::from(l.0) < own_from);
        let locals: Vec<(u16, u8)> = locals.copied().collect();
        if locals.windows(2).any(|w| w[0].0 >= w[1].0) {
            return Err(self.no_way(r, "variables are taken along in no order"));
        }
        let (mut words, mut values, mut loads) = (0, 0, locals.iter());
        let mut carried = Vec::new();
        for ((_, value), descriptor) in added.iter().zip(types) {
            let n = words_of(&descriptor);
            let (slot, expected) = if words < leave.stack.len() {
                let slot = Slot::Stack(values, words);
                let expected = leave.stack.get(words).copied();
                words += n as usize;
                values += 1;
                (slot, expected)
            } else {
                match loads.next() {
                    Some((slot, w)) if *w == n => (
                        Slot::Local(*slot),
                        r.o.locals.get(usize::from(*slot)).copied(),
                    ),
                    _ => return Err(self.no_way(r, "other values are taken along")),
                }
            };
            if expected != Some(*value) {
                return Err(self.no_way(r, "a variable is taken along that is not the method's"));
            }
            carried.push(Carried {
                slot,
                descriptor,
                null: matches!(slot, Slot::Stack(..)) && *value == Value::NULL,
            });
        }
        if loads.next().is_some() || words != leave.stack.len() {
            return Err(self.no_way(r, "fewer values are taken along"));
        }
        let places = self.nothing_behind(r, leave, &locals)?;
        let mut face = Face {
            instruction: r.at.instruction,
            places: vec![r.at.instruction],
            exit: false,
            carried,
            nulls: Vec::new(),
            depth: leave.stack.len(),
        };
        if !places.is_empty() {
            face.places = places;
        }
        while self.faces.len() <= point as usize {
            self.faces.push(None);
        }
        let met = match &self.faces[point as usize] {
            Some(known) => known.meet(&face),
            None => Some(face),
        };
        if met.is_none() {
            return Err(self.no_way(r, "the point stands in two places"));
        }
        self.faces[point as usize] = met;
        Ok(())
    }

    /// Leads the original on, unseen, to the last place with this stack at which nothing is needed that is not taken along. Ways
    /// that flow together here may have come to different earlier places with it: before a load and a `pop`, say. Gives all of
    /// them.
    fn nothing_behind(
        &mut self,
        r: &mut Run,
        leave: &Leave,
        locals: &[(u16, u8)],
    ) -> Result<Vec<u32>, Failure> {
        let Some(live) = self.live else {
            return Ok(Vec::new());
        };
        let (mut last, mut behind, mut places) = (None, None, Vec::new());
        for _ in 0..=self.original.program.instructions.len() {
            r.at = self.original.settle(r.at);
            if r.o.stack == leave.stack {
                let taken = |slot: usize| {
                    let mut loaded = locals.iter();
                    loaded.any(|(s, n)| (*s as usize..*s as usize + *n as usize).contains(&slot))
                };
                let null = |slot: usize| r.o.locals.get(slot) == Some(&Value::NULL);
                let needed = |slot: &usize| live.is(r.at.instruction, *slot);
                let mut slots = 0..self.original.program.max_locals;
                match slots.find(|slot| needed(slot) && !taken(*slot) && !null(*slot)) {
                    None => {
                        last = Some(r.at);
                        places.push(r.at.instruction);
                    }
                    Some(slot) => behind = Some(slot),
                }
            }
            if !self.lead(r)? {
                break;
            }
        }
        r.o.stack.clone_from(&leave.stack);
        match (last, behind) {
            (Some(at), _) => {
                r.at = at;
                Ok(places)
            }
            (None, slot) => {
                let slot = slot.unwrap_or(0);
                Err(self.no_way(r, &format!("local {slot} is needed and stays behind")))
            }
        }
    }

    /// The cast of a result.
    pub(super) fn leave_event(
        &mut self,
        r: &mut Run,
        i: &Instruction,
        event: Event,
    ) -> Result<bool, Failure> {
        let gone = r.leave.as_ref().is_some_and(|l| l.gone);
        if !gone || r.e.stack.last() != Some(&Value::RESULT) || i.op() != CHECKCAST {
            return Err(self.no_way(r, "something happens on the way out"));
        }
        if let Some(leave) = &mut r.leave {
            leave.class = Some(event.key);
        }
        r.q += 1;
        Ok(true)
    }

    /// An activation that left gives back what it got.
    pub(super) fn leave_result(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        op: u8,
    ) -> Result<(), Failure> {
        self.own_covered(from, r)?;
        if self.mode == Mode::Resume {
            if op != ARETURN || r.e.stack.last() != Some(&Value::FRAME_OUT) {
                return Err(Failure::Result(self.at(r)));
            }
            return self.filled(r);
        }
        let Some(leave) = r.leave.clone().filter(|l| l.gone) else {
            return Err(self.no_way(r, "it returns instead"));
        };
        let result = self.original.result;
        let (wanted, words) = match result {
            b'V' => (RETURN, 0),
            b'J' => (LRETURN, 2),
            b'D' => (DRETURN, 2),
            b'F' => (FRETURN, 1),
            b'L' => (ARETURN, 1),
            _ => (IRETURN, 1),
        };
        let cast = match result {
            b'L' => {
                let class = class_in(&self.original.result_text);
                class == b"java/lang/Object"
                    || leave.class == Some(RESULT_IS_TYPED)
                    || std::str::from_utf8(class).is_ok_and(|c| {
                        leave.class == Some(self.canon.class_named(c) << 2 | 2 | 1 << 30)
                    })
            }
            _ => true,
        };
        let top = r.e.top(words).ok().and_then(|w| w.first().copied());
        if op == wanted && cast && (words == 0 || top == Some(Value::RESULT)) {
            Ok(())
        } else {
            Err(Failure::Result(self.at(r)))
        }
    }
}

/// A carried value of the original.
fn value_of(c: &Carried, o: &super::machine::Machine) -> Option<Value> {
    match c.slot {
        Slot::Local(n) => o.locals.get(n as usize).copied(),
        Slot::Stack(_, word) => o.stack.get(word).copied(),
    }
}
