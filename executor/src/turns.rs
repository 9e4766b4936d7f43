//! Cells that are to be turned: to a version that is ready, or back to IDLE.
//!
//! For each cell that turns the JVM walks over all compiled code, to give up what took the old target as a constant. With 5,000
//! cells and a full code cache that is seconds. Behind a shut gate (`VeneerGate`) cells turn without a walk, so one or two of
//! them do for up to [`WIDTH`] methods. A gate costs the compiled code of all its methods, and what is compiled while it is
//! shut is lost, so all versions are made first, and the gates are shut only while the cells turn, one after the other, and only
//! where [`ENOUGH`] do.

use crate::agent::Agent;
use crate::jni::{Env, Global, JvmError};
use crate::registry::Class;
use std::sync::Arc;

/// Ids of methods behind one gate, as in `VeneerGate`.
const WIDTH: u32 = 64;

/// From so many cells on that turn behind a gate, it is shut.
const ENOUGH: usize = 8;

/// From so many waiting turns on they are carried out: each holds some references of the JVM's.
const MANY: usize = 4096;

/// A cell that is to be turned.
pub struct Turn {
    pub class: Arc<Class>,
    /// The method.
    pub id: u32,
    /// Of what is woven into it, when the version was made.
    pub sequence: u64,
    /// `None` for IDLE.
    pub to: Option<Entry>,
}

/// What new activations enter.
pub struct Entry {
    /// `None` for the armed body with counters at its entry.
    pub version: Option<Arc<Global>>,
    pub token: Arc<Global>,
}

/// See the module documentation.
#[derive(Default)]
pub struct Turns {
    waiting: Vec<Turn>,
}

impl Turns {
    pub fn push(&mut self, turn: Turn) {
        self.waiting.push(turn);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.waiting.len() >= MANY
    }

    /// Turns all cells that wait, and tells `done` of each how that went.
    pub fn carry_out(
        &mut self,
        agent: &Agent,
        env: Env,
        mut done: impl FnMut(Turn, Result<(), JvmError>),
    ) {
        let mut waiting = std::mem::take(&mut self.waiting);
        // Stable: a method that was done again comes later, and that counts.
        waiting.sort_by_key(|turn| turn.id / WIDTH);
        let mut waiting = waiting.into_iter().peekable();
        while let Some(first) = waiting.next() {
            let gate = first.id / WIDTH;
            let mut together = vec![first];
            while let Some(next) = waiting.next_if(|turn| turn.id / WIDTH == gate) {
                together.push(next);
            }
            // A gate that cannot be turned costs time, nothing else.
            let shut =
                together.len() >= ENOUGH && agent.library.turn_gate(env, gate, false).is_ok();
            for turn in together {
                let result = match &turn.to {
                    Some(to) => {
                        let version = to.version.as_ref().map_or(std::ptr::null_mut(), |v| v.raw());
                        let token = to.token.raw();
                        agent.library.install(env, turn.id, version, token)
                    }
                    None => agent.library.set_idle(env, turn.id),
                };
                done(turn, result);
            }
            if shut {
                let _ = agent.library.turn_gate(env, gate, true);
            }
        }
    }
}
