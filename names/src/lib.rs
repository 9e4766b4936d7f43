//! Names and descriptors of the class-file format: classes, methods, field types (JVMS §4.2, §4.3).
//!
//! ```text
//!   java/util/Map$Entry        ClassName         the internal form, as class files have it
//!   java.util.Map$Entry        JavaClassName     the Java form, as `Class.getName` returns it
//!   [Ljava/lang/String;        FieldDescriptor   one type
//!   (I[Ljava/lang/String;)V    MethodDescriptor  parameters and result
//!   run(I)V                    MethodName        a method within its class
//! ```
//!
//! The crate also has the numbers that several crates use: [`MethodId`], [`FragmentId`],
//! [`LocalSlot`], [`CounterSlot`] and [`LogPoint`].
//!
//! * [`ClassName`], [`JavaClassName`] and [`MethodName`] own their text. Cloning a class name is
//!   cheap.
//! * [`FieldDescriptor`], [`MethodDescriptor`] and [`MethodRef`] borrow their text. Parsing them
//!   allocates no memory.
//! * [`raw`] reads descriptors as bytes, because the text of a class file need not be valid UTF-8.
//!
//! The parsers of text accept exactly what the JVM specification allows. This crate knows no JVM
//! and no class-file reader.

mod class_name;
mod counter_slot;
mod field_descriptor;
mod fragment_id;
mod local_slot;
mod method_descriptor;
mod method_id;
mod method_name;
mod name_error;
mod primitive;
pub mod raw;
mod site_id;

pub use class_name::{
    ClassName, JavaClassName, array_of, class_in_type_descriptor, component_name, constant_name,
    internal_form, java_form, simple_name, type_descriptor,
};
pub use counter_slot::{CounterSlot, LogPoint, PointSlot};
pub use field_descriptor::{FieldDescriptor, FieldKind, OBJECT_DESCRIPTOR, java_form_of_type};
pub use fragment_id::FragmentId;
pub use local_slot::LocalSlot;
pub use method_descriptor::{MethodDescriptor, Parameters};
pub use method_id::MethodId;
pub use method_name::{
    MethodName, MethodNameError, MethodRef, java_signature, short_java_signature,
};
pub use name_error::NameError;
pub use primitive::Primitive;
pub use raw::{DescriptorError, MAX_DIMENSIONS, MAX_PARAMETER_SLOTS};
pub use site_id::site_id;

/// The internal name of `java.lang.Object`.
pub const OBJECT: &str = "java/lang/Object";

/// The internal name of `java.lang.String`.
pub const STRING: &str = "java/lang/String";
