//! Activations of obsolete code: they began before their class was armed, so no instrument reaches
//! them until they return.
//!
//! Such activations exist if the agent was attached to a running JVM, or if the class has no loop and was
//! therefore not armed when it was loaded. After the agent has
//! armed loaded classes, it looks once at all stacks for methods whose class has other code by now,
//! and keeps their names. Only the plan thread looks and warns.
//!
//! The activations of `main`, of thread pools and of event loops never end, and a selection of a whole
//! package is no question about them. So `attach` warns in one line, and about these methods only:
//!
//! | the pattern names | warning |
//! | --- | --- |
//! | one method | as long as such an activation is left |
//! | one class | once for each method |
//! | more than one class | none |

use crate::classes::registry::{Class, Registry};
use crate::classes::selection::MethodSelection;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use veneer_instruments::{MethodPattern, PatternBreadth};
use veneer_names::{internal_form, java_form};

/// A method with obsolete code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObsoleteMethod {
    /// The dotted class name.
    class: String,
    name: String,
    descriptor: String,
}

/// The most methods that a warning names.
const MAX_NAMED_METHODS: usize = 3;

/// The activations of obsolete code.
#[derive(Default)]
pub struct ObsoleteFrames {
    /// The numbers of activations, by method, at the last look.
    known: Mutex<BTreeMap<ObsoleteMethod, usize>>,
    /// The methods that a warning has named.
    reported: Mutex<BTreeSet<ObsoleteMethod>>,
}

impl ObsoleteFrames {
    fn known(&self) -> MutexGuard<'_, BTreeMap<ObsoleteMethod, usize>> {
        self.known.lock()
    }

    /// Looks at the stacks of all threads.
    fn refresh(&self, tool: Tool, env: Env) {
        // The look creates local references to threads and classes. The frame releases all of them.
        let found = env.frame(|env| Ok(count_methods(tool.obsolete(env))));
        *self.known() = found.unwrap_or_default();
    }

    /// One warning about all methods with obsolete activations that the patterns name; see the module
    /// documentation.
    ///
    /// If `has_armed` is true, classes have been armed just now, and the stacks are looked at
    /// again. Otherwise they are looked at only if the patterns select a method that had such
    /// activations before.
    pub fn warning(
        &self,
        tool: Tool,
        env: Env,
        registry: &Registry,
        patterns: &[MethodPattern],
        has_armed: bool,
    ) -> Option<String> {
        let breadth_of = |method: &ObsoleteMethod| {
            // Several loaders may have a class of this name.
            let classes = registry.classes_named(&internal_form(&method.class));
            let selects = |class: &Arc<Class>, pattern: &MethodPattern| {
                let selection =
                    MethodSelection::new(tool, env, class, std::slice::from_ref(pattern));
                selection.selects(&method.name, &method.descriptor)
            };
            let selecting = patterns
                .iter()
                .filter(|pattern| classes.iter().any(|class| selects(class, pattern)));
            selecting.map(MethodPattern::breadth).min()
        };
        let before: Vec<ObsoleteMethod> = self.known().keys().cloned().collect();
        if has_armed || before.iter().any(|method| breadth_of(method).is_some()) {
            self.refresh(tool, env);
        }
        let known = self.known().clone();
        let mut reported = self.reported.lock();
        let named = known
            .into_iter()
            .filter(|(method, _)| match breadth_of(method) {
                Some(PatternBreadth::Method) => {
                    reported.insert(method.clone());
                    true
                }
                Some(PatternBreadth::Class) => reported.insert(method.clone()),
                Some(PatternBreadth::Classes) | None => false,
            });
        let named: Vec<(ObsoleteMethod, usize)> = named.collect();
        (!named.is_empty()).then(|| warning(&named))
    }
}

/// Counts frames by method. The frames are internal class names, method names and descriptors.
fn count_methods(frames: Vec<(String, String, String)>) -> BTreeMap<ObsoleteMethod, usize> {
    let mut counts = BTreeMap::new();
    for (class, name, descriptor) in frames {
        let method = ObsoleteMethod {
            class: java_form(&class),
            name,
            descriptor,
        };
        *counts.entry(method).or_default() += 1;
    }
    counts
}

fn warning(methods: &[(ObsoleteMethod, usize)]) -> String {
    let (activations, they) = match methods.iter().map(|(_, count)| count).sum::<usize>() {
        1 => ("1 activation".to_owned(), "it is"),
        n => (format!("{n} activations"), "they are"),
    };
    let names = methods.iter().take(MAX_NAMED_METHODS);
    let names = names.map(|(method, _)| format!("{}::{}", method.class, method.name));
    let names: Vec<String> = names.collect();
    let more = match methods.len() > MAX_NAMED_METHODS {
        true => ", …",
        false => "",
    };
    format!(
        "{activations} of {}{more} began before the class was armed: {they} not seen until the return (under `veneer run --arm-all` each is)",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_are_counted_by_class_name_and_descriptor() {
        let frame = |class: &str, descriptor: &str| (class.into(), "run".into(), descriptor.into());
        let counts = count_methods(vec![
            frame("shop/Desk", "()V"),
            frame("shop/Clerk", "()V"),
            frame("shop/Desk", "()V"),
            frame("shop/Desk", "(I)V"),
        ]);
        let shown: Vec<String> = counts
            .iter()
            .map(|(m, count)| format!("{}{} {count}", m.class, m.descriptor))
            .collect();
        assert_eq!(
            shown,
            ["shop.Clerk()V 1", "shop.Desk()V 2", "shop.Desk(I)V 1"]
        );
    }

    #[test]
    fn the_warning_is_one_line_with_the_first_methods() {
        let method = |name: &str| ObsoleteMethod {
            class: "shop.Desk".into(),
            name: name.into(),
            descriptor: "()V".into(),
        };
        let one = "1 activation of shop.Desk::run began before the class was armed: it is not seen";
        assert!(warning(&[(method("run"), 1)]).starts_with(one));
        let two = "2 activations of shop.Desk::run began before the class was armed: they are not";
        assert!(warning(&[(method("run"), 2)]).starts_with(two));
        let many = ["a", "b", "c", "d"].map(|name| (method(name), 2));
        let many = warning(&many);
        let expected = "8 activations of shop.Desk::a, shop.Desk::b, shop.Desk::c, … began before";
        assert!(many.starts_with(expected), "{many}");
    }
}
