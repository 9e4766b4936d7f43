//! The memory of the fast path, kept between classes.
//!
//! Many threads load classes at once, and a JVM may have thousands of threads. So the buffers do not
//! belong to threads: a thread takes a spare set, or makes one, and returns it after the class. The
//! process keeps at most [`MAX_SPARE`] sets.

use super::abstract_state::MemberEffects;
use super::block_graph::BlockGraph;
use super::class_table::ClassTable;
use super::code_scan::CodeScan;
use super::fast_points::FastPoints;
use super::known_names::KnownNames;
use super::parameters::ParameterBuffers;
use super::splice::Splice;
use super::stackmap_relocation::EncodedType;
use super::typed_scan::TypedScan;
use crate::classfile::ExceptionRange;
use std::sync::Mutex;

/// The number of spare sets that the process keeps.
const MAX_SPARE: usize = 2;

/// The longest code in bytes for which buffers are kept. The buffers of a method near the limits of
/// the class file have some hundred kilobytes.
const MAX_KEPT_CODE_BYTES: usize = 8 * 1024;

/// The memory of the fast path, which is reused for the methods of many classes.
#[derive(Default)]
pub(super) struct FastPathBuffers {
    pub names: KnownNames,
    pub members: MemberEffects,
    pub classes: ClassTable,
    pub scan: CodeScan,
    pub types: TypedScan,
    pub graph: BlockGraph,
    pub points: FastPoints,
    pub splice: Splice,
    pub parameters: ParameterBuffers,
    /// For each descriptor of a method, the descriptors of the calls of versions of an instance
    /// method and of a static method. 0 if they are not needed yet.
    pub sites: Vec<[u16; 2]>,
    /// Code that is written only to measure it.
    pub trial: Vec<u8>,
    pub rows: Vec<ExceptionRange>,
    pub moved_rows: Vec<u16>,
    /// The locals and the operands of a frame, and the locals of the frame before it.
    pub frame_types: [Vec<EncodedType>; 3],
}

// Boxes are moved in and out under the lock; the sets themselves would be copied.
#[allow(clippy::vec_box)]
static SPARE: Mutex<Vec<Box<FastPathBuffers>>> = Mutex::new(Vec::new());

/// Takes a spare set of buffers, or makes a new one.
pub(super) fn take() -> Box<FastPathBuffers> {
    let spare = SPARE.try_lock().ok().and_then(|mut spare| spare.pop());
    spare.unwrap_or_default()
}

/// Returns a set of buffers. The set is dropped if it is large or if there are enough spare sets.
pub(super) fn put(buffers: Box<FastPathBuffers>) {
    if buffers.scan.marks.capacity() > MAX_KEPT_CODE_BYTES {
        return;
    }
    if let Ok(mut spare) = SPARE.try_lock()
        && spare.len() < MAX_SPARE
    {
        spare.push(buffers);
    }
}
