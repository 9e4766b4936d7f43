//! The operations that read per-thread stacks in code at a point, by the names in plans.

use veneer_instruments::TallyKind;

/// Returns the name of the probe operation that reads a per-thread stack.
pub(super) fn stack_operation(operation: &str, kind: TallyKind) -> Option<&'static str> {
    match (operation, kind) {
        ("pop", TallyKind::Numbers) => Some("pop"),
        ("top", TallyKind::Numbers) => Some("top"),
        ("pop", TallyKind::Objects) => Some("take"),
        ("top", TallyKind::Objects) => Some("peek"),
        _ => None,
    }
}
