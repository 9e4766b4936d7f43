//! The data directory of a JVM: what the agent leaves there, so that it can be read after the JVM is gone.
//!
//! ```text
//!   DIR/<pid>/catalogue     which counter and which log point stands where; a record a line, checksummed
//!             counters.bin  the counters, one copy a thread; mapped, so they outlive a killed process
//!             events.bin    a ring of events for each thread, and figures of each log point; mapped
//!             drained.0/.1  events that the agent has taken out of the rings, the newest 16 MiB at least
//! ```
//!
//! All of it is written by one process, which holds a lock (`flock`) on the catalogue as long as it lives. A killed process
//! leaves what it had stored: stores into a mapping belong to the file at once. A machine that loses its power may lose more.

mod catalogue;
mod checksum;
mod event;
mod layout;
mod spill;

pub use catalogue::{Catalogue, Record, Recorded, Stand, Standing, encode, read_catalogue};
pub use event::{Drained, Value, decode};
pub use layout::{
    CATALOGUE, COUNTERS, EVENTS, ROTATED, Rings, SEGMENT, Shards, TALLIES, is_data_directory,
};
pub use spill::{Spilled, read_segment, segment_header, spill};

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a data directory cannot be read.
#[derive(Debug, Error)]
pub enum DataError {
    /// There is nothing of the kind.
    #[error(
        "{0} holds no data of a JVM: name the directory given with --data, or one that `veneer run` told of"
    )]
    Nothing(PathBuf),
    /// A file is missing or may not be read.
    #[error("{path} cannot be read: {source}; the directory must be complete, and yours", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is shorter than the agent made it.
    #[error("{path} is cut short: {found} bytes of {expected}; copy the directory again, with all of its files", path = .path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes that it should have at least.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// A record is not what was written.
    #[error("{path} is damaged at record {record}: {reason}; what comes after it cannot be trusted", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The record's number, from 1.
        record: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Written by another version.
    #[error("{path} has format {found}, this command reads format {expected}; use the `veneer` of that version", path = .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The format that is read here.
        expected: u32,
    },
}
