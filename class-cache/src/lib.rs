//! The class cache: armed classes and original class files in files of the user's cache folder.
//!
//! ```text
//!   folder (owner only)
//!     <build>-<unique>.classes   a segment: complete, never changed, many classes
//!     <build>-<unique>.part      a segment that a JVM is writing; no other JVM reads it
//!
//!   segment   header │ class, class, … │ index, sorted by key │ footer
//!   class     hot section: lengths, methods, refusals, anchor, armed class file │ original class file
//!   index     key │ offset │ lengths                                 32 bytes for each class
//! ```
//!
//! A *key* is a hash of a class file and of everything else that decides its armed form, except the
//! selection of methods. The hot section lists the methods with the selection under which the class
//! was armed, so the reader compares the selection itself.
//!
//! # Why nothing in the folder can harm the program
//!
//! * A segment is written under another name and renamed when it is complete. A process that is
//!   killed leaves a `.part` file, which no process reads and a later one deletes.
//! * Two processes never write to one file, so no lock is needed. A lock on a `.part` file only
//!   tells others that its writer is alive. On a file system without locks, the age decides.
//! * Files are read by `pread`, not mapped. A mapped file that another process truncates raises
//!   SIGBUS, and the content of a mapping can change between the check and the use. A read returns
//!   an error or bytes of this process, and costs one system call for each class that is found.
//! * The index, each hot section and each original class file have a hash. Damaged parts are
//!   ignored. The hash (XXH3) recognises damage. It does not stop an attacker: the folder and the
//!   files must belong to the user of the process, and nobody else may write to them.
//! * A segment belongs to one build of Veneer. Other builds ignore it.
//!
//! The folder has a size limit. The segments whose classes were not used for the longest time are
//! deleted first. A process that has a deleted segment open still reads from it.

mod byte_reader;
mod cached_class;
mod class_cache;
mod digest;
mod folder;
mod housekeeping;
mod id_template;
mod segment;
mod segment_file;
mod segment_writer;
mod stored_file;

pub use cached_class::{CachedClass, CachedMethod, CachedRefusal};
pub use class_cache::{CacheSettings, Candidate, ClassCache};
pub use digest::{BuildId, ClassKey, Digest};
pub use folder::{CacheFolder, FolderFault};
pub use housekeeping::{CacheUse, DEFAULT_MAX_BYTES};
pub use id_template::{IdTemplate, NamedMethod};
pub use segment_file::{GuardedWrite, SegmentFile, unguarded_write};
pub use stored_file::{LostClassFile, StoredFile};
