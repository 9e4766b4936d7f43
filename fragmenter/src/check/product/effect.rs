//! Observable effects and results. The emitted side's effect must be the original's next effect,
//! with the same operands; the results must be equal.

use super::super::constants::{Effect, Meaning, shape};
use super::super::failure::Failure;
use super::super::symbolic_state::StackMismatch;
use super::super::value::Value;
use super::{Mode, Product, Run, StepResult};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::runtime;
use veneer_names::{MethodDescriptor, raw};

impl<'x> Product<'x, '_> {
    /// Matches an effect of the emitted side with the original's next effect.
    pub(super) fn effect(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        i: &Instruction,
        effect: Effect,
    ) -> StepResult {
        if r.leave.is_some() {
            return self.leave_effect(r, i, effect);
        }
        let fetched = r.fetched.take();
        if i.op() == CHECKCAST && self.is_cast_of_frame(r, effect) {
            r.emitted_at += 1;
            return Ok(true);
        }
        if self.is_resuming(r) {
            if i.op() == CHECKCAST && self.is_cast_of_fetched(r, effect, fetched) {
                r.emitted_at += 1;
                return Ok(true);
            }
            return Err(Failure::Resume {
                at: self.at(r),
                why: "something happens before the activation has come to its place".into(),
            });
        }
        if i.op() == ATHROW
            && let Some(thrown) = r.thrown
        {
            return if self.pop(r)? == thrown {
                Ok(false)
            } else {
                Err(Failure::Operands(self.at(r)))
            };
        }
        if r.thrown.is_some() {
            return Err(Failure::Operation(self.at(r)));
        }
        let expected = self.next_visible(r)?;
        if self.mode == Mode::Resume
            && effect.boxes != 0
            && i.op() == INVOKESTATIC
            && is_return(expected.op())
            && effect.boxes == self.original.result
        {
            return self.box_result(from, r, effect.pops as usize);
        }
        let original = self.original_effect(r, expected)?;
        if let Some(original) = original {
            self.restore_arguments(r, expected, original)?;
        }
        let Some(original) = original.filter(|o| {
            o.key == effect.key
                && o.pops == effect.pops
                && o.pushes == effect.pushes
                && (o.tag == effect.tag || effect.tag == 0)
        }) else {
            return Err(Failure::Operation(self.at(r)));
        };
        self.execute_effect(from, r, i, original)
    }

    /// Whether the cast is that of a `resume` body's frame, which is passed as an `Object`.
    fn is_cast_of_frame(&mut self, r: &Run, effect: Effect) -> bool {
        self.mode == Mode::Resume
            && r.emitted.stack.last() == Some(&Value::FRAME_IN)
            && self.contents.cast_to(runtime::FRAME) == effect.key
    }

    /// Whether the cast gives a value from the frame the type that the value had when it was stored
    /// there.
    fn is_cast_of_fetched(
        &mut self,
        r: &Run,
        effect: Effect,
        fetched: Option<(Value, Vec<u8>)>,
    ) -> bool {
        let Some((v, class)) = fetched.filter(|(v, _)| r.emitted.stack.last() == Some(v)) else {
            return false;
        };
        // `null` passes every cast.
        std::str::from_utf8(&class)
            .is_ok_and(|class| self.contents.cast_to(class) == effect.key || v == Value::NULL)
    }

    /// Returns the effect of an instruction of the original, or `None` if the instruction has no
    /// effect.
    pub(super) fn original_effect(
        &mut self,
        r: &Run,
        i: &Instruction,
    ) -> Result<Option<Effect>, Failure> {
        let silent = matches!(
            i,
            Instruction::Branch { .. }
                | Instruction::TableSwitch { .. }
                | Instruction::LookupSwitch { .. }
                | Instruction::Local { .. }
                | Instruction::Iinc { .. }
        );
        if silent || is_return(i.op()) {
            return Ok(None);
        }
        let m = self.original_constants.meaning(self.contents, i);
        match m.map_err(|e| self.unknown(r, &e.to_string()))? {
            Meaning::Effect(e) => Ok(Some(e)),
            _ => Ok(None),
        }
    }

    /// Boxes the primitive result of a `resume` body.
    fn box_result(&mut self, from: Option<u32>, r: &mut Run, words: usize) -> StepResult {
        self.check_runtime_handlers(from, r)?;
        match (r.original.top(words), r.emitted.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        r.boxed = r.emitted.top(words).ok().and_then(|w| w.first().copied());
        let dropped = r.emitted.drop(words);
        dropped.map_err(|StackMismatch| self.unknown(r, "the operand stack is broken"))?;
        r.emitted.push(Value::BOXED, 1);
        r.emitted_at += 1;
        Ok(true)
    }

    /// Executes an effect on both sides, if its operands are equal.
    fn execute_effect(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        i: &Instruction,
        effect: Effect,
    ) -> StepResult {
        let words = effect.pops as usize;
        match (r.original.top(words), r.emitted.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        self.match_handlers(from, r)?;
        self.operands(r, words)?;
        r.matched = true;
        match i.op() {
            ATHROW => return Ok(false),
            MONITORENTER => {
                r.monitors += 1;
                r.last_ranges = None;
                if r.monitors > 64 {
                    return Err(self.unknown(r, "a monitor is entered without end"));
                }
            }
            MONITOREXIT => {
                r.monitors = r.monitors.saturating_sub(1);
                r.last_ranges = None;
            }
            _ => {}
        }
        if effect.pushes > 0 {
            let v = self.values.fresh();
            r.original.push(v, effect.pushes);
            r.emitted.push(v, effect.pushes);
        }
        let next = self.original.next(r.original_at);
        r.original_at = next.ok_or_else(|| self.unknown(r, "the original runs off its end"))?;
        r.emitted_at += 1;
        Ok(true)
    }

    /// Returns the effect of a call of one of the version's method handles, and removes the handle
    /// from the operand stack. Returns `None` for any other instruction.
    pub(super) fn effect_of_handle(
        &mut self,
        r: &mut Run,
        i: &Instruction,
    ) -> Result<Option<Effect>, Failure> {
        let Instruction::Pool {
            op: INVOKEVIRTUAL,
            index,
        } = i
        else {
            return Ok(None);
        };
        if self.bound.is_empty() {
            return Ok(None);
        }
        let called = self.emitted_constants.exact_call(*index);
        let called = called.map_err(|e| self.unknown(r, &e.to_string()))?;
        let Some(descriptor) = called else {
            return Ok(None);
        };
        let words = usize::from(shape(&descriptor).0);
        let stack = &r.emitted.stack;
        let at = stack.len().checked_sub(words + 1);
        let handle = at.and_then(|at| stack.get(at));
        let Some((at, bound)) = at.zip(handle.and_then(|handle| self.bound.get(handle))) else {
            return Ok(None);
        };
        let (operation, member) = *bound;
        let member = self.original_constants.parts(member);
        let member = member.map_err(|e| self.unknown(r, &e.to_string()))?;
        let bound = self
            .emitted_constants
            .bound(self.contents, operation, &member);
        let Some((effect, typed)) = bound.filter(|(_, typed)| {
            let parsed = MethodDescriptor::parse(typed).ok();
            parsed.is_some_and(|typed| typed.erased().as_bytes() == descriptor)
        }) else {
            return Err(Failure::Own {
                at: self.at(r),
                why: "a method handle whose type does not fit its member".into(),
            });
        };
        r.emitted.stack.remove(at);
        // An operand was in a local for a moment, where `null` is taken for a value of Veneer.
        for operand in r.emitted.stack.iter_mut().skip(at) {
            if *operand == Value::INTERNAL_NULL {
                *operand = Value::NULL;
            }
        }
        self.match_upper_words(r, at, &typed)?;
        let result = raw::result(typed.as_bytes());
        r.bound_result = raw::is_reference(result)
            .then(|| String::from_utf8_lossy(raw::constant_name(result)).into_owned());
        Ok(Some(effect))
    }

    /// Gives the wide operands of a call on the emitted side, which begin at a place on the operand
    /// stack, the upper words that they have on the original's side. After a merge of control flow
    /// the original's upper word is not known, and the emitted side's is lost when the operand is in
    /// a local for a moment. The JVM's verifier never separates the words of a value, so they are
    /// equal if the lower words are.
    pub(super) fn match_upper_words(
        &mut self,
        r: &mut Run,
        at: usize,
        typed: &str,
    ) -> Result<(), Failure> {
        self.next_visible(r)?;
        let Ok(parsed) = MethodDescriptor::parse(typed) else {
            return Ok(());
        };
        let words = r.emitted.stack.len().saturating_sub(at);
        let Some(offset) = r.original.stack.len().checked_sub(words) else {
            return Ok(());
        };
        let mut word = 0;
        for parameter in parsed.parameters() {
            let (ours, theirs) = (at + word, offset + word);
            if parameter.slots() == 2
                && r.emitted.stack.get(ours) == r.original.stack.get(theirs)
                && let (Some(upper), Some(known)) = (
                    r.emitted.stack.get_mut(ours + 1),
                    r.original.stack.get(theirs + 1),
                )
            {
                *upper = *known;
            }
            word += usize::from(parameter.slots());
        }
        Ok(())
    }

    /// Checks a return of the emitted side.
    pub(super) fn result(&mut self, from: Option<u32>, r: &mut Run, op: u8) -> Result<(), Failure> {
        if r.leave.is_some() {
            return self.leave_result(from, r, op);
        }
        if self.is_resuming(r) && self.source_state(r).is_none() && r.thrown.is_none() && !r.matched
        {
            // The frame belongs to a point that this body does not know, so the body must return
            // the frame.
            let given_back = op == ARETURN && r.emitted.stack.last() == Some(&Value::FRAME_IN);
            return if given_back {
                Ok(())
            } else {
                Err(Failure::Result(self.at(r)))
            };
        }
        if r.thrown.is_some() || self.is_resuming(r) {
            return Err(Failure::Result(self.at(r)));
        }
        let expected = self.next_visible(r)?.op();
        if !is_return(expected) {
            return Err(Failure::Result(self.at(r)));
        }
        self.match_handlers(from, r)?;
        let words = match expected {
            RETURN => 0,
            LRETURN | DRETURN => 2,
            _ => 1,
        };
        let wrong = || Failure::Result(self.at(r));
        let mine = r.original.top(words).map_err(|StackMismatch| wrong())?;
        if self.mode == Mode::Resume {
            let top = r.emitted.top(1).map_err(|StackMismatch| wrong())?[0];
            let right = op == ARETURN
                && match expected {
                    RETURN => top == Value::NULL,
                    ARETURN => top == mine[0],
                    _ => top == Value::BOXED && r.boxed == mine.first().copied(),
                };
            return if right { Ok(()) } else { Err(wrong()) };
        }
        let ours = r.emitted.top(words).map_err(|StackMismatch| wrong())?;
        if op == expected && mine == ours {
            Ok(())
        } else {
            Err(wrong())
        }
    }
}
