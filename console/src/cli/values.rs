//! The parsers of argument values that several commands share.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;

use clap::builder::TypedValueParser;
use thiserror::Error;
use veneer_protocol::{AddressError, loopback_address};

/// Why the value of an argument is not accepted. `clap` prints the argument and the value before it.
#[derive(Debug, Error)]
pub(super) enum ValueError {
    #[error("a number of seconds, such as 10 or 0.5")]
    NoSeconds,
    #[error("from 0.05 to 86400 seconds")]
    SecondsOutOfRange,
    #[error("0 seconds or more")]
    NegativeSeconds,
    /// The name of a machine cannot be resolved.
    #[error(transparent)]
    UnresolvedHost(#[from] io::Error),
    #[error("no such machine")]
    NoHost,
    #[error("write 1/N or 1/N@L2, where N is from 1 to 65536 and L2 is the first sampled level")]
    NoSample,
    #[error("write a number of bytes from 1K to 1G, such as 64K")]
    NoInterval,
    #[error("write NAME=VALUE")]
    NoSetting,
    #[error(
        "write entry, exits, loops, loop_exits, blocks, edges, line:N, f3, calls, calls:PATTERN, reads, reads:FIELD, writes, writes:FIELD, \
         array_reads, array_writes, allocations, monitor_enters, monitor_exits, throws, handlers, branches or switches"
    )]
    NoPoints,
    /// A number that is no process id could also be meant as the name of a file.
    #[error(
        "a process id is from {} to {}; write ./{number} for a file of that name",
        PIDS.start(),
        PIDS.end()
    )]
    PidOutOfRange { number: String },
}

pub(super) fn seconds(text: &str) -> Result<f64, ValueError> {
    let seconds: f64 = text.parse().map_err(|_| ValueError::NoSeconds)?;
    if (0.05..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(ValueError::SecondsOutOfRange)
    }
}

/// Reads a number of seconds with or without the unit: `5`, `5s` or `500ms`.
pub(super) fn seconds_with_unit(text: &str) -> Result<f64, ValueError> {
    let (number, divisor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1000.0),
        (None, Some(number)) => (number, 1.0),
        (None, None) => (text, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| ValueError::NoSeconds)?;
    seconds(&(number / divisor).to_string())
}

/// Reads the duration of a call in seconds, which may be of any length.
pub(super) fn call_seconds(text: &str) -> Result<f64, ValueError> {
    let seconds: f64 = text.parse().map_err(|_| ValueError::NoSeconds)?;
    match seconds >= 0.0 && seconds.is_finite() {
        true => Ok(seconds),
        false => Err(ValueError::NegativeSeconds),
    }
}

/// Reads the duration of a call with or without a unit, in seconds: `0.5`, `5s`, `1ms` or `500us`.
pub(super) fn call_duration(text: &str) -> Result<f64, ValueError> {
    let units = [("us", 1e6), ("ms", 1e3), ("s", 1.0)];
    let unit = units
        .iter()
        .find_map(|(unit, divisor)| Some((text.strip_suffix(unit)?, divisor)));
    let (number, divisor) = unit.unwrap_or((text, &1.0));
    Ok(call_seconds(number.trim())? / divisor)
}

/// Resolves the address of any machine. The prefix `tcp://` is optional.
pub(super) fn resolve_host(text: &str) -> Result<SocketAddr, ValueError> {
    let plain = text.strip_prefix("tcp://").unwrap_or(text);
    plain.to_socket_addrs()?.next().ok_or(ValueError::NoHost)
}

pub(super) fn address(text: &str) -> Result<SocketAddr, AddressError> {
    loopback_address(text)
}

/// Valid process ids. The largest `pid_max` that Linux accepts is 2²².
pub(super) const PIDS: RangeInclusive<u32> = 1..=1 << 22;

pub(super) fn pid() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(i64::from(*PIDS.start())..=i64::from(*PIDS.end()))
}

#[cfg(test)]
mod tests {
    use super::call_duration;

    #[test]
    fn the_duration_of_a_call_has_a_unit_or_is_in_seconds() {
        for (text, seconds) in [("500us", 5e-4), ("1ms", 1e-3), ("2s", 2.0), ("0.5", 0.5)] {
            assert!(
                call_duration(text).is_ok_and(|found| (found - seconds).abs() < 1e-12),
                "{text}"
            );
        }
        for text in ["", "ms", "-1ms", "1m", "1 h"] {
            assert!(call_duration(text).is_err(), "{text}");
        }
    }
}
