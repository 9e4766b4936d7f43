//! Drained events on the disk, so that they outlive a killed process: two files of bounded size that take turns.

use crate::data::append_file::Appendix;
use std::io;
use std::path::{Path, PathBuf};
use veneer_protocol::data::{ROTATED, SEGMENT, segment_header};

/// See the module documentation.
pub struct Spill {
    directory: PathBuf,
    /// The file that is written.
    file: Option<Appendix>,
    /// How many files have been begun.
    number: u64,
    /// What went wrong last and was not told yet.
    trouble: Option<io::Error>,
    /// Something went wrong and nothing went well since.
    failing: bool,
}

impl Spill {
    /// Files are made when the first event comes.
    pub fn create(directory: &Path) -> Spill {
        Spill {
            directory: directory.to_owned(),
            file: None,
            number: 0,
            trouble: None,
            failing: false,
        }
    }

    /// Appends records as a whole or not at all. Events that find no room stay in memory only.
    pub fn write(&mut self, records: &[u8]) {
        let result = self.append(records);
        match result {
            Ok(()) => self.failing = false,
            Err(error) => {
                if !self.failing {
                    self.trouble = Some(error);
                }
                self.failing = true;
            }
        }
    }

    fn append(&mut self, records: &[u8]) -> io::Result<()> {
        let room = |file: &Appendix| file.len() + records.len() as u64 <= SEGMENT;
        if self.file.as_ref().is_none_or(|file| !room(file)) {
            let number = self.number + 1;
            let name = ROTATED[number as usize % ROTATED.len()];
            let mut next = Appendix::create(&self.directory.join(name))?;
            next.append(&segment_header(number))?;
            self.number = number;
            self.file = Some(next);
        }
        match &mut self.file {
            Some(file) => file.append(records),
            None => Ok(()),
        }
    }

    /// See [`crate::data::rings::Rings::trouble`].
    pub fn trouble(&mut self) -> Option<io::Error> {
        self.trouble.take()
    }
}
