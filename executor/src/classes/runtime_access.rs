//! Whether class loaders find the runtime classes that armed code and versions name.
//!
//! The JVM resolves those names through the loader of the armed class. A loader that hides them would break the class, so the
//! agent asks each loader once, before it arms the loader's first class. It asks in the thread that loads that class: no thread of
//! the agent calls a class loader. The JVM records the answer, and never asks the loader for these classes again.
//!
//! A loader whose classes were all loaded before the agent attached is not asked, because no thread of the application loads a class
//! through it while the agent arms them.

use crate::jvm::jni::{Env, Global, jobject};
use crate::jvm::runtime_table::{CLASSES, PACKAGE};
use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};

/// The classes of the JDK that armed code, anchors and versions name for Veneer's own purposes. They
/// also name runtime classes, which the table [`CLASSES`] lists.
const NAMED: [&str; 11] = [
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/MethodHandles$Lookup",
    "java/lang/invoke/MethodType",
    "java/lang/invoke/CallSite",
    "java/lang/Object",
    "java/lang/String",
    "java/lang/Throwable",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Float",
    "java/lang/Double",
];

thread_local! {
    /// This thread is asking a loader.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// A loader that was asked: a weak reference to it, and why it does not find the classes, if it does not.
struct Asked {
    loader: Global,
    hidden: Option<Arc<str>>,
}

/// The loaders that were asked.
#[derive(Default)]
pub struct RuntimeAccess {
    asked: Mutex<Vec<Asked>>,
}

impl RuntimeAccess {
    fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The loader's answer; `None` if the agent has not asked the loader.
    fn answer(&self, env: Env, loader: jobject) -> Option<Result<(), Arc<str>>> {
        let asked = self.asked();
        let known = asked
            .iter()
            .rev()
            .find(|a| env.same(a.loader.raw(), loader));
        known.map(|a| a.hidden.clone().map_or(Ok(()), Err))
    }

    /// Whether armed code in a loader finds the runtime classes. `loads`: this thread is loading a class through the loader, so the
    /// loader may be asked.
    ///
    /// # Errors
    /// The text of the exception that the loader threw. Or a text that says that the loader loads the class in order to answer: then the
    /// class cannot be armed.
    pub fn check(&self, env: Env, loader: jobject, loads: bool) -> Result<(), Arc<str>> {
        if loader.is_null() {
            return Ok(());
        }
        if let Some(answer) = self.answer(env, loader) {
            return answer;
        }
        if !loads {
            return Ok(());
        }
        if ASKS.get() {
            return Err(
                "the class loader loads this class in order to find a class of the JDK".into(),
            );
        }
        // No lock is held meanwhile. Two threads may ask one loader; their answers are the same.
        ASKS.set(true);
        let runtime = CLASSES.iter().filter(|c| c.is_named_by_emitted_code);
        let runtime = runtime.map(|class| format!("{PACKAGE}{}", class.name));
        let mut named = runtime.chain(NAMED.map(str::to_string));
        let hidden = named.find_map(|name| {
            let found = env.find_in(&name, loader);
            found.map(|class| env.delete(class)).err()
        });
        ASKS.set(false);
        let hidden: Option<Arc<str>> = hidden.map(|e| e.to_string().into());
        let mut asked = self.asked();
        asked.retain(|a| !env.is_cleared(&a.loader));
        asked.push(Asked {
            loader: env.weak(loader),
            hidden: hidden.clone(),
        });
        hidden.map_or(Ok(()), Err)
    }
}
