//! Stopping single threads of the application, through a JVMTI environment of its own.
//!
//! One environment of a JVM can have the capability at a time (HotSpot's solo capabilities), so the
//! agent has it only while it is needed. A debugger keeps it.

use crate::jvm::jni::{Env, JvmError, jobject};
use crate::jvm::jvmti::{JvmtiError, Tool, UnsuitableJvm, call, checked, succeeded};
use jvmti_sys::*;
use thiserror::Error;

/// Why threads cannot be stopped.
#[derive(Debug, Error)]
pub enum SuspensionError {
    /// The pointer of the JVM is unknown.
    #[error(transparent)]
    Jvm(#[from] JvmError),
    /// The JVM makes no environment.
    #[error(transparent)]
    Environment(#[from] UnsuitableJvm),
    /// The JVM refuses the capability, for instance because a debugger has it.
    #[error("{0}; a debugger may be attached")]
    Capability(#[from] JvmtiError),
}

/// The right to stop threads. Dropping it gives the right back; the caller resumes all threads before.
pub struct Suspender(Tool);

impl Suspender {
    /// Asks the JVM for the right.
    pub fn new(env: Env) -> Result<Suspender, SuspensionError> {
        // SAFETY: the JVM returned its own pointer.
        let tool = unsafe { Tool::new(env.jvm()?) }?;
        // From here on, an error disposes of the environment.
        let suspender = Suspender(tool);
        let wanted = jvmtiCapabilities::CAN_SUSPEND;
        // SAFETY: the JVM reads the set of capabilities.
        let code = unsafe { call!(tool, AddCapabilities, &wanted) };
        checked("AddCapabilities", "asking to stop threads", code)?;
        Ok(suspender)
    }

    /// Stops a thread. Returns false if it has ended, or if another tool has stopped it.
    pub fn suspend(&self, thread: jobject) -> bool {
        // SAFETY: `thread` is a valid reference.
        succeeded(unsafe { call!(self.0, SuspendThread, thread.raw()) })
    }

    /// Lets a thread continue that [`Suspender::suspend`] has stopped.
    pub fn resume(&self, thread: jobject) {
        // SAFETY: `thread` is a valid reference.
        unsafe { call!(self.0, ResumeThread, thread.raw()) };
    }

    /// The bits of a thread's state.
    pub fn state(&self, thread: jobject) -> u32 {
        let mut state = 0;
        // SAFETY: `thread` is a valid reference. The JVM writes a number to the place.
        unsafe { call!(self.0, GetThreadState, thread.raw(), &mut state) };
        state.cast_unsigned()
    }
}

impl Drop for Suspender {
    fn drop(&mut self) {
        // SAFETY: nothing else has a copy of the environment.
        let _ = unsafe { self.0.dispose() };
    }
}
