//! Observations about the state of a trace.

/// Anything in a trace that a reader could not use, with numbers. All are 0 for a complete trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Segments whose header is damaged, that belong to another thread or version, or that end in the
    /// middle of a word.
    pub damaged_segments: u64,
    /// Segments that are missing between others.
    pub missing_segments: u64,
    /// Events of kinds that this version does not know.
    pub unknown_kinds: u64,
    /// Arguments without an event before them.
    pub stray_arguments: u64,
    /// Ends of nodes that were not open.
    pub unmatched_exits: u64,
    /// Nodes that were still open when the trace ended, or when events were lost.
    pub open_nodes: u64,
    /// Events that name a frame that is not in the names file.
    pub unknown_frames: u64,
    /// Events that the recorder could not write.
    pub lost_events: u64,
    /// Calls that the recorder's filter left out.
    pub omitted_calls: u64,
    /// Lines of the names file that are damaged.
    pub damaged_names: u64,
}

impl Findings {
    /// Adds the findings of another part of the trace.
    pub fn add(&mut self, other: &Findings) {
        self.damaged_segments += other.damaged_segments;
        self.missing_segments += other.missing_segments;
        self.unknown_kinds += other.unknown_kinds;
        self.stray_arguments += other.stray_arguments;
        self.unmatched_exits += other.unmatched_exits;
        self.open_nodes += other.open_nodes;
        self.unknown_frames += other.unknown_frames;
        self.lost_events = self.lost_events.saturating_add(other.lost_events);
        self.omitted_calls = self.omitted_calls.saturating_add(other.omitted_calls);
        self.damaged_names += other.damaged_names;
    }

    /// The findings by name, in the order of the fields.
    pub fn list(&self) -> [(&'static str, u64); 10] {
        [
            ("damaged segments", self.damaged_segments),
            ("missing segments", self.missing_segments),
            ("events of unknown kinds", self.unknown_kinds),
            ("stray arguments", self.stray_arguments),
            ("unmatched exits", self.unmatched_exits),
            ("nodes without an end", self.open_nodes),
            ("unknown frames", self.unknown_frames),
            ("lost events", self.lost_events),
            ("omitted calls", self.omitted_calls),
            ("damaged names", self.damaged_names),
        ]
    }
}
