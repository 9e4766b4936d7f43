//! Verification types by slot (JVMS §4.10.1.2).

use super::names::{NameId, NameTable};

/// The type of one slot of the local variables or the operand stack. A `long` or `double` takes two
/// slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotType {
    Top,
    Int,
    Float,
    Long,
    /// Second slot of a `long`.
    LongHigh,
    Double,
    /// Second slot of a `double`.
    DoubleHigh,
    Null,
    UninitializedThis,
    /// Created by the `new` at this pc.
    Uninitialized(u16),
    Object(NameId),
}

impl SlotType {
    /// Returns the type of the second slot, if this is the first slot of two.
    pub fn high(self) -> Option<SlotType> {
        match self {
            SlotType::Long => Some(SlotType::LongHigh),
            SlotType::Double => Some(SlotType::DoubleHigh),
            _ => None,
        }
    }

    /// True for the second slot of two.
    pub fn is_high(self) -> bool {
        matches!(self, SlotType::LongHigh | SlotType::DoubleHigh)
    }

    /// True for a value of one slot.
    pub fn is_single(self) -> bool {
        !self.is_high() && self.high().is_none() && self != SlotType::Top
    }

    /// True for a reference, initialised or not.
    pub fn is_reference(self) -> bool {
        matches!(
            self,
            SlotType::Null
                | SlotType::Object(_)
                | SlotType::UninitializedThis
                | SlotType::Uninitialized(_)
        )
    }

    /// Formats the type for messages.
    pub fn text(self, names: &NameTable<'_>) -> String {
        match self {
            SlotType::Top => "top".into(),
            SlotType::Int => "int".into(),
            SlotType::Float => "float".into(),
            SlotType::Long => "long".into(),
            SlotType::LongHigh => "second half of a long".into(),
            SlotType::Double => "double".into(),
            SlotType::DoubleHigh => "second half of a double".into(),
            SlotType::Null => "null".into(),
            SlotType::UninitializedThis => "uninitializedThis".into(),
            SlotType::Uninitialized(pc) => format!("uninitialized({pc})"),
            SlotType::Object(id) => names.text(id).into_owned(),
        }
    }
}
