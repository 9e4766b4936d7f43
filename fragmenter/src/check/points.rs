//! The points of an armed body: those that were read out of its stubs are those by which its versions are made.
//!
//! A stub shows which values it takes along and the places of the original at which that is enough (`leave.rs`). A version is
//! checked from the place that the point is said to have. It is one of these, or one state of the original with the last of
//! them: the original goes from the one to the other unseen and the operand stack is the same again. Nothing but the stack
//! changes on such a way.

use super::failure::Failure;
use super::original::{Face, Position};
use super::product::Product;
use crate::points::Point;

impl Product<'_, '_> {
    /// Compares the points found in an armed body with those that it is said to have. A point that no activation can come to
    /// was not found, and none leaves there.
    pub fn points(&mut self, said: &[Point]) -> Result<(), Failure> {
        for (point, found) in std::mem::take(&mut self.faces).into_iter().enumerate() {
            let Some(found) = found else { continue };
            let wrong = |why: &str| Failure::Points {
                point,
                why: why.to_string(),
            };
            let said = said
                .get(point)
                .ok_or_else(|| wrong("there is no such point"))?;
            let face = Face::of(said)?;
            // A version's body is declared with the types that the call at the entry has.
            let result = &self.original.result_text;
            let typed = point > 0 || face.descriptor(result) == found.descriptor(result);
            if !typed || !face.carries_like(&found) {
                return Err(wrong("other values are taken along"));
            }
            let mut both = face.carried.iter().zip(&found.carried);
            if both.any(|(said, found)| said.null && !found.null) {
                return Err(wrong("a value that has to be null may not be"));
            }
            let stands = self.original.settle(Position {
                place: 0,
                instruction: face.instruction,
            });
            let passed = found.places.contains(&stands.instruction);
            let leads = passed
                || self.leads(&face, found.instruction)?
                || self.leads(&found, face.instruction)?;
            if !leads {
                return Err(wrong("it stands elsewhere"));
            }
        }
        Ok(())
    }

    /// Whether the original goes unseen from a point's place to an instruction, with the same stack there.
    fn leads(&mut self, face: &Face, to: u32) -> Result<bool, Failure> {
        let place = |instruction| Position {
            place: 0,
            instruction,
        };
        let goal = self.original.settle(place(to));
        let start = place(face.instruction);
        let mut r = self.blank(start);
        r.o = self.standing(face, start);
        let stack = r.o.stack.clone();
        for _ in 0..=self.original.program.instructions.len() {
            r.at = self.original.settle(r.at);
            if r.at == goal && r.o.stack == stack {
                return Ok(true);
            }
            if !self.lead(&mut r)? {
                break;
            }
        }
        Ok(false)
    }
}
