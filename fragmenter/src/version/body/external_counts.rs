//! Counts activations that enter and leave a body other than along edges, and records which code belongs
//! to which node ([`crate::counting`]).

use super::{BodyEmitter, LabelledSpan};
use crate::bytecode::opcode::*;
use crate::flowgraph::FragmentId;
use crate::refusal::Refusal;
use crate::version::weave::CounterChange;
use veneer_names::CounterSlot;

impl BodyEmitter<'_, '_> {
    /// Records that activations are in this fragment from the current pc on, and have reached the
    /// instruction at `original_pc`, if the method counts external entries and exits.
    pub(super) fn begin_span(&mut self, fragment: Option<FragmentId>, original_pc: u16) {
        if !self.external.is_empty() {
            let label = self.here();
            let gathers = fragment.is_some_and(|f| self.counts_in_locals(f));
            self.spans.push(LabelledSpan {
                label,
                fragment,
                original_pc,
                gathers,
            });
        }
    }

    /// Whether a node of a placement begins inside a fragment at this instruction.
    pub(super) fn begins_node(&self, pc: u16) -> bool {
        let mut all = self.external.iter();
        all.any(|(external, _)| external.steps.begins_at(pc))
    }

    /// Emits code that selects the counters for an exception that leaves fragment `f` from the
    /// instruction at `pc` on: those of all placements, or only of those with a node that begins there.
    pub(super) fn select_exit_counters(
        &mut self,
        f: FragmentId,
        pc: u16,
        all: bool,
    ) -> Result<(), Refusal> {
        for n in 0..self.external.len() {
            let (external, edges) = &self.external[n];
            if !all && !external.steps.begins_at(pc) {
                continue;
            }
            let node = external.steps.node_at(f, pc);
            let place = edges.departures.iter().position(|d| *d == node);
            let counter = place.map(|place| external.departures.plus(place as u32));
            let local = self.slots.exit_counters.get(&external.departures).copied();
            if let (Some(counter), Some(local)) = (counter, local) {
                self.e.push_int(&mut self.a, counter.byte_offset() as i32)?;
                self.a.local(ISTORE, local);
            }
        }
        Ok(())
    }

    /// Emits code for an exception that leaves the current fragment: flushes promoted counters and
    /// counts the external exit.
    pub(super) fn count_exception(&mut self) -> Result<(), Refusal> {
        self.flush_all()?;
        for local in self.slots.exit_counters.clone().into_values() {
            self.a.local(LLOAD, self.slots.shard()?);
            self.a.local(ILOAD, local);
            self.e.call(&mut self.a, "count", "(JI)V")?;
        }
        Ok(())
    }

    /// Counts an external entry into `f`, or takes one back.
    pub(in crate::version) fn count_external_entry(
        &mut self,
        f: FragmentId,
        change: CounterChange,
    ) -> Result<(), Refusal> {
        let counters = self.external.iter().filter_map(|(external, edges)| {
            let place = edges.arrivals.iter().position(|a| *a == f)?;
            Some(external.arrivals.plus(place as u32))
        });
        self.count_all(counters.collect(), change)
    }

    /// Counts an external exit from the end of `f`, or takes one back.
    pub(super) fn count_external_exit(
        &mut self,
        f: FragmentId,
        change: CounterChange,
    ) -> Result<(), Refusal> {
        let counters = self.external.iter().filter_map(|(external, edges)| {
            let node = external.steps.last_node(f);
            let place = edges.departures.iter().position(|d| *d == node)?;
            Some(external.departures.plus(place as u32))
        });
        self.count_all(counters.collect(), change)
    }

    fn count_all(
        &mut self,
        counters: Vec<CounterSlot>,
        change: CounterChange,
    ) -> Result<(), Refusal> {
        for counter in counters {
            self.e.count(&mut self.a, &self.slots, counter, change)?;
        }
        Ok(())
    }
}
