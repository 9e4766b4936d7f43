//! The classes that threads of the agent have loaded, and that wait for the plan thread to weave them. See
//! `weaving/prepared_classes.rs`.

use crate::classes::registry::Class;
use parking_lot::Mutex;
use std::sync::Arc;

/// A class that the JVM has prepared.
pub struct PreparedClass {
    /// The internal name.
    pub name: String,
    /// The record of the class, if it is armed.
    pub record: Option<Arc<Class>>,
}

/// The classes that threads of the agent have loaded, and that wait for the plan thread.
#[derive(Default)]
pub struct PreparedClasses {
    waiting: Mutex<Vec<PreparedClass>>,
}

impl PreparedClasses {
    /// Adds a class for the plan thread.
    pub fn add(&self, class: PreparedClass) {
        self.waiting.lock().push(class);
    }

    /// Takes all waiting classes, in the order in which they were added.
    pub fn take(&self) -> Vec<PreparedClass> {
        std::mem::take(&mut *self.waiting.lock())
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

    #[test]
    fn threads_of_the_agent_leave_classes_to_the_plan_thread() {
        let classes = PreparedClasses::default();
        classes.add(prepared("A"));
        classes.add(prepared("B"));
        let names: Vec<String> = classes.take().into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["A", "B"]);
        assert!(classes.take().is_empty());
    }
}
