//! Exceptions. An effect of the method must reach the same handlers in the same order on both
//! sides. An exception of a runtime operation must not reach a handler of the method.

use super::super::failure::Failure;
use super::super::reference::Position;
use super::node::SAME;
use super::{Product, Run};

impl<'x> Product<'x, '_> {
    /// Matches the handlers at the current positions of both sides, in order.
    pub(super) fn match_handlers(&mut self, from: Option<u32>, r: &Run) -> Result<(), Failure> {
        let (original, emitted) = (self.original, self.emitted);
        let (a, original_handlers) = original.program.handlers_at(r.original_at.instruction);
        let (b, emitted_handlers) = emitted.handlers_at(r.emitted_at);
        if original_handlers.is_empty() && emitted_handlers.is_empty()
            || r.last_ranges == Some((a, b))
        {
            return Ok(());
        }
        let (many, few) = (original_handlers.len(), emitted_handlers.len());
        let differ = |this: &Self| Failure::Handlers {
            at: this.at(r),
            original: many,
            emitted: few,
        };
        if emitted_handlers.len() < original_handlers.len() {
            return Err(differ(self));
        }
        let mut thrown = r.clone();
        thrown.matched = true;
        for (n, (caught, handler)) in emitted_handlers.iter().enumerate() {
            thrown.emitted_at = *handler;
            match original_handlers.get(n) {
                Some((class, _)) if class != caught => return Err(differ(self)),
                Some((_, handler)) => {
                    thrown.original_at = original.handler_position(*handler);
                    let tags = self.tags(&thrown, [SAME].into_iter());
                    let key = (
                        original.skip_gotos(thrown.original_at),
                        thrown.emitted_at,
                        0,
                    );
                    // The handler's first instruction runs with the exception on the stack, so
                    // skipping a `goto` is correct.
                    self.merge(from, &thrown, key, tags)?;
                }
                // The original does not catch this exception, so this handler must rethrow it.
                None => self.propagate_exception(from, &thrown)?,
            }
        }
        Ok(())
    }

    /// Adds a node for an exception that leaves the method through a handler of Veneer.
    pub(super) fn propagate_exception(
        &mut self,
        from: Option<u32>,
        r: &Run,
    ) -> Result<(), Failure> {
        let mut out = r.clone();
        out.original_at = Position::OUT;
        out.matched = true;
        let tags = self.tags(&out, [SAME].into_iter());
        let key = (Position::OUT, out.emitted_at, 0);
        self.merge(from, &out, key, tags)
    }

    /// Checks that no handler of the application catches an exception of a runtime operation.
    pub fn check_runtime_handlers(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
    ) -> Result<(), Failure> {
        let emitted = self.emitted;
        let (handler_range, handlers) = emitted.handlers_at(r.emitted_at);
        if handlers.is_empty() || r.last_operation_range == Some(handler_range) {
            return Ok(());
        }
        r.last_operation_range = Some(handler_range);
        let mut thrown = r.clone();
        for (_, handler) in handlers {
            thrown.emitted_at = *handler;
            self.propagate_exception(from, &thrown)?;
        }
        Ok(())
    }
}
