//! Whether class loaders find the runtime classes that armed code and versions refer to.
//!
//! The JVM resolves those names through the loader of the armed class. A loader that hides the
//! runtime classes would break the class, so the agent asks each loader once, before it arms the
//! loader's first class. It asks on the thread that loads that class, because no thread of the
//! agent may call a class loader. The JVM records the answer, and never asks the loader for these
//! classes again.
//!
//! Up to JDK 23, the JVM also records for which protection domains it has admitted a class. When a
//! class of a new domain refers to it for the first time, the JVM admits it, and takes the lock of a
//! loader that is not parallel capable. Armed code refers to the runtime classes at any moment, for
//! example while its thread holds another lock, so the application could deadlock. Therefore the
//! agent has the classes admitted to each domain on the thread that loads the domain's first class,
//! which holds the loader's lock anyway.
//!
//! A loader whose classes were all loaded before the agent attached is not asked, because no thread
//! of the application loads a class through it while the agent arms them.

use crate::jvm::jni::{Env, Reference, WeakGlobal, jclass, jobject};
use crate::jvm::runtime_table::{CLASSES, PACKAGE};
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::sync::Arc;

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
    loader: WeakGlobal,
    /// The reason why the loader does not find the classes, if it does not.
    hidden: Option<Arc<str>>,
    /// The protection domains to which the classes were admitted.
    domains: Vec<WeakGlobal>,
}

/// Has the JVM find all classes that emitted code refers to for Veneer's own purposes, as `referrer`
/// would ([`Env::find_in`]). Sets [`IS_CHECKING`] meanwhile.
///
/// # Errors
/// The text of the first exception.
fn find_needed_classes(env: Env, loader: jobject, referrer: jclass) -> Result<(), Arc<str>> {
    let runtime = CLASSES.iter().filter(|c| c.is_named_by_emitted_code);
    let runtime = runtime.map(|class| format!("{PACKAGE}{}", class.name));
    let mut needed = runtime.chain(NEEDED_CLASSES.map(str::to_string));
    IS_CHECKING.set(true);
    let failure = needed.find_map(|name| {
        let found = env.find_in(&name, loader, referrer);
        // SAFETY: `find_in` has made the local reference, which is not used again.
        found.map(|class| unsafe { env.delete(class) }).err()
    });
    IS_CHECKING.set(false);
    failure.map_or(Ok(()), |e| Err(e.to_string().into()))
}

/// The loaders that have been asked, with their answers.
#[derive(Default)]
pub struct RuntimeAccess {
    asked: Mutex<Vec<AskedLoader>>,
}

impl RuntimeAccess {
    fn asked(&self) -> MutexGuard<'_, Vec<AskedLoader>> {
        self.asked.lock()
    }

    /// The loader's answer; `None` if the loader has not been asked.
    fn answer(&self, env: Env, loader: jobject) -> Option<Result<(), Arc<str>>> {
        let asked = self.asked();
        let known = asked
            .iter()
            .rev()
            .find(|a| env.refers_to(&a.loader, loader));
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
        let hidden = find_needed_classes(env, loader, Reference::NULL).err();
        let mut asked = self.asked();
        asked.retain(|a| !env.is_cleared(&a.loader));
        asked.push(AskedLoader {
            loader: env.weak(loader),
            hidden: hidden.clone(),
            domains: Vec::new(),
        });
        hidden.map_or(Ok(()), Err)
    }

    /// Has the JVM admit the runtime classes to the protection domain of `anchor`, a class of this
    /// loader. This thread must be loading a class through the loader.
    ///
    /// # Errors
    /// The text of the exception that the JVM threw.
    pub fn admit(
        &self,
        env: Env,
        loader: jobject,
        domain: jobject,
        anchor: jclass,
    ) -> Result<(), Arc<str>> {
        if loader.is_null() || domain.is_null() {
            return Ok(());
        }
        let is_admitted = self.asked().iter().any(|asked| {
            env.refers_to(&asked.loader, loader)
                && asked.domains.iter().any(|d| env.refers_to(d, domain))
        });
        // Code that decides on admission can itself load a class of this domain.
        if is_admitted || IS_CHECKING.get() {
            return Ok(());
        }
        // As in `check`, no lock is held while Java code runs.
        find_needed_classes(env, loader, anchor)?;
        let mut asked = self.asked();
        if let Some(asked) = asked
            .iter_mut()
            .find(|asked| env.refers_to(&asked.loader, loader))
        {
            asked.domains.retain(|d| !env.is_cleared(d));
            asked.domains.push(env.weak(domain));
        }
        Ok(())
    }
}
