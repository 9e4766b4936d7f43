//! In which versions threads stand, by name.
//!
//! JVMTI names frames by method ids, and HotSpot keeps the ids of a class for ever, also when the class is unloaded (JDK-8268406;
//! mended after JDK 25): about 150 bytes for each version that a look at the stacks has met. Stack traces as Java code gets them
//! have no ids. So those are looked at first; mostly nobody stands where a figure is asked for, and that is that.

use crate::jvm::jni::{Env, Global, JvmError, ObjectField, Static, l};

/// The JDK's own ways to stack traces of other threads: those of `Thread.getAllStackTraces`.
pub struct Stacks {
    threads: Static,
    dump: Static,
    class: ObjectField,
    /// Keeps the ids valid.
    _owners: [Global; 2],
}

impl Stacks {
    /// `None` where this JDK has other ways.
    pub fn find(env: Env) -> Option<Stacks> {
        let thread = env.global(env.find(c"java/lang/Thread").ok()?);
        let frame = env.global(env.find(c"java/lang/StackTraceElement").ok()?);
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
            class: env.object_field(&frame, c"declaringClass", text).ok()?,
            _owners: [thread, frame],
        })
    }

    /// Calls `seen` with the name of the class of each activation of a version, until it says that it has seen enough. Virtual
    /// threads that no thread carries are not among them.
    pub fn versions(&self, env: Env, seen: &mut dyn FnMut(&str) -> bool) -> Result<(), JvmError> {
        env.frame(|env| {
            let threads = env.object(self.threads, &[], || "listing threads".into())?;
            let what = || "asking for stack traces".into();
            let stacks = env.object(self.dump, &[l(threads)], what)?;
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
            Ok(())
        })
    }
}
