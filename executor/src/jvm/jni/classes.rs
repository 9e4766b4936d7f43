//! The JNI functions for classes, their fields and their methods.

use super::{
    Env, Global, JvmError, LongField, ObjectField, Reference, Static, jclass, jobject, jvalue, l,
};
use ::jni::sys;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};
use veneer_names::java_form;

impl Env {
    /// The class of an object that is not null, as a local reference.
    pub(in crate::jvm) fn class_of(self, object: Reference) -> Reference {
        // SAFETY: the callers pass references that are not null.
        Reference(unsafe { call!(self, GetObjectClass, object.0) })
    }

    /// The name of a class, as `Class.getName` returns it. `class` is a class.
    pub(super) fn class_name(self, class: Reference) -> Option<String> {
        let class_of_classes = self.class_of(class);
        let (name, descriptor) = (c"getName", c"()Ljava/lang/String;");
        // SAFETY: the name and the descriptor are NUL-terminated, and the class is not null.
        let id = unsafe {
            call!(
                self,
                GetMethodID,
                class_of_classes.0,
                name.as_ptr(),
                descriptor.as_ptr()
            )
        };
        // SAFETY: `class_of` has made the local reference, which is not used again.
        unsafe { self.delete(class_of_classes) };
        if id.is_null() {
            self.clear_exception();
            return None;
        }
        // `Class.getName` cannot be overridden, so no code of the application runs.
        // SAFETY: `id` is a method of `Class` without arguments, and `class` is a `Class`.
        let name = unsafe { call!(self, CallObjectMethodA, class.0, id, ptr::null()) };
        self.clear_exception();
        let name = Reference(name);
        // SAFETY: `Class.getName` returns a string, or has thrown, and then `name` is null. The
        // local reference is not used after its deletion.
        unsafe {
            let text = self.string(name);
            self.delete(name);
            text
        }
    }

    /// Whether an object is an instance of a class; true for null. `class` is a class.
    pub(crate) fn is_instance(self, object: Reference, class: &Global) -> bool {
        // SAFETY: both are valid references, and the callers pass the reference of a class.
        unsafe { call!(self, IsInstanceOf, object.0, class.object) }
    }

    /// Whether a reference is that of a class. False for null.
    pub fn is_class(self, reference: Reference) -> bool {
        static CLASS_OF_CLASSES: OnceLock<Global> = OnceLock::new();
        if reference.is_null() {
            return false;
        }
        let known = CLASS_OF_CLASSES.get_or_init(|| {
            let class = self.class_of(reference);
            let class_of_classes = self.class_of(class);
            let known = self.global(class_of_classes);
            // SAFETY: `class_of` has made both local references, which are not used again.
            unsafe {
                self.delete(class_of_classes);
                self.delete(class);
            }
            known
        });
        self.is_instance(reference, known)
    }

    /// Whether a reference is that of a class loader. True for null, the boot loader.
    fn is_loader(self, reference: Reference) -> bool {
        static CLASS_LOADER: OnceLock<Global> = OnceLock::new();
        if reference.is_null() {
            return true;
        }
        let known = CLASS_LOADER.get().or_else(|| {
            let class = self.find(c"java/lang/ClassLoader").ok()?;
            let known = self.global(class);
            // SAFETY: `find` has made the local reference, which is not used again.
            unsafe { self.delete(class) };
            Some(CLASS_LOADER.get_or_init(|| known))
        });
        known.is_some_and(|known| self.is_instance(reference, known))
    }

    /// Fails if a reference is not that of a class.
    pub fn expect_class(
        self,
        reference: Reference,
        what: impl FnOnce() -> String,
    ) -> Result<(), JvmError> {
        match self.is_class(reference) {
            true => Ok(()),
            false => Err(JvmError {
                what: what(),
                thrown: "the reference is not that of a class".into(),
            }),
        }
    }

    pub fn expect_loader(
        self,
        reference: Reference,
        what: impl FnOnce() -> String,
    ) -> Result<(), JvmError> {
        match self.is_loader(reference) {
            true => Ok(()),
            false => Err(JvmError {
                what: what(),
                thrown: "the reference is not that of a class loader".into(),
            }),
        }
    }

    /// Returns the id of an instance field, or null and a pending exception.
    ///
    /// # Safety
    /// `class` must be a class.
    unsafe fn field_id(self, class: Reference, name: &CStr, descriptor: &CStr) -> sys::jfieldID {
        // SAFETY: given by the caller; the name and the descriptor are NUL-terminated.
        unsafe {
            call!(
                self,
                GetFieldID,
                class.0,
                name.as_ptr(),
                descriptor.as_ptr()
            )
        }
    }

    /// The object in a field; `None` if the class has no such field.
    ///
    /// # Safety
    /// `of` must be an instance of the class `class`, and `descriptor` that of a reference type.
    pub(super) unsafe fn field(
        self,
        of: Reference,
        class: Reference,
        name: &CStr,
        descriptor: &CStr,
    ) -> Option<Reference> {
        // SAFETY: given by the caller.
        let id = unsafe { self.field_id(class, name, descriptor) };
        if id.is_null() {
            self.clear_exception();
            return None;
        }
        // SAFETY: `id` is a field of a reference type in the class of `of`.
        Some(Reference(unsafe { call!(self, GetObjectField, of.0, id) }))
    }

    /// A new object of a class, for which no constructor runs, as a local reference. `None` if the class has
    /// no such objects, or the heap is full. The class must be initialised, because the JVM would do so.
    pub fn allocate(self, class: jclass) -> Option<Reference> {
        if !self.is_class(class) {
            return None;
        }
        // SAFETY: `class` is a class. The JVM throws if it has no instances.
        let object = Reference(unsafe { call!(self, AllocObject, class.0) });
        self.clear_exception();
        (!object.is_null()).then_some(object)
    }

    /// Whether a class has an instance field. False if the reference is not that of a class.
    pub fn has_field(self, class: jclass, name: &CStr, descriptor: &CStr) -> bool {
        if !self.is_class(class) {
            return false;
        }
        // SAFETY: `class` is a class.
        let id = unsafe { self.field_id(class, name, descriptor) };
        self.clear_exception();
        !id.is_null()
    }

    /// Finds a class of the boot loader, without initialising it. `name` is the internal name.
    /// `FindClass` would ask the system class loader, which may be code of the application.
    pub fn find(self, name: &CStr) -> Result<jclass, JvmError> {
        self.find_in(&name.to_string_lossy(), Reference::NULL, Reference::NULL)
    }

    /// Finds a class through a loader as another class would that refers to it: the JVM admits the
    /// found class to the protection domain of `referrer`, or to none if `referrer` is null. Does
    /// not initialise the class. Null is the boot loader. `name` is the internal name.
    pub fn find_in(
        self,
        name: &str,
        loader: jobject,
        referrer: jclass,
    ) -> Result<jclass, JvmError> {
        let doing = || format!("looking for {name}");
        self.expect_loader(loader, doing)?;
        if !referrer.is_null() {
            self.expect_class(referrer, doing)?;
        }
        let dotted = self.new_string(&java_form(name))?;
        let class_of_string = self.class_of(dotted);
        let class_of_classes = self.class_of(class_of_string);
        let descriptor =
            c"(Ljava/lang/String;ZLjava/lang/ClassLoader;Ljava/lang/Class;)Ljava/lang/Class;";
        // SAFETY: the name and the descriptor are NUL-terminated, and the class is not null.
        let id = unsafe {
            call!(
                self,
                GetStaticMethodID,
                class_of_classes.0,
                c"forName0".as_ptr(),
                descriptor.as_ptr()
            )
        };
        let found = self.check(doing).and_then(|()| {
            let arguments = [l(dotted), jvalue { z: false }, l(loader), l(referrer)];
            // SAFETY: `id` is `Class.forName0` with this descriptor: a string, a boolean, and a
            // class loader and a class, which were checked.
            let found = unsafe {
                call!(
                    self,
                    CallStaticObjectMethodA,
                    class_of_classes.0,
                    id,
                    arguments.as_ptr()
                )
            };
            self.check(doing).map(|()| Reference(found))
        });
        for local in [dotted, class_of_string, class_of_classes] {
            // SAFETY: this function has made the three local references, and they are not used again.
            unsafe { self.delete(local) };
        }
        found
    }

    /// Defines a class in a loader. Null is the boot loader. `name` is the internal name.
    pub fn define(self, name: &str, loader: jobject, bytes: &[u8]) -> Result<jclass, JvmError> {
        let doing = || format!("defining {name}");
        self.expect_loader(loader, doing)?;
        let c_name = CString::new(name).unwrap_or_default();
        // SAFETY: the name is NUL-terminated, `expect_loader` has checked the loader, and the length
        // is that of the bytes. The JVM checks the class file.
        let class = Reference(unsafe {
            call!(
                self,
                DefineClass,
                c_name.as_ptr(),
                loader.0,
                bytes.as_ptr().cast(),
                bytes.len() as i32
            )
        });
        self.check(doing)?;
        if class.is_null() {
            return Err(JvmError {
                what: doing(),
                thrown: "the JVM gave no class".into(),
            });
        }
        Ok(class)
    }

    /// The superclass of a class, as a local reference. Null for `Object`, for interfaces, and if
    /// the reference is not that of a class.
    pub fn superclass(self, class: jclass) -> jclass {
        if !self.is_class(class) {
            return Reference::NULL;
        }
        // SAFETY: `class` is a class.
        Reference(unsafe { call!(self, GetSuperclass, class.0) })
    }

    /// Whether an instance of `class` is also an instance of `to`. False if one of them is not a
    /// class.
    pub fn is_assignable(self, class: jclass, to: jclass) -> bool {
        // SAFETY: both are classes.
        self.is_class(class)
            && self.is_class(to)
            && unsafe { call!(self, IsAssignableFrom, class.0, to.0) }
    }

    /// Binds a native method of a class to a function.
    ///
    /// # Safety
    /// `function` must be a function with the JNI signature that `descriptor` describes, and must
    /// stay in memory as long as the class does.
    pub unsafe fn bind(
        self,
        class: jclass,
        name: &CStr,
        descriptor: &CStr,
        function: *mut c_void,
    ) -> Result<(), JvmError> {
        let doing = || format!("binding {}", name.to_string_lossy());
        self.expect_class(class, doing)?;
        let native = sys::JNINativeMethod {
            name: name.as_ptr().cast_mut(),
            signature: descriptor.as_ptr().cast_mut(),
            fnPtr: function,
        };
        // SAFETY: `class` is a class, and `native` is one entry; the caller vouches for the function.
        unsafe { call!(self, RegisterNatives, class.0, &native, 1) };
        self.check(doing)
    }

    /// Unbinds the native methods of a class: the JVM looks for their functions by name again.
    pub fn unbind(self, class: jclass) {
        if self.is_class(class) {
            // The result only says whether the class had bound methods.
            // SAFETY: `class` is a class.
            unsafe { call!(self, UnregisterNatives, class.0) };
        }
    }

    /// Finds a static method of a class.
    pub fn static_method(
        self,
        class: &Arc<Global>,
        name: &CStr,
        descriptor: &CStr,
    ) -> Result<Static, JvmError> {
        let doing = || format!("looking for the method {}", name.to_string_lossy());
        self.expect_class(class.raw(), doing)?;
        // SAFETY: `class` is a class; the name and the descriptor are NUL-terminated.
        let id = unsafe {
            call!(
                self,
                GetStaticMethodID,
                class.object,
                name.as_ptr(),
                descriptor.as_ptr()
            )
        };
        self.check(doing)?;
        Ok(Static {
            class: class.clone(),
            id,
        })
    }

    /// Finds a `long` instance field of a class.
    pub fn long_field(self, class: jclass, name: &CStr) -> Result<LongField, JvmError> {
        let doing = || format!("looking for the field {}", name.to_string_lossy());
        self.expect_class(class, doing)?;
        // SAFETY: `class` is a class.
        let id = unsafe { self.field_id(class, name, c"J") };
        self.check(doing)?;
        Ok(LongField(id))
    }

    /// Finds an instance field that holds an object.
    pub fn object_field(
        self,
        class: jclass,
        name: &CStr,
        descriptor: &CStr,
    ) -> Result<ObjectField, JvmError> {
        let doing = || format!("looking for the field {}", name.to_string_lossy());
        self.expect_class(class, doing)?;
        // SAFETY: `class` is a class.
        let id = unsafe { self.field_id(class, name, descriptor) };
        self.check(doing)?;
        Ok(ObjectField(id))
    }
}
