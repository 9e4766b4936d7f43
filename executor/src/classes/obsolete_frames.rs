//! Activations that began before their class was armed: they run the code of then until they return, and nothing reaches them.
//!
//! Only an agent that comes late meets them. When it arms loaded classes it looks once at all stacks for methods that are obsolete
//! (their class has other code by now), and remembers these by name; whoever attaches something to one of them is told, as long as
//! such an activation is left.

use crate::classes::registry::{Class, Registry};
use crate::classes::selection::Chosen;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_instruments::MethodPattern;

/// Class with dots, name, descriptor.
type Label = (String, String, String);

/// See the module documentation.
#[derive(Default)]
pub struct Elders(Mutex<BTreeMap<Label, usize>>);

impl Elders {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Label, usize>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Looks at the stacks: after classes were armed, and again where some were found then.
    fn look(&self, tool: Tool, env: Env) {
        // The walk makes references to threads and classes; the frame frees them all.
        let found = env.frame(|env| {
            let mut found = BTreeMap::new();
            for (class, name, descriptor) in tool.obsolete(env) {
                *found
                    .entry((class.replace('/', "."), name, descriptor))
                    .or_default() += 1;
            }
            Ok(found)
        });
        *self.known() = found.unwrap_or_default();
    }

    /// What to say of those that the patterns select. `armed`: classes were armed just now.
    pub fn warnings(
        &self,
        (tool, registry): (Tool, &Registry),
        env: Env,
        patterns: &[MethodPattern],
        armed: bool,
    ) -> Vec<String> {
        // Of one name there may be several classes.
        let hit = |label: &Label| {
            let classes = registry.named(&label.0.replace('.', "/"));
            let chosen = |c: &Arc<Class>| Chosen::of(tool, env, c, patterns);
            let mut chosen = classes.iter().map(chosen);
            chosen.any(|chosen| chosen.selects(&label.1, &label.2))
        };
        let before: Vec<Label> = self.known().keys().cloned().collect();
        if armed || before.iter().any(hit) {
            self.look(tool, env);
        }
        let known = self.known().clone();
        let of = known.iter().filter(|(label, _)| hit(label));
        of.map(|((class, name, _), count)| {
            let (activations, they) = match count {
                1 => ("1 activation".to_owned(), "it is"),
                n => (format!("{n} activations"), "they are"),
            };
            format!(
                "{activations} of {class}::{name} began before the class was armed: {they} not seen until the return (under `veneer run` each is)"
            )
        })
        .collect()
    }
}
