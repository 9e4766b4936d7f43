//! Event words: 8 bytes, little-endian. The lowest byte is the kind, and its range determines the
//! layout of the rest. So a reader can skip each word of an unknown kind.
//!
//! ```text
//!   kind 0         the end of the events
//!   kind 01..=1f   | time delta 32 | id 24 | kind 8 |   opens a node of the tree
//!   kind 20..=3f   | time delta 32 | id 24 | kind 8 |   an instant
//!   kind 40        | time delta 56         | kind 8 |   only advances the time
//!   kind 41..=4f   | time delta 56         | kind 8 |   closes the innermost node
//!   kind 50..=7f   | time delta 56         | kind 8 |   an instant without an id
//!   kind 80..=ff   | value 56              | kind 8 |   an argument of the event before it
//! ```
//!
//! A time delta is the number of ticks since the previous event of the thread.

/// Bits of an id inside an event word. A longer id is an argument of kind [`argument::ID`].
pub const ID_BITS: u32 = 24;
/// Bits of the value of an argument word.
pub const VALUE_BITS: u32 = 56;
/// The largest value of an argument word.
pub const MAX_VALUE: u64 = (1 << VALUE_BITS) - 1;
/// The largest id inside an event word.
pub const MAX_SHORT_ID: u64 = (1 << ID_BITS) - 1;

/// Kinds of events. Kinds below [`FIRST_INSTANT`] open a node.
pub mod kind {
    /// A method, loop or fragment is entered; the id is a frame.
    pub const ENTRY: u8 = 0x01;
    /// The thread waits to enter a monitor; the id is the string of the object's class.
    pub const CONTENDED: u8 = 0x02;
    /// `Object.wait`; the id is the string of the object's class.
    pub const WAIT: u8 = 0x03;
    /// The thread parks; the id is the string of the blocker's class, or 0.
    pub const PARK: u8 = 0x04;
    /// `Thread.sleep`.
    pub const SLEEP: u8 = 0x05;
    /// A garbage collection; the id is the string of its name.
    pub const COLLECTION: u8 = 0x06;
    /// The JIT compiler compiles a method; the id is a frame.
    pub const COMPILATION: u8 = 0x07;
    /// A class is loaded; the id is the string of its name.
    pub const CLASS_LOAD: u8 = 0x08;
    /// A span of a plan; the id is the string of its label.
    pub const SPAN: u8 = 0x09;

    /// A point of a method is passed; the id is a frame.
    pub const MARK: u8 = 0x20;
    /// `notify` or `notifyAll`; the id is the string of the object's class.
    pub const NOTIFY: u8 = 0x21;
    /// A thread starts; the id is its number in this trace.
    pub const THREAD_START: u8 = 0x22;
    /// A thread ends; the id is its number in this trace.
    pub const THREAD_END: u8 = 0x23;
    /// A class is unloaded; the id is the string of its name.
    pub const CLASS_UNLOAD: u8 = 0x24;
    /// A compiled method is deoptimised; the id is a frame.
    pub const DEOPTIMISATION: u8 = 0x25;
    /// An object is allocated; the id is the string of its class.
    pub const ALLOCATION: u8 = 0x26;
    /// An object was collected; the id is the string of its class.
    pub const FREED: u8 = 0x27;
    /// Another thread is unparked; the id is its number in this trace.
    pub const UNPARK: u8 = 0x28;
    /// An event of a plan; the id is the string of its label.
    pub const USER: u8 = 0x29;
    /// The thread was switched out since the previous event. An argument [`super::argument::CPU`]
    /// has the thread's clock.
    pub const SWITCH: u8 = 0x2a;
    /// Calls that a filter left out since the previous event; the id is a probe form, and the
    /// first argument is their number.
    pub const OMITTED: u8 = 0x2b;
    /// Events that were not written, for instance because the disk was full. The arguments are
    /// their number, the lowest depth that the thread reached meanwhile, and its depth now.
    pub const LOST: u8 = 0x2c;

    /// Only advances the time.
    pub const TIME: u8 = 0x40;
    /// The innermost node ends.
    pub const EXIT: u8 = 0x41;
    /// The innermost node ends with an exception.
    pub const THROW: u8 = 0x42;
}

/// Size of a word in bytes.
pub const WORD_BYTES: usize = 8;

/// The lowest kind of an instant with an id.
pub const FIRST_INSTANT: u8 = 0x20;
/// The lowest kind of an event with a long time delta.
pub const FIRST_LONG: u8 = 0x40;
/// The lowest kind of an instant without an id.
pub const FIRST_LONG_INSTANT: u8 = 0x50;
/// The lowest kind of an argument.
pub const FIRST_ARGUMENT: u8 = 0x80;

/// Kinds of arguments.
pub mod argument {
    /// An id that replaces the id in the event word.
    pub const ID: u8 = 0x80;
    /// A whole number of 56 bits, sign-extended.
    pub const INT: u8 = 0x81;
    /// The highest 8 bits of the next `INT` or `DOUBLE`.
    pub const HIGH: u8 = 0x82;
    /// The low 56 bits of a double.
    pub const DOUBLE: u8 = 0x83;
    /// The id of a string.
    pub const STRING: u8 = 0x84;
    /// Seven bytes of UTF-8; the next argument continues the text.
    pub const TEXT_PART: u8 = 0x85;
    /// The last bytes of a text, filled with zeros.
    pub const TEXT: u8 = 0x86;
    /// An object: the identity hash in the low 32 bits, the string of its class above.
    pub const OBJECT: u8 = 0x87;
    /// The value `null`.
    pub const NULL: u8 = 0x88;
    /// The thread's processor time in nanoseconds.
    pub const CPU: u8 = 0x89;
    /// Bytes that the thread has allocated so far.
    pub const ALLOCATED: u8 = 0x8a;
    /// The call site of an entry; the id of a site.
    pub const SITE: u8 = 0x8b;
    /// The thread that owns a contended monitor; its number in this trace.
    pub const OWNER: u8 = 0x8c;
    /// The name of the next argument; the id of a string.
    pub const LABEL: u8 = 0x8d;
}

/// Whether an argument word is a value that a plan named, or a part of one.
pub const fn is_value(word: u64) -> bool {
    matches!(
        kind_of(word),
        argument::INT
            | argument::HIGH
            | argument::DOUBLE
            | argument::STRING
            | argument::TEXT_PART
            | argument::TEXT
            | argument::OBJECT
            | argument::NULL
    )
}

/// The kind of a word.
pub const fn kind_of(word: u64) -> u8 {
    word as u8
}

/// The id of an event word of a kind below [`FIRST_LONG`].
pub const fn id_of(word: u64) -> u64 {
    (word >> 8) & MAX_SHORT_ID
}

/// The time delta of an event word in ticks.
pub const fn delta_of(word: u64) -> u64 {
    match kind_of(word) < FIRST_LONG {
        true => word >> 32,
        false => word >> 8,
    }
}

/// The value of an argument word.
pub const fn value_of(word: u64) -> u64 {
    word >> 8
}

/// An event word with an id. `id` has [`ID_BITS`] bits, and `delta` has 32.
pub const fn short(kind: u8, id: u64, delta: u64) -> u64 {
    (delta << 32) | ((id & MAX_SHORT_ID) << 8) | kind as u64
}

/// An event word without an id, or an argument word. `value` has [`VALUE_BITS`] bits.
pub const fn long(kind: u8, value: u64) -> u64 {
    (value << 8) | kind as u64
}
