//! Causes: the *why* axis, a tree of hypotheses.
//!
//! ```text
//!   time ─┬─ processor ─┬─ allocation
//!         │             ├─ exceptions
//!         │             ├─ class loading
//!         │             └─ interpreted
//!         ├─ waiting ───┬─ monitor      (synchronized)
//!         │             ├─ lock         (java.util.concurrent)
//!         │             ├─ sleep
//!         │             ├─ park         (queues, pools, conditions)
//!         │             ├─ collections  (pauses for garbage collections)
//!         │             └─ input-output ─┬─ file
//!         │                              └─ socket
//!         └─ statement                  (JDBC)
//! ```
//!
//! A probe measures a cause at a place only if its parent holds there, and a cause is reported only
//! if all its parents hold. Stack samples show causes without a further instrument (Fig. 5 of Brear et al., *Search
//! strategies for Java bottleneck location by dynamic instrumentation*, IEE Proc. Software, 2003).

use serde::{Deserialize, Serialize};

/// Why a thread spends time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// All time, whatever its cause.
    Time,
    /// Time in which the thread can run.
    Processor,
    /// Processor time that objects are allocated in.
    Allocation,
    /// Processor time that makes and throws exceptions.
    Exceptions,
    /// Processor time that loads and links classes.
    ClassLoading,
    /// Processor time of code that the JVM interprets.
    Interpreted,
    /// Time in which the thread cannot run.
    Waiting,
    /// Waiting to enter a monitor (`synchronized`) that another thread owns.
    Monitor,
    /// Waiting for a lock of `java.util.concurrent`.
    Lock,
    /// Sleeping (`Thread.sleep`).
    Sleep,
    /// Parked or waiting for a condition, a queue or a pool.
    Park,
    /// Stopped by the JVM for garbage collections.
    Collections,
    /// Waiting for input or output.
    InputOutput,
    /// Waiting for a file.
    File,
    /// Waiting for a socket.
    Socket,
    /// In a statement of a database (JDBC). A driver waits for the database, and a database inside
    /// the JVM computes; both are time of the statement.
    Statement,
}

/// All causes, each after its parent.
pub const CAUSES: [Cause; 16] = [
    Cause::Time,
    Cause::Processor,
    Cause::Allocation,
    Cause::Exceptions,
    Cause::ClassLoading,
    Cause::Interpreted,
    Cause::Waiting,
    Cause::Monitor,
    Cause::Lock,
    Cause::Sleep,
    Cause::Park,
    Cause::Collections,
    Cause::InputOutput,
    Cause::File,
    Cause::Socket,
    Cause::Statement,
];

impl Cause {
    /// Returns the more general cause. `Time` has none.
    pub fn parent(self) -> Option<Cause> {
        match self {
            Cause::Time => None,
            Cause::Processor | Cause::Waiting | Cause::Statement => Some(Cause::Time),
            Cause::Allocation | Cause::Exceptions | Cause::ClassLoading | Cause::Interpreted => {
                Some(Cause::Processor)
            }
            Cause::Monitor
            | Cause::Lock
            | Cause::Sleep
            | Cause::Park
            | Cause::Collections
            | Cause::InputOutput => Some(Cause::Waiting),
            Cause::File | Cause::Socket => Some(Cause::InputOutput),
        }
    }

    /// Returns the causes whose parent is this cause.
    pub fn children(self) -> impl Iterator<Item = Cause> {
        CAUSES.into_iter().filter(move |c| c.parent() == Some(self))
    }

    /// Returns whether time of this cause is also time of `general`.
    pub fn is_a(self, general: Cause) -> bool {
        let mut cause = Some(self);
        while let Some(c) = cause {
            if c == general {
                return true;
            }
            cause = c.parent();
        }
        false
    }

    /// Returns the name in options and in JSON, for instance `class-loading`.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Time => "time",
            Cause::Processor => "processor",
            Cause::Allocation => "allocation",
            Cause::Exceptions => "exceptions",
            Cause::ClassLoading => "class-loading",
            Cause::Interpreted => "interpreted",
            Cause::Waiting => "waiting",
            Cause::Monitor => "monitor",
            Cause::Lock => "lock",
            Cause::Sleep => "sleep",
            Cause::Park => "park",
            Cause::Collections => "collections",
            Cause::InputOutput => "input-output",
            Cause::File => "file",
            Cause::Socket => "socket",
            Cause::Statement => "statement",
        }
    }

    /// Returns the cause with this name.
    pub fn from_name(name: &str) -> Option<Cause> {
        CAUSES.into_iter().find(|c| c.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_a_kind_of_time_and_has_its_name() {
        for cause in CAUSES {
            assert!(cause.is_a(Cause::Time));
            assert_eq!(Cause::from_name(cause.name()), Some(cause));
        }
        assert!(Cause::Socket.is_a(Cause::Waiting) && !Cause::Socket.is_a(Cause::Processor));
        assert_eq!(Cause::Time.children().count(), 3);
    }
}
