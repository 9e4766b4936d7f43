//! The library that the JVM loads: the exported functions, which call the crate `veneer-executor`.
//!
//! Only the JVM calls these functions. The names of the native methods follow the JNI's rule, so
//! the JVM finds them without a registration.

#![allow(non_snake_case)] // The JVM looks for these names.

use jni::sys::{JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jobject};
use std::ffi::{c_char, c_void};
use veneer_executor::{natives, startup};

/// The JVM calls this function when it starts with `-agentpath`. The application runs in any case.
///
/// # Safety
/// `vm` must be the pointer of the JVM that calls this function, and `options` null or
/// NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: given by the caller.
    unsafe { startup::on_load(vm, options) }
}

/// The JVM calls this function when it loads the library while the application is running.
///
/// # Safety
/// `vm` must be the pointer of the JVM that calls this function, and `options` null or
/// NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    // SAFETY: given by the caller.
    unsafe { startup::on_attach(vm, options) }
}

/// The native method `VeneerWalk.hook`.
///
/// # Safety
/// `env` must be the environment of the current thread, and both classes must be references of it.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerWalk_hook(
    env: *mut JNIEnv,
    _: jclass,
    throwable: jclass,
    walk: jclass,
) -> jboolean {
    // SAFETY: given by the caller.
    unsafe { natives::hook(env, throwable, walk) }
}

/// The native method `VeneerCell.request`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerCell_request(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
    natives::request(id)
}

/// The native method `VeneerRuntime.shard`.
///
/// # Safety
/// `tid` must be the id of the current thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_shard(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
    is_virtual: jboolean,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::shard(tid, is_virtual) }
}

/// The native method `VeneerCalls.shard`.
///
/// # Safety
/// `tid` must be the id of the current thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerCalls_shard(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::call_shard(tid) }
}

/// The native method `VeneerCalls.counter`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerCalls_counter(
    _: *mut JNIEnv,
    _: jclass,
    offset: jint,
    number: jint,
) -> jint {
    natives::receiver_counter(offset, number)
}

/// The native method `VeneerCalls.named`.
///
/// # Safety
/// `env` must be the environment of the current thread, and `class` a class or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerCalls_named(
    env: *mut JNIEnv,
    _: jclass,
    number: jint,
    class: jclass,
) {
    // SAFETY: given by the caller.
    unsafe { natives::name_receiver(env, number, class) }
}

/// The native method `VeneerEvents.ring`.
///
/// # Safety
/// `tid` must be the id of the current carrier thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerEvents_ring(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::ring(tid) }
}

/// The native method `VeneerProbe.stack`.
///
/// # Safety
/// `env` must be the environment of the current thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerProbe_stack(
    env: *mut JNIEnv,
    _: jclass,
    depth: jlong,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::stack(env, depth) }
}

/// The native method `VeneerTrace.open`.
///
/// # Safety
/// `env` must be the environment of the current thread, `shard` the address of the counter shard that
/// the thread owns, and the names strings or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerTrace_open(
    env: *mut JNIEnv,
    _: jclass,
    shard: jlong,
    number: jint,
    tid: jlong,
    name: jobject,
    group: jobject,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::open_trace(env, shard, number, tid, (name, group)) }
}

/// The native method `VeneerMemory.open`.
///
/// # Safety
/// As for `VeneerTrace.open`.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerMemory_open(
    env: *mut JNIEnv,
    _: jclass,
    shard: jlong,
    number: jint,
    tid: jlong,
    name: jobject,
    group: jobject,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::open_accesses(env, shard, number, tid, (name, group)) }
}

/// The native method `VeneerMemory.type`.
///
/// # Safety
/// `env` must be the environment of the current thread, and the name a string or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerMemory_type(
    env: *mut JNIEnv,
    _: jclass,
    name: jobject,
) -> jint {
    // SAFETY: given by the caller.
    unsafe { natives::number_type(env, name) }
}

/// The native method `VeneerMemory.origin`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerMemory_origin(
    _: *mut JNIEnv,
    _: jclass,
    site: jlong,
) -> jint {
    natives::origin(site)
}

/// The native method `VeneerCurve.take`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerCurve_take(
    _: *mut JNIEnv,
    _: jclass,
    shard: jlong,
    moved: jboolean,
) {
    natives::take_curve(shard, moved);
}

/// The native method `VeneerMemory.primary`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerMemory_primary(
    _: *mut JNIEnv,
    _: jclass,
    site: jlong,
    class: jint,
) -> jint {
    natives::primary_class(site, class)
}

/// The native method `VeneerMemory.size`.
///
/// # Safety
/// The object must be a valid reference of the current thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerMemory_size(
    _: *mut JNIEnv,
    _: jclass,
    object: jobject,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::object_size(object) }
}

/// The native method `VeneerTrace.write`.
///
/// # Safety
/// `shard` must be the address of the counter shard that the current thread owns.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerTrace_write(
    _: *mut JNIEnv,
    _: jclass,
    shard: jlong,
    kind: jint,
    id: jlong,
    now: jlong,
) {
    // SAFETY: given by the caller.
    unsafe { natives::write_trace(shard, kind, id, now) }
}

/// The native method `VeneerTrace.writeEvent`.
///
/// # Safety
/// `env` must be the environment of the current thread, `shard` the address of the counter shard that
/// the thread owns, and the label and the text strings or null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerTrace_writeEvent(
    env: *mut JNIEnv,
    _: jclass,
    shard: jlong,
    label: jobject,
    kind: jlong,
    bits: jlong,
    text: jobject,
    now: jlong,
) {
    // SAFETY: given by the caller.
    unsafe { natives::write_trace_event(env, shard, (label, text), (kind, bits), now) }
}

/// The native method `VeneerLives.size`.
///
/// # Safety
/// `object` must be a reference of the current thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerLives_size(
    _: *mut JNIEnv,
    _: jclass,
    object: jobject,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::object_size(object) }
}

/// The native method `VeneerLives.row`.
///
/// # Safety
/// `env` must be the environment of the current thread, and the strings must be references of it.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerLives_row(
    env: *mut JNIEnv,
    _: jclass,
    site: jobject,
    type_name: jobject,
) {
    // SAFETY: given by the caller.
    unsafe { natives::take_life_row(env, site, type_name) }
}

/// The native method `VeneerContexts.grow`.
///
/// # Safety
/// `shard` must be the address of the counter shard that the current thread owns.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerContexts_grow(
    _: *mut JNIEnv,
    _: jclass,
    shard: jlong,
) -> jboolean {
    // SAFETY: given by the caller.
    unsafe { natives::grow_contexts(shard) }
}

/// The native method `VeneerContexts.submission`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerContexts_submission(
    _: *mut JNIEnv,
    _: jclass,
    context: jlong,
) -> jint {
    natives::submission(context)
}

/// The native method `VeneerContexts.switched`.
///
/// # Safety
/// `shard` must be the address of the counter shard that the current thread owns.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerContexts_switched(
    _: *mut JNIEnv,
    _: jclass,
    shard: jlong,
) -> jlong {
    // SAFETY: given by the caller.
    unsafe { natives::switched(shard) }
}

/// The native method `VeneerEvents.dropped`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerEvents_dropped(
    _: *mut JNIEnv,
    _: jclass,
    point: jint,
) {
    natives::dropped(point)
}

/// `VeneerAgent.linked`: does nothing. A call that returns shows that the JVM finds the natives.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_invoke_VeneerAgent_linked(_: *mut JNIEnv, _: jclass) {}
