//! Events of the JVM that belong to no thread of the application: each kind of thread of the JVM
//! has an events file.

use super::Recorder;
use crate::data::recorder::recorded_thread::RecordedThread;
use veneer_instruments::{VmEventKind, VmEventKinds};
use veneer_traces::format::word::kind;
use veneer_traces::writer::ArgumentValue;

/// A thread of the JVM with an events file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JvmTrack {
    /// The thread that stops the application for collections.
    Collector,
    /// The thread on which HotSpot reports compiled methods and unloaded classes.
    Service,
    /// The thread on which HotSpot reports collected objects.
    Freed,
}

impl JvmTrack {
    const ALL: [JvmTrack; 3] = [JvmTrack::Collector, JvmTrack::Service, JvmTrack::Freed];

    /// The name of the thread in traces.
    fn name(self) -> &'static str {
        match self {
            JvmTrack::Collector => "JVM: collections",
            JvmTrack::Service => "JVM: compilations and unloaded classes",
            JvmTrack::Freed => "JVM: freed objects",
        }
    }

    /// Whether a recording of these kinds needs the file.
    fn is_needed(self, kinds: VmEventKinds) -> bool {
        match self {
            JvmTrack::Collector => kinds.contains(VmEventKind::Collection),
            JvmTrack::Service => {
                kinds.contains(VmEventKind::Compile) || kinds.contains(VmEventKind::ClassUnload)
            }
            JvmTrack::Freed => kinds.contains(VmEventKind::Free),
        }
    }
}

impl Recorder {
    /// Creates the events files that the current recording needs for these kinds. Called before
    /// the events are enabled, so that no file is created while the application is stopped.
    pub fn open_jvm_tracks(&self, kinds: VmEventKinds) {
        for track in JvmTrack::ALL.into_iter().filter(|one| one.is_needed(kinds)) {
            let thread = RecordedThread {
                java_id: 0,
                name: track.name().into(),
                group: "system".into(),
            };
            let opened = self.open_track(self.active(), thread, 0);
            // Several threads of the JVM may write to the file, so it has no processor times.
            *self.jvm[track as usize].lock() = opened.map(|(track, _)| track);
        }
    }

    /// A collection stops the application.
    pub fn collection_begins(&self, now: u64) {
        if let Some(track) = self.jvm[JvmTrack::Collector as usize].lock().as_mut() {
            track.close_blocked(now, &[]);
            track.write(kind::COLLECTION, now, 0, &[]);
            track.blocked = Some(track.writer.depth());
        }
    }

    /// The application continues after a collection.
    pub fn collection_ends(&self, now: u64) {
        if let Some(track) = self.jvm[JvmTrack::Collector as usize].lock().as_mut() {
            track.close_blocked(now, &[]);
        }
    }

    /// The code of a method was installed. JVMTI reports no beginning, so the node is empty.
    pub fn method_compiled(&self, now: u64, method: (&str, &str, &str), bytes: u64) {
        let Some(frame) = self.name(|names| names.frame(method)) else {
            return;
        };
        let bytes = ArgumentValue::Int(i64::try_from(bytes).unwrap_or(i64::MAX));
        if let Some(track) = self.jvm[JvmTrack::Service as usize].lock().as_mut() {
            track.write(kind::COMPILATION, now, frame, &[bytes]);
            track.write(kind::EXIT, now, 0, &[]);
        }
    }

    /// A sampled object was collected. `life` is the time since its allocation in nanoseconds.
    pub fn object_freed(&self, now: u64, class: &str, bytes: u64, life: u64) {
        let Some(class) = self.name(|names| names.string(class)) else {
            return;
        };
        let number = |value| ArgumentValue::Int(i64::try_from(value).unwrap_or(i64::MAX));
        if let Some(track) = self.jvm[JvmTrack::Freed as usize].lock().as_mut() {
            track.write(
                kind::FREED,
                now,
                class.into(),
                &[number(bytes), number(life)],
            );
        }
    }

    /// A class was unloaded.
    pub fn class_unloaded(&self, now: u64, class: &str) {
        let Some(class) = self.name(|names| names.string(class)) else {
            return;
        };
        if let Some(track) = self.jvm[JvmTrack::Service as usize].lock().as_mut() {
            track.write(kind::CLASS_UNLOAD, now, class.into(), &[]);
        }
    }
}
