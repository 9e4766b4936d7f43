//! The names of a trace: strings, threads and methods, each written before the first event that
//! uses it.

use crate::data::append_file::with_file_size_signal_blocked;
use crate::data::recorder::recorded_thread::RecordedThread;
use std::collections::{HashMap, HashSet};
use veneer_protocol::data::ShardLayout;
use veneer_traces::NameRecord;
use veneer_traces::format::names::{FrameKind, FrameRecord, ThreadRecord};
use veneer_traces::format::word::MAX_SHORT_ID;
use veneer_traces::writer::NamesWriter;

/// The first id of methods that are not instrumented. Instrumented methods have the numbers of
/// their counters, which are smaller.
const FIRST_OTHER_FRAME: u64 = ShardLayout::SLOTS;
const _: () = assert!(FIRST_OTHER_FRAME < MAX_SHORT_ID);

/// The names that a recording has written.
pub struct TraceNames {
    writer: NamesWriter,
    strings: HashMap<String, u32>,
    /// The number of each named thread, by its Java id.
    threads: HashMap<u64, u32>,
    /// The threads that have an events file.
    with_file: HashSet<u32>,
    /// The number that the latest thread got.
    last_thread: u32,
    /// Methods that are not instrumented, by their text.
    frames: HashMap<String, u64>,
    /// The first error while names or files were written.
    pub problem: Option<String>,
}

impl TraceNames {
    /// The names that are written to this file.
    pub fn new(writer: NamesWriter) -> TraceNames {
        TraceNames {
            writer,
            strings: HashMap::new(),
            threads: HashMap::new(),
            with_file: HashSet::new(),
            last_thread: 0,
            frames: HashMap::new(),
            problem: None,
        }
    }

    /// Writes a record. Keeps the first error.
    pub fn write(&mut self, record: &NameRecord) {
        let written = with_file_size_signal_blocked(|| self.writer.write(record));
        if let Err(error) = written {
            self.problem.get_or_insert(error.to_string());
        }
    }

    /// The id of a string, from 1.
    pub fn string(&mut self, text: &str) -> u32 {
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let id = u32::try_from(self.strings.len() + 1).unwrap_or(u32::MAX);
        self.strings.insert(text.into(), id);
        self.write(&NameRecord::Text {
            id: id.into(),
            text: text.into(),
        });
        id
    }

    /// The id of a method that is not instrumented.
    pub fn frame(&mut self, (class, name, descriptor): (&str, &str, &str)) -> u64 {
        let text = format!("{class}.{name}{descriptor}");
        if let Some(id) = self.frames.get(&text) {
            return *id;
        }
        let id = FIRST_OTHER_FRAME + self.frames.len() as u64;
        self.frames.insert(text, id);
        self.write(&NameRecord::Frame(FrameRecord {
            id,
            kind: FrameKind::Method,
            class: class.into(),
            name: name.into(),
            descriptor: descriptor.into(),
            line: 0,
            probe: 0,
        }));
        id
    }

    /// The number of a thread that has a number already.
    pub fn known_thread(&self, java_id: u64) -> Option<u32> {
        self.threads.get(&java_id).copied()
    }

    /// The number of a thread, which need not have an events file.
    pub fn thread(&mut self, thread: RecordedThread) -> u32 {
        match self.known_thread(thread.java_id) {
            Some(number) => number,
            None => self.add_thread(thread, 0),
        }
    }

    /// The number of a thread for which the caller creates the events file. `os_id` is the thread's
    /// id in the operating system, or 0.
    pub fn thread_with_file(&mut self, thread: RecordedThread, os_id: u64) -> u32 {
        let known = self.known_thread(thread.java_id);
        let number = match known.filter(|number| !self.with_file.contains(number)) {
            Some(number) => {
                self.write_thread(number, thread, os_id);
                number
            }
            None => self.add_thread(thread, os_id),
        };
        self.with_file.insert(number);
        number
    }

    /// The number of threads that have an events file.
    pub fn file_count(&self) -> u32 {
        u32::try_from(self.with_file.len()).unwrap_or(u32::MAX)
    }

    /// Records that the events file of a thread could not be created.
    pub fn withdraw_file(&mut self, number: u32) {
        self.with_file.remove(&number);
    }

    fn add_thread(&mut self, thread: RecordedThread, os_id: u64) -> u32 {
        self.last_thread += 1;
        let number = self.last_thread;
        // Threads of the JVM that are not Java threads have the id 0.
        if thread.java_id != 0 {
            self.threads.insert(thread.java_id, number);
        }
        self.write_thread(number, thread, os_id);
        number
    }

    fn write_thread(&mut self, number: u32, thread: RecordedThread, os_id: u64) {
        self.write(&NameRecord::Thread(ThreadRecord {
            id: number,
            java_id: thread.java_id,
            os_id,
            name: thread.name,
            group: thread.group,
            parent: 0,
        }));
    }
}
