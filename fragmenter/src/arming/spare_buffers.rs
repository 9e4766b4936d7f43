//! The memory of the fast path, kept between classes.
//!
//! Many threads load classes at once, and a JVM may have thousands of threads. So the buffers do not
//! belong to threads: a thread takes a spare set, or makes one, and returns it after the class. The
//! process keeps at most [`MAX_SPARE`] sets.

use super::fast_path::FastPathBuffers;
use std::sync::Mutex;

/// The number of spare sets that the process keeps.
const MAX_SPARE: usize = 2;

/// The longest code in bytes for which buffers are kept. The buffers of a method near the limits of
/// the class file have some hundred kilobytes.
const MAX_KEPT_CODE_BYTES: usize = 8 * 1024;

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
