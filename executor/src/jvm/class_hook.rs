//! The place of the agent's class hook among the class hooks of all agents.
//!
//! A version is made from the class file that the class hook gets. If the hook of another agent runs
//! later and changes the class, a version lacks that change. Therefore the agent's hook must be the
//! last one. The JVM calls the hooks that can retransform in the order in which their JVMTI
//! environments were made, so the hook has an environment of its own, which is made anew in order
//! to move the hook to the end:
//!
//! ```text
//!   hooks   Veneer │ Byteman │ Mockito   ── move_to_end ──▶   Byteman │ Mockito │ Veneer
//! ```
//!
//! Java agents make their environments in `premain`. The hook moves after that, before the first
//! class of the application (`events.rs`). An agent that is loaded later is found by the code that
//! it changes (`classes/later_agents.rs`).

use crate::jvm::jvmti::{JvmtiError, Tool, UnsuitableJvm};
use ::jni::sys::JavaVM;
use jvmti_sys::{jvmtiEnv, jvmtiEvent, jvmtiEventCallbacks};
use parking_lot::Mutex;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use thiserror::Error;

/// Why the class hook could not be started or moved.
#[derive(Debug, Error)]
pub enum ClassHookError {
    /// The JVM has no further environment.
    #[error(transparent)]
    Jvm(#[from] UnsuitableJvm),
    /// A JVMTI function has failed.
    #[error(transparent)]
    Jvmti(#[from] JvmtiError),
}

/// The event function of the hook, and the environment in which it is enabled.
pub struct ClassHook {
    vm: *mut JavaVM,
    callbacks: jvmtiEventCallbacks,
    /// The current environment; `None` while the hook is stopped.
    environment: Mutex<Option<Tool>>,
    /// The same environment for the event function, which must not wait for the lock; null while
    /// the hook is stopped.
    current: AtomicPtr<jvmtiEnv>,
}

// SAFETY: the pointer to the JVM and the functions are valid in every thread.
unsafe impl Send for ClassHook {}
// SAFETY: as for `Send`; everything that changes is behind a lock or atomic.
unsafe impl Sync for ClassHook {}

impl ClassHook {
    /// A stopped hook.
    ///
    /// # Safety
    /// `vm` must be the pointer that the JVM passed to the agent. The functions must be valid as long
    /// as the JVM runs.
    pub unsafe fn new(vm: *mut JavaVM, callbacks: jvmtiEventCallbacks) -> ClassHook {
        ClassHook {
            vm,
            callbacks,
            environment: Mutex::new(None),
            current: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Starts the hook, or moves it behind the hooks of all agents that have one now.
    ///
    /// # Errors
    /// The JVM refuses another environment. The hook then stays where it is.
    pub fn move_to_end(&self) -> Result<(), ClassHookError> {
        let mut environment = self.environment.lock();
        // SAFETY: `new` vouches for the pointer.
        let next = unsafe { Tool::new(self.vm) }?;
        let started = self.start(next);
        if started.is_err() {
            // SAFETY: nothing has used the environment, and there is no other copy.
            let _ = unsafe { next.dispose() };
            return Ok(started?);
        }
        if let Some(previous) = environment.replace(next) {
            // SAFETY: its event function has checked `current`, and the event functions of this
            // agent do not use the environment that they get.
            unsafe { previous.dispose() }?;
        }
        Ok(())
    }

    /// Enables the event in a new environment. From then on, calls through any other environment
    /// are ignored. A class that passes the hooks at this moment may reach the event function
    /// through both environments.
    fn start(&self, next: Tool) -> Result<(), JvmtiError> {
        next.retransform_capability()?;
        // SAFETY: `new` vouches for the functions.
        unsafe { next.callbacks(&self.callbacks) }?;
        let enabled = next.enable(jvmtiEvent::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
        if enabled.is_ok() {
            self.current.store(next.0, Ordering::SeqCst);
        }
        enabled
    }

    /// Stops the hook.
    ///
    /// # Errors
    /// A JVMTI function fails. The hook ignores all classes nevertheless.
    pub fn stop(&self) -> Result<(), JvmtiError> {
        let mut environment = self.environment.lock();
        self.current.store(ptr::null_mut(), Ordering::SeqCst);
        match environment.take() {
            // SAFETY: as in `move_to_end`.
            Some(previous) => unsafe { previous.dispose() },
            None => Ok(()),
        }
    }

    /// Whether calls of the event function through this environment count.
    pub fn is_current(&self, environment: *mut jvmtiEnv) -> bool {
        self.current.load(Ordering::SeqCst) == environment
    }
}
