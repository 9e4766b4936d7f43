//! The functions of the JVM Tool Interface (JVMTI) that the agent uses: [`Tool`].
//!
//! Every thread of the JVM uses this module. JVMTI checks each class, thread and method that it
//! gets, and returns an error code for a wrong one. So the functions are safe as long as their
//! references are valid, which [`Reference`] carries. Memory that JVMTI allocates is released here,
//! except for [`Tool::allocate`], whose memory the JVM takes.

use crate::jvm::jni::{Env, Reference, jclass, jobject};
use ::jni::sys::{self, JNIEnv, JavaVM, jint};
use jvmti_sys::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use thiserror::Error;
use veneer_fragmenter::classfile::ConstantPool;
use veneer_fragmenter::outline::{self, NamedMember};
use veneer_names::{class_in_type_descriptor, java_form};

/// The agent's JVMTI environment: one for the whole process, usable from every thread.
#[derive(Clone, Copy)]
pub struct Tool(pub(super) *mut jvmtiEnv);

// SAFETY: the specification lets every thread use a JVMTI environment. `Tool::dispose` requires that
// the environment is not used afterwards.
unsafe impl Send for Tool {}
// SAFETY: as for `Send`.
unsafe impl Sync for Tool {}

/// The bytecode of a method in the JVM.
pub struct DeclaredCode {
    /// The simple name.
    pub name: String,
    /// The method's descriptor (JVMS §4.3.3).
    pub descriptor: String,
    /// The bytecode, as in the array `code` of the method's `Code` attribute.
    pub code: Vec<u8>,
}

/// JVMTI 9, the version that OpenJDK 9 and newer offer.
const VERSION: jint = 0x3009_0000;
/// The oldest JDK on which the agent works.
const OLDEST: jint = 17;
/// The bits of a class's status, as `GetClassStatus` returns them.
const PREPARED: jint = 2;
const INITIALISED: jint = 4;
/// `ACC_PROTECTED` (JVMS tables 4.5-A and 4.6-A).
const PROTECTED: jint = 4;

/// Calls a JVMTI function through a [`Tool`]. The call is unsafe: its `SAFETY` comment must say why
/// the arguments are valid for that function. `Tool` itself proves that the environment is valid.
macro_rules! call {
    ($tool:expr, $name:ident $(, $arg:expr)*) => {
        ((**$tool.0).v1_2.$name)($tool.0 $(, $arg)*)
    };
}
pub(super) use call;

/// A JVMTI function has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{attempt}: {code:?}")]
pub struct JvmtiError {
    /// The name of the JVMTI function.
    pub function: &'static str,
    /// The attempted operation, for the message.
    pub attempt: &'static str,
    /// The error code that the function returned.
    pub code: jvmtiError,
}

/// Why the agent cannot work in this JVM.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnsuitableJvm {
    /// The JVM has no JVMTI environment of the version that the agent needs.
    #[error("this JVM offers no JVMTI 9 (error {code}), and Veneer needs JDK {OLDEST} or newer")]
    NoJvmti { code: jint },
    /// The JVM is older than the oldest JDK on which the agent works.
    #[error("this is JDK {release}, and Veneer needs {OLDEST} or newer")]
    TooOld { release: jint },
    /// The JVM is not HotSpot.
    #[error("this JVM is {name}, and Veneer needs HotSpot")]
    NotHotSpot { name: String },
}

/// Turns the code that a JVMTI function returned into a result.
pub(super) fn checked(
    function: &'static str,
    attempt: &'static str,
    code: jvmtiError,
) -> Result<(), JvmtiError> {
    match code {
        jvmtiError::JVMTI_ERROR_NONE => Ok(()),
        code => Err(JvmtiError {
            function,
            attempt,
            code,
        }),
    }
}

/// Whether a JVMTI function has succeeded.
pub(super) fn succeeded(code: jvmtiError) -> bool {
    code == jvmtiError::JVMTI_ERROR_NONE
}

/// The internal name in the signature of a class. `None` for arrays and for hidden classes, whose
/// signatures contain a dot.
fn internal_name(signature: &str) -> Option<&str> {
    let name = class_in_type_descriptor(signature)?;
    (!name.contains('.')).then_some(name)
}

/// The name of a hidden class as `Class.getName` returns it, from its signature. `None` for other
/// classes.
fn hidden_class_name(signature: &str) -> Option<String> {
    let name = class_in_type_descriptor(signature)?;
    let (host, suffix) = name.rsplit_once('.')?;
    Some(format!("{}/{suffix}", java_form(host)))
}

/// Fails if the JVM is too old or not HotSpot. `version` is what `GetVersionNumber` returns, `name`
/// the property `java.vm.name`.
fn suitable(version: jint, name: String) -> Result<(), UnsuitableJvm> {
    // HotSpot 9 and newer have their feature release in these bits.
    let release = (version >> 16) & 0xFFF;
    if release < OLDEST {
        return Err(UnsuitableJvm::TooOld { release });
    }
    match name.contains("OpenJDK") || name.contains("HotSpot") {
        true => Ok(()),
        false => Err(UnsuitableJvm::NotHotSpot { name }),
    }
}

impl Tool {
    /// Asks a JVM for an environment.
    ///
    /// # Safety
    /// `vm` must be the pointer that the JVM passed to the agent.
    pub unsafe fn new(vm: *mut JavaVM) -> Result<Tool, UnsuitableJvm> {
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: given by the caller; the JVM writes the environment to the place.
        let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, VERSION) };
        match code == sys::JNI_OK && !env.is_null() {
            true => Ok(Tool(env.cast())),
            false => Err(UnsuitableJvm::NoJvmti { code }),
        }
    }

    /// Fails if the JVM is too old or not HotSpot. Works from the start of the JVM on.
    pub fn check_jvm(self) -> Result<(), UnsuitableJvm> {
        let mut version = 0;
        // SAFETY: the JVM writes a number to the place.
        unsafe { call!(self, GetVersionNumber, &mut version) };
        suitable(version, self.property("java.vm.name"))
    }

    /// Asks for retransformation of every class, for line numbers, and for constant pools.
    pub fn capabilities(self) -> Result<(), JvmtiError> {
        self.retransform_capability()?;
        let lines = jvmtiCapabilities::CAN_GET_LINE_NUMBERS;
        // SAFETY: the JVM reads the set of capabilities.
        let code = unsafe { call!(self, AddCapabilities, &lines) };
        let attempt = "asking for the capability to read line numbers";
        checked("AddCapabilities", attempt, code)?;
        // Without this capability the agent looks for annotations of loaded classes in their class
        // files, which takes longer. So a failure is no error.
        let pools = jvmtiCapabilities::CAN_GET_CONSTANT_POOL;
        // SAFETY: the JVM reads the set of capabilities.
        unsafe { call!(self, AddCapabilities, &pools) };
        // Without this capability the agent does not notice that an agent after it changes a class.
        let bytecodes = jvmtiCapabilities::CAN_GET_BYTECODES;
        // SAFETY: the JVM reads the set of capabilities.
        unsafe { call!(self, AddCapabilities, &bytecodes) };
        Ok(())
    }

    /// Asks for retransformation of every class. The JVM calls the class hook of an environment
    /// with this capability after the hooks of all environments without it.
    pub fn retransform_capability(self) -> Result<(), JvmtiError> {
        let wanted = jvmtiCapabilities::CAN_RETRANSFORM_CLASSES
            | jvmtiCapabilities::CAN_RETRANSFORM_ANY_CLASS;
        // SAFETY: the JVM reads the set of capabilities.
        let code = unsafe { call!(self, AddCapabilities, &wanted) };
        let attempt = "asking for the capability to retransform classes";
        checked("AddCapabilities", attempt, code)
    }

    /// Disposes of the environment.
    ///
    /// # Safety
    /// No copy of this `Tool` may be used afterwards.
    pub unsafe fn dispose(self) -> Result<(), JvmtiError> {
        // SAFETY: given by the caller.
        let code = unsafe { call!(self, DisposeEnvironment) };
        checked("DisposeEnvironment", "disposing of an environment", code)
    }

    /// Sets the event functions.
    ///
    /// # Safety
    /// The functions must be valid as long as the JVM runs.
    pub unsafe fn callbacks(self, callbacks: &jvmtiEventCallbacks) -> Result<(), JvmtiError> {
        let size = size_of::<jvmtiEventCallbacks>() as jint;
        // SAFETY: the JVM copies `size` bytes of the table; the caller vouches for the functions.
        let code = unsafe { call!(self, SetEventCallbacks, callbacks, size) };
        checked("SetEventCallbacks", "setting event functions", code)
    }

    /// Enables an event for all threads.
    pub fn enable(self, event: jvmtiEvent) -> Result<(), JvmtiError> {
        self.notify(jvmtiEventMode::JVMTI_ENABLE, event, "turning on events")
    }

    /// Disables an event for all threads.
    pub fn disable(self, event: jvmtiEvent) -> Result<(), JvmtiError> {
        self.notify(jvmtiEventMode::JVMTI_DISABLE, event, "turning off events")
    }

    fn notify(
        self,
        mode: jvmtiEventMode,
        event: jvmtiEvent,
        attempt: &'static str,
    ) -> Result<(), JvmtiError> {
        let all_threads = ptr::null_mut();
        // SAFETY: all arguments are plain values. The event functions are set before any event is
        // enabled, and a missing one is skipped by the JVM.
        let code = unsafe { call!(self, SetEventNotificationMode, mode, event, all_threads) };
        checked("SetEventNotificationMode", attempt, code)
    }

    /// Copies a class file into memory that the JVM releases.
    pub fn allocate(self, bytes: &[u8]) -> Option<*mut u8> {
        let mut memory = ptr::null_mut();
        // SAFETY: the JVM writes the address of the memory to the place.
        let code = unsafe { call!(self, Allocate, bytes.len() as i64, &mut memory) };
        if !succeeded(code) {
            return None;
        }
        // SAFETY: the JVM has just allocated this number of bytes, which nothing else uses.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Some(memory)
    }

    /// Releases memory of JVMTI. Does nothing for null.
    ///
    /// # Safety
    /// `memory` must be null, or memory that a JVMTI function of this environment allocated for its
    /// caller. The caller must not use the memory afterwards.
    pub(super) unsafe fn free<T>(self, memory: *mut T) {
        if !memory.is_null() {
            // SAFETY: given by the caller.
            unsafe { call!(self, Deallocate, memory.cast()) };
        }
    }

    /// Copies text that JVMTI allocated, and releases it. Empty for null.
    ///
    /// # Safety
    /// `chars` must be null, or NUL-terminated text that a JVMTI function of this environment
    /// allocated for its caller. The caller must not use the text afterwards.
    pub(super) unsafe fn text(self, chars: *mut c_char) -> String {
        if chars.is_null() {
            return String::new();
        }
        // SAFETY: given by the caller.
        let text = unsafe { CStr::from_ptr(chars) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: given by the caller; `text` is a copy.
        unsafe { self.free(chars) };
        text
    }

    /// Copies a list that JVMTI allocated, and releases it. Empty for null.
    ///
    /// # Safety
    /// `list` must be null, or `count` elements that a JVMTI function of this environment allocated
    /// for its caller. The caller must not use the list afterwards.
    pub(super) unsafe fn list<T: Copy>(self, list: *mut T, count: jint) -> Vec<T> {
        if list.is_null() {
            return Vec::new();
        }
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: given by the caller.
        let copy = unsafe { std::slice::from_raw_parts(list, count) }.to_vec();
        // SAFETY: given by the caller; `copy` is a copy.
        unsafe { self.free(list) };
        copy
    }

    /// A system property of the JVM; empty if the JVM has no such property.
    pub fn property(self, name: &str) -> String {
        let name = CString::new(name).unwrap_or_default();
        let mut value = ptr::null_mut();
        // SAFETY: the name is NUL-terminated. The JVM writes the address of allocated text to the
        // place, or leaves it null.
        unsafe {
            call!(self, GetSystemProperty, name.as_ptr(), &mut value);
            self.text(value)
        }
    }

    // ---- one class -----------------------------------------------------------------------------

    /// A class's signature, in which hidden classes have a dot.
    pub fn signature(self, class: jclass) -> Option<String> {
        let mut signature = ptr::null_mut();
        let generic = ptr::null_mut();
        // SAFETY: `class` is a valid reference. The JVM writes the address of allocated text to the
        // place; a null place is not written to.
        unsafe {
            let code = call!(
                self,
                GetClassSignature,
                class.raw(),
                &mut signature,
                generic
            );
            succeeded(code).then(|| self.text(signature))
        }
    }

    /// A class's internal name; `None` for arrays and for hidden classes.
    pub fn class_name(self, class: jclass) -> Option<String> {
        let signature = self.signature(class)?;
        internal_name(&signature).map(str::to_string)
    }

    /// A version's name as Java code sees it: `a.b.C$V/0x…`. `None` for classes that are not hidden.
    pub fn version_name(self, class: jclass) -> Option<String> {
        hidden_class_name(&self.signature(class)?)
    }

    /// Whether a class is a version.
    pub fn is_version(self, class: jclass) -> bool {
        let signature = self.signature(class);
        signature.is_some_and(|s| veneer_fragmenter::version::is_version(&s))
    }

    /// A class's loader, as a local reference; null for the boot loader.
    pub fn loader(self, class: jclass) -> jobject {
        let mut loader = ptr::null_mut();
        // SAFETY: `class` is a valid reference. The JVM writes a new local reference to the place,
        // or leaves it null.
        unsafe {
            call!(self, GetClassLoader, class.raw(), &mut loader);
            Reference::new(loader)
        }
    }

    fn status(self, class: jclass) -> jint {
        let mut status = 0;
        // SAFETY: `class` is a valid reference. The JVM writes a number to the place.
        unsafe { call!(self, GetClassStatus, class.raw(), &mut status) };
        status
    }

    /// Whether a class is prepared (JVMS §5.4.2), so that a nestmate can be defined.
    pub fn is_prepared(self, class: jclass) -> bool {
        self.status(class) & PREPARED != 0
    }

    /// Whether a class has been initialised without an error.
    pub fn is_initialised(self, class: jclass) -> bool {
        self.status(class) & INITIALISED != 0
    }

    /// Whether a class may be retransformed.
    pub fn is_modifiable(self, class: jclass) -> bool {
        let mut yes = false;
        // SAFETY: `class` is a valid reference. The JVM writes a boolean to the place.
        unsafe { call!(self, IsModifiableClass, class.raw(), &mut yes) };
        yes
    }

    /// Whether a class is an interface.
    pub fn is_interface(self, class: jclass) -> bool {
        let mut yes = false;
        // SAFETY: `class` is a valid reference. The JVM writes a boolean to the place.
        unsafe { call!(self, IsInterface, class.raw(), &mut yes) };
        yes
    }

    /// The direct superinterfaces of a class, as local references. `None` if the class is not
    /// prepared.
    fn superinterfaces(self, class: jclass) -> Option<Vec<jclass>> {
        let (mut count, mut list) = (0, ptr::null_mut());
        // SAFETY: `class` is a valid reference. The JVM writes the address of an allocated list and
        // its length to the places. The list has new local references.
        unsafe {
            let class = class.raw();
            let code = call!(self, GetImplementedInterfaces, class, &mut count, &mut list);
            succeeded(code).then(|| self.references(list, count))
        }
    }

    /// Copies a list of references that JVMTI allocated, and releases it.
    ///
    /// # Safety
    /// As for [`Tool::list`]; the elements must be references that are valid in this thread.
    unsafe fn references(self, list: *mut sys::jobject, count: jint) -> Vec<Reference> {
        // SAFETY: given by the caller.
        let raw = unsafe { self.list(list, count) };
        // SAFETY: given by the caller.
        raw.into_iter()
            .map(|one| unsafe { Reference::new(one) })
            .collect()
    }

    /// The direct superinterfaces of a class, as local references. Empty if the class is not
    /// prepared.
    pub fn interfaces(self, env: Env, class: jclass) -> Vec<jclass> {
        let list = self.superinterfaces(class).unwrap_or_default();
        env.ensure(list.len() + 8);
        list
    }

    /// The dotted names of all supertypes of a class, sorted. `None` if the class is not prepared.
    pub fn supertypes(self, env: Env, class: jclass) -> Option<Vec<String>> {
        let found = env.frame(|env| {
            let mut found: Vec<(String, jclass)> = Vec::new();
            let mut open = vec![class];
            while let Some(next) = open.pop() {
                let Some(mut above) = self.superinterfaces(next) else {
                    return Ok(None);
                };
                let superclass = env.superclass(next);
                if !superclass.is_null() {
                    above.push(superclass);
                }
                env.ensure(above.len() + open.len() + found.len() + 16);
                for one in above {
                    let Some(name) = self.class_name(one) else {
                        continue;
                    };
                    // Several loaders may define classes of one name.
                    let known = found.iter().any(|(n, c)| *n == name && env.same(*c, one));
                    if !known {
                        found.push((name, one));
                        open.push(one);
                    }
                }
            }
            let names = found.into_iter().map(|(name, _)| java_form(&name));
            let mut names: Vec<String> = names.collect();
            names.sort_unstable();
            names.dedup();
            Ok(Some(names))
        });
        found.ok().flatten()
    }

    /// The dotted names of the types in the descriptors of a class's constant pool, which include
    /// the types of all annotations. `None` if the JVM does not return the pool, as for a class
    /// that is not prepared.
    pub fn mentioned(self, class: jclass) -> Option<Vec<String>> {
        self.with_constant_pool(class, outline::mentioned)
    }

    /// The classes, names and descriptors of the methods and fields to which the code of a class can refer.
    /// `None` as above.
    pub fn named_members(self, class: jclass) -> Option<Vec<NamedMember>> {
        self.with_constant_pool(class, outline::named_members)
    }

    /// Returns the result of `read` for the constant pool of a class. `None` if the JVM does not
    /// return the pool.
    fn with_constant_pool<T>(
        self,
        class: jclass,
        read: impl FnOnce(&ConstantPool) -> T,
    ) -> Option<T> {
        let (mut count, mut length, mut bytes) = (0, 0, ptr::null_mut());
        // SAFETY: `class` is a valid reference. The JVM writes the address of allocated bytes and
        // their number to the places.
        let entries = unsafe {
            let class = class.raw();
            let code = call!(
                self,
                GetConstantPool,
                class,
                &mut count,
                &mut length,
                &mut bytes
            );
            if !succeeded(code) || bytes.is_null() {
                return None;
            }
            self.list(bytes, length)
        };
        let count = u16::try_from(count).ok()?;
        let pool = ConstantPool::of_entries(count, &entries).ok()?;
        Some(read(&pool))
    }

    /// The fields that a class declares: flags, names and descriptors. Empty if the class is not
    /// prepared.
    pub fn fields(self, class: jclass) -> Vec<(jint, String, String)> {
        let (mut count, mut fields) = (0, ptr::null_mut());
        // SAFETY: `class` is a valid reference. The JVM writes the address of an allocated list and
        // its length to the places.
        let fields = unsafe {
            let code = call!(self, GetClassFields, class.raw(), &mut count, &mut fields);
            match succeeded(code) {
                true => self.list(fields, count),
                false => Vec::new(),
            }
        };
        let described = fields.into_iter().filter_map(|field| {
            let (mut flags, mut name, mut signature) = (0, ptr::null_mut(), ptr::null_mut());
            let (class, generic) = (class.raw(), ptr::null_mut());
            // SAFETY: `field` is a field of the class. The JVM writes a number, and the addresses of
            // allocated texts, to the places; a null place is not written to.
            unsafe {
                call!(self, GetFieldModifiers, class, field, &mut flags);
                let places = (&mut name, &mut signature);
                let code = call!(
                    self,
                    GetFieldName,
                    class,
                    field,
                    places.0,
                    places.1,
                    generic
                );
                succeeded(code).then(|| (flags, self.text(name), self.text(signature)))
            }
        });
        described.collect()
    }

    /// The ids of the methods that a class declares. `None` if the class is not prepared.
    fn method_ids(self, class: jclass) -> Option<Vec<sys::jmethodID>> {
        let (mut count, mut methods) = (0, ptr::null_mut());
        // SAFETY: `class` is a valid reference. The JVM writes the address of an allocated list and
        // its length to the places.
        unsafe {
            let code = call!(self, GetClassMethods, class.raw(), &mut count, &mut methods);
            succeeded(code).then(|| self.list(methods, count))
        }
    }

    /// The methods that a class declares: flags, names and descriptors. Empty if the class is not
    /// prepared.
    pub fn methods(self, class: jclass) -> Vec<(jint, String, String)> {
        let methods = self.method_ids(class).unwrap_or_default();
        let described = methods.into_iter().filter_map(|method| {
            let mut flags = 0;
            // SAFETY: `method` is a method of the class. The JVM writes a number to the place.
            unsafe { call!(self, GetMethodModifiers, method, &mut flags) };
            // SAFETY: as above.
            let (name, signature) = unsafe { self.method_name(method) }?;
            Some((flags, name, signature))
        });
        described.collect()
    }

    /// The bytecode of the methods that a class declares, with their names and descriptors, without
    /// native and abstract methods. `None` if the JVM does not return it.
    pub fn bytecodes(self, class: jclass) -> Option<Vec<DeclaredCode>> {
        let methods = self.method_ids(class)?;
        let mut found = Vec::with_capacity(methods.len());
        for method in methods {
            let (mut length, mut bytes) = (0, ptr::null_mut());
            // SAFETY: `method` is a method of the class. The JVM writes the address of allocated
            // bytes and their number to the places.
            let code = unsafe {
                let code = call!(self, GetBytecodes, method, &mut length, &mut bytes);
                match code {
                    jvmtiError::JVMTI_ERROR_NONE => self.list(bytes, length),
                    jvmtiError::JVMTI_ERROR_NATIVE_METHOD => continue,
                    _ => return None,
                }
            };
            // SAFETY: as above.
            let (name, descriptor) = unsafe { self.method_name(method) }?;
            found.push(DeclaredCode {
                name,
                descriptor,
                code,
            });
        }
        Some(found)
    }

    /// The name and the descriptor of a method.
    ///
    /// # Safety
    /// The JVM must have returned `method` as a method id.
    pub(super) unsafe fn method_name(self, method: sys::jmethodID) -> Option<(String, String)> {
        let (mut name, mut signature) = (ptr::null_mut(), ptr::null_mut());
        let generic = ptr::null_mut();
        // SAFETY: given by the caller. The JVM writes the addresses of allocated texts to the
        // places; a null place is not written to.
        unsafe {
            let code = call!(
                self,
                GetMethodName,
                method,
                &mut name,
                &mut signature,
                generic
            );
            succeeded(code).then(|| (self.text(name), self.text(signature)))
        }
    }

    /// The names of the methods that a class declares. Empty if the class is not prepared.
    pub fn method_names(self, class: jclass) -> Vec<String> {
        let methods = self.methods(class).into_iter();
        methods.map(|(_, name, _)| name).collect()
    }

    /// The protected members that a class declares: names and descriptors.
    pub fn protected_members(self, class: jclass) -> Vec<(String, String)> {
        let mut members = self.methods(class);
        members.extend(self.fields(class));
        members.retain(|(flags, ..)| flags & PROTECTED != 0);
        let members = members.into_iter();
        members
            .map(|(_, name, signature)| (name, signature))
            .collect()
    }

    // ---- all classes, threads ------------------------------------------------------------------

    /// All loaded classes, as local references.
    pub fn loaded(self, env: Env) -> Vec<jclass> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        // SAFETY: the JVM writes the address of an allocated list and its length to the places. The
        // list has new local references.
        let list = unsafe {
            let code = call!(self, GetLoadedClasses, &mut count, &mut classes);
            match succeeded(code) {
                true => self.references(classes, count),
                false => Vec::new(),
            }
        };
        env.ensure(list.len() + 32);
        list
    }

    /// Passes classes to the class hook again, and installs what the hook returns.
    pub fn retransform(self, classes: &[jclass]) -> Result<(), JvmtiError> {
        if classes.is_empty() {
            return Ok(());
        }
        let raw: Vec<sys::jclass> = classes.iter().map(|class| class.raw()).collect();
        // SAFETY: the JVM reads the stated number of references, all of which are valid.
        let code = unsafe { call!(self, RetransformClasses, raw.len() as jint, raw.as_ptr()) };
        checked("RetransformClasses", "retransforming classes", code)
    }

    /// Starts a thread of the agent on a thread object. Such threads are not in the application's
    /// thread lists.
    ///
    /// # Safety
    /// `thread` must be a `java.lang.Thread`, and `run` must be sound to call in a new thread with
    /// `arg`.
    pub(super) unsafe fn run_thread(
        self,
        thread: jobject,
        run: unsafe extern "system" fn(*mut jvmtiEnv, *mut JNIEnv, *mut c_void),
        arg: *const c_void,
    ) -> Result<(), JvmtiError> {
        /// JVMTI's `JVMTI_THREAD_NORM_PRIORITY`.
        const PRIORITY: jint = 5;
        // SAFETY: given by the caller.
        let code = unsafe { call!(self, RunAgentThread, thread.raw(), run, arg, PRIORITY) };
        checked("RunAgentThread", "starting a thread of the agent", code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_attempted_and_keeps_the_code() {
        let code = jvmtiError::JVMTI_ERROR_INVALID_CLASS;
        let attempt = "retransforming classes";
        let error = checked("RetransformClasses", attempt, code).unwrap_err();
        assert_eq!(
            error.to_string(),
            "retransforming classes: JVMTI_ERROR_INVALID_CLASS"
        );
        assert_eq!((error.function, error.code), ("RetransformClasses", code));
        let none = jvmtiError::JVMTI_ERROR_NONE;
        assert_eq!(checked("RetransformClasses", attempt, none), Ok(()));
    }

    #[test]
    fn signatures_of_arrays_and_hidden_classes_have_no_internal_name() {
        assert_eq!(internal_name("La/b/C;"), Some("a/b/C"));
        assert_eq!(internal_name("[La/b/C;"), None);
        assert_eq!(internal_name("I"), None);
        assert_eq!(internal_name("La/b/C$V.0x7f;"), None);
    }

    #[test]
    fn a_hidden_class_is_named_as_java_code_sees_it() {
        let name = hidden_class_name("La/b/C$V.0x7f;");
        assert_eq!(name.as_deref(), Some("a.b.C$V/0x7f"));
        assert_eq!(hidden_class_name("La/b/C;"), None);
        assert_eq!(hidden_class_name("[La/b/C$V.0x7f;"), None);
    }

    #[test]
    fn only_hotspot_from_jdk_17_on_is_suitable() {
        let version = |release: jint| 0x3000_0000 | release << 16;
        let name = || "OpenJDK 64-Bit Server VM".to_string();
        assert_eq!(suitable(version(17), name()), Ok(()));
        let old = suitable(version(11), name()).unwrap_err();
        assert_eq!(
            old.to_string(),
            "this is JDK 11, and Veneer needs 17 or newer"
        );
        let other = suitable(version(21), "Eclipse OpenJ9 VM".into()).unwrap_err();
        let text = "this JVM is Eclipse OpenJ9 VM, and Veneer needs HotSpot";
        assert_eq!(other.to_string(), text);
    }
}
