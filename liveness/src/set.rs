//! Bit sets of variables, definitions or nodes.
//!
//! The sets that callers hand in may have any length; the solvers first [`fit`] them to the width of the problem, so
//! that everything after works on sets of one length and no index can be out of range.

use bitvec::order::Lsb0;
use bitvec::vec::BitVec;

/// A set of small numbers: bit `i` is set when `i` is in the set.
pub type Set = BitVec<usize, Lsb0>;

/// The empty set over `0..width`.
pub(crate) fn empty(width: usize) -> Set {
    Set::repeat(false, width)
}

/// `set`, cut or padded with absent members to `0..width`.
pub(crate) fn fit(set: &Set, width: usize) -> Set {
    let mut fitted = set.clone();
    fitted.resize(width, false);
    fitted
}

/// Puts `i` into `set`, which grows where needed.
pub(crate) fn insert(set: &mut Set, i: usize) {
    if i >= set.len() {
        set.resize(i + 1, false);
    }
    set.set(i, true);
}

/// Whether `i` is in `set`; what is past its end is not.
pub(crate) fn contains(set: &Set, i: usize) -> bool {
    set.get(i).is_some_and(|bit| *bit)
}

/// Removes every member that is not below `limit`.
pub(crate) fn keep_below(set: &mut Set, limit: usize) {
    if let Some(rest) = set.get_mut(limit..) {
        rest.fill(false);
    }
}
