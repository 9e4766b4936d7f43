//! The mapping from old to new positions in moved code, and the changes that follow from it.

use super::attribute::Attribute;

/// The mapping from old to new positions in a method's code.
pub(super) struct CodeMap<'m> {
    /// Length of the old code in bytes.
    pub(super) old_length: u16,
    /// Maps an old pc (up to and including the length) to the new pc.
    pub(super) pc: &'m dyn Fn(u16) -> u16,
    /// Maps an old index into the exception table to the new index.
    pub(super) exception: &'m dyn Fn(u16) -> u16,
}

impl CodeMap<'_> {
    /// Returns the new start and length of an old range, or `None` if the range is not within the
    /// method or its end would precede its start.
    pub(super) fn range(&self, start: u16, length: u16) -> Option<(u16, u16)> {
        let end = start
            .checked_add(length)
            .filter(|&end| end <= self.old_length)?;
        let new_start = (self.pc)(start);
        (self.pc)(end)
            .checked_sub(new_start)
            .map(|length| (new_start, length))
    }
}

/// New 16-bit values by offset in an attribute.
#[derive(Default)]
pub(super) struct AttributePatches(Vec<(usize, u16)>);

impl AttributePatches {
    /// Records a value if it differs from the old one.
    pub(super) fn set(&mut self, offset: usize, old: u16, new: u16) {
        if old != new {
            self.0.push((offset, new));
        }
    }

    /// Writes the values into the attribute.
    pub(super) fn apply(self, attribute: &mut Attribute<'_>) {
        if self.0.is_empty() {
            return;
        }
        let info = attribute.info.to_mut();
        for (offset, value) in self.0 {
            if let Some(place) = info
                .get_mut(offset..)
                .and_then(|rest| rest.first_chunk_mut())
            {
                *place = value.to_be_bytes();
            }
        }
    }
}
