//! Work that several threads share.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, scope};

/// Does the pieces of work with the numbers below `pieces`, on at most `threads` threads, one of which is this
/// one. Returns their results in order. If no thread can be started, this one does everything.
pub(super) fn in_parallel<T: Send>(
    threads: usize,
    pieces: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take_pieces = || {
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return done;
            }
            done.push((piece, work(piece)));
        }
    };
    let mut done = scope(|scope| {
        let others: Vec<_> = (1..threads.min(pieces))
            .filter_map(|_| Builder::new().spawn_scoped(scope, take_pieces).ok())
            .collect();
        let mut done = take_pieces();
        for other in others {
            match other.join() {
                Ok(results) => done.extend(results),
                Err(panic) => resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(piece, _)| *piece);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whoever_makes_them() {
        for threads in [0, 1, 3, 100] {
            let squares = in_parallel(threads, 50, |n| n * n);
            let expected: Vec<usize> = (0..50).map(|n| n * n).collect();
            assert_eq!(squares, expected, "{threads} threads");
        }
        assert!(in_parallel(4, 0, |n| n).is_empty());
    }
}
