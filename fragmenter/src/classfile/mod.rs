//! Reading and writing class files (JVMS chapter 4), so that what is not touched comes out byte for byte as it was.
//!
//! ```text
//!   bytes ──parse──▶ ClassFile ─────────────────────────────────────────────▶ to_bytes ──▶ bytes
//!                      │ pool        raw bytes + an index of offsets; new entries are appended
//!                      │ attributes  raw bytes, borrowed
//!                      └ methods ──▶ Code::parse ─▶ code, exceptions ─▶ Code::to_bytes
//!                                        ├ StackMapTable      decode_stack_map / encode_stack_map
//!                                        └ lines, variables   remap_code_attributes
//! ```
//!
//! A class file written by others holds attributes that this project has never heard of, whose content may refer to
//! the constant pool by index. So the pool is never sorted, thinned or written anew: an index keeps its meaning. The input
//! is not trusted: every read is checked, no count in a file reserves more memory than the file's size can
//! justify, and nothing recurses over the input.

mod annotations;
pub mod attribute;
mod class;
mod closed;
mod code;
mod entry;
mod error;
pub mod frame;
mod import;
mod intern;
mod pool;
mod reader;
mod tables;
pub mod text;
mod type_annotations;

pub use annotations::annotation_types;
pub use attribute::Attribute;
pub use class::{ClassFile, Member};
pub use code::{Code, ExceptionRange};
pub use entry::{Entry, MemberRef, Tag};
pub use error::ClassFileError;
pub use frame::{StackMapFrame, VerificationType, decode_stack_map, encode_stack_map};
pub use pool::ConstantPool;
pub use tables::remap_code_attributes;
