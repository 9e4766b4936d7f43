//! The event log: drained events on disk, so that they outlive a killed process.
//!
//! The log has two files of bounded size ([`MAX_EVENT_LOG_BYTES`] bytes). The agent writes one file
//! until it is full, and then empties and writes the other one. The thread that drains the ring
//! buffers calls this file under the lock of [`crate::data::rings::Rings`].

use crate::data::append_file::AppendFile;
use std::io;
use std::path::{Path, PathBuf};
use veneer_protocol::data::{EVENT_LOG_FILES, MAX_EVENT_LOG_BYTES, segment_header};

/// The writer of the event log in one data directory.
pub struct EventLog {
    directory: PathBuf,
    /// The most bytes of each of the two files.
    max_file_bytes: u64,
    /// The file that is being written; `None` before the first event.
    file: Option<AppendFile>,
    /// The number of files begun so far.
    number: u64,
    /// The first error of the current series of failures, until the caller has taken it.
    unreported_error: Option<io::Error>,
    /// Whether the last write failed.
    is_failing: bool,
}

impl EventLog {
    /// Creates a log without files. The first event creates the first file.
    pub fn create(directory: &Path) -> EventLog {
        EventLog::with_limit(directory, MAX_EVENT_LOG_BYTES)
    }

    fn with_limit(directory: &Path, max_file_bytes: u64) -> EventLog {
        EventLog {
            directory: directory.to_owned(),
            max_file_bytes,
            file: None,
            number: 0,
            unreported_error: None,
            is_failing: false,
        }
    }

    /// Appends records, all or none. Events that do not fit on the disk remain in memory only.
    pub fn write(&mut self, records: &[u8]) {
        let result = self.append(records);
        match result {
            Ok(()) => self.is_failing = false,
            Err(error) => {
                if !self.is_failing {
                    self.unreported_error = Some(error);
                }
                self.is_failing = true;
            }
        }
    }

    fn append(&mut self, records: &[u8]) -> io::Result<()> {
        let has_room = |file: &AppendFile| file.len() + records.len() as u64 <= self.max_file_bytes;
        if self.file.as_ref().is_none_or(|file| !has_room(file)) {
            let number = self.number + 1;
            let name = EVENT_LOG_FILES[number as usize % EVENT_LOG_FILES.len()];
            let mut next = AppendFile::create(&self.directory.join(name))?;
            next.append(&segment_header(number))?;
            self.number = number;
            self.file = Some(next);
        }
        match &mut self.file {
            Some(file) => file.append(records),
            None => Ok(()),
        }
    }

    /// Returns the error of the first failed write since the last successful one. Each series of
    /// failures is returned once.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.unreported_error.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::{ScratchDirectory, in_own_process, limit_file_size};
    use veneer_protocol::data::{append_event_record, read_segment};

    /// The record of an event whose integer value is `value`.
    fn record(position: u64, value: i64) -> Vec<u8> {
        let mut event = vec![0; 48];
        event[32..40].copy_from_slice(&1_u64.to_ne_bytes());
        event[40..48].copy_from_slice(&value.to_ne_bytes());
        let mut bytes = Vec::new();
        append_event_record(&mut bytes, 3, position, &event);
        bytes
    }

    fn read(directory: &ScratchDirectory, n: usize) -> (u64, usize, bool) {
        let bytes = std::fs::read(directory.join(EVENT_LOG_FILES[n])).unwrap_or_default();
        let (number, events, torn) = read_segment(&bytes);
        (number, events.len(), torn)
    }

    /// A size of files at which a test ends soon, also under Miri.
    const TEST_FILE_BYTES: u64 = 4096;

    #[test]
    fn a_log_has_files_of_the_size_that_the_protocol_states() {
        let directory = ScratchDirectory::new();
        let log = EventLog::create(directory.path());
        assert_eq!(log.max_file_bytes, MAX_EVENT_LOG_BYTES);
    }

    #[test]
    fn a_full_file_is_followed_by_the_other_one() {
        let directory = ScratchDirectory::new();
        let mut log = EventLog::with_limit(directory.path(), TEST_FILE_BYTES);
        assert!(
            std::fs::read_dir(directory.path())
                .expect("a directory")
                .next()
                .is_none()
        );
        let one = record(0, 1);
        let batch = one.repeat(TEST_FILE_BYTES as usize / 2 / one.len() + 1);
        let events = batch.len() / one.len();
        log.write(&batch);
        assert_eq!(
            (read(&directory, 0), read(&directory, 1)),
            ((0, 0, false), (1, events, false))
        );
        // The second batch does not fit into the first file.
        log.write(&batch);
        assert_eq!(
            (read(&directory, 0), read(&directory, 1)),
            ((2, events, false), (1, events, false))
        );
        // The third batch overwrites the oldest file.
        log.write(&batch);
        assert_eq!(
            (read(&directory, 0), read(&directory, 1)),
            ((2, events, false), (3, events, false))
        );
        assert!(log.take_error().is_none());
    }

    #[test]
    fn each_series_of_failures_is_reported_once() {
        let directory = ScratchDirectory::new();
        let missing = directory.join("missing");
        let mut log = EventLog::with_limit(&missing, TEST_FILE_BYTES);
        log.write(&record(0, 1));
        log.write(&record(48, 2));
        let error = log.take_error().expect("an error");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        log.write(&record(96, 3));
        assert!(log.take_error().is_none(), "the same series");
        std::fs::create_dir(&missing).expect("a directory");
        log.write(&record(144, 4));
        let bytes = std::fs::read(missing.join(EVENT_LOG_FILES[1])).expect("the file");
        let (_, events, torn) = read_segment(&bytes);
        assert_eq!((events.len(), torn), (1, false));
        assert!(log.take_error().is_none());
        // A new series begins: the second file cannot be created.
        std::fs::create_dir(missing.join(EVENT_LOG_FILES[0])).expect("a directory in the way");
        log.write(&vec![0; TEST_FILE_BYTES as usize]);
        assert!(log.take_error().is_some());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no process")]
    fn a_full_disk_leaves_whole_records_only() {
        let name = "data::event_log::tests::a_full_disk_leaves_whole_records_only";
        in_own_process(name, || {
            let directory = ScratchDirectory::new();
            let mut log = EventLog::create(directory.path());
            let length = record(0, 0).len() as u64;
            limit_file_size(16 + 2 * length + length / 2);
            for n in 0..5 {
                log.write(&record(48 * n, n as i64));
            }
            assert_eq!(read(&directory, 1), (1, 2, false));
            assert!(log.take_error().is_some());
            limit_file_size(u64::MAX);
            log.write(&record(48 * 5, 5));
            assert_eq!(read(&directory, 1), (1, 3, false));
            assert!(log.take_error().is_none());
        });
    }
}
