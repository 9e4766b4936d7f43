//! The data directory of a JVM: files from which counts and events can be read after the JVM has
//! ended, even if it was killed.
//!
//! ```text
//!   DIR/<pid>/catalogue     metadata journal: the point of each counter and log point;
//!                           one record per line, with a checksum
//!             counters.bin  the counters, one shard per thread; mapped
//!             events.bin    a ring buffer of events per thread, and metrics per log point; mapped
//!             drained.0/.1  event log: events that the agent has drained from the ring buffers;
//!                           at least the newest 16 MiB
//! ```
//!
//! One process writes the whole directory. It holds a lock (`flock`) on `catalogue` as long as it
//! lives. A store into a mapped file belongs to the file at once, so the data of a killed process
//! is complete. If the machine loses power, newer data may be lost.

mod beside;
mod class_facts;
mod complete_calls;
mod event;
mod event_log;
mod layout;
mod metadata_journal;

pub use class_facts::{
    ClassFacts, MethodFacts, RecordedClasses, class_facts_path, directories_with_class_facts,
    read_class_facts,
};
pub use complete_calls::{
    COUNTED_CLASSES_FILE, CompleteCalls, CountedClassRecord, CountedMethodRecord,
    CountedSiteRecord, PAIR_BYTES, PAIRS, PAIRS_FILE, RECEIVERS_FILE, ReceiverPair, ReceiverRecord,
    SLOTS as COMPLETE_CALL_SLOTS, complete_calls_path, directories_with_complete_calls,
    read_complete_calls,
};
pub use event::{DecodedEvent, decode_event};
pub use event_log::{EventRecord, append_event_record, read_segment, segment_header};
pub use layout::{
    COUNTERS_FILE, EVENT_LOG_FILES, EVENTS_FILE, JOURNAL_FILE, MAX_EVENT_LOG_BYTES, RingLayout,
    ShardLayout, TALLIES_FILE, is_data_directory,
};
pub use metadata_journal::{
    JournalContent, PointRecord, Record, RecordedInstrument, RecordedPoint, RecordedSlot,
    encode_record, read_journal,
};

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a data directory cannot be read. The text is the problem, a separator and the remedy.
#[derive(Debug, Error)]
#[error("{}{}{}", self.problem(), self.separator(), self.remedy())]
pub enum DataError {
    /// The directory has no metadata journal.
    NoData(PathBuf),
    /// A file is missing, or this user may not read it.
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// A file is shorter than its format requires.
    Truncated {
        /// The path of the file.
        path: PathBuf,
        /// The least number of bytes that the file must have.
        expected: u64,
        /// The number of bytes that the file has.
        found: u64,
    },
    /// A record differs from the record that the agent wrote.
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The record's number; the first record has number 1.
        record: u64,
        /// The damage of the record.
        reason: RecordError,
    },
    /// Another version of Veneer wrote the directory in another format.
    Format {
        /// The path of the directory.
        path: PathBuf,
        /// The format of the directory.
        found: u32,
        /// The format that this crate reads.
        expected: u32,
    },
}

impl DataError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            DataError::NoData(path) => format!("{} holds no data of a JVM", path.display()),
            DataError::Unreadable { path, source } => {
                format!("{} cannot be read: {source}", path.display())
            }
            DataError::Truncated {
                path,
                expected,
                found,
            } => format!(
                "{} is cut short: {found} bytes of {expected}",
                path.display()
            ),
            DataError::Damaged {
                path,
                record,
                reason,
            } => format!("{} is damaged at record {record}: {reason}", path.display()),
            DataError::Format {
                path,
                found,
                expected,
            } => format!(
                "{} has format {found}, this command reads format {expected}",
                path.display()
            ),
        }
    }

    /// An action of the user that solves the problem, or the consequence of the problem.
    pub fn remedy(&self) -> &'static str {
        match self {
            DataError::NoData(_) => {
                "name the directory given with --data, or one that `veneer run` told of"
            }
            DataError::Unreadable { .. } => "the directory must be complete, and yours",
            DataError::Truncated { .. } => "copy the directory again, with all of its files",
            DataError::Damaged { .. } => "what comes after it cannot be trusted",
            DataError::Format { .. } => "use the `veneer` of that version",
        }
    }

    /// The text between the problem and the remedy.
    fn separator(&self) -> &'static str {
        match self {
            DataError::NoData(_) => ": ",
            _ => "; ",
        }
    }
}

/// Why a record of the metadata journal is invalid.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The line is shorter than its checksum.
    #[error("it is too short for a record")]
    TooShort,
    /// The line does not begin with a checksum in hexadecimal digits.
    #[error("it does not begin with a checksum")]
    NoChecksum,
    /// The checksum differs from that of the line's text.
    #[error("its checksum does not fit")]
    WrongChecksum,
    /// The JSON text is not that of a record.
    #[error("it is not understood: {0}")]
    NotUnderstood(serde_json::Error),
    /// The first record is not the `run` record, which states the format.
    #[error("the first record is no `run`")]
    NoRun,
    /// A `run` record follows the first record.
    #[error("a second `run`")]
    SecondRun,
    /// No earlier record attaches the instrument with this number.
    #[error("it is about an instrument {0} that was never attached")]
    UnknownInstrument(veneer_measurements::InstrumentId),
    /// The data directory has no counter of this number.
    #[error("there is no counter {0}")]
    UnknownCounter(u32),
    /// No method can have a flow graph with this number of nodes.
    #[error("a method of {0} fragments")]
    TooManyFragments(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_its_problem_and_its_remedy() {
        let path = || PathBuf::from("/d");
        for (error, text) in [
            (
                DataError::NoData(path()),
                "/d holds no data of a JVM: name the directory given with --data, or one that `veneer run` told of",
            ),
            (
                DataError::Unreadable {
                    path: path(),
                    source: io::ErrorKind::PermissionDenied.into(),
                },
                "/d cannot be read: permission denied; the directory must be complete, and yours",
            ),
            (
                DataError::Truncated {
                    path: path(),
                    expected: 8,
                    found: 3,
                },
                "/d is cut short: 3 bytes of 8; copy the directory again, with all of its files",
            ),
            (
                DataError::Damaged {
                    path: path(),
                    record: 2,
                    reason: RecordError::SecondRun,
                },
                "/d is damaged at record 2: a second `run`; what comes after it cannot be trusted",
            ),
            (
                DataError::Format {
                    path: path(),
                    found: 3,
                    expected: 2,
                },
                "/d has format 3, this command reads format 2; use the `veneer` of that version",
            ),
        ] {
            assert_eq!(error.to_string(), text);
            assert!(text.starts_with(&error.problem()) && text.ends_with(error.remedy()));
        }
    }
}
