//! Which frames belong to a library: the JDK, a logging framework, or a database driver. A sample
//! blames the innermost frame outside libraries, because a user can change that line.

use veneer_client::thread_dump::{DumpedFrame, DumpedThread};

/// Prefixes of classes of the JDK.
const JDK: [&str; 6] = ["java.", "javax.", "jdk.", "sun.", "com.sun.", "oracle."];
/// Prefixes of classes of logging frameworks.
const LOGGING: [&str; 5] = [
    "org.slf4j.",
    "ch.qos.logback.",
    "org.apache.logging.",
    "org.apache.log4j.",
    "org.apache.commons.logging.",
];
/// The methods of `java.sql.Statement` that execute a statement.
const EXECUTE: [&str; 6] = [
    "execute",
    "executeQuery",
    "executeUpdate",
    "executeBatch",
    "executeLargeUpdate",
    "executeLargeBatch",
];
/// Methods of the JDK in which a thread waits for work, for a connection, or for another thread's
/// end.
const IDLE: [(&str, &str); 8] = [
    ("java.util.concurrent.ThreadPoolExecutor", "getTask"),
    ("java.util.concurrent.ForkJoinPool", "awaitWork"),
    ("java.lang.Thread", "join"),
    ("sun.nio.ch.EPoll", "wait"),
    ("sun.nio.ch.Net", "accept"),
    ("java.net.ServerSocket", "accept"),
    ("sun.nio.ch.NioSocketImpl", "accept"),
    ("java.lang.ref.ReferenceQueue", "remove"),
];
/// Queues in whose method `take` a thread waits for work, or for an object of a pool.
const QUEUES: [&str; 5] = [
    "java.util.concurrent.LinkedBlockingQueue",
    "java.util.concurrent.ArrayBlockingQueue",
    "java.util.concurrent.LinkedBlockingDeque",
    "java.util.concurrent.SynchronousQueue",
    "java.util.concurrent.DelayQueue",
];
/// Methods of the JDK in which the main thread of a service waits for time to pass, for a signal, or
/// for a line of standard input.
const MAIN_WAITS: [(&str, &str); 5] = [
    ("java.lang.Thread", "sleep"),
    ("java.lang.Object", "wait"),
    ("jdk.internal.misc.Unsafe", "park"),
    ("java.io.FileInputStream", "readBytes"),
    ("java.io.FileInputStream", "read0"),
];
/// The most methods of the application on the stack of a thread that takes its work from a queue:
/// the loop of a worker and its caller. A deeper stack waits in the middle of its work, for
/// instance for a connection of a pool.
const MAX_WORKER_METHODS: usize = 2;

/// The frames of a stack that a sample reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blame {
    /// The index of the innermost frame that the sample blames. Smaller indices are frames of
    /// libraries.
    pub leaf: usize,
    /// Whether the blamed frame executes a statement of a database.
    pub is_statement: bool,
}

/// Returns the frame that a sample of a stack blames. `None` if all frames belong to the JDK.
pub fn blame(frames: &[DumpedFrame]) -> Option<Blame> {
    let is_own = |frame: &DumpedFrame| !is_jdk(frame) && !is_logging(frame);
    if let Some(statement) = frames.iter().rposition(executes_statement) {
        // Frame 0 of this slice is a method of the driver.
        let caller = frames[statement..]
            .iter()
            .position(|frame| is_own(frame) && !is_same_package(frame, &frames[statement]));
        if let Some(caller) = caller.filter(|caller| *caller > 0) {
            return Some(Blame {
                leaf: statement + caller,
                is_statement: true,
            });
        }
    }
    let own = frames.iter().position(is_own);
    let mut leaf = own.or_else(|| frames.iter().position(|frame| !is_jdk(frame)))?;
    // The constructors of an exception belong to the line that makes the exception.
    while is_exception_constructor(&frames[leaf]) && leaf + 1 < frames.len() {
        leaf += 1;
    }
    Some(Blame {
        leaf,
        is_statement: false,
    })
}

/// Returns whether a frame belongs to the JDK.
pub fn is_jdk(frame: &DumpedFrame) -> bool {
    frame
        .module
        .as_deref()
        .is_some_and(|module| module.starts_with("java.") || module.starts_with("jdk."))
        || JDK.iter().any(|prefix| frame.class.starts_with(prefix))
}

fn is_logging(frame: &DumpedFrame) -> bool {
    LOGGING.iter().any(|prefix| frame.class.starts_with(prefix))
}

/// Returns whether a frame executes a statement of a database. A dump does not show interfaces, so
/// the names decide: `JdbcPreparedStatement.executeQuery`.
fn executes_statement(frame: &DumpedFrame) -> bool {
    EXECUTE.contains(&frame.method.as_str())
        && !frame.class.starts_with("java.")
        && (frame.class.ends_with("Statement") || frame.class.ends_with("StatementWrapper"))
}

/// Returns whether two classes have the same package, which is not the default package.
fn is_same_package(frame: &DumpedFrame, other: &DumpedFrame) -> bool {
    let package = |frame: &DumpedFrame| Some(frame.class.rsplit_once('.')?.0.to_owned());
    package(frame).is_some_and(|name| package(other) == Some(name))
}

fn is_exception_constructor(frame: &DumpedFrame) -> bool {
    frame.method == "<init>"
        && (frame.class.ends_with("Exception") || frame.class.ends_with("Error"))
}

/// Returns whether a frame is that of a worker that asks its pool for work. Servers have pools of their
/// own, which are made after that of the JDK: `org.apache.tomcat.util.threads.ThreadPoolExecutor`.
fn asks_for_work(frame: &DumpedFrame) -> bool {
    frame.method == "getTask" && frame.class.ends_with(".ThreadPoolExecutor")
}

/// Returns whether a thread waits for work: a frame of the JDK inside the innermost frame of the
/// application is listed, or the thread asks its pool for work.
pub fn is_idle(thread: &DumpedThread) -> bool {
    if thread.frames.iter().any(asks_for_work) {
        return true;
    }
    let mut called = thread.frames.iter().take_while(|frame| is_jdk(frame));
    called.any(|frame| {
        let is_listed = IDLE
            .iter()
            .any(|(class, method)| frame.class == *class && frame.method == *method);
        let takes = frame.method == "take" && QUEUES.contains(&frame.class.as_str());
        is_listed || takes && own_methods(thread) <= MAX_WORKER_METHODS
    })
}

/// Returns whether a thread is the main thread, and waits in `main` itself. A service does its work
/// in other threads then.
pub fn waits_in_main(thread: &DumpedThread) -> bool {
    let own = thread.frames.iter().position(|frame| !is_jdk(frame));
    let Some(own) = own.filter(|_| thread.name == "main" && own_methods(thread) == 1) else {
        return false;
    };
    let waits = |frame: &DumpedFrame| {
        let called = (frame.class.as_str(), frame.method.as_str());
        MAIN_WAITS.contains(&called)
    };
    thread.frames[own].method == "main" && thread.frames[..own].iter().any(waits)
}

/// Returns the number of frames of the application, without the frames of lambda classes.
fn own_methods(thread: &DumpedThread) -> usize {
    let own = thread.frames.iter();
    own.filter(|frame| !is_jdk(frame) && !frame.class.contains("$$Lambda"))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_client::thread_dump::parse;

    fn thread(frames: &[&str]) -> DumpedThread {
        named_thread("t", frames)
    }

    fn named_thread(name: &str, frames: &[&str]) -> DumpedThread {
        let mut dump = format!("\"{name}\" #1 prio=5\n   java.lang.Thread.State: RUNNABLE\n");
        for frame in frames {
            dump.push_str(&format!("\tat {frame}\n"));
        }
        parse(&dump).remove(0)
    }

    fn leaf(frames: &[&str]) -> Option<(usize, bool)> {
        blame(&thread(frames).frames).map(|blame| (blame.leaf, blame.is_statement))
    }

    #[test]
    fn a_sample_blames_the_innermost_line_outside_libraries() {
        assert_eq!(leaf(&["java.util.HashMap.get(HashMap.java:1)"]), None);
        let log = [
            "java.io.FileOutputStream.writeBytes(Native Method)",
            "ch.qos.logback.core.FileAppender.append(FileAppender.java:7)",
            "com.shop.Desk.serve(Desk.java:20)",
        ];
        assert_eq!(leaf(&log), Some((2, false)));
        let exception = [
            "java.lang.Throwable.fillInStackTrace(java.base@17/Native Method)",
            "com.shop.OrderException.<init>(OrderException.java:3)",
            "com.shop.Desk.serve(Desk.java:20)",
        ];
        assert_eq!(leaf(&exception), Some((2, false)));
    }

    #[test]
    fn the_caller_of_a_driver_is_blamed_for_its_statement() {
        let query = [
            "org.h2.mvstore.MVMap.get(MVMap.java:5)",
            "org.h2.jdbc.JdbcPreparedStatement.executeQuery(JdbcPreparedStatement.java:88)",
            "com.zaxxer.hikari.pool.ProxyPreparedStatement.executeQuery(ProxyPreparedStatement.java:52)",
            "com.zaxxer.hikari.pool.HikariProxyPreparedStatement.executeQuery(Unknown Source)",
            "com.shop.Dao.find(Dao.java:12)",
        ];
        assert_eq!(leaf(&query), Some((4, true)));
    }

    #[test]
    fn the_main_thread_waits_in_main_and_not_in_a_method_that_main_calls() {
        let input = [
            "java.io.FileInputStream.readBytes(java.base@17/Native Method)",
            "java.io.BufferedReader.readLine(java.base@17/BufferedReader.java:396)",
            "shop.Service.main(Service.java:20)",
        ];
        let sleep = [
            "java.lang.Thread.sleep(java.base@17/Native Method)",
            "shop.Shop.main(Shop.java:9)",
        ];
        for frames in [&input[..], &sleep[..]] {
            assert!(waits_in_main(&named_thread("main", frames)));
            assert!(!waits_in_main(&named_thread("worker", frames)));
        }
        let batch = [sleep[0], "shop.Desk.retry(Desk.java:3)", sleep[1]];
        assert!(!waits_in_main(&named_thread("main", &batch)));
        let works = ["java.util.HashMap.get(HashMap.java:1)", sleep[1]];
        assert!(!waits_in_main(&named_thread("main", &works)));
        assert!(!waits_in_main(&named_thread("main", &sleep[..1])));
    }

    #[test]
    fn a_worker_that_takes_work_is_idle_and_a_request_that_takes_a_connection_is_not() {
        let worker = [
            "jdk.internal.misc.Unsafe.park(java.base@17/Native Method)",
            "java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:1)",
            "com.shop.Worker.loop(Worker.java:9)",
            "com.shop.Worker.run(Worker.java:4)",
        ];
        assert!(is_idle(&thread(&worker)));
        let mut request = worker.to_vec();
        request.push("com.shop.Server.handle(Server.java:30)");
        assert!(!is_idle(&thread(&request)));
        let of_server = [
            worker[0],
            worker[1],
            "org.apache.tomcat.util.threads.TaskQueue.take(TaskQueue.java:117)",
            "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1113)",
            "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1176)",
            "org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run(TaskThread.java:63)",
        ];
        assert!(is_idle(&thread(&of_server)));
        assert!(!is_idle(&thread(&of_server[4..])));
    }
}
