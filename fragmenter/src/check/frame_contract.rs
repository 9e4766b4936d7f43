//! Frame contracts: the values that an activation carries through a capture point, and their
//! locations. Both sides of a transfer are checked against the same contract.

use super::constants;
use super::failure::Failure;

/// Returns the kind of a field descriptor: `I` for `Z`, `B`, `C`, `S` and `I`; `L` for classes and
/// arrays.
pub(super) fn kind(descriptor: &[u8]) -> u8 {
    match descriptor.first() {
        Some(b'Z' | b'B' | b'C' | b'S' | b'I') => b'I',
        Some(b'[' | b'L') => b'L',
        Some(k) => *k,
        None => b'V',
    }
}

/// One value that a point carries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CarriedValue {
    pub slot: CarriedLocation,
    /// Descriptor of the value in the call that transfers it.
    pub descriptor: Vec<u8>,
    /// True if the value is known to be `null`. The receiving body creates it again.
    pub null: bool,
}

/// Location of a carried value in the original's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CarriedLocation {
    Local(u16),
    /// An operand: its index from the bottom, counted in values, then counted in words.
    Stack(u16, usize),
}

/// The frame contract of a capture point, shared by both sides of a transfer: which value is in
/// which location. An activation that leaves must bring these values, and an activation that enters
/// finds them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FrameContract {
    pub instruction: u32,
    /// All instructions that the point may be declared at; `instruction` is the last. The original
    /// passes them silently with the same stack.
    pub candidates: Vec<u32>,
    pub exit: bool,
    pub carried: Vec<CarriedValue>,
    pub nulls: Vec<u16>,
    /// Depth of the operand stack in words.
    pub depth: usize,
}

impl FrameContract {
    /// Merges the contracts found on two paths to the same point, or returns `None` if they
    /// disagree. A value is declared `null` only if it is `null` on both paths.
    pub fn meet(&self, other: &FrameContract) -> Option<FrameContract> {
        if !self.has_layout_of(other) {
            return None;
        }
        let mut met = self.clone();
        met.candidates.retain(|c| other.candidates.contains(c));
        met.instruction = *met.candidates.last()?;
        for (a, b) in met.carried.iter_mut().zip(&other.carried) {
            a.null &= b.null;
        }
        Some(met)
    }

    /// True if both contracts carry values of the same kinds in the same locations.
    pub fn has_layout_of(&self, other: &FrameContract) -> bool {
        let layout = |c: &CarriedValue| (c.slot, kind(&c.descriptor));
        self.depth == other.depth
            && self
                .carried
                .iter()
                .map(layout)
                .eq(other.carried.iter().map(layout))
    }

    /// Returns the descriptor of a call that takes the carried values.
    pub fn descriptor(&self, result: &[u8]) -> Vec<u8> {
        let mut text = b"(".to_vec();
        for c in &self.carried {
            text.extend_from_slice(&c.descriptor);
        }
        text.push(b')');
        text.extend_from_slice(result);
        text
    }

    /// Builds the frame contract that the emitter declared for a point.
    pub fn from_point(point: &crate::points::Point) -> Result<FrameContract, Failure> {
        use crate::types::Type;
        let describe = |t: &Type| {
            crate::descriptor::field_descriptor(t)
                .map(String::into_bytes)
                .ok_or_else(|| Failure::Missing("a type that a call can carry".into()))
        };
        let (mut carried, mut nulls, mut words) = (Vec::new(), Vec::new(), 0usize);
        for (n, t) in (0u16..).zip(&point.stack) {
            carried.push(CarriedValue {
                slot: CarriedLocation::Stack(n, words),
                descriptor: describe(t)?,
                null: *t == Type::Null,
            });
            words += t.width() as usize;
        }
        for (slot, t) in &point.locals {
            if *t == Type::Null {
                nulls.push(*slot);
            } else {
                carried.push(CarriedValue {
                    slot: CarriedLocation::Local(*slot),
                    descriptor: describe(t)?,
                    null: false,
                });
            }
        }
        let words_of = |c: &CarriedValue| constants::words_of(&c.descriptor) as usize;
        let depth = carried
            .iter()
            .filter(|c| matches!(c.slot, CarriedLocation::Stack(..)))
            .map(words_of)
            .sum();
        Ok(FrameContract {
            instruction: point.instruction as u32,
            candidates: vec![point.instruction as u32],
            exit: point.kind == crate::points::PointKind::Exit,
            carried,
            nulls,
            depth,
        })
    }
}
