//! Finds the first JVM that a command runs or starts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use veneer_client::process_stat::descendants;
use veneer_client::{Target, TargetError};

/// The shortest and the longest interval between two looks at the processes of the command. The
/// interval grows, because a look at all processes costs some milliseconds.
const FIRST_INTERVAL: Duration = Duration::from_millis(10);
const LONGEST_INTERVAL: Duration = Duration::from_millis(200);

/// Waits until a process or one of its descendants is a JVM. Returns `None` if `stopped` is set
/// before.
///
/// # Errors
/// The first JVM cannot be searched, for instance because it is too old.
pub fn first_jvm(pid: u32, stopped: &AtomicBool) -> Option<Result<Target, TargetError>> {
    let mut interval = FIRST_INTERVAL;
    while !stopped.load(Ordering::Relaxed) {
        for process in std::iter::once(pid).chain(descendants(pid)) {
            match Target::inspect(process) {
                Ok(target) => return Some(Ok(target)),
                Err(error @ (TargetError::NotHotSpot(_) | TargetError::TooOld { .. })) => {
                    return Some(Err(error));
                }
                // The process has ended, or is no JVM, or is none yet.
                Err(_) => {}
            }
        }
        thread::sleep(interval);
        interval = (interval * 2).min(LONGEST_INTERVAL);
    }
    None
}
