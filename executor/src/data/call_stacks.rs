//! Call stacks as keys of tables: what `stack()` in code at a point gives.
//!
//! ```text
//!   VeneerProbe.stack ─▶ GetStackTrace of this thread ─▶ its frames known to this thread? ─yes─▶ number of the stack
//!                                                              │ no
//!                        callee                                ▼        (method, bci) ─▶ what it is, each asked for once
//!                        VeneerProbe.stack       left out
//!                        Host$V.run$e17     ─┐   the place of the code in the armed body
//!                        (LambdaForm …)      │   left out
//!                        Host.m  at its stub ┴─▶ shop.Desk.serve:41
//! ```
//!
//! The thread asks JVMTI for the frames of its own stack: that allocates nothing on the heap, takes no lock of the agent and calls no Java code. Mostly the thread
//! has met this stack before, and that is all. Else each frame is looked up under a lock that is held for the look-up alone, never while
//! the JVM is asked for something.
//!
//! Frames that Java's own stack traces do not show (lambda forms, hidden classes) are left out here too. HotSpot keeps the ids of methods
//! that were asked for, those of versions too (JDK-8268406): about 150 bytes for each version that was seen on a stack.

use crate::jvm::frames::Frame;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

/// Frames of a stack at most, as plans see it.
pub const DEPTH: i64 = 200;
/// Different stacks that are kept.
const STACKS: usize = 1 << 16;
/// Places in code that are remembered; then all are asked for anew, since those of superseded versions would stay for ever.
const PLACES: usize = 1 << 16;
/// Stacks that a thread remembers.
const OWN: usize = 1 << 12;

/// A line of a method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    class: Arc<str>,
    method: Arc<str>,
    /// 0 where it is not known.
    line: u16,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.class, self.method)?;
        match self.line {
            0 => Ok(()),
            line => write!(f, ":{line}"),
        }
    }
}

/// What a place in code is.
#[derive(Clone, Debug)]
enum Place {
    /// A line, by its number.
    Line(u32),
    /// Code of a version: its host, and where it stands in the armed body.
    Version { host: Arc<str>, at: i64 },
    /// Something that no stack trace shows.
    Hidden,
}

#[derive(Debug, Default)]
struct Known {
    places: HashMap<Frame, Place>,
    lines: Vec<Line>,
    numbers: HashMap<Line, u32>,
    stacks: Vec<Arc<[u32]>>,
    of_stack: HashMap<Arc<[u32]>, u32>,
}

impl Known {
    fn number(&mut self, line: Line) -> u32 {
        let next = self.lines.len() as u32;
        let number = *self.numbers.entry(line.clone()).or_insert(next);
        if number == next {
            self.lines.push(line);
        }
        number
    }

    /// The number of a stack, from 1; 0 where there is no room for more.
    fn stack(&mut self, lines: Vec<u32>) -> i64 {
        let lines: Arc<[u32]> = lines.into();
        if let Some(number) = self.of_stack.get(&lines) {
            return i64::from(*number);
        }
        if self.stacks.len() >= STACKS {
            return 0;
        }
        self.stacks.push(lines.clone());
        let number = self.stacks.len() as u32;
        self.of_stack.insert(lines, number);
        i64::from(number)
    }
}

/// What is asked about frames: JVMTI, and the runtime classes for the frames of versions.
#[derive(Clone, Copy)]
pub struct Jvm<'a> {
    /// JVMTI.
    pub tool: Tool,
    /// The runtime classes.
    pub library: &'a Library,
}

/// All stacks that were asked for.
#[derive(Debug, Default)]
pub struct CallStacks {
    known: Mutex<Known>,
}

/// What a thread keeps for itself: room for frames, and the numbers of stacks by hashes of their frames. That two different ones have one hash
/// of 64 bits is less likely than one in a thousand million, for as many as are kept.
#[derive(Default)]
struct Own {
    frames: Vec<Frame>,
    numbers: HashMap<u64, i64>,
}

thread_local! {
    static OWN_STACKS: RefCell<Own> = RefCell::default();
}

impl CallStacks {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The lines of a stack, the innermost first; none of a number that was never given out.
    pub fn lines(&self, number: i64) -> Vec<String> {
        let known = self.known();
        let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let Some(stack) = at.and_then(|at| known.stacks.get(at)) else {
            return Vec::new();
        };
        let line = |n: &u32| known.lines.get(*n as usize).map(ToString::to_string);
        stack.iter().filter_map(line).collect()
    }

    /// The number of the stack of the thread that calls, its innermost `depth` frames; 0 where it has none that could be shown.
    pub fn here(&self, jvm: Jvm, env: Env, depth: i64) -> i64 {
        let depth = depth.clamp(1, DEPTH) as usize;
        // An activation in a version has some frames more: of the loop that runs it, and of what runs that.
        let asked = depth * 5 + 16;
        let answer = OWN_STACKS.try_with(|own| {
            let mut own = own.try_borrow_mut().ok()?;
            let own = &mut *own;
            jvm.tool.frames_here(asked, &mut own.frames);
            let mut hasher = DefaultHasher::new();
            (depth, &own.frames).hash(&mut hasher);
            let hash = hasher.finish();
            if let Some(number) = own.numbers.get(&hash) {
                return Some(*number);
            }
            let lines = self.shown(jvm, env, &own.frames, depth);
            let number = match lines.is_empty() {
                true => 0,
                false => self.known().stack(lines),
            };
            if own.numbers.len() >= OWN {
                own.numbers.clear();
            }
            own.numbers.insert(hash, number);
            Some(number)
        });
        answer.ok().flatten().unwrap_or(0)
    }

    /// The lines that a stack trace would show.
    fn shown(&self, jvm: Jvm, env: Env, frames: &[Frame], depth: usize) -> Vec<u32> {
        let mut lines = Vec::with_capacity(depth);
        // What the innermost frame of a version says of the host's frame that follows.
        let mut inside: Option<(Arc<str>, i64)> = None;
        for frame in frames {
            match self.place(jvm, env, *frame) {
                Place::Hidden => {}
                Place::Version { host, at } => {
                    inside.get_or_insert((host, at));
                }
                Place::Line(mut line) => {
                    if let Some((host, at)) = inside.take()
                        && self.class_of(line).as_ref() == Some(&host)
                        && let Place::Line(exact) = self.place(jvm, env, frame.at(at))
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

    fn class_of(&self, line: u32) -> Option<Arc<str>> {
        let known = self.known();
        known.lines.get(line as usize).map(|l| l.class.clone())
    }

    fn place(&self, jvm: Jvm, env: Env, frame: Frame) -> Place {
        if let Some(place) = self.known().places.get(&frame) {
            return place.clone();
        }
        let place = self.ask(jvm, env, frame);
        let mut known = self.known();
        if known.places.len() >= PLACES {
            known.places.clear();
        }
        known.places.insert(frame, place.clone());
        place
    }

    /// Asks the JVM. The method is on this thread's stack, so it is not unloaded meanwhile.
    fn ask(&self, jvm: Jvm, env: Env, frame: Frame) -> Place {
        let tool = jvm.tool;
        let Some((class, method)) = tool.method_of(frame) else {
            return Place::Hidden;
        };
        let place = match (tool.class_name(class), tool.version_name(class)) {
            (Some(name), _) if is_hidden(&name, &method) => Place::Hidden,
            (Some(name), _) => {
                let line = Line {
                    class: name.replace('/', ".").into(),
                    method: method.into(),
                    line: tool.line_of(frame),
                };
                Place::Line(self.known().number(line))
            }
            (None, Some(name)) => {
                let at = jvm.library.place(env, class, &method, frame.bci());
                match (name.split_once("$V/"), at) {
                    (Some((host, _)), Ok(at)) if at >= 0 => Place::Version {
                        host: host.into(),
                        at,
                    },
                    _ => Place::Hidden,
                }
            }
            (None, None) => Place::Hidden,
        };
        env.delete(class);
        place
    }
}

/// Whether a method is one through which versions are reached, or one that Java's own traces hide: of lambda forms, and those by which the JDK's reflection
/// calls. JVMTI shows them, and does not say that they are hidden.
fn is_hidden(class: &str, method: &str) -> bool {
    let of_forms = class.strip_prefix("java/lang/invoke/").is_some_and(|rest| {
        rest.starts_with("Veneer") || rest.starts_with("LambdaForm") || rest.ends_with("$Holder")
    });
    of_forms || class.starts_with("jdk/internal/reflect/Direct") && method == "invokeImpl"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_one_number() {
        let stacks = CallStacks::default();
        let line = |method: &str, line| Line {
            class: "shop.Desk".into(),
            method: method.into(),
            line,
        };
        let (serve, run) = {
            let mut known = stacks.known();
            let serve = known.number(line("serve", 41));
            (serve, known.number(line("run", 0)))
        };
        let first = stacks.known().stack(vec![serve, run]);
        assert_eq!(stacks.known().stack(vec![serve]), first + 1);
        assert_eq!(stacks.known().stack(vec![serve, run]), first);
        assert_eq!(stacks.lines(first), ["shop.Desk.serve:41", "shop.Desk.run"]);
        assert_eq!(stacks.lines(0), [""; 0]);
        assert_eq!(stacks.lines(99), [""; 0]);
    }
}
