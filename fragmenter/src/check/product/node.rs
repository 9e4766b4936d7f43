//! Nodes: a pair of places, with what is known there. What comes to a node is met with what was known.

use super::super::failure::Failure;
use super::super::original::Position;
use super::super::value::Value;
use super::{Product, Run};

/// Nothing is known of the value; on both sides it is the same; it is `null`. Above: [`Value`]s of Veneer's; from [`LOCAL`] on,
/// for a word of the stack: it is the same on both sides, and what the original has in this local.
pub(super) const UNKNOWN: u8 = 0;
pub(super) const SAME: u8 = 1;
pub(super) const NULL: u8 = 2;
const LOCAL: u8 = 128;
const COUNTER: u8 = Value::COUNTER.0 as u8;
const OWN_INT: u8 = Value::OWN_INT.0 as u8;

/// Place of the original, instruction of the emitted side, and the point that the activation is on its way from (0: none).
pub(super) type Key = (Position, u32, u16);

/// A node, and what is known at it.
pub(super) struct Node {
    pub key: Key,
    /// For each local, then for each word of the stack.
    pub tags: Vec<u8>,
    /// The most that may be held.
    pub monitors: u8,
    pub queued: bool,
}

impl<'x> Product<'x, '_> {
    /// Both sides at a node.
    pub(super) fn restore(&mut self, n: u32) -> Run {
        let (at, q, from) = self.nodes[n as usize].key;
        let tags = std::mem::take(&mut self.nodes[n as usize].tags);
        let mut r = self.blank(at);
        r.q = q;
        r.monitors = self.nodes[n as usize].monitors;
        let shared = self.own_from.min(r.e.locals.len());
        let start = if from > 0 {
            r.from = from;
            self.starts.get(from as usize).cloned().flatten()
        } else {
            None
        };
        let coming = start.is_some();
        if let Some((o, _)) = start {
            r.o = o;
        }
        for (i, tag) in tags.iter().enumerate() {
            if i < shared && !coming {
                match *tag {
                    SAME => r.e.locals[i] = r.o.locals[i],
                    NULL => {
                        r.e.locals[i] = Value::NULL;
                        r.o.locals[i] = Value::NULL;
                    }
                    UNKNOWN => {}
                    own => r.e.locals[i] = Value(own as u64),
                }
            } else if i < r.e.locals.len() {
                if *tag > NULL {
                    r.e.locals[i] = Value(*tag as u64);
                }
            } else if !coming {
                let local = tag
                    .checked_sub(LOCAL)
                    .and_then(|l| r.o.locals.get(l as usize));
                let v = match (*tag, local) {
                    (NULL, _) => Value::NULL,
                    (_, Some(local)) => *local,
                    _ => self.values.fresh(),
                };
                r.e.stack.push(v);
                if at != Position::OUT {
                    r.o.stack.push(v);
                }
            }
        }
        if at == Position::OUT {
            r.thrown = r.e.stack.first().copied();
        }
        self.nodes[n as usize].tags = tags;
        r
    }

    /// What is known, for a node whose stack has these tags.
    pub(super) fn tags(&self, r: &Run, stack: impl Iterator<Item = u8>) -> Vec<u8> {
        let shared = self.own_from;
        let out = r.at == Position::OUT;
        let local = |(i, e): (usize, &Value)| match *e {
            v if i < shared && !out && r.o.locals.get(i) == Some(&v) => {
                if v == Value::NULL {
                    NULL
                } else {
                    SAME
                }
            }
            v @ (Value::SHARD | Value::OWN | Value::OWN_NULL | Value::FRAME_IN) => v.0 as u8,
            v @ (Value::COUNTER | Value::OWN_INT) => v.0 as u8,
            v if i >= shared && self.is_counter(v) => COUNTER,
            v if i >= shared && v.as_int().is_some() => OWN_INT,
            _ => UNKNOWN,
        };
        r.e.locals
            .iter()
            .enumerate()
            .map(local)
            .chain(stack)
            .collect()
    }

    pub(super) fn merge(
        &mut self,
        from: Option<u32>,
        r: &Run,
        key: Key,
        tags: Vec<u8>,
    ) -> Result<(), Failure> {
        let n = match self.index.get(&key) {
            Some(n) => {
                let node = &mut self.nodes[*n as usize];
                if node.tags.len() != tags.len() {
                    return Err(Failure::Stack(self.at(r)));
                }
                let mut changed = false;
                for (old, new) in node.tags.iter_mut().zip(&tags) {
                    let met = match (*old, *new) {
                        (a, b) if a == b => a,
                        (SAME | NULL | LOCAL.., SAME | NULL | LOCAL..) => SAME,
                        (COUNTER | OWN_INT, COUNTER | OWN_INT) => OWN_INT,
                        _ => UNKNOWN,
                    };
                    changed |= met != *old;
                    *old = met;
                }
                if r.monitors > node.monitors {
                    node.monitors = r.monitors;
                    changed = true;
                }
                if changed && !node.queued {
                    node.queued = true;
                    self.work.push(*n);
                }
                *n
            }
            None => {
                let n = self.nodes.len() as u32;
                self.nodes.push(Node {
                    key,
                    tags,
                    monitors: r.monitors,
                    queued: true,
                });
                self.index.insert(key, n);
                self.work.push(n);
                n
            }
        };
        if let Some(from) = from
            && !r.matched
        {
            self.silent.push((from, n));
        }
        Ok(())
    }

    /// Whether an activation is still on its way to where it came from.
    pub(super) fn coming(&self, r: &Run) -> bool {
        r.from > 0
            && r.e
                .locals
                .get(self.own_from..)
                .is_some_and(|own| own.contains(&Value::FRAME_IN))
    }

    /// The emitted side is where control flows together. `exact`: the original is where it has to be.
    pub(super) fn arrive(
        &mut self,
        from: Option<u32>,
        mut r: Run,
        exact: bool,
    ) -> Result<(), Failure> {
        if r.thrown.is_some() {
            return Err(self.unknown(&r, "a way that exceptions leave by flows together"));
        }
        if self.coming(&r) {
            if r.matched || !r.e.stack.is_empty() {
                return Err(Failure::Resume {
                    at: self.at(&r),
                    why: "it has begun before it has come to its place".into(),
                });
            }
            let key = (r.at, r.q, r.from);
            let tags = self.tags(&r, std::iter::empty());
            return self.merge(from, &r, key, tags);
        }
        r.at = self.original.settle(r.at);
        if !exact {
            self.sync(&mut r)?;
        } else if r.o.stack != r.e.stack {
            return Err(Failure::Stack(self.at(&r)));
        }
        // The original is led to the earliest place that fits, and may load the very same local again from there on.
        let locals = r.o.locals.iter().take(usize::from(u8::MAX - LOCAL));
        let tag = |v: &Value| match (0..).zip(locals.clone()).find(|l| l.1 == v) {
            _ if *v == Value::NULL => NULL,
            Some((local, _)) => LOCAL + local,
            None => SAME,
        };
        let tags = self.tags(&r, r.e.stack.iter().map(tag));
        let key = (r.at, r.q, 0);
        self.merge(from, &r, key, tags)
    }
}
