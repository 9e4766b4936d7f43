//! Nodes: pairs of positions with the facts known there.

use super::super::reference::Position;
use super::super::value::Value;

/// Tags, the facts about one local or stack word:
///
/// | tag                                 | fact                                                           |
/// |-------------------------------------|----------------------------------------------------------------|
/// | [`UNKNOWN`]                         | nothing is known                                               |
/// | [`SAME`]                            | the value is equal on both sides                               |
/// | [`NULL`]                            | the value is `null` on both sides                              |
/// | above `NULL`, below [`STACK`]       | the [`Value`] of Veneer with this number                       |
/// | [`STACK`] + n, for stack words only | equal on both sides, and equal to word n of the stack           |
/// | [`LOCAL`] + n, for stack words only | equal on both sides, and equal to local n of the original       |
pub(super) const UNKNOWN: u8 = 0;
pub(super) const SAME: u8 = 1;
pub(super) const NULL: u8 = 2;
pub(super) const STACK: u8 = 64;
pub(super) const LOCAL: u8 = 128;
pub(super) const COUNTER: u8 = Value::COUNTER.0 as u8;
pub(super) const INTERNAL_INT: u8 = Value::INTERNAL_INT.0 as u8;

/// Position of the original, instruction of the emitted side, and the point from which a resumed
/// activation is still on its way (0 for none).
pub(super) type Key = (Position, u32, u16);

/// A node and the facts known at it.
pub(super) struct Node {
    pub key: Key,
    /// One tag per local, then one per stack word.
    pub tags: Vec<u8>,
    /// Maximum number of monitors held on any path to the node.
    pub monitors: u8,
    pub queued: bool,
}
