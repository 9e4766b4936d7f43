//! What the world sees: the emitted side does what the original does next, with the same operands; and the result.

use super::super::constants::{Event, Meaning};
use super::super::failure::Failure;
use super::super::machine::Broken;
use super::super::value::Value;
use super::{Mode, Product, Run, Step};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::runtime;

impl<'x> Product<'x, '_> {
    /// Something that the world sees.
    pub(super) fn event(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        i: &Instruction,
        event: Event,
    ) -> Step {
        if r.leave.is_some() {
            return self.leave_event(r, i, event);
        }
        if i.op() == CHECKCAST
            && let Some(class) = self.bound_before(r)
            && self.canon.class_named(&class) << 2 | 2 | 1 << 30 == event.key
        {
            r.q += 1;
            return Ok(true);
        }
        let own_cast = r.fetched.take();
        let resumes = self.mode == Mode::Resume;
        if resumes && i.op() == CHECKCAST && r.e.stack.last() == Some(&Value::FRAME_IN) {
            // A body takes its frame as an object.
            let frame = self.canon.class_named(runtime::FRAME) << 2 | 2 | 1 << 30;
            if event.key == frame {
                r.q += 1;
                return Ok(true);
            }
        }
        if self.coming(r) {
            // A cast of what came out of the frame to the type that it had when it went in.
            let top = r.e.stack.last().copied();
            if let (CHECKCAST, Some((v, class)), Some(top)) = (i.op(), own_cast, top)
                && v == top
                && let Ok(class) = std::str::from_utf8(&class)
            {
                let key = self.canon.class_named(class) << 2 | 2 | 1 << 30;
                // `null` passes every cast.
                if key == event.key || v == Value::NULL {
                    r.q += 1;
                    return Ok(true);
                }
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
        let theirs = self.advance(r)?;
        if self.mode == Mode::Resume
            && event.boxes != 0
            && i.op() == INVOKESTATIC
            && is_return(theirs.op())
            && event.boxes == self.original.result
        {
            self.own_covered(from, r)?;
            let words = event.pops as usize;
            match (r.o.top(words), r.e.top(words)) {
                (Ok(a), Ok(b)) if a == b => {}
                _ => return Err(Failure::Operands(self.at(r))),
            }
            r.boxed = r.e.top(words).ok().and_then(|w| w.first().copied());
            let dropped = r.e.drop(words);
            dropped.map_err(|Broken| self.unknown(r, "the operand stack is broken"))?;
            r.e.push(Value::BOXED, 1);
            r.q += 1;
            return Ok(true);
        }
        let seen = !matches!(
            theirs,
            Instruction::Branch { .. }
                | Instruction::TableSwitch { .. }
                | Instruction::LookupSwitch { .. }
                | Instruction::Local { .. }
                | Instruction::Iinc { .. }
        ) && !is_return(theirs.op());
        let other = if seen {
            let m = self.left.meaning(self.canon, theirs);
            match m.map_err(|e| self.unknown(r, &e))? {
                Meaning::Event(e) => Some(e),
                _ => None,
            }
        } else {
            None
        };
        let Some(other) = other.filter(|o| {
            o.key == event.key
                && o.pops == event.pops
                && o.pushes == event.pushes
                && (o.tag == event.tag || event.tag == 0)
        }) else {
            return Err(Failure::Operation(self.at(r)));
        };
        let words = other.pops as usize;
        match (r.o.top(words), r.e.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        self.throws(from, r)?;
        self.operands(r, words)?;
        r.matched = true;
        match i.op() {
            ATHROW => return Ok(false),
            MONITORENTER => {
                r.monitors += 1;
                r.last = None;
                if r.monitors > 64 {
                    return Err(self.unknown(r, "a monitor is entered without end"));
                }
            }
            MONITOREXIT => {
                r.monitors = r.monitors.saturating_sub(1);
                r.last = None;
            }
            _ => {}
        }
        if other.pushes > 0 {
            let v = self.values.fresh();
            r.o.push(v, other.pushes);
            r.e.push(v, other.pushes);
        }
        let next = self.original.next(r.at);
        r.at = next.ok_or_else(|| self.unknown(r, "the original runs off its end"))?;
        r.q += 1;
        Ok(true)
    }

    /// The class of the result of a bound call site just before: what the site gives is of that class.
    fn bound_before(&self, r: &Run) -> Option<String> {
        let before = self.emitted.get(r.q.checked_sub(1)?)?;
        let Instruction::InvokeDynamic { index } = before else {
            return None;
        };
        String::from_utf8(self.right.bound_result(*index)?).ok()
    }

    /// The method returns.
    pub(super) fn result(&mut self, from: Option<u32>, r: &mut Run, op: u8) -> Result<(), Failure> {
        if r.leave.is_some() {
            return self.leave_result(from, r, op);
        }
        if self.coming(r) && self.came_from(r).is_none() && r.thrown.is_none() && !r.matched {
            // A frame of a point that is not known here.
            let given_back = op == ARETURN && r.e.stack.last() == Some(&Value::FRAME_IN);
            return if given_back {
                Ok(())
            } else {
                Err(Failure::Result(self.at(r)))
            };
        }
        if r.thrown.is_some() || self.coming(r) {
            return Err(Failure::Result(self.at(r)));
        }
        let theirs = self.advance(r)?.op();
        if !is_return(theirs) {
            return Err(Failure::Result(self.at(r)));
        }
        self.throws(from, r)?;
        let words = match theirs {
            RETURN => 0,
            LRETURN | DRETURN => 2,
            _ => 1,
        };
        let wrong = || Failure::Result(self.at(r));
        let mine = r.o.top(words).map_err(|Broken| wrong())?;
        if self.mode == Mode::Resume {
            let top = r.e.top(1).map_err(|Broken| wrong())?[0];
            let right = op == ARETURN
                && match theirs {
                    RETURN => top == Value::NULL,
                    ARETURN => top == mine[0],
                    _ => top == Value::BOXED && r.boxed == mine.first().copied(),
                };
            return if right { Ok(()) } else { Err(wrong()) };
        }
        let ours = r.e.top(words).map_err(|Broken| wrong())?;
        if op == theirs && mine == ours {
            Ok(())
        } else {
            Err(wrong())
        }
    }
}
