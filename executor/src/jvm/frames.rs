//! The stacks of threads: a thread's own, and those of all.

use crate::jvm::jni::{Env, jclass};
use crate::jvm::jvmti::{Tool, call};
use jni::sys::{jint, jmethodID};
use jvmti_sys::*;
use std::cell::RefCell;
use std::ptr;

/// Frames of a stack that are looked at.
const DEPTH: jint = 4096;

/// A frame of a stack: a method and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    method: usize,
    bci: i64,
}

impl Frame {
    /// Bytes from the beginning of the method's code; negative in native methods.
    pub fn bci(self) -> i64 {
        self.bci
    }

    /// Another place in the same method.
    pub fn at(self, bci: i64) -> Frame {
        Frame { bci, ..self }
    }

    fn id(self) -> jmethodID {
        ptr::with_exposed_provenance_mut(self.method)
    }
}

thread_local! {
    /// Where the JVM writes frames to.
    static ROOM: RefCell<Vec<jvmtiFrameInfo>> = const { RefCell::new(Vec::new()) };
}

impl Tool {
    /// The innermost frames of the thread that calls, as many as are asked for at most.
    pub fn frames_here(self, most: usize, into: &mut Vec<Frame>) {
        into.clear();
        let mut count = 0;
        let empty = jvmtiFrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        ROOM.with_borrow_mut(|room| {
            room.resize(most, empty);
            let answer = call!(
                self,
                GetStackTrace,
                ptr::null_mut(),
                0,
                most as jint,
                room.as_mut_ptr(),
                &mut count
            );
            if answer == jvmtiError::JVMTI_ERROR_NONE {
                let count = usize::try_from(count).unwrap_or(0).min(most);
                into.extend(room[..count].iter().map(|f| Frame {
                    method: f.method.expose_provenance(),
                    bci: f.location,
                }));
            }
        });
    }

    /// The class (a local reference), name and descriptor of a method.
    fn method(self, id: jmethodID) -> Option<(jclass, String, String)> {
        let (mut class, mut name, mut signature) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let none = jvmtiError::JVMTI_ERROR_NONE;
        if call!(self, GetMethodDeclaringClass, id, &mut class) != none || class.is_null() {
            return None;
        }
        let named = call!(
            self,
            GetMethodName,
            id,
            &mut name,
            &mut signature,
            ptr::null_mut()
        );
        (named == none).then(|| (class, self.text(name), self.text(signature)))
    }

    /// The class (a local reference) and the name of a frame's method. The frame must be one of a stack that stands.
    pub fn method_of(self, frame: Frame) -> Option<(jclass, String)> {
        let (class, name, _) = self.method(frame.id())?;
        Some((class, name))
    }

    /// The source line of a frame; 0 where it is not known.
    pub fn line_of(self, frame: Frame) -> u16 {
        let (mut count, mut table) = (0, ptr::null_mut());
        let answer = call!(self, GetLineNumberTable, frame.id(), &mut count, &mut table);
        if answer != jvmtiError::JVMTI_ERROR_NONE || table.is_null() {
            return 0;
        }
        // Safety: the JVM gave `count` of them.
        let rows = unsafe { std::slice::from_raw_parts(table, count as usize) };
        // Rows need not be in order.
        let before = rows.iter().filter(|r| r.start_location <= frame.bci);
        let row = before.max_by_key(|r| r.start_location);
        let line = row.map_or(0, |r| r.line_number as u16);
        self.free(table);
        line
    }

    /// Calls `each` with the frames of every thread, the innermost first, and gives how many threads there are. Leaves a local reference
    /// to each of them: call it inside [`Env::frame`].
    fn all(self, mut each: impl FnMut(&[jvmtiFrameInfo])) -> usize {
        let (mut count, mut stacks) = (0, ptr::null_mut());
        let answer = call!(self, GetAllStackTraces, DEPTH, &mut stacks, &mut count);
        if answer != jvmtiError::JVMTI_ERROR_NONE || stacks.is_null() {
            return 0;
        }
        // Safety: the JVM gave `count` threads, each with `frame_count` frames, in one piece of memory.
        for thread in unsafe { std::slice::from_raw_parts(stacks, count as usize) } {
            if thread.frame_buffer.is_null() {
                each(&[]);
                continue;
            }
            // Safety: as above.
            each(unsafe {
                std::slice::from_raw_parts(thread.frame_buffer, thread.frame_count as usize)
            });
        }
        self.free(stacks);
        count as usize
    }

    /// The methods on every thread's stack, the innermost first: declaring class (a local reference), name, descriptor, pc.
    /// Leaves a local reference to each thread too: call it inside [`Env::frame`].
    pub fn stacks(self, env: Env) -> Vec<Vec<(jclass, String, String, i64)>> {
        let mut out = Vec::new();
        let threads = self.all(|frames| {
            let method = |frame: &jvmtiFrameInfo| {
                let (class, name, signature) = self.method(frame.method)?;
                Some((class, name, signature, frame.location))
            };
            out.push(frames.iter().filter_map(method).collect::<Vec<_>>());
        });
        env.ensure(out.iter().map(Vec::len).sum::<usize>() + threads + 32);
        out
    }

    /// The frames on all stacks whose code their class has no more: internal class name, name and descriptor of the method. Leaves local
    /// references: call it inside [`Env::frame`].
    pub fn obsolete(self, env: Env) -> Vec<(String, String, String)> {
        let mut out = Vec::new();
        let threads = self.all(|frames| {
            for frame in frames {
                let mut obsolete = false;
                call!(self, IsMethodObsolete, frame.method, &mut obsolete);
                let method = obsolete.then(|| self.method(frame.method)).flatten();
                if let Some((class, name, signature)) = method
                    && let Some(class) = self.class_name(class)
                {
                    out.push((class, name, signature));
                }
            }
        });
        env.ensure(out.len() + threads + 32);
        out
    }
}
