//! The contexts in which tasks are submitted to other threads, in the file
//! [`SUBMISSIONS_FILE`] of a recording.

use crate::data::append_file::AppendFile;
use std::collections::HashMap;
use std::path::Path;
use veneer_traces::format::context_node::SUBMISSIONS_FILE;

/// The most contexts of submissions of a recording.
const MAX_SUBMISSIONS: usize = 1 << 20;

/// The contexts in which tasks were submitted.
#[derive(Default)]
pub(super) struct Submissions {
    /// The number of each context.
    numbers: HashMap<u64, u32>,
    file: Option<AppendFile>,
}

impl Submissions {
    /// The number of a context: a node in the lower half, and its thread in the upper half. `None` if
    /// there are too many, or if the file cannot be written.
    pub(super) fn number(&mut self, context: u64, directory: &Path) -> Option<u32> {
        if let Some(number) = self.numbers.get(&context) {
            return Some(*number);
        }
        if self.numbers.len() >= MAX_SUBMISSIONS {
            return None;
        }
        if self.file.is_none() {
            self.file = AppendFile::create(&directory.join(SUBMISSIONS_FILE)).ok();
        }
        // A reader finds the context of each number that a node has.
        let file = self.file.as_mut()?;
        file.append(&context.to_le_bytes()).ok()?;
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(context, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_traces::ContextTree;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no positioned writes")]
    fn each_context_has_one_number_and_one_entry_in_the_file() {
        let scratch = ScratchDirectory::new();
        let directory = scratch.join("");
        let mut submissions = Submissions::default();
        let numbers = [7 << 32 | 5, 0, 7 << 32 | 5, 8 << 32].map(|context| {
            let number = submissions.number(context, &directory);
            number.expect("there is room")
        });
        assert_eq!(numbers, [0, 1, 0, 2]);
        let read = ContextTree::read_submissions(&directory).expect("a file");
        let read: Vec<(u32, usize)> = read.iter().map(|one| (one.thread, one.node)).collect();
        assert_eq!(read, [(7, 5), (0, 0), (8, 0)]);
        let elsewhere = directory.join("missing");
        assert_eq!(Submissions::default().number(1, &elsewhere), None);
    }
}
