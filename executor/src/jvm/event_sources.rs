//! The JVMTI functions behind the events of the JVM: capabilities and switches of each kind, and
//! what an event function asks about threads, monitors and methods.
//!
//! HotSpot grants all capabilities of this file in a running JVM. None of them changes interpreted
//! or compiled code: HotSpot tests only whether an event is enabled, on paths that are slow anyway.
//! The agent nevertheless asks for a capability only when a kind is first enabled.

use crate::jvm::jni::{Env, LongField, Reference, jclass, jobject};
use crate::jvm::jvmti::{JvmtiError, Tool, call, checked, succeeded};
use ::jni::sys::{self, JNIEnv, jint, jmethodID};
use jvmti_sys::*;
use std::ffi::{CStr, c_char};
use std::ptr;
use veneer_instruments::VmEventKind;
use veneer_names::java_form;

/// The id of HotSpot's extension event for unloaded classes.
const CLASS_UNLOAD: &CStr = c"com.sun.hotspot.events.ClassUnload";

/// A function for HotSpot's extension event of unloaded classes. HotSpot passes the class's
/// internal name.
pub type ClassUnloaded = unsafe extern "C" fn(*mut jvmtiEnv, *mut JNIEnv, *const c_char);

/// `SetExtensionEventCallback` with the type of one event's function, which may be absent.
type SetClassUnloaded =
    unsafe extern "system" fn(*mut jvmtiEnv, jint, Option<ClassUnloaded>) -> jvmtiError;

/// `SetEventNotificationMode` with events of the type `E`.
type SetMode<E> =
    unsafe extern "C" fn(*mut jvmtiEnv, jvmtiEventMode, E, jthread, ...) -> jvmtiError;

/// A thread, as the JVM describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadDescription {
    /// The thread's name.
    pub name: String,
    /// The name of the thread's group.
    pub group: String,
}

/// The capability of sampled allocations. One agent of a JVM can have it at a time, so it is given up
/// when nobody asks for the kind.
const SAMPLED_ALLOCATIONS: jvmtiCapabilities =
    jvmtiCapabilities::CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS;

/// The capability that a kind of event needs, and its JVMTI events.
fn sources(kind: VmEventKind) -> (jvmtiCapabilities, &'static [jvmtiEvent]) {
    match kind {
        VmEventKind::Contended => (
            jvmtiCapabilities::CAN_GENERATE_MONITOR_EVENTS
                | jvmtiCapabilities::CAN_GET_MONITOR_INFO,
            &[
                jvmtiEvent::JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
                jvmtiEvent::JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
            ],
        ),
        VmEventKind::Wait => (
            jvmtiCapabilities::CAN_GENERATE_MONITOR_EVENTS,
            &[
                jvmtiEvent::JVMTI_EVENT_MONITOR_WAIT,
                jvmtiEvent::JVMTI_EVENT_MONITOR_WAITED,
            ],
        ),
        VmEventKind::ThreadStart => (
            jvmtiCapabilities::empty(),
            &[jvmtiEvent::JVMTI_EVENT_THREAD_START],
        ),
        VmEventKind::Collection => (
            jvmtiCapabilities::CAN_GENERATE_GARBAGE_COLLECTION_EVENTS,
            &[
                jvmtiEvent::JVMTI_EVENT_GARBAGE_COLLECTION_START,
                jvmtiEvent::JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
            ],
        ),
        VmEventKind::ClassLoad => (
            jvmtiCapabilities::empty(),
            &[jvmtiEvent::JVMTI_EVENT_CLASS_LOAD],
        ),
        VmEventKind::Compile => (
            jvmtiCapabilities::CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS,
            &[jvmtiEvent::JVMTI_EVENT_COMPILED_METHOD_LOAD],
        ),
        VmEventKind::Allocate => (
            SAMPLED_ALLOCATIONS,
            &[jvmtiEvent::JVMTI_EVENT_SAMPLED_OBJECT_ALLOC],
        ),
        VmEventKind::Free => (
            jvmtiCapabilities::CAN_TAG_OBJECTS | jvmtiCapabilities::CAN_GENERATE_OBJECT_FREE_EVENTS,
            &[jvmtiEvent::JVMTI_EVENT_OBJECT_FREE],
        ),
        // The agent always has the event of a thread's end. Unloading is an extension event.
        VmEventKind::ThreadEnd | VmEventKind::ClassUnload => (jvmtiCapabilities::empty(), &[]),
    }
}

impl Tool {
    /// Lets the JVM report a kind of event. `unloaded` gets the classes that are unloaded.
    ///
    /// # Errors
    /// The JVM refuses the capability or one of the events.
    pub fn enable_kind(self, kind: VmEventKind, unloaded: ClassUnloaded) -> Result<(), JvmtiError> {
        let (capabilities, events) = sources(kind);
        if !capabilities.is_empty() {
            // SAFETY: the JVM reads the set of capabilities.
            let code = unsafe { call!(self, AddCapabilities, &capabilities) };
            checked("AddCapabilities", "asking for a capability of events", code)?;
        }
        if kind == VmEventKind::ClassUnload {
            return self.set_class_unloaded(Some(unloaded));
        }
        events.iter().try_for_each(|event| self.enable(*event))
    }

    /// Ends the reports of a kind of event.
    ///
    /// # Errors
    /// The JVM refuses.
    pub fn disable_kind(self, kind: VmEventKind) -> Result<(), JvmtiError> {
        if kind == VmEventKind::ClassUnload {
            return self.set_class_unloaded(None);
        }
        let (capabilities, events) = sources(kind);
        events.iter().try_for_each(|event| self.disable(*event))?;
        if kind == VmEventKind::Allocate {
            // SAFETY: the JVM reads the set of capabilities.
            let code = unsafe { call!(self, RelinquishCapabilities, &capabilities) };
            checked("RelinquishCapabilities", "giving up a capability", code)?;
        }
        Ok(())
    }

    /// Sets the mean number of bytes that are allocated between two samples, for all agents of the JVM.
    ///
    /// # Errors
    /// This agent may not sample, for instance because another one does.
    pub fn set_sampling_interval(self, bytes: u64) -> Result<(), JvmtiError> {
        let bytes = jint::try_from(bytes).unwrap_or(jint::MAX);
        // SAFETY: the argument is a plain value.
        let code = unsafe { ((**self.0).v11.SetHeapSamplingInterval)(self.0, bytes) };
        checked(
            "SetHeapSamplingInterval",
            "setting the interval of heap samples",
            code,
        )
    }

    /// Sets the tag of an object, which the JVM reports when the object is collected.
    pub fn tag(self, object: jobject, tag: i64) {
        // SAFETY: `object` is a valid reference.
        unsafe { call!(self, SetTag, object.raw(), tag) };
    }

    /// Sets the function for unloaded classes, or removes it.
    fn set_class_unloaded(self, unloaded: Option<ClassUnloaded>) -> Result<(), JvmtiError> {
        let attempt = "turning on the event of unloaded classes";
        let Some(index) = self.class_unload_index() else {
            let missing = jvmtiError::JVMTI_ERROR_NOT_AVAILABLE;
            return checked("GetExtensionEvents", attempt, missing);
        };
        // SAFETY: the types differ in the parameter for the function only. The JVM's specification
        // allows null there, and HotSpot calls the function with an environment of JVMTI, one of
        // JNI, and a name. On all platforms of the agent, such a call without further arguments
        // passes them as a call of a function with fixed parameters does.
        let set = unsafe {
            let set = (**self.0).v1_2.SetExtensionEventCallback;
            std::mem::transmute::<
                unsafe extern "system" fn(*mut jvmtiEnv, jint, jvmtiExtensionEvent) -> jvmtiError,
                SetClassUnloaded,
            >(set)
        };
        // SAFETY: the index is that of the event, and the function is never unloaded.
        let code = unsafe { set(self.0, index, unloaded) };
        checked("SetExtensionEventCallback", attempt, code)?;
        self.notify_extension(index, unloaded.is_some());
        Ok(())
    }

    /// Enables or disables an extension event. HotSpot before JDK 21 reports such an event when it
    /// has a function, and refuses this call. Later releases report it only after this call.
    fn notify_extension(self, index: jint, is_enabled: bool) {
        let mode = match is_enabled {
            true => jvmtiEventMode::JVMTI_ENABLE,
            false => jvmtiEventMode::JVMTI_DISABLE,
        };
        // SAFETY: the types differ in the event only, which is a number of the same size. The
        // enumeration of the binding lacks the numbers of extension events.
        let set = unsafe {
            let set = (**self.0).v1_2.SetEventNotificationMode;
            std::mem::transmute::<SetMode<jvmtiEvent>, SetMode<jint>>(set)
        };
        // SAFETY: all arguments are plain values.
        unsafe { set(self.0, mode, index, ptr::null_mut()) };
    }

    /// The index of HotSpot's extension event for unloaded classes.
    fn class_unload_index(self) -> Option<jint> {
        let (mut count, mut list) = (0, ptr::null_mut());
        // SAFETY: the JVM writes the address of an allocated list and its length to the places. All
        // parts of the list are released below, and not used afterwards.
        unsafe {
            let code = call!(self, GetExtensionEvents, &mut count, &mut list);
            if !succeeded(code) {
                return None;
            }
            let mut index = None;
            for event in self.list(list, count) {
                if self.text(event.id).as_bytes() == CLASS_UNLOAD.to_bytes() {
                    index = Some(event.extension_event_index);
                }
                self.free(event.short_description);
                for parameter in self.list(event.params, event.param_count) {
                    self.free(parameter.name);
                }
            }
            index
        }
    }

    /// The name and the group of a thread. `None` if the thread has ended.
    pub fn describe_thread(self, env: Env, thread: jobject) -> Option<ThreadDescription> {
        // SAFETY: the type is a structure of pointers and numbers, for which all zeros is valid.
        let mut info: jvmtiThreadInfo = unsafe { std::mem::zeroed() };
        // SAFETY: `thread` is a valid reference, and the JVM fills the structure.
        let code = unsafe { call!(self, GetThreadInfo, thread.raw(), &mut info) };
        if !succeeded(code) {
            return None;
        }
        // SAFETY: as above; the name is text that the JVM has allocated.
        let (name, mut group) = unsafe { (self.text(info.name), std::mem::zeroed()) };
        let group_name = match info.thread_group.is_null() {
            true => String::new(),
            // SAFETY: the JVM has just returned the reference, and fills the structure.
            false => unsafe {
                let code = call!(self, GetThreadGroupInfo, info.thread_group, &mut group);
                match succeeded(code) {
                    true => self.group_name(env, &group),
                    false => String::new(),
                }
            },
        };
        for reference in [info.thread_group, info.context_class_loader] {
            if !reference.is_null() {
                // SAFETY: the JVM has made the local reference, which is not used again.
                unsafe { env.delete(Reference::new(reference)) };
            }
        }
        Some(ThreadDescription {
            name,
            group: group_name,
        })
    }

    /// The name of a thread group, whose description is released.
    ///
    /// # Safety
    /// The JVM must have filled `group`, which is not used afterwards.
    unsafe fn group_name(self, env: Env, group: &jvmtiThreadGroupInfo) -> String {
        // SAFETY: given by the caller.
        unsafe {
            if !group.parent.is_null() {
                env.delete(Reference::new(group.parent));
            }
            self.text(group.name)
        }
    }

    /// The size of an object on the heap; 0 if the JVM does not know it.
    pub fn object_size(self, object: jobject) -> i64 {
        let mut size = 0;
        // SAFETY: `object` is a valid reference. The JVM writes a number to the place.
        unsafe { call!(self, GetObjectSize, object.raw(), &mut size) };
        size
    }

    /// The identity hash of an object.
    pub fn identity_hash(self, object: jobject) -> u32 {
        let mut hash = 0;
        // SAFETY: `object` is a valid reference. The JVM writes a number to the place.
        unsafe { call!(self, GetObjectHashCode, object.raw(), &mut hash) };
        hash.cast_unsigned()
    }

    /// The thread that owns an object's monitor, as a local reference; null if no thread owns it.
    /// HotSpot stops all threads to find the owner.
    pub fn monitor_owner(self, env: Env, object: jobject) -> jobject {
        // SAFETY: the type is a structure of pointers and numbers, for which all zeros is valid.
        let mut usage: jvmtiMonitorUsage = unsafe { std::mem::zeroed() };
        // SAFETY: `object` is a valid reference, and the JVM fills the structure. Its lists have
        // local references, which are deleted and not used again.
        unsafe {
            let code = call!(self, GetObjectMonitorUsage, object.raw(), &mut usage);
            if !succeeded(code) {
                return Reference::NULL;
            }
            let mut waiting = self.list(usage.waiters, usage.waiter_count);
            waiting.extend(self.list(usage.notify_waiters, usage.notify_waiter_count));
            for thread in waiting.into_iter().filter(|thread| !thread.is_null()) {
                env.delete(Reference::new(thread));
            }
            Reference::new(usage.owner)
        }
    }

    /// The name of an object's class, in Java form.
    pub fn class_of_object(self, env: Env, object: jobject) -> Option<String> {
        let class = env.class_of(object);
        let name = self.java_name(class);
        // SAFETY: `class_of` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
        name
    }

    /// The name of a class as `Class.getName` returns it, also for arrays and hidden classes.
    pub fn java_name(self, class: jclass) -> Option<String> {
        self.class_name(class)
            .map(|name| java_form(&name))
            .or_else(|| self.version_name(class))
            .or_else(|| self.signature(class).map(|name| java_form(&name)))
    }

    /// The class in Java form, the name and the descriptor of a method.
    ///
    /// # Safety
    /// The JVM must have returned `method` as a method id.
    pub unsafe fn describe_method(
        self,
        env: Env,
        method: jmethodID,
    ) -> Option<(String, String, String)> {
        // SAFETY: given by the caller.
        let (class, name, descriptor) = unsafe { self.method(method) }?;
        let class_name = self.java_name(class);
        // SAFETY: `method` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
        Some((class_name?, name, descriptor))
    }
}

/// The id of a thread object, as `Thread.threadId` returns it.
///
/// # Safety
/// `thread` must be a `java.lang.Thread` and not null, and `tid` its field of that name.
pub unsafe fn thread_id(env: Env, thread: sys::jobject, tid: LongField) -> i64 {
    // SAFETY: given by the caller.
    unsafe { env.get_long(Reference::new(thread), tid) }
}
