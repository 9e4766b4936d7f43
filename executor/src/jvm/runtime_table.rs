//! The table of everything that the Rust code and the Java runtime classes must agree on. This is
//! the list of the runtime classes, and the layout of the memory that both sides read and write.
//!
//! The crate uses this file as a module, and `build.rs` uses it as a module of its own. `build.rs`
//! compiles the classes of [`CLASSES`] and embeds them in this order. It also writes each constant
//! into `VeneerLayout.java` as a `static final` field with a literal value. `javac` copies such
//! values into the classes that use them, so the JVM never loads `VeneerLayout`, and the JIT sees
//! plain constants.
//!
//! This file imports nothing, because `build.rs` has none of the crate's dependencies. The unit
//! tests compare the constants with those of the crates that own them.

/// One of the Java runtime classes.
#[allow(dead_code)] // `build.rs` reads the name only.
pub struct RuntimeClass {
    /// The name without its package.
    pub name: &'static str,
    /// Whether armed bodies, anchors or versions name the class.
    pub is_named_by_emitted_code: bool,
    /// Whether the class reads the value of a constant method handle. See `direct_reads`.
    pub reads_constant_handles: bool,
}

/// The package of the runtime classes.
pub const PACKAGE: &str = "java/lang/invoke/";

const fn class(name: &'static str) -> RuntimeClass {
    RuntimeClass {
        name,
        is_named_by_emitted_code: false,
        reads_constant_handles: false,
    }
}

const fn named(class: RuntimeClass) -> RuntimeClass {
    RuntimeClass {
        is_named_by_emitted_code: true,
        ..class
    }
}

const fn reader(class: RuntimeClass) -> RuntimeClass {
    RuntimeClass {
        reads_constant_handles: true,
        ..class
    }
}

/// The runtime classes, in the order in which the agent defines them: a class is defined before the
/// first use of any method that names it. `VeneerAgent`, which the agent calls, is the last one.
pub const CLASSES: [RuntimeClass; 42] = [
    named(class("VeneerFrame")),
    class("VeneerReserve"),
    class("VeneerBound"),
    reader(class("VeneerToken")),
    class("VeneerGate"),
    class("VeneerMark"),
    class("VeneerHeap"),
    reader(named(class("VeneerCell"))),
    class("VeneerCells"),
    class("VeneerMember"),
    class("VeneerLinker$1"),
    class("VeneerLinker"),
    class("VeneerClock"),
    class("VeneerTicks"),
    class("VeneerPlaces"),
    class("VeneerFrequentKeys"),
    named(class("VeneerTables")),
    class("VeneerTexts"),
    named(class("VeneerThreads")),
    class("VeneerObjects"),
    class("VeneerClasses"),
    class("VeneerValues"),
    class("VeneerInlineCaches"),
    class("VeneerLife"),
    class("VeneerLives"),
    named(class("VeneerProbe")),
    class("VeneerHost"),
    class("VeneerHosts"),
    class("VeneerWalk"),
    class("VeneerBacktrace"),
    class("VeneerEvents"),
    class("VeneerTask"),
    class("VeneerContexts"),
    class("VeneerCurve"),
    class("VeneerCaches"),
    class("VeneerOrigins"),
    class("VeneerMemory"),
    named(class("VeneerTrace")),
    named(class("VeneerRuntime")),
    named(class("VeneerCalls")),
    class("VeneerVersions"),
    class("VeneerAgent"),
];

/// A constant of this table, for `build.rs`.
#[allow(dead_code)] // The crate reads it in unit tests only.
pub struct JavaConstant {
    pub name: &'static str,
    /// `int` or `long`.
    pub java_type: &'static str,
    pub value: i64,
    pub doc: &'static str,
}

macro_rules! java_type {
    (i32) => {
        "int"
    };
    (i64) => {
        "long"
    };
}

macro_rules! java_constants {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ident = $value:expr;)+) => {
        $($(#[doc = $doc])+ #[allow(dead_code)] pub const $name: $type = $value;)+

        /// All constants, in the order of this file.
        #[allow(dead_code)] // Only `build.rs` and the unit tests read this list.
        pub const CONSTANTS: &[JavaConstant] = &[$(JavaConstant {
            name: stringify!($name),
            java_type: java_type!($type),
            value: $name as i64,
            doc: concat!($($doc),+),
        }),+];
    };
}

java_constants! {
    /// Number of rows of the thread table, a power of two. A thread's row is `tid & THREAD_ROWS - 1`.
    THREAD_ROWS: i32 = 1 << 12;
    /// Bytes of a row. A row begins with the id of the thread that owns it.
    THREAD_ROW_BYTES: i32 = 32;
    /// Offset in a row: the address of the thread's counter shard.
    THREAD_ROW_SHARD: i32 = 8;
    /// Offset in a row: the address of the thread's event ring.
    THREAD_ROW_RING: i32 = 16;

    /// Number of pages of first receivers in `VeneerCalls`. A page is for 256 counters.
    CALL_PAGES: i32 = 1 << 14;
    /// Binary logarithm of the number of classes of receivers that `VeneerCalls` distinguishes.
    RECEIVER_CLASS_BITS: i32 = 16;
    /// Number of pairs of a call and a class of receivers that `VeneerCalls` distinguishes, a power of
    /// two. The first class of a call needs a pair too.
    RECEIVER_PAIRS: i32 = 1 << 19;

    /// Offset in a ring: the position up to which events are written. The position only grows.
    RING_HEAD: i32 = 0;
    /// Offset in a ring: the position up to which events are drained. The position only grows.
    RING_TAIL: i32 = 8;
    /// Offset in a ring: the number of bytes of the data.
    RING_CAPACITY: i32 = 24;
    /// Bytes before the data of a ring.
    RING_HEADER: i32 = 64;
    /// Offset in an event: the id of its point. An event begins with its length, an int.
    EVENT_POINT: i32 = 4;
    /// Offset in an event: its time, by `System.nanoTime()`.
    EVENT_TIME: i32 = 8;
    /// Offset in an event: the id of its thread.
    EVENT_THREAD: i32 = 16;
    /// Bytes before the values of an event.
    EVENT_HEADER: i32 = 32;
    /// Bytes of a value of an event, without characters: its kind and a word.
    EVENT_VALUE: i32 = 16;
    /// Limit for the characters that an event keeps of a string.
    EVENT_TEXT: i32 = 64;
    /// Kind of a value: null.
    VALUE_NULL: i64 = 0;
    /// Kind of a value: an integer.
    VALUE_INT: i64 = 1;
    /// Kind of a value: a floating-point number.
    VALUE_FLOAT: i64 = 2;
    /// Kind of a value: a string.
    VALUE_STRING: i64 = 3;
    /// Kind of a value: another object, by its class and identity hash.
    VALUE_OBJECT: i64 = 4;
    /// Kind of a value: an event of a plan has none.
    VALUE_ABSENT: i64 = 5;

    /// Bytes of the head of a table, and of the head of a table's strings.
    HEAD: i32 = 64;
    /// Limit for the keys of an entry.
    KEYS: i32 = 4;
    /// Offset in an entry: its values, after its state, the tags of its keys, and its keys.
    VALUES: i32 = 8 * (2 + KEYS);
    /// Offset in the head of a table of single values: the number of values put into it.
    TABLE_GIVEN: i32 = 24;
    /// Offset in the head of a table: the address of its strings.
    TABLE_STRINGS: i32 = 32;
    /// Offset in the head of a table: the offset of a thread's own values in its counter shard, or -1.
    /// In a table of stacks: the index of the array with the objects.
    TABLE_PARTS: i32 = 40;
    /// Offset in the head of a table: the first bucket's start of a linear histogram, the seed of a
    /// sample.
    TABLE_FIRST: i32 = 48;
    /// Offset in the head of a table: the bucket width of a linear histogram. In a table of single
    /// values: the number of values put into it before it was cleared.
    TABLE_SECOND: i32 = 56;
    /// Limit for the characters that a table keeps of a string.
    TABLE_TEXT: i32 = 64;
    /// Offset in the head of the strings of a table of the latest values: the bytes that a place has for
    /// the characters of a string.
    TABLE_RING_TEXT: i32 = 24;
    /// In the word of a key that is an object: the object is a string, whose number is in the lower
    /// half of the word.
    STRINGS: i64 = 1 << 32;
    /// Number of words of the ring that counts a rate's seconds.
    RATE_RING: i64 = 64;
    /// Number of slots in a group of a table of the most frequent keys.
    GROUP: i64 = 8;
    /// Index of the histogram bucket for negative values, which is the last one.
    NEGATIVE_BUCKET: i32 = 4 * 62;
    /// Limit for the values that a thread keeps on its stack in a table.
    DEPTH: i32 = 32;
    /// Tag of a key that is a string.
    TAG_TEXT: i32 = 4;
    /// Tag of a key that is an object.
    TAG_OBJECT: i32 = 5;
    /// Limit for the iterations of a loop in a probe.
    MAX_ITERATIONS: i64 = 1_000;

    /// Bytes of a track: the state of a thread in an event trace. A track begins with the number of
    /// its recording, which is negative if the calls of the thread cannot be recorded.
    TRACK_BYTES: i32 = 128;
    /// Offset in a track: the address of the next word of the segment.
    TRACK_AT: i32 = 8;
    /// Offset in a track: the address behind the segment.
    TRACK_END: i32 = 16;
    /// Offset in a track: the time of the latest event.
    TRACK_LAST: i32 = 24;
    /// Offset in a track: the number of open calls.
    TRACK_DEPTH: i32 = 32;
    /// Offset in a track, also of contexts: the address of the word that differs from the mark of the
    /// recording if the thread was switched out.
    TRACK_SWITCH: i32 = 40;
    /// Offset in a track: the address of the first of several entries that follow each other
    /// without another event. Only kept if short calls are left out.
    TRACK_RUN: i32 = 48;
    /// Offset in a track: the address behind the last of these entries; 0 if there is none.
    TRACK_FRESH: i32 = 56;
    /// Offset in a track of contexts: the address of the root of the thread's tree.
    CONTEXTS_NODES: i32 = 8;
    /// Offset in a track of contexts: the address of the node of the innermost open call, with the tag of
    /// the recording.
    CONTEXTS_CURRENT: i32 = 16;
    /// Offset in a track of contexts: the offset behind the last node.
    CONTEXTS_USED: i32 = 24;
    /// Offset in a track of contexts: the offset behind the room for nodes; negative if the agent has
    /// refused more room.
    CONTEXTS_END: i32 = 32;
    /// Offset in a track of contexts: the address of the index of nodes.
    CONTEXTS_INDEX: i32 = 64;
    /// Offset in a track of contexts: the number of entries of the index, a power of two, minus 1.
    CONTEXTS_MASK: i32 = 48;
    /// Offset in a track of contexts: the number of open calls that found no room for a node.
    CONTEXTS_NESTED: i32 = 56;
    /// Offset in a track of contexts: the number of the thread in the recording.
    CONTEXTS_THREAD: i32 = 72;
    /// Binary logarithm of the size of a node of contexts.
    NODE_SHIFT: i32 = 6;
    /// Offset in a node: the number of calls. A node begins with its key.
    NODE_CALLS: i32 = 8;
    /// Offset in a node: the time of the calls that ended.
    NODE_WALL: i32 = 16;
    /// Offset in a node: the time at which the open call began. In the root: the time at which the
    /// outermost call began that found no room.
    NODE_START: i32 = 24;
    /// Offset in a node: the number of allocations in its calls, callees excluded.
    NODE_ALLOCATIONS: i32 = 32;
    /// Offset in a node: the address of the child that was found last, or of the root.
    NODE_LATEST_CHILD: i32 = 48;
    /// Offset in a node: the number of nodes above it.
    NODE_DEPTH: i32 = 56;
    /// Bit of the lower half of a key: the node is that of tasks, and the other 31 bits are the number of
    /// their submission.
    TASK: i64 = 1 << 31;
    /// Offset behind the root: the overflow of the root.
    OVERFLOW: i32 = 1 << 26;
    /// Binary logarithm of the size of a node, divided by the size of its overflow.
    OVERFLOW_SHIFT: i32 = 2;
    /// Offset in the overflow of a node: the time of its calls. It begins with their number.
    OVERFLOW_WALL: i32 = 8;
    /// Offset in a track of accesses: the address of the table of the thread.
    ACCESSES_TABLE: i32 = 8;
    /// Offset in a track of accesses: the address of the state of the caches.
    ACCESSES_STATE: i32 = 16;
    /// Offset in a track of accesses: how often the caches were emptied.
    ACCESSES_COLLECTIONS: i32 = 24;
    /// Offset in a track of accesses: the number of accesses whose site found no entry.
    ACCESSES_LOST: i32 = 32;
    /// Offset in a track of accesses: the binary logarithm of the bytes of an entry.
    ACCESSES_ENTRY_SHIFT: i32 = 40;
    /// Offset in a track of accesses: the address of the description of the caches.
    ACCESSES_CACHES: i32 = 48;
    /// Offset in a track of accesses: the address of the buffer for miss-ratio curves; 0 if there is none.
    ACCESSES_CURVE: i32 = 56;
    /// Offset in a buffer for curves: the number of accesses. It begins with the number of lines in it.
    CURVE_REFERENCES: i32 = 8;
    /// Offset in a buffer for curves: the number of lengths of lines, at most 4.
    CURVE_SIZES: i32 = 16;
    /// Offset in a buffer for curves: the binary logarithms of the lengths.
    CURVE_SHIFTS: i32 = 24;
    /// Offset in a buffer for curves: the masks of the hashes.
    CURVE_MASKS: i32 = 56;
    /// Offset in a buffer for curves: the lines.
    CURVE_FIRST: i32 = 88;
    /// The most lines in a buffer for curves.
    CURVE_CAPACITY: i32 = 4096;
    /// Determines which lines are in a sample: that of `veneer_memory::CURVE_SEED`.
    CURVE_SEED: i64 = 0x5eed;
    /// Offset in an entry of accesses: the number of the object's class, an int. An entry begins with its
    /// site.
    ENTRY_CLASS: i32 = 8;
    /// Offset in an entry of accesses: the offset of the field or of the first element, an int.
    ENTRY_OFFSET: i32 = 12;
    /// Offset in an entry of accesses: the number of the type's name, an int.
    ENTRY_TYPE: i32 = 16;
    /// Offset in an entry of accesses: the bits of the access, an int.
    ENTRY_ACCESS: i32 = 20;
    /// Offset in an entry of accesses: their number.
    ENTRY_ACCESSES: i32 = 24;
    /// Offset in an entry of accesses: the number of allocated objects.
    ENTRY_OBJECTS: i32 = 32;
    /// Offset in an entry of accesses: the bytes of allocated objects.
    ENTRY_OBJECT_BYTES: i32 = 40;
    /// The number that stands for the origin of an object which another thread has locked. Those of sites are
    /// higher.
    ORIGIN_LOCKED: i32 = 1;
    /// The highest number of a site as an origin.
    MAX_ORIGIN: i32 = (1 << 22) - 1;
    /// Offset in the description of caches: the number of entries of a table, a power of two, minus 1.
    CACHES_TABLE_MASK: i32 = 8;
    /// Offset in the description of caches: the bytes of the state of a thread.
    CACHES_STATE_BYTES: i32 = 16;
    /// Offset in the description of caches: the number of simulated descriptions.
    CACHES_COUNT: i32 = 24;
    /// Offset in the description of caches: the address of the number of collections up to now.
    CACHES_COLLECTIONS: i32 = 32;
    /// Offset in the description of caches: the offset of the slots of L1 in a counter shard; 0 if they are
    /// in the state of the thread.
    CACHES_L1_SLOTS: i32 = 40;
    /// Offset in the description of caches: the address of the lines that threads share; 0 if they are not
    /// recorded.
    CACHES_LINES: i32 = 48;
    /// Offset in the description of caches: the address of the word that is 0 outside the windows of a
    /// sampled recording; 0 if each access is recorded.
    CACHES_WINDOW: i32 = 56;
    /// Number of places for lines that threads share, a power of two.
    LINES: i64 = 1 << 16;
    /// Binary logarithm of the bytes of a line that threads share, and of its place.
    LINE_SHIFT: i32 = 6;
    /// Offset in the place of a line: the threads whose copy is valid, as bits. It begins with the number
    /// of the line plus 1.
    LINE_VALID: i32 = 8;
    /// Offset in the place of a line: the threads that have accessed it, as bits.
    LINE_SEEN: i32 = 16;
    /// Offset in the place of a line: the bytes that the last writer has written, as bits.
    LINE_WRITTEN: i32 = 24;
    /// Offset in the place of a line: the last writer, as a bit.
    LINE_WRITER: i32 = 32;
    /// Offset in the place of a line: the site that wrote last.
    LINE_SITE: i32 = 40;
    /// Bytes before the first description.
    CACHES_HEAD: i32 = 64;
    /// Bytes of a cache in a description.
    CACHE_BYTES: i32 = 64;
    /// Bytes of a description: its levels, and then its TLBs.
    CACHES_DESCRIPTION: i32 = 6 * CACHE_BYTES;
    /// Offset in a description: the first TLB.
    CACHES_FIRST_TLB: i32 = 4 * CACHE_BYTES;
    /// Offset in a cache: the binary logarithm of the bytes of a line.
    CACHE_SHIFT: i32 = 0;
    /// Offset in a cache: the number of sets.
    CACHE_SETS: i32 = 8;
    /// Offset in a cache: the number of lines of a set.
    CACHE_WAYS: i32 = 16;
    /// Offset in a cache: 1 if writes stay in it, plus 2 if a write allocates a line, plus 4 if lookups
    /// are also counted by window.
    CACHE_POLICY: i32 = 24;
    /// Offset in a cache: the offset of its first slot in the state of a thread.
    CACHE_FIRST_SLOT: i32 = 32;
    /// Offset in a cache: the offset of its counted lookups in an entry.
    CACHE_COUNTS: i32 = 40;
    /// Offset in the counts of a cache in an entry: the window of its latest lookup. The counts begin with
    /// the lookups and the misses.
    COUNTS_WINDOW: i32 = 16;
    /// Offset in the counts of a cache in an entry: the lookups in this window, and the misses.
    COUNTS_IN_WINDOW: i32 = 24;
    /// Offset in the counts of a cache in an entry: sums over the earlier windows of the squares of the
    /// lookups, of the products of lookups and misses, and of the squares of the misses; and their number.
    COUNTS_SUMS: i32 = 40;
    /// Offset in the first cache of a description: the number of levels.
    CACHES_LEVELS: i32 = 48;
    /// Offset in the first cache of a description: the number of TLBs.
    CACHES_TLBS: i32 = 56;
    /// Binary logarithm of the distance of two counter shards in bytes.
    SHARD_SHIFT: i32 = 22;
    /// The number of the recording of empty calls. Other recordings have smaller numbers.
    CALIBRATION: i32 = i32::MAX;
    /// Kind of an event in a trace: a call begins.
    TRACE_ENTRY: i32 = 0x01;
    /// Kind of an event in a trace: the innermost call ends.
    TRACE_EXIT: i32 = 0x41;
    /// Kind of an event in a trace: the innermost call ends with an exception.
    TRACE_THROW: i32 = 0x42;

    /// Offset in the words of lifetimes: the bytes of followed objects.
    LIVES_BYTES: i32 = 0;
    /// Offset in the words of lifetimes: the uses of followed objects. The word has a cache line of its own.
    LIVES_ACCESSES: i32 = 64;
    /// Offset in the words of lifetimes: the number of collections.
    LIVES_COLLECTIONS: i32 = 128;
    /// Offset in the words of lifetimes: bytes, uses, time and collections at the latest collection.
    LIVES_LATEST: i32 = 136;
    /// Offset in the words of lifetimes: the row that is handed over.
    LIVES_BUFFER: i32 = 192;
    /// Number of clocks of lifetimes.
    LIVES_CLOCKS: i32 = 3;
    /// Number of words of a row before its histograms.
    LIVES_SPANS: i32 = 4;
    /// Number of words of a row: counts, three spans on three clocks, and the collections survived, with
    /// 65 counts each.
    LIVES_ROW_WORDS: i32 = LIVES_SPANS + (3 * LIVES_CLOCKS + 1) * 65;

    /// Number of neighbouring method ids whose cells share a gate.
    GATE_WIDTH: i32 = 64;

    /// Operation of a bound call site: call a method of a superclass.
    BIND_SPECIAL: i32 = 1;
    /// Operation of a bound call site: call a virtual method.
    BIND_VIRTUAL: i32 = 2;
    /// Operation of a bound call site: call a static method.
    BIND_STATIC: i32 = 3;
    /// Operation of a bound call site: read an instance field.
    BIND_GET_FIELD: i32 = 4;
    /// Operation of a bound call site: store to an instance field.
    BIND_PUT_FIELD: i32 = 5;
    /// Operation of a bound call site: read a static field.
    BIND_GET_STATIC: i32 = 6;
    /// Operation of a bound call site: store to a static field.
    BIND_PUT_STATIC: i32 = 7;
    /// Operation of a bound call site: return the lookup of the nest host.
    BIND_LOOKUP: i32 = 9;
    /// Operation of a bound call site: store to a final static field.
    BIND_PUT_STATIC_FINAL: i32 = 10;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use veneer_fragmenter::runtime;
    use veneer_instruments::{
        EventValue, HISTOGRAM_BUCKETS, RATE_RING_SECONDS, TOP_GROUP_SLOTS as SLOTS_IN_GROUP,
        TallyKind,
    };
    use veneer_probes::compile::{self, KeyTag};
    use veneer_protocol::data;
    use veneer_traces::format::context_node;
    use veneer_traces::format::word::{MAX_SHORT_ID, kind};

    #[test]
    fn the_named_classes_are_those_that_the_fragmenter_emits() {
        let emitted = [
            runtime::CELL,
            runtime::FRAME,
            runtime::RUNTIME,
            runtime::PROBE,
            runtime::TABLES,
            runtime::THREADS,
            runtime::TRACE,
            runtime::CALLS,
        ];
        let named = CLASSES.iter().filter(|c| c.is_named_by_emitted_code);
        let named: BTreeSet<String> = named.map(|c| format!("{PACKAGE}{}", c.name)).collect();
        assert_eq!(named, emitted.map(str::to_string).into());
    }

    #[test]
    fn events_of_traces_have_the_kinds_of_their_format() {
        let nodes = [
            (NODE_CALLS, context_node::CALLS),
            (NODE_WALL, context_node::WALL),
            (NODE_START, context_node::START),
            (NODE_ALLOCATIONS, context_node::ALLOCATIONS),
            (OVERFLOW_WALL, context_node::OVERFLOW_WALL),
            (NODE_LATEST_CHILD, context_node::LATEST_CHILD),
            (NODE_DEPTH, context_node::DEPTH),
        ];
        for (offset, word) in nodes {
            assert_eq!(offset as usize, word * 8);
        }
        assert_eq!(1 << NODE_SHIFT, context_node::NODE_BYTES);
        assert_eq!(TASK as u64, context_node::TASK);
        assert_eq!(OVERFLOW as u64, context_node::OVERFLOW_OFFSET);
        assert_eq!(
            1 << (NODE_SHIFT - OVERFLOW_SHIFT),
            context_node::OVERFLOW_BYTES
        );
        let ours = [TRACE_ENTRY, TRACE_EXIT, TRACE_THROW];
        assert_eq!(ours, [kind::ENTRY, kind::EXIT, kind::THROW].map(i32::from));
        assert_eq!(1 << SHARD_SHIFT, data::ShardLayout::STRIDE);
        // The id of a method in a trace is the number of its counter.
        const { assert!(data::ShardLayout::SLOTS <= MAX_SHORT_ID) };
    }

    #[test]
    fn the_offsets_in_rings_are_those_of_the_data_directory() {
        let ours = [RING_HEAD, RING_TAIL, RING_CAPACITY, RING_HEADER];
        let (head, tail) = (data::RingLayout::HEAD, data::RingLayout::TAIL);
        let (capacity, header) = (data::RingLayout::CAPACITY, data::RingLayout::HEADER);
        assert_eq!(ours.map(|n| n as u64), [head, tail, capacity, header]);
    }

    #[test]
    fn an_event_in_this_layout_decodes_to_its_values() {
        let text = "ab";
        let length = EVENT_HEADER + 2 * EVENT_VALUE + 8;
        let mut event = vec![0u8; length as usize];
        let mut put = |at: i32, bytes: &[u8]| {
            event[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        };
        put(0, &length.to_ne_bytes());
        put(EVENT_POINT, &7i32.to_ne_bytes());
        put(EVENT_TIME, &11i64.to_ne_bytes());
        put(EVENT_THREAD, &13i64.to_ne_bytes());
        put(EVENT_HEADER, &VALUE_INT.to_ne_bytes());
        put(EVENT_HEADER + 8, &(-5i64).to_ne_bytes());
        let string = EVENT_HEADER + EVENT_VALUE;
        put(string, &VALUE_STRING.to_ne_bytes());
        put(string + 8, &2i64.to_ne_bytes());
        for (i, unit) in text.encode_utf16().enumerate() {
            put(string + EVENT_VALUE + 2 * i as i32, &unit.to_ne_bytes());
        }
        let decoded = data::decode_event(&event);
        assert_eq!((decoded.time_ns, decoded.thread), (11, 13));
        let [EventValue::Int(number), EventValue::Text(found)] = &decoded.values[..] else {
            panic!("{:?}", decoded.values);
        };
        assert_eq!((*number, found.as_str()), (-5, text));
    }

    #[test]
    fn tables_have_the_shape_of_the_crates_that_own_them() {
        assert_eq!(KEYS as usize, compile::MAX_TABLE_KEYS);
        assert_eq!(MAX_ITERATIONS, compile::MAX_LOOP_ITERATIONS);
        assert_eq!(
            [TAG_TEXT, TAG_OBJECT],
            [KeyTag::Text as i32, KeyTag::Object as i32]
        );
        assert_eq!(
            (RATE_RING as u64, GROUP as u64),
            (RATE_RING_SECONDS, SLOTS_IN_GROUP)
        );
        assert_eq!(NEGATIVE_BUCKET as usize, HISTOGRAM_BUCKETS - 1);
        assert_eq!(DEPTH as u64, TallyKind::Numbers.value_words());
    }

    /// The fragmenter's enumeration is private, so the test reads the numbers from its source.
    #[test]
    fn the_operations_of_bound_call_sites_are_those_of_the_fragmenter() {
        let source = include_str!("../../../fragmenter/src/version/member_access.rs");
        let (_, rest) = source.split_once("enum BoundAccess {").unwrap();
        let (variants, _) = rest.split_once('}').unwrap();
        let emitted: BTreeSet<(String, i64)> = variants
            .lines()
            .filter_map(|line| line.trim().trim_end_matches(',').split_once(" = "))
            .map(|(name, number)| (name.to_uppercase(), number.parse().unwrap()))
            .collect();
        let ours = CONSTANTS.iter().filter_map(|constant| {
            let name = constant.name.strip_prefix("BIND_")?;
            Some((name.replace('_', ""), constant.value))
        });
        assert_eq!(ours.collect::<BTreeSet<_>>(), emitted);
    }

    #[test]
    fn the_masks_need_powers_of_two() {
        for n in [THREAD_ROWS, THREAD_ROW_BYTES, HEAD, GATE_WIDTH] {
            assert!(n.count_ones() == 1, "{n}");
        }
        assert!(RATE_RING.count_ones() == 1 && GROUP.count_ones() == 1);
    }
}
