//! `--tasks`: the part of the plan that puts the calls of a task below the context that submitted it.

/// Code that tells when a task begins and ends, and in which context it was submitted: tasks of the
/// thread pools of the JDK, and threads. A task of `ForkJoinPool` or `CompletableFuture` is submitted
/// where it is created, and any other task where it is given to a pool. A task may begin twice, because
/// the pool runs the task and the task runs itself.
pub const TASKS: &str = r#"
// Methods that run a task. Threads of pools that began before the recording are seen only here.
let runs = methods(["java.util.concurrent.ForkJoinTask::doExec(..)",
                    "java.util.concurrent.FutureTask::run()", "java.util.concurrent.FutureTask::runAndReset()",
                    "java.util.concurrent.CompletableFuture$*::run()"]);
let tasks = [
    m.calls("*..*::start()").before(code(|p| task_submitted(p.receiver))),
    methods("java.util.concurrent.CompletableFuture$*::execute(..)")
        .calls("java.lang.Thread::start()").before(code(|p| task_submitted(p.receiver))),
    methods(["java.util.concurrent.ThreadPoolExecutor::execute(..)",
             "java.util.concurrent.ScheduledThreadPoolExecutor::delayedExecute(..)"])
        .entry().before(code(|p| {
            if !is_a(p.local1, "java.util.concurrent.ForkJoinTask") { task_submitted(p.local1) }
        })),
    methods("java.util.concurrent.ThreadPoolExecutor::runWorker(..)")
        .calls("java.lang.Runnable::run()").before(code(|p| task_begins(p.receiver))),
    methods("java.util.concurrent.ThreadPoolExecutor::runWorker(..)")
        .calls("java.util.concurrent.ThreadPoolExecutor::afterExecute(..)").before(code(|p| task_ends())),
    methods("java.util.concurrent.ForkJoinTask::<init>(..)")
        .entry().before(code(|p| task_submitted(p.self))),
    runs.entry().before(code(|p| task_begins(p.self))),
    runs.after(code(|p| task_ends())),
];
"#;

/// The number of methods of thread pools that have no code of [`TASKS`]. JDK 17 gives its own classes
/// to an agent that comes late without their stack maps.
pub const UNFOLLOWED: &str = r#"refusals().filter(|r| r.class.starts_with("java.util.concurrent.")
    && r.reason == "TypesUnknown").len()"#;

/// Whether a warning says that code of [`TASKS`] is attached to nothing: the program may use no such
/// class.
pub fn is_about_tasks(warning: &str) -> bool {
    let subject = warning.trim_start_matches(|c| c != '`');
    subject.starts_with("`java.util.concurrent.") || warning.contains("`*..*::start()`")
}

/// The warning about thread pools that cannot have code.
pub const UNFOLLOWED_TASKS: &str = "tasks of the thread pools of the JDK are not followed: this JVM gives its own classes without stack maps to an agent that comes late (JDK 17 does); start the program with `veneer run`";
