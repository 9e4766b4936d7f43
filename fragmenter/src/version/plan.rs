//! The input for emitting versions.

use crate::advice::Probe;
use crate::arming::ArmedCode;
use crate::flowgraph::FragmentId;
use crate::method::Method;
use crate::patch::Edit;
use std::collections::HashSet;
use veneer_names::MethodId;

/// Members that hosts inherit as `protected` from classes of other packages, by name and
/// descriptor. A hidden nestmate is not a subclass of these classes, so it accesses the members
/// through method handles that the host's own lookup creates.
pub type ProtectedMembers = HashSet<(String, String)>;

/// The input for emitting one method.
pub struct VersionPlan<'p> {
    /// The method with its analyses.
    pub method: &'p Method<'p>,
    /// The id of the method's cell.
    pub id: MethodId,
    /// The armed body from which activations enter.
    pub armed: &'p ArmedCode,
    /// Edits of the method's graph, in order.
    pub edits: &'p [Edit],
    /// Fragments at which earlier versions have an edit point ([`crate::edit_points`]). Activations
    /// may enter at these fragments.
    pub kept: &'p [FragmentId],
    /// The advice to weave in.
    pub probes: &'p [Probe],
    /// Whether the version has no probes and no edits. Such a version is for activations that still
    /// run after all instruments were detached.
    pub clean: bool,
}

/// Selects the bodies to emit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// For new activations.
    Enter,
    /// For activations that enter from other code (OSR entry).
    Resume,
}

/// How precisely a body records its current position, for the stack traces of exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PositionTracking {
    /// No positions are recorded. The host's frame shows the line of the capture point.
    No,
    /// By source line.
    Line,
    /// By instruction. The JVM's helpful messages for null pointers are then correct too.
    Instruction,
}
