//! The jobs of the plan thread: the messages that other threads send to it through
//! `Agent::post_job`.

use crate::plans::class_code_error::ClassCodeError;
use crate::plans::outbox::Outbox;
use crate::plans::plan_instances::AnalyseError;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use veneer_protocol::{Analysis, ClassCode, DetachReport, DetachTarget, PlanSource};

/// A job of the plan thread.
pub enum PlanJob {
    /// Load the plans of the command line. The answer says whether all of them were loaded.
    Begin(Sender<bool>),
    /// Run a program of a client.
    Exec {
        /// The program, with the name that messages show.
        plan: PlanSource,
        /// Whether the client stays connected: callbacks print to it, and what the program has
        /// attached is detached when the client is gone.
        hold: bool,
        /// The display form of the client.
        owner: String,
        /// The messages to the client.
        outbox: Arc<Outbox>,
    },
    /// Detach the named plan instances, components, instruments and patches, of any owner.
    Detach(DetachTarget, Sender<DetachReport>),
    /// Call the analyser of a component.
    Analyse(String, Sender<Result<Analysis, AnalyseError>>),
    /// Return the class files of the armed classes that these patterns select, and of versions.
    ClassCode(Vec<String>, Sender<Result<Vec<ClassCode>, ClassCodeError>>),
    /// Detach everything, give the classes their original code back, and end the plan thread.
    Leave(Sender<DetachReport>),
    /// Run an input that a client has typed at its REPL prompt.
    Input(ReplInput, Arc<Outbox>),
    /// Keep what this client attaches at its REPL prompt when the client disconnects.
    Keep(Arc<Outbox>),
    /// A client ends its held program: run the callbacks of `at_exit`, detach what the program has
    /// attached, and answer.
    End(Arc<Outbox>),
    /// A client is gone: detach what its program or its REPL inputs have attached.
    ClientGone(Arc<Outbox>),
    /// The JVM has collected class loaders: forget their classes.
    ForgetUnloadedClasses,
    /// Weave the classes that threads of the agent have loaded.
    WeavePreparedClasses,
    /// Check the classes that other agents may have changed.
    CheckHookedClasses,
    /// Release the OSR entries of methods that are back in their armed bodies.
    ReleaseOsrEntries,
    /// A virtual thread has counted. Counts can no longer be derived, because the agent cannot find
    /// the frames of all activations; see `RuntimeHandle::count_each_point`.
    VirtualThreads,
    /// Events of the JVM wait in the queue: run the callbacks of plans.
    VmEvents,
    /// The JVM is shutting down: run the callbacks of `at_exit`, and answer after the last one.
    Finish(Sender<()>),
}

/// An input of a client's REPL session.
#[derive(Debug)]
pub struct ReplInput {
    /// The file that contains the text; `None` if the user has typed it.
    pub file: Option<String>,
    pub source: String,
    /// The texts of the modules that the input may import, by name.
    pub modules: BTreeMap<String, String>,
    /// If set, the input is only evaluated and shown, with at most this many rows.
    pub look: Option<u32>,
    /// The display form of the client.
    pub owner: String,
}
