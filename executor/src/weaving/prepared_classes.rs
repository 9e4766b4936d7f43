//! Weaving of classes that the JVM has just prepared.
//!
//! The agent weaves with Java code, which may load a class for the first time. Its event then comes in
//! the middle of the agent's own work, when Java state may be half made. So it waits:
//!
//! | thread | the class is woven |
//! | --- | --- |
//! | of the application | at once |
//! | of the application, while it weaves another class | by the same thread, after that class |
//! | of the agent | by the plan thread, after its current job |
//!
//! In the last two cases another thread may run code of the class before it is woven. Only classes of
//! the JDK are concerned, because no others are loaded by the agent's code.

use crate::agent::Agent;
use crate::classes::prepared::PreparedClass;
use crate::classes::registry::Class;
use crate::jvm::jni::Env;
use crate::jvm::threads::is_agent_thread;
use crate::plans::jobs::PlanJob;
use crate::weaving::weaver;
use std::cell::RefCell;
use std::sync::Arc;

/// Weaves a class that has just been prepared, at once or later. Also weaves the classes that wait for
/// it.
pub fn weave_prepared(agent: &Agent, env: Env, class: PreparedClass) {
    if class.record.is_none() && agent.pending_classes.is_empty() {
        return;
    }
    if is_agent_thread() {
        agent.prepared_classes.add(class);
        agent.post_job(PlanJob::WeavePreparedClasses);
        return;
    }
    match Turn::begin() {
        None => Turn::keep(class),
        Some(turn) => {
            weave(agent, env, &class);
            turn.end(|class| weave(agent, env, class));
        }
    }
}

/// Weaves a class whose new code the JVM is about to install, at once. Classes that this thread prepares
/// meanwhile are woven afterwards.
pub fn weave_redefined(agent: &Agent, env: Env, class: &Arc<Class>) {
    let turn = match is_agent_thread() {
        true => None,
        false => Turn::begin(),
    };
    weaver::weave_redefined(agent, env, class);
    if let Some(turn) = turn {
        turn.end(|class| weave(agent, env, class));
    }
}

/// Weaves the classes that threads of the agent have loaded. The plan thread calls it between two jobs.
pub fn weave_waiting(agent: &Agent, env: Env) {
    // Weaving them may load others.
    loop {
        let classes = agent.prepared_classes.take();
        if classes.is_empty() {
            return;
        }
        classes.iter().for_each(|class| weave(agent, env, class));
    }
}

fn weave(agent: &Agent, env: Env, class: &PreparedClass) {
    weaver::weave_awaiting(agent, env, &class.name);
    let Some(record) = &class.record else { return };
    weaver::weave_loaded(agent, env, record);
    let mut state = record.state();
    let methods = state.methods.clone();
    state.has_skewed_profile = methods.iter().any(|m| !agent.methods.is_idle(m.id));
}

thread_local! {
    /// The classes that wait for the end of the turn of this thread; `None` outside of a turn.
    static WAITING: RefCell<Option<Vec<PreparedClass>>> = const { RefCell::new(None) };
}

/// The time in which a thread of the application weaves a class, and those that are prepared meanwhile.
struct Turn;

impl Turn {
    /// Begins a turn, unless the thread is in one.
    fn begin() -> Option<Turn> {
        WAITING.with_borrow_mut(|waiting| {
            let begins = waiting.is_none();
            waiting.get_or_insert_default();
            begins.then(|| Turn)
        })
    }

    /// Keeps a class for the end of the turn of this thread.
    fn keep(class: PreparedClass) {
        WAITING.with_borrow_mut(|waiting| waiting.get_or_insert_default().push(class));
    }

    /// Weaves the classes that were kept, which may keep others.
    fn end(self, weave: impl Fn(&PreparedClass)) {
        let next = || WAITING.with_borrow_mut(|waiting| waiting.as_mut().and_then(Vec::pop));
        while let Some(class) = next() {
            weave(&class);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        WAITING.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(name: &str) -> PreparedClass {
        PreparedClass {
            name: name.into(),
            record: None,
        }
    }

    /// The order of weaving if classes are prepared while others are woven.
    fn order(first: &str, meanwhile: &[(&str, &str)]) -> Vec<String> {
        let woven = RefCell::new(Vec::new());
        let weave = |class: &PreparedClass| {
            for (_, name) in meanwhile.iter().filter(|(during, _)| *during == class.name) {
                assert!(Turn::begin().is_none(), "{name} is nested");
                Turn::keep(prepared(name));
            }
            woven.borrow_mut().push(class.name.clone());
        };
        let turn = Turn::begin().expect("no turn has begun");
        weave(&prepared(first));
        turn.end(weave);
        woven.into_inner()
    }

    #[test]
    fn a_class_that_is_prepared_meanwhile_is_woven_afterwards() {
        assert_eq!(order("A", &[]), ["A"]);
        assert_eq!(order("A", &[("A", "B"), ("B", "C")]), ["A", "B", "C"]);
    }

    #[test]
    fn a_panic_ends_the_turn() {
        let failed = std::panic::catch_unwind(|| {
            let turn = Turn::begin().expect("no turn has begun");
            Turn::keep(prepared("A"));
            turn.end(|_| panic!("on purpose"));
        });
        assert!(failed.is_err());
        assert_eq!(order("B", &[]), ["B"]);
    }
}
