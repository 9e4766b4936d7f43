//! A value that belongs to the thread that has created it, such as a JNI environment.

use std::thread::{self, ThreadId};

/// A value that only the creating thread can read. The wrapper itself can be moved to and shared
/// with other threads.
pub struct ThreadBound<T: Copy> {
    value: T,
    owner: ThreadId,
}

// SAFETY: `get` is the only access to the value, and it panics on every thread but the one that has
// created it. Dropping the wrapper on another thread runs no code, because `T` is `Copy`.
unsafe impl<T: Copy> Send for ThreadBound<T> {}
// SAFETY: as for `Send`: a shared reference gives no other thread access to the value.
unsafe impl<T: Copy> Sync for ThreadBound<T> {}

impl<T: Copy> ThreadBound<T> {
    /// Binds a value to the calling thread.
    pub fn new(value: T) -> ThreadBound<T> {
        ThreadBound {
            value,
            owner: thread::current().id(),
        }
    }

    /// Returns the value.
    ///
    /// # Panics
    /// The calling thread is not the thread that has created the value.
    pub fn get(&self) -> T {
        assert!(
            thread::current().id() == self.owner,
            "a value of another thread"
        );
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_thread_that_has_created_the_value_can_read_it() {
        let bound = ThreadBound::new(std::ptr::without_provenance::<u8>(7));
        assert_eq!(bound.get().addr(), 7);
        let other = thread::scope(|scope| scope.spawn(|| bound.get().addr()).join());
        assert!(other.is_err());
        assert_eq!(bound.get().addr(), 7);
    }
}
