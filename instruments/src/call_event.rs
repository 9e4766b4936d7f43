//! Events that a trace records by code at calls, because JVMTI does not report them: threads that park,
//! sleep, and wake other threads.

use std::fmt;

/// A kind of event that is a call of a method of the JDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallEventKind {
    /// `LockSupport` parks a thread.
    Park,
    /// `LockSupport` unparks a thread.
    Unpark,
    /// A thread sleeps in `Thread.sleep`.
    Sleep,
    /// `Object.notify` or `Object.notifyAll` is called.
    Notify,
}

impl CallEventKind {
    /// All kinds, in the order of their documentation.
    pub const ALL: [CallEventKind; 4] = [
        CallEventKind::Park,
        CallEventKind::Unpark,
        CallEventKind::Sleep,
        CallEventKind::Notify,
    ];

    /// The name in options and filters, and in the plan's events of this kind.
    pub const fn name(self) -> &'static str {
        match self {
            CallEventKind::Park => "park",
            CallEventKind::Unpark => "unpark",
            CallEventKind::Sleep => "sleep",
            CallEventKind::Notify => "notify",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<CallEventKind> {
        CallEventKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

impl fmt::Display for CallEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VmEventKind;

    #[test]
    fn every_kind_is_found_by_its_name_which_no_event_of_the_jvm_has() {
        for kind in CallEventKind::ALL {
            assert_eq!(CallEventKind::named(kind.name()), Some(kind));
            assert_eq!(VmEventKind::named(kind.name()), None);
        }
        assert_eq!(CallEventKind::named("gc"), None);
    }
}
