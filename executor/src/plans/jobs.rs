//! The jobs of the plan thread: the messages that other threads send to it.

use crate::plans::outbox::Outbox;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use veneer_protocol::{Analysis, Detached, PlanSource, Which};

/// What the plan thread is asked to do.
pub enum Job {
    /// Load the plans of the command line; answers when that is done, with whether all went well.
    Begin(Sender<bool>),
    /// Run a client's program.
    Exec {
        /// Its name, for messages, and its text.
        plan: PlanSource,
        /// Its callbacks print to the client too, and the client holds what it attaches.
        hold: bool,
        /// Whose program it is, in words.
        owner: String,
        /// To the client.
        outbox: Arc<Outbox>,
    },
    /// Take off what is named, whoever attached it.
    Detach(Which, Sender<Detached>),
    /// Ask a component's analyser; what went wrong is text.
    Analyse(String, Sender<Result<Analysis, String>>),
    /// Take everything off, give the classes their own code back, and end.
    Leave(Sender<Detached>),
    /// Run what a client typed at its prompt.
    Input(Typed, Arc<Outbox>),
    /// What a client attached at its prompt stays when it goes.
    Keep(Arc<Outbox>),
    /// A client is gone: take off what its program attached.
    TakeOff(Arc<Outbox>),
    /// Loaders are gone: forget their classes.
    Unloaded,
    /// Virtual threads count: nobody can say where they all stand.
    Virtual,
    /// The JVM is going down: run `at_exit`; answers when that is done.
    Finish(Sender<()>),
}

/// What a client typed.
#[derive(Debug)]
pub struct Typed {
    /// The file that it is the text of; none where it was typed.
    pub file: Option<String>,
    /// The text.
    pub source: String,
    /// What it may import.
    pub modules: BTreeMap<String, String>,
    /// Only look, and show so many rows.
    pub look: Option<u32>,
    /// Who it is, in words.
    pub owner: String,
}
