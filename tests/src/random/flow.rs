//! Generates the code of regions: blocks, the edges between them, monitors, handlers and returns.
//!
//! If the states at both ends of an edge differ, the edge gets a block of its own that converts the
//! variables and the stack. A back edge takes fuel in such a block.

use super::body::{Body, State};
use super::code::{Guard, Label, Verified};
use super::kind::{Class, Kind};
use super::shape::{Content, End, Item, Region};

/// The labels and states of the items of the region that is being generated. The last one is the
/// exit.
struct Context {
    labels: Vec<Label>,
    states: Vec<State>,
}

/// An edge whose block is still to be generated.
struct Detour {
    label: Label,
    to: usize,
    state: State,
}

impl Body<'_> {
    /// Generates a region. Afterwards the current position is the exit of the region.
    pub(super) fn region(&mut self, region: &Region) {
        let context = self.context(region);
        let first = self.guards.len();
        for range in &region.ranges {
            self.guards.push(Guard {
                pieces: Vec::new(),
                handler: context.labels[range.handler],
                catch: range.catch,
            });
        }
        let last = region.items.len();
        self.jump_to(&context, None, 0, true);
        for (index, item) in region.items.iter().enumerate() {
            self.bounds(region, first, index);
            self.resume(context.states[index].clone());
            self.block_at(context.labels[index]);
            self.item(&context, index, item);
        }
        self.bounds(region, first, last);
        let guards: Vec<Guard> = (first..first + region.ranges.len())
            .map(|number| self.guards[number].clone())
            .collect();
        self.code.guards.extend(guards);
        self.resume(context.states[last].clone());
        self.block_at(context.labels[last]);
    }

    /// Opens and closes the exception ranges that begin or end before this item.
    fn bounds(&mut self, region: &Region, first: usize, index: usize) {
        for (number, range) in region.ranges.iter().enumerate() {
            if range.to == index {
                self.close(first + number);
            }
            if range.from == index {
                let held = self.held.len();
                self.open(first + number, held);
            }
        }
    }

    fn context(&mut self, region: &Region) -> Context {
        let mut base = self.state.locals.clone();
        let changing: Vec<usize> = (0..self.variables.len())
            .filter(|n| self.variables[*n].stable.is_none())
            .collect();
        for number in &changing {
            base[*number] = None;
        }
        let mut states: Vec<State> = Vec::new();
        for item in &region.items {
            let mut locals = base.clone();
            for (number, kind) in changing.iter().zip(&item.variables) {
                locals[*number] = kind.map(Verified::Is);
            }
            let stack = match item.handles {
                Some(name) => vec![Verified::Is(Kind::Ref(Class::Thrown(name)))],
                None => item.stack.iter().copied().map(Verified::Is).collect(),
            };
            states.push(State { locals, stack });
        }
        states.push(State {
            locals: base,
            stack: Vec::new(),
        });
        let labels = states.iter().map(|_| self.code.label()).collect();
        Context { labels, states }
    }

    fn item(&mut self, context: &Context, index: usize, item: &Item) {
        let outer = std::mem::replace(&mut self.draw, super::draw::Draw::new(item.seed));
        match &item.content {
            Content::Block(statements) => {
                let rethrown = item.handles.is_some() && matches!(item.end, End::Throw);
                if item.handles.is_some() {
                    self.begin_handler(context, rethrown);
                }
                if !rethrown {
                    for _ in 0..*statements {
                        self.statement();
                    }
                    self.end(context, index, &item.end);
                }
            }
            Content::Monitor(region) => {
                self.monitor(region, |body| body.end(context, index, &item.end));
            }
        }
        self.draw = outer;
    }

    /// Generates the beginning of a handler. If no fuel is left, it jumps to the exit; otherwise it
    /// records the exception.
    fn begin_handler(&mut self, context: &Context, rethrown: bool) {
        let thrown = [Kind::Ref(Class::Thrown("Throwable"))];
        let on = self.code.label();
        let before = self.state.clone();
        self.fuel(on);
        self.begin();
        self.op(0x57, 1, None); // pop
        let exit = context.labels.len() - 1;
        self.convert_state(&context.states[exit]);
        self.code.jump(0xa7, context.labels[exit]);
        self.state = before;
        self.block_at(on);
        if rethrown {
            self.code.op(0x59); // dup
            let top = self.state.stack[0];
            self.push(top);
            self.runner("passed", &thrown, None);
            self.next_line();
            self.op(0xbf, 1, None); // athrow
        } else {
            self.runner("caught", &thrown, None);
        }
    }

    /// Generates `synchronized (…) { … }` as compilers do. `after` generates the code that follows.
    fn monitor(&mut self, region: &Region, after: impl FnOnce(&mut Self)) {
        let lock = self.variable(Some(Kind::Ref(Class::Object)));
        let thrown = self.variable(Some(Kind::Ref(Class::Thrown("Throwable"))));
        if self.finished_this() && self.draw.chance(30) {
            self.load(0);
        } else {
            self.simple(Kind::Int);
            self.runner("lock", &[Kind::Int], Some(Kind::Ref(Class::Object)));
        }
        if self.state.stack.len() == 1 {
            self.code.op(0x59); // dup
            let top = self.state.stack[0];
            self.push(top);
            self.store(lock);
        } else {
            // Remove all other operands before the monitor is entered, with instructions that
            // cannot throw.
            self.store(lock);
            while let Some(one) = self.state.stack.pop() {
                let words = match one {
                    Verified::Is(kind) => kind.width() as u8,
                    _ => 1,
                };
                self.code.op(0x56 + words);
            }
            self.load(lock);
        }
        self.op(0xc2, 1, None); // monitorenter
        self.held.push(lock);
        let number = self.guards.len();
        let handler = self.code.label();
        self.guards.push(Guard {
            pieces: Vec::new(),
            handler,
            catch: None,
        });
        let held = self.held.len();
        self.open(number, held);
        self.region(region);
        let inside = self.state.clone();
        self.load(lock);
        self.op(0xc3, 1, None); // monitorexit
        self.close(number);
        self.held.pop();
        self.state.locals[lock] = None;
        self.monitor_end = true;
        after(self);
        self.monitor_end = false;
        self.resume(inside);
        self.push_kind(Kind::Ref(Class::Thrown("Throwable")));
        self.open(number, held);
        self.block_at(handler);
        self.store(thrown);
        self.load(lock);
        self.op(0xc3, 1, None);
        self.close(number);
        let guard = self.guards[number].clone();
        self.code.guards.push(guard);
        self.load(thrown);
        self.op(0xbf, 1, None); // athrow
    }

    /// Generates the end of an item.
    fn end(&mut self, context: &Context, index: usize, end: &End) {
        self.next_line();
        let mut detours = Vec::new();
        match end {
            End::Goto(to) => self.jump_to(context, Some(index), *to, true),
            End::If(one, other) => {
                self.prepare(context, *one);
                let op = self.condition(2);
                let to = self.edge_label(context, index, *one, &mut detours);
                self.code.jump(op, to);
                let falls = *other == index + 1
                    && detours.is_empty()
                    && self.matches_state(&context.states[*other]);
                if !falls {
                    self.begin();
                    self.jump_to(context, Some(index), *other, false);
                }
            }
            End::Switch(table, cases, default) => {
                self.prepare(context, *default);
                self.expression(Kind::Int, 2);
                if self.draw.chance(70) {
                    self.int(7);
                    self.push_kind(Kind::Int);
                    self.op(0x7e, 2, Some(Kind::Int)); // iand
                }
                self.pop();
                let labels: Vec<Label> = cases
                    .iter()
                    .map(|to| self.edge_label(context, index, *to, &mut detours))
                    .collect();
                let default = self.edge_label(context, index, *default, &mut detours);
                let mut key = self.draw.pick(&[0, -2, 1, i32::MIN, 1000]);
                if *table {
                    self.code.table_switch(key.clamp(-2, 1), &labels, default);
                } else {
                    let mut pairs = Vec::new();
                    for label in labels {
                        pairs.push((key, label));
                        key = key.max(-1) + 1 + self.draw.below(3) as i32;
                    }
                    self.code.lookup_switch(&pairs, default);
                }
            }
            End::Return => self.emit_return(),
            End::Throw => self.throw(),
        }
        let count = detours.len();
        for (place, detour) in detours.into_iter().enumerate() {
            self.resume(detour.state);
            self.block_at(detour.label);
            self.jump_to(context, Some(index), detour.to, place + 1 == count);
        }
    }

    /// Usually converts the state to that of one of several targets, so that its edge needs no
    /// block.
    fn prepare(&mut self, context: &Context, to: usize) {
        if self.draw.chance(75) {
            self.convert_state(&context.states[to]);
        }
    }

    /// Returns the label for an edge: that of the target item, or that of a detour block.
    fn edge_label(
        &mut self,
        context: &Context,
        from: usize,
        to: usize,
        detours: &mut Vec<Detour>,
    ) -> Label {
        if to > from && self.matches_state(&context.states[to]) {
            return context.labels[to];
        }
        let label = self.code.label();
        detours.push(Detour {
            label,
            to,
            state: self.state.clone(),
        });
        label
    }

    /// Generates a jump to an item. `last` is true if no code of the item `from` follows.
    fn jump_to(&mut self, context: &Context, from: Option<usize>, to: usize, last: bool) {
        self.convert_state(&context.states[to]);
        let back = from.is_some_and(|from| to <= from);
        if back {
            self.fuel(context.labels[to]);
            self.begin();
            let exit = context.labels.len() - 1;
            self.convert_state(&context.states[exit]);
            self.code.jump(0xa7, context.labels[exit]);
        } else if !last || self.monitor_end || to != from.map_or(0, |from| from + 1) {
            self.code.jump(0xa7, context.labels[to]);
        }
    }

    fn matches_state(&self, target: &State) -> bool {
        let mut locals = target.locals.iter().zip(&self.state.locals);
        self.state.stack == target.stack
            && locals.all(|(want, have)| want.is_none() || want == have)
    }

    /// Converts the stack and the variables to the target state. The code can be at any position,
    /// so it must not throw.
    fn convert_state(&mut self, target: &State) {
        if self.state.stack != target.stack {
            while !self.state.stack.is_empty() {
                self.add_top_to_sum();
            }
            for one in &target.stack {
                if let Verified::Is(kind) = one {
                    self.simple(*kind);
                    self.pop();
                    self.push_kind(*kind);
                }
            }
        }
        for number in 0..target.locals.len() {
            let want = target.locals[number];
            if let Some(Verified::Is(kind)) = want
                && self.state.locals[number] != want
            {
                self.simple(kind);
                self.pop();
                self.push_kind(kind);
                self.store(number);
            }
        }
    }

    /// Generates a return. Before it, the sum is reported to the runner and all monitors are
    /// exited.
    pub(super) fn emit_return(&mut self) {
        // Values left on the stack would be legal, but no compiler emits such returns.
        while !self.state.stack.is_empty() {
            self.add_top_to_sum();
        }
        let sum = self.sum;
        self.load(sum);
        self.runner("fold", &[Kind::Long], None);
        self.next_line();
        let result = self.signature.result;
        if let Some(kind) = result {
            self.expression(kind, 2);
        }
        let mut again = Vec::new();
        for held in (0..self.held.len()).rev() {
            let lock = self.held[held];
            self.load(lock);
            self.op(0xc3, 1, None); // monitorexit
            let inside: Vec<(usize, usize)> = self
                .open
                .iter()
                .filter(|open| open.held > held)
                .map(|open| (open.number, open.held))
                .collect();
            for (number, held) in inside {
                self.close(number);
                again.push((number, held));
            }
        }
        let op = result.map_or(0xb1, |kind| 0xac + kind.offset());
        self.op(op, usize::from(result.is_some()), None);
        for (number, held) in again {
            self.open(number, held);
        }
    }

    fn throw(&mut self) {
        let name = self.draw.pick(&[
            "IllegalStateException",
            "ArithmeticException",
            "NullPointerException",
            "IndexOutOfBoundsException",
            "RuntimeException",
        ]);
        let class = format!("java/lang/{name}");
        let index = self.class.pool.class(&class);
        let at = self.code.here();
        self.code.op2(0xbb, index);
        self.push(Verified::New(at));
        self.code.op(0x59);
        self.push(Verified::New(at));
        self.expression(Kind::Ref(Class::Text), 2);
        let index = self
            .class
            .pool
            .method(&class, "<init>", "(Ljava/lang/String;)V");
        self.op2(0xb7, index, 3, None);
        self.push_kind(Kind::Ref(Class::Thrown(name)));
        if self.draw.chance(50) {
            // The exception is created on one line and thrown on another.
            self.next_line();
            self.simple(Kind::Int);
            self.runner("note", &[Kind::Int], None);
        }
        self.op(0xbf, 1, None); // athrow
    }
}
