//! The library that the JVM loads: the exported functions, which call the crate `veneer-executor`.

#![allow(non_snake_case)] // The JVM looks for these names.

use jni::sys::{JNIEnv, JavaVM, jboolean, jclass, jint, jlong};
use std::ffi::{c_char, c_void};
use veneer_executor::{natives, startup};

/// The JVM calls this function when it starts with `-agentpath`. The application runs in any case.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: the JVM passes its own pointer, and options as NUL-terminated text.
    unsafe { startup::on_load(vm, options) }
}

/// The JVM calls this function when the library is loaded into it while it runs.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: the JVM passes its own pointer, and options as NUL-terminated text.
    unsafe { startup::on_attach(vm, options) }
}

/// `VeneerWalk.hook`.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerWalk_hook(
    env: *mut JNIEnv,
    _: jclass,
    throwable: jclass,
    walk: jclass,
) -> jboolean {
    // SAFETY: the JVM passes what the callee asks for.
    unsafe { natives::hook(env, throwable, walk) }
}

/// `VeneerRuntime.request`.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_request(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    // SAFETY: the JVM passes what the callee asks for.
    unsafe { natives::request(id) }
}

/// `VeneerRuntime.shard`.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_shard(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
    is_virtual: jboolean,
) -> jlong {
    // SAFETY: the JVM passes what the callee asks for.
    unsafe { natives::shard(tid, is_virtual) }
}

/// `VeneerRuntime.ring`.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_ring(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
) -> jlong {
    // SAFETY: the JVM passes what the callee asks for.
    unsafe { natives::ring(tid) }
}

/// `VeneerProbe.stack`.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerProbe_stack(
    env: *mut JNIEnv,
    _: jclass,
    depth: jlong,
) -> jlong {
    // SAFETY: the JVM passes what the callee asks for.
    unsafe { natives::stack(env, depth) }
}

/// `VeneerRuntime.dropped`.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_dropped(
    _: *mut JNIEnv,
    _: jclass,
    point: jint,
) {
    // SAFETY: the JVM passes what the callee asks for.
    unsafe { natives::dropped(point) }
}

/// `VeneerRuntime.linked`: does nothing. A call that returns shows that the JVM finds the natives.
///
/// # Safety
/// Only the JVM calls this function.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_linked(
    _: *mut JNIEnv,
    _: jclass,
) {
}
