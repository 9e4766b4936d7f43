//! What can be wrong with a class file, or with a wish to write one.
//!
//! Each message says what was found, where, and what to do. To the caller every variant means the same: leave
//! this class (or method) as it is.

use super::entry::Tag;

/// Why a class file, or a part of one, could not be read or written. Offsets are bytes from the start of the
/// part that was being read: the file for a class, the `info` for an attribute.
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
        /// Where it began.
        offset: usize,
    },
    /// Bytes are left after the last item.
    #[error("{count} bytes are left over after {what}; a length or count in it is wrong")]
    TrailingBytes {
        /// The item that should have used up the input.
        what: &'static str,
        /// How many bytes are left.
        count: usize,
    },
    /// The file does not begin with `0xCAFEBABE` (JVMS 4.1).
    #[error("the file begins with {0:#010x}, not 0xcafebabe; it is not a class file")]
    BadMagic(u32),
    /// A constant-pool tag that the JVM specification (4.4) does not know.
    #[error(
        "constant #{index} has the unknown tag {tag}; the file is damaged or newer than this reader"
    )]
    UnknownTag {
        /// Pool index of the entry.
        index: u16,
        /// The tag byte.
        tag: u8,
    },
    /// A pool index that names no entry: zero, the second half of a long or double, or past the end.
    #[error("#{index} names no constant (the pool has {count} slots); the class file is damaged")]
    BadIndex {
        /// The index.
        index: u16,
        /// The pool's `constant_pool_count`.
        count: u16,
    },
    /// A name or descriptor that is no text: it would come out as another one.
    #[error(
        "constant #{0} is a name that is not proper modified UTF-8 (a lone surrogate or a stray byte); it cannot be written again from text"
    )]
    OddName(u16),
    /// A pool index that names an entry of the wrong kind.
    #[error(
        "constant #{index} is a {found}, where a {expected} is needed; the class file is damaged"
    )]
    WrongTag {
        /// The index.
        index: u16,
        /// What the place calls for.
        expected: &'static str,
        /// What is there.
        found: Tag,
    },
    /// No room for another constant (JVMS 4.1: `constant_pool_count` is 16 bits).
    #[error("the constant pool is full (65,535 slots); leave this class unchanged")]
    PoolFull,
    /// A count or length does not fit its field.
    #[error(
        "{what} has {length} items or bytes, but the format allows {limit} at most; leave this class or method unchanged"
    )]
    TooLong {
        /// The item to be written or read.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// A `Code` attribute without code, or with 65,536 bytes or more of it (JVMS 4.7.3).
    #[error("the method has {0} bytes of code, but 1 to 65,535 are allowed; leave it unchanged")]
    CodeLength(usize),
    /// An entry that only has a meaning beside its class's `BootstrapMethods` cannot go to another pool.
    #[error(
        "constant #{index} is a {tag}, which belongs to its class's bootstrap methods; build it anew in the other class"
    )]
    NotImportable {
        /// The index in the pool it comes from.
        index: u16,
        /// Its tag.
        tag: Tag,
    },
    /// A byte of a `StackMapTable` that is no frame type or verification type (JVMS 4.7.4).
    #[error(
        "{value} at offset {offset} of a StackMapTable is no known {what}; the class file is damaged"
    )]
    BadFrame {
        /// What was expected there.
        what: &'static str,
        /// The byte.
        value: u8,
        /// Its offset in the attribute.
        offset: usize,
    },
    /// A chop frame takes away more locals than there are.
    #[error(
        "the stack-map frame at pc {pc} chops {chopped} locals, but there are only {locals}; the class file is damaged"
    )]
    BadChop {
        /// Where the frame stands.
        pc: u16,
        /// How many it takes away.
        chopped: usize,
        /// How many the frame before it has.
        locals: usize,
    },
    /// Frames that are not in ascending order, or are past the end of any possible method.
    #[error(
        "a stack-map frame at pc {pc} follows one at pc {previous:?}; frames must ascend and stay below 65,536"
    )]
    FrameOrder {
        /// Where the frame stands (or would stand).
        pc: u32,
        /// The frame before it; none for the first.
        previous: Option<u16>,
    },
    /// Decoded frames would hold more types than is reasonable ([`super::frame::MAX_FRAME_TYPES`]).
    #[error(
        "the stack-map frames hold more than {limit} types when written out; leave this method unchanged"
    )]
    FramesTooLarge {
        /// The limit.
        limit: usize,
    },
    /// A byte of a type annotation that is no known target type or element tag (JVMS 4.7.16.1, 4.7.20).
    #[error(
        "{value:#04x} at offset {offset} is no known {what} of an annotation; the class file is damaged or newer than this reader"
    )]
    BadAnnotation {
        /// What was expected there.
        what: &'static str,
        /// The byte.
        value: u8,
        /// Its offset in the attribute.
        offset: usize,
    },
    /// A debug table names code that is not there, or the pc map turned a range upside down.
    #[error(
        "{what} names code {start}..{end}, which is no range of a method of {code_length} bytes; leave this method unchanged"
    )]
    BadRange {
        /// The table.
        what: &'static str,
        /// First pc.
        start: u32,
        /// Pc after the last.
        end: u32,
        /// Length of the method's code.
        code_length: u16,
    },
}
