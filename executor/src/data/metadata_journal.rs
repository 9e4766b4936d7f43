//! The writer of the metadata journal (file `catalogue` of the data directory, see
//! `veneer_protocol::data`): the record of each attached instrument, patch and problem.
//!
//! The agent writes a record before the event that it describes can happen: the points of an
//! instrument before their first count. Any thread of the agent, and an application thread that
//! loads a class, may append; a mutex orders them.
//!
//! If the disk is full, records wait in memory and are written before the next record. If more than
//! [`MAX_WAITING_BYTES`] wait, the journal is closed, because a journal with a hole would mislead
//! its reader more than a journal that ends early. **Invariant:** the file is a prefix of the
//! sequence of appended records.

use crate::data::append_file::AppendFile;
use parking_lot::Mutex;
use std::io;
use std::path::Path;
use veneer_protocol::data::{JOURNAL_FILE, Record, encode_record};

/// The most bytes of records that wait for room on the disk.
const MAX_WAITING_BYTES: usize = 32 << 20;

struct JournalState {
    file: AppendFile,
    /// Encoded records that could not be written yet, oldest first.
    waiting: Vec<u8>,
    /// Whether too many bytes were waiting at some time. Nothing is written from then on.
    is_closed: bool,
}

/// The open journal of this JVM.
pub struct MetadataJournal(Mutex<JournalState>);

impl MetadataJournal {
    /// Creates the file, locks it until the process ends, and writes the first record.
    pub fn create(directory: &Path, first: &Record) -> io::Result<MetadataJournal> {
        let mut file = AppendFile::create(&directory.join(JOURNAL_FILE))?;
        file.lock()?;
        file.append(&encode_record(first)?)?;
        Ok(MetadataJournal(Mutex::new(JournalState {
            file,
            waiting: Vec::new(),
            is_closed: false,
        })))
    }

    /// Appends records, after those that wait for room. An empty slice only retries the latter.
    ///
    /// # Errors
    /// The records could not be written. They wait, unless the journal is closed.
    pub fn append(&self, records: &[Record]) -> io::Result<()> {
        self.append_within(records, MAX_WAITING_BYTES)
    }

    fn append_within(&self, records: &[Record], max_waiting: usize) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in records {
            lines.extend(encode_record(record)?);
        }
        let mut state = self.0.lock();
        let state = &mut *state;
        if state.is_closed {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        state.waiting.append(&mut lines);
        if state.waiting.is_empty() {
            return Ok(());
        }
        let written = state.file.append(&state.waiting);
        match &written {
            Ok(()) => state.waiting = Vec::new(),
            Err(_) if state.waiting.len() > max_waiting => {
                state.is_closed = true;
                state.waiting = Vec::new();
            }
            Err(_) => {}
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::{ScratchDirectory, in_own_process, limit_file_size};
    use veneer_protocol::Problem;
    use veneer_protocol::data::{JournalContent, read_journal};

    fn journal(directory: &ScratchDirectory) -> MetadataJournal {
        let first = Record::first_record(7, "VM".into(), "25".into(), 1, 2);
        MetadataJournal::create(directory.path(), &first).expect("a journal")
    }

    fn problem(message: &str) -> [Record; 1] {
        [Record::Problem(Problem {
            plan: String::new(),
            message: message.into(),
        })]
    }

    fn read(directory: &ScratchDirectory) -> JournalContent {
        read_journal(directory.path()).expect("a journal")
    }

    fn messages(directory: &ScratchDirectory) -> Vec<String> {
        let problems = read(directory).problems.into_iter();
        problems.map(|problem| problem.message).collect()
    }

    #[test]
    fn records_are_read_in_the_order_in_which_they_were_appended() {
        let directory = ScratchDirectory::new();
        let journal = journal(&directory);
        journal.append(&problem("one")).expect("room");
        journal.append(&[]).expect("nothing to do");
        journal.append(&problem("two")).expect("room");
        assert_eq!((read(&directory).pid, read(&directory).torn), (7, false));
        assert_eq!(messages(&directory), ["one", "two"]);
    }

    #[test]
    fn a_torn_end_is_recognised_and_hides_no_complete_record() {
        let directory = ScratchDirectory::new();
        let journal = journal(&directory);
        journal.append(&problem("one")).expect("room");
        let path = directory.join(JOURNAL_FILE);
        let complete = std::fs::read(&path).expect("the file").len() as u64;
        journal.append(&problem("two")).expect("room");
        let file = std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("the file");
        file.set_len(complete + 20).expect("truncated");
        assert!(read(&directory).torn);
        assert_eq!(messages(&directory), ["one"]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no process")]
    fn records_wait_for_room_and_are_written_in_order() {
        let name = "data::metadata_journal::tests::records_wait_for_room_and_are_written_in_order";
        in_own_process(name, || {
            let directory = ScratchDirectory::new();
            let journal = journal(&directory);
            let length = std::fs::metadata(directory.join(JOURNAL_FILE))
                .expect("the file")
                .len();
            limit_file_size(length + 10);
            assert!(journal.append(&problem("one")).is_err());
            assert!(journal.append(&problem("two")).is_err());
            assert!(!read(&directory).torn);
            assert_eq!(messages(&directory), [""; 0]);
            limit_file_size(u64::MAX);
            journal.append(&[]).expect("room");
            assert_eq!(messages(&directory), ["one", "two"]);
        });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no process")]
    fn a_journal_with_too_much_waiting_ends_early_and_has_no_hole() {
        let name = "data::metadata_journal::tests::a_journal_with_too_much_waiting_ends_early_and_has_no_hole";
        in_own_process(name, || {
            let directory = ScratchDirectory::new();
            let journal = journal(&directory);
            journal.append(&problem("one")).expect("room");
            let length = std::fs::metadata(directory.join(JOURNAL_FILE))
                .expect("the file")
                .len();
            limit_file_size(length);
            assert!(
                journal
                    .append_within(&problem(&"two".repeat(10)), 150)
                    .is_err()
            );
            assert!(
                journal
                    .append_within(&problem(&"three".repeat(40)), 150)
                    .is_err()
            );
            limit_file_size(u64::MAX);
            let closed = journal.append(&problem("four")).expect_err("closed");
            assert_eq!(closed.raw_os_error(), Some(libc::ENOSPC));
            assert_eq!(messages(&directory), ["one"]);
        });
    }
}
