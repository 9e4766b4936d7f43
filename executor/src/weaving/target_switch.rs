//! Cells that are to be turned: to a version that is ready, or back to IDLE.
//!
//! For each cell that turns the JVM walks over all compiled code, to give up what took the old target as a constant. With 5,000
//! cells and a full code cache that is seconds. Behind a shut gate (`VeneerGate`) cells turn without a walk, so one or two of
//! them do for up to [`WIDTH`] methods. A gate costs the compiled code of all its methods, and what is compiled while it is
//! shut is lost, so all versions are made first, and the gates are shut only while the cells turn, one after the other, and only
//! where [`ENOUGH`] do.
//!
//! A thread whose compiled code the JVM gives up gets its frames back as those of the interpreter. The JVM allocates the objects
//! that the code kept in registers; if the heap is full, it drops the frames without looking at their handlers (JDK-8270010). So
//! cells turn only when the heap has room ([`wait_for_room`]).

use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, Global, JvmError, jclass};
use crate::jvm::runtime_table::GATE_WIDTH;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// Ids of methods behind one gate, as in `VeneerGate`.
const WIDTH: u32 = GATE_WIDTH as u32;

/// From so many cells on that turn behind a gate, it is shut.
const ENOUGH: usize = 8;

/// From so many waiting turns on they are carried out: each holds some references of the JVM's.
const MANY: usize = 4096;

/// How long the changes of one [`Turns`] wait for room on the heap. Then they take place all the same.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Time between two looks at the heap.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// One look of this many makes the JVM collect garbage.
const LOOKS: u32 = 50;

/// The agent reports the problem once.
static SAID: Once = Once::new();

/// The moment after which a change that begins now waits no longer.
pub fn deadline() -> Instant {
    Instant::now() + LONGEST_WAIT
}

/// Waits until the heap has room for what the JVM allocates when compiled code is given up. No lock may be held.
pub fn wait_for_room(agent: &Agent, env: Env, deadline: Instant) {
    for look in 1.. {
        if agent.library.has_room_to_change(env, look % LOOKS == 0) {
            return;
        }
        if Instant::now() > deadline {
            SAID.call_once(|| {
                agent.problem("", "the heap had no room for seconds while instruments or edits changed; an OutOfMemoryError may have passed a handler (JDK-8270010)");
            });
            return;
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
}

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
        let deadline = deadline();
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
            wait_for_room(agent, env, deadline);
            // A gate that cannot be turned costs time, nothing else.
            let shut =
                together.len() >= ENOUGH && agent.library.turn_gate(env, gate, false).is_ok();
            for turn in together {
                if !shut {
                    wait_for_room(agent, env, deadline);
                }
                let result = match &turn.to {
                    Some(to) => {
                        let version = to.version.as_ref().map_or(jclass::NULL, |v| v.raw());
                        let token = to.token.raw();
                        agent.library.install(env, turn.id, version, token)
                    }
                    None => agent.library.set_idle(env, turn.id),
                };
                done(turn, result);
            }
            if shut {
                wait_for_room(agent, env, deadline);
                let _ = agent.library.turn_gate(env, gate, true);
            }
        }
    }
}
