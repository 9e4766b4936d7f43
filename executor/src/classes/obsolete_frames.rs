//! Activations of obsolete code: they began before their class was armed, so no instrument reaches
//! them until they return.
//!
//! Such activations exist only if the agent was attached to a running JVM. After the agent has
//! armed loaded classes, it looks once at all stacks for methods whose class has other code by now,
//! and keeps their names. As long as such an activation is left, `attach` warns about it. Only the
//! plan thread looks and warns.

use crate::classes::registry::{Class, Registry};
use crate::classes::selection::MethodSelection;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use veneer_instruments::MethodPattern;
use veneer_names::{internal_form, java_form};

/// A method with obsolete code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObsoleteMethod {
    /// The dotted class name.
    class: String,
    name: String,
    descriptor: String,
}

/// The numbers of activations of obsolete code, by method, at the last look.
#[derive(Default)]
pub struct ObsoleteFrames(Mutex<BTreeMap<ObsoleteMethod, usize>>);

impl ObsoleteFrames {
    fn known(&self) -> MutexGuard<'_, BTreeMap<ObsoleteMethod, usize>> {
        self.0.lock()
    }

    /// Looks at the stacks of all threads.
    fn refresh(&self, tool: Tool, env: Env) {
        // The look creates local references to threads and classes. The frame releases all of them.
        let found = env.frame(|env| Ok(count_methods(tool.obsolete(env))));
        *self.known() = found.unwrap_or_default();
    }

    /// One warning for each method with obsolete activations that the patterns select.
    ///
    /// If `has_armed` is true, classes have been armed just now, and the stacks are looked at
    /// again. Otherwise they are looked at only if the patterns select a method that had such
    /// activations before.
    pub fn warnings(
        &self,
        tool: Tool,
        env: Env,
        registry: &Registry,
        patterns: &[MethodPattern],
        has_armed: bool,
    ) -> Vec<String> {
        let is_selected = |method: &ObsoleteMethod| {
            // Several loaders may have a class of this name.
            let classes = registry.classes_named(&internal_form(&method.class));
            let selects = |class: &Arc<Class>| {
                let selection = MethodSelection::new(tool, env, class, patterns);
                selection.selects(&method.name, &method.descriptor)
            };
            classes.iter().any(selects)
        };
        let before: Vec<ObsoleteMethod> = self.known().keys().cloned().collect();
        if has_armed || before.iter().any(is_selected) {
            self.refresh(tool, env);
        }
        let known = self.known().clone();
        let selected = known.iter().filter(|(method, _)| is_selected(method));
        selected
            .map(|(method, count)| warning(method, *count))
            .collect()
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

fn warning(method: &ObsoleteMethod, count: usize) -> String {
    let (activations, they) = match count {
        1 => ("1 activation".to_owned(), "it is"),
        n => (format!("{n} activations"), "they are"),
    };
    let ObsoleteMethod { class, name, .. } = method;
    format!(
        "{activations} of {class}::{name} began before the class was armed: {they} not seen until the return (under `veneer run` each is)"
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
    fn the_warning_has_singular_and_plural() {
        let method = ObsoleteMethod {
            class: "shop.Desk".into(),
            name: "run".into(),
            descriptor: "()V".into(),
        };
        let one = "1 activation of shop.Desk::run began before the class was armed: it is not seen";
        assert!(warning(&method, 1).starts_with(one));
        let two = "2 activations of shop.Desk::run began before the class was armed: they are not";
        assert!(warning(&method, 2).starts_with(two));
    }
}
