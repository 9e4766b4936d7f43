//! Reading and writing of class files (JVMS chapter 4). All unchanged parts are written back byte
//! for byte.
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
//! Class files contain attributes that this project does not know, and their content may refer to
//! the constant pool by index. So the pool is never sorted, pruned or rewritten, and every index
//! keeps its meaning.
//!
//! The input is not trusted. Every read is checked, a count in the file never reserves more memory
//! than the file's size justifies, and no function recurses over the input.

mod annotations;
pub mod attribute;
mod class;
mod code;
mod code_map;
mod entry;
mod error;
pub mod frame;
mod import;
mod intern;
mod intern_table;
mod pool;
mod reader;
mod tables;
pub mod text;
mod type_annotations;
mod validate;

pub use annotations::annotation_types;
pub use attribute::Attribute;
pub use class::{ChangedAttribute, ClassFile, Member};
pub use code::{Code, ExceptionRange};
pub use entry::{ConstantTag, MemberRef, PoolEntry};
pub use error::ClassFileError;
pub use frame::{StackMapFrame, VerificationType, decode_stack_map, encode_stack_map};
pub use import::ImportMemo;
pub use pool::ConstantPool;
pub use tables::remap_code_attributes;
