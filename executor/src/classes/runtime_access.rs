//! Whether class loaders find the runtime classes that armed code and versions refer to.
//!
//! The JVM resolves those names through the loader of the armed class. A loader that hides the
//! runtime classes would break the class, so the agent asks each loader once, before it arms the
//! loader's first class. It asks on the thread that loads that class, because no thread of the
//! agent may call a class loader. The JVM records the answer, and never asks the loader for these
//! classes again.
//!
//! A loader whose classes were all loaded before the agent attached is not asked, because no thread
//! of the application loads a class through it while the agent arms them.

use crate::jvm::jni::{Env, Global, jobject};
use crate::jvm::runtime_table::{CLASSES, PACKAGE};
use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};

/// The classes of the JDK that armed code, anchors and versions refer to for Veneer's own purposes.
/// They also refer to runtime classes, which the table [`CLASSES`] lists.
const NEEDED_CLASSES: [&str; 11] = [
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
    /// Whether this thread is asking a loader now.
    static IS_CHECKING: Cell<bool> = const { Cell::new(false) };
}

/// A loader that has been asked.
struct AskedLoader {
    /// A weak reference.
    loader: Global,
    /// The reason why the loader does not find the classes, if it does not.
    hidden: Option<Arc<str>>,
}

/// The loaders that have been asked, with their answers.
#[derive(Default)]
pub struct RuntimeAccess {
    asked: Mutex<Vec<AskedLoader>>,
}

impl RuntimeAccess {
    fn asked(&self) -> MutexGuard<'_, Vec<AskedLoader>> {
        self.asked.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The loader's answer; `None` if the loader has not been asked.
    fn answer(&self, env: Env, loader: jobject) -> Option<Result<(), Arc<str>>> {
        let asked = self.asked();
        let known = asked
            .iter()
            .rev()
            .find(|a| env.same(a.loader.raw(), loader));
        known.map(|a| a.hidden.clone().map_or(Ok(()), Err))
    }

    /// Checks that armed code of a loader's classes finds the runtime classes. If `is_loading` is
    /// true, this thread is loading a class through the loader, so the loader may be asked.
    ///
    /// # Errors
    /// The text of the exception that the loader threw. If the loader loads the current class in
    /// order to answer, the text says so, and the class cannot be armed.
    pub fn check(&self, env: Env, loader: jobject, is_loading: bool) -> Result<(), Arc<str>> {
        if loader.is_null() {
            return Ok(());
        }
        if let Some(answer) = self.answer(env, loader) {
            return answer;
        }
        if !is_loading {
            return Ok(());
        }
        if IS_CHECKING.get() {
            return Err(
                "the class loader loads this class in order to find a class of the JDK".into(),
            );
        }
        // No lock is held while the loader runs. If two threads ask the same loader, their answers
        // are the same.
        IS_CHECKING.set(true);
        let runtime = CLASSES.iter().filter(|c| c.is_named_by_emitted_code);
        let runtime = runtime.map(|class| format!("{PACKAGE}{}", class.name));
        let mut needed = runtime.chain(NEEDED_CLASSES.map(str::to_string));
        let hidden = needed.find_map(|name| {
            let found = env.find_in(&name, loader);
            found.map(|class| env.delete(class)).err()
        });
        IS_CHECKING.set(false);
        let hidden: Option<Arc<str>> = hidden.map(|e| e.to_string().into());
        let mut asked = self.asked();
        asked.retain(|a| !env.is_cleared(&a.loader));
        asked.push(AskedLoader {
            loader: env.weak(loader),
            hidden: hidden.clone(),
        });
        hidden.map_or(Ok(()), Err)
    }
}
