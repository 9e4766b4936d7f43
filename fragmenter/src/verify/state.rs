//! The types at one instruction: local variables, operand stack, and the flag for an uninitialised
//! `this`.

use super::failure::{Fault, Rule};
use super::vtype::SlotType;

/// The types at one instruction.
pub(super) struct FrameState {
    /// One element per slot; always `max_locals` elements.
    pub locals: Vec<SlotType>,
    /// One element per slot, the top last.
    pub stack: Vec<SlotType>,
    /// The flag `flagThisUninit` (JVMS §4.10.1.4).
    pub this_uninitialized: bool,
    /// Incremented when a local variable or the flag changes. Handlers are compared once per
    /// change.
    pub changes: u64,
    max_stack: usize,
}

impl FrameState {
    pub fn new(locals: Vec<SlotType>, max_stack: u16) -> FrameState {
        FrameState {
            this_uninitialized: locals.contains(&SlotType::UninitializedThis),
            locals,
            stack: Vec::with_capacity(usize::from(max_stack.min(64))),
            changes: 0,
            max_stack: usize::from(max_stack),
        }
    }

    /// Pushes a value with both of its slots.
    pub fn push(&mut self, t: SlotType) -> Result<(), Fault> {
        self.push_slot(t)?;
        match t.high() {
            Some(high) => self.push_slot(high),
            None => Ok(()),
        }
    }

    pub fn push_slot(&mut self, t: SlotType) -> Result<(), Fault> {
        if self.stack.len() >= self.max_stack {
            return Rule::StackDepth.fail(format!("more than max_stack {}", self.max_stack));
        }
        self.stack.push(t);
        Ok(())
    }

    /// Pops the topmost slot of any type.
    pub fn pop_slot(&mut self) -> Result<SlotType, Fault> {
        self.stack
            .pop()
            .ok_or_else(|| Rule::StackDepth.fault("the stack is empty"))
    }

    /// Pops a value of one slot.
    pub fn pop_single(&mut self) -> Result<SlotType, Fault> {
        let t = self.pop_slot()?;
        if t.is_single() {
            Ok(t)
        } else {
            Rule::Operand.fail("a value of one slot is needed")
        }
    }

    /// Pops the first slot of a value whose second slot was just popped.
    pub fn pop_low(&mut self, high: SlotType) -> Result<SlotType, Fault> {
        let t = self.pop_slot()?;
        if t.high() == Some(high) {
            Ok(t)
        } else {
            Rule::Operand.fail("half of a long or double")
        }
    }

    /// Pops a primitive value of exactly this type.
    pub fn pop_exactly(&mut self, t: SlotType) -> Result<(), Fault> {
        if let Some(high) = t.high()
            && self.pop_slot()? != high
        {
            return Rule::Operand.fail(format!("{t:?} is needed"));
        }
        if self.pop_slot()? == t {
            Ok(())
        } else {
            Rule::Operand.fail(format!("{t:?} is needed"))
        }
    }

    /// Pops a reference, initialised or not.
    pub fn pop_reference(&mut self) -> Result<SlotType, Fault> {
        let t = self.pop_slot()?;
        if t.is_reference() {
            Ok(t)
        } else {
            Rule::Operand.fail("a reference is needed")
        }
    }

    /// Checks that a local variable has exactly this primitive type.
    pub fn load(&self, index: u16, t: SlotType) -> Result<(), Fault> {
        let i = usize::from(index);
        let high = t
            .high()
            .is_none_or(|high| self.locals.get(i + 1) == Some(&high));
        if self.locals.get(i) == Some(&t) && high {
            Ok(())
        } else {
            Rule::Local.fail(format!("local {index} is no {t:?}"))
        }
    }

    /// Stores a value. Values that it overlaps become unusable.
    pub fn store(&mut self, index: u16, t: SlotType) -> Result<(), Fault> {
        self.changes += 1;
        self.set(usize::from(index), t)?;
        match t.high() {
            Some(high) => self.set(usize::from(index) + 1, high),
            None => Ok(()),
        }
    }

    fn set(&mut self, i: usize, t: SlotType) -> Result<(), Fault> {
        let Some(old) = self.locals.get(i).copied() else {
            return Rule::Local.fail(format!("local {i} lies beyond max_locals"));
        };
        if old.high().is_some()
            && let Some(next) = self.locals.get_mut(i + 1)
        {
            *next = SlotType::Top;
        }
        if old.is_high()
            && !t.is_high()
            && let Some(before) = i.checked_sub(1).and_then(|i| self.locals.get_mut(i))
        {
            *before = SlotType::Top;
        }
        if let Some(local) = self.locals.get_mut(i) {
            *local = t;
        }
        Ok(())
    }

    /// Replaces a type everywhere, after an object has been initialised.
    pub fn replace(&mut self, old: SlotType, new: SlotType) {
        self.changes += 1;
        for t in self.locals.iter_mut().chain(&mut self.stack) {
            if *t == old {
                *t = new;
            }
        }
        if old == SlotType::UninitializedThis {
            self.this_uninitialized = false;
        }
    }

    /// Handles `new` at a pc that created an object before. The older object cannot be
    /// distinguished from the new one, so it becomes unusable.
    pub fn forget(&mut self, old: SlotType) -> Result<(), Fault> {
        if self.stack.contains(&old) {
            return Rule::Initialisation.fail("an older object of the same `new` is on the stack");
        }
        for t in &mut self.locals {
            if *t == old {
                *t = SlotType::Top;
                self.changes += 1;
            }
        }
        Ok(())
    }

    /// Replaces the state by a frame of the stack map.
    pub fn enter(&mut self, locals: &[SlotType], stack: &[SlotType], this_uninitialized: bool) {
        self.changes += 1;
        let known = locals.iter().copied();
        let all = known.chain(std::iter::repeat(SlotType::Top));
        self.locals
            .iter_mut()
            .zip(all)
            .for_each(|(local, t)| *local = t);
        self.stack.clear();
        self.stack.extend_from_slice(stack);
        self.this_uninitialized = this_uninitialized;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_into_half_of_a_long_destroys_it() {
        let mut state = FrameState::new(vec![SlotType::Top; 4], 2);
        state.store(1, SlotType::Long).unwrap();
        state.load(1, SlotType::Long).unwrap();
        state.store(2, SlotType::Int).unwrap();
        assert_eq!(state.locals[1], SlotType::Top);
        assert!(state.load(1, SlotType::Long).is_err());
        state.store(1, SlotType::Double).unwrap();
        state.store(1, SlotType::Int).unwrap();
        assert_eq!(state.locals[2], SlotType::Top);
        state.store(2, SlotType::Long).unwrap();
        state.store(1, SlotType::Double).unwrap();
        assert_eq!(state.locals[3], SlotType::Top);
        assert!(state.store(3, SlotType::Double).is_err());
    }

    #[test]
    fn depth_is_counted_in_slots() {
        let mut state = FrameState::new(Vec::new(), 2);
        state.push(SlotType::Long).unwrap();
        assert!(state.push(SlotType::Int).is_err());
        assert!(state.pop_single().is_err());
        assert!(state.pop_exactly(SlotType::Long).is_err());
        assert!(state.pop_slot().is_err());
    }
}
