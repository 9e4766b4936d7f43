//! Finds the classes and methods that threads run, by the names in Java's own stack traces.
//!
//! JVMTI describes a frame by a method id. HotSpot up to JDK 25 keeps the method ids of a class for
//! ever, even after the class is unloaded (JDK-8268406). This costs about 150 bytes for each version
//! that a JVMTI stack walk meets. Stack traces of Java code have no method ids. So the agent's
//! threads check these traces first. Usually no activation is in the version of interest, and then
//! no JVMTI walk is needed.

use crate::jvm::jni::{Env, JvmError, ObjectField, Static, jobject, l};
use std::sync::Arc;

/// The JDK's private methods behind `Thread.getAllStackTraces`.
pub struct Stacks {
    threads: Static,
    dump: Static,
    class: ObjectField,
    method: ObjectField,
}

/// Whether a class name in Java form is that of a version.
pub fn is_version(class: &str) -> bool {
    class.contains("$V/")
}

/// The classes and methods of interest in [`Stacks::methods`], and those that were found.
pub trait FrameSearch {
    /// Whether the names of this class's methods are to be read.
    fn wants(&self, class: &str) -> bool;

    /// An activation of a wanted class, and the class of the activation that it has called, if any.
    /// Stack traces omit hidden frames. Returns whether the search is complete.
    fn found(&mut self, class: &str, method: &str, callee: Option<&str>) -> bool;
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
            method: env.object_field(frame, c"methodName", text).ok()?,
        })
    }

    /// Calls `seen` with the class name of each activation of a version, until `seen` returns true.
    /// Activations of virtual threads are not found.
    ///
    /// # Errors
    /// The JVM could not make the stack traces, for example because the heap is full.
    pub fn versions(&self, env: Env, seen: &mut dyn FnMut(&str) -> bool) -> Result<(), JvmError> {
        self.frames(env, &mut |class, _, _| is_version(class) && seen(class))
    }

    /// Searches the activations of all platform threads. Activations of virtual threads are not
    /// found.
    ///
    /// # Errors
    /// The JVM could not make the stack traces, for example because the heap is full.
    pub fn methods(&self, env: Env, search: &mut dyn FrameSearch) -> Result<(), JvmError> {
        self.frames(env, &mut |class, frame, callee| {
            if !search.wants(class) {
                return false;
            }
            // SAFETY: the frame is a `StackTraceElement`, whose field `methodName` is a string. The
            // reference is not used after its deletion.
            let method = unsafe {
                let name = env.get_object(frame, self.method);
                let method = env.string(name);
                env.delete(name);
                method
            };
            method.is_some_and(|method| search.found(class, &method, callee))
        })
    }

    /// Calls `seen` for each activation, until `seen` returns true: with the name of its class, its
    /// `StackTraceElement`, and the class of the activation that it has called.
    fn frames(
        &self,
        env: Env,
        seen: &mut dyn FnMut(&str, jobject, Option<&str>) -> bool,
    ) -> Result<(), JvmError> {
        env.frame(|env| {
            // SAFETY: `getThreads` has no parameters, and returns an array of threads.
            let threads = unsafe { env.object(&self.threads, &[], || "listing threads".into()) }?;
            let what = || "asking for stack traces".into();
            // SAFETY: `dumpThreads` takes an array of threads.
            let stacks = unsafe { env.object(&self.dump, &[l(threads)], what) }?;
            // SAFETY: `dumpThreads` returns an array of arrays of `StackTraceElement`. Each index is
            // below the length of its array, and `declaringClass` is a string of that class. No
            // reference is used after its deletion.
            unsafe {
                for t in 0..env.length(stacks) {
                    let stack = env.element(stacks, t);
                    let mut callee: Option<String> = None;
                    for i in 0..env.length(stack) {
                        let frame = env.element(stack, i);
                        let class = env.get_object(frame, self.class);
                        let name = env.string(class);
                        env.delete(class);
                        let seen = |name: &String| seen(name, frame, callee.as_deref());
                        let is_complete = name.as_ref().is_some_and(seen);
                        env.delete(frame);
                        callee = name;
                        if is_complete {
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
