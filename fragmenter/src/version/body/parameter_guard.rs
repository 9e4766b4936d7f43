//! Emits the guards of parameters that are constants; see [`crate::specialisation`].

use super::{BodyEmitter, ExitStub};
use crate::advice::Site;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::guard_outcome::GuardOutcome;
use crate::patch::constants;
use crate::points::PointKind;
use crate::refusal::Refusal;
use crate::version::plan::Bodies;
use std::collections::HashMap;

impl BodyEmitter<'_, '_> {
    /// Emits the guards at the start of a body `enter`. A failed guard leaves through the capture point of the
    /// first fragment.
    pub(super) fn emit_parameter_guards(&mut self) -> Result<(), Refusal> {
        let constants = constants(self.plan.edits);
        if constants.is_empty() {
            return Ok(());
        }
        let entry = self.plan.armed.points[0].fragment;
        let at_entry = self
            .points
            .iter()
            .position(|p| p.kind == PointKind::Fragment && p.fragment == entry);
        let point = at_entry
            .ok_or_else(|| Refusal::Internal("the first fragment has no capture point".into()))?;
        let mut stubs: HashMap<Option<Site>, Label> = HashMap::new();
        for (slot, value) in constants {
            let failed = GuardOutcome::OtherValue { slot, value }.site();
            let is_counted = self.plan.probes.iter().any(|probe| probe.site == failed);
            // Guards that are not counted share one exit stub.
            let guard = is_counted.then_some(failed);
            let label = *stubs.entry(guard).or_insert_with(|| {
                let label = self.a.fresh();
                self.exit_stubs.push(ExitStub {
                    point,
                    label,
                    guard,
                });
                label
            });
            self.a.local(ILOAD, slot);
            self.e.push_int(&mut self.a, value)?;
            self.a.branch(IF_ICMPNE, label);
            self.advice_at(GuardOutcome::Constant { slot, value }.site())?;
        }
        Ok(())
    }

    /// Copies an instruction. Behind the guards, a load of a constant parameter yields the constant.
    pub(super) fn copy_or_constant(&mut self, instruction: &Instruction) -> Result<(), Refusal> {
        match self.constant_parameter(instruction) {
            Some(value) => self.e.push_int(&mut self.a, value),
            None => self
                .e
                .copy_instruction(&mut self.a, self.plan.method, instruction),
        }
    }

    fn constant_parameter(&self, load: &Instruction) -> Option<i32> {
        let Instruction::Local { op: ILOAD, index } = load else {
            return None;
        };
        let all = constants(self.plan.edits);
        let found = all.iter().find(|(slot, _)| slot == index);
        let is_guarded = self.bodies == Bodies::Enter;
        found.filter(|_| is_guarded).map(|(_, value)| *value)
    }
}
