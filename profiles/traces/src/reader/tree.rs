//! Builds the tree of a thread from its events.
//!
//! A *node* is a call, or another interval such as a wait. The builder holds the open nodes only,
//! so its memory depends on the depth of the tree and not on the length of the trace.
//!
//! **Processor time.** After a reading of the thread's clock the processor time advances as the
//! real time does, until the recorder notices that the thread was switched out and reads the clock
//! again. So the processor time at an event is `reading + (time − time of the reading)`.
//!
//! **Cost of observing.** A probe has a cost between its two time stamps (`inside`) and a cost
//! around them (`outside`). The cost in the time of a node is
//!
//! ```text
//!   cost(n) = inside(n) + omitted(n) + Σ over children c of cost(c) + outside(c)
//! ```
//!
//! The source is Harkema et al., "Performance Monitoring of Java Applications" (WOSP 2002), section
//! 4.2: the number of calls that a filter left out corrects the time of their caller.

use super::arguments::{Argument, arguments};
use super::events::{EventReader, Step};
use super::findings::Findings;
use super::name_table::{FrameSlot, Names, ProbeCost, UNKNOWN_FRAME};
use crate::format::word::{
    FIRST_INSTANT, FIRST_LONG, FIRST_LONG_INSTANT, argument, is_value, kind, kind_of, long,
    value_of,
};

/// The most words of values that a node takes from events of a plan.
const MAX_VALUE_WORDS: usize = 64;
/// The most nodes that a segment header can declare open.
const MAX_DECLARED_DEPTH: u32 = 1 << 16;

/// The way in which a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Without an exception.
    Exit,
    /// With an exception.
    Throw,
    /// The trace ended while the node was open.
    Cut,
    /// The events of its end were lost.
    Lost,
}

/// A node that has not ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenNode {
    /// The position of the node among all nodes of the thread, in the order of their beginning.
    pub number: u64,
    /// The kind of its event, or 0 if the event was lost.
    pub kind: u8,
    /// The frame, if the kind has one.
    pub slot: FrameSlot,
    /// The id of its event.
    pub id: u64,
    /// The beginning in ticks.
    pub start: u64,
    /// The words of its arguments.
    pub words: Vec<u64>,
    pub(super) child_ticks: u64,
    pub(super) start_cpu: Option<u64>,
    pub(super) child_cpu: u64,
    pub(super) start_allocated: Option<u64>,
    pub(super) children: u64,
    pub(super) below: u64,
    pub(super) omitted: u64,
    pub(super) omitted_ps: u64,
    pub(super) below_ps: u64,
    pub(super) outside_ps: u64,
    pub(super) spread_ps: u64,
}

/// A node that has ended, or an instant. Times of the clock are in ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The position among all nodes and instants of the thread, in the order of their beginning.
    pub number: u64,
    /// The number of the enclosing node.
    pub parent: Option<u64>,
    /// The number of enclosing nodes.
    pub depth: u32,
    /// The kind of its event, or 0 if the event was lost.
    pub kind: u8,
    /// The frame, if the kind has one.
    pub slot: FrameSlot,
    /// The id of its event.
    pub id: u64,
    /// The beginning in ticks.
    pub start: u64,
    /// The end in ticks.
    pub end: u64,
    /// The time that no child has, in ticks.
    pub self_ticks: u64,
    /// Processor time in nanoseconds, if the recorder read the thread's clock before.
    pub cpu_ns: Option<u64>,
    /// The processor time that no child has, in nanoseconds.
    pub self_cpu_ns: Option<u64>,
    /// Bytes that the thread allocated, if both events of the node have a reading.
    pub allocated: Option<u64>,
    /// The number of children.
    pub children: u64,
    /// The number of all nodes below.
    pub below: u64,
    /// The calls directly inside that a filter left out.
    pub omitted: u64,
    /// The cost of observing in the time of the node, in picoseconds.
    pub cost_ps: u64,
    /// The cost of observing in the time that no child has, in picoseconds.
    pub self_cost_ps: u64,
    /// The uncertainty of `cost_ps`.
    pub spread_ps: u64,
    /// The way in which it ended.
    pub ending: Ending,
    /// The words of its arguments.
    pub words: Vec<u64>,
}

impl Node {
    /// The duration in ticks.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// The duration without the cost of observing, in nanoseconds. Not below 0.
    #[inline]
    pub fn corrected_ns(&self, names: &Names) -> u64 {
        corrected(names.clock.nanoseconds(self.ticks()), self.cost_ps)
    }

    /// The time that no child has, without the cost of observing, in nanoseconds. Not below 0.
    #[inline]
    pub fn corrected_self_ns(&self, names: &Names) -> u64 {
        corrected(names.clock.nanoseconds(self.self_ticks), self.self_cost_ps)
    }

    /// The part of the correction that is not certain, in nanoseconds: the uncertainty of the
    /// probes' costs, and the cost that exceeds the measured duration.
    #[inline]
    pub fn unexplained_ns(&self, names: &Names) -> u64 {
        let raw = names.clock.nanoseconds(self.ticks());
        let excess = (self.cost_ps / 1000).saturating_sub(raw);
        (self.spread_ps / 1000).saturating_add(excess)
    }

    /// The call site, if the entry has one.
    pub fn site(&self) -> Option<u64> {
        last_value(&self.words, argument::SITE)
    }

    /// The thread that owned the monitor, if the event names it.
    pub fn owner(&self) -> Option<u64> {
        last_value(&self.words, argument::OWNER)
    }

    /// The values that the plan named, each after its name if it has one: the arguments of the event, and
    /// those of the plan's events directly in the node.
    pub fn values(&self) -> Vec<Argument> {
        arguments(&self.words).filter(Argument::is_value).collect()
    }
}

fn corrected(raw_ns: u64, cost_ps: u64) -> u64 {
    raw_ns.saturating_sub(cost_ps / 1000)
}

/// The value of the last argument of a kind.
fn last_value(words: &[u64], kind: u8) -> Option<u64> {
    let word = words.iter().rev().find(|word| kind_of(**word) == kind)?;
    Some(value_of(*word))
}

/// Receives the nodes of a thread. `open` has the open nodes, the outermost first.
pub trait Visitor {
    /// A node begins; it is the last one of `open`.
    fn enter(&mut self, open: &[OpenNode]) {
        let _ = open;
    }

    /// An instant inside the last one of `open`.
    fn instant(&mut self, node: &Node, open: &[OpenNode]) {
        let _ = (node, open);
    }

    /// A node ends. `open` has the nodes around it.
    fn leave(&mut self, node: &Node, open: &[OpenNode]) {
        let _ = (node, open);
    }
}

/// An event of a thread.
#[derive(Clone, Copy)]
struct TreeEvent<'w> {
    kind: u8,
    id: u64,
    /// The time in ticks.
    time: u64,
    /// The words of its arguments.
    words: &'w [u64],
}

/// A reading of the thread's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuReading {
    pub(super) ticks: u64,
    pub(super) cpu_ns: u64,
}

/// Builds the tree of one thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeBuilder {
    pub(super) open: Vec<OpenNode>,
    pub(super) reading: Option<CpuReading>,
    /// The number of the next node.
    pub(super) next_number: u64,
    /// The time of the latest event in ticks.
    pub(super) now: u64,
    pub(super) began: bool,
    /// Observations about the events so far.
    pub findings: Findings,
}

impl TreeBuilder {
    /// The open nodes, the outermost first.
    pub fn open(&self) -> &[OpenNode] {
        &self.open
    }

    /// The time of the latest event in ticks.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Reads events until the end of the thread or until the next segment begins. Returns whether
    /// there is a next segment. At the end all open nodes are closed.
    pub fn read_segment(
        &mut self,
        reader: &mut EventReader<'_>,
        names: &Names,
        visitor: &mut impl Visitor,
    ) -> std::io::Result<bool> {
        let mut is_first = true;
        loop {
            if !is_first && reader.is_before_segment() {
                return Ok(true);
            }
            match reader.step()? {
                Step::Event { kind, id, time } => {
                    let words = reader.argument_words();
                    let event = TreeEvent {
                        kind,
                        id,
                        time,
                        words,
                    };
                    self.event(event, names, visitor);
                }
                step @ Step::Segment { .. } => {
                    is_first = false;
                    self.segment(step, names, visitor);
                }
                Step::End => {
                    self.findings.open_nodes += self.open.len() as u64;
                    self.close_down_to(0, Ending::Cut, names, visitor);
                    return Ok(false);
                }
            }
        }
    }

    /// A segment begins: compares the depth that the recorder knew with the open nodes.
    fn segment(&mut self, step: Step, names: &Names, visitor: &mut impl Visitor) {
        let Step::Segment {
            follows_gap,
            depth,
            time,
            ..
        } = step
        else {
            return;
        };
        if follows_gap {
            self.lose_down_to(0, names, visitor);
        }
        self.now = time;
        if let Some(depth) = depth {
            let depth = depth.min(MAX_DECLARED_DEPTH) as usize;
            if self.began && !follows_gap && depth != self.open.len() {
                self.findings.unmatched_exits += 1;
            }
            self.lose_down_to(depth, names, visitor);
            self.open_unknown(depth, visitor);
        }
        self.began = true;
    }

    /// Handles one event.
    #[inline]
    fn event(&mut self, event: TreeEvent<'_>, names: &Names, visitor: &mut impl Visitor) {
        self.now = event.time;
        if !event.words.is_empty()
            && let Some(cpu_ns) = last_value(event.words, argument::CPU)
        {
            let ticks = event.time;
            self.reading = Some(CpuReading { ticks, cpu_ns });
        }
        match event.kind {
            ..FIRST_INSTANT => self.begin_node(event, names, visitor),
            kind::EXIT => self.end_node(Ending::Exit, event.words, names, visitor),
            kind::THROW => self.end_node(Ending::Throw, event.words, names, visitor),
            _ => self.other_event(event, names, visitor),
        }
    }

    fn begin_node(&mut self, event: TreeEvent<'_>, names: &Names, visitor: &mut impl Visitor) {
        if event.kind > kind::SPAN {
            self.findings.unknown_kinds += 1;
        }
        let slot = self.slot(event, names);
        let start_cpu = self.cpu_now(names);
        let start_allocated = last_value(event.words, argument::ALLOCATED);
        if let Some(parent) = self.open.last_mut() {
            parent.children += 1;
        }
        self.open.push(OpenNode {
            number: self.next_number,
            kind: event.kind,
            slot,
            id: event.id,
            start: self.now,
            words: event.words.to_vec(),
            start_cpu,
            start_allocated,
            ..OpenNode::default()
        });
        self.next_number += 1;
        visitor.enter(&self.open);
    }

    /// The frame of an event of a kind whose id is a frame.
    fn slot(&mut self, event: TreeEvent<'_>, names: &Names) -> FrameSlot {
        let has_frame = matches!(
            event.kind,
            kind::ENTRY | kind::COMPILATION | kind::MARK | kind::DEOPTIMISATION
        );
        if !has_frame {
            return UNKNOWN_FRAME;
        }
        let slot = names.slot(event.id);
        self.findings.unknown_frames += u64::from(slot == UNKNOWN_FRAME);
        slot
    }

    fn cpu_now(&self, names: &Names) -> Option<u64> {
        let reading = self.reading?;
        let since = self.now.saturating_sub(reading.ticks);
        let since = names.clock.nanoseconds(since);
        Some(reading.cpu_ns.saturating_add(since))
    }

    fn end_node(
        &mut self,
        ending: Ending,
        words: &[u64],
        names: &Names,
        visitor: &mut impl Visitor,
    ) {
        let Some(open) = self.open.pop() else {
            self.findings.unmatched_exits += 1;
            return;
        };
        let ticks = self.now.saturating_sub(open.start);
        let cpu_ns = self
            .cpu_now(names)
            .zip(open.start_cpu)
            .map(|(end, start)| end.saturating_sub(start));
        let allocated = last_value(words, argument::ALLOCATED)
            .zip(open.start_allocated)
            .map(|(end, start)| end.saturating_sub(start));
        let probe = match open.kind {
            kind::ENTRY => names.probe_cost(open.slot),
            _ => ProbeCost::default(),
        };
        let own = probe.inside_ps.saturating_add(open.omitted_ps);
        let mut node = Node {
            number: open.number,
            parent: self.open.last().map(|parent| parent.number),
            depth: u32::try_from(self.open.len()).unwrap_or(u32::MAX),
            kind: open.kind,
            slot: open.slot,
            id: open.id,
            start: open.start,
            end: self.now,
            self_ticks: ticks.saturating_sub(open.child_ticks),
            cpu_ns,
            self_cpu_ns: cpu_ns.map(|cpu| cpu.saturating_sub(open.child_cpu)),
            allocated,
            children: open.children,
            below: open.below,
            omitted: open.omitted,
            cost_ps: own.saturating_add(open.below_ps),
            self_cost_ps: own.saturating_add(open.outside_ps),
            spread_ps: probe.spread_ps.saturating_add(open.spread_ps),
            ending,
            words: open.words,
        };
        // The arguments of the exit follow those of the entry.
        node.words.extend_from_slice(words);
        if let Some(parent) = self.open.last_mut() {
            parent.child_ticks = parent.child_ticks.saturating_add(ticks);
            parent.child_cpu = parent.child_cpu.saturating_add(cpu_ns.unwrap_or(0));
            parent.below = parent.below.saturating_add(open.below.saturating_add(1));
            let cost = node.cost_ps.saturating_add(probe.outside_ps);
            parent.below_ps = parent.below_ps.saturating_add(cost);
            parent.outside_ps = parent.outside_ps.saturating_add(probe.outside_ps);
            parent.spread_ps = parent.spread_ps.saturating_add(node.spread_ps);
        }
        visitor.leave(&node, &self.open);
    }

    fn other_event(&mut self, event: TreeEvent<'_>, names: &Names, visitor: &mut impl Visitor) {
        match event.kind {
            kind::SWITCH => {}
            kind::OMITTED => self.omit(event, names),
            kind::LOST => self.lose(event.words, names, visitor),
            FIRST_INSTANT..FIRST_LONG => self.instant(event, names, visitor),
            FIRST_LONG..FIRST_LONG_INSTANT => {
                // A later version closes a node with another kind of end.
                self.findings.unknown_kinds += 1;
                self.end_node(Ending::Exit, event.words, names, visitor);
            }
            _ => {
                self.findings.unknown_kinds += 1;
                self.instant(event, names, visitor);
            }
        }
    }

    /// Gives the value of a plan's event to the node in which it happens, with the event's label. A node
    /// in which a plan has many events takes the first ones.
    fn take_value(&mut self, event: TreeEvent<'_>) {
        let Some(node) = self.open.last_mut() else {
            return;
        };
        let values = event.words.iter().copied().filter(|word| is_value(*word));
        let count = values.clone().count();
        if count > 0 && node.words.len() + count < MAX_VALUE_WORDS {
            node.words.push(long(argument::LABEL, event.id));
            node.words.extend(values);
        }
    }

    fn instant(&mut self, event: TreeEvent<'_>, names: &Names, visitor: &mut impl Visitor) {
        if event.kind == kind::USER {
            self.take_value(event);
        }
        if event.kind > kind::LOST && event.kind < FIRST_LONG {
            self.findings.unknown_kinds += 1;
        }
        let node = Node {
            number: self.next_number,
            parent: self.open.last().map(|parent| parent.number),
            depth: u32::try_from(self.open.len()).unwrap_or(u32::MAX),
            kind: event.kind,
            slot: self.slot(event, names),
            id: event.id,
            start: self.now,
            end: self.now,
            self_ticks: 0,
            cpu_ns: None,
            self_cpu_ns: None,
            allocated: None,
            children: 0,
            below: 0,
            omitted: 0,
            cost_ps: 0,
            self_cost_ps: 0,
            spread_ps: 0,
            ending: Ending::Exit,
            words: event.words.to_vec(),
        };
        self.next_number += 1;
        visitor.instant(&node, &self.open);
    }

    /// Calls that the recorder left out inside the innermost node.
    fn omit(&mut self, event: TreeEvent<'_>, names: &Names) {
        let count = ints(event.words).next().unwrap_or(0).max(0) as u64;
        self.findings.omitted_calls = self.findings.omitted_calls.saturating_add(count);
        let probe = u32::try_from(event.id)
            .ok()
            .and_then(|id| names.probes.get(&id));
        if let Some(node) = self.open.last_mut() {
            node.omitted = node.omitted.saturating_add(count);
            let each = probe.map_or(0, |p| p.inside_ps.saturating_add(p.outside_ps));
            let cost = count.saturating_mul(each);
            node.omitted_ps = node.omitted_ps.saturating_add(cost);
        }
    }

    /// Events were lost: closes the nodes that ended meanwhile, and opens those that began.
    fn lose(&mut self, words: &[u64], names: &Names, visitor: &mut impl Visitor) {
        let mut ints = ints(words);
        let mut next = || ints.next().unwrap_or(0).max(0) as u64;
        let (count, lowest, depth) = (next(), next(), next());
        self.findings.lost_events = self.findings.lost_events.saturating_add(count);
        let cap = |depth: u64| depth.min(MAX_DECLARED_DEPTH.into()) as usize;
        self.lose_down_to(cap(lowest), names, visitor);
        self.open_unknown(cap(depth), visitor);
    }

    /// Closes open nodes whose end was lost, down to this depth.
    fn lose_down_to(&mut self, depth: usize, names: &Names, visitor: &mut impl Visitor) {
        if self.open.len() > depth {
            self.findings.open_nodes += (self.open.len() - depth) as u64;
            self.close_down_to(depth, Ending::Lost, names, visitor);
        }
    }

    fn close_down_to(
        &mut self,
        depth: usize,
        ending: Ending,
        names: &Names,
        visitor: &mut impl Visitor,
    ) {
        while self.open.len() > depth {
            self.end_node(ending, &[], names, visitor);
        }
    }

    /// Opens nodes whose beginning is not in the trace, up to this depth.
    fn open_unknown(&mut self, depth: usize, visitor: &mut impl Visitor) {
        while self.open.len() < depth {
            if let Some(parent) = self.open.last_mut() {
                parent.children += 1;
            }
            self.open.push(OpenNode {
                number: self.next_number,
                start: self.now,
                ..OpenNode::default()
            });
            self.next_number += 1;
            visitor.enter(&self.open);
        }
    }
}

/// The whole numbers among the arguments.
fn ints(words: &[u64]) -> impl Iterator<Item = i64> + '_ {
    arguments(words).filter_map(|argument| match argument {
        Argument::Int(value) => Some(value),
        _ => None,
    })
}
