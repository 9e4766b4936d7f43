//! The frames that patterns select, by slot.

use veneer_instruments::MethodPattern;

use crate::reader::{FrameSlot, Names};

/// A set of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSelection {
    selected: Vec<bool>,
}

impl FrameSelection {
    /// The frames that match one of the patterns. A trace has no flags, annotations or supertypes,
    /// so those parts of a pattern are not considered.
    pub fn any(names: &Names, patterns: &[MethodPattern]) -> FrameSelection {
        let matches = |frame: &crate::format::names::FrameRecord| {
            // The name of a loop or fragment begins with the method's name.
            let method = frame.name.split(' ').next().unwrap_or_default();
            patterns
                .iter()
                .any(|p| p.matches(&frame.class, method, &frame.descriptor))
        };
        FrameSelection {
            selected: names.frames.iter().map(matches).collect(),
        }
    }

    /// All frames, the unknown frame included.
    pub fn all(names: &Names) -> FrameSelection {
        FrameSelection {
            selected: vec![true; names.frames.len()],
        }
    }

    /// Removes the frames of another selection.
    pub fn remove(&mut self, other: &FrameSelection) {
        for (mine, others) in self.selected.iter_mut().zip(&other.selected) {
            *mine &= !others;
        }
    }

    /// Whether a frame is selected.
    #[inline]
    pub fn contains(&self, slot: FrameSlot) -> bool {
        self.selected.get(slot as usize).copied().unwrap_or(false)
    }
}
