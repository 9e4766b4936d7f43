//! The tree of a thread with repetitions folded, as text for people.
//!
//! ```text
//!   main  1.2 s
//!     serve  × 1000  1.1 s          1000 calls in a row with the same tree below
//!       find  20 ms
//!     ⟳ × 40                        a sequence of calls that repeats
//!       lock
//!       unlock
//! ```
//!
//! Calls are folded if the trees below them have the same methods in the same order. Their times
//! are added. A sequence of up to [`MAX_BLOCK`] siblings that repeats becomes one block. The memory
//! is bounded by the limits of [`FoldingOptions`].

use crate::query::method_text;
use crate::reader::{FrameSlot, Names, Node, OpenNode, ThreadTrace, Visitor};

/// The longest sequence of siblings that is folded as a block.
const MAX_BLOCK: usize = 8;

/// Limits of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldingOptions {
    /// Nodes at this depth or below are left out.
    pub max_depth: u32,
    /// Nodes that last shorter are left out, in nanoseconds.
    pub min_ns: u64,
    /// The most different siblings. Later ones are counted only.
    pub max_siblings: usize,
}

impl Default for FoldingOptions {
    fn default() -> FoldingOptions {
        FoldingOptions {
            max_depth: 64,
            min_ns: 0,
            max_siblings: 1000,
        }
    }
}

/// Times without the cost of observing, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorrectedTimes {
    /// The duration of the calls.
    pub wall_ns: u64,
    /// The duration without children.
    pub self_ns: u64,
    /// The part of the correction that is not certain.
    pub unexplained_ns: u64,
}

impl CorrectedTimes {
    /// The times of a node; `None` if its cost is unknown or 0.
    fn from_node(node: &Node, names: &Names) -> Option<CorrectedTimes> {
        (node.cost_ps > 0).then(|| CorrectedTimes {
            wall_ns: node.corrected_ns(names),
            self_ns: node.corrected_self_ns(names),
            unexplained_ns: node.unexplained_ns(names),
        })
    }

    fn plus(self, other: CorrectedTimes) -> CorrectedTimes {
        CorrectedTimes {
            wall_ns: self.wall_ns.saturating_add(other.wall_ns),
            self_ns: self.self_ns.saturating_add(other.self_ns),
            unexplained_ns: self.unexplained_ns.saturating_add(other.unexplained_ns),
        }
    }
}

/// A node, or nodes with the same tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoldedNode {
    /// The text of the method.
    pub text: String,
    /// The sum of the durations in nanoseconds.
    pub wall_ns: u64,
    /// The sum of the durations without children, in nanoseconds.
    pub self_ns: u64,
    /// The sum of the processor times in nanoseconds, if all are known.
    pub cpu_ns: Option<u64>,
    /// The sums of the times without the cost of observing; `None` if the cost is unknown or 0.
    pub corrected: Option<CorrectedTimes>,
    /// The folded children.
    pub items: Vec<FoldedItem>,
    /// Children that were left out because of a limit.
    pub left_out: u64,
    /// Identifies the tree: equal trees have equal shapes.
    pub shape: u64,
    /// The parts of which the text is made.
    pub name: NodeName,
}

impl FoldedNode {
    /// Adds the times of a node of the same shape.
    fn add(&mut self, other: &FoldedNode) {
        self.wall_ns = self.wall_ns.saturating_add(other.wall_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        let cpu = self.cpu_ns.zip(other.cpu_ns);
        self.cpu_ns = cpu.map(|(a, b)| a.saturating_add(b));
        let corrected = self.corrected.zip(other.corrected);
        self.corrected = corrected.map(|(a, b)| a.plus(b));
        self.left_out = self.left_out.saturating_add(other.left_out);
        for (mine, others) in self.items.iter_mut().zip(&other.items) {
            mine.add(others);
        }
    }
}

/// The parts of which the text of a node is made. Most nodes are folded into others before they need a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeName {
    /// The kind of its event.
    pub kind: u8,
    /// The frame, if the kind has one.
    pub slot: FrameSlot,
    /// The id of its event.
    pub id: u64,
}

/// Gives their texts to these items and to those below them.
fn name_items(items: &mut [FoldedItem], names: &Names) {
    for item in items {
        name_items(&mut item.block, names);
        if let Some(node) = &mut item.node {
            let NodeName { kind, slot, id } = node.name;
            node.text = method_text(names, kind, slot, id);
            name_items(&mut node.items, names);
        }
    }
}

/// A node or a block of nodes, and how often it repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldedItem {
    /// The number of repetitions.
    pub count: u64,
    /// The nodes; several form a block.
    pub block: Vec<FoldedItem>,
    /// The node; `None` for a block.
    pub node: Option<FoldedNode>,
}

impl FoldedItem {
    fn of_node(node: FoldedNode) -> FoldedItem {
        FoldedItem {
            count: 1,
            block: Vec::new(),
            node: Some(node),
        }
    }

    /// The shape without the number of repetitions.
    fn shape(&self) -> u64 {
        match &self.node {
            Some(node) => node.shape,
            None => self
                .block
                .iter()
                .fold(7, |hash, item| mix(mix(hash, item.shape()), item.count)),
        }
    }

    /// Adds the times of an item of the same shape.
    fn add(&mut self, other: &FoldedItem) {
        if let (Some(mine), Some(others)) = (&mut self.node, &other.node) {
            mine.add(others);
        }
        for (mine, others) in self.block.iter_mut().zip(&other.block) {
            mine.add(others);
        }
    }
}

/// Mixes a number into a hash (the finaliser of SplitMix64).
fn mix(hash: u64, value: u64) -> u64 {
    let mut z = hash.rotate_left(5) ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Reads a thread, and returns its outermost nodes.
pub fn fold_thread(
    thread: &ThreadTrace,
    names: &Names,
    options: FoldingOptions,
) -> std::io::Result<FoldedNode> {
    let mut folder = Folder {
        names,
        options,
        open: vec![Siblings::default()],
    };
    thread.read(names, &mut folder)?;
    let mut top = folder.open.into_iter().next().unwrap_or_default();
    name_items(&mut top.items, names);
    let wall_ns = thread.index.range().map_or(0, |(first, last)| {
        names.clock.nanoseconds(last.saturating_sub(first))
    });
    Ok(FoldedNode {
        text: names.thread_name(thread.thread),
        wall_ns,
        self_ns: 0,
        cpu_ns: None,
        corrected: None,
        items: top.items,
        left_out: top.left_out,
        shape: 0,
        name: NodeName::default(),
    })
}

/// The children of an open node.
#[derive(Default)]
struct Siblings {
    items: Vec<FoldedItem>,
    left_out: u64,
}

impl Siblings {
    #[inline]
    fn push(&mut self, node: FoldedNode, limit: usize) {
        match self.items.last_mut() {
            Some(FoldedItem {
                count,
                node: Some(last),
                ..
            }) if last.shape == node.shape => {
                last.add(&node);
                *count += 1;
            }
            last => {
                let repeats = last.is_some_and(|last| last.shape() == node.shape);
                if self.items.len() >= limit && !repeats {
                    self.left_out += 1;
                    return;
                }
                self.items.push(FoldedItem::of_node(node));
            }
        }
        while self.fold() {}
    }

    /// Folds the end of the list once, if it repeats.
    fn fold(&mut self) -> bool {
        let length = self.items.len();
        if let [.., before, last] = self.items.as_slice()
            && before.shape() == last.shape()
        {
            let count = last.count;
            if let Some(last) = self.items.pop()
                && let Some(before) = self.items.last_mut()
            {
                before.add(&last);
                before.count += count;
            }
            return true;
        }
        for size in 2..=MAX_BLOCK {
            let Some(start) = length.checked_sub(size) else {
                return false;
            };
            let hash = |items: &[FoldedItem]| {
                items
                    .iter()
                    .fold(7, |hash, item| mix(mix(hash, item.shape()), item.count))
            };
            let shape = hash(&self.items[start..]);
            // The end repeats a block that was folded before, or as many single items.
            let joins_block = start
                .checked_sub(1)
                .is_some_and(|at| self.items[at].node.is_none() && self.items[at].shape() == shape);
            let repeats = start
                .checked_sub(size)
                .is_some_and(|at| hash(&self.items[at..start]) == shape);
            if joins_block || repeats {
                let block = FoldedItem {
                    count: 1,
                    block: self.items.split_off(start),
                    node: None,
                };
                if repeats && !joins_block {
                    let first = FoldedItem {
                        count: 1,
                        block: self.items.split_off(start - size),
                        node: None,
                    };
                    self.items.push(first);
                }
                self.items.push(block);
                return true;
            }
        }
        false
    }
}

struct Folder<'n> {
    names: &'n Names,
    options: FoldingOptions,
    /// The children of the thread and of each open node.
    open: Vec<Siblings>,
}

impl Folder<'_> {
    fn add(&mut self, node: &Node, children: Siblings) {
        let clock = &self.names.clock;
        let wall_ns = clock.nanoseconds(node.ticks());
        let Some(around) = self.open.last_mut() else {
            return;
        };
        if node.depth >= self.options.max_depth || wall_ns < self.options.min_ns {
            around.left_out += 1;
            return;
        }
        let named = if node.slot != 0 {
            node.slot.into()
        } else {
            node.id
        };
        let method = mix(mix(11, node.kind.into()), named);
        let shape = children.items.iter().fold(method, |hash, item| {
            mix(mix(hash, item.shape()), item.count)
        });
        let folded = FoldedNode {
            text: String::new(),
            wall_ns,
            self_ns: clock.nanoseconds(node.self_ticks),
            cpu_ns: node.cpu_ns,
            corrected: CorrectedTimes::from_node(node, self.names),
            items: children.items,
            left_out: children.left_out,
            shape,
            name: NodeName {
                kind: node.kind,
                slot: node.slot,
                id: node.id,
            },
        };
        around.push(folded, self.options.max_siblings);
    }
}

impl Visitor for Folder<'_> {
    fn enter(&mut self, _: &[OpenNode]) {
        self.open.push(Siblings::default());
    }

    fn instant(&mut self, node: &Node, _: &[OpenNode]) {
        self.add(node, Siblings::default());
    }

    fn leave(&mut self, node: &Node, _: &[OpenNode]) {
        let children = match self.open.len() {
            0 | 1 => Siblings::default(),
            _ => self.open.pop().unwrap_or_default(),
        };
        self.add(node, children);
    }
}
