//! The errors of reading and writing class files.
//!
//! Each message states what was found, at which position, and what to do. For the caller, every
//! variant has the same consequence: leave this class (or method) unchanged.

use super::entry::ConstantTag;

/// The reason why a class file, or a part of one, could not be read or written. Offsets are in
/// bytes from the start of the input: the file for a class, the `info` for an attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassFileError {
    /// The bytes end inside an item.
    #[error(
        "the bytes end inside {what} at offset {offset}; the input is cut short or a length in it is wrong"
    )]
    Truncated {
        /// The item that was being read.
        what: &'static str,
        /// Offset of the item.
        offset: usize,
    },
    /// Bytes are left after the last item.
    #[error("{count} bytes are left over after {what}; a length or count in it is wrong")]
    TrailingBytes {
        /// The item that should have consumed the input.
        what: &'static str,
        /// Number of remaining bytes.
        count: usize,
    },
    /// The file does not begin with `0xCAFEBABE` (JVMS 4.1).
    #[error("the file begins with {0:#010x}, not 0xcafebabe; it is not a class file")]
    BadMagic(u32),
    /// A constant-pool tag that the JVM specification (4.4) does not define.
    #[error(
        "constant #{index} has the unknown tag {tag}; the file is damaged or newer than this reader"
    )]
    UnknownTag {
        /// Pool index of the entry.
        index: u16,
        /// The unknown tag of the entry.
        tag: u8,
    },
    /// A pool index without an entry: zero, the second slot of a `long` or `double`, or past the
    /// end.
    #[error("#{index} names no constant (the pool has {count} slots); the class file is damaged")]
    BadIndex {
        /// The index that was read.
        index: u16,
        /// The pool's `constant_pool_count`.
        count: u16,
    },
    /// A name or descriptor that is not valid modified UTF-8. Decoding and encoding it would change
    /// it.
    #[error(
        "constant #{0} is a name that is not proper modified UTF-8 (a lone surrogate or a stray byte); it cannot be written again from text"
    )]
    OddName(u16),
    /// A pool index that names an entry of the wrong kind.
    #[error(
        "constant #{index} is a {found}, where a {expected} is needed; the class file is damaged"
    )]
    WrongTag {
        /// Index of the wrong entry.
        index: u16,
        /// The required kind.
        expected: &'static str,
        /// The actual kind.
        found: ConstantTag,
    },
    /// No slot is left for another constant (JVMS 4.1: `constant_pool_count` has 16 bits).
    #[error("the constant pool is full (65,535 slots); leave this class unchanged")]
    PoolFull,
    /// A count or length that does not fit its field.
    #[error(
        "{what} has {length} items or bytes, but the format allows {limit} at most; leave this class or method unchanged"
    )]
    TooLong {
        /// The item to be written or read.
        what: &'static str,
        /// Actual number of items or bytes.
        length: usize,
        /// The largest number that the class-file format can state.
        limit: usize,
    },
    /// A `Code` attribute without code, or with 65,536 bytes or more of it (JVMS 4.7.3).
    #[error("the method has {0} bytes of code, but 1 to 65,535 are allowed; leave it unchanged")]
    CodeLength(usize),
    /// An entry that depends on its class's `BootstrapMethods` and cannot be copied to another
    /// pool.
    #[error(
        "constant #{index} is a {tag}, which belongs to its class's bootstrap methods; build it anew in the other class"
    )]
    NotImportable {
        /// The index in the source pool.
        index: u16,
        /// The kind of the entry.
        tag: ConstantTag,
    },
    /// A byte of a `StackMapTable` that is not a valid frame type or verification type (JVMS
    /// 4.7.4).
    #[error(
        "{value} at offset {offset} of a StackMapTable is no known {what}; the class file is damaged"
    )]
    BadFrame {
        /// The kind of item that was expected.
        what: &'static str,
        /// The byte that was read instead.
        value: u8,
        /// Offset in the attribute.
        offset: usize,
    },
    /// A chop frame that removes more locals than exist.
    #[error(
        "the stack-map frame at pc {pc} chops {chopped} locals, but there are only {locals}; the class file is damaged"
    )]
    BadChop {
        /// pc of the frame.
        pc: u16,
        /// Number of removed locals.
        chopped: usize,
        /// Number of locals of the previous frame.
        locals: usize,
    },
    /// Frames that are not in ascending order, or a frame at a pc that no method can have.
    #[error(
        "a stack-map frame at pc {pc} follows one at pc {previous:?}; frames must ascend and stay below 65,536"
    )]
    FrameOrder {
        /// pc of the frame, which may exceed 16 bits.
        pc: u32,
        /// pc of the previous frame; `None` for the first.
        previous: Option<u16>,
    },
    /// Decoded frames that would hold more types than [`super::frame::MAX_FRAME_TYPES`].
    #[error(
        "the stack-map frames hold more than {limit} types when written out; leave this method unchanged"
    )]
    FramesTooLarge {
        /// The largest number of types.
        limit: usize,
    },
    /// A byte of an annotation that is not a valid target type or element tag (JVMS 4.7.16.1,
    /// 4.7.20).
    #[error(
        "{value:#04x} at offset {offset} is no known {what} of an annotation; the class file is damaged or newer than this reader"
    )]
    BadAnnotation {
        /// The kind of item that was expected.
        what: &'static str,
        /// The byte that was read instead.
        value: u8,
        /// Offset in the attribute.
        offset: usize,
    },
    /// A debug table that refers to code outside the method, or a pc map that reversed a range.
    #[error(
        "{what} names code {start}..{end}, which is no range of a method of {code_length} bytes; leave this method unchanged"
    )]
    BadRange {
        /// The name of the table.
        what: &'static str,
        /// First pc of the range.
        start: u32,
        /// pc after the last.
        end: u32,
        /// Length of the method's code in bytes.
        code_length: u16,
    },
}
