//! Call stacks as keys of tallies: the value of `stack()` in code at a point.
//!
//! ```text
//!   VeneerProbe.stack ─▶ GetStackTrace of this thread ─▶ frames known to this thread? ─yes─▶ number of the stack
//!                                                              │ no
//!                        callee                                ▼        (method, bci) ─▶ meaning of the frame, asked for once
//!                        VeneerProbe.stack       omitted
//!                        Host$V.run$e17     ─┐   the bci of this code in the armed body
//!                        (LambdaForm …)      │   omitted
//!                        Host.m  at its stub ┴─▶ shop.Desk.serve:41
//! ```
//!
//! The application thread asks JVMTI for the frames of its own stack. That allocates nothing on the
//! Java heap, takes no lock of the agent and calls no Java code. Usually the thread has met the
//! stack before and finds its number in a thread-local map. Otherwise each frame is looked up in a
//! map under a mutex. The mutex is never held while the JVM is called.
//!
//! Frames that Java's own stack traces do not show (lambda forms, hidden classes) are omitted here
//! too. HotSpot keeps the ids of all methods that were asked for, including those of versions
//! (JDK-8268406): about 150 bytes for each version that was seen on a stack.

use crate::jvm::frames::Frame;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use parking_lot::{Mutex, MutexGuard};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use veneer_names::java_form;

/// The most frames of a stack that plans can request.
pub const MAX_DEPTH: i64 = 200;
/// The most different stacks that are kept. Further stacks are counted under one empty stack,
/// because stacks are never dropped: tallies refer to them by number.
const MAX_STACKS: usize = 1 << 16;
/// The most frames whose meaning is kept. Then all are dropped and asked for anew, because frames
/// of superseded versions would otherwise stay for ever.
const MAX_FRAMES: usize = 1 << 16;
/// The most stacks that a thread remembers. Then it forgets all of them.
const MAX_STACKS_PER_THREAD: usize = 1 << 12;

/// A source line of a method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SourceLine {
    /// The class name with dots.
    class: Arc<str>,
    method: Arc<str>,
    /// 0 if the class has no line numbers.
    line: u16,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.class, self.method)?;
        match self.line {
            0 => Ok(()),
            line => write!(f, ":{line}"),
        }
    }
}

/// The contribution of a frame to the visible stack.
#[derive(Clone, Debug)]
enum FrameMeaning {
    /// A source line, by its number in [`StackTable::lines`].
    Line(u32),
    /// Code of a version: its nest host, and the corresponding bci in the armed body.
    Version { host: Arc<str>, bci: i64 },
    /// A frame that no stack trace shows.
    Hidden,
}

/// All known frames, lines and stacks. Numbers of lines start at 0, numbers of stacks at 1.
#[derive(Debug, Default)]
struct StackTable {
    frames: HashMap<Frame, FrameMeaning>,
    lines: Vec<SourceLine>,
    line_numbers: HashMap<SourceLine, u32>,
    stacks: Vec<Arc<[u32]>>,
    stack_numbers: HashMap<Arc<[u32]>, u32>,
}

impl StackTable {
    /// The number of a line; a new line is added.
    fn line_number(&mut self, line: SourceLine) -> u32 {
        let next = self.lines.len() as u32;
        let number = *self.line_numbers.entry(line.clone()).or_insert(next);
        if number == next {
            self.lines.push(line);
        }
        number
    }

    /// The number of a stack; a new stack is added. Returns 0 if the table already has
    /// `max_stacks`.
    fn stack_number(&mut self, lines: Vec<u32>, max_stacks: usize) -> i64 {
        let lines: Arc<[u32]> = lines.into();
        if let Some(number) = self.stack_numbers.get(&lines) {
            return i64::from(*number);
        }
        if self.stacks.len() >= max_stacks {
            return 0;
        }
        self.stacks.push(lines.clone());
        let number = self.stacks.len() as u32;
        self.stack_numbers.insert(lines, number);
        i64::from(number)
    }
}

/// The JVM as the source of information about frames. The runtime classes answer for frames of
/// versions.
#[derive(Clone, Copy)]
pub struct JvmAccess<'a> {
    pub tool: Tool,
    pub library: &'a Library,
}

/// All call stacks that probes have requested.
#[derive(Debug, Default)]
pub struct CallStacks {
    table: Mutex<StackTable>,
}

/// The memory of one thread: a buffer for frames, and the number of each stack by the hash of its
/// frames.
///
/// Two different stacks can have the same 64-bit hash. For [`MAX_STACKS_PER_THREAD`] stacks, the
/// probability is below 10⁻⁹.
#[derive(Default)]
struct ThreadCache {
    frames: Vec<Frame>,
    numbers: HashMap<u64, i64>,
}

thread_local! {
    static THREAD_CACHE: RefCell<ThreadCache> = RefCell::default();
}

impl CallStacks {
    fn table(&self) -> MutexGuard<'_, StackTable> {
        self.table.lock()
    }

    /// Returns the lines of a stack, innermost first. An unknown number has no lines.
    pub fn stack_lines(&self, number: i64) -> Vec<String> {
        let table = self.table();
        let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let Some(stack) = at.and_then(|at| table.stacks.get(at)) else {
            return Vec::new();
        };
        let line = |n: &u32| table.lines.get(*n as usize).map(ToString::to_string);
        stack.iter().filter_map(line).collect()
    }

    /// Returns the number of the calling thread's stack, up to `depth` innermost visible frames.
    /// Returns 0 if the stack has no visible frame or the table is full.
    pub fn record_current(&self, jvm: JvmAccess, env: Env, depth: i64) -> i64 {
        let depth = depth.clamp(1, MAX_DEPTH) as usize;
        // An activation in a version has additional frames: those of the loop that runs the
        // version, and of the method handles below it.
        let requested = depth * 5 + 16;
        let answer = THREAD_CACHE.try_with(|cache| {
            let mut cache = cache.try_borrow_mut().ok()?;
            let cache = &mut *cache;
            jvm.tool.frames_here(requested, &mut cache.frames);
            let mut hasher = DefaultHasher::new();
            (depth, &cache.frames).hash(&mut hasher);
            let hash = hasher.finish();
            if let Some(number) = cache.numbers.get(&hash) {
                return Some(*number);
            }
            let lines = visible_lines(
                &cache.frames,
                depth,
                |frame| self.meaning(jvm, env, frame),
                Frame::at,
                |line| self.class_of(line),
            );
            let number = match lines.is_empty() {
                true => 0,
                false => self.table().stack_number(lines, MAX_STACKS),
            };
            if cache.numbers.len() >= MAX_STACKS_PER_THREAD {
                cache.numbers.clear();
            }
            cache.numbers.insert(hash, number);
            Some(number)
        });
        answer.ok().flatten().unwrap_or(0)
    }

    fn class_of(&self, line: u32) -> Option<Arc<str>> {
        let table = self.table();
        table.lines.get(line as usize).map(|l| l.class.clone())
    }

    /// The meaning of a frame, from the table or from the JVM.
    fn meaning(&self, jvm: JvmAccess, env: Env, frame: Frame) -> FrameMeaning {
        if let Some(meaning) = self.table().frames.get(&frame) {
            return meaning.clone();
        }
        let meaning = self.query_meaning(jvm, env, frame);
        let mut table = self.table();
        if table.frames.len() >= MAX_FRAMES {
            table.frames.clear();
        }
        table.frames.insert(frame, meaning.clone());
        meaning
    }

    /// Asks the JVM. The method is on this thread's stack, so the JVM cannot unload it during the
    /// call.
    fn query_meaning(&self, jvm: JvmAccess, env: Env, frame: Frame) -> FrameMeaning {
        let tool = jvm.tool;
        let Some((class, method)) = tool.method_of(frame) else {
            return FrameMeaning::Hidden;
        };
        let meaning = match (tool.class_name(class), tool.version_name(class)) {
            (Some(name), _) if is_hidden(&name, &method) => FrameMeaning::Hidden,
            (Some(name), _) => {
                let line = SourceLine {
                    class: java_form(&name).into(),
                    method: method.into(),
                    line: tool.line_of(frame),
                };
                FrameMeaning::Line(self.table().line_number(line))
            }
            (None, Some(name)) => {
                let bci = jvm.library.place(env, class, &method, frame.bci());
                match (name.split_once("$V/"), bci) {
                    (Some((host, _)), Ok(bci)) if bci >= 0 => FrameMeaning::Version {
                        host: host.into(),
                        bci,
                    },
                    _ => FrameMeaning::Hidden,
                }
            }
            (None, None) => FrameMeaning::Hidden,
        };
        // SAFETY: `method_of` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
        meaning
    }
}

/// Returns the numbers of the lines that a stack trace would show, innermost first, at most
/// `depth`.
///
/// The frame of the nest host shows the line of the stub at which the activation left the armed
/// body. If frames of a version precede it, the innermost of them knows the bci in the armed body.
/// Then the line of that bci (`at`) replaces the line of the stub.
fn visible_lines<F: Copy>(
    frames: &[F],
    depth: usize,
    meaning: impl Fn(F) -> FrameMeaning,
    at: impl Fn(F, i64) -> F,
    class_of: impl Fn(u32) -> Option<Arc<str>>,
) -> Vec<u32> {
    let mut lines = Vec::with_capacity(depth);
    let mut version: Option<(Arc<str>, i64)> = None;
    for frame in frames {
        match meaning(*frame) {
            FrameMeaning::Hidden => {}
            FrameMeaning::Version { host, bci } => {
                version.get_or_insert((host, bci));
            }
            FrameMeaning::Line(mut line) => {
                if let Some((host, bci)) = version.take()
                    && class_of(line).as_ref() == Some(&host)
                    && let FrameMeaning::Line(exact) = meaning(at(*frame, bci))
                {
                    line = exact;
                }
                lines.push(line);
                if lines.len() == depth {
                    break;
                }
            }
        }
    }
    lines
}

/// Returns whether stack traces omit a method. Such methods lead to a version, or belong to lambda
/// forms or to the reflection of the JDK. JVMTI shows them and does not say that they are hidden.
fn is_hidden(class: &str, method: &str) -> bool {
    let is_lambda_form = class.strip_prefix("java/lang/invoke/").is_some_and(|rest| {
        rest.starts_with("Veneer") || rest.starts_with("LambdaForm") || rest.ends_with("$Holder")
    });
    is_lambda_form || class.starts_with("jdk/internal/reflect/Direct") && method == "invokeImpl"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(method: &str, line: u16) -> SourceLine {
        SourceLine {
            class: "shop.Desk".into(),
            method: method.into(),
            line,
        }
    }

    #[test]
    fn equal_stacks_have_one_number() {
        let stacks = CallStacks::default();
        let (serve, run) = {
            let mut table = stacks.table();
            let serve = table.line_number(line("serve", 41));
            (serve, table.line_number(line("run", 0)))
        };
        let first = stacks.table().stack_number(vec![serve, run], 9);
        assert_eq!(stacks.table().stack_number(vec![serve], 9), first + 1);
        assert_eq!(stacks.table().stack_number(vec![serve, run], 9), first);
        assert_eq!(
            stacks.stack_lines(first),
            ["shop.Desk.serve:41", "shop.Desk.run"]
        );
        assert_eq!(stacks.stack_lines(0), [""; 0]);
        assert_eq!(stacks.stack_lines(99), [""; 0]);
        assert_eq!(stacks.stack_lines(-1), [""; 0]);
    }

    #[test]
    fn a_full_table_still_finds_the_stacks_that_it_has() {
        let mut table = StackTable::default();
        assert_eq!(table.stack_number(vec![1], 2), 1);
        assert_eq!(table.stack_number(vec![2], 2), 2);
        assert_eq!(table.stack_number(vec![3], 2), 0);
        assert_eq!(table.stack_number(vec![1], 2), 1);
        assert_eq!((table.stacks.len(), table.stack_numbers.len()), (2, 2));
    }

    /// A frame is a class and a bci; the line of a frame is `100 * class + bci`.
    type TestFrame = (u32, i64);

    const HIDDEN: TestFrame = (0, 0);

    /// Class 9 is the versions of class 1. The code at bci `n` of a version corresponds to bci `n + 7` of
    /// the armed body.
    fn meaning((class, bci): TestFrame) -> FrameMeaning {
        match class {
            0 => FrameMeaning::Hidden,
            9 => FrameMeaning::Version {
                host: "1".into(),
                bci: bci + 7,
            },
            class => FrameMeaning::Line(100 * class + bci as u32),
        }
    }

    fn visible(frames: &[TestFrame], depth: usize) -> Vec<u32> {
        let class_of = |line: u32| Some((line / 100).to_string().into());
        visible_lines(
            frames,
            depth,
            meaning,
            |(class, _), bci| (class, bci),
            class_of,
        )
    }

    #[test]
    fn hidden_frames_are_omitted_and_do_not_count_for_the_depth() {
        let frames = [HIDDEN, (1, 5), HIDDEN, (2, 6), (3, 7)];
        assert_eq!(visible(&frames, 9), [105, 206, 307]);
        assert_eq!(visible(&frames, 2), [105, 206]);
        assert_eq!(visible(&[HIDDEN, HIDDEN], 2), [0; 0]);
    }

    #[test]
    fn the_innermost_frame_of_a_version_gives_the_line_of_its_host() {
        // Two frames of the version, then the stub of the host, then its caller.
        assert_eq!(
            visible(&[(9, 20), HIDDEN, (9, 30), (1, 99), (1, 50)], 9),
            [127, 150]
        );
    }

    #[test]
    fn a_version_does_not_change_the_line_of_another_class() {
        assert_eq!(visible(&[(9, 20), (2, 99), (1, 50)], 9), [299, 150]);
    }

    #[test]
    fn runtime_classes_lambda_forms_and_reflection_are_hidden() {
        for class in ["VeneerProbe", "LambdaForm$MH", "DirectMethodHandle$Holder"] {
            assert!(is_hidden(&format!("java/lang/invoke/{class}"), "run"));
        }
        assert!(is_hidden(
            "jdk/internal/reflect/DirectMethodHandleAccessor",
            "invokeImpl"
        ));
        assert!(!is_hidden(
            "jdk/internal/reflect/DirectMethodHandleAccessor",
            "invoke"
        ));
        assert!(!is_hidden("java/lang/invoke/MethodHandle", "invoke"));
        assert!(!is_hidden("shop/VeneerDesk", "run"));
    }
}
