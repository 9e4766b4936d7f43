//! The JNI functions that the agent uses: [`Env`], with the references and ids that its calls need.
//!
//! Every thread of the JVM uses this module: the agent's own threads, and application threads
//! inside events and native methods. A wrapper checks for a pending exception after each call that
//! can throw, and releases every string and array that the JVM lends.
//!
//! The types carry these parts of the JNI contract:
//!
//! | part of the contract                           | carried by                                 |
//! |------------------------------------------------|--------------------------------------------|
//! | the environment belongs to the current thread  | [`Env`]: unsafe constructor, not `Send`    |
//! | the JVM made the reference                     | [`Reference`]: unsafe constructor          |
//! | a local reference stays in its thread          | [`Reference`] is not `Send`                |
//! | the class of a method id stays loaded          | [`Static`] owns a reference to the class   |
//! | a reference is that of a class, or of a loader | a check before the call                    |
//! | local references of a frame do not leave it    | [`Env::frame`]: the result is `Send`       |
//! | the arguments fit the descriptor of a method   | unsafe functions, [`Env::object`] and kin  |
//!
//! **Invariant:** no code uses a reference after it has ended. No type carries this part, because
//! references are copied. A reference ends with [`Env::delete`], with the [`Env::frame`] in which
//! it was made, with the [`Global`] that it was read from, and otherwise with the native call.
//! [`Env::delete`] is unsafe for this reason: its caller says why no copy is used afterwards.

use ::jni::sys;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use thiserror::Error;

pub use sys::jvalue;

/// Calls a JNI function through an [`Env`]. The call is unsafe: its `SAFETY` comment must say why
/// the arguments are valid for that function. `Env` itself proves that the environment is valid.
macro_rules! call {
    ($env:expr, $name:ident $(, $arg:expr)*) => {
        ((**$env.0).v1_2.$name)($env.0 $(, $arg)*)
    };
}

// The modules follow the macro, because they use it.
mod classes;
mod values;

/// A Java exception that a call has thrown, or a result that the JVM must not return.
#[derive(Clone, Debug, Error)]
#[error("{what}: {thrown}")]
pub struct JvmError {
    /// The attempted operation, for example `defining a version`.
    pub what: String,
    /// The exception's class and message, or the unexpected result.
    pub thrown: String,
}

/// A reference to a Java object, local or global, or null.
///
/// Only the JVM makes references, so only unsafe code can make this type from anything else. A
/// reference is not `Send`, because a local reference is valid in one thread only.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Reference(sys::jobject);

/// The JNI's name for a reference to any object.
#[allow(non_camel_case_types)] // The name that the JNI specification uses.
pub type jobject = Reference;

/// The JNI's name for a reference to a class. Calls that need a class check for one.
#[allow(non_camel_case_types)] // The name that the JNI specification uses.
pub type jclass = Reference;

impl Reference {
    /// The null reference.
    pub const NULL: Reference = Reference(ptr::null_mut());

    /// Wraps a reference that the JVM made.
    ///
    /// # Safety
    /// `raw` must be null, or a reference that the JVM made and that is valid in this thread. The
    /// caller must not use the result after the reference has ended (see the module).
    pub unsafe fn new(raw: sys::jobject) -> Reference {
        Reference(raw)
    }

    /// The raw reference, for a call of the JNI or of JVMTI.
    pub fn raw(self) -> sys::jobject {
        self.0
    }

    /// Whether this is the null reference. A weak reference whose object is gone is not null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// The JNI environment of the current thread.
#[derive(Clone, Copy)]
pub struct Env(*mut sys::JNIEnv);

/// A static method. The method owns a reference to its class, so that the class stays loaded and
/// the method id stays valid.
#[derive(Clone)]
pub struct Static {
    class: Arc<Global>,
    id: sys::jmethodID,
}

// SAFETY: a method id is valid in every thread while its class is loaded. `class` keeps it loaded.
unsafe impl Send for Static {}
// SAFETY: as for `Send`; a method id is never written.
unsafe impl Sync for Static {}

impl Static {
    /// The JNI's id of the method.
    pub fn id(&self) -> sys::jmethodID {
        self.id
    }

    /// A reference to the method's class, valid while this method is alive.
    pub fn class(&self) -> jclass {
        self.class.raw()
    }
}

/// A strong global reference that the agent owns. Dropping it deletes the reference.
#[derive(Debug)]
pub struct Global {
    object: sys::jobject,
}

// SAFETY: the JNI lets every thread use and delete a global reference.
unsafe impl Send for Global {}
// SAFETY: as for `Send`; a global reference is never written.
unsafe impl Sync for Global {}

/// A weak global reference that the agent owns. Dropping it deletes the reference.
///
/// The JVM may collect the object at any moment, and HotSpot reads through null if a JNI function
/// gets a weak reference whose object is gone. So the reference itself is private, and only
/// [`Env::local`], [`Env::refers_to`] and [`Env::is_cleared`] take it.
#[derive(Debug)]
pub struct WeakGlobal {
    object: sys::jweak,
}

// SAFETY: the JNI lets every thread use and delete a weak global reference.
unsafe impl Send for WeakGlobal {}
// SAFETY: as for `Send`; a weak global reference is never written.
unsafe impl Sync for WeakGlobal {}

/// The number of global references that were dropped in a thread without a JNI environment, since
/// the last call of [`take_leaked_globals`].
static LEAKED_GLOBALS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of global references that were dropped in a thread without a JNI environment
/// since the last call. Each of them stays allocated in the JVM until the JVM ends, so the caller
/// must report them.
pub fn take_leaked_globals() -> u64 {
    LEAKED_GLOBALS.swap(0, Ordering::Relaxed)
}

impl Global {
    /// The reference itself, valid while this global reference is alive.
    pub fn raw(&self) -> jobject {
        Reference(self.object)
    }
}

/// The JVM, for threads that have no environment at hand. Set by the first global reference.
static JVM: AtomicPtr<sys::JavaVM> = AtomicPtr::new(ptr::null_mut());

impl Drop for Global {
    fn drop(&mut self) {
        let Some(env) = Env::current() else {
            LEAKED_GLOBALS.fetch_add(1, Ordering::Relaxed);
            return;
        };
        // SAFETY: `env` belongs to this thread. `Env::global` made the reference, and only this
        // function deletes it.
        unsafe { call!(env, DeleteGlobalRef, self.object) };
    }
}

impl Drop for WeakGlobal {
    fn drop(&mut self) {
        let Some(env) = Env::current() else {
            LEAKED_GLOBALS.fetch_add(1, Ordering::Relaxed);
            return;
        };
        // SAFETY: `env` belongs to this thread. `Env::weak` made the reference, and only this
        // function deletes it.
        unsafe { call!(env, DeleteWeakGlobalRef, self.object) };
    }
}

/// Deletes the local references of [`Env::frame`], also if a panic ends the frame.
struct LocalFrame(Env);

impl Drop for LocalFrame {
    fn drop(&mut self) {
        // SAFETY: `Env::frame` has pushed a local frame, and made this guard after that.
        unsafe { call!(self.0, PopLocalFrame, ptr::null_mut()) };
    }
}

impl Env {
    /// Wraps the environment of the current thread.
    ///
    /// # Safety
    /// `env` must be the environment that the JVM gave to the current thread. The caller must not
    /// use the result after the thread has detached from the JVM.
    pub unsafe fn new(env: *mut sys::JNIEnv) -> Env {
        Env(env)
    }

    /// The environment of the current thread, or `None` if it is no thread of the JVM.
    pub fn current() -> Option<Env> {
        let vm = JVM.load(Ordering::Acquire);
        if vm.is_null() {
            return None;
        }
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: `vm` is the pointer that `GetJavaVM` returned; it is valid until the process ends.
        let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, sys::JNI_VERSION_1_8) };
        (code == sys::JNI_OK).then_some(Env(env.cast()))
    }

    // ---- exceptions ----------------------------------------------------------------------------

    /// Clears a pending exception, and returns it as an error of the operation `what`.
    pub fn check(self, what: impl FnOnce() -> String) -> Result<(), JvmError> {
        // SAFETY: `ExceptionOccurred` has no arguments. Its result is a new local reference.
        let thrown = Reference(unsafe { call!(self, ExceptionOccurred) });
        if thrown.is_null() {
            return Ok(());
        }
        self.clear_exception();
        let text = self.describe(thrown);
        // SAFETY: `thrown` is the local reference from above, and is not used again.
        unsafe { self.delete(thrown) };
        Err(JvmError {
            what: what(),
            thrown: text,
        })
    }

    fn clear_exception(self) {
        // SAFETY: `ExceptionClear` has no arguments, and does nothing if no exception is pending.
        unsafe { call!(self, ExceptionClear) };
    }

    /// The class and the message of an exception, which is not null. Both are read from fields,
    /// because `toString` and `getMessage` may be code of the application.
    fn describe(self, thrown: Reference) -> String {
        let class = self.class_of(thrown);
        let name = self.class_name(class);
        // SAFETY: `class` is the exception's own class, and the descriptor is that of a string.
        // `field` has made the local reference `message`, which is not used after its deletion.
        let message = unsafe {
            let message = self.field(thrown, class, c"detailMessage", c"Ljava/lang/String;");
            message.and_then(|message| {
                let text = self.string(message);
                self.delete(message);
                text
            })
        };
        // SAFETY: `class_of` has made the local reference, which is not used again.
        unsafe { self.delete(class) };
        match (name, message) {
            (Some(name), Some(text)) => format!("{name}: {text}"),
            (Some(name), None) => name,
            (None, _) => "an exception whose class has no name".to_string(),
        }
    }

    // ---- calls ---------------------------------------------------------------------------------

    /// Calls a static method that returns an object. The result is a local reference.
    ///
    /// # Safety
    /// The method must return an object. `args` must have one value for each parameter of the
    /// method's descriptor, in this order and of the parameter's type, or null for an object.
    pub unsafe fn object(
        self,
        method: &Static,
        args: &[jvalue],
        what: impl FnOnce() -> String,
    ) -> Result<jobject, JvmError> {
        let (class, id) = (method.class.object, method.id);
        // SAFETY: `id` is a method of the class; the caller vouches for the arguments.
        let result = unsafe { call!(self, CallStaticObjectMethodA, class, id, args.as_ptr()) };
        self.check(what)?;
        Ok(Reference(result))
    }

    /// Calls a static method that returns a `long`.
    ///
    /// # Safety
    /// As for [`Env::object`], but the method must return a `long`.
    pub unsafe fn long(
        self,
        method: &Static,
        args: &[jvalue],
        what: impl FnOnce() -> String,
    ) -> Result<i64, JvmError> {
        let (class, id) = (method.class.object, method.id);
        // SAFETY: `id` is a method of the class; the caller vouches for the arguments.
        let result = unsafe { call!(self, CallStaticLongMethodA, class, id, args.as_ptr()) };
        self.check(what)?;
        Ok(result)
    }

    /// Calls a static method that returns nothing.
    ///
    /// # Safety
    /// As for [`Env::object`], but the method must return nothing.
    pub unsafe fn void(
        self,
        method: &Static,
        args: &[jvalue],
        what: impl FnOnce() -> String,
    ) -> Result<(), JvmError> {
        let (class, id) = (method.class.object, method.id);
        // SAFETY: `id` is a method of the class; the caller vouches for the arguments.
        unsafe { call!(self, CallStaticVoidMethodA, class, id, args.as_ptr()) };
        self.check(what)
    }

    /// Makes a thread object. The thread is not started.
    pub fn new_thread(self, name: &str) -> Result<jobject, JvmError> {
        let class = self.find(c"java/lang/Thread")?;
        // SAFETY: `class` is a class; the name and the descriptor are NUL-terminated.
        let id = unsafe {
            call!(
                self,
                GetMethodID,
                class.0,
                c"<init>".as_ptr(),
                c"(Ljava/lang/String;)V".as_ptr()
            )
        };
        self.check(|| "looking for Thread's constructor".into())?;
        let args = [l(self.new_string(name)?)];
        // SAFETY: `id` is the constructor of `Thread` that takes one string.
        let thread = unsafe { call!(self, NewObjectA, class.0, id, args.as_ptr()) };
        self.check(|| format!("making the thread {name}"))?;
        Ok(Reference(thread))
    }

    // ---- references ----------------------------------------------------------------------------

    /// Makes a strong global reference to an object.
    pub fn global(self, object: jobject) -> Global {
        self.remember_jvm();
        Global {
            // SAFETY: `object` is a valid reference or null.
            object: unsafe { call!(self, NewGlobalRef, object.0) },
        }
    }

    /// Makes a weak global reference to an object.
    pub fn weak(self, object: jobject) -> WeakGlobal {
        self.remember_jvm();
        WeakGlobal {
            // SAFETY: `object` is a valid reference or null.
            object: unsafe { call!(self, NewWeakGlobalRef, object.0) },
        }
    }

    /// The pointer of the JVM.
    ///
    /// # Errors
    /// The JVM does not return it.
    pub fn jvm(self) -> Result<*mut sys::JavaVM, JvmError> {
        self.remember_jvm();
        let vm = JVM.load(Ordering::Acquire);
        match vm.is_null() {
            true => Err(JvmError {
                what: "asking for the pointer of the JVM".into(),
                thrown: "no pointer".into(),
            }),
            false => Ok(vm),
        }
    }

    fn remember_jvm(self) {
        if JVM.load(Ordering::Acquire).is_null() {
            let mut vm = ptr::null_mut();
            // SAFETY: the JVM writes its pointer to the place.
            if unsafe { call!(self, GetJavaVM, &mut vm) } == sys::JNI_OK {
                JVM.store(vm, Ordering::Release);
            }
        }
    }

    /// A new local reference to the object of a weak global reference; null if the object is gone.
    /// The caller deletes the local reference.
    pub fn local(self, weak: &WeakGlobal) -> jobject {
        // SAFETY: the weak reference is not deleted while `weak` is borrowed, and `NewLocalRef`
        // returns null if its object is gone.
        Reference(unsafe { call!(self, NewLocalRef, weak.object) })
    }

    /// Whether a weak reference names this object. A weak reference whose object is gone names
    /// null.
    pub fn refers_to(self, weak: &WeakGlobal, object: jobject) -> bool {
        // SAFETY: `object` is a valid reference or null. The weak reference is not deleted while
        // `weak` is borrowed, and `IsSameObject` takes it as null if its object is gone.
        unsafe { call!(self, IsSameObject, weak.object, object.0) }
    }

    /// Whether two references name one object.
    pub fn same(self, a: jobject, b: jobject) -> bool {
        // SAFETY: both are valid references or null.
        unsafe { call!(self, IsSameObject, a.0, b.0) }
    }

    /// Whether the object of a weak reference is gone.
    pub fn is_cleared(self, weak: &WeakGlobal) -> bool {
        self.refers_to(weak, Reference::NULL)
    }

    /// Announces that the caller is about to make up to `count` more local references.
    pub fn ensure(self, count: usize) {
        // SAFETY: the argument is a plain number. A failure leaves an `OutOfMemoryError`, which the
        // next check of a call reports.
        unsafe { call!(self, EnsureLocalCapacity, count as i32) };
    }

    /// Deletes a local reference. Does nothing for null.
    ///
    /// # Safety
    /// `local` must be null or a local reference of this thread, no global one. The caller must not
    /// use any copy of the reference afterwards.
    pub unsafe fn delete(self, local: jobject) {
        if !local.is_null() {
            // SAFETY: given by the caller.
            unsafe { call!(self, DeleteLocalRef, local.0) };
        }
    }

    /// Runs `f` with room for 64 local references, and then deletes all local references that `f`
    /// has made, also if `f` panics. The result is `Send`, so no such reference is part of it.
    pub fn frame<T: Send>(self, f: impl FnOnce(Env) -> Result<T, JvmError>) -> Result<T, JvmError> {
        // SAFETY: the argument is a plain number. `LocalFrame` pops the frame.
        unsafe { call!(self, PushLocalFrame, 64) };
        self.check(|| "making room for references".into())?;
        let _frame = LocalFrame(self);
        f(self)
    }
}

/// A `long` instance field.
#[derive(Clone, Copy)]
pub struct LongField(sys::jfieldID);

// SAFETY: a field id is valid in every thread while its class is loaded. The agent asks for fields
// of `java.lang.Thread` only, which the JVM never unloads.
unsafe impl Send for LongField {}
// SAFETY: as for `Send`; a field id is never written.
unsafe impl Sync for LongField {}

/// An instance field that holds an object.
#[derive(Clone, Copy)]
pub struct ObjectField(sys::jfieldID);

// SAFETY: a field id is valid in every thread while its class is loaded. The agent asks for fields
// of `java.lang.StackTraceElement` only, which the JVM never unloads.
unsafe impl Send for ObjectField {}
// SAFETY: as for `Send`; a field id is never written.
unsafe impl Sync for ObjectField {}

/// An object as an argument of a Java method.
pub fn l(object: jobject) -> jvalue {
    jvalue { l: object.0 }
}

/// An `int` as an argument of a Java method.
pub fn i(value: i32) -> jvalue {
    jvalue { i: value }
}

/// A `long` as an argument of a Java method.
pub fn j(value: i64) -> jvalue {
    jvalue { j: value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_global_reference_that_is_dropped_without_a_jvm_is_counted() {
        // No test of this crate starts a JVM, so the drop deletes nothing.
        let object = ptr::dangling_mut::<c_void>().cast();
        drop(WeakGlobal { object });
        drop(Global { object });
        assert_eq!([take_leaked_globals(), take_leaked_globals()], [2, 0]);
    }

    #[test]
    fn a_jvm_error_names_the_operation_before_the_exception() {
        let error = JvmError {
            what: "defining a version".into(),
            thrown: "java.lang.OutOfMemoryError".into(),
        };
        assert_eq!(
            error.to_string(),
            "defining a version: java.lang.OutOfMemoryError"
        );
    }
}
