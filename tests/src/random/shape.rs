//! The shape of a method: blocks with any edges between them. A monitor or the method itself forms
//! a region of blocks.
//!
//! ```text
//!   region   ┌ 0 ──▶ 1 ──▶ 2 ──▶ 3 ──▶ exit     items in the order of their code
//!            │       ▲ ╲─────────╯│             an edge can connect any two items,
//!            │       ╰────────────╯             so loops can be irreducible
//!            └ ranges: [1, 3) ─▶ handler 2      ranges of items; they may overlap
//!   item     = block | monitor that contains a region
//! ```
//!
//! Control enters a region at its first item and leaves it through its exit, so monitors are
//! structured. Each back edge and each handler takes fuel, and jumps to the exit if no fuel is
//! left. So every method terminates.

use super::draw::Draw;
use super::kind::{KINDS, Kind};

/// The end of an item. A target is the number of an item of the region; the number after the last
/// item is the exit.
#[derive(Clone, Debug)]
pub enum End {
    /// An unconditional edge.
    Goto(usize),
    /// A condition with two targets.
    If(usize, usize),
    /// A switch: whether it is a `tableswitch`, the targets of the cases, the default target.
    Switch(bool, Vec<usize>, usize),
    Return,
    Throw,
}

#[derive(Clone, Debug)]
pub enum Content {
    /// A block with this many statements.
    Block(usize),
    /// A region in which a monitor is held.
    Monitor(Box<Region>),
}

/// A block or a monitor, with the state at its beginning.
#[derive(Clone, Debug)]
pub struct Item {
    pub content: Content,
    /// The type of each of the method's changing variables at this point, or `None` if the variable
    /// has no value.
    pub variables: Vec<Option<Kind>>,
    /// The types on the operand stack at this point.
    pub stack: Vec<Kind>,
    /// For a handler, the class of the exceptions that it receives.
    pub handles: Option<&'static str>,
    /// The end of the item. For a monitor, the edge that follows its exit.
    pub end: End,
    /// The seed of the statements. It does not depend on other items, so these can be removed
    /// without changing this one.
    pub seed: u64,
}

/// A range of items `from..to` that a handler guards.
#[derive(Clone, Debug)]
pub struct Range {
    pub from: usize,
    /// The first item after the range.
    pub to: usize,
    /// The number of the item that is the handler.
    pub handler: usize,
    /// The caught class, or `None` for any.
    pub catch: Option<&'static str>,
}

/// Items between an entry and an exit.
#[derive(Clone, Debug)]
pub struct Region {
    /// At least one item. The first one is no handler.
    pub items: Vec<Item>,
    /// In the order of the exception table.
    pub ranges: Vec<Range>,
}

/// The classes that handlers catch. Those between the first and the last are subclasses of the
/// first, and the generated code throws them.
const CAUGHT: [&str; 6] = [
    "RuntimeException",
    "ArithmeticException",
    "NullPointerException",
    "IndexOutOfBoundsException",
    "IllegalStateException",
    "Throwable",
];

/// Limits for the size of a method.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Maximum number of items in the outermost region.
    pub items: usize,
    /// Maximum number of statements in a block.
    pub statements: usize,
    /// Maximum nesting depth of monitors.
    pub monitors: usize,
    /// Whether blocks may end with a `throw`.
    pub throws: bool,
}

/// Draws a region.
pub fn region(draw: &mut Draw, size: Size, variables: usize) -> Region {
    let count = draw.within(1, size.items.max(1));
    let mut items: Vec<Item> = Vec::with_capacity(count);
    for index in 0..count {
        let handles = (index > 0 && draw.chance(18)).then(|| draw.pick(&CAUGHT));
        let monitor = size.monitors > 0 && handles.is_none() && draw.chance(14);
        let content = if monitor {
            let inner = Size {
                items: size.items.div_ceil(2),
                monitors: size.monitors - 1,
                ..size
            };
            Content::Monitor(Box::new(region(draw, inner, variables)))
        } else {
            Content::Block(draw.within(0, size.statements))
        };
        // The first item of a region keeps the state before the region.
        let plain = index == 0 || handles.is_some();
        items.push(Item {
            content,
            variables: (0..variables)
                .map(|_| (!plain && draw.chance(55)).then(|| draw.pick(&KINDS)))
                .collect(),
            stack: if !plain && draw.chance(30) {
                (0..draw.within(1, 3)).map(|_| draw.pick(&KINDS)).collect()
            } else {
                Vec::new()
            },
            handles,
            end: End::Goto(index + 1),
            seed: draw.number(),
        });
    }
    // Most blocks of a method have the same types in most variables, so that most edges need no
    // conversion.
    for index in 1..count {
        if items[index].handles.is_none() && draw.chance(60) {
            let like = draw.below(count);
            if items[like].handles.is_none() {
                let (variables, stack) = (items[like].variables.clone(), items[like].stack.clone());
                (items[index].variables, items[index].stack) = (variables, stack);
            }
        }
    }
    let ways: Vec<usize> = (0..=count)
        .filter(|to| *to == count || items[*to].handles.is_none())
        .collect();
    for (index, item) in items.iter_mut().enumerate() {
        let next = ways.iter().copied().find(|to| *to > index).unwrap_or(count);
        let way = |draw: &mut Draw| match draw.below(4) {
            0 | 1 => next,
            _ => draw.pick(&ways),
        };
        item.end = match (draw.below(100), &item.content) {
            (0..20, _) | (_, Content::Monitor(_)) => End::Goto(way(draw)),
            (20..75, _) => End::If(way(draw), way(draw)),
            (75..88, _) => {
                let cases = draw.within(1, 5);
                let cases = (0..cases).map(|_| way(draw)).collect();
                End::Switch(draw.chance(50), cases, way(draw))
            }
            (88..95, _) => End::Return,
            _ if size.throws => End::Throw,
            _ => End::Goto(way(draw)),
        };
    }
    let mut ranges = Vec::new();
    for (handler, item) in items.iter().enumerate() {
        let Some(handles) = item.handles else {
            continue;
        };
        // A handler without a range would be unreachable code.
        for _ in 0..draw.within(1, 2) {
            let from = draw.below(count);
            let to = draw.within(from + 1, count);
            ranges.push(Range {
                from,
                to,
                handler,
                catch: (handles != "Throwable" || draw.chance(50)).then_some(handles),
            });
        }
    }
    Region { items, ranges }
}

impl Region {
    /// Number of blocks and monitors, including those inside monitors.
    pub fn count(&self) -> usize {
        let inside = |item: &Item| match &item.content {
            Content::Monitor(region) => 1 + region.count(),
            Content::Block(_) => 1,
        };
        self.items.iter().map(inside).sum()
    }

    /// Returns the region with one item emptied; `number` is in the order of [`Region::count`]. The
    /// item remains as a block without statements that continues with the next item. Returns `None`
    /// if the item is empty already.
    pub fn without(&self, number: usize) -> Option<Region> {
        let mut region = self.clone();
        let mut number = number;
        region.empty(&mut number).then_some(region)
    }

    fn empty(&mut self, number: &mut usize) -> bool {
        let count = self.items.len();
        let next: Vec<usize> = (0..count)
            .map(|index| {
                (index + 1..count)
                    .find(|to| self.items[*to].handles.is_none())
                    .unwrap_or(count)
            })
            .collect();
        for (item, next) in self.items.iter_mut().zip(next) {
            if *number == 0 {
                let plain = matches!(item.content, Content::Block(0));
                let on = matches!(item.end, End::Goto(to) if to == next);
                item.content = Content::Block(0);
                item.end = End::Goto(next);
                return !(plain && on);
            }
            *number -= 1;
            if let Content::Monitor(region) = &mut item.content
                && region.count() > *number
            {
                return region.empty(number);
            } else if let Content::Monitor(region) = &item.content {
                *number -= region.count();
            }
        }
        false
    }
}
