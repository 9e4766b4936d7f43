//! Runs begin and end at nodes. The facts of an arriving run are met with the facts of the node.

use super::super::failure::Failure;
use super::super::reference::Position;
use super::super::value::Value;
use super::node::{COUNTER, INTERNAL_INT, Key, LOCAL, NULL, Node, SAME, STACK, UNKNOWN};
use super::{Product, Run};

impl<'x> Product<'x, '_> {
    /// Builds the states of both sides at a node.
    pub(super) fn restore(&mut self, n: u32) -> Run {
        let (at, q, from) = self.nodes[n as usize].key;
        let tags = std::mem::take(&mut self.nodes[n as usize].tags);
        let mut r = self.blank(at);
        r.emitted_at = q;
        r.monitors = self.nodes[n as usize].monitors;
        let shared = self.first_own_local.min(r.emitted.locals.len());
        let start = if from > 0 {
            r.from = from;
            self.starts.get(from as usize).cloned().flatten()
        } else {
            None
        };
        let coming = start.is_some();
        if let Some((o, _)) = start {
            r.original = o;
        }
        for (i, tag) in tags.iter().enumerate() {
            if i < shared && !coming {
                match *tag {
                    SAME => r.emitted.locals[i] = r.original.locals[i],
                    NULL => {
                        r.emitted.locals[i] = Value::NULL;
                        r.original.locals[i] = Value::NULL;
                    }
                    UNKNOWN => {}
                    own => r.emitted.locals[i] = Value(own as u64),
                }
            } else if i < r.emitted.locals.len() {
                if *tag > NULL {
                    r.emitted.locals[i] = Value(*tag as u64);
                }
            } else if !coming {
                let local = tag
                    .checked_sub(LOCAL)
                    .and_then(|l| r.original.locals.get(l as usize));
                let word = tag.checked_sub(STACK);
                let word = word.and_then(|w| r.emitted.stack.get(w as usize));
                let v = match (*tag, local, word) {
                    (NULL, ..) => Value::NULL,
                    (_, Some(local), _) => *local,
                    (_, None, Some(word)) => *word,
                    _ => self.values.fresh(),
                };
                r.emitted.stack.push(v);
                if at != Position::OUT {
                    r.original.stack.push(v);
                }
            }
        }
        self.know_constants(&mut r);
        if at == Position::OUT {
            r.thrown = r.emitted.stack.first().copied();
        }
        self.nodes[n as usize].tags = tags;
        r
    }

    /// Returns the tags of a run; `stack` yields the tags of the stack words.
    pub(super) fn tags(&self, r: &Run, stack: impl Iterator<Item = u8>) -> Vec<u8> {
        let shared = self.first_own_local;
        let out = r.original_at == Position::OUT;
        let local =
            |(i, e): (usize, &Value)| match *e {
                v if i < shared && !out && r.original.locals.get(i) == Some(&v) => {
                    if v == Value::NULL { NULL } else { SAME }
                }
                v @ (Value::SHARD
                | Value::WINDOW
                | Value::INTERNAL
                | Value::INTERNAL_NULL
                | Value::FRAME_IN) => v.0 as u8,
                v @ (Value::COUNTER | Value::INTERNAL_INT) => v.0 as u8,
                v if i >= shared && self.is_counter(v) => COUNTER,
                v if i >= shared && v.as_int().is_some() => INTERNAL_INT,
                _ => UNKNOWN,
            };
        r.emitted
            .locals
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
        self.check_guards(r)?;
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
                        (SAME | NULL | STACK.., SAME | NULL | STACK..) => SAME,
                        (COUNTER | INTERNAL_INT, COUNTER | INTERNAL_INT) => INTERNAL_INT,
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
            self.silent_edges.push((from, n));
        }
        Ok(())
    }

    /// True if a resumed activation has not yet reached the position at which it continues. The
    /// frame is then still in a local of Veneer.
    pub fn is_resuming(&self, r: &Run) -> bool {
        r.from > 0
            && r.emitted
                .locals
                .get(self.first_own_local..)
                .is_some_and(|own| own.contains(&Value::FRAME_IN))
    }

    /// Merges a run into the node at the emitted side's position. If `exact` is set, the original
    /// must already be at the matching position.
    pub(super) fn merge_at_leader(
        &mut self,
        from: Option<u32>,
        mut r: Run,
        exact: bool,
    ) -> Result<(), Failure> {
        if r.thrown.is_some() {
            return Err(self.unknown(&r, "a way that exceptions leave by flows together"));
        }
        if self.is_resuming(&r) {
            if r.matched || !r.emitted.stack.is_empty() {
                return Err(Failure::Resume {
                    at: self.at(&r),
                    why: "it has begun before it has come to its place".into(),
                });
            }
            let key = (r.original_at, r.emitted_at, r.from);
            let tags = self.tags(&r, std::iter::empty());
            return self.merge(from, &r, key, tags);
        }
        r.original_at = self.original.skip_gotos(r.original_at);
        if !exact {
            self.sync_stacks(&mut r)?;
        } else if r.original.stack != r.emitted.stack {
            return Err(Failure::Stack(self.at(&r)));
        }
        // The original restarts at the earliest matching position. From there it may load the same
        // local again, or exchange equal words. The tag therefore records which local or which
        // earlier word a stack word equals.
        let locals = r.original.locals.iter().take(usize::from(u8::MAX - LOCAL));
        let words = &r.emitted.stack;
        let tag = |(i, v): (usize, &Value)| {
            let equal_words = words[..i].iter().take(usize::from(LOCAL - STACK));
            let equal_local = (0..).zip(locals.clone()).find(|l| l.1 == v);
            let equal_word = (0..).zip(equal_words).find(|w| w.1 == v);
            match (equal_local, equal_word) {
                _ if *v == Value::NULL => NULL,
                (Some((local, _)), _) => LOCAL + local,
                (None, Some((word, _))) => STACK + word,
                (None, None) => SAME,
            }
        };
        let tags = self.tags(&r, words.iter().enumerate().map(tag));
        let key = (r.original_at, r.emitted_at, 0);
        self.merge(from, &r, key, tags)
    }
}
