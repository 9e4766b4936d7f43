//! The file with the facts about armed classes, beside the data directory.
//! `veneer_protocol::data::ClassFacts` documents the file.
//!
//! The threads that prepare classes and the thread that ends the JVM write.

use crate::data::append_file::AppendFile;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use veneer_names::MethodId;
use veneer_protocol::data::{ClassFacts, class_facts_path};

/// The open file.
pub struct ClassFactsFile {
    file: Mutex<AppendFile>,
    /// The written classes, by the id of their first method.
    written: Mutex<HashSet<MethodId>>,
}

impl ClassFactsFile {
    /// Creates the file for the JVM whose data directory is `own`.
    pub fn create(own: &Path) -> io::Result<ClassFactsFile> {
        Ok(ClassFactsFile {
            file: Mutex::new(AppendFile::create(&class_facts_path(own))?),
            written: Mutex::default(),
        })
    }

    /// Whether a class is written. The id is that of its first method.
    pub fn has(&self, id: MethodId) -> bool {
        self.written.lock().contains(&id)
    }

    /// Writes a class, unless another thread has written it meanwhile.
    pub fn append(&self, id: MethodId, facts: &ClassFacts) -> io::Result<()> {
        if !self.written.lock().insert(id) {
            return Ok(());
        }
        let line = serde_json::to_string(facts)?;
        self.file.lock().append((line + "\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;
    use veneer_protocol::data::read_class_facts;

    #[test]
    fn each_class_is_written_once() {
        let scratch = ScratchDirectory::new();
        let own = scratch.join("4711");
        let file = ClassFactsFile::create(&own).expect("a file");
        let class = |name: &str| ClassFacts {
            name: name.into(),
            ..ClassFacts::default()
        };
        for (id, name) in [(1, "a.B"), (5, "a.C"), (1, "a.B")] {
            file.append(MethodId(id), &class(name)).expect("room");
        }
        assert!(file.has(MethodId(5)) && !file.has(MethodId(2)));
        let found = read_class_facts(&own).expect("the file").classes;
        assert_eq!(found, [class("a.B"), class("a.C")]);
    }
}
