//! The parsers of argument values that several commands share.

use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;

use clap::builder::TypedValueParser;
use veneer_protocol::{AddressError, loopback_address};

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "a number of seconds, such as 10 or 0.5")?;
    if (0.05..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("from 0.05 to 86400 seconds".into())
    }
}

/// Resolves the address of any machine. The prefix `tcp://` is optional.
pub(super) fn resolve_host(text: &str) -> Result<SocketAddr, String> {
    let plain = text.strip_prefix("tcp://").unwrap_or(text);
    let mut found = plain.to_socket_addrs().map_err(|error| error.to_string())?;
    found.next().ok_or_else(|| "no such machine".into())
}

pub(super) fn address(text: &str) -> Result<SocketAddr, AddressError> {
    loopback_address(text)
}

/// Valid process ids. The largest `pid_max` that Linux accepts is 2²².
pub(super) const PIDS: RangeInclusive<u32> = 1..=1 << 22;

pub(super) fn pid() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(i64::from(*PIDS.start())..=i64::from(*PIDS.end()))
}
