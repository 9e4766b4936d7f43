//! Exceptions. An effect of the method must reach the same handlers in the same order on both
//! sides. An exception of a runtime operation must not reach a handler of the method.

use super::super::failure::Failure;
use super::super::reference::Position;
use super::node::{Key, SAME};
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

    /// Checks where an exception of a runtime operation leads. It must leave the method, unless the
    /// activation may hold a monitor. Then the handler for everything of the original catches it, because
    /// this handler releases the monitor. Runtime operations throw only errors of the JVM, which an
    /// instruction of the original may throw at the same place.
    pub fn check_runtime_handlers(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
    ) -> Result<(), Failure> {
        let (emitted, original) = (self.emitted, self.original);
        let (emitted_range, handlers) = emitted.handlers_at(r.emitted_at);
        let (original_range, _) = original.program.handlers_at(r.original_at.instruction);
        let ranges = Some((emitted_range, original_range));
        if r.last_operation_range == ranges || !original.has_monitors() && handlers.is_empty() {
            return Ok(());
        }
        r.last_operation_range = ranges;
        let inside = r.original_at != Position::OUT;
        let releases = if inside && original.has_monitors() {
            self.release_handlers(r)?
        } else {
            Vec::new()
        };
        let may_release = releases.iter().any(Option::is_some);
        let mut thrown = r.clone();
        for (caught, handler) in handlers {
            thrown.emitted_at = *handler;
            if *caught == 0 && may_release {
                self.follow_later(thrown, releases);
                return Ok(());
            }
            self.propagate_exception(from, &thrown)?;
        }
        if r.monitors > 0 && may_release && releases.iter().all(Option::is_some) {
            return Err(self.releases_nothing(r));
        }
        Ok(())
    }

    fn releases_nothing(&self, r: &Run) -> Failure {
        Failure::Handlers {
            at: self.at(r),
            original: 1,
            emitted: 0,
        }
    }

    /// Returns the handler for everything at each instruction of the original that may be the current one:
    /// those that jump to the current position, and those that the emitted side may have executed already.
    fn release_handlers(&mut self, r: &Run) -> Result<Vec<Option<u32>>, Failure> {
        let original = self.original;
        let mut ahead = r.clone();
        ahead.original_at = original.skip_gotos(r.original_at);
        let mut places = vec![r.original_at.instruction, ahead.original_at.instruction];
        places.extend(original.gotos_to(ahead.original_at));
        for _ in 0..original.program.instructions.len() {
            if !self.step_original(&mut ahead)? {
                break;
            }
            places.push(ahead.original_at.instruction);
        }
        let release = |place: u32| {
            let (_, handlers) = original.program.handlers_at(place);
            let any = handlers.iter().find(|(caught, _)| *caught == 0);
            any.map(|(_, handler)| *handler)
        };
        let mut releases: Vec<Option<u32>> = places.into_iter().map(release).collect();
        releases.dedup();
        Ok(releases)
    }

    /// Keeps an exception of a runtime operation until the exploration has met the emitted handler in
    /// other ways. Then it is known whether the handler is one of the original.
    fn follow_later(&mut self, thrown: Run, releases: Vec<Option<u32>>) {
        let tags = self.tags(&thrown, [SAME].into_iter());
        let key = (thrown.emitted_at, thrown.monitors, tags, releases);
        self.later.entry(key).or_insert(thrown);
    }

    /// Follows the exceptions that were kept. The original's handler is the one that meets the emitted
    /// handler elsewhere. If the emitted handler is met by exceptions that leave the method, it is
    /// Veneer's.
    pub(super) fn follow_kept(&mut self) -> Result<(), Failure> {
        for ((_, _, tags, releases), mut thrown) in std::mem::take(&mut self.later) {
            let handler = thrown.emitted_at;
            let original = self.original;
            let meet = |release: &u32| {
                let position = original.handler_position(*release);
                (position, (original.skip_gotos(position), handler, 0))
            };
            let met = |(_, key): &(Position, Key)| self.index.contains_key(key);
            let mut candidates = releases.iter().flatten().map(meet);
            let is_known = self.index.contains_key(&(Position::OUT, handler, 0));
            let first = candidates.next();
            let release = match first.filter(met).or_else(|| candidates.find(met)) {
                None if !is_known => first,
                release => release,
            };
            let Some((position, key)) = release else {
                if thrown.monitors > 0 && releases.iter().all(Option::is_some) {
                    return Err(self.releases_nothing(&thrown));
                }
                self.propagate_exception(None, &thrown)?;
                continue;
            };
            thrown.original_at = position;
            thrown.matched = true;
            self.merge(None, &thrown, key, tags)?;
        }
        Ok(())
    }
}
