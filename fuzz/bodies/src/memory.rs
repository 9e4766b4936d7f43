//! A counting allocator: how much memory a piece of work held at most, in this thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Bytes allocated less bytes freed by this thread; below zero where it frees what another one made.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The largest value of `HELD` since it was last set.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn add(bytes: isize) {
    // A thread that ends may free after its variables are gone.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(bytes));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work`; gives what it gives, and the bytes that it held at most beyond those held before.
pub fn measure<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().saturating_sub(before).max(0) as usize)
}

/// Runs `work`.
///
/// # Panics
/// Where it holds more than `limit` bytes at any time.
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
