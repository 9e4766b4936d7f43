//! The JVM Tool Interface, as far as the agent needs it. What the JVM allocates is freed here.

use crate::jvm::jni::{Env, jclass, jobject};
use jni::sys::{JNIEnv, JavaVM, jint};
use jvmti_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr;
use veneer_fragmenter::classfile::ConstantPool;
use veneer_fragmenter::outline;

/// The agent's JVMTI environment: one for the whole process, usable from every thread.
#[derive(Clone, Copy)]
pub struct Tool(pub(super) *mut jvmtiEnv);

// Safety: the specification lets every thread use a JVMTI environment.
unsafe impl Send for Tool {}
unsafe impl Sync for Tool {}

/// JVMTI 9: what OpenJDK 9 and newer offer.
const VERSION: jint = 0x3009_0000;
/// The oldest JDK on which the agent works.
const OLDEST: jint = 17;

macro_rules! call {
    ($tool:expr, $name:ident $(, $arg:expr)*) => {
        // Safety: the environment is valid for the life of the process; the arguments are of the kinds that the function takes.
        unsafe { ((**$tool.0).v1_2.$name)($tool.0 $(, $arg)*) }
    };
}
pub(super) use call;

fn ok(error: jvmtiError, what: &str) -> Result<(), String> {
    if error == jvmtiError::JVMTI_ERROR_NONE {
        Ok(())
    } else {
        Err(format!("{what}: {error:?}"))
    }
}

impl Tool {
    /// Asks a JVM for an environment.
    ///
    /// # Safety
    /// `vm` must be the pointer that the JVM passed to the agent.
    pub unsafe fn new(vm: *mut JavaVM) -> Result<Tool, String> {
        let mut env: *mut c_void = ptr::null_mut();
        // Safety: given by the caller.
        let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, VERSION) };
        if code != 0 || env.is_null() {
            Err(format!(
                "this JVM offers no JVMTI 9 (error {code}), and Veneer needs JDK {OLDEST} or newer"
            ))
        } else {
            Ok(Tool(env.cast()))
        }
    }

    /// Says what is wrong with this JVM, where it is too old or of another make. Works from the start of the JVM on.
    pub fn check_jvm(self) -> Result<(), String> {
        let mut version = 0;
        call!(self, GetVersionNumber, &mut version);
        // HotSpot gives its feature release there since 9.
        let release = (version >> 16) & 0xFFF;
        if release < OLDEST {
            return Err(format!(
                "this is JDK {release}, and Veneer needs {OLDEST} or newer"
            ));
        }
        let name = self.property("java.vm.name");
        if ["OpenJDK", "HotSpot"]
            .iter()
            .any(|make| name.contains(make))
        {
            Ok(())
        } else {
            Err(format!("this JVM is {name}, and Veneer needs HotSpot"))
        }
    }

    /// Asks for retransformation, for class hooks that see every class, and for constant pools.
    pub fn capabilities(self) -> Result<(), String> {
        let wanted = jvmtiCapabilities::CAN_RETRANSFORM_CLASSES
            | jvmtiCapabilities::CAN_RETRANSFORM_ANY_CLASS
            | jvmtiCapabilities::CAN_GET_LINE_NUMBERS;
        ok(
            call!(self, AddCapabilities, &wanted),
            "asking for the capability to retransform classes",
        )?;
        // Without it annotations of loaded classes are looked for in their class files, which takes longer.
        let pools = jvmtiCapabilities::CAN_GET_CONSTANT_POOL;
        call!(self, AddCapabilities, &pools);
        Ok(())
    }

    /// Sets the event functions.
    pub fn callbacks(self, callbacks: &jvmtiEventCallbacks) -> Result<(), String> {
        ok(
            call!(
                self,
                SetEventCallbacks,
                callbacks,
                size_of::<jvmtiEventCallbacks>() as jint
            ),
            "setting event functions",
        )
    }

    /// Turns events on, for all threads.
    pub fn enable(self, event: jvmtiEvent) -> Result<(), String> {
        ok(
            call!(
                self,
                SetEventNotificationMode,
                jvmtiEventMode::JVMTI_ENABLE,
                event,
                ptr::null_mut()
            ),
            "turning on events",
        )
    }

    /// Turns events off, for all threads.
    pub fn disable(self, event: jvmtiEvent) -> Result<(), String> {
        ok(
            call!(
                self,
                SetEventNotificationMode,
                jvmtiEventMode::JVMTI_DISABLE,
                event,
                ptr::null_mut()
            ),
            "turning off events",
        )
    }

    /// Memory that the JVM will free: a class file to be taken instead of another.
    pub fn allocate(self, bytes: &[u8]) -> Option<*mut u8> {
        let mut memory = ptr::null_mut();
        if call!(self, Allocate, bytes.len() as i64, &mut memory) != jvmtiError::JVMTI_ERROR_NONE {
            return None;
        }
        // Safety: the JVM gave that many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Some(memory)
    }

    pub(super) fn free<T>(self, memory: *mut T) {
        if !memory.is_null() {
            call!(self, Deallocate, memory.cast());
        }
    }

    pub(super) fn text(self, chars: *mut std::ffi::c_char) -> String {
        if chars.is_null() {
            return String::new();
        }
        // Safety: the JVM gives NUL-terminated text.
        let text = unsafe { CStr::from_ptr(chars) }
            .to_string_lossy()
            .into_owned();
        self.free(chars);
        text
    }

    /// A class's internal name; `None` for arrays and for hidden classes.
    pub fn class_name(self, class: jclass) -> Option<String> {
        let text = self.signature(class)?;
        let name = text.strip_prefix('L')?.strip_suffix(';')?;
        (!name.contains('.')).then(|| name.to_string())
    }

    /// A version's name as Java code sees it: `a.b.C$V/0x…`.
    pub fn version_name(self, class: jclass) -> Option<String> {
        let text = self.signature(class)?;
        let (host, rest) = text
            .strip_prefix('L')?
            .strip_suffix(';')?
            .rsplit_once('.')?;
        Some(format!("{}/{rest}", host.replace('/', ".")))
    }

    fn signature(self, class: jclass) -> Option<String> {
        let mut signature = ptr::null_mut();
        let answer = call!(
            self,
            GetClassSignature,
            class,
            &mut signature,
            ptr::null_mut()
        );
        (answer == jvmtiError::JVMTI_ERROR_NONE).then(|| self.text(signature))
    }

    /// Whether a class is a version.
    pub fn is_version(self, class: jclass) -> bool {
        let is = |s: &String| veneer_fragmenter::version::is_version(s);
        self.signature(class).as_ref().is_some_and(is)
    }

    /// A class's loader; null for the boot loader. A local reference.
    pub fn loader(self, class: jclass) -> jobject {
        let mut loader = ptr::null_mut();
        call!(self, GetClassLoader, class, &mut loader);
        loader
    }

    /// Whether a class is prepared (linked), so that a nestmate can be defined.
    pub fn is_prepared(self, class: jclass) -> bool {
        let mut status = 0;
        call!(self, GetClassStatus, class, &mut status);
        status & 2 != 0
    }

    /// The classes and interfaces above a class, direct or not: dotted names. `None` of one that is not prepared yet.
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
                    // Of one name there may be several, of several loaders.
                    let known = found.iter().any(|(n, c)| *n == name && env.same(*c, one));
                    if !known {
                        found.push((name, one));
                        open.push(one);
                    }
                }
            }
            let names = found.into_iter().map(|(name, _)| name.replace('/', "."));
            let mut names: Vec<String> = names.collect();
            names.sort_unstable();
            names.dedup();
            Ok(Some(names))
        });
        found.ok().flatten()
    }

    /// The direct superinterfaces of a class, as local references; `None` of one that is not prepared yet.
    fn superinterfaces(self, class: jclass) -> Option<Vec<jclass>> {
        let (mut count, mut list) = (0, ptr::null_mut());
        let answer = call!(self, GetImplementedInterfaces, class, &mut count, &mut list);
        if answer != jvmtiError::JVMTI_ERROR_NONE {
            return None;
        }
        if list.is_null() {
            return Some(Vec::new());
        }
        // Safety: the JVM gave `count` of them.
        let found = unsafe { std::slice::from_raw_parts(list, count as usize) }.to_vec();
        self.free(list);
        Some(found)
    }

    /// The types (dotted) that the constant pool of a class has descriptors of, those of all its annotations among them. `None` where the
    /// JVM does not tell, as of a class that is not prepared yet.
    pub fn mentioned(self, class: jclass) -> Option<Vec<String>> {
        let (mut count, mut length, mut bytes) = (0, 0, ptr::null_mut());
        let answer = call!(
            self,
            GetConstantPool,
            class,
            &mut count,
            &mut length,
            &mut bytes
        );
        if answer != jvmtiError::JVMTI_ERROR_NONE || bytes.is_null() {
            return None;
        }
        // Safety: the JVM gave `length` of them.
        let entries = unsafe { std::slice::from_raw_parts(bytes, length as usize) };
        let count = u16::try_from(count).ok();
        let pool = count.and_then(|count| ConstantPool::of_entries(count, entries).ok());
        let found = pool.map(|pool| outline::mentioned(&pool));
        self.free(bytes);
        found
    }

    /// Whether a class has been initialised, without an error.
    pub fn is_initialised(self, class: jclass) -> bool {
        let mut status = 0;
        call!(self, GetClassStatus, class, &mut status);
        status & 4 != 0
    }

    /// Whether a class may be retransformed.
    pub fn is_modifiable(self, class: jclass) -> bool {
        let mut yes = false;
        call!(self, IsModifiableClass, class, &mut yes);
        yes
    }

    /// All loaded classes, as local references.
    pub fn loaded(self, env: Env) -> Vec<jclass> {
        let (mut count, mut classes) = (0, ptr::null_mut());
        if call!(self, GetLoadedClasses, &mut count, &mut classes) != jvmtiError::JVMTI_ERROR_NONE
            || classes.is_null()
        {
            return Vec::new();
        }
        // Safety: the JVM gave `count` of them.
        let list = unsafe { std::slice::from_raw_parts(classes, count as usize) }.to_vec();
        self.free(classes);
        env.ensure(list.len() + 32);
        list
    }

    /// A system property of the JVM; empty where there is none.
    pub fn property(self, name: &str) -> String {
        let name = std::ffi::CString::new(name).unwrap_or_default();
        let mut value = ptr::null_mut();
        call!(self, GetSystemProperty, name.as_ptr(), &mut value);
        self.text(value)
    }

    /// Brings classes through the class hook again.
    pub fn retransform(self, classes: &[jclass]) -> Result<(), String> {
        if classes.is_empty() {
            return Ok(());
        }
        ok(
            call!(
                self,
                RetransformClasses,
                classes.len() as jint,
                classes.as_ptr()
            ),
            "retransforming classes",
        )
    }

    /// Fields that a class declares: flags, names and descriptors.
    pub fn fields(self, class: jclass) -> Vec<(jint, String, String)> {
        let mut out = Vec::new();
        let (mut count, mut fields) = (0, ptr::null_mut());
        if call!(self, GetClassFields, class, &mut count, &mut fields)
            == jvmtiError::JVMTI_ERROR_NONE
            && !fields.is_null()
        {
            // Safety: the JVM gave `count` of them.
            for field in unsafe { std::slice::from_raw_parts(fields, count as usize) } {
                let (mut flags, mut name, mut signature) = (0, ptr::null_mut(), ptr::null_mut());
                call!(self, GetFieldModifiers, class, *field, &mut flags);
                if call!(
                    self,
                    GetFieldName,
                    class,
                    *field,
                    &mut name,
                    &mut signature,
                    ptr::null_mut()
                ) == jvmtiError::JVMTI_ERROR_NONE
                {
                    out.push((flags, self.text(name), self.text(signature)));
                }
            }
            self.free(fields);
        }
        out
    }

    /// Methods that a class declares: flags, names and descriptors; of one that is not prepared, none.
    pub fn methods(self, class: jclass) -> Vec<(jint, String, String)> {
        let mut out = Vec::new();
        let (mut count, mut methods) = (0, ptr::null_mut());
        if call!(self, GetClassMethods, class, &mut count, &mut methods)
            == jvmtiError::JVMTI_ERROR_NONE
            && !methods.is_null()
        {
            // Safety: the JVM gave `count` of them.
            for method in unsafe { std::slice::from_raw_parts(methods, count as usize) } {
                let (mut flags, mut name, mut signature) = (0, ptr::null_mut(), ptr::null_mut());
                call!(self, GetMethodModifiers, *method, &mut flags);
                if call!(
                    self,
                    GetMethodName,
                    *method,
                    &mut name,
                    &mut signature,
                    ptr::null_mut()
                ) == jvmtiError::JVMTI_ERROR_NONE
                {
                    out.push((flags, self.text(name), self.text(signature)));
                }
            }
            self.free(methods);
        }
        out
    }

    /// The interfaces that a class names itself, as local references; of one that is not prepared, none.
    pub fn interfaces(self, env: Env, class: jclass) -> Vec<jclass> {
        let list = self.superinterfaces(class).unwrap_or_default();
        env.ensure(list.len() + 8);
        list
    }

    /// Whether a class is an interface.
    pub fn is_interface(self, class: jclass) -> bool {
        let mut yes = false;
        call!(self, IsInterface, class, &mut yes);
        yes
    }

    /// Names of the methods that a class declares; of one that is not prepared, none.
    pub fn method_names(self, class: jclass) -> Vec<String> {
        let methods = self.methods(class).into_iter();
        methods.map(|(_, name, _)| name).collect()
    }

    /// Protected members that a class declares: names and descriptors.
    pub fn protected_members(self, class: jclass) -> Vec<(String, String)> {
        const PROTECTED: jint = 4;
        let mut members = self.methods(class);
        members.extend(self.fields(class));
        members.retain(|(flags, ..)| flags & PROTECTED != 0);
        let members = members.into_iter();
        members
            .map(|(_, name, signature)| (name, signature))
            .collect()
    }

    /// Starts a thread of the agent on a thread object. Such threads do not show in the application's thread lists.
    pub fn run_thread(
        self,
        thread: jobject,
        run: unsafe extern "system" fn(*mut jvmtiEnv, *mut JNIEnv, *mut c_void),
        arg: usize,
    ) -> Result<(), String> {
        ok(
            call!(self, RunAgentThread, thread, run, arg as *const c_void, 5),
            "starting a thread of the agent",
        )
    }
}
