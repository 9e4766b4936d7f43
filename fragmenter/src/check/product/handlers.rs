//! Exceptions: the same handlers in the same order for what the method does, none of its own for what Veneer does.

use super::super::failure::Failure;
use super::super::original::Position;
use super::node::SAME;
use super::{Product, Run};

impl<'x> Product<'x, '_> {
    /// An exception at both places goes to handlers that correspond, in the same order.
    pub(super) fn throws(&mut self, from: Option<u32>, r: &Run) -> Result<(), Failure> {
        let (original, emitted) = (self.original, self.emitted);
        let (a, theirs) = original.program.rows_at(r.at.instruction);
        let (b, ours) = emitted.rows_at(r.q);
        if theirs.is_empty() && ours.is_empty() || r.last == Some((a, b)) {
            return Ok(());
        }
        let (many, few) = (theirs.len(), ours.len());
        let differ = |this: &Self| Failure::Handlers {
            at: this.at(r),
            original: many,
            emitted: few,
        };
        if ours.len() < theirs.len() {
            return Err(differ(self));
        }
        let mut thrown = r.clone();
        thrown.matched = true;
        for (n, (caught, handler)) in ours.iter().enumerate() {
            thrown.q = *handler;
            match theirs.get(n) {
                Some((class, _)) if class != caught => return Err(differ(self)),
                Some((_, handler)) => {
                    thrown.at = original.handler(*handler);
                    let tags = self.tags(&thrown, [SAME].into_iter());
                    let key = (original.settle(thrown.at), thrown.q, 0);
                    // Its first instruction counts with the exception on the stack, so `settle` may pass a `goto`.
                    self.merge(from, &thrown, key, tags)?;
                }
                // The original lets it go: what catches it must let it go too.
                None => self.lets_go(from, &thrown)?,
            }
        }
        Ok(())
    }

    /// An exception that leaves the method passes a handler of Veneer's.
    pub(super) fn lets_go(&mut self, from: Option<u32>, r: &Run) -> Result<(), Failure> {
        let mut out = r.clone();
        out.at = Position::OUT;
        out.matched = true;
        let tags = self.tags(&out, [SAME].into_iter());
        let key = (Position::OUT, out.q, 0);
        self.merge(from, &out, key, tags)
    }

    /// No handler of the application may see what an instruction of Veneer's throws.
    pub fn own_covered(&mut self, from: Option<u32>, r: &mut Run) -> Result<(), Failure> {
        let emitted = self.emitted;
        let (stretch, rows) = emitted.rows_at(r.q);
        if rows.is_empty() || r.own_last == Some(stretch) {
            return Ok(());
        }
        r.own_last = Some(stretch);
        let mut thrown = r.clone();
        for (_, handler) in rows {
            thrown.q = *handler;
            self.lets_go(from, &thrown)?;
        }
        Ok(())
    }
}
