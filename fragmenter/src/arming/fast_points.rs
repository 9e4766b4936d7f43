//! The capture points that the fast path places. They are the points of [`crate::points::choose`],
//! with kinds instead of types.

use super::block_graph::BlockGraph;
use super::code_scan::CodeScan;
use super::parameters::Parameters;
use super::typed_scan::TypedScan;
use super::word::Word;
use crate::classfile::ExceptionRange;
use crate::osr_exit::{ExitForm, run_lengths};
use crate::points::PointKind;
use crate::policy::Policy;
use crate::refusal::Refusal;

/// A value at a point, in a local variable or on the operand stack.
#[derive(Clone, Copy)]
pub(super) struct PointValue {
    /// The slot of a local variable; 0 for operands.
    pub slot: u16,
    pub word: Word,
}

/// A capture point.
#[derive(Clone)]
pub(super) struct FastPoint {
    pub kind: PointKind,
    pub form: ExitForm,
    pub pc: u16,
    pub instruction: u32,
    /// The operands, then the locals, as a range of [`FastPoints::values`].
    values: (u32, u32),
    /// Number of operands.
    operands: u32,
    /// Whether the policy `loop` has this point.
    pub is_needed: bool,
}

/// The points of one method. The buffers are reused.
#[derive(Default)]
pub(super) struct FastPoints {
    pub points: Vec<FastPoint>,
    /// Positions at which the policy asks for a point but no point is possible.
    pub skipped: Vec<(u16, Refusal)>,
    values: Vec<PointValue>,
    headers: Vec<u16>,
    held: Vec<u8>,
}

/// The facts about a method from which the fast path chooses points.
pub(super) struct PointScan<'m> {
    pub bytes: &'m [u8],
    pub exceptions: &'m [ExceptionRange],
    pub scan: &'m CodeScan,
    pub types: &'m TypedScan,
    pub parameters: &'m Parameters<'m>,
    pub policy: &'m Policy,
    pub constructor: bool,
}

impl FastPoints {
    /// The operands of a point from the bottom, by value.
    pub fn operands(&self, point: &FastPoint) -> &[PointValue] {
        let from = point.values.0 as usize;
        &self.values[from..from + point.operands as usize]
    }

    /// The live locals of a point, sorted by slot.
    pub fn locals(&self, point: &FastPoint) -> &[PointValue] {
        let from = (point.values.0 + point.operands) as usize;
        &self.values[from..point.values.1 as usize]
    }

    /// The values that an activation carries from a point; see
    /// [`crate::point_values::carried_types`].
    pub fn carried(&self, point: &FastPoint) -> impl Iterator<Item = PointValue> + Clone {
        let locals = self.locals(point).iter().filter(|v| v.word != Word::NULL);
        self.operands(point).iter().chain(locals).copied()
    }

    /// The kinds of the carried values.
    pub fn kinds(&self, point: &FastPoint) -> impl Iterator<Item = u8> + Clone {
        self.carried(point).map(|v| v.word.load_kind())
    }

    /// How many operands of a point can stay on the stack; see `osr_exit.rs`.
    pub fn staying(&self, point: &FastPoint) -> usize {
        let first = run_lengths(self.kinds(point)).next().map_or(0, |run| run.1);
        first.min(point.operands as usize)
    }

    /// Depth of the operand stack at a point, in words.
    pub fn depth(&self, point: &FastPoint) -> u16 {
        self.operands(point).iter().map(|v| v.word.width()).sum()
    }

    /// Chooses the points. Returns `None` if the full path must handle the method.
    pub fn choose(&mut self, method: &PointScan, graph: &mut BlockGraph) -> Option<()> {
        self.points.clear();
        self.skipped.clear();
        self.values.clear();
        self.held.clear();
        let scan = method.scan;
        let (first, pc) = method.types.entry?;
        self.add_entry(method, first, pc);
        if scan.enters_monitor {
            graph.held_monitors(method.bytes, scan, method.exceptions, &mut self.held)?;
            self.is_free(first).then_some(())?;
        }
        self.add_fragments(method, graph, first)?;
        if scan.calls || scan.enters_monitor {
            self.add_returns(method, graph, first)?;
        }
        self.points[1..].sort_unstable_by_key(|p| p.instruction);
        // Larger numbers would not fit the instruction that pushes the number.
        (self.points.len() <= i16::MAX as usize).then_some(())
    }

    fn add_entry(&mut self, method: &PointScan, first: u32, pc: u16) {
        let parameters = method.parameters;
        for ((_, slot), word) in parameters.loads.iter().zip(&parameters.kinds) {
            self.values.push(PointValue {
                slot: *slot,
                word: *word,
            });
        }
        self.points.push(FastPoint {
            kind: PointKind::Entry,
            form: ExitForm::Entry,
            pc,
            instruction: first,
            values: (0, self.values.len() as u32),
            operands: 0,
            is_needed: true,
        });
    }

    /// Whether no monitor is held before an instruction.
    fn is_free(&self, instruction: u32) -> bool {
        self.held.get(instruction as usize).is_none_or(|n| *n == 0)
    }

    /// Adds the points at fragments.
    fn add_fragments(
        &mut self,
        method: &PointScan,
        graph: &mut BlockGraph,
        first: u32,
    ) -> Option<()> {
        let scan = method.scan;
        let is_every = matches!(method.policy, Policy::Block);
        if matches!(method.policy, Policy::Method) || !(is_every || scan.goes_back || scan.is_cut) {
            return Some(());
        }
        let mut headers = std::mem::take(&mut self.headers);
        headers.clear();
        if scan.goes_back {
            graph.loop_headers(&mut headers)?;
            headers.sort_unstable();
        }
        for n in 0..graph.blocks.len() {
            let block = graph.blocks[n];
            let is_header = headers.binary_search(&(n as u16)).is_ok();
            // At a call that the policy names, a fragment starts for no other reason, or the policy
            // names the first instruction of the fragment.
            let wanted = is_every || is_header || scan.is_cut_at(block.pc);
            if !wanted || n == 0 && !graph.returns_to_start {
                continue;
            }
            let at = *method.types.at_blocks.get(n)?;
            if method.constructor && block.first < first {
                self.skipped.push((block.pc, Refusal::BeforeSuper));
                continue;
            }
            let (stack, live) = (method.types.stack(at), block.live_in);
            self.add_point(
                (PointKind::Fragment, block.pc, block.first),
                (method.types.locals(at), live),
                stack,
                is_header,
            );
        }
        self.headers = headers;
        Some(())
    }

    /// Adds the points before returns.
    fn add_returns(&mut self, method: &PointScan, graph: &BlockGraph, first: u32) -> Option<()> {
        let result = Word::of_descriptor(method.parameters.result);
        let width = result.map_or(0, |word| usize::from(word.width()));
        let operands = [result.unwrap_or(Word::TOP), Word::SECOND];
        let has_fragments = self.points.len() > 1;
        for r in method
            .types
            .returns
            .iter()
            .filter(|r| r.instruction > first)
        {
            if has_fragments && self.points.iter().any(|p| p.instruction == r.instruction) {
                continue;
            }
            let mut live = 0;
            let protecting = |e: &&ExceptionRange| (e.start..e.end).contains(&r.pc);
            for e in method.exceptions.iter().filter(protecting) {
                live |= graph.blocks.get(graph.at(e.handler))?.live_in;
            }
            // The value to return has the declared kind, even if it is known to be null. Old or
            // generated code may leave other values below it.
            if r.depth != width {
                return None;
            }
            let locals = r.at.map_or(&[][..], |at| method.types.locals(at));
            self.add_point(
                (PointKind::Exit, r.pc, r.instruction),
                (locals, live),
                &operands[..width],
                false,
            );
        }
        Some(())
    }

    /// Adds a point with the live ones of these locals and with these operands, or the reason why no
    /// point is possible.
    fn add_point(
        &mut self,
        (kind, pc, instruction): (PointKind, u16, u32),
        (locals, live): (&[Word], u64),
        stack: &[Word],
        is_needed: bool,
    ) {
        let from = self.values.len();
        let operands = stack.iter().filter(|w| **w != Word::SECOND);
        self.values.extend(operands.map(|word| PointValue {
            slot: 0,
            word: *word,
        }));
        let operands = self.values.len() - from;
        let mut rest = live;
        while rest != 0 {
            let slot = rest.trailing_zeros() as u16;
            rest &= rest - 1;
            match locals.get(usize::from(slot)) {
                None => break,
                Some(&Word::TOP) => {}
                Some(word) => self.values.push(PointValue { slot, word: *word }),
            }
        }
        let values = &self.values[from..];
        let words: u16 = values.iter().map(|v| v.word.width()).sum();
        let reason = if !self.is_free(instruction) {
            Some(Refusal::MonitorHeld)
        } else if values.iter().any(|v| v.word.is_uninitialized()) {
            Some(Refusal::UninitializedObject)
        } else if words > 255 {
            Some(Refusal::TooManyLiveValues)
        } else {
            None
        };
        if let Some(reason) = reason {
            self.values.truncate(from);
            self.skipped.push((pc, reason));
            return;
        }
        let only_result = values.len() == operands && operands < 2;
        self.points.push(FastPoint {
            kind,
            form: match kind {
                PointKind::Exit if only_result => ExitForm::Return,
                _ => ExitForm::Frame,
            },
            pc,
            instruction,
            values: (from as u32, self.values.len() as u32),
            operands: operands as u32,
            is_needed,
        });
    }
}
