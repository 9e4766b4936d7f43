//! Finds the versions that running activations are in, by the names of their classes.
//!
//! JVMTI describes a frame by a method id. HotSpot up to JDK 25 keeps the method ids of a class for
//! ever, even after the class is unloaded (JDK-8268406). This costs about 150 bytes for each version
//! that a JVMTI stack walk meets. Stack traces of Java code have no method ids. So the agent's
//! threads check these traces first. Usually no activation is in the version of interest, and then
//! no JVMTI walk is needed.

use crate::jvm::jni::{Env, JvmError, ObjectField, Static, l};
use std::sync::Arc;

/// The JDK's private methods behind `Thread.getAllStackTraces`.
pub struct Stacks {
    threads: Static,
    dump: Static,
    class: ObjectField,
}

impl Stacks {
    /// Finds the methods. `None` if this JDK does not have them.
    pub fn find(env: Env) -> Option<Stacks> {
        let thread = Arc::new(env.global(env.find(c"java/lang/Thread").ok()?));
        let frame = env.find(c"java/lang/StackTraceElement").ok()?;
        let text = c"Ljava/lang/String;";
        Some(Stacks {
            threads: env
                .static_method(&thread, c"getThreads", c"()[Ljava/lang/Thread;")
                .ok()?,
            dump: env
                .static_method(
                    &thread,
                    c"dumpThreads",
                    c"([Ljava/lang/Thread;)[[Ljava/lang/StackTraceElement;",
                )
                .ok()?,
            class: env.object_field(frame, c"declaringClass", text).ok()?,
        })
    }

    /// Calls `seen` with the class name of each activation of a version, until `seen` returns true.
    /// Activations of unmounted virtual threads are not found.
    pub fn versions(&self, env: Env, seen: &mut dyn FnMut(&str) -> bool) -> Result<(), JvmError> {
        env.frame(|env| {
            // SAFETY: `getThreads` has no parameters, and returns an array of threads.
            let threads = unsafe { env.object(&self.threads, &[], || "listing threads".into()) }?;
            let what = || "asking for stack traces".into();
            // SAFETY: `dumpThreads` takes an array of threads.
            let stacks = unsafe { env.object(&self.dump, &[l(threads)], what) }?;
            // SAFETY: `dumpThreads` returns an array of arrays of `StackTraceElement`. Each index is
            // below the length of its array, and `declaringClass` is a string of that class.
            unsafe {
                for t in 0..env.length(stacks) {
                    let stack = env.element(stacks, t);
                    for i in 0..env.length(stack) {
                        let frame = env.element(stack, i);
                        let class = env.get_object(frame, self.class);
                        let name = env.string(class).filter(|name| name.contains("$V/"));
                        env.delete(class);
                        env.delete(frame);
                        if name.is_some_and(|name| seen(&name)) {
                            return Ok(());
                        }
                    }
                    env.delete(stack);
                }
            }
            Ok(())
        })
    }
}
