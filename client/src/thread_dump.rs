//! Thread dumps of a JVM: the stack, the state and the monitors of each thread.
//!
//! HotSpot's attach protocol has the command `threaddump`, so no agent is needed and nothing of the
//! JVM is changed. The JVM stops all threads while it writes the dump.
//!
//! ```text
//!   "http-1" #12 prio=5 cpu=12.34ms elapsed=10.20s allocated=646K tid=0x… waiting for monitor entry
//!      java.lang.Thread.State: BLOCKED (on object monitor)
//!           at com.shop.Desk.audit(Desk.java:41)              a frame, the innermost first
//!           - waiting to lock <0x00000000e1> (a Object)       a monitor that the thread waits for
//!           at com.shop.Desk.serve(Desk.java:20)
//!           - locked <0x00000000e2> (a com.shop.Desk)         a monitor that the frame entered
//! ```

use std::time::Duration;

use crate::attach_command::{self, AttachCommandError};
use crate::target::Target;

/// The state of a thread, as `java.lang.Thread.State` and HotSpot's remark describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// The thread runs Java code or native code. A native method may wait.
    Runnable,
    /// The thread waits to enter a monitor.
    Blocked,
    /// The thread waits in `Thread.sleep`.
    Sleeping,
    /// The thread waits in `LockSupport.park`.
    Parking,
    /// The thread waits in `Object.wait`.
    Waiting,
    /// The thread has not begun, has ended, or is in a state that this list does not contain.
    Other,
}

/// One frame of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpedFrame {
    /// The class in Java form.
    pub class: String,
    /// The name of the method.
    pub method: String,
    /// The module, if the class is in a named one.
    pub module: Option<String>,
    /// The source file. A native method has none.
    pub file: Option<String>,
    /// The line in the source file, from 1.
    pub line: Option<u32>,
    /// The monitors that the frame entered, by address.
    pub locked: Vec<String>,
}

/// One Java thread of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedThread {
    /// The name of the thread, which is not unique.
    pub name: String,
    /// The id of the thread within the JVM.
    pub id: Option<u64>,
    /// The processor time of the thread since its start.
    pub processor: Option<Duration>,
    /// The bytes that the thread has allocated since its start. HotSpot rounds them to at least
    /// four digits.
    pub allocated_bytes: Option<u64>,
    /// The state of the thread.
    pub state: ThreadState,
    /// The frames, the innermost first.
    pub frames: Vec<DumpedFrame>,
    /// The address of the monitor that the thread waits to enter.
    pub waits_for: Option<String>,
}

/// Takes a thread dump with the processor time and the allocated bytes of each thread.
///
/// # Errors
/// Attaching to the JVM fails, or the JVM does not answer.
pub fn thread_dump(target: &Target) -> Result<Vec<DumpedThread>, AttachCommandError> {
    // The letter `e` asks for extended information: the allocated bytes.
    let dump = attach_command::run(target, "threaddump", "e")?;
    Ok(parse(&dump))
}

/// Reads the text of a dump. Threads of the JVM itself, which have no Java state, are left out.
pub fn parse(dump: &str) -> Vec<DumpedThread> {
    let mut threads: Vec<DumpedThread> = Vec::new();
    // The first line of a thread whose state has not been read yet.
    let mut header: Option<&str> = None;
    let mut is_open = false;
    for line in dump.lines() {
        let text = line.trim();
        if let Some(found) = line.strip_prefix('"') {
            header = Some(found);
            is_open = false;
        } else if let Some(state) = text.strip_prefix("java.lang.Thread.State: ") {
            let thread = header.take().and_then(|header| thread(header, state));
            is_open = thread.is_some();
            threads.extend(thread);
        } else if text.is_empty() {
            // Sections without a name, such as the list of deadlocks, follow an empty line.
            is_open = false;
        } else if let (true, Some(thread)) = (is_open, threads.last_mut()) {
            add_line(thread, text);
        }
    }
    threads
}

/// Reads the first line of a thread, without the first quote: the name and the attributes.
fn thread(header: &str, state: &str) -> Option<DumpedThread> {
    // A name can contain quotes; the attributes after it cannot.
    let (name, attributes) = header.rsplit_once('"')?;
    let attribute = |prefix: &str| {
        let mut words = attributes.split_whitespace();
        words.find_map(|word| word.strip_prefix(prefix))
    };
    Some(DumpedThread {
        name: name.to_owned(),
        id: attribute("#").and_then(|id| id.parse().ok()),
        processor: attribute("cpu=").and_then(milliseconds),
        allocated_bytes: attribute("allocated=").and_then(bytes),
        state: thread_state(state),
        frames: Vec::new(),
        waits_for: None,
    })
}

/// Reads `52.10ms`.
fn milliseconds(text: &str) -> Option<Duration> {
    let number: f64 = text.strip_suffix("ms")?.parse().ok()?;
    Duration::try_from_secs_f64(number / 1e3).ok()
}

/// Reads `0B`, `646K`, `5144M` or `12G`.
fn bytes(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let shift = match unit {
        "B" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn add_line(thread: &mut DumpedThread, text: &str) {
    if let Some(frame) = text.strip_prefix("at ") {
        thread.frames.extend(parse_frame(frame));
        return;
    }
    let address = || {
        let (_, rest) = text.split_once('<')?;
        rest.split_once('>').map(|(address, _)| address.to_owned())
    };
    if text.starts_with("- waiting to lock ") {
        thread.waits_for = address();
    } else if text.starts_with("- locked ")
        && let (Some(frame), Some(address)) = (thread.frames.last_mut(), address())
    {
        frame.locked.push(address);
    }
}

/// Reads a frame: `com.shop.Desk.audit(Desk.java:41)`, `java.lang.Thread.sleep(java.base@17/Native
/// Method)`.
fn parse_frame(text: &str) -> Option<DumpedFrame> {
    let (name, source) = text.strip_suffix(')')?.split_once('(')?;
    let (class, method) = name.rsplit_once('.')?;
    let (module, source) = match source.split_once('/') {
        Some((module, source)) => (Some(module), source),
        None => (None, source),
    };
    let (file, line) = match source.rsplit_once(':') {
        Some((file, line)) => (Some(file), line.parse().ok()),
        None => (Some(source).filter(|s| s.contains('.')), None),
    };
    Some(DumpedFrame {
        class: class_name(class).to_owned(),
        method: method.to_owned(),
        module: module.map(|m| m.split('@').next().unwrap_or(m).to_owned()),
        file: file.map(str::to_owned),
        line,
        locked: Vec::new(),
    })
}

/// Removes the name of a class loader before a class (`app//com.shop.Desk`), and the address after a
/// hidden class (`com.shop.Desk$$Lambda/0x00007f`).
fn class_name(text: &str) -> &str {
    let class = text.rsplit_once("//").map_or(text, |(_, class)| class);
    class.split_once("/0x").map_or(class, |(class, _)| class)
}

fn thread_state(text: &str) -> ThreadState {
    match text.split_once(' ').unwrap_or((text, "")) {
        ("RUNNABLE", _) => ThreadState::Runnable,
        ("BLOCKED", _) => ThreadState::Blocked,
        (_, "(sleeping)") => ThreadState::Sleeping,
        (_, "(parking)") => ThreadState::Parking,
        ("WAITING" | "TIMED_WAITING", _) => ThreadState::Waiting,
        _ => ThreadState::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = r#"2026-11-23 18:00:00
Full thread dump OpenJDK 64-Bit Server VM (17.0.9+9 mixed mode, sharing):

Threads class SMR info:
_java_thread_list=0x00007f, length=3, elements={
0x00007f0000, 0x00007f0001
}

"main" #1 prio=5 os_prio=0 cpu=52.10ms elapsed=3.10s allocated=646K defined_classes=7 tid=0x00007f nid=0x1a2b runnable  [0x00007f]
   java.lang.Thread.State: RUNNABLE
	at com.shop.Desk.price(Desk.java:41)
	- locked <0x00000000e1> (a java.lang.Object)
	at com.shop.Main.main(Main.java:7)

"a "quoted" name" #12 [77] prio=5 os_prio=0 cpu=0.11ms elapsed=3.00s tid=0x00 nid=77 waiting for monitor entry  [0x0]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at com.shop.Desk.audit(Desk.java:61)
	- waiting to lock <0x00000000e1> (a java.lang.Object)
	at app//com.shop.Desk$$Lambda/0x00007f.run(Unknown Source)
	at java.lang.Thread.run(java.base@17.0.9/Thread.java:840)

"sleeper" #13 prio=5 tid=0x nid=0x waiting on condition  [0x0]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17.0.9/Native Method)
	at com.shop.Retry.pause(Retry.java:9)

"GC Thread#0" os_prio=0 cpu=1.00ms elapsed=3.10s tid=0x nid=0x runnable

JNI global refs: 15, weak refs: 0
"#;

    #[test]
    fn threads_have_states_frames_and_monitors() {
        let threads = parse(DUMP);
        let names: Vec<&str> = threads.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["main", "a \"quoted\" name", "sleeper"]);
        let states: Vec<ThreadState> = threads.iter().map(|t| t.state).collect();
        assert_eq!(
            states,
            [
                ThreadState::Runnable,
                ThreadState::Blocked,
                ThreadState::Sleeping
            ]
        );
        assert_eq!((threads[0].id, threads[1].id), (Some(1), Some(12)));
        assert_eq!(threads[0].processor, Some(Duration::from_micros(52_100)));
        assert_eq!(threads[0].allocated_bytes, Some(646 << 10));
        assert_eq!(threads[2].processor, None);
        let price = &threads[0].frames[0];
        assert_eq!(
            (price.class.as_str(), price.line),
            ("com.shop.Desk", Some(41))
        );
        assert_eq!(
            price.locked,
            threads[1].waits_for.clone().into_iter().collect::<Vec<_>>()
        );
        let sleep = &threads[2].frames[0];
        assert_eq!(sleep.module.as_deref(), Some("java.base"));
        assert_eq!((sleep.file.as_deref(), sleep.line), (None, None));
        assert_eq!(threads[1].frames[1].class, "com.shop.Desk$$Lambda");
        assert_eq!(threads[1].frames[2].line, Some(840));
    }

    #[test]
    fn damaged_dumps_are_read_as_far_as_they_go() {
        for end in 0..DUMP.len() {
            parse(&DUMP[..end]);
        }
        assert!(parse("at x\n\"\n - locked <\n").is_empty());
    }
}
