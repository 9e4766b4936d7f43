//! Events of the JVM that recorders write and that plans handle: contention, waits, collections,
//! classes, compilations and threads.

use std::fmt;

macro_rules! vm_event_kinds {
    ($($(#[$doc:meta])* $name:ident $text:literal;)*) => {
        /// A kind of event of the JVM.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum VmEventKind { $($(#[$doc])* $name,)* }

        impl VmEventKind {
            /// All kinds, in the order of their documentation.
            pub const ALL: &'static [VmEventKind] = &[$(VmEventKind::$name,)*];

            /// The name in plans, options and filters.
            pub const fn name(self) -> &'static str {
                match self { $(VmEventKind::$name => $text,)* }
            }
        }
    };
}

vm_event_kinds! {
    /// A thread is blocked at the entry of a monitor that another thread owns.
    Contended "contended";
    /// A thread waits in `Object.wait`.
    Wait "wait";
    /// A thread begins.
    ThreadStart "thread_start";
    /// A thread ends.
    ThreadEnd "thread_end";
    /// The application is stopped for a garbage collection.
    Collection "gc";
    /// A class is loaded.
    ClassLoad "class_load";
    /// A class is unloaded.
    ClassUnload "class_unload";
    /// The JIT compiler has compiled a method.
    Compile "compile";
    /// An object is allocated that the JVM samples: by default one in each 512 KiB of a thread.
    Allocate "allocate";
    /// A sampled object was collected. Asking for this kind also samples allocations.
    Free "free";
}

/// The kinds of events for which JVMTI has no event, with the reason and the alternative.
pub const UNAVAILABLE_VM_EVENTS: [(&str, &str); 5] = [
    (
        "deoptimise",
        "JVMTI has no event for it: record `jdk.Deoptimization` with Flight Recorder",
    ),
    (
        "notify",
        "JVMTI has no event for it: count `calls(\"java.lang.Object::notify\")`; `veneer trace --events` records it",
    ),
    (
        "park",
        "JVMTI has no event for it: count `calls(\"jdk.internal.misc.Unsafe::park\")` in `LockSupport`; `veneer trace --events` records it",
    ),
    (
        "unpark",
        "JVMTI has no event for it: count `calls(\"java.util.concurrent.locks.LockSupport::unpark\")`; `veneer trace --events` records it",
    ),
    (
        "sleep",
        "JVMTI has no event for it: time `calls(\"java.lang.Thread::sleep\")`; `veneer trace --events` records it",
    ),
];

impl VmEventKind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<VmEventKind> {
        VmEventKind::ALL.iter().copied().find(|k| k.name() == name)
    }
}

impl fmt::Display for VmEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of kinds of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmEventKinds(u32);

impl VmEventKinds {
    /// The set without a kind.
    pub const NONE: VmEventKinds = VmEventKinds(0);

    /// The set of these bits, as [`VmEventKinds::bits`] returns them.
    pub fn from_bits(bits: u32) -> VmEventKinds {
        VmEventKinds(bits)
    }

    /// The set as a number, with a bit for each kind.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether the set has a kind.
    pub fn contains(self, kind: VmEventKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// Whether the set has no kind.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds a kind.
    pub fn insert(&mut self, kind: VmEventKind) {
        self.0 |= 1 << kind as u32;
    }

    /// The kinds of both sets.
    #[must_use]
    pub fn union(self, other: VmEventKinds) -> VmEventKinds {
        VmEventKinds(self.0 | other.0)
    }

    /// The kinds of this set, in the order of [`VmEventKind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = VmEventKind> {
        let all = VmEventKind::ALL.iter().copied();
        all.filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<VmEventKind> for VmEventKinds {
    fn from_iter<T: IntoIterator<Item = VmEventKind>>(kinds: T) -> VmEventKinds {
        let mut set = VmEventKinds::NONE;
        kinds.into_iter().for_each(|kind| set.insert(kind));
        set
    }
}

/// An event of the JVM, as a plan sees it. A field that the event does not have is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmEvent {
    /// The kind of the event.
    pub kind: VmEventKind,
    /// The time of the event's beginning, by `System.nanoTime()`.
    pub time_ns: u64,
    /// The duration of a contention, a wait, a collection, or of the life of a sampled object.
    pub took_ns: Option<u64>,
    /// The name of the thread that was blocked, waited, began, ended, loaded the class, or allocated
    /// the object.
    pub thread: Option<String>,
    /// The class of the monitor's object or of the sampled object, or the class that was loaded,
    /// unloaded or compiled; dotted.
    pub class: Option<String>,
    /// The identity hash of the monitor's object.
    pub object: Option<u32>,
    /// The name of the thread that owned the monitor when the contention began.
    pub owner: Option<String>,
    /// The compiled method: its name and descriptor.
    pub method: Option<String>,
    /// The size of the compiled code or of the sampled object in bytes.
    pub bytes: Option<u64>,
    /// Whether the wait ended because its time was over.
    pub timed_out: Option<bool>,
    /// The number of events of this kind that were dropped before this one, because the queue of
    /// the plan thread was full.
    pub dropped: u64,
}

impl VmEvent {
    /// An event with a kind and a time, and no other field.
    pub fn new(kind: VmEventKind, time_ns: u64) -> VmEvent {
        VmEvent {
            kind,
            time_ns,
            took_ns: None,
            thread: None,
            class: None,
            object: None,
            owner: None,
            method: None,
            bytes: None,
            timed_out: None,
            dropped: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_kinds_that_were_inserted() {
        let set: VmEventKinds = [VmEventKind::Wait, VmEventKind::Collection]
            .into_iter()
            .collect();
        let names: Vec<&str> = set.iter().map(VmEventKind::name).collect();
        assert_eq!(names, ["wait", "gc"]);
        assert_eq!(VmEventKinds::from_bits(set.bits()), set);
        let one = VmEventKinds::from_iter([VmEventKind::Compile]);
        assert!(set.union(one).contains(VmEventKind::Compile));
        assert!(!set.contains(VmEventKind::Compile) && VmEventKinds::NONE.is_empty());
    }

    #[test]
    fn every_kind_is_found_by_its_name_and_an_unavailable_one_is_none() {
        for kind in VmEventKind::ALL {
            assert_eq!(VmEventKind::named(kind.name()), Some(*kind));
        }
        for (name, _) in UNAVAILABLE_VM_EVENTS {
            assert_eq!(VmEventKind::named(name), None);
        }
    }
}
