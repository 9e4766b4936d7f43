//! The shape of a method: blocks with any edges between them, in regions that monitors and the method itself make.
//!
//! ```text
//!   region   ┌ 0 ──▶ 1 ──▶ 2 ──▶ 3 ──▶ exit     items in the order in which they stand in the code
//!            │       ▲ ╲─────────╯│               an edge leads from any item to any other: loops with several ways in too
//!            │       ╰────────────╯
//!            └ guards: [1, 3) ─▶ handler 2        ranges of items, overlapping as they like, with an item as the handler
//!   item     = block | monitor with a region inside
//! ```
//!
//! Control enters a region at its first item and leaves it through its exit, so monitors are structured. Each edge that
//! leads back, and each handler, costs fuel; without fuel the way is to the exit. So every method ends.

use super::draw::Draw;
use super::kind::{KINDS, Kind};

/// How an item ends. Targets are numbers of items of the region; one more than the last is the exit.
#[derive(Clone, Debug)]
pub enum End {
    /// One way on.
    Goto(usize),
    /// A condition, and two ways on.
    If(usize, usize),
    /// A switch: whether it is a `tableswitch`, the cases' targets, the default.
    Switch(bool, Vec<usize>, usize),
    /// A return.
    Return,
    /// `athrow`.
    Throw,
}

/// What an item is.
#[derive(Clone, Debug)]
pub enum Content {
    /// So many statements.
    Block(usize),
    /// A monitor is held in this region.
    Monitor(Box<Region>),
}

/// A block or a monitor, with what holds where it begins.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub content: Content,
    /// What each of the method's changing variables holds here; `None`: nothing that can be read.
    pub variables: Vec<Option<Kind>>,
    /// What is on the operand stack here.
    pub stack: Vec<Kind>,
    /// For a handler, the class of exceptions that it gets.
    pub handles: Option<&'static str>,
    /// How it ends; of a monitor, where control goes after its exit.
    pub end: End,
    /// The seed of its statements, so that other items may go without changing it.
    pub seed: u64,
}

/// A range of items `from..to` that a handler guards.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first item.
    pub from: usize,
    /// The item after the last.
    pub to: usize,
    /// The item that handles.
    pub handler: usize,
    /// The class that is caught; `None` for any.
    pub catch: Option<&'static str>,
}

/// Items between an entry and an exit.
#[derive(Clone, Debug)]
pub struct Region {
    /// At least one; the first is no handler.
    pub items: Vec<Item>,
    /// In the order of the exception table.
    pub ranges: Vec<Range>,
}

/// What is caught. The classes after the first are subclasses of it that the generated code throws.
const CAUGHT: [&str; 6] = [
    "RuntimeException",
    "ArithmeticException",
    "NullPointerException",
    "IndexOutOfBoundsException",
    "IllegalStateException",
    "Throwable",
];

/// How large a method gets.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Items of the outermost region, at most.
    pub items: usize,
    /// Statements of a block, at most.
    pub statements: usize,
    /// Monitors inside each other, at most.
    pub monitors: usize,
    /// Whether blocks may end in an exception.
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
        // The first item of a region takes over what holds before it.
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
    // Most blocks of a method agree about most variables, so that edges need nothing done.
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
        // A handler without a range would be code that nothing reaches.
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
    /// Blocks and monitors, those inside monitors too.
    pub fn count(&self) -> usize {
        let inside = |item: &Item| match &item.content {
            Content::Monitor(region) => 1 + region.count(),
            Content::Block(_) => 1,
        };
        self.items.iter().map(inside).sum()
    }

    /// The region without the item of this number (in the order of [`Region::count`]): it stays as a block that does
    /// nothing and goes on to the next one. `None` where there is nothing left to take.
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
