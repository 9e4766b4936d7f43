//! A counting allocator: measures the largest amount of memory that a piece of work holds, in this
//! thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Bytes allocated minus bytes freed by this thread. The value is negative if the thread frees
    /// memory that another thread allocated.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The largest value of `HELD` since the last reset.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn add(bytes: isize) {
    // A thread may free memory after its thread-local variables are destroyed.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(bytes));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call is passed to the system's allocator unchanged. The counting code allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: `alloc` above returned this pointer for this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: `alloc` above returned this pointer for this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work`. Returns its result, and the largest number of bytes that it held in addition to
/// those held before.
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().saturating_sub(before).max(0) as usize)
}

/// Runs `work` and returns its result.
///
/// # Panics
/// If `work` holds more than `limit` bytes at any time.
pub fn within<R>(limit: usize, what: &str, work: impl FnOnce() -> R) -> R {
    let (result, peak) = measure(work);
    assert!(
        peak <= limit,
        "{what} held {peak} bytes, and {limit} are allowed"
    );
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_peak_and_not_the_sum() {
        let ((), peak) = measure(|| {
            for _ in 0..10 {
                drop(std::hint::black_box(vec![1u8; 10_000]));
            }
        });
        assert!((10_000..20_000).contains(&peak), "{peak}");
    }

    #[test]
    #[should_panic(expected = "work held")]
    fn more_than_allowed_is_a_panic() {
        within(1000, "work", || std::hint::black_box(vec![1u8; 1001]));
    }
}
