//! Bit sets of variables or nodes.
//!
//! Callers may pass sets of any length. The solvers first [`fit`] them to the width of the problem.
//! After that all sets have one length, so no index is out of range.

use bitvec::order::Lsb0;
use bitvec::vec::BitVec;

/// A set of small numbers: bit `i` is set if `i` is a member.
pub type BitSet = BitVec<usize, Lsb0>;

/// Returns the empty set over `0..width`.
pub(crate) fn empty(width: usize) -> BitSet {
    BitSet::repeat(false, width)
}

/// Returns `set` with exactly `width` bits. Missing bits are added as 0, extra bits are removed.
pub(crate) fn resized(set: &BitSet, width: usize) -> BitSet {
    let mut fitted = set.clone();
    fitted.resize(width, false);
    fitted
}

/// Adds `i` to `set`, which grows if it is too short.
pub(crate) fn insert(set: &mut BitSet, i: usize) {
    if i >= set.len() {
        set.resize(i + 1, false);
    }
    set.set(i, true);
}

/// Whether `i` is a member of `set`. Numbers past the end of the set are not members.
pub(crate) fn contains(set: &BitSet, i: usize) -> bool {
    set.get(i).is_some_and(|bit| *bit)
}

/// Removes every member that is `limit` or greater.
pub(crate) fn remove_from(set: &mut BitSet, limit: usize) {
    if let Some(rest) = set.get_mut(limit..) {
        rest.fill(false);
    }
}
