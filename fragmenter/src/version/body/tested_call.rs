//! Emits virtual calls with tests of their receivers; see [`crate::devirtualisation`].
//!
//! ```text
//!        …, object, arguments        the arguments are stored in short-lived locals
//!        dup, instanceof C, ifeq N
//!        checkcast C, arguments, the call, goto J
//!   N:   arguments, the call
//!   J:   the next instruction
//! ```

use super::{BodyEmitter, CopiedInstruction};
use crate::bytecode::opcode::*;
use crate::flowgraph::FragmentId;
use crate::guard_outcome::GuardOutcome;
use crate::patch::Edit;
use crate::point_values::{carried_kind, frame_state};
use crate::refusal::Refusal;
use crate::types::{self, State, Type};
use std::sync::Arc;

/// The stored arguments of a call: the slot and the type of each.
type StoredArguments = Vec<(u16, Type)>;

impl BodyEmitter<'_, '_> {
    /// The classes for which the call at a pc is tested, in the order of the tests.
    pub(super) fn tested_receivers(&self, at: u16) -> Vec<Arc<str>> {
        let class = |edit: &Edit| match edit {
            Edit::Receiver { pc, class } if *pc == at => Some(class.clone()),
            _ => None,
        };
        self.plan.edits.iter().filter_map(class).collect()
    }

    /// The verification types before the instruction with index `i`, in the code of a node that is emitted
    /// from the instruction with index `first` on.
    fn state_before(&self, node: FragmentId, first: usize, i: usize) -> Result<State, Refusal> {
        let method = self.plan.method;
        let code = self.patched.nodes[node.index()].code;
        let mut state = if first == self.first_instruction(code) {
            self.patched.state(method, node)
        } else {
            frame_state(&self.plan.armed.points[0], method.code.max_locals)
        };
        for (pc, instruction) in &method.instructions[first..i] {
            let pool = &method.file.pool;
            types::step(&mut state, *pc, instruction, pool, &method.class)?;
        }
        Ok(state)
    }

    /// Emits the call with index `i`, with a test for each of these classes. The code of the node is emitted
    /// from the instruction with index `first` on.
    pub(super) fn emit_tested_call(
        &mut self,
        (node, first): (FragmentId, usize),
        i: usize,
        receivers: &[Arc<str>],
    ) -> Result<(), Refusal> {
        let method = self.plan.method;
        let before = self.state_before(node, first, i)?;
        let (pc, instruction) = &method.instructions[i];
        let mut after = before.clone();
        types::step(
            &mut after,
            *pc,
            instruction,
            &method.file.pool,
            &method.class,
        )?;
        let mut own = self.here();
        let (arguments, tested) = self.store_arguments(i, before)?;
        let join = self.a.fresh();
        for receiver in receivers {
            let next = self.a.fresh();
            let class = self.e.pool.add_class(receiver)?;
            self.a.plain(DUP);
            self.a.pool(INSTANCEOF, class);
            self.a.branch(IFEQ, next);
            let passed = GuardOutcome::Receiver {
                pc: *pc,
                class: receiver.clone(),
            };
            self.advice_at(passed.site())?;
            self.a.pool(CHECKCAST, class);
            self.load_arguments(&arguments);
            self.end_own_code(own, i);
            self.copy_call(i)?;
            self.a.branch(GOTO, join);
            self.a.place(next);
            self.frame_at(next, tested.clone());
            own = self.here();
        }
        self.advice_at(GuardOutcome::OtherReceiver(*pc).site())?;
        self.load_arguments(&arguments);
        self.end_own_code(own, i);
        self.copy_call(i)?;
        self.a.place(join);
        let after = self.slots.extend(after);
        self.frame_at(join, after);
        // The next node may begin here, and its frame has fewer variables.
        self.a.plain(NOP);
        Ok(())
    }

    /// Stores the arguments of a call into short-lived locals, so that its receiver is on top of the operand
    /// stack. Returns the types after that.
    fn store_arguments(
        &mut self,
        i: usize,
        before: State,
    ) -> Result<(StoredArguments, State), Refusal> {
        let method = self.plan.method;
        let (_, instruction) = &method.instructions[i];
        let broken = || Refusal::Internal("a call without a receiver".into());
        let index = instruction.pool_index().ok_or_else(broken)?;
        let invoked = types::invoked(&method.file.pool, index, instruction.op());
        let (_, descriptor) = invoked.ok_or_else(broken)?;
        let count = descriptor.parameters.len();
        let mut state = self.slots.extend(before);
        let receiver = state
            .stack
            .len()
            .checked_sub(count + 1)
            .ok_or_else(broken)?;
        let values = state.stack.split_off(receiver + 1);
        let mut arguments = StoredArguments::new();
        let mut slot = self.slots.temp;
        for value in values {
            arguments.push((slot, value.clone()));
            let width = value.width();
            state.locals.push(value);
            if width == 2 {
                state.locals.push(Type::Top);
            }
            slot += width;
        }
        for (slot, value) in arguments.iter().rev() {
            self.a.local(ISTORE + carried_kind(value), *slot);
        }
        self.e.scratch_words = self.e.scratch_words.max(slot - self.slots.temp);
        Ok((arguments, state))
    }

    fn load_arguments(&mut self, arguments: &StoredArguments) {
        for (slot, value) in arguments {
            self.a.local(ILOAD + carried_kind(value), *slot);
        }
    }

    /// Emits the call itself, which the handlers of the method protect.
    fn copy_call(&mut self, i: usize) -> Result<(), Refusal> {
        let method = self.plan.method;
        let (pc, instruction) = &method.instructions[i];
        let start = self.here();
        self.e.copy_instruction(&mut self.a, method, instruction)?;
        let end = self.here();
        self.copied.push(CopiedInstruction {
            pc: *pc,
            armed_pc: self.plan.armed.pcs.get(i).copied(),
            start,
            end,
        });
        Ok(())
    }
}
