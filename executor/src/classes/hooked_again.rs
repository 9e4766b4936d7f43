//! The classes that other agents may just be retransforming. The JVM installs the code of such a class
//! some time after the class hook has seen it; see `later_agents.rs`.

use crate::classes::registry::Class;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long the JVM may take to install a class after the hook has seen it. It first sends all
/// classes of one retransformation through all hooks.
const INSTALLATION_TIME: Duration = Duration::from_secs(10);

/// A class in [`HookedAgain`].
struct HookedClass {
    class: Weak<Class>,
    since: Instant,
    /// Whether an instrument waits for the check.
    is_awaited: bool,
}

/// The classes whose code another agent may just be changing.
#[derive(Default)]
pub struct HookedAgain {
    classes: Mutex<Vec<HookedClass>>,
}

impl HookedAgain {
    /// Adds a class that passes the hook again, or one that an instrument waits for.
    pub fn add(&self, class: &Arc<Class>, is_awaited: bool) {
        let mut classes = self.classes.lock();
        let known = classes.iter().position(|one| is_same(&one.class, class));
        let was_awaited = known.is_some_and(|at| classes.swap_remove(at).is_awaited);
        classes.push(HookedClass {
            class: Arc::downgrade(class),
            since: Instant::now(),
            is_awaited: is_awaited || was_awaited,
        });
    }

    /// Whether there are classes to check.
    pub fn is_empty(&self) -> bool {
        self.classes.lock().is_empty()
    }

    /// Whether the class is among them.
    pub fn contains(&self, class: &Class) -> bool {
        let classes = self.classes.lock();
        classes.iter().any(|one| is_same(&one.class, class))
    }

    /// The classes to check now, with whether an instrument waits for the check. A class is removed
    /// once the JVM must have installed it.
    pub fn due(&self, now: Instant) -> Vec<(Arc<Class>, bool)> {
        let mut classes = self.classes.lock();
        let live = classes.iter().filter_map(|one| {
            let class = one.class.upgrade()?;
            Some((class, one.is_awaited))
        });
        let live = live.collect();
        classes.retain(|one| now.saturating_duration_since(one.since) < INSTALLATION_TIME);
        live
    }
}

fn is_same(weak: &Weak<Class>, class: &Class) -> bool {
    std::ptr::eq(weak.as_ptr(), class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::registry::test_class;

    fn ids(due: &[(Arc<Class>, bool)]) -> Vec<(u32, bool)> {
        due.iter()
            .map(|(c, awaited)| (c.first_id.0, *awaited))
            .collect()
    }

    #[test]
    fn a_class_is_checked_until_the_jvm_must_have_installed_it() {
        let hooked = HookedAgain::default();
        let class = test_class("shop/Desk", 0..2);
        hooked.add(&class, false);
        let now = Instant::now();
        assert_eq!(ids(&hooked.due(now)), [(0, false)]);
        assert!(hooked.contains(&class) && !hooked.is_empty());
        // The last check comes after the installation time.
        assert_eq!(ids(&hooked.due(now + INSTALLATION_TIME)), [(0, false)]);
        assert!(!hooked.contains(&class) && hooked.is_empty());
        assert!(hooked.due(now).is_empty());
    }

    #[test]
    fn a_class_is_there_once_and_stays_awaited() {
        let hooked = HookedAgain::default();
        let (desk, clerk) = (
            test_class("shop/Desk", 0..2),
            test_class("shop/Clerk", 2..3),
        );
        hooked.add(&desk, true);
        hooked.add(&clerk, false);
        hooked.add(&desk, false);
        let mut due = ids(&hooked.due(Instant::now()));
        due.sort_unstable();
        assert_eq!(due, [(0, true), (2, false)]);
    }

    #[test]
    fn an_unloaded_class_is_not_checked() {
        let hooked = HookedAgain::default();
        hooked.add(&test_class("shop/Desk", 0..2), false);
        assert!(hooked.due(Instant::now()).is_empty());
    }
}
