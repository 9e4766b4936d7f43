//! The JNI functions for strings, arrays and the values of fields.

use super::{Env, JvmError, LongField, ObjectField, Reference, jclass, jobject};
use std::ffi::{CStr, CString};
use std::ptr;

impl Env {
    /// The text of a Java string. `None` for null.
    ///
    /// # Safety
    /// `string` must be null or a `java.lang.String`.
    pub unsafe fn string(self, string: jobject) -> Option<String> {
        if string.is_null() {
            return None;
        }
        // SAFETY: `string` is a string. With a null pointer, the JVM does not report whether it copied.
        let chars = unsafe { call!(self, GetStringUTFChars, string.0, ptr::null_mut()) };
        if chars.is_null() {
            return None;
        }
        // SAFETY: the JVM returns a NUL-terminated copy, which is valid until it is released.
        let text =
            String::from_utf8_lossy(unsafe { CStr::from_ptr(chars) }.to_bytes()).into_owned();
        // SAFETY: `GetStringUTFChars` of this string has returned `chars`; they are released once.
        unsafe { call!(self, ReleaseStringUTFChars, string.0, chars) };
        Some(text)
    }

    /// Makes a Java string. A NUL character becomes U+FFFD.
    pub fn new_string(self, text: &str) -> Result<jobject, JvmError> {
        let text = CString::new(text.replace('\0', "\u{FFFD}")).unwrap_or_default();
        // SAFETY: the text is NUL-terminated.
        let string = unsafe { call!(self, NewStringUTF, text.as_ptr()) };
        self.check(|| "making a string".into())?;
        Ok(Reference(string))
    }

    /// Makes a Java byte array.
    pub fn bytes(self, bytes: &[u8]) -> Result<jobject, JvmError> {
        let len = bytes.len() as i32;
        // SAFETY: the JVM throws if the length is negative.
        let array = unsafe { call!(self, NewByteArray, len) };
        self.check(|| "making a byte array".into())?;
        // SAFETY: `array` is a byte array of `len` elements, as many as `bytes` has.
        unsafe {
            call!(
                self,
                SetByteArrayRegion,
                array,
                0,
                len,
                bytes.as_ptr().cast()
            )
        };
        self.check(|| "filling a byte array".into())?;
        Ok(Reference(array))
    }

    /// Makes a Java int array.
    pub fn ints(self, ints: &[i32]) -> Result<jobject, JvmError> {
        let len = ints.len() as i32;
        // SAFETY: the JVM throws if the length is negative.
        let array = unsafe { call!(self, NewIntArray, len) };
        self.check(|| "making an int array".into())?;
        // SAFETY: `array` is an int array of `len` elements, as many as `ints` has.
        unsafe { call!(self, SetIntArrayRegion, array, 0, len, ints.as_ptr()) };
        self.check(|| "filling an int array".into())?;
        Ok(Reference(array))
    }

    /// Makes a Java array of a class of objects. Fails if an element is not an instance of it.
    pub fn objects(self, class: jclass, elements: &[jobject]) -> Result<jobject, JvmError> {
        self.expect_class(class, || "making an array".into())?;
        let len = elements.len() as i32;
        // SAFETY: `class` is a class, and the initial element is null.
        let array = unsafe { call!(self, NewObjectArray, len, class.0, ptr::null_mut()) };
        self.check(|| "making an array".into())?;
        for (i, element) in elements.iter().enumerate() {
            // SAFETY: `array` is an array of objects. The JVM checks the index and the element.
            unsafe { call!(self, SetObjectArrayElement, array, i as i32, element.0) };
            self.check(|| "filling an array".into())?;
        }
        Ok(Reference(array))
    }

    /// The length of an array; 0 for null.
    ///
    /// # Safety
    /// `array` must be null or an array.
    pub unsafe fn length(self, array: jobject) -> i32 {
        if array.is_null() {
            return 0;
        }
        // SAFETY: `array` is an array.
        unsafe { call!(self, GetArrayLength, array.0) }
    }

    /// An element of an array of objects, as a local reference.
    ///
    /// # Safety
    /// `array` must be an array of objects that has this index.
    pub unsafe fn element(self, array: jobject, index: i32) -> jobject {
        // SAFETY: given by the caller.
        Reference(unsafe { call!(self, GetObjectArrayElement, array.0, index) })
    }

    /// The object in a field, as a local reference. Null for null.
    ///
    /// # Safety
    /// `object` must be null or an instance of the class that declares the field.
    pub unsafe fn get_object(self, object: jobject, field: ObjectField) -> jobject {
        if object.is_null() {
            return Reference::NULL;
        }
        // SAFETY: given by the caller.
        Reference(unsafe { call!(self, GetObjectField, object.0, field.0) })
    }

    /// The value of a `long` field.
    ///
    /// # Safety
    /// `object` must be an instance of the class that declares the field, and not null.
    pub unsafe fn get_long(self, object: jobject, field: LongField) -> i64 {
        // SAFETY: given by the caller.
        unsafe { call!(self, GetLongField, object.0, field.0) }
    }

    /// Sets an element of a `long` array. Leaves an exception if the array has no such index.
    ///
    /// # Safety
    /// `array` must be a `long` array, and not null.
    pub unsafe fn set_long(self, array: jobject, index: i32, value: i64) {
        // SAFETY: given by the caller; the region is one element, `value`.
        unsafe { call!(self, SetLongArrayRegion, array.0, index, 1, &value) };
    }
}
