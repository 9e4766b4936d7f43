//! `veneer lifetimes`: the lifetimes of objects of one type, in a running JVM or of a program from its start.
//!
//! ```text
//!   followed type ─▶ plan ─▶ agent ─▶ ‹process›-lives-1/lives.vmem ─▶ MemoryProfile ─▶ table, JSON, file
//! ```

mod followed_type;
mod lives_file;
mod record;
mod run_recording;
mod show;

pub use followed_type::FollowedType;
pub use lives_file::lives_directories;
pub use run_recording::RunLifetimes;

use anyhow::Result;
use thiserror::Error;

use crate::cli::{LifetimesArguments, LifetimesCommand};

/// Why there is nothing to do.
#[derive(Debug, Error)]
enum LifetimesError {
    #[error("name a process id and a type, or show")]
    MissingProcess,
}

/// Runs a command and returns the exit code.
pub fn run(arguments: &LifetimesArguments) -> Result<u8> {
    match (&arguments.command, &arguments.record) {
        (Some(LifetimesCommand::Show(arguments)), _) => show::run(arguments),
        (None, Some(arguments)) => record::run(arguments),
        (None, None) => Err(LifetimesError::MissingProcess.into()),
    }
}
