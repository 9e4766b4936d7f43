//! Statements: code that leaves the operand stack unchanged, and changes variables, fields, arrays
//! or the runner's state.

use super::body::Body;
use super::code::Verified;
use super::kind::{Class, KINDS, Kind};

/// The `dup` instructions: opcode, number of words at the top, number of words below them.
const DUPLICATIONS: [(u8, u16, u16); 6] = [
    (0x59, 1, 0),
    (0x5a, 1, 1),
    (0x5b, 1, 2),
    (0x5c, 2, 0),
    (0x5d, 2, 1),
    (0x5e, 2, 2),
];

impl Body<'_> {
    /// Generates one statement on a line of its own.
    pub(super) fn statement(&mut self) {
        self.next_line();
        match self.draw.below(16) {
            0..3 => {
                let stable: Vec<usize> = self.assignable();
                let number = self.draw.pick(&stable);
                if let Some(kind) = self.variables[number].stable {
                    self.expression(kind, 3);
                    self.store(number);
                }
            }
            3 | 4 => {
                let changing: Vec<usize> = (0..self.variables.len())
                    .filter(|n| self.variables[*n].stable.is_none())
                    .collect();
                if let Some(number) = (!changing.is_empty()).then(|| self.draw.pick(&changing)) {
                    let kind = self.draw.pick(&KINDS);
                    self.expression(kind, 2);
                    self.store(number);
                }
            }
            5 | 6 => {
                let kind = self.draw.pick(&KINDS);
                self.expression(kind, 3);
                self.add_top_to_sum();
            }
            7 => self.increment(),
            8 | 9 => self.element(),
            10 => self.put_field(),
            11 => self.permute_operands(),
            12 => {
                self.expression(Kind::Int, 2);
                self.runner("note", &[Kind::Int], None);
            }
            13 => {
                self.expression(Kind::Int, 1);
                self.runner("trouble", &[Kind::Int], None);
            }
            14 => {
                if !self.call(None, 2) {
                    self.permute_operands();
                }
            }
            _ => {
                let kind = self.draw.pick(&KINDS);
                if self.call(Some(kind), 2) {
                    self.add_top_to_sum();
                } else {
                    self.increment();
                }
            }
        }
    }

    /// The variables with a stable type that may be assigned.
    fn assignable(&self) -> Vec<usize> {
        (0..self.variables.len())
            .filter(|n| {
                self.variables[*n].stable.is_some()
                    && matches!(self.state.locals[*n], Some(Verified::Is(_)))
                    && !self.held.contains(n)
                    && (*n > 0 || self.signature.is_static)
            })
            .collect()
    }

    /// Pops the top of the stack and adds it to the running sum.
    pub(super) fn add_top_to_sum(&mut self) {
        let long = Some(Kind::Long);
        let Some(Verified::Is(kind)) = self.state.stack.last().copied() else {
            self.op(0x57, 1, None); // pop: an unfinished object
            return;
        };
        match kind {
            Kind::Int => self.op(0x85, 1, long),
            Kind::Long => {}
            Kind::Float => {
                let index = self
                    .class
                    .pool
                    .method("java/lang/Float", "floatToIntBits", "(F)I");
                self.op2(0xb8, index, 1, Some(Kind::Int));
                self.op(0x85, 1, long);
            }
            Kind::Double => {
                let index = self
                    .class
                    .pool
                    .method("java/lang/Double", "doubleToLongBits", "(D)J");
                self.op2(0xb8, index, 1, long);
            }
            Kind::Ref(_) => self.runner("ref", &[Kind::Ref(Class::Object)], long),
        }
        let sum = self.sum;
        self.load(sum);
        let index = self.class.pool.long(31);
        self.op2(0x14, index, 0, long);
        self.op(0x69, 2, long); // lmul
        self.op(0x61, 2, long); // ladd
        self.store(sum);
    }

    fn increment(&mut self) {
        let ints: Vec<usize> = (0..self.variables.len())
            .filter(|n| self.state.locals[*n] == Some(Verified::Is(Kind::Int)))
            .collect();
        if !ints.is_empty() {
            let slot = self.variables[self.draw.pick(&ints)].slot;
            let by = self.draw.pick(&[1i16, -1, 2, 100, -129, 3000]);
            self.code.iinc(slot, by);
        }
    }

    /// Generates `array[i] = value`.
    fn element(&mut self) {
        let (array, element, op) = self.draw.pick(&[
            (Class::Ints, Kind::Int, 0x4fu8),
            (Class::Longs, Kind::Long, 0x50),
            (Class::Objects, Kind::Ref(Class::Object), 0x53),
        ]);
        self.expression(Kind::Ref(array), 1);
        self.index(1);
        self.expression(element, 2);
        self.op(op, 3, None);
    }

    fn put_field(&mut self) {
        let this = self.class.name.clone();
        let kind = self.draw.pick(&KINDS);
        let own = self.draw.chance(if self.finished_this() { 60 } else { 15 });
        let Some(name) = self.class.field(&mut self.draw, kind, !own) else {
            return self.increment();
        };
        let index = self.class.pool.field(&this, &name, &kind.descriptor(&this));
        if own {
            self.receiver(1);
            self.expression(kind, 2);
            self.op2(0xb5, index, 2, None);
        } else {
            self.expression(kind, 2);
            self.op2(0xb3, index, 1, None);
        }
    }

    /// Pushes a few values, permutes them with stack instructions, and adds them to the sum.
    fn permute_operands(&mut self) {
        let floor = self.state.stack.len();
        for _ in 0..self.draw.within(2, 4) {
            let kind = self.draw.pick(&KINDS);
            self.expression(kind, 1);
        }
        for _ in 0..self.draw.within(1, 4) {
            match self.draw.below(8) {
                0 => self.swap(floor),
                1 => self.discard(floor),
                _ => {
                    let (op, top, under) = self.draw.pick(&DUPLICATIONS);
                    self.duplicate(floor, op, top, under);
                }
            }
        }
        while self.state.stack.len() > floor {
            self.add_top_to_sum();
        }
    }

    /// Returns how many values below stack position `end` make up exactly `words` words, or `None`
    /// if no number does.
    fn group(&self, floor: usize, end: usize, words: u16) -> Option<usize> {
        let (mut count, mut have) = (0, 0);
        while have < words {
            let place = end.checked_sub(count + 1).filter(|place| *place >= floor)?;
            let Verified::Is(kind) = self.state.stack[place] else {
                return None;
            };
            have += kind.width();
            count += 1;
        }
        (have == words).then_some(count)
    }

    fn duplicate(&mut self, floor: usize, op: u8, top: u16, under: u16) {
        let end = self.state.stack.len();
        let Some(tops) = self.group(floor, end, top) else {
            return;
        };
        let Some(unders) = self.group(floor, end - tops, under) else {
            return;
        };
        self.code.op(op);
        let copied = self.state.stack[end - tops..].to_vec();
        for one in self.state.stack.split_off(end - tops - unders) {
            self.push(one);
        }
        for (i, one) in copied.into_iter().enumerate() {
            self.push(one);
            let at = end - tops - unders + i;
            if let Some(one) = self.state.stack.pop() {
                self.state.stack.insert(at, one);
            }
        }
    }

    fn swap(&mut self, floor: usize) {
        let end = self.state.stack.len();
        if self.group(floor, end, 1) == Some(1) && self.group(floor, end - 1, 1) == Some(1) {
            self.code.op(0x5f);
            self.state.stack.swap(end - 1, end - 2);
        }
    }

    fn discard(&mut self, floor: usize) {
        let words = self.draw.within(1, 2) as u16;
        let end = self.state.stack.len();
        if let Some(count) = self.group(floor, end, words) {
            self.code.op(0x56 + words as u8); // pop, pop2
            self.drop_values(count);
        }
    }
}
