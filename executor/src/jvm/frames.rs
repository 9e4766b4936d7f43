//! The stacks of threads, as JVMTI returns them: the current thread's stack, and those of all threads.
//!
//! Probes use the current thread's stack, on application threads. The agent's own threads use the
//! stacks of all threads.
//!
//! HotSpot checks a method id before it uses it, and up to JDK 25 never releases one. So a [`Frame`]
//! whose class is unloaded leads to an error code and not to freed memory.

use crate::jvm::jni::{Env, Reference, jclass, jobject};
use crate::jvm::jvmti::{Tool, call, succeeded};
use ::jni::sys::{jint, jmethodID};
use jvmti_sys::*;
use std::cell::RefCell;
use std::ptr;

/// The limit for the frames of each stack when the stacks of all threads are read.
const MAX_DEPTH: jint = 4096;

/// A frame of a stack: a method and the position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The address of the method id, which only this file sets.
    method: usize,
    bci: i64,
}

impl Frame {
    /// Bytes from the beginning of the method's code; negative in native methods.
    pub fn bci(self) -> i64 {
        self.bci
    }

    /// A frame of this method at another position.
    pub fn at(self, bci: i64) -> Frame {
        Frame { bci, ..self }
    }

    fn id(self) -> jmethodID {
        ptr::with_exposed_provenance_mut(self.method)
    }
}

thread_local! {
    /// The memory to which the JVM writes frames.
    static BUFFER: RefCell<Vec<jvmtiFrameInfo>> = const { RefCell::new(Vec::new()) };
}

/// The source line of a position in a method, from the rows of its line table; 0 if the table has
/// no row for it. The rows need not be in order.
fn line_at(rows: &[jvmtiLineNumberEntry], bci: i64) -> u16 {
    let before = rows.iter().filter(|row| row.start_location <= bci);
    let row = before.max_by_key(|row| row.start_location);
    row.map_or(0, |row| row.line_number as u16)
}

impl Tool {
    /// Replaces the content of `into` by the innermost frames of the current thread, up to `most`.
    pub fn frames_here(self, most: usize, into: &mut Vec<Frame>) {
        into.clear();
        let mut count = 0;
        let empty = jvmtiFrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        BUFFER.with_borrow_mut(|buffer| {
            buffer.resize(most, empty);
            let current_thread = ptr::null_mut();
            // SAFETY: the buffer has room for `most` frames. The JVM writes their number to the place.
            let code = unsafe {
                call!(
                    self,
                    GetStackTrace,
                    current_thread,
                    0,
                    most as jint,
                    buffer.as_mut_ptr(),
                    &mut count
                )
            };
            if succeeded(code) {
                let count = usize::try_from(count).unwrap_or(0).min(most);
                into.extend(buffer[..count].iter().map(|f| Frame {
                    method: f.method.expose_provenance(),
                    bci: f.location,
                }));
            }
        });
    }

    /// The class (a local reference), name and descriptor of a method.
    ///
    /// # Safety
    /// The JVM must have returned `id` as a method id.
    pub(super) unsafe fn method(self, id: jmethodID) -> Option<(jclass, String, String)> {
        let mut class = ptr::null_mut();
        // SAFETY: given by the caller. The JVM writes a new local reference to the place.
        let code = unsafe { call!(self, GetMethodDeclaringClass, id, &mut class) };
        if !succeeded(code) || class.is_null() {
            return None;
        }
        // SAFETY: given by the caller; `class` is the reference that the JVM has just made.
        let (class, named) = unsafe { (Reference::new(class), self.method_name(id)) };
        named.map(|(name, signature)| (class, name, signature))
    }

    /// The class (a local reference) and the name of a frame's method. `None` if the method's class
    /// is unloaded.
    pub fn method_of(self, frame: Frame) -> Option<(jclass, String)> {
        // SAFETY: the JVM returned the id of the frame's method.
        let (class, name, _) = unsafe { self.method(frame.id()) }?;
        Some((class, name))
    }

    /// The class in Java form, the name and the descriptor of a frame's method. `None` if the method's
    /// class is unloaded.
    pub fn described(self, env: Env, frame: Frame) -> Option<(String, String, String)> {
        // SAFETY: the JVM returned the id of the frame's method.
        unsafe { self.describe_method(env, frame.id()) }
    }

    /// The source line of a frame; 0 if it is not known.
    pub fn line_of(self, frame: Frame) -> u16 {
        let (mut count, mut table) = (0, ptr::null_mut());
        // SAFETY: the JVM returned the id of the frame's method. It writes the address of an
        // allocated list and its length to the places.
        unsafe {
            let code = call!(self, GetLineNumberTable, frame.id(), &mut count, &mut table);
            match succeeded(code) {
                true => line_at(&self.list(table, count), frame.bci),
                false => 0,
            }
        }
    }

    /// Calls `each` with every thread, its state, and its innermost frames, up to `most`. Returns the
    /// number of threads. Leaves a local reference to each thread: call this in [`Env::frame`].
    fn each_thread(
        self,
        most: jint,
        mut each: impl FnMut(&jvmtiStackInfo, &[jvmtiFrameInfo]),
    ) -> usize {
        let (mut count, mut stacks) = (0, ptr::null_mut());
        // SAFETY: the JVM writes the address of an allocated list and its length to the places.
        let code = unsafe { call!(self, GetAllStackTraces, most, &mut stacks, &mut count) };
        if !succeeded(code) || stacks.is_null() {
            return 0;
        }
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the JVM returned `count` threads in one piece of memory, which is released below.
        for thread in unsafe { std::slice::from_raw_parts(stacks, count) } {
            if thread.frame_buffer.is_null() {
                each(thread, &[]);
                continue;
            }
            let frames = usize::try_from(thread.frame_count).unwrap_or(0);
            // SAFETY: the same piece of memory has this number of frames of the thread.
            each(thread, unsafe {
                std::slice::from_raw_parts(thread.frame_buffer, frames)
            });
        }
        // SAFETY: the JVM allocated the memory for this call, and no frame is used any more.
        unsafe { self.free(stacks) };
        count
    }

    /// Calls `each` with the frames of every thread, the innermost frame first, and returns the
    /// number of threads. Leaves a local reference to each thread: call this in [`Env::frame`].
    fn all(self, mut each: impl FnMut(&[jvmtiFrameInfo])) -> usize {
        self.each_thread(MAX_DEPTH, |_, frames| each(frames))
    }

    /// Calls `each` with every thread, the bits of its state (JVMTI `GetThreadState`), and its
    /// innermost frames, up to `most`. Leaves a local reference to each thread: call this in
    /// [`Env::frame`].
    pub fn threads_with_frames(self, most: usize, mut each: impl FnMut(jobject, u32, &[Frame])) {
        let mut copied: Vec<Frame> = Vec::new();
        let most = jint::try_from(most).unwrap_or(MAX_DEPTH);
        self.each_thread(most, |thread, frames| {
            copied.clear();
            copied.extend(frames.iter().map(|frame| Frame {
                method: frame.method.expose_provenance(),
                bci: frame.location,
            }));
            // SAFETY: the JVM has just made the local reference, which the caller's frame keeps.
            let reference = unsafe { Reference::new(thread.thread) };
            each(reference, thread.state.cast_unsigned(), &copied);
        });
    }

    /// The methods on every thread's stack, the innermost first: declaring class (a local
    /// reference), name, descriptor and bci. Leaves a local reference to each thread too: call this
    /// in [`Env::frame`].
    pub fn stacks(self, env: Env) -> Vec<Vec<(jclass, String, String, i64)>> {
        let mut out = Vec::new();
        let threads = self.all(|frames| {
            let method = |frame: &jvmtiFrameInfo| {
                // SAFETY: the JVM returned the frame with this method id.
                let (class, name, signature) = unsafe { self.method(frame.method) }?;
                Some((class, name, signature, frame.location))
            };
            out.push(frames.iter().filter_map(method).collect::<Vec<_>>());
        });
        env.ensure(out.iter().map(Vec::len).sum::<usize>() + threads + 32);
        out
    }

    /// The activations, on all stacks, of code that a retransformation of their class has replaced:
    /// internal class name, name and descriptor of the method. Leaves local references: call this in
    /// [`Env::frame`].
    pub fn obsolete(self, env: Env) -> Vec<(String, String, String)> {
        let mut out = Vec::new();
        let threads = self.all(|frames| {
            for frame in frames {
                let mut obsolete = false;
                // SAFETY: the JVM returned the frame with this method id, and writes a boolean to
                // the place.
                let method = unsafe {
                    call!(self, IsMethodObsolete, frame.method, &mut obsolete);
                    obsolete.then(|| self.method(frame.method)).flatten()
                };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start_location: i64, line_number: i32) -> jvmtiLineNumberEntry {
        jvmtiLineNumberEntry {
            start_location,
            line_number,
        }
    }

    #[test]
    fn the_line_is_that_of_the_last_row_at_or_before_the_position() {
        // The compiler may write the rows of a `for` statement's update out of order.
        let rows = [row(0, 10), row(8, 12), row(4, 11)];
        assert_eq!(line_at(&rows, 0), 10);
        assert_eq!(line_at(&rows, 7), 11);
        assert_eq!(line_at(&rows, 90), 12);
    }

    #[test]
    fn native_methods_and_methods_without_a_table_have_no_line() {
        assert_eq!(line_at(&[row(0, 10)], -1), 0);
        assert_eq!(line_at(&[], 3), 0);
    }
}
