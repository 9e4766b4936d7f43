//! Runtime operations (Veneer's own instructions) and OSR exits. At an OSR exit, the values that an
//! activation brings must be exactly those of its state.
//!
//! The *trampoline* is the loop in the methods `go…` and `exit…` of `VeneerRuntime`. An activation
//! that leaves its body passes its frame to the trampoline, which continues the activation in other
//! bodies and returns its result.

use super::constants::{Effect, RuntimeOperation, bound_handle, final_offset, long, words_of};
use super::exit_state::{OsrExit, RESULT_IS_TYPED};
use super::failure::Failure;
use super::frame_contract::{CarriedLocation, CarriedValue, FrameContract, kind};
use super::product::{Mode, Product, Run};
use super::reference::Position;
use super::value::Value;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use veneer_names::{MethodId, raw};

impl Product<'_, '_> {
    fn operation_failure(&self, r: &Run, why: &str) -> Failure {
        Failure::Own {
            at: self.at(r),
            why: why.to_string(),
        }
    }

    fn leave_failure(&self, r: &Run, why: &str) -> Failure {
        Failure::Leave {
            at: self.at(r),
            why: why.to_string(),
        }
    }

    fn pop_expected(&self, r: &mut Run, v: Value, what: &str) -> Result<(), Failure> {
        if self.pop(r)? == v {
            Ok(())
        } else {
            Err(self.operation_failure(r, &format!("{what} is not what it has to be")))
        }
    }

    fn pop_wide(&self, r: &mut Run) -> Result<Value, Failure> {
        self.pop_expected(r, Value::HIGH, "the upper word")?;
        self.pop(r)
    }

    /// Returns the effect of a store to a final field of the host. Pops the offset, which must be
    /// that of a field of this kind.
    pub(super) fn final_store(&mut self, r: &mut Run, kind: u8) -> Result<Effect, Failure> {
        let offset = self.pop_wide(r)?;
        let fields = self.emitted_constants.final_fields();
        let stored = fields
            .into_iter()
            .find(|index| final_offset(&mut self.values, *index) == offset);
        stored
            .and_then(|index| {
                self.emitted_constants
                    .final_store(self.contents, index, kind)
            })
            .ok_or_else(|| self.operation_failure(r, "a store to a field that is not known"))
    }

    fn pop_int(&self, r: &mut Run) -> Result<i32, Failure> {
        let v = self.pop(r)?;
        v.as_int()
            .ok_or_else(|| self.operation_failure(r, "a number of Veneer's is not a constant"))
    }

    fn pop_kind(&self, r: &mut Run, kind: u8) -> Result<Value, Failure> {
        if matches!(kind, b'J' | b'D') {
            self.pop_wide(r)
        } else {
            self.pop(r)
        }
    }

    /// Pops a captured value. The upper word of a `long` or `double` on the operand stack may be
    /// unknown after a merge of control flow. In that case the two words must be adjacent on the
    /// stack at the check.
    fn pop_captured(&self, r: &mut Run, kind: u8) -> Result<Value, Failure> {
        if !matches!(kind, b'J' | b'D') {
            return self.pop(r);
        }
        let (upper, lower) = (self.pop(r)?, self.pop(r)?);
        let stack = r.leave.as_ref().map_or(&[][..], |leave| &leave.stack);
        let there = stack.windows(2).any(|w| w == [lower, upper]);
        if upper == Value::HIGH || there {
            return Ok(lower);
        }
        Err(self.operation_failure(r, "the upper word of a value is not its own"))
    }

    /// Pops a value that an instrument records: a time, or a value of the method. The address of
    /// the counters is refused, because code outside the body must never learn it.
    fn pop_recorded(&self, r: &mut Run, kind: u8) -> Result<(), Failure> {
        if matches!(self.pop_kind(r, kind)?, Value::SHARD | Value::WINDOW) {
            return Err(self.operation_failure(r, "the address of the counters as a value"));
        }
        Ok(())
    }

    fn check_cell_id(&mut self, r: &Run, id: MethodId) -> Result<(), Failure> {
        if *self.id.get_or_insert(id) == id {
            Ok(())
        } else {
            Err(self.operation_failure(r, "the cell of another method"))
        }
    }

    /// True if the value is a constant that a probe uses as the offset of a counter.
    pub(super) fn is_counter(&self, v: Value) -> bool {
        v.as_int()
            .is_some_and(|offset| self.counters.binary_search(&offset).is_ok())
    }

    /// Pops the location of a counter: the address of the thread's counters and a constant offset.
    fn pop_counter(&self, r: &mut Run) -> Result<(), Failure> {
        let offset = self.pop(r)?;
        if offset != Value::COUNTER && !self.is_counter(offset) {
            return Err(self.operation_failure(r, "a counter that no probe has"));
        }
        self.pop_shard(r)
    }

    /// Pops the address of the thread's counters.
    fn pop_shard(&self, r: &mut Run) -> Result<(), Failure> {
        if self.pop_wide(r)? != Value::SHARD {
            return Err(self.operation_failure(r, "an address that is not that of the counters"));
        }
        Ok(())
    }

    /// Pops the address of a cell and its limit. Both must be constants of one and the same probe.
    fn pop_limit(&mut self, r: &mut Run) -> Result<(), Failure> {
        let (most, cell) = (self.pop_wide(r)?, self.pop_wide(r)?);
        let limits = self.limits;
        let known = limits.iter().any(|(address, times)| {
            cell == long(&mut self.values, *address as u64)
                && most == long(&mut self.values, *times)
        });
        if known {
            return Ok(());
        }
        Err(self.operation_failure(r, "a cell or a limit that no probe has"))
    }

    /// Pops the address of a cell that holds the start time of activations: a constant of a probe.
    fn pop_start_cell(&mut self, r: &mut Run) -> Result<(), Failure> {
        let cell = self.pop_wide(r)?;
        let limits = self.limits;
        let known = limits
            .iter()
            .any(|(address, times)| *times == 0 && cell == long(&mut self.values, *address as u64));
        if known {
            return Ok(());
        }
        Err(self.operation_failure(r, "a cell that no probe has"))
    }

    /// Pops the captured values of these kinds. The result has the order of the frame.
    fn pop_captured_values(
        &self,
        r: &mut Run,
        mut kinds: u64,
    ) -> Result<Vec<(u8, Value)>, Failure> {
        let mut values = Vec::new();
        while kinds != 0 {
            values.push((kinds as u8, self.pop_captured(r, kinds as u8)?));
            kinds >>= 8;
        }
        values.reverse();
        Ok(values)
    }

    fn misplaced(&self, r: &Run) -> Failure {
        self.operation_failure(r, "this has no place here")
    }

    /// Whether the emitted side is a version's body.
    fn is_version(&self) -> bool {
        matches!(self.mode, Mode::Enter | Mode::Resume)
    }

    /// Whether the activation is inside a version's body and is not leaving it.
    fn is_inside_version(&self, r: &Run) -> bool {
        self.is_version() && r.leave.is_none()
    }

    /// Begins the exit of an activation that moves to another part of a split method, as a check does
    /// whose answer is always yes. Stubs of several points meet at an instruction that takes the number
    /// of the point from the operand stack and stores it in a local of Veneer's. The original has no such
    /// number, so a jump to this instruction is none of the method's.
    pub(super) fn begin_move(&self, r: &mut Run) -> Result<(), Failure> {
        let stores = matches!(self.emitted.get(r.emitted_at),
            Some(Instruction::Local { op: ISTORE, index }) if usize::from(*index) >= self.first_own_local);
        let operands = r.emitted.stack.split_last();
        let Some((_, operands)) = operands.filter(|(number, _)| number.as_int().is_some()) else {
            return Ok(());
        };
        if !stores || !self.is_inside_version(r) || self.is_resuming(r) {
            return Ok(());
        }
        if r.monitors > 0 {
            return Err(Failure::Monitor(self.at(r)));
        }
        let operands = operands.to_vec();
        r.leave = Some(Box::new(OsrExit::at_check(false, operands)));
        Ok(())
    }

    /// Executes one runtime operation on the emitted side.
    pub(super) fn run_operation(
        &mut self,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> Result<(), Failure> {
        match operation {
            RuntimeOperation::Cell(_)
            | RuntimeOperation::Token(_)
            | RuntimeOperation::FinalOffset(_)
            | RuntimeOperation::BoundHandle(..)
            | RuntimeOperation::Idle
            | RuntimeOperation::VersionOrNull
            | RuntimeOperation::Leave
            | RuntimeOperation::Stale => self.run_check_operation(r, operation),
            RuntimeOperation::Shard
            | RuntimeOperation::ShardInWindow
            | RuntimeOperation::Now
            | RuntimeOperation::Count
            | RuntimeOperation::CountFirst
            | RuntimeOperation::CountInWindow
            | RuntimeOperation::Add
            | RuntimeOperation::Stop
            | RuntimeOperation::Lap
            | RuntimeOperation::Allocation
            | RuntimeOperation::Run(_)
            | RuntimeOperation::Locate => self.run_instrument_operation(r, operation),
            RuntimeOperation::Begin
            | RuntimeOperation::BeginFirst
            | RuntimeOperation::Log(_)
            | RuntimeOperation::End => self.run_log_operation(r, operation),
            RuntimeOperation::Point
            | RuntimeOperation::Kept
            | RuntimeOperation::Since
            | RuntimeOperation::Get(_)
            | RuntimeOperation::Clear => self.run_resume_operation(r, operation),
            RuntimeOperation::CastVersion
            | RuntimeOperation::Enter(_)
            | RuntimeOperation::Frame(_)
            | RuntimeOperation::Fill(_)
            | RuntimeOperation::Keep
            | RuntimeOperation::Go(_)
            | RuntimeOperation::Exit(_) => self.run_exit_operation(r, operation),
        }
    }

    /// Executes an operation of the check at a capture point.
    fn run_check_operation(
        &mut self,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> Result<(), Failure> {
        let inside = self.is_inside_version(r);
        match operation {
            RuntimeOperation::Cell(id) => {
                self.check_cell_id(r, id)?;
                r.emitted.push(Value::CELL, 1);
            }
            RuntimeOperation::Token(id) if inside && !self.clean && self.id == Some(id) => {
                r.emitted.push(Value::TOKEN, 1)
            }
            RuntimeOperation::FinalOffset(index) if inside => {
                let offset = final_offset(&mut self.values, index);
                r.emitted.push(offset, 2);
            }
            RuntimeOperation::BoundHandle(operation, member) if inside => {
                let handle = bound_handle(&mut self.values, operation, member);
                self.bound.insert(handle, (operation, member));
                r.emitted.push(handle, 1);
            }
            RuntimeOperation::Idle if inside && self.clean => r.emitted.push(Value::TOKEN, 1),
            RuntimeOperation::VersionOrNull if self.mode == Mode::Armed => {
                self.pop_expected(r, Value::CELL, "the cell")?;
                r.emitted.push(Value::VERSION_OR_NULL, 1);
            }
            RuntimeOperation::Leave if self.mode == Mode::Armed => {
                self.pop_expected(r, Value::CELL, "the cell")?;
                r.emitted.push(Value::CHECK, 1);
            }
            RuntimeOperation::Stale if inside => {
                self.pop_expected(r, Value::TOKEN, "the token")?;
                self.pop_expected(r, Value::CELL, "the cell")?;
                r.emitted.push(Value::CHECK, 1);
            }
            _ => return Err(self.misplaced(r)),
        }
        Ok(())
    }

    /// Executes an operation of a counter, a timer or a probe.
    fn run_instrument_operation(
        &mut self,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> Result<(), Failure> {
        let inside = self.is_inside_version(r);
        match operation {
            RuntimeOperation::Shard if inside => r.emitted.push(Value::SHARD, 2),
            RuntimeOperation::ShardInWindow if inside => r.emitted.push(Value::WINDOW, 2),
            RuntimeOperation::Now if inside => r.emitted.push(Value::INTERNAL, 2),
            RuntimeOperation::Count if self.is_version() => self.pop_counter(r)?,
            RuntimeOperation::CountFirst if inside => {
                self.pop_limit(r)?;
                self.pop_counter(r)?;
            }
            RuntimeOperation::CountInWindow if inside => {
                let offset = self.pop(r)?;
                if offset != Value::COUNTER && !self.is_counter(offset) {
                    return Err(self.operation_failure(r, "a counter that no probe has"));
                }
                if self.pop_wide(r)? != Value::WINDOW {
                    return Err(
                        self.operation_failure(r, "an address that is not that of a window")
                    );
                }
            }
            RuntimeOperation::Add if self.is_version() => {
                self.pop_recorded(r, b'J')?;
                self.pop_counter(r)?;
            }
            RuntimeOperation::Stop | RuntimeOperation::Lap if inside => {
                self.pop_recorded(r, b'J')?;
                self.pop_counter(r)?;
                if operation == RuntimeOperation::Lap {
                    r.emitted.push(Value::INTERNAL, 2);
                }
            }
            RuntimeOperation::Allocation if inside => self.pop_shard(r)?,
            RuntimeOperation::Run(mut kinds) if inside => {
                while kinds != 0 {
                    match self.reads_shard {
                        true => self.pop_kind(r, kinds as u8).map(|_| ())?,
                        false => self.pop_recorded(r, kinds as u8)?,
                    }
                    kinds >>= 8;
                }
            }
            RuntimeOperation::Locate if inside => {
                self.pop_expected(r, Value::CELL, "the cell")?;
                self.pop_int(r)?;
                self.pop(r)?;
                let exception = self.pop(r)?;
                let caught = r.thrown == Some(exception)
                    || !r.matched && r.original.stack.first() == Some(&exception);
                if !caught {
                    return Err(
                        self.operation_failure(r, "a place for something that was not just caught")
                    );
                }
            }
            _ => return Err(self.misplaced(r)),
        }
        Ok(())
    }

    /// Executes an operation of a log event.
    fn run_log_operation(
        &mut self,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> Result<(), Failure> {
        if !self.is_inside_version(r) {
            return Err(self.misplaced(r));
        }
        match operation {
            RuntimeOperation::Begin | RuntimeOperation::BeginFirst => {
                if operation == RuntimeOperation::BeginFirst {
                    self.pop_limit(r)?;
                }
                let count = self.pop_int(r)?;
                self.pop_int(r)?;
                if self.log(r).replace(count).is_some() {
                    return Err(self.operation_failure(r, "a log inside another"));
                }
                r.emitted.push(Value::INTERNAL, 2);
            }
            RuntimeOperation::Log(kind) => {
                self.pop_recorded(r, kind)?;
                if self.pop_wide(r)? != Value::INTERNAL {
                    return Err(
                        self.operation_failure(r, "a log at an address that is not Veneer's")
                    );
                }
                match self.log(r) {
                    Some(n) if *n > 0 => *n -= 1,
                    _ => {
                        return Err(
                            self.operation_failure(r, "a log of more values than it has room for")
                        );
                    }
                }
                r.emitted.push(Value::INTERNAL, 2);
            }
            RuntimeOperation::End => {
                if self.pop_wide(r)? != Value::INTERNAL || self.log(r).take().is_none() {
                    return Err(self.operation_failure(r, "the end of no log"));
                }
            }
            _ => return Err(self.misplaced(r)),
        }
        Ok(())
    }

    /// Executes an operation of a `resume` body that reads the frame.
    fn run_resume_operation(
        &mut self,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> Result<(), Failure> {
        if self.mode != Mode::Resume {
            return Err(self.misplaced(r));
        }
        match operation {
            RuntimeOperation::Point => {
                self.pop_expected(r, Value::FRAME_IN, "the frame")?;
                r.emitted.push(Value::POINT, 1);
            }
            RuntimeOperation::Kept => {
                self.pop_int(r)?;
                self.pop_expected(r, Value::FRAME_IN, "the frame")?;
                r.emitted.push(Value::INTERNAL, 2);
            }
            RuntimeOperation::Since => {
                self.pop_start_cell(r)?;
                if self.pop_wide(r)? != Value::INTERNAL {
                    return Err(
                        self.operation_failure(r, "a beginning for something that is no timer's")
                    );
                }
                r.emitted.push(Value::INTERNAL, 2);
            }
            RuntimeOperation::Get(kind) => self.read_frame(r, kind)?,
            RuntimeOperation::Clear => self.pop_expected(r, Value::FRAME_IN, "the frame")?,
            _ => return Err(self.misplaced(r)),
        }
        Ok(())
    }

    /// Executes an operation of a stub, by which an activation leaves the body.
    fn run_exit_operation(
        &mut self,
        r: &mut Run,
        operation: RuntimeOperation,
    ) -> Result<(), Failure> {
        match operation {
            RuntimeOperation::CastVersion if self.mode == Mode::Armed && r.leave.is_some() => {
                self.pop_expected(r, Value::VERSION_OR_NULL, "the version")?;
                r.emitted.push(Value::VERSION, 1);
            }
            RuntimeOperation::Enter(id) if self.mode == Mode::Armed => self.enter_version(r, id)?,
            RuntimeOperation::Frame(kinds) => {
                let point = self.pop_int(r)?;
                let values = self.pop_captured_values(r, kinds)?;
                match &mut r.leave {
                    Some(leave) if leave.frame.is_none() && !leave.entry => {
                        leave.frame = Some(point);
                        leave.added.extend(values);
                    }
                    _ => return Err(self.misplaced(r)),
                }
                r.emitted.push(Value::FRAME_OUT, 1);
            }
            RuntimeOperation::Fill(kinds) => {
                let values = self.pop_captured_values(r, kinds)?;
                self.pop_expected(r, Value::FRAME_OUT, "the frame")?;
                match &mut r.leave {
                    Some(leave) => leave.added.extend(values),
                    None => return Err(self.misplaced(r)),
                }
                r.emitted.push(Value::FRAME_OUT, 1);
            }
            RuntimeOperation::Keep if self.is_version() && r.leave.is_some() => {
                self.pop_recorded(r, b'J')?;
                self.pop_int(r)?;
                self.pop_expected(r, Value::FRAME_OUT, "the frame")?;
                r.emitted.push(Value::FRAME_OUT, 1);
            }
            RuntimeOperation::Go(kind) if matches!(self.mode, Mode::Armed | Mode::Enter) => {
                self.pop_expected(r, Value::CELL, "the cell")?;
                self.pop_expected(r, Value::FRAME_OUT, "the frame")?;
                self.enter_trampoline(r, kind)?;
            }
            RuntimeOperation::Exit(kind) if self.mode == Mode::Armed => {
                self.pop_expected(r, Value::CELL, "the cell")?;
                let point = self.pop_int(r)?;
                let value = match kind {
                    b'V' => None,
                    _ => Some((kind, self.pop_captured(r, kind)?)),
                };
                match &mut r.leave {
                    Some(leave) if leave.frame.is_none() && !leave.entry => {
                        leave.frame = Some(point);
                        leave.added.extend(value);
                    }
                    _ => return Err(self.misplaced(r)),
                }
                self.enter_trampoline(r, kind)?;
            }
            _ => return Err(self.misplaced(r)),
        }
        Ok(())
    }

    /// Reads a value out of the frame that a resumed activation brings.
    fn read_frame(&mut self, r: &mut Run, kind_wanted: u8) -> Result<(), Failure> {
        let position = self.pop_int(r)?;
        self.pop_expected(r, Value::FRAME_IN, "the frame")?;
        let contract = self.contracts.get(r.from as usize).cloned().flatten();
        let Some(contract) = contract else {
            return Err(self.operation_failure(r, "a frame from nowhere"));
        };
        let found = usize::try_from(position).ok();
        let found = found.and_then(|n| contract.carried.get(n));
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
            .source_state(r)
            .and_then(|(o, _)| value_of(c, o))
            .ok_or_else(|| self.operation_failure(r, "a frame from nowhere"))?;
        r.emitted.push(v, words_of(&c.descriptor));
        if kind_wanted == b'L' {
            self.remember_fetched(r, v, raw::constant_name(&c.descriptor));
        }
        Ok(())
    }

    /// Hands the activation over to the trampoline. `kind` is the kind of the trampoline's result.
    fn enter_trampoline(&mut self, r: &mut Run, kind: u8) -> Result<(), Failure> {
        if kind != self.original.result {
            return Err(self.leave_failure(r, "the executor loop gives something else"));
        }
        match self.mode {
            Mode::Armed => self.learn_exit_frame(r)?,
            _ => self.check_exit_frame(r)?,
        }
        match &mut r.leave {
            Some(leave) if !leave.transferred => leave.transferred = true,
            _ => return Err(self.leave_failure(r, "it leaves twice")),
        }
        r.emitted.stack.clear();
        let words = words_of(&self.original.result_text);
        r.emitted.push(Value::RESULT, words);
        Ok(())
    }

    /// Checks that the activation is at the position of the frame's point, and that the frame holds
    /// the values of the point's frame contract.
    fn check_exit_frame(&mut self, r: &mut Run) -> Result<(), Failure> {
        let Some(leave) = r.leave.clone() else {
            return Err(self.leave_failure(r, "no stub"));
        };
        let Some(point) = leave.frame else {
            return Err(self.leave_failure(r, "no frame"));
        };
        let contract = usize::try_from(point)
            .ok()
            .filter(|p| *p > 0)
            .and_then(|p| self.contracts.get(p).cloned().flatten())
            .ok_or_else(|| self.leave_failure(r, "there is no such point"))?;
        let point_position = self
            .original
            .leave_position(contract.instruction, contract.exit);
        let point_position =
            point_position.ok_or_else(|| self.leave_failure(r, "the point has no place"))?;
        self.advance_to_point(r, point_position, contract.exit, &leave.stack)?;
        if leave.added.len() != contract.carried.len() {
            return Err(self.leave_failure(r, "the frame gets another number of values"));
        }
        for (c, (of, value)) in contract.carried.iter().zip(&leave.added) {
            if *of != kind(&c.descriptor) || Some(*value) != value_of(c, &r.original) {
                return Err(self.leave_failure(r, "the frame gets another value"));
            }
        }
        self.check_nulls(r, &contract)
    }

    /// Checks that all values which the frame contract declares as `null` are `null`.
    fn check_nulls(&self, r: &Run, contract: &FrameContract) -> Result<(), Failure> {
        let null = |slot: &u16| r.original.locals.get(*slot as usize) == Some(&Value::NULL);
        let mut carried = contract.carried.iter().filter(|c| c.null);
        let all = contract.nulls.iter().all(null)
            && carried.all(|c| value_of(c, &r.original) == Some(Value::NULL));
        if !all {
            return Err(self.leave_failure(r, "a variable that has to be null may not be"));
        }
        Ok(())
    }

    /// Advances the original silently to the position of a point.
    fn advance_to_point(
        &mut self,
        r: &mut Run,
        point_position: Position,
        exit: bool,
        stack: &[Value],
    ) -> Result<(), Failure> {
        let goal = self.original.skip_gotos(point_position);
        for _ in 0..=self.original.program.instructions.len() {
            let at = self.original.skip_gotos(r.original_at);
            if at == goal || exit && at.instruction == goal.instruction {
                r.original_at = at;
                return if r.original.stack == stack {
                    Ok(())
                } else {
                    Err(self.leave_failure(r, "the operand stacks differ"))
                };
            }
            r.original_at = at;
            if !self.step_original(r)? {
                break;
            }
        }
        Err(self.leave_failure(r, "the activation stands elsewhere than the point"))
    }

    /// Checks the call of a version's `enter` body at the entry of an armed body.
    fn enter_version(&mut self, r: &mut Run, id: MethodId) -> Result<(), Failure> {
        self.check_cell_id(r, id)?;
        let Some(leave) = r.leave.clone() else {
            return Err(self.leave_failure(r, "no stub"));
        };
        if !leave.entry || leave.transferred || leave.frame.is_some() {
            return Err(self.leave_failure(r, "the check is that of another kind of point"));
        }
        let descriptor = match self.emitted.get(r.emitted_at) {
            Some(Instruction::Pool { index, .. }) => {
                let parts = self.emitted_constants.parts(*index).ok();
                parts.map(|(.., descriptor)| descriptor).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if raw::result(&descriptor) != self.original.result_text {
            return Err(self.leave_failure(r, "the call of the version gives something else"));
        }
        let kinds: Vec<u8> = raw::parameters(&descriptor).map(kind).collect();
        let mut added = Vec::with_capacity(kinds.len());
        for kind in kinds.iter().rev() {
            added.push((*kind, self.pop_kind(r, *kind)?));
        }
        added.reverse();
        self.pop_expected(r, Value::VERSION, "the version")?;
        let descriptors = raw::parameters(&descriptor).map(<[u8]>::to_vec);
        self.learn_contract(r, 0, &leave, &added, descriptors.collect())?;
        if let Some(leave) = &mut r.leave {
            leave.transferred = true;
            leave.class = Some(RESULT_IS_TYPED);
        }
        r.emitted.stack.clear();
        let words = words_of(&self.original.result_text);
        r.emitted.push(Value::RESULT, words);
        Ok(())
    }

    /// Learns a point from an armed body when an activation leaves with a frame.
    fn learn_exit_frame(&mut self, r: &mut Run) -> Result<(), Failure> {
        let Some(leave) = r.leave.clone() else {
            return Err(self.leave_failure(r, "no stub"));
        };
        let point = leave.frame.and_then(|p| u16::try_from(p).ok());
        let Some(point) = point.filter(|p| *p > 0) else {
            return Err(self.leave_failure(r, "there is no such point"));
        };
        let types = leave.added.iter().map(|(kind, _)| match kind {
            b'L' => b"Ljava/lang/Object;".to_vec(),
            kind => vec![*kind],
        });
        let types = types.collect();
        self.learn_contract(r, point, &leave, &leave.added, types)
    }

    /// Learns a point's frame contract from a stub of the armed body: the carried values and the
    /// position.
    fn learn_contract(
        &mut self,
        r: &mut Run,
        point: u16,
        leave: &OsrExit,
        added: &[(u8, Value)],
        types: Vec<Vec<u8>>,
    ) -> Result<(), Failure> {
        // Restore the stack of the check, and advance the original to it.
        r.emitted.stack.clone_from(&leave.stack);
        self.sync_stacks(r)?;
        let first_own_local = self.first_own_local;
        let locals = leave
            .loaded
            .iter()
            .filter(|l| usize::from(l.0) < first_own_local);
        let locals: Vec<(u16, u8)> = locals.copied().collect();
        if locals.windows(2).any(|w| w[0].0 >= w[1].0) {
            return Err(self.leave_failure(r, "variables are taken along in no order"));
        }
        let (mut words, mut values, mut loads) = (0, 0, locals.iter());
        let mut carried = Vec::new();
        for ((_, value), descriptor) in added.iter().zip(types) {
            let n = words_of(&descriptor);
            let (slot, expected) = if words < leave.stack.len() {
                let slot = CarriedLocation::Stack(values, words);
                let expected = leave.stack.get(words).copied();
                words += n as usize;
                values += 1;
                (slot, expected)
            } else {
                match loads.next() {
                    Some((slot, w)) if *w == n => (
                        CarriedLocation::Local(*slot),
                        r.original.locals.get(usize::from(*slot)).copied(),
                    ),
                    _ => return Err(self.leave_failure(r, "other values are taken along")),
                }
            };
            if expected != Some(*value) {
                return Err(
                    self.leave_failure(r, "a variable is taken along that is not the method's")
                );
            }
            carried.push(CarriedValue {
                slot,
                descriptor,
                null: matches!(slot, CarriedLocation::Stack(..)) && *value == Value::NULL,
            });
        }
        if loads.next().is_some() || words != leave.stack.len() {
            return Err(self.leave_failure(r, "fewer values are taken along"));
        }
        let candidates = self.sufficient_positions(r, leave, &locals)?;
        let mut contract = FrameContract {
            instruction: r.original_at.instruction,
            candidates: vec![r.original_at.instruction],
            exit: false,
            carried,
            nulls: Vec::new(),
            depth: leave.stack.len(),
        };
        if !candidates.is_empty() {
            contract.candidates = candidates;
        }
        while self.contracts.len() <= point as usize {
            self.contracts.push(None);
        }
        let met = match &self.contracts[point as usize] {
            Some(known) => known.meet(&contract),
            None => Some(contract),
        };
        if met.is_none() {
            return Err(self.leave_failure(r, "the point stands in two places"));
        }
        self.contracts[point as usize] = met;
        Ok(())
    }

    /// Advances the original silently and returns all instructions at which the stack equals that
    /// of the check and every live local is captured. The original ends at the last of them.
    ///
    /// Paths that merge at this point may have been matched at different earlier instructions with
    /// the same stack, for example before a load and a `pop`. Therefore all candidates are
    /// returned.
    fn sufficient_positions(
        &mut self,
        r: &mut Run,
        leave: &OsrExit,
        locals: &[(u16, u8)],
    ) -> Result<Vec<u32>, Failure> {
        let Some(live) = self.live else {
            return Ok(Vec::new());
        };
        let (mut last, mut behind, mut candidates) = (None, None, Vec::new());
        for _ in 0..=self.original.program.instructions.len() {
            r.original_at = self.original.skip_gotos(r.original_at);
            if r.original.stack == leave.stack {
                let taken = |slot: usize| {
                    let mut loaded = locals.iter();
                    loaded.any(|(s, n)| (*s as usize..*s as usize + *n as usize).contains(&slot))
                };
                let null = |slot: usize| r.original.locals.get(slot) == Some(&Value::NULL);
                let needed = |slot: &usize| live.is_live(r.original_at.instruction, *slot);
                let mut slots = 0..self.original.program.max_locals;
                match slots.find(|slot| needed(slot) && !taken(*slot) && !null(*slot)) {
                    None => {
                        last = Some(r.original_at);
                        candidates.push(r.original_at.instruction);
                    }
                    Some(slot) => behind = Some(slot),
                }
            }
            if !self.step_original(r)? {
                break;
            }
        }
        r.original.stack.clone_from(&leave.stack);
        match (last, behind) {
            (Some(at), _) => {
                r.original_at = at;
                Ok(candidates)
            }
            (None, slot) => {
                let slot = slot.unwrap_or(0);
                Err(self.leave_failure(r, &format!("local {slot} is needed and stays behind")))
            }
        }
    }

    /// Accepts the cast of the result after an OSR exit, and no other effect.
    pub(super) fn leave_effect(
        &mut self,
        r: &mut Run,
        i: &Instruction,
        effect: Effect,
    ) -> Result<bool, Failure> {
        let transferred = r.leave.as_ref().is_some_and(|l| l.transferred);
        if !transferred || r.emitted.stack.last() != Some(&Value::RESULT) || i.op() != CHECKCAST {
            return Err(self.leave_failure(r, "something happens on the way out"));
        }
        if let Some(leave) = &mut r.leave {
            leave.class = Some(effect.key);
        }
        r.emitted_at += 1;
        Ok(true)
    }

    /// Checks that an activation returns the result it received after leaving.
    pub(super) fn leave_result(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        op: u8,
    ) -> Result<(), Failure> {
        self.check_runtime_handlers(from, r)?;
        if self.mode == Mode::Resume {
            if op != ARETURN || r.emitted.stack.last() != Some(&Value::FRAME_OUT) {
                return Err(Failure::Result(self.at(r)));
            }
            return self.check_exit_frame(r);
        }
        let Some(leave) = r.leave.clone().filter(|l| l.transferred) else {
            return Err(self.leave_failure(r, "it returns instead"));
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
                let class = raw::constant_name(&self.original.result_text);
                class == b"java/lang/Object"
                    || leave.class == Some(RESULT_IS_TYPED)
                    || std::str::from_utf8(class)
                        .is_ok_and(|c| leave.class == Some(self.contents.cast_to(c)))
            }
            _ => true,
        };
        let top = r.emitted.top(words).ok().and_then(|w| w.first().copied());
        if op == wanted && cast && (words == 0 || top == Some(Value::RESULT)) {
            Ok(())
        } else {
            Err(Failure::Result(self.at(r)))
        }
    }
}

/// Returns the value of the original's state that a frame contract entry names.
fn value_of(c: &CarriedValue, o: &super::symbolic_state::SymbolicState) -> Option<Value> {
    match c.slot {
        CarriedLocation::Local(n) => o.locals.get(n as usize).copied(),
        CarriedLocation::Stack(_, word) => o.stack.get(word).copied(),
    }
}
