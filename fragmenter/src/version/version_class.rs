//! The result of emitting versions.

use crate::flowgraph::FragmentId;
use crate::refusal::Refusal;
use veneer_names::MethodId;

/// An emitted version class.
pub struct VersionClass {
    /// Internal name of the class, to which the JVM appends a suffix.
    pub name: String,
    /// The class file, to be defined as a hidden nestmate of the host. Empty if no method was
    /// emitted.
    pub bytes: Vec<u8>,
    /// Ids of the methods in the class. The class data must contain their tokens in this order.
    pub methods: Vec<MethodId>,
    /// The names of the bodies, in the order of `methods`.
    pub bodies: Vec<String>,
    /// The bytes of the largest body, with the parts of split methods.
    pub largest_body: usize,
    /// The methods that could not be emitted.
    pub refused: Vec<(MethodId, Refusal)>,
    /// The mapping of pcs to the armed bodies, for stack traces. For each body: the method id, the
    /// number of pairs, and the pairs. Each pair has the pc in this class in its high half and the
    /// pc in the armed body in its low half. The pairs rise.
    pub places: Vec<i32>,
    /// For each body, in the order of `bodies`: the fragments in which activations are counted, by
    /// rising pc. Only bodies that count external entries and exits have entries.
    pub spans: Vec<Vec<Span>>,
    /// The final fields of the host whose offsets the version's fields
    /// [`crate::runtime::final_offset_field`] must hold before the version runs.
    pub final_fields: Vec<FinalField>,
    /// The members for which the version's fields [`crate::runtime::bound_field`] must hold method
    /// handles before the version runs.
    pub bound: Vec<BoundMember>,
}

/// A member of the host, or one that the host inherits, which a version uses through a method handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundMember {
    /// The operation: a `BIND` constant of the runtime classes.
    pub operation: u8,
    /// The index of the member in the host's constant pool.
    pub index: u16,
    /// Internal name of the class that the host's instruction names.
    pub class: String,
    /// The member's name.
    pub name: String,
    /// The descriptor of a method that does what the instruction does. Its first parameter is the
    /// object, if the instruction takes one.
    pub descriptor: String,
}

/// A final instance field of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalField {
    /// The field's index in the host's class file.
    pub index: u16,
    /// The field's name.
    pub name: String,
    /// The field's descriptor. A class may have two fields of one name with different descriptors.
    pub descriptor: String,
}

/// The fragment to which an activation belongs at a range of pcs. The range ends at the next span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First pc of the range.
    pub pc: u16,
    /// The fragment into which the activation was counted, if any.
    pub fragment: Option<FragmentId>,
    /// The pc, in the method's own code, of the instruction at which the range begins. Without a
    /// fragment 0.
    pub original_pc: u16,
    /// Whether the counters of the surrounding loop are locals here, so that the counters in memory
    /// are behind. Such code calls nothing.
    pub gathers: bool,
}
