//! A profile as a whole: its head, its threads one after the other, and its end.

use std::io::Write;

use serde_json::json;

use crate::error::FirefoxError;
use crate::thread::{Category, EVENT_TYPE, Thread};

/// The version of the format.
const VERSION: u32 = 55;

/// The head of a profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name of the process for readers.
    pub process: String,
    /// The process id.
    pub pid: u32,
    /// The time to which all times are relative, in milliseconds since 1970.
    pub start_ms: f64,
    /// The typical distance of samples in milliseconds. The profiler does not draw shorter times.
    pub interval_ms: f64,
}

/// Writes a profile. The output is complete after [`ProfileWriter::finish`].
pub struct ProfileWriter<W: Write> {
    to: W,
    profile: Profile,
    threads: usize,
}

impl<W: Write> ProfileWriter<W> {
    /// Writes the head.
    pub fn begin(mut to: W, profile: Profile) -> Result<ProfileWriter<W>, FirefoxError> {
        let categories = Category::ALL.map(
            |(name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }),
        );
        let meta = json!({
            "version": 24,
            "preprocessedProfileVersion": VERSION,
            "product": "Veneer",
            "interval": profile.interval_ms,
            "startTime": profile.start_ms,
            "processType": 0,
            "stackwalk": 0,
            "debug": false,
            "symbolicated": true,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
            "categories": categories,
            "markerSchema": [{
                "name": EVENT_TYPE,
                "display": ["marker-chart", "marker-table", "timeline-overview"],
                "chartLabel": "{marker.data.text}",
                "tooltipLabel": "{marker.name}",
                "tableLabel": "{marker.data.text}",
                "fields": [{ "key": "text", "label": "Details", "format": "string", "searchable": true }],
            }],
            "pausedRanges": [],
            "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
            "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
        });
        write!(
            to,
            r#"{{"meta":{meta},"libs":[],"pages":[],"profilerOverhead":[],"counters":[],"threads":["#
        )?;
        Ok(ProfileWriter {
            to,
            profile,
            threads: 0,
        })
    }

    /// Writes a thread. The first one is shown as the main thread.
    pub fn thread(&mut self, thread: &Thread) -> Result<(), FirefoxError> {
        if self.threads > 0 {
            writeln!(self.to, ",")?;
        }
        let process = (self.profile.process.as_str(), self.profile.pid);
        let columns = thread.columns(process, self.threads == 0);
        serde_json::to_writer(&mut self.to, &columns)?;
        self.threads += 1;
        Ok(())
    }

    /// Writes the end.
    pub fn finish(mut self) -> Result<(), FirefoxError> {
        writeln!(self.to, "]}}")?;
        self.to.flush()?;
        Ok(())
    }
}
