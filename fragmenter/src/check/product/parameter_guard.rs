//! Guards of parameters that the plan makes constants ([`crate::specialisation`]).
//!
//! The guard compares the parameter of an `enter` body with the constant of the plan, before any step of the
//! original. If they differ, the activation leaves with the values of the original's state there. If they are
//! equal, both sides have the constant in the variable. The original never assigns it, which is checked. So each
//! node behind the guards knows the constant too. A body without its guards is refused at its first node.

use super::super::exit_state::OsrExit;
use super::super::failure::Failure;
use super::super::reference::Position;
use super::super::value::Value;
use super::{Mode, Product, Run, StepResult};
use crate::specialisation::assigns;

impl<'x> Product<'x, '_> {
    /// Checks that the original assigns no constant of the plan.
    pub(super) fn check_constants(&self) -> Result<(), Failure> {
        let program = &self.original.program;
        let assigned = self.constants.iter().find(|(slot, _)| {
            let mut all = program.instructions.iter();
            all.any(|(_, i)| assigns(i, *slot))
        });
        match assigned {
            Some((slot, _)) => Err(Failure::Store {
                at: Default::default(),
                slot: *slot,
            }),
            None => Ok(()),
        }
    }

    /// The constant that the next branch compares with its parameter, if it is a guard of the plan: its index in
    /// the plan.
    pub(super) fn guarded_constant(&self, r: &Run) -> Option<usize> {
        let next = usize::from(r.guards);
        let (slot, value) = self.constants.get(next)?;
        let own = r.original.locals.get(usize::from(*slot))?;
        let compares = match r.emitted.stack[..] {
            [a, b] => {
                let local = r.emitted.locals.get(usize::from(*slot));
                a == *own && local == Some(own) && b == Value::int(*value)
            }
            _ => false,
        };
        (self.mode == Mode::Enter && !r.matched && compares).then_some(next)
    }

    /// Executes a guard. `failed` and `passed` are the places after it.
    pub(super) fn guard(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        constant: usize,
        (failed, passed): (u32, u32),
    ) -> StepResult {
        r.emitted.stack.clear();
        let mut away = r.clone();
        away.emitted_at = failed;
        away.leave = Some(Box::new(OsrExit::at_check(false, Vec::new())));
        self.run(from, away)?;
        r.guards += 1;
        if let Some((slot, value)) = self.constants.get(constant).copied() {
            self.know_constant(r, slot, value);
        }
        r.emitted_at = passed;
        Ok(true)
    }

    fn know_constant(&self, r: &mut Run, slot: u16, value: i32) {
        for side in [&mut r.original, &mut r.emitted] {
            if let Some(local) = side.locals.get_mut(usize::from(slot)) {
                *local = Value::int(value);
            }
        }
    }

    /// Gives the variables of a run at a node the constants that the guards have shown.
    pub(super) fn know_constants(&self, r: &mut Run) {
        if self.mode != Mode::Enter || r.original_at == Position::OUT {
            return;
        }
        for (slot, value) in self.constants.iter().copied() {
            self.know_constant(r, slot, value);
        }
        r.guards = u8::try_from(self.constants.len()).unwrap_or(u8::MAX);
    }

    /// Checks that a run that comes to a node has passed all guards.
    pub(super) fn check_guards(&self, r: &Run) -> Result<(), Failure> {
        let is_guarded = usize::from(r.guards) >= self.constants.len();
        if is_guarded || self.mode != Mode::Enter || r.original_at == Position::OUT {
            return Ok(());
        }
        Err(Failure::Own {
            at: self.at(r),
            why: "a parameter that the plan makes a constant is not compared with it".into(),
        })
    }
}
