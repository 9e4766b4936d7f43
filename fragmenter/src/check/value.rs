//! Values of both sides, as numbers: equal numbers are equal values on every run.
//!
//! | number                | value                                                                   |
//! |-----------------------|-------------------------------------------------------------------------|
//! | below [`FIRST`]       | the constants of this file: `null`, and what is Veneer's own            |
//! | up to 2⁴⁰             | a symbol (an unknown that both sides share), or a term over other values |
//! | `1<<40 \| bits`        | that `int`                                                              |
//! | `2<<40 \| bits`        | that `float`, by its bits                                               |
//!
//! Terms are hash-consed, so the same operation on the same operands is the same number, whichever side did it. Two
//! different numbers may still be equal values when the program runs; the checker then sees a difference where there
//! is none, which is the safe side.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// A value. See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(pub u64);

/// The first number that is a symbol or a term.
const FIRST: u64 = 64;
const INT: u64 = 1 << 40;
const FLOAT: u64 = 2 << 40;

impl Value {
    /// The upper word of a long or double.
    pub const HIGH: Value = Value(0);
    /// `null`.
    pub const NULL: Value = Value(2);
    /// The address of the thread's counters.
    pub const SHARD: Value = Value(3);
    /// A number that is Veneer's alone: a timer, the place in a log.
    pub const OWN: Value = Value(4);
    /// The frame that an activation came with.
    pub const FRAME_IN: Value = Value(5);
    /// `null` in a local of Veneer's.
    pub const OWN_NULL: Value = Value(6);
    /// The frame that an activation leaves with.
    pub const FRAME_OUT: Value = Value(7);
    /// The method's cell.
    pub const CELL: Value = Value(8);
    /// The token that a version compares the cell's target with.
    pub const TOKEN: Value = Value(9);
    /// What `on()` says.
    pub const CHECK_ON: Value = Value(10);
    /// What `leave()` or `stale(…)` says.
    pub const CHECK: Value = Value(11);
    /// The number of the point that a frame comes from.
    pub const POINT: Value = Value(12);
    /// What the executor loop or the stub's call gave back.
    pub const RESULT: Value = Value(13);
    /// A result as the object that a resume body returns.
    pub const BOXED: Value = Value(14);

    /// The offset of one of the counters that the probes have, whichever.
    pub const COUNTER: Value = Value(15);

    /// A number that is Veneer's alone, as an `int`: turns, and what was counted in them.
    pub const OWN_INT: Value = Value(16);

    /// The current version, as an instance of the anchor.
    pub const VERSION: Value = Value(17);

    /// An `int` constant.
    pub fn int(v: i32) -> Value {
        Value(INT | v as u32 as u64)
    }

    /// A `float` constant.
    pub fn float(bits: u32) -> Value {
        Value(FLOAT | bits as u64)
    }

    /// The number, where this is an `int` constant.
    pub fn as_int(self) -> Option<i32> {
        (self.0 & !0xffff_ffff == INT).then_some(self.0 as u32 as i32)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::HIGH => f.write_str("(upper word)"),
            Value::NULL => f.write_str("null"),
            Value(n) if n < FIRST => write!(f, "(Veneer's {n})"),
            v => match v.as_int() {
                Some(n) => write!(f, "{n}"),
                None => write!(f, "v{}", v.0),
            },
        }
    }
}

/// The multiplicative hash of rustc's tables: the keys are small numbers of our own making.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
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

/// A map with [`Mix`].
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// The table of terms of one method.
#[derive(Default)]
pub(super) struct Values {
    next: u64,
    terms: Map<(u8, Value, Value), Value>,
}

impl Values {
    /// A symbol that nothing else is known of.
    pub fn fresh(&mut self) -> Value {
        self.next += 1;
        Value(FIRST + self.next)
    }

    /// An operation without effect on at most two operands.
    pub fn term(&mut self, op: u8, a: Value, b: Value) -> Value {
        if let Some(v) = self.terms.get(&(op, a, b)) {
            return *v;
        }
        let v = self.fresh();
        self.terms.insert((op, a, b), v);
        v
    }
}
