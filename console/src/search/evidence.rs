//! The common facts of the samples of a place: the holder of the monitor that they wait for, and the
//! library that they are in.

use std::collections::BTreeMap;

use veneer_client::thread_dump::DumpedFrame;
use veneer_search::cause::Cause;
use veneer_search::observation::Fact;
use veneer_search::place::MethodId;

/// The classes of trees in which the JDK keeps keys of a hash table that share a bucket.
const COLLISION_TREES: [&str; 2] = [
    "java.util.HashMap$TreeNode",
    "java.util.concurrent.ConcurrentHashMap$TreeBin",
];

/// The samples of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceEvidence {
    samples: u64,
    /// The places that held the monitor for which the place waited, with their samples.
    holders: BTreeMap<String, u64>,
    /// The methods of libraries that the place calls, and the classes in which they are.
    called: BTreeMap<String, u64>,
    classes: BTreeMap<String, u64>,
    /// The samples that search a tree of keys with one hash code.
    collisions: u64,
}

impl PlaceEvidence {
    /// Adds the frame that held the monitor in one sample, if the sample waited for one.
    pub fn add_holder(&mut self, holder: Option<&DumpedFrame>) {
        if let Some(holder) = holder {
            *self.holders.entry(place(holder)).or_default() += 1;
        }
    }

    /// Adds one sample with the frames of libraries inside the place, the innermost first.
    pub fn add_library(&mut self, frames: &[DumpedFrame]) {
        self.samples += 1;
        let is_in = |frame: &&DumpedFrame, package: &str| frame.class.starts_with(package);
        let innermost = frames.iter().find(|frame| !is_in(frame, "jdk.internal."));
        // The calls of method handles below a call site are no method that the line names.
        let called = frames
            .iter()
            .rfind(|frame| !is_in(frame, "java.lang.invoke."));
        if let (Some(innermost), Some(called)) = (innermost, called) {
            let method = format!("{}.{}", called.class, called.method);
            *self.called.entry(method).or_default() += 1;
            *self.classes.entry(innermost.class.clone()).or_default() += 1;
            let is_tree = |frame: &DumpedFrame| COLLISION_TREES.contains(&frame.class.as_str());
            self.collisions += u64::from(frames.iter().any(is_tree));
        }
    }

    /// Adds the samples of another place.
    pub fn merge(&mut self, other: &PlaceEvidence) {
        self.samples += other.samples;
        self.collisions += other.collisions;
        for (sum, all) in [
            (&mut self.holders, &other.holders),
            (&mut self.called, &other.called),
            (&mut self.classes, &other.classes),
        ] {
            for (name, samples) in all {
                *sum.entry(name.clone()).or_default() += samples;
            }
        }
    }

    /// Returns the facts about a line, or about a whole method.
    pub fn facts(&self, method: MethodId, line: Option<u32>) -> Vec<Fact> {
        let fact = |causes: &[Cause], source: &str, text: String| Fact {
            method: Some(method),
            line,
            causes: causes.to_vec(),
            source: source.to_owned(),
            text,
            locality: None,
        };
        let holder = self.holder().map(|place| {
            let text = format!("the monitor is held in {place}");
            fact(&[Cause::Monitor], "holder", text)
        });
        let library = self.library().map(|text| fact(&[], "library", text));
        let collisions = self.collisions().map(|text| fact(&[], "library", text));
        [holder, library, collisions]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns the place that held the monitor in most samples in which the place waited for it.
    fn holder(&self) -> Option<&str> {
        most(&self.holders).map(|(place, _)| place)
    }

    /// Returns a sentence about the library that the place calls, if at least half of the samples
    /// are in it.
    fn library(&self) -> Option<String> {
        let in_library: u64 = self.called.values().sum();
        let (method, _) = most(&self.called).filter(|_| 2 * in_library >= self.samples)?;
        let (class, samples) = most(&self.classes)?;
        Some(format!(
            "the line calls {method}; {samples} of {} samples are in {class}",
            self.samples
        ))
    }

    /// Returns a sentence about colliding hash codes, if at least half of the samples search a tree
    /// of keys that share a bucket.
    fn collisions(&self) -> Option<String> {
        (self.collisions > 0 && 2 * self.collisions >= self.samples).then(|| {
            format!(
                "{} of {} samples search keys with colliding hash codes",
                self.collisions, self.samples
            )
        })
    }
}

/// Returns the name with the most samples.
fn most(all: &BTreeMap<String, u64>) -> Option<(&str, u64)> {
    let most = all.iter().max_by_key(|(_, samples)| **samples);
    most.map(|(name, samples)| (name.as_str(), *samples))
}

/// Returns `Desk.audit (Desk.java:61)`.
fn place(frame: &DumpedFrame) -> String {
    let name = format!("{}.{}", frame.class, frame.method);
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{name} ({file}:{line})"),
        _ => name,
    }
}
