//! Compares the capture points of an armed body with the points for which its versions are made.
//!
//! The checker reads the actual points out of the armed body's stubs. A stub shows which values it
//! captures, and at which positions of the original these values suffice (`osr_exit.rs`). Versions
//! are checked from the position that the emitter declared for the point. The declared position
//! must be one of the following:
//!
//! * one of the positions found in the stub;
//! * a position that the original reaches silently from the last found position, or from which it
//!   reaches that position silently, with the same operand stack in the end.
//!
//! On such a silent path nothing but the operand stack changes.

use super::failure::Failure;
use super::frame_contract::FrameContract;
use super::product::Product;
use super::reference::Position;
use crate::points::Point;

impl Product<'_, '_> {
    /// Compares the points found in an armed body with the declared points. A declared point that
    /// was not found is unreachable, so no activation leaves there.
    pub fn check_points(&mut self, declared: &[Point]) -> Result<(), Failure> {
        for (point, found) in std::mem::take(&mut self.contracts).into_iter().enumerate() {
            let Some(found) = found else { continue };
            let wrong = |why: &str| Failure::Points {
                point,
                why: why.to_string(),
            };
            let declared = declared
                .get(point)
                .ok_or_else(|| wrong("there is no such point"))?;
            let contract = FrameContract::from_point(declared)?;
            // A version's body has the parameter types of the call at the entry, so the types must
            // agree too.
            let result = &self.original.result_text;
            let typed = point > 0 || contract.descriptor(result) == found.descriptor(result);
            if !typed || !contract.has_layout_of(&found) {
                return Err(wrong("other values are taken along"));
            }
            let mut both = contract.carried.iter().zip(&found.carried);
            if both.any(|(declared, found)| declared.null && !found.null) {
                return Err(wrong("a value that has to be null may not be"));
            }
            let declared_at = self.original.skip_gotos(Position {
                block: 0,
                instruction: contract.instruction,
            });
            let found_there = found.candidates.contains(&declared_at.instruction);
            let reachable = found_there
                || self.reaches_silently(&contract, found.instruction)?
                || self.reaches_silently(&found, contract.instruction)?;
            if !reachable {
                return Err(wrong("it stands elsewhere"));
            }
        }
        Ok(())
    }

    /// True if the original silently reaches instruction `to` from the contract's position, with an
    /// equal stack.
    fn reaches_silently(&mut self, contract: &FrameContract, to: u32) -> Result<bool, Failure> {
        let position = |instruction| Position {
            block: 0,
            instruction,
        };
        let goal = self.original.skip_gotos(position(to));
        let start = position(contract.instruction);
        let mut r = self.blank(start);
        r.original = self.state_at_point(contract, start);
        let stack = r.original.stack.clone();
        for _ in 0..=self.original.program.instructions.len() {
            r.original_at = self.original.skip_gotos(r.original_at);
            if r.original_at == goal && r.original.stack == stack {
                return Ok(true);
            }
            if !self.step_original(&mut r)? {
                break;
            }
        }
        Ok(false)
    }
}
