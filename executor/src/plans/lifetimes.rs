//! The beginning and the end of a recording of lifetimes. Only the plan thread uses this file.

use crate::agent::Agent;
use crate::jvm::jni::{Env, JvmError};
use std::io;
use thiserror::Error;
use veneer_instruments::{InstrumentId, RecordingSummary};

/// The most objects that are followed at a time. A small heap follows fewer; see `VeneerLives`.
const MAX_OBJECTS: u32 = 1_000_000;

/// Why objects cannot be followed.
#[derive(Debug, Error)]
pub enum LifetimeError {
    /// The directory of the recording cannot be created.
    #[error(transparent)]
    Files(#[from] io::Error),
    /// A Java call of the agent has failed.
    #[error(transparent)]
    Java(#[from] JvmError),
    /// The table of objects does not fit into the heap.
    #[error("the heap has no room for the table of objects")]
    NoRoom,
}

/// Lets an instrument follow objects. The first one begins a recording.
///
/// # Errors
/// The recording cannot begin.
pub fn begin(agent: &Agent, env: Env, id: InstrumentId) -> Result<(), LifetimeError> {
    let recorder = &agent.lifetimes;
    let Some(addresses) = recorder.join(id, &agent.config.data_dir)? else {
        return Ok(());
    };
    // SAFETY: the agent, and with it the clocks, is never dropped.
    let begun = unsafe { agent.library.begin_lives(env, addresses, MAX_OBJECTS) };
    let begun = match begun {
        Ok(limit @ 1..) => {
            recorder.set_limit(limit as u64);
            Ok(())
        }
        Ok(_) => Err(LifetimeError::NoRoom),
        Err(error) => Err(error.into()),
    };
    begun.inspect_err(|_| recorder.abandon(id))
}

/// Adds the objects that the collector has found dead. Called at short intervals.
pub fn fold(agent: &Agent, env: Env) {
    if agent.lifetimes.is_active()
        && let Err(error) = agent.library.fold_lives(env)
    {
        agent.report_problem("", &error.to_string());
    }
}

/// Ends the recording if an instrument is the last one that follows objects. Returns whether the recording
/// has ended.
pub fn end(agent: &Agent, env: Env, id: InstrumentId) -> bool {
    if !agent.lifetimes.leave(id) {
        return false;
    }
    let untracked = agent.library.end_lives(env).unwrap_or_else(|error| {
        agent.report_problem("", &error.to_string());
        0
    });
    agent.lifetimes.write(untracked);
    if let Some(problem) = agent.lifetimes.problem() {
        agent.report_problem("", &format!("lifetimes could not be written: {problem}"));
    }
    true
}

/// The recording of an instrument that follows objects.
pub fn summary(agent: &Agent, id: InstrumentId) -> Option<RecordingSummary> {
    agent.lifetimes.summary(id)
}
