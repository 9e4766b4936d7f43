//! The catalogue of this JVM's data directory, appended as instruments come and go (`veneer_protocol::data`).
//!
//! A record is written before what it is about can happen: where an instrument stands, before its first count. Where the disk
//! is full, records wait in memory, and go before the next one; beyond [`WAITING`] bytes nothing more is written, since a
//! catalogue with a hole in it would be worse than one that ends early.

use crate::data::append_file::Appendix;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use veneer_protocol::data::{CATALOGUE, Record, encode};

/// Bytes of records that wait for room.
const WAITING: usize = 32 << 20;

struct State {
    file: Appendix,
    waiting: Vec<u8>,
    /// Too much was waiting.
    closed: bool,
}

/// See the module documentation.
pub struct Catalogue(Mutex<State>);

impl Catalogue {
    /// Makes the file, locks it, and writes the first record.
    pub fn create(directory: &Path, first: &Record) -> io::Result<Catalogue> {
        let mut file = Appendix::create(&directory.join(CATALOGUE))?;
        file.lock()?;
        file.append(&encode(first)?)?;
        Ok(Catalogue(Mutex::new(State {
            file,
            waiting: Vec::new(),
            closed: false,
        })))
    }

    /// Appends records. An error says that they wait (or, after too many, that they never will be written).
    pub fn append(&self, records: &[Record]) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in records {
            lines.extend(encode(record)?);
        }
        let mut state = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let state = &mut *state;
        if state.closed {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        state.waiting.append(&mut lines);
        if state.waiting.is_empty() {
            return Ok(());
        }
        let written = state.file.append(&state.waiting);
        match &written {
            Ok(()) => state.waiting = Vec::new(),
            Err(_) if state.waiting.len() > WAITING => {
                state.closed = true;
                state.waiting = Vec::new();
            }
            Err(_) => {}
        }
        written
    }
}
