//! The JNI, as far as the agent needs it: every call with its exception check, every string and array freed.
//!
//! `unsafe` is kept to this module, `tool.rs`, `memory.rs` and the exported functions. A wrapper is only made from an
//! environment that the JVM handed to this thread, and never leaves it; that is the reason why its calls are sound.

use jni::sys;
use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use thiserror::Error;

pub use sys::{jclass, jobject, jvalue};

/// A Java exception, or an answer of the JVM that should not be.
#[derive(Clone, Debug, Error)]
#[error("{what}: {thrown}")]
pub struct JvmError {
    /// What was tried.
    pub what: String,
    /// The exception, as its `toString` says.
    pub thrown: String,
}

/// This thread's JNI environment.
#[derive(Clone, Copy)]
pub struct Env(*mut sys::JNIEnv);

/// A static method of a class that is never unloaded.
#[derive(Clone, Copy)]
pub struct Static {
    class: jclass,
    id: sys::jmethodID,
}

// Safety: a global class reference and a method id are valid in every thread.
unsafe impl Send for Static {}
unsafe impl Sync for Static {}

impl Static {
    /// The method id.
    pub fn id(&self) -> sys::jmethodID {
        self.id
    }
}

/// A global reference, weak or strong, owned by the agent; given back to the JVM when it is dropped.
#[derive(Debug)]
pub struct Global {
    object: jobject,
    weak: bool,
}

// Safety: global references are valid in every thread.
unsafe impl Send for Global {}
unsafe impl Sync for Global {}

impl Global {
    /// The reference itself; null for a weak one that is gone is found out by [`Env::local`].
    pub fn raw(&self) -> jobject {
        self.object
    }
}

/// The JVM, for where no environment is at hand.
static JVM: AtomicPtr<sys::JavaVM> = AtomicPtr::new(ptr::null_mut());

impl Drop for Global {
    fn drop(&mut self) {
        // A thread that is none of the JVM's has no environment; the reference stays then.
        let Some(Env(env)) = Env::current() else {
            return;
        };
        // Safety: the environment is this thread's; the reference was made by `global` or `weak` and is given back once.
        unsafe {
            if self.weak {
                ((**env).v1_2.DeleteWeakGlobalRef)(env, self.object);
            } else {
                ((**env).v1_2.DeleteGlobalRef)(env, self.object);
            }
        }
    }
}

macro_rules! call {
    ($env:expr, $version:ident, $name:ident $(, $arg:expr)*) => {
        // Safety: the environment belongs to this thread; the arguments are of the kinds that the function takes.
        unsafe { ((**$env.0).$version.$name)($env.0 $(, $arg)*) }
    };
}

impl Env {
    /// # Safety
    /// `env` must be the environment that the JVM gave to the current thread.
    pub unsafe fn new(env: *mut sys::JNIEnv) -> Env {
        Env(env)
    }

    /// Clears a pending exception and says what it was.
    pub fn check(self, what: impl FnOnce() -> String) -> Result<(), JvmError> {
        let thrown = call!(self, v1_2, ExceptionOccurred);
        if thrown.is_null() {
            return Ok(());
        }
        call!(self, v1_2, ExceptionClear);
        let text = self.describe(thrown);
        self.delete(thrown);
        Err(JvmError {
            what: what(),
            thrown: text,
        })
    }

    /// The class and message of an exception. Both are read from fields: `toString` and `getMessage` may be the application's code.
    fn describe(self, thrown: jobject) -> String {
        let class = call!(self, v1_2, GetObjectClass, thrown);
        let name = self.class_name(class);
        let message = self.field(thrown, class, c"detailMessage", c"Ljava/lang/String;");
        self.delete(class);
        let text = message.and_then(|message| {
            let text = self.string(message);
            self.delete(message);
            text
        });
        match (name, text) {
            (Some(name), Some(text)) => format!("{name}: {text}"),
            (Some(name), None) => name,
            (None, _) => "an exception whose class has no name".to_string(),
        }
    }

    /// The name of a class as Java shows it.
    fn class_name(self, class: jclass) -> Option<String> {
        let of_class = call!(self, v1_2, GetObjectClass, class);
        let descriptor = c"()Ljava/lang/String;".as_ptr();
        let id = call!(
            self,
            v1_2,
            GetMethodID,
            of_class,
            c"getName".as_ptr(),
            descriptor
        );
        self.delete(of_class);
        if id.is_null() {
            call!(self, v1_2, ExceptionClear);
            return None;
        }
        let args: [jvalue; 1] = [jvalue { l: ptr::null_mut() }];
        // `Class.getName` cannot be overridden.
        let name = call!(self, v1_2, CallObjectMethodA, class, id, args.as_ptr());
        if call!(self, v1_2, ExceptionCheck) {
            call!(self, v1_2, ExceptionClear);
        }
        let text = self.string(name);
        self.delete(name);
        text
    }

    /// The object in a field; `None` if the class has no such field.
    fn field(self, of: jobject, class: jclass, name: &CStr, descriptor: &CStr) -> Option<jobject> {
        let id = call!(
            self,
            v1_2,
            GetFieldID,
            class,
            name.as_ptr(),
            descriptor.as_ptr()
        );
        if id.is_null() {
            call!(self, v1_2, ExceptionClear);
            return None;
        }
        Some(call!(self, v1_2, GetObjectField, of, id))
    }

    /// Whether a class has an instance field.
    pub fn has_field(self, class: jclass, name: &CStr, descriptor: &CStr) -> bool {
        let id = call!(
            self,
            v1_2,
            GetFieldID,
            class,
            name.as_ptr(),
            descriptor.as_ptr()
        );
        call!(self, v1_2, ExceptionClear);
        !id.is_null()
    }

    /// A Java string's text. `None` for null.
    pub fn string(self, string: jobject) -> Option<String> {
        if string.is_null() {
            return None;
        }
        let chars = call!(self, v1_2, GetStringUTFChars, string, ptr::null_mut());
        if chars.is_null() {
            return None;
        }
        // Safety: the JVM gives a NUL-terminated copy that is valid until it is released.
        let text =
            String::from_utf8_lossy(unsafe { CStr::from_ptr(chars) }.to_bytes()).into_owned();
        call!(self, v1_2, ReleaseStringUTFChars, string, chars);
        Some(text)
    }

    /// A new Java string.
    pub fn new_string(self, text: &str) -> Result<jobject, JvmError> {
        let text = CString::new(text.replace('\0', "\u{FFFD}")).unwrap_or_default();
        let string = call!(self, v1_2, NewStringUTF, text.as_ptr());
        self.check(|| "making a string".into())?;
        Ok(string)
    }

    /// A new byte array.
    pub fn bytes(self, bytes: &[u8]) -> Result<jobject, JvmError> {
        let array = call!(self, v1_2, NewByteArray, bytes.len() as i32);
        self.check(|| "making a byte array".into())?;
        call!(
            self,
            v1_2,
            SetByteArrayRegion,
            array,
            0,
            bytes.len() as i32,
            bytes.as_ptr().cast()
        );
        self.check(|| "filling a byte array".into())?;
        Ok(array)
    }

    /// A new int array.
    pub fn ints(self, ints: &[i32]) -> Result<jobject, JvmError> {
        let array = call!(self, v1_2, NewIntArray, ints.len() as i32);
        self.check(|| "making an int array".into())?;
        call!(
            self,
            v1_2,
            SetIntArrayRegion,
            array,
            0,
            ints.len() as i32,
            ints.as_ptr()
        );
        self.check(|| "filling an int array".into())?;
        Ok(array)
    }

    /// A new object array of a class.
    pub fn objects(self, class: jclass, elements: &[jobject]) -> Result<jobject, JvmError> {
        let array = call!(
            self,
            v1_2,
            NewObjectArray,
            elements.len() as i32,
            class,
            ptr::null_mut()
        );
        self.check(|| "making an array".into())?;
        for (i, e) in elements.iter().enumerate() {
            call!(self, v1_2, SetObjectArrayElement, array, i as i32, *e);
            self.check(|| "filling an array".into())?;
        }
        Ok(array)
    }

    /// Binds a native method of a class.
    pub fn bind(
        self,
        class: jclass,
        name: &CStr,
        descriptor: &CStr,
        function: *mut std::ffi::c_void,
    ) -> Result<(), JvmError> {
        let native = sys::JNINativeMethod {
            name: name.as_ptr().cast_mut(),
            signature: descriptor.as_ptr().cast_mut(),
            fnPtr: function,
        };
        call!(self, v1_2, RegisterNatives, class, &native, 1);
        self.check(|| format!("binding {}", name.to_string_lossy()))
    }

    /// Has the JVM look for the functions of a class's native methods anew.
    pub fn unbind(self, class: jclass) {
        // What it says is whether there were any.
        call!(self, v1_2, UnregisterNatives, class);
    }

    /// Finds a class of the boot loader. `FindClass` would ask the system class loader, which may be the application's.
    pub fn find(self, name: &CStr) -> Result<jclass, JvmError> {
        self.find_in(name, ptr::null_mut())
    }

    /// Finds a class through a loader (null: the boot loader), without initialising it. `name` in internal form.
    pub fn find_in(self, name: &CStr, loader: jobject) -> Result<jclass, JvmError> {
        let doing = || format!("looking for {}", name.to_string_lossy());
        let dotted = self.new_string(&name.to_string_lossy().replace('/', "."))?;
        let of_string = call!(self, v1_2, GetObjectClass, dotted);
        let of_class = call!(self, v1_2, GetObjectClass, of_string);
        let descriptor = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        let id = call!(
            self,
            v1_2,
            GetStaticMethodID,
            of_class,
            c"forName".as_ptr(),
            descriptor.as_ptr()
        );
        let checked = self.check(doing);
        let found = checked.and_then(|()| {
            let args = [l(dotted), jvalue { z: false }, l(loader)];
            let found = call!(
                self,
                v1_2,
                CallStaticObjectMethodA,
                of_class,
                id,
                args.as_ptr()
            );
            self.check(doing).map(|()| found)
        });
        for local in [dotted, of_string, of_class] {
            self.delete(local);
        }
        found
    }

    /// Defines a class in a loader (null: the boot loader). `name` in internal form.
    pub fn define(self, name: &str, loader: jobject, bytes: &[u8]) -> Result<jclass, JvmError> {
        let c_name = CString::new(name).unwrap_or_default();
        let class = call!(
            self,
            v1_2,
            DefineClass,
            c_name.as_ptr(),
            loader,
            bytes.as_ptr().cast(),
            bytes.len() as i32
        );
        self.check(|| format!("defining {name}"))?;
        if class.is_null() {
            return Err(JvmError {
                what: format!("defining {name}"),
                thrown: "the JVM gave no class".into(),
            });
        }
        Ok(class)
    }

    /// A static method of a class that stays.
    pub fn static_method(
        self,
        class: &Global,
        name: &CStr,
        descriptor: &CStr,
    ) -> Result<Static, JvmError> {
        let id = call!(
            self,
            v1_2,
            GetStaticMethodID,
            class.raw(),
            name.as_ptr(),
            descriptor.as_ptr()
        );
        self.check(|| format!("looking for the method {}", name.to_string_lossy()))?;
        Ok(Static {
            class: class.raw(),
            id,
        })
    }

    /// Calls a static method that returns an object.
    pub fn object(
        self,
        method: Static,
        args: &[jvalue],
        what: impl FnOnce() -> String,
    ) -> Result<jobject, JvmError> {
        let result = call!(
            self,
            v1_2,
            CallStaticObjectMethodA,
            method.class,
            method.id,
            args.as_ptr()
        );
        self.check(what)?;
        Ok(result)
    }

    /// Calls a static method that returns a `long`.
    pub fn long(
        self,
        method: Static,
        args: &[jvalue],
        what: impl FnOnce() -> String,
    ) -> Result<i64, JvmError> {
        let result = call!(
            self,
            v1_2,
            CallStaticLongMethodA,
            method.class,
            method.id,
            args.as_ptr()
        );
        self.check(what)?;
        Ok(result)
    }

    /// Calls a static method that returns nothing.
    pub fn void(
        self,
        method: Static,
        args: &[jvalue],
        what: impl FnOnce() -> String,
    ) -> Result<(), JvmError> {
        call!(
            self,
            v1_2,
            CallStaticVoidMethodA,
            method.class,
            method.id,
            args.as_ptr()
        );
        self.check(what)
    }

    /// Id and value of a `long` field.
    pub fn long_field(self, class: jclass, name: &CStr) -> Result<LongField, JvmError> {
        let id = call!(self, v1_2, GetFieldID, class, name.as_ptr(), c"J".as_ptr());
        self.check(|| format!("looking for the field {}", name.to_string_lossy()))?;
        Ok(LongField(id))
    }

    /// Id of a field that holds an object.
    pub fn object_field(
        self,
        class: &Global,
        name: &CStr,
        descriptor: &CStr,
    ) -> Result<ObjectField, JvmError> {
        let (c, d) = (class.raw(), descriptor.as_ptr());
        let id = call!(self, v1_2, GetFieldID, c, name.as_ptr(), d);
        self.check(|| format!("looking for the field {}", name.to_string_lossy()))?;
        Ok(ObjectField(id))
    }

    /// Reads such a field; null of null. A local reference.
    pub fn get_object(self, object: jobject, field: ObjectField) -> jobject {
        if object.is_null() {
            return ptr::null_mut();
        }
        call!(self, v1_2, GetObjectField, object, field.0)
    }

    /// How many elements an array has; null has none.
    pub fn length(self, array: jobject) -> i32 {
        if array.is_null() {
            return 0;
        }
        call!(self, v1_2, GetArrayLength, array)
    }

    /// An element of an array of objects, at an index that it has. A local reference.
    pub fn element(self, array: jobject, index: i32) -> jobject {
        call!(self, v1_2, GetObjectArrayElement, array, index)
    }

    /// Reads a `long` field.
    pub fn get_long(self, object: jobject, field: LongField) -> i64 {
        call!(self, v1_2, GetLongField, object, field.0)
    }

    /// Sets an element of an array of `long`.
    pub fn set_long(self, array: jobject, index: i32, value: i64) {
        call!(self, v1_2, SetLongArrayRegion, array, index, 1, &value);
    }

    /// The superclass; null for `Object` and interfaces.
    pub fn superclass(self, class: jclass) -> jclass {
        call!(self, v1_2, GetSuperclass, class)
    }

    /// Whether an object of one class is one of another.
    pub fn is_assignable(self, class: jclass, to: jclass) -> bool {
        call!(self, v1_2, IsAssignableFrom, class, to)
    }

    /// A new thread object, not started.
    pub fn new_thread(self, name: &str) -> Result<jobject, JvmError> {
        let class = self.find(c"java/lang/Thread")?;
        let id = call!(
            self,
            v1_2,
            GetMethodID,
            class,
            c"<init>".as_ptr(),
            c"(Ljava/lang/String;)V".as_ptr()
        );
        self.check(|| "looking for Thread's constructor".into())?;
        let args = [jvalue {
            l: self.new_string(name)?,
        }];
        let thread = call!(self, v1_2, NewObjectA, class, id, args.as_ptr());
        self.check(|| format!("making the thread {name}"))?;
        Ok(thread)
    }

    /// A strong reference that outlives this call.
    pub fn global(self, object: jobject) -> Global {
        self.know_jvm();
        Global {
            object: call!(self, v1_2, NewGlobalRef, object),
            weak: false,
        }
    }

    fn know_jvm(self) {
        if JVM.load(Ordering::Acquire).is_null() {
            let mut vm = ptr::null_mut();
            if call!(self, v1_2, GetJavaVM, &mut vm) == sys::JNI_OK {
                JVM.store(vm, Ordering::Release);
            }
        }
    }

    /// A weak one.
    pub fn weak(self, object: jobject) -> Global {
        self.know_jvm();
        Global {
            object: call!(self, v1_2, NewWeakGlobalRef, object),
            weak: true,
        }
    }

    /// A local reference to what a global one names; null where that is gone. To be deleted.
    pub fn local(self, global: &Global) -> jobject {
        call!(self, v1_2, NewLocalRef, global.raw())
    }

    /// Whether two references name one object.
    pub fn same(self, a: jobject, b: jobject) -> bool {
        call!(self, v1_2, IsSameObject, a, b)
    }

    /// Whether the object of a weak reference is gone.
    pub fn is_cleared(self, weak: &Global) -> bool {
        self.same(weak.raw(), ptr::null_mut())
    }

    /// That of the current thread, where it is one of the JVM's.
    pub fn current() -> Option<Env> {
        let vm = JVM.load(Ordering::Acquire);
        let mut env: *mut std::ffi::c_void = ptr::null_mut();
        // Safety: the JVM's own pointer.
        let found = !vm.is_null()
            && unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, sys::JNI_VERSION_1_8) } == sys::JNI_OK;
        found.then_some(Env(env.cast()))
    }

    /// Says that this many local references more are meant.
    pub fn ensure(self, count: usize) {
        call!(self, v1_2, EnsureLocalCapacity, count as i32);
    }

    /// Frees a local reference.
    pub fn delete(self, local: jobject) {
        if !local.is_null() {
            call!(self, v1_2, DeleteLocalRef, local);
        }
    }

    /// Runs `f` with room for local references that are all freed afterwards.
    pub fn frame<T>(self, f: impl FnOnce(Env) -> Result<T, JvmError>) -> Result<T, JvmError> {
        call!(self, v1_2, PushLocalFrame, 64);
        self.check(|| "making room for references".into())?;
        let result = f(self);
        call!(self, v1_2, PopLocalFrame, ptr::null_mut());
        result
    }
}

/// A `long` instance field.
#[derive(Clone, Copy)]
pub struct LongField(sys::jfieldID);

// Safety: a field id is valid in every thread as long as its class is loaded; `Thread` always is.
unsafe impl Send for LongField {}
unsafe impl Sync for LongField {}

/// An instance field that holds an object.
#[derive(Clone, Copy)]
pub struct ObjectField(sys::jfieldID);

// Safety: as above, for `StackTraceElement`.
unsafe impl Send for ObjectField {}
unsafe impl Sync for ObjectField {}

/// An object as an argument.
pub fn l(object: jobject) -> jvalue {
    jvalue { l: object }
}

/// An int as an argument.
pub fn i(value: i32) -> jvalue {
    jvalue { i: value }
}

/// A long as an argument.
pub fn j(value: i64) -> jvalue {
    jvalue { j: value }
}
