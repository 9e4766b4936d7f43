//! Reads some of the performance counters that HotSpot keeps in `/tmp/hsperfdata_<user>/<pid>`.
//!
//! * `sun.rt.jvmCapabilities` is a string of digits. The first digit is `1` if the JVM accepts
//!   attach requests. The client reads it before it sends SIGQUIT, because a JVM with
//!   `-XX:+DisableAttachMechanism` would print a thread dump into the application's output.
//! * `sun.rt.javaCommand` is the main class or jar of the JVM, with the program's arguments.
//! * `sun.rt.safepointTime` and `sun.rt.safepointSyncTime` are the ticks in which threads were
//!   stopped, or waited for the last thread to stop.
//! * `sun.gc.collector.N.time` are the ticks in which collections stopped all threads.
//!
//! ```text
//!   entry:  u32 length, u32 name offset, u32 vector length,
//!           u8 type, u8 flags, u8 unit, u8 variability, u32 data offset,
//!           name, NUL, padding, data
//!
//!   Offsets are relative to the entry. Numbers have native byte order.
//! ```

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::target::Target;

const CAPABILITIES_COUNTER: &[u8] = b"sun.rt.jvmCapabilities\0";
const JAVA_COMMAND_COUNTER: &[u8] = b"sun.rt.javaCommand\0";
const FREQUENCY_COUNTER: &[u8] = b"sun.os.hrt.frequency\0";
/// The counters of the time in which all threads were stopped.
const SAFEPOINT_COUNTERS: [&[u8]; 2] = [b"sun.rt.safepointTime\0", b"sun.rt.safepointSyncTime\0"];
/// The counters of the pauses of collections. The last one is that of G1's concurrent cycle.
const COLLECTION_COUNTERS: [&[u8]; 3] = [
    b"sun.gc.collector.0.time\0",
    b"sun.gc.collector.1.time\0",
    b"sun.gc.collector.2.time\0",
];
/// Size of an entry before its name, in bytes.
const ENTRY_HEADER_BYTES: usize = 20;
/// Position of the field "data offset" in an entry.
const DATA_OFFSET: usize = 16;

/// Whether this JVM accepts attach requests. `None` if the JVM keeps no counters
/// (`-XX:-UsePerfData`).
pub fn attach_supported(target: &Target) -> Option<bool> {
    accepts_attach(&read_file(target)?)
}

/// The main class or the path of the jar, followed by the arguments of the program, as `jps -lm`
/// shows them.
pub fn command(target: &Target) -> Option<String> {
    counter_text(&read_file(target)?, JAVA_COMMAND_COUNTER)
}

/// The time in which all threads of a JVM were stopped since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseTimes {
    /// The time at all safepoints, with the wait for the last thread. Collections are included.
    pub safepoints: Duration,
    /// The pauses of collections.
    pub collections: Duration,
}

/// Reads the time in which all threads of a JVM were stopped. `None` if the JVM keeps no counters
/// (`-XX:-UsePerfData`).
pub fn pause_times(target: &Target) -> Option<PauseTimes> {
    read_pause_times(&read_file(target)?)
}

fn read_pause_times(bytes: &[u8]) -> Option<PauseTimes> {
    let frequency = counter_number(bytes, FREQUENCY_COUNTER).filter(|f| *f > 0)?;
    let seconds = |ticks: u64| Duration::try_from_secs_f64(ticks as f64 / frequency as f64).ok();
    let sum = |counters: &[&[u8]]| {
        let ticks = counters.iter().filter_map(|c| counter_number(bytes, c));
        ticks.fold(0u64, u64::saturating_add)
    };
    // A JVM without the first counter has no counters of safepoints.
    counter_number(bytes, SAFEPOINT_COUNTERS[0])?;
    Some(PauseTimes {
        safepoints: seconds(sum(&SAFEPOINT_COUNTERS))?,
        collections: seconds(sum(&COLLECTION_COUNTERS))?,
    })
}

/// The number of a counter with 8 bytes.
fn counter_number(bytes: &[u8], counter: &[u8]) -> Option<u64> {
    let data = counter_data(bytes, counter)?.first_chunk::<8>()?;
    Some(u64::from_ne_bytes(*data))
}

/// The content of the JVM's performance counter file.
fn read_file(target: &Target) -> Option<Vec<u8>> {
    let name = target.own_pid.to_string();
    fs::read_dir(target.path_from_here(Path::new("/tmp")))
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(b"hsperfdata_")
        })
        .map(|entry| entry.path().join(&name))
        .filter(|file| {
            fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.uid() == target.uid)
        })
        .find_map(|file| fs::read(file).ok())
}

/// The bytes of the file from the start of this counter's data.
fn counter_data<'b>(bytes: &'b [u8], counter: &[u8]) -> Option<&'b [u8]> {
    let name = bytes
        .windows(counter.len())
        .position(|window| window == counter)?;
    let entry = name.checked_sub(ENTRY_HEADER_BYTES)?;
    let field = bytes.get(entry + DATA_OFFSET..)?.first_chunk::<4>()?;
    let data = entry.checked_add(u32::from_ne_bytes(*field) as usize)?;
    bytes.get(data..)
}

/// The first digit of `sun.rt.jvmCapabilities` as a boolean.
fn accepts_attach(bytes: &[u8]) -> Option<bool> {
    match counter_data(bytes, CAPABILITIES_COUNTER)?.first()? {
        b'1' => Some(true),
        b'0' => Some(false),
        _ => None,
    }
}

/// The NUL-terminated text of this counter; `None` if the text is empty.
fn counter_text(bytes: &[u8], counter: &[u8]) -> Option<String> {
    let data = counter_data(bytes, counter)?;
    let end = data.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(data.get(..end)?);
    (!text.is_empty()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(digit: u8) -> Vec<u8> {
        let mut bytes = vec![7; 13];
        add(&mut bytes, CAPABILITIES_COUNTER, &[digit]);
        bytes
    }

    /// Adds an entry to a file.
    fn add(bytes: &mut Vec<u8>, counter: &[u8], value: &[u8]) {
        let data = ENTRY_HEADER_BYTES + counter.len() + 1;
        for field in [
            data as u32 + 64,
            ENTRY_HEADER_BYTES as u32,
            64,
            0,
            data as u32,
        ] {
            bytes.extend_from_slice(&field.to_ne_bytes());
        }
        bytes.extend_from_slice(counter);
        bytes.push(0);
        bytes.extend_from_slice(value);
    }

    #[test]
    fn pauses_are_the_sums_of_their_counters_in_seconds() {
        let mut bytes = Vec::new();
        for (counter, ticks) in [
            (FREQUENCY_COUNTER, 1000u64),
            (SAFEPOINT_COUNTERS[1], 500),
            (COLLECTION_COUNTERS[0], 250),
        ] {
            add(&mut bytes, counter, &ticks.to_ne_bytes());
        }
        assert_eq!(read_pause_times(&bytes), None, "no counter of safepoints");
        add(&mut bytes, SAFEPOINT_COUNTERS[0], &2000u64.to_ne_bytes());
        let times = PauseTimes {
            safepoints: Duration::from_millis(2500),
            collections: Duration::from_millis(250),
        };
        assert_eq!(read_pause_times(&bytes), Some(times));
    }

    #[test]
    fn the_first_digit_decides_and_damaged_files_are_ignored() {
        assert_eq!(accepts_attach(&file(b'1')), Some(true));
        assert_eq!(accepts_attach(&file(b'0')), Some(false));
        assert_eq!(accepts_attach(&file(0)), None);
        let whole = file(b'1');
        for length in 0..whole.len() {
            assert_eq!(accepts_attach(&whole[..length]), None, "cut to {length}");
        }
        assert_eq!(accepts_attach(CAPABILITIES_COUNTER), None);
    }
}
