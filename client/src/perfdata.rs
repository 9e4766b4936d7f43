//! Two facts from the performance counters that HotSpot keeps in `/tmp/hsperfdata_<user>/<pid>`.
//!
//! The counter `sun.rt.jvmCapabilities` is a string of digits; the first says whether the JVM
//! accepts attaching. With `-XX:+DisableAttachMechanism` a SIGQUIT would make it print a thread dump
//! into the application's output instead, so this is asked first. `sun.rt.javaCommand` is what the JVM was told to run.
//!
//! ```text
//!   entry:  u32 length, u32 name offset, u32 vector length, u8 type, flags, unit, variability, u32 data offset
//!           name, NUL, padding, data          (offsets count from the entry; native byte order)
//! ```

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::target::Target;

const COUNTER: &[u8] = b"sun.rt.jvmCapabilities\0";
const COMMAND: &[u8] = b"sun.rt.javaCommand\0";
/// Bytes before an entry's name.
const HEADER: usize = 20;
/// Where the data offset stands in it.
const DATA_OFFSET: usize = 16;

/// Does this JVM accept attaching? `None` where it keeps no counters (`-XX:-UsePerfData`).
pub fn attach_supported(target: &Target) -> Option<bool> {
    capability(&counters(target)?)
}

/// What `jps -l` shows: the main class, or the path of the jar, and the arguments of the program.
pub fn command(target: &Target) -> Option<String> {
    text(&counters(target)?, COMMAND)
}

/// The whole file.
fn counters(target: &Target) -> Option<Vec<u8>> {
    let name = target.own_pid.to_string();
    fs::read_dir(target.reach(Path::new("/tmp")))
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

/// The data of a counter, from where it begins.
fn data<'b>(bytes: &'b [u8], counter: &[u8]) -> Option<&'b [u8]> {
    let name = bytes
        .windows(counter.len())
        .position(|window| window == counter)?;
    let entry = name.checked_sub(HEADER)?;
    let field = bytes.get(entry + DATA_OFFSET..)?.first_chunk::<4>()?;
    let data = entry.checked_add(u32::from_ne_bytes(*field) as usize)?;
    bytes.get(data..)
}

/// The first digit of the counter, as true or false.
fn capability(bytes: &[u8]) -> Option<bool> {
    match data(bytes, COUNTER)?.first()? {
        b'1' => Some(true),
        b'0' => Some(false),
        _ => None,
    }
}

/// A text, which ends with NUL.
fn text(bytes: &[u8], counter: &[u8]) -> Option<String> {
    let data = data(bytes, counter)?;
    let end = data.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(data.get(..end)?);
    (!text.is_empty()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(digit: u8) -> Vec<u8> {
        let mut bytes = vec![7; 13];
        let data = HEADER + COUNTER.len() + 1;
        for field in [data as u32 + 64, HEADER as u32, 64, 0, data as u32] {
            bytes.extend_from_slice(&field.to_ne_bytes());
        }
        bytes.extend_from_slice(COUNTER);
        bytes.push(0);
        bytes.push(digit);
        bytes
    }

    #[test]
    fn the_first_digit_counts_and_damage_does_no_harm() {
        assert_eq!(capability(&file(b'1')), Some(true));
        assert_eq!(capability(&file(b'0')), Some(false));
        assert_eq!(capability(&file(0)), None);
        let whole = file(b'1');
        for length in 0..whole.len() {
            assert_eq!(capability(&whole[..length]), None, "cut to {length}");
        }
        assert_eq!(capability(COUNTER), None);
    }
}
