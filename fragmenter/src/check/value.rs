//! Symbolic values of both sides, encoded as numbers. Equal numbers are equal values in every
//! execution.
//!
//! | number                  | value                                                            |
//! |-------------------------|------------------------------------------------------------------|
//! | below [`FIRST_SYMBOL`]  | a constant of this file: `null`, or a value internal to Veneer   |
//! | up to 2⁴⁰               | a symbol (an unknown shared by both sides), or a term over values |
//! | `1<<40 \| bits`          | the `int` with these bits                                        |
//! | `2<<40 \| bits`          | the `float` with these bits                                      |
//!
//! Terms are hash-consed: the same operation on the same operands gets the same number on both
//! sides. Two different numbers may still be equal values at run time. The checker then reports a
//! difference that does not exist, which is the safe direction.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// A symbolic value. The module documentation describes the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(pub u64);

/// The first number used for a symbol or a term.
const FIRST_SYMBOL: u64 = 64;
const INT: u64 = 1 << 40;
const FLOAT: u64 = 2 << 40;

impl Value {
    /// The upper word of a `long` or `double`.
    pub const HIGH: Value = Value(0);
    pub const NULL: Value = Value(2);
    /// The address of the thread's counters.
    pub const SHARD: Value = Value(3);
    /// A `long` that only Veneer uses: a timer, or a position in a log.
    pub const INTERNAL: Value = Value(4);
    /// The frame that a resumed activation brings (OSR entry).
    pub const FRAME_IN: Value = Value(5);
    /// `null` in a local that belongs to Veneer.
    pub const INTERNAL_NULL: Value = Value(6);
    /// The frame that an activation leaves with (OSR exit).
    pub const FRAME_OUT: Value = Value(7);
    /// The method's cell.
    pub const CELL: Value = Value(8);
    /// The token with which a version compares the cell's target.
    pub const TOKEN: Value = Value(9);
    /// The result of `VeneerCell.version()`: a version, or null.
    pub const VERSION_OR_NULL: Value = Value(10);
    /// The result of `VeneerCell.leave()` or `VeneerCell.stale(…)`.
    pub const CHECK: Value = Value(11);
    /// The number of the point at which an incoming frame was captured.
    pub const POINT: Value = Value(12);
    /// The result of the trampoline or of a stub's call.
    pub const RESULT: Value = Value(13);
    /// A boxed result that a `resume` body returns.
    pub const BOXED: Value = Value(14);

    /// The offset of any one of the probes' counters.
    pub const COUNTER: Value = Value(15);

    /// An `int` that only Veneer uses: an iteration count, or a count kept in a local.
    pub const INTERNAL_INT: Value = Value(16);

    /// The current version, as an instance of the anchor class.
    pub const VERSION: Value = Value(17);

    /// Whether the receiver of a call is an instance of a class for which the plan tests the call.
    pub const RECEIVER_TEST: Value = Value(18);

    /// The address of the thread's counters in a window of a sampled recording, or 0.
    pub const WINDOW: Value = Value(19);

    pub fn int(v: i32) -> Value {
        Value(INT | v as u32 as u64)
    }

    /// A `float` constant, given by its bits.
    pub fn float(bits: u32) -> Value {
        Value(FLOAT | bits as u64)
    }

    /// Returns the number if this is an `int` constant.
    pub fn as_int(self) -> Option<i32> {
        (self.0 & !0xffff_ffff == INT).then_some(self.0 as u32 as i32)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::HIGH => f.write_str("(upper word)"),
            Value::NULL => f.write_str("null"),
            Value(n) if n < FIRST_SYMBOL => write!(f, "(Veneer's {n})"),
            v => match v.as_int() {
                Some(n) => write!(f, "{n}"),
                None => write!(f, "v{}", v.0),
            },
        }
    }
}

/// The multiplicative hash function of rustc's tables. Keys are small numbers that the checker
/// generates itself, so resistance to collision attacks is not needed.
#[derive(Default)]
pub(super) struct SmallKeyHasher(u64);

impl Hasher for SmallKeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }
    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }
    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }
    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// A hash map with [`SmallKeyHasher`].
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<SmallKeyHasher>>;

/// The hash-consing table for the terms of one method.
#[derive(Default)]
pub(super) struct Values {
    next: u64,
    terms: Map<(u8, Value, Value), Value>,
}

impl Values {
    /// Returns a new symbol, about which nothing is known.
    pub fn fresh(&mut self) -> Value {
        self.next += 1;
        Value(FIRST_SYMBOL + self.next)
    }

    /// Returns the term for a side-effect-free operation on at most two operands.
    pub fn term(&mut self, op: u8, a: Value, b: Value) -> Value {
        if let Some(v) = self.terms.get(&(op, a, b)) {
            return *v;
        }
        let v = self.fresh();
        self.terms.insert((op, a, b), v);
        v
    }
}
