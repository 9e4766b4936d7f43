//! Messages from the connections to the agent.

use super::measurements::{MeasurementSample, TopPlanLine};
use super::stack_times::StackDump;

/// A connection, identified by its purpose. Numbers are never reused: a late message from a closed
/// connection cannot be taken for a message from a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The counters of all methods.
    Calls,
    /// The stack samples. They come from the JVM and not from the agent.
    Stacks,
    /// The counters on blocks and edges of the open method.
    Inside(u64),
    /// One instrument that was attached by a key.
    Probe(u64),
    /// Holds no instrument. Requests the variables of a method.
    Question(u64),
}

/// A message from a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    pub channel: Channel,
    pub message: FeedMessage,
}

/// The content of a [`FeedEvent`].
#[derive(Debug, Clone, PartialEq)]
pub enum FeedMessage {
    /// The connection has begun this step of its work. The text is shown as progress.
    Progress(String),
    /// Which methods are counted, in words: `of 24 classes on sampled stacks`.
    Scope(String),
    /// The stacks of one thread dump.
    Stacks(StackDump),
    /// The plan has printed a line that is meant for this command.
    PlanOutput(TopPlanLine),
    /// The measurements that have changed.
    Sample(MeasurementSample),
    /// Another client detached the instrument.
    DetachedByOther,
    /// The plan has printed another text: a warning, or an error of a callback.
    Warning(String),
    /// Everything in the plan is attached.
    Attached,
    /// The agent refused the plan. The connection is closed.
    Refused(String),
    /// The JVM has ended.
    JvmEnded,
    /// The JVM could not be reached, or the connection broke.
    ConnectionLost(String),
}
