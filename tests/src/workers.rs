//! A pool of threads that share a list of jobs.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `job` on every item, with one thread for each processor, and returns the results in the
/// order of the items.
///
/// # Panics
/// Panics if a job panics.
pub fn parallel_map<T: Sync, R: Send>(items: &[T], job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    parallel_map_on(processors, items, job)
}

/// Runs `job` on every item, with up to `threads` threads, and returns the results in the order of
/// the items.
///
/// # Panics
/// Panics if a job panics.
pub fn parallel_map_on<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    job: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let threads = threads.clamp(1, items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let result = job(item);
                    results.lock().push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner();
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn keeps_the_order() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = super::parallel_map(&items, |n| n * 2);
        assert!(items.iter().zip(&doubled).all(|(n, d)| n * 2 == *d) && doubled.len() == 100);
    }
}
